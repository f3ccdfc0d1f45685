"""JUnit XML that a task's command writes inside: read when it was written by this very run, and by no other way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from environment_helpers import diff, rollout_of, small_task, started_or_skipped

from rubrics.environments.session import Environment
from rubrics.errors import InfraError
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.testing.run import TestRun, plan_of, prepare_tests, run_tests

CALC = "def add(a, b):\n    return a - b\n\n\ndef zero():\n    return 0\n"
FIX = diff("calc.py", CALC, CALC.replace("a - b", "a + b"))
PASSES = '<testsuite tests="1"><testcase classname="Calc" name="add"/></testsuite>\n'
RUNNER = """import calc

good = calc.add(1, 2) == 3
case = '<testcase classname="Calc" name="add">' + ('' if good else '<failure/>') + '</testcase>'
import os
os.makedirs("build/reports", exist_ok=True)
open("build/reports/TEST-calc.xml", "w").write('<testsuite tests="1">' + case + '</testsuite>')
raise SystemExit(0 if good else 1)
"""
FORGED = diff("build/reports/TEST-calc.xml", "", PASSES)


@pytest.fixture(scope="module")
def environment(base: None) -> Iterator[Environment]:
    found = started_or_skipped("bubblewrap")
    yield found
    found.close()


def run(environment: Environment, repository: Path, patch: str, **more: object) -> TestRun:
    task = small_task(
        repository, test_command="python3 run_hidden.py", test_report="build/reports/TEST-*.xml",
        fail_to_pass=("Calc.add",),
    )  # fmt: skip
    task = replace(task, **more)  # type: ignore[arg-type]
    sealed = SealedTask("t", Sealed(diff("run_hidden.py", "", RUNNER)), Sealed(FIX))
    return run_tests(environment, task, prepare_tests(environment, task, sealed, 60.0), rollout_of(task, patch), 60.0)


def test_the_report_decides(environment: Environment, repository: Path) -> None:
    right, wrong = run(environment, repository, FIX), run(environment, repository, "")
    assert (right.outcome, right.tests) == ("passed", {"Calc.add": "passed"})
    assert (wrong.outcome, wrong.tests) == ("failed", {"Calc.add": "failed"})


def linked(name: str, target: str) -> str:
    return (
        f"diff --git a/{name} b/{name}\nnew file mode 120000\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n"
        f"+{target}\n\\ No newline at end of file\n"
    )


LEAVES = diff("calc.py", CALC, "import os\nos._exit(0)\n" + CALC)
LINKS = diff("calc.py", CALC, (
    "import os\nos.makedirs('build', exist_ok=True)\n"
    "os.symlink('../mine', 'build/reports')\nos._exit(0)\n"
) + CALC)  # fmt: skip
LINKS_A_FILE = diff("calc.py", CALC, (
    "import os\nos.makedirs('build/reports', exist_ok=True)\n"
    "os.symlink('../../mine/TEST-calc.xml', 'build/reports/TEST-calc.xml')\nos._exit(0)\n"
) + CALC)  # fmt: skip
MINE = diff("mine/TEST-calc.xml", "", PASSES)


@pytest.mark.parametrize(
    "patch",
    [
        FORGED + LEAVES,
        diff("build/reports/TEST-other.xml", "", PASSES) + LEAVES,
        linked("build", "mine") + diff("mine/reports/TEST-calc.xml", "", PASSES) + LEAVES,
        MINE + LINKS,
        MINE + LINKS_A_FILE,
        diff("calc.py", CALC, PASSES.join(("print('''", "''')\n")) + CALC),
    ],
    ids=["brought along", "under another name", "behind a link", "linked folder", "linked file", "printed"],
)
def test_a_report_that_this_run_did_not_write_itself_passes_nobody(
    environment: Environment, repository: Path, patch: str
) -> None:
    done = run(environment, repository, patch)
    assert done.outcome == "failed", done.detail


def test_a_report_without_a_failure_beside_a_failing_exit_code_is_not_believed(
    environment: Environment, repository: Path
) -> None:
    forges = f"import os\nos.makedirs('build/reports')\nopen('build/reports/TEST-a.xml', 'w').write('''{PASSES}''')\n"
    done = run(environment, repository, diff("calc.py", CALC, f"{forges}raise SystemExit(3)\n{CALC}"))
    assert (done.outcome, "the exit code is 3" in done.detail) == ("failed", True)


@pytest.mark.parametrize("pattern", ["../out.xml", "a b.xml", "$(id).xml", "x;id", ""])
def test_a_path_that_a_shell_would_not_take_as_it_stands_is_infra_for_the_task(
    environment: Environment, repository: Path, pattern: str
) -> None:
    task: Task = small_task(repository, test_command="true", test_report=pattern or "/")
    with pytest.raises(InfraError, match="test_report"):
        plan_of(environment, task, None)
