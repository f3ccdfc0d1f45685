import unittest

from spans import merge


class MergeTest(unittest.TestCase):
    def test_overlap(self):
        self.assertEqual(merge([(1, 4), (3, 6)]), [(1, 6)])

    def test_disjoint(self):
        self.assertEqual(merge([(5, 6), (1, 2)]), [(1, 2), (5, 6)])

    def test_nested(self):
        self.assertEqual(merge([(1, 10), (2, 3), (4, 5)]), [(1, 10)])

    def test_touching(self):
        self.assertEqual(merge([(1, 3), (3, 5)]), [(1, 5)])

    def test_input_is_not_changed(self):
        spans = [(5, 6), (1, 2)]
        merge(spans)
        self.assertEqual(spans, [(5, 6), (1, 2)])

    def test_any_iterable(self):
        self.assertEqual(merge((n, n + 1) for n in (3, 2)), [(2, 4)])

    def test_empty_spans_are_dropped(self):
        self.assertEqual(merge([(4, 4), (1, 2)]), [(1, 2)])

    def test_reversed_span(self):
        with self.assertRaisesRegex(ValueError, "5, 2"):
            merge([(0, 1), (5, 2)])

    def test_tuples_come_back(self):
        self.assertEqual(merge([[1, 2], [5, 6]]), [(1, 2), (5, 6)])


if __name__ == "__main__":
    unittest.main()
