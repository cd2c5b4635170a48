#!/usr/bin/env python3
"""Uses servers of Falafel for a long time while clients, servers and etcd are killed, stopped and
restarted, and judges afterwards what the clients have recorded.

A cluster of three servers changes all the time: five servers take turns. One more store is full. Exit
status: 0, the histories are linearizable and nothing has leaked; 1, not so; 2, the soak itself
failed. A folder keeps the histories; without --folder, it is removed after success. --judge judges
such a folder again.

  tests/soak/soak.py --build build/release --seconds 3600
"""

import argparse
import heapq
import itertools
import json
import pathlib
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter

sys.dont_write_bytecode = True

import history  # noqa: E402
import leaks  # noqa: E402
from changes import LEASE_SECONDS, Changes  # noqa: E402
from parties import Etcd, Party, Server, wait_until  # noqa: E402

CLIENT_TIMEOUT_SECONDS = 2
SERVER_TIMEOUT_SECONDS = 1  # of the clients (client.cpp)
# A lease, a server that does not answer, three heartbeat time-outs, and a little more. Over shared
# memory, the system tells at once that a process has ended.
SETTLE_SECONDS = LEASE_SECONDS + SERVER_TIMEOUT_SECONDS + 3 * CLIENT_TIMEOUT_SECONDS + 0.5
POOL = ("a", "b", "c", "d", "e")
MEMBER_OPTIONS = ("--memory", "16MiB", "--region-size", "64KiB", "--entries", "8192",
                  "--client-timeout", str(CLIENT_TIMEOUT_SECONDS))
FULL = "full"
FULL_OPTIONS = ("--memory", "16MiB", "--region-size", "128KiB", "--entries", "8192",
                "--client-timeout", str(CLIENT_TIMEOUT_SECONDS))
CLUSTER_KEYS, FULL_KEYS = 120, 2400  # the latter do not fit
FULL_SHAPE = ("--prefix", "full", "--keys", FULL_KEYS, "--least-bytes", 8000, "--most-bytes", 12000,
              "--sets-percent", 50)
CLUSTER_CLIENTS, FULL_CLIENTS = 6, 3  # the first of each is never killed
FAULT_SECONDS = {"kill a client": 2, "stop a client": 2, "stop a server": 5, "restart a member": 10,
                 "restart a server outside the list": 15, "restart etcd": 60,
                 "freeze a server and a client": 60}  # on average
LONGEST_STOP_SECONDS = 2 * CLIENT_TIMEOUT_SECONDS
LONGEST_FREEZE_SECONDS = 2 * SETTLE_SECONDS


class Soak:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.falafel = str((arguments.build / "bin/falafel").resolve())
        self.client_program = str((arguments.build / "tests/soak/store_soak_client").resolve())
        self.random = random.Random(arguments.seed)
        self.counts = Counter()
        self.numbers = itertools.count(1)
        (folder / "history").mkdir(parents=True)
        self.losses = (folder / "losses").open("w")
        self.etcd = Etcd(folder)
        self.pool = {name: Server(self.falafel, folder, name, MEMBER_OPTIONS) for name in POOL}
        self.full = Server(self.falafel, folder, FULL, FULL_OPTIONS)
        self.due = []  # (time, number, function), a heap
        self.baseline = leaks.Baseline(self)
        self.changes = Changes(self, SETTLE_SECONDS)
        self.filled = self.finish_task("set", is_full=True)
        self.clients = {}
        for slot in range(CLUSTER_CLIENTS + FULL_CLIENTS):
            self.start_client(slot)

    def servers(self):
        return [*self.pool.values(), self.full]

    # Clients

    def start_program(self, number, is_full, *options):
        where = ("--server", FULL) if is_full else ("--etcd", self.etcd.address)
        shape = (FULL_SHAPE if is_full else ("--keys", CLUSTER_KEYS))
        rate = self.arguments.rate // 2 if is_full else self.arguments.rate
        words = [self.client_program, *where, *shape, "--operations-per-second", rate,
                 "--number", number, "--history", self.folder / f"history/client-{number}", *options]
        return Party([str(word) for word in words], self.folder / "clients.log",
                     {"FALAFEL_DIRECTORY": str(self.folder / "run")})

    def start_client(self, slot):
        self.clients[slot] = self.start_program(next(self.numbers), slot >= CLUSTER_CLIENTS)

    def finish_task(self, task, is_full):
        """Lets a client do it with each key; how many of these succeeded."""
        number = next(self.numbers)
        party = self.start_program(number, is_full, "--task", task)
        wait_until(lambda: not party.is_running(), f"client {number} ends its task: {task}")
        if party.process.returncode != 0:
            raise RuntimeError(f"client {number} failed: {party.process.returncode}")
        lines = (self.folder / f"history/client-{number}").read_text().splitlines()
        return sum(line.split()[3] in ("found", "stored", "deleted") for line in lines
                   if line.startswith("r"))

    def immortal_clients(self):
        return [self.clients[0], self.clients[CLUSTER_CLIENTS]]

    # Faults

    def at(self, seconds, function):
        heapq.heappush(self.due, (time.monotonic() + seconds, next(self.numbers), function))

    def strike_again(self, name):
        self.at(self.random.expovariate(1 / FAULT_SECONDS[name]), lambda: self.strike(name))

    def strike(self, name):
        if getattr(self, name.replace(" ", "_"))():
            self.counts[name] += 1
        self.strike_again(name)

    def kill_a_client(self):
        mortal = [slot for slot in self.clients if slot not in (0, CLUSTER_CLIENTS)]
        slot = self.random.choice(mortal)
        self.clients[slot].kill()
        self.start_client(slot)
        return True

    def stop(self, party):
        if party.is_stopped:
            return False
        party.stop()
        # Many short ones, and some that are longer than the time-outs.
        self.at(LONGEST_STOP_SECONDS * self.random.random() ** 3, party.resume)
        return True

    def stop_a_client(self):
        return self.stop(self.random.choice(list(self.clients.values())))

    def stop_a_server(self):
        return self.stop(self.random.choice(self.servers()))

    def freeze_a_server_and_a_client(self):
        """For about as long as a change settles, or longer."""
        seconds = self.random.uniform(SETTLE_SECONDS / 2, LONGEST_FREEZE_SECONDS)
        parties = (self.random.choice(list(self.pool.values())),
                   self.random.choice(list(self.clients.values())))
        if any(party.is_stopped for party in parties):
            return False
        for party in parties:
            party.stop()
            self.at(seconds, party.resume)
        return True

    def restart_a_member(self):
        """While no change is under way, so that the list tells which keys it costs."""
        if not self.changes.is_settled():
            return False
        name = self.random.choice(self.changes.servers)
        self.restart(name, self.keys_of(name, self.changes.servers))
        return True

    def restart_a_server_outside_the_list(self):
        if not self.changes.is_settled():
            return False
        self.restart(self.random.choice(sorted(set(self.pool) - set(self.changes.servers))), [])
        return True

    def restart_etcd(self):
        if not self.changes.is_settled():
            return False
        self.etcd = self.etcd.restart()
        return True

    def restart(self, name, loses):
        """When it began."""
        begin = time.monotonic_ns()
        self.pool[name] = self.pool[name].restart()
        self.note_loss(loses, begin, time.monotonic_ns())
        self.baseline.add(self.pool[name])
        return begin

    def note_loss(self, keys, begin, end):
        """Without an end, the keys may be lost or not."""
        self.losses.write(json.dumps({"keys": keys, "begin": begin, "end": end}) + "\n")
        self.losses.flush()

    def keys_of(self, name, servers):
        return [key for key, owner in self.owners(servers).items() if owner == name]

    def owners(self, servers):
        number = next(self.numbers)
        log = self.folder / f"owners-{number}.log"
        party = Party([self.client_program, "--owners-of", ",".join(servers),
                       "--keys", str(CLUSTER_KEYS)], log)
        party.process.wait()
        owners = dict(line.split() for line in log.read_text().splitlines())
        log.unlink()
        return owners

    # The run

    def run(self):
        ends_at = time.monotonic() + self.arguments.seconds
        for name in FAULT_SECONDS:
            self.strike_again(name)
        self.at(0, lambda: self.observe(ends_at))
        while time.monotonic() < ends_at:
            self.step()
            self.changes.step()
            time.sleep(0.02)
        for name in self.finish():
            print("wrong:", name)
            self.counts["wrong"] += 1
        return self.counts["wrong"] == 0

    def step(self):
        while self.due and self.due[0][0] <= time.monotonic():
            heapq.heappop(self.due)[2]()
        for slot, client in self.clients.items():
            if not client.is_running():
                self.counts["wrong"] += 1
                print(f"wrong: a client ended with {client.process.returncode}; see clients.log")
                self.start_client(slot)
        for server in self.servers():
            if not server.is_running():
                raise RuntimeError(f"server {server.name} ended: {server.process.returncode}")

    def observe(self, ends_at):
        self.baseline.observe(self.immortal_clients())
        left = ends_at - time.monotonic()
        print(f"{left:.0f} s left; {dict(self.counts)}", flush=True)
        self.at(max(5, self.arguments.seconds / 60), lambda: self.observe(ends_at))

    def finish(self):
        """Ends everything, and yields what is wrong."""
        for party in (*self.servers(), *self.clients.values()):
            party.resume()
        self.changes.complete()
        for client in self.clients.values():
            if (status := client.end()) != 0:
                yield f"a client ended with {status}"
        in_cluster = self.finish_task("get", is_full=False)
        in_full = self.finish_task("get", is_full=True)
        print(f"{in_cluster} of {CLUSTER_KEYS} keys of the cluster and {in_full} of {FULL_KEYS} of the "
              "full store at the end")
        yield from self.baseline.compare(self.servers())
        self.finish_task("delete", is_full=True)
        filled = self.finish_task("set", is_full=True)
        print(f"{self.filled} values filled the store at the beginning, {filled} at the end")
        if filled < 0.97 * self.filled:
            yield "memory of the full store has not returned"
        for server in self.servers():
            if (status := server.end()) != 0:
                yield f"server {server.name} ended with {status}"
        self.etcd.kill()
        self.losses.close()

    def kill_all(self):
        for party in (*self.clients.values(), *self.servers(), self.etcd):
            party.kill()


def soak(arguments, folder):
    print(f"seed {arguments.seed}, histories and logs in {folder}", flush=True)
    running = Soak(arguments, folder)
    try:
        has_held = running.run()
    finally:
        running.kill_all()
    print("\n".join(f"{name}: {count:,}" for name, count in sorted(running.counts.items())))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:,.0f} s of processor time")
    is_right = history.judge(running.falafel, folder)
    return is_right and has_held


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build/release",
                        help="folder of a finished build")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=int, default=200, help="operations per second of each client")
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
        print(f"soak.py: {error}", file=sys.stderr)
        sys.exit(2)
