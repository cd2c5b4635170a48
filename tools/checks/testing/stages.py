"""Stages of a run of the tests: each runs a command, prints a line when it begins and one when it
ends, and knows its cost. A failed stage does not stop the others."""

import os
import pathlib
import re
import subprocess
import sys
import time
from dataclasses import dataclass

from costs import Unit, processor_seconds

LINES_OF_FAILURE = 200
TESTS = re.compile(r"(\d+) tests? failed out of (\d+)")
CHECKS = re.compile(r"checks: (\d+) passed, (\d+) failed")


@dataclass
class Stage:
    name: str
    passed: bool
    seconds: float  # elapsed
    processor_seconds: float
    unit_seconds: float  # what the loop of costs.py took meanwhile

    @property
    def units(self):
        return self.processor_seconds / self.unit_seconds


class Stages:
    def __init__(self, logs):
        self.logs = pathlib.Path(logs)
        self.logs.mkdir(parents=True, exist_ok=True)
        self.ended = []
        self.passed = 0
        self.failed = 0

    def run(self, name, *commands, environment=None):
        """Runs the commands until one fails. Returns whether all succeeded."""
        print(f"\n=== {name}", flush=True)
        start = time.monotonic()
        before = processor_seconds()
        log = self.logs / f"{name}.log"
        costs = self.logs / f"{name}.costs"
        costs.unlink(missing_ok=True)
        variables = {**os.environ, "FALAFEL_COSTS": str(costs.resolve()), **(environment or {})}
        with Unit() as unit, open(log, "w", encoding="utf-8") as file:
            passed = all(follow(command, variables, file) == 0 for command in commands)
        stage = Stage(
            name, passed, time.monotonic() - start,
            processor_seconds() - before - unit.loops_seconds, unit.mean_seconds)
        self.ended.append(stage)
        self._count(stage, log.read_text(encoding="utf-8", errors="replace"))
        print(f"=== {name}: {'ok' if passed else 'FAILED'} after {stage.seconds:.0f} s; "
              f"{stage.processor_seconds:.0f} s of processor time, {stage.units:.1f} units", flush=True)
        return passed

    def _count(self, stage, text):
        """Adds the tests and checks of the stage. A stage that fails without any failed test counts
        as one failure."""
        passed = failed = 0
        if match := TESTS.search(text):
            failed = int(match[1])
            passed = int(match[2]) - failed
        elif match := CHECKS.search(text):
            passed, failed = int(match[1]), int(match[2])
        if not stage.passed and failed == 0:
            failed = 1
        self.passed += passed
        self.failed += failed

    def count_check(self, name, problems):
        """Counts a check of this program itself."""
        for problem in problems:
            print(f"{name}: {problem}")
        self.passed += not problems
        self.failed += bool(problems)

    def show_failures(self):
        """Prints the end of what each failed stage printed, so that the end of the output tells what
        failed."""
        failed = [stage.name for stage in self.ended if not stage.passed]
        for name in failed:
            log = self.logs / f"{name}.log"
            print(f"\n--- {name}: from {log}")
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            if name.endswith("-tests"):
                lines = lines_of_failed_tests(lines)
            print("\n".join(lines[-LINES_OF_FAILURE:]))
        if failed:
            print(f"\nFailed stages: {' '.join(failed)} (see {self.logs})")


def follow(command, variables, log):
    """Runs the command, copies its output to the log, and returns its exit status."""
    process = subprocess.Popen(
        command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        log.write(line)
    return process.wait()


def lines_of_failed_tests(lines):
    """The output of the tests that failed, from ctest's output."""
    kept = []
    failed = False
    for line in lines:
        if re.match(r" *\d+/\d+ Test +#\d+: ", line):
            failed = "***" in line
        elif re.match(r" +Start +\d+: ", line):
            continue
        if failed:
            kept.append(line)
    return kept
