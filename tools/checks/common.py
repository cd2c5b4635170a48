"""Common code of the checks: command line, the project's files, and problem reports."""

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
COMPILE_COMMANDS = "build/{preset}/compile_commands.json"
LAUNCHERS = ("measured", "-", "env", "ccache")
PRECOMPILED_HEADERS = "cmake_pch.hxx"


class Problem(NamedTuple):
    file: str
    line: int
    message: str  # the problem and its remedy

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
        help="the tree to check (default: the project that contains this program)",
    )
    return parser


def existing_folder(path):
    folder = pathlib.Path(path).resolve()
    if not folder.is_dir():
        message = f"'{path}' is not a directory; name the root of a source tree"
        raise argparse.ArgumentTypeError(message)
    return folder


def project_files(root, suffixes, folders=("",)):
    """Sorted paths, relative to the root, of all files in the folders that git does not ignore."""
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
    source: str  # absolute; for a unity build, the file that includes the parts
    parts: list  # the project's sources in it, relative to the root
    arguments: list  # compiler arguments


def translation_units(root, preset="release"):
    """The translation units of the preset's build, from its compile_commands.json."""
    commands = COMPILE_COMMANDS.format(preset=preset)
    if not (root / commands).exists():
        remedy = "tools/test --quick" if preset == "release" else f"cmake --preset {preset}"
        sys.exit(f"{commands} is missing; build first: {remedy}")
    units = []
    for entry in json.loads((root / commands).read_text()):
        source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if source.name.startswith("precompiled_headers.") or PRECOMPILED_HEADERS in source.name:
            continue
        parts = [str(part.relative_to(root)) for part in parts_of_unity(source) or [source]
                 if part.is_relative_to(root)]
        arguments = without_precompiled_headers(without_launchers(shlex.split(entry["command"])))
        units.append(TranslationUnit(str(source), parts, arguments))
    return units


def without_launchers(words):
    """The command of a compiler without the programs that start it (cmake/falafel_compiler.cmake)."""
    while pathlib.Path(words[0]).name in LAUNCHERS or "=" in words[0]:
        words = words[1:]
    return words


def without_precompiled_headers(words):
    """The command as GCC gets it, without the headers that only GCC can read."""
    kept = []
    for word in words:
        if PRECOMPILED_HEADERS in word and kept[-1] == "-include":
            kept.pop()
        else:
            kept.append(word)
    return kept


def language_flags(units):
    """The language and include flags of the units' compilers, without duplicates."""
    flags = {}  # an ordered set
    for unit in units:
        for flag, value in zip(unit.arguments, unit.arguments[1:] + [""]):
            if flag == "-isystem":
                flags[flag, value] = None
            elif flag.startswith(("-I", "-D", "-std=", "-march=")):
                flags[(flag,)] = None
    return [word for flag in flags for word in flag]


def parts_of_unity(source):
    """The sources that a CMake unity source includes; empty for any other source."""
    if not source.match("Unity/unity_*"):
        return []
    includes = re.findall(r'^#include "(.*)"$', source.read_text(), re.M)
    return [pathlib.Path(path) for path in includes]


def in_parallel(function, items):
    """Maps the function over the items, in order, with one thread per processor."""
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as executor:
        return list(executor.map(function, items))


def report(examined, problems):
    """Prints the outcome and returns the exit status. Examining nothing is also a failure."""
    for problem in problems:
        print(problem)
    if not examined:
        print("found nothing to examine; check that this is the project's root")
    else:
        print(f"{len(examined)} examined, {len(problems)} problems")
    return 1 if problems or not examined else 0
