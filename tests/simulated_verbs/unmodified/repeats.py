#!/usr/bin/env python3
"""Runs programs twice with each of several seeds, and compares outputs and trace hashes.

Usage: repeats.py FALAFEL SEEDS NAME=COMMAND...

SEEDS is how many there are, from 1 on. Each NAME is a host that runs COMMAND. Fails if the two runs
of a seed differ, if one of them fails, or if all seeds have the same trace.
"""

import sys

from runs import run, trace_hash


def main():
    seeds = int(sys.argv[2])
    hosts = dict(host.split("=", 1) for host in sys.argv[3:])
    hashes = set()
    for seed in range(1, seeds + 1):
        first, second = (run("--seed", str(seed), hosts=hosts) for _ in range(2))
        if first.returncode != 0 or first.stdout != second.stdout:
            sys.exit(f"seed {seed} does not repeat:\n{first.stdout}{first.stderr}\n{second.stdout}")
        hashes.add(trace_hash(first))
    if len(hashes) == 1:
        sys.exit(f"all {seeds} seeds have the trace hash {hashes.pop()}")
    print(f"{seeds} seeds, each twice: {len(hashes)} trace hashes")


main()
