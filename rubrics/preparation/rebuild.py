"""Cutting a repository at base: its git folder is built anew from base, its ancestors and their tags.

Nothing is deleted from the old folder one by one: what is not taken over is gone, known mechanism or not
(branches, remotes, reflogs, stash, notes, replacements, hooks, alternates, promised, cruft and unreachable objects).
Objects get their names from their contents again (`index-pack`), so none can pose as another.
"""

from __future__ import annotations

from posixpath import join

from rubrics.errors import InfraError
from rubrics.preparation.place import Place
from rubrics.preparation.repository import Repository, measure, open_view
from rubrics.preparation.shell import Shell, quote

CONFIG = (
    "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = {bare}\n\tlogallrefupdates = false\n"
)
SHA256 = "[extensions]\n\tobjectformat = sha256\n"

_NO_FILTER = ("unspecified", "unset")

_BUILD = """
set -e
b={base}; n={folder}.rubrics-new; rm -rf -- "$n"
f=; [ ${{#b}} -gt 40 ] && f=--object-format=sha256
g init -q --bare --template= $f "$n"
mkdir -p "$n/objects/info"; printf '%s\\n' "$S/store" > "$n/objects/info/alternates"
cd "$S"; export GIT_DIR="$n"
[ -f view/shallow ] && cp view/shallow "$n/shallow"
g rev-list --objects --max-count=1 "$b" > /dev/null
g rev-list --objects --stdin < want > list 2>/dev/null ||
  g rev-list --objects --missing=allow-any --stdin < want > list
g pack-objects -q --stdout --delta-base-offset < list | g index-pack --stdin > /dev/null
awk '{{print "create", $2, $1}}' tags | g update-ref --stdin
g pack-refs --all
printf '%s\\n' "$b" > "$n/HEAD"
if [ -f view/shallow ]; then
  awk 'FILENAME=="commits"{{c[$1]=1;next}} ($1 in c)' commits view/shallow > "$n/shallow"
  [ -s "$n/shallow" ] || rm -f "$n/shallow"
fi
"""

_TAKE_AWAY = """
export GIT_DIR={folder}.rubrics-new GIT_WORK_TREE={top}; cd {top} || exit 1
none=$(g hash-object -t tree /dev/null)
h=$(GIT_DIR="$S/view" g rev-parse --verify --quiet 'HEAD^{{commit}}') && GIT_INDEX_FILE="$S/i1" g read-tree "$h"
[ -f "$S/view/index" ] && cp "$S/view/index" "$S/i2"
for i in i1 i2; do
  [ -f "$S/$i" ] || continue
  export GIT_INDEX_FILE="$S/$i"
  g ls-tree -r -z --name-only {base} | g update-index -z --force-remove --stdin && g read-tree --reset -u "$none"
  rm -f "$S/$i"
done
"""
"""Of what HEAD and index track, what base does not: git itself removes it, which follows no link."""

_SWAP = """
set -e
n={folder}.rubrics-new
rm -rf -- "$n/objects/info" "$n/logs" "$n/hooks" "$n/branches" "$n/description" "$n/info"
e={common}/info/exclude
if [ -f "$e" ] && [ ! -L "$e" ]; then mkdir "$n/info"; cp "$e" "$n/info/exclude"; fi
rm -rf -- {folder}
mv -- "$n" {folder}
"""


def rebuild(place: Place, repository: Repository) -> Repository:
    """Build the repository anew at its base; returns it as it is then. Raises `InfraError` when base is not whole."""
    shell = place.shell
    measure(shell, repository, place.config.keep_tags)
    names = {name: quote(getattr(repository, name)) for name in ("base", "folder", "common")}
    result = shell.run(_BUILD.format(**names))
    if result.exit_code != 0:
        raise InfraError(
            "preparation", f"{repository.folder}: base {repository.base} is not whole: {result.output.strip()[-300:]}"
        )
    restore = repository.own and place.config.work_tree == "base"
    if repository.top is not None and restore:
        shell.run(_TAKE_AWAY.format(**names, top=quote(repository.top)))
    shell.write(join(repository.folder + ".rubrics-new", "config"), canonical_config(repository).encode())
    shell.text(_SWAP.format(**names))
    shell.forget()
    rebuilt = Repository(
        repository.top, repository.folder, repository.folder, repository.folder, repository.base, repository.own
    )
    if rebuilt.top is not None:
        _make_index(shell, rebuilt, restore=restore)
    return rebuilt


def canonical_config(repository: Repository) -> str:
    """The configuration of a prepared repository, to the byte."""
    sha256 = len(repository.base) > 40
    text = CONFIG.format(version=int(sha256), bare=str(repository.top is None).lower())
    return text + (SHA256 if sha256 else "")


def _make_index(shell: Shell, repository: Repository, restore: bool) -> None:
    """An index of base alone; changed files get their content at base, other files keep their times."""
    env = _work_tree(repository)
    shell.text(f'{env} rm -f "$GIT_DIR/index"; g read-tree {quote(repository.base)}; g update-index -q --refresh; true')
    if restore:
        prefix = f"{env} f() {{ g checkout-index -q -f -z --stdin; }}"
        shell.with_names(unfiltered(shell, repository, changed(shell, repository)), "f", prefix)
        shell.run(f"{env} g update-index -q --refresh")


def changed(shell: Shell, repository: Repository) -> list[str]:
    """Tracked files that differ from base."""
    open_view(shell, repository.git_dir, repository.common)
    fresh = f'rm -f "$S/fresh"; g read-tree {quote(repository.base)}; g update-index -q --refresh > /dev/null'
    return shell.names(f"{_fresh(repository)} {fresh}; g diff-files --ignore-submodules -z --name-only")


def unfiltered(shell: Shell, repository: Repository, names: list[str]) -> list[str]:
    """Those of the changed files whose content no filter makes (large-file storage)."""
    filtered: set[str] = set()
    for words in shell.names_with(names, "g check-attr -z --cached --stdin filter", _fresh(repository)):
        filtered |= {path for path, _, value in zip(*[iter(words)] * 3, strict=False) if value not in _NO_FILTER}
    return [name for name in names if name not in filtered]


def _fresh(repository: Repository) -> str:
    """The start of a script that works with an index of its own, made from base."""
    top = quote(repository.top or "/")
    return f'export GIT_DIR="$S/view" GIT_INDEX_FILE="$S/fresh" GIT_WORK_TREE={top}; cd {top} || exit 1;'


def _work_tree(repository: Repository) -> str:
    """The start of a script that works in a prepared repository's work tree."""
    top = quote(repository.top or "/")
    return f"export GIT_DIR={quote(repository.folder)} GIT_WORK_TREE={top}; cd {top} || exit 1;"
