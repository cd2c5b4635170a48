#!/usr/bin/env python3
"""A machine with two RDMA devices: the own address of a server or a client chooses the device, and an
address of neither is an error. One server runs on each device. An address that goes away and comes
back has another index at the device, and clients connect again."""

import os
import re
import sys
import unittest

sys.dont_write_bytecode = True

from stage import Stage  # noqa: E402

# rxe0 is on the cable and has 10.1.0.1. rxe1 has 10.2.0.1, and 10.3.0.1 is on no device.
PREPARE = """
for number in 1 2; do ip link add dummy$number type dummy; ip link set dummy$number up; done
ip address add 10.2.0.1/24 dev dummy1
ip address add 10.3.0.1/24 dev dummy2
rdma link add rxe1 type rxe netdev dummy1
export FALAFEL_DIRECTORY=/tmp/falafel
serve() {
  rm -f /tmp/ready
  falafel serve --fabric verbs --memory 16MiB "$@" >/tmp/ready 2>&1 &
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -qs "^serving" /tmp/ready && break
    sleep 0.5
  done
}
# The index of an address at the second device.
index_of() { grep -l "0000:ffff:0a02:0001" /sys/class/infiniband/rxe1/ports/1/gids/* | head -n 1; }
# How many processes have opened each device.
users() { rdma resource | sed 's/.*\\(rxe[01]\\):.* ctx \\([0-9]*\\).*/\\1=\\2/' | tr '\\n' ' '; }
"""

# Title, command, pattern of its output.
CASES = [
    ("nobody", "users", "rxe0=0 rxe1=0"),
    ("address of the second device", "serve --name 10.2.0.1; users", "rxe0=0 rxe1=1"),
    ("address of the first device", "serve --name 10.1.0.1; users", "rxe0=1 rxe1=1"),
    ("client on the first device",
     "S='--fabric verbs --name 10.1.0.1 --own-address 10.1.0.1'; "
     "falafel set $S card first && falafel get $S card", "^first$"),
    ("client on the second device",
     "S='--fabric verbs --name 10.2.0.1 --own-address 10.2.0.1'; "
     "falafel get $S card; falafel set $S card second && falafel get $S card",
     "'card': not found\nsecond$"),
    ("address is away", "before=$(index_of); ip address del 10.2.0.1/24 dev dummy1; "
     "ip address add 10.2.0.1/24 dev lo; falafel get $S --device rxe1 --gid-index 0 card; echo $?",
     "rxe1 port 1 has lost the address ::ffff:10.2.0.1.*\n11$"),
    ("address is back at another index", "ip address del 10.2.0.1/24 dev lo; "
     "ip address add 10.4.0.1/24 dev dummy1; ip address add 10.2.0.1/24 dev dummy1; "
     "[ $before != $(index_of) ] && echo moved; falafel get $S card", "^moved\nsecond$"),
    ("address of no device", "falafel serve --fabric verbs --memory 16MiB --name 10.3.0.1; echo $?",
     r"the own address ::ffff:10.3.0.1 belongs to none of the RDMA ports "
     r"rxe0 port 1 \(.*::ffff:10.1.0.1\), rxe1 port 1 \(.*::ffff:10.2.0.1\); use the address of "
     r"one of them, or name the device and the port\n2"),
    ("named device", "kill %1 %2; wait; serve --name 10.3.0.1 --device rxe1; users",
     "rxe0=0 rxe1=1"),
    ("wrong port", "falafel serve --fabric verbs --memory 16MiB --name 10.1.0.1 --device rxe0 --port 2",
     "device rxe0 has no port 2, only 1"),
]


class DevicesTest(Stage):
    def test_the_address_chooses_the_device(self):
        commands = "".join(f"echo '--- {title}'\n{command}\n" for title, command, _ in CASES)
        machine = self.machine("server", PREPARE + commands + "echo --- end\nexit 0",
                               programs=[os.environ["FALAFEL"]])
        self.succeed(machine)
        sections = machine.text().replace("\r", "").split("--- ")
        told = {title: text for title, _, text in (part.partition("\n") for part in sections)}
        for title, _, expected in CASES:
            with self.subTest(title):
                self.assertTrue(re.search(expected, told[title], re.MULTILINE),
                                f"expected {expected}, got {told[title]}")


if __name__ == "__main__":
    unittest.main()
