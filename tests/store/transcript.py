"""Transcripts in documents: commands with their output. A line `...` stands for any lines, and
`...` within a line for any characters."""

import pathlib
import re

TRANSCRIPT = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(document):
    """(command, expected output) in order."""
    for block in TRANSCRIPT.findall(pathlib.Path(document).read_text()):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            yield command, output


def expected_output(expected):
    """A pattern for the whole output."""
    lines = ["(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"
             for line in expected.splitlines()]
    return re.compile(r"\A" + "".join(lines) + r"\Z")


def with_line_end(output):
    return output if not output or output.endswith("\n") else output + "\n"
