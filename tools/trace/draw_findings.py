#!/usr/bin/env python3
"""Makes the page of every schedule in docs/findings (falafel trace), beside it, and draws what it shows as a
picture. Needs the release build, and Chromium."""

import argparse
import pathlib
import subprocess

from browser import Browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
FALAFEL = ROOT / "build/release/tools/falafel/falafel"
FINDINGS = ROOT / "docs/findings"
WIDTH, HEIGHT = 1100, 560


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    with Browser() as browser:
        for replay in sorted(FINDINGS.glob("*.replay")):
            page = replay.with_suffix(".html")
            picture = replay.with_suffix(".svg")
            make_page(FALAFEL, replay, page)
            picture.write_text(draw(browser, page))
            print(page.relative_to(ROOT), picture.relative_to(ROOT))


def make_page(falafel, replay, page):
    subprocess.run([falafel, "trace", replay, "--output", page], check=True, stdout=subprocess.DEVNULL)


def draw(browser, page):
    browser.open(page)
    return browser.evaluate(f"app.toSvg({WIDTH}, {HEIGHT})")


if __name__ == "__main__":
    main()
