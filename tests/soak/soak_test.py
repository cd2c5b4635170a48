#!/usr/bin/env python3
"""A short soak holds, and its judgement notices what is missing in the histories. Arguments: the
script of the soak, the build's folder, the seconds of the soak."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT, BUILD, SECONDS = sys.argv[1:4]
SOAK = pathlib.Path(__file__).with_name(SCRIPT)
del sys.argv[1:4]


def run(*options):
    done = subprocess.run([sys.executable, SOAK, "--build", BUILD, *options], capture_output=True,
                          text=True, check=False)
    print(done.stdout + done.stderr)
    return done


class Soak(unittest.TestCase):
    """One soak for all cases."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        cls.folder = cls.directory / "soak"
        cls.soak = run("--seconds", SECONDS, "--seed", "1", "--folder", cls.folder)

    def judge_without(self, path, is_left_out):
        """The exit status of a judgement of a history in which these lines are missing."""
        original = path.read_text()
        self.addCleanup(path.write_text, original)
        lines = [line for line in original.splitlines(keepends=True) if not is_left_out(line)]
        path.write_text("".join(lines))
        self.assertNotEqual(path.read_text(), original)
        return run("--judge", self.folder).returncode

    def found_value(self):
        """(its number of a SET, the history of its client), of a value that another client found."""
        for path in sorted((self.folder / "history").iterdir()):
            for line in path.read_text().splitlines():
                words = line.split()
                if words[0] == "r" and words[3] == "found":
                    writer = self.folder / f"history/client-{words[4].partition('.')[0]}"
                    for called in writer.read_text().splitlines():
                        if called.startswith("c ") and called.endswith(f" {words[4]}"):
                            return called.split()[1], writer
        raise AssertionError("nobody found a value")

    def test_holds(self):
        self.assertEqual(self.soak.returncode, 0)
        self.assertIn("nothing was lost, and nothing leaked", self.soak.stdout)

    def test_notices_a_set_that_is_missing(self):
        number, writer = self.found_value()
        self.assertEqual(self.judge_without(
            writer, lambda line: line.split()[1] == number and line[0] in "cr"), 1)

    def test_notices_keys_that_are_gone_without_a_restart(self):
        losses = self.folder / "losses"
        if '"key' not in losses.read_text():
            self.skipTest("no server with keys was restarted")
        self.assertEqual(self.judge_without(losses, lambda line: True), 1)


if __name__ == "__main__":
    unittest.main()
