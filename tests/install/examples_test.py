#!/usr/bin/env python3
"""Builds examples against the installed tree: their mistakes are found, recorded and replayed, and
their cures hold. Arguments: the folder of the sources, the build directory, and --all for all
examples instead of those that show different parts of the interface."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

from projects import attempt, install, run

SOURCES, BUILD = (pathlib.Path(argument) for argument in sys.argv[1:3])
HAS_ALL = "--all" in sys.argv
del sys.argv[1:]

# Variants that fail, each with the property that it violates.
MISTAKES = {
    "clock_lease": {"mistake": "linearizability"},
    "cuckoo_move": {"mistake": "linearizability"},
    "datagram_credits": {"mistake": "progress.stuck"},
    "durable_log": {"mistake": "durable_log.lost"},
    "lease_lock": {"waits_forever": "progress.ends", "trusts_leases": "linearizability"},
    "mcs_lock": {"mistake": "progress.stuck"},
    "michael_scott_queue": {"mistake": "linearizability"},
    "replicated_log": {"mistake": "linearizability"},
    "ring": {"mistake": "linearizability"},
    "ticket_lock": {"mistake": "linearizability"},
    "treiber_stack": {"mistake": "linearizability"},
    "versioned_object": {"mistake": "linearizability"},
    "write_released_lock": {"writes": "progress.ends", "repeats_at_once": "progress.ends"},
}
# RemoteMemory, faults, the processor's memory, Endpoint, Datagrams, and the command line.
DIFFERENT = ("datagram_credits", "lease_lock", "replicated_log", "ring", "treiber_stack")
SPECIFICATION = "bounded_queue"  # a library for `check`
CURE_SCHEDULES = 1_000
WITH_CTEST = "ring"  # its own tests run; those of the others repeat the same with more schedules
WITH_COMMANDS = "treiber_stack"  # links explorer's main
REPLAY = re.compile(r"^  FALAFEL_REPLAY=(\S+)", re.MULTILINE)


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="falafel-examples-")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        install(BUILD, cls.folder / "prefix")
        cls.examples = cls.folder / "prefix/share/falafel/examples"

    def build(self, example):
        build = self.folder / example
        if build.exists():
            return build
        # A build type without flags compiles fastest.
        run("cmake", "-S", self.examples / example, "-B", build, "-DCMAKE_BUILD_TYPE=None",
            f"-DCMAKE_PREFIX_PATH={self.folder / 'prefix'}")
        run("cmake", "--build", build)
        return build

    def run_variant(self, build, variant, **environment):
        return attempt(f"./{build.name}", variant, cwd=build, env={**os.environ, **environment})

    def assert_fails_and_replays(self, build, variant, violated):
        found = self.run_variant(build, variant)
        self.assertEqual(found.returncode, 1, found.stdout + found.stderr)
        self.assertIn(f"VIOLATED {violated}", found.stdout)
        self.assertIn("after shrinking", found.stdout)
        path = REPLAY.search(found.stdout)[1]
        replayed = self.run_variant(build, variant, FALAFEL_REPLAY=path)
        self.assertEqual(replayed.returncode, 1, replayed.stdout + replayed.stderr)
        self.assertIn(f"VIOLATED {violated}", replayed.stdout)

    def test_every_example_is_tested(self):
        examples = {path.parent.name for path in (SOURCES / "examples").glob("*/CMakeLists.txt")}
        self.assertEqual(examples, {*MISTAKES, SPECIFICATION})

    def test_mistakes_are_found_and_cures_hold(self):
        for example in MISTAKES if HAS_ALL else DIFFERENT:
            mistakes = MISTAKES[example]
            with self.subTest(example):
                build = self.build(example)
                for variant, violated in mistakes.items():
                    self.assert_fails_and_replays(build, variant, violated)
                cured = self.run_variant(build, "cure", FALAFEL_SCHEDULES=str(CURE_SCHEDULES))
                self.assertEqual(cured.returncode, 0, cured.stdout + cured.stderr)
                self.assertIn(f"{CURE_SCHEDULES} schedules", cured.stdout)

    def test_an_example_has_tests_of_its_own(self):
        run("ctest", "--test-dir", self.build(WITH_CTEST), "--parallel", "2")

    def assert_command(self, status, output, *words):
        build = self.build(WITH_COMMANDS)
        completed = attempt(f"./{build.name}", *words, cwd=build)
        self.assertEqual(completed.returncode, status, completed.stdout + completed.stderr)
        self.assertIn(output, completed.stdout)

    def test_the_commands_of_the_explorer_work_on_an_example(self):
        self.assert_command(0, "all properties held", "fuzz", "--program", "treiber_stack.cure",
                            "--schedules", "2000")
        self.assert_command(1, "VIOLATED linearizability", "fuzz", "--program",
                            "treiber_stack.mistake", "--stop", "--output", "failures")
        path, = (self.build(WITH_COMMANDS) / "failures").glob("linearizability-*.replay")
        self.assert_command(1, "becomes", "replay", path)
        self.assert_command(0, "page: ", "trace", path)
        self.assertIn("<html", path.with_suffix(".html").read_text())
        self.assert_command(0, "after shrinking", "shrink", path, "--output", "smaller.replay")
        self.assert_command(1, "VIOLATED linearizability", "replay", "--quiet", "smaller.replay")
        self.assert_command(0, "counted-head", "ablate", "--program", "treiber_stack.cure",
                            "--seconds-per-safeguard", "60")
        history = self.folder / "history.jsonl"
        history.write_text(
            '{"specification": "stack"}\n'
            '{"client": 1, "operation": "pop", "call": 1, "return": 2, "outcome": "answered", '
            '"result": 7}\n'
        )
        self.assert_command(1, "not linearizable", "check", "--format", "specification", history)

    def test_the_command_check_loads_a_specification(self):
        library = self.build(SPECIFICATION) / f"{SPECIFICATION}.so"
        words = ("check", "--format", "specification", "--specification", library)
        history = self.examples / SPECIFICATION / "history.jsonl"
        self.assert_command(0, "linearizable", *words, history)
        self.assert_command(1, "not linearizable", *words, "--initial", "3", history)
        program = BUILD / "bin/falafel"
        self.assertIn(": linearizable (6 operations)", run(program, *words, history))


if __name__ == "__main__":
    unittest.main()
