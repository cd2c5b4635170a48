"""Runs of falafel run for tests whose first argument is the program falafel."""

import re
import subprocess
import sys

FALAFEL = sys.argv[1]

# So that no runs measure it, which would cost more than the tests.
USUAL_STEPS = ["--usual-steps", "300"]
# For the same reason, failing runs do not become smaller.
NO_SEARCH = ["--shrink-seconds", "0", "--critical-tries", "0"]


def run(*options, hosts, folder=None, before=None):
    command = [FALAFEL, "run", *USUAL_STEPS, *options]
    for name, program in hosts.items():
        command += ["--host", name, program]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, preexec_fn=before)


def trace_hash(result):
    return re.search("hash ([0-9a-f]{16})", result.stdout)[1]


def pingpong(program):
    return {"server": program, "client": f"{program} server"}
