#!/usr/bin/env python3
"""A hundred clients are killed or stopped forever at random moments while others work. The others
continue, and afterwards every byte is accounted for. Arguments: the program, the worker client, and
the client that violates the protocol."""

import os
import random
import signal
import subprocess
import sys
import time
import unittest

from harness import HANG_LIMIT_SECONDS, Client, Falafel, Worker, wait_until

PROGRAM, WORKER, HOSTILE = sys.argv[1:4]
del sys.argv[1:4]

SEED = int(os.environ.get("FALAFEL_SEED", "1"))
CASUALTIES = int(os.environ.get("FALAFEL_CASUALTIES", "100"))
CROWD, COPIERS = 6, 2  # concurrent clients that will be killed or stopped
SURVIVORS = 3
LONGEST_LIFE_SECONDS = 0.12
CLIENT_TIMEOUT_SECONDS = 5  # a busy machine does not delay a client by as much
VALUE_BYTES, KEYS = 120_000, 2
# docs/protocol.md, Bounds: a SET waits for a region until the server has given up on silent clients
# and has collected their regions.
BOUND = f"{CLIENT_TIMEOUT_SECONDS} s of silence and a collection"


class Casualties(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(SEED)
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)
        self.server = self.falafel.serve(
            "--memory", "256MiB", "--region-size", "256KiB", "--entries", "4000", "--clients", "200",
            "--client-timeout", str(CLIENT_TIMEOUT_SECONDS))
        self.addCleanup(self.server.end, signal.SIGKILL)
        self.workers = 0
        self.unanswered = 0

    def start(self, keys, value_bytes):
        self.workers += 1
        worker = Worker(self.falafel, WORKER, "mixed", self.workers, keys, value_bytes)
        self.addCleanup(worker.end, signal.SIGKILL)
        return worker

    def start_copier(self):
        """A client that is in the middle of a copy most of the time."""
        for _ in range(10):
            try:
                copier = Client(
                    self.falafel, [HOSTILE, self.falafel.directory, "copy", str(2 * CLIENT_TIMEOUT_SECONDS)],
                    "done", stderr=subprocess.DEVNULL)
                break
            except AssertionError:
                # All free regions waited until it would be quiescent, and it answers no question.
                # So the server gave up on it.
                self.unanswered += 1
        self.addCleanup(copier.end)
        return copier

    def start_casualty(self, index):
        return self.start_copier() if index < COPIERS else self.start(KEYS, VALUE_BYTES)

    def lose_clients(self):
        """All lost clients, and how many of them are stopped."""
        crowd = [self.start_casualty(index) for index in range(CROWD)]
        lost = []
        stopped = 0
        while len(lost) < CASUALTIES:
            time.sleep(self.random.uniform(0, LONGEST_LIFE_SECONDS))
            index = self.random.randrange(CROWD)
            number = self.random.choice((signal.SIGKILL, signal.SIGSTOP))
            crowd[index].process.send_signal(number)
            stopped += number == signal.SIGSTOP
            lost.append(crowd[index])
            crowd[index] = self.start_casualty(index)
        for worker in crowd[:COPIERS]:
            worker.end()
        for worker in crowd[COPIERS:]:
            worker.await_start()  # before, it does not know how to end
            self.assertEqual(worker.end(), 0)
        for worker in (*crowd, *lost):
            if isinstance(worker, Worker):
                self.assertEqual(worker.errors(), [])
        return lost, stopped

    def await_progress(self, survivors):
        """Waits until each of them has stored something."""
        for survivor in survivors:
            sets = survivor.ticks()[-1].sets
            wait_until(lambda survivor=survivor, sets=sets: survivor.ticks()[-1].sets > sets
                       or survivor.process.poll() is not None)

    def test_the_others_go_on_and_nothing_is_lost(self):
        survivors = [self.start(8, 2_000) for _ in range(SURVIVORS)]
        for survivor in survivors:
            survivor.await_start()
        lost, stopped = self.lose_clients()

        # A client that is stopped in the middle of a copy keeps its regions and nothing else.
        report = self.falafel.await_report(
            lambda report: sum(not client["leaving"] for client in report["clients"]) == SURVIVORS)
        self.await_progress(survivors)
        in_a_copy = [client for client in report["clients"] if client["leaving"]]
        self.assertGreater(len(in_a_copy), 0)
        print(f"{CASUALTIES} clients lost, {stopped} of them stopped, {len(in_a_copy)} in the middle of a "
              f"copy: they keep {sum(len(client['regions']) for client in in_a_copy)} regions; "
              f"{self.unanswered} had waited in vain for their first region")
        for worker in lost:
            worker.process.kill()
        self.falafel.await_report(lambda report: len(report["clients"]) == SURVIVORS)
        self.await_progress(survivors)

        for survivor in survivors:
            self.assertEqual(survivor.end(), 0)
            self.assertEqual(survivor.errors(), [])
            self.assertEqual(survivor.ticks()[-1].refused, 0)
        longest = max(survivor.ticks()[-1].longest_set_ns for survivor in survivors) / 1e9
        print(f"longest wait of a SET: {longest:.3f} s; bound: {BOUND}")
        self.falafel.await_report(lambda report: report["clients"] == [] and report["idle"]
                                  and set(report["regions"]) == {"free"})
        self.look_at_what_is_stored()
        self.assertEqual(self.server.end(), 0)

    def look_at_what_is_stored(self):
        reader = Worker(self.falafel, WORKER, "look", self.workers, KEYS, VALUE_BYTES)
        self.assertEqual(reader.process.wait(timeout=HANG_LIMIT_SECONDS), 0)
        self.assertEqual(reader.errors(), [])
        self.assertEqual(reader.ticks()[-1].gets, self.workers * KEYS)


if __name__ == "__main__":
    unittest.main()
