import unittest

from durations import format_seconds, parse


class FormatTest(unittest.TestCase):
    def test_parts(self):
        self.assertEqual(format_seconds(5400), "1h30m")

    def test_zero(self):
        self.assertEqual(format_seconds(0), "0s")

    def test_negative(self):
        self.assertEqual(format_seconds(-90), "-1m30s")

    def test_round_trip(self):
        for number in range(-200000, 200000, 3671):
            self.assertEqual(parse(format_seconds(number)), number)


if __name__ == "__main__":
    unittest.main()
