"""The examples in the documentation are what the program says today."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from agents.places import laid_out, started

sys.path.append(str(Path(__file__).resolve().parents[1] / "authoring"))
import write_example as author
from loop import write_examples as agent


@pytest.mark.parametrize(("write", "page"), [(author.main, author.TARGET), (agent.main, agent.TARGET)])
def test_a_page_is_written_the_same_to_the_byte(write: Callable[[Path], None], page: Path, tmp_path: Path) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    with started("bubblewrap", laid_out(tmp_path / "repo")):
        write(tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text("utf-8") == page.read_text("utf-8"), "`make examples` writes it anew"
