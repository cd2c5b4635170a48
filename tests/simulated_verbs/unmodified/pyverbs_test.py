#!/usr/bin/env python3
"""rdma-core's own tests of libibverbs and librdmacm, in the simulator.

Usage: pyverbs_test.py FALAFEL PYTHON TABLE [--update]

Debian's package python3-pyverbs contains the tests. They run unchanged, in Debian's Python, which
is a program of `falafel run`. For two hosts, it is PYTHON, which has no fixed addresses. TABLE says
of each test how it ends:

  passes   it passes
  skipped  it skips itself, because the simulated device lacks what the reason names
  depends  it assumes more than the specification promises, so the schedule decides

--update writes the outcomes of new and changed tests into the table.
"""

import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FALAFEL, PYTHON_OF_HOSTS, TABLE = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
PYTHON = "/usr/bin/python3"
TESTS = pathlib.Path("/usr/share/doc/rdma-core/tests")
HERE = pathlib.Path(__file__).resolve().parent

# Basic verbs. The other modules are for devices of vendors, on-demand paging, GPUs, and the
# steering of Ethernet packets.
MODULES = ["test_addr", "test_atomic", "test_cq", "test_cq_events", "test_cqex", "test_device",
           "test_fork", "test_mr", "test_parent_domain", "test_pd", "test_qp", "test_qpex",
           "test_relaxed_ordering", "test_shared_pd"]
MODULES_FOR_TWO_HOSTS = ["test_rdmacm"]


def unpack(folder):
    if not TESTS.is_dir():
        sys.exit(f"{TESTS} is missing; tools/setup installs it (python3-pyverbs)")
    tests = folder / "tests"
    tests.mkdir()
    for file in TESTS.iterdir():
        if file.suffix == ".gz":
            with gzip.open(file) as packed, open(tests / file.stem, "wb") as unpacked:
                shutil.copyfileobj(packed, unpacked)
        else:
            shutil.copy(file, tests)
    subprocess.run([PYTHON, "-m", "compileall", "-q", tests], check=True)


def run(folder, sides, modules, seed=1):
    """Returns the output of falafel run."""
    # Many of the tests look at the peer's memory as soon as a WRITE has completed.
    command = [FALAFEL, "run", "--usual-steps", "300", "--faults", "none", "--seed", str(seed),
               "--simulator", "placed_before_completed=true"]
    python = PYTHON if len(sides) == 1 else PYTHON_OF_HOSTS
    for side in sides:
        command += ["--host", side, f"{python} -B {HERE}/pyverbs_tests_of_process.py {folder} {side} "
                    + " ".join(modules)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{result.stdout}{result.stderr}")
    return result.stdout


def outcomes_of(output):
    """The outcome and the reason of each test. One that fails on either host fails."""
    outcomes = {}
    for line in output.splitlines():
        words = line.split("\t")
        if len(words) == 3 and outcomes.get(words[0], ("",))[0] != "fails":
            outcomes[words[0]] = (words[1], words[2])
    return outcomes


def run_all():
    with tempfile.TemporaryDirectory() as folder:
        unpack(pathlib.Path(folder))
        return (outcomes_of(run(folder, ["alone"], MODULES)) |
                outcomes_of(run(folder, ["passive", "active"], MODULES_FOR_TWO_HOSTS)))


def read_table():
    rows = [line.split("\t") for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return {test: (outcome, reason) for test, outcome, reason in rows}


def update(found):
    known = read_table() if TABLE.exists() else {}
    with open(TABLE, "w") as table:
        table.write("# How rdma-core's tests end in the simulator, and why "
                    "(pyverbs_test.py --update)\n")
        for test in sorted(found):
            outcome, reason = found[test]
            old = known.get(test, ("", ""))
            if old[0] in (outcome, "depends"):
                outcome, reason = old
            table.write(f"{test}\t{outcome}\t{reason}\n")


class TestsOfRdmaCore(unittest.TestCase):
    def test_end_as_the_table_says(self):
        found, table = run_all(), read_table()
        self.assertEqual(found.keys(), table.keys())
        differences = [f"{test}: {found[test][0]} ({found[test][1]}), not {outcome}"
                       for test, (outcome, _) in table.items()
                       if outcome != "depends" and found[test][0] != outcome]
        self.assertEqual(differences, [])

    def test_repeat(self):
        with tempfile.TemporaryDirectory() as folder:
            unpack(pathlib.Path(folder))
            hashes = [re.search("hash ([0-9a-f]{16})",
                                run(folder, ["alone"], ["test_cqex"], seed))[1]
                      for seed in (5, 5)]
        self.assertEqual(hashes[0], hashes[1])


if "--update" in sys.argv:
    update(run_all())
elif __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
