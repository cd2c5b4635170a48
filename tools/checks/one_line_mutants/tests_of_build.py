"""The tests of a build with mutants: lists them, runs them, and measures them."""

import ctypes
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time
from typing import NamedTuple

PROGRAM_SECONDS = 2  # a suite that takes longer is split into its cases
REACHED_BYTES = 4096  # falafel_mutants::largest_number + 1
PR_SET_CHILD_SUBREAPER = 36


class Test(NamedTuple):
    name: str
    command: tuple
    directory: str
    environment: tuple  # (name, value)


class Outcome(NamedTuple):
    passed: bool
    how: str  # "passes", "fails", "crashes", "hangs"
    processor_seconds: float  # of all its processes
    wall_seconds: float
    reached: frozenset  # the numbers of the mutants


class Limits(NamedTuple):
    processor_seconds: float  # of one process
    wall_seconds: float


LARGEST_LIMITS = Limits(1200, 1800)


def tests_of(build, selection):
    """The tests that ctest selects. A GoogleTest program is one test for each of its suites; the
    shards of a program are one program."""
    listed = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1", *selection],
        check=True, capture_output=True, text=True,
    ).stdout
    tests = {}
    for described in json.loads(listed)["tests"]:
        if "command" not in described:
            sys.exit(f"{described['name']} is not built; complete the build, or leave it out")
        for test in suites_of(test_from(described)):
            tests.setdefault((test.command, test.environment), test)
    return list(tests.values())


def test_from(described):
    properties = {entry["name"]: entry["value"] for entry in described.get("properties", [])}
    environment = [entry.partition("=") for entry in properties.get("ENVIRONMENT", [])]
    shard = any(name == "GTEST_SHARD_INDEX" for name, _, _ in environment)
    return Test(
        described["name"].rpartition("_")[0] if shard else described["name"],
        tuple(described["command"]),
        properties["WORKING_DIRECTORY"],
        tuple((name, value) for name, _, value in environment
              if name not in ("GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS")),
    )


def suites_of(test):
    return [with_filter(test, suite + "*") for suite in cases_by_suite(test)] or [test]


def cases_of(test):
    """The cases of a test that is a suite; empty if there are none to split it into."""
    suite = test.command[-1].removeprefix("--gtest_filter=").removesuffix("*")
    cases = cases_by_suite(test).get(suite, [])
    return [with_filter(test, suite + case) for case in cases] if len(cases) > 1 else []


def with_filter(test, pattern):
    return test._replace(
        name=f"{test.name.partition(' ')[0]} {pattern}",
        command=(test.command[0], f"--gtest_filter={pattern}"),
    )


def cases_by_suite(test):
    """Empty for what is not a GoogleTest program without arguments of its own."""
    program, *arguments = test.command
    if any(not argument.startswith("--gtest_filter=") for argument in arguments):
        return {}
    if b"gtest_list_tests" not in pathlib.Path(program).read_bytes():
        return {}
    listed = subprocess.run(
        [program, "--gtest_list_tests"], check=True, capture_output=True, text=True,
        cwd=test.directory,
    ).stdout
    suites = {}
    for line in listed.splitlines():
        words = line.split("#")[0]
        if words.startswith("  "):
            suite.append(words.strip())
        elif words.strip().endswith("."):
            suite = suites.setdefault(words.strip(), [])
    return {name: [case for case in cases if not case.startswith("DISABLED_")]
            for name, cases in suites.items() if "DISABLED_" not in name}


class Runner:
    """Runs tests one at a time. Ends all processes that a test leaves behind."""

    def __init__(self, folder):
        self.reached = folder / "reached"
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def run(self, test, mutant, limits=LARGEST_LIMITS, output=subprocess.DEVNULL):
        self.reached.write_bytes(bytes(REACHED_BYTES))
        environment = {
            **os.environ, **dict(test.environment),
            "FALAFEL_MUTANT": str(mutant), "FALAFEL_MUTANTS_REACHED": str(self.reached),
        }
        start, before = time.monotonic(), processor_seconds()
        process = subprocess.Popen(
            test.command, cwd=test.directory, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: set_limits(limits),
        )
        how = wait_for(process, limits)
        end_children()
        reached = frozenset(
            number for number, byte in enumerate(self.reached.read_bytes()) if byte)
        return Outcome(how == "passes", how, processor_seconds() - before,
                       time.monotonic() - start, reached)


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def set_limits(limits):
    seconds = int(limits.processor_seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wait_for(process, limits):
    try:
        status = process.wait(timeout=limits.wall_seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "hangs"
    if status == 0:
        return "passes"
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hangs"
    return "crashes" if status < 0 else "fails"


def end_children():
    """Kills the processes that lost their parent, which are children of this process then."""
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    while identifiers := children.read_text().split():
        for identifier in identifiers:
            try:
                os.kill(int(identifier), signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.waitpid(int(identifier), 0)
