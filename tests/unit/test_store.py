"""The store: what a killed, failing or second writer leaves, what may be read, and rows that come back as they were."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_helpers import files_of, signed, write

from rubrics import __version__
from rubrics.errors import StoreError, UsageError
from rubrics.store import commit as commit_module
from rubrics.store import parts as parts_module
from rubrics.store.manifest import AGAIN
from rubrics.store.schema import FORMAT_MAJOR, TABLES
from rubrics.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "store")


def task(name: str, **more: Any) -> dict[str, Any]:
    return {"task_id": name, **more}


def test_a_stage_run_becomes_current_as_a_whole(store: Store) -> None:
    write(store, tasks=[task("b"), task("a", fail_to_pass=["x"])], sealed=[{"task_id": "a", "hints": "h"}])
    assert [row["task_id"] for row in store.rows("tasks")] == ["a", "b"]
    assert store.count("tasks") == 2
    assert store.rows("sealed", ["hints"]) == [{"hints": "h"}]
    assert (store.manifest().commit, set(store.manifest().tables)) == (1, {"tasks", "sealed"})


def test_a_table_named_without_rows_becomes_empty(store: Store) -> None:
    write(store, tasks=[task("a")])
    write(store, tasks=[])
    assert store.rows("tasks") == []
    assert store.query("SELECT count(*) AS n FROM tasks").to_pylist() == [{"n": 0}]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_stage_run_that_raises_leaves_nothing(store: Store, error: type[BaseException]) -> None:
    write(store, tasks=[task("a")])
    before, manifest = files_of(store), store.paths.manifest.read_bytes()

    def fails() -> None:
        with store.writing() as run:
            run.append("tasks", [task("b")])
            run._writers["tasks"].finish()
            assert len(files_of(store)) == len(before) + 1
            raise error("stop")

    with pytest.raises(error):
        fails()
    assert len(files_of(store)) == len(before) + 1, "a part that no manifest names"
    assert store.paths.manifest.read_bytes() == manifest
    assert [row["task_id"] for row in store.rows("tasks")] == ["a"]
    store.clean()
    assert {item for item in files_of(store) if item.startswith("tables/")} == store.manifest().parts()


def test_rows_that_come_after_a_run_has_ended_are_refused_and_leave_nothing(store: Store) -> None:
    with store.writing() as run:
        run.append("tasks", [task("a")])
    before = files_of(store)
    with pytest.raises(StoreError, match="rows come after their stage run has ended"):
        run.append("tasks", [task("b")])
    assert files_of(store) == before


def test_when_only_the_views_cannot_be_written_the_parts_stay(store: Store) -> None:
    store.paths.views.mkdir()
    with pytest.raises(OSError, match=r"views\.sql"):
        write(store, tasks=[task("a")])
    assert [row["task_id"] for row in store.rows("tasks")] == ["a"]


KILLED = """
import os, signal, sys
from pathlib import Path
from rubrics.store import commit as module, parts, pending
from rubrics.store.store import Store

def killed(*args):
    os.kill(os.getpid(), signal.SIGKILL)

when, root = sys.argv[1:]
if when == "before the manifest":
    module.write_manifest = killed
elif when == "while a part is written":
    parts.os.replace = killed
elif when == "before the rubric files":
    pending.place = killed
elif when == "before the views":
    module.write_atomic = killed
with Store.open(Path(root)).writing() as run:
    run.append("tasks", [{"task_id": "new"}])
    run.files.write(Path(root).resolve() / "rubrics" / "new.solution.yaml", "new")
"""


def kill_a_writer(store: Store, when: str) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, when, str(store.paths.root)], timeout=120)
    assert ended.returncode == -signal.SIGKILL


@pytest.mark.parametrize("when", ["before the manifest", "while a part is written"])
def test_what_a_killed_run_leaves_is_never_read_and_cleaned_away(store: Store, when: str) -> None:
    write(store, tasks=[task("old")])
    store.clean()
    before = files_of(store)
    kill_a_writer(store, when)
    assert len(files_of(store)) > len(before)
    assert [row["task_id"] for row in store.rows("tasks")] == ["old"]
    assert store.query("SELECT task_id FROM tasks").to_pylist() == [{"task_id": "old"}]
    assert in_views(store, "SELECT task_id FROM tasks") == [("old",)]
    assert store.clean() >= 1
    assert files_of(store) == before
    write(store, tasks=[task("next")])
    assert [row["task_id"] for row in store.rows("tasks")] == ["next"]


def test_files_of_a_commit_that_a_kill_left_aside_are_put_in_place_by_the_next_writer(store: Store) -> None:
    kill_a_writer(store, "before the rubric files")
    assert [row["task_id"] for row in store.rows("tasks")] == ["new"]
    assert not store.paths.rubrics.exists()
    write(store, rollouts=[])
    assert (store.paths.rubrics / "new.solution.yaml").read_text() == "new"
    assert not store.paths.pending.exists()


def test_files_of_a_commit_that_was_never_made_are_forgotten_by_the_next_writer(store: Store) -> None:
    kill_a_writer(store, "before the manifest")
    assert store.paths.pending.exists()
    write(store, rollouts=[])
    assert not store.paths.pending.exists()
    assert not store.paths.rubrics.exists()


def test_views_that_a_kill_left_behind_are_brought_up_to_date_by_clean(store: Store) -> None:
    write(store, tasks=[task("old")])
    kill_a_writer(store, "before the views")
    assert [row["task_id"] for row in store.rows("tasks")] == ["new"]
    assert in_views(store, "SELECT task_id FROM tasks") == [("old",)]
    store.clean()
    assert in_views(store, "SELECT task_id FROM tasks") == [("new",)]


def test_a_store_killed_while_it_was_made_can_be_made_again(tmp_path: Path) -> None:
    root = tmp_path / "store"
    (root / "history").mkdir(parents=True)
    (root / "history" / "00000000.json").write_text("{")
    (root / ".manifest.json.123.tmp").write_text("{")
    store = Store.create(root)
    write(store, tasks=[task("a")])
    store.clean()
    assert not list(root.glob(".*.tmp"))


def test_a_key_that_stands_twice_is_refused_and_nothing_is_written(store: Store) -> None:
    write(store, tasks=[task("a")])
    manifest = store.paths.manifest.read_bytes()
    with pytest.raises(StoreError) as caught:
        write(store, tasks=[task("b"), task("c"), task("b")], rollouts=[{"rollout_id": "r"}])
    assert str(caught.value) == (
        "table tasks: key {'task_id': 'b'} stands 2 times; keys are unique, nothing was written"
    )
    assert store.paths.manifest.read_bytes() == manifest
    assert store.count("rollouts") == 0


def test_a_key_is_unique_over_all_parts_carried_ones_too(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "PART_ROWS", 2)
    rows = [{"rollout_id": f"r{n}", "task_id": "t", "study_digest": "s"} for n in range(5)]
    monkeypatch.setattr(commit_module, "SMALL", 0)
    write(store, contrasts=rows)
    assert len(store.manifest().current("contrasts").parts) == 3  # type: ignore[union-attr]
    with pytest.raises(StoreError, match=r"table contrasts: key \{'rollout_id': 'r4', 'study_digest': 's'\} stands 2"):
        carry_and_add(store, [rows[4]])
    carry_and_add(store, [{**rows[4], "study_digest": "other"}])
    assert store.count("contrasts") == len(store.rows("contrasts")) == 6


def carry_and_add(store: Store, rows: list[dict[str, Any]]) -> None:
    with store.writing() as run:
        run.carry("contrasts")
        run.append("contrasts", rows)


def test_rows_that_are_kept_come_into_the_new_version(store: Store) -> None:
    write(store, tasks=[task("a"), task("b")])
    with store.writing() as run:
        run.keep("tasks", "task_id <> $name", name="a")
        run.append("tasks", [task("c")])
    assert [row["task_id"] for row in store.rows("tasks")] == ["b", "c"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"task_id": "a", "colour": "red"}, "table tasks: no column ['colour']; see store/schema.py"),
        ({"task_id": 5}, "table tasks: a row does not fit its schema"),
        ({"task_id": "a", "fail_to_pass": 5}, "table tasks: a row does not fit its schema"),
        ({"task_id": "\ud800"}, "table tasks: a row does not fit its schema"),
    ],
)
def test_a_row_that_does_not_fit_is_refused(store: Store, row: dict[str, Any], message: str) -> None:
    with pytest.raises(StoreError) as caught:
        write(store, tasks=[row])
    assert str(caught.value).startswith(message)
    assert files_of(store) == ["history/00000000.json", "manifest.json"]


def test_earlier_commits_stay_until_clean_and_clean_deletes_only_what_is_not_current(store: Store) -> None:
    for name in ("a", "b", "c"):
        write(store, tasks=[task(name)])
    write(store, rollouts=[{"rollout_id": "r", "task_id": "c"}])
    store.paths.rubrics.mkdir()
    (store.paths.rubrics / "t.solution.yaml").write_text("mine")
    assert len(list(store.paths.history.iterdir())) == 5
    assert len(list(store.paths.tables.rglob("*.parquet"))) == 4
    current = store.manifest()
    assert store.clean() == 2 + 4
    assert store.manifest() == current
    assert [path.name for path in store.paths.history.iterdir()] == ["00000004.json"]
    assert current.parts() == {part for part in files_of(store) if part.endswith(".parquet")}
    assert store.rows("tasks", ["task_id"]) == [{"task_id": "c"}]
    assert (store.paths.rubrics / "t.solution.yaml").read_text() == "mine"
    assert store.clean() == 0


def test_every_part_says_its_format_version_and_table(store: Store) -> None:
    write(store, tasks=[task("a")], rollouts=[{"rollout_id": "r"}])
    for part in store.manifest().parts():
        metadata = pq.read_metadata(store.paths.root / part)
        found = metadata.metadata
        assert found[b"rubrics.format"] == str(FORMAT_MAJOR).encode()
        assert found[b"rubrics.version"] == __version__.encode()
        assert found[b"rubrics.table"].decode() == Path(part).parent.name
        assert metadata.row_group(0).column(0).compression == "ZSTD"
    content = json.loads(store.paths.manifest.read_text())
    assert (content["format"], content["producer"]) == (FORMAT_MAJOR, f"rubrics {__version__}")


def broken(store: Store, text: str | bytes) -> str:
    store.paths.manifest.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(StoreError) as caught:
        Store.open(store.paths.root)
    with pytest.raises(StoreError):
        Store.create(store.paths.root)
    with pytest.raises(StoreError):
        store.query("FROM tasks")
    return str(caught.value)


@pytest.mark.parametrize("found", ["1", "3", "0", '"2"', "null", "true", "2.5", "[2]"])
def test_an_unknown_major_format_is_refused(store: Store, found: str) -> None:
    message = broken(store, f'{{"format": {found}, "producer": "rubrics 9.1", "tables": {{}}}}')
    assert message == (
        f"{store.paths.manifest}: format {json.loads(found)!r}, this program reads format {FORMAT_MAJOR}; "
        f"use the version that wrote it (rubrics 9.1) or make the store again: {AGAIN}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "5", "null", '{"tables": {}}', '{"format": 2}', '{"format": 2, "tables": []}',
        signed(tables={"tasks": 5}), signed(tables={"tasks": [5]}), signed(tables={"tasks": [["x"]]}),
        signed(tables={"tasks": [["x", "many"]]}), signed(tables=[]), signed(files=[]), signed(commit="many"),
        signed(commit=None), signed().replace('"commit": 1', '"commit": 2'), b"\xff\xfe", "[" * 100_000,
        '{"format": 2, "x": ' + "[" * 5_000 + "]" * 5_000 + "}",
    ],
)  # fmt: skip
def test_a_manifest_that_is_none_is_refused(store: Store, text: str | bytes) -> None:
    message = broken(store, text)
    assert message.startswith(f"{store.paths.manifest}: not a manifest (")
    assert message.endswith("restore it or make the store again")


@pytest.mark.parametrize(
    "part",
    [
        "../x.parquet", "tables/../../x.parquet", "/etc/passwd", "tables/tasks/../sealed/0123456789abcdef-0.parquet",
        "tables/tasks/a'b.parquet", "tables/tasks/*.parquet", "tables/*/0123456789abcdef-00000.parquet",
        "http://host/x.parquet", "s3://bucket/x.parquet", "tables/sealed/0123456789abcdef0123456789abcdef.parquet",
        "tables/tasks/0123456789abcdef0123456789abcdef.parquet\n", "tables/tasks/0123456789abcdef-00000.parquet",
        "tables/tasks/0123456789ABCDEF0123456789ABCDEF.parquet", "", 5, None, ["x"],
    ],
)  # fmt: skip
def test_a_manifest_whose_parts_leave_their_table_is_refused(store: Store, part: Any) -> None:
    message = broken(store, signed(tables={"tasks": [[part, 1]]}))
    assert message == f"{store.paths.manifest}: part {str(part)!r} is no part of table tasks; do not use this store"


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("../x.yaml", "0" * 32), ("rubrics/../../x.yaml", "0" * 32), ("/etc/x.yaml", "0" * 32), ("x.yaml", "0" * 32),
        ("rubrics/a/b.yaml", "0" * 32), ("rubrics/x.sh", "0" * 32), ("manifest.json", "0" * 32),
        ("rubrics/x\x00.yaml", "0" * 32), ("rubrics/x.yaml", "../../etc/passwd"), ("rubrics/x.yaml", ""),
        ("rubrics/x.yaml", None), ("rubrics/x.yaml", "0" * 33), ("", "0" * 32),
    ],
)  # fmt: skip
def test_a_manifest_whose_files_are_no_rubrics_is_refused(store: Store, name: str, digest: Any) -> None:
    message = broken(store, signed(files={name: digest}))
    assert message == f"{store.paths.manifest}: file {name!r} is none of a store's; do not use this store"


def test_tables_that_this_version_does_not_know_are_left_alone(store: Store) -> None:
    store.paths.manifest.write_text(signed(tables={"later": [{"anything": True}]}))
    assert Store.open(store.paths.root).manifest().tables == {}


def test_a_part_that_is_gone_or_broken_is_told(store: Store) -> None:
    write(store, tasks=[task("a")])
    part = store.paths.root / next(iter(store.manifest().parts()))
    part.write_bytes(b"nonsense")
    with pytest.raises(StoreError, match="make the store again"):
        store.query("FROM tasks")
    part.unlink()
    with pytest.raises(StoreError, match="make the store again"):
        store.rows("tasks")


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError) as caught:
        Store.create(tmp_path)
    assert str(caught.value) == f"{tmp_path}: not empty and not a store; name another folder with --store"
    with pytest.raises(StoreError) as caught:
        Store.open(tmp_path)
    assert str(caught.value) == (f"{tmp_path}: no manifest.json here; name a store, or make one with `rubrics run`")
    with pytest.raises(StoreError):
        Store.open(tmp_path / "absent")
    for made in (Store.create, Store.open):
        with pytest.raises(StoreError):
            made(tmp_path / "notes.txt")
    assert [item.name for item in tmp_path.iterdir()] == ["notes.txt"]


@contextmanager
def another_process_writing(store: Store) -> Iterator[None]:
    text = (
        "import sys; from pathlib import Path; from rubrics.store.store import Store\n"
        "with Store.open(Path(sys.argv[1])).writing() as run:\n"
        "    run.append('tasks', [{'task_id': 'theirs'}]); print('in', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", text, str(store.paths.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "in\n"
        yield
        other.stdin.close()
    assert other.returncode == 0


def test_a_second_writer_is_refused_while_a_process_writes(store: Store) -> None:
    write(store, tasks=[task("a")])
    wanted = f"{store.paths.root}: another process is writing to this store; wait for it or use --store"
    with another_process_writing(store):
        with pytest.raises(StoreError) as caught:
            write(store, tasks=[task("b")])
        assert str(caught.value) == wanted
        with pytest.raises(StoreError, match="another process"):
            store.clean()
        assert store.rows("tasks", ["task_id"]) == [{"task_id": "a"}]
    assert store.rows("tasks", ["task_id"]) == [{"task_id": "theirs"}]
    write(store, tasks=[task("b")])


def test_a_second_writer_is_refused_within_a_process_too(store: Store) -> None:
    with store.writing(), pytest.raises(StoreError, match="another process is writing"):
        write(store, tasks=[task("b")])


TEXT = st.text(max_size=30) | st.sampled_from(
    ["", "\x00", "a\x00b", "\ufffd", "\ufeff", "x" * 200_000, "\x1b[31m", "'", '"']
)
ROWS = st.dictionaries(
    TEXT,
    st.fixed_dictionaries(
        {"spec": st.none() | TEXT, "repo": st.none() | TEXT, "fail_to_pass": st.none() | st.lists(TEXT, max_size=3)}
    ),
    max_size=4,
)


@given(ROWS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_come_back_as_they_were(tmp_path: Path, rows: dict[str, dict[str, Any]]) -> None:
    store = Store.create(tmp_path / "store")
    given_rows = [{"task_id": name, **row} for name, row in rows.items()]
    write(store, tasks=given_rows)
    columns = ["task_id", "spec", "repo", "fail_to_pass"]
    by_name = {row["task_id"]: row for row in store.rows("tasks", columns)}
    assert by_name == {row["task_id"]: row for row in given_rows}
    queried = store.query("SELECT task_id, spec, repo, fail_to_pass FROM tasks").to_pylist()
    assert {row["task_id"]: row for row in queried} == by_name


def test_rows_come_in_batches_in_the_tables_order(store: Store) -> None:
    write(store, tasks=[task(f"{n:03}") for n in reversed(range(10))])
    batches = list(store.batches("tasks", ["task_id"], size=4))
    assert [row["task_id"] for batch in batches for row in batch] == [f"{n:03}" for n in range(10)]
    assert max(map(len, batches)) <= 4


FORBIDDEN = [
    "FROM read_csv('/etc/passwd')", "FROM read_text('/etc/passwd')", "FROM '/etc/passwd'", "FROM glob('/*')",
    "FROM read_blob('/proc/self/environ')", "COPY (SELECT 1) TO '{root}/x.csv'",
    "COPY (SELECT 1 AS a) TO '{part}' (FORMAT parquet)", "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO '{part}'",
    "ATTACH '{root}/x.db'", "ATTACH '/tmp/x.db'", "INSTALL httpfs", "LOAD httpfs", "SET threads = 1",
    "SET lock_configuration = false", "SET enable_external_access = true", "RESET ALL", "PRAGMA threads = 1",
    "EXPORT DATABASE '{root}/out'", "CREATE TABLE t AS SELECT 1", "DROP VIEW tasks", "CALL pragma_version()",
    "SELECT 1; DROP VIEW tasks", "", "SELEC", "FROM sealed", "FROM read_parquet('{sealed}')",
    "FROM parquet_metadata('{sealed}')", "FROM glob('{root}/tables/*/*')", "FROM read_text('{root}/manifest.json')",
    "FROM read_parquet('{root}/tables/*/*.parquet')", "FROM read_parquet('http://127.0.0.1/x.parquet')",
    "FROM frame", "SELECT getenv('HOME')", "SELECT 'x'::int", "FROM query('COPY (SELECT 1) TO ''{root}/y.csv''')",
]  # fmt: skip


@pytest.mark.parametrize("sql", FORBIDDEN)
def test_a_query_reads_the_views_and_nothing_else(store: Store, sql: str) -> None:
    write(store, tasks=[task("a")], sealed=[{"task_id": "a", "reference_patch": "SECRET"}])
    part, sealed = (
        str(store.paths.root / store.manifest().current(name).parts[0])  # type: ignore[union-attr]
        for name in ("tasks", "sealed")
    )
    frame = store.query("FROM tasks")
    before = {name: (store.paths.root / name).read_bytes() for name in files_of(store)}
    with pytest.raises(UsageError, match=r"^query (failed|holds)"):
        store.query(sql.format(root=store.paths.root, part=part, sealed=sealed))
    assert {name: (store.paths.root / name).read_bytes() for name in files_of(store)} == before
    assert frame.num_rows == 1


@pytest.mark.parametrize(
    "name", ["a=1", "model=x, seed=2", "it's", "x[1]", "s*r", "q?", "a b", 'q"q', "é", "http:", "#1"]
)
def test_the_folders_name_does_not_matter(tmp_path: Path, name: str) -> None:
    store = Store.create(tmp_path / name / "store")
    write(store, tasks=[task("a")])
    assert list(store.rows("tasks")[0]) == TABLES["tasks"].columns.names
    assert store.query("FROM tasks").column_names == TABLES["tasks"].columns.names
    with store.writing() as run:
        run.keep("tasks", "true")
    assert in_views(store, "SELECT task_id FROM tasks") == [("a",)]


def test_every_view_of_views_sql_answers_in_a_plain_duckdb_started_there(store: Store) -> None:
    write(store, tasks=[task("a")], rollouts=[{"rollout_id": "r", "task_id": "a"}], sealed=[{"task_id": "a"}])
    text = store.paths.views.read_text()
    assert str(store.paths.root) not in text
    assert "sealed" not in text
    views = [name for (name,) in in_views(store, "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1")]
    assert {"chosen_outcomes", "scores", "rewards", "tasks", "rollouts", "reward_inputs"} <= set(views)
    in_views(store, " UNION ALL ".join(f'SELECT count(*) FROM "{name}"' for name in views))
    assert in_views(store, "SELECT rollout_id, outcome FROM chosen_outcomes") == [("r", "unknown")]
    assert set(views) >= {row["name"] for row in store.query("SHOW TABLES").to_pylist()}


def in_views(store: Store, sql: str) -> list[tuple[Any, ...]]:
    """What `duckdb -init views.sql`, started in the store, answers."""
    before = Path.cwd()
    os.chdir(store.paths.root)
    try:
        with duckdb.connect() as connection:
            connection.execute(Path("views.sql").read_text("utf-8"))
            return connection.execute(sql).fetchall()
    finally:
        os.chdir(before)
