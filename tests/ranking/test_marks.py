"""Slices become one round, equal patches get equal marks, flags about the attempt stay its own."""

from __future__ import annotations

import pytest

from rubrics.ranking.marks import Marks, anchor_gap, put_together, shared
from rubrics.ranking.plan import plan


def marks(*checks: int, flags: tuple[str, ...] = ()) -> Marks:
    return Marks(checks, frozenset(flags), {flag: [f"because of {checks[0]}"] for flag in flags})


def test_an_anchor_gets_the_lower_median_of_its_slices() -> None:
    found = put_together([{0: marks(4, 4, 4, 4, 4), 1: marks(1, 1, 1, 1, 1)}, {0: marks(5, 3, 4, 4, 4)}])
    assert found[0].checks == (4, 3, 4, 4, 4)
    assert found[1].checks == (1, 1, 1, 1, 1)


def test_a_flag_of_an_anchor_needs_more_than_half_of_the_slices() -> None:
    flagged, clean = marks(4, 4, 4, 4, 4, flags=("test_workaround",)), marks(4, 4, 4, 4, 4)
    assert not put_together([{0: flagged}, {0: clean}])[0].flags
    kept = put_together([{0: flagged}, {0: clean}, {0: flagged}])[0]
    assert kept.flags == {"test_workaround"}
    assert kept.evidence == {"test_workaround": ["because of 4"]}


def test_the_gap_of_the_anchors_is_the_widest_in_points_of_w() -> None:
    first = {0: marks(5, 5, 5, 5, 5), 1: marks(3, 3, 3, 3, 3)}
    second = {0: marks(5, 5, 5, 5, 4), 1: marks(2, 3, 3, 3, 3)}
    assert anchor_gap([first, second], (0, 1)) == 6
    assert anchor_gap([first], ()) is None


def test_equal_patches_get_the_lower_median_of_their_checks() -> None:
    found = shared({0: marks(5, 5, 5, 5, 5), 1: marks(3, 3, 3, 3, 3), 2: marks(4, 1, 1, 1, 1)}, ["p", "p", "q"])
    assert found[0].checks == found[1].checks == (3, 3, 3, 3, 3)
    assert found[2].checks == (4, 1, 1, 1, 1)


def test_equal_patches_share_flags_about_the_patch_and_keep_those_about_the_attempt() -> None:
    both = marks(3, 3, 3, 3, 3, flags=("unrequested_rewrite", "severe_process_issue"))
    one = marks(3, 3, 3, 3, 3, flags=("unrequested_rewrite",))
    found = shared({0: both, 1: one, 2: marks(3, 3, 3, 3, 3)}, ["p", "p", "p"])
    assert [sorted(item.flags) for item in found.values()] == [
        ["severe_process_issue", "unrequested_rewrite"], ["unrequested_rewrite"], ["unrequested_rewrite"],
    ]  # fmt: skip
    assert all(set(item.evidence) == item.flags for item in found.values())


def test_a_plan_shows_everyone_in_every_round_under_other_labels() -> None:
    passes, failures = tuple(f"p{n:02}" for n in range(20)), ("f0", "f1")
    cut, showings = plan(passes, failures, 3, "task", "group", 0)
    assert [len(part) for part in cut.parts] == [8, 8, 8]
    assert [(item.round, item.slice) for item in showings] == [(r, s) for r in range(3) for s in range(3)]
    for number in range(3):
        own = [item for item in showings if item.round == number]
        assert {candidate for item in own for candidate in item.order} == set(range(20))
        assert len({item.candidate_labels for item in own}) == 1
        assert len({*own[0].candidate_labels, *own[0].context_labels}) == 22
    assert len({item.candidate_labels for item in showings}) == 3
    assert plan(passes, failures, 3, "task", "group", 0) == (cut, showings)


def test_more_rounds_keep_the_rounds_that_were_there() -> None:
    _, three = plan(("a", "b", "c"), (), 3, "g")
    _, five = plan(("a", "b", "c"), (), 5, "g")
    assert five[:3] == three


def test_a_plan_wants_names_in_order() -> None:
    with pytest.raises(ValueError, match="sort them"):
        plan(("b", "a"), (), 1, "g")
