import pytest

tries = []


@pytest.mark.flaky(reruns=2)
def test_second_time():
    tries.append(1)
    assert len(tries) > 1


@pytest.mark.flaky(reruns=1)
def test_never():
    raise AssertionError


def test_plain():
    pass
