"""Files that are broken, huge or meant to harm cost themselves, with file, place and remedy, and nothing else."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ingest_helpers import DIFF, native, prediction, read, trajectory, write, write_lines

from rubrics.errors import UsageError
from rubrics.ingest.documents import Limits
from rubrics.ingest.names import safe_name


def test_an_empty_file_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"")
    assert read(tmp_path).line("empty").place == "a.json"


def test_truncated_json_names_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(trajectory(), indent=1)[:200])
    line = read(tmp_path).line("truncated")
    assert line.place == "a.json"
    assert "line 6, column" in line.detail


def test_one_broken_line_costs_that_line_only(tmp_path: Path) -> None:
    good = [json.dumps(prediction(f"t-{number}")) for number in range(3)]
    (tmp_path / "p.jsonl").write_text("\n".join([good[0], '{"instance_id": "x", "model', good[1], "not json", good[2]]))
    found = read(tmp_path)
    assert len(found.rollouts) == 3
    assert [line.place for line in found.census if line.kind == "truncated"] == ["p.jsonl:line 2"]
    assert [line.place for line in found.census if line.kind == "not_json"] == ["p.jsonl:line 4"]


def test_a_broken_first_line_costs_that_line_only(tmp_path: Path) -> None:
    rows = ['{"instance_id": "x"', json.dumps(prediction("t-1")), json.dumps(prediction("t-2"))]
    (tmp_path / "p.json").write_text("\n".join(rows))
    assert len(read(tmp_path).rollouts) == 2


def test_a_comma_before_a_closing_bracket_is_passed_over_and_named(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", [prediction()])
    (tmp_path / "outcomes.json").write_text('{\n "t-1": {"run": {"resolved": true},}\n}\n')
    found = read(tmp_path)
    assert [item.outcome for item in found.outcomes] == ["passed"]
    assert found.line("trailing_comma").place == "outcomes.json"


def test_what_is_still_wrong_without_that_comma_is_said_of_the_file_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "outcomes.json").write_text('{\n "t-1": {"run": {"resolved": true},}\n "x": 1\n}\n')
    assert "line 3, column 2" in read(tmp_path).line("not_json").detail


def test_a_broken_task_file_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "specs.jsonl").write_text('{"instance_id": "t", "test_patch": "SECRET" "patch": "SECRET"}\n')
    assert "SECRET" not in repr(read(tmp_path).records)


def test_a_line_of_100_mb_is_read_and_the_next_one_too(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    with path.open("w") as stream:
        stream.write('{"instance_id": "big", "model_patch": "diff --git a/x b/x\\n+')
        for _ in range(100):
            stream.write("x" * 1024**2)
        stream.write('"}\n' + json.dumps(prediction("small")) + "\n")
    found = read(path)
    assert [item.task_id for item in found.rollouts] == ["big", "small"]


def test_a_line_above_the_limit_costs_itself(tmp_path: Path) -> None:
    write_lines(tmp_path / "p.jsonl", [prediction("a"), prediction("b", DIFF + "+" + "x" * 5000), prediction("c")])
    found = read(tmp_path, limits=Limits(document=10**6, line=2000))
    assert [item.task_id for item in found.rollouts] == ["a", "c"]
    assert found.line("size").place == "p.jsonl:line 2"


def test_a_document_above_the_limit_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "p.json", [prediction("a", DIFF + "+" + "x" * 5000)])
    found = read(tmp_path, limits=Limits(document=2000, line=2000))
    assert not found.rollouts
    assert found.line("size").place == "p.json"


def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(json.dumps(prediction()).encode().replace(b"+b", b"+\xe9\xff"))
    found = read(tmp_path)
    assert found.rollout.patch is not None
    assert "+\ufffd\ufffd" in found.rollout.patch
    assert found.count("encoding") == 1


def test_utf16_documents_are_read(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(json.dumps([prediction()]).encode("utf-16"))
    assert read(tmp_path).rollout.patch == DIFF


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    (tmp_path / "a.traj.json").write_text(json.dumps(trajectory(text="a\ud800b")))
    turns = read(tmp_path).rollout.turns
    assert turns is not None
    assert turns[1].text == "a\ufffdb"


@pytest.mark.parametrize("text", ["a\x00b", "\x1b[31mred\x1b[0m", "one\r\ntwo\rthree", "\ufffd", "\x0c\x7f\u2028"])
def test_odd_characters_survive(tmp_path: Path, text: str) -> None:
    write(tmp_path / "a.traj.json", trajectory(text=text))
    turns = read(tmp_path).rollout.turns
    assert turns is not None
    assert turns[1].text == text


def test_raw_control_characters_inside_strings_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('[{"instance_id": "t", "model_patch": "diff --git a/x b/x\n\x1b\t"}]')
    assert read(tmp_path).rollout.patch == "diff --git a/x b/x\n\x1b\t"


@pytest.mark.parametrize("bomb", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_json_that_is_nested_too_deeply_is_refused(tmp_path: Path, bomb: str) -> None:
    (tmp_path / "bomb.json").write_text(bomb)
    assert read(tmp_path).line("nesting").place == "bomb.json"


def test_arguments_that_are_nested_too_deeply_are_a_malformed_call(tmp_path: Path) -> None:
    deep = json.loads("[" * 500 + "]" * 500)
    text = json.dumps({"command": deep})
    rows = [
        native(turns=[{"role": "assistant", "text": "", "tool_calls": [{"name": "bash", "arguments": {"x": deep}}]}]),
        native(
            turns=None, messages=[{"role": "assistant", "tool_calls": [{"function": {"name": "b", "arguments": text}}]}]
        ),
    ]
    for rollout in read(write_lines(tmp_path / "r.jsonl", rows)).rollouts:
        assert rollout.turns is not None
        assert rollout.turns[0].flags == ("malformed_call",)


def test_yaml_aliases_are_refused(tmp_path: Path) -> None:
    bomb = 'instances_by_exit_status:\n  a: &a ["x","x"]\n' + "".join(f"  b{n}: &b{n} [*a, *a]\n" for n in range(9))
    (tmp_path / "exit_statuses_1.yaml").write_text(bomb)
    assert read(tmp_path).line("unsafe_yaml").place == "exit_statuses_1.yaml:line 2"


@pytest.mark.parametrize("text", ["a: !!python/object/apply:os.system ['true']\n", "  x: [\n", "x: " + "[" * 5000])
def test_yaml_that_is_unsafe_or_broken_costs_itself(tmp_path: Path, text: str) -> None:
    (tmp_path / "exit_statuses_1.yaml").write_text("instances_by_exit_status:\n" + text)
    found = read(tmp_path)
    assert len(found.census) == 1
    assert found.census[0].kind in {"not_yaml", "nesting", "shape"}


def test_a_link_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "outside/preds.json", [prediction("secret")])
    dump = tmp_path / "dump"
    dump.mkdir()
    (dump / "preds.json").symlink_to(tmp_path / "outside/preds.json")
    (dump / "folder").symlink_to(tmp_path / "outside")
    (dump / "up").symlink_to("..")
    found = read(dump)
    assert not found.rollouts
    line = found.line("unsafe_path")
    assert (line.place, line.count) == (".", 3)
    assert "e.g. folder, preds.json, up" in line.detail


def test_links_inside_the_folder_make_no_loop(tmp_path: Path) -> None:
    write(tmp_path / "run/preds.json", [prediction()])
    (tmp_path / "run/again").symlink_to(tmp_path / "run")
    assert len(read(tmp_path).rollouts) == 1


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "preds.json")
    assert read(tmp_path).count("not_recognised") == 1


def test_archives_are_not_opened_and_the_remedy_is_to_unpack_them(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04rest")
    (tmp_path / "b.tar.gz").write_bytes(b"\x1f\x8brest")
    found = read(tmp_path)
    assert found.count("not_recognised") == 2
    assert all("unpack" in line.detail for line in found.census)


def test_a_dump_that_does_not_exist_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read(tmp_path / "absent")


def test_file_names_that_are_not_utf8_can_be_stored(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/run\xff.jsonl"
    with open(path, "w") as stream:
        stream.write(json.dumps(prediction()))
    assert read(tmp_path).rollout.run == "run\ufffd"


def test_names_of_a_dump_are_data(tmp_path: Path) -> None:
    for name in ("../../etc", "/etc/passwd", "a:b@c+d e", "..", ".", "\x00", "-rf"):
        (tmp_path / "p.jsonl").write_text(json.dumps(prediction(name)))
        assert read(tmp_path).rollout.task_id == name


@given(st.text(max_size=300) | st.sampled_from(["..", ".", "", "../../etc", "a" * 500, "CON", "a\x00b", "%2E", "~"]))
def test_safe_names_stay_in_their_folder(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe) <= 120
    assert "/" not in safe
    assert "\x00" not in safe
    assert not safe.startswith(".")
    assert safe.isascii()


@given(st.lists(st.text("./%2Ea-", max_size=6) | st.text(max_size=200), min_size=2, max_size=30, unique=True))
def test_safe_names_of_different_ids_differ(names: list[str]) -> None:
    assert len({safe_name(name) for name in names}) == len(names)


def test_ordinary_ids_are_their_own_safe_names() -> None:
    assert safe_name("marshmallow-code__marshmallow-1359") == "marshmallow-code__marshmallow-1359"


KEYS = [
    "instance_id", "task_id", "model_patch", "prediction", "messages", "role", "content", "history", "trajectory",
    "action", "info", "submission", "exit_status", "kind", "turns", "text", "tool_calls", "function", "arguments",
    "name", "resolved", "run", "tests_status", "replay_config", "extra", "resolved_ids", "applied", "with_logs",
    "FAIL_TO_PASS", "problem_statement", "all_results", "observation", "outcome", "model_name_or_path", "patch",
    "tests", "recipe", "attempt", "trajectory_format", "usage", "actions", "is_demo", "unresolved_ids",
    "policy_step", "group_id",
]  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
WORDS = SCALARS | st.sampled_from(["task", "rollout", "outcome", "user", "assistant", "tool", "exit", "1", DIFF])
VALUES = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=8) | st.lists(VALUES, max_size=3))
def test_no_shape_of_json_stops_the_reading(tmp_path: Path, value: object) -> None:
    (tmp_path / "x.json").write_text(json.dumps(value))
    read(tmp_path)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9))
def test_a_good_dump_with_values_exchanged_does_not_stop_the_reading(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    junk = [None, True, 3, -1.5, "x", [], {}, [1], {"a": 1}, "[]", 2**70]

    def shaken(value: object) -> object:
        if chance.random() < 0.06:
            return chance.choice(junk)
        if isinstance(value, dict):
            return {key: shaken(item) for key, item in value.items()}
        return [shaken(item) for item in value] if isinstance(value, list) else value

    swe = {
        "history": [{"role": "assistant", "content": "x", "action": "ls"}, {"role": "user", "content": "y"}],
        "trajectory": [{"action": "ls", "observation": "y", "response": "x"}],
        "info": {"submission": DIFF, "exit_status": "submitted", "model_stats": {"tokens_sent": 1}},
    }
    report = {"t-1": {"resolved": True, "tests_status": {"FAIL_TO_PASS": {"success": ["a"], "failure": []}}}}
    rows = [trajectory(), swe, report, native(), prediction(), {"t-1": {"run": {"resolved": 1, "f2p_fail": ["x"]}}}]
    rows.append({"kind": "outcome", "task_id": "t-1", "run": "r", "resolved": True, "tests": {"a": "passed"}})
    rows.append(
        {"instance_id": "t-1", "problem_statement": "s", "FAIL_TO_PASS": "[]", "patch": DIFF, "recipe": {"a": 1}}
    )
    write_lines(tmp_path / "x.jsonl", [shaken(row) for row in rows])
    read(tmp_path)


def test_a_file_that_breaks_on_every_line_gives_a_bounded_census(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("{broken\n" * 5000)
    found = read(tmp_path)
    assert {(line.subject, line.kind): line.count for line in found.census} == {
        ("row", "not_json"): 5000, ("file", "not_recognised"): 1
    }  # fmt: skip


def test_small_rollouts_are_read_at_more_than_200_a_second(tmp_path: Path) -> None:
    turns = [{"role": "assistant", "text": "t" * 400, "observation": "o" * 800} for _ in range(16)]
    path = write_lines(tmp_path / "r.jsonl", [native(f"t-{number}", turns=turns) for number in range(600)])
    start = time.perf_counter()
    assert len(read(path).rollouts) == 600
    assert time.perf_counter() - start < 3
