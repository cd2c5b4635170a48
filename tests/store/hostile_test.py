#!/usr/bin/env python3
"""The effects of a client that violates the protocol on others. Arguments: the program, a client
that stays connected, a client that violates the protocol."""

import signal
import sys
import unittest

from harness import Client, Falafel

PROGRAM, HOLDER, HOSTILE = sys.argv[1:4]
del sys.argv[1:4]

CORRUPTED = 14


class Hostile(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)
        self.server = self.falafel.serve("--memory", "8MiB", "--region-size", "64KiB", "--client-timeout", "30")
        self.addCleanup(self.server.end, signal.SIGKILL)

    def start_client(self, words, ready_line):
        client = Client(self.falafel, words, ready_line)
        self.addCleanup(client.end)
        return client

    def do(self, deed, key):
        return self.start_client([HOSTILE, self.falafel.directory, deed, key], "done")

    def expect(self, status, *words, output=None):
        got, printed, error = self.falafel.run(*words)
        self.assertEqual(got, status, f"{words}: {error}")
        if output is not None:
            self.assertEqual(printed, output)
        return error

    def expect_repaired(self, key, value):
        self.expect(0, "get", key, output=value)  # waits for the audit, which repairs the entry
        report = self.falafel.await_report(lambda report: report["idle"])
        self.assertGreaterEqual(report["statistics"]["entries_repaired"], 1)
        self.assertIsNone(self.server.process.poll())

    def test_a_lock_on_an_entry_into_a_granted_region_lasts_until_the_next_walk(self):
        self.start_client([HOLDER], "stored")
        self.do("lock", "held")
        self.expect_repaired("held", b"value")

    def test_a_region_is_collected_with_a_locked_entry_into_it(self):
        holder = self.start_client([HOLDER], "stored")
        self.do("lock", "held")
        holder.leave()
        self.expect_repaired("held", b"value")

    def test_a_lock_on_an_entry_into_the_mature_space(self):
        self.expect(0, "set", "key", "value")
        self.falafel.await_report(lambda report: set(report["regions"]) == {"free"})
        self.do("lock", "key")
        self.expect_repaired("key", b"value")

    def test_a_container_that_fails_its_checksum_is_stored_anew(self):
        self.do("corrupt", "key")
        error = self.expect(CORRUPTED, "get", "key")
        self.assertIn("set or delete the key", error)
        self.expect(0, "set", "key", "value")
        self.expect(0, "get", "key", output=b"value")

    def test_a_container_that_fails_its_checksum_is_deleted(self):
        self.do("corrupt", "key")
        self.expect(0, "del", "key")
        self.expect(1, "get", "key")
        self.expect(0, "set", "key", "value")
        self.expect(0, "get", "key", output=b"value")


if __name__ == "__main__":
    unittest.main()
