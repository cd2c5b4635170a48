#!/usr/bin/env python3
"""falafel serve-memcached with a real client library, pymemcache, and over bare sockets. Argument:
the program."""

import contextlib
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import unittest
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "store"))
sys.path.append("/usr/lib/python3/dist-packages")  # pymemcache, if another Python runs the test

import memcache

from harness import HANG_LIMIT_SECONDS, Falafel, wait_until
from pymemcache.client.base import Client, PooledClient
from pymemcache.exceptions import MemcacheError, MemcacheServerError
from pymemcache.serde import PickleSerde

PROGRAM = sys.argv.pop(1)
WRONG_USAGE, NO_SERVER, ADDRESS_TAKEN = 2, 3, 6


class Front:
    """`falafel serve-memcached` with these options; ready after construction."""

    def __init__(self, falafel, *options):
        self.process = subprocess.Popen(
            [PROGRAM, "serve-memcached", "--directory", falafel.directory, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.ready_line = self.process.stdout.readline()

    def address(self):
        host, port = self.ready_line.split()[-1].rsplit(":", 1)
        return host, int(port)

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.communicate(timeout=HANG_LIMIT_SECONDS)
        return self.process.returncode


def accepts(address):
    """Returns whether the front serves another connection."""
    try:
        return Client(address, timeout=HANG_LIMIT_SECONDS).version() == b"1.6.0-falafel"
    except (MemcacheError, ConnectionError):
        return False


class FrontTest(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)
        self.server = self.falafel.serve("--memory", "64MiB")
        self.addCleanup(self.server.end, signal.SIGKILL)

    def front(self, *options):
        front = Front(self.falafel, "--listen", "127.0.0.1:0", *options)
        self.addCleanup(front.end, signal.SIGKILL)
        return front

    def connect(self, *options, **client_options):
        client = Client(self.front(*options).address(), timeout=HANG_LIMIT_SECONDS, **client_options)
        self.addCleanup(client.close)
        return client

    def refusal(self, call, *arguments, **options):
        with self.assertRaises(MemcacheServerError) as refusal:
            call(*arguments, **options)
        return str(refusal.exception)


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
        self.assertTrue(client.flush_all(noreply=False))
        self.assertIsNone(client.get("key"))

    def test_a_flush_can_be_forbidden(self):
        client = self.connect("--disable-flush-all")
        client.set("key", "1", noreply=False)
        with self.assertRaises(MemcacheError):
            client.flush_all(noreply=False)
        self.assertEqual(client.get("key"), b"1")

    def test_refuses_what_the_store_cannot_do(self):
        client = self.connect()
        client.set("key", "1", noreply=False)
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

    # memccapable tests each command of the text protocol and of the binary one.
    def test_memccapable_passes_whole(self):
        host, port = self.front().address()
        completed = subprocess.run(["memccapable", "-h", host, "-p", str(port)], text=True,
                                   capture_output=True, timeout=HANG_LIMIT_SECONDS)
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


class OverSockets(FrontTest):
    def test_answers_may_be_far_larger_than_a_socket_takes(self):
        address = self.front().address()
        value = b"v" * 100_000
        with socket.create_connection(address, timeout=HANG_LIMIT_SECONDS) as connection:
            connection.sendall(b"set k 0 0 100000\r\n" + value + b"\r\n")
            connection.sendall(b"get" + b" k" * 1_000 + b"\r\nquit\r\n")
            with connection.makefile("rb") as answers:
                self.assertEqual(answers.readline(), b"STORED\r\n")
                self.assertEqual(answers.read(), b"VALUE k 0 100000\r\n%s\r\n" % value * 1_000 + b"END\r\n")

    def test_who_reads_no_answers_holds_up_nobody(self):
        address = self.front("--threads", "1").address()
        client = Client(address, timeout=HANG_LIMIT_SECONDS)
        client.set("k", b"v" * 100_000, noreply=False)
        with socket.create_connection(address, timeout=HANG_LIMIT_SECONDS) as silent:
            silent.setblocking(False)
            with contextlib.suppress(BlockingIOError):  # until the front reads no more
                while True:
                    silent.send(b"get" + b" k" * 1_000 + b"\r\n")
            for _ in range(3):
                self.assertEqual(len(client.get("k")), 100_000)

    def test_a_set_that_waits_for_a_stopped_server_holds_up_nobody(self):
        sets = 60  # more than what the front's regions hold
        address = self.front().address()
        client = Client(address, timeout=60)
        client.set("key", "value", noreply=False)
        self.server.process.send_signal(signal.SIGSTOP)
        with socket.create_connection(address, timeout=60) as waiting:
            sender = threading.Thread(target=waiting.sendall, args=(
                b"".join(b"set k%d 0 0 100000\r\n%s\r\n" % (number, b"v" * 100_000)
                         for number in range(sets)),))
            sender.start()
            answers = b""
            while select.select([waiting], [], [], 2)[0]:  # until it waits
                answers += waiting.recv(65_536)
            self.assertEqual(client.get("key"), b"value")
            self.assertEqual(select.select([waiting], [], [], 0)[0], [], "it no longer waits")
            self.server.process.send_signal(signal.SIGCONT)
            while len(answers) < sets * len(b"STORED\r\n"):
                answers += waiting.recv(65_536)
            sender.join()
            self.assertEqual(answers, b"STORED\r\n" * sets)

    def test_more_connections_than_permitted_are_refused(self):
        address = self.front("--connections", "2").address()
        first = Client(address, timeout=HANG_LIMIT_SECONDS)
        second = Client(address, timeout=HANG_LIMIT_SECONDS)
        first.version()
        second.version()
        with socket.create_connection(address, timeout=HANG_LIMIT_SECONDS) as third:
            self.assertEqual(third.makefile("rb").read(), b"ERROR Too many open connections\r\n")
        self.assertEqual(first.stats()[b"rejected_connections"], 1)
        second.close()
        self.assertTrue(wait_until(lambda: accepts(address)))  # the front has noticed

    def test_a_unix_socket_is_for_its_user_and_is_removed(self):
        path = pathlib.Path(self.falafel.folder.name) / "memcached"
        front = Front(self.falafel, "--socket", str(path))
        self.assertEqual(front.ready_line.split()[-1], str(path))
        self.assertEqual(path.stat().st_mode & 0o077, 0)
        client = Client(str(path), timeout=HANG_LIMIT_SECONDS)
        client.set("key", "1", noreply=False)
        self.assertEqual(Front(self.falafel, "--socket", str(path)).end(), ADDRESS_TAKEN)
        self.assertEqual(client.get("key"), b"1")
        front.end(signal.SIGKILL)
        self.assertTrue(path.exists())
        self.assertEqual(Front(self.falafel, "--socket", str(path)).end(), 0)
        self.assertFalse(path.exists())


class Metrics(FrontTest):
    def test_are_those_of_all_threads_and_of_the_front(self):
        front = self.front("--threads", "2", "--metrics", "127.0.0.1:0")
        places = re.fullmatch(r"serving .* at (\S+):(\d+), metrics at (\S+)\n", front.ready_line)
        for _ in range(4):  # two connections to each thread
            client = Client((places[1], int(places[2])), timeout=HANG_LIMIT_SECONDS)
            client.set("key", "value", noreply=False)
            client.close()
        with urllib.request.urlopen(f"http://{places[3]}/metrics", timeout=HANG_LIMIT_SECONDS) as reply:
            text = reply.read().decode()
        self.assertIn('falafel_client_operations_total{server="falafel",operation="set",'
                      'outcome="stored"} 4\n', text)
        self.assertIn('falafel_client_connected_stores{server="falafel"} 2\n', text)
        self.assertIn("falafel_memcached_connections_total 4\n", text)
        taken = Front(self.falafel, "--listen", "127.0.0.1:0", "--metrics", places[3])
        self.assertEqual(taken.end(), ADDRESS_TAKEN)


class Ending(FrontTest):
    def test_reconnects_to_a_server_that_returns(self):
        client = self.connect()
        client.set("key", "1", noreply=False)
        self.server.end(signal.SIGKILL)
        wait_until(lambda: self.answer(client) == "refused")  # memory outlives its server briefly
        server = self.falafel.serve("--memory", "64MiB")
        self.addCleanup(server.end, signal.SIGKILL)
        wait_until(lambda: self.answer(client) is None)  # a restarted server is empty

    def answer(self, client):
        try:
            return client.get("key")
        except MemcacheServerError as refusal:
            self.assertIn("not connected", str(refusal))
            return "refused"

    def test_exit_statuses(self):
        front = self.front()
        self.assertEqual(front.end(), 0)
        self.assertEqual(self.front("--name", "nobody").end(), NO_SERVER)
        self.assertEqual(Front(self.falafel, "--listen", "nonsense").end(), WRONG_USAGE)
        self.assertEqual(self.front("--connections", "1000000000").end(), WRONG_USAGE)
        taken = ":".join(map(str, self.front().address()))
        self.assertEqual(Front(self.falafel, "--listen", taken).end(), ADDRESS_TAKEN)


if __name__ == "__main__":
    unittest.main()
