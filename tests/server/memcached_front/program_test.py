#!/usr/bin/env python3
"""falafel serve-memcached over bare sockets: slow and many clients, a server that stops or returns, exit
statuses. Argument: the program."""

import contextlib
import pathlib
import re
import select
import signal
import socket
import threading
import unittest
import urllib.request

from front import HANG_LIMIT_SECONDS, Client, Front, FrontTest, MemcacheServerError
from harness import wait_until
from pymemcache.exceptions import MemcacheError

WRONG_USAGE, NO_SERVER, ADDRESS_TAKEN = 2, 3, 6


def accepts(address):
    """Returns whether the front serves another connection."""
    try:
        return Client(address, timeout=HANG_LIMIT_SECONDS).version() == b"1.6.0-falafel"
    except (MemcacheError, ConnectionError):
        return False


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
