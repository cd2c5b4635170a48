#!/usr/bin/env python3
"""Builds the preset arm64 and runs it under qemu-aarch64.

Arguments: the root of the project, and the program falafel of this machine. A run of the simulator
is a function of its inputs, so both programs must do the same. qemu-aarch64 emulates instructions,
not the order in which an ARM64 processor stores and loads; tests/shm/weak_memory is for that."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

from hang_limit import HANG_LIMIT_SECONDS

ROOT, PROGRAM = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
del sys.argv[1:3]
LIBRARIES = ROOT / "build/arm64-packages"
BUILD = ROOT / "build/arm64"
FALAFEL = BUILD / "bin/falafel"
LIMIT_SECONDS = 6 * HANG_LIMIT_SECONDS
EMULATOR = ("qemu-aarch64", "-L", str(LIBRARIES))
MACHINE_OF_ARM64 = 183  # EM_AARCH64

# The programs of GoogleTest, and the cases that the emulator can run. It starts no program of ARM64
# anew, as death tests do. It keeps surplus descriptors of a message open. Each case with several
# processes takes it 24 seconds, and with threads one.
TESTS = {
    "conformance_test": "*",
    "conformance_shm_test": "*/threads",
    "litmus_test": "*",
    "fiber_context_test": "-*DeathTest*",
    "simulation_test": "-*DeathTest*",
    "shm_key_table_test": "*",
    "shm_socket_test": "-ShmSocket.KeepsOneOfTheDescriptorsOfAMessage:"
                       "ShmSocket.ClosesTheDescriptorsOfAMessageOfNoBytes",
    "shm_weak_memory_test": "*",
}


def run(words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=LIMIT_SECONDS, **options)


def must_run(words, **options):
    completed = run(words, **options)
    if completed.returncode != 0:
        raise AssertionError(f"{words}: {completed.stdout[-5000:]}{completed.stderr[-5000:]}")
    return completed.stdout


def find_missing():
    programs = ("aarch64-linux-gnu-g++", "qemu-aarch64")
    missing = [program for program in programs if shutil.which(program) is None]
    return missing + ([] if LIBRARIES.is_dir() else [str(LIBRARIES)])


def hashes(output):
    return [line for line in output.splitlines() if line.startswith("campaign hash")]


class Arm64(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = find_missing()
        if missing:
            raise unittest.SkipTest(f"{', '.join(missing)} missing; run tools/setup --arm64")
        must_run(["cmake", "--preset", "arm64"], cwd=ROOT)
        jobs = len(os.sched_getaffinity(0))
        must_run(["cmake", "--build", "--preset", "arm64", "--parallel", jobs, "--target",
                  "bin/falafel", *TESTS], cwd=ROOT)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="falafel-arm64-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_both(self, *words):
        """Runs falafel of this machine and of ARM64, each in a folder of its own."""
        completed = []
        for name, program in (("here", [PROGRAM]), ("arm64", [*EMULATOR, FALAFEL])):
            (self.folder / name).mkdir(exist_ok=True)
            completed.append(run([*program, *words], cwd=self.folder / name))
        return completed

    def test_the_program_is_for_arm64(self):
        header = FALAFEL.read_bytes()[:20]
        self.assertEqual(int.from_bytes(header[18:20], "little"), MACHINE_OF_ARM64)

    def test_a_campaign_has_the_same_hash(self):
        here, arm64 = self.run_both("fuzz", "--schedules", "200", "--jobs", "1")
        self.assertEqual(len(hashes(here.stdout)), 1, here.stdout)
        self.assertEqual(hashes(arm64.stdout), hashes(here.stdout), arm64.stderr)
        self.assertEqual(arm64.returncode, here.returncode)

    def test_recorded_schedules_repeat(self):
        replays = sorted((ROOT / "tests/replays").rglob("*.replay"))
        self.assertGreater(len(replays), 20)
        for replay in replays:
            with self.subTest(replay=replay.name):
                here, arm64 = self.run_both("replay", "--quiet", "--critical-tries", "0", replay)
                self.assertIn("as recorded", here.stdout)
                self.assertEqual(arm64.stdout, here.stdout)
                self.assertEqual(arm64.returncode, here.returncode)

    def test_programs_of_google_test(self):
        for name, cases in TESTS.items():
            with self.subTest(program=name):
                program = next((BUILD / "tests").rglob(name))
                must_run([*EMULATOR, program, f"--gtest_filter={cases}"], cwd=self.folder)


if __name__ == "__main__":
    unittest.main()
