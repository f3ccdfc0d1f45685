"""Rubric files: what is written reads back equal, and every bad edit is named with its line."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.errors import RubricError
from rubrics.records.rubrics import Criterion, Rubric
from rubrics.rules.digest import rubric_digest
from rubrics.rules.evaluate import RuleEvaluator
from rubrics.rules.files import to_yaml
from rubrics.rules.loading import MAX_BYTES, MAX_CRITERIA, from_yaml
from rubrics.stages import rubric_files
from rubrics.stages.pipeline import run_stages
from rubrics.stages.stage import run_here
from rubrics.store.paths import StorePaths
from rubrics.store.store import Store

ODD_TEXTS = [
    "yes", "No", "on", "null", "~", "1", "1.5", "0x1", "1_0", "1e5", ".nan", "2024-01-01", "12:30:45", "=", "<<",
    "- a", "-", "---", "...", "? a", "a: b", "a:", ": a", "#x", "a #b", "*a", "&a", "!a", "%a", "@a", "`", "'", '"',
    "it's", 'say "it"', "{", "[", "{a: b}", "[a]", "|", ">", "\\", "\\n", "a\\", ",", "a, b",
    "a\nb", "x\n", "\nx", "x\n\n", "a\n\nb", "  x\n y", " a", "a ", "a\n  \nb", "a\n b\nc", "a\r\nb", "a\rb", "\tx",
    "a\tb", "a\x0bb", "a\x0cb", "\x00", "a\x1cb", "\x7f", "a\x85b", "a\u2028b", "a\u2029b", "\ufeffx", "x\ufeff",
    "\ufffd", "é", "名前", "😀", "e\u0301", "\u200b", "x " * 90, "a  b" * 60, "a" * 400, "- '" * 70, "x\n" * 50,
]  # fmt: skip
TEXTS = (st.text(min_size=1, max_size=40) | st.sampled_from(ODD_TEXTS)).filter(lambda text: bool(text.strip()))
CRITERIA = st.builds(
    Criterion,
    id=st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True),
    text=TEXTS,
    weight=st.floats(min_value=0, max_value=1000, exclude_min=True) | st.integers(1, 1000).map(float),
    method=st.just("rule"),
    rule=TEXTS,
    command=st.none() | TEXTS,
    guidance=st.none() | TEXTS,
    scale=st.just(("unmet", "met")) | st.lists(TEXTS, min_size=2, max_size=4, unique=True).map(tuple),
    gate=st.booleans(),
    fault=st.none() | TEXTS,
    anchor=st.none() | TEXTS,
    evidence=st.lists(TEXTS, max_size=3).map(tuple),
    fared=st.none() | TEXTS,
)
RUBRICS = st.builds(
    Rubric,
    task_id=TEXTS,
    kind=st.sampled_from(["solution", "behavior"]),
    criteria=st.lists(CRITERIA, max_size=4, unique_by=lambda item: item.id).map(tuple),
    author=TEXTS,
    studied=st.lists(TEXTS, max_size=3).map(tuple),
    study_digest=TEXTS | st.just(""),
    note=TEXTS | st.just(""),
)


def unchecked(text: str) -> Rubric:
    return from_yaml(text, "f.yaml", lambda *_: None)


@given(RUBRICS)
@settings(max_examples=300, deadline=None)
def test_what_is_written_reads_back_equal(rubric: Rubric) -> None:
    assert unchecked(to_yaml(rubric)) == rubric


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_every_odd_text_survives_in_every_field(text: str) -> None:
    if not text.strip():
        text = f"x{text}x"
    criterion = Criterion("a", text, 1.0, "rule", text, text, text, ("no", text), True, text, text, (text, text), text)
    rubric = Rubric(text, "solution", (criterion, replace(criterion, id="b")), text, (text,), text, text)
    assert unchecked(to_yaml(rubric)) == rubric


def test_a_hostile_name_cannot_break_out_of_the_head_comment() -> None:
    name = "a\n--- !!python/object/apply:os.system [id]\u2028b: c"
    text = to_yaml(Rubric(name, "solution", (), "builtin", (), "s", "n"))
    assert yaml.safe_load(text)["task"] == name
    assert text.splitlines()[0].startswith("# Solution rubric of a?--- !!python")


GOOD = """\
task: t
kind: solution
study: s
note: n
criteria:
  - id: a
    text: A.
    weight: 1
    rule: lines_added > 1
  - id: b
    text: B.
    weight: 2
    rule: lines_added > 2
"""


@pytest.fixture(scope="module")
def evaluator() -> Iterator[RuleEvaluator]:
    with RuleEvaluator() as found:
        yield found


def test_the_file_that_the_bad_edits_start_from_is_good(evaluator: RuleEvaluator) -> None:
    rubric = from_yaml(GOOD, "f.yaml", evaluator.check)
    assert [(item.id, item.weight, item.method) for item in rubric.criteria] == [("a", 1.0, "rule"), ("b", 2.0, "rule")]
    assert rubric.author == "edited"


WEIGHT = "wanted a number above 0 and at most 1000"
TAG = "only plain text, numbers and true/false may stand here"
CRITERION_FIELDS = "anchor, command, evidence, fared, fault, gate, guidance, id, method, rule, scale, text, weight"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("note: n", "colour: red", "4: unknown field 'colour', correct it; known: author, criteria, kind, note, "
         "studied, study, task"),
        ("note: n", "note: n\nnote: m", "5: field 'note' stands twice; delete one"),
        ("task: t\n", "", "1: task is None; wanted text. Write task: \"...\""),
        ("kind: solution\n", "", "1: kind is None; wanted one of solution, behavior"),
        ("kind: solution", "kind: both", "2: kind is 'both'; wanted one of solution, behavior"),
        ("note: n", "note: 1", "4: note is 1; wanted text. Write note: \"...\""),
        ("note: n", "1: n", "4: field 1; wanted a name"),
        ("note: n", "studied: x", "4: studied is 'x'; wanted a list of texts"),
        ("id: b", "id: a", "10: two criteria are called 'a'; give each its own id"),
        ("id: b", "id: B c", "10: id is 'B c'; wanted lower-case words joined by '-'"),
        ("id: b", "id: ../b", "10: id is '../b'; wanted lower-case words joined by '-'"),
        ("weight: 2", "weight: 0", f"12: weight is 0; {WEIGHT}"),
        ("weight: 2", "weight: -1", f"12: weight is -1; {WEIGHT}"),
        ("weight: 2", "weight: .nan", f"12: weight is nan; {WEIGHT}"),
        ("weight: 2", "weight: .inf", f"12: weight is inf; {WEIGHT}"),
        ("weight: 2", "weight: 1001", f"12: weight is 1001; {WEIGHT}"),
        ("weight: 2", "weight: " + "9" * 400, f"12: weight is {'9' * 400}; {WEIGHT}"),
        ("weight: 2", "weight: two", f"12: weight is 'two'; {WEIGHT}"),
        ("weight: 2", "weight: '2'", f"12: weight is '2'; {WEIGHT}"),
        ("weight: 2", "weight: true", f"12: weight is True; {WEIGHT}"),
        ("    weight: 2\n", "", f"10: weight is None; {WEIGHT}"),
        ("text: B.", "text: ' '", "11: text is ' '; wanted text. Write text: \"...\""),
        ("rule: lines_added > 2", "rule: ''", "13: rule is ''; wanted text. Write rule: \"...\""),
        ("    rule: lines_added > 2\n", "", "10: rule is None; wanted text. Write rule: \"...\""),
        ("lines_added > 2", "turns > 2", "13: 'turns' is not in the vocabulary of solution rules; "
         "`rubrics facts --describe` lists it"),
        ("lines_added > 2", "(select 1)", "13: subquery SUBQUERY may not stand in a rule; see docs/rubrics.md"),
        ("weight: 2", "weight: 2\n    gate: maybe", "13: gate is 'maybe'; wanted true or false"),
        ("weight: 2", "weight: 2\n    scale: [one]", "13: scale is ['one']; wanted two or more different levels, "
         "worst first"),
        ("weight: 2", "weight: 2\n    scale: [a, a]", "13: scale is ['a', 'a']; wanted two or more different levels, "
         "worst first"),
        ("weight: 2", "weight: 2\n    evidence: x", "13: evidence is 'x'; wanted a list of texts"),
        ("weight: 2", "weight: 2\n    method: magic", "13: method is 'magic'; wanted one of rule, judge, run"),
        ("weight: 2", "weight: 2\n    size: 3", f"13: unknown field 'size', correct it; known: {CRITERION_FIELDS}"),
        ("  - id: a", "  - just text\n  - id: a", "5: a criterion is 'just text'; wanted a mapping with id, text, "
         "weight and rule"),
        ("note: n", "note: !!python/object/apply:os.system [touch pwned]",
         f"4: tag 'tag:yaml.org,2002:python/object/apply:os.system'; {TAG}"),
        ("note: n", "note: !!python/name:os.system", f"4: tag 'tag:yaml.org,2002:python/name:os.system'; {TAG}"),
        ("note: n", "studied: !!python/tuple [a]", f"4: tag 'tag:yaml.org,2002:python/tuple'; {TAG}"),
        ("note: n", "note: !mine x", f"4: tag '!mine'; {TAG}"),
        ("note: n", "<<: {note: n}", f"4: tag 'tag:yaml.org,2002:merge'; {TAG}"),
        ("note: n", "note: &a [x]\nstudied: *a", "5: an alias (*name); write the value out"),
        ("note: n", "\tnote: n", "4: not YAML: found character '\\t' that cannot start any token. Correct the line, or "
         "run `rubrics synthesize` again"),
        ("note: n", "note: n\n---\ntask: u", "5: not YAML: but found another document. Correct the line, or run "
         "`rubrics synthesize` again"),
        ("note: n", "note: n\x00", "4: character U+0000 may not stand in YAML; delete it"),
        ("note: n", "note: 'n\x1b[31m'", "4: character U+001B may not stand in YAML; delete it"),
    ],
)  # fmt: skip
def test_every_bad_edit_is_named_with_its_line(evaluator: RuleEvaluator, old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(RubricError) as caught:
        from_yaml(GOOD.replace(old, new), "f.yaml", evaluator.check)
    assert str(caught.value) == f"f.yaml:{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": empty; wanted task, kind and criteria. Restore it or delete the file"),
        ("# nothing\n", ": empty; wanted task, kind and criteria. Restore it or delete the file"),
        ("words", ":1: found str; wanted a mapping with task, kind and criteria"),
        ("- a", ":1: found list; wanted a mapping with task, kind and criteria"),
        ("kind: solution\ncriteria: 5", ":2: criteria is 5; wanted a list"),
        ("[" * 5_000, ": nested too deeply; a rubric is a list of criteria"),
        ("{a: " * 5_000, ": nested too deeply; a rubric is a list of criteria"),
        ("x" * (MAX_BYTES + 1), f": {MAX_BYTES + 1} characters; a rubric file has at most {MAX_BYTES}"),
        (
            f"kind: solution\ncriteria: [{'x, ' * (MAX_CRITERIA + 1)}]",
            f":2: {MAX_CRITERIA + 1} criteria; at most {MAX_CRITERIA}",
        ),
    ],
)
def test_a_file_that_is_no_rubric_is_refused(text: str, message: str) -> None:
    with pytest.raises(RubricError) as caught:
        unchecked(text)
    assert str(caught.value) == f"f.yaml{message}"


def test_an_alias_bomb_is_refused_at_its_first_alias() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40))]
    with pytest.raises(RubricError, match=r"^f\.yaml:2: an alias"):
        unchecked("\n".join(lines))


def test_nothing_in_a_file_runs_code(tmp_path: Path) -> None:
    sign = tmp_path / "ran"
    for tag in ("object/apply:os.system", "object/new:os.system", "object/apply:subprocess.check_call"):
        for value in (f"!!python/{tag} ['touch {sign}']", f"[!!python/{tag} ['touch {sign}']]", f"!!python/{tag} {{}}"):
            with pytest.raises(RubricError, match="tag"):
                unchecked(GOOD.replace("note: n", f"note: {value}"))
    assert not sign.exists()


@given(st.text(max_size=300) | st.text(alphabet="-:[]{}#&*!|>'\"%@`, \n\tab01", max_size=200))
@settings(max_examples=300, deadline=None)
def test_no_text_does_more_than_be_refused(text: str) -> None:
    with pytest.raises(RubricError, match=r"^f\.yaml:"):
        unchecked(text)


def rubric(**changes: object) -> Rubric:
    one = Criterion("a", "A.", 1.0, "rule", rule="lines_added > 1", fared="well", evidence=("r1",))
    two = Criterion("b", "B.", 2.0, "rule", rule="lines_added > 2", gate=True)
    return replace(Rubric("t/1", "solution", (one, two), "builtin", ("r1",), "s", "A note."), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", "Another."), ("weight", 1.5), ("rule", "lines_added > 3"), ("guidance", "Look."),
        ("scale", ("no", "half", "yes")), ("gate", True), ("fault", "a fault"), ("anchor", "a quote"), ("id", "c"),
        ("method", "run"),
    ],
)  # fmt: skip
def test_what_decides_a_verdict_changes_the_digest(field: str, value: object) -> None:
    one, two = rubric().criteria
    assert rubric_digest(rubric(criteria=(replace(one, **{field: value}), two))) != rubric_digest(rubric())  # type: ignore[arg-type]


@pytest.mark.parametrize(("field", "value"), [("task_id", "u"), ("kind", "behavior"), ("study_digest", "x")])
def test_what_it_is_about_changes_the_digest(field: str, value: str) -> None:
    assert rubric_digest(rubric(**{field: value})) != rubric_digest(rubric())


def test_fared_note_author_order_and_layout_keep_the_digest() -> None:
    one, two = rubric().criteria
    told = replace(one, fared="badly", evidence=(), weight=1)
    other = rubric(criteria=(two, told), note="Another note.", author="edited", studied=())
    assert rubric_digest(other) == rubric_digest(rubric())
    text = to_yaml(rubric())
    laid_out = text.replace("  - id: a\n    text: A.", "\n  # mine\n  -   text: 'A.'\n      id: \"a\"\n").replace(
        "    weight: 1.0\n    rule", "      weight: 1\n      rule", 1
    )
    laid_out = laid_out.replace("    fared: well\n", "").replace("    evidence: [r1]\n", "")
    assert laid_out != text
    assert rubric_digest(unchecked(laid_out)) == rubric_digest(rubric())


@pytest.fixture
def paths(tmp_path: Path) -> StorePaths:
    return saved(Store.create(tmp_path), rubric())


def saved(store: Store, *rubrics: Rubric) -> StorePaths:
    with store.writing() as run:
        for item in rubrics:
            rubric_files.save(run, store.paths, item)
        assert not list(store.paths.rubrics.glob("*")), "files come with the commit, not before"
    return store.paths


def file_of(paths: StorePaths) -> Path:
    (found,) = paths.rubrics.glob("*.yaml")
    return found


def test_a_saved_rubric_is_loaded_and_keeps_its_author(paths: StorePaths, evaluator: RuleEvaluator) -> None:
    (loaded,) = rubric_files.load(paths, "t/1", evaluator).values()
    assert loaded == rubric()
    assert rubric_files.by_author(loaded, {rubric_digest(rubric()): "builtin"}).author == "builtin"
    assert file_of(paths).parent == paths.rubrics
    assert rubric_files.load(paths, "t/2", evaluator) == {}


def test_a_changed_weight_makes_it_a_rubric_by_edited(paths: StorePaths, evaluator: RuleEvaluator) -> None:
    file_of(paths).write_text(file_of(paths).read_text().replace("weight: 2", "weight: 3"))
    (loaded,) = rubric_files.load(paths, "t/1", evaluator).values()
    assert loaded.criteria[1].weight == 3
    assert rubric_files.by_author(loaded, {rubric_digest(rubric()): "builtin"}).author == "edited"


def test_a_claimed_author_is_not_believed(paths: StorePaths, evaluator: RuleEvaluator) -> None:
    text = file_of(paths).read_text().replace("weight: 2", "weight: 3")
    file_of(paths).write_text(text.replace("author: builtin", "author: somebody"))
    (loaded,) = rubric_files.load(paths, "t/1", evaluator).values()
    assert rubric_files.by_author(loaded, {rubric_digest(rubric()): "builtin"}).author == "edited"


def test_a_file_about_another_task_is_refused(paths: StorePaths, evaluator: RuleEvaluator) -> None:
    file = file_of(paths)
    file.write_text(to_yaml(rubric(task_id="u")))
    with pytest.raises(RubricError) as caught:
        rubric_files.load(paths, "t/1", evaluator)
    assert str(caught.value) == (
        f"{file}:1: is about 'u' (solution); the file's name says 't/1' (solution). "
        "Rename the file or correct its fields"
    )


def test_a_file_that_is_not_utf8_is_refused(paths: StorePaths, evaluator: RuleEvaluator) -> None:
    file_of(paths).write_bytes(b"task: t\xff")
    with pytest.raises(RubricError) as caught:
        rubric_files.load(paths, "t/1", evaluator)
    assert str(caught.value) == f"{file_of(paths)}: not UTF-8 at byte 7; save it as UTF-8"


def test_an_untouched_file_is_not_set_aside(paths: StorePaths) -> None:
    assert rubric_files.set_edited_aside(paths, rubric(), {rubric_digest(rubric())}) is None
    assert file_of(paths).exists()


@pytest.mark.parametrize("edit", ["weight: 3", "weight: nonsense", "weight: [\xff"])
def test_an_edited_file_is_set_aside_also_when_it_cannot_be_read(paths: StorePaths, edit: str) -> None:
    file = file_of(paths)
    edited = file.read_bytes().replace(b"weight: 2.0", edit.encode("latin-1"))
    assert edited != file.read_bytes()
    file.write_bytes(edited)
    aside = rubric_files.set_edited_aside(paths, rubric(), {rubric_digest(rubric())})
    assert aside is not None
    assert (paths.rubrics / aside).read_bytes() == edited
    assert sorted(os.listdir(paths.rubrics)) == sorted([aside, file.name]), "the file stays until the commit"


def test_the_file_name_of_a_hostile_task_stays_in_the_folder(tmp_path: Path, evaluator: RuleEvaluator) -> None:
    names = ("../../etc/passwd", "/abs", "..", ".", "a\nb", "x" * 300, "con:aux?", "é")
    paths = saved(Store.create(tmp_path / "store"), *(rubric(task_id=name) for name in names))
    for name in names:
        (loaded,) = rubric_files.load(paths, name, evaluator).values()
        assert loaded.task_id == name
    assert [item.name for item in tmp_path.iterdir()] == ["store"]
    assert len(list(paths.rubrics.iterdir())) == 8


@pytest.fixture
def edited(sample_store: Store, tmp_path: Path) -> tuple[Store, Path]:
    """A copy of the sample's store in which a person has changed a weight."""
    shutil.copytree(sample_store.paths.root, tmp_path / "store")
    store = Store.open(tmp_path / "store")
    file = sorted(store.paths.rubrics.glob("*.solution.yaml"))[0]
    file.write_text(re.sub(r"weight: [0-9.]+", "weight: 77", file.read_text(), count=1))
    return store, file


def run(store: Store, *stages: str, **options: object) -> None:
    run_stages(stages, {"store": str(store.paths.root), **options}, run_here)


def rubric_rows(store: Store, file: Path) -> list[dict[str, Any]]:
    task_id = file.name.removesuffix(".solution.yaml")
    return store.rows("rubrics", where="task_id = $task AND kind = 'solution'", task=task_id)


def test_score_takes_an_edited_file_under_a_new_digest_and_drops_the_old_grades(edited: tuple[Store, Path]) -> None:
    store, file = edited
    (before,) = rubric_rows(store, file)
    run(store, "score", "reward")
    (after,) = rubric_rows(store, file)
    assert (before["author"], after["author"]) == ("builtin", "edited")
    assert before["rubric_digest"] != after["rubric_digest"]
    digests = store.query("SELECT DISTINCT rubric_digest AS d FROM grades").column("d").to_pylist()
    assert after["rubric_digest"] in digests
    assert before["rubric_digest"] not in digests
    (used,) = store.query(
        "SELECT DISTINCT solution_rubric AS d FROM rewards WHERE task_id = $task", {"task": after["task_id"]}
    ).to_pylist()
    assert used["d"] == after["rubric_digest"]
    assert store.query("SELECT count(*) AS n FROM rewards WHERE solution IS NULL").to_pylist() == [{"n": 0}]


def test_taking_an_edit_back_gives_the_old_digest_back(edited: tuple[Store, Path], sample_store: Store) -> None:
    store, file = edited
    run(store, "score")
    original = (sample_store.paths.rubrics / file.name).read_text()
    file.write_text(re.sub(r"fared: .*", "fared: well enough", original.replace("weight: 2\n", "weight: 2.0\n")))
    run(store, "score")
    (after,) = rubric_rows(store, file)
    (before,) = rubric_rows(sample_store, file)
    assert after["rubric_digest"] == before["rubric_digest"]


@pytest.mark.parametrize("scored_first", [False, True])
def test_synthesizing_anew_keeps_an_edited_file_beside_the_new_one(
    edited: tuple[Store, Path], sample_store: Store, scored_first: bool
) -> None:
    store, file = edited
    mine = file.read_text()
    if scored_first:
        run(store, "score")
    run(store, "synthesize", resynthesize=True)
    (aside,) = store.paths.rubrics.glob("*.old")
    assert aside.read_text() == mine
    assert aside.name.startswith(file.stem)
    assert file.read_text() == (sample_store.paths.rubrics / file.name).read_text()
    lines = store.rows("census", where="kind = 'edited_set_aside'")
    assert [(line["count"], line["detail"]) for line in lines] == [
        (1, f"a file edited by hand was kept as {aside.name}")
    ]
    run(store, "synthesize", resynthesize=True)
    assert list(store.paths.rubrics.glob("*.old")) == [aside]


def test_one_bad_file_stops_score_before_anything_is_written(edited: tuple[Store, Path]) -> None:
    store, file = edited
    manifest = store.paths.manifest.read_bytes()
    file.write_text(file.read_text().replace("weight: 77", "weight: 0"))
    with pytest.raises(RubricError, match=rf"^{re.escape(str(file))}:\d+: weight is 0;"):
        run(store, "score")
    assert store.paths.manifest.read_bytes() == manifest


def test_rubrics_that_name_different_studies_are_refused(edited: tuple[Store, Path]) -> None:
    store, file = edited
    file.write_text(re.sub(r"^study: .*$", "study: other", file.read_text(), flags=re.MULTILINE))
    with pytest.raises(RubricError, match=r"its rubrics name different studies .* give both the same `study`"):
        run(store, "score")
