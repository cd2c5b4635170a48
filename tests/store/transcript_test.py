#!/usr/bin/env python3
"""Runs the commands of README.md's transcript as they are and compares the output. Arguments:
the program, README.md."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import HANG_LIMIT_SECONDS
from transcript import expected_output, steps, with_line_end

PROGRAM, README = sys.argv[1:3]
del sys.argv[1:3]


class Transcript(unittest.TestCase):
    def test_the_commands_print_what_the_readme_says(self):
        commands = list(steps(README))
        self.assertGreaterEqual(len(commands), 4)
        with tempfile.TemporaryDirectory(prefix="falafel-") as folder:
            environment = {**os.environ, "FALAFEL_DIRECTORY": folder + "/run",
                           "PATH": f"{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"}
            background = []
            try:
                for command, expected in commands:
                    self.run_step(command, expected, environment, background)
            finally:
                for process in background:
                    process.terminate()
                    process.communicate(timeout=HANG_LIMIT_SECONDS)

    def run_step(self, command, expected, environment, background):
        if command.endswith(" &"):
            process = subprocess.Popen(command[:-2].split(), env=environment, text=True,
                                       stdout=subprocess.PIPE)
            background.append(process)
            output = process.stdout.readline()
        elif command == "kill %1":
            background[0].terminate()
            output = background[0].communicate(timeout=HANG_LIMIT_SECONDS)[0]
            self.assertEqual(background[0].returncode, 0)
        else:
            output = subprocess.run(["bash", "-c", command], env=environment, text=True,
                                    timeout=HANG_LIMIT_SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        self.assertRegex(with_line_end(output), expected_output(expected), command)


if __name__ == "__main__":
    unittest.main()
