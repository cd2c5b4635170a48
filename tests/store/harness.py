"""Starts a server of the store in a temporary directory, as the tests need it."""

import os
import pathlib
import signal
import subprocess
import tempfile


class Server:
    """`falafel serve` with these options; ready when the object is made."""

    def __init__(self, falafel, directory, *options, **popen):
        self.falafel, self.directory = falafel, directory
        self.process = subprocess.Popen(
            [falafel, "serve", "--directory", directory, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **popen,
        )
        self.ready_line = self.process.stdout.readline()
        if not self.ready_line.startswith("serving"):
            raise AssertionError(f"no server: {self.process.communicate()}")

    def end(self, number=signal.SIGTERM):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.communicate(timeout=60)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)


class Falafel:
    """The program, on servers in a directory of its own."""

    def __init__(self, program):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = tempfile.TemporaryDirectory(prefix="falafel-")
        self.directory = self.folder.name + "/run"

    def serve(self, *options, **popen):
        return Server(self.program, self.directory, *options, **popen)

    def run(self, command, *arguments, input=b"", **options):
        """(exit status, standard output as bytes, standard error)."""
        completed = subprocess.run(
            [self.program, command, *arguments], capture_output=True, input=input, timeout=120,
            env={**os.environ, "FALAFEL_DIRECTORY": self.directory}, **options,
        )
        return completed.returncode, completed.stdout, completed.stderr.decode()

    def close(self):
        self.folder.cleanup()
