import unittest

from spans import gaps, parse, total


class ReportTest(unittest.TestCase):
    def test_total_of_disjoint(self):
        self.assertEqual(total([(1, 4), (6, 8)]), 5)

    def test_total_of_nested(self):
        self.assertEqual(total([(0, 10), (2, 5)]), 10)

    def test_gaps(self):
        self.assertEqual(gaps([(1, 4), (6, 8)]), [(4, 6)])

    def test_no_gap_between_touching(self):
        self.assertEqual(gaps([(1, 4), (4, 8)]), [])

    def test_parse(self):
        self.assertEqual(parse("1-4,7-9"), [(1, 4), (7, 9)])


if __name__ == "__main__":
    unittest.main()
