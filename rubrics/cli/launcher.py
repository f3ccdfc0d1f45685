"""Starts a flow in this process: in threads, or under Prefect. The one place outside `flows/` that knows Prefect.

Some things are kept from happening under Prefect, each has a test:
- code lying in the working folder is executed: flow files are loaded by their own path under a private
  name, and the working folder is left before Prefect starts, so neither this process nor a server that it
  starts (`python -m ...`) sees it, nor a `prefect.toml` or `.env` that lies there;
- telemetry is sent;
- Prefect tells of an error that is raised and told of here anyway;
- the user's own Prefect profile or database is touched where the user named no server.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from rubrics.content import content_folder
from rubrics.errors import UsageError

RUNNERS = ("local", "prefect")
_ALWAYS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_ROOT_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PYTHONSAFEPATH": "1",
}


def run_flow(name: str, options: dict[str, Any], runner: str | None = None) -> Any:
    """Run a flow with these options and return what it returns.

    `runner`: `local` runs its chunks in threads and processes of its own; `prefect` runs the flow of that name in
    `flows/stage_flows.py` on the server that `PREFECT_API_URL` names, else on a temporary one. Null: Prefect where
    `PREFECT_API_URL` is set.
    Paths in `options` must be absolute.
    """
    from rubrics.cli.temporary_server import sweep_servers, temporary_server

    sweep_servers()
    server = os.environ.get("PREFECT_API_URL")
    if (runner or ("prefect" if server else "local")) == "local":
        from rubrics.cli.local import run_local

        return run_local(name, options)
    with _neutral_folder(), _changed(_ALWAYS):
        if server:
            return _under_prefect(name, options)
        with temporary_server(os.environ) as variables, _changed(variables):
            return _under_prefect(name, options)


def _under_prefect(name: str, options: dict[str, Any]) -> Any:
    flow: Callable[..., Any] = getattr(load_flows(), name)
    return flow(options)


def load_flows() -> ModuleType:
    """Load the file of the flows by its path."""
    path = content_folder("flows") / "stage_flows.py"
    spec = importlib.util.spec_from_file_location("_rubrics_flows", path)
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
def _changed(variables: Mapping[str, str]) -> Iterator[None]:
    """These environment variables, until the end."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
