"""The processes of a soak: servers, clients and etcd."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from free_ports import free_ports  # noqa: E402

# Ends only what hangs.
HANG_LIMIT_SECONDS = 600


def wait_until(condition, what):
    deadline = time.monotonic() + HANG_LIMIT_SECONDS
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"not within {HANG_LIMIT_SECONDS} s: {what}")
        time.sleep(0.05)
    return result


class Party:
    """A process whose output goes to a file."""

    def __init__(self, words, log, environment=None):
        self.log = log
        with log.open("a") as output:
            self.process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT,
                                            env={**os.environ, **(environment or {})})
        self.is_stopped = False

    def is_running(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.is_stopped = True
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        if self.is_running() and self.is_stopped:
            self.process.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def end(self):
        """Its exit status after SIGTERM."""
        self.resume()
        if self.is_running():
            self.process.terminate()
        return self.process.wait(timeout=HANG_LIMIT_SECONDS)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def shared_segments(self):
        """Mapped ones, of its own or of others."""
        maps = pathlib.Path(f"/proc/{self.process.pid}/maps").read_text()
        return sum("memfd:" in line for line in maps.splitlines())

    def own_memory_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("RssAnon:")[2].split()[0])


class Server(Party):
    """Ready after construction."""

    def __init__(self, falafel, folder, name, options):
        self.falafel, self.folder, self.name, self.options = falafel, folder, name, options
        log = folder / f"server-{name}.log"
        position = log.stat().st_size if log.exists() else 0
        super().__init__([falafel, "serve", "--directory", folder / "run", "--name", name, *options],
                         log)
        wait_until(lambda: "\nserving" in "\n" + self.log.read_text()[position:]
                   or not self.is_running(), f"server {name} serves")
        if not self.is_running():
            raise RuntimeError(f"no server {name}: {log.read_text()[position:]}")

    def restart(self):
        self.kill()
        return Server(self.falafel, self.folder, self.name, self.options)

    def report(self):
        done = subprocess.run(
            [self.falafel, "stat", "--json", "--directory", self.folder / "run", "--name", self.name],
            capture_output=True, text=True, timeout=HANG_LIMIT_SECONDS, check=True)
        report = json.loads(done.stdout)
        parts = report["chunk"]["parts"]
        if sum(part["bytes"] for part in parts) != report["chunk"]["bytes"]:
            raise RuntimeError(f"the parts of {self.name} do not add up: {parts}")
        return report


class Etcd(Party):
    def __init__(self, folder, ports=None):
        self.folder = folder
        self.ports = ports or free_ports(2)
        self.address = f"127.0.0.1:{self.ports[0]}"
        super().__init__(
            ["etcd", "--data-dir", folder / "etcd", "--log-level", "error",
             "--listen-client-urls", f"http://{self.address}",
             "--advertise-client-urls", f"http://{self.address}",
             "--listen-peer-urls", f"http://127.0.0.1:{self.ports[1]}"], folder / "etcd.log")
        wait_until(self.answers, "etcd answers")

    def answers(self):
        try:
            with urllib.request.urlopen(f"http://{self.address}/health", timeout=10):
                return True
        except OSError:
            return False

    def restart(self):
        self.kill()
        return Etcd(self.folder, self.ports)
