"""Resources that must be the same after a soak as before: descriptors and memory."""

import os

from parties import wait_until

# A process may hold this many more than at the beginning, which it opens when first needed.
SPARE_DESCRIPTORS = 8
SPARE_MEMORY_KIB = 32 * 1024


class Baseline:
    def __init__(self, soak):
        self.shared_memory = shared_memory()
        self.servers = {}
        self.clients = []  # (descriptors, shared segments, KiB) of each client that lives long
        for server in soak.servers():
            self.add(server)

    def add(self, server):
        """It has just been started, and may already have clients: what it has now is no leak."""
        self.servers[server.process.pid] = (server.descriptors(), server.own_memory_kib())

    def observe(self, clients):
        self.clients.append([(client.descriptors(), client.shared_segments(), client.own_memory_kib())
                             for client in clients if client.is_running()])

    def compare(self, servers):
        """When no client is left. Yields what is wrong."""
        for server in servers:
            yield from self.compare_server(server)
        yield from self.compare_clients()
        if (left := shared_memory() - self.shared_memory):
            yield f"left in shared memory: {sorted(left)}"

    def compare_server(self, server):
        wait_until(lambda: is_idle(server.report()), f"server {server.name} is idle")
        # A server that was restarted had clients at once.
        descriptors = min(number for number, _ in self.servers.values())
        _, own_kib = self.servers[server.process.pid]
        print(f"server {server.name}: {server.descriptors()} descriptors, {descriptors} before; "
              f"{server.shared_segments()} shared segments; {server.own_memory_kib():,} KiB of its "
              f"own, {own_kib:,} before")
        if server.descriptors() > descriptors + SPARE_DESCRIPTORS:
            yield f"server {server.name} has kept descriptors"
        if server.shared_segments() != 1:
            yield f"server {server.name} has kept shared memory of others"
        if server.own_memory_kib() > own_kib + SPARE_MEMORY_KIB:
            yield f"server {server.name} has kept memory"
        left = sorted(os.listdir(server.folder / "run" / server.name))
        if left != ["7", "7.lock", "status"]:
            yield f"server {server.name} has left files: {left}"

    def compare_clients(self):
        """The most of the last third of the time with the most of the first third."""
        third = max(1, len(self.clients) // 3)
        firsts, lasts = most(self.clients[:third]), most(self.clients[-third:])
        for index, (first, last) in enumerate(zip(firsts, lasts)):
            print(f"client {index}: at most {last[0]} descriptors, {last[1]} shared segments and "
                  f"{last[2]:,} KiB in the last third; {first[0]}, {first[1]} and {first[2]:,} KiB "
                  "in the first")
            if (last[0] > first[0] + SPARE_DESCRIPTORS or last[1] > first[1] + SPARE_DESCRIPTORS
                    or last[2] > first[2] + SPARE_MEMORY_KIB):
                yield f"client {index} holds more and more"


def most(observations):
    return [tuple(max(values) for values in zip(*of_client)) for of_client in zip(*observations)]


def is_idle(report):
    return report["clients"] == [] and report["idle"] and set(report["regions"]) == {"free"}


def shared_memory():
    return set(os.listdir("/dev/shm"))
