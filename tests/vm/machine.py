"""Virtual machines with Soft-RoCE, emulated in software by QEMU, in an isolated network.

A machine runs one command and shuts down. The machine's folder receives the command's output, its
exit status, the console's log, and the contents of /results."""

import re
import socket
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from initramfs import Archive, shared_libraries

sys.path.append(str(Path(__file__).resolve().parent.parent))
from hang_limit import HANG_LIMIT_SECONDS  # noqa: E402

HERE = Path(__file__).parent
MODULES = ["crc32_generic", "udp_tunnel", "ip6_udp_tunnel", "ib_core", "ib_uverbs", "rdma_rxe",
           "virtio_pci", "virtio_net", "virtio_blk", "dummy", "macvlan"]
MODULE_PARAMETERS = {"dummy": "numdummies=0"}
PROGRAMS = ["/usr/bin/rdma", "/usr/sbin/ip"]
RXE_PROVIDER = "/usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so"
RESULTS_BYTES = 256 << 20
BOOTED_WITHIN_S = 200  # takes two to five on a machine that does nothing else
BOOT_ATTEMPTS = 3


@dataclass
class Wire:
    """One end of a cable between two machines: a connection of two sockets on the loopback."""
    port: int
    listens: bool
    mac: str

    def arguments(self):
        end = "listen" if self.listens else "connect"
        return ["-netdev", f"socket,id=wire,{end}=127.0.0.1:{self.port}",
                "-device", f"virtio-net-pci,netdev=wire,mac={self.mac},romfile="]


@dataclass
class Description:
    """The configuration of a machine."""
    command: str
    name: str = "host"
    addresses: list = field(default_factory=lambda: ["10.0.0.1/32"])
    hosts: dict = field(default_factory=dict)  # names to addresses
    files: list = field(default_factory=list)  # (here, there)
    programs: list = field(default_factory=list)  # (here, there); brings their libraries
    libraries: list = field(default_factory=list)  # at the same paths
    wire: Wire | None = None
    memory_mib: int = 1024
    mtu_bytes: int = 1500


class Machine:
    """A running machine. Use it with `with`; it ends with the block."""

    def __init__(self, kernel, folder, description, shell=False):
        self.folder = Path(folder) / description.name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.output = self.folder / "output"
        self.console = self.folder / "console.log"
        self._status = self.folder / "status"
        self._disk = self.folder / "results.disk"
        self._monitor = self.folder / "monitor"
        for file in (self.output, self.console, self._status):
            file.write_bytes(b"")
        with open(self._disk, "wb") as disk:
            disk.truncate(RESULTS_BYTES)
        initramfs = self.folder / "initramfs"
        initramfs.write_bytes(file_system(kernel, description, shell).to_bytes())
        arguments = self._arguments(kernel, description, initramfs, shell)
        self._process = self._start(arguments, shell)

    # The emulated kernel occasionally hangs at the start, before it has printed a line.
    def _start(self, arguments, shell):
        for attempt in range(BOOT_ATTEMPTS):
            process = subprocess.Popen(arguments, stdin=None if shell else subprocess.DEVNULL)
            deadline_s = time.monotonic() + BOOTED_WITHIN_S
            while time.monotonic() < deadline_s:
                if b"booted" in self.console.read_bytes() or process.poll() is not None:
                    return process
                time.sleep(0.05)
            print(f"{self.folder.name} did not boot within {BOOTED_WITHIN_S} s (attempt {attempt + 1})",
                  file=sys.stderr)
            process.kill()
            process.wait()
        raise TimeoutError(f"{self.folder.name} does not boot; see {self.console}")

    def _arguments(self, kernel, description, initramfs, shell):
        wire = description.wire.arguments() if description.wire else ["-nic", "none"]
        return ["qemu-system-x86_64", "-accel", "tcg,thread=multi",
                # Without these two features, the kernel copies word by word, as devices do; see
                # docs/verbs.md.
                "-cpu", "max,-erms,-fsrm",
                "-smp", "2", "-m", str(description.memory_mib), "-no-reboot", "-nographic",
                "-nodefaults", "-kernel", str(kernel.image), "-initrd", str(initramfs),
                # On a busy machine, emulation is too slow for the kernel's check of the timer,
                # which then panics.
                "-append", "console=ttyS0 quiet panic=-1 mitigations=off clocksource=tsc "
                           "tsc=reliable random.trust_cpu=on no_timer_check",
                "-serial", f"file:{self.console}",
                "-serial", "mon:stdio" if shell else f"file:{self.output}",
                "-serial", f"file:{self._status}",
                "-drive", f"file={self._disk},if=virtio,format=raw",
                "-monitor", f"unix:{self._monitor},server,nowait", *wire]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        """Ends the machine as a power failure would."""
        self._process.kill()
        self._process.wait()

    def is_running(self):
        return self._process.poll() is None

    def text(self):
        return self.output.read_text(errors="replace")

    def wait(self, timeout_s=HANG_LIMIT_SECONDS):
        """Waits for the command and returns its exit status; raises TimeoutError."""
        deadline_s = time.monotonic() + timeout_s
        while self.is_running():
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"{self.folder.name} did not end within {timeout_s} s")
            time.sleep(0.05)
        status = self._status.read_text().strip()
        if not status.isdigit():
            raise RuntimeError(f"{self.folder.name} stopped without a result; see {self.console}")
        return int(status)

    def wait_for(self, pattern):
        """Waits until the output matches the regular expression; returns the match."""
        deadline_s = time.monotonic() + HANG_LIMIT_SECONDS
        while not (found := re.search(pattern, self.text())):
            if not self.is_running():
                raise RuntimeError(f"{self.folder.name} ended without '{pattern}'")
            if time.monotonic() > deadline_s:
                raise TimeoutError(f"{self.folder.name}: no '{pattern}'; it hangs")
            time.sleep(0.05)
        return found

    def set_cable(self, plugged):
        """Unplugs the network cable or plugs it in."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(str(self._monitor))
            monitor.recv(4096)
            monitor.sendall(f"set_link wire {'on' if plugged else 'off'}\n".encode())
            time.sleep(0.1)

    def results(self):
        """Unpacks the contents of the command's /results; returns the folder."""
        folder = self.folder / "results"
        with tarfile.open(self._disk) as tape:
            tape.extractall(folder)
        return folder


def file_system(kernel, description, shell):
    archive = Archive()
    archive.add_file(HERE / "init", "/init")
    archive.add_folder("/proc")
    archive.add_folder("/sys")
    archive.add_folder("/dev")
    archive.add_folder("/bin")
    archive.add_file("/usr/bin/busybox", "/bin/busybox")
    archive.add_link("/lib", "usr/lib")
    archive.add_link("/lib64", "usr/lib64")
    for program in PROGRAMS:
        add_program(archive, program, f"/bin/{Path(program).name}")
    add_library(archive, RXE_PROVIDER)
    archive.add_file("/etc/libibverbs.d/rxe.driver")
    for source, destination in description.programs:
        add_program(archive, source, destination)
    for library in description.libraries:
        add_library(archive, library)
    for source, destination in description.files:
        archive.add_file(source, destination)
    add_modules(archive, kernel)
    add_settings(archive, description, shell)
    return archive


def add_program(archive, source, destination):
    archive.add_file(source, destination)
    for library in shared_libraries(source):
        add_library(archive, library)


# /lib is a link in the machine too.
def add_library(archive, path):
    archive.add_file(path, path if path.startswith("/usr/") else f"/usr{path}")


def add_modules(archive, kernel):
    lines = []
    for file in kernel.modules_with_dependencies(MODULES):
        archive.add_file(file, f"/modules/{file.name}")
        lines.append(f"{file.name} {MODULE_PARAMETERS.get(file.stem, '')}\n")
    archive.add_text("/modules/order", "".join(lines))


def add_settings(archive, description, shell):
    interface = "eth0" if description.wire else "dummy0"
    archive.add_text("/machine",
                     f"NAME={description.name}\nINTERFACE={interface}\nMTU={description.mtu_bytes}\n"
                     f"ADDRESSES='{' '.join(description.addresses)}'\n"
                     f"SHELL_WANTED={'yes' if shell else ''}\n")
    archive.add_text("/command", description.command + "\n")
    names = {"localhost": "127.0.0.1", **description.hosts}
    archive.add_text("/etc/hosts", "".join(f"{address} {name}\n" for name, address in names.items()))
    archive.add_text("/etc/nsswitch.conf", "hosts: files\n")
    archive.add_text("/etc/passwd", "root::0:0:root:/:/bin/sh\n")
