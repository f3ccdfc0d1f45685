"""Hostile text costs time in proportion to its length: broken JSON, commas, strings that never end."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rubrics.ingest.read import ingest

UNITS = ('"', '\\"', ", ", '"\\', "},", ",\n", '{"a":1}\n', '" , "', "[", "{\n}\n", "```\n", "#### x\n")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("start", ['{"a": ', "{", "[", "# aider chat started at "])
def test_four_times_the_text_takes_about_four_times_the_time(tmp_path: Path, start: str, unit: str) -> None:
    def seconds(number: int) -> float:
        (tmp_path / "x.json").write_text(start + unit * number)
        started = time.process_time()
        list(ingest([tmp_path]))
        return time.process_time() - started

    small, large = seconds(20_000), seconds(80_000)
    assert large < 10 * small + 0.3
