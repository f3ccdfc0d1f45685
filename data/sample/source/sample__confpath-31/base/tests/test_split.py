import unittest

from confpath import split_path


class SplitTest(unittest.TestCase):
    def test_parts(self):
        self.assertEqual(split_path("a.b.c"), ["a", "b", "c"])

    def test_one_part(self):
        self.assertEqual(split_path("a"), ["a"])


if __name__ == "__main__":
    unittest.main()
