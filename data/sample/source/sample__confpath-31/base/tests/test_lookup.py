import unittest

from confpath import get, has, set_value


class LookupTest(unittest.TestCase):
    def setUp(self):
        self.config = {"log": {"level": "info"}, "name": "app"}

    def test_get(self):
        self.assertEqual(get(self.config, "log.level"), "info")

    def test_default(self):
        self.assertEqual(get(self.config, "log.nothing", 7), 7)

    def test_has(self):
        self.assertTrue(has(self.config, "name"))
        self.assertFalse(has(self.config, "nothing"))

    def test_set_value(self):
        set_value(self.config, "cache.size", 3)
        self.assertEqual(self.config["cache"], {"size": 3})


if __name__ == "__main__":
    unittest.main()
