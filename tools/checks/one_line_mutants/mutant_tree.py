"""A copy of the tree in which each mutant can be switched on, and its build."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from mutant_set import FOLDERS, ROOT, switchable_lines

from common import language_flags, project_files, translation_units

SWITCH = ROOT / "tools/checks/one_line_mutants/mutant_switch.h"
ERROR = re.compile(r"^(\S+?):(\d+):(?:\d+:)? (?:fatal )?error: ", re.MULTILINE)


def copy_tree(tree):
    """Copies what git lists, so that neither builds nor logs are copied."""
    for file in project_files(ROOT, ("",)):
        target = tree / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, target, follow_symlinks=False)


def write_mutants(tree, mutants, files=None):
    """Rewrites the files of the mutants, or only some files. Returns the numbers of the mutants
    whose line is not in the tree any more."""
    missing = []
    for file in files or sorted({mutant.file for mutant in mutants}):
        own = [mutant for mutant in mutants if mutant.file == file]
        if not (ROOT / file).exists():
            missing += [mutant.number for mutant in own]
            continue
        text, gone = switchable_lines(file, (ROOT / file).read_text(), own)
        (tree / file).write_text(with_switch(file, text))
        missing += gone
    return missing


def with_switch(file, text):
    """The lines keep their numbers. Other files do not include the switch, because some declare
    functions of the C library with types of their own."""
    return f'#include "{SWITCH.relative_to(ROOT)}"\n#line 1 "{file}"\n{text}'


def compilable(drawn, number):
    """The first `number` of the drawn mutants that compile. Asks the compiler for the syntax of the
    files that they change; needs a configured release build."""
    flags = language_flags(translation_units(ROOT))
    with tempfile.TemporaryDirectory(prefix="falafel-mutants-") as directory:
        tree = pathlib.Path(directory)
        copy_tree(tree)
        chosen, rejected, files = drawn[:number], [], None
        rest = drawn[number:]
        while True:
            write_mutants(tree, chosen, files)
            bad = mutants_with_errors(tree, flags, chosen, files)
            if not bad:
                return chosen, rejected
            rejected += bad
            added, rest = rest[:len(bad)], rest[len(bad):]
            chosen = [mutant for mutant in chosen if mutant not in bad] + added
            files = sorted({mutant.file for mutant in bad + added})


def mutants_with_errors(tree, flags, mutants, files):
    """Compiles the files of a folder together, which reads each header once. Names of two files may
    clash, so files whose errors are not at a mutant are compiled alone."""
    files = files or sorted({mutant.file for mutant in mutants})
    bad = []
    for folder in FOLDERS:
        own = [file for file in files if file.startswith(folder + "/")]
        if not own or not (errors := errors_of(tree, flags, own)):
            continue
        found = at_mutants(errors, mutants)
        for file in [] if found or len(own) == 1 else own:
            if errors := errors_of(tree, flags, [file]):
                found += at_mutants(errors, mutants) or [
                    mutant for mutant in mutants if mutant.file == file
                ]
        bad += found or [mutant for mutant in mutants if mutant.file in own and len(own) == 1]
    return bad


def at_mutants(errors, mutants):
    return [mutant for mutant in mutants if (mutant.file, mutant.line) in errors]


def errors_of(tree, flags, files):
    """The places of errors; empty if the files compile."""
    source = "".join(f'#include "{file}"\n' for file in files)
    command = ["g++", "-fsyntax-only", "-w", "-I", tree, *flags]
    compiled = subprocess.run(
        [*command, "-x", "c++", "-"], input=source, capture_output=True, text=True, cwd=tree
    )
    if compiled.returncode == 0:
        return set()
    prefix = f"{tree}/"
    errors = ERROR.findall(compiled.stderr)
    places = {(file.removeprefix(prefix), int(line)) for file, line in errors}
    print(f"{', '.join(files)}: {len(places)} errors", file=sys.stderr, flush=True)
    return places or {("", 0)}


def build(folder, mutants, jobs, targets=()):
    """Builds a copy of the tree, or only some targets, as the release preset does. Returns the
    numbers of the mutants whose line is not in the tree any more. Warnings about mutants do not
    matter."""
    tree = folder / "tree"
    copy_tree(tree)
    missing = write_mutants(tree, mutants)
    commands = [
        ["cmake", "-S", tree, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16", "-DFALAFEL_SANITIZE=",
         "-DCMAKE_CXX_FLAGS=-w"],
        ["cmake", "--build", folder / "build", "-j", jobs,
         *(["--target", *targets] if targets else [])],
    ]
    for command in commands:
        words = list(map(str, command))
        if subprocess.run(words, env={**os.environ, "CCACHE_DISABLE": "1"}).returncode != 0:
            sys.exit(f"{shlex.join(words)} failed")
    return missing
