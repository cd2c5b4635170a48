"""Builds the wheel (see build_wheel): the package, the shared library, and its declarations."""

import os

from setuptools import setup
from wheel.bdist_wheel import bdist_wheel


class WheelForAnyPython(bdist_wheel):
    """The library makes a wheel specific to the platform, but no compiled module makes it specific
    to a version of Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    version=os.environ["FALAFEL_VERSION"],
    cffi_modules=["declarations.py:ffi"],
    cmdclass={"bdist_wheel": WheelForAnyPython},
)
