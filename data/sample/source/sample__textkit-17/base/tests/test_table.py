import unittest

from textkit import row


class RowTest(unittest.TestCase):
    def test_cells_are_padded(self):
        self.assertEqual(row(["a", "b"], [3, 3]), "a   | b")

    def test_counts_must_agree(self):
        with self.assertRaises(ValueError):
            row(["a"], [3, 3])


if __name__ == "__main__":
    unittest.main()
