"""Writing small dumps and counting what came out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rubrics.ingest.account import READ_AS
from rubrics.ingest.documents import Limits
from rubrics.ingest.join import Ingested
from rubrics.ingest.read import ingest
from rubrics.outcomes import choose
from rubrics.records.census import CensusLine
from rubrics.records.outcomes import Outcome
from rubrics.records.rollouts import Rollout

DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"


class Read:
    """What an ingest gave, sorted by kind of record."""

    def __init__(self, records: Sequence[Ingested]) -> None:
        self.records = list(records)
        self.rollouts = [item for item in records if isinstance(item, Rollout)]
        self.outcomes = [item for item in records if isinstance(item, Outcome)]
        self.census = [item for item in records if isinstance(item, CensusLine)]

    def count(self, kind: str, subject: str | None = None) -> int:
        return sum(line.count for line in self.census if line.kind == kind and subject in (None, line.subject))

    def line(self, kind: str) -> CensusLine:
        (line,) = [line for line in self.census if line.kind == kind]
        return line

    @property
    def troubles(self) -> list[CensusLine]:
        """The census without what files were taken for."""
        return [line for line in self.census if line.kind != READ_AS]

    @property
    def chosen(self) -> dict[tuple[str, str, int], str]:
        """The outcome that counts of each rollout, by task, run and attempt."""
        said = {item.rollout_id: [said for said in self.outcomes if said.rollout_id == item.rollout_id]
                for item in self.rollouts}  # fmt: skip
        return {(item.task_id, item.run, item.attempt): choose(said[item.rollout_id]).outcome for item in self.rollouts}

    @property
    def rollout(self) -> Rollout:
        (rollout,) = self.rollouts
        return rollout


def read(*dumps: Path, group_by: str = "task", limits: Limits | None = None, trust_recorded: bool = False) -> Read:
    return Read(list(ingest(list(dumps), group_by, limits, trust_recorded=trust_recorded)))


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def write_lines(path: Path, rows: Sequence[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def prediction(task_id: str = "t-1", patch: Any = DIFF, **more: Any) -> dict[str, Any]:
    return {"instance_id": task_id, "model_name_or_path": "m", "model_patch": patch, **more}


def trajectory(
    task_id: str = "t-1", patch: str = DIFF, status: str = "Submitted", text: str = "hello"
) -> dict[str, Any]:
    return {
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": task_id,
        "info": {"exit_status": status, "submission": patch, "config": {"model": {"model_name": "p/m"}}},
        "messages": [
            {"role": "user", "content": "do it"},
            {"role": "assistant", "content": text},
            {"role": "exit", "content": patch},
        ],
    }


def native(task_id: str = "t-1", **more: Any) -> dict[str, Any]:
    turns = [{"role": "assistant", "text": "hi"}]
    return {"kind": "rollout", "task_id": task_id, "run": "r", "policy": "m", "patch": DIFF, "turns": turns, **more}
