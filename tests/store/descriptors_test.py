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
DESCRIPTORS = 64
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

    def take_all_descriptors(self):
        """Lets the server open no more files than it has."""
        taken = {int(name) for name in os.listdir(f"/proc/{self.server.process.pid}/fd")}
        lowest_free = next(number for number in range(DESCRIPTORS) if number not in taken)
        self.permit_descriptors(lowest_free)

    def permit_descriptors(self, number):
        resource.prlimit(self.server.process.pid, resource.RLIMIT_NOFILE, (number, DESCRIPTORS))

    def connect_silently(self, family, address):
        connection = socket.socket(family)
        self.addCleanup(connection.close)
        connection.connect(address)

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
        self.permit_descriptors(DESCRIPTORS)
        self.assertEqual(client.wait(timeout=HANG_LIMIT_SECONDS), 0)  # it has waited
        lasted = time.monotonic() - began
        shortages = self.falafel.report()["statistics"]["descriptor_shortages"]
        self.assertGreater(shortages, 1)
        # The server tries without a pause otherwise.
        self.assertLessEqual(shortages, LISTENERS * (1 + lasted / PAUSE_SECONDS))
        text = urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=HANG_LIMIT_SECONDS).read().decode()
        self.assertGreater(
            int(re.search(r"^falafel_descriptor_shortages_total (\d+)$", text, re.MULTILINE)[1]), 1)

    def test_silent_connections_for_reports_keep_nobody_out(self):
        """Each of the two sockets has a share of the descriptors."""
        host, port = self.metrics.rsplit(":", 1)
        for _ in range(2 * DESCRIPTORS):
            self.connect_silently(socket.AF_UNIX, f"{self.falafel.directory}/falafel/status")
            self.connect_silently(socket.AF_INET, (host, int(port)))
        self.assertEqual(self.falafel.run("set", "key", "value")[0], 0)
        self.assertEqual(self.falafel.run("stat")[0], 0)


if __name__ == "__main__":
    unittest.main()
