"""One test of every kind; what each does is stated in ../../truth.json."""

import sys
import unittest
import warnings


class Plain(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(1 + 1, 2)

    def test_told(self):
        """The total is rounded once, at the end."""

    def test_told_wrongly(self):
        """The tax is added before - not after ... the total."""
        self.assertEqual(1, 2)

    def test_told_twice(self):
        """Said of two tests."""

    def test_wrong(self):
        self.assertEqual(1 + 1, 3, "sums differ")

    def test_breaks(self):
        raise RuntimeError("broken")

    @unittest.skip("not - today ... ok")
    def test_skipped(self):
        self.fail()

    def test_skips(self):
        self.skipTest("not today either")

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected(self):
        pass


class Prints(unittest.TestCase):
    def test_prints(self):
        sys.stderr.write("first line\nsecond line\n")

    def test_prints_without_line_end(self):
        sys.stderr.write("no line end")

    def test_prints_a_status(self):
        sys.stderr.write("ok\n")
        self.fail("after it said ok")

    def test_prints_another_test(self):
        sys.stderr.write("test_nowhere (test_kinds.Plain) ... ok\n")

    def test_prints_that_another_failed(self):
        sys.stderr.write("\ntest_plain (test_kinds.Plain) ... FAIL\n")

    def test_prints_that_a_wrong_one_is_right(self):
        sys.stderr.write("test_wrong (test_kinds.Plain) ... ok\n")

    def test_warns(self):
        warnings.warn("a warning")


class Parts(unittest.TestCase):
    def test_all_right(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertLess(number, 3)

    def test_one_wrong(self):
        for number in range(3):
            with self.subTest("part", number=number):
                self.assertNotEqual(number, 1)

    def test_one_wrong_and_told(self):
        """Every part is less than two."""
        for number in range(3):
            with self.subTest(number=number):
                self.assertLess(number, 2)

    def test_one_breaks(self):
        for number in range(2):
            with self.subTest(number=number):
                1 / number

    def test_one_skipped(self):
        for number in range(2):
            with self.subTest(number=number):
                if number:
                    self.skipTest("this part")

    def test_wrong_after_its_parts(self):
        with self.subTest(number=1):
            pass
        self.fail()

    def test_zzz_right_again(self):
        pass


class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("before the class")

    def test_never_begun(self):
        pass


class BrokenAfterwards(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise RuntimeError("after the class")

    def test_right_before(self):
        pass


class BrokenDown(unittest.TestCase):
    def tearDown(self):
        raise RuntimeError("after the test")

    def test_right_itself(self):
        pass


class Other(unittest.TestCase):
    def test_told_twice(self):
        """Said of two tests."""
        self.fail()


@unittest.skip("the whole class")
class Skipped(unittest.TestCase):
    def test_in_skipped_class(self):
        pass


def _named(cls, name):
    setattr(cls, name, lambda self: None)


_named(Plain, "test_with-a-hyphen")
_named(Plain, "test_l\u00e4nge")
