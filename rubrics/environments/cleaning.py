"""What `rubrics clean` does about environments: leftovers of dead runs, cached images, states that no store names."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from rubrics.environments.saved import forget, kept_states
from rubrics.environments.state import State, default_root, is_alive, remove_tree, sweep
from rubrics.errors import InfraError

Named = Callable[[str, str], bool]
"""Whether the store in a folder (first) names a saved state (second)."""


def clean_environments(named: Named, root: Path | None = None) -> dict[str, int]:
    """Remove leftovers of dead runs, saved states that their stores do not name, and every image built here that no
    other state lies on; returns counts."""
    counts = {"runs": sweep(root or default_root()), "containers": 0, "images": 0}
    state = State(root)
    try:
        from rubrics.environments.docker_engine import Engine
        from rubrics.environments.docker_rollouts import sweep_containers

        with closing(Engine()) as engine:
            counts["containers"] = sweep_containers(engine, state)
            kept = {image for image, owner in engine.saved().items() if named(owner, image)}
            counts["images"] = engine.remove_images(kept)
    except InfraError as error:
        if error.kind != "no_engine":
            raise
    finally:
        state.close()
    if not _others(state):
        counts["images"] += _clean_folders(state, named)
    return counts


def _others(state: State) -> bool:
    """Whether another process has environments open, which lie on images."""
    runs = (folder for folder in (state.root / "runs").iterdir() if folder.is_dir() and folder.name != state.run)
    return any(is_alive(state.root, folder.name) for folder in runs)


def _clean_folders(state: State, named: Named) -> int:
    stay: set[str] = set()
    for name, kept, layers in kept_states(state):
        if named(kept.owner, name):
            stay |= {name, f"{name}.json", *layers}
    gone = 0
    for path in state.images.iterdir():
        if path.name in stay:
            continue
        if path.is_dir():
            remove_tree(path)
            gone += 1
        else:
            path.unlink(missing_ok=True)
    return gone


def clean_saved(owner: str, names: set[str], root: Path | None = None) -> int:
    """Remove the states kept for the store in `owner`, but those named; returns how many went."""
    state = State(root)
    try:
        doomed = [name for name, kept, _ in kept_states(state) if kept.owner == owner and name not in names]
        for name in doomed:
            forget(state, name)
        return len(doomed) + _clean_images(owner, names)
    finally:
        state.close()


def _clean_images(owner: str, names: set[str]) -> int:
    try:
        from rubrics.environments.docker_engine import Engine

        engine = Engine()
    except InfraError:
        return 0
    with closing(engine):
        doomed = [image for image, found in engine.saved().items() if found == owner and image not in names]
        return sum(engine.remove_image(image) for image in doomed)
