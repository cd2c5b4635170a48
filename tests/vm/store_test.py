#!/usr/bin/env python3
"""A server in one machine and clients in another: random operations with collections and cleanups,
a client that is killed, and a client that attempts forbidden accesses."""

import re
import sys
import unittest

sys.dont_write_bytecode = True

from stage import AWAIT_SERVER, Stage  # noqa: E402

TRAFFIC_CLASS = 104  # DSCP 26
DRIVER = f"store_driver --name client --traffic-class {TRAFFIC_CLASS}"
CLIENT = f"""
{AWAIT_SERVER}
for client in 1 2; do
  {DRIVER} --client $client --operations 900 --seconds 10000 --events /results/client$client load &
done
{DRIVER} --client 3 --seconds 10000 --events /results/client3 load & victim=$!
touch /results/client3
until [ $(wc -l < /results/client3) -ge 200 ]; do sleep 0.1; done
kill -9 $victim
{DRIVER} intrude || failed=1
{DRIVER} --client 4 --operations 200 --seconds 10000 --events /results/client4 load || failed=1
wait
{DRIVER} --client 9 --events /results/client9 read-back || failed=1
{DRIVER} finish || failed=1
exit $failed
"""


class StoreTest(Stage):
    def test_history_is_linearizable_and_memory_accounted_for(self):
        server = self.machine("server", f"""
store_driver --name server --seconds 60 watch & watch=$!
store_driver --name server serve; status=$?
kill $watch
exit $status""")
        # The connection uses the smaller of both MTUs; some values need several packets.
        client = self.machine("client", CLIENT, mtu_bytes=4500)
        self.succeed(client)
        self.succeed(server)
        self.assertIn("all bytes are accounted for", server.text())
        self.assertEqual(set(re.findall(r"traffic class (\d+)", server.text())),
                         {str(TRAFFIC_CLASS)})
        statistics = self.statistics(server)
        for event in ("regions_collected", "mature_collections", "cleanups", "entries_cleaned",
                      "clients_fenced"):
            self.assertGreater(statistics[event], 0, event)
        results = client.results()
        events = [results / f"client{number}" for number in (1, 2, 3, 4, 9)]
        operations = self.check_history(events)
        self.assertGreater(operations, 1000)
        print(f"{operations} operations, {statistics}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
