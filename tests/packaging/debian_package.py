"""The Debian package of a build: made, unpacked, and the files that its dependencies bring."""

import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from hang_limit import HANG_LIMIT_SECONDS  # noqa: E402


def run(*words, **options):
    completed = subprocess.run(words, capture_output=True, text=True, timeout=HANG_LIMIT_SECONDS, **options)
    if completed.returncode != 0:
        raise AssertionError(f"{words}: {completed.stdout}{completed.stderr}")
    return completed.stdout


def made_package(build):
    """Makes the package from the build directory; returns its path."""
    for old in build.glob("falafel_*.deb"):
        old.unlink()
    run("cmake", "--build", build, "--target", "falafel_debian_package")
    (package,) = build.glob("falafel_*.deb")
    return package


class InstalledFiles:
    """The package's files as they are after an installation, in a folder of their own."""

    def __init__(self, package, folder):
        run("dpkg-deb", "--extract", package, folder)
        self.folder = Path(folder)
        self._package = package

    def paths(self):
        """(here, there) of each file."""
        return [(path, f"/{path.relative_to(self.folder)}")
                for path in sorted(self.folder.rglob("*")) if not path.is_dir()]

    def read(self, path):
        return (self.folder / path.lstrip("/")).read_text()

    def dependencies(self):
        """The names of the packages that any installation of this one has. Those of which another
        package could take the place are not among them."""
        known = {}
        for line in run("dpkg-query", "--show", "--showformat",
                        "${Package}\t${Pre-Depends}, ${Depends}\n").splitlines():
            name, _, depends = line.partition("\t")
            known[name] = depends
        found = set()
        unvisited = names_in(run("dpkg-deb", "--field", self._package, "Depends"))
        while unvisited:
            name = unvisited.pop()
            if name in known and name not in found:
                found.add(name)
                unvisited += names_in(known[name])
        return found

    def files_of_dependencies(self):
        """The real paths of the files that these packages have brought to this machine."""
        names = sorted(self.dependencies())
        listing = run("dpkg-query", "--listfiles", *names) if names else ""
        return {os.path.realpath(path) for path in listing.splitlines() if path.startswith("/")}


def names_in(depends):
    clauses = [clause.strip() for clause in depends.split(",")]
    return [re.match(r"[\w.+-]+", clause)[0] for clause in clauses if clause and "|" not in clause]
