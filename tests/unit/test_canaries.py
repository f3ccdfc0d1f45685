"""Tests of our own beside the listed ones: what they contradict, where they stand, and what a run of them shows."""

from __future__ import annotations

import ast
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubrics.environments.session import CommandResult
from rubrics.testing.calibrate import Calibration
from rubrics.testing.canaries import Canary, plant
from rubrics.testing.contradict import contradicted, different, helper, sites
from rubrics.testing.observe import MARK, Observed
from rubrics.testing.results import Results
from rubrics.testing.subverted import subversions

PASSING = {
    "a literal": "def test_a():\n    assert double(2) == 4\n",
    "the literal first": "def test_a():\n    assert 4 == double(2)\n",
    "a variable": "def test_a():\n    wanted = [2, 4]\n    got = [double(1), double(2)]\n    assert got == wanted\n",
    "a parameter": "def test_a(wanted=4):\n    assert double(2) == wanted\n",
    "a loop": "def test_a():\n    for value, wanted in ((1, 2), (2, 4)):\n        assert double(value) == wanted\n",
    "no equality": "def test_a():\n    assert double(2) > 3\n",
    "an exception": "def test_a():\n    with raises(ValueError):\n        int('x')\n",
    "nothing asserted": "def test_a():\n    double(2)\n",
    "a method": "def test_a(self=case):\n    self.assertEqual(double(2), 4)\n",
    "a close number": "def test_a(self=case):\n    self.assertAlmostEqual(double(0.5), 1.0, places=3)\n",
    "the opposite": "def test_a(self=case):\n    self.assertTrue(double(1))\n    self.assertIn(2, [double(1)])\n",
    "a nested value": "def test_a():\n    'Said.'\n    assert {'a': [double(1)], 'b': ''} == {'a': [2], 'b': ''}\n",
    "several": "def test_a():\n    assert double(1) == 2\n    assert double(2) == 4\n    assert 'x' == 'x'\n",
}  # fmt: skip


def names() -> dict[str, Any]:
    import unittest

    return {"double": lambda value: value * 2, "case": unittest.TestCase(), "raises": pytest.raises}


@pytest.mark.parametrize("kind", PASSING)
def test_every_contradiction_of_a_test_that_passes_fails(kind: str) -> None:
    function = ast.parse(PASSING[kind]).body[0]
    assert isinstance(function, ast.FunctionDef)
    space = names()
    exec(PASSING[kind], space)
    space["test_a"]()
    for seed in range(5):
        draw = random.Random(seed)
        for site in sites(function):
            made = contradicted(function, site, "test_other", "_help", draw)
            assert ast.get_docstring(made) is None
            space = names()
            exec(f"{helper('_help', draw)}\n{ast.unparse(made)}", space)
            with pytest.raises(Exception):  # noqa: B017  # an assertion, or an exception that nobody expects
                space["test_other"]()


LITERALS = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=300)
@given(LITERALS, st.integers(0, 1000), st.booleans())
def test_a_different_value_never_equals_the_right_one_nor_does_the_helpers(value: Any, seed: int, far: bool) -> None:
    draw = random.Random(seed)
    space: dict[str, Any] = {}
    exec(helper("wrong", draw), space)
    for other in (different(value, draw, far), space["wrong"](value, far)):
        assert other != value
        assert repr(other) != repr(value)


MODULE = b'''"""Tests."""

import unittest


class Sums(unittest.TestCase):
\tdef test_first(self):
\t\tself.assertEqual(1 + 1, 2)

\tdef test_second(self):
\t\tself.assertEqual(2 + 2, 4)


def test_alone():
    assert 3 + 3 == 6


if __name__ == "__main__":
    unittest.main()
'''
WANTED = ("tests/test_sums.py::Sums::test_first", "tests/test_sums.py::test_alone")


def test_canaries_are_put_into_the_class_and_module_of_the_listed_tests_and_the_file_still_runs() -> None:
    planted = plant({"tests/test_sums.py": MODULE}, WANTED, (), random.Random(1))
    text = planted.files["tests/test_sums.py"].decode()
    tree = ast.parse(text)
    owner = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    inside = {node.name for node in owner.body if isinstance(node, ast.FunctionDef)}
    outside = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    by_place = {canary.key: canary.name in inside for canary in planted.canaries}
    assert by_place == {key: "Sums" in key for key in by_place}
    assert {canary.kind for canary in planted.canaries} == {"contradiction", "fails", "errors", "skips", "passes"}
    assert {"test_first", "test_second"} < inside
    assert "test_alone" in outside
    assert all(name.startswith("test_") for canary in planted.canaries for name in [canary.name])


def test_names_and_places_differ_from_run_to_run_and_keys_do_not() -> None:
    first, second = (plant({"t.py": MODULE}, WANTED, (), random.Random(seed)) for seed in (1, 2))
    assert [canary.key for canary in first.canaries] == [canary.key for canary in second.canaries]
    assert {canary.name for canary in first.canaries}.isdisjoint(canary.name for canary in second.canaries)
    some = frozenset({first.canaries[0].key})
    assert [canary.key for canary in plant({"t.py": MODULE}, WANTED, (), random.Random(3), some).canaries] == [*some]


def test_every_file_with_a_test_that_must_be_fixed_gets_canaries_also_beyond_the_number_that_is_copied() -> None:
    """A module that is imported first could rewrite the files of those that follow."""
    files: dict[str, bytes | None] = {f"t{n}.py": b"def test_x%d():\n    assert 1 == 1\n" % n for n in range(8)}
    planted = plant(files, [f"t{n}.py::test_x{n}" for n in range(8)], (), random.Random(1))
    assert set(planted.files) == set(files)


def test_a_file_that_is_no_python_or_holds_no_listed_test_stays_as_it_is() -> None:
    files = {"a.py": b"def test_(:\n", "b.txt": b"x", "c.py": b"def test_other():\n    pass\n", "d.py": None,
             "e.py": b"\xff\xfe", "f.py": b"def test_x(): pass"}  # fmt: skip
    planted = plant(files, ["a.py::test_x"], (), random.Random(1))
    assert set(planted.files) == {"f.py"}


def seen(test: str, canary: str, kind: str = "contradiction", **more: Any) -> Observed:
    made = Canary("t.py::test_a#0=", "test_drawn", kind, "test_a")
    done = CommandResult(1, "", False, 0.1)
    return Observed(done, Results("pytest", {"t.py::test_a": test}), {made: {f"t.py::{MARK}": canary}}, **more)  # type: ignore[dict-item, arg-type]


CALIBRATED = Calibration(Results("pytest"), {"t.py::test_a#0=": frozenset({f"t.py::{MARK}"})})


@pytest.mark.parametrize(
    ("test", "canary", "kind", "level"),
    [
        ("passed", "failed", "contradiction", None), ("passed", "passed", "contradiction", "confirmed"),
        ("failed", "passed", "contradiction", None), ("passed", "xfailed", "contradiction", "confirmed"),
        ("passed", "failed", "fails", None), ("failed", "passed", "fails", "confirmed"),
        ("failed", "skipped", "fails", "confirmed"), ("failed", "error", "fails", None),
        ("passed", "passed", "skips", "confirmed"), ("failed", "failed", "passes", None),
    ],
)  # fmt: skip
def test_what_a_canary_that_came_out_wrong_shows(test: str, canary: str, kind: str, level: str | None) -> None:
    """A contradiction that passed is nothing to hold against an attempt whose test failed: it may be wrong that way."""
    found = subversions(CALIBRATED, seen(test, canary, kind))
    assert [item.level for item in found] == ([level] if level else [])


def test_without_a_reference_a_contradiction_that_passed_is_a_suspicion() -> None:
    found = subversions(Calibration(None, CALIBRATED.canaries), seen("passed", "passed"))
    assert [item.level for item in found] == ["suspected"]


def test_a_canary_that_did_not_run_is_a_suspicion_and_one_that_never_came_out_right_is_nothing() -> None:
    made = Canary("t.py::test_a#0=", "test_drawn", "contradiction", "test_a")
    nothing = Observed(CommandResult(0, "", False, 0.1), Results("pytest", {"t.py::test_a": "passed"}), {made: {}})
    assert [item.level for item in subversions(CALIBRATED, nothing)] == ["suspected"]
    broken = Observed(nothing.done, Results("pytest", {"t.py": "error", "u.py::test_a": "passed"}), {made: {}})
    assert subversions(CALIBRATED, broken) == []  # a file that cannot be imported runs none of its tests
    assert subversions(Calibration(Results("pytest")), seen("passed", "passed")) == []
