"""The main job on rollouts published by others: every row accounted for, every reward reproducible."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from conftest import rewards, rows

from rubrics.ingest.read import ingest
from rubrics.records.rollouts import Rollout

ATTEMPTS = "rollout_id IN (SELECT rollout_id FROM rollouts WHERE n_turns IS NOT NULL)"


@pytest.fixture(scope="module")
def recorded(rubrics, real: Path, tmp_path_factory) -> Path:
    """A store of the same rollouts with only the outcomes that the dumps themselves record."""
    folder = tmp_path_factory.mktemp("recorded")
    rubrics("run", real / "specs.jsonl", real / "mini-swe-agent", cwd=folder, code=1)
    return folder / "rubrics-store"


def statuses(store: Path, where: str) -> Counter:
    return Counter(row["status"] for row in rows(store, f"FROM rewards WHERE {where}"))


def test_what_the_dumps_record_is_8_outcomes_and_2_time_outs_of_20_attempts(recorded: Path) -> None:
    assert statuses(recorded, ATTEMPTS) == {"ok": 8, "infra": 2, "unknown": 10}
    assert statuses(recorded, f"NOT {ATTEMPTS}") == {"unknown": 19}
    classes = Counter(row["failure_class"] for row in rewards(recorded) if row["status"] == "unknown")
    assert classes == {"no_outcome": 10, "no_task": 19}


def test_with_an_outcome_file_18_attempts_are_known_and_the_time_outs_stay_infra(scored: Path) -> None:
    assert statuses(scored, ATTEMPTS) == {"ok": 18, "infra": 2}
    assert statuses(scored, f"NOT {ATTEMPTS}") == {"unknown": 19}
    infra = [row for row in rewards(scored) if row["status"] == "infra"]
    assert {(row["run"], row["failure_class"], row["test"]) for row in infra} == {
        ("deepseek_reasoner_dev", "Timeout", None)
    }


def test_every_rollout_ends_in_exactly_one_status_and_every_other_row_in_a_census_line(scored: Path) -> None:
    assert len(rewards(scored)) == len({row["rollout_id"] for row in rewards(scored)}) == 39
    census = {(row["stage"], row["kind"]): row["n"] for row in rows(scored, "FROM census_totals")}
    assert sum(n for (stage, kind), n in census.items() if stage == "reward" and kind in STATUSES) == 39
    assert census["ingest", "merged"] == 4  # 20 trajectories and 23 predictions are 39 rollouts
    assert census["ingest", "no_task"] == 19
    assert census["ingest", "not_an_attempt"] == 8  # an empty patch and a reference per task
    assert census["ingest", "overruled"] == 2


STATUSES = ("ok", "infra", "truncated", "unknown", "ungraded")


def test_a_reward_is_null_exactly_where_the_row_is_masked(scored: Path) -> None:
    for row in rewards(scored):
        assert (row["reward"] is None) == (row["status"] in ("infra", "unknown", "ungraded")), row
        assert row["reward"] is None or 0 <= row["reward"] <= 1
        assert row["reward"] == 0 or row["test"] != 0


def test_attempts_of_all_pass_groups_get_rewards_that_differ(scored: Path) -> None:
    groups = defaultdict(list)
    for row in rewards(scored):
        groups[row["task_id"]].append(row)
    all_pass = [found for found in groups.values() if all(row["test"] == 1 for row in found)]
    assert len(all_pass) == 2
    for found in all_pass:
        assert len({round(row["reward"], 9) for row in found}) >= 3
        assert all(row["kept"] for row in found)
        assert sum(row["advantage"] for row in found) == pytest.approx(0, abs=1e-9)


def test_equal_patches_get_equal_solution_scores(scored: Path) -> None:
    query = """
        SELECT patch, count(*) AS n, count(DISTINCT solution) AS scores
        FROM rewards JOIN rollouts USING (rollout_id)
        WHERE solution IS NOT NULL AND patch <> '' GROUP BY patch HAVING count(*) > 1
    """
    assert [(row["n"], row["scores"]) for row in rows(scored, query)] == [(2, 1)]


def test_studied_attempts_are_marked_and_at_most_four_of_a_task(scored: Path) -> None:
    studied = Counter(row["task_id"] for row in rewards(scored) if row["studied"])
    assert set(studied.values()) == {4}
    assert len(studied) == 4


def test_running_again_gives_the_same_rows(rubrics, dumps: list[Path], scored: Path, tmp_path: Path) -> None:
    rubrics("run", *dumps, cwd=tmp_path, code=1)
    first = rewards(tmp_path / "rubrics-store")
    rubrics("run", *dumps, cwd=tmp_path, code=1)
    assert first == rewards(tmp_path / "rubrics-store") == rewards(scored)


def test_neither_the_order_of_dumps_nor_how_a_folder_is_given_changes_a_row(
    rubrics, real: Path, scored: Path, tmp_path: Path
) -> None:
    runs = sorted((real / "mini-swe-agent").iterdir(), reverse=True)
    rubrics("run", real / "outcomes.json", *runs, real / "specs.jsonl", cwd=tmp_path, code=1)
    assert rewards(tmp_path / "rubrics-store") == rewards(scored)
    for kind in ("solution", "behavior"):
        for file in (scored / "rubrics").glob(f"*.{kind}.yaml"):
            assert (tmp_path / "rubrics-store" / "rubrics" / file.name).read_text() == file.read_text()


def test_the_store_holds_what_ingest_reads(scored: Path, dumps: list[Path]) -> None:
    read = {record.rollout_id for record in ingest(dumps) if isinstance(record, Rollout)}
    assert read == {row["rollout_id"] for row in rewards(scored)}
