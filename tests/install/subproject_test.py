#!/usr/bin/env python3
"""A project contains this one as a subproject. Arguments: the folder of the sources, a build
directory, which this test does not use."""

import json
import pathlib
import sys
import tempfile
import unittest

from projects import COMPONENTS, NOT_FOR_USERS, PROJECTS, attempt, run, source_of

SOURCES = pathlib.Path(sys.argv[1])
del sys.argv[1:3]

CMAKE_LISTS = f"""cmake_minimum_required(VERSION 3.25)
project(contains_falafel LANGUAGES CXX)
set(FALAFEL_BUILD_SIMULATED_VERBS ON)
add_subdirectory("{SOURCES}" falafel EXCLUDE_FROM_ALL)
"""
EXAMPLE = """add_executable({component} {source})
target_link_libraries({component} PRIVATE falafel::{component})
"""


class Subproject:
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="falafel-subproject-")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.build = cls.folder / "build"
        (cls.folder / "CMakeLists.txt").write_text(CMAKE_LISTS + "".join(
            EXAMPLE.format(component=component, source=source_of(component))
            for component in COMPONENTS
        ))

    def configure(self, *options):
        return attempt("cmake", "-S", self.folder, "-B", self.build, "-DCMAKE_BUILD_TYPE=Debug",
                       "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)

    def configure_without_test_libraries(self):
        missing = ("GTest", "rapidcheck", "benchmark", "CLI11", "Python3")
        configured = self.configure(
            "-DFALAFEL_BUILD_STORE=OFF",
            *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in missing),
        )
        self.assertEqual(configured.returncode, 0, configured.stderr)


class Configures(Subproject, unittest.TestCase):
    def test_without_the_store_and_without_test_libraries(self):
        self.configure_without_test_libraries()
        commands = json.loads((self.build / "compile_commands.json").read_text())
        for command in commands:
            self.assertNotIn("-Werror", command["command"])
            for folder in ("engine", "client", "tools", "tests"):
                self.assertFalse(
                    command["file"].startswith(str(SOURCES / folder)) and
                    not command["file"].startswith(str(PROJECTS)), command["file"]
                )

    def test_fetch_content_finds_the_targets(self):
        folder = self.folder / "fetches"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(fetches_falafel LANGUAGES CXX)
include(FetchContent)
set(FALAFEL_BUILD_STORE OFF)
set(FALAFEL_BUILD_SIMULATED_VERBS ON)
FetchContent_Declare(falafel SOURCE_DIR "{SOURCES}")
FetchContent_MakeAvailable(falafel)
foreach(component IN ITEMS {" ".join(COMPONENTS)})
  if(NOT TARGET falafel::${{component}})
    message(FATAL_ERROR "there is no target falafel::${{component}}")
  endif()
endforeach()
""")
        configured = attempt("cmake", "-S", folder, "-B", folder / "build")
        self.assertEqual(configured.returncode, 0, configured.stderr)

    def test_a_missing_package_is_named(self):
        (self.folder / "build").mkdir(exist_ok=True)
        configured = attempt("cmake", "-S", self.folder, "-B", self.folder / "without",
                             "-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON")
        self.assertNotEqual(configured.returncode, 0)
        self.assertIn("apt-get install libfmt-dev", " ".join(configured.stderr.split()))


class Builds(Subproject, unittest.TestCase):
    def test_without_the_store_and_without_test_libraries(self):
        self.configure_without_test_libraries()
        # In groups, the sources compile in half of the time.
        self.assertEqual(self.configure("-DCMAKE_UNITY_BUILD=ON").returncode, 0)
        run("cmake", "--build", self.build, "--parallel", "2")
        for component in COMPONENTS:
            self.assertEqual(run(self.build / component), f"{component}: ok\n")


if __name__ == "__main__":
    unittest.main()
