#!/usr/bin/env python3
"""The store's commands on the command line, and each error with its exit status. Argument: the
program."""

import contextlib
import json
import os
import pathlib
import re
import select
import signal
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from harness import HANG_LIMIT_SECONDS, Falafel, wait_until

PROGRAM = sys.argv.pop(1)
SMALL = ("--memory", "16MiB")
NOBODY = 65534
CONTAINER_MAGIC = b"\x1a\xfa"
CORRUPTED = 14
CANNOT_TELL = 3  # of a calibration

OK, NOT_FOUND, WRONG_USAGE, NO_SERVER, NO_PERMISSION = range(5)
NAME_TAKEN, NO_MEMORY, TABLE_FULL, STORE_FULL, WRONG_SIZE, REFUSED = range(6, 12)


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)

    def expect(self, status, *words, message="", output=None, **options):
        got, printed, error = self.falafel.run(*words, **options)
        self.assertEqual(got, status, f"{words}: {error}")
        self.assertIn(message, error)
        if status == OK:
            self.assertEqual(error, "")
        elif status != NOT_FOUND:
            self.assertNotEqual(error, "")
        if output is not None:
            self.assertEqual(printed, output)
        return printed


class Values(CommandTest):
    def test_a_newcomers_commands(self):
        with self.falafel.serve() as server:
            self.expect(OK, "set", "greeting", "hello", output=b"")
            self.expect(OK, "get", "greeting", output=b"hello")
            self.expect(OK, "del", "greeting", output=b"")
            self.expect(NOT_FOUND, "get", "greeting", output=b"")
            self.expect(NOT_FOUND, "del", "greeting")
            self.assertEqual(server.end(), 0)

    def test_the_list_of_all_keys(self):
        with self.falafel.serve(*SMALL) as server:
            self.expect(OK, "keys", output=b"")
            expected = {f"key-{number}" for number in range(50)}
            for key in expected:
                self.expect(OK, "set", key, "value")
            self.expect(OK, "set", "a\nline \\ \u00e9", "value")
            expected.add("a\\x0aline \\x5c \\xc3\\xa9")
            self.expect(OK, "del", "key-7")
            expected.remove("key-7")
            lines = self.expect(OK, "keys").decode().splitlines()
            self.assertEqual(sorted(lines), sorted(expected))
            self.assertEqual(server.end(), 0)
        self.expect(NO_SERVER, "keys", message="falafel serve")

    def test_a_cache_expires_and_evicts(self):
        with self.falafel.serve(*SMALL, "--cache"):
            self.expect(OK, "set", "--time-to-live", "0.01", "short", "value")
            self.expect(OK, "set", "--time-to-live", "3600", "long", "value")
            wait_until(lambda: self.falafel.run("get", "short")[0] == NOT_FOUND)
            self.expect(OK, "get", "long", output=b"value")
            for number in range(80):
                self.expect(OK, "set", f"key-{number}", input=b"v" * 200_000)
            report = self.falafel.report()
            evicted = report["statistics"]["values_evicted"]
            self.assertGreater(evicted, 0)
            self.assertEqual(sum(report["evicted_ages"]["counts"]), evicted)
            self.assertIn("evicted, at most ", self.falafel.run("stat")[1].decode())
        with self.falafel.serve(*SMALL):
            self.expect(WRONG_USAGE, "set", "--time-to-live", "1", "key", "value", message="--cache")
            self.expect(WRONG_USAGE, "set", "--pin", "key", "value", message="leave out --time-to-live or --pin")

    def test_a_full_cache_keeps_what_is_pinned(self):
        value = b"v" * 50_000
        with self.falafel.serve("--memory", "2MiB", "--region-size", "64KiB", "--cache"):
            self.expect(OK, "set", "--pin", "pinned", "value")
            for number in range(50):
                self.expect(OK, "set", f"key-{number}", input=value)
            found = [self.falafel.run("get", f"key-{number}")[0] for number in range(50)]
            self.assertEqual(set(found), {OK, NOT_FOUND})  # the cache was full, and evicted some
            self.expect(OK, "get", "pinned", output=b"value")
            statuses = (self.falafel.run("set", "--pin", f"key-{number}", input=value)[0]
                        for number in range(50))
            self.assertEqual(next(status for status in statuses if status != OK), STORE_FULL)
            self.expect(OK, "get", "key-0", output=value)

    def test_values_are_any_bytes_from_anywhere(self):
        value = bytes(range(256)) * 10 + b"\n"
        file = pathlib.Path(self.falafel.folder.name) / "value"
        file.write_bytes(value)
        with self.falafel.serve(*SMALL):
            self.expect(OK, "set", "input", input=value)
            self.expect(OK, "get", "input", output=value)
            self.expect(OK, "set", "file", "--file", str(file))
            self.expect(OK, "get", "file", output=value)
            self.expect(OK, "set", "empty", "")
            self.expect(OK, "get", "empty", output=b"")
            self.expect(15, "set", "file", "--file", "/no/such/file", message="/no/such/file")

    def test_names_keep_servers_apart(self):
        with self.falafel.serve(*SMALL, "--name", "one"), self.falafel.serve(*SMALL, "--name", "two"):
            self.expect(OK, "set", "--name", "one", "key", "of one")
            self.expect(NOT_FOUND, "get", "--name", "two", "key")
            self.expect(OK, "get", "--name", "one", "key", output=b"of one")


class SeveralServers(CommandTest):
    def test_each_key_is_at_one_of_them_and_the_order_does_not_matter(self):
        names = ["one", "two", "three"]
        keys = [f"key {number}" for number in range(12)]
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(self.falafel.serve(*SMALL, "--name", name)) for name in names]
            for key in keys:
                self.expect(OK, "set", "--servers", ",".join(names), key, key)
            for key in keys:
                self.expect(OK, "get", "--servers", ",".join(reversed(names)), key, output=key.encode())
            where = {key: [name for name in names if self.falafel.run("get", "--name", name, key)[0] == OK]
                     for key in keys}
            self.assertTrue(all(len(found) == 1 for found in where.values()), where)
            self.assertEqual({name for found in where.values() for name in found}, set(names))
            servers[1].end(signal.SIGKILL)
            for key in keys:
                status = self.falafel.run("get", "--servers", ",".join(names), key)[0]
                self.assertEqual(status, NO_SERVER if where[key] == ["two"] else OK)
            self.expect(OK, "del", "--servers", ",".join(names), next(
                key for key in keys if where[key] == ["one"]))

    def test_the_list_has_each_server_once(self):
        self.expect(WRONG_USAGE, "get", "--servers", "one,two,one", "key", message="'one' twice")
        self.expect(WRONG_USAGE, "get", "--servers", "one", "--name", "two", "key", message="--name")


class Errors(CommandTest):
    def test_nobody_serves(self):
        self.expect(NO_SERVER, "get", "key", message="falafel serve --name falafel")
        self.expect(NO_SERVER, "stat", message="falafel serve")
        with self.falafel.serve(*SMALL):
            self.expect(NO_SERVER, "get", "--name", "other", "key", message="'other'")

    def test_a_server_that_was_killed_leaves_no_trouble(self):
        server = self.falafel.serve(*SMALL)
        self.expect(OK, "set", "key", "value")
        server.end(signal.SIGKILL)
        self.expect(NO_SERVER, "get", "key", message="has ended")
        with self.falafel.serve(*SMALL):
            self.expect(NOT_FOUND, "get", "key")

    def test_two_servers_with_one_name(self):
        with self.falafel.serve(*SMALL) as server:
            self.expect(NAME_TAKEN, "serve", *SMALL, message="another name")
            self.expect(OK, "stat")  # the first one still has its sockets
            self.assertEqual(server.end(), 0)

    def test_memory_that_cannot_be_had(self):
        self.expect(NO_MEMORY, "serve", "--memory", "200GiB", message="request less")
        self.expect(WRONG_USAGE, "serve", "--memory", "1KiB", message="--memory")
        self.expect(WRONG_USAGE, "serve", "--memory", "1TiB")

    def test_sizes_that_are_none(self):
        self.expect(WRONG_USAGE, "serve", "--memory", "12 elephants")
        self.expect(WRONG_USAGE, "serve", "--name", "no/name", message="no/name")

    def test_a_full_table(self):
        with self.falafel.serve(*SMALL, "--entries", "4"):
            for key in "abcd":
                self.expect(OK, "set", key, "value")
            self.expect(TABLE_FULL, "set", "e", "value", message="--entries")
            self.expect(OK, "set", "a", "another")
            self.expect(OK, "get", "a", output=b"another")

    def test_a_table_that_grows(self):
        with self.falafel.serve(*SMALL, "--entries", "4", "--max-entries", "31"):
            for key in range(16):
                self.expect(OK, "set", str(key), "value")
            report = self.falafel.report()
            while report["tables"]["first"] < report["tables"]["last"]:
                report = self.falafel.report()
            self.assertEqual(report["tables"]["entries"], 16)
            self.assertEqual(report["statistics"]["tables_begun"], 2)
            self.expect(TABLE_FULL, "set", "new", "value", message="--max-entries")
            for key in range(16):
                self.expect(OK, "get", str(key), output=b"value")

    def test_a_table_that_fills_alone(self):
        with self.falafel.serve(*SMALL, "--entries", "4") as server:
            for key in "abcd":
                self.expect(OK, "set", key, "value")
            ready, _, _ = select.select([server.process.stderr], [], [], HANG_LIMIT_SECONDS)
            self.assertIn("more --entries", server.process.stderr.readline() if ready else "")

    def test_a_full_table_with_a_deleted_key(self):
        # One of twenty slots is below the usual threshold of a cleanup.
        with self.falafel.serve(*SMALL, "--entries", "20"):
            for key in range(20):
                self.expect(OK, "set", str(key), "value")
            self.expect(TABLE_FULL, "set", "new", "value")
            self.expect(OK, "del", "7")
            self.expect(OK, "set", "new", "value")
            self.expect(OK, "get", "new", output=b"value")
            self.expect(TABLE_FULL, "set", "another", "value")

    def test_a_full_memory_takes_other_values_of_its_keys(self):
        for spaces in ([], ["--semi-spaces"]):
            with self.falafel.serve("--memory", "4MiB", "--region-size", "256KiB", *spaces):
                for key in range(100):
                    status, _, error = self.falafel.run("set", str(key), input=bytes(100_000))
                    if status != OK:
                        break
                self.assertEqual(status, STORE_FULL, error)
                for number in range(20):
                    value = bytes([number]) * 100_000
                    self.expect(OK, "set", str(number % 4), input=value)
                    self.expect(OK, "get", str(number % 4), output=value)
                self.expect(STORE_FULL, "set", "new", input=bytes(100_000))

    def test_a_full_memory(self):
        with self.falafel.serve("--memory", "2MiB", "--region-size", "256KiB"):
            value = bytes(200_000)
            for key in range(100):
                status, _, error = self.falafel.run("set", str(key), input=value)
                if status != OK:
                    break
            self.assertEqual(status, STORE_FULL, error)
            self.assertIn("--memory", error)
            self.assertGreater(key, 2)
            self.expect(OK, "get", "0", output=value)

    def await_collection(self):
        """Waits until the containers of disconnected clients have reached their final location."""
        for _ in range(3000):
            regions = json.loads(self.expect(OK, "stat", "--json"))["regions"]
            if regions["free"] == sum(regions.values()):
                return
            time.sleep(0.01)
        self.fail("the regions are not collected")

    def damage(self, server, key):
        """Changes the header of each container with the key in the shared memory."""
        self.await_collection()
        files = pathlib.Path(f"/proc/{server.process.pid}/fd")
        shared = next(file for file in files.iterdir() if "memfd:falafel" in os.readlink(file))
        header = CONTAINER_MAGIC + b"\0\0" + len(key).to_bytes(4, "little")
        with shared.open("r+b", buffering=0) as file:
            memory = os.pread(file.fileno(), 64 << 20, 0)  # the rest consists of holes
            places = [match.start() for match in re.finditer(re.escape(header), memory)
                      if memory[match.start() + 24:match.start() + 24 + len(key)] == key]
            self.assertTrue(places, "no container has the key")
            for place in places:
                os.pwrite(file.fileno(), bytes([memory[place + 12] ^ 1]), place + 12)

    def test_a_damaged_value_is_repaired_as_the_message_says(self):
        with self.falafel.serve(*SMALL) as server:
            self.expect(OK, "set", "other", "untouched")
            for value in "first", "second":
                self.expect(OK, "set", "greeting", value)
                self.damage(server, b"greeting")
                self.expect(CORRUPTED, "get", "greeting", message="set or delete the key")
                self.expect(CORRUPTED, "keys", output=b"other\n", message="do not verify")
                self.expect(OK, "get", "other", output=b"untouched")
                self.expect(OK, "set", "greeting", "new")
                self.expect(OK, "get", "greeting", output=b"new")
                self.expect(OK, "del", "greeting")
            self.expect(OK, "set", "greeting", "third")
            self.damage(server, b"greeting")
            self.expect(OK, "del", "greeting")
            self.expect(NOT_FOUND, "get", "greeting")

    def test_sizes_of_keys_and_values(self):
        with self.falafel.serve(*SMALL, "--region-size", "64KiB"):
            self.expect(WRONG_SIZE, "set", "key", input=bytes(70_000), message="--region-size")
            self.expect(WRONG_SIZE, "set", "k" * 65_537, "value", message="65536")
            self.expect(WRONG_SIZE, "get", "")
            self.expect(NOT_FOUND, "get", "k" * 65_536)

    @unittest.skipIf(os.getuid() != 0, "only root can become another user")
    def test_no_permission(self):
        os.chmod(self.falafel.folder.name, 0o755)
        with self.falafel.serve(*SMALL):
            os.chmod(self.falafel.directory, 0o700)
            self.expect(NO_PERMISSION, "get", "key", user=NOBODY)
            self.expect(NO_PERMISSION, "stat", user=NOBODY)
            self.expect(NO_PERMISSION, "serve", *SMALL, "--name", "other", user=NOBODY)

    @unittest.skipIf(os.getuid() != 0, "only root can become another user")
    def test_a_directory_that_a_stranger_made_first_is_not_used(self):
        os.chmod(self.falafel.folder.name, 0o1777)
        with self.falafel.serve(*SMALL, user=NOBODY):
            for command in (("get", "key"), ("set", "key", "secret"), ("stat",), ("keys",),
                            ("serve", *SMALL, "--name", "other")):
                self.expect(NO_PERMISSION, *command, message=f"belongs to user {NOBODY}")

    def test_a_server_that_is_stopped_does_not_hang_stat(self):
        with self.falafel.serve(*SMALL) as server:
            server.process.send_signal(signal.SIGSTOP)
            self.expect(REFUSED, "stat", message="does not respond")
            server.process.send_signal(signal.SIGCONT)
            self.expect(OK, "stat")


class Serving(CommandTest):
    def test_ends_cleanly_by_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.falafel.serve(*SMALL) as server:
                self.expect(OK, "set", "key", "value")
                self.assertEqual(server.end(number), 0)
            left = [path for path in pathlib.Path(self.falafel.directory).rglob("*") if path.is_socket()]
            self.assertEqual(left, [])

    def test_settings_in_a_file(self):
        file = pathlib.Path(self.falafel.folder.name) / "falafel.conf"
        file.write_text('[serve]\nmemory = "32MiB"\nentries = 1000\nname = "configured"\n\n'
                        '[get]\nname = "configured"\n')
        with self.falafel.serve("--config", str(file)) as server:
            self.assertIn("'configured'", server.ready_line)
            self.assertIn(" 1000 entries", server.ready_line)
            self.expect(NOT_FOUND, "get", "--config", str(file), "key")
        with self.falafel.serve("--config", str(file), "--entries", "2000") as server:
            self.assertIn(" 2000 entries", server.ready_line)  # flags override the file
        file.write_text("[serve]\nmemoir = 1\n")
        self.expect(WRONG_USAGE, "serve", "--config", str(file), message="memoir")

    def test_stat_accounts_for_every_byte(self):
        with self.falafel.serve(*SMALL, "--region-size", "64KiB"):
            for key in range(5):
                self.expect(OK, "set", str(key), input=bytes(60_000))
            report = json.loads(self.expect(OK, "stat", "--json"))
            chunk = report["chunk"]
            self.assertEqual(sum(part["bytes"] for part in chunk["parts"]), chunk["bytes"])
            self.assertLessEqual(chunk["bytes"], 16 << 20)
            self.assertEqual(sum(report["regions"].values()), report["geometry"]["region_count"])
            self.assertGreaterEqual(report["statistics"]["regions_granted"], 5)
            text = self.expect(OK, "stat").decode()
            for expected in ("memory: ", "regions free", "mature space used", "clients: ", "waiting: "):
                self.assertIn(expected, text)


class Metrics(CommandTest):
    def fetch(self, url):
        with urllib.request.urlopen(url, timeout=HANG_LIMIT_SECONDS) as reply:
            return reply.headers["Content-Type"], reply.read().decode()

    def test_prometheus_finds_them(self):
        with self.falafel.serve(*SMALL, "--metrics", "127.0.0.1:0") as server:
            address = server.ready_line.rsplit("metrics at ", 1)[1].strip()
            self.expect(OK, "set", "key", "value")
            kind, text = self.fetch(f"http://{address}/metrics")
            self.assertTrue(kind.startswith("text/plain"))
            self.assertIn("falafel_regions_granted_total 1\n", text)
            self.assertIn('falafel_evicted_age_seconds_bucket{le="+Inf"} 0\n', text)
            for line in text.splitlines():
                self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]+"\})? [0-9.e+]+)$')
            with self.assertRaises(urllib.error.HTTPError) as caught:
                self.fetch(f"http://{address}/other")
            self.assertEqual(caught.exception.code, 404)
            self.expect(NAME_TAKEN, "serve", *SMALL, "--name", "other", "--metrics", address,
                        message="another address or port")
        self.expect(WRONG_USAGE, "serve", *SMALL, "--metrics", "nowhere", message="127.0.0.1:9100")


class Bench(CommandTest):
    OPTIONS = ("--keys", "20000", "--seconds", "0.3", "--json")

    def measure(self, *options):
        return json.loads(self.expect(OK, "bench", *self.OPTIONS, *options))

    def test_processes_and_threads(self):
        for parties in ((), ("--threads",)):
            for workload in ("ycsb-a", "ycsb-d", "ycsb-f", "thesis"):
                result = self.measure("--workload", workload, "--clients", "2", "--in-flight", "2", *parties)
                self.assertGreater(result["operations_per_second"], 0)
                self.assertGreater(result["latency"]["all"]["median_ns"], 0)
                self.assertGreaterEqual(result["client_work"]["lookups"], result["latency"]["read"]["count"])

    def test_the_collector_works_meanwhile(self):
        result = self.measure("--workload", "ycsb-a", "--region-size", "64KiB")
        self.assertGreater(result["server_work"]["regions_collected"], 0)

    def test_a_server_that_runs_already(self):
        with self.falafel.serve():
            for parties in ((), ("--threads",)):
                result = self.measure("--name", "falafel", "--workload", "ycsb-a", *parties)
                self.assertGreater(result["operations_per_second"], 0)
                self.assertNotIn("server_work", result)
            self.assertEqual(len(self.expect(OK, "get", "0000000000000a")), 24)  # stays there
        self.expect(NO_SERVER, "bench", *self.OPTIONS, "--name", "nobody", message="'nobody'")

    def test_the_floor(self):
        result = self.measure("--floor")
        self.assertGreater(result["operations_per_second"], 0)
        self.assertEqual(result["client_work"]["round_trips"], 0)

    def test_the_other_clients_go_on_when_one_is_killed(self):
        result = self.measure("--kill-client", "--clients", "2", "--workload", "ycsb-a")
        self.assertGreater(result["operations_before"], 0)
        self.assertGreater(result["operations_after"], 0)

    def test_wrong_usage(self):
        for options in ((), ("--clients", "2", "--threads")):
            self.expect(WRONG_USAGE, "bench", "--kill-client", *options, message="--kill-client")
        self.expect(WRONG_USAGE, "bench", "--workload", "ycsb-e", message="scans")
        self.expect(WRONG_USAGE, "bench", "--clients", "1001", message="--clients is 1001")


class Calibrate(CommandTest):
    """The measured values depend on the machine; the profile is complete, and predicts a benchmark."""

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(self.falafel.folder.name) / "profile.json"
        self.command = ("calibrate", "--output", str(self.path), "--clients", "2")

    def test_shared_memory(self):
        """On a busy machine, noise may hide a cost. Then the calibration must not write a profile."""
        status, report, error = self.falafel.run(
            *self.command, "--seconds", "0.01", "--rounds", "1", "--title", "This machine")
        self.assertIn(b"Latency of one request", report)
        if status == CANNOT_TELL:
            self.assertRegex(error, r"noise hides \w+.*: .* in 4 rounds\)")
            self.assertFalse(self.path.exists())
            return
        self.assertEqual(status, OK, error)
        profile = json.loads(self.path.read_text())
        self.assertEqual((profile["name"], profile["title"]), ("shm", "This machine"))
        self.assertEqual(profile["values"]["processors"]["value"], os.cpu_count())
        post = profile["values"]["post_ns"]
        self.assertGreater(post["value"], 0)
        self.assertIn("calibrate --fabric shm", post["source"])
        work = profile["values"]["operation_ns"]["value"] + profile["values"]["round_trip_ns"]["value"]
        self.assertGreater(work, 0)
        self.assertGreater(profile["values"]["lock_ns"]["value"], 0)
        prediction = json.loads(self.expect(
            OK, "bench", "--fabric", "sim", "--card", str(self.path), "--keys", "1000", "--seconds", "0.005",
            "--json"))
        self.assertGreater(prediction["operations_per_second"], 0)

    def test_a_known_card_in_the_simulator(self):
        self.expect(OK, *self.command, "--fabric", "sim", "--name", "again")
        profile = json.loads(self.path.read_text())
        self.assertEqual(profile["name"], "again")
        self.assertAlmostEqual(profile["values"]["read_ns"]["value"], 1681.6, delta=20)

    def test_wrong_usage(self):
        self.expect(WRONG_USAGE, "calibrate", "--seconds", "0", message="--seconds is 0")
        self.expect(WRONG_USAGE, "calibrate", "--card", "none", message="there is no profile 'none'")
        self.expect(WRONG_USAGE, "calibrate", "--fabric", "sim", "--serve", message="--serve")
        self.expect(1, "calibrate", "--server", "nobody", "--seconds", "0.01", message="connecting")
        self.expect(1, "calibrate", "--fabric", "sim", "--output", "/nowhere/p.json",
                    message="cannot write '/nowhere/p.json'")


class Stores(CommandTest):
    def test_fuzz_runs_the_stores_that_falafel_is_compared_with(self):
        with tempfile.TemporaryDirectory() as folder:
            for store in ("c-hint", "pilaf", "pilaf-vo", "nessie-cd", "nessie-sd", "nessie-hy",
                          "race", "swarm", "two-sided-rc", "two-sided-uc", "two-sided-ud",
                          "two-sided-tcp"):
                printed = self.expect(OK, "fuzz", "--store", store, "--schedules", "400",
                                      "--output", folder)
                self.assertIn(f"{store}, hardened protocol".encode(), printed)
                self.assertIn(b"all properties held", printed)

    def test_a_finding_of_another_store_is_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            status, printed, _ = self.falafel.run(
                "fuzz", "--store", "pilaf", "--without", "reset-before-growing", "--stop",
                "--shrink-seconds", "1", "--output", folder)
            self.assertEqual(status, 1)
            replay, = pathlib.Path(folder).glob("linearizability-*.replay")
            status, printed, _ = self.falafel.run("replay", "--quiet", str(replay))
            self.assertEqual(status, 1)
            self.assertIn(b"VIOLATED linearizability", printed)

    def test_ablate_searches_in_blocks_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            self.expect(OK, "ablate", "--blocks", "only", "--safeguard", "collector-retry",
                        "--shrink-seconds", "0", "--output", folder)
            replay, = pathlib.Path(folder).glob("*.replay")
            scenario = json.loads(replay.read_text())["scenario_options"]
            self.assertGreater(scenario["geometry"]["mature_space_count"], 2)
        self.expect(WRONG_USAGE, "ablate", "--blocks", "only", "--store", "pilaf",
                    message="--blocks excludes --store")

    def test_options_of_falafel_do_not_apply_to_other_stores(self):
        fuzz = "fuzz", "--store", "pilaf"
        self.expect(WRONG_USAGE, *fuzz, "--clients", "3", message="use --store falafel")
        self.expect(WRONG_USAGE, *fuzz, "--without", "double-collect",
                    message="unknown safeguard of pilaf; choose one of absence-validation")


if __name__ == "__main__":
    unittest.main()
