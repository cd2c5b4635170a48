"""Starts servers and clients of the store in a temporary directory for tests."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from hang_limit import HANG_LIMIT_SECONDS  # noqa: E402


class Server:
    """`falafel serve` with these options; ready after construction."""

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
        """Stops it and returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.communicate(timeout=HANG_LIMIT_SECONDS)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end(signal.SIGKILL)


class Client:
    """A program that stays connected and prints a line when it has done its work."""

    def __init__(self, falafel, words, ready_line, **popen):
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "FALAFEL_DIRECTORY": falafel.directory}, **popen,
        )
        ready, _, _ = select.select([self.process.stdout], [], [], HANG_LIMIT_SECONDS)
        line = self.process.stdout.readline() if ready else "nothing"
        if line != f"{ready_line}\n":
            self.end()
            raise AssertionError(f"{words} said {line!r}; the server: {falafel.run('stat')}")

    def send_signal(self, number):
        self.process.send_signal(number)

    def leave(self):
        self.process.communicate("\n", timeout=HANG_LIMIT_SECONDS)

    def end(self):
        self.process.kill()
        self.process.communicate()


class Tick(NamedTuple):
    """The progress of a worker at one time."""

    time_ns: int
    gets: int
    sets: int
    refused: int
    longest_set_ns: int


class Worker:
    """The worker program (worker.c). A file takes its output, so that nobody has to read it
    concurrently."""

    def __init__(self, falafel, program, kind, number, keys=8, value_bytes=64):
        self.path = pathlib.Path(falafel.folder.name) / f"worker-{number}"
        with self.path.open("w") as output:
            self.process = subprocess.Popen(
                [program, kind, str(number), str(keys), str(value_bytes)], stdout=output,
                env={**os.environ, "FALAFEL_DIRECTORY": falafel.directory},
            )

    def lines(self):
        # The last line of a killed worker may be incomplete.
        return self.path.read_text().split("\n")[:-1]

    def ticks(self):
        return [Tick(*map(int, line.split()[1:])) for line in self.lines() if line.startswith("tick ")]

    def errors(self):
        return [line for line in self.lines() if line.startswith("error ")]

    def await_start(self):
        """Waits until it has stored its keys."""
        wait_until(lambda: self.ticks() or self.process.poll() is not None)
        if not self.ticks():
            raise AssertionError(f"a worker ended: {self.lines()}")

    def await_progress(self):
        """Waits until it has done something more."""
        before = self.ticks()[-1]
        wait_until(lambda: self.ticks()[-1][1:3] != before[1:3] or self.process.poll() is not None)

    def end(self, number=signal.SIGTERM):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=HANG_LIMIT_SECONDS)


def wait_until(condition, interval=0.05):
    deadline = time.monotonic() + HANG_LIMIT_SECONDS
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {HANG_LIMIT_SECONDS} s")
        time.sleep(interval)
    return result


class Falafel:
    """The program, used with servers in a separate directory."""

    def __init__(self, program):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = tempfile.TemporaryDirectory(prefix="falafel-")
        self.directory = self.folder.name + "/run"

    def serve(self, *options, **popen):
        return Server(self.program, self.directory, *options, **popen)

    def run(self, command, *arguments, input=b"", **options):
        """(exit status, standard output as bytes, standard error)."""
        completed = subprocess.run(
            [self.program, command, *arguments], capture_output=True, input=input,
            timeout=HANG_LIMIT_SECONDS, env={**os.environ, "FALAFEL_DIRECTORY": self.directory}, **options,
        )
        return completed.returncode, completed.stdout, completed.stderr.decode()

    def report(self):
        """The server's report, whose parts must add up."""
        status, output, error = self.run("stat", "--json")
        if status != 0:
            raise AssertionError(f"stat: {error}")
        report = json.loads(output)
        parts = report["chunk"]["parts"]
        if sum(part["bytes"] for part in parts) != report["chunk"]["bytes"]:
            raise AssertionError(f"the parts do not add up: {parts}")
        if sum(report["regions"].values()) != report["geometry"]["region_count"]:
            raise AssertionError(f"the regions do not add up: {report['regions']}")
        return report

    def await_report(self, condition):
        """The first report that satisfies the condition."""
        deadline = time.monotonic() + HANG_LIMIT_SECONDS
        while not condition(report := self.report()):
            if time.monotonic() > deadline:
                raise AssertionError(f"not so within {HANG_LIMIT_SECONDS} s: {json.dumps(report, indent=2)}")
            time.sleep(0.1)
        return report

    def close(self):
        self.folder.cleanup()
