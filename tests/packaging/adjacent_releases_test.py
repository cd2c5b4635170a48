#!/usr/bin/env python3
"""Programs of an earlier revision work together with those of this one, or refuse by name: clients and
servers over shared memory, memory files, and dumps.

Arguments: the program falafel, the root of the project, and the earlier revision. The test builds that
revision in a folder of its own, unless --earlier names a program that is built already. It prints what
each pair does."""

import argparse
import hashlib
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "store"))

from harness import Falafel
from hang_limit import HANG_LIMIT_SECONDS

# Exit statuses. Earlier revisions have others for versions of the superblock (wrong usage) and of
# shared memory (the server refuses, sometimes without a reason).
REFUSALS = {"present": (5,), "earlier": (2, 5, 11)}
KEYS = 40
# A store that grows, which older revisions do not know, and one that does not.
SIZES = (("--memory", "8MiB", "--max-memory", "32MiB"), ("--memory", "16MiB"))
BUILD_LIMIT_SECONDS = 12 * HANG_LIMIT_SECONDS


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("revision")
    parser.add_argument("--earlier")
    arguments, sys.argv[1:] = parser.parse_known_args()
    return arguments


def build(root, revision, folder):
    """Builds falafel of that revision, and returns its path. Not optimized, which takes half the time."""
    archive = subprocess.run(["git", "archive", revision], cwd=root, check=True, capture_output=True)
    subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
    for words in (["cmake", "--preset", "release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"],
                  ["ninja", "-C", "build/release", "bin/falafel"]):
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       timeout=BUILD_LIMIT_SECONDS)
    return pathlib.Path(folder) / "build/release/bin/falafel"


class AdjacentReleases(unittest.TestCase):
    earlier = present = None

    @classmethod
    def setUpClass(cls):
        earlier = ARGUMENTS.earlier
        if earlier is None:
            words = ["git", "cat-file", "-e", f"{ARGUMENTS.revision}^{{commit}}"]
            if subprocess.run(words, cwd=ARGUMENTS.root, stderr=subprocess.DEVNULL).returncode != 0:
                raise unittest.SkipTest(f"this copy of the project has no revision {ARGUMENTS.revision}")
            folder = tempfile.TemporaryDirectory(prefix="falafel-earlier-")
            cls.addClassCleanup(folder.cleanup)
            earlier = build(ARGUMENTS.root, ARGUMENTS.revision, folder.name)
        cls.earlier, cls.present = str(earlier), ARGUMENTS.program

    def setUp(self):
        # Both programs use the folder of this one.
        self.falafel = Falafel(self.present)
        self.addCleanup(self.falafel.close)
        self.file = pathlib.Path(self.falafel.folder.name) / "memory"
        self.directions = (("earlier", self.earlier, "present", self.present),
                           ("present", self.present, "earlier", self.earlier))

    def run_program(self, program, *words, **options):
        self.falafel.program = program
        return self.falafel.run(*words, **options)

    def sizes(self, program):
        """The sizes whose options the program knows."""
        known = self.run_program(program, "serve", "--help")[1].decode()
        return [options for options in SIZES if all(word in known for word in options[::2])]

    def serve(self, program, *options):
        self.falafel.program = program
        server = self.falafel.serve(*options)
        self.addCleanup(server.end, signal.SIGKILL)
        return server

    def store_keys(self, program):
        for key in range(KEYS):
            status, _, error = self.run_program(program, "set", f"key {key}", input=b"v" * key + b".")
            self.assertEqual(status, 0, error)

    def assert_keys(self, program):
        for key in range(KEYS):
            status, value, error = self.run_program(program, "get", f"key {key}")
            self.assertEqual((status, value), (0, b"v" * key + b"."), error)

    def use(self, name, program):
        """Sets, gets and deletes a key. Returns what happens, which may be a refusal by name alone."""
        status, _, error = self.run_program(program, "set", "key", "value")
        if status != 0:
            self.assertIn(status, REFUSALS[name], error)
            if name == "present":
                self.assertRegex(error, "version [0-9]")
            return f"refuses: {error.strip()}"
        self.assertEqual(self.run_program(program, "get", "key")[:2], (0, b"value"))
        self.assertEqual(self.run_program(program, "del", "key")[0], 0)
        self.assertEqual(self.run_program(program, "get", "key")[0], 1)
        return "works"

    def test_clients_and_servers(self):
        for server_name, server_program, client_name, client_program in self.directions:
            for options in self.sizes(server_program):
                with self.subTest(server=server_name, options=options):
                    with self.serve(server_program, *options) as server:
                        outcome = self.use(client_name, client_program)
                        words = " ".join(("serve", *options))
                        print(f"{server_name} {words}, {client_name} client {outcome}", file=sys.stderr)
                        self.assertEqual(self.use(server_name, server_program), "works")
                        self.assertEqual(server.end(), 0)

    def test_memory_files(self):
        if "--memory-file" not in self.run_program(self.earlier, "serve", "--help")[1].decode():
            self.skipTest("the earlier revision has no memory files")
        for former_name, former, next_name, following in self.directions:
            for options in self.sizes(former):
                with self.subTest(former=former_name, options=options):
                    self.file.unlink(missing_ok=True)
                    self.go_on(former_name, former, next_name, following, options)

    def go_on(self, former_name, former, next_name, following, options):
        server = self.serve(former, "--memory-file", str(self.file), *options)
        self.store_keys(former)
        server.end(signal.SIGKILL)
        before = hashlib.sha256(self.file.read_bytes()).digest()
        pair = f"memory file of the {former_name} serve {' '.join(options)}, {next_name}"
        try:
            server = self.serve(following, "--memory-file", str(self.file))
        except AssertionError as refusal:
            self.assertRegex(str(refusal), "version")
            self.assertEqual(hashlib.sha256(self.file.read_bytes()).digest(), before)
            print(f"{pair} refuses: {refusal}", file=sys.stderr)
            server = self.serve(former, "--memory-file", str(self.file))
            self.assert_keys(former)
        else:
            self.assertIn(f"recovered with {KEYS} keys", server.ready_line)
            self.assert_keys(following)
            print(f"{pair} goes on", file=sys.stderr)
        self.assertEqual(server.end(), 0)

    def test_dumps(self):
        if b"dump" not in self.run_program(self.earlier, "--help")[1]:
            self.skipTest("the earlier revision has no dumps")
        dump = pathlib.Path(self.falafel.folder.name) / "dump"
        for former_name, former, next_name, following in self.directions:
            with self.subTest(former=former_name):
                server = self.serve(former, "--memory", "16MiB")
                self.store_keys(former)
                status, _, error = self.run_program(former, "dump", str(dump))
                self.assertEqual(status, 0, error)
                self.assertEqual(server.end(), 0)
                server = self.serve(following, "--memory", "16MiB")
                status, _, error = self.run_program(following, "load", str(dump))
                self.assertEqual(status, 0, error)
                self.assert_keys(following)
                self.assertEqual(server.end(), 0)
                print(f"dump of the {former_name}, {next_name} loads", file=sys.stderr)
                dump.unlink()


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    unittest.main()
