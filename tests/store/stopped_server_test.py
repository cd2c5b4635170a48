#!/usr/bin/env python3
"""GETs succeed while the server process is stopped. Arguments: the program, the worker client."""

import os
import signal
import sys
import time
import unittest

from harness import Falafel, Worker, wait_until

PROGRAM, WORKER = sys.argv[1:3]
del sys.argv[1:3]

# How long the server is stopped, and how long clients may be silent. A client has credit for a
# handful of messages and sends a heartbeat every fifth of the time-out, so five time-outs far
# exceed its credits. A busy machine does not delay a client by as much as one time-out.
STOP_SECONDS = float(os.environ.get("FALAFEL_STOP_SECONDS", "25"))
CLIENT_TIMEOUT_SECONDS = float(os.environ.get("FALAFEL_CLIENT_TIMEOUT_SECONDS", "5"))
READERS = 2
READER = os.environ.get("FALAFEL_READER", "paced")
NOT_FOUND, DOES_NOT_ANSWER = 1, 11  # exit statuses


def gets_between(ticks, begin_ns, end_ns):
    within = [tick.gets for tick in ticks if begin_ns <= tick.time_ns <= end_ns]
    return within[-1] - within[0] if within else 0


class StoppedServer(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)
        self.server = self.falafel.serve("--memory", "16MiB", "--client-timeout", str(CLIENT_TIMEOUT_SECONDS))
        self.addCleanup(self.server.end, signal.SIGKILL)

    def start_readers(self):
        readers = [Worker(self.falafel, WORKER, READER, number) for number in range(1, READERS + 1)]
        for reader in readers:
            self.addCleanup(reader.end, signal.SIGKILL)
            reader.await_start()
        return readers

    def clients(self):
        return [client["number"] for client in self.falafel.report()["clients"]]

    def test_connecting_ends_at_its_time_out(self):
        self.server.process.send_signal(signal.SIGSTOP)
        status, _, error = self.falafel.run("get", "key")
        self.assertEqual(status, DOES_NOT_ANSWER, error)
        self.server.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.falafel.run("get", "key")[0], NOT_FOUND)

    def test_gets_go_on_and_nobody_is_given_up(self):
        readers = self.start_readers()
        numbers = self.clients()
        self.assertEqual(len(numbers), READERS)
        for reader in readers:
            reader.await_progress()
        stopped = time.monotonic_ns()
        self.server.process.send_signal(signal.SIGSTOP)
        time.sleep(STOP_SECONDS)
        resumed = time.monotonic_ns()
        self.server.process.send_signal(signal.SIGCONT)
        time.sleep(2 * CLIENT_TIMEOUT_SECONDS)

        self.assertEqual(self.falafel.run("set", "new", "value")[0], 0)
        self.assertEqual(self.falafel.run("get", "new")[:2], (0, b"value"))
        wait_until(lambda: len(self.clients()) == READERS)
        self.assertEqual(self.clients(), numbers, "the same connections")
        half = stopped + (resumed - stopped) // 2
        for reader in readers:
            self.assertEqual(reader.end(), 0)
            self.assertEqual(reader.errors(), [])
            ticks = reader.ticks()
            meanwhile = gets_between(ticks, half, resumed)
            print(f"{meanwhile:,} GETs in the second half of {STOP_SECONDS:g} s without the server")
            self.assertGreater(meanwhile, 0)
        self.assertEqual(self.server.end(), 0)


if __name__ == "__main__":
    unittest.main()
