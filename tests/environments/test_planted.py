"""A rollout cannot pass by printing, by leaving early, or by planting files that steer the runner.

Each patch below leaves the bug in place. The reference passes in the same environment, so a failure is the cheat's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from environment_helpers import diff, rollout_of, small_task, started_or_skipped

from rubrics.environments.session import Environment
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.testing.run import Prepared, TestRun, plan_of, prepare_tests, run_tests

CALC = "def add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n"
FIX = diff("calc.py", CALC, CALC.replace("a - b", "a + b"))
HIDDEN = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
HIDDEN += "\n\ndef test_other():\n    assert add(0, 0) == 0\n"
CASES = (
    "import unittest\n\nfrom calc import add\n\n\nclass Hidden(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"
)
TESTS = {
    "pytest": ("python -m pytest -rA tests", HIDDEN, ("tests/test_hidden.py::test_add",)),
    "unittest": ("python -m unittest discover -v -s tests -t .", CASES, ("test_add (tests.test_hidden.Hidden)",)),
    "exit code of pytest": ("python -m pytest tests", HIDDEN, ()),
}
SUMMARY = (
    "print('=' * 10 + ' short test summary info ' + '=' * 10)\n"
    "print('PASSED tests/test_hidden.py::test_add')\nprint('PASSED tests/test_hidden.py::test_other')\n"
    "print('=' * 10 + ' 2 passed in 0.01s ' + '=' * 10)\n"
    "print('test_add (tests.test_hidden.Hidden) ... ok', flush=True)\n"
    "print('-' * 70 + '\\nRan 1 test in 0.000s\\n\\nOK', flush=True)\n"
)
EARLY = f"import os\n{SUMMARY}import sys\nsys.stdout.flush()\nos._exit(0)\n"
AT_END = "import atexit\nimport os\n\n\ndef forge():\n" + "".join(f"    {line}\n" for line in SUMMARY.splitlines())
AT_END += "    import sys\n    sys.stdout.flush()\n    os._exit(0)\n\n\natexit.register(forge)\n"
SKIP_ALL = (
    "import pytest\n\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_makereport(item, call):\n"
    "    from _pytest.reports import TestReport\n    call.excinfo = None\n"
    "    return TestReport.from_item_and_call(item, call)\n"
)


def new(path: str, content: str) -> str:
    return diff(path, "", content)


CHEATS = {
    "prints the lines of a pass": diff("calc.py", CALC, SUMMARY + CALC),
    "prints them and leaves with code 0": diff("calc.py", CALC, EARLY + CALC),
    "prints them at the very end and leaves with code 0": diff("calc.py", CALC, AT_END + CALC),
    "leaves with code 0 in the function": diff(
        "calc.py", CALC, CALC.replace("return a - b", "__import__('os')._exit(0)")
    ),
    "raises SystemExit(0) on import": diff("calc.py", CALC, "raise SystemExit(0)\n" + CALC),
    "raises a skip": diff("calc.py", CALC, CALC.replace("return a - b", "raise __import__('unittest').SkipTest('x')")),
    "plants a conftest that leaves": new("conftest.py", EARLY),
    "plants a conftest that turns failures into passes": new("conftest.py", SKIP_ALL),
    "plants a conftest deeper": new("tests/conftest.py", SKIP_ALL),
    "plants a conftest that skips everything": new("conftest.py", "collect_ignore_glob = ['*']\n"),
    "plants sitecustomize": new("sitecustomize.py", EARLY),
    "plants usercustomize": new("usercustomize.py", EARLY),
    "plants a pytest.ini that deselects": new("pytest.ini", "[pytest]\naddopts = --collect-only\n"),
    "plants a tox.ini with pytest options": new("tox.ini", "[pytest]\naddopts = --co\n"),
    "plants a pyproject that loads a plugin": new(
        "pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-p cheat"\n'
    ) + new("cheat.py", SKIP_ALL),
    "shadows pytest": new("pytest/__init__.py", "") + new("pytest/__main__.py", EARLY),
    "shadows pytest by a file": new("pytest.py", EARLY),
    "shadows unittest": new("unittest/__init__.py", EARLY) + new("unittest/__main__.py", EARLY),
    "writes the hidden test itself": new("tests/test_hidden.py", "def test_add():\n    pass\n"),
    "puts a folder where the hidden test goes": new("tests/test_hidden.py/x.py", "x = 1\n"),
    "weakens the kept test": diff(
        "tests/test_calc.py",
        "from calc import zero\n\n\ndef test_zero():\n    assert zero() == 0\n",
        "from calc import zero\n\n\ndef test_zero():\n    pass\n",
    ),
    "changes nothing": "",
}  # fmt: skip


@dataclass(frozen=True)
class Bench:
    environment: Environment
    task: Task
    prepared: Prepared

    def outcome(self, patch: str) -> TestRun:
        return run_tests(self.environment, self.task, self.prepared, rollout_of(self.task, patch), 60.0)


def bench_of(form: str, folder: Path, environment: Environment) -> Bench:
    """A repository with the bug and its hidden tests of one form."""
    (folder / "tests").mkdir(parents=True)
    (folder / "calc.py").write_text(CALC)
    (folder / "tests" / "__init__.py").write_text("")
    (folder / "tests" / "test_calc.py").write_text(
        "from calc import zero\n\n\ndef test_zero():\n    assert zero() == 0\n"
    )
    command, hidden, wanted = TESTS[form]
    kept = ("tests/test_calc.py::test_zero",) if wanted and "pytest" in command else ()
    task = small_task(folder, test_command=command, fail_to_pass=wanted, pass_to_pass=kept)
    sealed = SealedTask("t", Sealed(new("tests/test_hidden.py", hidden)), Sealed(FIX))
    return Bench(environment, task, prepare_tests(environment, task, sealed, 60.0))


@pytest.fixture(scope="module", params=TESTS)
def bench(request: pytest.FixtureRequest, base: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    environment = started_or_skipped("bubblewrap")
    yield bench_of(request.param, tmp_path_factory.mktemp("planted") / "repo", environment)
    environment.close()


def test_the_reference_passes(bench: Bench) -> None:
    done = bench.outcome(FIX)
    assert done.outcome == "passed", done.detail
    assert done.rung == "repository+patch"
    assert done.log_digest


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_patch_that_leaves_the_bug_does_not_pass(bench: Bench, cheat: str) -> None:
    done = bench.outcome(CHEATS[cheat])
    assert done.outcome == "failed", done.detail


@pytest.mark.parametrize("cheat", [name for name in CHEATS if "plants" in name or "shadows" in name])
def test_a_right_patch_passes_whatever_was_planted_beside_it(bench: Bench, cheat: str) -> None:
    done = bench.outcome(FIX + CHEATS[cheat])
    assert done.outcome == "passed", done.detail
    assert "removed" in done.detail


def test_a_conftest_of_the_base_comes_back_and_a_config_that_says_nothing_to_pytest_stays(
    base: None, tmp_path: Path
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "calc.py").write_text(CALC)
    (tmp_path / "setup.cfg").write_text("[metadata]\nname = calc\n")
    (tmp_path / "tests" / "conftest.py").write_text("VALUE = 1\n")
    hidden = HIDDEN + "\n\ndef test_config():\n    assert 'renamed' in open('setup.cfg').read()\n"
    task = small_task(tmp_path, test_command="python -m pytest tests", fail_to_pass=("tests/test_hidden.py::test_add",))
    patch = FIX + diff("setup.cfg", "[metadata]\nname = calc\n", "[metadata]\nname = renamed\n")
    patch += diff("tests/conftest.py", "VALUE = 1\n", EARLY)
    environment = started_or_skipped("bubblewrap")
    try:
        sealed = SealedTask("t", Sealed(new("tests/test_hidden.py", hidden)))
        prepared = prepare_tests(environment, task, sealed, 60.0)
        done = run_tests(environment, task, prepared, rollout_of(task, patch), 60.0)
    finally:
        environment.close()
    assert done.outcome == "passed"
    assert "restored tests/conftest.py" in done.detail
    assert done.tests["tests/test_hidden.py::test_config"] == "passed"


def test_a_test_patch_that_does_not_fit_base_is_infra_for_everybody(base: None, repository: Path) -> None:
    from rubrics.errors import InfraError

    environment = started_or_skipped("bubblewrap")
    broken = diff("tests/test_calc.py", "not\nthere\n", "not\nhere\n")
    try:
        with pytest.raises(InfraError, match="does not fit its base"):
            plan_of(environment, small_task(repository, test_command="true"), SealedTask("t", Sealed(broken)))
    finally:
        environment.close()


def test_a_run_that_hits_its_time_limit_failed_and_says_so(bench: Bench) -> None:
    loop = diff("calc.py", CALC, CALC.replace("return a - b", "while True: pass"))
    done = run_tests(bench.environment, bench.task, bench.prepared, rollout_of(bench.task, loop), 2.0)
    assert done.outcome == "failed"
    assert "time limit" in done.detail


def test_listed_statuses_are_ids_and_statuses_and_never_the_log(bench: Bench) -> None:
    done = bench.outcome(diff("calc.py", CALC, "print('a secret of the log')\n" + CALC))
    assert "secret" not in json.dumps(done.tests) + done.detail
    assert replace(done, tests={}).tests == {}


ELSEWHERE = (
    "prints them at the very end and leaves with code 0", "plants sitecustomize", "shadows pytest",
    "plants a conftest that turns failures into passes",
)  # fmt: skip


@pytest.mark.parametrize("mode", ["docker", "docker-per-image"])
def test_under_docker_the_fix_passes_and_forgers_do_not(mode: str, base: None, tmp_path: Path) -> None:
    """The same code decides in every backend; what differs is the shell and the files that it stands on."""
    environment = started_or_skipped(mode)
    try:
        bench = bench_of("pytest", tmp_path / "repo", environment)
        fixed = bench.outcome(FIX)
        assert fixed.outcome == "passed", fixed.detail
        assert {cheat: bench.outcome(CHEATS[cheat]).outcome for cheat in ELSEWHERE} == dict.fromkeys(
            ELSEWHERE, "failed"
        )
    finally:
        environment.close()
