"""Which backend: the one that was asked for, or `auto`."""

from __future__ import annotations

from pathlib import Path

from rubrics.environments.bare import Bare
from rubrics.environments.bubblewrap import Bubblewrap
from rubrics.environments.recipes import Places
from rubrics.environments.session import Environment, Limits
from rubrics.environments.state import State
from rubrics.errors import InfraError, UsageError

BACKENDS = ("auto", "docker", "bubblewrap", "bare")
MODES = ("rollout", "image")


def choose(
    name: str, places: Places, limits: Limits, *, mode: str = "rollout", trusted: bool = False, root: Path | None = None
) -> tuple[Environment, str]:
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


def _auto(places: Places, limits: Limits, mode: str, root: Path | None) -> tuple[Environment, str]:
    missing = []
    for name in ("docker", "bubblewrap"):
        try:
            environment, said = choose(name, places, limits, mode=mode, root=root)
        except InfraError as error:
            missing.append(f"{name}: {error}")
            continue
        return environment, f"{said} (auto{''.join(f'; {why}' for why in missing)})"
    raise InfraError("no_engine", "; ".join(missing))


def _docker(places: Places, limits: Limits, state: State, mode: str) -> Environment:
    from rubrics.environments.docker_rollouts import DockerEnvironment

    return DockerEnvironment(places, limits, state, per_image=mode == "image")
