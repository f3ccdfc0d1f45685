"""States that were kept of a sandbox: a folder of what differs from the image, and a note of what it lies on.

```
images/saved-<digest>/        what the sandbox had written, as a layer
images/saved-<digest>.json    the layers below, and what `Kept` says
```
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubrics import jsonio
from rubrics.digests import digest128
from rubrics.environments.archives import digest_of_path
from rubrics.environments.recipes import Root
from rubrics.environments.state import State, remove_tree
from rubrics.errors import InfraError

_NAME = re.compile(r"saved-[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of a saved state."""

    start: str
    """Digest of the image that it was made from."""
    owner: str
    """Folder of the store that names it."""


def keep_folders(state: State, root: Root, merged: Path, upper: Path | None, owner: str) -> str:
    """Keep what a sandbox on `root` shows at `merged`; returns the name. Raises `InfraError` when it does not fit.

    With `upper`, what was written, only that is copied; whole where the disk cannot hold an overlay's own marks.
    """
    folder = state.new_folder()
    try:
        layers = root.layers
        if upper is None or not _copied(upper, folder / "upper"):
            shutil.rmtree(folder / "upper", ignore_errors=True)
            if not _copied(merged, folder / "upper"):
                raise InfraError("disk_full", f"{folder}: the state cannot be copied there; free some space")
            layers = ()
        name = f"saved-{digest128([root.digest, owner, digest_of_path(folder / 'upper')])}"
        note = {
            "start": root.origin or root.digest, "owner": owner, "layers": [str(layer) for layer in layers],
            "workdir": root.workdir, "env": root.env, "host_programs": root.host_programs,
        }  # fmt: skip
        (folder / "note").write_text(jsonio.dumps(note), "utf-8")
        os.replace(folder / "note", state.images / f"{name}.json")
        with state.building(state.images / name) as target:
            if target is not None:
                target.rmdir()
                os.rename(folder / "upper", target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return name


def _copied(source: Path, target: Path) -> bool:
    """Copy a folder with owners, times, attributes and an overlay's marks; false when that cannot be done."""
    done = subprocess.run(["cp", "-a", "--", str(source), str(target)], capture_output=True)
    return done.returncode == 0


def kept_root(state: State, name: str, workdir: str | None) -> Root:
    """The root file system of a saved state. Raises `InfraError` when it, or a folder below it, is gone."""
    note = _note(state, name)
    layers = (state.images / name, *(Path(layer) for layer in note["layers"])) if note else ()
    if note is None or not all(layer.is_dir() for layer in layers):
        raise InfraError("no_image", f"saved state {name!r} is gone; run `rubrics prepare` again")
    return Root(name, layers, workdir or note["workdir"], note["env"], note["host_programs"], note["start"])


def kept_of(state: State, name: str) -> Kept | None:
    """What is known of a saved state; null when it is not there."""
    note = _note(state, name)
    return Kept(note["start"], note["owner"]) if note is not None and (state.images / name).is_dir() else None


def kept_states(state: State) -> Iterator[tuple[str, Kept, tuple[str, ...]]]:
    """Every saved state: its name, what is known of it, and the names of the folders it lies on."""
    for file in sorted(state.images.glob("saved-*.json")):
        note, name = _note(state, file.stem), file.stem
        if note is not None:
            yield name, Kept(note["start"], note["owner"]), tuple(Path(layer).name for layer in note["layers"])


def forget(state: State, name: str) -> None:
    """Remove a saved state."""
    (state.images / f"{name}.json").unlink(missing_ok=True)
    remove_tree(state.images / name)


def _note(state: State, name: str) -> dict[str, Any] | None:
    file = state.images / f"{name}.json"
    if not _NAME.fullmatch(name) or not file.is_file():
        return None
    note: dict[str, Any] = jsonio.loads(file.read_bytes())
    return note
