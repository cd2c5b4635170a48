#!/usr/bin/env python3
"""Machines that are killed under load, and unplugged cables."""

import os
import sys
import time
import unittest

sys.dont_write_bytecode = True

from stage import AWAIT_SERVER, Stage  # noqa: E402

# How often the client's machine is killed; the environment may increase it.
KILLS = int(os.environ.get("KILLS", "2"))

# The client next to the server has no operation in doubt.
WITNESS = f"""
store_driver --name server serve & server=$!
{AWAIT_SERVER}
store_driver --name server --client 1 --seconds 10000 --events /results/client1 load & witness=$!
while [ "$(cat /sys/class/net/eth0/carrier)" = 1 ]; do sleep 0.2; done
echo the witness ends
kill -9 $witness
until [ "$(cat /sys/class/net/eth0/carrier)" = 1 ]; do sleep 0.2; done
sleep 1
store_driver --name server --client 9 --events /results/client9 read-back || failed=1
store_driver --name server finish || failed=1
wait $server || failed=1
exit $failed
"""
VICTIM = f"""
{AWAIT_SERVER}
store_driver --name client --client 2 --key-prefix victim --seconds 10000 load
"""
SURVIVOR = f"""
{AWAIT_SERVER}
store_driver --name client --client 2 --seconds 100 --reconnect load
"""


class FailuresTest(Stage):
    def test_client_machine_dies(self):
        server = self.machine("server", WITNESS)
        for _ in range(KILLS):
            client = self.machine("client", VICTIM)
            client.wait_for("connected")
            time.sleep(2)
            client.kill()
        server.set_cable(False)  # ends the witness
        server.wait_for("the witness ends")
        server.set_cable(True)
        self.succeed(server)
        self.assertIn("all bytes are accounted for", server.text())
        statistics = self.statistics(server)
        self.assertGreaterEqual(statistics["clients_fenced"], KILLS)
        results = server.results()
        operations = self.check_history([results / "client1", results / "client9"])
        self.assertGreater(operations, 1000)
        print(f"{KILLS} kills, {operations} operations, {statistics}", file=sys.stderr)

    def test_server_machine_dies(self):
        server = self.machine("server", "store_driver --name server serve")
        client = self.machine("client", VICTIM)
        client.wait_for("connected")
        time.sleep(2)
        server.kill()
        client.wait_for("disconnected after")
        self.succeed(client)

    def test_cable_is_pulled_and_plugged_in_again(self):
        self.machine("server", "store_driver --name server serve")
        client = self.machine("client", SURVIVOR)
        client.wait_for("connected")
        time.sleep(2)
        client.set_cable(False)
        client.wait_for("disconnected after")
        client.set_cable(True)
        client.wait_for("(?s)disconnected after.*connected")


if __name__ == "__main__":
    unittest.main()
