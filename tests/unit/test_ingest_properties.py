"""Random dumps with an oracle of their own: no outcome is given to a rollout of another task, run, attempt or patch."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ingest_helpers import DIFF, native, prediction, read, trajectory, write, write_lines

TASKS = ("t-1", "t-2", "T-1")
FOLDERS = ("night", "day", "a/night", "b/night")
PATCHES = ("", DIFF, DIFF.replace("+b", "+c"), DIFF.replace("+b", "+d"))


@dataclass
class Made:
    """An attempt as it was made; `place` is the file that holds it, null for one that the dump lacks."""

    task: str
    folder: str
    policy: str
    patch: str
    index: int
    place: str | None = None


@dataclass
class Record:
    """What was recorded of an attempt. `place` and `detail` are how it is found again among the outcomes."""

    made: Made
    detail: str | None
    place: str | None
    patch: bool = False
    index: bool = False
    passed: bool = False
    """Whether a harness says so, which it does not of an empty patch."""


@dataclass
class World:
    root: Path
    chance: random.Random
    attempts: list[Made] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    def build(self) -> None:
        for folder in self.chance.sample(FOLDERS, self.chance.randint(1, 4)):
            self._run(folder, self.chance.choice("mq"))
        self._natives()
        for policy in "mq":
            if self.chance.random() < 0.5:
                made = Made(self.chance.choice(TASKS), "validate", policy, "", 0)
                place = f"{policy}.validate.json"
                write(self.root / place, {"schema_version": 2, "resolved_ids": [made.task], "unresolved_ids": []})
                self.records.append(Record(made, None, place, passed=True))

    def _run(self, folder: str, policy: str) -> None:
        """A run of predictions or trajectories, with reports of attempts and of the whole run."""
        resolved: list[str] = []
        failed: list[str] = []
        rows = [prediction("predicted", f"{DIFF}+{folder}\n", model_name_or_path=policy)]
        self.attempts.append(
            Made("predicted", folder, policy, rows[0]["model_patch"], 0, f"{folder}/preds.jsonl:line 1")
        )
        for task in TASKS:
            count = self.chance.choice((0, 1, 1, 2))
            for index in range(count):
                made = Made(task, folder, policy, self.chance.choice(PATCHES), index)
                self.attempts.append(made)
                if self.chance.random() < 0.75:
                    if count == 1 and self.chance.random() < 0.5:
                        made.place = f"{folder}/{task}/{task}.traj.json"
                        document = trajectory(task, made.patch)
                        document["info"]["config"]["model"]["model_name"] = policy
                        write(self.root / made.place, document)
                    else:
                        rows.append(prediction(task, made.patch, model_name_or_path=policy))
                        made.place = f"{folder}/preds.jsonl:line {len(rows)}"
            if count and self.chance.random() < 0.6:
                self._report(self.chance.choice(self.attempts[-count:]))
            if count and self.chance.random() < 0.6:
                made = self.attempts[-1]
                passed = self.chance.random() < 0.5
                (resolved if passed else failed).append(task)
                self.records.append(Record(made, None, self._run_report(folder, policy), passed=passed))
        write_lines(self.root / folder / "preds.jsonl", rows)
        if resolved or failed:
            document = {"schema_version": 2, "resolved_ids": resolved, "unresolved_ids": failed}
            write(self.root / self._run_report(folder, policy), document)

    def _run_report(self, folder: str, policy: str) -> str:
        above, _, name = folder.rpartition("/")
        return f"{above}/{policy}.{name}.json".lstrip("/")

    def _report(self, made: Made) -> None:
        folder = f"{made.folder}/eval/{made.task}"
        write(self.root / folder / "report.json", {made.task: {"patch_exists": True, "resolved": made.index == 0}})
        (self.root / folder / "patch.diff").write_text(made.patch)
        self.records.append(Record(made, None, f"{folder}/report.json", patch=True, passed=made.index == 0))

    def _natives(self) -> None:
        """Native rows, with outcomes that name them by id or by index."""
        rows: list[dict[str, Any]] = []
        for task in TASKS:
            for index in range(self.chance.randint(0, 3)):
                made = Made(task, "native", "n", self.chance.choice(PATCHES), index)
                self.attempts.append(made)
                if self.chance.random() < 0.75:
                    own = {"run": "native", "policy": "n", "attempt": index, "rollout_id": f"{task}/{index}"}
                    rows.append(native(task, patch=made.patch, **own))
                    made.place = f"rows.jsonl:line {len(rows)}"
                if self.chance.random() < 0.7:
                    detail = f"record {len(self.records)}"
                    by_id = self.chance.random() < 0.5
                    names = {"rollout_id": f"{task}/{index}"} if by_id else {"run": "native", "attempt": index}
                    row = {"kind": "outcome", "task_id": task, "outcome": "passed", "detail": detail, **names}
                    write_lines(self.root / f"outcomes-{len(self.records)}.jsonl", [row])
                    self.records.append(Record(made, detail, None, index=True))
        if rows:
            write_lines(self.root / "rows.jsonl", rows)

    def present(self, made: Made) -> list[Made]:
        """The attempts of the same task and run that the dump holds."""
        return [item for item in self.attempts if item.place and (item.task, item.folder) == (made.task, made.folder)]

    def allowed(self, record: Record) -> set[str]:
        """Places of the attempts that the record may be given to."""
        made, near = record.made, self.present(record.made)
        if made.folder == "validate" and len(self.runs_of(made.policy)) == 1:
            there = [item for item in self.attempts if item.place]
            near = [item for item in there if (item.policy, item.task) == (made.policy, made.task)]
        near = [item for item in near if item.patch or not record.passed]
        if record.index:
            return {item.place or "" for item in near if item.index == made.index}
        if record.patch:
            return {item.place or "" for item in near if item.patch == made.patch}
        return {item.place or "" for item in near} if len({item.patch for item in near}) == 1 else set()

    def runs_of(self, policy: str) -> set[str]:
        """Names of the runs of the policy that the dump holds."""
        return {item.folder.rpartition("/")[2] for item in self.attempts if item.policy == policy and item.place}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_no_outcome_is_given_to_another_task_run_attempt_or_patch(tmp_path: Path, seed: int) -> None:
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    world = World(tmp_path, random.Random(seed))
    world.build()
    found = read(tmp_path)
    rollouts = {item.rollout_id: item for item in found.rollouts}
    assert {item.source for item in found.rollouts} == {made.place for made in world.attempts if made.place}
    given_to: dict[int, set[str]] = {}
    for outcome in found.outcomes:
        rollout = rollouts[outcome.rollout_id]
        (number,) = [
            number
            for number, record in enumerate(world.records)
            if (record.detail is not None and outcome.detail == record.detail)
            or (
                record.place is not None
                and outcome.source == f"harness:{record.place}"
                and record.made.task == rollout.task_id
            )
        ]
        given_to.setdefault(number, set()).add(rollout.source)
    for number, record in enumerate(world.records):
        assert given_to.get(number, set()) == world.allowed(record), record
    lost = sum(not world.allowed(record) for record in world.records)
    kinds = ("outcome_without_rollout", "outcome_ambiguous", "outcome_of_another_patch")
    assert sum(found.count(kind) for kind in kinds) == lost, "what is given to none is counted"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_predictions_that_repeat_attempts_never_change_their_number(tmp_path: Path, seed: int) -> None:
    """Attempts in files of their own, and predictions of all of them, some without their test edits, in two files."""
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    chance = random.Random(seed)
    rows = []
    for task in TASKS[:2]:
        patch = chance.choice(PATCHES[1:])
        write(tmp_path / f"run/{task}/{task}.traj.json", trajectory(task, patch))
        cut = chance.choice((patch, patch, "", chance.choice(PATCHES)))
        rows.append(prediction(task, cut, model_name_or_path="p/m"))
    for name in chance.sample(["preds.jsonl", "all_preds.jsonl", "predictions.jsonl"], chance.randint(1, 3)):
        write_lines(tmp_path / "run" / name, chance.sample(rows, len(rows)))
    found = read(tmp_path)
    assert len(found.rollouts) == 2
    assert all(item.turns is not None for item in found.rollouts)
