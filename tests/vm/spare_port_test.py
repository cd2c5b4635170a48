#!/usr/bin/env python3
"""A client with two RDMA ports goes on over the other one when one of them fails, and back when that
one fails, and finds what it has stored. It also starts while one of them is down."""

import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

from initramfs import shared_libraries  # noqa: E402
from stage import Stage  # noqa: E402

SERVICE = 7  # the client library's
WORKER = 7
KEYS = 50

# Two interfaces with a device each, rxe1 and rxe2, are on the cable. The machine's own address goes
# away, so that nothing else leads to the server. An interface answers for its own address only.
CLIENT = f"""
until nc -w 1 server {SERVICE} </dev/null >/dev/null 2>&1; do sleep 0.2; done
rdma link delete rxe0
ip address flush dev eth0
echo 1 >/proc/sys/net/ipv4/conf/all/arp_ignore
echo 2 >/proc/sys/net/ipv4/conf/all/arp_announce
for number in 1 2; do
  ip link add link eth0 name port$number type macvlan mode bridge
  ip link set port$number up
  ip address add 10.1.0.1$number/24 dev port$number
  rdma link add rxe$number type rxe netdev port$number
done
work() {{
  exec store_worker $1 {WORKER} {KEYS} 64 10.1.0.1 \
    fabric verbs own_address 10.1.0.11 spare_own_address $2
}}
# How many GETs had succeeded at the first report from this line on, and at the last one.
progress() {{
  tail -n +$1 /results/work | grep ^tick | sed -n '1p;$p' | cut -d ' ' -f 3
}}
await_progress() {{
  from=$(wc -l </results/work)
  while kill -0 $worker; do
    sleep 0.2
    set -- $(progress $((from + 1)))
    [ $# = 2 ] && [ $(($2 - $1)) -gt 50 ] && echo "goes on" && return
  done
  exit 1
}}
exec 2>&1
work mixed 10.1.0.12 >/results/work & worker=$!
await_progress
ip link set port1 down; await_progress
ip link set port1 up; ip link set port2 down; await_progress
kill -TERM $worker
wait $worker
echo "--- mixed"
grep -v ^tick /results/work
ip link set port2 up; ip link set port1 down
echo "--- look"
(work look 10.1.0.12)
echo "--- neither"
(work look 10.1.0.13)
echo "--- commands"
S="--fabric verbs --name 10.1.0.1 --own-address 10.1.0.11 --spare-own-address 10.1.0.12"
falafel set $S greeting hello; echo $?
ip link set port1 up; ip link set port2 down
falafel get $S greeting; echo " $?"
falafel get --fabric verbs --name 10.1.0.1 --device rxe2 greeting >/dev/null; echo $?
echo "--- end"
ip link set port2 up
store_driver --name 10.1.0.12 --service {SERVICE} finish
"""


# The machine has it below /usr, where its program does not look for it.
def folders_of_libraries(program):
    return ":".join({f"/usr{Path(library).parent}" for library in shared_libraries(program)})


def longest_pause_s(lines):
    """Between two reports of the worker, which come every tenth of a second if it gets on."""
    times_s = [int(line.split()[1]) / 1e9 for line in lines if line.startswith("tick")]
    return max(after - before for before, after in zip(times_s, times_s[1:]))


class SparePortTest(Stage):
    def test_client_goes_on_over_the_other_port(self):
        server = self.machine("server", f"store_driver --name server --service {SERVICE} serve")
        programs = [os.environ[name] for name in ("STORE_WORKER", "FALAFEL")]
        folders = ":".join(folders_of_libraries(program) for program in programs)
        libraries = f"export LD_LIBRARY_PATH={folders}"
        client = self.machine("client", libraries + CLIENT, programs=programs)
        self.succeed(client)
        self.succeed(server)
        self.assertIn("all bytes are accounted for", server.text())
        # The worker was three clients of the server, and looked as a fourth one; two commands came.
        self.assertEqual(self.statistics(server)["clients_fenced"], 6)
        before, mixed, look, neither, commands, _ = client.text().replace("\r", "").split("--- ")
        self.assertEqual(before.count("goes on"), 3, before)
        # An operation under way when a port fails may have an unknown outcome. Nothing else fails.
        errors = [line for line in mixed.splitlines()[1:] if "unknown" not in line]
        self.assertEqual(errors, [])
        self.assertLessEqual(mixed.count("unknown"), 2, mixed)
        found = look.splitlines()[-1].split()
        self.assertEqual(found[:1] + found[2:3], ["tick", str(WORKER * KEYS)], look)
        # A port that has another address than those is not taken.
        self.assertRegex(neither, "10.1.0.11 belongs to none of the RDMA ports rxe2 port 1")
        # Each command finds the server by the port that works; the last one names the other.
        self.assertEqual(commands.split()[1:4], ["0", "hello", "0"], commands)
        self.assertNotIn(commands.split()[-1], ["0", "hello"], commands)
        work = (client.results() / "work").read_text().splitlines()
        print(f"longest pause: {longest_pause_s(work):.1f} s", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
