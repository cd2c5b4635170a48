"""Two machines on one cable, and the common steps of the store's tests."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from kernel import unpacked_kernel
from machine import HANG_LIMIT_SECONDS, Description, Machine, Wire

ROOT = Path(__file__).resolve().parents[2]
ADDRESSES = {"server": "10.1.0.1", "client": "10.1.0.2"}
AWAIT_SERVER = "until nc -w 1 server 2100 </dev/null >/dev/null 2>&1; do sleep 0.2; done"


class Stage(unittest.TestCase):
    """The environment contains the programs' paths: STORE_DRIVER and FALAFEL. Logs of failed tests
    are kept."""

    def run(self, result):
        def problems():
            return len(result.failures) + len(result.errors)

        before = problems()
        super().run(result)
        if problems() == before:
            shutil.rmtree(self.folder)
        return result

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="falafel-vm-"))
        self.kernel = unpacked_kernel(ROOT / "build/vm")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def machine(self, name, command, programs=(), mtu_bytes=1500):
        """Starts one of the two machines, with the driver and these programs of the build."""
        return self.start(name, command, mtu_bytes=mtu_bytes,
                          programs=[(file, f"/bin/{Path(file).name}")
                                    for file in [os.environ["STORE_DRIVER"], *programs]])

    def start(self, name, command, **contents):
        """Starts one of the two machines. The server's machine must start first because its end
        listens."""
        is_server = name == "server"
        description = Description(
            command=command, name=name, hosts=ADDRESSES, memory_mib=512,
            addresses=[f"{ADDRESSES[name]}/24"],
            wire=Wire(port=self.port, listens=is_server,
                      mac=f"52:54:00:00:00:0{1 if is_server else 2}"),
            **contents)
        print(f"logs: {self.folder / name}", file=sys.stderr)
        machine = Machine(self.kernel, self.folder, description)
        self.addCleanup(machine.kill)
        return machine

    def succeed(self, machine, *, timeout_s=HANG_LIMIT_SECONDS):
        self.assertEqual(machine.wait(timeout_s), 0, machine.text())

    def statistics(self, server):
        """Statistics of the server after its end, by name."""
        line = server.wait_for("statistics: (.*)")[1]
        return {name: int(number) for name, number in (pair.split("=") for pair in line.split())}

    def check_history(self, event_files):
        """Checks the history with `falafel check`. Returns the number of operations."""
        history = self.folder / "history.jsonl"
        operations = [operation for file in event_files for operation in read_events(file)]
        history.write_text("".join(json.dumps(operation) + "\n" for operation in operations))
        check = subprocess.run([os.environ["FALAFEL"], "check", "--format", "jsonl", str(history)],
                               capture_output=True, text=True, check=False)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        return len(operations)


OUTCOMES = {"found": "found", "not_found": "not_found", "stored": "stored", "deleted": "deleted",
            "table_full": "refused", "out_of_memory": "refused", "disconnected": "refused",
            "timed_out": "refused",
            "unknown_outcome": "indeterminate"}


def read_events(file):
    """Operations in the format of `falafel check`; those without a return are in doubt."""
    operations = {}
    for line in file.read_text().splitlines():
        kind, number, *fields = line.split(" ")
        if kind == "call":
            client, what, key, value, time_ns = fields
            operation = {"client": int(client), "key": key, "kind": what, "call": int(time_ns),
                         "outcome": "indeterminate"}
            if what == "set":
                operation["value"] = value
            operations[number] = operation
        else:
            answer, value, time_ns = fields
            operation = operations[number]
            operation["outcome"] = OUTCOMES[answer]
            if operation["outcome"] != "indeterminate":
                operation["return"] = int(time_ns)
            if answer == "found":
                operation["value"] = value
    return operations.values()
