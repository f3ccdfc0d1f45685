"""Finished chunks of a stage that did not end: taken over by the next run, unless anything about them is not as it was
written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from store_helpers import flip, write

from rubrics.errors import InfraError, UsageError
from rubrics.records.census import CensusLine
from rubrics.stages import jobs
from rubrics.stages.options import Options
from rubrics.stages.stage import Chunk, drive, run_here
from rubrics.store.chunks import Done, Output, _digest, read_record
from rubrics.store.commit import StageRun
from rubrics.store.store import Store


class Counting:
    """A stage over three tasks that says which chunks it was asked for, and fails where it is told to."""

    name = "counting"
    reads = ("rollouts",)

    def __init__(self, fails: Sequence[str] = (), error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._fails, self._error = fails, error or InfraError("disk", "the disk is full")

    def chunks(self) -> Iterable[Chunk]:
        return [Chunk(task, (task,), 2) for task in "abc"]

    def work(self, out: Output, chunk: Chunk) -> int:
        self.asked.append(chunk.label)
        if chunk.label in self._fails:
            raise self._error
        out.append("facts", [{"rollout_id": f"{chunk.label}{n}", "task_id": chunk.label} for n in range(2)])
        out.append("studies", [])
        out.note(CensusLine(self.name, "task", "seen", "", "one line", 1))
        out.keep("label", chunk.label)
        return chunk.rollouts

    def finish(self, run: StageRun, done: Sequence[Done]) -> None:
        run.note(CensusLine(self.name, "run", "labels", "", "".join(item.kept["label"] for item in done)))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.create(tmp_path / "store")
    write(made, "ingest", rollouts=[{"rollout_id": "r", "task_id": "a"}], census=[{"stage": "ingest"}])
    return made


def fail(store: Store, fails: str = "b", **options: Any) -> Counting:
    stage = Counting(fails)
    with pytest.raises(InfraError):
        drive(stage, store, run_here, 1, Options(str(store.paths.root), **options))
    return stage


def run(store: Store, **options: Any) -> list[str]:
    """The chunks that were done; the store then says what it always says."""
    stage = Counting()
    assert drive(stage, store, run_here, 1, Options(str(store.paths.root), **options)) == 6
    assert [row["rollout_id"] for row in store.rows("facts", ["rollout_id", "task_id"])] == [
        "a0", "a1", "b0", "b1", "c0", "c1"
    ]  # fmt: skip
    lines = store.rows("census", where="stage = 'counting'")
    assert {(row["kind"], row["detail"], row["count"]) for row in lines} == {
        ("seen", "one line", 3), ("labels", "abc", 1)
    }  # fmt: skip
    assert store.count("census") == 3
    assert not store.paths.work.exists()
    return stage.asked


def records(store: Store) -> list[Path]:
    return sorted(store.paths.work.rglob("*.json"))


def test_a_chunk_that_fails_does_not_stop_the_others_and_nothing_is_committed(store: Store) -> None:
    before = store.paths.manifest.read_bytes()
    stage = Counting("b")
    with pytest.raises(InfraError) as caught:
        drive(stage, store, run_here, 1, Options(str(store.paths.root)))
    assert stage.asked == ["a", "b", "c"]
    assert caught.value.__notes__ == [
        "stage counting: chunk b failed; 2 chunks are finished and kept; the same command does the rest"
    ]
    assert store.paths.manifest.read_bytes() == before
    assert store.rows("facts") == []
    assert len(records(store)) == 2


def test_the_next_run_does_what_is_left_and_takes_the_rest_over(store: Store) -> None:
    fail(store)
    assert run(store) == ["b"]
    assert run(store) == ["a", "b", "c"], "a stage that has ended keeps nothing"


def test_what_cannot_be_done_at_all_stops_at_once(store: Store) -> None:
    stage = Counting("a", UsageError("no such model"))
    with pytest.raises(UsageError):
        drive(stage, store, run_here, 1, Options(str(store.paths.root)))
    assert stage.asked == ["a"]


def test_finished_chunks_outlive_other_commits_that_leave_what_they_read_alone(store: Store) -> None:
    fail(store)
    write(store, "other", tasks=[{"task_id": "a"}])
    assert run(store) == ["b"]


def test_finished_chunks_are_done_again_when_what_they_read_has_changed(store: Store) -> None:
    fail(store)
    write(store, "ingest", rollouts=[{"rollout_id": "other", "task_id": "a"}])
    assert run(store) == ["a", "b", "c"]


def test_finished_chunks_are_done_again_by_another_program(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(store)
    monkeypatch.setattr(jobs, "code_digest", lambda: "another")
    assert run(store) == ["a", "b", "c"]


@pytest.mark.parametrize(("options", "asked"), [({"workers": 3}, "b"), ({"seed": 3}, "abc"), ({"repeats": 2}, "abc")])
def test_finished_chunks_are_done_again_when_an_option_decides_otherwise(
    store: Store, options: dict[str, Any], asked: str
) -> None:
    fail(store)
    assert "".join(run(store, **options)) == asked


def test_clean_forgets_finished_chunks_with_their_parts(store: Store) -> None:
    fail(store)
    assert list(store.paths.tables.glob("facts/*"))
    store.clean()
    assert not list(store.paths.tables.glob("facts/*"))
    assert not store.paths.work.exists()
    assert run(store) == ["a", "b", "c"]


def said(record: Path) -> Any:
    return json.loads(record.read_text())


def resigned(record: Path, **other: Any) -> None:
    """What a stranger could write who knows the form."""
    content = {**said(record), **other}
    del content["digest"]
    record.write_text(json.dumps({**content, "digest": _digest(content)}))


def part(store: Store, record: Path) -> Path:
    return store.paths.root / said(record)["parts"]["facts"][0][0]


def replaced(record: Path, old: str, new: str) -> None:
    text = record.read_text()
    assert old in text
    record.write_text(text.replace(old, new, 1))


def another_tables_part(store: Store, record: Path) -> None:
    current = store.manifest().current("rollouts")
    assert current is not None
    resigned(record, parts={"facts": [[current.parts[0], 1]]})


def outside(store: Store, record: Path) -> None:
    target = part(store, record)
    (store.paths.root.parent / target.name).write_bytes(target.read_bytes())
    resigned(record, parts={"facts": [[f"../{target.name}", 2]]})


HARM: dict[str, Callable[[Store, Path], object]] = {
    "the record is empty": lambda store, record: record.write_bytes(b""),
    "the record is cut": lambda store, record: record.write_bytes(record.read_bytes()[:-9]),
    "the record is not UTF-8": lambda store, record: record.write_bytes(b"\xff\xfe"),
    "the record is no object": lambda store, record: record.write_text("[1]"),
    "the record is nested deeply": lambda store, record: record.write_text("[" * 100_000),
    "the record has no digest": lambda store, record: replaced(record, '"digest"', '"other"'),
    "the record counts otherwise": lambda store, record: replaced(record, '"rollouts": 2', '"rollouts": 3'),
    "the record kept something else": lambda store, record: replaced(record, '"label": "', '"label": "x'),
    "the record's census is another": lambda store, record: replaced(record, "one line", "two line"),
    "the record is of another form": lambda store, record: resigned(record, census=[{"colour": "red"}]),
    "the record has parts of no form": lambda store, record: resigned(record, parts={"facts": ["x"]}),
    "a part is gone": lambda store, record: part(store, record).unlink(),
    "a part is cut": lambda store, record: part(store, record).write_bytes(part(store, record).read_bytes()[:-9]),
    "a part has another byte": lambda store, record: flip(part(store, record), 40),
    "a part is a folder": lambda store, record: (part(store, record).unlink(), part(store, record).mkdir()),
    "a part is another table's": another_tables_part,
    "a part lies outside the store": outside,
    "a part is a system's file": lambda store, record: resigned(record, parts={"facts": [["/etc/passwd", 1]]}),
    "a part is of no known table": lambda store, record: resigned(
        record, parts={"later": [[f"tables/later/{'0' * 32}.parquet", 1]]}
    ),
}


@pytest.mark.parametrize("harm", HARM)
def test_a_finished_chunk_that_is_not_what_was_written_is_done_again(store: Store, harm: str) -> None:
    fail(store, "bc")
    (record,) = records(store)
    assert read_record(store.paths.root, "counting", record.stem) is not None
    HARM[harm](store, record)
    assert read_record(store.paths.root, "counting", record.stem) is None
    if harm == "a part is a folder":
        part(store, record).rmdir()
    assert run(store) == ["a", "b", "c"]


def test_what_makes_rows_may_note_lines_and_add_other_rows(store: Store) -> None:
    """An audit by a model never ended: its rows were made under the lock that its census lines wanted."""

    def rows(add: Callable[[str, Iterable[Any]], None], note: Callable[[CensusLine], None]) -> Iterable[dict[str, Any]]:
        note(CensusLine("audit", "rollout", "judged", "", "one line", 1))
        add("studies", [])
        yield {"rollout_id": "r", "task_id": "a"}

    out = Output(store.paths.root)
    out.append("facts", rows(out.append, out.note))
    done = out.finish(1)
    assert sum(part.rows for part in done.parts["facts"]) == len(done.census) == 1
    with store.writing("facts") as run:
        run.append("facts", rows(run.append, run.note))
    assert store.count("facts") == 1
