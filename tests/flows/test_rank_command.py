"""`rubrics rank` from the command line, against a served model, then `rubrics reward`."""

from __future__ import annotations

from pathlib import Path

from conftest import Command
from model_server.server import serving
from ranking.ranking_store import group, honest, make_store, rewarded


def test_rank_from_the_command_line_says_what_came_of_it(tmp_path: Path, rubrics: Command) -> None:
    store = make_store(tmp_path / "s", group([5, 2, 4]))
    with serving(honest) as server:
        words = ("--store", "s", "--model", "m", "--base-url", server.url, "--rank-mode", "single", "--rounds", "2")
        done = rubrics("rank", *words, "--json", cwd=tmp_path, code=0)
    said = done.json
    assert [(row["passes"], row["usable"], row["judge"]) for row in said["groups"]] == [(3, 2, "single:m")]
    assert said["position_bias"][0]["entries"] == 2
    assert {row["ranking"] for row in rewarded(store).values()} == {"used"}


def test_rank_without_a_model_is_bad_usage(tmp_path: Path, rubrics: Command) -> None:
    make_store(tmp_path / "s", group([5, 2]))
    done = rubrics("rank", "--store", "s", cwd=tmp_path, code=2)
    assert "--model NAME" in done.err
