"""Chooses the thorough tests that a usual run adds: those of the folders that the change touches, as
many as its budget allows. The commit fixes their order, so over time all of them run. A usual build
leaves out the programs that only thorough tests need, so those of the chosen tests are built then."""

import json
import pathlib
import subprocess
from dataclasses import dataclass

from touched import draw_order

BUDGET_SECONDS = 120  # of processor time, by the costs in the CMakeLists.txt


@dataclass(frozen=True)
class Thorough:
    name: str
    seconds: float
    folders: tuple  # whose changes it examines
    programs: tuple = ()  # that it runs, as paths in the build's folder, which are ninja's targets


def list_thorough_tests(preset):
    build = pathlib.Path("build", preset).resolve()
    listing = subprocess.run(
        ["ctest", "--preset", preset, "--show-only=json-v1", "-L", "^thorough$"],
        check=True, capture_output=True, text=True).stdout
    tests = []
    for test in json.loads(listing)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        folders = tuple(label.removeprefix("for:") for label in properties["LABELS"]
                        if label.startswith("for:"))
        words = [*test["command"], *properties.get("ENVIRONMENT", ())]
        tests.append(Thorough(test["name"], float(properties["COST"]), folders,
                              programs_of(words, build)))
    return tests


def programs_of(words, build):
    """The files of the build that the words name: paths, or assignments of paths to variables."""
    paths = (word.rpartition("=")[2] for word in words)
    return tuple(path.removeprefix(f"{build}/") for path in paths if path.startswith(f"{build}/"))


def is_touched(test, files):
    if files is None:
        return True
    prefixes = tuple(f"{place}{folder}/" for folder in test.folders for place in ("", "tests/"))
    return any(file.startswith(prefixes) for file in files)


def choose(tests, files, commit, budget_seconds=BUDGET_SECONDS):
    """Returns (the tests to run, the touched ones that are left out)."""
    touched = sorted(
        (test for test in tests if is_touched(test, files)),
        key=lambda test: draw_order(commit, test.name))
    chosen, left_out = [], []
    for test in touched:
        if test.seconds <= budget_seconds:
            budget_seconds -= test.seconds
            chosen.append(test)
        else:
            left_out.append(test)
    return chosen, left_out
