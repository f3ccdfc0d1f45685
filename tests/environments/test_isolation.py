"""Nothing of one rollout reaches the next in the same container: files, processes, variables, memory, queues."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from environment_helpers import small_task, started_or_skipped

from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.session import CommandResult

PLACES = ("/testbed", "/tmp", "/var/tmp", "/dev/shm", "/dev", "/dev/mqueue", "/root", "/etc", "/usr/lib", "/run", "/",
          "/tmp/home", "/.rubrics", "/home", "/opt")  # fmt: skip
LEAVE = f"""
for place in {" ".join(PLACES)}; do echo leftover > $place/leftover_of_i 2>/dev/null; done
echo changed >> /testbed/calc.py; git config --global user.name leftover; git commit -qam leftover
echo 127.0.0.1 leftover >> /etc/hosts
(setsid sleep 98765 >/dev/null 2>&1 &); (nohup sh -c 'while :; do echo x > /tmp/again; done' >/dev/null 2>&1 &)
export LEFTOVER=1; umask 0; cd /; alias true=false; true() {{ false; }}
python3 -c "
from multiprocessing import shared_memory
import ctypes
block = shared_memory.SharedMemory('leftover', create=True, size=4096)
libc = ctypes.CDLL(None)
print('sysv', libc.shmget(4242, 4096, 0o1666), libc.msgget(4242, 0o1666), libc.semget(4242, 1, 0o1666))
print('mq', libc.mq_open(b'/leftover', 0o102, 0o666, None))
" 2>/dev/null
exit 0
"""
LOOK = f"""
for place in {" ".join(PLACES)}; do ls -a $place; done 2>/dev/null | grep -i -E 'leftover|again|psm'
cat /etc/hosts | grep leftover
cat /proc/[0-9]*/comm | grep -E 'sleep|python'
env | grep LEFTOVER; umask; pwd
grep changed calc.py; git log --oneline | grep leftover; git status --short
ls /dev/mqueue; tail -n +2 /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem | grep -E '4242'
git config --global user.name; true && echo fine
"""


@pytest.fixture
def per_image(base: None) -> Iterator[DockerEnvironment]:
    found = started_or_skipped("docker-per-image")
    assert isinstance(found, DockerEnvironment)
    yield found
    found.close()


def test_nothing_of_rollout_i_reaches_rollout_i_plus_1(per_image: DockerEnvironment, repository: Path) -> None:
    task = small_task(repository)
    first = per_image.open(task, None)
    left = first.run(LEAVE, 60)
    assert left.exit_code == 0
    assert "sysv" in left.output
    first.close()
    second = per_image.open(task, None)
    assert second.run(LOOK, 60).output.splitlines() == ["0022", "/testbed", "fine"]
    second.close()


def same_container(done: CommandResult) -> str:
    found = re.search(r"HOSTNAME=(\w+)", done.output)
    assert found
    return found[1]


def test_a_rollout_that_leaves_only_files_and_processes_keeps_the_container_for_the_next(
    per_image: DockerEnvironment, repository: Path
) -> None:
    task = small_task(repository)
    seen = []
    for _ in range(3):
        session = per_image.open(task, None)
        seen.append(same_container(session.run("env; echo x > new_file; echo y > /tmp/new; sleep 999 & ls", 60)))
        assert session.run("ls | grep -c new_file; ls /tmp | grep -c new", 60).output.split() == ["1", "1"]
        session.close()
    assert len(set(seen)) == 1


@pytest.mark.parametrize(
    "mess",
    [
        "echo x > /dev/left",
        "python3 -c 'import ctypes; ctypes.CDLL(None).shmget(77, 4096, 0o1666)'",
        "python3 -c 'import os; os.set_blocking(2, False)'",
        "echo 500 > /proc/1/oom_score_adj",
        "sleep 60",
    ],
)
def test_a_rollout_that_leaves_more_or_hits_a_limit_costs_its_container(
    mess: str, per_image: DockerEnvironment, repository: Path
) -> None:
    task = small_task(repository)
    seen = []
    for _ in range(2):
        session = per_image.open(task, None)
        seen.append(same_container(session.run("env", 60)))
        session.run(mess, 1)
        session.close()
    assert len(set(seen)) == 2


def test_two_rollouts_open_at_once_are_in_two_containers(per_image: DockerEnvironment, repository: Path) -> None:
    task = small_task(repository)
    first, second = per_image.open(task, None), per_image.open(task, None)
    first.write("mine", b"1")
    with pytest.raises(FileNotFoundError):
        second.read("mine")
    first.close()
    second.close()
