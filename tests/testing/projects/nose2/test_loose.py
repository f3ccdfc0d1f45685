import unittest


def test_function():
    pass


def test_wrong_function():
    raise AssertionError


def test_function_told():
    """A function that is told."""


class Case(unittest.TestCase):
    def test_right(self):
        pass

    def test_told(self):
        """A case that is told."""

    def test_wrong(self):
        self.fail()

    @unittest.skip("not today")
    def test_skipped(self):
        pass
