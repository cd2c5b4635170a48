#!/usr/bin/env python3
"""Tests of the timeline page in a headless Chromium. They compare the page with the output of falafel
replay and with the simulator's memory (fixtures.cpp)."""

import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/timeline"))
import browser  # noqa: E402 - found by the path above
import draw_findings  # noqa: E402

REPLAYS = ROOT / "tests/replays/store"
PICTURES = ROOT / "docs/findings"
ALL_FINDINGS = sorted(path.stem for path in REPLAYS.glob("*.replay"))
SOME_FINDINGS = ("without-collector-retry", "without-crc-verification", "without-epoch-reclamation",
                 "without-exclusion")
SERVER_LANES = 5
CTRL, SHIFT = 2, 8
programs = argparse.Namespace()


def run(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.errors.clear()
        self.browser.resize(1280, 800)
        self.browser.set_dark(False)

    def tearDown(self):
        self.assertEqual(self.browser.errors, [])

    def evaluate(self, expression):
        return self.browser.evaluate(expression)

    def page_of(self, finding):
        page = self.folder / f"{finding}.html"
        if not page.exists():
            made = run(programs.falafel, "trace", REPLAYS / f"{finding}.replay", "--output", page)
            self.assertEqual(made.returncode, 0, made.stderr)
        return page

    def open(self, finding, fragment=""):
        self.browser.open(self.page_of(finding), fragment)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")

    def drawn(self, kind):
        """The indices of drawn items of a kind."""
        self.browser.wait_for_frame()
        return self.evaluate(f"app.painter.drawn.filter(({{kind}}) => kind === '{kind}').map(({{index}}) => index)")

    def scrub(self, step):
        self.evaluate(
            "{const scrubber = document.getElementById('scrubber');"
            f"scrubber.value = {step}; scrubber.dispatchEvent(new Event('input'));}}"
        )

    # Contents

    def test_shows_lanes_and_operations(self):
        for finding in SOME_FINDINGS:
            with self.subTest(finding):
                replayed = run(programs.falafel, "replay", REPLAYS / f"{finding}.replay").stdout
                calls = re.findall(r"^ *\d+ +\S+ us +(client \d+|at rest) +calls ", replayed, re.MULTILINE)
                clients = json.loads(self.replay_json(finding))["scenario_options"]["clients"]
                self.open(finding)
                self.evaluate("app.fit()")
                self.assertEqual(len(self.drawn("operation")), len(calls))
                self.assertEqual(
                    self.evaluate("document.querySelectorAll('#lane-filter button').length"),
                    len(clients) + SERVER_LANES,
                )
                names = self.evaluate("app.timeline.lanes.map(({name}) => name)")
                self.assertEqual(names[: len(clients)], [f"client {index}" for index in range(len(clients))])
                self.assertEqual(names[len(clients):],
                                 ["device", "collector", "cleaner", "membership", "server"])

    @staticmethod
    def replay_json(finding):
        text = (REPLAYS / f"{finding}.replay").read_text()
        return text[text.index("{"): text.rindex("}") + 1]

    def test_loads_nothing_else(self):
        self.open("without-exclusion")
        self.assertEqual(self.evaluate("performance.getEntriesByType('resource').map(({name}) => name)"), [])

    def test_the_picture_can_be_saved(self):
        self.open("without-exclusion")
        svg = self.evaluate("app.toSvg(900, 500)")
        names = self.evaluate(
            f"[...new DOMParser().parseFromString({json.dumps(svg)}, 'image/svg+xml')"
            ".querySelectorAll('text')].map(({textContent}) => textContent)"
        )
        for lane in self.evaluate("app.timeline.lanes.map(({name}) => name)"):
            self.assertIn(lane, names)

    def test_shows_what_the_checker_says(self):
        finding = "published-collector.dangling-entry"
        self.open(finding)
        self.assertEqual(self.text("#verdict"), "violated")
        self.assertEqual(self.text("#title"), "collector.dangling-entry")
        self.assertRegex(self.text("#explanation"), r"points into region \d+, which is ")
        self.assertEqual(self.evaluate("document.querySelectorAll('#key-steps .critical').length"), 1)
        critical = re.search(r"critical: .* at step (\d+)",
                             run(programs.falafel, "replay", REPLAYS / f"{finding}.replay").stdout)
        self.assertEqual(self.text("#key-steps .critical a"), critical[1])

    # Causes of a failure

    def test_requests_are_arrows_from_posting_to_effect_to_completion(self):
        for finding in ("without-terminator-lock", "without-exclusion"):
            with self.subTest(finding):
                self.open(finding)
                self.evaluate("app.fit()")
                drawn, expected = self.evaluate(ARROWS)
                self.assertGreater(len(expected), 20)
                self.assertEqual(sorted(drawn), sorted(expected))

    def test_words_of_torn_transfers_are_drawn_one_by_one(self):
        self.browser.open(self.page_of_seed(2))
        self.evaluate("app.fit()")
        drawn = set(self.drawn("effect"))
        torn = self.evaluate(
            "[...app.timeline.effectsOfRequests.values()].filter(effects => effects.length > 8)"
            ".map(effects => ({effects, offsets: effects.map(effect => app.timeline.effects.offset[effect])}))"
        )
        self.assertGreater(len(torn), 0)
        for transfer in torn:
            self.assertEqual(len(set(transfer["offsets"])), len(transfer["effects"]))
            self.assertLessEqual(set(transfer["effects"]), drawn)

    def test_pauses_crashes_and_fences_are_marked(self):
        page = self.page_of_seed(6)
        self.browser.open(page)
        self.evaluate("app.fit()")
        svg = self.evaluate("app.toSvg(4000, 900)")
        for kind, symbol in (("crashed", "✖"), ("fence", "⊘"), ("error", "⚡")):
            count = self.evaluate(f"app.timeline.data.marks.filter(({{kind}}) => kind === '{kind}').length")
            self.assertGreater(count, 0, kind)
            self.assertEqual(svg.count(f">{symbol}</text>"), count)
        self.assertIn(">paused</text>", svg)
        self.browser.press("?")
        for symbol in ("✖", "⊘", "⚡"):
            self.assertIn(symbol, self.text("#legend"))

    def test_key_steps_stand_out(self):
        for finding in ALL_FINDINGS:
            with self.subTest(finding):
                self.open(finding)
                flags = self.evaluate(
                    "app.painter.drawn.filter(({kind}) => kind === 'key').map(({x, width}) => [x, x + width])")
                self.assertEqual(len(flags), self.evaluate("app.keySteps.steps.length"))
                for (_, end), (begin, _) in zip(flags, flags[1:]):
                    self.assertLessEqual(end, begin + 1)
                self.assertLessEqual(flags[-1][1], self.evaluate("app.canvas.clientWidth"))
                self.assertTrue(self.evaluate(IS_IN_VIEW % "#key-steps .violation"))
                self.assertTrue(self.evaluate(IS_IN_VIEW % "#summary"))
                self.assertTrue(self.evaluate(IS_IN_VIEW % "#table tbody tr"))
                explanation = self.evaluate("app.timeline.data.violations[0].explanation")
                self.assertEqual(self.text("#summary"), explanation.splitlines()[0])

    def test_an_arrow_leads_from_where_the_stale_value_came_from(self):
        self.open("without-crc-verification")
        arrows = self.evaluate(
            "(() => {const arrows = [], draw = app.painter.drawArrow;"
            "app.painter.drawArrow = (source, effect) => arrows.push([source, effect]);"
            "app.draw(); app.painter.drawArrow = draw; return arrows;})()"
        )
        self.assertGreater(len(arrows), 0)
        for source, effect in arrows:
            self.assertIn(source, self.evaluate(f"app.timeline.effects.sources[{effect}]"))
            self.assertIn(effect, self.evaluate(
                "app.keySteps.steps.filter(({role}) => role === 'stale').map(({effect}) => effect)"))

    # The table at a step

    def test_table_is_the_memory_of_the_simulator(self):
        for finding in ("without-crc-verification", "without-tag-discipline", "published-table.duplicate-key",
                        "without-exclusion"):
            with self.subTest(finding):
                dumped = run(programs.fixtures, "memory", REPLAYS / f"{finding}.replay")
                self.assertEqual(dumped.returncode, 0, dumped.stderr)
                moments = json.loads(dumped.stdout)
                self.assertGreater(len(moments), 20)
                self.open(finding)
                for moment in moments:
                    self.scrub(moment["before_step"] - 1)
                    self.assertEqual(self.shown_memory(), (moment["slots"], moment["regions"]), moment)

    def shown_memory(self):
        slots = self.evaluate(
            "[...document.querySelectorAll('#table tbody tr')].map(row => ({"
            "entry: row.title.slice(18), key: row.querySelector('.key').textContent,"
            "value: row.querySelector('.value').textContent}))"
        )
        regions = self.evaluate(
            "[...document.querySelectorAll('#regions tr[data-name^=region] .state')].map(({textContent}) => textContent)"
        )
        return slots, regions

    def test_changes_of_the_step_are_highlighted(self):
        self.open("without-collector-retry")
        step = self.evaluate("app.timeline.data.memory.slots.step[0]")
        self.scrub(step)
        self.assertEqual(self.evaluate("document.querySelectorAll('#table tr.changed').length"), 1)
        self.scrub(step + 1)
        self.assertEqual(self.evaluate("document.querySelectorAll('#table tr.changed').length"), 0)

    def test_an_entry_into_free_memory_is_marked(self):
        self.open("published-collector.dangling-entry")
        self.scrub(self.evaluate("app.timeline.steps"))
        self.assertIn("dangling", self.text("#table tr.dangling"))

    # Navigation

    def test_keys(self):
        self.open("without-epoch-reclamation", "#step=30")
        self.assertEqual(self.step(), 30)
        for key, modifiers, step in (("ArrowRight", 0, 31), ("ArrowLeft", 0, 30), ("ArrowRight", SHIFT, 40),
                                     ("Home", 0, 0)):
            self.browser.press(key, modifiers)
            self.assertEqual(self.step(), step, key)
        self.browser.press("End")
        self.assertEqual(self.step(), self.evaluate("app.timeline.steps"))
        key_steps = self.evaluate("app.keySteps.steps.map(({step}) => step)")
        self.scrub(key_steps[0])
        self.browser.press("n")
        self.assertEqual(self.step(), key_steps[1])
        self.browser.press("p")
        self.assertEqual(self.step(), key_steps[0])
        self.browser.press("ArrowRight", CTRL)
        self.assertIn(self.step(), self.evaluate("app.timeline.effects.step"))

    def test_keys_for_focus_and_theme(self):
        self.open("without-epoch-reclamation")
        for key, state in (("f", "app.state.isFocused"), ("t", "document.documentElement.classList.contains('dark')")):
            before = self.evaluate(state)
            self.browser.press(key)
            self.assertEqual(self.evaluate(state), not before)

    def test_lanes_that_do_not_fit_are_scrolled_to(self):
        self.browser.resize(1280, 300)
        self.open("without-exclusion")
        before = self.evaluate("app.layout.laneTop(0)")
        self.browser.press("ArrowDown")
        self.assertEqual(self.evaluate("app.layout.laneTop(0)"), before - 40)
        self.browser.press("ArrowUp")
        self.assertEqual(self.evaluate("app.layout.laneTop(0)"), before)

    def test_a_run_that_holds_opens_with_its_arrows(self):
        self.browser.open(self.page_of_seed(1, "--faults", "none", "--operations", 8))
        self.assertEqual(self.text("#verdict"), "holds")
        drawn, expected = self.evaluate(ARROWS)
        self.assertGreater(len(expected), 20)
        self.assertEqual(sorted(drawn), sorted(expected))

    def test_pointing_at_an_operation_shows_its_arrows(self):
        self.browser.open(self.page_of_seed(7))
        self.evaluate("app.fit()")
        self.assertEqual(self.evaluate(ARROWS)[0], [])
        self.evaluate("app.state.pointed = {kind: 'operation', index:"
                      "app.timeline.requests.operation.find(operation => operation !== null)}")
        self.assertGreater(len(self.evaluate(ARROWS)[0]), 0)

    def step(self):
        return self.evaluate("Number(document.getElementById('step').value)")

    def test_links_lead_to_steps(self):
        self.open("without-epoch-reclamation", "#step=118")
        self.assertEqual(self.step(), 118)
        self.browser.press("ArrowRight")
        self.browser.wait_for("location.hash === '#step=119'")
        self.assertEqual(self.evaluate("document.getElementById('link').href"), self.evaluate("location.href"))
        self.evaluate("location.hash = '#step=7'")
        self.browser.wait_for("document.getElementById('step').value === '7'")

    def test_zoom_and_drag(self):
        self.open("without-epoch-reclamation")
        scale = "app.layout.pixelsPerStep"
        before = self.evaluate(scale)
        self.browser.press("+")
        self.assertGreater(self.evaluate(scale), before)
        self.browser.mouse("mouseWheel", 500, 400, deltaX=0, deltaY=400)
        self.browser.wait_for(f"{scale} < {before}")
        for _ in range(4):
            self.browser.press("+")
        first = self.evaluate("app.layout.first")
        self.browser.mouse("mousePressed", 500, 400, button="left", buttons=1, clickCount=1)
        self.browser.mouse("mouseMoved", 400, 400, button="left", buttons=1)
        self.browser.mouse("mouseReleased", 400, 400, button="left", clickCount=1)
        moved = self.evaluate("app.layout.first") - first
        self.assertAlmostEqual(moved * self.evaluate(scale), 100, delta=2)

    def test_pointing_tells_the_decoded_words(self):
        self.open("without-collector-retry")
        self.browser.wait_for_frame()
        thing = self.evaluate(
            "app.painter.drawn.find(({kind, index}) => kind === 'effect' &&"
            "app.timeline.text(app.timeline.effects.kind[index]) === 'swapped')"
        )
        top = self.evaluate("document.getElementById('timeline').getBoundingClientRect().top")
        self.browser.mouse("mouseMoved", thing["x"] + thing["width"] / 2, top + thing["y"] + thing["height"] / 2)
        self.browser.wait_for("!document.getElementById('hover').hidden")
        self.assertRegex(self.text("#hover"), r"CAS of slot \d+: empty, tag 0 becomes offset \d+, tag 1")

    # Filters

    def open_one_where(self, condition):
        """The first finding whose page satisfies the condition."""
        for replay in sorted(REPLAYS.glob("*.replay")):
            self.open(replay.stem)
            if self.evaluate(condition):
                return
        self.fail(f"no finding has {condition}")

    def test_filter_by_key(self):
        self.open_one_where("new Set(app.timeline.operations.key).size > 1")
        self.evaluate("app.fit()")
        everything = len(self.drawn("operation"))
        key = self.evaluate("app.timeline.text(app.timeline.operations.key[0])")
        self.evaluate("{const filter = document.getElementById('key-filter');"
                      f"filter.value = {json.dumps(key)}; filter.dispatchEvent(new Event('change'));}}")
        shown = self.drawn("operation")
        self.assertTrue(0 < len(shown) < everything)
        for operation in shown:
            self.assertEqual(
                self.evaluate(f"app.timeline.text(app.timeline.operations.key[{operation}])"), key)
        self.assertTrue(self.text("#shown").startswith(f"{len(shown)}/{everything} operations"))

    def press_chip(self, name):
        self.evaluate(f"[...document.querySelectorAll('.chips button')]"
                      f".find(button => button.textContent === '{name}').click()")

    def test_filter_by_client_and_kind(self):
        self.open_one_where("app.timeline.operations.lane.includes(1)")
        self.evaluate("app.fit()")
        lanes = "operation => app.timeline.operations.lane[operation]"
        self.assertIn(1, self.evaluate(f"{self.drawn('operation')}.map({lanes})"))
        self.press_chip("client 1")
        self.assertNotIn(1, self.evaluate(f"{self.drawn('operation')}.map({lanes})"))
        self.press_chip("client 1")
        kinds = "operation => app.filters.operationKind[operation]"
        self.assertIn("set", self.evaluate(f"{self.drawn('operation')}.map({kinds})"))
        self.press_chip("set")
        self.assertNotIn("set", self.evaluate(f"{self.drawn('operation')}.map({kinds})"))
        verbs = "request => app.filters.requestKind[request]"
        self.press_chip("CAS")
        shown = self.evaluate(f"{self.drawn('request')}.map({verbs})")
        self.assertNotIn("CAS", shown)
        self.assertIn("READ", shown)

    # Sizes, themes, hostile texts

    def test_fits_its_window_in_light_and_dark(self):
        backgrounds = set()
        for width, height in ((1280, 800), (2560, 1440)):
            for dark in (False, True):
                self.browser.resize(width, height)
                self.browser.set_dark(dark)
                self.open("without-heartbeats")
                self.assertLessEqual(self.evaluate("document.documentElement.scrollWidth"), width)
                self.assertLessEqual(self.evaluate("document.documentElement.scrollHeight"), height)
                self.assertGreater(self.evaluate("document.getElementById('timeline').clientWidth"), 0.6 * width)
                self.assertGreater(len(self.drawn("request")), 20)
                backgrounds.add((dark, self.evaluate("getComputedStyle(document.body).backgroundColor")))
        self.assertEqual(len(backgrounds), 2)
        self.assertEqual(len({colour for _, colour in backgrounds}), 2)

    def test_hostile_texts_are_shown_and_nothing_else(self):
        page = self.folder / "hostile.html"
        made = run(programs.fixtures, "hostile", page)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.browser.open(page)
        self.assertIsNone(self.evaluate("window.taken"))
        self.assertEqual(self.evaluate("document.querySelectorAll('img, iframe, b:not(#hover b)').length"), 0)
        self.evaluate("app.fit()")
        self.scrub(100)
        keys = self.evaluate("[...document.querySelectorAll('#table .key')].map(({textContent}) => textContent)")
        self.assertEqual(keys[0], "</script><script>window.taken = true</script>")
        self.assertEqual(keys[2], '<img src=x onerror="window.taken = true">')
        self.assertTrue(keys[3].startswith("\\xff\\xfe\\x80"))
        self.assertIn("\\xe2\\x80\\xae", keys[4])
        self.assertTrue(keys[5].endswith("… (65536 bytes)"))
        self.assertIn("ключ", keys[6])
        self.assertIn("</script><script>", self.text("#explanation"))
        self.assertEqual(len(self.drawn("operation")), 7)

    # Other programs

    def test_shows_the_run_of_any_program(self):
        page = self.folder / "counter.html"
        made = run(programs.fixtures, "counter", page)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.browser.open(page)
        self.assertEqual(self.text("#title"), "linearizability")
        self.evaluate("app.fit()")
        self.assertEqual(len(self.drawn("operation")), 2)
        self.assertGreater(len(self.drawn("effect")), 4)
        names = self.evaluate("[...document.querySelectorAll('#lane-filter button')].map(({textContent}) => textContent)")
        self.assertEqual(names, ["server", "client 0", "client 1", "memory"])
        self.scrub(self.evaluate("app.timeline.steps"))
        words = self.evaluate("[...document.querySelectorAll('#words tbody tr')].map(({cells}) =>"
                              "[...cells].map(({textContent}) => textContent))")
        self.assertEqual(words[0], ["the counter", "1"])
        svg = self.evaluate("app.toSvg(2000, 500)")
        for text in ("the counter", "record[0]", "= 1", "add 1", "✎"):
            self.assertIn(text, svg)
        note = self.evaluate("app.timeline.data.marks.find(({kind}) => kind === 'note')")
        self.scrub(note["step"])
        self.assertIn("has read 0", self.text("#events"))
        drawn, expected = self.evaluate(ARROWS)
        self.assertGreater(len(expected), 8)
        self.assertEqual(sorted(drawn), sorted(expected))

    # Creation of pages

    def page_of_seed(self, seed, *options):
        made = run(programs.falafel, "fuzz", "--trace-seed", seed, *options, "--output", self.folder)
        self.assertEqual(made.returncode, 0, made.stderr)
        return self.folder / "trace.html"

    def test_a_run_that_holds_is_written_for_perfetto_too(self):
        events = self.folder / "events.json"
        self.page_of_seed(7, "--perfetto", events)
        self.assertGreater(len(json.loads(events.read_text())["traceEvents"]), 100)

    def test_fuzz_names_the_replay_file_and_the_page_of_a_failing_run(self):
        ended = run(programs.falafel, "fuzz", "--protocol", "published", "--in-flight", 1, "--schedules", 300,
                    "--stop", "--shrink-seconds", 0, "--output", self.folder)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        pages = re.findall(r"View it:\n +(\S+\.html)\n", ended.stdout)
        replays = re.findall(r"falafel replay (\S+\.replay)\n", ended.stdout)
        violated = re.findall(r"^VIOLATED (\S+)", ended.stdout, re.MULTILINE)
        self.assertGreater(len(violated), 0)
        self.assertEqual([len(pages), len(replays)], [len(violated), len(violated)])
        for page, replay, violation in zip(pages, replays, violated):
            self.assertEqual(run(programs.falafel, "replay", replay).returncode, 1)
            self.browser.open(page)
            self.assertEqual(self.text("#title"), violation)

    # Pictures in the documents

    def test_pictures_of_the_findings_are_up_to_date(self):
        for finding in ALL_FINDINGS:
            with self.subTest(finding):
                picture = draw_findings.draw(self.browser, self.page_of(finding))
                self.assertEqual(shapes((PICTURES / f"{finding}.svg").read_text()), shapes(picture),
                                 "run tools/timeline/draw_findings.py")

    def test_pictures_of_the_tour_are_up_to_date(self):
        path = str(ROOT / "tools/update-tour")
        loader = importlib.machinery.SourceFileLoader("update_tour", path)
        tour = importlib.util.module_from_spec(importlib.util.spec_from_loader("update_tour", loader))
        loader.exec_module(tour)
        self.browser.resize(tour.WIDTH, tour.HEIGHT)
        for name, picture in tour.pictures(self.browser, programs.falafel):
            with self.subTest(name):
                self.assertEqual(shapes((tour.PICTURES / f"{name}.svg").read_text()), shapes(picture),
                                 "run tools/update-tour")

    # Large runs. Times are printed but not checked, because the machine may be busy.

    def test_a_long_run_opens_and_pans(self):
        page = self.page_of_seed(1, "--clients", 8, "--operations", 420, "--faults", "none")
        opened_seconds = min(self.seconds_to_open(page) for _ in range(3))
        loaded_ms = self.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart")
        self.assertGreaterEqual(self.evaluate("app.timeline.steps"), 50_000)
        report = [f"{page.stat().st_size / 1e6:.1f} MB, {self.evaluate('app.timeline.steps')} steps, "
                  f"{self.evaluate('app.timeline.requestCount')} requests: load event after {loaded_ms} ms, "
                  f"drawn after {1000 * opened_seconds:.0f} ms"]
        for name, prepare in (("400 steps in view", "app.layout.show(0, 400);"), ("the whole run in view", "app.fit(); app.zoom(1.2);")):
            frames = self.evaluate(MEASURE_PANNING % prepare)
            frames["intervals"].sort()
            frames["draws"].sort()
            self.assertGreaterEqual(len(frames["intervals"]), 60)
            self.assertNotEqual(frames["first"], frames["last"])
            middle, worst = len(frames["draws"]) // 2, int(len(frames["draws"]) * 0.99)
            report.append(f"{name}: frame {frames['intervals'][middle]:.1f} ms (99 %: "
                          f"{frames['intervals'][worst]:.1f}), drawing {frames['draws'][middle]:.1f} ms "
                          f"(99 %: {frames['draws'][worst]:.1f})")
        scrub_ms = self.evaluate(
            "(() => {const begin = performance.now();"
            "for (let step = 0; step < 50000; step += 500) app.goTo(step);"
            "return (performance.now() - begin) / 100;})()"
        )
        report.append(f"moving to a step: {scrub_ms:.2f} ms")
        print("\n".join(report), flush=True)


    def seconds_to_open(self, page):
        begin = time.monotonic()
        self.browser.open(page)
        return time.monotonic() - begin


def shapes(svg):
    """A picture without its texts, because the visible part of a text depends on fonts."""
    return re.sub(r"<text .*?</text>\n?", "", svg, flags=re.DOTALL).splitlines()


# The drawn and the expected arrows of requests, as [x, end x], rounded.
ARROWS = """(() => {
  const {painter, timeline, layout} = app;
  const drawn = [], arrow = painter.arrow;
  painter.arrow = (x, y, endX) => drawn.push([Math.round(x), Math.round(endX)].join());
  app.draw();
  painter.arrow = arrow;
  const expected = [];
  const x = step => Math.round(layout.x(step));
  timeline.effectsOfRequests.forEach((effects, request) => {
    const {posted, completed, opcode, last} = timeline.requests;
    if (timeline.text(opcode[request]) === 'SEND' || posted[request] > layout.last || last[request] < layout.first) return;
    const steps = effects.map(effect => timeline.effects.step[effect]);
    for (const step of steps) expected.push([x(posted[request]), x(step)].join());
    const before = completed[request] === null ? [] : steps.filter(step => step <= completed[request]);
    if (before.length > 0) expected.push([x(Math.max(...before)), x(completed[request])].join());
  });
  return [drawn, expected];
})()"""

# Visible in the window and in the list that it scrolls.
IS_IN_VIEW = """(() => {
  const element = document.querySelector('%s');
  const {top, bottom} = element.getBoundingClientRect();
  const list = element.closest('ol, aside').getBoundingClientRect();
  return top >= list.top - 1 && bottom <= Math.min(list.bottom, innerHeight) + 1 && bottom > top;
})()"""

# Pans back and forth for 90 frames.
MEASURE_PANNING = """(async () => {
  %s
  app.layout.first = app.timeline.steps / 2;
  const nextFrame = () => new Promise(done => requestAnimationFrame(done));
  const intervals = [], draws = [];
  const first = app.layout.first;
  let last = await nextFrame();
  for (let frame = 0; frame < 90; ++frame) {
    app.layout.pan(frame < 60 ? -14 : 14);
    const begin = performance.now();
    app.draw();
    draws.push(performance.now() - begin);
    const now = await nextFrame();
    intervals.push(now - last);
    last = now;
  }
  return {intervals, draws, first, last: app.layout.first};
})()"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--falafel", required=True, help="the program")
    parser.add_argument("--fixtures", required=True, help="timeline_fixtures")
    programs, rest = parser.parse_known_args()
    if browser.find_program() is None:
        sys.exit("no Chromium is installed; tools/setup --checks installs it")
    unittest.main(argv=[sys.argv[0], *rest])
