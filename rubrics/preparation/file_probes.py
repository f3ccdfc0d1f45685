"""Probes of files by name: leftovers in the work tree, home folders, folders of a harness, temporary files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from posixpath import basename

from rubrics.preparation.config import FOLDERS, IN_HOME, IN_TREE, LOOSE, TEMPORARY
from rubrics.preparation.findings import PACKAGES, Finding, removal
from rubrics.preparation.guards import inside
from rubrics.preparation.place import Place
from rubrics.preparation.shell import quote

_DOUBTFUL = ("patch_file", "build_log", "verifier_output", "build_copy", "core_dump")
"""Files, never folders, that may as well be the repository's own where no git tells."""


class TreeLeftovers:
    """Files in the work tree that do not stand at base and are named like leftovers."""

    name = "tree_leftovers"

    def look(self, place: Place) -> Iterator[Finding]:
        patterns = [pattern for kind in IN_TREE.values() for pattern in kind]
        tests = " -o ".join(f"-name {quote(pattern)}" for pattern in patterns)
        found = place.search(f"\\( -path '*/.git' -prune ! -name '*' -o {tests} \\)", [place.top])
        folders = set(place.search(f"-type d \\( {tests} \\)", [place.top]))
        yield from read_leftovers(place, place.besides_base(found), folders)


def read_leftovers(place: Place, found: Iterable[str], folders: set[str]) -> Iterator[Finding]:
    """What names say of files and folders that do not stand at base."""
    for path in found:
        if any(part in path for part in PACKAGES) or inside(place.workdir, path):
            continue
        name = basename(path)
        kind = next(kind for kind, globs in IN_TREE.items() if any(fnmatchcase(name, glob) for glob in globs))
        if path in folders and kind in _DOUBTFUL and name != "htmlcov":
            continue
        if place.repository is None and kind in _DOUBTFUL:
            place.notes.append(f"{path}: may be a leftover; without git nobody can tell")
            continue
        yield removal("tree_leftovers", kind, path, "not at base")


class BuildCopies:
    """`build/lib` of the work tree: a copy of the package as it was when somebody built it."""

    name = "build_copies"

    def look(self, place: Place) -> Iterator[Finding]:
        tests = " -o ".join(f"-path '*/build/{name}'" for name in ("lib", "lib.*", "bdist.*"))
        found = place.search(f"-path '*/node_modules' -prune ! -name '*' -o -type d \\( {tests} \\)", [place.top])
        for path in place.besides_base(found) if place.repository else []:
            if not any(part in path for part in PACKAGES):
                yield removal(self.name, "build_copy", path, "not at base")


class HomeLeftovers:
    """Histories, caches and traces in home folders, and git settings that rewrite addresses or include files."""

    name = "home_leftovers"

    def look(self, place: Place) -> Iterator[Finding]:
        for home in homes(place):
            for kind, globs in IN_HOME.items():
                listed = " ".join(f"{quote(home)}/{glob}" for glob in globs)
                script = f'for f in {listed}; do if [ -e "$f" ] || [ -L "$f" ]; then printf "%s\\0" "$f"; fi; done'
                for path in place.shell.names(script):
                    yield from _doomed(place, self.name, kind, path)
        files = [f"{home}/{name}" for home in homes(place) for name in (".gitconfig", ".config/git/config")]
        for path in place.shell.existing([*files, place.config.below("etc/gitconfig")]):
            yield from self._settings(place, path)

    def _settings(self, place: Place, path: str) -> Iterator[Finding]:
        if place.kept_by_config(path):
            return
        keys = place.shell.lines(f"git config -f {quote(path)} --no-includes --list --name-only 2>/dev/null; true")
        bad = [
            key
            for key in keys
            if key.startswith(("url.", "include.", "includeif.", "alias.", "remote.", "credential."))
        ]
        if bad:
            yield removal(self.name, "git_settings", path, " ".join(bad)[:200])


class HarnessFolders:
    """/tests, /solution, /logs and the like, and what lies loose in the root, in homes and among temporary files."""

    name = "harness_folders"

    def look(self, place: Place) -> Iterator[Finding]:
        root = place.config.root.rstrip("/")
        for path in place.shell.existing(place.config.below(name) for name in FOLDERS):
            yield from _doomed(place, self.name, "harness_folder", path)
        for path in place.shell.existing(f"{folder}/{name}" for folder in (root, *homes(place)) for name in LOOSE):
            yield from _doomed(place, self.name, "harness_file", path)
        temporary = [place.config.below(name) for name in TEMPORARY]
        patterns = [*IN_TREE["patch_file"], *IN_TREE["build_log"], *IN_TREE["core_dump"], *IN_TREE["editor_file"]]
        tests = " -o ".join(f"-name {quote(pattern)}" for pattern in patterns)
        where = " ".join(quote(folder) for folder in [root or "/", *homes(place), *_parents(place, root)])
        found = place.shell.names(f"find {where} -maxdepth 1 -mindepth 1 -type f \\( {tests} \\) -print0")
        mine = [quote(place.shell.scratch), quote(place.top)]
        listed = " ".join(quote(folder) for folder in temporary)
        all_temporary = place.shell.names(
            f"find {listed} -mindepth 1 -maxdepth 1 ! -path {mine[0]} ! -path {mine[1]} -print0"
        )
        for path in dict.fromkeys(found):
            yield from _doomed(place, self.name, "harness_file", path)
        for path in all_temporary:
            yield from _doomed(place, self.name, "temporary_file", path)


def homes(place: Place) -> list[str]:
    """Home folders that are there."""
    root = place.config.root.rstrip("/")
    listed = " ".join(f"{quote(root)}/{glob}" for glob in place.config.homes)
    return place.shell.names(f'for f in {listed}; do [ -d "$f" ] && printf "%s\\0" "$f"; done')


def _parents(place: Place, root: str) -> list[str]:
    """Folders above the work tree, below the root."""
    parts = place.top[len(root) :].strip("/").split("/")
    return [f"{root}/{'/'.join(parts[:count])}" for count in range(1, len(parts))]


def _doomed(place: Place, probe: str, kind: str, path: str) -> Iterator[Finding]:
    around = [place.top, place.workdir]
    if not place.kept_by_config(path) and not any(inside(item, path) or inside(path, item) for item in around):
        yield removal(probe, kind, path, "a leftover by its name")
