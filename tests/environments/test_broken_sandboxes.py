"""A sandbox that dies is `infra` for its own rollout and ends nothing else; one that is slow is waited for."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from environment_helpers import rollout_of, small_task, started_or_skipped

from rubrics.environments import kept_shell
from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.kept_shell import Broken, KeptShell, Silent
from rubrics.environments.output import KeptOutput
from rubrics.environments.session import Environment, Session
from rubrics.environments.shell_session import ShellSession
from rubrics.errors import InfraError
from rubrics.records.tasks import Sealed, SealedTask
from rubrics.testing.run import run_tests, uncalibrated


@pytest.fixture
def session(environment: Environment, repository: Path) -> Iterator[ShellSession]:
    opened = environment.open(small_task(repository), None)
    assert isinstance(opened, ShellSession)
    yield opened
    opened.close()


def killer(environment: Environment, session: Session) -> Callable[[], None]:
    """What kills the sandbox from outside."""
    if isinstance(environment, DockerEnvironment):
        container = session.run("cat /etc/hostname", 20).output.strip()
        return lambda: environment.engine.remove(container)
    assert isinstance(session, ShellSession)
    channel = session._shell._channel  # type: ignore[union-attr]
    return lambda: os.killpg(channel._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]


def test_a_sandbox_that_dies_between_a_commands_end_and_the_look_at_its_memory_is_infra(
    environment: Environment, session: ShellSession
) -> None:
    """It was a traceback that ended the stage, and nothing was stored."""
    kill = killer(environment, session)
    session._around = replace(session._around, check_disk=kill, why_broken=session._around.why_broken)
    if environment.name == "bubblewrap":
        assert session.run("exit 3", 20).exit_code == 3  # its memory is looked at from outside
    with pytest.raises(InfraError) as caught:
        session.run("exit 3", 20)
    assert caught.value.kind == "engine_died"


def test_a_sandbox_that_is_killed_costs_its_rollout_and_the_next_one_opens(
    environment: Environment, session: ShellSession, repository: Path
) -> None:
    killer(environment, session)()
    for use in (lambda: session.run("true", 20), lambda: session.write("x", b"x")):
        with pytest.raises(InfraError) as caught:
            use()
        assert caught.value.kind == "engine_died"
    session.close()
    with closing(environment.open(small_task(repository), None)) as fresh:
        assert fresh.run("echo fresh", 20).output == "fresh\n"


def test_tests_in_a_sandbox_that_is_killed_are_infra(environment: Environment, repository: Path) -> None:
    task = small_task(repository, test_command="true")
    plan = uncalibrated(environment, task, SealedTask("t", Sealed("")))

    class Killing:
        name = "killing"

        def open(self, *arguments: object) -> Session:
            session = environment.open(*arguments)  # type: ignore[arg-type]
            killer(environment, session)()
            return session

        def close(self) -> None:
            return None

    done = run_tests(Killing(), task, plan, rollout_of(task, ""), 60.0)
    assert (done.outcome, done.detail.partition(":")[0]) == ("infra", "engine_died")


def test_what_cannot_be_removed_at_the_end_is_left_and_changes_no_result(session: ShellSession) -> None:
    close = session._around.close

    def fails(dirty: bool) -> None:
        close(dirty)
        raise InfraError("mount", "cannot be unmounted")

    session._around = replace(session._around, close=fails)
    session.close()


class Slow:
    """A shell whose answers come late: null for each second of waiting, then the bytes."""

    def __init__(self, answers: list[bytes | None], there: bool = True) -> None:
        self.answers = answers
        self.there = there
        self.asked = 0
        self.nonce = b""

    def send(self, data: bytes) -> None:
        self.nonce = data.split(b"\n")[0] or self.nonce

    def receive(self, timeout: float) -> tuple[int, bytes] | None:
        answer = self.answers.pop(0) if self.answers else None
        if answer is None:
            return None
        stream = 2 if answer.startswith(b"2") else 1
        return stream, answer.removeprefix(b"2").replace(b"N", self.nonce)

    def is_there(self) -> bool:
        self.asked += 1
        return self.there


DONE = [b"end N 0\n", None, None, None, b"gone N\n", None, None, b"2gone N\n"]


def test_a_shell_that_is_slow_on_a_busy_machine_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 20 seconds without an answer it counted as dead, and the rollout was lost."""
    slow = Slow([*DONE])
    assert KeptShell(slow).run("true", 60, 1000, 1000).exit_code == 0
    assert slow.asked == 5
    dead = Slow([*DONE[:3]], there=False)
    with pytest.raises(Broken):
        KeptShell(dead).run("true", 60, 1000, 1000)
    monkeypatch.setattr(kept_shell, "PATIENCE", -1.0)
    with pytest.raises(Silent):
        KeptShell(Slow([*DONE])).run("true", 60, 1000, 1000)


def test_a_shell_that_is_there_and_says_nothing_was_silenced_from_inside(
    session: ShellSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: object, **__: object) -> None:
        raise Silent("nothing")

    monkeypatch.setattr(session._shell, "run", silent)
    assert session.run("true", 20).limit == "time"
    assert session.run("true", 20).limit == "time"


def test_a_shell_that_ends_by_itself_was_ended_from_inside(session: ShellSession) -> None:
    """No engine ends a shell with an exit code of its own."""
    session._shell._channel.send(b"putx\nexit 7\n")  # type: ignore[union-attr]
    assert session.run("true", 20).limit == "sandbox"


def test_output_of_any_size_is_kept_within_its_bound() -> None:
    output = KeptOutput(1000)
    for _ in range(1000):
        output.add(b"x" * 65536)
    assert len(output.bytes()) < 1100
    assert output.total == 65_536_000


def test_many_sessions_at_once_each_have_their_own_shell_and_all_close(base: None, repository: Path) -> None:
    environment = started_or_skipped("bubblewrap")
    task = small_task(repository)
    before = len(os.listdir("/proc/self/fd"))
    sessions = [environment.open(task, None) for _ in range(40)]
    assert [session.run(f"echo {number}", 20).output for number, session in enumerate(sessions)] == [
        f"{number}\n" for number in range(40)
    ]
    for session in sessions:
        session.close()
    environment.close()
    assert len(os.listdir("/proc/self/fd")) <= before
