#!/usr/bin/env python3
"""Clients of one machine connect to a server in another and leave again, many times and 64 at once,
and some of them are killed. Afterwards the server has what it had before: no client, no region of a
client, and no more memory, descriptors or RDMA objects.

CONNECTIONS=10000 sets how many; docs/verbs.md has the command and its result."""

import json
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True

from machine import HANG_LIMIT_SECONDS  # noqa: E402
from stage import AWAIT_SERVER, Stage  # noqa: E402

SIMULTANEOUS = 64
KILLED = 8  # of those
CONNECTIONS = int(os.environ.get("CONNECTIONS", "384"))
PARTS = 3 + CONNECTIONS // 2_500  # the server is measured after each
OF_A_PART = CONNECTIONS // PARTS
ENDS_WITHIN_S = HANG_LIMIT_SECONDS + 10 * CONNECTIONS
# The allocator and tables grow for a while, by 0.3 to 0.9 MiB in all, and then not at all: 8 of 10
# parts with 192 connections each grew by nothing. A leak lets every part grow.
LEAK_BYTES = 512  # for each connection

# The server's machine measures when somebody connects to port 2901, and says so on port 2902. By
# then it has given up on the clients that were killed.
SERVER = f"""
ulimit -n 4096
falafel serve --fabric verbs --name server --memory 64MiB --region-size 16KiB --entries 4096 \
  --clients {2 * SIMULTANEOUS} --client-timeout 20 --directory /tmp/falafel & server=$!
stat="falafel stat --name server --directory /tmp/falafel"
measure() {{
  nc -l -p 2901 </dev/null >/dev/null
  for _ in $(seq 60); do
    [ $($stat | grep -cE '^clients: 0 of|^idle: yes') = 2 ] && break
    sleep 1
  done
  sleep 1
  echo "$1 rss: $(grep VmRSS /proc/$server/status)"
  echo "$1 descriptors: $(ls /proc/$server/fd | wc -l)"
  echo "$1 verbs: $(rdma resource)"
  echo "$1 threads: $(grep Threads /proc/$server/status)"
  echo "$1 books: $($stat --json | tr -d '\\n')"
  nc -l -p 2902 </dev/null >/dev/null
}}
for part in $(seq 0 {PARTS}); do measure part$part; done
kill $server
wait $server
"""
MEASURE = """
until nc -w 1 server 2901 </dev/null 2>/dev/null; do sleep 0.2; done
until nc -w 1 server 2902 </dev/null 2>/dev/null; do sleep 0.2; done
"""
DRIVER = f"connection_driver --simultaneous {SIMULTANEOUS}"
# The first connections warm up the server: its allocator, its tables.
CLIENT = f"""
ulimit -n 4096
{AWAIT_SERVER.replace("2100", "7")}
{DRIVER} --connections {2 * SIMULTANEOUS} || exit 1
{MEASURE}
for part in $(seq {PARTS}); do
  {DRIVER} --killed {KILLED} --connections {OF_A_PART} || failed=1
  {MEASURE}
done
exit $failed
"""

# A server with few descriptors, and callers that connect, say nothing, and take all of them. It
# serves the next client when they are gone. It counts how often it has tried to accept a caller;
# the machine's clock tells for how long it could try.
OUT_OF_DESCRIPTORS = f"""
(ulimit -n 24; exec falafel serve --fabric verbs --name server --memory 32MiB --directory /tmp/falafel) &
server=$!
{AWAIT_SERVER.replace("2100", "7")}
hundredths() {{ awk '{{ print int($1 * 100) }}' /proc/uptime; }}
before=$(hundredths)
for caller in $(seq 8); do sleep 6 | nc server 7 & done
sleep 1
echo "descriptors: $(ls /proc/$server/fd | wc -l)"
sleep 3
falafel set --fabric verbs --name server --own-address server greeting hello
echo "books: $(falafel stat --name server --directory /tmp/falafel --json | tr -d '\\n')"
echo "hundredths: $(($(hundredths) - before))"
"""
# It pauses for 10 ms after each attempt that fails. Without a pause it makes thousands per second.
MOST_ATTEMPTS_PER_HUNDREDTH = 1

class ConnectionsTest(Stage):
    def test_nothing_is_leaked(self):
        server = self.machine("server", SERVER, programs=[os.environ["FALAFEL"]])
        client = self.machine("client", CLIENT, programs=[os.environ["CONNECTION_DRIVER"]])
        self.succeed(client, timeout_s=ENDS_WITHIN_S)
        self.succeed(server)
        reports = re.findall("^.* connections, .*$", client.text(), re.MULTILINE)
        measurements = [measured(server.text(), part) for part in range(PARTS + 1)]
        for report, measurement in zip(reports, measurements):
            print(report, measurement, sep="\n", file=sys.stderr)
        for after in measurements[1:]:
            self.assertEqual(after["clients"], [])
            for what in ("regions", "idle", "descriptors", "verbs", "threads"):
                self.assertEqual(after[what], measurements[0][what], what)
        growths = [growth_bytes(*pair) for pair in zip(measurements, measurements[1:])]
        self.assertLess(min(growths), LEAK_BYTES * OF_A_PART, growths)
        # The server fences each client that leaves, with or without a goodbye.
        self.assertGreaterEqual(measurements[-1]["fenced"], sum(map(number, reports)))

    def test_a_server_without_descriptors_waits(self):
        server = self.machine("server", OUT_OF_DESCRIPTORS, programs=[os.environ["FALAFEL"]])
        self.succeed(server)
        self.assertEqual(number(re.search("descriptors: .*", server.text())[0]), 24)
        reports = re.findall("falafel serve: no file descriptor is left.*", server.text())
        self.assertEqual(len(reports), 1, server.text())
        books = json.loads(re.search("books: (.*)", server.text())[1])
        attempts = books["statistics"]["descriptor_shortages"]
        hundredths = number(re.search("hundredths: .*", server.text())[0])
        print(f"{attempts} attempts in {hundredths / 100} s", file=sys.stderr)
        self.assertGreater(attempts, 1)
        self.assertLessEqual(attempts, MOST_ATTEMPTS_PER_HUNDREDTH * hundredths + 1)


def measured(text, part):
    lines = dict(re.findall(rf"^part{part} (\w+): (.*?)\r?$", text, re.MULTILINE))
    books = json.loads(lines["books"])
    return {"rss_kib": number(lines["rss"]), "descriptors": number(lines["descriptors"]),
            "threads": number(lines["threads"]), "verbs": lines["verbs"],
            "clients": books["clients"], "regions": books["regions"],
            "used_bytes": next(part["bytes"] for part in books["chunk"]["parts"]
                               if part["part"] == "mature space used"),
            "idle": books["idle"], "fenced": books["statistics"]["clients_fenced"]}


# Beside blocks that hold data for the first time, and so become resident.
def growth_bytes(before, after):
    filled_bytes = after["used_bytes"] - before["used_bytes"]
    return 1024 * (after["rss_kib"] - before["rss_kib"]) - filled_bytes


def number(text):
    return int(re.search(r"\d+", text)[0])


if __name__ == "__main__":
    unittest.main()
