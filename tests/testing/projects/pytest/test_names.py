"""Ids that are hard to read back."""

import pytest

NAMES = [
    "a b", "x - y", "na\xefve", "[br]", "tab\there", "new\nline", "\u65e5\u672c", "{brace}", "it's", 'say "so"',
    "back\\slash", "a::b", "PASSED", "ends [100%]", "/srv/data/table",
]  # fmt: skip


@pytest.mark.parametrize("text", NAMES, ids=NAMES)
def test_named(text):
    assert text in NAMES


@pytest.mark.parametrize("number", [1, 2, 3])
def test_two_is_wrong(number):
    assert number != 2


@pytest.mark.parametrize("text", ["cut here", "cut there"])
def test_all_right(text):
    assert text.startswith("cut")


@pytest.mark.parametrize("text", ["one way", "one fails"])
def test_one_way_fails(text):
    assert text != "one fails"


def test_with_a_name_that_is_so_long_that_no_terminal_of_eighty_columns_can_show_it_in_one_line():
    pass


def test_wrong_with_a_name_that_is_so_long_that_no_terminal_of_eighty_columns_shows_it_at_once():
    raise AssertionError
