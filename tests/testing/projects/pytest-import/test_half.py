import nowhere_to_be_found  # noqa: F401


def test_half():
    pass
