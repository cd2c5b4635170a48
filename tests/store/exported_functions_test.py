#!/usr/bin/env python3
"""The shared library exports exactly the functions that falafel.h declares and the version script
names. Arguments: the library, the folder client/falafel."""

import pathlib
import re
import subprocess
import sys
import unittest

LIBRARY, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
del sys.argv[1:3]


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


class ExportedFunctions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # A line: address, type of symbol, name@@version.
        lines = output_of("nm", "--dynamic", "--defined-only", LIBRARY).splitlines()
        cls.symbols = [line.split()[1:] for line in lines]
        cls.exported = {name for kind, name in cls.symbols if kind != "A"}

    def test_they_are_those_of_the_header(self):
        header = (FOLDER / "falafel.h").read_text()
        declared = re.findall(r"^FALAFEL_API[^;(]*?(\w+)\(", header, re.MULTILINE)
        self.assertGreater(len(declared), 10)
        self.assertEqual(self.exported, {f"{name}@@FALAFEL_0" for name in declared})

    def test_they_are_those_of_the_version_script(self):
        script = (FOLDER / "exported_functions.map").read_text()
        self.assertEqual(self.exported,
                         {f"{name}@@FALAFEL_0" for name in re.findall(r"^\s+(falafel_\w+);", script,
                                                                      re.MULTILINE)})

    def test_they_are_functions(self):
        self.assertEqual({kind for kind, _ in self.symbols if kind != "A"}, {"T"})

    def test_the_library_has_a_version(self):
        self.assertRegex(output_of("readelf", "--dynamic", LIBRARY),
                         r"Library soname: \[libfalafel-c\.so\.0\]")


if __name__ == "__main__":
    unittest.main()
