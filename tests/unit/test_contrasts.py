"""Contrasts: an attempt never meets itself, and what differs in nothing that matters gets equal values."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from study_helpers import attempt, patch, scores, studied_of, turns, written
from test_facts_invariance import FILES, render, shifted, variants

from rubrics.contrasts.measure import CONTENT, Attempt, Study, likeness
from rubrics.contrasts.vocabulary import BEHAVIOR_CONTRASTS, CONTRASTS, SOLUTION_CONTRASTS
from rubrics.facts.measure import measure

GOOD, OTHER, BAD = patch("with open(path) as f:", "    f.read()"), patch("f = open(path)", "f.close()"), patch("pass")
SOLUTION = [fact.name for fact in SOLUTION_CONTRASTS]
BEHAVIOR = [fact.name for fact in BEHAVIOR_CONTRASTS]


def test_every_contrast_has_a_value_or_null() -> None:
    study = Study([attempt("a", True, GOOD), attempt("b", False, BAD)])
    assert set(study.contrasts(measure(OTHER, turns("ls", "cat x"), None))) == {fact.name for fact in CONTRASTS}
    assert set(study.contrasts(measure(None, None, None)).values()) == {None}


def test_a_studied_attempt_never_meets_itself() -> None:
    one = attempt("a", True, GOOD, ["ls"])
    alone = Study([one]).contrasts(one.facts)
    assert set(alone.values()) == {None}
    twins = Study([one, attempt("twin", True, f"\n{GOOD}\n", ["ls"]), attempt("c", True, OTHER, ["cat a.py"])])
    assert twins.contrasts(one.facts) == Study([attempt("c", True, OTHER, ["cat a.py"])]).contrasts(one.facts)


def test_an_attempt_that_is_no_copy_meets_every_side() -> None:
    study = Study([attempt("a", True, GOOD), attempt("b", False, BAD), attempt("c", True, OTHER)])
    found = study.contrasts(measure(patch("x = 1"), turns("pwd"), None))
    assert all(found[name] is not None for name in SOLUTION if name.endswith(("_passing", "_failing")))
    assert all(0 <= found[name] <= 1 for name in SOLUTION if "_like_" in name)


def test_likeness_is_shared_over_all() -> None:
    assert likeness(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)
    assert likeness(frozenset(), frozenset()) == 1.0
    assert likeness(frozenset("a"), frozenset()) == 0.0


def test_the_order_of_the_studied_attempts_does_not_matter() -> None:
    attempts = [attempt(f"r{n}", n % 2 == 0, patch(f"value_{n} = {n}", *["x"] * n), ["ls"] * (n + 1)) for n in range(7)]
    rows = [item.facts for item in attempts] + [measure(OTHER, turns("cat x"), None)]
    expected = [Study(attempts).contrasts(row) for row in rows]
    digest = Study(attempts).digest()
    for seed in range(5):
        shuffled = random.Random(seed).sample(attempts, len(attempts))
        assert Study(shuffled).digest() == digest
        assert [Study(shuffled).contrasts(row) for row in rows] == expected


def test_the_studys_digest_tells_contents_and_outcomes_not_names() -> None:
    def digest(name: str, passed: bool, text: str) -> str:
        return Study([attempt(name, passed, text), attempt("z", False, BAD)]).digest()

    assert digest("a", True, GOOD) == digest("b", True, GOOD)
    assert digest("a", True, GOOD) != digest("a", False, GOOD)
    assert digest("a", True, GOOD) != digest("a", True, OTHER)


def same_everywhere(study: Study, rows: list[dict[str, Any]]) -> None:
    """Equal contrasts, and equal values of every criterion that the author writes of the study."""
    first, *others = [study.contrasts(row) for row in rows]
    assert all({name: other[name] for name in SOLUTION} == {name: first[name] for name in SOLUTION} for other in others)
    solution, _ = written(study.attempts)
    values = scores(solution, study, rows)
    assert all(row == values[0] for row in values)


@given(FILES, FILES, FILES, st.randoms(use_true_random=False), st.integers(60, 900))
@settings(max_examples=40, deadline=None)
def test_order_offsets_line_ends_and_blank_ends_change_no_contrast_and_no_value(
    files: Any, passing: Any, failing: Any, rng: random.Random, start: int
) -> None:
    names = sorted(files)
    text = render(files, names, 60, "1111111")
    rng.shuffle(names)
    texts = [text, render(files, names, start, "3333333"), *variants(text)]
    studied = [(True, render(passing, sorted(passing), 60, "1")), (False, render(failing, sorted(failing), 60, "1"))]
    attempts = [attempt(f"r{n}", passed, other) for n, (passed, other) in enumerate([*studied, (True, text)])]
    same_everywhere(Study(attempts), [measure(other, turns("ls"), None) for other in texts])


def real_attempts(real: Path) -> dict[str, list[tuple[bool, str]]]:
    outcomes = json.loads((real / "outcomes.json").read_text())
    found: dict[str, list[tuple[bool, str]]] = {}
    for path in sorted((real / "mini-swe-agent").glob("*/*/*.traj.json")):
        task, run = path.parent.name, path.parent.parent.name
        text = json.loads(path.read_text())["info"]["submission"]
        if text.strip():
            found.setdefault(task, []).append((outcomes[task][run]["resolved"], text))
    return found


def test_published_patches_keep_contrasts_and_values_under_the_same_changes(real: Path) -> None:
    tasks = real_attempts(real)
    assert len(tasks) == 4
    for attempts in tasks.values():
        study = Study([attempt(f"r{n}", passed, text) for n, (passed, text) in enumerate(attempts)])
        for _, text in attempts:
            pieces = re.split(r"^(?=diff --git )", text, flags=re.MULTILINE)
            whole = [piece if piece.endswith("\n") or not piece else piece + "\n" for piece in reversed(pieces)]
            texts = [text, "".join(whole), shifted(text), *variants(text)]
            same_everywhere(study, [measure(other, None, None) for other in texts])


COMMANDS = st.lists(
    st.sampled_from(["ls", "cat src/x.py", "grep -n load src/x.py", "sed -i s/a/b/ src/x.py", "pytest -q", "git diff"]),
    min_size=1, max_size=6,
)  # fmt: skip


@given(COMMANDS, COMMANDS, COMMANDS, st.booleans())
@settings(max_examples=40, deadline=None)
def test_equal_transcripts_get_equal_behavior_values(
    commands: list[str], one: list[str], other: list[str], passed: bool
) -> None:
    study = Study(
        [attempt("a", True, GOOD, one), attempt("b", False, BAD, other), attempt("c", passed, GOOD, commands)]
    )
    rows = [measure(GOOD, turns(*commands), "Submitted") for _ in range(2)] + [dict(study.attempts[2].facts)]
    found = [study.contrasts(row) for row in rows]
    assert all({name: row[name] for name in BEHAVIOR} == {name: found[0][name] for name in BEHAVIOR} for row in found)
    _, behavior = written(study.attempts)
    values = scores(behavior, study, rows)
    assert all(row == values[0] for row in values)


def test_equal_contents_are_told_by_their_digests() -> None:
    facts = attempt("a", True, GOOD).facts
    assert all(facts[name] for name in CONTENT.values())
    assert facts[CONTENT["solution"]] != attempt("b", True, OTHER).facts[CONTENT["solution"]]


def test_a_copy_that_adds_a_fault_does_not_come_out_above_its_model() -> None:
    attempts = [
        attempt("a", True, GOOD),
        attempt("b", True, OTHER),
        attempt("c", False, BAD),
        attempt("d", False, patch("x")),
    ]
    study = Study(attempts)
    spoilt = patch("with open(path) as f:", "    f.read()", "print('debug', path)")
    solution, _ = written(attempts)
    model, copy = scores(solution, study, [dict(attempts[0].facts), measure(spoilt, turns("ls"), None)])
    weights = [item.weight for item in solution.criteria]
    total = [sum(w * (v or 0) for w, v in zip(weights, row, strict=True)) for row in (model, copy)]
    assert total[1] < total[0]


def test_studied_attempts_carry_the_contrasts_with_the_others_only() -> None:
    attempts: list[Attempt] = [attempt("a", True, GOOD), attempt("b", True, OTHER), attempt("c", False, BAD)]
    first = studied_of(Study(attempts))[0]
    assert dict(first.contrasts) == Study(attempts[1:]).contrasts(attempts[0].facts)
