#!/usr/bin/env python3
"""Draws the pictures of docs/findings: that of each schedule in tests/replays/store, from its
falafel trace page. Needs the release build and Chromium."""

import argparse
import pathlib
import subprocess
import tempfile

from browser import Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
FALAFEL = ROOT / "build/release/bin/falafel"
REPLAYS = ROOT / "tests/replays/store"
PICTURES = ROOT / "docs/findings"
WIDTH, HEIGHT = 1100, 560


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    with Browser() as browser, tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "trace.html"
        for replay in sorted(REPLAYS.glob("*.replay")):
            picture = PICTURES / f"{replay.stem}.svg"
            make_page(FALAFEL, replay, page)
            picture.write_text(draw(browser, page))
            print(picture.relative_to(ROOT))


def make_page(falafel, replay, page):
    subprocess.run([falafel, "trace", replay, "--output", page], check=True, stdout=subprocess.DEVNULL)


def draw(browser, page):
    browser.open(page)
    return browser.evaluate(f"app.toSvg({WIDTH}, {HEIGHT})")


if __name__ == "__main__":
    main()
