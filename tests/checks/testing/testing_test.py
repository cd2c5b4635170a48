#!/usr/bin/env python3
"""Tests of tools/checks/testing, which tools/test consists of, and of cmake/measured."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path[:0] = [str(PROJECT / "tools/checks/testing"), str(PROJECT / "tools/checks")]

import budget  # noqa: E402
import other_build  # noqa: E402
import stages  # noqa: E402
import thorough  # noqa: E402
from costs import read_costs  # noqa: E402

CTEST = """\
    Start 1: right_test
1/3 Test #1: right_test ...........   Passed    0.01 sec
    Start 2: wrong_test
2/3 Test #2: wrong_test ...........***Failed    0.01 sec
what went wrong
    Start 3: other_test
3/3 Test #3: other_test ...........   Passed    0.01 sec
67% tests passed, 1 tests failed out of 3
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Budget(Folder):
    def problems(self, units):
        (self.folder / "budget.txt").write_text("# comment\n\nrelease-build 100\n")
        stage = stages.Stage("release-build", True, 1, units * 2, 2)
        return list(budget.problems_of(budget.read_budget(self.folder / "budget.txt"), [stage]))

    def test_accepts_a_third_more_than_the_figure(self):
        self.assertEqual(self.problems(132), [])

    def test_reports_what_costs_more(self):
        self.assertIn("release-build took 134.0 units", self.problems(134)[0])

    def test_reports_a_stage_without_a_figure(self):
        other = stages.Stage("other", True, 1, 1, 1)
        self.assertIn("other has no figure", list(budget.problems_of({}, [other]))[0])

    def test_every_figure_is_positive(self):
        figures = budget.read_budget(PROJECT / "tests/budget.txt")
        self.assertGreater(min(figures.values()), 0)


class Stages(Folder):
    def run_stage(self, text, status):
        run = stages.Stages(self.folder)
        log = self.folder / "some-tests.log"
        log.write_text(text)
        stage = stages.Stage("some-tests", status == 0, 1, 1, 1)
        run.ended.append(stage)
        run._count(stage, text)
        return run

    def test_count_tests(self):
        run = self.run_stage(CTEST, 8)
        self.assertEqual((run.passed, run.failed), (2, 1))

    def test_count_checks(self):
        run = self.run_stage("checks: 7 passed, 2 failed\n", 1)
        self.assertEqual((run.passed, run.failed), (7, 2))

    def test_count_a_failure_as_a_whole(self):
        run = self.run_stage("ninja: build stopped\n", 1)
        self.assertEqual((run.passed, run.failed), (0, 1))

    def test_show_the_output_of_the_tests_that_failed(self):
        lines = stages.lines_of_failed_tests(CTEST.splitlines())
        self.assertIn("what went wrong", lines)
        self.assertFalse([line for line in lines if "right_test" in line or "other_test" in line])

    def test_run_stops_at_the_first_command_that_fails(self):
        run = stages.Stages(self.folder)
        self.assertFalse(run.run("stage", ["sh", "-c", "echo first; exit 3"], ["echo", "second"]))
        self.assertEqual((self.folder / "stage.log").read_text(), "first\n")
        self.assertEqual((run.passed, run.failed), (0, 1))


class ThoroughTests(unittest.TestCase):
    TESTS = [thorough.Thorough(f"test {number}", 40, ("engine",)) for number in range(5)]

    def test_are_those_of_the_touched_folders(self):
        for files, is_touched in ((["engine/client/get.cpp"], True), (["tests/engine/a.cpp"], True),
                                  (["enginery/a.cpp", "docs/engine.md"], False), (None, True)):
            self.assertEqual(thorough.is_touched(self.TESTS[0], files), is_touched, files)

    def test_fit_into_the_budget(self):
        chosen, left_out = thorough.choose(self.TESTS, None, "commit", 100)
        self.assertEqual((len(chosen), len(left_out)), (2, 3))

    def test_differ_from_commit_to_commit(self):
        choices = {tuple(thorough.choose(self.TESTS, None, str(commit), 100)[0])
                   for commit in range(20)}
        self.assertGreater(len(choices), 1)
        self.assertEqual(thorough.choose(self.TESTS, None, "a"), thorough.choose(self.TESTS, None, "a"))

    def test_name_the_programs_that_they_need(self):
        build = pathlib.Path("/project/build/release")
        words = [f"{build}/tests/some_test", "--all", f"PROGRAM={build}/bin/falafel", f"{build}",
                 "/project/build/release-2/other", "RC_PARAMS=max_success=400 noshrink=1"]
        self.assertEqual(thorough.programs_of(words, build), ("tests/some_test", "bin/falafel"))


class OtherBuild(unittest.TestCase):
    def problems(self, in_release, in_asan):
        tests = [[{"name": "some_test", "properties": [{"name": "LABELS", "value": labels}]}]
                 if labels is not None else [] for labels in (in_release, in_asan)]
        return other_build.problems_of({"release": other_build.labels_of(tests[0]),
                                        "asan": other_build.labels_of(tests[1])})

    def test_accepts_what_runs_in_one_build(self):
        self.assertEqual(self.problems(["other-build", "tsan"], ["tsan"]), [])
        self.assertEqual(self.problems(["vm"], ["other-build"]), [])
        self.assertEqual(self.problems([], None), [])

    def test_reports_what_the_other_build_does_not_declare(self):
        self.assertIn("some_test runs in no build", self.problems(["other-build"], None)[0])

    def test_reports_what_both_builds_leave_out(self):
        self.assertIn("some_test", self.problems(["other-build"], ["other-build"])[0])


class Measured(Folder):
    def measure(self, *words):
        costs = self.folder / "costs"
        run = subprocess.run([PROJECT / "cmake/measured", *words], capture_output=True, text=True,
                             env={"FALAFEL_COSTS": str(costs), "PATH": "/usr/bin:/bin"}, check=False)
        return run, read_costs(costs)

    def test_keeps_output_and_status(self):
        run, costs = self.measure("name", "sh", "-c", "echo out; echo error >&2; exit 7")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (7, "out\n", "error\n"))
        self.assertEqual([name for _, name in costs], ["name"])

    def test_names_a_compilation_by_its_output(self):
        _, costs = self.measure("-", "sh", "-c", "true", "sh", "-o", "unit.o")
        self.assertEqual([name for _, name in costs], ["unit.o"])

    def test_counts_processor_time(self):
        loop = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"
        _, costs = self.measure("busy", "sh", "-c", loop)
        self.assertGreater(costs[0][0], 0)


if __name__ == "__main__":
    unittest.main()
