"""The working folder is somebody else's: nothing that lies in it is executed, and no server that it names is asked."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Command

MODULES = (
    "docker", "duckdb", "litellm", "prefect", "pandas", "numpy", "yaml", "click", "orjson", "unidiff", "jinja2", "rich",
    "pyarrow", "sitecustomize", "usercustomize", "conftest", "json", "logging", "uvicorn", "fastapi", "sqlalchemy",
)  # fmt: skip
TRAP = 'open({marker!r}, "a").write(__name__ + "\\n")\nraise SystemExit("a file of the working folder was executed")\n'


class Listener:
    """A server that another's settings name; it remembers whoever connects."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/api"
        self.visitors: list[object] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            try:
                connection, visitor = self._socket.accept()
            except OSError:
                return
            self.visitors.append(visitor)
            connection.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


@pytest.fixture
def hostile(tmp_path: Path, listener: Listener) -> Path:
    """A folder full of traps; each writes to the file `marker` beside it when it is executed."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    trap = TRAP.format(marker=str(tmp_path / "marker"))
    for name in MODULES:
        (folder / f"{name}.py").write_text(trap)
    for package in ("rubrics", "data", "prompts", "prefect_docker"):
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text(trap)
    (folder / "flows").mkdir()
    for flow in ("stage_flows", "run_pipeline"):
        (folder / "flows" / f"{flow}.py").write_text(trap)
    (folder / "trap.pth").write_text(f"import sys; exec({trap!r})\n")
    (folder / "prefect.toml").write_text(f'[api]\nurl = "{listener.url}"\n')
    (folder / "pyproject.toml").write_text(f'[tool.prefect.api]\nurl = "{listener.url}"\n')
    (folder / ".env").write_text(f"PREFECT_API_URL={listener.url}\nPREFECT_LOGGING_LEVEL=DEBUG\n")
    (folder / "profiles.toml").write_text(f'active = "x"\n[profiles.x]\nPREFECT_API_URL = "{listener.url}"\n')
    return folder


def untouched(folder: Path, listener: Listener) -> bool:
    marker = folder.parent / "marker"
    assert not marker.exists(), f"executed: {marker.read_text()}"
    assert listener.visitors == []
    return True


@pytest.mark.parametrize("runner", ["local", "prefect"])
def test_the_demo_without_a_server_of_the_users(alone: Command, hostile: Path, listener: Listener, runner: str) -> None:
    ran = alone("demo", "--runner", runner, cwd=hostile)
    assert untouched(hostile, listener)
    assert ran.code == 1, ran.err
    assert "Rewards by group" in ran.out


def test_run_score_reward_query_and_report(
    rubrics: Command, hostile: Path, listener: Listener, demo: tuple[object, Path]
) -> None:
    sample = Path(__file__).resolve().parents[2] / "data" / "sample"
    shutil.copytree(sample / "runs" / "beta-1", hostile / "beta-1")
    rubrics("run", sample / "tasks.jsonl", "beta-1", cwd=hostile, code=0)
    rubrics("score", cwd=hostile, code=0)
    rubrics("reward", cwd=hostile, code=0)
    rubrics("query", "SELECT count(*) FROM rewards", "--output", "n.csv", cwd=hostile, code=0)
    rubrics("report", cwd=hostile, code=0)
    rubrics("facts", cwd=hostile, code=0)
    assert untouched(hostile, listener)
