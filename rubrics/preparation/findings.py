"""What a probe reports, what may be removed, and the interface of probes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from posixpath import normpath
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rubrics.preparation.config import Preparation

if TYPE_CHECKING:
    from rubrics.preparation.place import Place

Remedy = Literal["rebuild", "remove", "rewrite", "strip", "unset", "none"]

PACKAGES = ("/site-packages/", "/dist-packages/", "/node_modules/")
"""What lies in such a folder belongs to an installed package."""
_SYSTEM = frozenset({
    "usr", "bin", "sbin", "lib", "lib64", "etc", "var", "home", "root", "opt", "tmp", "srv", "mnt", "proc", "sys",
    "dev", "usr/lib", "usr/bin", "usr/share", "usr/local", "usr/local/lib", "usr/local/bin", "var/tmp", "var/lib",
    "var/cache",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """One route to the answer that is open."""

    probe: str
    """Name of the probe that found it."""
    kind: str
    """A short closed word for what it is: `git_branch`, `patch_file`, `newer_release`, ..."""
    place: str
    """Path in the environment, or name of a reference or variable."""
    detail: str = ""
    """What was seen, without quoting an answer."""
    remedy: Remedy = "none"
    """`rebuild` the repository at `place`, without the tags `names`; `remove` `paths`; `rewrite` the first of `paths`
    and remove the others; `strip` it of the extended attributes `names`; `unset` the variables `names` in the state
    that is kept; `none`: for a person."""
    paths: tuple[str, ...] = ()
    content: bytes = b""
    """What `rewrite` writes."""
    names: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For the store: names that are no UTF-8 are escaped, contents left out."""
        values = {"probe": self.probe, "kind": self.kind, "place": self.place, "detail": self.detail}
        clean = {name: value.encode("utf-8", "backslashreplace").decode() for name, value in values.items()}
        return {**clean, "remedy": self.remedy}


def removal(probe: str, kind: str, path: str, detail: str, files: tuple[str, ...] = ()) -> Finding:
    """A finding whose remedy is to remove the path, or the files given."""
    return Finding(probe, kind, path, detail, "remove", files or (path,))


def removable(path: str, config: Preparation, around: Sequence[str]) -> bool:
    """Whether a path may go: below the root, no folder of the system, and nothing of `around` inside it."""
    root = config.root.rstrip("/")
    if normpath(path) != path or not path.startswith(root + "/") or path == root + "/":
        return False
    if any(inside(item, path) for item in around):
        return False
    return path[len(root) + 1 :] not in _SYSTEM


def inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


class Probe(Protocol):
    """Looks for open routes to the answer. Deterministic ones are listed in `loop`; the one that a model drives is in
    `model_probe`.

    A probe reads; it changes nothing, but for a `LateProbe`. What it suggests as remedy is carried out under the same
    guards whoever suggests it: nothing outside the root, no system folder, nothing that stands at base.
    """

    name: str

    def look(self, place: Place) -> Iterable[Finding]:
        """What is open now. Raises `InfraError` when the environment does not answer."""


class LateProbe(Probe, Protocol):
    """A probe that is costly and may fail to finish: it looks only where the probes before it found nothing.

    It works in `Place.copy` where there is one; else it may change the environment, and the others look once more.
    What became of its look stands in `Place.reports`.
    """

    late: Literal[True]


def is_late(probe: Probe) -> bool:
    return getattr(probe, "late", False) is True
