import unittest

from textkit import shorten


class ShortenTest(unittest.TestCase):
    def test_short_text_is_unchanged(self):
        self.assertEqual(shorten("one two", 10), "one two")

    def test_white_space_is_squeezed(self):
        self.assertEqual(shorten("one \n  two", 10), "one two")

    def test_example_of_the_issue(self):
        self.assertEqual(shorten("The quick brown fox jumps", 12), "The quick...")

    def test_never_longer_than_the_width(self):
        text = "alpha be gamma, delta; epsilon"
        self.assertEqual([w for w in range(3, 31) if len(shorten(text, w)) > w], [])

    def test_word_that_fits_exactly_is_kept(self):
        self.assertEqual(shorten("one two three four", 10), "one two...")

    def test_long_first_word_is_cut_inside(self):
        self.assertEqual(shorten("incomprehensible text", 9), "incomp...")

    def test_punctuation_before_the_mark_is_dropped(self):
        self.assertEqual(shorten("red, green, blue and more", 14), "red, green...")

    def test_width_below_the_mark(self):
        with self.assertRaises(ValueError):
            shorten("one two", 2)

    def test_text_that_fits_needs_no_room_for_the_mark(self):
        self.assertEqual(shorten("ab", 2), "ab")

    def test_other_mark(self):
        self.assertEqual(shorten("one two three", 9, mark="~"), "one two~")


if __name__ == "__main__":
    unittest.main()
