"""Whatever a command does costs its own rollout alone, and is never `infra`: nothing inside may choose that."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from environment_helpers import BACKENDS, rollout_of, small_task, started_or_skipped

from rubrics.environments import kept_shell
from rubrics.environments.session import Environment, Limits, Session
from rubrics.errors import AttemptError

LIMITS = dataclasses.replace(Limits(), memory=512 << 20, pids=128, disk=256 << 20, files=20_000, drain=32 << 20)


@pytest.fixture(scope="module", params=BACKENDS)
def small(request: pytest.FixtureRequest, base: None) -> Iterator[Environment]:
    """A backend whose limits are reached in no time."""
    found = started_or_skipped(request.param, LIMITS)
    yield found
    found.close()


@pytest.fixture
def session(small: Environment, repository: Path) -> Iterator[Session]:
    task = small_task(repository)
    opened = small.open(task, rollout_of(task, ""))
    yield opened
    opened.close()


def python(text: str) -> str:
    return f"python3 - <<'END'\nimport ctypes, fcntl, os, resource, signal, sys\nlibc = ctypes.CDLL(None)\n{text}\nEND"


BUSY = "for i in $(seq 100); do (while :; do :; done) & done; sleep 60"
ATTACKS = {
    "limits the shell": python(
        "for name in ('CPU', 'AS', 'NOFILE', 'STACK', 'FSIZE'):\n"
        "    try:\n        resource.prlimit(1, getattr(resource, f'RLIMIT_{name}'), (0, 0))\n"
        "    except PermissionError:\n        pass"
    ),
    "gives the shell the last turn": python(
        "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))"
    ) + "\nrenice -n 19 -p 1; renice -n 19 -u 0; " + BUSY,
    "makes output one that does not wait, and floods it": python(
        "fcntl.fcntl(2, fcntl.F_SETFL, os.O_NONBLOCK)\nos.set_blocking(2, False)\n"
        "for _ in range(20):\n    os.fork()\nwhile True:\n    try:\n        os.write(2, b'x' * 65536)\n"
        "    except BlockingIOError:\n        pass"
    ),
    "has the shell killed first": (
        "echo 1000 > /proc/1/oom_score_adj; echo -1000 > /proc/self/oom_score_adj; "
        + python("blocks = []\nwhile True:\n    blocks.append(bytearray(1 << 24))")
    ),
    "fills memory with files": "head -c 900M /dev/zero > /dev/shm/x; head -c 900M /dev/zero > /tmp/x; exit 1",
    "fills the disk": "head -c 1G /dev/zero > big; exit 1",
    "makes more files than it may": "mkdir d; cd d; seq 100000 | xargs touch; exit 1",
    "bombs with processes that hear nothing": (
        "trap '' HUP INT TERM; bomb() { bomb & bomb & }; (setsid sh -c 'while :; do sleep 1 & done' &); bomb; sleep 60"
    ),
    "kills and stops all it can": "kill -STOP 1; kill -9 1; kill -SEGV 1; kill -STOP -1; kill -9 -1; sleep 60",
    "closes all descriptors": "exec 0<&- 1>&- 2>&-; kill -STOP $PPID; kill -STOP $$",
    "leaves no program": "rm -rf --no-preserve-root /bin /usr /lib* /testbed 2>/dev/null; exit 1",
    "puts others in the place of programs": (
        "for p in cat sh dd head mkdir rm env git; do f=$(command -v $p) && "
        "{ rm -f $f; printf '#!/bin/bash\\necho forged; kill -STOP $$\\n' > $f; chmod 755 $f; }; done; exit 1"
    ),
    "takes the library of all": "echo /tmp/none.so > /etc/ld.so.preload; rm -f /lib/*/libc.so.6; exit 1",
    "digs deep": python(
        "os.mkdir('deep')\nos.chdir('deep')\nfor _ in range(5000):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\n"
        "sys.exit(1)"
    ),
    "opens all it can": python(
        "import socket\nkept = []\nwhile True:\n    kept += socket.socketpair()"
    ),
    "writes where the kernel listens": (
        "for f in sysrq-trigger sys/vm/drop_caches sys/kernel/panic 1/oom_score_adj 1/comm 1/clear_refs 1/attr/current "
        "1/mem 1/timerslack_ns irq/default_smp_affinity; do echo 1 > /proc/$f; done 2>/dev/null; exit 1"
    ),
    "stays in the middle of starting a program": python(
        "import threading\nfor _ in range(60):\n    threading.Thread(target=lambda: os.system('sleep 60')).start()"
    ),
    "prints without an end of line": "head -c 100M /dev/zero",
    "prints what the shell prints": "i=0; while [ $i -lt 20000 ]; do echo gone; echo end 0; i=$((i + 1)); done; exit 1",
    "locks its folders": "mkdir -p locked/in; chmod 000 locked/in locked . /tmp; exit 1",
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_its_own_failure_and_the_next_rollout_knows_nothing_of_it(
    attack: str, small: Environment, session: Session, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several of these ended the sandbox, or silenced it, in a way that looked like the engine's fault."""
    monkeypatch.setattr(kept_shell, "GRACE", 2.0)
    monkeypatch.setattr(kept_shell, "PATIENCE", 5.0)
    turn = session.run("nice", 20).output
    done = session.run(ATTACKS[attack], 1.5)
    assert done.exit_code != 0 or attack.startswith(("limits", "kills")), done
    again = session.run("echo next", 3)
    assert again.output == "next\n" or again.limit or again.exit_code != 0
    with suppress(AttemptError):
        session.write("later", b"x")
    session.close()
    with closing(small.open(small_task(repository), None)) as fresh:
        assert fresh.run("echo fresh; nice; ls", 20).output == f"fresh\n{turn}calc.py\ntests\n"
