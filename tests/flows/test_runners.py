"""Who runs the chunks: threads of the command's own process, or Prefect; how either ends, however it ends."""

from __future__ import annotations

import base64
import ctypes
import json
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import TIMEOUT, Command
from model_server.server import Hang, serving

from rubrics.environments.mounts import mount_points
from rubrics.environments.state import sweep
from rubrics.store.chunks import read_record
from rubrics.store.manifest import read_manifest

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
PR_SET_CHILD_SUBREAPER = 36


def tables(store: Path) -> dict[str, list[bytes]]:
    """The bytes of every part of every table."""
    found: dict[str, list[bytes]] = {}
    for name, version in read_manifest(store / "manifest.json").tables.items():
        found[name] = [(store / part).read_bytes() for part in version.parts]
    return found


def test_the_runners_write_the_same_tables_to_the_byte(rubrics: Command, tmp_path: Path) -> None:
    for runner in ("local", "prefect"):
        rubrics("demo", "--runner", runner, "--store", runner, cwd=tmp_path, code=1)
    local, prefect = tables(tmp_path / "local"), tables(tmp_path / "prefect")
    assert len(local) > 10
    assert [name for name in local if local[name] != prefect[name]] == []


def test_without_a_server_of_the_users_no_process_is_started_and_no_prefect_loaded(
    alone: Command, tmp_path: Path
) -> None:
    program = (
        "import subprocess, sys\n"
        "def refuse(*args, **kwargs): raise SystemExit(f'a process was started: {args}')\n"
        "subprocess.Popen.__init__ = refuse\n"
        "from rubrics.cli.main import cli\n"
        "code = cli.main(['demo'], standalone_mode=False)\n"
        "assert 'prefect' not in sys.modules\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, env=alone.environment(), capture_output=True, text=True,
        timeout=TIMEOUT
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Rewards by group" in done.stdout
    assert not (alone.home / "cache").exists()


@pytest.fixture
def hanging() -> Iterator[str]:
    with serving(lambda body: Hang()) as server:
        yield server.url


@pytest.fixture
def left_over() -> Iterator[Callable[[], list[str]]]:
    """The command lines of processes that outlived their parent meanwhile: this process inherits them."""
    prctl = ctypes.CDLL(None).prctl
    before = children(os.getpid())
    prctl(PR_SET_CHILD_SUBREAPER, 1)

    def found() -> list[str]:
        left = []
        for pid in sorted(children(os.getpid()) - before):
            watched = os.pidfd_open(pid)
            if select.select([watched], [], [], 10)[0]:
                os.waitpid(pid, 0)
            else:
                left.append(command_line(pid))
                os.kill(pid, signal.SIGKILL)
            os.close(watched)
        return left

    yield found
    prctl(PR_SET_CHILD_SUBREAPER, 0)


def children(pid: int) -> set[int]:
    """The processes that any thread of a process has started and not waited for."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # the thread has ended
            found.update(map(int, task.joinpath("children").read_text().split()))
    return found


def command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def on_a_terminal(
    command: Command, words: tuple[object, ...], folder: Path, until: bytes | Callable[[int], bool]
) -> tuple[int, str]:
    """Run the command in the foreground of a terminal of its own, press Ctrl-C when it has said `until`, or when that
    is so of its process; returns its exit code and everything that the terminal then showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(str(sys.executable), [sys.executable, "-m", "rubrics", *map(str, words)], command.environment())
    said = b""
    while not (until in said if isinstance(until, bytes) else until(pid)):
        if select.select([terminal], [], [], 0.02)[0]:
            said += os.read(terminal, 4096)  # an error here: it has ended before
    os.write(terminal, b"\x03")
    after = b""
    while select.select([terminal], [], [], TIMEOUT)[0]:
        try:
            after += os.read(terminal, 4096)
        except OSError:  # the last process that had the terminal open has ended
            break
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), after.decode()


@pytest.mark.parametrize(
    ("runner", "until"),
    [
        ("local", "starting"), ("local", "ingest: started"), ("local", "synthesize: started"),
        ("local", "reward: started"), ("prefect", "starting"), ("prefect", "score: started"),
    ],
)  # fmt: skip
def test_ctrl_c_on_a_terminal_is_one_line_and_exit_code_130(
    alone: Command, tmp_path: Path, left_over: Callable[[], list[str]], runner: str, until: str
) -> None:
    code, shown = on_a_terminal(alone, ("demo", "--runner", runner), tmp_path, until.encode())
    assert_stopped(code, shown)
    assert left_over() == []


@pytest.mark.parametrize("runner", ["local", "prefect"])
def test_ctrl_c_does_not_wait_for_a_model_that_never_answers(
    alone: Command, rubrics: Command, demo: tuple[object, Path], tmp_path: Path, hanging: str, runner: str
) -> None:
    """A stop that waited for chunks under way would wait for this model for ten minutes."""
    words = ("audit", "--store", demo[1] / "rubrics-demo", "--model", "m", "--base-url", hanging, "--runner", runner)
    code, shown = on_a_terminal(alone, words, tmp_path, b"audit: started")
    assert_stopped(code, shown)


@pytest.mark.parametrize("runner", ["local", "prefect"])
def test_ctrl_c_ends_tests_in_sandboxes_and_keeps_the_chunks_that_are_done(
    alone: Command, tmp_path: Path, hanging: str, left_over: Callable[[], list[str]], runner: str
) -> None:
    """Under Prefect the command waited for all that its threads were doing: 15 seconds, for a test that hangs for
    ever."""
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    model = ("--model", "m", "--base-url", hanging, "--runner", runner)
    words = ("run", SAMPLE, "--store", "s", "--with-tests", "--env", "bubblewrap", "--data", SAMPLE, *model)
    code, shown = on_a_terminal(alone, words, tmp_path, lambda pid: len(finished(tmp_path / "s", "test")) > 1)
    assert_stopped(code, shown)
    assert left_over() == []
    sweep(alone.home / "cache" / "rubrics" / "environments")  # as the next run begins
    assert [point for point in mount_points() if str(alone.home) in point] == []
    assert len(finished(tmp_path / "s", "test")) > 1
    assert [key for key in finished(tmp_path / "s", "test") if read_record(tmp_path / "s", "test", key) is None] == []


@pytest.mark.parametrize("runner", ["local", "prefect"])
def test_ctrl_c_ends_the_processes_of_a_long_stage_and_keeps_the_chunks_that_are_done(
    alone: Command, tmp_path: Path, left_over: Callable[[], list[str]], runner: str
) -> None:
    patch = "".join(f"--- a/f{n}.py\n+++ b/f{n}.py\n@@ -1,1 +1,2 @@\n x = {n}\n+y = x + {n}\n" for n in range(40))
    with (tmp_path / "dump.jsonl").open("w") as dump:
        for number in range(6000):
            own = {"kind": "rollout", "task_id": f"t{number // 8}", "run": f"r{number}", "patch": patch}
            dump.write(json.dumps(own) + "\n")

    def in_processes(pid: int) -> bool:
        return any("spawn_main" in command_line(child) for child in children(pid))

    words = ("ingest", "dump.jsonl", "--store", "s", "--runner", runner)
    code, shown = on_a_terminal(alone, words, tmp_path, in_processes)
    assert_stopped(code, shown)
    assert left_over() == []
    assert finished(tmp_path / "s", "facts")


def finished(store: Path, stage: str) -> list[str]:
    """Keys of the finished chunks that are kept."""
    return [file.stem for file in (store / "work" / stage).glob("*.json")]


def assert_stopped(code: int, shown: str) -> None:
    assert code == 130, shown
    assert "Traceback" not in shown
    lines = [line for line in re.split(r"[\r\n]|\x1b\[K", shown.replace("^C", "")) if line]
    said = [line for line in lines if not re.match(r"\w+: |starting", line) or line.startswith("rubrics: ")]
    assert len(said) == 1, shown
    assert said[0].startswith("rubrics: stopped; the store holds what the stages before had finished")
    assert "the same command goes on" in said[0]


def started(command: Command, folder: Path, until: str) -> tuple[subprocess.Popen[str], list[int]]:
    """A demo under Prefect that has said `until`, and what watches its children."""
    process = subprocess.Popen(
        command.words("demo", "--runner", "prefect"), cwd=folder, env=command.environment(), stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    assert process.stderr is not None
    while not process.stderr.readline().startswith(until):
        assert process.poll() is None
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return process, [os.pidfd_open(int(pid)) for pid in children.read_text().split()]


def assert_ended(watched: list[int]) -> None:
    for process in watched:
        assert select.select([process], [], [], 60)[0], "a server outlives the run that started it"
        os.close(process)


def left(command: Command) -> list[Path]:
    home = command.home / "cache" / "rubrics" / "prefect"
    return [item for item in home.rglob("*") if item.name != ".lock"]


@pytest.mark.parametrize("until", ["starting", "ingest: started", "score: started"])
def test_a_run_under_prefect_that_is_killed_takes_its_server_and_its_files_with_it(
    alone: Command, tmp_path: Path, until: str
) -> None:
    """4 of 11 killed runs left a server that nobody removed; its database grew for ever and was readable for all."""
    process, servers = started(alone, tmp_path, until)
    if until != "starting":
        assert servers, "the temporary server"
    process.kill()
    process.wait()
    assert process.stderr is not None
    process.stderr.close()
    assert_ended(servers)
    if servers:
        assert left(alone) == []


def test_files_of_a_temporary_server_are_private(alone: Command, tmp_path: Path) -> None:
    process, servers = started(alone, tmp_path, "facts")
    modes = {item.name: stat.S_IMODE(item.stat().st_mode) for item in left(alone)}
    assert "prefect.db" in modes
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}
    process.terminate()
    process.communicate(timeout=TIMEOUT)
    assert_ended(servers)
    assert left(alone) == []


def test_nobody_without_its_password_is_served_by_a_temporary_server(alone: Command, tmp_path: Path) -> None:
    process, servers = started(alone, tmp_path, "facts")
    (pid,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    environment = dict(
        item.split("=", 1) for item in Path(f"/proc/{pid}/environ").read_text().split("\0") if "=" in item
    )
    password = environment["PREFECT_SERVER_API_AUTH_STRING"]
    port = listening_port(int(pid))
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/flow_runs/filter", b"{}", {"Content-Type": "application/json"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=TIMEOUT)
    assert refused.value.code == 401
    request.add_header("Authorization", "Basic " + base64.b64encode(password.encode()).decode())
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        assert answer.status == 200
    process.terminate()
    process.communicate(timeout=TIMEOUT)
    assert_ended(servers)


def listening_port(pid: int) -> int:
    """The one TCP port that a process listens on."""
    inodes = {
        os.readlink(link)[8:-1]
        for link in Path(f"/proc/{pid}/fd").iterdir()
        if os.path.islink(link) and os.readlink(link).startswith("socket:")
    }
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    (port,) = {int(line[1].split(":")[1], 16) for line in lines if line[3] == "0A" and line[9] in inodes}
    return port


def test_what_a_run_and_its_server_left_that_were_killed_at_once_goes_with_the_next_run(
    alone: Command, tmp_path: Path
) -> None:
    home = alone.home / "cache" / "rubrics" / "prefect"
    for until in ("facts", "score"):
        process, servers = started(alone, tmp_path, until)
        for server in servers:
            signal.pidfd_send_signal(server, signal.SIGKILL)
        process.kill()
        process.communicate()
        assert_ended(servers)
        assert len(list(home.glob("run-*"))) == 1, "the one before went when this one started"
    for name in ("prefect.db", "prefect.db-wal"):
        (home / name).write_text("of an earlier version")
        os.utime(home / name, (0, 0))
    alone("demo", cwd=tmp_path, code=1)
    assert left(alone) == []


def test_a_server_that_does_not_start_is_one_line(alone: Command, tmp_path: Path) -> None:
    ran = alone("demo", "--runner", "prefect", cwd=tmp_path, code=2, PREFECT_SERVER_DATABASE_CONNECTION_URL="nonsense")
    (line,) = [line for line in ran.err.splitlines() if line != "starting"]
    assert "no temporary Prefect server could be started" in line
    assert "leave --runner out" in line
    assert left(alone) == []
