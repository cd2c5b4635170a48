"""Debian's kernel and its modules, unpacked from the package without installing it."""

import lzma
import re
import subprocess
from pathlib import Path

META_PACKAGE = "linux-image-amd64"
XZ_MAGIC = b"\xfd7zXZ\0"


class Kernel:
    """An unpacked kernel package."""

    def __init__(self, folder):
        self.image = folder / "boot/vmlinux"
        self._files = {module_name(path): path for path in folder.glob("lib/modules/**/*.ko")}

    def modules_with_dependencies(self, names):
        """The files of the modules in a valid loading order."""
        ordered = []

        def visit(name):
            file = self._files[name]
            if file in ordered:
                return
            for dependency in dependencies(file):
                visit(dependency)
            ordered.append(file)

        for name in names:
            if name in self._files:  # otherwise it is built into the kernel
                visit(name)
        return ordered


def unpacked_kernel(folder):
    """Returns the kernel in this folder; downloads and unpacks its package first if necessary."""
    folder = Path(folder)
    unpacked = folder / "kernel"
    if not list(unpacked.glob("boot/vmlinuz-*")):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "--quiet", "download", image_package()], cwd=folder, check=True)
        package = next(folder.glob("linux-image-*.deb"))
        subprocess.run(["dpkg", "-x", str(package), str(unpacked)], check=True)
        package.unlink()
    kernel = Kernel(unpacked)
    if not kernel.image.exists():
        decompress(next(unpacked.glob("boot/vmlinuz-*")), kernel.image)
    return kernel


# In the emulated machine, the image's own decompression would take half of the boot time.
def decompress(compressed, image):
    data = compressed.read_bytes()
    start = data.find(XZ_MAGIC)
    if start < 0:
        raise ValueError(f"{compressed} is not compressed with xz, as Debian's kernels are")
    unfinished = image.with_suffix(".part")
    unfinished.write_bytes(lzma.LZMADecompressor().decompress(data[start:]))
    unfinished.rename(image)


def image_package():
    """Finds the package with the files, on which the meta package depends."""
    listing = subprocess.run(["apt-cache", "depends", META_PACKAGE], capture_output=True, text=True,
                             check=True)
    found = re.search(r"Depends: (linux-image-\S+)", listing.stdout)
    if not found:
        raise FileNotFoundError(f"apt-cache knows no {META_PACKAGE}; run apt-get update")
    return found[1]


def module_name(path):
    return path.stem.replace("-", "_")


def dependencies(file):
    found = re.search(rb"\0depends=([^\0]*)\0", file.read_bytes())
    return [name.decode().replace("-", "_") for name in found[1].split(b",") if name] if found else []
