import unittest


class Case(unittest.TestCase):
    def test_right(self):
        """A first line."""

    def test_wrong(self):
        self.assertEqual(1, 2)

    @unittest.skip("not today")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected(self):
        pass


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("before the class")

    def test_never_begun(self):
        pass
