"""Whatever ends a command is one line that says what and where, an exit code, and for a fault a file."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest

from rubrics.cli.failing import told
from rubrics.errors import StoreError

WORDS = ["rubrics", "score"]


@pytest.mark.parametrize("number", sorted(errno.errorcode))
def test_every_error_of_the_system_names_its_path_and_is_two_clauses(number: int) -> None:
    """Every one of them used to end in "free the place, or name another", also where a mode or a limit was wrong."""
    error = OSError(number, os.strerror(number), "/some/where/x.parquet")
    line, code = told(error, WORDS)
    if isinstance(error, BrokenPipeError):
        assert (line, code) == ("", 141)
        return
    assert code == 2
    assert line.startswith("/some/where/x.parquet: ")
    assert ";" in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space is left"), (errno.EDQUOT, "quota"), (errno.EROFS, "read-only"),
        (errno.EACCES, "no permission"), (errno.EFBIG, "ulimit -f"), (errno.EMFILE, "ulimit -n"),
        (errno.ENAMETOOLONG, "too long"), (errno.ENXIO, "device or socket"), (errno.EIO, "fault of input or output"),
    ],
)  # fmt: skip
def test_what_is_to_be_done_differs_with_the_error(number: int, words: str) -> None:
    assert words in told(OSError(number, "x", "/p"), WORDS).line


def test_names_that_hold_a_line_end_or_an_escape_stay_one_line() -> None:
    line, _ = told(FileNotFoundError(errno.ENOENT, "x", "/a\nb\x1b[31m"), WORDS)
    assert "\n" not in line
    assert "\x1b" not in line


@pytest.mark.parametrize(
    ("error", "line", "code"),
    [
        (StoreError("the store is broken; mend it"), "the store is broken; mend it", 2),
        (click.UsageError("no\nsuch option"), "no such option", 2),
        (MemoryError(), "not enough free memory", 2),
        (KeyboardInterrupt(), "stopped", 130),
        (click.Abort(), "stopped", 130),
    ],
)
def test_expected_ends(error: BaseException, line: str, code: int) -> None:
    found = told(error, WORDS)
    assert line in found.line
    assert found.code == code


@pytest.mark.parametrize("error", [RuntimeError("a\nb"), KeyError("x"), EOFError(), OSError("without a number")])
def test_a_fault_is_one_line_and_a_private_file_with_the_trace(error: Exception) -> None:
    try:
        raise error
    except Exception as raised:
        line, code = told(raised, [*WORDS, "--store", "a b"])
    assert code == 3
    assert "\n" not in line
    assert type(error).__name__ in line
    file = Path(line.split("the details are in ")[1].split(";")[0])
    text = file.read_text()
    assert "rubrics score --store 'a b'" in text
    assert "test_failing.py" in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.unlink()


def test_a_fault_whose_file_cannot_be_written_is_still_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, "full", "/tmp/x")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    line, code = told(RuntimeError("x"), WORDS)
    assert code == 3
    assert "/tmp/x: no space is left" in line


def run(folder: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    program = f"import sys\nfrom rubrics.cli import main\nsys.argv = ['rubrics', *sys.argv[1:]]\n{code}\nmain.main()\n"
    command, environment = [sys.executable, "-c", program, *words], {**os.environ, "TMPDIR": str(folder)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        ("EOFError('a library')", 3), ("BrokenPipeError(32, 'x')", 141), ("KeyboardInterrupt()", 130),
        ("PermissionError(13, 'x', '/p')", 2), ("RecursionError()", 3), ("RuntimeError('x')", 3),
    ],
)  # fmt: skip
def test_the_command_itself_ends_so(tmp_path: Path, raised: str, code: int) -> None:
    """click makes an exit code of its own of some of these: an `EOFError` of a library was told as a stop."""
    done = run(
        tmp_path,
        f"def fails(**values): raise {raised}\n"
        "main.cli.commands['status'].callback = fails\n"
        "main.cli.commands['status'].params = []\n", "status"
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == (0 if code == 141 else 1), done.stderr
    assert len(list(tmp_path.iterdir())) == (code == 3)


def test_a_stop_that_a_library_made_an_error_of_is_a_stop(tmp_path: Path) -> None:
    """DuckDB says `RuntimeError: Query interrupted` when a signal comes during a query."""
    done = run(
        tmp_path,
        "import os, signal\n"
        "def asked(**values):\n"
        "    try: os.kill(os.getpid(), signal.SIGTERM)\n"
        "    except KeyboardInterrupt: raise RuntimeError('Query interrupted') from None\n"
        "main.cli.commands['status'].callback = asked\n"
        "main.cli.commands['status'].params = []\n", "status"
    )  # fmt: skip
    assert done.returncode == 130
    assert done.stderr.startswith("rubrics: stopped")


def test_the_command_alone_prints_its_help_in_lines(tmp_path: Path) -> None:
    done = run(tmp_path, "")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 30
    assert done.stderr == ""


@pytest.mark.parametrize(
    "error", [StoreError("broken"), OSError(errno.ENOSPC, "x", "/p"), MemoryError(), KeyError("k")]
)
def test_what_was_noted_on_the_way_is_on_the_line(error: Exception) -> None:
    """The note names the chunk that failed; it was shown by no command."""
    error.add_note("stage score: chunk a\nb failed (and 2 more); 3 chunks are finished and kept")
    line, _ = told(error, WORDS)
    assert line.endswith("; stage score: chunk a\\nb failed (and 2 more); 3 chunks are finished and kept")
    assert "\n" not in line


def test_a_note_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key-0123456789")
    error = StoreError("broken")
    error.add_note("asked with sk-very-secret-key-0123456789")
    assert "0123456789" not in told(error, WORDS).line
