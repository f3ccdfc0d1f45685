import unittest

from durations import format_seconds


class FormatTest(unittest.TestCase):
    def test_parts(self):
        self.assertEqual(format_seconds(5400), "1h30m")

    def test_zero(self):
        self.assertEqual(format_seconds(0), "0s")


if __name__ == "__main__":
    unittest.main()
