"""Dumps whose names collide in every way, and what identity makes of them, written down once more and plainly."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

NAMES = ("0", "a", "A", "a/0", "0/a", "a#step=1", "step=1")
TASKS = ("a", "A", "a/0", "0", "a#step=1")
PATCHES = (None, "", *(f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+{n}\n" for n in "bcd"))
NAN = float("nan")


def _or_none(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from((None, *values))


ROWS = st.fixed_dictionaries(
    {
        "task_id": st.sampled_from(TASKS),
        "run": st.sampled_from(NAMES[:3]),
        "policy": _or_none("0", "a"),
        "policy_step": _or_none(0, 1, NAN),
        "attempt": _or_none(0, 1),
        "group_id": _or_none("0", "a", "1", "step=1", "a#step=1"),
        "rollout_id": _or_none(*NAMES),
        "patch": st.sampled_from(PATCHES),
        "text": _or_none("hello", "bye"),
        "resolved": st.sampled_from((True, False, True, False, None)),
    }
)
OUTCOMES = st.dictionaries(st.tuples(st.sampled_from(TASKS), st.sampled_from(NAMES)), st.booleans(), max_size=4)


@dataclass
class Expected:
    """A rollout that must come out, with what is known of it."""

    row: dict[str, Any]
    attempt: int
    step: int | None
    group: tuple[Any, ...]
    own_ids: set[str] = field(default_factory=set)
    first: Expected | None = None
    """The first rollout of the task with the same content, where that is another one."""

    @property
    def key(self) -> tuple[Any, ...]:
        row = self.row
        return row["task_id"], row["policy"], row["run"], self.step, self.attempt, row["patch"], row["text"]


def expected(rows: list[dict[str, Any]], by_policy: bool) -> list[Expected]:
    """The rollouts of one file of rows, in the order in which they are read."""
    waits = [row["group_id"] is None and row["policy_step"] is NAN for row in rows]
    at_once = [row for row, wait in zip(rows, waits, strict=True) if row["text"] is not None and not wait]
    held = [row for row, wait in zip(rows, waits, strict=True) if row["text"] is None or wait]
    taken: Counter[tuple[Any, ...]] = Counter()
    found: dict[tuple[Any, ...], Expected] = {}
    steps: dict[tuple[Any, ...], set[int | None]] = {}
    firsts: dict[tuple[Any, ...], Expected] = {}
    for row in [*at_once, *sorted(held, key=lambda row: row["policy_step"] is NAN)]:
        unread = row["policy_step"] is NAN
        step = None if unread else row["policy_step"]
        sampling = (row["task_id"], row["policy"], row["run"], step)
        attempt = row["attempt"]
        if attempt is None:
            attempt = taken[sampling]
            taken[sampling] += 1
        where = (row["task_id"], row["policy"]) if by_policy else (row["task_id"],)
        if row["group_id"] is not None:
            group = (*where, "named", row["group_id"])
        else:
            known = steps.setdefault(where, set())
            group = (*where, "step", next(iter(known)) if unread and len(known) == 1 else step)
            known |= set() if unread else {step}
        item = Expected(row, attempt, step, group)
        item = found.setdefault(item.key, item)
        item.own_ids |= {row["rollout_id"]} - {None}
        if (row["patch"], row["text"]) != (None, None):
            first = firsts.setdefault((row["task_id"], row["patch"], row["text"]), item)
            item.first = None if first is item else first
    return list(found.values())


def outcome_of(item: Expected, everything: list[Expected], outcomes: dict[tuple[str, str], bool]) -> bool | None:
    """What counts of a rollout: an outcome that names it, else what its own row says. One that names several rollouts
    with different patches, or without, is nobody's; two that differ are a failure."""
    said = []
    for (task_id, own_id), passed in outcomes.items():
        named = [other for other in everything if other.row["task_id"] == task_id and own_id in other.own_ids]
        patches = {(other.row["patch"] or "").strip() or other.row["patch"] for other in named}
        if item in named and (len(named) == 1 or (len(patches) == 1 and patches != {None})):
            said.append(passed)
    return all(said) if said else item.row["resolved"]


def write_dump(folder: Path, rows: list[dict[str, Any]], outcomes: dict[tuple[str, str], bool]) -> tuple[Path, Path]:
    """A file with task rows and rollouts, and one with outcomes."""
    tasks = [{"kind": "task", "task_id": name, "spec": f"Change x.py for {name}."} for name in TASKS]
    lines = [
        {
            "kind": "rollout",
            **{name: value for name, value in row.items() if name != "text" and value is not None},
            **({} if row["text"] is None else {"turns": _turns(row["text"])}),
        }
        for row in rows
    ]
    told = [
        {"kind": "outcome", "task_id": task_id, "rollout_id": own_id, "resolved": passed}
        for (task_id, own_id), passed in outcomes.items()
    ]
    paths = folder / "d.jsonl", folder / "o.jsonl"
    for path, written in zip(paths, ([*tasks, *lines], told), strict=True):
        path.write_text("".join(json.dumps(item) + "\n" for item in written))
    return paths


def _turns(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "text": "Change x.py."}, {"role": "assistant", "text": text, "output_tokens": 3}]
