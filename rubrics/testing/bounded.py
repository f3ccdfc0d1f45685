"""Reading hostile text in a process of its own, with limits on time and memory; a text that exceeds them is not read.

The readers are linear. This is the second line: whatever a text does to one of them costs that text alone, for the
process can be killed and the next text gets a new one.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

from rubrics import jsonio
from rubrics.testing.output import read_output
from rubrics.testing.readers import junit
from rubrics.testing.readers.lines import decoded, hidden_part
from rubrics.testing.results import Results

_SERVE = "from rubrics.testing.bounded import serve; serve()"


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What one text may cost."""

    seconds: float = 120.0
    memory: int = 4 * 1024**3
    """Address space of the process, in bytes."""
    size: int = 512 * 1024**2
    """Largest text, in bytes."""


class Reader:
    """Reads output and reports in a process that is started when first needed. Safe to share between threads."""

    def __init__(self, limits: ReadingLimits | None = None) -> None:
        self._limits = limits or ReadingLimits()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def output(self, text: str, exit_code: int | None, command: str | None = None) -> Results:
        """`read_output` with limits."""
        return self._ask("output", {"exit_code": exit_code, "command": command}, [text.encode("utf-8", "replace")])

    def reports(self, documents: Sequence[bytes], form: str = "junit") -> Results:
        """`junit.read` with limits."""
        return self._ask("reports", {"form": form}, documents)

    def log(self, path: Path, command: str | None = None) -> Results:
        """Results of a stored log, of what stands between the harness's marks; its text stays in the process."""
        return self._ask("log", {"path": str(path.absolute()), "command": command}, [])

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._end()

    def _ask(self, what: str, arguments: dict[str, Any], bodies: Sequence[bytes]) -> Results:
        size = sum(map(len, bodies))
        if size > self._limits.size:
            return _too_large(f"{size} bytes are more than {self._limits.size}")
        head = {**arguments, "what": what, "sizes": [len(body) for body in bodies]}
        with self._lock:
            answer = self._exchange(jsonio.encoded(head), bodies)
            if answer is None:
                self._end()
                return _too_large(f"a reader did not end within {self._limits.seconds:g} s and its memory")
        return _results(jsonio.loads(answer))

    def _exchange(self, head: bytes, bodies: Sequence[bytes]) -> bytes | None:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(self._limits.seconds, process.kill)
        timer.start()
        try:
            for part in (head, *bodies):
                process.stdin.write(len(part).to_bytes(8, "big") + part)
            process.stdin.flush()
            return _part(process.stdout)
        except (BrokenPipeError, OSError):
            return None
        finally:
            timer.cancel()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            limits = jsonio.dumps(asdict(self._limits))
            command = [sys.executable, "-I", "-c", _SERVE, limits]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except OSError:
                        continue
            self._process.wait()
            self._process = None


def _too_large(why: str) -> Results:
    return Results("none", {}, why, "too_large")


def _results(value: dict[str, Any]) -> Results:
    described = {name: tuple(tests) for name, tests in value["described"].items()}
    more = {"described": described, "broken": frozenset(value["broken"]), "called": frozenset(value["called"])}
    return Results(**{**value, **more})


def _part(stream: IO[bytes]) -> bytes | None:
    """The next part of a conversation; null when the other side has ended."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    size = int.from_bytes(head, "big")
    body = stream.read(size)
    return body if len(body) == size else None


def serve() -> None:
    """The other side: answers until its input ends. Runs in the process that may be killed."""
    limits = ReadingLimits(**jsonio.loads(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    while (head := _part(sys.stdin.buffer)) is not None:
        request = jsonio.loads(head)
        bodies = [_part(sys.stdin.buffer) or b"" for _ in request["sizes"]]
        try:
            results = _answer(request, bodies, limits)
        except (MemoryError, RecursionError) as error:
            results = _too_large(f"reading it ended in {type(error).__name__}")
        row = {field.name: getattr(results, field.name) for field in fields(Results)}
        row |= {"broken": sorted(results.broken), "called": sorted(results.called)}
        answer = jsonio.encoded(row)
        sys.stdout.buffer.write(len(answer).to_bytes(8, "big") + answer)
        sys.stdout.buffer.flush()


def _answer(request: dict[str, Any], bodies: list[bytes], limits: ReadingLimits) -> Results:
    if request["what"] == "reports":
        return junit.read(bodies, request["form"])
    if request["what"] == "output":
        return read_output(bodies[0].decode("utf-8", "replace"), request["exit_code"], request["command"])
    path = Path(request["path"])
    try:
        size = path.stat().st_size
        if size > limits.size:
            return _too_large(f"{size} bytes are more than {limits.size}")
        data = path.read_bytes()
    except OSError as error:
        return Results("none", {}, f"the log cannot be read: {error.strerror}", "no_results")
    return read_output(hidden_part(decoded(data)), None, request["command"])
