#!/usr/bin/env python3
"""The comparison stores: servers in one machine and clients in another, random operations, and
their histories. Each store of comparison_driver runs with its own service number."""

import os
import sys
import unittest

sys.dont_write_bytecode = True

from stage import AWAIT_SERVER, Stage  # noqa: E402

STORES = ["pilaf", "pilaf-vo", "nessie-cd", "nessie-sd", "nessie-hy", "c-hint", "race",
          "swarm", "two-sided-rc", "two-sided-uc", "two-sided-ud"]
# The number of operations of each of three clients; the environment may increase it.
OPERATIONS = int(os.environ.get("OPERATIONS", "100"))
# C-Hint evicts an item only when its lease has ended, and uses pointers only during leases, so both
# take a while.
FACTORS = {"c-hint": 3}


def commands(machine, command):
    lines = []
    for number, store in enumerate(STORES):
        service = 2_200 + 10 * number
        operations = OPERATIONS * FACTORS.get(store, 1)
        if command == "load":
            lines.append(AWAIT_SERVER.replace("2100", str(service)))
        lines.append(f"comparison_driver --store {store} --name {machine} "
                     f"--service {service} --operations {operations} {command} || failed=1")
    return "\n".join([*lines, "exit $failed"])


class ComparisonTest(Stage):
    def test_histories_are_correct(self):
        driver = [os.environ["COMPARISON_DRIVER"]]
        server = self.machine("server", commands("server", "serve"), programs=driver)
        client = self.machine("client", commands("client", "load"), programs=driver)
        self.succeed(client)
        self.succeed(server)
        for store in STORES:
            with self.subTest(store):
                self.assertIn(f"{store}: the server's memory is in order", server.text())
                report = client.wait_for(f"{store}: .*; the history is linearizable")
                print(report[0], file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
