#!/usr/bin/env python3
"""falafel serve without sizes, and with a limit: its memory grows with the data. Argument: the program."""

import pathlib
import re
import signal
import subprocess
import sys
import unittest
import urllib.request

from harness import Falafel, wait_until

PROGRAM = sys.argv[1]
del sys.argv[1:2]

MIB = 1 << 20
VALUE_BYTES = 200_000
WRONG_USAGE, OUT_OF_MEMORY = 2, 9  # exit statuses


class MemoryGrowth(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)

    def serve(self, *options):
        server = self.falafel.serve(*options)
        self.addCleanup(server.end, signal.SIGKILL)
        return server

    def fill(self, keys):
        """Stores this number of keys, or as many as there is room for. Returns the number, and the last
        exit status."""
        for key in range(keys):
            status, _, _ = self.falafel.run("set", f"key {key}", input=b"v" * VALUE_BYTES)
            if status != 0:
                return key, status
        return keys, 0

    def held(self):
        return self.falafel.report()["chunk"]["held_bytes"]

    def test_a_store_without_sizes_begins_small_and_has_room_for_ten_million_keys(self):
        server = self.serve()
        found = re.match(r"serving 'falafel' in .*: (\d+) bytes, (\d+) entries that may grow to (\d+), .*, "
                         r"the memory grows from (\d+) bytes$", server.ready_line.strip())
        self.assertIsNotNone(found, server.ready_line)
        limit, entries, most_entries, held = map(int, found.groups())
        self.assertEqual(entries, 65_536)
        self.assertLess(held, 20 * MIB)
        self.assertGreaterEqual(most_entries, limit // 192)
        chunk = self.falafel.report()["chunk"]
        self.assertEqual(chunk["bytes"], limit)
        self.assertEqual(chunk["held_bytes"], held)
        self.assertTrue(chunk["grows"])
        self.assertEqual(self.fill(20), (20, 0))
        self.assertIn(f"memory: {limit} bytes at most, of which it holds ",
                      self.falafel.run("stat")[1].decode())
        server.end()

    def test_memory_grows_to_the_limit_and_comes_back(self):
        server = self.serve("--max-memory", "48MiB", "--memory", "8MiB", "--metrics", "127.0.0.1:0",
                            "--region-size", "512KiB", "--clients", "2")
        self.assertIn("the memory grows from 8", server.ready_line)
        stored, status = self.fill(300)
        self.assertEqual(status, OUT_OF_MEMORY)
        self.assertGreater(stored * VALUE_BYTES, 28 * MIB)
        full = self.held()
        self.assertGreater(full, 40 * MIB)
        address = re.search(r"metrics at ([\d.:]+)", server.ready_line)[1]
        with urllib.request.urlopen(f"http://{address}/metrics") as answer:
            metrics = answer.read().decode()
        self.assertIn(f"falafel_memory_held_bytes {full}", metrics.replace(".0\n", "\n"))
        self.assertIn("falafel_memory_limit_bytes", metrics)
        self.assertIn("falafel_commits_refused_total 0", metrics)
        for key in range(5, stored):
            self.assertEqual(self.falafel.run("del", f"key {key}")[0], 0)
        wait_until(lambda: self.held() < full / 2)
        self.assertEqual(self.falafel.run("get", "key 3")[1], b"v" * VALUE_BYTES)
        again, status = self.fill(100)
        self.assertEqual((again, status), (100, 0))
        self.assertIn("held", self.falafel.run("top", "--plain", "--count", "1")[1].decode())
        server.end()

    def test_memory_in_a_file_grows_after_a_restart_too(self):
        file = pathlib.Path(self.falafel.folder.name) / "memory"
        options = ("--memory-file", str(file), "--max-memory", "64MiB")
        server = self.serve(*options)
        self.assertEqual(self.fill(20), (20, 0))
        before = self.held()
        self.assertLess(file.stat().st_blocks * 512, 64 * MIB)
        server.end(signal.SIGKILL)
        server = self.serve(*options)
        self.assertIn("recovered with 20 keys", server.ready_line)
        self.assertIn("the memory grows from", server.ready_line)
        self.assertEqual(self.falafel.run("get", "key 19")[1], b"v" * VALUE_BYTES)
        self.assertLess(self.held(), before + 8 * MIB)
        self.assertEqual(self.fill(60), (60, 0))
        self.assertGreater(self.held(), before)
        server.end()

    def test_memory_in_a_file_on_a_disk_comes_back(self):
        folder = self.falafel.folder.name
        kind = subprocess.run(["stat", "--file-system", "--format=%T", folder], check=True,
                              capture_output=True, text=True).stdout.strip()
        if kind not in ("ext2/ext3", "xfs"):
            self.skipTest(f"{folder} is on {kind}, where the file keeps its space")
        file = pathlib.Path(folder) / "memory"
        server = self.serve("--memory-file", str(file), "--max-memory", "64MiB", "--memory", "8MiB",
                            "--region-size", "512KiB", "--clients", "2")
        self.assertEqual(self.fill(120), (120, 0))
        full = file.stat().st_blocks
        for key in range(5, 120):
            self.assertEqual(self.falafel.run("del", f"key {key}")[0], 0)
        wait_until(lambda: file.stat().st_blocks < full * 2 / 3)
        server.end(signal.SIGKILL)
        server = self.serve("--memory-file", str(file))
        self.assertIn("recovered with 5 keys", server.ready_line)
        self.assertEqual(self.falafel.run("get", "key 3")[1], b"v" * VALUE_BYTES)
        server.end()

    def test_a_fixed_memory_does_not_grow(self):
        server = self.serve("--memory", "16MiB")
        self.assertNotIn("grows from", server.ready_line)
        chunk = self.falafel.report()["chunk"]
        self.assertEqual(chunk["held_bytes"], chunk["bytes"])
        self.assertFalse(chunk["grows"])
        server.end()

    def test_the_document_names_each_option_of_serve(self):
        document = (pathlib.Path(__file__).resolve().parents[2] / "docs/store.md").read_text()
        options = set(re.findall(r"--[a-z][a-z-]+", self.falafel.run("serve", "--help")[1].decode()))
        self.assertIn("--max-memory", options)
        for option in options - {"--help"}:
            self.assertIn(f"`{option}`", document)

    def test_what_does_not_grow_is_refused_by_name(self):
        for options, why in ((("--semi-spaces", "--max-memory", "64MiB"), "semi-spaces do not grow"),
                             (("--huge-pages", "--max-memory", "64MiB"), "pinned"),
                             (("--memory", "64MiB", "--max-memory", "32MiB"),
                              "--max-memory 33554432 is less than the 67108864"),
                             (("--max-memory", "4MiB", "--region-size", "1MiB"), "--region-size smaller")):
            status, _, error = self.falafel.run("serve", "--directory", self.falafel.directory, *options)
            self.assertEqual(status, WRONG_USAGE, error)
            self.assertIn(why, error)


if __name__ == "__main__":
    unittest.main(verbosity=2)
