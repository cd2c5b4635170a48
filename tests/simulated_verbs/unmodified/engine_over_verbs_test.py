#!/usr/bin/env python3
"""The engine over libibverbs, and what is around it, as unmodified programs in the simulator.

Usage: engine_over_verbs_test.py FALAFEL PROGRAM RESERVED_MEMORY_PROGRAM
"""

import re
import subprocess
import sys
import tempfile
import unittest

FALAFEL, PROGRAM, RESERVED_MEMORY_PROGRAM = sys.argv[1:4]
CLIENTS = 3
OPERATIONS = 100


def run(seed, server_arguments="", paging="none"):
    command = [FALAFEL, "run", "--usual-steps", "3000", "--faults", "none", "--seed", str(seed),
               "--simulator", f"on_demand_paging={paging}", "--host", "server", f"{PROGRAM} server {CLIENTS} {server_arguments}"]
    for client in range(CLIENTS):
        command += ["--host", f"client{client}",
                    f"{PROGRAM} client {CLIENTS} {client} {OPERATIONS}"]
    return subprocess.run(command, capture_output=True, text=True)


class EngineOverVerbs(unittest.TestCase):
    def test_clients_get_the_answers_of_a_map(self):
        for seed in (1, 2, 4):
            first = run(seed)
            self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
            self.assertEqual(first.stdout.count(f"{OPERATIONS} operations"), CLIENTS)
            self.assertNotEqual(int(re.search("([0-9]+) regions granted", first.stdout)[1]), 0)
            self.assertEqual(first.stdout, run(seed).stdout)

    def test_table_and_memory_grow_while_clients_get_the_answers_of_a_map(self):
        for seed in (1, 2, 4):
            grown = run(seed, "grows")
            self.assertEqual(grown.returncode, 0, grown.stdout + grown.stderr)
            self.assertEqual(grown.stdout.count(f"{OPERATIONS} operations"), CLIENTS)
            growth = re.search("([0-9]+) tables begun, ([0-9]+) entries moved, "
                               "([0-9]+) more bytes held", grown.stdout)
            for figure in growth.groups():
                self.assertNotEqual(int(figure), 0, growth[0])

    def test_a_store_that_grows_is_paged_as_far_as_the_device_can(self):
        for seed in (1, 2, 4):
            pages, pins = {}, {}
            for paging in ("none", "without_atomics", "all"):
                grown = run(seed, "grows", paging)
                self.assertEqual(grown.returncode, 0, grown.stdout + grown.stderr)
                self.assertEqual(grown.stdout.count(f"{OPERATIONS} operations"), CLIENTS)
                self.assertEqual(grown.stdout, run(seed, "grows", paging).stdout)
                counts = re.search("([0-9]+) registrations page memory, ([0-9]+) pin it",
                                   grown.stdout)
                pages[paging], pins[paging] = int(counts[1]), int(counts[2])
            # The whole chunk, for each client and for the server; not tables and regions.
            self.assertEqual(pages["none"], 0)
            self.assertEqual(pages["without_atomics"], CLIENTS + 1)
            self.assertGreater(pages["all"], 3 * (CLIENTS + 1))
            self.assertLess(pins["all"], pins["without_atomics"])

    def test_a_store_of_fixed_memory_pins_it_on_any_device(self):
        paged = run(1, paging="all")
        self.assertEqual(paged.returncode, 0, paged.stdout + paged.stderr)
        self.assertIn("\n0 registrations page memory", paged.stdout)


class ReservedMemoryOverVerbs(unittest.TestCase):
    # The reservation has 2,048 pages, the table 4 and the block 8.
    EXPECTED = {
        "without_atomics": ("", 0, 4, 12, 4, 4, 3),
        "all": ("", 0, 0, 8, 0, 3, 3),
    }

    def run_with(self, paging):
        command = [FALAFEL, "run", "--seed", "1", "--simulator", f"on_demand_paging={paging}",
                   "--host", "server", RESERVED_MEMORY_PROGRAM]
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def test_memory_is_there_from_the_commit_to_the_release(self):
        steps = ("reserved", "table registered", "block committed", "block released",
                 "part of the table released", "released without a registration")
        for paging, (obstacle, *pages) in self.EXPECTED.items():
            text = self.run_with(paging)
            self.assertIn(f"obstacle: '{obstacle}'", text)
            for step, count in zip(steps, pages):
                self.assertIn(f"{step}: {count}\n", text, paging)
            self.assertIn("word in the block: 0\n", text)
            self.assertIn("other rights: unsupported\n", text)

    def test_without_paging_released_memory_stays(self):
        text = self.run_with("none")
        self.assertIn("obstacle: 'device simulated0 has no on-demand paging for reliable "
                      "connections (it lacks IBV_ODP_SUPPORT)'", text)
        self.assertIn("word in the block: 1\n", text)


# falafel serve itself, up to its status socket, which is not simulated.
class ServeOverVerbs(unittest.TestCase):
    def serve(self, paging):
        with tempfile.TemporaryDirectory() as directory:
            command = [FALAFEL, "run", "--faults", "none", "--seed", "1",
                       "--simulator", f"on_demand_paging={paging}", "--host", "server",
                       f"{FALAFEL} serve --fabric verbs --name server --max-memory 64MiB "
                       f"--directory {directory}"]
            return subprocess.run(command, capture_output=True, text=True).stdout

    def test_max_memory_is_refused_by_name_on_a_device_that_does_not_page(self):
        self.assertIn("falafel serve: --max-memory: device simulated0 has no on-demand paging for "
                      "reliable connections (it lacks IBV_ODP_SUPPORT), so memory is pinned from "
                      "the start and cannot grow; use --memory\n", self.serve("none"))

    def test_max_memory_is_accepted_on_a_device_that_pages(self):
        for paging in ("without_atomics", "all"):
            text = self.serve(paging)
            self.assertNotIn("--max-memory", text)
            self.assertIn("cannot create the status socket", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
