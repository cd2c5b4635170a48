"""Changes of the cluster's list of servers, which fail, are killed and are repeated."""

import enum
import subprocess
import time

from parties import HANG_LIMIT_SECONDS, Party, wait_until

LEASE_SECONDS = 1
SERVERS_OF_LIST = 3


class Fault(enum.Enum):
    NONE = "no fault"
    KILLED = "the command is killed"
    RECEIVER_RESTARTS = "a server that joins restarts"


class Changes:
    """Call step() often."""

    def __init__(self, soak, settle_seconds):
        self.soak, self.random, self.counts = soak, soak.random, soak.counts
        self.settle_seconds = settle_seconds
        self.servers = sorted(soak.pool)[:SERVERS_OF_LIST]
        self.command = None
        self.begins_at = 0
        self.run("--set", ",".join(self.servers), "--lease", str(LEASE_SECONDS),
                 "--settle", str(settle_seconds))

    def words(self, *options):
        return [self.soak.falafel, "members", "--etcd", self.soak.etcd.address,
                "--directory", self.soak.folder / "run", *options]

    def run(self, *options):
        done = subprocess.run(self.words(*options), capture_output=True, text=True, check=False,
                              timeout=HANG_LIMIT_SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"members {options}: {done.stderr}")
        return done.stdout

    def is_settled(self):
        return self.command is None

    def step(self):
        if self.command is None:
            if time.monotonic() >= self.begins_at:
                self.begin()
        elif self.command.is_running():
            self.hurt()
        else:
            self.finish(self.command.process.returncode)

    def begin(self):
        leaving = self.random.choice(self.servers)
        self.joining = self.random.choice(sorted(set(self.soak.pool) - set(self.servers)))
        self.target = sorted(set(self.servers) - {leaving} | {self.joining})
        self.options = ("--add", self.joining, "--remove", leaving)
        self.fault = self.random.choice(list(Fault))
        self.counts["changes begun"] += 1
        self.start()

    def start(self):
        self.started = time.monotonic()
        # Within the settling time, before anything is copied.
        self.hurts_at = self.started + self.random.uniform(0.5, self.settle_seconds / 2)
        self.command = Party(self.words(*self.options), self.soak.folder / "members.log")

    def hurt(self):
        if self.fault == Fault.NONE or time.monotonic() < self.hurts_at:
            return
        fault, self.fault = self.fault, Fault.NONE
        if fault == Fault.KILLED:
            self.counts["changes killed"] += 1
            self.command.kill()
        elif "a change is under way" in self.run():
            self.counts["receivers restarted"] += 1
            begin = self.soak.restart(self.joining, loses=[])
            # On a busy machine, the list may have been replaced before the restart.
            if "a change is under way" not in self.run():
                self.soak.note_loss(self.soak.keys_of(self.joining, self.target), begin, None)

    def finish(self, status):
        self.command = None
        listed = self.run()
        is_changing = "a change is under way" in listed
        if status == 0 and not is_changing:
            self.servers = listed.splitlines()[0].removeprefix("servers: ").split(",")
            was_given_up = self.options == ("--give-up",)
            self.counts["changes given up" if was_given_up else "changes made"] += 1
            self.begins_at = time.monotonic() + self.random.uniform(1, 10)
            return
        self.counts["changes that failed"] += 1
        if is_changing and self.random.random() < 0.3:
            self.options = ("--give-up",)
        elif not is_changing and f"servers: {','.join(self.target)}\n" in listed:
            # The list is the new one, and only the copies at the servers before it are left.
            self.options = ("--set", ",".join(self.target))
        self.start()

    def complete(self):
        """The list, when no change is under way."""
        self.begins_at = time.monotonic() + HANG_LIMIT_SECONDS
        self.fault = Fault.NONE

        def is_settled():
            if self.command is not None:
                self.step()
            return self.is_settled()
        wait_until(is_settled, "a change ends")
        return self.servers
