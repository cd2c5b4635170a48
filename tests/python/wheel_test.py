#!/usr/bin/python3
"""Builds the Python package as a wheel, installs it into an empty folder, and tests what is
installed there with pytest. Arguments: the folder of the sources, the shared library, the program
falafel."""

import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    sources, library, program = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    with tempfile.TemporaryDirectory(prefix="falafel-python-") as name:
        folder = pathlib.Path(name)
        subprocess.run([sources / "client/python/build_wheel", library, folder], check=True)
        (wheel,) = folder.glob("falafel-*-py3-none-linux_*.whl")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
                        "--no-deps", "--root-user-action=ignore", "--disable-pip-version-check",
                        "--target", folder / "installed", wheel], check=True)
        environment = {**os.environ, "PYTHONPATH": str(folder / "installed"),
                       "PYTHONDONTWRITEBYTECODE": "1", "FALAFEL_PROGRAM": str(program)}
        return subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider",
                               sources / "tests/python"], cwd=folder, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
