"""The tests that a usual run leaves out of one build because they run in the other one
(cmake/falafel_test.cmake)."""

import json
import subprocess

LABEL = "other-build"


def list_tests(preset):
    """The labels of each test of the preset."""
    listing = subprocess.run(
        ["ctest", "--preset", preset, "--show-only=json-v1"],
        check=True, capture_output=True, text=True).stdout
    return labels_of(json.loads(listing)["tests"])


def labels_of(tests):
    properties = {test["name"]: {entry["name"]: entry["value"] for entry in test["properties"]}
                  for test in tests}
    return {name: frozenset(of_test.get("LABELS", ())) for name, of_test in properties.items()}


def problems_of(builds):
    """The tests that no build runs, from the labels of each build's tests."""
    run = {name for tests in builds.values() for name, labels in tests.items() if LABEL not in labels}
    left_out = {name for tests in builds.values() for name in tests} - run
    return [f"{name} runs in no build: its RUNS_IN names one that does not declare it"
            for name in sorted(left_out)]
