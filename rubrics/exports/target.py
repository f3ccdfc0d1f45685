"""What an export target is, and the folder it writes into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rubrics.exports.arithmetic import Fact
from rubrics.exports.modules import module_text
from rubrics.exports.samples import Group, Sample
from rubrics.store.export_rows import Columns, JsonRows, ParquetRows, RowWriter


@dataclass(frozen=True, slots=True)
class Limits:
    """Choices of the target `preferences`."""

    min_margin: float = 0.0
    """Pairs whose rewards differ by less are left out; a tie is never a pair."""
    max_pairs: int = 16
    """Pairs per group, those with the largest margin first."""


@dataclass(frozen=True, slots=True)
class Output:
    """A folder under construction. `notes` go into every Parquet file; `counts` into `export.json`."""

    folder: Path
    notes: Mapping[str, str]
    limits: Limits = Limits()
    counts: Counter[str] = field(default_factory=Counter)

    def parquet(self, name: str, columns: Columns) -> RowWriter:
        return ParquetRows(self.folder / name, columns, self.notes)

    def json_lines(self, name: str) -> RowWriter:
        return JsonRows(self.folder / name)

    def module(self, name: str, carried: str) -> None:
        self.text(name, module_text(carried))

    def text(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, "utf-8", newline="\n")


@dataclass(frozen=True, slots=True)
class Target:
    """One trainer, or one form that several read."""

    name: str
    about: str
    write: Callable[[Iterable[Group], Output], None]
    settings: Mapping[str, str] = field(default_factory=dict)
    """What the trainer has to be set to so that its advantages are the stored ones."""
    facts: tuple[Fact, ...] = ()
    """Settings that would break the arithmetic."""
    clips_advantage: bool = False
    """Whether the trainer clips after it has subtracted the mean."""
    computes_advantages: bool = True
    """False: the trainer makes no advantage of what it reads, so that estimator and clipping do not matter."""


IDENTITY: Columns = {
    "rollout_id": "text", "group_id": "text", "task_id": "text", "source_id": "text", "source_group": "text",
    "run": "text", "attempt": "int", "policy": "text", "policy_step": "int",
}  # fmt: skip
GRADES: Columns = {
    "reward": "float", "advantage": "float", "test": "float", "solution": "float", "behavior": "float", "hack": "text",
    "route": "text", "status": "text", "studied": "bool", "solution_rubric": "text", "behavior_rubric": "text",
    "judge": "text", "config_digest": "text", "prompt_source": "text", "completion_source": "text",
}  # fmt: skip


def identity(sample: Sample) -> dict[str, Any]:
    """The columns `IDENTITY`."""
    return {name: sample.row[name] for name in IDENTITY}


def grades(sample: Sample) -> dict[str, Any]:
    """The columns `GRADES`. `reward` is reward_star: less the group's mean it is `advantage`."""
    own = {
        "reward": sample.reward,
        "prompt_source": sample.prompt_source,
        "completion_source": sample.completion_source,
    }
    return {name: own[name] if name in own else sample.row[name] for name in GRADES}


def count_sample(output: Output, sample: Sample) -> None:
    """Account for one exported rollout."""
    output.counts["rows"] += 1
    if sample.prompt_source != "transcript":
        output.counts[f"prompt_{sample.prompt_source}"] += 1
    if sample.completion_source != "transcript":
        output.counts[f"completion_{sample.completion_source}"] += 1
