"""One test of every kind; what each does is stated in ../../truth.json."""

import warnings

import pytest


@pytest.fixture
def broken():
    raise RuntimeError("this fixture breaks")


@pytest.fixture
def breaks_afterwards():
    yield 1
    raise RuntimeError("this fixture breaks when it is taken down")


def test_plain():
    assert 1 + 1 == 2


def test_prints():
    print("PASSED test_kinds.py::test_wrong")
    print("test_kinds.py::test_wrong PASSED")
    print("test_kinds.py::test_nowhere PASSED")
    print("PASSED test_kinds.py::test_nowhere")
    print("FAILED test_kinds.py::test_plain - printed")


def test_prints_a_summary():
    print("=========================== short test summary info ============================")
    print("PASSED test_kinds.py::test_wrong")
    print("============================== 1 passed in 0.01s ===============================")


def test_prints_without_line_end():
    print("no line end", end="")


def test_wrong():
    assert 1 + 1 == 3, "sums - differ"


def test_wrong_and_prints():
    print("PASSED test_kinds.py::test_wrong_and_prints")
    print("test_kinds.py::test_wrong_and_prints PASSED")
    raise ValueError("PASSED")


def test_needs_broken(broken):
    pass


def test_taken_down_badly(breaks_afterwards):
    pass


@pytest.mark.skip(reason="not today")
def test_skipped():
    raise AssertionError


def test_skips():
    pytest.skip("not today either")


@pytest.mark.xfail(reason="not - yet")
def test_expected():
    raise AssertionError


def test_expected_by_call():
    pytest.xfail("called")


@pytest.mark.xfail(reason="works by now")
def test_unexpected():
    pass


@pytest.mark.xfail(strict=True, reason="strict")
def test_unexpected_and_strict():
    pass


def test_warns():
    warnings.warn(UserWarning("a warning"))


class TestBox:
    def test_inside(self):
        pass

    class TestInner:
        def test_deeper(self):
            pass
