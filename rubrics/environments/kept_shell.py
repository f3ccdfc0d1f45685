"""A shell that stays open in a sandbox and runs one command after another, in about two milliseconds each.

It is process 1 of a pid namespace of its own, so nothing inside can end it, and `kill -9 -1` ends everything but it,
also what left its session, also a fork bomb. Its program may be executed but not read (mode 0111, no capabilities),
which makes the kernel refuse everyone inside its memory and its open files: exit codes travel on its standard output,
which no command inherits; what commands print travels on its standard error.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Protocol

from rubrics.environments.output import KeptOutput

FOLDER = "/.rubrics"
"""Where the shell's program lies inside."""
NOT_PROCESS_1 = 97

LOOP = r"""[ $$ = 1 ] || exit 97
l='
'
trap '' HUP INT TERM PIPE
while IFS= read -r n && IFS= read -r s; do
  case $n in put*) eval "$s"; echo "end $n $?"; continue;; esac
  { (eval "$s") </dev/null >&2; echo "end $n $?"; } &
  IFS= read -r x || exit 0
  kill -9 -1 2>/dev/null
  wait
  echo "gone $n"
  echo "gone $n" >&2
done"""
GRACE = 20.0
"""Seconds in which the shell itself must answer; it only ever waits for the kernel."""


class Broken(Exception):
    """The other end is gone or silent; the backend knows why."""


class Channel(Protocol):
    """Both ends of an open shell."""

    def send(self, data: bytes) -> None:
        """Raises `Broken` when nobody reads."""

    def receive(self, timeout: float) -> tuple[int, bytes] | None:
        """Bytes of stream 1 or 2; null when none came in time. Raises `Broken` at the end of the streams."""


@dataclass(frozen=True, slots=True)
class Ran:
    exit_code: int | None
    output: bytes
    truncated: bool
    seconds: float
    limit: str | None


def quoted(text: str) -> str:
    """A shell word on one line that means `text`; `$l` is the loop's newline. Raises `ValueError` on NUL."""
    if "\0" in text:
        raise ValueError("a command may not hold a NUL byte")
    return "'" + text.replace("'", "'\\''").replace("\n", "'\"$l\"'") + "'"


class KeptShell:
    """One open shell. Not for several threads at once."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._control = bytearray()

    def run(self, line: str, timeout: float, keep: int, drain: int) -> Ran:
        """Run one line of shell; when it ends, or is ended by a limit, every process but the shell is killed."""
        nonce = secrets.token_hex(16)
        output = KeptOutput(keep)
        started = time.monotonic()
        self._channel.send(f"{nonce}\n{line}\n".encode("utf-8", "surrogateescape"))
        limit = self._until(f"end {nonce} ".encode(), output, started + timeout, drain)
        seconds = time.monotonic() - started
        code = self._exit_code(nonce) if limit is None else None
        self._channel.send(b"\n")
        self._drain(nonce, output)
        return Ran(code, output.bytes(), output.truncated, seconds, limit)

    def put(self, line: str, data: bytes, timeout: float) -> Ran:
        """Run one line of shell that reads exactly `data` from its standard input."""
        nonce = "put" + secrets.token_hex(8)
        self._channel.send(f"{nonce}\n{line}\n".encode("utf-8", "surrogateescape") + data)
        nothing = KeptOutput(1 << 16)
        if self._until(f"end {nonce} ".encode(), nothing, time.monotonic() + timeout, 1 << 20) is not None:
            raise Broken("the shell does not answer")
        code = self._exit_code(nonce)
        self._control.clear()
        return Ran(code, b"", False, 0.0, None)

    def _until(self, mark: bytes, output: KeptOutput, deadline: float, drain: int) -> str | None:
        """Wait for a whole control line that starts with `mark`; returns the limit that was hit first, if one was."""
        while not self._has_line(mark):
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            if output.total > drain:
                return "output"
            self._take(output, left)
        return None

    def _drain(self, nonce: str, output: KeptOutput) -> None:
        """Everything is being killed: wait until both streams say so."""
        mark = f"gone {nonce}\n".encode()
        deadline = time.monotonic() + GRACE
        while not (output.ends_with(mark) and self._has_line(mark[:-1])):
            left = deadline - time.monotonic()
            if left <= 0:
                raise Broken("the shell does not answer")
            self._take(output, left)
        output.drop(len(mark))
        self._control.clear()

    def _take(self, output: KeptOutput, timeout: float) -> None:
        received = self._channel.receive(timeout)
        if received is not None:
            stream, data = received
            if stream == 1:
                self._control += data
            else:
                output.add(data)

    def _has_line(self, mark: bytes) -> bool:
        start = self._control.find(mark)
        return start >= 0 and self._control.find(b"\n", start) >= 0

    def _exit_code(self, nonce: str) -> int:
        mark = f"end {nonce} ".encode()
        rest = bytes(self._control[self._control.find(mark) + len(mark) :])
        return int(rest.split(b"\n", 1)[0])
