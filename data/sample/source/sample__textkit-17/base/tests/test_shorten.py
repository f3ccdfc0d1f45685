import unittest

from textkit import shorten


class ShortenTest(unittest.TestCase):
    def test_short_text_is_unchanged(self):
        self.assertEqual(shorten("one two", 10), "one two")

    def test_white_space_is_squeezed(self):
        self.assertEqual(shorten("one \n  two", 10), "one two")


if __name__ == "__main__":
    unittest.main()
