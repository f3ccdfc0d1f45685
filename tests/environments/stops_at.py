"""A process that opens and closes one environment, and stops for good at a named call, to be killed there.

stops_at.py MODULE:NAME before|after BACKEND STATE REPOSITORY IMAGE
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
from pathlib import Path
from typing import Any

from environment_helpers import small_task, started

from rubrics.records.tasks import Task


def tasks(repository: Path, image: Path) -> tuple[Task, Task]:
    """One that starts from an image, one from a repository on it."""
    recipe = json.dumps({"base": str(image)})
    return small_task(repository, image=str(image), recipe=None), small_task(repository, recipe=recipe)


def main(point: str, when: str, backend: str, state: str, repository: str, image: str) -> None:
    module, _, rest = point.partition(":")
    owner: Any = importlib.import_module(module)
    *path, name = rest.split(".")
    for part in path:
        owner = getattr(owner, part)
    real = getattr(owner, name)

    def stops(*arguments: Any, **more: Any) -> Any:
        if when == "after":
            real(*arguments, **more)
        print("here", flush=True)
        threading.Event().wait()

    setattr(owner, name, stops)
    environment = started(backend, root=Path(state))
    for task in tasks(Path(repository), Path(image)):
        session = environment.open(task, None)
        session.run("(sleep 7654 &); echo x > left", 30)
        session.close()
    environment.close()
    print("not stopped", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
