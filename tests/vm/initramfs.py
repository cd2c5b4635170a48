"""A file system for a virtual machine, as the archive that Linux unpacks at boot (cpio, format
"newc"). Archives can be concatenated."""

import os
import re
import stat
import subprocess
from pathlib import Path

ALIGNMENT = 4


class Archive:
    """Collects files and adds their folders."""

    def __init__(self):
        self.entries = {}

    def add_file(self, source, destination=None):
        """Adds a file of this machine, by default at the same path."""
        source = Path(source)
        mode = stat.S_IFREG | (0o755 if os.access(source, os.X_OK) else 0o644)
        self._add(destination or str(source.absolute()), mode, source.read_bytes())

    def add_text(self, destination, text, executable=False):
        self._add(destination, stat.S_IFREG | (0o755 if executable else 0o644), text.encode())

    def add_link(self, destination, target):
        self._add(destination, stat.S_IFLNK | 0o777, target.encode())

    def add_folder(self, destination):
        self._add(destination, stat.S_IFDIR | 0o755, b"")

    def _add(self, destination, mode, data):
        path = destination.strip("/")
        parent = os.path.dirname(path)
        if parent and parent not in self.entries:
            self.add_folder(parent)
        self.entries[path] = (mode, data)

    def to_bytes(self):
        parts = [record(path, mode, data) for path, (mode, data) in self.entries.items()]
        return b"".join([*parts, record("TRAILER!!!", 0, b"")])


def record(path, mode, data):
    name = path.encode() + b"\0"
    inode, owner, links, time, device = 0, 0, 1, 0, 0
    numbers = [inode, mode, owner, owner, links, time, len(data), device, device, device, device,
               len(name), 0]
    header = b"070701" + b"".join(b"%08x" % number for number in numbers)
    return padded(header + name) + padded(data)


def padded(data):
    return data + b"\0" * (-len(data) % ALIGNMENT)


def shared_libraries(program):
    """The files that the dynamic linker would load, including itself; none for a static program."""
    listing = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    if missing := re.search(r"(\S+) => not found", listing.stdout):
        raise FileNotFoundError(f"{program} needs {missing[1]}, which is not installed")
    return re.findall(r"(/\S+) \(0x", listing.stdout)
