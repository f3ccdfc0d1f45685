"""Where a rollout's environment can start from: the rungs of the ladder, and what a recipe says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rubrics import jsonio
from rubrics.errors import InfraError
from rubrics.records.rollouts import Rollout
from rubrics.records.tasks import Task

DEFAULT_WORKDIR = "/testbed"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEBIAN = "debian:"
"""`debian:<suite>`: a root file system made with debootstrap."""
HOST = "host"
"""The programs of this machine, read-only (bubblewrap only)."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an image is made: a root file system, packages in it, and the repository at base in `workdir`."""

    base: str | None
    """`debian:<suite>`, `host`, a root file system (archive or folder), an image's name; null: the backend's own."""
    repository: str | None = None
    packages: tuple[str, ...] = ()
    """Debian packages; only on a `debian:` base."""
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Saved:
    """A state that a backend kept."""

    name: str
    """What `Backend.save` returned."""


@dataclass(frozen=True, slots=True)
class Root:
    """A root file system as folders, topmost first."""

    digest: str
    layers: tuple[Path, ...]
    workdir: str
    env: dict[str, str] = field(default_factory=dict)
    host_programs: bool = False
    """Whether this machine's /usr goes in, read-only."""
    origin: str | None = None
    """Of a state that was kept: digest of the image that it was made from."""


@dataclass(frozen=True, slots=True)
class Start:
    """One rung: what the environment starts from, and whether the rollout's patch goes on top."""

    rung: str
    """`snapshot`, `prepared`, `image` or `repository`."""
    source: str | Recipe | Saved
    workdir: str | None
    patched: bool


def starts(task: Task, rollout: Rollout | None, saved: str | None = None) -> Iterator[Start]:
    """The rungs in their order, those that the task and the rollout give anything for.

    A saved state stands for the task's image and repository: what was scrubbed is not entered by another way.
    """
    if rollout is not None and rollout.snapshot:
        ours = DEFAULT_WORKDIR if not task.image and (task.recipe or task.repository) else None
        yield Start("snapshot", rollout.snapshot, task.workdir or ours, patched=False)
    if saved is not None:
        yield Start("prepared", Saved(saved), task.workdir, patched=True)
        return
    if task.image:
        yield Start("image", task.image, task.workdir, patched=True)
    if task.recipe or task.repository:
        yield Start("repository", recipe_of(task), task.workdir or DEFAULT_WORKDIR, patched=True)


def recipe_of(task: Task) -> Recipe:
    """The task's recipe, or the one its repository alone makes. Raises `InfraError` when it says nothing usable."""
    if not task.recipe:
        return Recipe(None, task.repository)
    try:
        value: Any = jsonio.loads(task.recipe)
        packages = tuple(str(name) for name in value.get("packages") or ())
        env = {str(key): str(text) for key, text in (value.get("env") or {}).items()}
        return Recipe(value.get("base"), value.get("repository") or task.repository, packages, env)
    except (ValueError, AttributeError, TypeError) as error:
        raise InfraError("recipe", f"task {task.task_id}: its recipe is no JSON object ({error}); correct it") from None


@dataclass(frozen=True, slots=True)
class Places:
    """Folders that the relative paths of tasks start from."""

    folders: tuple[Path, ...] = ()

    def find(self, name: str) -> Path | None:
        """The file or folder of that name, if there is one."""
        candidates = [Path(name)] if Path(name).is_absolute() else [folder / name for folder in self.folders]
        return next((path for path in candidates if path.exists()), None)
