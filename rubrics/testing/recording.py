"""A test command that reports to a monitor beside it: how it is started, and what it reported."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rubrics import jsonio
from rubrics.environments.session import Session
from rubrics.testing.results import STATUSES, Results, Status, gathered, grouped

LARGEST = 256 << 20
"""Bytes of an unpacked report that are read."""
_INSIDE = Path(__file__).with_name("inside")


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run of a test runner reported."""

    runner: str
    """`pytest` or `unittest`."""
    statuses: Mapping[str, Status]
    described: Mapping[str, tuple[str, ...]]
    """Ids by what else the runner calls tests: a dotted name, the first line of a docstring."""
    closed: bool
    """Whether the runner came to its end and counted as many tests as were reported."""
    exit_code: int | None
    changed: frozenset[str]
    """Objects of the runner, and plug-ins, that were not there or not the same when it began."""
    plugins: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Recording:
    """One start of a command beside a monitor. Its names and its nonce are drawn; the nonce is told to nobody else."""

    command: str
    extra: tuple[str, ...] = ()
    """Tests that the command's own selection leaves out."""
    folder: str = field(default_factory=lambda: f"/tmp/{secrets.token_hex(8)}")
    nonce: str = field(default_factory=lambda: secrets.token_hex(16))

    def prepare(self, session: Session) -> str:
        """Write the monitor and the recorder into the environment; returns the command that starts them."""
        command = re.sub(r"(?<!\w)PYTHONPATH=([\"']?)", rf"PYTHONPATH=\1{self.folder}:", self.command)
        config = jsonio.dumps({"command": command, "nonce": self.nonce})
        recorder = (_INSIDE / "recorder.py").read_text("utf-8")
        recorder = recorder.replace("EXTRA = []", f"EXTRA = {list(self.extra)!r}", 1)
        recorder = recorder.replace('NAME = ""', f'NAME = "_{secrets.token_hex(6)}"', 1)
        session.write(f"{self.folder}/monitor.json", config.encode())
        session.write(f"{self.folder}/monitor.py", (_INSIDE / "monitor.py").read_bytes())
        session.write(f"{self.folder}/sitecustomize.py", recorder.encode())
        return f"exec python3 {self.folder}/monitor.py"

    def split(self, output: str) -> tuple[str, list[Ran] | None]:
        """The command's own output, and what its runners reported; null when the monitor did not come to its end."""
        start = output.find(f"\n{self.nonce} ")
        if start < 0:
            return output, None
        packed = output[start + len(self.nonce) + 2 :].split("\n", 1)[0]
        try:
            unpacked = zlib.decompressobj().decompress(base64.b64decode(packed, validate=True), LARGEST)
            report = jsonio.loads(unpacked)
        except (ValueError, binascii.Error, zlib.error):
            return output[:start], None
        return output[:start], [_ran(rows, report["whole"]) for rows in report["sessions"]]


def _ran(rows: list[list[Any]], whole: bool) -> Ran:
    """One session of the recorder. Rows were written with a secret, by the recorder or by what subverted it."""
    pairs: list[tuple[str, Status]] = []
    described: list[tuple[str, str]] = []
    count, end = 0, None
    for row in rows:
        if row[0] == "test" and row[2] in STATUSES:
            count += 1
            name, *others = row[1]
            pairs.append((name, row[2]))
            described += [(other, name) for other in others if other != name]
        elif row[0] == "end":
            end = row
    runner = str(rows[0][1]) if rows[0][0] == "begin" else "unknown"
    if end is None:
        return Ran(runner, gathered(pairs), grouped(described), False, None, frozenset())
    details = end[3]
    closed = whole and end[1] == count and rows[-1] is end
    plugins = frozenset(details.get("plugins", ()))
    return Ran(runner, gathered(pairs), grouped(described), closed, details["exit"], frozenset(end[2]), plugins)


def merged(runs: list[Ran]) -> Results:
    """Results of all runs of a command together."""
    pairs = [(name, status) for run in runs for name, status in run.statuses.items()]
    open_runs = [run.runner for run in runs if not run.closed]
    problem = f"the run ended before {open_runs[0]} did" if open_runs else None
    odd = [run for run in runs if run.runner == "pytest" and run.exit_code not in (0, 1)]
    if problem is None and odd:
        problem = f"pytest ended with exit code {odd[0].exit_code}"
    described = [(name, test) for run in runs for name, tests in run.described.items() for test in tests]
    return Results(runs[0].runner if runs else "none", gathered(pairs), problem, described=grouped(described))
