"""The behaviour that Django documents of its cache, with the back end for memcached. Arguments: host
and port of a front whose store is a cache. The exit status is 0 if all of it holds."""

import sys
import time
import unittest

sys.path.append("/usr/lib/python3/dist-packages")  # Django, if another Python runs the test

import django
from django.conf import settings

HOST, PORT = sys.argv[1:3]
settings.configure(CACHES={
    "default": {"BACKEND": "django.core.cache.backends.memcached.PyMemcacheCache",
                "LOCATION": f"{HOST}:{PORT}"},
    "prefixed": {"BACKEND": "django.core.cache.backends.memcached.PyMemcacheCache",
                 "LOCATION": f"{HOST}:{PORT}", "KEY_PREFIX": "p", "VERSION": 2},
})
django.setup()

from django.core.cache import cache, caches


class DocumentedBehaviour(unittest.TestCase):
    def setUp(self):
        cache.clear()

    def test_values(self):
        self.assertIsNone(cache.get("key"))
        self.assertEqual(cache.get("key", "default"), "default")
        cache.set("key", {"list": [1, "zwei", None]}, 30)
        self.assertEqual(cache.get("key"), {"list": [1, "zwei", None]})
        cache.set("none", None)
        self.assertIsNone(cache.get("none", "default"))
        self.assertIn("none", cache)
        self.assertTrue(cache.delete("key"))
        self.assertFalse(cache.delete("key"))

    def test_timeouts(self):
        cache.set("at-once", 1, 0)
        cache.set("never", 2, None)
        cache.set("soon", 3, 1)
        self.assertIsNone(cache.get("at-once"))
        self.assertTrue(cache.touch("never", 100))
        self.assertFalse(cache.touch("absent"))
        while cache.get("soon") is not None:
            time.sleep(0.05)
        self.assertEqual(cache.get("never"), 2)

    def test_adding(self):
        self.assertTrue(cache.add("key", "first"))
        self.assertFalse(cache.add("key", "second"))
        self.assertEqual(cache.get("key"), "first")
        self.assertEqual(cache.get_or_set("key", "third"), "first")
        self.assertEqual(cache.get_or_set("new", lambda: "made"), "made")

    def test_many(self):
        self.assertEqual(cache.set_many({"a": 1, "b": 2, "c": 3}), [])
        self.assertEqual(cache.get_many(["a", "b", "absent"]), {"a": 1, "b": 2})
        cache.delete_many(["a", "b"])
        self.assertEqual(cache.get_many(["a", "b", "c"]), {"c": 3})

    def test_counting(self):
        cache.set("number", 1)
        self.assertEqual(cache.incr("number"), 2)
        self.assertEqual(cache.incr("number", 10), 12)
        self.assertEqual(cache.decr("number", 5), 7)
        with self.assertRaises(ValueError):
            cache.incr("absent")

    def test_versions_and_prefixes(self):
        cache.set("key", "one", version=1)
        self.assertIsNone(cache.get("key", version=2))
        self.assertEqual(cache.incr_version("key"), 2)
        self.assertEqual(cache.get("key", version=2), "one")
        caches["prefixed"].set("key", "other")
        self.assertEqual(cache.get("key", version=2), "one")
        self.assertEqual(caches["prefixed"].get("key"), "other")

    def test_clear(self):
        cache.set_many({f"key-{number}": number for number in range(50)})
        cache.clear()
        self.assertEqual(cache.get_many([f"key-{number}" for number in range(50)]), {})


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    sys.exit(0 if result.wasSuccessful() else 1)
