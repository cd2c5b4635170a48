"""A front for memcached's clients in front of a store, for tests. The first argument of the program
that imports this is falafel."""

import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "store"))
sys.path.append("/usr/lib/python3/dist-packages")  # pymemcache, if another Python runs the test

from harness import HANG_LIMIT_SECONDS, Falafel
from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheServerError

PROGRAM = sys.argv.pop(1)


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
