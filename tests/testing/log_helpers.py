"""The logs of real runners, what their tests do, and what the readers make of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rubrics.testing.compare import Verdict, compare
from rubrics.testing.output import read_output
from rubrics.testing.results import Results

HERE = Path(__file__).resolve().parent
INDEX: dict[str, dict[str, Any]] = json.loads((HERE / "logs" / "index.json").read_text("utf-8"))
TRUTH: dict[str, dict[str, str | None]] = json.loads((HERE / "truth.json").read_text("utf-8"))


def log(name: str) -> str:
    return (HERE / "logs" / f"{name}.log").read_text("utf-8")


def results(name: str) -> Results:
    return read_output(log(name), None)


def truth(name: str) -> dict[str, str | None]:
    """Status of every listed name in the log's project; null for a name that no test has."""
    found = TRUTH[INDEX[name]["truth"]]
    return {key: status for key, status in found.items() if "so_long" in key} if "wrapped" in name else found


def verdict(text: str, *fail_to_pass: str, keep: tuple[str, ...] = (), reference: Results | None = None) -> Verdict:
    """The verdict of a stored log on a task with these tests."""
    return compare(read_output(text, None), fail_to_pass, keep, None, reference=reference)


def outcome(text: str, *fail_to_pass: str, keep: tuple[str, ...] = ()) -> str:
    return verdict(text, *fail_to_pass, keep=keep).outcome
