"""Who may import whom (design section 8), read from the source of every module."""

from __future__ import annotations

import ast
import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rubrics"
MODULES = sorted(file for file in PACKAGE.rglob("*.py") if "_content" not in file.parts)

HOMES = {
    "prefect": ("rubrics/cli/launcher.py",),
    "duckdb": ("rubrics/store/", "rubrics/rules/"),
    "pyarrow": ("rubrics/store/", "rubrics/rules/", "rubrics/ingest/parquet.py"),
    "jinja2": ("rubrics/report/page.py", "rubrics/prompting/templates.py"),
    "litellm": ("rubrics/models/endpoint.py",),
    "openai": ("rubrics/models/endpoint.py",),
    "docker": ("rubrics/environments/docker_engine.py",),
    "requests": ("rubrics/environments/docker_engine.py",),
    "urllib3": ("rubrics/environments/docker_engine.py",),
    "yaml": ("rubrics/rules/", "rubrics/ingest/"),
    "click": ("rubrics/cli/",),
    "rich": ("rubrics/cli/",),
    "packaging": ("rubrics/preparation/packages.py",),
    "zstandard": ("rubrics/preparation/containers.py",),
    "numpy": ("rubrics/rewards/", "rubrics/stages/", "rubrics/store/"),
    "orjson": ("rubrics/jsonio.py", "rubrics/ingest/"),
    "torch": ("rubrics/exports/carried/",),
    "datasets": ("rubrics/exports/carried/",),
    "skyrl_gym": ("rubrics/exports/carried/",),
    "verl": ("rubrics/exports/carried/",),
}
"""What `exports/carried` holds runs inside a trainer, and nowhere else."""
BELOW = {
    "records": {"records", "digests", "jsonio", "errors"},
    "facts": {"facts", "records", "digests", "errors", "vocabulary"},
    "contrasts": {"contrasts", "records", "digests", "errors", "vocabulary"},
    "authors": {"authors", "contrasts", "records", "digests", "errors", "vocabulary"},
    "rewards": {"rewards", "records", "errors", "digests"},
    "replies": {"replies", "facts", "records", "jsonio", "errors", "vocabulary", "visible"},
    "ranking": {"ranking", "records", "digests", "errors"},
    "prompting": {"prompting", "facts", "records", "content", "digests", "jsonio", "errors", "visible"},
}
"""What the pure packages may import of our own; nothing that reads, writes or asks."""


def imports(file: Path) -> Iterator[str]:
    """Full dotted names that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def pure_files(package: str) -> list[Path]:
    """Modules called `model_*` ask a model, and are no part of what is pure."""
    return [file for file in (PACKAGE / package).rglob("*.py") if not file.name.startswith("model_")]


def place(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def test_every_third_party_engine_has_its_home() -> None:
    known = set(sys.stdlib_module_names) | {"rubrics"} | set(HOMES)
    wrong = [
        f"{place(file)} imports {top}"
        for file in MODULES
        for top in sorted({name.split(".")[0] for name in imports(file)})
        if top not in known or (top in HOMES and not place(file).startswith(HOMES[top]))
    ]
    assert wrong == []


def test_nothing_imports_the_flows_or_the_command_line() -> None:
    stems = {file.stem for file in (ROOT / "flows").glob("*.py")}
    for file in MODULES:
        names = set(imports(file))
        assert not {name.split(".")[0] for name in names} & ({"flows"} | stems), place(file)
        if not place(file).startswith("rubrics/cli/") and file.name != "__main__.py":
            assert not [name for name in names if name.startswith("rubrics.cli")], place(file)


def test_only_the_command_line_and_the_flows_import_stages() -> None:
    for file in MODULES:
        if not place(file).startswith(("rubrics/cli/", "rubrics/stages/")):
            assert not [name for name in imports(file) if name.startswith("rubrics.stages")], place(file)


@pytest.mark.parametrize("package", sorted(BELOW))
def test_pure_packages_import_only_what_is_below_them(package: str) -> None:
    for file in pure_files(package):
        ours = {name.split(".")[1] for name in imports(file) if name.startswith("rubrics.")} - {"__version__"}
        assert ours <= BELOW[package], place(file)


@pytest.mark.parametrize("package", ["records", "facts", "contrasts", "authors", "rewards", "replies", "ranking"])
def test_pure_packages_touch_no_file_clock_process_or_chance(package: str) -> None:
    banned = {"os", "sys", "time", "datetime", "random", "secrets", "uuid", "subprocess", "socket", "threading"}
    banned |= {"shutil", "tempfile", "asyncio", "logging", "urllib", "http", "pathlib", "io"}
    for file in pure_files(package):
        allowed = {"pathlib"} if place(file) in READS_ITS_DEFAULTS else set()
        found = {name.split(".")[0] for name in imports(file)} & banned - allowed
        assert not found, f"{place(file)} imports {found}"


READS_ITS_DEFAULTS = {"rubrics/rewards/settings.py", "rubrics/rewards/config.py"}
"""The reward configuration reads its own defaults beside it, and the user's file."""


def test_flow_files_are_called_like_no_module_that_could_be_imported() -> None:
    taken = set(sys.stdlib_module_names) | set(importlib.metadata.packages_distributions())
    assert "duckdb" in taken
    stems = {file.stem for file in (ROOT / "flows").glob("*.py")}
    assert stems
    assert not stems & taken
    assert all("_" in stem for stem in stems)


def test_flows_hold_no_type_and_no_state() -> None:
    for file in (ROOT / "flows").glob("*.py"):
        for node in ast.parse(file.read_text("utf-8")).body:
            assert isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.Expr), (
                file
            )


def test_importing_the_package_imports_nothing_else_and_does_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys, threading\n"
        "before = set(sys.modules), dict(os.environ), os.getcwd(), threading.active_count(), list(sys.path)\n"
        "import rubrics\n"
        "new = set(sys.modules) - before[0]\n"
        "after = dict(os.environ), os.getcwd(), threading.active_count(), list(sys.path)\n"
        "assert after == before[1:], after\n"
        "print(sorted(name for name in new if name.split('.')[0] not in sys.stdlib_module_names))\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "['rubrics']\n"
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []
