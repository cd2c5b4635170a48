"""Uses the package of the virtual environment whose interpreter runs this: stores and finds a value
over shared memory. Argument: the program falafel."""

import pathlib
import subprocess
import sys
import tempfile

import falafel


def mapped_libraries():
    """The files that this process has mapped whose names say that they are Falafel's."""
    maps = pathlib.Path("/proc/self/maps").read_text().splitlines()
    paths = {pathlib.Path(line.split(maxsplit=5)[5]) for line in maps if len(line.split()) > 5}
    return {path for path in paths if path.name.startswith("libfalafel")}


def main():
    environment = pathlib.Path(sys.prefix).resolve()
    assert sys.prefix != sys.base_prefix, "this is no virtual environment"
    for path in [pathlib.Path(falafel.__file__), *mapped_libraries()]:
        assert path.resolve().is_relative_to(environment), f"{path} is outside of {environment}"
    assert mapped_libraries(), "the package has not loaded its library"
    with tempfile.TemporaryDirectory(prefix="falafel-") as directory:
        server = subprocess.Popen(
            [sys.argv[1], "serve", "--directory", directory, "--memory", "64MiB"],
            stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout.readline().startswith("serving")
            with falafel.Store(directory=directory) as store:
                store.set("greeting", b"hello")
                assert store.get("greeting") == b"hello"
        finally:
            server.terminate()
            server.communicate()


if __name__ == "__main__":
    main()
