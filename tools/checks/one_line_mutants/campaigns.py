"""Finds mutants with campaigns of `falafel fuzz`. Each line of options begins with a few schedules.
Then those whose runs have reached the mutant take turns. A mutant counts as found only if the seed
that found it violates nothing without it."""

import json
import shlex

from kills import append, read_rows
from tests_of_build import LARGEST_LIMITS, Limits, Test

RESULTS = "campaigns.jsonl"
PROGRAM = "build/bin/falafel"
LINES = (
    "", "--hostile only", "--blocks only", "--caches only", "--growth only", "--warm-restarts only",
    "--memory-growth only", "--tag-worlds only", "--scans only --caches some --growth some",
    "--tricks only", "--set-many only --caches some", "--ends only",
    "--moves only", "--moves only --scans only", "--moves only --growth only",
    "--keys 16 --slots 16 --operations 20",
    "--store cluster", "--store changing-cluster",
    "--store changing-cluster --warm-restarts only", "--store changing-cluster --caches only",
    "--store changing-cluster --simulator fault_rate.client_pause=40 "
    "--simulator longest_stall_ns=1000000",
)
TURN_SECONDS = 1.5
FIRST_SCHEDULES = 200
# A campaign ends runs that do not end. One that takes this long has failed to.
LIMITS = Limits(60, 600)


class Line:
    """One line of options, and what its campaigns of one mutant have cost so far."""

    def __init__(self, options, first_seed):
        self.options = options
        self.first_seed = first_seed
        self.schedules = 0
        self.spent = 0.0
        self.reaches = False

    def name(self):
        return f"falafel fuzz {self.options}".rstrip()

    def next_seed(self):
        return self.first_seed + self.schedules

    def schedules_for(self, seconds):
        if self.spent == 0:
            return FIRST_SCHEDULES
        return max(1, int(self.schedules / self.spent * seconds))


class Campaign:
    """Runs the program of a folder with some seeds."""

    def __init__(self, folder, runner):
        self.folder = folder
        self.runner = runner

    def run(self, number, options, seed, schedules, limits):
        """The outcome, and what the campaign printed; None if it did not end by itself."""
        printed = self.folder / "campaign.json"
        command = (self.folder / PROGRAM, "fuzz", *shlex.split(options), "--seed", str(seed),
                   "--schedules", str(schedules), "--stop", "--shrink-seconds", "0", "--json",
                   "--output", self.folder / "findings")
        test = Test("campaign", tuple(map(str, command)), str(self.folder), ())
        with open(printed, "w") as stream:
            outcome = self.runner.run(test, number, limits, stream)
        text = printed.read_text()
        return outcome, json.loads(text) if outcome.how in ("passes", "fails") and text else None


def find_by_campaigns(folder, campaign, mutants, options, first_seed, most_seconds):
    """Appends the result of each mutant that has none yet, and goes on with those that have
    survived less time."""
    rows = {row["mutant"]: row for row in read_rows(folder / RESULTS)}
    for mutant in mutants:
        known = rows.get(mutant.number, {"outcome": "", "spent": 0.0, "lines": []})
        if known["outcome"] == "found" or known["spent"] >= most_seconds:
            continue
        lines = [Line(line, first_seed) for line in options]
        for line in lines:
            for state in known["lines"]:
                if (state["options"], state["first_seed"]) == (line.options, line.first_seed):
                    vars(line).update(state)
        append(folder / RESULTS,
               {"mutant": mutant.number, **find(campaign, mutant.number, lines, most_seconds)})


def find(campaign, number, lines, most_seconds):
    while (left := most_seconds - sum(line.spent for line in lines)) > 0:
        new = [line for line in lines if line.schedules == 0]
        reaching = [line for line in lines if line.reaches]
        least = min(new or reaching or lines, key=lambda line: line.spent)
        seed, schedules = least.next_seed(), least.schedules_for(min(TURN_SECONDS, left))
        outcome, printed = campaign.run(number, least.options, seed, schedules, LIMITS)
        least.reaches = least.reaches or number in outcome.reached
        least.schedules += schedules
        least.spent += outcome.processor_seconds
        found = violation_in(outcome, printed, seed, schedules)
        if found and is_clean_without(campaign, least.options, found):
            return {"outcome": "found", **found, "line": least.name(), "spent": total(lines)}
    reached = any(line.reaches for line in lines)
    return {"outcome": "survives" if reached else "is not reached", "spent": total(lines),
            "lines": [vars(line) for line in lines]}


def total(lines):
    return round(sum(line.spent for line in lines), 2)


def violation_in(outcome, printed, seed, schedules):
    """The property that was violated, with the seeds that show it."""
    if printed is None:
        return {"property": f"the program {outcome.how}", "seed": seed, "schedules": schedules}
    if printed["violations"]:
        first = min(printed["violations"], key=lambda violation: violation["seed"])
        return {"property": first["property"], "seed": first["seed"], "schedules": 1}
    if printed["unknown"] > 0:
        return {"property": "schedules were not judged", "seed": seed, "schedules": schedules}
    return None


def is_clean_without(campaign, options, found):
    outcome, printed = campaign.run(0, options, found["seed"], found["schedules"], LARGEST_LIMITS)
    return violation_in(outcome, printed, found["seed"], found["schedules"]) is None


def table_of_campaigns(folder, mutants):
    """The lines of the table, sorted by number."""
    rows = {row["mutant"]: row for row in read_rows(folder / RESULTS)}
    lines = ["| Mutant | Changes | Outcome | Property | Options | Seed | Processor seconds |",
             "| --: | --- | --- | --- | --- | --: | --: |"]
    for mutant in mutants:
        row = {"outcome": "was not run", "property": "", "line": "", "seed": "", "spent": 0.0,
               **rows.get(mutant.number, {})}
        line = f"`{row['line']}`" if row["line"] else ""
        lines.append(f"| {mutant.number} | {mutant.file} | {row['outcome']} | {row['property']} | "
                     f"{line} | {row['seed']} | {row['spent']:.2f} |")
    found = sum(row["outcome"] == "found" for row in rows.values())
    lines += ["", f"{len(mutants)} mutants, {found} found, {len(rows) - found} not found, "
                  f"{len(mutants) - len(rows)} not run."]
    return lines
