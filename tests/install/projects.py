"""Small projects that use the installed tree, and the commands that install and build."""

import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

from hang_limit import HANG_LIMIT_SECONDS

PROJECTS = pathlib.Path(__file__).resolve().parent
COMPONENTS = ("simulator", "checkers", "explorer", "simulated_verbs")
# Headers of test libraries, and of packages that only the project's own programs need.
NOT_FOR_USERS = ("gtest", "gmock", "rapidcheck", "benchmark", "CLI", "gperftools")

CMAKE_LISTS = """cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES CXX)
find_package(falafel {version} REQUIRED COMPONENTS {component})
add_executable(example {source})
target_link_libraries(example PRIVATE falafel::{component})
"""


def run(*words, **options):
    completed = attempt(*words, **options)
    if completed.returncode != 0:
        raise AssertionError(f"{words}: {completed.stdout}{completed.stderr}")
    return completed.stdout


def attempt(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=2 * HANG_LIMIT_SECONDS, **options)


def install(build, prefix):
    run("cmake", "--install", build, "--component", "library", "--prefix", prefix)


def source_of(component):
    return PROJECTS / component / "example.cpp"


def configure(folder, prefix, component, version="", options=()):
    """Writes a project that uses the component, and configures it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CMakeLists.txt").write_text(CMAKE_LISTS.format(
        component=component, version=version, source=source_of(component)
    ))
    return attempt(
        "cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=None", *options
    )


def pkg_config(prefix, *words):
    folder = next(prefix.rglob("falafel.pc")).parent
    return run("pkg-config", *words, env={**os.environ, "PKG_CONFIG_PATH": str(folder)}).split()
