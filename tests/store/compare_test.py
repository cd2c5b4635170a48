#!/usr/bin/env python3
"""tools/compare measures all three stores and reports their ratios. Argument: the project's root."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import HANG_LIMIT_SECONDS

ROOT = pathlib.Path(sys.argv.pop(1))
PEERS = ROOT / "build/release/bin/falafel-in-process-peers"


class Compare(unittest.TestCase):
    def compare(self, *options):
        return subprocess.run([ROOT / "tools/compare", "--no-build", *options], capture_output=True,
                              text=True, timeout=HANG_LIMIT_SECONDS)

    @unittest.skipUnless(shutil.which("memcached") and shutil.which("redis-server"),
                         "memcached or Redis is not installed")
    def test_all_stores_are_measured_in_each_round(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "result.json"
            run = self.compare("--workloads", "ycsb-a", "--keys", "2000", "--seconds", "0.2",
                               "--rounds", "2", "--json", str(file))
            self.assertEqual(run.returncode, 0, run.stderr)
            report = json.loads(file.read_text())
        self.assertEqual(len(report["rounds"]), 2)
        for measured in report["rounds"]:
            for store in ("falafel", "memcached", "redis"):
                self.assertGreater(measured["ycsb-a"][store]["operations_per_second"], 0)
        for name in ("operations per second per client", "median latency", "99.9 % latency"):
            self.assertIn(name, run.stdout)

    @unittest.skipUnless(PEERS.exists(), "LMDB is not installed")
    def test_stores_in_the_process_of_their_clients_are_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "result.json"
            run = self.compare("--in-process", "--workloads", "ycsb-a,ycsb-d", "--keys", "2000",
                               "--clients", "2", "--seconds", "0.2", "--rounds", "1",
                               "--json", str(file))
            self.assertEqual(run.returncode, 0, run.stderr)
            measured = json.loads(file.read_text())["rounds"][0]
        for workload in ("ycsb-a", "ycsb-d"):
            self.assertEqual(list(measured[workload]), ["falafel", "lmdb", "boost"])
            for store in ("falafel", "lmdb", "boost"):
                self.assertGreater(measured[workload][store]["operations_per_second"], 0)

    @unittest.skipUnless(PEERS.exists(), "LMDB is not installed")
    def test_the_other_clients_go_on_when_one_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "result.json"
            run = self.compare("--in-process", "--kill", "--workloads", "ycsb-a", "--keys", "2000",
                               "--clients", "2", "--seconds", "0.4", "--rounds", "1",
                               "--json", str(file))
            self.assertEqual(run.returncode, 0, run.stderr)
            measured = json.loads(file.read_text())["rounds"][0]["ycsb-a"]
        self.assertIn("stand still", run.stdout)
        for store in ("falafel", "lmdb", "boost"):
            self.assertGreater(measured[store]["operations_before"], 0)
        # The map's lock stays locked if its owner is killed.
        for store in ("falafel", "lmdb"):
            self.assertGreater(measured[store]["operations_after"], 0)

    def test_wrong_usage(self):
        self.assertEqual(self.compare("--rounds", "0").returncode, 2)
        self.assertEqual(self.compare("--in-process", "--in-flight", "2").returncode, 2)
        self.assertEqual(self.compare("--in-process", "--kill").returncode, 2)


if __name__ == "__main__":
    unittest.main()
