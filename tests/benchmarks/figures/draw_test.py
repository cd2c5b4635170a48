#!/usr/bin/env python3
"""Figures are drawn as SVG, with the values of the thesis; mistakes are reported. Argument: the
script that draws."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SCRIPT = sys.argv.pop(1)
WRONG_USAGE = 2
SVG = "{http://www.w3.org/2000/svg}"


def figure(number, **changes):
    return {
        "figure": number, "title": "Throughput of clients",
        "x": {"label": "clients"}, "y": {"label": "million operations per second"},
        "series": [
            {"name": "SET, published", "protocol": "published", "measured": False,
             "points": [[1, 0.11], [20, 1.65], [40, 1.73]]},
            {"name": "SET, hardened", "protocol": "hardened", "measured": False,
             "points": [[1, 0.1], [20, 1.5], [40, 1.6]]},
            {"name": "SET", "measured": True, "points": [[1, 0.098], [20, 1.9]]}],
        **changes}


class DrawTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def draw(self, data, *options):
        text = data if isinstance(data, str) else json.dumps(data)
        (self.folder / "data.json").write_text(text)
        return subprocess.run(
            [SCRIPT, "--data", self.folder / "data.json", "--output", self.folder / "out", *options],
            capture_output=True, text=True)

    def pictures(self):
        return sorted(path.name for path in (self.folder / "out").glob("*"))

    def picture(self, number):
        return xml.etree.ElementTree.parse(self.folder / "out" / f"{number}.svg").getroot()

    def expect_mistake(self, result, message):
        self.assertEqual(result.returncode, WRONG_USAGE, result.stderr)
        self.assertIn(message, result.stderr)

    def test_a_figure_has_its_labels_and_the_values_of_the_thesis(self):
        self.assertEqual(self.draw([figure("5.6"), figure("5.13a")]).returncode, 0)
        self.assertEqual(self.pictures(), ["5.13a.svg", "5.6.svg"])
        root = self.picture("5.6")
        self.assertEqual(root.tag, SVG + "svg")
        text = " ".join(" ".join(element.itertext()) for element in root.iter(SVG + "text"))
        for part in ("5.6: Throughput of clients", "million operations per second",
                     "SET, published", "SET, hardened", "thesis: SET"):
            self.assertIn(part, text)
        values = root.find(f".//{SVG}g[@id='gnuplot_plot_3']")
        self.assertEqual(len(list(values.iter(SVG + "use"))), 2 + 1)  # two values and the legend

    def test_the_same_data_gives_the_same_picture(self):
        self.draw([figure("5.6")])
        first = (self.folder / "out/5.6.svg").read_bytes()
        self.draw([figure("5.6")])
        self.assertEqual((self.folder / "out/5.6.svg").read_bytes(), first)

    def test_some_figures_only(self):
        self.assertEqual(self.draw([figure("5.5"), figure("5.6")], "--only", "5.6").returncode, 0)
        self.assertEqual(self.pictures(), ["5.6.svg"])
        self.expect_mistake(self.draw([figure("5.5")], "--only", "9.9"), "there is no figure 9.9")

    def test_logarithmic_axes(self):
        axis = {"label": "bytes", "scale": "logarithmic"}
        points = [{"name": "READ", "measured": False, "points": [[1, 1], [1024, 2], [1048576, 3]]}]
        self.assertEqual(self.draw([figure("4.1", x=axis, series=points)]).returncode, 0)
        text = " ".join(" ".join(t.itertext()) for t in self.picture("4.1").iter(SVG + "text"))
        self.assertIn("READ", text)

    def test_mistakes(self):
        self.expect_mistake(self.draw("no JSON"), "--data")
        self.expect_mistake(self.draw([{"figure": "5.6"}]), "figure 5.6")
        no_points = [{"name": "SET", "measured": False, "points": []}]
        self.expect_mistake(self.draw([figure("5.6", series=no_points)]), "figure 5.6")


if __name__ == "__main__":
    unittest.main()
