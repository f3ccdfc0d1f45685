"""What preparation scrubbed is what tests and graders enter, in every backend; and it goes when nobody names it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from environment_helpers import RECIPE, STATE, diff, rollout_of, small_task, started_or_skipped
from leaks import FIELDS, FIXED, LEAKS, Box, build

from rubrics.environments.bubblewrap import Bubblewrap
from rubrics.environments.docker_rollouts import DockerEnvironment
from rubrics.environments.mounts import may_mount, overlay, tmpfs, unmount_under
from rubrics.environments.recipes import Places
from rubrics.environments.session import Limits
from rubrics.environments.state import State
from rubrics.errors import InfraError
from rubrics.preparation.config import Preparation
from rubrics.preparation.findings import Finding
from rubrics.preparation.loop import PROBES, prepare, probe
from rubrics.preparation.place import Place
from rubrics.records.tasks import Sealed, SealedTask, Task
from rubrics.stages.cleaning import clean_prepared
from rubrics.stages.environments import Opener, open_environment
from rubrics.stages.options import Options
from rubrics.stages.prepare import Prepare
from rubrics.stages.stage import drive, run_here
from rubrics.stages.test import Test
from rubrics.store.store import Store
from rubrics.testing.plan import TestPlan
from rubrics.testing.run import plan_of

RECIPE_WITH_GIT = json.dumps({**RECIPE, "packages": [*RECIPE["packages"], "git"]})
FIX = diff("quill/fields.py", FIELDS, FIELDS.replace("value.seconds", "value.days * 86400 + value.seconds"))
HIDDEN_TEST = diff(
    "tests/test_days.py",
    "",
    "import datetime\nimport unittest\n\nfrom quill.fields import serialize\n\n\nclass Days(unittest.TestCase):\n"
    "    def test_days(self):\n        self.assertEqual(serialize(datetime.timedelta(days=1), 1), 86400)\n",
)


@dataclass
class Case:
    """A store in which one leaky task's environment was prepared."""

    options: Options
    store: Store
    task: Task
    sealed: SealedTask
    box: Box

    @property
    def row(self) -> dict[str, object]:
        (found,) = self.store.rows("environments")
        return found

    def opener(self, **more: object) -> Opener:
        return Opener(replace(self.options, **more), self.store, root=STATE)  # type: ignore[arg-type]


class Plants:
    """Finds nothing; leaves what a careless image has outside the repository, once."""

    name = "plants"

    def look(self, place: Place) -> tuple[Finding, ...]:
        if place.shell.run("ls /opt/planted").exit_code != 0:
            for path in ("/opt/planted", "/root/.bash_history", "/solution/solve.sh"):
                place.shell.write(path, b"" if path == "/opt/planted" else FIXED.encode())
        return ()


@pytest.fixture(scope="module", params=["docker", "bubblewrap"])
def case(request: pytest.FixtureRequest, base: None, tmp_path_factory: pytest.TempPathFactory) -> Case:
    started_or_skipped(request.param).close()
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "box").mkdir()
    box, task, sealed = build(folder / "box")
    for name in ("git_branch", "git_stash", "patch_file"):
        LEAKS[name].plant(box)
    box.put("testbed/old/run.sh", FIXED)
    box.put("testbed/old/test_kept.py", FIXED)
    task = replace(task, repository=str(box.repo), recipe=RECIPE_WITH_GIT, test_command="python3 -m unittest -v")
    sealed = replace(sealed, test_patch=Sealed(HIDDEN_TEST))
    store = stored(folder / "store", task, sealed)
    options = Options(str(folder / "store"), env=request.param)
    with open_environment(options, store, root=STATE, prepared=False) as opener:
        try:
            opener.open(task).close()
        except InfraError as error:
            pytest.skip(f"no base with git: {error}")
        drive(Prepare(store, options, opener, Preparation(), (Plants(), *PROBES)), store, run_here, 1)
    return Case(options, store, task, sealed, box)


def stored(folder: Path, task: Task, sealed: SealedTask) -> Store:
    store = Store.create(folder)
    names = ("task_id", "repo", "base_commit", "spec", "repository", "image", "recipe", "workdir", "test_command")
    row = {name: getattr(task, name) for name in names} | {"fail_to_pass": [], "pass_to_pass": [], "source": ""}
    texts = {name: getattr(sealed, name).open_for("store") for name in ("test_patch", "reference_patch")}
    with store.writing() as run:
        run.append("tasks", [row])
        run.append("sealed", [{"task_id": task.task_id, "hints": None, **texts}])
        run.append("rollouts", [
            {"rollout_id": name, "task_id": task.task_id, "group_id": "g", "run": name, "attempt": 0, "patch": patch}
            for name, patch in (("a", FIX), ("b", FIX), ("c", ""))
        ])  # fmt: skip
    return store


@pytest.fixture(params=["rollout", "image"])
def opener(request: pytest.FixtureRequest, case: Case) -> Iterator[Opener]:
    if request.param == "image" and case.options.env != "docker":
        pytest.skip("one container per image is for docker")
    found = case.opener(env_mode=request.param)
    yield found
    found.close()


def test_preparation_finds_the_leaks_and_names_the_state_it_kept(case: Case) -> None:
    kinds = {item["kind"] for item in json.loads(str(case.row["probes"]))[0]}
    assert (case.row["clean"], case.row["rung"]) == (True, "repository")
    assert {"git_branch", "git_stash", "patch_file", "shell_history", "harness_folder"} <= kinds
    with closing(case.opener()) as opener, closing(opener(case.task)) as session:
        assert session.image_digest == case.row["image"]


def test_the_prepared_state_is_what_a_rollout_is_rebuilt_in_and_no_leak_is_in_it(case: Case, opener: Opener) -> None:
    with closing(opener(case.task)) as session:
        assert session.rung == "prepared"
        found = probe(session, case.task, case.sealed, Preparation())
        assert [finding for finding in found if finding.place != "/tmp/home"] == []  # the home of one per image
        done = session.run("git log --all --format=%H | wc -l; git stash list; git for-each-ref refs/heads", 60)
        assert done.output.split() == ["2"]
        assert session.run("ls -A /opt; ls /solution /root/.bash_history", 60).output.split()[0] == "planted"
        assert session.run("ls /solution || ls /root/.bash_history", 60).exit_code != 0
        assert session.run("ls old fix.patch; grep -rlF total_seconds .", 60).exit_code != 0
    with closing(opener(case.task, rollout_of(case.task, FIX))) as session:
        assert session.rung == "prepared+patch"
        assert b"86400" in session.read("quill/fields.py")
        session.run("git checkout -q .", 60)
        assert session.read("quill/fields.py").decode() == FIELDS


def test_the_original_can_still_be_opened_by_who_builds_the_plan_of_tests(case: Case) -> None:
    with closing(case.opener()) as opener:
        before = opener.original(case.task)
        assert before is not None
        with closing(before):
            assert before.rung == "repository"
            assert before.read("old/run.sh").decode() == FIXED


def test_the_hidden_tests_run_in_the_prepared_state_and_the_census_says_so(case: Case) -> None:
    outcomes, census = outcomes_of(case)
    assert outcomes == {"a": ("passed", "prepared+patch"), "b": ("passed", "prepared+patch"),
                        "c": ("failed", "prepared+patch")}  # fmt: skip
    assert census["prepared"] == 3
    assert "unprepared" not in census


def test_a_task_that_changed_since_is_entered_as_it_is_now_and_counted(case: Case) -> None:
    changed = replace(case.task, recipe=None, repository=None, image=None, base_commit="elsewhere")
    moved = replace(case.task, workdir="/elsewhere")
    with closing(case.opener()) as opener:
        for task in (changed, moved):
            assert opener.original(task) is None
            opener._saved[task.task_id] = str(case.row["image"])
            opener._checked.clear()
        rollout = rollout_of(moved, FIX)
        with closing(opener(moved, rollout)) as session:
            assert session.rung == "repository+patch"
        census = opener.census("test", [opener.entered_of([rollout.rollout_id])])
        assert {line.kind: line.count for line in census} == {"environment": 1, "unprepared": 1}


def outcomes_of(case: Case) -> tuple[dict[str, tuple[str, str]], dict[str, int]]:
    """Outcomes and census of a run of the tests. The reference of the planted leaks is no code that runs: it goes."""
    with case.store.writing() as run:
        run.append("sealed", [{"task_id": case.task.task_id, "test_patch": HIDDEN_TEST}])
    with closing(case.opener()) as opener:
        drive(Test(case.store, case.options, opener), case.store, run_here, 1)
    rows = case.store.rows("outcomes", where="source = 'run:1'")
    census = case.store.rows("census", where="stage = 'test'")
    found = {row["rollout_id"]: (row["outcome"], row["rung"]) for row in rows}
    return found, {row["kind"]: row["count"] for row in census}


def test_a_listed_test_that_lay_about_comes_back_for_the_run_and_a_script_that_the_run_needs_is_missed(
    case: Case,
) -> None:
    """Preparation takes both away, for they hold lines of the answer."""
    plan = planned(case, "python3 -m unittest -v", ("old/test_kept.py::x",))
    assert (plan.files["old/test_kept.py"] or b"").decode() == FIXED
    with pytest.raises(InfraError, match=r"needs old/run\.sh, which preparation removed") as caught:
        planned(case, "sh old/run.sh", ())
    assert caught.value.kind == "test_files"


def planned(case: Case, command: str, wanted: tuple[str, ...]) -> TestPlan:
    task = replace(case.task, test_command=command, fail_to_pass=wanted)
    with closing(case.opener()) as opener:
        return plan_of(opener, task, case.sealed, opener.original)


def test_cleaning_takes_the_states_that_the_store_does_not_name_and_leaves_the_one_it_does(case: Case) -> None:
    with closing(case.opener()) as opener:
        with closing(opener(case.task)) as session:
            other = opener.save(session, str(case.store.paths.root))
        assert opener.backend.stands(other, case.task)
        assert clean_prepared(case.store, STATE) == 1
        assert not opener.backend.stands(other, case.task)
        assert opener.backend.stands(str(case.row["image"]), case.task)


@pytest.mark.parametrize("on_overlay", [False, True], ids=["any disk", "an overlay"])
def test_what_was_removed_stays_removed_in_a_kept_state_whatever_disk_keeps_it(
    on_overlay: bool, tmp_path: Path, repository: Path
) -> None:
    """An overlay cannot hold another overlay's marks of removed files: then the state is kept whole."""
    started_or_skipped("bubblewrap").close()
    if not may_mount():
        pytest.skip("needs root for overlays")
    disk = tmp_path / "disk"
    disk.mkdir()
    tmpfs(tmp_path / "disk", 512 << 20)
    (disk / "lower").mkdir()
    try:
        if on_overlay:
            overlay([disk / "lower"], disk / "upper", tmp_path / "state")
        environment = Bubblewrap(Places(), Limits(), State(tmp_path / "state"))
        task = small_task(repository, recipe='{"base": "host"}')
        with closing(environment), closing(environment.open(task, None)) as session:
            session.run("rm calc.py; rm -r tests; mkdir tests; echo new > tests/new; ln -s tests/new link", 20)
            kept = environment.save(session, "somebody")
            with closing(environment.open(task, None, saved=kept)) as again:
                assert again.run("find . -name .git -prune -o -print | sort", 20).output.split() == [
                    ".", "./link", "./tests", "./tests/new"
                ]  # fmt: skip
                assert again.read("link") == b"new\n"
    finally:
        unmount_under(tmp_path)


@pytest.mark.parametrize("backend", ["docker", "bubblewrap"])
def test_a_variable_of_the_image_that_tells_the_answer_is_empty_in_the_state_that_is_kept(
    backend: str, base: None, tmp_path: Path
) -> None:
    """A file can be removed from within; what every command starts with is the image's own."""
    (tmp_path / "box").mkdir()
    box, task, sealed = build(tmp_path / "box")
    told = base64.b64encode(FIXED.encode()).decode()
    recipe = {**json.loads(RECIPE_WITH_GIT), "env": {"NOTES": told, "KEPT": "here"}}
    task = replace(task, repository=str(box.repo), recipe=json.dumps(recipe))
    with closing(started_or_skipped(backend)) as environment:
        assert isinstance(environment, Bubblewrap | DockerEnvironment)
        with closing(environment.open(task, None)) as session:
            assert session.run("echo $NOTES", 20).output.strip() == told
            done = prepare(session, task, sealed, Preparation())
            assert done.clean, done.open
            assert done.unset == ("NOTES",)
            assert "environment_variable" in {finding.kind for finding in done.rounds[0]}
            kept = environment.save(session, "somebody", done.unset)
        with closing(environment.open(task, None, saved=kept)) as again:
            assert again.run('echo "[$NOTES$KEPT]"', 20).output.strip() == "[here]"
            assert probe(again, task, sealed, Preparation()) == ()
