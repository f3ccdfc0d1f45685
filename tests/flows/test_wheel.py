"""The wheel, installed in an empty environment, does the main job in an empty folder."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of commands of a new environment that holds the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=300)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    commands = folder / "env" / "bin"
    subprocess.run([commands / "python", "-m", "pip", "install", "-q", wheel], check=True, timeout=900)
    return commands


def test_the_demo_runs_from_a_wheel_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run([installed / "rubrics", "demo"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    assert "sample__textkit-17" in done.stdout
    assert "Census" in done.stdout
    for name in ("manifest.json", "views.sql", "report.html", "rubrics/sample__spans-8.solution.yaml"):
        assert (tmp_path / "rubrics-demo" / name).is_file(), name


def test_the_wheel_installs_one_import_package(installed: Path) -> None:
    listed = subprocess.run(
        [
            installed / "python",
            "-c",
            "import importlib.metadata as m; print(m.distribution('rubrics').read_text('RECORD'))",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    tops = {line.split("/")[0] for line in listed.splitlines() if line and not line.startswith("..")}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"rubrics"}
    assert "rubrics/_content/flows/stage_flows.py" in listed
    assert "rubrics/_content/data/views/scores.sql" in listed
