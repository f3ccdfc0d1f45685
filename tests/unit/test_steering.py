"""Which files of a repository steer its tests. Lists of names had gaps: pytest's own parser reads what ours did not."""

from __future__ import annotations

import pytest

from rubrics.testing.steering import Steering, said_to_runners

NOTHING = "[metadata]\nname = tally\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.cfg", "[tool:pytest]\naddopts = -p x\n"), ("setup.cfg", "[tool:pytest] # ]\naddopts = -p x\n"),
        ("setup.cfg", "[pytest] ; ]\naddopts = -p x\n"), ("tox.ini", "[pytest]\naddopts = -p x\n"),
        ("tox.ini", "[testenv]\ncommands = true\n"), ("setup.cfg", "[aliases]\ntest = x\n"),
        ("setup.cfg", "[options.entry_points]\npytest11 =\n    x = y\n"),
        ("setup.cfg", "[coverage:run]\nplugins = x\n"), ("pyproject.toml", "[tool.pytest]\nx = 1\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-p x'\n"),
        ("pyproject.toml", "[project.entry-points.pytest11]\nx = 'y'\n"), ("pyproject.toml", "[[not toml pytest\n"),
        ("setup.cfg", "[ tool:pytest ]\naddopts = -p x\n"), ("package.json", '{"scripts": {"test": "true"}}'),
        ("package.json", '{"jest": {"testMatch": []}}'), ("package.json", "{"),
        ("entry_points.txt", "[[pytest11]]\nx = y\n"),
    ],
)  # fmt: skip
def test_what_a_runner_would_read_is_something_that_is_said_to_it(path: str, text: str) -> None:
    assert said_to_runners(path, text.encode()) != said_to_runners(path, NOTHING.encode())


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("setup.cfg", NOTHING, NOTHING + "[flake8]\nmax-line-length = 100\n"),
        ("setup.cfg", NOTHING + "[tool:pytest]\naddopts = -q\n", "[tool:pytest]\naddopts = -q\n" + NOTHING),
        ("pyproject.toml", "[project]\nname = 'a'\n", "[project]\nname = 'a'\ndependencies = ['x']\n"),
        ("package.json", '{"name": "a", "scripts": {"test": "x"}}', '{"version": "2", "scripts": {"test": "x"}}'),
    ],
)
def test_what_is_not_said_to_a_runner_may_change(path: str, before: str, after: str) -> None:
    assert said_to_runners(path, before.encode()) == said_to_runners(path, after.encode())


def steering(*listed: str, command: str = "python -m pytest tests", **more: frozenset[str]) -> Steering:
    return Steering(frozenset(listed), command, **more)


@pytest.mark.parametrize(
    ("path", "shadows"),
    [
        ("difflib.py", True), ("pytest", True), ("pytest.pyc", True), ("attr.py", True), ("tests/pdb.py", True),
        ("src/_pytest", True), ("somewhere.py", True), ("helper.py", False), ("token.py", False), ("tally", False),
    ],
)  # fmt: skip
def test_a_new_entry_where_imports_start_shadows_modules_of_the_runner_the_library_and_the_environment(
    path: str, shadows: bool
) -> None:
    found = steering("tests/test_a.py", installed=frozenset({"somewhere", "tally"})).with_roots(["tally", "token.py"])
    assert found.shadows(path) is shadows


def test_a_module_that_the_reference_adds_under_such_a_name_is_its_solution() -> None:
    assert not steering("tests/test_a.py", free=frozenset({"queue.py"})).shadows("queue.py")


def test_folders_of_tests_are_those_on_the_way_to_the_listed_tests_unless_the_reference_works_in_them() -> None:
    assert steering("tests/unit/test_a.py", "pkg/tests/test_b.py").folders == ("pkg/tests", "tests")
    assert steering("pkg/test_b.py").folders == ()
    assert steering("django/test/tests.py", free=frozenset({"django/test/client.py"})).folders == ()


def test_a_package_above_the_tests_stays_the_rollouts_and_one_of_the_tests_or_the_root_does_not() -> None:
    found = steering("pkg/tests/test_b.py")
    assert found.packages == ("__init__.py", "pkg/__init__.py", "pkg/tests/__init__.py")
    assert found.is_source("pkg/__init__.py")
    assert not found.is_source("pkg/tests/__init__.py")
    assert not found.is_source("__init__.py")


def test_files_that_the_command_names_or_its_programs_obey_are_part_of_it() -> None:
    assert "scripts/test.sh" in steering(command="bash ./scripts/test.sh -v").command_files
    assert {"Makefile"} <= set(steering(command="make test").command_files)
    assert "tox.ini" in steering(command="/usr/bin/tox -e py").command_files
    assert all(".." not in path for path in steering(command="sh ../../etc/x").command_files)
    assert not steering(command="tox").is_shared("tox.ini")
    assert steering(command="pytest").is_shared("tox.ini")
