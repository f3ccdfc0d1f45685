from sympy.testing.pytest import XFAIL, skip


def test_plain():
    pass


def test_wrong():
    assert 1 == 2


def test_breaks():
    raise RuntimeError("no")


def test_skips():
    skip("not today")


def test_prints():
    print("test_wrong ok")


@XFAIL
def test_expected():
    raise AssertionError


@XFAIL
def test_unexpected():
    pass
