def test_inner():
    pass


def test_inner_wrong():
    raise AssertionError
