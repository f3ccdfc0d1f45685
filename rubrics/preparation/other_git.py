"""Git folders and object stores that lie elsewhere in the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import basename, dirname, join

from rubrics.preparation.findings import Finding, inside, removable, removal
from rubrics.preparation.inventory import Entry
from rubrics.preparation.place import Place
from rubrics.preparation.repository import Repository, commit_of, open_view, resolve
from rubrics.preparation.shell import quote, variable

_STORE = re.compile(r"(?:.*\.pack|[0-9a-f]{38}|[0-9a-f]{62}|HEAD)")
SAME = 0.3
"""Another repository that holds this share of base's files is a copy of the task's."""


class OtherGit:
    """Copies of the task's repository go. Other projects' stay: the probes that follow look at them too."""

    name = "other_git"

    def look(self, place: Place) -> Iterator[Finding]:
        known = {item.folder for item in place.repositories} | {f"{place.top}/.git"}
        found = [path for path, entry in place.entries.items() if _gives_away(entry)]
        places = read_stores(found, {*known, *(item.common for item in place.repositories if item.own)})
        if place.repository is None and place.shell.exists(f"{place.top}/.git"):
            yield removal(self.name, "git_unread", f"{place.top}/.git", "no git can read it here")
        blobs = _base_blobs(place)
        for path in place.besides_base(places):
            yield from self._judge(place, path, blobs)

    def _judge(self, place: Place, path: str, blobs: list[str]) -> Iterator[Finding]:
        if path.endswith(".pack") and not starts_with(place, path, (b"PACK",)):
            return
        top = dirname(path) if basename(path) == ".git" else path
        pointer = place.shell.read(path) if basename(path) == ".git" else None
        where = resolve(place.shell, top) if place.has_git and not path.endswith((".pack", ".rubrics-new")) else None
        own = place.repository
        linked = own is not None and where is not None and where[1] in (own.common, own.folder)
        if linked or b"/worktrees/" in (pointer or b""):
            yield removal(self.name, "git_worktree", path, "a linked work tree", (self._whole(place, top, path),))
            return
        if where is None:
            yield removal(self.name, "git_store", path, "objects of a repository")
            return
        open_view(place.shell, *where)
        head = commit_of(place.shell, "HEAD")
        if head is None or _is_copy(place, blobs) or _tells(place):
            yield removal(self.name, "git_copy", path, "a copy of the repository", (self._whole(place, top, path),))
            return
        folder = path if basename(path) == ".git" else top
        place.kept.append(Repository(top if folder != top else None, folder, *where, base=head, own=False))

    def _whole(self, place: Place, top: str, path: str) -> str:
        """The work tree with its git folder where it may go, else the git folder alone."""
        return top if removable(top, place.config, [place.top, place.workdir]) else path


def _gives_away(entry: Entry) -> bool:
    """Whether a name is one by which a repository, or a store of its objects, is known."""
    if entry.kind == "f" and _STORE.fullmatch(entry.name) is not None:
        return True
    return entry.name == ".git" or (entry.kind == "d" and entry.name.endswith(".rubrics-new"))


def read_stores(found: list[str], known: set[str]) -> list[str]:
    """Where repositories are, from the files that give them away; those inside known ones left out."""
    places: set[str] = set()
    for path in found:
        if re.search(r"/objects/(pack/[^/]+\.pack|[0-9a-f]{2}/[0-9a-f]{38,62})$", path):
            places.add(re.sub(r"/objects/(pack/)?[^/]+(/[^/]+)?$", "", path))
        elif basename(path) == "HEAD":
            if dirname(path).endswith(".git"):
                places.add(dirname(path))
        elif re.search(r"/[0-9a-f]{2}/[0-9a-f]{38,62}$", path):
            places.add(dirname(path))
        else:
            places.add(path)
    outside = {path for path in places if not any(inside(path, folder) for folder in known)}
    return sorted(
        path for path in outside if not any(path != other and inside(path, join(other, ".git")) for other in outside)
    )


def _base_blobs(place: Place) -> list[str]:
    """Names of the contents of base's files, at most 2,000."""
    if place.repository is None:
        return []
    open_view(place.shell, place.repository.git_dir, place.repository.common)
    listed = place.shell.lines(
        f"GIT_DIR=$S/view g ls-tree -r -l {quote(place.repository.base)} | head -n 20000 | cut -f1"
    )
    rows = [line.split() for line in listed]
    return [row[2] for row in rows if len(row) == 4 and row[1] == "blob" and row[3].strip("0").isdigit()][:2000]


def _is_copy(place: Place, blobs: list[str]) -> bool:
    """Whether the view holds base, or enough of base's files."""
    base = place.repository.base if place.repository else place.task.base_commit
    if base and commit_of(place.shell, base):
        return True
    if not blobs:
        return False
    prefix = (
        "export GIT_DIR=$S/view; f() { tr '\\0' '\\n' | g cat-file --batch-check='%(objectname)' | grep -vc missing; }"
    )
    counts = place.shell.with_names(blobs, "f", prefix)
    return sum(int(result.output.strip() or 0) for result in counts) >= SAME * len(blobs)


def _tells(place: Place) -> bool:
    """Whether any object in the view holds lines of the answer."""
    if not place.answers:
        return False
    script = 'export GIT_DIR=$S/view; g cat-file --batch-all-objects --batch | grep -a -h -F -e "$P" | head -c 4000000'
    found = b"".join(place.shell.whole(variable("P", place.answers.traces()) + script))
    return bool(place.answers.told_by(found))


def starts_with(place: Place, path: str, starts: tuple[bytes, ...]) -> bool:
    """Whether a file begins with one of these."""
    words = place.shell.names(f"head -c 100 < {quote(path)} | tr -d '\\0'; printf '\\0'")
    return bool(words) and words[0].encode("utf-8", "surrogateescape").startswith(starts)
