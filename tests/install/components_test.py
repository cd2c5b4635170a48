#!/usr/bin/env python3
"""Separate projects use each component of the installed tree, through CMake and through pkg-config.
Arguments: the folder of the sources, the build directory."""

import pathlib
import re
import sys
import tempfile
import unittest

from projects import COMPONENTS, NOT_FOR_USERS, attempt, configure, install, pkg_config, run, source_of

SOURCES, BUILD = (pathlib.Path(argument) for argument in sys.argv[1:3])
del sys.argv[1:3]

MISSING_PACKAGES = {  # and how CMake finds them
    "libboost-context-dev": "Boost", "libfmt-dev": "fmt", "nlohmann-json3-dev": "nlohmann_json",
    "pkg-config libxxhash-dev": "PkgConfig",
}
# Warnings in headers would be warnings of the projects that include them.
STRICT = ("-std=c++20", "-Wall", "-Wextra", "-Werror")

# A register answers READs with its value, not with a text.
WRONG_RESULT = """
#include <falafel/checkers/specifications/register.h>
#include <falafel/explorer/check.h>
using Register = falafel::checkers::specifications::BasicRegister<int>;
void body(falafel::check::World& world) {
  world.history<Register>().call(0, {}, [] { return std::string("text"); });
}
"""


class InstalledTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="falafel-install-")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.prefix = cls.folder / "prefix"
        install(BUILD, cls.prefix)

    def assert_runs(self, program, component):
        self.assertEqual(run(program), f"{component}: ok\n")

    def built_with_cmake(self, component):
        """The folder of a project that uses the component, built once."""
        folder = self.folder / f"cmake-{component}"
        if not folder.exists():
            configured = configure(folder, self.prefix, component)
            self.assertEqual(configured.returncode, 0, configured.stderr)
            run("cmake", "--build", folder / "build")
        return folder / "build"

    def test_cmake(self):
        for component in COMPONENTS:
            with self.subTest(component):
                self.assert_runs(self.built_with_cmake(component) / "example", component)

    # Compiling is dear, and was done with CMake: the flags must find all headers, and the libraries
    # that the object needs.
    def test_pkg_config_after_the_tree_was_moved(self):
        moved = self.folder / "moved"
        run("cp", "-r", self.prefix, moved)
        for component in COMPONENTS:
            with self.subTest(component):
                flags = pkg_config(moved, "--cflags", f"falafel-{component}")
                run("g++", *STRICT, "-E", source_of(component), "-o", "/dev/null", *flags)
                libraries = pkg_config(moved, "--libs", f"falafel-{component}")
                compiled, = self.built_with_cmake(component).rglob("*.cpp.o")
                program = self.folder / f"{component}-pkg-config"
                run("g++", compiled, "-o", program, *libraries)
                self.assert_runs(program, component)

    def test_programs_with_hooks_and_variables(self):
        sources = SOURCES / "tests/install/simulated_verbs_programs"
        build = self.folder / "memory_hooks"
        run("cmake", "-S", sources, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assert_runs(build / "example", "simulated_verbs")
        self.assert_runs(build / "example_of_two_hosts", "simulated_verbs")

        flags = pkg_config(self.prefix, "--cflags", "--libs", "falafel-simulated_verbs_memory_hooks")
        program, example = self.folder / "program.o", self.folder / "example-with-hooks"
        run("gcc", "-fsanitize=thread", "-c", sources / "program.c", "-o", program)
        run("g++", *STRICT, sources / "example.cpp", program, "-o", example, *flags)
        self.assert_runs(example, "simulated_verbs")

        counter, copies = self.folder / "counter.o", self.folder / "copies.o"
        run("gcc", "-c", sources / "counter.c", "-o", counter)
        run(self.prefix / "bin/falafel-program-copies", "counter", "2", copies, counter)
        run("g++", *STRICT, "-no-pie", sources / "two_hosts.cpp", copies, "-o", example, *flags)
        self.assert_runs(example, "simulated_verbs")

    def test_the_version_is_checked(self):
        folder = self.folder / "version"
        self.assertEqual(configure(folder / "right", self.prefix, "simulator", "0.1").returncode, 0)
        wrong = configure(folder / "wrong", self.prefix, "simulator", "0.2")
        self.assertIn("requested version \"0.2\"", wrong.stderr)
        version = pkg_config(self.prefix, "--modversion", "falafel-explorer")
        self.assertEqual(version, pkg_config(self.prefix, "--modversion", "falafel"))

    def test_a_component_that_does_not_exist_is_named(self):
        folder = self.folder / "unknown"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(example LANGUAGES CXX)\n"
            "find_package(falafel REQUIRED COMPONENTS verbs)\n"
        )
        configured = attempt("cmake", "-S", folder, "-B", folder / "build",
                             f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.assertNotEqual(configured.returncode, 0)
        self.assertIn("no component 'verbs'", configured.stderr)

    def test_a_missing_package_is_named_as_debian_names_it(self):
        for package, hidden in MISSING_PACKAGES.items():
            with self.subTest(package):
                configured = configure(
                    self.folder / f"without-{hidden}", self.prefix, "explorer",
                    options=[f"-DCMAKE_DISABLE_FIND_PACKAGE_{hidden}=ON"],
                )
                self.assertNotEqual(configured.returncode, 0)
                message = " ".join(configured.stderr.split())
                self.assertIn(f"apt-get install {package}", message)

    def test_no_header_needs_the_store_or_a_test_library(self):
        headers = list((self.prefix / "include/falafel").rglob("*.h"))
        includes = {
            (header.relative_to(self.prefix), name) for header in headers
            for name in re.findall(r'#\s*include [<"]([^>"]+)', header.read_text())
        }
        for header, name in includes:
            self.assertNotIn(name.split("/")[0], NOT_FOR_USERS, header)
            if header.parts[2] in ("fabric", "checkers", "explorer", "processes"):
                self.assertFalse(name.startswith("engine/"), f"{header} includes {name}")

    def test_no_library_asks_for_a_test_library(self):
        for file in (self.prefix / "lib").rglob("*"):
            if file.suffix in (".cmake", ".pc"):
                for name in (*NOT_FOR_USERS, "-Werror", str(SOURCES)):
                    self.assertFalse(name in file.read_text(), f"{file} names {name}")

    # tools/checks/headers shows that each header compiles alone; this shows that all that they
    # include is installed, too.
    def test_all_headers_compile(self):
        include = self.prefix / "include"
        names = sorted(header.relative_to(include) for header in include.rglob("*.h"))
        self.assertGreater(len(names), 100)
        run("g++", *STRICT, "-fsyntax-only", "-x", "c++", f"-I{include}", f"-I{include}/falafel", "-",
            input="".join(f"#include <{name}>\n" for name in names))

    def test_mistakes_at_compile_time_are_named(self):
        include = self.prefix / "include"

        def errors_of(source, *options):
            compiled = attempt("g++", *options, "-fsyntax-only", "-x", "c++", f"-I{include}",
                               f"-I{include}/falafel", "-", input=source)
            self.assertNotEqual(compiled.returncode, 0)
            return compiled.stderr

        self.assertIn("compile with -std=c++20",
                      errors_of("#include <falafel/explorer/check.h>\n", "-std=c++17"))
        self.assertIn("must return the specification's Result",
                      errors_of(WRONG_RESULT, "-std=c++20"))


if __name__ == "__main__":
    unittest.main()
