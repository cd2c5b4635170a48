"""Finds the test that kills each mutant: the cheapest that fails with it and passes without it."""

import json
import re

from tests_of_build import PROGRAM_SECONDS, Limits, Runner, Test, cases_of, tests_of

RESULTS = "kills.jsonl"
MEASURED = "tests.jsonl"
KILLED = re.compile(r"\| (\d+) \| [^|]* \| killed")


class Measured:
    """A test without mutants: its cost and the mutants that it reaches."""

    def __init__(self, row):
        name, command, directory, environment = row["test"]  # a list if it comes from the file
        self.test = Test(name, tuple(command), directory, tuple(map(tuple, environment)))
        self.processor_seconds = row["processor_seconds"]
        self.wall_seconds = row["wall_seconds"]
        self.reached = frozenset(row["reached"])
        self.passed = row["passed"]
        self.is_split = row["is_split"]

    def limits(self):
        """A test that takes longer hangs."""
        return Limits(10 + 10 * self.processor_seconds,
                      20 + 10 * max(self.processor_seconds, self.wall_seconds))


def measure(folder, selection):
    """Runs the tests that the folder has no measurement of yet, without a mutant."""
    measured = {row["test"][0]: row for row in read_rows(folder / MEASURED)}
    runner = Runner(folder)
    waiting = tests_of(folder / "build", selection)
    names = []
    while waiting:
        test = waiting.pop(0)
        if test.name not in measured:
            outcome = runner.run(test, 0)
            cases = cases_of(test) if outcome.processor_seconds > PROGRAM_SECONDS else []
            measured[test.name] = {
                "test": test, "processor_seconds": round(outcome.processor_seconds, 3),
                "wall_seconds": round(outcome.wall_seconds, 3), "passed": outcome.passed,
                "is_split": bool(cases), "reached": sorted(outcome.reached),
            }
            append(folder / MEASURED, measured[test.name])
        names.append(test.name)
        if measured[test.name]["is_split"]:
            waiting = cases_of(test) + waiting
    return [Measured(measured[name]) for name in names]


def read_rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path, row):
    with open(path, "a") as stream:
        stream.write(json.dumps(row) + "\n")


def find_kills(folder, mutants, tests, most_seconds):
    """Appends the result of each mutant that has none yet."""
    known = {row["mutant"] for row in read_rows(folder / RESULTS)}
    runner = Runner(folder)
    usable = sorted(
        (test for test in tests if test.passed and not test.is_split),
        key=lambda test: test.processor_seconds,
    )
    for mutant in mutants:
        if mutant.number not in known:
            reaching = [test for test in usable if mutant.number in test.reached]
            row = {"mutant": mutant.number, "reaching": len(reaching)}
            append(folder / RESULTS, {**row, **kill(runner, mutant.number, reaching, most_seconds)})


def kill(runner, number, tests, most_seconds):
    spent, ran, unreliable = 0.0, 0, []
    for measured in tests:
        if spent + measured.processor_seconds > most_seconds:
            break
        outcome = runner.run(measured.test, number, measured.limits())
        spent += outcome.processor_seconds
        ran += 1
        if outcome.passed:
            continue
        if is_confirmed(runner, number, measured, outcome):
            return {"outcome": outcome.how, "test": measured.test.name, "ran": ran,
                    "processor_seconds": round(outcome.processor_seconds, 2),
                    "spent": round(spent, 2), "unreliable": unreliable}
        unreliable.append(measured.test.name)
    outcome = "survives" if tests else "is not reached"
    return {"outcome": outcome, "ran": ran, "spent": round(spent, 2), "unreliable": unreliable}


def is_confirmed(runner, number, measured, outcome):
    """A verdict that depends on the load of the machine kills nothing."""
    without = runner.run(measured.test, 0)
    if not without.passed or outcome.how == "hangs":
        return without.passed
    return not runner.run(measured.test, number, measured.limits()).passed


def table(folder, mutants):
    """The lines of the table, sorted by number."""
    rows = {row["mutant"]: row for row in read_rows(folder / RESULTS)}
    lines = ["| Mutant | Changes | Outcome | Test | Processor seconds |",
             "| --- | --- | --- | --- | --- |"]
    for mutant in mutants:
        row = rows.get(mutant.number, {"outcome": "was not run"})
        outcome, test, seconds = row["outcome"], "", ""
        if "test" in row:
            outcome = "killed" if outcome == "fails" else f"killed: {outcome}"
            test, seconds = f"`{row['test']}`", f"{row['processor_seconds']:.2f}"
        elif outcome == "survives":
            test = f"passes: {row['ran']} of {row['reaching']} that reach it"
            seconds = f"{row['spent']:.2f}"
        lines.append(f"| {mutant.number} | {mutant.file} | {outcome} | {test} | {seconds} |")
    killed = sum("test" in row for row in rows.values())
    lines += ["", f"{len(mutants)} mutants, {killed} killed, {len(rows) - killed} not killed, "
                  f"{len(mutants) - len(rows)} not run."]
    return lines


def killed_in(lines):
    """The numbers of the mutants that a table calls killed."""
    return {int(match[1]) for match in map(KILLED.match, lines) if match}
