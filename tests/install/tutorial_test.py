#!/usr/bin/env python3
"""Runs the tutorial of docs/own-program.md in an empty folder with nothing but the installed tree,
and tries falafel-new-program. Arguments: the folder of the sources, the build directory."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

from projects import attempt, install

SOURCES, BUILD = (pathlib.Path(argument) for argument in sys.argv[1:3])
del sys.argv[1:3]

sys.path.append(str(SOURCES / "tests/store"))
from transcript import expected_output, steps, with_line_end  # noqa: E402

# Stands for the reader: puts the code that README.md of the new project advises into the function.
EDITOR = r"""#!/usr/bin/env python3
import pathlib, re, sys
source = pathlib.Path(sys.argv[1])
cure = re.search(r"```cpp\n(.*?)```", (source.parent / "README.md").read_text(), re.DOTALL)[1]
text, changes = re.subn(r"(increment\(check::RemoteMemory& memory\) \{\n).*?^\}", r"\1  " + cure + "}",
                        source.read_text(), flags=re.DOTALL | re.MULTILINE)
assert changes == 1
source.write_text(text)
"""


class Tutorial(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="falafel-tutorial-")
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        prefix = cls.folder / "prefix"
        install(BUILD, prefix)
        editor = cls.folder / "editor"
        editor.write_text(EDITOR)
        editor.chmod(0o755)
        cls.environment = {
            **os.environ, "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}",
            "CMAKE_PREFIX_PATH": str(prefix), "EDITOR": str(editor),
        }

    def empty_folder(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def shell(self, command, folder):
        return attempt("bash", "-c", f"{command} 2>&1", cwd=folder, env=self.environment)

    def test_the_commands_print_what_the_document_says(self):
        folder = self.empty_folder("tutorial")
        commands = list(steps(SOURCES / "docs/own-program.md"))
        self.assertGreaterEqual(len(commands), 6)
        for command, expected in commands:
            output = with_line_end(self.shell(command, folder).stdout)
            self.assertRegex(output, expected_output(expected), command)

    def test_bad_names_are_refused(self):
        folder = self.empty_folder("names")
        for name, message in {
            "": "name the project", "My-Lock": "not a name of lower-case letters",
            "../lock": "not a name of lower-case letters", "--force": "unknown option '--force'",
            "a b": "expected one name",
        }.items():
            refused = self.shell(f"falafel-new-program {name}", folder)
            self.assertEqual(refused.returncode, 2, refused.stdout)
            self.assertIn(message, refused.stdout)
        self.assertEqual(list(folder.iterdir()), [])

    def test_an_existing_folder_is_kept(self):
        folder = self.empty_folder("existing")
        (folder / "lock").mkdir()
        refused = self.shell("falafel-new-program lock", folder)
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn("'lock' exists already", refused.stdout)
        self.assertEqual(list((folder / "lock").iterdir()), [])

    def test_the_sources_have_the_same_command(self):
        folder = self.empty_folder("sources")
        self.assertEqual(self.shell(f"{SOURCES}/tools/new-program queue", folder).returncode, 0)
        names = {path.name for path in (folder / "queue").iterdir()}
        self.assertEqual(names, {"CMakeLists.txt", "README.md", "queue_test.cpp"})
        for path in (folder / "queue").iterdir():
            self.assertFalse(re.search("@name@", path.read_text()), path)


if __name__ == "__main__":
    unittest.main()
