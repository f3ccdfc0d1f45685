"""`rubrics rank` from the command line, against a served model, then `rubrics reward`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from model_server.server import serving
from ranking_store import group, honest, make_store, rewarded

COMMAND = Path(sys.executable).with_name("rubrics")


def rubrics(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True, timeout=300)


def test_rank_from_the_command_line_says_what_came_of_it(tmp_path: Path) -> None:
    store = make_store(tmp_path / "s", group([5, 2, 4]))
    with serving(honest) as server:
        words = ("--store", "s", "--model", "m", "--base-url", server.url, "--rank-mode", "single", "--rounds", "2")
        done = rubrics(tmp_path, "rank", *words, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert [(row["passes"], row["usable"], row["judge"]) for row in said["groups"]] == [(3, 2, "single:m")]
    assert said["position_bias"][0]["entries"] == 2
    assert {row["ranking"] for row in rewarded(store).values()} == {"used"}


def test_rank_without_a_model_is_bad_usage(tmp_path: Path) -> None:
    make_store(tmp_path / "s", group([5, 2]))
    done = rubrics(tmp_path, "rank", "--store", "s")
    assert done.returncode == 2
    assert "--model NAME" in done.stderr
