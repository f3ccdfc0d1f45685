"""Who is who: names of dumps collide in every way, and nothing is merged, lost or mistaken for another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from itertools import count
from math import prod
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from colliding_dumps import NAN, OUTCOMES, PATCHES, ROWS, Expected, expected, outcome_of, write_dump
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from ingest_helpers import DIFF, native, prediction, read, write_lines

from rubrics.cli.main import cli
from rubrics.errors import UsageError
from rubrics.exports.export import export
from rubrics.exports.targets import TARGETS, target_named
from rubrics.records import transcripts
from rubrics.records.identity import group_id_of, rollout_id_of
from rubrics.report.explain import explain
from rubrics.report.find import find
from rubrics.report.write import write_report
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.schema import TABLES
from rubrics.store.store import Store

PIPELINE = ("ingest", "facts", "synthesize", "score", "audit", "reward")
PRODUCTS = 'routing = "grs"\n[length]\npenalty = 0.0\n'
RANKED = 'routing = "group"\n[length]\npenalty = 0.0\n'
ROW_FILES = {
    "trl": "rollouts.parquet", "verl": "train.parquet", "skyrl": "train.parquet", "parquet": "train.parquet",
    "openrlhf": "train.jsonl", "nemo": "rollouts.jsonl", "slime": "train.jsonl", "prime-rl": "rollouts.jsonl",
}  # fmt: skip
GROUP_NAMES = {"verl": ("uid",), "skyrl": ("instance_id",), "nemo": ("_ng_task_index",), "slime": ("group_index",),
               "prime-rl": ("example_id",)}  # fmt: skip
FOLDERS = count()

Row = dict[str, Any]
ALIKE = {"policy": "a", "policy_step": None, "attempt": None, "rollout_id": "0", "text": "hello"}
SAME_NAMES: list[Row] = [
    {**ALIKE, "task_id": task, "run": run, "group_id": "0", "patch": patch, "resolved": passed}
    for task in ("a", "A", "a/0")
    for run, patch, passed in (("0", PATCHES[2], True), ("a", PATCHES[3], False), ("A", PATCHES[4], True),
                               ("a", PATCHES[2], False))
]  # fmt: skip
"""Three tasks whose groups, runs, own ids and contents have the same names."""
OF_STEPS: list[Row] = [
    {**ALIKE, "task_id": task, "run": "0", "group_id": group, "policy_step": step, "policy": policy, "patch": patch,
     "resolved": passed}
    for task in ("a", "a#step=1")
    for group, step, policy, patch, passed in (
        ("1", 1, "a", PATCHES[2], True), ("1", 0, "0", PATCHES[3], False), (None, 1, "a", PATCHES[2], True),
        (None, NAN, "a", PATCHES[3], False), ("step=1", NAN, None, PATCHES[4], False), (None, 1, "0", None, True),
    )
]  # fmt: skip
"""Groups that are named as a step is, steps that cannot be read, groups that mix steps and policies."""


class Made:
    """A store, and which of its rollouts each expected one is."""

    def __init__(self, folder: Path, rows: list[Row], outcomes: dict[tuple[str, str], bool], by_policy: bool) -> None:
        self.folder = folder
        self.everything = expected(rows, by_policy)
        self.outcomes = outcomes
        dumps = write_dump(folder, rows, outcomes)
        self.root = folder / "s"
        group_by = "task,policy" if by_policy else "task"
        self.values = {"store": str(self.root), "trust_recorded": True, "group_by": group_by}
        self.run(PIPELINE, PRODUCTS, dumps=tuple(map(str, dumps)))
        self.store = Store.open(self.root)
        self.rollouts = {row["rollout_id"]: row for row in self.store.rows("rollouts")}
        texts = {row["transcript_digest"]: _text(row["turns"]) for row in self.store.rows("transcripts")}
        self.ids = {_key(row, texts): name for name, row in self.rollouts.items()}
        self.of = {self.ids[item.key]: item for item in self.everything if item.key in self.ids}

    def run(self, stages: tuple[str, ...], config: str, **more: Any) -> None:
        file = self.folder / "config.toml"
        file.write_text(config)
        run_stages(stages, {**self.values, **more, "config": str(file)}, run_here)

    def groups(self) -> dict[tuple[Any, ...], list[str]]:
        """Ids by the group that they must be in."""
        found: dict[tuple[Any, ...], list[str]] = {}
        for name, item in self.of.items():
            found.setdefault(item.group, []).append(name)
        return found


def _text(turns: str) -> str:
    return transcripts.from_json(turns)[-1].text


def _key(row: Row, texts: dict[str, str]) -> tuple[Any, ...]:
    text = texts.get(row["transcript_digest"])
    return row["task_id"], row["policy"], row["run"], row["policy_step"], row["attempt"], row["patch"], text


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(ROWS, min_size=8, max_size=24), OUTCOMES, st.booleans())
@example(SAME_NAMES, {("a", "0"): True, ("A", "a"): False}, False)
@example(SAME_NAMES, {}, True)
@example(OF_STEPS, {("a#step=1", "0"): False}, False)
@example(OF_STEPS, {}, True)
def test_whatever_the_names_each_rollout_is_itself_from_the_dump_to_the_exports(
    tmp_path: Path, rows: list[Row], outcomes: dict[tuple[str, str], bool], by_policy: bool
) -> None:
    """Two tasks that each had a group "0" were one group in reports and exports, and `run` did not end."""
    folder = tmp_path / str(next(FOLDERS))
    folder.mkdir()
    made = Made(folder, rows, outcomes, by_policy)
    assert_rollouts(made)
    assert_mixed_groups_are_named(made)
    assert_tables_join(made)
    assert_rewards(made)
    assert_exports(made, "products")
    assert_found_and_explained(made)
    rank(made)
    assert_rankings(made)
    assert_exports(made, "ranked", ("verl", "trl", "preferences"))


def assert_rollouts(made: Made) -> None:
    assert made.ids.keys() == {item.key for item in made.everything}
    assert len(made.rollouts) == len(made.everything)
    for name, item in made.of.items():
        row = made.rollouts[name]
        assert (row["source_id"], row["source_group"]) == (item.row["rollout_id"], item.row["group_id"])
        assert row["duplicate_of"] == (None if item.first is None else made.ids[item.first.key])
    ids = {group: {made.rollouts[name]["group_id"] for name in names} for group, names in made.groups().items()}
    assert all(len(found) == 1 for found in ids.values())
    assert len({name for (name,) in ids.values()}) == len(ids)


def assert_mixed_groups_are_named(made: Made) -> None:
    census = made.store.rows("census", where="kind LIKE 'mixed_%'")
    told = {(row["kind"], row["place"]) for row in census}
    assert len(told) == len(census)
    wanted = set()
    for names in made.groups().values():
        items = [made.of[name] for name in names]
        place = made.rollouts[names[0]]["group_id"]
        steps = {item.step for item in items if item.row["policy_step"] is not NAN}
        wanted |= {("mixed_steps", place)} if len(steps) > 1 else set()
        wanted |= {("mixed_policies", place)} if len({item.row["policy"] for item in items}) > 1 else set()
    assert told == wanted


def assert_tables_join(made: Made) -> None:
    """Every table that is of rollouts holds these, under the task that they are of; chosen outcomes are right."""
    for name, table in TABLES.items():
        if {"rollout_id", "task_id"} <= set(table.columns.names):
            for row in made.store.rows(name, ["rollout_id", "task_id"]):
                assert made.rollouts[row["rollout_id"]]["task_id"] == row["task_id"], name
    for name in ("facts", "rewards"):
        assert {row["rollout_id"] for row in made.store.rows(name)} == made.rollouts.keys()
    assert {row["rollout_id"] for row in made.store.query("FROM audit_verdicts").to_pylist()} <= made.rollouts.keys()
    for row in made.store.query("SELECT rollout_id, outcome FROM chosen_outcomes").to_pylist():
        passed = outcome_of(made.of[row["rollout_id"]], made.everything, made.outcomes)
        assert row["outcome"] == {True: "passed", False: "failed", None: "unknown"}[passed]


def assert_rewards(made: Made) -> None:
    """Products of the rollout's own scores, means of its own group; the reports of groups count the same."""
    rows = {row["rollout_id"]: row for row in made.store.rows("rewards")}
    scores_of = _scores(made.store)
    for name, row in rows.items():
        rollout = made.rollouts[name]
        assert all(row[column] == rollout[column] for column in row.keys() & rollout.keys())
        if row["reward"] is not None:
            scores = [row[kind] for kind in ("solution", "behavior") if row["test"] and row[kind] is not None]
            assert row["reward"] == pytest.approx(row["test"] * prod(scores))
        for kind in ("solution", "behavior"):
            assert row[kind] == pytest.approx(scores_of.get((name, row[f"{kind}_rubric"])))
    for names in made.groups().values():
        valid = [rows[name]["reward"] for name in names if rows[name]["reward"] is not None]
        for row in (rows[name] for name in names):
            assert (row["group_size"], row["group_valid"]) == (len(names), len(valid))
            if row["advantage"] is not None:
                assert row["advantage"] == pytest.approx(row["reward"] - sum(valid) / len(valid), abs=1e-9)
    by_task = made.store.query("FROM reward_by_task").to_pylist()
    assert sorted(row["rollouts"] for row in by_task) == sorted(map(len, made.groups().values()))
    assert made.store.query("FROM check_rewards").to_pylist() == []


def _scores(store: Store) -> dict[tuple[str, str], float | None]:
    """By rollout and rubric; of a rubric without criteria nothing."""
    grades: dict[tuple[str, str], list[Row]] = {}
    for row in store.rows("grades"):
        grades.setdefault((row["rollout_id"], row["rubric_digest"]), []).append(row)
    return {key: _score(rows) for key, rows in grades.items()}


def _score(grades: list[Row]) -> float | None:
    if any(row["value"] is None for row in grades):
        return None
    if any(row["gate"] and row["value"] < 1 for row in grades):
        return 0.0
    return sum(row["weight"] * row["value"] for row in grades) / sum(row["weight"] for row in grades)


def assert_exports(made: Made, folder: str, targets: Iterable[str] = tuple(TARGETS)) -> None:
    """Every row is its own rollout's; grouped as the trainer groups them, they give the stored advantages."""
    rewards = {row["rollout_id"]: row for row in made.store.rows("rewards")}
    kept = {name for name, row in rewards.items() if row["kept"] and row["advantage"] is not None}
    for name in targets if kept else ():
        place = made.folder / folder / name
        export(made.store, target_named(name), place)
        if name in ROW_FILES:
            _assert_export(made, name, _rows_of(place / ROW_FILES[name]), {key: rewards[key] for key in kept})
    if kept:
        _assert_others(made, made.folder / folder, kept)


def _assert_export(made: Made, target: str, rows: list[Row], kept: dict[str, Row]) -> None:
    told = [{**row, **_inner(row)} for row in rows]
    assert sorted(row["rollout_id"] for row in told) == sorted(kept)
    groups: dict[Any, list[Row]] = {}
    for row in told:
        stored = kept[row["rollout_id"]]
        names = ("group_id", "task_id", "source_id", "source_group")
        assert [row[name] for name in names] == [stored[name] for name in names]
        groups.setdefault(tuple(row[name] for name in GROUP_NAMES.get(target, ("group_id",))), []).append(row)
    assert len(groups) == len({made.of[name].group for name in kept})
    for members in groups.values():
        assert len({made.of[row["rollout_id"]].group for row in members}) == 1
        stars = [row["reward_star"] if target == "parquet" else row["reward"] for row in members]
        mean = sum(stars) / len(stars)
        advantages = [kept[row["rollout_id"]]["advantage"] for row in members]
        assert [star - mean for star in stars] == pytest.approx(advantages, abs=1e-9)


def _inner(row: Row) -> Row:
    for name in ("extra_info", "metadata", "rubrics", "info"):
        if name in row:
            return dict(row[name])
    return {}


def _assert_others(made: Made, folder: Path, kept: set[str]) -> None:
    for row in _rows_of(folder / "preferences" / "train.parquet"):
        pair = [made.of[row[name]] for name in ("chosen_id", "rejected_id")]
        assert pair[0].group == pair[1].group
        assert [item.row["rollout_id"] for item in pair] == [row["chosen_source_id"], row["rejected_source_id"]]
        assert all(
            (item.row["group_id"], item.row["task_id"]) == (row["source_group"], row["task_id"]) for item in pair
        )
    prompts = _rows_of(folder / "trl" / "prompts.parquet")
    sizes = Counter(made.rollouts[name]["group_id"] for name in kept)
    assert {row["group_id"]: row["rollouts"] for row in prompts} == sizes
    lookup = {row["rollout_id"]: row for row in _rows_of(folder / "trl" / "lookup.jsonl")}
    assert {name: made.of[name].row["rollout_id"] for name in kept} == {
        name: row["source_id"] for name, row in lookup.items()
    }


def _rows_of(path: Path) -> list[Row]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def assert_found_and_explained(made: Made) -> None:
    write_report(made.store)
    for name, item in list(made.of.items())[:3]:
        shown = explain(made.store, name)
        assert (shown["rollout_id"], shown["source_id"]) == (name, item.row["rollout_id"])
    for name in ("0", "a/0", "a#step=1", "A/a", "a#step=1/0"):
        meant = [key for key, item in made.of.items() if name in _names(item)]
        if len(meant) == 1:
            assert find(made.store, name) == meant[0]
        else:
            with pytest.raises(UsageError) as caught:
                find(made.store, name)
            assert sum(key in str(caught.value) for key in meant) == min(len(meant), 8)


def _names(item: Expected) -> set[str | None]:
    row = item.row
    ids = set() if row["rollout_id"] is None else {row["rollout_id"], f"{row['task_id']}/{row['rollout_id']}"}
    return {f"{row['task_id']}/{row['run']}", *ids}


def rank(made: Made) -> None:
    """One round over the passes of every group, each with one level for all five checks, then rewards anew."""
    rewards = {row["rollout_id"]: row for row in made.store.rows("rewards")}
    rows: list[Row] = []
    for names in made.groups().values():
        for number, name in enumerate(sorted(name for name in names if rewards[name]["test"] == 1)):
            levels = dict.fromkeys(
                ("approach", "precision", "minimality", "side_effects", "craftsmanship"), 5 - number % 5
            )
            where = {column: made.rollouts[name][column] for column in ("task_id", "group_id", "rollout_id")}
            rows.append({**where, **levels, "round": 0, "slice": 0, "usable": True, "label": "x", "judge": "j"})
    with made.store.writing() as run:
        run.append("rankings", rows)
    made.run(("reward",), RANKED)


def assert_rankings(made: Made) -> None:
    rewards = {row["rollout_id"]: row for row in made.store.rows("rewards")}
    levels = {row["rollout_id"]: row["approach"] for row in made.store.rows("rankings")}
    for names in made.groups().values():
        rows = [rewards[name] for name in names]
        ranked = [row for row in rows if row["rank"] is not None]
        order = sorted({levels[row["rollout_id"]] for row in ranked}, reverse=True)
        assert [row["rank"] for row in ranked] == [order.index(levels[row["rollout_id"]]) + 1 for row in ranked]
        assert len({row["route"] for row in rows}) == 1
        advantages = [row["advantage"] for row in rows if row["advantage"] is not None]
        assert sum(advantages) == pytest.approx(0, abs=1e-9)
    assert made.store.query("FROM check_rewards").to_pylist() == []


def stored(folder: Path, rows: list[Row], **options: Any) -> Store:
    dump = write_lines(folder / "d.jsonl", rows)
    run_stages(("ingest",), {"store": str(folder / "s"), "dumps": (str(dump),), **options}, run_here)
    return Store.open(folder / "s")


def test_an_id_depends_on_what_was_attempted_and_never_on_a_path(tmp_path: Path) -> None:
    rows = [native(policy_step=3, attempt=1), native("t-2", group_id="g")]
    here = read(write_lines(tmp_path / "one" / "a.jsonl", rows))
    there = read(write_lines(tmp_path / "two" / "deeper" / "b.jsonl", rows))
    assert [(item.rollout_id, item.group_id) for item in here.rollouts] == [
        (item.rollout_id, item.group_id) for item in there.rollouts
    ]
    first = here.rollouts[0]
    text = transcripts.to_json(first.turns or ())
    assert first.rollout_id == rollout_id_of("t-1", "m", "r", 3, 1, DIFF, text)
    assert here.rollouts[1].group_id == group_id_of("t-2", "g", None)


def test_parts_of_an_id_cannot_be_mistaken_for_each_other() -> None:
    """An id was the text `task#step=1#policy=`, which a task may be called too."""
    groups = [
        *(group_id_of("a", *parts) for parts in (("1", None), (None, 1), (None, None), ("", None))),
        *(group_id_of("a", None, None, policy) for policy in (None, "", "1")),
        *(group_id_of(task, name, None) for task, name in (("a1", ""), ("1", "a"))),
        group_id_of("a", "1", None, None),
    ]
    assert len(set(groups)) == len(groups)
    assert group_id_of("a", "1", 5) == group_id_of("a", "1", None), "a group that has a name may hold several steps"


def test_a_named_group_is_told_apart_by_policy_where_that_is_asked_for(tmp_path: Path) -> None:
    """The census advised `--group-by task,policy`, which did nothing for groups that have a name."""
    dump = write_lines(tmp_path / "d.jsonl", [native(group_id="0", policy=policy) for policy in "mn"])
    together, apart = read(dump), read(dump, group_by="task,policy")
    assert len({item.group_id for item in together.rollouts}) == together.count("mixed_policies") == 1
    assert len({item.group_id for item in apart.rollouts}) == 2
    assert apart.count("mixed_policies") == 0


def test_a_line_of_a_mixed_group_stays_short_whatever_the_group_holds(tmp_path: Path) -> None:
    rows = [native(group_id="0", policy_step=step, policy=f"policy-{step}") for step in range(500)]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert "and 490 more" in found.line("mixed_steps").detail
    assert len(found.line("mixed_policies").detail) < 400


def test_an_outcome_finds_a_rollout_by_any_id_that_a_copy_of_it_has(tmp_path: Path) -> None:
    """A copy with an id of its own was counted once more, and the outcome that names it had no rollout."""
    rows = [native(attempt=0, rollout_id=name) for name in ("x", "y", "y")]
    rows.append({"kind": "outcome", "task_id": "t-1", "rollout_id": "y", "resolved": True})
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert (found.rollout.source_id, found.count("repeated")) == ("x", 2)
    assert list(found.chosen.values()) == ["passed"]


def test_a_prediction_may_have_an_id_too(tmp_path: Path) -> None:
    rows = [prediction(rollout_id="p-7"), {"kind": "outcome", "task_id": "t-1", "rollout_id": "p-7", "resolved": True}]
    found = read(write_lines(tmp_path / "d.jsonl", rows))
    assert found.rollout.source_id == "p-7"
    assert found.rollout.extra is None
    assert list(found.chosen.values()) == ["passed"]


def test_a_rollout_is_shown_by_the_dumps_own_id_and_an_ambiguous_one_lists_its_candidates(tmp_path: Path) -> None:
    """`show` found a rollout by its digest only, and nobody but the store knows that."""
    rows = [native("a", rollout_id="x"), native("b", rollout_id="x"), native("b", run="s", rollout_id="only\u202e")]
    store = stored(tmp_path, rows)
    run_stages(("facts", "reward"), {"store": str(store.paths.root)}, run_here)
    shown = CliRunner().invoke(cli, ["show", "only\u202e", "--store", str(store.paths.root)])
    assert "own id  only\\u202e" in shown.output
    found = json.loads(CliRunner().invoke(cli, ["show", "b/x", "--json", "--store", str(store.paths.root)]).output)
    found = found[0] if isinstance(found, list) else found
    assert (found["task_id"], found["source_id"], found["source_group"]) == ("b", "x", None)
    names = [row["rollout_id"] for row in store.rows("rollouts") if row["source_id"] == "x"]
    with pytest.raises(UsageError, match="names 2 rollouts") as refused:
        find(store, "x")
    assert all(name in str(refused.value) for name in names)


def test_an_id_of_the_store_is_itself_also_where_a_dump_calls_another_rollout_so(tmp_path: Path) -> None:
    store = stored(tmp_path, [native("a")])
    ((name,),) = [row.values() for row in store.rows("rollouts", ["rollout_id"])]
    store = stored(tmp_path, [native("a"), native("b", rollout_id=name)])
    assert find(store, name) == find(store, name.upper()) == name
    with pytest.raises(UsageError, match="names 2 rollouts"):
        find(stored(tmp_path, [native("a"), native("b", rollout_id=name[:8])]), name[:8])
