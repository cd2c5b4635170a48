#!/usr/bin/env python3
"""Clients that are stopped or killed, as the server's status shows them. Arguments: the program, a client
that stays connected."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

from harness import Falafel

PROGRAM, HOLDER = sys.argv[1:3]
del sys.argv[1:3]


class Clients(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)
        self.server = self.falafel.serve("--memory", "8MiB", "--region-size", "64KiB")
        self.addCleanup(self.server.end, signal.SIGKILL)
        self.holder = subprocess.Popen(
            [HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "FALAFEL_DIRECTORY": self.falafel.directory},
        )
        self.addCleanup(self.end_holder)
        self.assertEqual(self.holder.stdout.readline(), "stored\n")

    def end_holder(self):
        self.holder.kill()
        self.holder.communicate()

    def status(self):
        status, output, error = self.falafel.run("stat", "--json")
        self.assertEqual(status, 0, error)
        report = json.loads(output)
        parts = report["chunk"]["parts"]
        self.assertEqual(sum(part["bytes"] for part in parts), report["chunk"]["bytes"])
        return report

    def eventually(self, condition):
        for _ in range(300):
            report = self.status()
            if condition(report):
                return
            time.sleep(0.1)
        self.fail(f"never so: {report}")

    def store(self, key):
        status, _, error = self.falafel.run("set", key, input=bytes(1000))
        self.assertEqual(status, 0, error)

    def test_who_is_stopped_is_waited_for_and_holds_nobody_up(self):
        [client] = self.status()["clients"]
        self.assertEqual(len(client["regions"]), 1)
        self.assertFalse(client["awaited"])
        self.holder.send_signal(signal.SIGSTOP)
        for key in range(5):
            self.store(str(key))
        self.eventually(lambda report: report["regions"].get("waiting", 0) > 0
                        and [entry["awaited"] for entry in report["clients"]] == [True])
        self.assertEqual(self.falafel.run("get", "held")[:2], (0, b"value"))
        self.assertIn("memory waits for it", self.falafel.run("stat")[1].decode())
        self.holder.send_signal(signal.SIGCONT)
        self.eventually(lambda report: "waiting" not in report["regions"] and report["idle"])

    def test_who_is_killed_leaves_its_region_and_its_values(self):
        self.holder.kill()
        self.eventually(lambda report: report["clients"] == [] and report["idle"]
                        and set(report["regions"]) == {"free"})
        self.assertEqual(self.falafel.run("get", "held")[:2], (0, b"value"))


if __name__ == "__main__":
    unittest.main()
