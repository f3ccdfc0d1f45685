"""What each test does is stated in ../../../truth.json."""

import sys

from django.core.management import call_command
from django.test import SimpleTestCase, TestCase, TransactionTestCase

from shop.models import Item


class CartTests(TestCase):
    def test_plain(self):
        Item.objects.create(name="a")
        self.assertEqual(Item.objects.count(), 1)

    def test_total(self):
        """The total is rounded once, at the end."""

    def test_total_wrong(self):
        """The total - with tax ... is shown first."""
        self.fail()

    def test_same_words(self):
        """Said twice."""

    def test_same_words_wrong(self):
        """Said twice."""
        self.fail()

    def test_wrong(self):
        self.assertEqual(Item.objects.count(), 1)

    def test_checks(self):
        call_command("check")

    def test_migrates_loudly(self):
        call_command("migrate", verbosity=2)

    def test_migrates_loudly_and_is_told(self):
        """Migrations say what they do."""
        call_command("migrate", verbosity=1)

    def test_prints_part_of_a_line(self):
        sys.stderr.write("  Applying shop.0001_initial...")

    def test_after_part_of_a_line(self):
        pass

    def test_broken_page(self):
        with self.assertRaises(RuntimeError):
            self.client.get("/broken/")

    def test_missing_page(self):
        self.assertEqual(self.client.get("/nowhere/").status_code, 404)


class PartTests(SimpleTestCase):
    def test_all_right(self):
        for number in range(2):
            with self.subTest(number=number):
                self.assertLess(number, 2)

    def test_one_wrong(self):
        for number in range(2):
            with self.subTest(number=number):
                self.assertLess(number, 1)

    def test_one_wrong_and_told(self):
        """Each part is less than one."""
        for number in range(2):
            with self.subTest(number=number):
                self.assertLess(number, 1)

    def test_right_afterwards(self):
        pass


class BrokenTests(TestCase):
    @classmethod
    def setUpTestData(cls):
        raise RuntimeError("before the class")

    def test_never_begun(self):
        pass


class SlowTests(TransactionTestCase):
    def test_transaction(self):
        Item.objects.create(name="b")


setattr(CartTests, "test_with-a-hyphen", lambda self: None)
