import unittest

from confpath import split_path


def accepts(path):
    try:
        split_path(path)
    except ValueError:
        return False
    return True


class SplitTest(unittest.TestCase):
    def test_parts(self):
        self.assertEqual(split_path("a.b.c"), ["a", "b", "c"])

    def test_one_part(self):
        self.assertEqual(split_path("a"), ["a"])

    def test_escaped_dot(self):
        self.assertEqual(split_path("a\\.b.c"), ["a.b", "c"])

    def test_escaped_backslash(self):
        self.assertEqual(split_path("a\\\\.b"), ["a\\", "b"])

    def test_empty_parts(self):
        self.assertEqual([path for path in ("", "a..b", ".a", "a.") if accepts(path)], [])

    def test_lone_backslash(self):
        self.assertEqual([path for path in ("a\\", "a\\b") if accepts(path)], [])


if __name__ == "__main__":
    unittest.main()
