"""What the checks share: command line, the project's files, and how problems are told."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from typing import NamedTuple

CPP_SUFFIXES = (".h", ".cpp")
COMPILE_COMMANDS = "build/release/compile_commands.json"


class Problem(NamedTuple):
    file: str
    line: int
    message: str  # what is wrong; what to do about it

    def __str__(self):
        return f"{self.file}:{self.line}: {self.message}"


def argument_parser(description):
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--root",
        type=existing_folder,
        default=pathlib.Path(__file__).resolve().parents[2],
        metavar="DIR",
        help="the tree to check (default: the project that holds this program)",
    )
    return parser


def existing_folder(path):
    folder = pathlib.Path(path).resolve()
    if not folder.is_dir():
        raise argparse.ArgumentTypeError(f"'{path}' is no folder; name the root of a source tree")
    return folder


def project_files(root, suffixes, folders=("",)):
    """Paths from the root, sorted, of the files below the folders that git does not ignore."""
    if (root / ".git").exists():
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root, check=True, capture_output=True, text=True,
        ).stdout.split("\0")
    else:  # an unpacked archive
        listing = [str(path.relative_to(root)) for path in root.rglob("*")]
        listing = [path for path in listing if not path.startswith(("build/", ".cache/"))]
    prefixes = tuple(folder and folder + "/" for folder in folders)
    return sorted(
        path for path in set(listing)
        if path.endswith(suffixes) and path.startswith(prefixes) and (root / path).is_file()
    )


NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"([^(\s"]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""",
    re.DOTALL,
)


def code_lines(path):
    """The lines of a C++ file with comments and literals blanked."""
    blanked = NOT_CODE.sub(lambda match: "\n" * match[0].count("\n") or " ", path.read_text())
    return blanked.split("\n")


class TranslationUnit(NamedTuple):
    source: str  # absolute; of sources that are compiled as one, the file that includes them
    parts: list  # the project's sources in it, from the root
    arguments: list  # of the compiler


def translation_units(root):
    """Those of the release build, by its compile_commands.json."""
    if not (root / COMPILE_COMMANDS).exists():
        sys.exit(f"{COMPILE_COMMANDS} is missing; build first: tools/test --quick")
    units = []
    for entry in json.loads((root / COMPILE_COMMANDS).read_text()):
        source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        parts = [str(part.relative_to(root)) for part in parts_of_unity(source) or [source]
                 if part.is_relative_to(root)]
        arguments = shlex.split(entry["command"])
        if pathlib.Path(arguments[0]).name == "ccache":
            arguments = arguments[1:]
        units.append(TranslationUnit(str(source), parts, arguments))
    return units


def language_flags(units):
    """What the units' compilers are told of the language and of where includes are, each flag once."""
    flags = {}  # an ordered set
    for unit in units:
        for flag, value in zip(unit.arguments, unit.arguments[1:] + [""]):
            if flag == "-isystem":
                flags[flag, value] = None
            elif flag.startswith(("-I", "-D", "-std=", "-march=")):
                flags[(flag,)] = None
    return [word for flag in flags for word in flag]


def parts_of_unity(source):
    """What a source that CMake made includes, to compile several as one; empty for any other."""
    if not source.match("Unity/unity_*"):
        return []
    return [pathlib.Path(path) for path in re.findall(r'^#include "(.*)"$', source.read_text(), re.M)]


def in_parallel(function, items):
    """The results of the function for the items, in their order, with one thread per processor."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as executor:
        return list(executor.map(function, items))


def report(examined, problems):
    """Prints the outcome; returns the exit status. Examining nothing is a failure too."""
    for problem in problems:
        print(problem)
    if not examined:
        print("found nothing to examine; is this the project's root?")
    else:
        print(f"{len(examined)} examined, {len(problems)} problems")
    return 1 if problems or not examined else 0
