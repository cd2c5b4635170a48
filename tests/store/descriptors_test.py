#!/usr/bin/env python3
"""A server that has no file descriptors left for clients says so, counts it, and serves again when
there are some. Argument: the program."""

import os
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

from harness import HANG_LIMIT_SECONDS, Falafel

PROGRAM = sys.argv.pop(1)
DESCRIPTORS = 32
LISTENERS = 3  # for clients, status and metrics
PAUSE_SECONDS = 0.01  # of a listener, after each attempt without a descriptor


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


class Descriptors(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)
        self.server = self.falafel.serve("--memory", "64MiB", "--metrics", "127.0.0.1:0",
                                         preexec_fn=limit_descriptors)
        self.addCleanup(self.server.end, signal.SIGKILL)
        self.metrics = self.server.ready_line.rsplit("metrics at ", 1)[1].strip()
        self.connections = []
        self.addCleanup(self.close_connections)

    def take_all_descriptors(self):
        """By connections to the status socket that request nothing. Some stay in the queue."""
        for _ in range(DESCRIPTORS):
            connection = socket.socket(socket.AF_UNIX)
            self.connections.append(connection)
            connection.connect(f"{self.falafel.directory}/falafel/status")

    def close_connections(self):
        while self.connections:
            self.connections.pop().close()

    def start_client(self):
        client = subprocess.Popen(
            [PROGRAM, "set", "key", "value"], stderr=subprocess.DEVNULL,
            env={**os.environ, "FALAFEL_DIRECTORY": self.falafel.directory})
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        return client

    def says(self, seconds):
        """The server's next line, or None."""
        ready, _, _ = select.select([self.server.process.stderr], [], [], seconds)
        return self.server.process.stderr.readline() if ready else None

    def test_their_lack_is_reported_once_and_counted(self):
        began = time.monotonic()
        self.take_all_descriptors()
        client = self.start_client()
        self.assertRegex(self.says(HANG_LIMIT_SECONDS) or "", "^falafel serve: no file descriptor .*LimitNOFILE")
        time.sleep(1)
        self.assertIsNone(self.says(0))
        self.close_connections()
        self.assertEqual(client.wait(timeout=HANG_LIMIT_SECONDS), 0)  # it has waited
        lasted = time.monotonic() - began
        shortages = self.falafel.report()["statistics"]["descriptor_shortages"]
        self.assertGreater(shortages, 1)
        # The server tries without a pause otherwise.
        self.assertLessEqual(shortages, LISTENERS * (1 + lasted / PAUSE_SECONDS))
        text = urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=HANG_LIMIT_SECONDS).read().decode()
        self.assertGreater(
            int(re.search(r"^falafel_descriptor_shortages_total (\d+)$", text, re.MULTILINE)[1]), 1)


if __name__ == "__main__":
    unittest.main()
