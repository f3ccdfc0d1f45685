"""A Prefect server for one run, where the person asked for Prefect and named no server of their own.

It listens on loopback behind a password, and keeps its database in a private folder of its own. It ends when the
process that started it ends, however that ends: it reads from a pipe whose other end only that process holds. The
folder goes with it; what is left when both were killed at once goes with the next run of any kind.
"""

from __future__ import annotations

import fcntl
import http.client
import os
import runpy
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from rubrics.errors import UsageError

STARTING = 120.0
"""Seconds that the server may take until it answers."""
UNUSED = 3600.0
"""Seconds for which nobody wrote to that database: then no run of an earlier version uses it."""
_LOCK = "lock"
_QUIET = {
    "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_EVENTS_STREAM_OUT_ENABLED": "false",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
}


@contextmanager
def temporary_server(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Start a server with these variables; gives those that a client needs, and ends it at the end.

    Raises `UsageError` when it does not start.
    """
    folder, lock = _private_folder()
    password = f"rubrics:{secrets.token_urlsafe(16)}"
    client = {"PREFECT_HOME": str(folder), "PREFECT_API_AUTH_STRING": password}
    server: subprocess.Popen[bytes] | None = None
    try:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port = listening.getsockname()[1]
            server = subprocess.Popen(
                [sys.executable, "-P", "-m", "rubrics.cli.temporary_server", str(folder), str(listening.fileno())],
                cwd=folder,
                env={**environment, **_QUIET, "PREFECT_HOME": str(folder), "PREFECT_SERVER_API_AUTH_STRING": password},
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=(listening.fileno(), lock.fileno()),
                start_new_session=True,  # Ctrl-C on the terminal is for the run; it ends the server when it is done
            )  # fmt: skip
        _wait_until_it_answers(port)
        yield {**client, "PREFECT_API_URL": f"http://127.0.0.1:{port}/api"}
    finally:
        if server is not None:
            server.kill()
            server.communicate()
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _wait_until_it_answers(port: int) -> None:
    """The socket listens already: the one request waits in it until the server takes it, and fails if it dies."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=STARTING)
    try:
        connection.request("GET", "/api/health")
        if connection.getresponse().status == 200:
            return
        said = "it does not answer in order"
    except (OSError, http.client.HTTPException) as error:
        said = str(error) or type(error).__name__
    finally:
        connection.close()
    raise UsageError(
        f"no temporary Prefect server could be started: {said}; leave --runner out, or set PREFECT_API_URL"
    )


def sweep_servers() -> None:
    """Remove what servers left whose run and server are gone."""
    home = _home()
    if home.is_dir():
        with suppress(OSError), _alone(home):
            _sweep(home)


def _home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rubrics" / "prefect"


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Nobody else makes or removes folders of servers meanwhile."""
    with open(home / ".lock", "ab", opener=_private) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _private_folder() -> tuple[Path, IO[bytes]]:
    """A new folder that only this user reads, and its lock, which lives as long as run or server do."""
    home = _home()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(home):
        _sweep(home)
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=home))
        lock = open(folder / _LOCK, "xb", opener=_private)  # noqa: SIM115  (closed by who asked)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return folder, lock


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sweep(home: Path) -> None:
    """Remove folders whose run and server are gone, and the one database that runs of earlier versions shared."""
    for item in home.iterdir():
        if not (item.name.startswith("run-") and item.is_dir()):
            if item.name.startswith("prefect.db") and time.time() - item.stat().st_mtime > UNUSED:
                item.unlink(missing_ok=True)
            continue
        with suppress(OSError), open(item / _LOCK, "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(item, ignore_errors=True)


def _serve(folder: str, listening: int) -> None:
    """What the server's process does: everything that it writes is private, and the pipe's end is its end."""
    os.umask(0o077)
    threading.Thread(target=_end_with_the_run, args=(folder,), daemon=True).start()
    app = ("--factory", "prefect.server.api.server:create_app")
    sys.argv = ["uvicorn", *app, "--fd", str(listening), "--log-level", "critical", "--lifespan", "on"]
    runpy.run_module("uvicorn", run_name="__main__", alter_sys=True)


def _end_with_the_run(folder: str) -> None:
    while os.read(0, 4096):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
