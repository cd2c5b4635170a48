#!/usr/bin/python3
"""Builds the Python package as a wheel, installs it into an empty folder and into a new virtual
environment, and tests what is installed there. Arguments: the folder of the sources, the shared
library, the program falafel."""

import os
import pathlib
import subprocess
import sys
import tempfile

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
INSTALL = ["install", "--quiet", "--no-index", "--no-deps", "--root-user-action=ignore"]


def try_in_a_folder(folder, wheel, sources, program):
    """All tests, with pytest."""
    subprocess.run([*PIP, *INSTALL, "--target", folder / "installed", wheel], check=True)
    environment = {**os.environ, "PYTHONPATH": str(folder / "installed"),
                   "PYTHONDONTWRITEBYTECODE": "1", "FALAFEL_PROGRAM": str(program)}
    return subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider",
                           sources / "tests/python"], cwd=folder, env=environment).returncode


def try_in_an_environment(folder, wheel, sources, program):
    """Tests that the package needs nothing of the sources, the build or this process's environment.
    cffi comes from the system, because there may be no network."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages",
                    folder / "environment"], check=True)
    python = folder / "environment/bin/python"
    subprocess.run([*PIP, "--python", python, *INSTALL, wheel], check=True)
    return subprocess.run([python, "-I", sources / "tests/python/fresh_environment.py", program],
                          cwd=folder, env={"PATH": os.defpath}).returncode


def main():
    sources, library, program = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    with tempfile.TemporaryDirectory(prefix="falafel-python-") as name:
        folder = pathlib.Path(name)
        subprocess.run([sources / "client/python/build_wheel", library, folder], check=True)
        (wheel,) = folder.glob("falafel-*-py3-none-linux_*.whl")
        arguments = (folder, wheel, sources, program)
        return try_in_an_environment(*arguments) or try_in_a_folder(*arguments)


if __name__ == "__main__":
    sys.exit(main())
