import unittest


def test_all_right(subtests):
    for number in range(3):
        with subtests.test(msg="part", number=number):
            assert number < 3


def test_one_wrong(subtests):
    for number in range(3):
        with subtests.test(msg="part", number=number):
            assert number != 1


def test_wrong_itself(subtests):
    with subtests.test(msg="part"):
        pass
    raise AssertionError("after its parts")


def test_plain():
    pass


class TestCase(unittest.TestCase):
    def test_right(self):
        for number in range(2):
            with self.subTest(number=number):
                self.assertLess(number, 2)

    def test_wrong(self):
        for number in range(2):
            with self.subTest(number=number):
                self.assertLess(number, 1)
