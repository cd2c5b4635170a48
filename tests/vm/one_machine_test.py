#!/usr/bin/env python3
"""Tests that need a real RDMA stack but only one machine, in one boot: the conformance suite, the store
on the command line, the time to notice a silent peer, a second device, and errors. The environment
names the programs: CONFORMANCE, FALAFEL, STORE_DRIVER."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import devices_test  # noqa: E402
import errors_test  # noqa: E402
from machine import HANG_LIMIT_SECONDS, Description, Machine  # noqa: E402
from stage import Stage  # noqa: E402

# All of them belong to this machine.
HOSTS = {"host": "10.0.0.1", "server": "10.0.0.2",
         **{f"client_{i}": f"10.0.0.{3 + i}" for i in range(6)}, "client": "10.0.0.9"}
ADDRESSES = [*(f"{address}/32" for address in HOSTS.values()), "10.1.0.1/24"]
COMMAND_LINE = (Path(__file__).parent / "command_line.sh").read_text()


def apart(commands):
    """Commands in a shell of their own, whose servers end with it."""
    return f"({commands}\n)\nstatus=$?\nkillall -9 falafel 2>/dev/null; sleep 1\n"


def sections(cases):
    return "".join(f"echo '--- {title}'\n{command}\n" for title, command, _ in cases)


COMMANDS = f"""
echo '--- conformance'
conformance_verbs_test --gtest_brief=1
echo "status $?"
for host in $(awk '$1 ~ /^10/ {{ print $1 }}' /etc/hosts); do
  ip address add $host/32 dev dummy0 2>/dev/null
done
echo '--- command line'
{apart(COMMAND_LINE)}echo "status $status"
echo '--- detection'
falafel doctor --measure-detection
echo "status $?"
{apart(devices_test.PREPARE + sections(devices_test.CASES))}
rdma link delete rxe1; ip link delete dummy1; ip link delete dummy2
ip address del {HOSTS['client']}/32 dev dummy0
{errors_test.PREPARE}
{sections(errors_test.CASES)}
echo --- end
exit 0
"""


class OneMachineTest(Stage):
    def check_detection(self, text):
        """A machine may be so slow that its detection is too: then the remedy must be there."""
        measured = re.search(r"(\w+) +device rxe0 port 1: gives up on a silent peer after ([\d.]+) s "
                             r"\(retry exceeded\); the store expects ([\d.]+) s at most\n", text)
        self.assertIsNotNone(measured, text)
        print(measured[0], file=sys.stderr)
        is_good = float(measured[2]) <= float(measured[3])
        self.assertEqual(measured[1], "ok" if is_good else "PROBLEM")
        self.assertEqual("pass --detection" in text, not is_good)
        self.assertIn(f"status {0 if is_good else 1}", text)

    def test_everything(self):
        programs = [os.environ[name] for name in ("CONFORMANCE", "FALAFEL", "STORE_DRIVER")]
        machine = Machine(self.kernel, self.folder, Description(
            command=COMMANDS, hosts=HOSTS, addresses=ADDRESSES,
            programs=[(file, f"/bin/{Path(file).name}") for file in programs]))
        self.addCleanup(machine.kill)
        self.succeed(machine, timeout_s=4 * HANG_LIMIT_SECONDS)
        parts = machine.text().replace("\r", "").split("--- ")
        told = {title: text for title, _, text in (part.partition("\n") for part in parts)}
        for title in ("conformance", "command line"):
            with self.subTest(title):
                self.assertIn("status 0", told[title])
        with self.subTest("detection"):
            self.check_detection(told["detection"])
        for title, _, expected in devices_test.CASES:
            with self.subTest(title):
                self.assertRegex(told[title], re.compile(expected, re.MULTILINE))
        for title, _, expected in errors_test.CASES:
            with self.subTest(title):
                self.assertIn(expected, told[title])


if __name__ == "__main__":
    unittest.main()
