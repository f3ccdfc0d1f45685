"""What `rubrics clean --environments` does: nothing of dead runs, and no cached image, stays."""

from __future__ import annotations

import shutil
from pathlib import Path

from rubrics.environments.state import State, default_root, sweep
from rubrics.errors import InfraError


def clean_environments(root: Path | None = None) -> dict[str, int]:
    """Remove leftovers of dead runs and every image that was built here; returns counts."""
    place = root or default_root()
    counts = {"runs": sweep(place), "containers": 0, "images": 0}
    state = State(root)
    try:
        from rubrics.environments.docker_engine import Engine
        from rubrics.environments.docker_rollouts import sweep_containers

        engine = Engine()
        counts["containers"] = sweep_containers(engine, state)
        counts["images"] = engine.remove_images()
    except InfraError as error:
        if error.kind != "no_engine":
            raise
    finally:
        state.close()
    for folder in state.images.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)
            counts["images"] += 1
        else:
            folder.unlink(missing_ok=True)
    return counts
