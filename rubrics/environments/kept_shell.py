"""A shell that stays open in a sandbox and runs one command after another, in about two milliseconds each.

It is process 1 of a pid namespace of its own, so nothing inside can end it, and `kill -9 -1` ends everything but it,
also what left its session, also a fork bomb. Its program may be executed but not read (mode 0111, no capabilities),
which makes the kernel refuse everyone inside its memory and its open files: exit codes travel on its standard output,
which no command inherits; what commands print travels on its standard error.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rubrics.environments.output import KeptOutput

FOLDER = "/.rubrics"
"""Where the shell's program lies inside."""
NOT_PROCESS_1 = 97

ASTRAY = 98
"""Exit code of a shell that finds something else where a command should be: a program that should have taken what was
written did not."""

LOOP = r"""[ $$ = 1 ] || exit 97
l='
'
if env --default-signal=INT >/dev/null 2>&1; then run() { exec env --default-signal=INT,QUIT sh -c "$1"; }
elif command -v perl >/dev/null; then run() { exec perl -e '$SIG{INT}=$SIG{QUIT}="DEFAULT"; exec @ARGV' sh -c "$1"; }
else run() { exec sh -c "$1"; }; fi
while IFS= read -r n && IFS= read -r s; do
  case $n in
    put*) eval "$s"; r=$?; IFS= read -r x; [ "$x" = "$n" ] || exit 98; echo "end $n $r"; continue;;
  esac
  { (eval "$s") </dev/null >&2; echo "end $n $?"; } &
  IFS= read -r x || exit 0
  kill -9 -1 2>/dev/null
  wait
  while kill -9 -1 2>/dev/null; do x=$(:); done
  echo "gone $n"
  i=0
  until echo "gone $n" >&2 2>/dev/null; do i=$((i + 1)); [ $i -lt 1000000 ] || break; done
done"""
"""Process 1 hears no signal from inside and needs no traps, which commands would inherit; but a shell's background
commands ignore INT and QUIT, and `run` gives them back. `x=$(:)` takes in what died of others' children: until then it
counts as processes. The last line goes on until it is written: a command may have made the stream one that does not
wait."""
GRACE = 20.0
"""Seconds after which a shell that does not answer is asked for: it only ever waits for the kernel."""
PATIENCE = 180.0
"""Seconds for which a shell that is there may take to answer, on a machine that is busy."""
LOOK = 0.25
"""Seconds between two looks at what a running command has used."""


class Broken(Exception):
    """The other end is gone; the backend knows why."""


class Silent(Exception):
    """The other end is there and does not answer: what runs there does not let it."""


class Channel(Protocol):
    """Both ends of an open shell."""

    def send(self, data: bytes) -> None:
        """Raises `Broken` when nobody reads."""

    def receive(self, timeout: float) -> tuple[int, bytes] | None:
        """Bytes of stream 1 or 2; null when none came in time. Raises `Broken` at the end of the streams."""

    def is_there(self) -> bool:
        """Whether the process at the other end lives, as the kernel or the engine has it. Raises `InfraError`."""


@dataclass(frozen=True, slots=True)
class Ran:
    exit_code: int | None
    output: bytes
    truncated: bool
    seconds: float
    limit: str | None


Watch = Callable[[], str | None]
"""The limit that a running command has hit, if it has one."""


def quoted(text: str) -> str:
    """A shell word on one line that means `text`; `$l` is the loop's newline. Raises `ValueError` on NUL."""
    if "\0" in text:
        raise ValueError("a command may not hold a NUL byte")
    return "'" + text.replace("'", "'\\''").replace("\n", "'\"$l\"'") + "'"


class KeptShell:
    """One open shell. Not for several threads at once.

    Its calls raise `Broken` and `Silent`. A slow shell is waited for as long as it is there.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._control = bytearray()

    def run(self, line: str, timeout: float, keep: int, drain: int, watch: Watch | None = None) -> Ran:
        """Run one line of shell; when it ends, or is ended by a limit, every process but the shell is killed.

        `watch` is asked while it runs, four times a second, and names a limit that was hit.
        """
        nonce = secrets.token_hex(16)
        output = KeptOutput(keep)
        started = time.monotonic()
        self._channel.send(f"{nonce}\n{line}\n".encode("utf-8", "surrogateescape"))
        limit = self._until(f"end {nonce} ".encode(), output, started + timeout, drain, watch)
        seconds = time.monotonic() - started
        code = self._exit_code(nonce) if limit is None else None
        self._channel.send(b"\n")
        mark = f"gone {nonce}\n".encode()
        self._wait(lambda: output.ends_with(mark) and self._has_line(mark[:-1]), output)
        output.drop(len(mark))
        self._control.clear()
        return Ran(code, output.bytes(), output.truncated, seconds, limit)

    def put(self, line: str, data: bytes) -> int:
        """Run one line of shell that reads exactly `data` from its standard input; returns its exit code."""
        nonce = "put" + secrets.token_hex(8)
        self._channel.send(f"{nonce}\n{line}\n".encode("utf-8", "surrogateescape") + data + f"{nonce}\n".encode())
        self._wait(lambda: self._has_line(f"end {nonce} ".encode()), KeptOutput(1 << 16))
        code = self._exit_code(nonce)
        self._control.clear()
        return code

    def _until(self, mark: bytes, output: KeptOutput, deadline: float, drain: int, watch: Watch | None) -> str | None:
        """Wait for a whole control line that starts with `mark`; returns the limit that was hit first, if one was."""
        look = time.monotonic() + LOOK
        while not self._has_line(mark):
            now = time.monotonic()
            if now >= deadline:
                return "time"
            if output.total > drain:
                return "output"
            if watch is not None and now >= look:
                look = now + LOOK
                if (limit := watch()) is not None:
                    return limit
            self._take(output, min(deadline, look if watch is not None else deadline) - now)
        return None

    def _wait(self, done: Callable[[], bool], output: KeptOutput) -> None:
        """Wait for what the shell itself says."""
        started = time.monotonic()
        while not done():
            if not self._take(output, GRACE) and not self._channel.is_there():
                raise Broken("the shell does not answer")
            if time.monotonic() - started > PATIENCE:
                raise Silent("the shell is there and does not answer")

    def _take(self, output: KeptOutput, timeout: float) -> bool:
        """Take what comes next; false when nothing came in time."""
        received = self._channel.receive(timeout)
        if received is None:
            return False
        stream, data = received
        if stream == 1:
            self._control += data
        else:
            output.add(data)
        return True

    def _has_line(self, mark: bytes) -> bool:
        start = self._control.find(mark)
        return start >= 0 and self._control.find(b"\n", start) >= 0

    def _exit_code(self, nonce: str) -> int:
        mark = f"end {nonce} ".encode()
        rest = bytes(self._control[self._control.find(mark) + len(mark) :])
        return int(rest.split(b"\n", 1)[0])
