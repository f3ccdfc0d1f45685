"""Labels tell nothing; slices hold everyone, and the anchors everywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rubrics.ranking.labels import labels
from rubrics.ranking.slices import ANCHORS, LARGEST, slices

names = st.lists(st.text("0123456789abcdef", min_size=4, max_size=32), min_size=1, max_size=40, unique=True)
seeds = st.integers(0, 5)


@given(names, seeds)
def test_labels_are_distinct_words_that_repeat_nothing_of_the_names(found: list[str], seed: int) -> None:
    words = labels(tuple(found), seed)
    assert len(set(words)) == len(found)
    assert all(word.isalpha() and len(word) == 5 and not set(word) & set("0123456789") for word in words)


@given(names, seeds)
def test_who_has_which_label_does_not_depend_on_the_order_of_the_names(found: list[str], seed: int) -> None:
    there = dict(zip(found, labels(tuple(found), seed), strict=True))
    back = dict(zip(found[::-1], labels(tuple(found[::-1]), seed), strict=True))
    assert len(there.items() ^ back.items()) <= 4  # two names that drew one word take turns


def test_labels_differ_from_round_to_round_and_with_whoever_takes_part() -> None:
    group = tuple(f"{number:032x}" for number in range(8))
    rounds = [labels(group, "g", number) for number in range(20)]
    assert len({word for words in rounds for word in words}) > 150
    assert not set(labels(group, "g", 0)) & set(labels((*group, "f" * 32), "g", 0)[:8])


def test_the_order_of_labels_in_the_alphabet_says_nothing_of_the_place() -> None:
    group = tuple(f"{number:032x}" for number in range(8))
    firsts = [sorted(words := labels(group, seed)).index(words[0]) for seed in range(400)]
    assert 3.1 < sum(firsts) / len(firsts) < 3.9


@given(st.integers(2, 60), seeds)
def test_everyone_stands_in_one_slice_and_anchors_in_all(n: int, seed: int) -> None:
    found = slices(n, seed)
    assert all(len(part) <= LARGEST and len(set(part)) == len(part) for part in found.parts)
    shown = [candidate for part in found.parts for candidate in part]
    assert set(shown) == set(range(n))
    assert all(shown.count(c) == (len(found.parts) if c in found.anchors else 1) for c in range(n))
    assert len(found.anchors) == (0 if n <= LARGEST else ANCHORS)
    sizes = [len(part) for part in found.parts]
    assert max(sizes) - min(sizes) <= 1


def test_anchors_are_drawn_by_the_seed() -> None:
    assert len({slices(20, seed).anchors for seed in range(30)}) > 20
    assert slices(20, 1) == slices(20, 1)
