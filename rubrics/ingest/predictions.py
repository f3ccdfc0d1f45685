"""SWE-bench predictions: one row each, in a list, in lines or in a dict by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rubrics.ingest.items import Attempt, Item, Source
from rubrics.ingest.names import run_of_folder, run_of_rows, stem
from rubrics.ingest.patches import read_patch
from rubrics.ingest.values import Row, int_or_none, name_of, text_or_none
from rubrics.records.census import CensusLine

HARNESS = "predictions"
PATCH_KEYS = ("model_patch", "prediction")
POLICY_KEYS = ("model_name_or_path", "model_name")
CLAIMS = (
    "status", "resolved", "is_resolved", "passed", "success", "outcome", "score", "reward", "test_outcome",
    "tests_passed", "all_results",
)  # fmt: skip
"""What a prediction may say of itself; never an outcome."""


def read_prediction(row: Row, source: Source, *, alone: bool = False) -> Iterator[Item]:
    """One prediction. `alone` says that its file holds nothing else, so that the folder names the run."""
    task_id = name_of(row, source, "instance_id", "task_id")
    policy = text_or_none(row, *POLICY_KEYS)
    if policy == "gold":
        yield source.note("sealed_beside_attempt", "reference patches written as predictions; not read")
        return
    yield from claims_in(row, source)
    status = text_or_none(row, "exit_status")
    patch = read_patch(next((row[key] for key in PATCH_KEYS if key in row), None), source, status)
    yield from patch.notes
    by_folder = alone or stem(source.file) == task_id
    yield Attempt(
        task_id, run_of_folder(source.file, task_id) if by_folder else run_of_rows(source.file), HARNESS, source,
        policy=policy, attempt=int_or_none(row, "attempt", source), patch=patch.text,
        exit_status=status or patch.exit_status,
    )  # fmt: skip


def rows_by_id(document: Row, source: Source) -> Iterator[tuple[Row, Source]]:
    """Rows of a dict by id; the key is the id where the row has none."""
    for key, row in document.items():
        place = source.at(str(key))
        yield ({"instance_id": key, **row} if isinstance(row, Mapping) else {}), place


def claims_in(row: Row, source: Source) -> Iterator[CensusLine]:
    """A census line for each thing that the row says of its own success."""
    for key in CLAIMS:
        if row.get(key) is not None:
            yield source.note("claim_ignored", f"`{key}` inside a prediction is no outcome", subject="rollout")
