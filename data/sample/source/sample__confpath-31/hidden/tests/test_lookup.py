import unittest

from confpath import get, has, set_value


class LookupTest(unittest.TestCase):
    def setUp(self):
        self.config = {"log": {"level": "info", "my.module": "debug", "file": None}, "name": "app"}
        self.config["servers"] = [{"host": "a"}, {"host": "b"}]
        self.config["codes"] = {"0": "zero"}

    def test_get(self):
        self.assertEqual(get(self.config, "log.level"), "info")

    def test_default(self):
        self.assertEqual(get(self.config, "log.nothing", 7), 7)

    def test_has(self):
        self.assertTrue(has(self.config, "name"))
        self.assertFalse(has(self.config, "nothing"))

    def test_has_none(self):
        self.assertTrue(has(self.config, "log.file"))

    def test_has_index(self):
        self.assertTrue(has(self.config, "servers.1"))
        self.assertFalse(has(self.config, "servers.2"))

    def test_set_value(self):
        set_value(self.config, "cache.size", 3)
        self.assertEqual(self.config["cache"], {"size": 3})

    def test_index(self):
        self.assertEqual(get(self.config, "servers.0.host"), "a")
        self.assertEqual(get(self.config, "servers.1.host"), "b")

    def test_negative_index(self):
        self.assertEqual(get(self.config, "servers.-1.host"), "b")

    def test_index_out_of_range(self):
        self.assertEqual(get(self.config, "servers.2.host", "none"), "none")
        self.assertEqual(get(self.config, "servers.-3.host", "none"), "none")

    def test_what_is_no_index(self):
        values = [get(list(range(20)), part) for part in ("+1", "1_0", " 1", "x", "-")]
        self.assertEqual(values, [None] * 5)

    def test_number_as_key(self):
        self.assertEqual(get(self.config, "codes.0"), "zero")

    def test_text_is_not_indexed(self):
        self.assertIsNone(get(self.config, "name.0"))

    def test_key_with_dot(self):
        self.assertEqual(get(self.config, "log.my\\.module"), "debug")


if __name__ == "__main__":
    unittest.main()
