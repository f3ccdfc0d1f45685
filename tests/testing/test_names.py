"""A listed name finds its test in every form that task rows use."""

from __future__ import annotations

import pytest

from rubrics.testing.compare import compare
from rubrics.testing.names import Names, canonical, is_junk
from rubrics.testing.results import Results, Status

IDS: dict[str, Status] = {
    "t.py::one[a b]": "passed", "t.py::one[a c]": "passed", "t.py::two[x - y]": "passed", "t.py::three[1]": "passed",
    "t.py::three[2]": "failed", r"t.py::four[new\nline]": "passed", r"t.py::four[na\xefve]": "passed",
    r"t.py::four[back\\slash]": "passed", "t.py::four[/srv/data/table]": "passed", "t.py::five": "passed",
    "t.py::TestX::six": "passed",
}  # fmt: skip
RUN = Results("pytest", IDS)


@pytest.mark.parametrize(
    ("listed", "count"),
    [
        ("t.py::one[a b]", 1), ("t.py::one[a", 2), ("t.py::one", 2), ("t.py::two[x", 1), ("t.py::two[x - y]", 1),
        ("t.py::two[x -", 1), ("t.py::three", 2), ("t.py::three[2]", 1), ("t.py::four[new\nline]", 1),
        ("t.py::four[new", 1),
        ("t.py::four[na\u00efve]", 1), ("t.py::four[back\\slash]", 1), (r"t.py::four[back\\slash]", 1),
        ("t.py::four[/table]", 1), (" t.py::five ", 1), ("t.py::TestX::six", 1), ("t.py::si", 0), ("t.py::TestX", 0),
        ("t.py::one[b]", 0), ("t.py::fiv", 0), ("t.py::five[x]", 0),
    ],
)  # fmt: skip
def test_pytest_ids_are_found_whole_cut_without_brackets_and_escaped(listed: str, count: int) -> None:
    assert len(Names(RUN).find(listed)) == count


def test_a_name_of_several_tests_passed_only_if_all_did() -> None:
    assert compare(RUN, ["t.py::one"], [], 0).outcome == "passed"
    assert compare(RUN, ["t.py::three"], [], 0).outcome == "failed"
    assert compare(RUN, ["t.py::three[1]"], [], 0).outcome == "passed"


@pytest.mark.parametrize("reported", ["test_a (p.m.Case)", "test_a (p.m.Case.test_a)", "p.m.Case.test_a"])
@pytest.mark.parametrize("listed", ["test_a (p.m.Case)", "test_a (p.m.Case.test_a)", "p.m.Case.test_a"])
def test_unittest_ids_of_one_version_are_found_in_logs_of_another(reported: str, listed: str) -> None:
    found = Names(Results("unittest", {reported: "passed"})).find(listed)
    assert found == ((reported,) if " (" in reported or reported == listed else ())


TOLD = Results(
    "unittest", {"test_a (m.T)": "passed", "test_b (m.T)": "failed"},
    described={"Says it.": ("test_a (m.T)",), "Said twice.": ("test_a (m.T)", "test_b (m.T)")},
)  # fmt: skip


def test_the_first_line_of_a_docstring_is_a_name() -> None:
    """In the rows of SWE-bench 1,367 of 6,535 ids of Django's tests are docstrings."""
    assert compare(TOLD, ["Says it."], [], 0).outcome == "passed"
    assert compare(TOLD, ["Said twice."], [], 0).outcome == "failed"


def test_of_two_tests_of_one_docstring_those_count_that_the_reference_passed() -> None:
    assert compare(TOLD, ["Said twice."], [], 0, reference=TOLD).outcome == "passed"


def test_names_are_worked_out_from_the_references_run_and_looked_up_by_id() -> None:
    reference = Results("pytest", {"t.py::n[a b]": "passed", "t.py::n[a c]": "passed"})
    fewer = Results("pytest", {"t.py::n[a b]": "passed", "t.py::n[a d]": "passed"})
    assert compare(fewer, ["t.py::n[a"], [], 0).outcome == "passed"
    assert compare(fewer, ["t.py::n[a"], [], 0, reference=reference).outcome == "failed"
    assert compare(fewer, ["t.py::never"], [], 0, reference=reference).kind == "names_not_found"


@pytest.mark.parametrize("name", ["[100%]", "[", "", "  ", "[ 50%]", "...", "12"])
def test_scraps_of_output_are_no_names(name: str) -> None:
    assert is_junk(name)


def test_canonical_names_do_not_depend_on_who_escaped_them() -> None:
    assert canonical("na\u00efve \t") == canonical(r"na\xefve")
    assert canonical("a\\\\b") == canonical("a\\b")
