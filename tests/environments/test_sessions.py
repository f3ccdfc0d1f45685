"""What every sandbox promises: commands, files, isolation, limits. Run on each backend in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from environment_helpers import diff, rollout_of, small_task

from rubrics.environments.session import Environment, Session
from rubrics.errors import InfraError, PatchRefused


@pytest.fixture
def session(environment: Environment, repository: Path) -> Iterator[Session]:
    opened = environment.open(small_task(repository), None)
    yield opened
    opened.close()


def test_a_command_runs_in_the_working_folder_and_gives_its_exit_code_and_output(session: Session) -> None:
    done = session.run("pwd; cat calc.py | head -1; echo oops >&2; exit 3", 20)
    assert done.exit_code == 3
    assert done.output.splitlines() == ["/testbed", "def add(a, b):", "oops"]
    assert (done.truncated, done.timed_out, done.limit) == (False, False, None)


def test_quotes_newlines_backslashes_and_signs_reach_the_command_as_they_are(session: Session) -> None:
    done = session.run("printf '%s\\n' 'a b' \"$HOME\" '\\n'\necho 'it'\"'\"'s' $((1 + 1))", 20)
    assert done.output.splitlines()[0] == "a b"
    assert done.output.splitlines()[2:] == ["\\n", "it's 2"]


def test_files_are_written_and_read_byte_for_byte(session: Session) -> None:
    content = bytes(range(256)) * 3000
    session.write("deep/er/data.bin", content)
    session.write("empty", b"")
    assert session.read("deep/er/data.bin") == content
    assert session.read("/testbed/empty") == b""
    assert session.run("sha256sum deep/er/data.bin | cut -c1-8", 20).exit_code == 0


def test_a_file_that_is_not_there_is_said_to_be_not_there(session: Session) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        session.read("nothing")


def test_writing_replaces_a_link_and_leaves_what_it_pointed_to(session: Session) -> None:
    session.run("echo secret > target; ln -s target link", 20)
    session.write("link", b"new")
    assert session.read("target") == b"secret\n"


def test_a_file_that_cannot_be_written_is_infra_and_the_content_is_not_run_as_a_command(session: Session) -> None:
    with pytest.raises(InfraError, match="cannot be written"):
        session.write("calc.py/below-a-file", b"\necho gotcha\n" * 50)
    assert session.run("echo fine", 20).output == "fine\n"


def test_there_is_no_network(session: Session) -> None:
    code = "import socket; socket.create_connection(('1.1.1.1', 53), 2)"
    done = session.run(f'python3 -c "{code}"', 20)
    assert done.exit_code == 1
    assert "unreachable" in done.output
    assert session.run("cat /proc/net/dev | tail -n +3 | grep -v lo:", 20).output == ""


def test_there_are_no_capabilities_and_no_way_to_new_privileges(session: Session) -> None:
    status = dict(
        line.split(":\t") for line in session.run("cat /proc/self/status", 20).output.splitlines() if ":\t" in line
    )
    assert {status[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0000000000000000"}
    assert status["NoNewPrivs"] == "1"
    assert session.run("mount -t tmpfs none /mnt", 20).exit_code != 0


def test_the_kernel_settings_of_the_machine_cannot_be_written(session: Session) -> None:
    done = session.run(
        "cat /proc/sys/kernel/core_pattern > /tmp/same; cat /tmp/same > /proc/sys/kernel/core_pattern", 20
    )
    assert done.exit_code != 0


def test_the_shell_that_reports_exit_codes_can_neither_be_read_written_nor_killed(session: Session) -> None:
    attack = (
        "cat /proc/1/environ /proc/1/mem; echo forged > /proc/1/fd/1; echo forged > /proc/1/fd/0; kill -9 1; kill -9 -1"
    )
    session.run(f"({attack}) 2>/dev/null; echo alive", 1)
    after = session.run("echo after; exit 7", 20)
    assert (after.exit_code, after.output) == (7, "after\n")


def test_a_command_that_kills_what_reports_for_it_ends_by_the_time_limit_and_passes_nothing(session: Session) -> None:
    done = session.run("kill -9 $PPID; exec sleep 60", 1)
    assert done.exit_code != 0
    assert session.run("true", 20).exit_code == 0


def test_a_command_that_ignores_signals_is_ended_by_its_time_limit(session: Session) -> None:
    done = session.run("trap '' TERM INT HUP QUIT; while :; do :; done", 1)
    assert (done.exit_code, done.timed_out, done.limit) == (None, True, "time")
    assert session.run("echo next", 20).output == "next\n"


def test_processes_left_behind_are_gone_before_the_next_command(session: Session) -> None:
    """A killed process may be listed for a moment; what counts is that it does nothing any more."""
    beat = "while :; do i=$((i + 1)); echo $i > /tmp/beat$1; done"
    session.run(f"(setsid sh -c '{beat}' - 1 &); nohup sh -c '{beat}' - 2 >/dev/null 2>&1 & head -c 1 /dev/zero", 20)
    look = "cat /tmp/beat*; i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; cat /tmp/beat*"
    seen = session.run(look, 20).output.split()
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]


def test_a_fork_bomb_is_the_commands_own_failure_and_the_session_lives_on(session: Session) -> None:
    done = session.run("bomb() { bomb | bomb & }; bomb; sleep 30", 1)
    assert done.exit_code != 0
    assert session.run("echo next", 20).output == "next\n"


def test_a_command_finds_its_signals_as_any_program_does(session: Session) -> None:
    """Commands ignored TERM, INT, HUP, QUIT and PIPE: what terminates its children hung, what catches INT never did."""
    name, mask = session.run("cat /proc/self/status | grep SigIgn", 20).output.split()
    of_the_c_library = 1 << 31 | 1 << 32  # no program can set what these two do: they are as whoever runs this had them
    assert (name, int(mask, 16) & ~of_the_c_library) == ("SigIgn:", 0)
    code = "import os\ntry:\n    os.kill(os.getpid(), 2)\nexcept KeyboardInterrupt:\n    print('caught')"
    assert session.run(f'python3 -c "{code}"', 20).output == "caught\n"
    assert session.run("sleep 60 & kill $!; wait $!; echo $?", 20).output.split()[-1] == "143"


def test_memory_beyond_the_limit_is_named_as_the_limit(session: Session) -> None:
    done = session.run('python3 -c "print(len(bytearray(3 << 30)))"', 120)
    assert done.limit == "memory"
    assert session.run("echo next", 20).output == "next\n"


def test_ten_gigabytes_of_output_are_cut_and_end_the_command(session: Session) -> None:
    done = session.run("echo first; yes | head -c 10000000000; echo last", 120)
    assert (done.exit_code, done.truncated, done.limit) == (None, True, "output")
    assert done.output.startswith("first\n")
    assert len(done.output) < 9 << 20
    assert session.run("echo next", 20).output == "next\n"


def test_long_output_keeps_its_beginning_and_its_end(session: Session) -> None:
    done = session.run("echo first; yes | head -c 30000000; echo last", 60)
    assert (done.exit_code, done.truncated) == (0, True)
    assert done.output.startswith("first\n")
    assert done.output.endswith("last\n")


def test_closing_twice_is_fine_and_a_closed_session_is_infra(environment: Environment, repository: Path) -> None:
    opened = environment.open(small_task(repository), None)
    opened.close()
    opened.close()
    with pytest.raises(InfraError, match="closed"):
        opened.run("true", 1)


CALC = "def add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n"
FIX = diff("calc.py", CALC, CALC.replace("a - b", "a + b"))


def test_a_patch_is_put_on_the_repository_and_the_rung_says_so(environment: Environment, repository: Path) -> None:
    task = small_task(repository)
    opened = environment.open(task, rollout_of(task, FIX))
    assert opened.rung == "repository+patch"
    assert b"a + b" in opened.read("calc.py")
    opened.close()


def test_a_patch_whose_surroundings_moved_is_put_on_with_fuzz(environment: Environment, repository: Path) -> None:
    task = small_task(repository)
    old = CALC.replace("zero", "nought")
    opened = environment.open(task, rollout_of(task, diff("calc.py", old, old.replace("a - b", "a + b"))))
    assert opened.rung == "repository+patch(fuzz)"
    assert b"a + b" in opened.read("calc.py")
    opened.close()


def test_a_patch_that_fits_nowhere_is_refused_and_names_the_rung(environment: Environment, repository: Path) -> None:
    """It was `infra`: an attempt that hands in nonsense had no failure."""
    task = small_task(repository)
    patch = diff("calc.py", "nothing\nof\nthis\nis there\n", "nothing\nof\nthat\nis there\n")
    with pytest.raises(PatchRefused, match="repository: the patch does not apply") as caught:
        environment.open(task, rollout_of(task, patch))
    assert caught.value.kind == "misfit"


def test_an_image_that_is_missing_is_infra_and_the_next_rung_is_tried(
    environment: Environment, repository: Path
) -> None:
    task = small_task(repository, image="nobody/has-this:1")
    opened = environment.open(task, rollout_of(task, FIX))
    assert opened.rung == "repository+patch"
    opened.close()


def test_a_task_with_a_missing_image_and_nothing_else_is_infra(environment: Environment, repository: Path) -> None:
    task = small_task(repository, image="nobody/has-this:1", repository=None, recipe=None)
    with pytest.raises(InfraError, match="nobody/has-this:1") as caught:
        environment.open(task, rollout_of(task, FIX))
    assert caught.value.kind == "no_image"


def test_a_task_without_anything_to_start_from_is_infra(environment: Environment, repository: Path) -> None:
    task = small_task(repository, repository=None, recipe=None)
    with pytest.raises(InfraError, match="no image, recipe or repository"):
        environment.open(task, None)
