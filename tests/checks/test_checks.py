#!/usr/bin/env python3
"""Tests of tools/check and the programs in tools/checks: each must report an incorrect tree with
file and line, and accept a correct one."""

import json
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]


class CheckTest(unittest.TestCase):
    """Builds a tree of files in a temporary folder and runs checks on it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def add(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def add_program(self, path, text):
        self.add(path, f"#!/bin/sh\n{text}\n").chmod(stat.S_IRWXU)

    def add_project_file(self, path):
        shutil.copy(PROJECT / path, self.root / path)

    def add_compile_commands(self, *sources, preset="release"):
        commands = [
            {
                "directory": str(self.root),
                "file": source,
                "command": f"env CCACHE_DEPEND=1 ccache g++ -I{self.root} -std=c++20 -Wall "
                f"-Wno-restrict -Werror -Winvalid-pch -include /nowhere/cmake_pch.hxx -o x.o -c {source}",
            }
            for source in sources
        ]
        self.add(f"build/{preset}/compile_commands.json", json.dumps(commands))

    def run_check(self, name, *options):
        program = PROJECT / "tools" / "checks" / name
        return self.run_program(program, "--root", self.root, *options)

    def run_program(self, *words):
        return subprocess.run(words, capture_output=True, text=True, cwd="/")

    def assert_accepted(self, name):
        run = self.run_check(name)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def assert_reported(self, name, *expected):
        """The check fails and reports one problem per expected text, which the problem contains."""
        run = self.run_check(name)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        problems = run.stdout.splitlines()[:-1]
        self.assertEqual(len(problems), len(expected), run.stdout + run.stderr)
        for problem, text in zip(problems, expected):
            self.assertIn(text, problem)


class AllChecks(CheckTest):
    def checks(self):
        programs = (PROJECT / "tools" / "checks").iterdir()
        return [path.name for path in programs if path.is_file() and path.stat().st_mode & 0o100]

    def test_each_has_help(self):
        self.assertEqual(len(self.checks()), 11)
        for name in self.checks():
            with self.subTest(name):
                run = self.run_program(PROJECT / "tools" / "checks" / name, "--help")
                self.assertEqual(run.returncode, 0)
                self.assertIn("--root", run.stdout)

    def test_a_folder_that_does_not_exist_is_named(self):
        missing = self.root / "missing"
        for name in self.checks():
            with self.subTest(name):
                run = self.run_program(PROJECT / "tools" / "checks" / name, "--root", missing)
                self.assertEqual(run.returncode, 2)
                self.assertIn(f"'{missing}' is not a directory", run.stderr)

    def test_an_empty_tree_is_not_accepted(self):
        self.add_compile_commands()
        self.add_compile_commands(preset="asan")
        for name in self.checks():
            with self.subTest(name):
                run = self.run_check(name)
                self.assertEqual(run.returncode, 1)
                self.assertIn("nothing to examine", run.stdout)

    def test_ignored_files_are_not_examined(self):
        self.add(".gitignore", "ignored.h\n")
        self.add("engine/store.h", "\n")
        self.add("engine/ignored.h", "rand();\n")
        subprocess.run(["git", "init", "--quiet", self.root], check=True)
        self.assert_accepted("determinism")

    def test_the_runner_knows_its_checks(self):
        run = self.run_program(PROJECT / "tools" / "check", "--root", self.root, "dependencies", "spelling")
        self.assertEqual(run.returncode, 2)
        self.assertIn("unknown check 'spelling'", run.stderr)

    def test_the_runner_counts(self):
        self.add("engine/store.cpp", '#include "fabric/fabric.h"\nint number = rand();\n')
        check = PROJECT / "tools" / "check"
        run = self.run_program(check, "--root", self.root, "dependencies", "determinism")
        self.assertEqual(run.returncode, 1)
        self.assertIn("--- determinism: FAILED", run.stdout)
        self.assertEqual(run.stdout.splitlines()[-1], "checks: 1 passed, 1 failed")


class Format(CheckTest):
    def setUp(self):
        super().setUp()
        self.add_project_file(".clang-format")

    def test_accepts(self):
        self.add("engine/store.cpp", "int number = 1;\n")
        self.assert_accepted("format")

    def test_reports(self):
        self.add("engine/store.cpp", "int one = 1;\nint  two = 2;\n")
        self.assert_reported("format", "engine/store.cpp:2: not formatted")

    def test_reports_empty_lines_at_the_end(self):
        self.add("engine/store.cpp", "int one = 1;\n\n\n")
        self.assert_reported("format", "engine/store.cpp:3: not formatted")

    def test_reports_comments_beyond_the_column_limit(self):
        comment = "// " + "word " * 19 + "ends"  # 102 columns
        self.add("engine/store.cpp", f"int one = 1;\n{comment[:100]}\n{comment}\n")
        self.add("engine/store.c", f"{comment}\n")
        self.assert_reported(
            "format",
            "engine/store.c:1: 102 columns; break the line after at most 100",
            "engine/store.cpp:3: 102 columns",
        )

    def test_reports_comments_of_scripts_beyond_the_column_limit(self):
        comment = "# " + "word " * 19 + "ends"  # 101 columns
        self.add("engine/store.cpp", "int one = 1;\n")
        self.add("CMakeLists.txt", f"project(store)\n  {comment}\n")
        self.add("tools/list", f"#!/bin/sh\n{comment}\n")
        self.add("tools/list.py", f"{comment}\nnumber = {'1' * 100}\n")
        self.add("tools/list.txt", f"{comment}\n")
        self.assert_reported(
            "format",
            "CMakeLists.txt:2: 103 columns",
            "tools/list:2: 101 columns",
            "tools/list.py:1: 101 columns",
        )

    def test_accepts_raw_strings_beyond_the_column_limit(self):
        self.add("engine/store.cpp", 'auto text =\n    R"(' + "word" * 25 + ')";\n')
        self.assert_accepted("format")

    def test_updates(self):
        file = self.add("engine/store.cpp", "int  two = 2;\n")
        self.assertEqual(self.run_check("format", "--update").returncode, 0)
        self.assertEqual(file.read_text(), "int two = 2;\n")


class Dependencies(CheckTest):
    def test_accepts(self):
        self.add("fabric/fabric.h", '#include <vector>\n#include "fabric/error.h"\n')
        self.add("fabric/sim/network.h", '#include "fabric/error.h"\n#include "fabric/sim/x.h"\n')
        self.add("engine/store.h", '#include "fabric/fabric.h"\n#include "engine/layout/entry.h"\n')
        self.add("checkers/scan.h", '#include "engine/layout/entry.h"\n')
        self.add(
            "tools/scenarios/demo.cpp",
            '#include "fabric/sim/x.h"\n#include "tools/scenarios/table.h"\n')
        self.add("tests/deep/test.cpp", '#include "tests/helper.h"\n#include "tools/server/table.h"\n')
        self.assert_accepted("dependencies")

    def test_reports(self):
        cases = {
            "fabric/fabric.h": "fabric/sim/network.h",
            "fabric/sim/network.h": "fabric/shm/memory.h",
            "fabric/shm/memory.h": "fabric/verbs/device.h",
            "fabric/verbs/device.h": "engine/store.h",
            "engine/store.h": "fabric/error.h",
            "engine/layout/entry.h": "fabric/sim/network.h",
            "checkers/scan.h": "engine/store.h",
            "checkers/replay.h": "fabric/sim/network.h",
            "tools/scenarios/demo.cpp": "tests/helper.h",
            "tools/server/demo.cpp": "tools/benchmarks/store/record.h",
            "tools/scenarios/store/demo.cpp": "tools/scenarios/cluster/program.h",
            "engine/relative.h": "store.h",
        }
        for file, header in cases.items():
            with self.subTest(file):
                path = self.add(file, f'#pragma once\n#include "{header}"\n')
                self.assert_reported("dependencies", f'{file}:2: {file.split("/")[0]}')
                path.unlink()

    def test_reports_angle_brackets_around_own_headers(self):
        self.add("engine/store.h", "#include <fabric/fabric.h>\n")
        self.assert_reported("dependencies", 'engine/store.h:1: <fabric/fabric.h>')

    def test_reports_folders_without_rule(self):
        self.add("extras/store.h", "\n")
        self.assert_reported("dependencies", "extras/store.h:1: no rule")

    def test_accepts_circles_of_three_units(self):
        self.add_circle("abc")
        self.assert_accepted("dependencies")

    def test_reports_larger_circles(self):
        self.add_circle("abcd")
        self.assert_reported(
            "dependencies",
            "checkers/a.h:1: 4 units include each other in a circle, 3 are allowed in checkers")

    def test_reports_a_circle_that_a_source_closes(self):
        self.add_circle("abcd")
        (self.root / "checkers/d.h").write_text("")
        self.assert_accepted("dependencies")
        self.add("checkers/d.cpp", '#include "checkers/a.h"\n')
        self.assert_reported("dependencies", "4 units include each other in a circle")

    def add_circle(self, names):
        for name, following in zip(names, names[1:] + names[0]):
            self.add(f"checkers/{name}.h", f'#include "checkers/{following}.h"\n')


class Includes(CheckTest):
    HEADER = (
        "inline constexpr int most_yields = 8;\nstruct Outcome {};\nusing Words = int;\n"
        "[[nodiscard]] Outcome outcome_of(int digits);\n"
    )

    def test_accepts(self):
        self.add("tests/words.h", self.HEADER)
        self.add("tests/rules.h", '#include "tests/words.h"\n')
        self.add("tests/direct.cpp", '#include "tests/words.h"\nWords words = most_yields;\n')
        self.add("tests/by_way_of.cpp", '#include "tests/rules.h"\nOutcome outcome = outcome_of(1);\n')
        self.add("tests/own.cpp", "struct Outcome {};\nconstexpr int most_yields = 1;\nint outcome_of(int);\n"
                                  "int a = outcome_of(most_yields);\nOutcome b;\n")
        self.add("tests/no_use.cpp", '// Outcome\nTEST(Words, Grow) {}\nint outcome_of;\nint c = d.outcome_of(1);\n')
        self.add("engine/elsewhere.cpp", "Outcome outcome;\n")
        self.assert_accepted("includes")

    def test_accepts_members_of_what_is_included(self):
        self.add("tests/words.h", self.HEADER)
        self.add("tests/store.h", "class Store {\n  struct Outcome;\n  int outcome_of(int);\n};\n")
        self.add("tests/store.cpp", '#include "tests/store.h"\nstruct Store::Outcome {};\n'
                                    "int Store::outcome_of(int n) { return outcome_of(n - 1); }\n")
        self.assert_accepted("includes")

    def test_reports(self):
        self.add("tests/words.h", self.HEADER)
        self.add("tests/rule_1.cpp", '#include "tests/words.h"\n')
        for code in ("int yields = most_yields;", "Outcome outcome;", "ns::Words words = 1;",
                     "auto outcome = outcome_of(1);"):
            with self.subTest(code=code):
                file = self.add("tests/rule_2.cpp", f"#include <vector>\n{code}\n")
                self.assert_reported("includes", "tests/rule_2.cpp:2: ")
                file.unlink()


class Determinism(CheckTest):
    def test_accepts(self):
        self.add(
            "engine/store.cpp",
            '// No std::thread here.\nconst char* text = "rand()";\nint operand(int);\n/* std::hash\n */',
        )
        self.add("tools/benchmark.cpp", "auto start = std::chrono::steady_clock::now();\n")
        self.assert_accepted("determinism")

    def test_reports(self):
        cases = [
            "std::random_device device;",
            "auto now = std::chrono::system_clock::now();",
            "auto now = std::chrono::steady_clock::now();",
            "std::thread worker;",
            "int number = rand();",
            "std::unordered_map<int, int> map;",
            "std::unordered_set<int> set;",
            "std::hash<int> hash;",
            "std::uniform_int_distribution<int> distribution;",
        ]
        for folder in ("engine", "checkers", "fabric/sim"):
            for code in cases:
                with self.subTest(folder=folder, code=code):
                    file = self.add(f"{folder}/file.cpp", f"/* two\nlines */\n{code}\n")
                    self.assert_reported("determinism", f"{folder}/file.cpp:3: ")
                    file.unlink()

    def test_reports_two_draws_of_which_the_compiler_chooses_the_first(self):
        cases = [
            "memory.store(8 * host.random(4),\n  host.random(0));",
            "auto most = std::max(1 +\n  below(4), below(count));",
            "auto sum = choose(kind, 2)\n  + choose(kind, 3);",
        ]
        for folder in ("engine", "fabric/sim", "tools/scenarios/store", "tests/sim"):
            for code in cases:
                with self.subTest(folder=folder, code=code):
                    file = self.add(f"{folder}/file.cpp", f"{code}\n")
                    self.assert_reported("determinism", f"{folder}/file.cpp:2: ")
                    file.unlink()

    def test_accepts_draws_in_an_order_that_is_defined(self):
        self.add("tools/scenarios/store/file.cpp",
                 "auto first = below(2);\nauto second = below(3);\n"
                 "auto either = one_in(2) ? below(4) : below(5);\n"
                 "auto both = one_in(2) && one_in(3) || one_in(4);\n"
                 "auto named = sim::below(sim::bound);\n")
        self.assert_accepted("determinism")


class Comments(CheckTest):
    def test_accepts(self):
        self.add("engine/store.h",
                 "// Returns whether the key is there. Of all keys, most are.\n"
                 "// What follows on another line does not open the comment.\n"
                 "int hits;  // of GETs\n"
                 "int misses;\n"
                 "// That is why. It lasts so long that nobody waits, as \"so many\" do.\n"
                 'auto text = "// What a text";\n'
                 "/* A noun phrase. */\n")
        self.add("tools/count.py", '"""Counts."""\n# Of course.\ntext = """What a text"""\n')
        self.add("README.md", "# What it is\n")
        self.assert_accepted("comments")

    def test_reports_openers(self):
        cases = {
            "engine/store.h": "// What fibers find there.\n",
            "engine/store.cpp": "int one = 1;  // Whether it is one.\n",
            "client/store.c": "/* Those that are left. */\n",
            "tests/store.h": "int one;  // a note\n// Of the messages.\n",
            "tools/count.py": "\n# Where the server listens.\n",
            "tools/count": "#!/usr/bin/env python3\n\ndef count():\n    \"\"\"Which are counted.\"\"\"\n",
        }
        for path, text in cases.items():
            with self.subTest(path):
                file = self.add(path, text)
                line = text.count("\n")
                self.assert_reported("comments", f'{path}:{line}: opens with "')
                file.unlink()

    def test_reports_numbers_without_a_name(self):
        self.add("engine/store.h", "// Stores keys. Waits for so\n// long. A batch of so many keys.\n")
        self.assert_reported(
            "comments", 'engine/store.h:1: says "so long"', 'engine/store.h:2: says "so many"'
        )


class Mutants(CheckTest):
    PATCH = "tests/litmus/mutants/rule.patch"

    def setUp(self):
        super().setUp()
        self.add("fabric/sim/file.cpp", "int right();\n")

    def test_accepts_what_applies(self):
        self.add(self.PATCH, "litmus\n\n--- a/fabric/sim/file.cpp\n+++ b/fabric/sim/file.cpp\n"
                             "@@ -1 +1 @@\n-int right();\n+int wrong();\n")
        self.assert_accepted("mutants")

    def test_reports_what_does_not(self):
        self.add(self.PATCH, "litmus\n\n--- a/fabric/sim/file.cpp\n+++ b/fabric/sim/file.cpp\n"
                             "@@ -1 +1 @@\n-int older();\n+int wrong();\n")
        self.assert_reported("mutants", f"{self.PATCH}:1: does not apply")

    def test_accepts_lines_that_exist(self):
        self.add("tests/mutants/set.tsv", "# a set\n" + self.row(1, "int right();"))
        self.assert_accepted("mutants")

    def test_reports_lines_that_do_not(self):
        self.add("tests/mutants/set.tsv", "# a set\n" + self.row(1, "int right();")
                 + self.row(2, "int right();") + self.row(1, "int older();"))
        self.assert_reported("mutants", "set.tsv:3: fabric/sim/file.cpp has no such line",
                             "set.tsv:4: fabric/sim/file.cpp has no such line")

    @staticmethod
    def row(occurrence, line):
        return f"1\tfabric/sim/file.cpp:1\t{occurrence}\t{line}\t// {line}\n"


class Headers(CheckTest):
    def setUp(self):
        super().setUp()
        self.add_compile_commands("engine/store.cpp")

    def test_accepts(self):
        self.add("engine/entry.h", "#pragma once\nstruct Entry {};\n")
        self.add("engine/store.h", '#pragma once\n#include "engine/entry.h"\ninline Entry entry;\n')
        self.assert_accepted("headers")

    def test_reports_what_needs_another_header(self):
        self.add("engine/store.h", "#pragma once\ninline std::string name;\n")
        self.assert_reported("headers", "engine/store.h:1: does not compile alone")

    def test_reports_what_only_another_header_brings(self):
        self.add("engine/entry.h", "#pragma once\n#include <string>\nstruct Entry {};\n")
        self.add("engine/name.h", "#pragma once\ninline std::string name;\n")
        self.add(
            "engine/store.h",
            '#pragma once\n#include "engine/entry.h"\n#include "engine/name.h"\ninline Entry entry;\n',
        )
        self.assert_reported("headers", "engine/name.h:1: does not compile alone")

    def test_reports_an_include_that_comes_too_late(self):
        self.add("engine/entry.h", "#pragma once\nstruct Entry {};\n")
        self.add("engine/store.h", '#pragma once\ninline Entry entry;\n#include "engine/entry.h"\n')
        self.assert_reported("headers", "engine/store.h:1: does not compile alone")

    def test_reports_headers_that_include_the_precompiled_one_and_others(self):
        self.add("fabric/fabric.h", "#pragma once\nstruct Fabric {};\n")
        self.add("engine/store.h", '#pragma once\n#include "fabric/fabric.h"\ninline Fabric fabric;\n')
        self.add("engine/table.h", '#pragma once\n#include "fabric/fabric.h"\ninline Table table;\n')
        self.add("engine/walk.h", "#pragma once\ninline Fabric other_fabric;\n")
        self.assert_reported(
            "headers", "engine/table.h:1: does not compile alone", "engine/walk.h:1: does not compile alone"
        )

    def test_tells_which_of_those_that_are_compiled_in_one_go_is_wrong(self):
        self.add("fabric/fabric.h", "#pragma once\nstruct Fabric {};\n")
        self.add("engine/store.h", '#pragma once\n#include "fabric/fabric.h"\ninline Fabric fabric;\n')
        self.add("engine/table.h", '#pragma once\n#include "engine/store.h"\ninline Table table;\n')
        self.assert_reported("headers", "engine/table.h:1: does not compile alone")

    def test_reports_a_precompiled_header_that_does_not_compile(self):
        self.add("fabric/fabric.h", "#pragma once\ninline Fabric fabric;\n")
        self.add("engine/entry.h", "#pragma once\nstruct Entry {};\n")
        self.assert_reported("headers", "fabric/fabric.h:1: does not compile alone")

    def test_reports_a_missing_guard(self):
        self.add("engine/store.h", "struct Entry {};\n")
        self.assert_reported("headers", "redefinition")

    def test_examines_a_tenth_without_a_change(self):
        for number in range(30):
            self.add(f"engine/header_{number}.h", "#pragma once\n")
        run = self.run_check("headers", "--touched")
        self.assertRegex(run.stdout, "^[34] examined, 0 problems")

    def test_asks_for_a_build(self):
        shutil.rmtree(self.root / "build")
        self.add("engine/store.h", "#pragma once\n")
        run = self.run_check("headers")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("build first", run.stderr)


class Tidy(CheckTest):
    def setUp(self):
        super().setUp()
        self.add_project_file(".clang-tidy")
        self.add_compile_commands("engine/store.cpp", "engine/table.cpp")
        self.add("engine/table.cpp", '#include "engine/table.h"\n')

    def test_accepts(self):
        self.add("engine/table.h", "#pragma once\nstruct Table {\n  int entry_count = 0;\n};\n")
        self.add("engine/store.cpp", '#include "engine/table.h"\n')
        self.assert_accepted("tidy")

    def test_reports_sources_and_headers_once(self):
        self.add("engine/table.h", "#pragma once\nstruct Table {\n  int entryCount = 0;\n};\n")
        self.add("engine/store.cpp", '#include "engine/table.h"\nint* nothing = 0;\n')
        self.assert_reported(
            "tidy", "engine/store.cpp:2: use nullptr", "engine/table.h:3: invalid case style"
        )

    def test_reports_what_does_not_compile(self):
        self.add("engine/table.h", "#pragma once\n")
        self.add("engine/store.cpp", "int number = unknown;\n")
        self.assert_reported("tidy", "engine/store.cpp:1: ")

    def test_examines_sources_whose_names_clash_by_themselves(self):
        self.add("engine/store.cpp", "namespace {\nint entry = 0;\n}\n")
        self.add("engine/table.cpp", "namespace {\nint* entry = 0;\n}\n")
        self.assert_reported("tidy", "engine/table.cpp:2: use nullptr")
        self.assertIn("do not compile as one, so 2 units are: engine/table.cpp:2", self.run_check("tidy").stderr)

    def test_accepts_units_of_several_sources_whose_names_clash_with_others(self):
        unit = "build/release/engine/Unity/unity_0_cxx.cxx"
        self.add_compile_commands(unit, "engine/walk.cpp")
        self.add(unit, f'#include "{self.root}/engine/store.cpp"\n#include "{self.root}/engine/table.cpp"\n')
        self.add("engine/store.cpp", "namespace {\nint entry = 0;\n}\n")
        self.add("engine/table.cpp", "int other = 0;\n")
        self.add("engine/walk.cpp", "namespace {\nint entry = 0;\n}\n")
        self.assert_accepted("tidy")

    def test_examines_several_programs_as_one(self):
        self.add("engine/store.cpp", "int main() {\n  return 0;\n}\n")
        self.add("engine/table.cpp", "int main() {\n  int* entry = 0;\n  return entry != nullptr;\n}\n")
        self.assert_reported("tidy", "engine/table.cpp:2: use nullptr")
        self.assertEqual(self.run_check("tidy").stderr, "")

    def test_examines_programs_that_use_cli11_apart(self):
        self.add("CLI/CLI.hpp", "#pragma once\nstruct App {};\n")
        self.add("engine/store.cpp", "#include <CLI/CLI.hpp>\nApp entry;\nint* other = 0;\n")
        self.add("engine/table.cpp", "int* entry = 0;\n")
        self.assert_reported("tidy", "engine/store.cpp:3: use nullptr", "engine/table.cpp:1: use nullptr")
        self.assertEqual(self.run_check("tidy").stderr, "")


class Compilers(CheckTest):
    SELF_ASSIGNMENT = "int one() {\n  int word = 1;\n  return (word = word);\n}\n"  # clang warns
    CLEARED = ("#include <cstring>\nstruct Entry {\n  Entry();\n  int word;\n};\n"
               "void clear(Entry* entry) { std::memset(entry, 0, sizeof(Entry)); }\n")  # GCC warns

    def setUp(self):
        super().setUp()
        for preset, usual in (("release", "tools/demo.cpp"), ("asan", "engine/store.cpp")):
            self.add_compile_commands("engine/store.cpp", "tools/demo.cpp", preset=preset)
            self.add_usual_run(preset, usual)

    def add_usual_run(self, preset, *sources):
        self.add(f"build/{preset}/build.ninja",
                 "rule compile\n  command = true\n"
                 f"build falafel_usual_run: compile {' '.join(f'../../{source}' for source in sources)}\n")

    def test_accepts(self):
        self.add("engine/store.cpp", "int one = 1;\n")
        self.add("tools/demo.cpp", "int two = 2;\n")
        self.assert_accepted("compilers")

    def test_reports_what_only_clang_warns_about(self):
        self.add("engine/store.cpp", "int one = 1;\n")
        self.add("tools/demo.cpp", self.SELF_ASSIGNMENT)
        self.assert_reported("compilers", "tools/demo.cpp:3: explicitly assigning value of variable")

    def test_reports_what_only_gcc_warns_about(self):
        self.add("engine/store.cpp", self.CLEARED)
        self.add("tools/demo.cpp", "int two = 2;\n")
        self.assert_reported("compilers", "engine/store.cpp:6: ")

    def test_leaves_out_what_both_builds_compile(self):
        self.add_usual_run("asan", "engine/store.cpp", "tools/demo.cpp")
        self.add("engine/store.cpp", "int one = 1;\n")
        self.add("tools/demo.cpp", self.SELF_ASSIGNMENT)
        self.assert_accepted("compilers")

    def test_compiles_a_twentieth_without_a_change(self):
        programs = [f"tools/demo_{number}.cpp" for number in range(30)]
        for program in programs:
            self.add(program, self.SELF_ASSIGNMENT)
        self.add_compile_commands("engine/store.cpp", *programs)
        self.add_usual_run("release", "engine/store.cpp", *programs)
        run = self.run_check("compilers", "--touched")
        self.assertRegex(run.stdout, "2 examined, 2 problems")

    def test_asks_for_a_configured_build(self):
        shutil.rmtree(self.root / "build/asan")
        run = self.run_check("compilers")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("cmake --preset asan", run.stderr)

    def test_accepts_a_change_of_other_files(self):
        self.add("engine/store.cpp", "int one = 1;\n")
        self.add("tools/demo.cpp", "int two = 2;\n")
        git = ["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a"]
        for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "a"],
                      ["update-ref", "refs/remotes/origin/main", "HEAD"]):
            subprocess.run([*git, *words], check=True)
        self.add("docs/store.md", "changed\n")
        run = self.run_check("compilers", "--touched")
        self.assertEqual((run.returncode, run.stdout.count("touches no source")), (0, 1), run.stdout)

    def test_asks_for_a_build_that_knows_the_usual_run(self):
        (self.root / "build/asan/build.ninja").unlink()
        run = self.run_check("compilers")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("cmake --preset asan", run.stderr)


class Examples(CheckTest):
    HEADER = """// A store.
//
//   Store store(host);
//   store.set(key, ...);  // stored at once
//
// Operations do not wait;
"""

    def test_accepts_an_example_that_a_source_contains(self):
        self.add("engine/store.h", self.HEADER)
        self.add("tests/examples/store.cpp", "void use() {\n  Store store(host);\n  store.set(key,\n      value);\n}\n")
        self.assert_accepted("examples")

    def test_reports_an_example_that_no_source_contains(self):
        self.add("engine/store.h", self.HEADER)
        self.add("tests/examples/store.cpp", "void use() {\n  Store store(host);\n  store.put(key, value);\n}\n")
        self.assert_reported("examples", "engine/store.h:3: no source of tests/ or examples/ contains this example")

    def test_leaves_prose_alone(self):
        self.add("engine/store.h", self.HEADER)
        self.add("engine/invariants.h", "//   every key is in one of its slots;\n//   no two items share memory;\n")
        self.add("tests/examples/store.cpp", "void use() {\n  Store store(host);\n  store.set(key, value);\n}\n")
        self.assert_accepted("examples")


class Documents(CheckTest):
    def setUp(self):
        super().setUp()
        self.add_program("tools/count", 'test "$1" = --help && echo "--up-to N, -v" || echo 1 2 3')

    def test_accepts(self):
        self.add(
            "README.md",
            "[guide](docs/guide.md#start) [web](https://example.org/x) `[no](link)` [here](#below)\n"
            "```sh\n"
            "tools/count --up-to=3 -v | sort -r  # --not-an-option\n"
            "tools/count \\\n  --up-to 3 >file\n"
            "cmake --preset release\n"
            "```\n"
            "<!-- generated: tools/count -->\n\n1 2 3\n\n<!-- end -->\n",
        )
        self.add("docs/guide.md", "[back](../README.md)\n")
        self.assert_accepted("documents")

    def test_reports_broken_links(self):
        self.add("README.md", "One\n[guide](docs/guide.md)\n")
        self.assert_reported("documents", "README.md:2: link to docs/guide.md")

    def test_finds_the_tests_of_tables(self):
        self.add("tests/a_test.cpp", "TEST(Store, KeepsAll) {}\nTEST_F(LongName,\n       Waits) {}\n")
        self.add("tests/CMakeLists.txt", "falafel_add_test(NAME a_test SOURCES a_test.cpp)\n"
                 "falafel_add_script_test(store_c_test c.py)\nfalafel_add_two_machine_test(store 20)\n")
        table = "| Row | Test |\n| --- | --- |\n| `no test` | {} |\n"
        self.add("docs/guide.md", table.format(
            "`Store`, `Store.KeepsAll`, `Store.Keeps*`, `Waits`, `a_test`, `store_c_test`, "
            "`vm_store_test`, the suite"))
        self.assert_accepted("documents")
        for wrong in ("Stores", "Store.Waits", "Store.Waits*", "b_test", "vm_c_test"):
            self.add("docs/guide.md", table.format(f"`Store`, `{wrong}`"))
            self.assert_reported("documents", f"docs/guide.md:3: there is no test {wrong};")

    def test_reports_programs_that_do_not_exist(self):
        self.add("docs/guide.md", "```sh\nls\nbuild/release/demo\n```\n")
        self.assert_reported("documents", "docs/guide.md:3: build/release/demo does not exist")

    def test_reports_unknown_options(self):
        self.add("README.md", "```sh\ntools/count \\\n -v\ntools/count -v && tools/count --up\n```\n")
        self.assert_reported("documents", "README.md:4: tools/count --help does not list --up")

    def test_looks_at_the_help_of_commands(self):
        self.add_program(
            "tools/sum",
            'test "$1" = --help && printf "  add   adds\\n  --all   of it\\n" || echo "--carry, for $1"',
        )
        self.add("README.md", "```sh\ntools/sum add --carry file\ntools/sum --all file\n```\n")
        self.assert_accepted("documents")
        self.add("README.md", "```sh\ntools/sum add --borrow file\ntools/sum --carry\n```\n")
        self.assert_reported(
            "documents",
            "README.md:2: tools/sum add --help does not list --borrow",
            "README.md:3: tools/sum --help does not list --carry",
        )

    def test_reports_what_is_no_command(self):
        self.add("README.md", "```sh\ntools/count 'open\n```\n")
        self.assert_reported("documents", "README.md:2: not a shell command")

    def test_reports_and_updates_generated_text(self):
        text = "<!-- generated: tools/count -->\n{}<!-- end -->\n"
        file = self.add("README.md", "\n" + text.format("1 2\n") + text.format("4\n"))
        self.assert_reported("documents", "README.md:2: differs", "README.md:5: differs")
        self.assertEqual(self.run_check("documents", "--update").returncode, 0)
        self.assertEqual(file.read_text(), "\n" + text.format("\n1 2 3\n\n") * 2)
        self.assert_accepted("documents")

    def test_runs_dear_commands_only_if_it_is_thorough(self):
        file = self.add("README.md", "<!-- generated, thorough: tools/count -->\n1 2\n<!-- end -->\n")
        self.assert_accepted("documents")
        self.assertEqual(self.run_check("documents", "--thorough").returncode, 1)
        self.assertEqual(self.run_check("documents", "--update").returncode, 0)
        self.assertIn("thorough: tools/count -->\n\n1 2 3\n", file.read_text())

    def test_reports_generators_that_fail(self):
        self.add_program("tools/broken", "echo out of luck >&2; exit 3")
        self.add("README.md", "<!-- generated: tools/broken -->\n<!-- end -->\n")
        self.assert_reported("documents", "README.md:1: 'tools/broken' failed: out of luck")

    def test_reports_a_missing_end(self):
        mark = "<!-- generated: tools/count -->\n"
        self.add("README.md", mark + mark + "\n1 2 3\n\n<!-- end -->\n")
        self.assert_reported("documents", "README.md:1: no <!-- end -->")


if __name__ == "__main__":
    unittest.main()
