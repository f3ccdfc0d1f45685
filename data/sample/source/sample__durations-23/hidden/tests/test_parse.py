import unittest

from durations import parse


def accepts(text):
    try:
        parse(text)
    except ValueError:
        return False
    return True


class ParseTest(unittest.TestCase):
    def refuse(self, *texts):
        self.assertEqual([text for text in texts if accepts(text)], [])

    def test_one_unit(self):
        self.assertEqual(parse("90s"), 90)

    def test_two_units(self):
        self.assertEqual(parse("1h30m"), 5400)

    def test_blanks(self):
        self.assertEqual(parse(" 1h 30m "), 5400)

    def test_blank_inside_a_part(self):
        self.refuse("1 h")

    def test_other_text(self):
        self.refuse("10 minutes", "1h3Om", "h", "90", "1h,30m")

    def test_empty(self):
        self.refuse("", " ", "-")

    def test_message_holds_the_text(self):
        with self.assertRaisesRegex(ValueError, "10 minutes"):
            parse("10 minutes")

    def test_order_and_repeats(self):
        self.refuse("30m1h", "1h1h")

    def test_negative(self):
        self.assertEqual(parse("-1h30m"), -5400)

    def test_other_digits(self):
        self.refuse("\u0663s")


if __name__ == "__main__":
    unittest.main()
