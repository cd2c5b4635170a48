"""Runs tests of rdma-core (package python3-pyverbs) within a process of falafel run.

Usage: pyverbs_tests_of_process.py FOLDER SIDE MODULE...

FOLDER contains the package `tests`. SIDE is `alone`, or `passive` or `active` for tests with two
hosts. Prints a line for each test: its name, how it ended, and why,
separated by tabs.
"""

import os
import sys
import types
import unittest

folder, side, modules = sys.argv[1], sys.argv[2], sys.argv[3:]
sys.argv[1:] = []
sys.path[:0] = [folder, os.path.join(folder, "tests")]
# The package itself imports all modules, also those for devices of vendors.
package = types.ModuleType("tests")
package.__path__ = [os.path.join(folder, "tests")]
sys.modules["tests"] = package


class Lines(unittest.TestResult):
    def say(self, test, outcome, reason=""):
        print(test.id().removeprefix("tests."), outcome, reason.strip().split("\n")[-1], sep="\t")

    def addSuccess(self, test):
        self.say(test, "passes")

    def addSkip(self, test, reason):
        self.say(test, "skipped", reason)

    def addFailure(self, test, error):
        self.say(test, "fails", self._exc_info_to_string(error, test))

    def addError(self, test, error):
        self.say(test, "fails", self._exc_info_to_string(error, test))


from args_parser import parser  # noqa: E402

parser.parse_args()
if side != "alone":
    import pyverbs_two_hosts

    pyverbs_two_hosts.divide(side)
names = [f"tests.{module}" for module in modules]
unittest.defaultTestLoader.loadTestsFromNames(names).run(Lines())
