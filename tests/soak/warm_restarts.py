#!/usr/bin/env python3
"""Kills the server of a store whose memory is in a file again and again (kill -9), also while it starts,
and starts it over the file, while clients work. Then judges what the clients have recorded. Nothing may
be lost. Clients go on while no server runs. Meanwhile, the program kills and stops clients.

Exit status and folders are those of soak.py.

  tests/soak/warm_restarts.py --build build/release --seconds 3600
"""

import argparse
import itertools
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

sys.dont_write_bytecode = True

import history  # noqa: E402
import leaks  # noqa: E402
from parties import Party, Server, wait_until  # noqa: E402

NAME = "kept"
CLIENT_TIMEOUT_SECONDS = 2
OPTIONS = ("--memory", "16MiB", "--region-size", "64KiB", "--entries", "8192", "--client-timeout",
           str(CLIENT_TIMEOUT_SECONDS))
CLIENTS, KEYS = 6, 300
LONGEST_PAUSE_SECONDS = 1  # without a server
LONGEST_START_SECONDS = 0.1  # of a server that is killed while it starts
STARTS_KILLED = 0.25  # share of the starts
LONGEST_STOP_SECONDS = 2 * CLIENT_TIMEOUT_SECONDS  # a start waits 5 s for a client in a request


class WarmRestarts:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.falafel = str((arguments.build / "bin/falafel").resolve())
        self.client_program = str((arguments.build / "tests/soak/store_soak_client").resolve())
        self.random = random.Random(arguments.seed)
        self.counts = Counter()
        self.numbers = itertools.count(1)
        (folder / "history").mkdir(parents=True)
        (folder / "losses").touch()
        self.memory = pathlib.Path(tempfile.mkdtemp(prefix="falafel-soak-", dir="/dev/shm")) / "memory"
        self.baseline = leaks.Baseline(self)
        self.server = self.start_server()
        self.clients = {}
        for slot in range(CLIENTS):
            self.start_client(slot)
        self.resumed_at = {}  # of the stopped clients

    def servers(self):
        """For the baseline, which compares no server here: all of them are killed."""
        return []

    def options(self):
        return (*OPTIONS, "--memory-file", str(self.memory))

    def start_server(self):
        return Server(self.falafel, self.folder, NAME, self.options())

    def start_program(self, *options):
        number = next(self.numbers)
        words = [self.client_program, "--server", NAME, "--keys", KEYS, "--number", number,
                 "--operations-per-second", self.arguments.rate,
                 "--history", self.folder / f"history/client-{number}", *options]
        return Party([str(word) for word in words], self.folder / "clients.log",
                     {"FALAFEL_DIRECTORY": str(self.folder / "run")})

    def start_client(self, slot):
        self.clients[slot] = self.start_program()

    # Faults

    def restart(self):
        self.server.kill()
        self.counts["server killed"] += 1
        time.sleep(LONGEST_PAUSE_SECONDS * self.random.random() ** 3)
        while self.random.random() < STARTS_KILLED:
            self.kill_a_start()
        self.server = self.start_server()

    def kill_a_start(self):
        words = [self.falafel, "serve", "--directory", self.folder / "run", "--name", NAME, *self.options()]
        with (self.folder / "starts.log").open("a") as log:
            starting = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log)
        time.sleep(self.random.uniform(0, LONGEST_START_SECONDS))
        starting.send_signal(signal.SIGKILL)
        starting.wait()
        self.counts["start killed"] += 1

    def strike_a_client(self):
        slot = self.random.randrange(1, CLIENTS)
        client = self.clients[slot]
        if client.is_stopped:
            return
        if self.random.random() < 0.5:
            client.kill()
            self.start_client(slot)
            self.counts["client killed"] += 1
        else:
            client.stop()
            self.resumed_at[slot] = time.monotonic() + LONGEST_STOP_SECONDS * self.random.random() ** 3
            self.counts["client stopped"] += 1

    def resume_clients(self, until):
        for slot, when in list(self.resumed_at.items()):
            if when <= until:
                self.clients[slot].resume()
                del self.resumed_at[slot]

    # The run

    def run(self):
        ends_at = time.monotonic() + self.arguments.seconds
        restarts_at = strikes_at = observes_at = time.monotonic()
        while (now := time.monotonic()) < ends_at:
            if now >= restarts_at:
                # A client that was stopped in a request would keep the next server from the file.
                self.resume_clients(now + LONGEST_STOP_SECONDS)
                self.restart()
                restarts_at = now + self.random.expovariate(1 / self.arguments.restart_seconds)
            if now >= strikes_at:
                self.strike_a_client()
                strikes_at = now + self.random.expovariate(1)
            if now >= observes_at:
                self.baseline.observe([self.clients[0]])
                print(f"{ends_at - now:.0f} s left; {dict(self.counts)}", flush=True)
                observes_at = now + max(2, self.arguments.seconds / 60)
            self.resume_clients(now)
            self.verify_processes()
            time.sleep(0.02)
        return self.finish()

    def verify_processes(self):
        if not self.server.is_running():
            raise RuntimeError(f"the server ended: {self.server.process.returncode}")
        for slot, client in self.clients.items():
            if not client.is_running():
                raise RuntimeError(f"client {slot} ended with {client.process.returncode}; see clients.log")

    def finish(self):
        """Ends everything; whether nothing was wrong."""
        self.resume_clients(float("inf"))
        wrong = [f"a client ended with {status}" for client in self.clients.values()
                 if (status := client.end()) != 0]
        reader = self.start_program("--task", "get")
        wait_until(lambda: not reader.is_running(), "a client reads all keys")
        wait_until(lambda: leaks.is_idle(self.server.report()), "the server is idle")
        wrong += self.baseline.compare_clients()
        if (status := self.server.end()) != 0:
            wrong.append(f"the server ended with {status}")
        for text in wrong:
            print("wrong:", text)
        return not wrong

    def kill_all(self):
        for party in (*self.clients.values(), self.server):
            party.kill()
        shutil.rmtree(self.memory.parent)


def soak(arguments, folder):
    print(f"seed {arguments.seed}, histories and logs in {folder}", flush=True)
    running = WarmRestarts(arguments, folder)
    try:
        has_held = running.run()
    finally:
        running.kill_all()
    print("\n".join(f"{name}: {count:,}" for name, count in sorted(running.counts.items())))
    is_right = history.judge(running.falafel, folder)
    return is_right and has_held


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build/release",
                        help="folder of a finished build")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--restart-seconds", type=float, default=3, help="between two deaths, on average")
    parser.add_argument("--rate", type=int, default=500, help="operations per second of each client")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--folder", type=pathlib.Path, help="a new folder, which is kept")
    parser.add_argument("--judge", type=pathlib.Path, metavar="FOLDER",
                        help="only judge the histories in it")
    arguments = parser.parse_args()
    if arguments.judge:
        return not history.judge(arguments.build / "bin/falafel", arguments.judge)
    folder = arguments.folder or pathlib.Path(tempfile.mkdtemp(prefix="falafel-soak-"))
    is_right = soak(arguments, folder)
    if is_right and not arguments.folder:
        shutil.rmtree(folder)
    print("nothing was lost, and nothing leaked" if is_right else f"FAILED: see {folder}")
    return not is_right


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError) as error:
        print(f"warm_restarts.py: {error}", file=sys.stderr)
        sys.exit(2)
