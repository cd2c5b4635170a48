#!/usr/bin/env python3
"""Tests of tools/mutants: how it mutates lines, and that its sets are readable."""

import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/checks/one_line_mutants"))
import campaigns  # noqa: E402
import kills  # noqa: E402
import mutant_set  # noqa: E402
from candidates import candidates_of  # noqa: E402
from either_line import either_line  # noqa: E402
from tests_of_build import Limits, Outcome, Runner, Test  # noqa: E402


def candidates(*lines):
    """The candidates of the lines of a function."""
    found = candidates_of("\n".join(["int function() {", *lines, "}"]))
    return [candidate for index in found for candidate in found[index]]


def mutated(*lines):
    return [candidate.mutated.strip() for candidate in candidates(*lines)]


class Candidates(unittest.TestCase):
    def test_operators_get_their_opposite(self):
        self.assertIn("return a <= b;", mutated("return a < b;"))
        self.assertIn("return a != b;", mutated("return a == b;"))
        self.assertIn("return a - b;", mutated("return a + b;"))
        self.assertIn("total -= a;", mutated("total += a;"))

    def test_operands_stay_together(self):
        self.assertIn("return (a || b) && c;", mutated("return a && b && c;"))
        self.assertIn("return f(a, b - c * d) < e;", mutated("return f(a, b + c * d) < e;"))

    def test_template_brackets_are_no_operators(self):
        self.assertEqual(mutated("return static_cast<Number>(a);"), [])
        self.assertEqual(
            [found.switchable.format("on") for found in candidates("return &a != b<C>(d);")],
            ["return (on ? (&a == b<C>(d)) : (&a != b<C>(d)));"],
        )

    def test_conditions_are_negated(self):
        self.assertEqual(mutated("if (is_done()) return;"), ["if (!(is_done())) return;"])
        self.assertEqual(mutated("while (true) {"), [])
        self.assertEqual(mutated("if (const auto found = find()) {"), [])

    def test_constants_grow_by_one(self):
        self.assertEqual(mutated("return begin(0x1f, 9U);"),
                         ["return begin(0x20, 9U);", "return begin(0x1f, 10U);"])

    def test_truth_values_that_are_returned_change(self):
        self.assertEqual(mutated("return false;"), ["return true;"])

    def test_calls_and_assignments_are_deleted(self):
        self.assertEqual(mutated("count_->raise(one, two);"), ["// count_->raise(one, two);"])
        self.assertEqual(mutated("a.b[c] = d;"), ["// a.b[c] = d;"])
        self.assertEqual([found.switchable.format("on") for found in candidates("stop();")],
                         ["{ if (!on) stop(); }"])

    def test_declarations_and_ends_of_statements_stay(self):
        self.assertEqual(mutated("Guard guard(mutex);", "std::vector<int> all;"), [])
        self.assertEqual(mutated("const auto result =", "    compute();"), [])
        self.assertEqual(candidates_of("struct Options {\n  bool is_wide = a < b;\n};"), {})

    def test_assertions_and_constant_expressions_stay(self):
        self.assertEqual(mutated('FALAFEL_ASSERT(a < b,', '    "{} {}", a + b, b);'), [])
        self.assertEqual(candidates_of("constexpr int f() {\n  return 1 + 2;\n}\n"), {})

    def test_comments_and_texts_stay(self):
        self.assertEqual(mutated('print("a < 1");  // a < b'), ['// print("a < 1");'])


class Set(unittest.TestCase):
    def test_numbers_are_consecutive(self):
        rooms = mutant_set.read_set(ROOT / "tests/mutants/rooms.tsv")
        for mutants, last in ((mutant_set.read_set(), 215), (rooms, 60)):
            self.assertEqual([mutant.number for mutant in mutants], list(range(1, last + 1)))

    def test_lines_are_found_by_their_text(self):
        mutant = mutant_set.Mutant(7, "a.cpp", 1, 2, "stop();", "// stop();")
        text = "void f() {\n  stop();\n  go();\n  stop();\n}\n"
        changed, missing = mutant_set.switchable_lines("a.cpp", text, [mutant])
        self.assertEqual(changed.split("\n")[3],
                         "  { if (!::falafel_mutants::is_on(7)) stop(); }")
        self.assertEqual(missing, [])

    def test_changed_lines_are_missing(self):
        mutant = mutant_set.Mutant(7, "a.cpp", 1, 1, "halt();", "// halt();")
        _, missing = mutant_set.switchable_lines("a.cpp", "void f() {\n  stop();\n}\n", [mutant])
        self.assertEqual(missing, [7])

    def test_safeguards_share_a_line(self):
        first, second, *_ = mutant_set.safeguard_mutants(1)
        changed, missing = mutant_set.switchable_lines(
            mutant_set.SAFEGUARDS, mutant_set.HARDENED, [first, second])
        self.assertEqual(missing, [])
        for mutant in (first, second):
            name = mutant.mutated.partition("{.")[2].partition(" ")[0]
            self.assertIn(f"if ({mutant_set.switch(mutant.number)}) safeguards.{name} = false;",
                          changed)


class WrittenLines(unittest.TestCase):
    def either(self, line, mutated, before=";"):
        return either_line(line, mutated, before, "on")

    def test_statements_are_alternatives(self):
        self.assertEqual(self.either("  stop(a);  // now", "(void)0;"),
                         "  { if (on) { (void)0; } else { stop(a); } }")
        self.assertEqual(self.either("if (a) return 1;", "if (b) return 2;"),
                         "{ if (on) { if (b) return 2; } else { if (a) return 1; } }")
        self.assertEqual(self.either("case A::b: return 1;", "case A::b: return 2;"),
                         "case A::b: { if (on) { return 2; } else { return 1; } }")

    def test_declarations_and_parts_of_statements_choose_an_expression(self):
        self.assertEqual(self.either("int left = f(a, b - 1);", "int left = f(a, b);"),
                         "int left = f(a, (on ? (b) : (b - 1)));")
        self.assertEqual(self.either("for (auto& a : b.c) {", "for (auto& a : d) {"),
                         "for (auto& a : (on ? (d) : (b.c))) {")
        self.assertEqual(self.either("const int a = b ? c : d;", "const int a = b ? c : e;"),
                         "const int a = (on ? (b ? c : e) : (b ? c : d));")
        self.assertEqual(self.either("b < c;", "b <= c;", "="), "(on ? (b <= c) : (b < c));")

    def test_expressions_may_go_on_in_the_next_line(self):
        self.assertEqual(self.either("if (a || b.c ||", "if (a ||"),
                         "if ((on ? (a) : (a || b.c)) ||")


class Run(unittest.TestCase):
    def run_script(self, script, limits=Limits(600, 600)):
        with tempfile.TemporaryDirectory() as folder:
            test = Test("test", ("sh", "-c", script), folder, (("LEFT", "1"),))
            return Runner(pathlib.Path(folder)).run(test, 5, limits)

    def test_status_is_the_outcome(self):
        self.assertTrue(self.run_script("exit 0").passed)
        self.assertEqual(self.run_script("exit 3").how, "fails")
        self.assertEqual(self.run_script("kill -ABRT $$").how, "crashes")

    def test_test_that_never_ends_hangs(self):
        self.assertEqual(self.run_script("sleep 1000000", Limits(600, 0.1)).how, "hangs")

    def test_processes_that_a_test_leaves_behind_are_ended(self):
        self.assertTrue(self.run_script("setsid sleep 1000000 & exit 0").passed)

    def test_environment_selects_the_mutant_and_names_the_file(self):
        outcome = self.run_script(
            r'''[ "$FALAFEL_MUTANT$LEFT" = 51 ] && printf '\0\1' > "$FALAFEL_MUTANTS_REACHED"''')
        self.assertEqual((outcome.passed, outcome.reached), (True, {1}))


class FakeRunner:
    """Runs nothing: the outcomes of (test, mutant) are given, the last one for all later runs."""

    def __init__(self, outcomes):
        self.outcomes = outcomes
        self.ran = []

    def run(self, test, mutant, limits=None):
        self.ran.append((test.name, mutant))
        given = self.outcomes.get((test.name, mutant), ["passes"])
        how = given.pop(0) if len(given) > 1 else given[0]
        return Outcome(how == "passes", how, 1.0, 1.0, frozenset())


def measured(name):
    return kills.Measured({"test": [name, ["true"], "/", []], "processor_seconds": 1.0,
                           "wall_seconds": 1.0, "passed": True, "is_split": False, "reached": [3]})


class Kills(unittest.TestCase):
    def kill(self, outcomes, most_seconds=10):
        return kills.kill(
            FakeRunner(outcomes), 3, [measured("cheap"), measured("dear")], most_seconds)

    def test_first_test_that_fails_kills(self):
        result = self.kill({("cheap", 3): ["fails"], ("dear", 3): ["fails"]})
        self.assertEqual((result["outcome"], result["test"]), ("fails", "cheap"))

    def test_mutant_survives_tests_that_pass(self):
        self.assertEqual(self.kill({})["outcome"], "survives")

    def test_test_that_fails_without_the_mutant_kills_nothing(self):
        result = self.kill({("cheap", 3): ["fails"], ("cheap", 0): ["fails"]})
        self.assertEqual((result["outcome"], result["unreliable"]), ("survives", ["cheap"]))

    def test_test_that_fails_once_kills_nothing(self):
        self.assertEqual(self.kill({("cheap", 3): ["fails", "passes"]})["outcome"], "survives")

    def test_tests_beyond_the_limit_do_not_run(self):
        self.assertEqual(self.kill({("dear", 3): ["fails"]}, 1.5)["outcome"], "survives")

    def test_table_names_what_was_killed(self):
        line = "| 12 | a.cpp | killed: hangs | `b` | 1.00 |"
        self.assertEqual(kills.killed_in([line, "| 13 | a.cpp | survives | | |"]), {12})


class FakeCampaign:
    """Runs nothing: each schedule takes a hundredth of a second. `violations` are (options, mutant,
    seed); `reached` are the options whose runs reach the mutant."""

    def __init__(self, violations=(), reached=("a", "b"), how=None):
        self.violations = violations
        self.reached = reached
        self.how = how
        self.ran = []

    def run(self, number, options, seed, schedules, limits):
        self.ran.append((number, options, seed, schedules))
        reached = frozenset({3} if options in self.reached else {})
        found = [{"property": "linearizability", "seed": violating}
                 for where, mutant, violating in self.violations
                 if (where, mutant) == (options, number) and seed <= violating < seed + schedules]
        how = self.how if self.how and number else "fails" if found else "passes"
        outcome = Outcome(how == "passes", how, schedules / 100, 1.0, reached)
        return outcome, None if how == self.how else {"violations": found, "unknown": 0}


class Campaigns(unittest.TestCase):
    def find(self, campaign, most_seconds=10):
        lines = [campaigns.Line(options, 1) for options in ("a", "b")]
        return campaigns.find(campaign, 3, lines, most_seconds)

    def test_line_that_violates_finds_the_mutant(self):
        result = self.find(FakeCampaign([("b", 3, 150)]))
        self.assertEqual(
            (result["outcome"], result["line"], result["seed"], result["property"]),
            ("found", "falafel fuzz b", 150, "linearizability"))
        self.assertEqual(result["spent"], 4)  # 200 schedules of each line

    def test_lines_take_turns_until_the_time_is_over(self):
        campaign = FakeCampaign()
        result = self.find(campaign)
        self.assertEqual(result["outcome"], "survives")
        self.assertAlmostEqual(result["spent"], 10, delta=0.1)
        self.assertEqual([ran[1] for ran in campaign.ran], ["a", "b"] * 3)
        self.assertEqual(campaign.ran[2], (3, "a", 201, 150))
        self.assertEqual(campaign.ran[4], (3, "a", 351, 150))

    def test_later_turns_are_for_lines_that_reach_the_mutant(self):
        campaign = FakeCampaign(reached=("b",))
        self.find(campaign)
        self.assertEqual([ran[1] for ran in campaign.ran], ["a"] + ["b"] * 5)

    def test_mutant_that_no_line_reaches_is_not_reached(self):
        self.assertEqual(self.find(FakeCampaign(reached=()))["outcome"], "is not reached")

    def test_seed_that_fails_without_the_mutant_finds_nothing(self):
        campaign = FakeCampaign([("a", 3, 5), ("a", 0, 5)])
        self.assertEqual(self.find(campaign)["outcome"], "survives")
        self.assertIn((0, "a", 5, 1), campaign.ran)

    def test_program_that_does_not_end_finds_the_mutant(self):
        result = self.find(FakeCampaign(how="hangs"))
        self.assertEqual((result["outcome"], result["property"], result["schedules"]),
                         ("found", "the program hangs", 200))

    def test_results_are_kept(self):
        mutant = mutant_set.Mutant(3, "a.cpp", 1, 1, "stop();", "// stop();")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for campaign in (FakeCampaign([("a", 3, 1)]), FakeCampaign()):
                campaigns.find_by_campaigns(folder, campaign, [mutant], ["a"], 1, 10)
            self.assertEqual(campaign.ran, [])
            self.assertEqual(
                campaigns.table_of_campaigns(folder, [mutant])[2],
                "| 3 | a.cpp | found | linearizability | `falafel fuzz a` | 1 | 2.00 |")

    def test_survivors_are_tried_for_more_time(self):
        mutant = mutant_set.Mutant(3, "a.cpp", 1, 1, "stop();", "// stop();")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            first, second, third = (FakeCampaign() for _ in range(3))
            campaigns.find_by_campaigns(folder, first, [mutant], ["a"], 1, 2)
            campaigns.find_by_campaigns(folder, second, [mutant], ["a", "b"], 1, 5)
            campaigns.find_by_campaigns(folder, third, [mutant], ["a", "b"], 1, 5)
        self.assertEqual(first.ran, [(3, "a", 1, 200)])
        self.assertEqual(second.ran, [(3, "b", 1, 200), (3, "a", 201, 100)])
        self.assertEqual(third.ran, [])

    def test_what_a_campaign_prints_is_read(self):
        printed = {"violations": [], "unknown": 0}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program = folder / campaigns.PROGRAM
            program.parent.mkdir(parents=True)
            program.write_text(f"#!/bin/sh\necho '{json.dumps(printed)}'\n")
            program.chmod(0o755)
            outcome, read = campaigns.Campaign(folder, Runner(folder)).run(
                3, "--blocks only", 1, 2, Limits(60, 600))
            self.assertEqual((outcome.how, read), ("passes", printed))


if __name__ == "__main__":
    unittest.main()
