"""Every command in README and docs/ is run as it stands; every command of the program is named in README."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Command
from model_server.everything import everything
from model_server.server import serving

from rubrics.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OWN_ENDPOINT = "http://127.0.0.1:8000/v1"
CACHE = Path(os.environ.get("RUBRICS_TEST_CACHE") or Path(tempfile.gettempdir()) / "rubrics-test-cache") / "user"
"""Where images are kept between runs: making the first takes half a minute."""
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """The lines of a page's `sh` blocks, comments left out, those that go on joined."""
    blocks = [block.replace("\\\n", " ") for block in BLOCK.findall(page.read_text("utf-8"))]
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def folder(rubrics: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `rubrics demo` ran, with the sample beside it as `data/sample`."""
    made = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "data" / "sample", made / "data" / "sample")
    rubrics("demo", cwd=made, code=1)
    return made


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """Address of a model that plays every role; what pages write as an endpoint of one's own."""
    with serving(lambda body: {"answer": 5} if is_doctor(body) else everything(body)) as server:
        yield server.url


def is_doctor(body: dict[str, Any]) -> bool:
    return bool(body.get("response_format", {}).get("json_schema", {}).get("name") == "answer")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_do_what_it_says(page: Path, folder: Path, model: str, rubrics: Command) -> None:
    for line in commands(page):
        words = shlex.split(line.replace(OWN_ENDPOINT, model))
        if words[0] == "make":
            assert re.search(rf"^{re.escape(words[1])}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
            continue
        if words[0] == "prefect":
            continue  # test_deployments.py runs these
        assert words[0] == "rubrics", f"{page.name}: {line!r} is not a command of this project"
        done = rubrics(*words[1:], cwd=folder, RUBRICS_BASE_URL=model, XDG_CACHE_HOME=str(CACHE))
        assert done.code in (0, 1), f"{page.name}: {line!r}\n{done.err}"


def test_readme_names_every_command_of_the_program() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    missing = [name for name in cli.commands if f"`rubrics {name}" not in readme]
    assert not missing


def test_readme_links_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert [page.name for page in PAGES[1:] if f"docs/{page.name}" not in readme] == []
