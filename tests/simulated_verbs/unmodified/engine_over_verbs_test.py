#!/usr/bin/env python3
"""The engine over libibverbs, as an unmodified program in the simulator.

Usage: engine_over_verbs_test.py FALAFEL PROGRAM
"""

import re
import subprocess
import sys
import unittest

FALAFEL, PROGRAM = sys.argv[1:3]
CLIENTS = 3
OPERATIONS = 100


def run(seed, server_arguments=""):
    command = [FALAFEL, "run", "--usual-steps", "3000", "--faults", "none", "--seed", str(seed),
               "--host", "server", f"{PROGRAM} server {CLIENTS} {server_arguments}"]
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
