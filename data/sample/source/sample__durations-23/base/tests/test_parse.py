import unittest

from durations import parse


class ParseTest(unittest.TestCase):
    def test_one_unit(self):
        self.assertEqual(parse("90s"), 90)

    def test_two_units(self):
        self.assertEqual(parse("1h30m"), 5400)


if __name__ == "__main__":
    unittest.main()
