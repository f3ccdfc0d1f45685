"""What gives the answer away stays sealed: the type cannot be rendered, and no stage lets its text out."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

import jinja2
import orjson
import pytest
import yaml
from ingest_helpers import DIFF, trajectory, write, write_lines
from jinja2.sandbox import SandboxedEnvironment

from rubrics import jsonio
from rubrics.authors.author import Brief, StudiedAttempt
from rubrics.digests import digest128
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.report.write import write_report
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.store import Store

SECRET = "CANARY-of-the-answer"
SEALED = Sealed(SECRET)

RENDERINGS: dict[str, Callable[[], Any]] = {
    "str": lambda: str(SEALED),
    "format": lambda: format(SEALED, ">40"),
    "f-string": lambda: f"{SEALED}",
    "f-string with conversion": lambda: f"{SEALED!s}",
    "repr": lambda: repr(SEALED),
    "f-string with repr": lambda: f"{SEALED!r} {SEALED!a}",
    "percent": lambda: "%s" % SEALED,  # noqa: UP031
    "percent repr": lambda: "%r" % [SEALED],
    "join": lambda: "".join([SEALED]),  # type: ignore[list-item]
    "add": lambda: "" + SEALED,  # type: ignore[operator]
    "iteration": lambda: list(SEALED),  # type: ignore[call-overload]
    "in": lambda: "C" in SEALED,  # type: ignore[operator]
    "index": lambda: SEALED[0],  # type: ignore[index]
    "slice": lambda: SEALED[:5],  # type: ignore[index]
    "length": lambda: len(SEALED),  # type: ignore[arg-type]
    "bytes": lambda: bytes(SEALED),  # type: ignore[call-overload]
    "equality with the text": lambda: SEALED == SECRET,
    "equality with another": lambda: Sealed(SECRET) == SEALED,
    "order": lambda: SEALED < SECRET,  # type: ignore[operator]
    "hash": lambda: hash(SEALED) == hash(SECRET),
    "json": lambda: json.dumps({"a": SEALED}),
    "json default": lambda: json.dumps({"a": SEALED}, default=repr),
    "json default str": lambda: json.dumps({"a": SEALED}, default=str),
    "orjson": lambda: orjson.dumps({"a": SEALED}),
    "own json": lambda: jsonio.dumps({"a": SEALED}),
    "yaml": lambda: yaml.dump({"a": SEALED}),
    "safe yaml": lambda: yaml.safe_dump({"a": SEALED}),
    "pickle": lambda: pickle.dumps(SEALED),
    "pickle in a record": lambda: pickle.dumps(SealedTask("t", SEALED)),
    "copy": lambda: copy.copy(SEALED),
    "deep copy": lambda: copy.deepcopy(SEALED),
    "asdict": lambda: str(asdict(SealedTask("t", SEALED))),
    "record": lambda: repr(SealedTask("t", SEALED, SEALED, SEALED)),
    "digest": lambda: digest128([SEALED]),  # type: ignore[list-item]
    "vars": lambda: vars(SEALED),
    "jinja": lambda: jinja2.Template("{{ x }}").render(x=SEALED),
    "jinja repr": lambda: jinja2.Template("{{ [x] }} {{ x|pprint }}").render(x=SEALED),
    "jinja filters": lambda: jinja2.Template("{{ x|string }}").render(x=SEALED),
    "jinja json": lambda: jinja2.Template("{{ x|tojson }}").render(x=SEALED),
    "jinja loop": lambda: jinja2.Template("{% for c in x %}{{ c }}{% endfor %}").render(x=SEALED),
    "jinja record": lambda: jinja2.Template("{{ x }}").render(x=SealedTask("t", SEALED)),
    "jinja sandbox": lambda: SandboxedEnvironment().from_string("{{ x._Sealed__text }}").render(x=SEALED),
    "wrong purpose": lambda: SEALED.open_for("prompt"),
}


@pytest.mark.parametrize("name", RENDERINGS)
def test_no_way_of_rendering_gives_the_text_away(name: str) -> None:
    try:
        shown = RENDERINGS[name]()
    except Exception as error:
        shown = error
    assert shown is not True
    assert "CANARY" not in repr(shown)
    assert SECRET not in str(shown)
    assert shown != digest128([SECRET])


def test_the_text_is_opened_by_name_for_a_purpose() -> None:
    assert {SEALED.open_for(purpose) for purpose in Sealed.PURPOSES} == {SECRET}
    with pytest.raises(ValueError, match=r"sealed text opened for 'prompt'; allowed: \['audit', 'store', 'tests'\]"):
        SEALED.open_for("prompt")


def test_what_authors_see_has_no_field_for_anything_sealed() -> None:
    forbidden = {field.name for field in fields(SealedTask)} - {"task_id"}
    assert forbidden == {"test_patch", "reference_patch", "hints"}
    for record in (Task, Brief, StudiedAttempt):
        names = {field.name for field in fields(record)}
        assert not names & forbidden
        assert "Sealed" not in " ".join(str(field.type) for field in fields(record))


def changed(line: str) -> str:
    return DIFF.replace("+b", f"+{line}")


@pytest.fixture(scope="module")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store made of a dump whose sealed fields, and files that lie beside the attempts, hold canaries."""
    dump = tmp_path_factory.mktemp("dump")
    row = {
        "instance_id": "o__r-1", "repo": "o/r", "base_commit": "c", "problem_statement": "Make `x` return b.",
        "patch": changed("CANARY_reference()"), "test_patch": changed("CANARY_tests()"),
        "hints_text": "CANARY hints", "FAIL_TO_PASS": '["tests/test_x.py::test_x"]', "PASS_TO_PASS": "[]",
    }  # fmt: skip
    write_lines(dump / "specs.jsonl", [row])
    outcomes: dict[str, Any] = {"o__r-1": {}}
    for number in range(6):
        passed = number % 2 == 0
        patch = changed(f"value = {'right' if passed else 'wrong'}({number})")
        name = f"run-{number}"
        write(dump / name / "o__r-1" / "o__r-1.traj.json", trajectory("o__r-1", patch, text=f"look {number}"))
        outcomes["o__r-1"][name] = {"resolved": passed}
        evaluation = dump / name / "eval" / "o__r-1"
        write(evaluation / "report.json", {"o__r-1": {"resolved": passed, "tests_status": {}}})
        (evaluation / "test_output.txt").write_text("CANARY log of hidden tests\n")
        (evaluation / "eval.sh").write_text("git apply <<EOF\nCANARY script\nEOF\n")
    write(dump / "outcomes.json", outcomes)
    root = tmp_path_factory.mktemp("canaries") / "store"
    run_stages(
        ("ingest", "facts", "synthesize", "score", "reward"), {"store": str(root), "dumps": [str(dump)]}, run_here
    )
    store = Store.open(root)
    write_report(store)
    return store


def test_the_canaries_are_in_the_sealed_table(canaries: Store) -> None:
    (row,) = canaries.rows("sealed")
    assert all("CANARY" in row[name] for name in ("test_patch", "reference_patch", "hints"))
    assert canaries.count("rewards") == 6
    assert canaries.count("grades") > 6


def test_no_canary_is_in_any_file_of_the_store_but_the_sealed_parts(canaries: Store) -> None:
    files = [file for file in canaries.paths.root.rglob("*") if file.is_file()]
    assert {"manifest.json", "views.sql"} <= {file.name for file in files}
    assert any(file.suffix == ".yaml" for file in files)
    others = [file for file in files if file.parent.name != "sealed"]
    assert [str(file) for file in others if b"CANARY" in file.read_bytes()] == []


def test_no_canary_is_in_any_row_of_any_view(canaries: Store) -> None:
    names = [row["name"] for row in canaries.query("SHOW TABLES").to_pylist()]
    assert "sealed" not in names
    for name in names:
        assert "CANARY" not in str(canaries.query(f'FROM "{name}"').to_pylist()), name


def test_no_canary_is_in_what_show_tells(canaries: Store) -> None:
    explain = pytest.importorskip("rubrics.report.explain")
    as_text = pytest.importorskip("rubrics.report.text").as_text
    for row in canaries.rows("rewards", ["rollout_id"]):
        explained = explain.explain(canaries, row["rollout_id"])
        assert "CANARY" not in repr(explained)
        assert "CANARY" not in as_text(explained)
