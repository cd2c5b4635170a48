"""The committed sets of one-line mutants: draws one, reads them, and finds their lines in the tree."""

import hashlib
import pathlib
import re
import sys
from typing import NamedTuple

from candidates import blanked, candidates_of, last_token
from either_line import either_line

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/checks"))
from common import CPP_SUFFIXES, project_files  # noqa: E402

SET = ROOT / "tests/mutants/one_line.tsv"
FOLDERS = (
    "engine", "explorer", "checkers", "fabric/sim", "fabric/shm", "fabric/stream", "client/falafel"
)
SAFEGUARDS = "engine/safeguards.h"
HARDENED = "  static constexpr Safeguards hardened() { return {}; }"
SAFEGUARD = re.compile(r"^  bool (\w+) = true;$", re.MULTILINE)

HEADER = """\
# One-line mutants of the product: tools/mutants draws them, and tells which test kills each.
# number, file:line when it was drawn, place among the equal lines of the file, line, mutated line
"""


class Mutant(NamedTuple):
    number: int
    file: str
    line: int  # when it was drawn
    occurrence: int  # counts the lines of the file with the same text, from 1
    original: str
    mutated: str


def read_set(path=SET):
    mutants = []
    for row in path.read_text().splitlines():
        if not row.startswith("#"):
            number, place, occurrence, original, mutated = row.split("\t")
            file, _, line = place.rpartition(":")
            mutants.append(Mutant(int(number), file, int(line), int(occurrence), original, mutated))
    return mutants


def write_set(mutants):
    SET.parent.mkdir(exist_ok=True)
    SET.write_text(HEADER + "".join(
        f"{mutant.number}\t{mutant.file}:{mutant.line}\t{mutant.occurrence}\t"
        f"{mutant.original}\t{mutant.mutated}\n"
        for mutant in mutants
    ))


def all_lines(seed):
    """One mutant, without a number, for each line that can be mutated, in the order of the seed."""
    mutants = []
    for file in project_files(ROOT, CPP_SUFFIXES, FOLDERS):
        if "/example/" in file or file == SAFEGUARDS:
            continue
        text = (ROOT / file).read_text()
        lines = [line.strip() for line in text.split("\n")]
        for index, candidates in candidates_of(text).items():
            occurrence = lines[:index + 1].count(lines[index])
            drawn = digest(seed, file, occurrence, lines[index])
            candidate = candidates[drawn % len(candidates)]
            mutants.append((drawn, Mutant(
                0, file, index + 1, occurrence, lines[index], candidate.mutated.strip())))
    return [mutant for _, mutant in sorted(mutants)]


def digest(*parts):
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest())


def safeguard_mutants(first_number):
    """One mutant for each safeguard: hardened() without it."""
    text = (ROOT / SAFEGUARDS).read_text()
    line = text.split("\n").index(HARDENED) + 1
    return [
        Mutant(number, SAFEGUARDS, line, 1, HARDENED.strip(),
               HARDENED.strip().replace("{}", f"{{.{name} = false}}"))
        for number, name in enumerate(SAFEGUARD.findall(text), first_number)
    ]


def switchable_lines(file, text, mutants):
    """The new text of a file, in which each of its mutants can be switched on, and the numbers of
    the mutants whose line is not there any more."""
    lines = text.split("\n")
    stripped = [line.strip() for line in lines]
    code = blanked(text).split("\n")
    candidates = candidates_of(text)
    missing = []
    for mutant in mutants:
        places = [index for index, line in enumerate(stripped) if line == mutant.original]
        if len(places) < mutant.occurrence:
            missing.append(mutant.number)
            continue
        index = places[mutant.occurrence - 1]
        found = [candidate for candidate in candidates.get(index, [])
                 if candidate.mutated.strip() == mutant.mutated]
        if file == SAFEGUARDS:
            lines[index] = with_safeguard_off(lines[index], mutant)
        elif found:
            lines[index] = found[0].switchable.format(switch(mutant.number))
        else:  # somebody wrote it
            lines[index] = either_line(
                lines[index], mutant.mutated, last_token(code, index), switch(mutant.number))
    return "\n".join(lines), missing


def switch(number):
    return f"::falafel_mutants::is_on({number})"


def with_safeguard_off(line, mutant):
    """All mutants of the safeguards change the same line."""
    name = re.search(r"\{\.(\w+) = false\}", mutant.mutated)[1]
    if line == HARDENED:
        line = ("  static constexpr Safeguards hardened() { Safeguards safeguards; "
                "if (!__builtin_is_constant_evaluated()) { } return safeguards; }")
    off = f"if ({switch(mutant.number)}) safeguards.{name} = false; }} return"
    return line.replace("} return", off, 1)
