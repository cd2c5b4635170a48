#!/usr/bin/env python3
"""The queries of the dashboard for Grafana name metrics and labels that the server and the clients
export. Arguments: the program, the dashboard."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import unittest
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "store"))

from harness import HANG_LIMIT_SECONDS, Falafel

DASHBOARD = pathlib.Path(sys.argv.pop())
PROGRAM = sys.argv.pop()
# The labels that Prometheus adds to every sample.
OF_PROMETHEUS = {"instance", "job"}


def fetch(ready_line):
    address = ready_line.rsplit("metrics at ", 1)[1].strip()
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=HANG_LIMIT_SECONDS) as reply:
        return reply.read().decode()


def samples_of(text):
    """Name: the labels of its samples, each with its values."""
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, labels = re.match(r"(\w+)(?:\{(.*)\})? ", line).groups()
            known = samples.setdefault(name, {})
            for label, value in re.findall(r'(\w+)="([^"]*)"', labels or ""):
                known.setdefault(label, set()).add(value)
    return samples


def exported():
    falafel = Falafel(PROGRAM)
    try:
        with falafel.serve("--memory", "16MiB", "--metrics", "127.0.0.1:0") as server:
            front = subprocess.Popen(
                [PROGRAM, "serve-memcached", "--directory", falafel.directory, "--listen",
                 "127.0.0.1:0", "--metrics", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
            try:
                return samples_of(fetch(server.ready_line) + fetch(front.stdout.readline()))
            finally:
                front.send_signal(signal.SIGTERM)
                front.communicate(timeout=HANG_LIMIT_SECONDS)
    finally:
        falafel.close()


class Dashboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dashboard = json.loads(DASHBOARD.read_text())
        cls.samples = exported()
        cls.queries = [target["expr"] for panel in cls.dashboard["panels"]
                       for target in panel.get("targets", [])]

    def selectors(self):
        """(query, name, matchers) of each metric in the queries."""
        for query in self.queries:
            for name, matchers in re.findall(r"\b(falafel_\w+)(?:\{([^}]*)\})?", query):
                yield query, name, re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', matchers)

    def test_has_queries_of_the_server_of_clients_and_of_the_front(self):
        names = {name for _, name, _ in self.selectors()}
        for name in ("falafel_memory_bytes", "falafel_client_operations_total",
                     "falafel_memcached_connections"):
            self.assertIn(name, names)
        self.assertGreater(len(self.queries), 30)

    def test_every_metric_is_exported(self):
        for query, name, _ in self.selectors():
            self.assertIn(name, self.samples, query)

    def test_every_label_and_value_is_exported(self):
        for query, name, matchers in self.selectors():
            labels = self.samples[name]
            for label, operator, value in matchers:
                if label in OF_PROMETHEUS:
                    continue
                self.assertIn(label, labels, query)
                if "$" not in value:
                    for alternative in value.split("|"):
                        self.assertIn(alternative, labels[label], query)

    def test_every_label_of_a_group_or_legend_is_exported(self):
        for panel in self.dashboard["panels"]:
            for target in panel.get("targets", []):
                groups = re.findall(r"\bby \(([^)]*)\)", target["expr"])
                used = {label for group in groups for label in re.split(r",\s*", group)}
                used |= set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
                (name, *_) = re.findall(r"\bfalafel_\w+", target["expr"])
                self.assertLessEqual(used, set(self.samples[name]) | OF_PROMETHEUS, target["expr"])

    def test_parentheses_match(self):
        for query in self.queries:
            for opening, closing in ("()", "{}", "[]"):
                self.assertEqual(query.count(opening), query.count(closing), query)

    def test_counters_are_queried_as_rates(self):
        for query in self.queries:
            for name in re.findall(r"falafel_\w+_(?:total|bucket|sum|count)\b", query):
                self.assertRegex(query, rf"\b(?:rate|increase)\({name}[{{\[]", query)

    def test_panels_do_not_overlap(self):
        taken = {}
        for panel in self.dashboard["panels"]:
            place = panel["gridPos"]
            for row in range(place["y"], place["y"] + place["h"]):
                for column in range(place["x"], place["x"] + place["w"]):
                    self.assertLess(column, 24)
                    other = taken.setdefault((row, column), panel["title"])
                    self.assertEqual(other, panel["title"])

    def test_identifiers_are_unique(self):
        identifiers = [panel["id"] for panel in self.dashboard["panels"]]
        self.assertEqual(len(identifiers), len(set(identifiers)))


if __name__ == "__main__":
    unittest.main()
