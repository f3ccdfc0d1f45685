"""What the kernel offers to nobody in a sandbox: ways out of its namespaces, into new ones, into the kernel itself."""

from __future__ import annotations

import errno
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import pytest
from environment_helpers import small_task

from rubrics.environments import system_calls as calls
from rubrics.environments.session import Environment, Session
from rubrics.environments.state import default_root

COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
TRY = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for line in sys.stdin:
    name, number, *arguments = line.split()
    if os.fork() == 0:
        ctypes.set_errno(0)
        done = libc.syscall(int(number), *(ctypes.c_long(int(value)) for value in (arguments + ['0'] * 6)[:6]))
        print(name, 'done' if done != -1 else errno.errorcode[ctypes.get_errno()], flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.fixture
def session(environment: Environment, repository: Path) -> Iterator[Session]:
    opened = environment.open(small_task(repository), None)
    yield opened
    opened.close()


def tried(session: Session, lines: list[str]) -> dict[str, str]:
    session.write("/tmp/try.py", TRY.encode())
    session.write("/tmp/calls", "\n".join(lines).encode())
    done = session.run("python3 /tmp/try.py < /tmp/calls", 60)
    return dict(line.split() for line in done.output.splitlines())


@pytest.mark.skipif(COLUMN is None, reason="numbers of this processor's calls are not known here")
def test_calls_that_lead_out_or_into_the_kernel_are_closed(session: Session) -> None:
    """New user namespaces opened in bubblewrap, and `io_uring` in both."""
    assert COLUMN is not None
    closed = calls.numbers(calls.CLOSED, COLUMN)
    absent = calls.numbers(calls.ABSENT, COLUMN)
    found = tried(session, [f"{name} {number}" for name, number in (closed | absent).items()])
    assert {name: found[name] for name in closed} == dict.fromkeys(closed, "EPERM")
    assert {name: found[name] for name in absent} == dict.fromkeys(absent, "ENOSYS")


@pytest.mark.skipif(COLUMN is None, reason="numbers of this processor's calls are not known here")
def test_sockets_that_leave_the_network_namespace_do_not_open(session: Session) -> None:
    """A machine's own listener answered on AF_VSOCK, which no network namespace holds."""
    assert COLUMN is not None
    number = calls.numbers(calls.ASKED, COLUMN)["socket"]
    found = tried(session, [f"family-{family} {number} {family} 1" for family in range(46)])
    opened = {family for family in range(46) if found[f"family-{family}"] == "done"}
    assert opened <= set(calls.FAMILIES)
    assert {1, 2} <= opened
    assert found["family-40"] in ("EPERM", "EAFNOSUPPORT")


def test_process_1_is_nobodys_to_limit_or_to_slow_and_own_children_are(session: Session) -> None:
    code = (
        "import os, resource\nfor pid in (1, os.getpid()):\n"
        "  for what in (lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (90, 90)),"
        " lambda: os.setpriority(0, pid, 19), lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))):\n"
        "    try:\n      what(); print('done')\n    except PermissionError:\n      print('refused')\n"
    )
    assert session.run(f'python3 -c "{code}"', 20).output.split() == ["refused"] * 3 + ["done"] * 3


def test_threads_processes_pipes_and_memory_of_several_work_as_ever(session: Session) -> None:
    code = (
        "import asyncio, multiprocessing, subprocess, tempfile, threading\n"
        "async def main():\n    done = await asyncio.create_subprocess_exec('true')\n    return await done.wait()\n"
        "assert asyncio.run(main()) == 0\n"
        "with multiprocessing.Pool(2) as pool:\n    assert pool.map(abs, [-1, -2]) == [1, 2]\n"
        "thread = threading.Thread(target=subprocess.check_call, args=(['true'],))\nthread.start()\nthread.join()\n"
        "with tempfile.TemporaryFile() as file:\n    file.write(b'x')\nprint('fine')\n"
    )
    session.write("/tmp/try.py", code.encode())
    done = session.run("python3 /tmp/try.py", 60)
    assert done.output == "fine\n", done


def test_processors_are_limited_for_all_processes_together(environment: Environment, session: Session) -> None:
    """There was no limit: one rollout could have all processors of the machine."""
    if environment.name == "docker":
        limits = session.run("cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us || cat /sys/fs/cgroup/cpu.max", 20).output.split()
    else:
        run, groups = environment._state.run, Path("/sys/fs/cgroup")  # type: ignore[attr-defined]
        files = [*groups.glob(f"cpu/rubrics-{run}-*/cpu.cfs_quota_us"), *groups.glob(f"rubrics-{run}-*/cpu.max")]
        limits = files[0].read_text().split()
    assert limits[0] == "200000"


def test_what_is_mounted_does_not_tell_where_the_machine_keeps_things(
    environment: Environment, session: Session, repository: Path
) -> None:
    """Paths of the state folder, with the user's name in them, stood in the table of mounts."""
    if os.geteuid() != 0:
        pytest.skip("without root the folders themselves are mounted")
    seen = session.run("cat /proc/self/mountinfo /proc/1/mountinfo /proc/mounts", 20).output
    state = str(environment._state.root)  # type: ignore[attr-defined]
    for place in (state, str(default_root()), state.lstrip("/"), str(repository)):
        assert place not in seen
    assert errno.EPERM  # what a closed interface answers
