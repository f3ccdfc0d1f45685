"""The builtin author: what it mines, what it drops, and what hostile names and specs can do to it (nothing)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from study_helpers import BRIEF, attempt, evaluated, evaluator, patch, studied_of, written

from rubrics.authors import candidates as candidates_module
from rubrics.authors.anchors import MAX_QUOTE, find_anchor
from rubrics.authors.author import Brief
from rubrics.authors.candidates import candidates
from rubrics.authors.guards import GUARDS, guards
from rubrics.authors.trial import MIN_GAP, as_model, same, tried
from rubrics.contrasts.measure import Attempt, Study
from rubrics.records.rubrics import KINDS, Criterion, Rubric
from rubrics.rules.evaluate import measured_table
from rubrics.rules.files import to_yaml
from rubrics.rules.loading import from_yaml

GUARD_IDS = {guard.id for guard in GUARDS}
PASSES = (
    patch("check(path)", "with open(path) as f:", "    data = decode(f)"),
    patch("check(path)", "with open(path) as g:", "    data = decode(g, 1)"),
)
FAILURES = (
    patch("check(path)", "try_again = 1", "path = path or None"),
    patch("check(path)", "try_again = 2", "path = str(path)"),
)


def four(read: str = "cat src/x.py") -> list[Attempt]:
    passing = [attempt(f"p{n}", True, text, [read, "ls"]) for n, text in enumerate(PASSES)]
    return passing + [attempt(f"f{n}", False, text, ["pwd"]) for n, text in enumerate(FAILURES)]


def mined(rubric: Rubric) -> list[Criterion]:
    return [item for item in rubric.criteria if item.id not in GUARD_IDS]


def test_two_passes_and_two_failures_give_mined_criteria_with_evidence_and_anchor() -> None:
    solution, behavior = written(four())
    assert [item.id for item in mined(solution)]
    for rubric in (solution, behavior):
        assert rubric.author == "builtin"
        assert rubric.studied == ("p0", "p1", "f0", "f1")
        for item in mined(rubric):
            assert item.evidence
            assert all(any(name.startswith(given) for name in rubric.studied) for given in item.evidence)
            assert item.anchor is not None
            assert item.anchor in " ".join((BRIEF.spec or "").split())
            assert item.fared
    assert solution.note.startswith("Studied 4 attempts with a patch: 2 passing, 2 not.")
    assert any(item.rule == "list_contains(calls_added, 'decode')" for item in mined(solution))


def test_without_a_spec_nothing_is_anchored_and_the_note_says_so() -> None:
    solution, _ = written(four(), Brief("t", None, False))
    assert {item.anchor for item in solution.criteria} == {None}
    assert "No spec was given: nothing is anchored in one." in solution.note
    assert "No repository was given: it rests on spec and attempts alone." in solution.note


@pytest.mark.parametrize("passed", [True, False])
def test_without_contrast_only_criteria_that_name_a_fault_are_written(passed: bool) -> None:
    attempts = [replace(item, passed=passed) for item in four()]
    for rubric in written(attempts):
        assert rubric.criteria
        assert all(item.fault for item in rubric.criteria)
        assert not mined(rubric)
        assert "The studied attempts hold no contrast, so none is invented: guard criteria only." in rubric.note


def test_without_any_patch_or_transcript_there_are_no_criteria_and_the_note_says_so() -> None:
    bare = [Attempt(f"r{n}", n % 2 == 0, attempt("x", True, None, None).facts) for n in range(4)]
    for rubric, lacking in zip(written(bare), ("patch", "transcript"), strict=True):
        assert rubric.criteria == ()
        assert f"Studied 0 attempts with a {lacking}: 0 passing, 0 not. 4 more have no {lacking}." in rubric.note
        assert rubric.note.endswith("It has no criteria and is no factor of the reward.")


def test_attempts_without_a_transcript_leave_the_behavior_rubric_alone() -> None:
    attempts = [replace(item, facts=attempt("x", True, text, None).facts)
                for item, text in zip(four(), (*PASSES, *FAILURES), strict=True)]  # fmt: skip
    solution, behavior = written(attempts)
    assert mined(solution)
    assert behavior.criteria == ()


def checked(attempts: Sequence[Attempt], brief: Brief = BRIEF) -> None:
    """What holds of every pair of rubrics, whatever was studied."""
    study = Study(attempts)
    passed = [item.passed for item in attempts]
    for rubric in written(attempts, brief):
        ids = [item.id for item in rubric.criteria]
        assert len(ids) == len(set(ids))
        assert all(0 < item.weight <= 1000 for item in rubric.criteria)
        assert from_yaml(to_yaml(rubric), "f.yaml", evaluator().check) == rubric
        able = [a for a in studied_of(study) if a.facts[_content(rubric)] is not None]
        models = [as_model(item) for item in able]
        rows = evaluated([item.rule or "" for item in rubric.criteria], models)
        columns = [[row[index] for row in rows] for index in range(len(ids))]
        outcomes = [item.passed for item in able]
        kept = [
            (item, column) for item, column in zip(rubric.criteria, columns, strict=True) if item.id not in GUARD_IDS
        ]
        for index, (item, column) in enumerate(kept):
            assert item.fault or tried(column, outcomes).discriminates()
            assert not any(same(column, other) for _, other in kept[:index])
        if len({a.passed for a in able}) < 2:
            assert not kept
    assert len(passed) == len(attempts)


def _content(rubric: Rubric) -> str:
    return {"solution": "patch_normal_digest", "behavior": "transcript_normal_digest"}[rubric.kind]


LINES = st.sampled_from(
    ["with open(path) as f:", "decode(path)", "if path is None:", "return load(path)", "x = 'a'", 
     "raise ValueError(path)", "print(path)", "value = other(path, 1)", "del path"]
)  # fmt: skip
STUDIED = st.lists(
    st.tuples(
        st.booleans(),
        st.none() | st.lists(LINES, max_size=5).map(lambda lines: patch(*lines) if lines else ""),
        st.none() | st.lists(st.sampled_from(["ls", "cat src/x.py", "pytest", "git diff"]), min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=6,
)


@given(STUDIED)
@settings(max_examples=60, deadline=None)
def test_whatever_is_studied_the_rubrics_are_sound(studied: list[tuple[bool, str | None, list[str] | None]]) -> None:
    checked([attempt(f"r{n}", passed, text, commands) for n, (passed, text, commands) in enumerate(studied)])


HOSTILE = [
    "'); DROP TABLE facts; --", "it's", "''''", 'a"b', "a\x00b", "a\u2028b", "a\nb", "(SELECT 1)", "`rm -rf`",
    "{{ x }}", "!!python/object/apply:os.system [id]", "- id: x", "&a *a", "%s %(x)s {name}", "é", "名前", 
    "\ufeff", "\ufffd", "a" * 199, "a" * 500, "$$", "E'\\x00'", "/* */", "--", "\\", "\\'", "😀", "e\u0301",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_hostile_patches_stay_names(name: str) -> None:
    attempts = []
    for number in range(4):
        passed = number < 2
        item = attempt(f"r{number}", passed, patch(f"value_{number} = {number}"))
        own = [name] if passed else ["other"]
        facts = {fact: [*own, f"x{number}"] for fact in ("functions_edited", "calls_added", "conditions_added",
                                                           "tokens_added", "tokens_removed")}  # fmt: skip
        attempts.append(replace(item, facts={**item.facts, **facts}))
    checked(attempts, Brief(name, f"Do {name}. Then more.", True))
    found = [item.criterion.rule or "" for item in candidates("solution", studied_of(Study(attempts)))]
    quoted = "'" + name.replace("'", "''") + "'"
    rules = [rule for rule in found if rule.startswith("list_contains") and quoted in rule]
    assert len(rules) == (5 if 2 <= len(name) <= 200 and name.isprintable() else 0)
    for rule in rules:
        evaluator().check(rule, "solution", "f:1")
    values = evaluator().values(rules, measured_table([item.facts for item in attempts]))
    assert values == ([(1.0,) * 5] * 2 + [(0.0,) * 5] * 2 if rules else [()] * 4)


def test_a_hostile_patch_text_is_studied_like_any_other() -> None:
    texts = [patch(f"call_{n}(\"'); DROP TABLE x; --\", '{name}')") for n, name in enumerate(HOSTILE[:4])]
    checked([attempt(f"r{n}", n < 2, text) for n, text in enumerate(texts)])
    checked([attempt(f"r{n}", n < 2, name * 50) for n, name in enumerate(HOSTILE[:6])])


def test_what_one_attempt_alone_did_is_no_named_criterion() -> None:
    attempts = [four()[0], *four()[2:3]]
    solution, _ = written(attempts)
    assert not [item for item in solution.criteria if "list_contains" in (item.rule or "")]
    solution, _ = written([four()[0], *four()[2:]])
    named = [item.rule for item in solution.criteria if "list_contains" in (item.rule or "")]
    assert named
    assert all((rule or "").startswith("not ") for rule in named)


def test_a_fact_that_an_attempt_lacks_gives_no_named_criterion() -> None:
    attempts = four()
    gap = {**attempts[0].facts, "calls_added": None}
    solution, _ = written([replace(attempts[0], facts=gap), *attempts[1:]])
    assert not [item for item in solution.criteria if "calls_added" in (item.rule or "")]


def test_a_patch_that_both_passed_and_failed_tells_nothing() -> None:
    text = patch("same(path)")
    attempts = [attempt("p", True, text), attempt("q", True, f"{text}\n"), attempt("f", False, f"\n{text}")]
    solution, _ = written(attempts)
    assert all(item.fault for item in solution.criteria)
    assert not mined(solution)
    with_it, _ = written([*four(), attempt("p", True, text), attempt("f", False, text)])
    assert {item.rule for item in mined(with_it)} >= {"list_contains(calls_added, 'decode')"}


def test_guards_that_passing_attempts_contradict_are_dropped() -> None:
    noisy = [attempt(f"p{n}", True, patch(*[f"print({n}, {k})" for k in range(4)])) for n in range(2)]
    solution, _ = written([*noisy, *four()[2:]])
    assert "leaves-no-debug-output" not in {item.id for item in solution.criteria}
    calm, _ = written(four())
    assert "leaves-no-debug-output" in {item.id for item in calm.criteria}


def test_guards_name_a_fault_and_are_allowed_rules_of_their_kind() -> None:
    assert len(GUARD_IDS) == len(GUARDS)
    for kind in KINDS:
        assert guards(kind)
        for guard in guards(kind):
            assert guard.fault
            assert evaluator().check(guard.rule, kind, guard.id)


def test_candidates_want_both_outcomes() -> None:
    studied = studied_of(Study(four()))
    assert all(candidates(kind, studied[:2]) == candidates(kind, studied[2:]) == [] for kind in KINDS)
    assert all(candidates(kind, ()) == [] for kind in KINDS)


def test_trials_average_what_is_known() -> None:
    trial = tried([1.0, None, 0.5, None], [True, True, False, False])
    assert (trial.passing, trial.failing) == (1.0, 0.5)
    assert trial.discriminates()
    assert not tried([None, 1.0], [True, False]).discriminates()
    assert not tried([0.5, 0.5 - MIN_GAP / 2], [True, False]).discriminates()
    assert not tried([0.0, 1.0], [True, False]).discriminates()
    assert tried([0.4, 0.5], [True, True]).contradicted()
    assert not tried([None, 0.0], [True, False]).contradicted()


def test_criteria_are_the_same_when_no_attempt_tells_them_apart() -> None:
    assert same([1.0, None], [1.0, None])
    assert not same([1.0, None], [1.0, 0.0])
    assert same([0.5], [0.51])
    assert not same([0.5], [0.6])


@given(
    st.text(max_size=400) | st.text(alphabet="ab .!?:\n\r`_Z9", max_size=200),
    st.lists(st.text(max_size=12), max_size=4),
)
@settings(max_examples=200, deadline=None)
def test_an_anchor_really_stands_in_the_spec(spec: str, names: list[str]) -> None:
    anchor = find_anchor(spec, names)
    if anchor is not None:
        assert 0 < len(anchor) <= MAX_QUOTE
        assert anchor.removesuffix("...") in " ".join(spec.split())


def test_an_anchor_is_the_sentence_that_shares_most_with_the_names() -> None:
    spec = "The tool loads. `DictUnpack` must be kept! Nothing else:\nraise ValueError"
    assert find_anchor(spec, ["dict_unpack"]) == "`DictUnpack` must be kept!"
    assert find_anchor(spec, ["ValueError"]) == "raise ValueError"
    assert find_anchor(spec, ["unrelated"]) == "The tool loads."
    assert find_anchor(None, ["a"]) is find_anchor("", ["a"]) is find_anchor("1 2 3 !!", ["a"]) is None


@pytest.mark.parametrize(
    "spec",
    ["a" * 1_000_000, "A" * 1_000_000, "aA" * 500_000, "a1" * 500_000, "_" * 1_000_000, "a. " * 300_000,
     "\n" * 1_000_000, " " * 1_000_000, "a." * 500_000, "Aa1_ " * 200_000, ". . . " * 200_000,
     "\r\n\t" * 300_000, "word " * 200_000],
)  # fmt: skip
def test_a_hostile_spec_does_not_hold_the_search_up(spec: str) -> None:
    anchor = find_anchor(spec, ["aA" * 100, "word", "A" * 10_000])
    assert anchor is None or len(anchor) <= MAX_QUOTE


def test_no_more_names_of_one_fact_than_say_something_new() -> None:
    names = [f"name_{n:03}" for n in range(300)]
    attempts = [replace(item, facts={**item.facts, "calls_added": names if item.passed else []}) for item in four()]
    study = studied_of(Study(attempts))
    found = [item for item in candidates("solution", study) if "calls_added" in (item.criterion.rule or "")]
    assert 0 < len(found) <= candidates_module.MAX_NAMED
