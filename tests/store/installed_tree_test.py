#!/usr/bin/env python3
"""A separate project uses the installed library through CMake and through pkg-config. Arguments:
the build directory, the program, the folder of the example."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import HANG_LIMIT_SECONDS, Falafel

BUILD, PROGRAM, EXAMPLE = sys.argv[1:4]
del sys.argv[1:4]

C_ALONE = """cmake_minimum_required(VERSION 3.25)
project(c_alone LANGUAGES C)
find_package(falafel REQUIRED COMPONENTS c)
add_executable(example {source})
target_link_libraries(example PRIVATE falafel::c)
"""


def run(*words, **options):
    completed = subprocess.run(words, capture_output=True, text=True, timeout=HANG_LIMIT_SECONDS, **options)
    if completed.returncode != 0:
        raise AssertionError(f"{words}: {completed.stdout}{completed.stderr}")
    return completed.stdout


class InstalledTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="falafel-installed-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name)
        cls.prefix = cls.root / "prefix"
        run("cmake", "--install", BUILD, "--component", "library", "--prefix", cls.prefix)
        cls.falafel = Falafel(PROGRAM)
        cls.addClassCleanup(cls.falafel.close)

    def run_example(self, program):
        environment = {**os.environ, "FALAFEL_DIRECTORY": self.falafel.directory}
        with self.falafel.serve("--memory", "64MiB"):
            return run(program, env=environment)

    def test_cmake(self):
        build = self.root / "cmake"
        run("cmake", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertEqual(self.run_example(build / "example"), "greeting: hello\n12 squared: 144\n")
        self.assertEqual(self.run_example(build / "example_in_c"), "greeting: hello\n")

    def test_pkg_config_after_the_tree_was_moved(self):
        moved = self.root / "moved"
        run("cp", "-r", self.prefix, moved)
        folder = next(moved.rglob("falafel.pc")).parent
        for package in ("falafel", "falafel-c"):
            flags = run("pkg-config", "--cflags", "--libs", package,
                        env={**os.environ, "PKG_CONFIG_PATH": str(folder)}).split()
            program = self.root / f"with_{package}"
            run("cc", f"{EXAMPLE}/example.c", "-o", program, f"-Wl,-rpath={folder.parent}", *flags)
            self.assertEqual(self.run_example(program), "greeting: hello\n")

    def test_a_project_in_c_alone_uses_the_shared_library(self):
        project = self.root / "c_alone"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(C_ALONE.format(source=f"{EXAMPLE}/example.c"))
        run("cmake", "-S", project, "-B", project / "build",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", project / "build")
        program = project / "build/example"
        self.assertIn("libfalafel-c.so.0", run("readelf", "--dynamic", program))
        self.assertEqual(self.run_example(program), "greeting: hello\n")


if __name__ == "__main__":
    unittest.main()
