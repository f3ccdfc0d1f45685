"""Putting a patch on: the state becomes what it was plus the patch, or the session is not used.

Nothing that the patch or the repository brings is run: git gets a folder of ours for its own (no configuration, no
hooks, no filters, no index of the image), and reads from the repository attributes and, for a 3-way merge, objects.
The strictest way works in place, for `git apply` writes all of a patch or nothing. The others work on copies of the
files that the patch names, each on fresh ones, and only a copy on which all of it went on goes back.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable

from rubrics.environments.patch_damage import lost_in
from rubrics.environments.patch_text import PatchText, read_patch
from rubrics.environments.session import CommandResult, Session
from rubrics.errors import InfraError, PatchRefused

SECONDS = 300.0
"""For all ways together; a patch that takes longer is its attempt's own doing."""
BASE_LIMIT = 16 << 20
"""Bytes of a file that is looked at to tell what a patch lost."""
IN_PART = "(in part)"
_WAYS = {40: "", 41: "(3way)", 42: "(fuzz)"}
"""Exit codes of the script, and what the way adds to the name of the strategy."""
_MISFIT, _LINK, _HIDDEN, _NOT_WRITTEN, _NO_TOOLS, _READ_ONLY = 50, 51, 52, 53, 54, 55

_PLACE = re.compile(r"\{(size|merges|names|attributes)\}")
_SCRIPT = r"""
w=$1
umask 022
trap 'cd /; rm -rf "$w"' EXIT
for tool in cp find rm mkdir rmdir env xargs tail tr wc; do command -v $tool >/dev/null || exit 54; done
command -v git >/dev/null || command -v patch >/dev/null || exit 54
[ -w . ] || exit 55
tail -c {size} "$w/script" > "$w/patch"

# Paths of the patch start at the repository's top, else at the working folder.
top=$PWD
while [ -n "$top" ] && [ ! -e "$top/.git" ]; do top=${top%/*}; done
top=${top:-$PWD}
cd "$top"

# A repository of ours with the objects of theirs; of its configuration, what says how lines end.
mkdir -p "$w/g/objects/info" "$w/g/refs" "$w/g/info"
echo 'ref: refs/heads/none' > "$w/g/HEAD"
{ echo '[core]'; echo 'repositoryformatversion = 0'
  git -c safe.directory='*' config --get-regexp '^core\.(autocrlf|eol)$' | while read -r key value; do
    case "$key $value" in 'core.autocrlf true'|'core.autocrlf input'|'core.eol lf'|'core.eol crlf')
      echo "${key#core.} = $value";; esac
  done
} > "$w/g/config" 2>/dev/null
[ ! -f .git/info/attributes ] || [ -L .git/info/attributes ] || cp .git/info/attributes "$w/g/info/attributes"
ours() { env -i PATH="$PATH" LD_LIBRARY_PATH="${LD_LIBRARY_PATH-}" LC_ALL=C HOME="$w" XDG_CONFIG_HOME="$w" \
  TMPDIR="$w" GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1 GIT_DIR="$w/g" GIT_WORK_TREE="$PWD" "$@"; }

set -- {names}

reach() { # at: the path $1, or the first link on the way to it
  at= rest=$1
  while :; do
    part=${rest%%/*} at=$at${at:+/}${rest%%/*}
    if [ "$part" = "$rest" ] || [ -L "$at" ]; then return; fi
    rest=${rest#*/}
  done
}
no_git_links() {
  for f; do [ ! -L "$f" ] || case "/$(readlink "$f")/" in */.[Gg][Ii][Tt]/*) exit 51;; esac; done
}
into() { xargs -0 sh -c '[ $# = 0 ] || cp -P --parents -- "$@" "$0"' "$1"; }
copied() { # the files that the patch names, and the attributes that git reads beside them, in a fresh folder
  rm -rf "$w/t"
  mkdir "$w/t"
  { for f; do
      reach "$f"
      if [ -L "$at" ] || [ -f "$at" ]; then printf '%s\0' "$at"
      elif [ -d "$at" ]; then mkdir -p "$w/t/$at"; fi
    done
    for f in {attributes}; do
      reach "$f"
      if [ "$at" = "$f" ] && [ -f "$f" ] && [ ! -L "$f" ]; then printf '%s\0' "$f"; fi
    done
  } | into "$w/t" 2>/dev/null
  cd "$w/t"
}
files() { # those of the paths that are files here, or links
  for f; do
    reach "$f"
    if [ "$at" = "$f" ] && { [ -L "$f" ] || [ -f "$f" ]; }; then printf '%s\0' "$f"; fi
  done
}
count() { tr -dc '\0' | wc -c; }
put_back() {
  no_git_links "$@"
  for f in {attributes}; do rm -f -- "$f"; done
  [ "$(files "$@" | count)" -eq "$(find . ! -type d -print0 | count)" ] || exit 52
  cd "$top"
  files "$@" | xargs -0 rm -f -- || exit 53
  for f; do
    if [ -d "$w/t/$f" ] && [ ! -L "$w/t/$f" ]; then mkdir -p -- "$f"
    elif [ -d "$f" ] && [ ! -L "$f" ]; then rmdir -- "$f"; fi 2>/dev/null
    case $f in */*) [ -e "$w/t/$f" ] || [ -L "$w/t/$f" ] || printf '%s\0' "${f%/*}";; esac
  done | xargs -0 rmdir -p -- 2>/dev/null
  cd "$w/t"
  files "$@" | into "$top" || exit 53
}

if ours git apply --whitespace=nowarn "$w/patch" > "$w/said1" 2>&1; then no_git_links "$@"; exit 40; fi
if {merges}; then # it says what it was made on, and that may be among the objects
  objects=$(git -c safe.directory='*' rev-parse --git-path objects 2>/dev/null)
  case $objects in /*) ;; *) objects=$top/$objects;; esac
  printf '%s\n' "$objects" > "$w/g/objects/info/alternates"
  copied "$@"
  if { ours git add -A -f . && ours git apply --3way --whitespace=nowarn "$w/patch"; } > "$w/said2" 2>&1; then
    put_back "$@"; exit 41
  fi
  cd "$top"
else echo 'it does not say what it was made on' > "$w/said2"; fi
copied "$@"
# As a unified diff and nothing else: an ed script would be run.
if ours patch -u -p1 -g0 --batch --forward --fuzz=3 --no-backup-if-mismatch --reject-file=- < "$w/patch" \
  > "$w/said3" 2>&1; then put_back "$@"; exit 42
fi
echo "$top"
for said in 1 2 3; do tail -n 1 "$w/said$said"; done
exit 50
"""


def apply_patch(session: Session, patch: str) -> str:
    """Put a patch on the session's state; returns what the way adds to the strategy's name.

    Raises `PatchRefused` where that cannot be done and the attempt is to blame, `InfraError` where it is not. The
    session must not be used then.
    """
    read = read_patch(patch)
    names = read.names
    label = IN_PART if read.left_out else ""
    if not read.text.strip():
        return label
    folder = f"/tmp/{secrets.token_hex(8)}"
    session.write(f"{folder}/script", _script(read, names))
    done = session.run(f"sh {folder}/script {folder}", SECONDS)
    if done.exit_code in _WAYS:
        return _WAYS[done.exit_code] + label
    raise _refusal(session, read, done)


def check_patch(patch: str) -> None:
    """Raises `PatchRefused` for a patch that names what no patch may."""
    _ = read_patch(patch).names


def _script(read: PatchText, names: tuple[str, ...]) -> bytes:
    """The script with the patch behind its last line, which it does not reach."""
    patch = read.text.encode("utf-8", "surrogatepass")
    folders = sorted({name[: end + 1] for name in names for end, sign in enumerate(name) if sign == "/"} | {""})
    values = {
        "size": str(len(patch)),
        "merges": "true" if any(section.old_id.strip("0") for section in read.sections) else "false",
        "names": _words(names),
        "attributes": _words(path for folder in folders if (path := f"{folder}.gitattributes") not in names),
    }
    script = _PLACE.sub(lambda place: values[place[1]], _SCRIPT)  # in one pass: a name may look like a place
    return script.encode("utf-8", "surrogateescape") + patch


def _words(texts: Iterable[str]) -> str:
    return " ".join("'" + text.replace("'", "'\\''") + "'" for text in texts)


def _refusal(session: Session, read: PatchText, done: CommandResult) -> PatchRefused | InfraError:
    if done.limit is not None:
        return PatchRefused("limit", f"putting the patch on ended by the limit of {done.limit}")
    if done.exit_code in (_NO_TOOLS, _READ_ONLY):
        lacks = "has neither git nor patch, or no usual tools" if done.exit_code == _NO_TOOLS else "is read-only"
        return InfraError("no_image", f"no patch can be put on: the image's working folder {lacks}; give another image")
    if done.exit_code == _LINK:
        return PatchRefused("git_folder", "the patch makes a link into a `.git`, where git keeps what it runs")
    if done.exit_code == _MISFIT:
        top, *said = done.output.splitlines()
        lost = lost_in(read.sections, lambda name: _content(session, f"{top}/{name}"))
        if lost is not None:
            return InfraError("patch_damaged", f"the patch does not fit, for its dump lost {lost}; dump it as bytes")
        reasons = " | ".join(line[:200] for line in said)
        return PatchRefused("misfit", f"the patch does not apply by git apply, 3-way or patch with fuzz: {reasons}")
    why = {_HIDDEN: "names files in no header", _NOT_WRITTEN: "cannot be written"}
    return PatchRefused("misfit", f"the patch {why.get(done.exit_code or 0, f'broke on (exit code {done.exit_code})')}")


def _content(session: Session, path: str) -> bytes | None:
    try:
        return session.read(path, BASE_LIMIT)
    except OSError:
        return None
