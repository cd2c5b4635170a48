#!/usr/bin/env python3
"""A store whose memory is in a file outlives its server's process. Arguments: the program, the worker
client."""

import os
import pathlib
import random
import shutil
import signal
import sys
import time
import unittest

from harness import HANG_LIMIT_SECONDS, Falafel, Worker, wait_until

PROGRAM, WORKER = sys.argv[1:3]
del sys.argv[1:3]

SEED = int(os.environ.get("FALAFEL_SEED", "1"))
NOT_FOUND, WRONG_USAGE, NO_SERVER, NO_PERMISSION, NAME_TAKEN, CORRUPTED = 1, 2, 3, 4, 6, 14  # exit statuses
BLOCK_OFFSET = 8 << 20  # fabric/realtime/kept_file.h
SUPERBLOCK_BYTES = 128  # engine/layout/superblock.h
FAULTS = ("a value", "a key")  # of a worker's lines; the others tell that the server was away


class MemoryFile(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)
        self.file = pathlib.Path(self.falafel.folder.name) / "memory"
        self.random = random.Random(SEED)

    def serve(self, *options):
        server = self.falafel.serve("--memory-file", str(self.file), *options)
        self.addCleanup(server.end, signal.SIGKILL)
        return server

    def store(self, **values):
        for key, value in values.items():
            self.assertEqual(self.falafel.run("set", key, value)[0], 0)

    def get(self, key):
        status, output, error = self.falafel.run("get", key)
        return (output.decode().strip() if status == 0 else status), error

    def assert_refused(self, status, why, *options, name="other"):
        refused, _, error = self.falafel.run("serve", "--directory", self.falafel.directory, "--name", name,
                                             "--memory-file", str(self.file), *options)
        self.assertEqual(refused, status, error)
        self.assertIn(why, error)
        self.assertIn(str(self.file), error)

    def test_an_upgrade_keeps_all_keys(self):
        with self.serve("--memory", "4MiB", "--entries", "1000") as server:
            self.assertIn(f"memory in '{self.file}': new", server.ready_line)
            self.store(first="1", second="2", third="3")
            self.assertEqual(self.falafel.run("del", "second")[0], 0)
            self.assertEqual(self.falafel.report()["memory_file"], str(self.file))
            self.assertEqual(server.end(), 0)
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        with self.serve() as server:
            self.assertIn("recovered with 2 keys", server.ready_line)
            self.assertIn(" 1000 entries", server.ready_line)
            self.assertEqual(self.get("first")[0], "1")
            self.assertEqual(self.get("second")[0], NOT_FOUND)
            self.assertEqual(self.get("third")[0], "3")
            self.assertIn(str(self.file), self.falafel.run("stat")[1].decode())

    def test_other_sizes_are_refused_with_both(self):
        options = ("--memory", "4MiB", "--entries", "1000", "--region-size", "64KiB")
        with self.serve(*options) as server:
            server.end()
        for different, why in (
                (("--entries", "2000"), "--entries 2000, but the store in the file has 1000"),
                (("--region-size", "32KiB"), "--region-size 32768, but the store in the file has 65536"),
                (("--memory", "8MiB"), "--memory 8388608, but the store in the file has 419"),
                (("--memory", "3MiB"), "--memory 3145728, but the store in the file has 419"),
                (("--semi-spaces",), "--semi-spaces"),
                (("--size-class-bits", "0"), "--size-class-bits 0, but the store in the file has 3"),
                (("--cache",), "--cache")):
            self.assert_refused(WRONG_USAGE, why, *different)
        with self.serve(*options, "--clients", "3") as server:
            self.assertIn("recovered with 0 keys", server.ready_line)

    def test_files_that_cannot_be_used_are_refused(self):
        with self.serve("--memory", "4MiB") as server:
            self.assert_refused(NAME_TAKEN, "still running")
            server.process.send_signal(signal.SIGSTOP)
            self.assert_refused(NAME_TAKEN, "still running")
            server.end(signal.SIGKILL)
        self.file.chmod(0o640)
        self.assert_refused(NO_PERMISSION, "chmod 600")
        self.file.chmod(0o600)
        os.truncate(self.file, self.file.stat().st_size - 4096)
        self.assert_refused(WRONG_USAGE, "damaged")
        self.file.write_text("something else")
        self.assert_refused(WRONG_USAGE, "something else")
        self.assertEqual(self.file.read_text(), "something else")
        self.file = self.file.parent
        self.assert_refused(WRONG_USAGE, "not a regular file")

    def test_no_acknowledged_change_is_lost(self):
        rounds, clients, keys = 6, 3, 8
        server = self.serve("--memory", "16MiB", "--region-size", "64KiB", "--entries", "200")
        workers = [Worker(self.falafel, WORKER, "mixed", number, keys, 2_000)
                   for number in range(1, clients + 1)]
        for worker in workers:
            self.addCleanup(worker.end, signal.SIGKILL)
            worker.await_start()
        for _ in range(rounds):
            time.sleep(self.random.uniform(0, 0.1))
            server.end(signal.SIGKILL)
            server = self.serve()
            self.assertIn("recovered with ", server.ready_line)
            for worker in workers:
                worker.await_progress()
        for worker in workers:
            self.assertEqual(worker.end(), 0)
            faults = [line for line in worker.errors() if line.split(" ", 2)[2].startswith(FAULTS)]
            self.assertEqual(faults, [])
        server.end()
        with self.serve():
            look = Worker(self.falafel, WORKER, "look", clients, keys, 2_000)
            self.assertEqual(look.process.wait(timeout=HANG_LIMIT_SECONDS), 0)
            self.assertEqual(look.errors(), [])
            wait_until(lambda: self.falafel.report()["idle"])

    def test_clients_go_on_without_a_server(self):
        clients, keys, bytes_of_value = 3, 8, 200
        server = self.serve("--memory", "64MiB", "--region-size", "1MiB", "--entries", "200")
        workers = [Worker(self.falafel, WORKER, "paced-mixed", number, keys, bytes_of_value)
                   for number in range(1, clients + 1)]
        for worker in workers:
            self.addCleanup(worker.end, signal.SIGKILL)
            worker.await_start()
        for _ in range(3):
            server.end(signal.SIGKILL)
            errors = [len(worker.errors()) for worker in workers]
            for worker in workers:
                worker.await_progress()
                worker.await_progress()
            self.assertEqual([len(worker.errors()) for worker in workers], errors)
            self.assertEqual(self.get("any")[0], NO_SERVER)
            server = self.serve()
            self.assertIn("recovered with ", server.ready_line)
            for worker in workers:
                worker.await_progress()
        for worker in workers:
            self.assertEqual(worker.end(), 0)
            faults = [line for line in worker.errors() if line.split(" ", 2)[2].startswith(FAULTS)]
            self.assertEqual(faults, [])
        look = Worker(self.falafel, WORKER, "look", clients, keys, bytes_of_value)
        self.assertEqual(look.process.wait(timeout=HANG_LIMIT_SECONDS), 0)
        self.assertEqual(look.errors(), [])

    def flip(self, begin, end, count):
        with self.file.open("r+b") as file:
            for _ in range(count):
                place = self.random.randrange(begin, end)
                file.seek(place)
                byte = file.read(1)[0]
                file.seek(place)
                file.write(bytes([byte ^ 1 << self.random.randrange(8)]))

    def test_damage_never_yields_another_value(self):
        values = {f"key{number}": f"value of {number} " * 20 for number in range(6)}
        with self.serve("--memory", "256KiB", "--entries", "64", "--region-size", "8KiB") as server:
            self.store(**values)
            server.end()
        whole = self.file.with_suffix(".whole")
        shutil.copy(self.file, whole)
        data = BLOCK_OFFSET + SUPERBLOCK_BYTES
        entries = data + 64 * 8 + 64
        places = ([(0, 32, 1)] + 2 * [(BLOCK_OFFSET, data, 1)] + 4 * [(data, entries, 8)] +
                  3 * [(entries, whole.stat().st_size, 3_000)])
        for begin, end, count in places:
            shutil.copy(whole, self.file)
            self.flip(begin, end, count)
            if begin in (0, BLOCK_OFFSET):
                self.assert_refused(WRONG_USAGE, "")
                continue
            with self.serve() as server:
                for key, value in values.items():
                    answer, error = self.get(key)
                    self.assertIn(answer, (value.strip(), NOT_FOUND, CORRUPTED), error)
                self.store(new="value")
                self.assertEqual(self.get("new")[0], "value")
                self.assertEqual(server.end(), 0)


if __name__ == "__main__":
    unittest.main()
