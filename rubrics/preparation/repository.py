"""Git repositories of an environment: where they are, and a view of them that runs none of their code."""

from __future__ import annotations

from dataclasses import dataclass
from posixpath import dirname, join
from typing import cast

from rubrics.errors import InfraError
from rubrics.preparation.findings import inside
from rubrics.preparation.shell import Shell, quote


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository that stays, at the commit it stays at."""

    top: str | None
    """Its work tree; null for a bare one."""
    folder: str
    """Where its git folder is or will be: `<top>/.git`, or the bare folder itself."""
    git_dir: str
    """The git folder as it is now: elsewhere for worktrees and submodules."""
    common: str
    """The folder that holds its objects and references."""
    base: str
    """The commit that it is cut at."""
    own: bool
    """Whether it is the task's own, a submodule of it included."""
    without: tuple[str, ...] = ()
    """Tags on base's ancestors that do not stay: full names of references."""

    @property
    def rooted(self) -> bool:
        """Whether all of it lies in its own git folder."""
        return self.git_dir == self.folder and self.common == self.folder


_RESOLVE = """
d={top}
if [ -f "$d/.git" ]; then p=$(sed -n 's/^gitdir: //p' "$d/.git" | head -n 1)
  case $p in /*) ;; *) p=$d/$p;; esac
elif [ -d "$d/.git" ]; then p=$d/.git
else p=$d; fi
p=$(cd "$p" 2>/dev/null && pwd -P) || exit 3
c=$p; [ -f "$p/commondir" ] && c=$(cd "$p" && cd "$(cat commondir)" && pwd -P)
[ -d "$c/objects" ] || exit 3
printf '%s\\0%s\\0' "$p" "$c"
"""

_VIEW = """
v=$S/view; rm -rf "$v" "$S/store"; c={common}; p={git_dir}
of=$(git config -f "$c/config" --no-includes --get extensions.objectformat 2>/dev/null)
rs=$(git config -f "$c/config" --no-includes --get extensions.refstorage 2>/dev/null)
g init -q --bare --template= ${{of:+--object-format=$of}} ${{rs:+--ref-format=$rs}} "$v" || exit 4
ln -s "$c/objects" "$S/store"
mkdir -p "$v/objects/info"; printf '%s\\n' "$S/store" > "$v/objects/info/alternates"
for n in refs logs packed-refs reftable shallow; do
  [ -e "$c/$n" ] && rm -rf "$v/$n" && cp -R -P "$c/$n" "$v/$n"; done
[ -d "$p/logs" ] && cp -R -P "$p/logs" "$v/" 2>/dev/null
[ -f "$p/index" ] && cp "$p/index" "$v/index"
mkdir -p "$v/refs"
if [ -f "$p/HEAD" ] && grep -Eq '^(ref: refs/|[0-9a-f]{{40}})' "$p/HEAD"; then cp "$p/HEAD" "$v/HEAD"; fi
: > "$S/viewed"
"""

_MEASURE = """
export GIT_DIR="$S/view"; cd "$S"
g rev-list {base} 2>/dev/null | sort > commits
g for-each-ref refs/tags --format='%(objectname) %(refname)' > alltags 2>/dev/null
printf '%s\n' {without} > without
awk '{{print $1 "^{{commit}}"}}' alltags | g cat-file --batch-check='%(objectname)' > peeled
paste -d' ' peeled alltags |
  awk -v keep={keep} 'FILENAME=="commits"{{c[$1]=1;next}} FILENAME=="without"{{w[$1]=1;next}}
    keep && ($1 in c) && NF==3 && !($3 in w){{print $2,$3}}' commits without - > tags
{{ echo {base}; cut -d' ' -f1 tags; }} > want
g rev-list --objects --missing=allow-any --stdin < want | cut -d' ' -f1 | sort -u > reach
g cat-file --batch-all-objects --batch-check='%(objectname) %(objecttype)' | sort -u > all
awk 'FILENAME=="reach"{{r[$1]=1;next}} !($1 in r)' reach all > beyond
wc -l < all; wc -l < reach; wc -l < beyond; wc -l < commits
awk '$2=="commit"{{n++}} END{{print n+0}}' all
awk '$2=="commit"{{n++}} END{{print n+0}}' beyond
wc -l < tags
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What can be read in a repository, counted by enumeration of its object store."""

    objects: int
    reachable: int
    """Objects of base, its ancestors and the kept tags."""
    beyond: int
    """Objects that can be read and are none of those."""
    ancestors: int
    """Base and its ancestors."""
    commits: int
    commits_beyond: int
    tags: int
    """Tags that stay."""


def resolve(shell: Shell, top: str) -> tuple[str, str] | None:
    """Git folder and common folder of a work tree or bare folder; null when it is no repository."""
    names = shell.names(_RESOLVE.format(top=quote(top)))
    return (names[0], names[1]) if len(names) == 2 else None


def find_top(shell: Shell, workdir: str, root: str) -> str | None:
    """The folder with `.git` that a folder lies in, not above the root."""
    folder = workdir
    while inside(folder, root):
        if shell.exists(join(folder, ".git")):
            return folder
        if folder in ("/", root.rstrip("/")):
            break
        folder = dirname(folder)
    return None


def open_view(shell: Shell, git_dir: str, common: str) -> None:
    """Make `$S/view`: the repository's references and objects with a configuration of ours, nothing of its own."""
    if shell.seen.get("view") == (git_dir, common):
        return
    shell.forget()
    result = shell.run(_VIEW.format(common=quote(common), git_dir=quote(git_dir)))
    if result.exit_code != 0:
        raise InfraError("preparation", f"{common}: git cannot view it: {result.output.strip()[-300:]}")
    shell.seen["view"] = (git_dir, common)


def commit_of(shell: Shell, name: str) -> str | None:
    """Full name of a commit in the view; null when it is not there."""
    result = shell.run(f'GIT_DIR="$S/view" g rev-parse --verify --quiet {quote(name)}"^{{commit}}"')
    return result.output.strip() if result.exit_code == 0 else None


def measure(shell: Shell, repository: Repository, keep_tags: bool) -> Measured:
    """Enumerate the object store; leaves `commits`, `tags`, `reach`, `all` and `beyond` in the scratch folder."""
    open_view(shell, repository.git_dir, repository.common)
    measured = shell.seen.get("measured")
    if isinstance(measured, tuple) and measured[0] == repository:
        return cast(Measured, measured[1])
    without = " ".join(map(quote, repository.without))
    lines = shell.lines(_MEASURE.format(base=quote(repository.base), keep=int(keep_tags), without=without))
    objects, reachable, beyond, ancestors, commits, commits_beyond, tags = (int(line) for line in lines[-7:])
    counts = Measured(objects, reachable, beyond, ancestors, commits, commits_beyond, tags)
    shell.seen["measured"] = (repository, counts)
    return counts


def submodules(shell: Shell, repository: Repository) -> list[Repository]:
    """Submodules of the work tree that are checked out, each at the commit that base names."""
    if repository.top is None:
        return []
    open_view(shell, repository.git_dir, repository.common)
    listed = shell.names(
        f'GIT_DIR="$S/view" g ls-tree -r -z {quote(repository.base)} | tr "\\n" " " | grep -az "^160000"'
    )
    found: list[Repository] = []
    for entry in listed:
        head, _, path = entry.partition("\t")
        top = join(repository.top, path)
        places = resolve(shell, top) if shell.exists(join(top, ".git")) else None
        if places is None:
            continue
        open_view(shell, *places)
        base = commit_of(shell, head.split()[2]) or commit_of(shell, "HEAD")
        if base is not None:
            module = Repository(top, join(top, ".git"), *places, base=base, own=True)
            found += [module, *submodules(shell, module)]
    return found
