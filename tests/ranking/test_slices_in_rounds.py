"""Twenty passes are compared in slices; anchors show whether the slices can be compared."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from model_server.server import serving
from ranking_store import (
    answer,
    census,
    levels,
    make_store,
    patch,
    rank,
    ranked,
    rewarded,
    rollout,
    shown_labels,
)

from rubrics.store.store import Store


def twenty(root: Path, most: int = 5) -> Store:
    """Twenty passes whose levels go round from 1 to `most`."""
    passes = [rollout(f"pass-{place:02}", patch(1 + place % most, f"n{place}")) for place in range(20)]
    return make_store(root, passes + [rollout(f"fail-{n}", patch(0, f"fail {n}"), False) for n in range(20)])


def honest(body: dict[str, Any]) -> Any:
    found = levels(body)
    return answer({label: found[label] for label in shown_labels(body)})


def test_twenty_passes_stand_in_three_slices_with_two_anchors_in_each(tmp_path: Path) -> None:
    store = twenty(tmp_path / "s")
    with ranked(store, honest, rounds=2) as server:
        bodies = server.requests
    assert [len(shown_labels(body)) for body in bodies] == [8] * 6
    for places in _by_round(bodies):
        times = Counter(label for body in places for label in shown_labels(body))
        assert sorted(times.values()) == [1] * 18 + [3] * 2
    rows = store.rows("rankings")
    assert len(rows) == 40
    assert sum(row["position"] is None for row in rows) == 4
    assert {row["anchor_gap"] for row in rows} == {0}
    ranks = {name: row["rank"] for name, row in rewarded(store).items() if name.startswith("pass")}
    assert [ranks[f"pass-{place:02}"] for place in range(20)] == [5 - place % 5 for place in range(20)]


def _by_round(bodies: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    first = set(shown_labels(bodies[0]))
    mine = [body for body in bodies if first & set(shown_labels(body))]
    return [mine, [body for body in bodies if body not in mine]]


@pytest.mark.parametrize(("shift", "failure"), [(1, None), (2, "anchors_differ")])
def test_slices_are_not_compared_when_the_judge_did_not_keep_its_scale(
    tmp_path: Path, shift: int, failure: str | None
) -> None:
    store = twenty(tmp_path / "s", most=3)
    chosen: list[list[str]] = []

    def script(body: dict[str, Any]) -> Any:
        """One slice gets all its marks moved."""
        found, order = levels(body), shown_labels(body)
        chosen.append(order) if not chosen else None
        up = shift if order == chosen[0] else 0
        return answer({label: found[label] + up for label in order})

    with serving(script) as server:
        rank(store, server, rounds=1)
    rows = store.rows("rankings")
    assert {row["anchor_gap"] for row in rows} == {20 * shift}
    assert {row["failure_class"] for row in rows} == {failure}
    assert census(store).get("round_anchors_differ", 0) == (1 if failure else 0)
    assert {row["ranking"] for row in rewarded(store).values()} == {"unusable" if failure else "used"}


def test_one_slice_that_fails_makes_its_round_unusable_and_the_others_are_not_asked_again(tmp_path: Path) -> None:
    store = twenty(tmp_path / "s")
    bad: list[str] = []

    def script(body: dict[str, Any]) -> Any:
        bad.append(shown_labels(body)[0]) if not bad else None
        return "no" if shown_labels(body)[0] == bad[0] else honest(body)

    with serving(script) as server:
        rank(store, server, rounds=1)
        assert {row["usable"] for row in store.rows("rankings")} == {False}
        server.script, asked = honest, len(server.requests)
        rank(store, server, rounds=1)
        assert len(server.requests) == asked + 1
    assert {row["usable"] for row in store.rows("rankings")} == {True}
