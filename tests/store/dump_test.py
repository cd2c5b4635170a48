#!/usr/bin/env python3
"""falafel dump and falafel load. Reads and writes their files by itself, as docs/store.md describes
them. Argument: the program."""

import pathlib
import random
import signal
import struct
import sys
import unittest

from harness import Falafel

PROGRAM = sys.argv.pop(1)
OK, WRONG_USAGE, NO_SERVER, TABLE_FULL, STORE_FULL, WRONG_SIZE, CORRUPTED, NO_FILE = 0, 2, 3, 8, 9, 10, 14, 15
SECOND = 10**9
PINNED = 2**64 - 2


def table_entry(value):
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value


TABLE = [table_entry(value) for value in range(256)]


def crc32c(data, checksum=0xFFFFFFFF):
    for byte in data:
        checksum = TABLE[(checksum ^ byte) & 255] ^ checksum >> 8
    return checksum


def to_dump(entries, version=1, written_at=0):
    """The bytes of a dump of (key, value, time to live in nanoseconds)."""
    dump = b"FALADUMP" + struct.pack("<IIQI", version, 0, written_at, 0)
    checksum = crc32c(dump)
    dump += struct.pack("<I", checksum)
    for key, value, left_ns in entries:
        head = struct.pack("<IIQQ", 1, len(key), len(value), left_ns)
        of_head = crc32c(head, checksum)
        checksum = crc32c(key + value, of_head)
        dump += head + struct.pack("<II", of_head, checksum) + key + value
    head = struct.pack("<IIQQ", 2, 0, len(entries), len(dump))
    checksum = crc32c(head, checksum)
    return dump + head + struct.pack("<II", checksum, checksum)


def from_dump(dump):
    """The entries of a dump, which must be as documented."""
    entries, place = [], 32
    while True:
        kind, key_bytes, value_bytes, left_ns = struct.unpack_from("<IIQQ", dump, place)
        if kind == 2:
            break
        key_place, value_place = place + 32, place + 32 + key_bytes
        place = value_place + value_bytes
        entries.append((dump[key_place:value_place], dump[value_place:place], left_ns))
    if to_dump(entries, written_at=struct.unpack_from("<Q", dump, 16)[0]) != dump:
        raise AssertionError("the dump is not as documented")
    return entries


class Dump(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)
        self.file = pathlib.Path(self.falafel.folder.name) / "dump"
        self.random = random.Random(1)

    def serve(self, name, *options):
        server = self.falafel.serve("--name", name, *(options or ("--memory", "16MiB")))
        self.addCleanup(server.end, signal.SIGKILL)
        return server

    def load(self, dump, *words, status=OK, message=""):
        got, output, error = self.falafel.run("load", *words, input=dump)
        self.assertEqual(got, status, error)
        self.assertEqual(output, b"")
        self.assertIn(message, error)

    def dump(self, name):
        status, output, error = self.falafel.run("dump", "--name", name)
        self.assertEqual(status, OK, error)
        entries = from_dump(output)
        self.assertEqual(error, f"falafel dump: {len(entries)} entries, {len(output)} bytes\n")
        return output, entries

    def drawn_entries(self, left_ns=0):
        values = [b"", b"value", self.random.randbytes(100_000), *(b"%d" % number for number in range(300))]
        keys = {b"\0", b"\n", b"\xff\xfe", b"k" * 65_536}
        while len(keys) < len(values):
            keys.add(self.random.randbytes(self.random.randrange(1, 20)))
        return [(key, value, left_ns) for key, value in zip(sorted(keys), values)]

    def test_a_loaded_dump_is_the_same_store(self):
        entries = self.drawn_entries()
        self.serve("one")
        self.serve("two", "--memory", "32MiB", "--region-size", "256KiB", "--semi-spaces")
        self.load(to_dump(entries), "--name", "one", message=f"falafel load: {len(entries)} entries loaded\n")
        dump, dumped = self.dump("one")
        self.assertEqual(sorted(dumped), entries)
        self.load(dump, "--name", "two")
        self.assertEqual(sorted(self.dump("two")[1]), entries)
        self.assertEqual(self.falafel.run("get", "--name", "two", "k" * 65_536)[1],
                         next(value for key, value, _ in entries if len(key) == 65_536))

    def test_times_to_live_go_along(self):
        entries = [(b"%d" % number, b"v", left_ns)
                   for number, left_ns in enumerate((0, 1000 * SECOND, 0, 5000 * SECOND, 1))]
        self.serve("one", "--memory", "4MiB", "--cache")
        self.load(to_dump(entries), "--name", "one")
        left = {key: left_ns for key, _, left_ns in self.dump("one")[1]}
        self.assertEqual(left.keys(), {b"0", b"1", b"2", b"3"})
        self.assertEqual((left[b"0"], left[b"2"]), (0, 0))
        self.assertTrue(0 < left[b"1"] <= 1000 * SECOND < 3000 * SECOND < left[b"3"] <= 5000 * SECOND, left)
        self.serve("two", "--memory", "4MiB")
        self.load(to_dump(entries), "--name", "two", status=WRONG_USAGE,
                  message="1 entries loaded: not a cache; the dump has values with a time to live; serve with --cache")

    def test_pins_go_along(self):
        self.serve("one", "--memory", "4MiB", "--cache")
        self.assertEqual(self.falafel.run("set", "--name", "one", "--pin", "pinned", "v")[0], OK)
        self.assertEqual(self.falafel.run("set", "--name", "one", "other", "v")[0], OK)
        dump, entries = self.dump("one")
        self.assertEqual(sorted(entries), [(b"other", b"v", 0), (b"pinned", b"v", PINNED)])
        self.serve("two", "--memory", "4MiB", "--cache")
        self.load(dump, "--name", "two")
        self.assertEqual(sorted(self.dump("two")[1]), sorted(entries))

    def test_existing_keys_are_set_or_kept(self):
        self.serve("one", "--memory", "4MiB")
        self.load(to_dump([(b"a", b"1", 0), (b"b", b"2", 0)]), "--name", "one")
        self.load(to_dump([(b"b", b"3", 0), (b"c", b"4", 0)]), "--name", "one", "--keep-existing",
                  message="1 entries loaded, 1 kept as they were")
        self.assertEqual(sorted(self.dump("one")[1]), [(b"a", b"1", 0), (b"b", b"2", 0), (b"c", b"4", 0)])
        self.load(to_dump([(b"b", b"5", 0)]), "--name", "one", "--progress")
        self.assertIn((b"b", b"5", 0), self.dump("one")[1])

    def test_a_cluster_takes_a_dump(self):
        entries = sorted((b"key%d" % number, b"value", 0) for number in range(100))
        for name in ("one", "two"):
            self.serve(name, "--memory", "4MiB")
        self.load(to_dump(entries), "--servers", "one,two")
        parts = [self.dump(name)[1] for name in ("one", "two")]
        self.assertTrue(all(parts))
        self.assertEqual(sorted(parts[0] + parts[1]), entries)
        status, _, error = self.falafel.run("dump", "--servers", "one,two")
        self.assertEqual(status, WRONG_USAGE)
        self.assertIn("there is no option '--servers'", error)

    def test_entries_that_do_not_fit_are_counted(self):
        self.serve("small", "--memory", "1MiB", "--entries", "50", "--region-size", "16KiB")
        entries = [(b"large", bytes(20_000), 0), *((b"key%d" % number, b"", 0) for number in range(60))]
        self.load(to_dump(entries), "--name", "small", status=TABLE_FULL,
                  message="50 entries loaded, 10 not loaded because the table is full, "
                          "1 not loaded because they are larger than a region")
        self.load(to_dump(entries[:2]), "--name", "small", status=WRONG_SIZE)
        self.serve("full", "--memory", "1MiB", "--region-size", "64KiB")
        entries = [(b"key%d" % number, bytes(10_000), 0) for number in range(200)]
        self.load(to_dump(entries), "--name", "full", status=STORE_FULL,
                  message=" not loaded because the memory is full")

    def test_damage_is_refused_with_what_was_loaded(self):
        self.serve("one", "--memory", "4MiB")
        good = to_dump([(b"first", b"1", 0), (b"second", b"2", 0)])
        flipped = bytearray(good)
        flipped[-33] ^= 1  # in the second value
        for dump, message in (
                (bytes(flipped), "'-': the dump is damaged before byte 109, at entry 2; 1 entries loaded before"),
                (good[:-1], "the dump ends after 140 bytes, in front of its end; it is incomplete; 2 entries"),
                (good[:40], "it is incomplete; 0 entries loaded before"),
                (b"", "this is not a dump of a store; 0 entries"),
                (b"key value\n" * 10, "this is not a dump of a store; 0 entries"),
                (good + good, "more bytes follow the end of the dump; 2 entries"),
                (to_dump([], version=2), "the dump has format version 2, and this program reads 1")):
            self.load(dump, "--name", "one", status=CORRUPTED, message=message)

    def test_files(self):
        with self.serve("one", "--memory", "4MiB") as server:
            self.load(to_dump([(b"a", b"1", 0)]), "--name", "one")
            self.assertEqual(self.falafel.run("dump", "--name", "one", str(self.file), "--progress")[0], OK)
            self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
            self.assertEqual(from_dump(self.file.read_bytes()), [(b"a", b"1", 0)])
            self.assertEqual(self.falafel.run("load", "--name", "one", str(self.file))[0], OK)
            for command, path in (("load", "/missing/file"), ("dump", "/missing/file"), ("load", "/")):
                status, _, error = self.falafel.run(command, "--name", "one", path)
                self.assertEqual(status, NO_FILE, error)
                self.assertIn(path, error)
            server.end()
        status, _, error = self.falafel.run("dump", "--name", "one", str(self.file))
        self.assertEqual(status, NO_SERVER, error)
        self.assertEqual(from_dump(self.file.read_bytes()), [(b"a", b"1", 0)])
        self.assertEqual([path.name for path in self.file.parent.iterdir() if "dump" in path.name], ["dump"])


if __name__ == "__main__":
    unittest.main()
