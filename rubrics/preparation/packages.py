"""Under which names and which version the repository's own package is published, read from its files."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any

from packaging.version import InvalidVersion, Version

from rubrics.preparation.shell import Shell


@dataclass(frozen=True, slots=True)
class Published:
    """Names of the repository's own package."""

    python: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    go: tuple[str, ...] = ()
    cargo: tuple[str, ...] = ()
    version: str | None = None
    """As the repository says; null when it is computed at build time."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.python, *self.npm, *self.cargo)))


def published(shell: Shell, top: str, more: tuple[str, ...] = ()) -> Published:
    """Read the metadata files of a work tree; what cannot be parsed says nothing."""
    toml = _toml(shell.read(f"{top}/pyproject.toml"))
    project, poetry = _table(toml, "project"), _table(_table(toml, "tool"), "poetry")
    cargo = _table(_toml(shell.read(f"{top}/Cargo.toml")), "package")
    package = _json(shell.read(f"{top}/package.json"))
    setup = [_text(shell.read(f"{top}/{name}")) for name in ("setup.cfg", "setup.py", "PKG-INFO")]
    python = [project.get("name"), poetry.get("name"), *(_assigned(text, "name") for text in setup)]
    versions = [
        project.get("version"), poetry.get("version"), package.get("version"), cargo.get("version"),
        *(_assigned(text, "version") for text in setup),
    ]  # fmt: skip
    names = _names([*python, *more])
    module = re.search(r"^module\s+(\S+)", _text(shell.read(f"{top}/go.mod")), re.MULTILINE)
    version = next((str(item) for item in versions if _is_version(item)), None) or _in_code(shell, top, names)
    return Published(
        names, _names([package.get("name")]), _names([module and module[1]]), _names([cargo.get("name")]), version
    )


def newer(found: str, own: str) -> bool:
    """Whether a version comes after another, local builds left out; of one that registries do not know, its numbers."""
    try:
        return _public(found) > _public(own)
    except InvalidVersion:
        return _numbers(found) > _numbers(own)


def _public(version: str) -> Version:
    return Version(Version(version).public)


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"[vV]?(\d{1,9}(?:\.\d{1,9})*)", version)
    numbers = [int(item) for item in found[1].split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _in_code(shell: Shell, top: str, names: tuple[str, ...]) -> str | None:
    for name in names:
        module = re.sub(r"[-.]", "_", name)
        for path in (f"{module}/__init__.py", f"src/{module}/__init__.py", f"{module}.py", f"{module}/version.py"):
            found = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)", _text(shell.read(f"{top}/{path}")), re.MULTILINE)
            if found and _is_version(found[1]):
                return found[1]
    return None


def _assigned(text: str, key: str) -> str | None:
    found = re.search(
        rf"""^\s*{key}\s*[=:]\s*['"]?([A-Za-z0-9][\w.!+-]*)['"]?\s*,?\s*$""", text, re.MULTILINE | re.IGNORECASE
    )
    return found[1] if found else None


def _is_version(value: Any) -> bool:
    return isinstance(value, str) and re.match(r"\d+(\.\w+)*", value) is not None


def _names(values: list[Any]) -> tuple[str, ...]:
    """Names that are safe inside a glob: no other character than those that registries allow."""
    good = (item for item in values if isinstance(item, str) and re.fullmatch(r"[@A-Za-z0-9][\w./~-]{0,200}", item))
    return tuple(dict.fromkeys(good))


def _text(data: bytes | None) -> str:
    return (data or b"")[:1_000_000].decode("utf-8", "replace")


def _toml(data: bytes | None) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(data))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _json(data: bytes | None) -> dict[str, Any]:
    try:
        value = json.loads(_text(data) or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _table(values: dict[str, Any], name: str) -> dict[str, Any]:
    value = values.get(name)
    return value if isinstance(value, dict) else {}
