"""A store says when it was damaged, and a lost manifest is made again from the history."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_helpers import contents, flip, parts_of, signed, tables, write

from rubrics.errors import StoreError
from rubrics.store import commit as commit_module
from rubrics.store import parts as parts_module
from rubrics.store.commit import StageRun
from rubrics.store.part_files import PART, digest_of
from rubrics.store.parts import PartWriter
from rubrics.store.repair import look_over, repair
from rubrics.store.schema import TABLES
from rubrics.store.store import Store


@pytest.fixture
def copied(sample_store: Store, tmp_path: Path) -> Store:
    return Store.open(Path(shutil.copytree(sample_store.paths.root, tmp_path / "store")))


def test_a_flipped_byte_anywhere_in_any_part_is_noticed_whoever_reads(copied: Store) -> None:
    """Flipped bytes were believed: a score of 1,770,077,184."""
    chance = Random(0)
    for name in TABLES:
        for part in parts_of(copied, name) if copied.manifest().current(name) else []:
            whole = part.read_bytes()
            places = {0, len(whole) - 1, len(whole) - 6, *(chance.randrange(len(whole)) for _ in range(12))}
            for place in places:
                flip(part, place)
                with pytest.raises(StoreError, match=f"table {name}: its part tables/{name}/.* damaged"):
                    copied.rows(name)
                if TABLES[name].has_view:
                    with pytest.raises(StoreError, match=f"table {name}: its part"):
                        copied.query(f"SELECT count(*) FROM {name}")
                part.write_bytes(whole)
            copied.rows(name)


def damage_flip(part: Path) -> None:
    flip(part, part.stat().st_size // 2)


def damage_flip_at_the_same_size_and_time(part: Path) -> None:
    before = part.stat()
    flip(part, part.stat().st_size // 2)
    os.utime(part, ns=(before.st_atime_ns, before.st_mtime_ns))


def damage_truncate(part: Path) -> None:
    part.write_bytes(part.read_bytes()[:-20])


def damage_empty(part: Path) -> None:
    part.write_bytes(b"")


def damage_missing(part: Path) -> None:
    part.unlink()


def damage_other_store(part: Path) -> None:
    other = Store.create(part.parent / "other")
    write(other, rewards=[{"rollout_id": "theirs", "task_id": "t", "reward": 1.0}])
    content = parts_of(other, "rewards")[0].read_bytes()
    shutil.rmtree(other.paths.root)
    part.write_bytes(content)


def damage_folder(part: Path) -> None:
    part.unlink()
    part.mkdir()


def damage_fifo(part: Path) -> None:
    part.unlink()
    os.mkfifo(part)


def damage_link_to_nothing(part: Path) -> None:
    part.unlink()
    part.symlink_to("nothing")


DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a flipped byte": (damage_flip, "is not what was written: damaged, or replaced"),
    "a flipped byte under the old time": (damage_flip_at_the_same_size_and_time, "is not what was written"),
    "a truncated part": (damage_truncate, "is cut short, or damaged"),
    "an empty part": (damage_empty, "is cut short, or damaged"),
    "a missing part": (damage_missing, "is not there"),
    "a part of another store": (damage_other_store, "is not what was written: damaged, or replaced"),
    "a folder in its place": (damage_folder, "is no regular file"),
    "a fifo in its place": (damage_fifo, "is no regular file"),
    "a link to nothing in its place": (damage_link_to_nothing, "is not there"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_every_damage_is_one_plain_error_with_table_part_and_remedy(copied: Store, name: str) -> None:
    """A missing part said "Permission Error: ... disabled by configuration"."""
    damage, said = DAMAGE[name]
    copied.rows("rewards")
    (part,) = parts_of(copied, "rewards")
    damage(part)
    for read in (lambda: copied.rows("rewards"), lambda: copied.query("FROM reward_by_task")):
        with pytest.raises(StoreError) as caught:
            read()
        message = str(caught.value)
        assert message.startswith(f"{copied.paths.root}: table rewards: its part tables/rewards/{part.name} {said}")
        assert "`rubrics repair`" in message
        assert "`rubrics reward`" in message
        assert "\n" not in message
    assert copied.query("SELECT count(*) AS n FROM tasks").to_pylist() == [{"n": 4}], "other tables still answer"
    assert [(item.table, item.part) for item in look_over(copied.paths.root)] == [
        ("rewards", f"tables/rewards/{part.name}")
    ]


def test_a_damaged_part_is_not_carried_into_a_new_version(copied: Store) -> None:
    (part, *_) = parts_of(copied, "contrasts")
    damage_flip(part)
    with pytest.raises(StoreError, match="table contrasts: its part"):
        carry_and_add(copied, [{"rollout_id": "r", "task_id": "t", "study_digest": "s"}])


@pytest.mark.parametrize("where", ["rollout_id = 'nobody'", "true"])
def test_a_damaged_part_is_not_looked_into_for_rows_that_go(copied: Store, where: str) -> None:
    (part, *_) = parts_of(copied, "contrasts")
    damage_flip(part)
    with pytest.raises(StoreError, match=r"table contrasts: its part .* damaged"), copied.writing() as run:
        run.carry("contrasts", where)


def carry_and_add(store: Store, rows: list[dict[str, Any]]) -> None:
    with store.writing("carrying") as run:
        run.carry("contrasts")
        run.append("contrasts", rows)


def test_a_stage_makes_a_damaged_table_again(copied: Store) -> None:
    from rubrics.stages.pipeline import run_stages
    from rubrics.stages.stage import run_here

    before = copied.rows("rewards")
    damage_flip(parts_of(copied, "rewards")[0])
    run_stages(("reward",), {"store": str(copied.paths.root)}, run_here)
    assert copied.rows("rewards") == before


def test_the_bytes_of_a_part_are_read_once_by_a_process(copied: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from rubrics.store import part_files

    monkeypatch.setattr(part_files, "_SETTLED", -1.0)
    part_files._known_digest.cache_clear()
    looked: list[Path] = []

    def counted(path: Path) -> str:
        looked.append(path)
        return digest_of(path)

    monkeypatch.setattr(part_files, "digest_of", counted)
    for _ in range(3):
        copied.rows("facts")
        Store.open(copied.paths.root).query("FROM facts")
    assert looked == parts_of(copied, "facts")


def test_every_part_is_named_after_its_bytes_and_stands_for_its_rows(sample_store: Store) -> None:
    for name, version in sample_store.manifest().tables.items():
        for part in version.listed:
            match = PART.fullmatch(part.path)
            assert match is not None
            assert match["table"] == name
            assert match["digest"] == digest_of(sample_store.paths.root / part.path)
        assert version.rows == len(sample_store.rows(name))


def test_a_part_made_again_mends_the_damaged_file_of_the_same_name(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    write(store, tasks=[{"task_id": "a"}])
    (part,) = parts_of(store, "tasks")
    damage_truncate(part)
    write(store, tasks=[{"task_id": "a"}])
    assert parts_of(store, "tasks") == [part]
    assert store.rows("tasks", ["task_id"]) == [{"task_id": "a"}]


# Values outside a column's range


@pytest.mark.parametrize(
    ("table", "column", "value", "said"),
    [
        ("grades", "value", 1.770077184e9, "a number from 0 to 1"),
        ("grades", "value", -0.1, "a number from 0 to 1"),
        ("grades", "value", float("nan"), "a number from 0 to 1"),
        ("grades", "weight", float("inf"), "a number of at least 0"),
        ("grades", "kind", "style", "one of solution, behavior"),
        ("grades", "repeat", -1, "a number of at least 0"),
        ("rewards", "test", 0.5, "0 or 1"),
        ("rewards", "test", 2.0, "0 or 1"),
        ("rewards", "solution", 1.0000001, "a number from 0 to 1"),
        ("rewards", "reward", float("nan"), "a finite number"),
        ("rewards", "advantage", float("-inf"), "a finite number"),
        ("rewards", "status", "fine", "one of ok, infra, truncated, unknown, ungraded"),
        ("rewards", "hack", "maybe", "one of none, suspected, confirmed"),
        ("rewards", "route", "", "one of grs, gar, plain"),
        ("outcomes", "outcome", "Passed", "one of passed, failed, infra, truncated, unknown"),
        ("audits", "verdict", "guilty", "one of none, suspected, confirmed"),
        ("rankings", "approach", 6, "a number from 1 to 5"),
        ("facts", "files_changed", -1, "a number of at least 0"),
        ("judgements", "cost", -0.01, "a number of at least 0"),
        ("census", "count", -1, "a number of at least 0"),
    ],
)  # fmt: skip
def test_a_value_outside_its_columns_range_is_refused_and_nothing_is_written(
    tmp_path: Path, table: str, column: str, value: Any, said: str
) -> None:
    store = Store.create(tmp_path / "store")
    rows = [{**{name: "k" for name in TABLES[table].key if TABLES[table].columns.field(name).type == "string"}}]
    rows[0] |= {"task_id": "t"} if "task_id" in TABLES[table].columns.names else {}
    with pytest.raises(StoreError) as caught:
        write(store, **{table: [{**rows[0], column: value}]})
    message = str(caught.value)
    assert message.startswith(f"table {table}: {column} is {value!r} in the row {{")
    assert f"it holds {said}" in message
    assert not list(store.paths.root.rglob("*.parquet"))
    write(store, **{table: [{**rows[0], column: None}]})


def test_every_float_column_refuses_what_is_not_finite(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    for name, table in TABLES.items():
        for field in table.columns:
            if field.type == "double":
                for value in (float("nan"), float("inf"), float("-inf")):
                    with pytest.raises(StoreError, match=f"table {name}: {field.name} is "):
                        write(store, **{name: [{field.name: value}]})


def test_values_that_were_written_before_ranges_were_looked_at_are_found_by_check(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    with patch.object(PartWriter, "_checked", lambda self, table: table):
        write(store, rewards=[{"rollout_id": "r", "task_id": "t", "solution": 1.770077184e9}])
    (found,) = look_over(store.paths.root)
    assert found.wrong == ("solution is 1770077184.0 in the row {'rollout_id': 'r'}; it holds a number from 0 to 1")


# Repair


def lost(store: Store) -> None:
    store.paths.manifest.unlink()


def cut(store: Store) -> None:
    store.paths.manifest.write_bytes(store.paths.manifest.read_bytes()[:-30])


def flipped(store: Store) -> None:
    flip(store.paths.manifest, 0)


def renamed(store: Store) -> None:
    """A damage that leaves a manifest in form: the name of a part, and the number of rows."""
    text = store.paths.manifest.read_text()
    part = next(iter(store.manifest().parts()))
    store.paths.manifest.write_text(text.replace(part, part[:-10] + "00.parquet"))


def counted_wrong(store: Store) -> None:
    text = store.paths.manifest.read_text()
    store.paths.manifest.write_text(text.replace(" 32\n", " 33\n"))
    assert store.paths.manifest.read_text() != text


HARMS = [lost, cut, flipped, renamed, counted_wrong]


@pytest.mark.parametrize("harm", HARMS)
def test_a_lost_or_damaged_manifest_is_made_again_from_the_history(
    copied: Store, harm: Callable[[Store], None]
) -> None:
    before, commit, views = tables(copied), copied.manifest(), copied.paths.views.read_bytes()
    harm(copied)
    with pytest.raises(StoreError, match="`rubrics repair"):
        Store.open(copied.paths.root)
    with pytest.raises(StoreError, match="`rubrics repair"):
        Store.create(copied.paths.root)
    source, choices = repair(copied.paths.root)
    assert source.startswith("its history (manifest.json ")
    assert {choice.state for choice in choices} == {"kept"}
    made = copied.manifest()
    assert (made.tables, made.files, made.commit) == (commit.tables, commit.files, commit.commit + 1)
    assert copied.paths.views.read_bytes() == views
    assert tables(copied) == before


@pytest.mark.parametrize("harm", HARMS)
def test_without_manifest_and_history_nothing_is_made_up(copied: Store, harm: Callable[[Store], None]) -> None:
    harm(copied)
    shutil.rmtree(copied.paths.history)
    before = contents(copied)
    with pytest.raises(StoreError, match="nothing says which parts make a table; put history/ back from a copy"):
        repair(copied.paths.root)
    assert contents(copied) == before


def test_a_damaged_line_of_the_history_is_left_out(copied: Store) -> None:
    before = tables(copied)
    *_, last_but_one, last = sorted(copied.paths.history.iterdir())
    flip(last_but_one, 40)
    lost(copied)
    repair(copied.paths.root)
    assert tables(copied) == before
    flip(last, 40)
    lost(copied)
    repair(copied.paths.root)
    assert tables(copied) == before, "repair made a commit of its own"


def test_a_hostile_history_is_not_believed(copied: Store) -> None:
    before = tables(copied)
    for number, part in ((90, "../../x.parquet"), (91, "tables/sealed/" + "0" * 32 + ".parquet")):
        hostile = signed(commit=number, tables={"tasks": [[part, 1]]})
        (copied.paths.history / f"{number:08d}.json").write_text(hostile)
    lost(copied)
    repair(copied.paths.root)
    assert tables(copied) == before
    assert copied.manifest().commit < 90


def test_rubric_files_that_a_kill_left_aside_come_with_the_manifest_that_is_made_again(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    with patch("rubrics.store.pending.Pending.put_in_place", side_effect=Killed), pytest.raises(Killed):
        write_rubric(store, "text")
    lost(store)
    repair(store.paths.root)
    assert (store.paths.rubrics / "t.solution.yaml").read_text() == "text"


def write_rubric(store: Store, text: str) -> None:
    with store.writing("synthesize") as run:
        run.append("rubrics", [])
        run.append("census", [{"stage": text}])
        run.files.write(store.paths.rubrics / "t.solution.yaml", text)


def test_repair_of_a_whole_store_changes_nothing(copied: Store) -> None:
    before = {item: item.read_bytes() for item in copied.paths.root.rglob("*") if item.is_file()}
    source, choices = repair(copied.paths.root)
    assert source == "its manifest"
    assert {choice.state for choice in choices} == {"kept"}
    assert {item: item.read_bytes() for item in copied.paths.root.rglob("*") if item.is_file()} == before


NAMES = ("tasks", "facts", "contrasts", "census")
ROWS = st.lists(st.integers(0, 9), unique=True, max_size=5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.dictionaries(st.sampled_from(NAMES), ROWS, min_size=1)),
        st.tuples(st.just("carry"), ROWS),
        st.tuples(st.just("keep"), st.integers(0, 9)),
        st.tuples(st.just("killed"), st.dictionaries(st.sampled_from(NAMES), ROWS, min_size=1)),
        st.tuples(st.just("failed"), ROWS),
        st.tuples(st.just("clean"), st.none()),
    ),
    max_size=9,
)  # fmt: skip


def row(table: str, number: int, version: int) -> dict[str, Any]:
    keys = dict.fromkeys(TABLES[table].key, f"k{number}")
    return {**keys, "count": version} if table == "census" else {**keys, "task_id": f"k{number}"}


class Killed(BaseException):
    pass


def take_step(store: Store, kind: str, what: Any, number: int) -> None:
    if kind == "write":
        write(store, "s", **{name: [row(name, n, number) for n in ns] for name, ns in what.items()})
    elif kind == "carry":
        held = {item["rollout_id"] for item in store.rows("contrasts")}
        carry_and_add(store, [row("contrasts", n, 0) for n in what if f"k{n}" not in held])
    elif kind == "keep":
        with store.writing("keeping") as run:
            run.keep("facts", "rollout_id <> $name", name=f"k{what}")
            run.append("census", [row("census", what, number)])
    elif kind == "failed":
        with pytest.raises(StoreError, match="it holds"):
            write(store, "failing", tasks=[row("tasks", n, number) for n in what], census=[{"count": -1}])
    elif kind == "killed":
        killed_in_the_middle(store, what, number)
    else:
        store.clean()


def killed_in_the_middle(store: Store, what: dict[str, list[int]], number: int) -> None:
    """Some parts are there, the last one is not; nothing is taken away."""
    closed = 0
    finish = PartWriter.finish

    def dies(self: PartWriter) -> Any:
        nonlocal closed
        closed += 1
        if closed == len(what):
            self._flush()
            raise Killed
        return finish(self)

    with (
        patch.object(PartWriter, "finish", dies), patch.object(StageRun, "discard", lambda self: None),
        pytest.raises(Killed),
    ):  # fmt: skip
        write(store, "killed", **{name: [row(name, n, number) for n in ns] for name, ns in what.items()})


@given(STEPS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_any_runs_a_manifest_made_again_gives_the_same_tables(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Any]]
) -> None:
    store = Store.create(tmp_path_factory.mktemp("any") / "store")
    with patch.object(parts_module, "PART_ROWS", 2), patch.object(commit_module, "FEW", 2), patch("os.fsync"):
        for number, (kind, what) in enumerate(steps):
            take_step(store, kind, what, number)
    before, versions = tables(store), store.manifest().tables
    files = {item: item.read_bytes() for item in store.paths.tables.rglob("*") if item.is_file()}
    store.paths.manifest.unlink()
    if not any(item.suffix == ".parquet" for item in files):
        return
    repair(store.paths.root)
    assert tables(store) == before
    assert store.manifest().tables == versions
    assert {item: item.read_bytes() for item in store.paths.tables.rglob("*") if item.is_file()} == files
    write(store, "next", tasks=[row("tasks", 1, 1)])
    assert store.count("tasks") == 1


def versions_of_tasks(store: Store, *names: str) -> None:
    for name in names:
        write(store, "ingest", tasks=[{"task_id": name}], census=[{"stage": name}])


@pytest.mark.parametrize("with_manifest", [True, False])
def test_where_the_newest_version_is_damaged_the_newest_whole_one_is_taken_and_said(
    tmp_path: Path, with_manifest: bool
) -> None:
    store = Store.create(tmp_path / "store")
    versions_of_tasks(store, "a", "b", "c")
    newest = parts_of(store, "tasks")[0]
    damage_flip(newest)
    if not with_manifest:
        store.paths.manifest.unlink()
    _, choices = repair(store.paths.root)
    by_table = {choice.table: choice for choice in choices}
    assert by_table["tasks"].state == "older"
    assert (by_table["tasks"].commit, by_table["tasks"].rows) == (2, 1)
    assert by_table["tasks"].wrong.startswith(f"commit 3: its part tables/tasks/{newest.name} is not what was written")
    assert by_table["tasks"].wrong.count(newest.name) == 1
    assert "`rubrics ingest DUMP...` makes it again" in by_table["tasks"].wrong
    assert store.rows("tasks", ["task_id"]) == [{"task_id": "b"}]
    assert store.rows("census", ["stage"]) == [{"stage": "c"}]
    assert newest.exists(), "nothing is deleted"


@pytest.mark.parametrize("with_manifest", [True, False])
def test_a_table_none_of_whose_versions_is_whole_is_said_to_be_lost(tmp_path: Path, with_manifest: bool) -> None:
    store = Store.create(tmp_path / "store")
    versions_of_tasks(store, "a")
    damage_missing(parts_of(store, "tasks")[0]) if with_manifest else damage_flip(parts_of(store, "tasks")[0])
    if not with_manifest:
        store.paths.manifest.unlink()
    _, choices = repair(store.paths.root)
    assert {(choice.table, choice.state, choice.rows) for choice in choices} == {
        ("tasks", "lost", None), ("census", "kept", 1)
    }  # fmt: skip
    assert store.rows("tasks") == []
    write(store, tasks=[{"task_id": "again"}])
    assert store.count("tasks") == 1


def test_a_run_killed_before_its_manifest_does_not_count_while_there_is_one(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    versions_of_tasks(store, "a")
    with patch.object(commit_module, "write_manifest", side_effect=Killed), pytest.raises(Killed):
        versions_of_tasks(store, "b")
    repair(store.paths.root)
    assert store.rows("tasks", ["task_id"]) == [{"task_id": "a"}]


def test_a_table_that_stands_back_keeps_its_rubric_files(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    write_rubric(store, "one")
    versions_of_tasks(store, "a", "b")
    damage_flip(parts_of(store, "tasks")[0])
    repair(store.paths.root)
    assert (store.paths.rubrics / "t.solution.yaml").read_text() == "one"
    assert list(store.manifest().files) == ["rubrics/t.solution.yaml"]


def test_parts_that_lie_in_another_tables_folder_are_left_alone(copied: Store) -> None:
    before = tables(copied)
    (part,) = parts_of(copied, "sealed")
    shutil.copy(part, copied.paths.tables / "tasks" / part.name)
    copied.paths.manifest.unlink()
    repair(copied.paths.root)
    assert tables(copied) == before


def test_a_folder_that_holds_no_store_is_not_repaired(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no manifest.json here"):
        repair(tmp_path)
    with pytest.raises(StoreError, match=r"no manifest.json here"):
        list(look_over(tmp_path / "absent"))
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_another_format_is_not_repaired(copied: Store) -> None:
    content = json.loads(copied.paths.manifest.read_text())
    copied.paths.manifest.write_text(json.dumps({**content, "format": 9}))
    with pytest.raises(StoreError, match="format 9"):
        repair(copied.paths.root)


def test_look_over_without_a_manifest_looks_at_every_part(copied: Store) -> None:
    damage_flip(parts_of(copied, "facts")[0])
    copied.paths.manifest.unlink()
    found = [(item.table, item.part.rpartition("/")[2]) for item in look_over(copied.paths.root)]
    (part,) = (item for item in (copied.paths.tables / "facts").iterdir())
    assert found == [("", "manifest.json"), ("facts", part.name)]
