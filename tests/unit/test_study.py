"""Who is studied: balanced, filled up, seeded, and never decided by a path or the order of a dump."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_helpers import DIFF, trajectory, write, write_lines

from rubrics.errors import UsageError
from rubrics.stages.options import Options
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.stages.study import STUDIED_OUTCOMES, Candidate, choose_studied
from rubrics.store.store import Store

OUTCOMES = ["passed", "failed", "truncated", "infra", "unknown"]
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        rollout_id=st.text("0123456789abcdef", min_size=4, max_size=8),
        outcome=st.sampled_from(OUTCOMES),
        content=st.none() | st.sampled_from("abcdef"),
        empty=st.booleans(),
    ),
    max_size=16,
    unique_by=lambda item: item.rollout_id,
)


def made(outcomes: str, **more: object) -> list[Candidate]:
    names = {"p": "passed", "f": "failed", "t": "truncated", "i": "infra", "u": "unknown"}
    return [Candidate(f"r{n:02}", names[letter], f"c{n}", False) for n, letter in enumerate(outcomes)]


def sides(chosen: tuple[Candidate, ...]) -> tuple[int, int]:
    passes = sum(item.outcome == "passed" for item in chosen)
    return passes, len(chosen) - passes


@pytest.mark.parametrize(
    ("outcomes", "count", "expected"),
    [
        ("ppppffff", 4, (2, 2)),
        ("ppppffff", 5, (3, 2)),
        ("ppppffff", 1, (1, 0)),
        ("ffff", 1, (0, 1)),
        ("pffff", 4, (1, 3)),
        ("ppppf", 4, (3, 1)),
        ("pppp", 4, (4, 0)),
        ("ff", 4, (0, 2)),
        ("pf", 4, (1, 1)),
        ("pt", 4, (1, 1)),
        ("iiuu", 4, (0, 0)),
        ("", 4, (0, 0)),
    ],
)
def test_passes_and_failures_are_balanced_and_fill_each_other_up(
    outcomes: str, count: int, expected: tuple[int, int]
) -> None:
    assert sides(choose_studied(made(outcomes), count, 0)) == expected


@given(CANDIDATES, st.integers(1, 8), st.integers(0, 5), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_the_choice_is_balanced_full_and_independent_of_the_order(
    candidates: list[Candidate], count: int, seed: int, rng: object
) -> None:
    chosen = choose_studied(candidates, count, seed)
    known = [item for item in candidates if item.outcome in STUDIED_OUTCOMES]
    assert len(chosen) == min(count, len(known)) == len(set(chosen))
    assert set(chosen) <= set(known)
    passes, failures = sides(chosen)
    if passes < count // 2:
        assert passes == sum(item.outcome == "passed" for item in known)
    if failures < count // 2:
        assert failures == sum(item.outcome != "passed" for item in known)
    shuffled = list(candidates)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert choose_studied(shuffled, count, seed) == chosen


@given(CANDIDATES, st.integers(1, 8), st.integers(0, 5))
@settings(max_examples=200, deadline=None)
def test_repeats_come_last_and_empty_changes_after_changes(candidates: list[Candidate], count: int, seed: int) -> None:
    chosen = choose_studied(candidates, count, seed)
    for passed in (True, False):
        side = [item for item in chosen if (item.outcome == "passed") is passed]
        known = [
            item for item in candidates if item.outcome in STUDIED_OUTCOMES and (item.outcome == "passed") is passed
        ]
        times = Counter(item.content for item in side)
        if max(times.values(), default=0) > 1:
            assert {item.content for item in known} == set(times)
        seen: set[str | None] = set()
        repeats = [item.content in seen or bool(seen.add(item.content)) for item in side]
        assert repeats == sorted(repeats)
        first = [item.empty for item, repeat in zip(side, repeats, strict=True) if not repeat]
        assert first == sorted(first)


def test_another_seed_chooses_others() -> None:
    candidates = made("p" * 20 + "f" * 20)
    choices = {choose_studied(candidates, 4, seed) for seed in range(20)}
    assert len(choices) > 15
    assert choose_studied(candidates, 4, 3) == choose_studied(candidates, 4, 3)
    spread = Counter(item.rollout_id for seed in range(400) for item in choose_studied(candidates, 4, seed))
    assert len(spread) == 40
    assert max(spread.values()) < 80


def test_a_truncated_attempt_counts_as_a_failure() -> None:
    chosen = choose_studied(made("pt"), 2, 0)
    assert [item.outcome for item in chosen] == ["passed", "truncated"]


def test_what_is_equal_but_for_the_outcome_is_studied_on_both_sides() -> None:
    twins = [replace(item, content="same") for item in made("pf")]
    assert sides(choose_studied(twins, 4, 0)) == (1, 1)


def dump(folder: Path, outcomes: str, run: str = "run", spec: str | None = "Fix `x`.") -> Path:
    """One task, one run per letter: p passed, f failed, u without an outcome, i ended by infra, e an empty failure."""
    row = {"instance_id": "o__r-1", "repo": "o/r", "problem_statement": spec}
    write_lines(folder / "specs.jsonl", [{name: value for name, value in row.items() if value is not None}])
    said = {}
    for number, letter in enumerate(outcomes):
        patch = "" if letter == "e" else DIFF.replace("+b", f"+value = {'good' if letter == 'p' else 'bad'}({number})")
        status = "litellm.Timeout" if letter == "i" else "Submitted"
        attempt = trajectory("o__r-1", patch, status=status, text=f"attempt {number}")
        write(folder / "runs" / f"{run}-{number}" / "o__r-1" / "o__r-1.traj.json", attempt)
        if letter in "pfie":
            said[f"{run}-{number}"] = {"resolved": letter == "p"}
    write(folder / "outcomes.json", {"o__r-1": said})
    return folder


def pipeline(store: Path, *dumps: Path, stages: tuple[str, ...] = (), **options: object) -> Store:
    names = stages or ("ingest", "facts", "synthesize", "score", "reward")
    run_stages(names, {"store": str(store), "dumps": [str(item) for item in dumps], **options}, run_here)
    return Store.open(store)


def studied(store: Store) -> list[tuple[str, bool]]:
    query = "SELECT run, passed FROM studies JOIN rollouts USING (rollout_id) ORDER BY run"
    return [(row["run"], row["passed"]) for row in store.query(query).to_pylist()]


def test_unknown_and_infra_are_never_studied(tmp_path: Path) -> None:
    store = pipeline(tmp_path / "store", dump(tmp_path / "dump", "puif"))
    assert studied(store) == [("run-0", True), ("run-3", False)]
    flags = store.query("SELECT run, studied FROM rewards ORDER BY run").to_pylist()
    assert [row["studied"] for row in flags] == [True, False, False, True]


def test_without_a_known_outcome_no_rubric_is_written_and_the_census_says_so(tmp_path: Path) -> None:
    store = pipeline(tmp_path / "store", dump(tmp_path / "dump", "uui"))
    assert studied(store) == []
    assert store.count("rubrics") == store.count("grades") == 0
    assert not list(store.paths.rubrics.glob("*"))
    query = "SELECT stage, kind, place FROM census WHERE stage IN ('synthesize', 'score') ORDER BY stage"
    lines = store.query(query).to_pylist()
    assert [tuple(row.values()) for row in lines] == [
        ("score", "no_rubric", "o__r-1"), ("synthesize", "no_study", "o__r-1"),
    ]  # fmt: skip


def test_where_the_dump_lies_does_not_decide_who_is_studied(tmp_path: Path) -> None:
    first = dump(tmp_path / "one", "ppppffff")
    shutil.copytree(first, tmp_path / "elsewhere" / "zz")
    stores = [pipeline(tmp_path / f"s{n}", path) for n, path in enumerate((first, tmp_path / "elsewhere" / "zz"))]
    assert studied(stores[0]) == studied(stores[1])
    assert sides_of(stores[0]) == (2, 2)
    texts = [[file.read_text() for file in sorted(store.paths.rubrics.iterdir())] for store in stores]
    assert texts[0] == texts[1]


def sides_of(store: Store) -> tuple[int, int]:
    passes = sum(passed for _, passed in studied(store))
    return passes, len(studied(store)) - passes


def test_an_empty_failure_is_studied_only_when_no_other_is_left(tmp_path: Path) -> None:
    assert ("run-1", False) not in studied(pipeline(tmp_path / "s", dump(tmp_path / "a", "pef"), study=2))
    assert ("run-1", False) in studied(pipeline(tmp_path / "t", dump(tmp_path / "b", "pe"), study=2))


def test_attempts_of_another_dump_are_studied_and_not_scored(tmp_path: Path) -> None:
    old, new = dump(tmp_path / "old", "ppff"), dump(tmp_path / "new", "uuu", run="new")
    store = pipeline(tmp_path / "store", new, study_from=[str(old)])
    assert store.count("studies") == 4
    assert store.count("rollouts") == store.count("rewards") == 3
    ids = {row["rollout_id"] for row in store.rows("rollouts", ["rollout_id", "task_id"])}
    assert not ids & {row["rollout_id"] for row in store.rows("studies", ["rollout_id", "task_id"])}
    assert store.query("SELECT DISTINCT rollout_id FROM grades").num_rows == 3
    assert store.query("SELECT count(*) AS n FROM rewards WHERE studied").to_pylist() == [{"n": 0}]


def test_last_weeks_rubrics_score_todays_dump_without_synthesizing(tmp_path: Path) -> None:
    store = pipeline(tmp_path / "store", dump(tmp_path / "old", "ppff"))
    digests = {row["rubric_digest"] for row in store.rows("rubrics")}
    today = dump(tmp_path / "new", "pfpfpf", run="today")
    store = pipeline(tmp_path / "store", tmp_path / "old", today)
    assert {row["rubric_digest"] for row in store.rows("rubrics")} == digests
    assert store.query("SELECT count(*) AS n FROM rewards WHERE studied").to_pylist() == [{"n": 4}]
    only_new = pipeline(tmp_path / "store", today)
    assert {row["rubric_digest"] for row in only_new.rows("rubrics")} == digests
    assert only_new.query("SELECT count(DISTINCT rollout_id) AS n FROM contrasts").to_pylist()[0]["n"] >= 6
    assert only_new.query("SELECT count(*) AS n FROM rewards WHERE solution IS NULL").to_pylist() == [{"n": 0}]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"group_by": "run"}, "--group-by 'run'; wanted one of task, task,policy"),
        ({"study": 0}, "--study 0; wanted a whole number of at least 1"),
        ({"workers": -1}, "--workers -1; wanted a whole number of at least 1"),
        ({"limit": 0}, "--limit 0; wanted a whole number of at least 1"),
        ({"factors": ("test",)}, "--factors 'test'; wanted some of solution, behavior, each once"),
        ({"factors": ("solution", "solution")},
         "--factors 'solution,solution'; wanted some of solution, behavior, each once"),
        ({"dumps": ("/absent/dump",)}, "/absent/dump: no such file or folder; name a dump of rollouts"),
        ({"study_from": ("/absent/dump",)}, "/absent/dump: no such file or folder; name a dump of rollouts"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Options("store", **changes)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_options_go_through_plain_values_and_back(tmp_path: Path) -> None:
    options = Options("store", dumps=(str(tmp_path),), limit=3, factors=("solution",))
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in options.to_dict().items()}
    assert Options.from_dict({**values, "of another version": 1}) == options
