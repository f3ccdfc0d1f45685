"""Probes of names: what is left over in the work tree, in homes, where harnesses work, and among temporary files."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from posixpath import dirname

from rubrics.preparation.config import FOLDERS, IN_HOME, IN_TREE, LOOSE, TEMPORARY
from rubrics.preparation.findings import PACKAGES, Finding, inside, removal
from rubrics.preparation.inventory import matching
from rubrics.preparation.place import Place
from rubrics.preparation.shell import quote

_DOUBTFUL = ("patch_file", "build_log", "verifier_output", "build_copy", "core_dump")
"""Files, never folders, that may as well be the repository's own where no git tells."""
_ANYWHERE = ("patch_file", "build_log", "core_dump", "editor_file")
"""Kinds of names that count outside the work tree too, directly in the root, a home or a folder above the tree."""


class TreeLeftovers:
    """Files in the work tree that do not stand at base and are named like leftovers, or lie in a folder of builds."""

    name = "tree_leftovers"

    def look(self, place: Place) -> Iterator[Finding]:
        kinds = {kind: matching(globs) for kind, globs in IN_TREE.items()}
        builds = matching(("*/build/lib", "*/build/lib.*", "*/build/bdist.*"))
        below = [entry for path, entry in place.entries.items() if path.startswith(place.top + "/")]
        named = {entry.path: entry for entry in below if entry.name != ".git" and "/.git/" not in entry.path}
        besides = place.besides_base(path for path in named if not _in_package(path))
        for path in besides:
            entry = named[path]
            kind = next((kind for kind, knows in kinds.items() if knows(entry.name)), None)
            if entry.kind == "d" and place.repository is not None and builds(path):
                yield removal(self.name, "build_copy", path, "not at base")
            elif kind is not None and not inside(place.workdir, path):
                if entry.kind == "d" and kind in _DOUBTFUL and entry.name != "htmlcov":
                    continue
                if place.repository is None and kind in _DOUBTFUL:
                    place.notes.append(f"{path}: may be a leftover; without git nobody can tell")
                    continue
                yield removal(self.name, kind, path, "not at base")


class HomeLeftovers:
    """Histories, caches and traces in home folders, and git settings that rewrite addresses or include files."""

    name = "home_leftovers"

    def look(self, place: Place) -> Iterator[Finding]:
        for home in homes(place):
            for path in [path for path in place.entries if path.startswith(home + "/")]:
                kind = _kind_in_home(path[len(home) + 1 :])
                if kind is not None:
                    yield from _doomed(place, self.name, kind, path)
        files = [f"{home}/{name}" for home in homes(place) for name in (".gitconfig", ".config/git/config")]
        for path in [*files, place.config.below("etc/gitconfig")]:
            if path in place.entries:
                yield from self._settings(place, path)

    def _settings(self, place: Place, path: str) -> Iterator[Finding]:
        keys = place.shell.lines(f"git config -f {quote(path)} --no-includes --list --name-only 2>/dev/null; true")
        starts = ("url.", "include.", "includeif.", "alias.", "remote.", "credential.")
        bad = [key for key in keys if key.startswith(starts)]
        if bad:
            yield removal(self.name, "git_settings", path, " ".join(bad)[:200])


class HarnessFolders:
    """/tests, /solution, /logs and the like, and what lies loose in the root, in homes and among temporary files."""

    name = "harness_folders"

    def look(self, place: Place) -> Iterator[Finding]:
        root = place.config.root.rstrip("/")
        loose = [root, *homes(place)]
        folders = {*loose, *_parents(place, root)}
        leftover = matching(glob for kind in _ANYWHERE for glob in IN_TREE[kind])
        temporary = {place.config.below(name) for name in TEMPORARY}
        whole = {place.config.below(name): "harness_folder" for name in FOLDERS}
        whole |= {f"{folder}/{name}": "harness_file" for folder in loose for name in LOOSE}
        for path, entry in place.entries.items():
            kind = whole.get(path)
            if kind is None and dirname(path) in temporary:
                kind = "temporary_file"
            elif kind is None and entry.kind == "f" and dirname(path) in folders and leftover(entry.name):
                kind = "harness_file"
            if kind is not None:
                yield from _doomed(place, self.name, kind, path)
        shown = place.config.below("dev/shm")  # the kernel's, but anybody may write there
        for path in place.shell.names(f"find {quote(shown)} -mindepth 1 -maxdepth 1 -print0"):
            yield from _doomed(place, self.name, "temporary_file", path)


def homes(place: Place) -> list[str]:
    """Home folders that are there."""
    root = place.config.root.rstrip("/")
    listed = " ".join(f"{quote(root)}/{glob}" for glob in place.config.homes)
    return place.shell.names(f'for f in {listed}; do [ -d "$f" ] && printf "%s\\0" "$f"; done')


def _kind_in_home(path: str) -> str | None:
    parts = path.split("/")
    for kind, globs in IN_HOME.items():
        for glob in globs:
            wanted = glob.split("/")
            if len(wanted) == len(parts) and all(map(fnmatchcase, parts, wanted)):
                return kind
    return None


def _in_package(path: str) -> bool:
    return any(part in path for part in PACKAGES)


def _parents(place: Place, root: str) -> list[str]:
    """Folders above the work tree, below the root."""
    parts = place.top[len(root) :].strip("/").split("/")
    return [f"{root}/{'/'.join(parts[:count])}" for count in range(1, len(parts))]


def _doomed(place: Place, probe: str, kind: str, path: str) -> Iterator[Finding]:
    around = [place.top, place.workdir, place.shell.scratch]
    if not place.kept_by_config(path) and not any(inside(item, path) or inside(path, item) for item in around):
        yield removal(probe, kind, path, "a leftover by its name")
