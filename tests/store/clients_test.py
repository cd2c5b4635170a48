#!/usr/bin/env python3
"""Stopped and killed clients in the server's status. Arguments: the program, a client that stays
connected."""

import signal
import sys
import unittest

from harness import Client, Falafel

PROGRAM, HOLDER = sys.argv[1:3]
del sys.argv[1:3]


class Clients(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)
        # Nobody is given up for being stopped, however long the commands take.
        self.server = self.falafel.serve("--memory", "8MiB", "--region-size", "64KiB",
                                         "--client-timeout", "600")
        self.addCleanup(self.server.end, signal.SIGKILL)
        self.holder = self.start_holder()

    def start_holder(self, *key):
        holder = Client(self.falafel, [HOLDER, *key], "stored")
        self.addCleanup(holder.end)
        return holder

    def store(self, key):
        status, _, error = self.falafel.run("set", key, input=bytes(1000))
        self.assertEqual(status, 0, error)

    def test_who_is_stopped_is_waited_for_and_holds_nobody_up(self):
        [client] = self.falafel.report()["clients"]
        self.assertEqual(len(client["regions"]), 1)
        self.assertFalse(client["awaited"])
        self.holder.send_signal(signal.SIGSTOP)
        for key in range(5):
            self.store(str(key))
        self.falafel.await_report(lambda report: report["regions"].get("waiting", 0) > 0
                        and [entry["awaited"] for entry in report["clients"]] == [True])
        self.assertEqual(self.falafel.run("get", "held")[:2], (0, b"value"))
        self.assertIn("memory is waiting for it", self.falafel.run("stat")[1].decode())
        self.holder.send_signal(signal.SIGCONT)
        self.falafel.await_report(lambda report: "waiting" not in report["regions"] and report["idle"])

    def test_who_is_killed_leaves_its_region_and_its_values(self):
        self.holder.end()
        self.falafel.await_report(lambda report: report["clients"] == [] and report["idle"]
                        and set(report["regions"]) == {"free"})
        self.assertEqual(self.falafel.run("get", "held")[:2], (0, b"value"))


class IdleClients(unittest.TestCase):
    def test_they_give_back_what_others_need(self):
        falafel = Falafel(PROGRAM)
        self.addCleanup(falafel.close)
        with falafel.serve("--memory", "2MiB", "--region-size", "256KiB"):
            for key in ("one", "two"):
                self.addCleanup(Client(falafel, [HOLDER, key], "stored").end)
            status, _, error = falafel.run("set", "three", "value")
            self.assertEqual(status, 0, error)
            for key in ("one", "two", "three"):
                self.assertEqual(falafel.run("get", key)[:2], (0, b"value"))


if __name__ == "__main__":
    unittest.main()
