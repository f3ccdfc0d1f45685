"""Which backend: the one that was asked for, or `auto`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from rubrics.environments.bare import Bare
from rubrics.environments.bubblewrap import Bubblewrap
from rubrics.environments.recipes import Places
from rubrics.environments.session import Backend, Limits
from rubrics.environments.state import State
from rubrics.errors import InfraError, UsageError
from rubrics.records.tasks import Task

BACKENDS = ("auto", "docker", "bubblewrap", "bare")
MODES = ("rollout", "image")


def choose(
    name: str, places: Places, limits: Limits, *, mode: str = "rollout", trusted: bool = False, root: Path | None = None
) -> tuple[Backend, str]:
    """The backend and, for people, which it is and why. `auto` takes docker, then bubblewrap; never a bare process.

    Raises `InfraError` when it cannot be had, `UsageError` when it may not.
    """
    if name == "bare" and not trusted:
        raise UsageError("--env bare isolates nothing: add --trusted when every rollout may do what you may do")
    if name == "auto":
        return _auto(places, limits, mode, root)
    state = State(root)
    try:
        if name == "docker":
            return _docker(places, limits, state, mode), f"docker, one container per {mode}"
        if name == "bubblewrap":
            return Bubblewrap(places, limits, state), "bubblewrap, as asked"
        if name == "bare":
            return Bare(places, limits, state), "bare processes, as asked: nothing is isolated"
    except BaseException:
        state.close()
        raise
    raise UsageError(f"--env {name!r}; wanted one of {', '.join(BACKENDS)}")


def _auto(places: Places, limits: Limits, mode: str, root: Path | None) -> tuple[Backend, str]:
    missing = []
    for name in ("docker", "bubblewrap"):
        try:
            environment, said = choose(name, places, limits, mode=mode, root=root)
        except InfraError as error:
            missing.append(f"{name}: {error}")
            continue
        return environment, f"{said} (auto{''.join(f'; {why}' for why in missing)})"
    raise InfraError("no_engine", "; ".join(missing))


def _docker(places: Places, limits: Limits, state: State, mode: str) -> Backend:
    from rubrics.environments.docker_rollouts import DockerEnvironment

    return DockerEnvironment(places, limits, state, per_image=mode == "image")


def available(root: Path | None = None) -> list[tuple[str, bool, str]]:
    """Of each backend that isolates: its name, whether it can be used here, and why not.

    Docker's engine is asked; in bubblewrap a shell is started on this machine's own programs.
    """
    return [_tried(name, root) for name in ("docker", "bubblewrap")]


def _tried(name: str, root: Path | None) -> tuple[str, bool, str]:
    places = Places()
    try:
        backend, _ = choose(name, places, Limits(), root=root)
        with closing(backend):
            if isinstance(backend, Bubblewrap):
                backend.open(Task("doctor", None, None, None, recipe='{"base": "host"}'), None).close()
    except InfraError as error:
        return name, False, f"{error.kind}: {error}"
    return name, True, "an environment was opened" if name == "bubblewrap" else "the engine answers"
