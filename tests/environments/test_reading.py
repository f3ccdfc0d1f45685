"""What is read out of a sandbox is what stands there, within a bound; no program of the sandbox has a say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from environment_helpers import rollout_of, small_task

from rubrics.environments.choose import choose
from rubrics.environments.recipes import Places
from rubrics.environments.session import Environment, Limits, Session
from rubrics.errors import AttemptError, InfraError
from rubrics.testing.bounded import Reader
from rubrics.testing.task_report import results_of

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="without root, the engine's processes may not be looked into")


@pytest.fixture
def session(environment: Environment, repository: Path) -> Iterator[Session]:
    task = small_task(repository)
    opened = environment.open(task, rollout_of(task, ""))
    yield opened
    opened.close()


def test_a_file_larger_than_the_limit_is_refused_and_not_infra(session: Session) -> None:
    """A report above 64 MiB was `infra`, and one of 64 MiB was read whole whoever asked."""
    session.run("head -c 5000 /dev/zero > big; truncate -s 3G huge", 20)
    assert session.read("big", 5000) == bytes(5000)
    with pytest.raises(OSError, match="larger than 4,999 bytes") as caught:
        session.read("big", 4999)
    assert not isinstance(caught.value, FileNotFoundError)
    with pytest.raises(OSError, match="larger than 67,108,864 bytes"):
        session.read("huge")


@AS_ROOT
def test_a_program_in_the_place_of_cat_and_a_library_of_all_have_no_say(session: Session) -> None:
    """The report of a run was read by the `cat` of the container, which the run could replace."""
    forge = (
        "echo true > report; for p in cat head sh dd; do f=$(command -v $p); rm -f $f; "
        "printf '#!/bin/bash\\necho forged\\n' > $f; chmod 755 $f; done; echo /tmp/x.so > /etc/ld.so.preload; exit 0"
    )
    session.run(forge, 20)
    assert session.read("report") == b"true\n"
    assert session.read("/testbed/report") == b"true\n"


@AS_ROOT
def test_a_file_that_nobody_may_read_is_read(session: Session) -> None:
    """A report with mode 0000 was `infra`."""
    session.run("mkdir -p in/side; echo hidden > in/side/report; chmod 000 in/side/report in/side in", 20)
    assert session.read("in/side/report") == b"hidden\n"


def test_what_is_no_file_is_not_there(session: Session) -> None:
    session.run("mkfifo pipe; mkdir folder; ln -s /dev/zero zero; ln -s loop loop; ln -s /proc/1/mem mem", 20)
    for path in ("pipe", "folder", "zero", "loop", "calc.py/x", "nothing", "x" * 5000, "a\0b", "/dev/stdin"):
        with pytest.raises(FileNotFoundError):
            session.read(path, 1000)


def test_links_lead_where_they_lead_inside(session: Session, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("the machine's own")
    session.run(
        "ln -s /testbed/calc.py absolute; ln -s ../../../../../../../testbed/calc.py up; ln -s . here; "
        f"ln -s {tmp_path}/outside out; ln -s /proc/1/root/{tmp_path}/outside root; ln -s /etc/hostname name", 20,
    )  # fmt: skip
    wanted = session.read("calc.py")
    assert session.read("absolute") == session.read("up") == session.read("here/here/calc.py") == wanted
    for path in ("out", "root", f"{tmp_path}/outside"):
        with pytest.raises(OSError, match=r"."):
            session.read(path)


def test_places_that_are_mounted_apart_are_read_too(session: Session) -> None:
    session.run("echo shared > /dev/shm/x; echo temporary > /tmp/x", 20)
    assert session.read("/dev/shm/x") == b"shared\n"
    assert session.read("/tmp/x") == b"temporary\n"
    assert session.read("/proc/1/stat", 10_000).startswith(b"1 (")


def test_what_cannot_be_written_is_the_attempts_own_in_its_state_and_infra_in_the_tasks_start(
    environment: Environment, session: Session, repository: Path
) -> None:
    session.run("chmod 500 tests; chattr +i tests 2>/dev/null; mkdir closed; chmod 000 closed", 20)
    with pytest.raises(AttemptError) as caught:
        session.write("calc.py/below-a-file", b"x")
    assert caught.value.kind == "write"
    with closing(environment.open(small_task(repository), None)) as start, pytest.raises(InfraError):
        start.write("calc.py/below-a-file", b"x")


def test_a_report_that_cannot_be_read_is_a_problem_of_the_run(session: Session) -> None:
    done = session.run("truncate -s 1G report.xml", 20)
    assert "cannot be read" in (results_of(session, "report.xml", done, Reader()).problem or "")


def test_a_bare_process_has_the_same_bounds(tmp_path: Path, repository: Path) -> None:
    environment, _ = choose("bare", Places(), Limits(), trusted=True, root=tmp_path / "state")
    task = small_task(repository, recipe=None)
    with closing(environment), closing(environment.open(task, rollout_of(task, ""))) as session:
        session.run("head -c 5000 /dev/zero > big", 20)
        assert session.read("big", 5000) == bytes(5000)
        with pytest.raises(OSError, match="larger than"):
            session.read("big", 10)
        for path in ("nothing", "tests", "a\0b"):
            with pytest.raises(FileNotFoundError):
                session.read(path)
        with pytest.raises(AttemptError):
            session.write("calc.py/below-a-file", b"x")
        session.run("d=deep; for i in $(seq 400); do mkdir $d; cd $d; done; chmod 000 .", 60)
    assert not list((tmp_path / "state" / "runs").iterdir())
