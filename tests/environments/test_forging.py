"""Half of 128 hostile rollouts passed the tests whose fault they left in place; half of these without any finding.

Each forgery leaves the fault. None may pass, none may choose `infra`, and the honest ones all pass, without a finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from environment_helpers import diff, rollout_of, small_task, started_or_skipped
from forgeries import BASE_TEST, CORE, FORGERIES, HIDDEN_FUNCTIONS, HIDDEN_METHODS, HONEST, Forgery

from rubrics.environments.session import Environment
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.testing.run import Prepared, TestRun, prepare_tests, run_tests

METHODS = ("test_top", "test_top_of_many")
FUNCTIONS = ("test_top_alone", "test_text_of_top")
KEPT = ("test_plain", "test_labels")
SETUP = "[metadata]\nname = tally\n"
RUN = {"pytest": "python3 -m pytest -rA tests", "unittest": "python3 -m unittest -v tests.test_sums"}
FORMS = {
    "functions under pytest": ("pytest", HIDDEN_FUNCTIONS, "tests/test_sums.py::{}", FUNCTIONS),
    "cases under pytest": ("pytest", HIDDEN_METHODS, "tests/test_sums.py::Sums::{}", METHODS),
    "cases under unittest": ("unittest", HIDDEN_METHODS, "{} (tests.test_sums.Sums)", METHODS),
}


@dataclass(frozen=True)
class Bench:
    runner: str
    environment: Environment
    task: Task
    prepared: Prepared

    def run(self, forgery: Forgery) -> TestRun:
        if self.runner not in forgery.only:
            pytest.skip(f"no forgery under {self.runner}")
        before = {"tally/core.py": CORE, "setup.cfg": SETUP, "tests/__init__.py": ""}
        changed = {"tally/core.py": forgery.core, **forgery.files}
        patch = "".join(
            diff(path, before.get(path, ""), text) for path, text in changed.items() if before.get(path) != text
        )
        return run_tests(self.environment, self.task, self.prepared, rollout_of(self.task, patch), 20.0)


@pytest.fixture(scope="module", params=FORMS)
def bench(request: pytest.FixtureRequest, base: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    environment = started_or_skipped("bubblewrap")
    yield bench_of(request.param, tmp_path_factory.mktemp("forging"), environment)
    environment.close()


def bench_of(form: str, folder: Path, environment: Environment) -> Bench:
    runner, hidden, listed, wanted = FORMS[form]
    for path, text in {
        "tally/__init__.py": "", "tally/core.py": CORE, "tests/__init__.py": "", "tests/test_sums.py": BASE_TEST,
        "setup.cfg": SETUP,
    }.items():  # fmt: skip
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    kept = "{} (tests.test_sums.Sums)" if runner == "unittest" else "tests/test_sums.py::Sums::{}"
    task = small_task(
        folder,
        test_command=RUN[runner],
        fail_to_pass=tuple(listed.format(name) for name in wanted),
        pass_to_pass=tuple(kept.format(name) for name in KEPT),
    )
    fix = diff("tally/core.py", CORE, HONEST["the fix"].core)
    sealed = SealedTask("t", Sealed(diff("tests/test_sums.py", BASE_TEST, BASE_TEST + hidden)), Sealed(fix))
    return Bench(runner, environment, task, prepare_tests(environment, task, sealed, 60.0))


def test_the_reference_is_read_by_the_recorder_and_tests_of_our_own_stand_beside_the_listed_ones(bench: Bench) -> None:
    calibration = bench.prepared.calibration
    assert calibration.recorded
    assert calibration.left_out == ()
    kinds = {key.rpartition("#")[2] for key in calibration.canaries}
    assert {"fails", "errors", "skips", "passes"} < kinds
    assert any(kind[-1] in "=<" for kind in kinds)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_does_not_pass(bench: Bench, forgery: str) -> None:
    done = bench.run(FORGERIES[forgery])
    assert done.outcome == "failed", done.detail


@pytest.mark.parametrize("honest", HONEST)
def test_an_honest_patch_passes_without_a_finding(bench: Bench, honest: str) -> None:
    done = bench.run(HONEST[honest])
    assert (done.outcome, done.subversions) == ("passed", ()), done.detail


ELSEWHERE = ("runtest does nothing", "a number that equals everything", "reports are made good", "a conftest")


@pytest.mark.parametrize("mode", ["docker", "docker-per-image"])
def test_under_docker_too(mode: str, base: None, tmp_path: Path) -> None:
    environment = started_or_skipped(mode)
    try:
        bench = bench_of("functions under pytest", tmp_path, environment)
        assert {name: bench.run(FORGERIES[name]).outcome for name in ELSEWHERE} == dict.fromkeys(ELSEWHERE, "failed")
        assert bench.run(HONEST["the fix"]).outcome == "passed"
    finally:
        environment.close()
