#!/usr/bin/env python3
"""Errors of a machine or of a program's arguments are reported with their remedy."""

import sys
import unittest

sys.dont_write_bytecode = True

from stage import Stage  # noqa: E402

SERVE = "store_driver --name server"

# Title, command, expected message.
CASES = [
    ("wrong device", f"{SERVE} --device mlx5_0 serve", "no RDMA device 'mlx5_0', only: rxe0"),
    ("wrong GID", f"{SERVE} --gid-index 77 serve", "no GID of index 77; `ibv_devinfo -v` lists them"),
    ("wrong partition", f"{SERVE} --partition-key 0x1234 serve",
     "rxe0 port 1 is in no partition 0x1234, only in 0xffff"),
    ("right partition", f"timeout 2 {SERVE} --partition-key 0x7fff --service 2995 serve; echo $?", "143"),
    ("wrong name", "store_driver --name nowhere serve", "cannot resolve 'nowhere' as a host name"),
    ("name of another machine", "store_driver --name client serve",
     "must be an address of this machine"),
    ("port in use", f"{SERVE} serve", "port 2100 of server already has a listener; choose another"),
    ("reserved port", f"unprivileged 64 {SERVE} --service 80 serve",
     "reserved for root; choose a port from 1024"),
    ("server full", f"{SERVE} --seconds 1 load", "maximum of 1 clients"),
    ("nobody listens", f"{SERVE} --service 2999 load", "nobody listens there; is the server running?"),
    ("memory lock limit", f"unprivileged 0 {SERVE} --service 2998 serve",
     "the limit is 0 KiB; raise it"),
    ("version mismatch",
     # The header of a handshake with version 99.
     r"printf '\377falafel\143\0\0\0\1\0\0\0' | nc -w 1 server 2100 | od -A n -t d4 -j 8 -N 4",
     "1"),
    ("requests beside a port that goes down",
     ". /machine; store_driver --name server --interface $INTERFACE lose-port; echo requests ended: $?",
     "requests ended: 0"),
    ("interface is down", f"killall -9 store_driver; . /machine; ip link set $INTERFACE down; {SERVE} --service 2997 serve",
     "has no active port; `ibv_devinfo` and `rdma link` tell"),
    ("no device", f"rdma link delete rxe0; {SERVE} --service 2996 serve",
     "there is no RDMA device; load the driver"),
]

PREPARE = """
chmod 666 /dev/infiniband/uverbs0
echo 'user:x:1000:1000:user:/:/bin/sh' >>/etc/passwd
cat >/bin/unprivileged <<'END'
#!/bin/sh
limit=$1
shift
exec su user -c "ulimit -l $limit; $*"
END
chmod +x /bin/unprivileged
store_driver --name server --max-clients 1 serve >/dev/null &
until nc -w 1 server 2100 </dev/null >/dev/null 2>&1; do sleep 0.2; done
store_driver --name server --seconds 100 load | grep -q disconnected &
sleep 2
"""


class ErrorsTest(Stage):
    def test_errors_name_the_remedy(self):
        commands = "".join(f"echo '--- {title}'\n{command}\n" for title, command, _ in CASES)
        machine = self.machine("server", PREPARE + commands + "echo --- end\nexit 0")
        self.succeed(machine)
        sections = machine.text().replace("\r", "").split("--- ")
        told = {title: text for title, _, text in (part.partition("\n") for part in sections)}
        for title, _, expected in CASES:
            with self.subTest(title):
                self.assertIn(expected, told[title])


if __name__ == "__main__":
    unittest.main()
