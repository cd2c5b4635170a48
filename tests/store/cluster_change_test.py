"""Servers join and leave a cluster of real processes, whose list is in a real etcd, while clients
use it. etcd is killed and comes back, and so is a change. The history must be linearizable, so no
key may be lost.

Usage: cluster_change_test.py FALAFEL CLUSTER_WORKER
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import harness
from free_ports import free_ports

FALAFEL, WORKER = sys.argv[1:3]
LEASE = 0.5
CLIENT_TIMEOUT = 2  # a busy machine rarely delays a client by as much
CONNECTION_LOST = 12  # exit status: nothing was changed
# A lease, a second for a server that does not answer, and three heartbeat time-outs.
SETTLE = LEASE + 1 + 3 * CLIENT_TIMEOUT + 0.5


class Etcd:
    def __init__(self, directory):
        client, peer = free_ports(2)
        self.address = f"127.0.0.1:{client}"
        self.words = [
            "etcd", "--data-dir", f"{directory}/etcd", "--log-level", "error",
            "--listen-client-urls", f"http://{self.address}",
            "--advertise-client-urls", f"http://{self.address}",
            "--listen-peer-urls", f"http://127.0.0.1:{peer}"]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, stderr=subprocess.DEVNULL)
        harness.wait_until(self.answers)

    def answers(self):
        try:
            with urllib.request.urlopen(f"http://{self.address}/health", timeout=10):
                return True
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()


class ClusterChange(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        os.environ["FALAFEL_DIRECTORY"] = self.directory
        self.etcd = Etcd(self.directory)
        self.addCleanup(self.etcd.kill)
        self.servers = {name: self.start_server(name) for name in ("a", "b", "c", "d")}

    def start_server(self, name, *options):
        server = harness.Server(FALAFEL, self.directory, "--name", name, "--memory", "8MiB",
                                "--region-size", "16KiB", "--entries", "4096",
                                "--client-timeout", str(CLIENT_TIMEOUT), *options)
        self.addCleanup(server.end, signal.SIGKILL)
        return server

    def members(self, *options):
        return subprocess.run(
            [FALAFEL, "members", "--etcd", self.etcd.address, *options],
            capture_output=True, text=True, timeout=harness.HANG_LIMIT_SECONDS)

    def change(self, *options):
        """Repeats a change that fails, as its message says: on a busy machine, a server may take the
        command for dead."""
        for _ in range(20):
            done = self.members(*options)
            if done.returncode == 0:
                return done.stdout
        raise AssertionError(done.stderr)

    def wait_for(self, text):
        """Until the command says it of the list."""
        harness.wait_until(lambda: text in self.members().stdout)

    def make_list(self, servers):
        self.change("--set", servers, "--lease", str(LEASE), "--settle", str(SETTLE))

    def falafel(self, *words):
        """Repeats a command that lost its connection: on a busy machine, a server may take it for
        dead, or its lease of the list may end."""
        for _ in range(20):
            done = subprocess.run([FALAFEL, *words, "--etcd", self.etcd.address],
                                  capture_output=True, text=True,
                                  timeout=harness.HANG_LIMIT_SECONDS)
            if done.returncode != CONNECTION_LOST:
                break
        return done

    def test_no_key_is_lost_while_servers_join_and_leave(self):
        self.make_list("a,b")
        worker = subprocess.Popen([WORKER, self.etcd.address], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(worker.kill)
        self.assertEqual(worker.stdout.readline(), "working\n")

        def await_operations(kind):
            """Until further operations have got such answers."""
            worker.stdin.write(f"{kind}\n")
            worker.stdin.flush()
            self.assertEqual(worker.stdout.readline(), f"{kind}\n")

        await_operations("answered")
        self.assertRegex(self.change("--add", "c"), r"\n[1-9]\d* keys moved")
        # A change that is killed while it waits, and is then repeated.
        killed = subprocess.Popen([FALAFEL, "members", "--etcd", self.etcd.address,
                                   "--remove", "a"])
        self.wait_for("a change is under way, to: b,c")
        killed.kill()
        killed.wait()
        self.wait_for("a change is under way, to: b,c")
        self.change("--remove", "a")
        # Nobody knows whether the list is current.
        self.etcd.kill()
        await_operations("disconnected")
        self.etcd.start()
        await_operations("answered")
        # Server a has old values of these keys.
        self.change("--set", "a,c,d")
        await_operations("answered")
        output, _ = worker.communicate(timeout=harness.HANG_LIMIT_SECONDS)
        self.assertEqual(worker.returncode, 0, output)
        lines = output.splitlines()
        self.assertEqual(lines[-1], "linearizable")
        counts = dict(line.rsplit(" ", 1) for line in lines[:-1])
        for answer in ("found", "not found", "stored", "deleted", "disconnected", "increments"):
            self.assertGreater(int(counts.get(answer, 0)), 0, output)

    def test_a_receiver_that_restarts_costs_no_key(self):
        self.make_list("a,b")
        keys = [f"key {number}" for number in range(20)]
        for key in keys:
            self.assertEqual(self.falafel("set", key, key).returncode, 0)
        change = subprocess.Popen([FALAFEL, "members", "--etcd", self.etcd.address, "--add", "c"],
                                  stderr=subprocess.PIPE, text=True)
        self.wait_for("a change is under way, to: a,b,c")
        self.servers["c"].end(signal.SIGKILL)
        self.start_server("c")
        _, error = change.communicate(timeout=harness.HANG_LIMIT_SECONDS)
        self.assertEqual(change.returncode, 1)
        self.assertRegex(error, "'c' .* has lost its memory")
        self.change("--add", "c")
        for key in keys:
            self.assertEqual(self.falafel("get", key).stdout, key)

    def test_a_receiver_that_starts_over_its_memory_goes_on(self):
        file = f"{self.directory}/memory"
        self.servers["c"].end()
        server = self.start_server("c", "--memory-file", file)
        self.make_list("a,b")
        keys = [f"key {number}" for number in range(20)]
        for key in keys:
            self.assertEqual(self.falafel("set", key, key).returncode, 0)
        change = subprocess.Popen([FALAFEL, "members", "--etcd", self.etcd.address, "--add", "c"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for("a change is under way, to: a,b,c")
        server.end(signal.SIGKILL)
        self.start_server("c", "--memory-file", file)
        output, error = change.communicate(timeout=harness.HANG_LIMIT_SECONDS)
        self.assertEqual(change.returncode, 0, error)
        self.assertRegex(output, r"\n[1-9]\d* keys moved")
        for key in keys:
            self.assertEqual(self.falafel("get", key).stdout, key)

    def test_commands_use_the_list(self):
        self.assertIn("no list of servers", self.members().stderr)
        missing = self.falafel("get", "greeting")
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn("falafel members", missing.stderr)
        self.make_list("a,b,c")
        self.assertIn("servers: a,b,c", self.change())
        self.assertEqual(self.falafel("set", "greeting", "hello").returncode, 0)
        self.assertEqual(self.falafel("get", "greeting").stdout, "hello")
        # The wrong key of etcd.
        wrong = ("--etcd-key", "falafel/sever")
        self.assertIn("no list of servers", self.members(*wrong, "--add", "c").stderr)
        refused = self.members(*wrong, "--set", "a,b,c", "--lease", "0.1", "--settle", "0.2")
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, "there is no list yet, .* has 1 keys")
        for server in ("a", "b"):
            self.change("--remove", server)
            self.assertEqual(self.falafel("get", "greeting").stdout, "hello")
        self.assertEqual(self.falafel("del", "greeting").returncode, 0)
        self.assertEqual(self.falafel("get", "greeting").returncode, 1)

    def test_refuses_with_a_remedy(self):
        self.make_list("a,b")
        for options, remedy in (
                (("--add", "nobody"), "name it as lost"),
                (("--remove", "x"), "--remove: 'x' is not in the list: a,b"),
                (("--lost", "x"), "--lost: 'x' is not in the list: a,b"),
                (("--set", "a", "--lease", "1.0001", "--settle", "1.0002"), "must be longer"),
                (("--set", "a,a"), "'a' twice"),
                (("--give-up",), "no change is under way")):
            refused = self.members(*options)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(remedy, refused.stderr)
        self.etcd.kill()
        self.assertIn("Connection refused", self.members().stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
