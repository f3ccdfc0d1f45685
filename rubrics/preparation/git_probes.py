"""Probes of repositories: references, files of the git folder, history, objects, index, work tree.

Each is a command and a pure function over what it printed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from posixpath import join

from rubrics.preparation.findings import Finding
from rubrics.preparation.place import Place
from rubrics.preparation.rebuild import canonical_config, changed, unfiltered
from rubrics.preparation.repository import measure, open_view
from rubrics.preparation.shell import quote

ALLOWED = re.compile(
    r"HEAD|config|index|packed-refs|shallow|info|info/exclude|refs|refs/heads|refs/tags|objects|objects/info|objects/pack"
    r"|objects/pack/pack-[0-9a-f]{40,64}\.(pack|idx|rev)"
)
"""All that a prepared git folder may hold."""


def allowed(name: str, names: Collection[str]) -> bool:
    """Whether a prepared git folder may hold this file; a pack only beside its index."""
    if name.endswith((".pack", ".rev")) and f"{name.rpartition('.')[0]}.idx" not in names:
        return False
    return ALLOWED.fullmatch(name) is not None


_KINDS = (
    (r"(\w+_HEAD|AUTO_MERGE|.*_MSG|REBASE_HEAD|BISECT_.*)", "git_pseudo_ref"),
    (r"logs(/.*)?", "git_reflog"),
    (r"hooks(/.*)?", "git_hook"),
    (r"(objects/info/(http-)?alternates|objects/info/alternates.*)", "git_alternate"),
    (r"worktrees(/.*)?", "git_worktree"),
    (r"modules(/.*)?", "git_module"),
    (r"info/grafts", "git_graft"),
    (r"objects/pack/.*\.promisor", "git_promisor"),
    (r"objects/pack/.*\.mtimes", "git_cruft_pack"),
    (r"objects/[0-9a-f]{2}(/.*)?", "git_loose_object"),
    (r"objects/.*", "git_object_file"),
    (r"lfs(/.*)?", "git_lfs"),
    (r"refs/.*|reftable(/.*)?", "git_ref_file"),
    (r"(rebase-\w+|sequencer|rr-cache|lost-found)(/.*)?", "git_unfinished"),
    (r".*\.bundle", "git_bundle"),
)
_REFS = (
    ("refs/heads/", "git_branch"), ("refs/remotes/", "git_remote"), ("refs/tags/", "git_tag"),
    ("refs/pull/", "git_pull_ref"), ("refs/notes/", "git_notes"), ("refs/replace/", "git_replace"),
    ("refs/stash", "git_stash"), ("refs/original/", "git_original"),
)  # fmt: skip


class References:
    """`git log --all` and its kin start here: every reference but the tags on base's ancestors."""

    name = "references"

    def look(self, place: Place) -> Iterator[Finding]:
        for repository in place.repositories:
            measure(place.shell, repository, place.config.keep_tags)
            refs = place.shell.lines(
                "GIT_DIR=$S/view g for-each-ref --format='%(objectname) %(refname)' 2>/dev/null; true"
            )
            kept = place.shell.lines("cat $S/tags")
            for line in refs:
                _, _, ref = line.partition(" ")
                if line not in set(kept):
                    kind = next((kind for start, kind in _REFS if ref.startswith(start)), "git_ref")
                    yield Finding(self.name, kind, repository.folder, place.said(ref), "rebuild")
            for ref, said in self._told(place, kept):
                detail = f"{place.said(ref)}: {said} in its name or message"
                yield Finding(self.name, "git_tag", repository.folder, detail, "rebuild", names=(ref,))
            head = place.shell.read(join(repository.git_dir, "HEAD")) or b""
            if head.decode("utf-8", "replace").strip() != repository.base:
                yield Finding(self.name, "git_head", repository.folder, "HEAD is not detached at base", "rebuild")

    def _told(self, place: Place, kept: list[str]) -> Iterator[tuple[str, str]]:
        """Tags that stay and tell the answer: by their name, or by a message, be it of a tag that they point to."""
        names = dict(line.split(" ", 1)[::-1] for line in kept) if place.answers else {}
        objects = tag_objects(place, names.values())
        for ref, name in names.items():
            texts, seen = [ref.removeprefix("refs/tags/").encode("utf-8", "surrogateescape")], {name}
            while name in objects:
                texts.append(objects[name])
                name = objects[name][7:].split(b"\n", 1)[0].decode("ascii", "replace")
                if name in seen:
                    break
                seen.add(name)
            if said := next(filter(None, map(place.told_by, texts)), ""):
                yield ref, said


def tag_objects(place: Place, names: Iterable[str]) -> dict[str, bytes]:
    """What annotated tags say, with those that they point to, by the names of the objects."""
    found: dict[str, bytes] = {}
    wanted = set(names)
    for _ in range(10):
        tags = "tr '\\0' '\\n' | g cat-file --batch-check | grep ' tag ' | cut -d' ' -f1"
        script = f"export GIT_DIR=$S/view; {tags} | g cat-file --batch"
        data = b"".join(place.shell.whole(script, sorted(wanted))) if wanted else b""
        start, more = 0, set()
        while match := _TAG.match(data, start):
            start = match.end() + int(match[2]) + 1
            found[match[1].decode()] = data[match.end() : start - 1]
            more.add(data[match.end() + 7 : start - 1].split(b"\n", 1)[0].decode("ascii", "replace"))
        wanted = more - found.keys()
    return found


_TAG = re.compile(rb"([0-9a-f]{40,64}) tag (\d+)\n")


class GitFiles:
    """Files of the git folder that a prepared one does not have, and a configuration that says more than it needs."""

    name = "git_files"

    def look(self, place: Place) -> Iterator[Finding]:
        for repository in place.repositories:
            folder = repository.folder
            if not repository.rooted:
                yield Finding(self.name, "git_elsewhere", folder, f"its objects lie in {repository.common}", "rebuild")
            for base in dict.fromkeys((repository.git_dir, repository.common)):
                depth = 3 if repository.rooted else 2
                found = place.shell.names(f"cd {quote(base)} && find . -mindepth 1 -maxdepth {depth} -print0")
                yield from read_git_files({name[2:] for name in found}, folder)
            config = place.shell.read(join(repository.common, "config")) or b""
            if config.decode("utf-8", "replace") != canonical_config(repository):
                keys = place.shell.run(
                    f"git config -f {quote(join(repository.common, 'config'))} --no-includes --list --name-only"
                )
                yield Finding(self.name, "git_config", folder, " ".join(keys.output.split())[:300], "rebuild")


def read_git_files(names: Collection[str], folder: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for name in sorted(names):
        if allowed(name, names):
            continue
        kind = next((kind for pattern, kind in _KINDS if re.fullmatch(pattern, name)), "git_file")
        if kind not in seen:
            seen.add(kind)
            yield Finding("git_files", kind, folder, name, "rebuild")


class Objects:
    """Every object that can be read is base's, its ancestors' or a kept tag's: by enumeration of the object store."""

    name = "objects"

    def look(self, place: Place) -> Iterator[Finding]:
        for repository in place.repositories:
            counts = measure(place.shell, repository, place.config.keep_tags)
            if counts.beyond:
                detail = f"{counts.beyond} of {counts.objects} objects ({counts.commits_beyond} commits) are not base's"
                yield Finding(self.name, "git_object", repository.folder, detail, "rebuild")


class History:
    """What `git log --all --reflog` and `git fsck` show beyond base: a second way to what enumeration finds."""

    name = "history"

    def look(self, place: Place) -> Iterator[Finding]:
        for repository in place.repositories:
            open_view(place.shell, repository.git_dir, repository.common)
            script = "GIT_DIR=$S/view g {} 2>/dev/null; true"
            log = place.shell.lines(script.format(f"rev-list --all --reflog --max-count=1000 --not {repository.base}"))
            if log:
                yield Finding(self.name, "git_history", repository.folder, f"{len(log)} commits beyond base", "rebuild")
            fsck = place.shell.lines(script.format("fsck --connectivity-only --unreachable --no-reflogs --no-progress"))
            lost = [line for line in fsck if line.startswith(("unreachable commit", "dangling commit"))]
            if lost:
                yield Finding(self.name, "git_lost", repository.folder, f"{len(lost)} lost commits", "rebuild")


class Index:
    """Staged content, flags that hide changes, unresolved and once resolved conflicts."""

    name = "index"

    def look(self, place: Place) -> Iterator[Finding]:
        for repository in place.repositories:
            if repository.top is None:
                continue
            open_view(place.shell, repository.git_dir, repository.common)
            env = f"export GIT_DIR=$S/view GIT_WORK_TREE={quote(repository.top)}; cd {quote(repository.top)};"
            staged = place.shell.run(
                f"{env} [ -f $S/view/index ] && {{ g diff-index --cached --no-renames --raw {repository.base} --;"
                " g ls-files -v | grep -v '^H'; g ls-files --resolve-undo; } 2>&1"
            ).output.splitlines()
            if staged:
                detail = f"{len(staged)} entries are not base's"
                yield Finding(self.name, "git_index", repository.folder, detail, "rebuild")


class WorkTree:
    """Tracked files have their content at base."""

    name = "work_tree"

    def look(self, place: Place) -> Iterator[Finding]:
        for repository in [item for item in place.repositories if item.own and item.top]:
            names = [
                name
                for name in unfiltered(place.shell, repository, changed(place.shell, repository))
                if not place.kept_by_config(f"{repository.top}/{name}")
            ]
            if names and place.config.work_tree == "base":
                detail = f"{len(names)} tracked files differ from base: {', '.join(names[:5])}"
                yield Finding(self.name, "changed_file", repository.top or "", detail, "rebuild")
