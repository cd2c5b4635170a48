#!/usr/bin/env python3
"""falafel acceptance over shared memory: a short run of all parts, with its report and its profile,
and the errors of the command. The program's path is the first argument."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FALAFEL = sys.argv.pop(1)
NOTHING_FORBIDDEN, WRONG_USAGE, NOT_DONE = 0, 2, 3
PARTS = ("Conformance", "Litmus tests", "Calibration", "Intruder", "The store")


class AcceptanceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_command(self, *arguments):
        return subprocess.run([FALAFEL, "acceptance", "--directory", str(self.folder), *arguments],
                              capture_output=True, text=True, check=False)

    def serve(self):
        server = subprocess.Popen(
            [FALAFEL, "acceptance", "--fabric", "shm", "--directory", str(self.folder), "--serve"],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertIn("serving an acceptance run as 'falafel'", server.stdout.readline())

    def test_a_short_run(self):
        """Noise may hide a cost on a busy machine. Then there is no profile."""
        self.serve()
        name = self.folder / "day"
        run = self.run_command("--fabric", "shm", "--peer", "falafel", "--minutes", "0.2",
                               "--output", str(name))
        page = pathlib.Path(f"{name}.html").read_text()
        self.assertNotIn("VIOLATED", page, run.stdout)
        for part in PARTS:
            self.assertRegex(page, rf'<h2 id="part\d">{part}</h2>')
        self.assertIn("Not tried on hardware", page)
        self.assertRegex(page, r"[1-9]\d* clients were killed")
        self.assertRegex(page, r"[1-9]\d* operations in [1-9]\d* rounds")
        self.assertRegex(page, r"outcomes that they forbid: 0")
        profile = pathlib.Path(f"{name}-profile.json")
        if run.returncode == NOT_DONE:
            self.assertEqual(run.stdout.count("NOT DONE"), 1, run.stdout)
            self.assertIn("noise hides", run.stdout)
            self.assertFalse(profile.exists())
        else:
            self.assertEqual(run.returncode, NOTHING_FORBIDDEN, run.stdout + run.stderr)
            self.assertEqual(json.loads(profile.read_text())["format"], "falafel profile 1")

    def test_without_the_other_side(self):
        run = self.run_command("--fabric", "shm", "--peer", "nobody", "--output",
                               str(self.folder / "day"))
        self.assertEqual(run.returncode, NOT_DONE)
        self.assertRegex(run.stdout, r"NOT DONE: Connecting: .*there is no such host")
        self.assertIn("NOT DONE", (self.folder / "day.html").read_text())

    def test_wrong_usage(self):
        for arguments, message in ((["--fabric", "shm"], "give --peer HOST"),
                                   (["--peer", "a", "--minutes", "0"], "--minutes is 0"),
                                   (["--peer", "a", "--serve"], "--peer")):
            run = self.run_command(*arguments)
            self.assertEqual(run.returncode, WRONG_USAGE, arguments)
            self.assertTrue(re.search(message, run.stderr), run.stderr)


if __name__ == "__main__":
    unittest.main()
