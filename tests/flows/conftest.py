"""The command as a user runs it: in a process of its own; for most tests with a real Prefect server behind it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rubrics.store.store import Store

COMMAND = Path(sys.executable).with_name("rubrics")
TIMEOUT = 300
"""Seconds that any one command may take; the slowest machines need a third of it."""


@dataclass(frozen=True)
class Ran:
    """What came of one run of the command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Command:
    """Runs `rubrics` in a folder, with a home of its own, so that nothing of the user's is read or touched."""

    home: Path
    api_url: str | None

    def __call__(self, *words: object, cwd: Path, code: int | None = None, **env: str) -> Ran:
        done = subprocess.run(
            self.words(*words),
            cwd=cwd, env=self.environment(**env), capture_output=True, text=True, timeout=TIMEOUT, check=False,
        )  # fmt: skip
        assert code is None or done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return Ran(done.returncode, done.stdout, done.stderr)

    def words(self, *words: object) -> list[str]:
        return [str(COMMAND), *map(str, words)]

    def environment(self, **more: str) -> Mapping[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        own = {"HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache")}
        server = {"PREFECT_API_URL": self.api_url, "PREFECT_HOME": str(self.home)} if self.api_url else {}
        return {**clean, **own, **server, **more}


@contextmanager
def prefect_server(home: Path, *words: str) -> Iterator[str]:
    """API URL of a real Prefect server on an empty database, until the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"]
    quiet = {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "PREFECT_HOME": str(home)}
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [*start, *words], cwd=home, env={**os.environ, **quiet}, stdout=log, stderr=log, process_group=0
        )
    try:
        _wait_until_healthy(process, port, home / "log")
        yield f"http://127.0.0.1:{port}/api"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """API URL of one real Prefect server, started for the tests and stopped after them."""
    with prefect_server(tmp_path_factory.mktemp("prefect"), "--no-services") as url:
        yield url


@pytest.fixture(scope="session")
def rubrics(server: str, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The command, using the server of the session."""
    return Command(tmp_path_factory.mktemp("home"), server)


@pytest.fixture
def alone(tmp_path: Path) -> Command:
    """The command, without a server: chunks run in its own threads, or it starts a server of its own."""
    home = tmp_path / "home"
    home.mkdir()
    return Command(home, None)


@pytest.fixture(scope="session")
def dumps(real: Path) -> list[Path]:
    """The published rollouts with the outcome of every attempt."""
    return [real / "specs.jsonl", real / "mini-swe-agent", real / "outcomes.json"]


@pytest.fixture(scope="session")
def scored(rubrics: Command, dumps: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that `rubrics run` made of the published rollouts. Tests copy it before they change anything."""
    folder = tmp_path_factory.mktemp("scored")
    rubrics("run", *dumps, cwd=folder, code=1)
    return folder / "rubrics-store"


@pytest.fixture
def copied(scored: Path, tmp_path: Path) -> Path:
    """A copy of that store under the name that the command takes when none is given."""
    return Path(shutil.copytree(scored, tmp_path / "rubrics-store"))


@pytest.fixture(scope="session")
def demo(rubrics: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Path]:
    """What `rubrics demo` said in an empty folder, and that folder."""
    folder = tmp_path_factory.mktemp("demo")
    return rubrics("demo", cwd=folder), folder


def rows(store: Path, sql: str) -> list[dict[str, Any]]:
    """Rows of a query over a store."""
    found: list[dict[str, Any]] = Store.open(store).query(sql).to_pylist()
    return found


def rewards(store: Path) -> list[dict[str, Any]]:
    """The whole reward table, in an order of its own."""
    return rows(store, "FROM rewards ORDER BY rollout_id")


def _wait_until_healthy(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Poll the server's socket until it answers, for at most 120 seconds."""
    waited = 0
    while waited < 240:
        assert process.poll() is None, log.read_text()
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=0.5) as connection:
                connection.settimeout(10)
                connection.sendall(b"GET /api/health HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
                if b" 200 " in connection.recv(64):
                    return
        except OSError:
            pass
        waited += 1
        try:
            process.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError(f"no Prefect server after 120 seconds\n{log.read_text()}")
