#!/usr/bin/env python3
"""falafel serve-memcached with programs and libraries that people use with memcached. Argument: the
program."""

import pathlib
import signal
import socket
import subprocess
import sys
import threading
import unittest

from front import HANG_LIMIT_SECONDS, Client, FrontTest, MemcacheServerError
from harness import wait_until

import memcache
from pymemcache.client.base import PooledClient
from pymemcache.exceptions import MemcacheError
from pymemcache.serde import PickleSerde


class WithPymemcache(FrontTest):
    def test_what_most_programs_use(self):
        client = self.connect()
        self.assertIsNone(client.get("key"))
        self.assertTrue(client.set("key", "value"))
        self.assertEqual(client.get("key"), b"value")
        self.assertTrue(client.set("key", b"\r\nEND\r\n", noreply=False))
        self.assertEqual(client.get("key"), b"\r\nEND\r\n")
        self.assertTrue(client.delete("key", noreply=False))
        self.assertFalse(client.delete("key", noreply=False))
        self.assertEqual(client.set_many({f"key {n}".replace(" ", "-"): str(n) for n in range(100)}), [])
        self.assertEqual(client.get_many([f"key-{n}" for n in range(0, 200, 50)]),
                         {"key-0": b"0", "key-50": b"50"})
        self.assertTrue(client.delete_many(["key-0", "key-50"]))
        self.assertEqual(client.version(), b"1.6.0-falafel")
        self.assertEqual(client.stats()[b"cmd_set"], 102)
        client.quit()

    def test_flags_carry_what_the_client_serializes(self):
        client = self.connect(serde=PickleSerde())
        value = {"list": [1, 2.5, None], "text": "schön"}
        client.set("object", value, noreply=False)
        client.set("number", 42, noreply=False)
        self.assertEqual(client.get_many(["object", "number"]), {"object": value, "number": 42})

    def test_values_of_the_command_line(self):
        client = self.connect()
        client.set("plain", b"from memcached", noreply=False)
        self.assertEqual(self.falafel.run("get", "plain")[1], b"from memcached")
        self.falafel.run("set", "plain", "from falafel")
        self.assertEqual(client.get("plain"), b"from falafel")

    def test_changes_that_depend_on_the_value(self):
        client = self.connect()
        self.assertFalse(client.replace("key", "1", noreply=False))
        self.assertTrue(client.add("key", "1", noreply=False))
        self.assertFalse(client.add("key", "2", noreply=False))
        self.assertTrue(client.append("key", "2", noreply=False))
        self.assertTrue(client.prepend("key", "0", noreply=False))
        self.assertEqual(client.get("key"), b"012")
        self.assertEqual(client.incr("key", 3), 15)
        self.assertEqual(client.decr("key", 20), 0)
        self.assertIsNone(client.incr("absent", 1))
        value, identity = client.gets("key")
        self.assertEqual(value, b"0")
        self.assertTrue(client.cas("key", "7", identity, noreply=False))
        self.assertFalse(client.cas("key", "8", identity, noreply=False))
        self.assertIsNone(client.cas("absent", "8", identity, noreply=False))
        self.assertEqual(client.gets_many(["key", "absent"]).keys(), {"key"})
        self.assertTrue(client.touch("key", 0, noreply=False))
        self.assertFalse(client.touch("absent", 0, noreply=False))
        self.assertEqual(client.get("key"), b"7")
        self.assertEqual(client.set_multi({"a": "1", "b": "2"}), [])
        self.assertEqual(client.get_multi(["a", "b"]), {"a": b"1", "b": b"2"})
        self.assertTrue(client.delete_multi(["a", "b"]))
        self.assertTrue(client.flush_all(noreply=False))
        self.assertIsNone(client.get("key"))
        client.disconnect_all()

    def test_a_flush_can_be_forbidden(self):
        client = self.connect("--disable-flush-all")
        client.set("key", "1", noreply=False)
        with self.assertRaises(MemcacheError):
            client.flush_all(noreply=False)
        self.assertEqual(client.get("key"), b"1")

    def test_refuses_what_the_store_cannot_do(self):
        client = self.connect()
        client.set("key", "1", noreply=False)
        self.assertIn("is not supported", self.refusal(client.cache_memlimit, 64))
        for call, arguments in [(client.touch, ("key", 1)), (client.flush_all, (5,)),
                                (client.add, ("other", "2", 60))]:
            refusal = self.refusal(call, *arguments, noreply=False)
            self.assertIn("is not supported", refusal, call.__name__)
        self.assertEqual(client.get("key"), b"1")
        self.assertIsNone(client.get("other"))

    # Each thread of the front is a client of the store, so increments meet there.
    def test_no_increment_is_lost(self):
        address = self.front("--threads", "3").address()
        first = Client(address, timeout=HANG_LIMIT_SECONDS)
        self.addCleanup(first.close)
        first.set("counter", "0", noreply=False)

        def count():
            client = Client(address, timeout=HANG_LIMIT_SECONDS)
            for _ in range(200):
                client.incr("counter", 1)
            client.close()

        threads = [threading.Thread(target=count) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(first.get("counter"), b"1200")

    def test_a_time_to_live_is_refused_or_ignored(self):
        refusing = self.connect()
        self.assertIn("expiry 60", self.refusal(refusing.set, "key", "1", expire=60, noreply=False))
        ignoring = self.connect("--ignore-expiry")
        ignoring.set("key", "1", expire=1, noreply=False)
        self.assertEqual(ignoring.get("key"), b"1")

    def test_a_refused_noreply_command_is_reported_with_the_next(self):
        client = self.connect()
        client.set("key", "1", expire=60, noreply=True)
        self.assertIn("expiry 60", self.refusal(client.get, "key"))

    def test_sizes(self):
        client = self.connect("--largest-value", "8MiB")
        self.assertIn("too large", self.refusal(client.set, "key", b"x" * (8 * 2**20 + 1), noreply=False))
        # larger than a region of the store
        self.assertIn("too large", self.refusal(client.set, "key", b"x" * (8 * 2**20), noreply=False))
        value = b"x" * 100_000
        client.set("k" * 250, value, noreply=False)
        self.assertEqual(client.get("k" * 250), value)

    def test_a_time_to_live_in_a_cache(self):
        with self.falafel.serve("--memory", "64MiB", "--name", "cache", "--cache"):
            client = self.connect("--name", "cache")
            client.set("short", "value", expire=1, noreply=False)
            client.set("long", "value", expire=3600, noreply=False)
            client.set("past", "value", expire=-1, noreply=False)
            self.assertEqual(client.get_many(["long", "past"]), {"long": b"value"})
            wait_until(lambda: client.get("short") is None)
            self.assertEqual(client.get("long"), b"value")
            self.assertTrue(client.touch("long", 1, noreply=False))
            client.set("number", "1", expire=1, noreply=False)
            self.assertEqual(client.incr("number", 1), 2)  # it expires as before
            wait_until(lambda: client.get("long") is None)
            wait_until(lambda: client.get("number") is None)

    def test_a_pinned_value_does_not_expire(self):
        with self.falafel.serve("--memory", "64MiB", "--name", "cache", "--cache"):
            self.assertEqual(self.falafel.run("set", "--name", "cache", "--pin", "key", "value")[0], 0)
            address = self.front("--name", "cache").address()
            with socket.create_connection(address, timeout=HANG_LIMIT_SECONDS) as connection:
                connection.sendall(b"mg key t\r\ntouch key 3600\r\nmg key t\r\nquit\r\n")
                with connection.makefile("rb") as answers:
                    before, touched, after = answers.read().splitlines()
            self.assertEqual((before, touched), (b"HD t-1", b"TOUCHED"))
            self.assertRegex(after, rb"^HD t3[56]\d\d$")

    def test_a_full_cache_refuses_nothing(self):
        with self.falafel.serve("--memory", "8MiB", "--name", "cache", "--cache"):
            client = self.connect("--name", "cache")
            for number in range(300):
                self.assertTrue(client.set(f"key-{number}", b"v" * 100_000, noreply=False))
            self.assertIsNone(client.get("key-0"))
            self.assertEqual(len(client.get("key-299")), 100_000)

    def test_a_full_store_refuses(self):
        client = self.connect()
        with self.assertRaises(MemcacheServerError) as refusal:
            for number in range(2_000):
                client.set(f"key-{number}", b"x" * 100_000, noreply=False)
        self.assertIn("out of memory storing object", str(refusal.exception))
        self.assertEqual(client.get("key-0"), b"x" * 100_000)

    def test_many_clients_and_threads(self):
        front = self.front("--threads", "3")
        client = PooledClient(front.address(), max_pool_size=8, timeout=HANG_LIMIT_SECONDS)
        problems = []

        def work(number):
            for turn in range(300):
                client.set(f"key-{number}", f"{number} {turn}", noreply=False)
                if client.get(f"key-{number}") != f"{number} {turn}".encode():
                    problems.append((number, turn))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])
        self.assertEqual(client.stats()[b"threads"], 3)


class WithLibmemcached(FrontTest):
    """The programs of Debian's libmemcached-tools."""

    def run_tool(self, name, *arguments, status=0):
        host, port = self.address
        completed = subprocess.run([name, f"--servers={host}:{port}", *arguments], text=True,
                                   capture_output=True, timeout=HANG_LIMIT_SECONDS)
        self.assertEqual(completed.returncode, status, (name, completed.stdout, completed.stderr))
        return completed.stdout

    # memcexist adds a value with a time to live, so it needs a cache.
    def test_tools(self):
        cache = self.falafel.serve("--memory", "64MiB", "--name", "cache", "--cache")
        self.addCleanup(cache.end, signal.SIGKILL)
        self.address = self.front("--name", "cache").address()
        file = pathlib.Path(self.falafel.folder.name) / "file"
        file.write_text("contents of the file")
        self.run_tool("memcping")
        self.run_tool("memccp", str(file))
        self.assertEqual(self.run_tool("memccat", "file").strip(), "contents of the file")
        self.run_tool("memcexist", "file")
        self.run_tool("memcexist", "absent", status=1)
        self.assertEqual(self.run_tool("memcdump").split(), ["file"])
        self.assertIn("cmd_set: 2", self.run_tool("memcstat"))
        self.run_tool("memctouch", "--expire=0", "file")
        self.run_tool("memcrm", "file")
        self.run_tool("memcrm", "file", status=1)
        self.run_tool("memccp", str(file))
        self.run_tool("memcflush")
        self.assertEqual(self.run_tool("memcdump"), "")
        self.run_tool("memcslap", "--concurrency=2", "--execute-number=200", "--initial-load=200",
                      "--test=get")

    # memccapable tests each command of the text protocol and of the binary one. Without -t, it
    # waits for 2 s, and flush_all walks over the whole table.
    def test_memccapable_passes_whole(self):
        host, port = self.front().address()
        completed = subprocess.run(
            ["memccapable", "-t", str(HANG_LIMIT_SECONDS), "-h", host, "-p", str(port)],
            text=True, capture_output=True, timeout=HANG_LIMIT_SECONDS)
        self.assertEqual(completed.returncode, 0, completed.stdout)
        self.assertEqual(completed.stdout.count("[pass]"), 54, completed.stdout)


class WithOtherLibraries(FrontTest):
    def setUp(self):
        super().setUp()
        cache = self.falafel.serve("--memory", "64MiB", "--name", "cache", "--cache")
        self.addCleanup(cache.end, signal.SIGKILL)
        self.address = self.front("--name", "cache").address()

    def test_python_memcached(self):
        client = memcache.Client(["{}:{}".format(*self.address)], cache_cas=True)
        self.assertTrue(client.set("key", {"a": [1, 2]}))
        self.assertEqual(client.get("key"), {"a": [1, 2]})
        self.assertFalse(client.add("key", "2"))
        self.assertTrue(client.replace("key", "2"))
        self.assertTrue(client.append("key", "3"))
        self.assertTrue(client.prepend("key", "1"))
        self.assertEqual(client.get("key"), "123")
        self.assertEqual(client.gets("key"), "123")
        self.assertTrue(client.cas("key", "5"))
        self.assertEqual(client.incr("key", 2), 7)
        self.assertEqual(client.decr("key", 9), 0)
        self.assertEqual(client.set_multi({"a": 1, "b": 2}, time=60), [])
        self.assertEqual(client.get_multi(["a", "b", "absent"]), {"a": 1, "b": 2})
        self.assertTrue(client.touch("a", 60))
        self.assertTrue(client.delete_multi(["a", "b"]))
        self.assertTrue(client.delete("key"))
        self.assertEqual(len(client.get_stats()), 1)
        self.assertEqual(len(client.get_stats("settings")), 1)
        client.reset_cas()
        client.set("key", "1")
        client.flush_all()
        self.assertIsNone(client.get("key"))
        client.disconnect_all()

    def test_the_cache_of_django(self):
        host, port = self.address
        program = pathlib.Path(__file__).with_name("django_cache.py")
        completed = subprocess.run([sys.executable, program, host, str(port)], text=True,
                                   capture_output=True, timeout=HANG_LIMIT_SECONDS)
        self.assertEqual(completed.returncode, 0, completed.stderr)


if __name__ == "__main__":
    unittest.main()
