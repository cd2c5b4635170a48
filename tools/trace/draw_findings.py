#!/usr/bin/env python3
"""Draws the picture of every schedule in docs/findings, beside it: what the page of falafel trace shows.
Needs the release build, and Chromium."""

import argparse
import pathlib
import subprocess
import tempfile

from browser import Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
FALAFEL = ROOT / "build/release/tools/falafel/falafel"
FINDINGS = ROOT / "docs/findings"
WIDTH, HEIGHT = 1100, 560


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        page = pathlib.Path(folder) / "trace.html"
        for replay in sorted(FINDINGS.glob("*.replay")):
            subprocess.run([FALAFEL, "trace", replay, "--output", page], check=True, stdout=subprocess.DEVNULL)
            browser.open(page)
            picture = replay.with_suffix(".svg")
            picture.write_text(browser.evaluate(f"app.toSvg({WIDTH}, {HEIGHT})"))
            print(picture.relative_to(ROOT))


if __name__ == "__main__":
    main()
