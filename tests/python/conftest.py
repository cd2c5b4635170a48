"""A server for the tests. $FALAFEL_PROGRAM is the program falafel."""

import os
import pathlib
import subprocess
import tempfile

import pytest


class Server:
    def __init__(self, directory, *words):
        self.directory = directory
        self.words = words
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [os.environ["FALAFEL_PROGRAM"], "serve", "--directory", self.directory,
             "--memory", "64MiB", *self.words],
            stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline().startswith("serving")

    def stop(self):
        """May be called again."""
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def server():
    with tempfile.TemporaryDirectory(prefix="falafel-") as folder:
        running = Server(str(pathlib.Path(folder) / "run"))
        yield running
        running.stop()


@pytest.fixture
def options(server):
    return {"directory": server.directory, "reconnect_interval_ns": 0}


@pytest.fixture
def cache_options():
    with tempfile.TemporaryDirectory(prefix="falafel-") as folder:
        cache = Server(str(pathlib.Path(folder) / "run"), "--cache")
        yield {"directory": cache.directory}
        cache.stop()
