#!/usr/bin/env python3
"""Runs a program while a server serves in $FALAFEL_DIRECTORY. Arguments: falafel, the program."""

import os
import subprocess
import sys

from harness import HANG_LIMIT_SECONDS, Falafel


def main():
    program, *words = sys.argv[1:]
    falafel = Falafel(program)
    try:
        with falafel.serve("--memory", "64MiB"):
            environment = {**os.environ, "FALAFEL_DIRECTORY": falafel.directory}
            return subprocess.run(words, env=environment, timeout=HANG_LIMIT_SECONDS).returncode
    finally:
        falafel.close()


if __name__ == "__main__":
    sys.exit(main())
