#!/usr/bin/env python3
"""Runs the commands of README.md's transcript as they are and compares the output. A line `...`
stands for any lines, and `...` within a line for any characters. Arguments: the program,
README.md."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, README = sys.argv[1:3]
del sys.argv[1:3]

TRANSCRIPT = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps():
    """(command, expected output) in order."""
    found = TRANSCRIPT.findall(pathlib.Path(README).read_text())
    for block in found:
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            yield command, output


def pattern_of(expected):
    lines = ["(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"
             for line in expected.splitlines()]
    return re.compile("".join(lines))


class Transcript(unittest.TestCase):
    def test_the_commands_print_what_the_readme_says(self):
        commands = list(steps())
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
                    process.communicate(timeout=60)

    def run_step(self, command, expected, environment, background):
        if command.endswith(" &"):
            process = subprocess.Popen(command[:-2].split(), env=environment, text=True,
                                       stdout=subprocess.PIPE)
            background.append(process)
            output = process.stdout.readline()
        elif command == "kill %1":
            background[0].terminate()
            output = background[0].communicate(timeout=60)[0]
            self.assertEqual(background[0].returncode, 0)
        else:
            output = subprocess.run(["bash", "-c", command], env=environment, text=True, timeout=120,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        if output and not output.endswith("\n"):
            output += "\n"
        self.assertRegex(output, re.compile(r"\A" + pattern_of(expected).pattern + r"\Z"), command)


if __name__ == "__main__":
    unittest.main()
