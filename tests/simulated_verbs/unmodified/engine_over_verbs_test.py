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


def run(seed):
    command = [FALAFEL, "run", "--usual-steps", "3000", "--faults", "none", "--seed", str(seed),
               "--host", "server", f"{PROGRAM} server {CLIENTS}"]
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
