"""Probes of installed copies: releases of the repository's own package other than what the repository is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from posixpath import basename, dirname, join, normpath
from urllib.parse import unquote, urlsplit

from rubrics.preparation.findings import PACKAGES, Finding, inside, removal
from rubrics.preparation.packages import newer
from rubrics.preparation.place import Place
from rubrics.preparation.shell import quote

_ARCHIVES = ("*.whl", "*.tar.gz", "*.tar.bz2", "*.tar.xz", "*.zip", "*.egg", "*.conda", "*.tgz", "*.crate", "*.deb")


class InstalledCopies:
    """`*.dist-info` and `*.egg-info` of the own package with a version after the repository's, or another content."""

    name = "installed_copies"

    def look(self, place: Place) -> Iterator[Finding]:
        globs = [f"{_glob(name)}-*.{end}" for name in place.published.python for end in ("dist-info", "egg-info")]
        globs += [f"{_glob(name)}.egg-info" for name in place.published.python]
        found = place.found(*globs, ignore_case=True)
        for path in place.besides_base(found):
            if f"{dirname(path)}/".endswith(PACKAGES) or not inside(path, place.top):
                yield from self._judge(place, path)

    def _judge(self, place: Place, path: str) -> Iterator[Finding]:
        where = _editable_at(place.shell.read(f"{path}/direct_url.json") or b"")
        files, own = _files(place, path), place.published.version
        if where is not None:
            if not inside(where, place.top):
                yield removal(self.name, "installed_elsewhere", path, f"installed from {where}", files)
            return
        version = _version(place, path)
        if version and own:
            if newer(version, own):
                yield removal(self.name, "newer_release", path, f"{version} is after the repository's {own}", files)
        elif _differs(place, dirname(path), files):
            yield removal(self.name, "other_release", path, "other content than base", files)


class Links:
    """`*.egg-link`, `*.pth` and the like that put a copy from elsewhere on the path."""

    name = "links"

    def look(self, place: Place) -> Iterator[Finding]:
        modules = [re.sub(r"[-.]", "_", name) for name in place.published.python]
        globs = ["*.egg-link", "*.pth"] if modules else []
        found = [path for path in place.found(*globs, kind="f") if place.entries[path].size < 32_000]
        for path in place.besides_base(found):
            text = (place.shell.read(path) or b"").decode("utf-8", "surrogateescape")
            lines = text.splitlines()
            outside = [line for line in lines if line.startswith("/") and self._copy_in(place, line.strip(), modules)]
            copies = tuple(f"{normpath(line.strip())}/{name}" for line in outside for name in modules)
            detail = f"points to {', '.join(outside)[:200]}"
            if outside and (path.endswith(".egg-link") or len(outside) == len(lines)):
                yield removal(self.name, "link_elsewhere", path, detail, (path, *copies))
            elif outside:
                kept = "".join(f"{line}\n" for line in lines if line not in outside).encode("utf-8", "surrogateescape")
                yield Finding(self.name, "link_elsewhere", path, detail, "rewrite", (path, *copies), kept)

    def _copy_in(self, place: Place, folder: str, modules: list[str]) -> bool:
        if inside(normpath(folder), place.top):
            return False
        return any(
            place.shell.exists(f"{folder}/{name}") or place.shell.exists(f"{folder}/{name}.py") for name in modules
        )


class OwnArchives:
    """Wheels, source archives and unpacked registry copies of the own package, by name."""

    name = "own_archives"

    def look(self, place: Place) -> Iterator[Finding]:
        published = place.published
        files = [f"{_glob(name)}[-_]*{end[1:]}" for name in published.names for end in _ARCHIVES]
        for path in place.besides_base(place.found(*files, kind="f", ignore_case=True)):
            yield removal(self.name, "own_archive", path, "a packed copy of the repository's package")
        folders = [
            f"*/pkg/mod/{start}" for name in published.go for start in (f"{_go(name)}@*", f"cache/download/{_go(name)}")
        ]
        folders += [f"*/registry/src/*/{name}-[0-9]*" for name in published.cargo]
        folders += [f"*/pkgs/{_glob(name)}-[0-9]*" for name in published.python]
        for path in place.besides_base(place.found(*folders, kind="d")):
            yield removal(self.name, "registry_copy", path, "a copy out of a registry")
        for name in published.npm:
            for path in place.besides_base(place.found(f"*/node_modules/{name}/package.json", kind="f")):
                if self._newer_npm(place, path):
                    yield removal(self.name, "newer_release", path, "after the repository's", (dirname(path),))

    def _newer_npm(self, place: Place, path: str) -> bool:
        found = re.search(rb'"version"\s*:\s*"([^"]+)"', place.shell.read(path) or b"")
        own = place.published.version
        return found is not None and own is not None and newer(found[1].decode("ascii", "replace"), own)


def _glob(name: str) -> str:
    return re.sub(r"[-_.]+", "[-_.]", name)


def _go(module: str) -> str:
    """A module's path as the cache writes it: a capital letter as `!` and the small one."""
    return re.sub(r"[A-Z]", lambda match: "!" + match[0].lower(), module)


def _version(place: Place, path: str) -> str | None:
    """Version of an installation: from its metadata, else from its name."""
    for file in (f"{path}/METADATA", f"{path}/PKG-INFO", path):
        stated = re.search(rb"^Version: *(\S+)", place.shell.read(file) or b"", re.MULTILINE)
        if stated:
            return stated[1].decode("ascii", "replace")
    return _version_in(basename(path))


def _version_in(name: str) -> str | None:
    found = re.match(r".+?-(\d[^-]*?)(-py[\d.]+)?\.(dist-info|egg-info)$", name)
    return found[1] if found else None


def _editable_at(data: bytes) -> str | None:
    """The folder that an editable installation points to; null when it is none."""
    try:
        value = json.loads(data)
        editable, url = value["dir_info"].get("editable"), urlsplit(value["url"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return normpath(unquote(url.path)) if editable and url.scheme == "file" else None


def _files(place: Place, path: str) -> tuple[str, ...]:
    """What an installation consists of, as its record says; nothing that lies above its folder."""
    folder = dirname(path)
    record = (place.shell.read(f"{path}/RECORD") or b"").decode("utf-8", "replace").splitlines()
    listed = [line.rsplit(",", 2)[0].strip('"') for line in record]
    tops = (place.shell.read(f"{path}/top_level.txt") or b"").decode("utf-8", "replace").split()
    files = [normpath(join(folder, name)) for name in listed or [*tops, *(f"{name}.py" for name in tops)]]
    return tuple(dict.fromkeys([path, *(file for file in files if inside(file, folder) and file != folder)]))


def _differs(place: Place, folder: str, files: tuple[str, ...]) -> bool:
    """Whether an installed file differs from the one of the same name in the work tree."""
    for file in [item for item in files if item.endswith(".py")][:500]:
        name = file[len(folder) + 1 :]
        for ours in (f"{place.top}/{name}", f"{place.top}/src/{name}"):
            result = place.shell.run(f"[ -f {quote(ours)} ] && ! cmp -s {quote(file)} {quote(ours)}")
            if result.exit_code == 0:
                return True
    return False
