"""Starts a flow in this process. The one place outside `flows/` that knows Prefect.

Some things are kept from happening, each has a test:
- code lying in the working folder is executed: flow files are loaded by their own path under a private
  name, and the working folder is left before Prefect starts, so neither this process nor Prefect's
  temporary server (`python -m ...`) sees it, nor a `prefect.toml` or `.env` that lies there;
- telemetry is sent;
- Prefect tells of an error that is raised and told of here anyway;
- the user's own Prefect profile or database is touched by a local run.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from rubrics.content import content_folder
from rubrics.errors import UsageError

_ALWAYS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_ROOT_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PYTHONSAFEPATH": "1",
}
_LOCAL_SERVER = {
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_EVENTS_STREAM_OUT_ENABLED": "false",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
}


def run_flow(name: str, options: dict[str, Any]) -> Any:
    """Run `flows/<name>.py`'s flow of the same name with these options and return what it returns.

    Paths in `options` must be absolute. Uses the server named by `PREFECT_API_URL` when that is set,
    else a temporary one of its own.
    """
    with _neutral_folder(), _settings():
        flow: Callable[..., Any] = getattr(load_flow(name), name)
        return flow(options)


def load_flow(name: str) -> ModuleType:
    """Load a flow file by its path. Raises `UsageError` when there is no such flow."""
    path = content_folder("flows") / f"{name}.py"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.py")))
        raise UsageError(f"flow {name!r} is not there; known: {known}")
    spec = importlib.util.spec_from_file_location(f"_rubrics_flow_{name}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: cannot be loaded; install the package again")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _neutral_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="rubrics-") as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextmanager
def _settings() -> Iterator[None]:
    wanted = dict(_ALWAYS)
    if not os.environ.get("PREFECT_API_URL"):
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rubrics" / "prefect"
        home.mkdir(parents=True, exist_ok=True)
        wanted |= _LOCAL_SERVER | {"PREFECT_HOME": str(home)}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
