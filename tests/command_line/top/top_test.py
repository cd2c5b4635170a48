#!/usr/bin/env python3
"""falafel top: in a pseudo-terminal, as a user sees it, and as lines for scripts. Argument: the
program."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "store"))

from harness import Falafel, wait_until

PROGRAM = sys.argv.pop(1)
WRONG_USAGE, NO_PERMISSION = 2, 4
SMALL = ("--memory", "16MiB", "--region-size", "64KiB")

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


class Screen:
    """A terminal with `falafel top` in it."""

    def __init__(self, falafel, *options, rows=50, columns=100, interval="0.1"):
        self.terminal, program_side = pty.openpty()
        self.output = ""
        self.resize(rows, columns)
        self.settings = termios.tcgetattr(self.terminal)
        self.process = subprocess.Popen(
            [PROGRAM, "top", "--directory", falafel.directory, "--interval", interval, *options],
            stdin=program_side, stdout=program_side, stderr=program_side, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(program_side, termios.TIOCSCTTY, 0))
        os.close(program_side)

    def resize(self, rows, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def read(self):
        while select.select([self.terminal], [], [], 0.02)[0]:
            try:
                read = os.read(self.terminal, 65536)
            except OSError:  # the program has ended
                return
            if not read:
                return
            self.output += read.decode()

    def lines(self):
        """The last complete frame."""
        self.read()
        frames = self.output.split("\x1b[H")
        complete = [frame for frame in frames if "\x1b[J" in frame]
        if not complete:
            return []
        # The terminal makes "\r\n" of "\n", also behind another "\r".
        return re.split("\r+\n", complete[-1].split("\x1b[J")[0].replace("\x1b[K", ""))

    def shows(self, pattern):
        return any(re.search(pattern, line) for line in self.lines())

    def await_text(self, pattern):
        try:
            wait_until(lambda: self.shows(pattern))
        except AssertionError as error:
            raise AssertionError(f"no {pattern!r} in {self.lines()}") from error

    def await_end(self):
        wait_until(lambda: (self.read(), self.process.poll() is not None)[1])
        self.read()
        return self.process.returncode

    def is_restored(self):
        """Returns whether the settings and the last sequence of each kind restore the terminal."""
        return (termios.tcgetattr(self.terminal)[3] == self.settings[3]
                and self.output.rfind(LEAVE) > self.output.rfind(ENTER)
                and self.output.rfind(SHOW) > self.output.rfind(HIDE))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.terminal)


class TopTest(unittest.TestCase):
    def setUp(self):
        self.falafel = Falafel(PROGRAM)
        self.addCleanup(self.falafel.close)

    def serve(self):
        server = self.falafel.serve(*SMALL)
        self.addCleanup(server.end, signal.SIGKILL)
        return server

    def screen(self, *options, **size):
        screen = Screen(self.falafel, *options, **size)
        self.addCleanup(screen.close)
        return screen

    def plain(self, *options):
        status, output, error = self.falafel.run("top", "--plain", "--interval", "0.1", *options)
        self.assertEqual((status, error), (0, ""))
        return [dict(field.split("=", 1) for field in line.split())
                for line in output.decode().splitlines()]


class OnAScreen(TopTest):
    def test_shows_the_server_and_quits_at_q(self):
        self.serve()
        screen = self.screen()
        screen.await_text(r"clients 0 of 64: 0 awaited, 0 in quarantine, 0 leaving")
        screen.await_text(r"^  regions free +.* [0-9.]+% #")
        screen.await_text(r"^  regions granted +0\.0 +0$")
        self.assertNotEqual(termios.tcgetattr(screen.terminal)[3], screen.settings[3])
        self.assertIn(ENTER, screen.output)
        screen.type("xq")
        self.assertEqual(screen.await_end(), 0)
        self.assertTrue(screen.is_restored(), screen.output[-80:])

    def test_restores_the_terminal_after_signals(self):
        self.serve()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            screen = self.screen()
            screen.await_text("clients 0")
            screen.process.send_signal(number)
            self.assertEqual(screen.await_end(), 0)
            self.assertTrue(screen.is_restored(), number)

    def test_control_c_is_a_signal(self):
        self.serve()
        screen = self.screen()
        screen.await_text("clients 0")
        screen.type("\x03")
        self.assertEqual(screen.await_end(), 0)
        self.assertTrue(screen.is_restored())

    def test_is_suspended_and_continues(self):
        self.serve()
        screen = self.screen()
        screen.await_text("clients 0")
        screen.process.send_signal(signal.SIGTSTP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(screen.process.pid, os.WUNTRACED)[1]))
        screen.read()
        self.assertTrue(screen.is_restored())
        screen.output = ""
        screen.process.send_signal(signal.SIGCONT)
        screen.await_text("clients 0")
        self.assertIn(ENTER, screen.output)

    def test_fits_the_terminal_when_it_changes(self):
        self.serve()
        screen = self.screen(interval="3600")
        screen.await_text("regions granted")
        screen.output = ""
        screen.resize(6, 30)  # the system sends SIGWINCH
        wait_until(lambda: screen.lines())
        lines = screen.lines()
        self.assertEqual(len(lines), 6, lines)
        self.assertLessEqual(max(map(len, lines)), 30, lines)

    def test_says_when_the_server_goes_away_and_comes_back(self):
        screen = self.screen()
        screen.await_text("SERVER AWAY for 0 s: ")
        server = self.serve()
        screen.await_text("clients 0 of 64")
        self.assertFalse(screen.shows("SERVER AWAY"))
        server.end(signal.SIGKILL)
        screen.await_text("SERVER AWAY")
        self.assertTrue(screen.shows("the last report follows"), screen.lines())
        self.serve()
        wait_until(lambda: not screen.shows("SERVER AWAY"))

    def test_ends_after_a_number_of_refreshes(self):
        self.serve()
        screen = self.screen("--count", "2")
        self.assertEqual(screen.await_end(), 0)
        self.assertEqual(screen.output.count("\x1b[H"), 2)
        self.assertTrue(screen.is_restored())


class AsLines(TopTest):
    def test_values_and_rates(self):
        self.serve()
        for number in range(3):
            self.falafel.run("set", f"key {number}", "value")
        first, second = self.plain("--count", "2")
        self.assertEqual(first["up"], "1")
        self.assertEqual(first["name"], "falafel")
        self.assertEqual(first["memory_bytes"], str(self.falafel.report()["chunk"]["bytes"]))
        self.assertEqual(first["regions_granted"], "3")
        self.assertEqual(int(first["clients"]), 0)
        self.assertNotIn("regions_granted_per_second", first)
        self.assertEqual(float(second["regions_granted_per_second"]), 0)
        self.assertGreater(float(second["uptime_seconds"]), 0)

    def test_rates_are_those_between_refreshes(self):
        self.serve()
        top = subprocess.Popen([PROGRAM, "top", "--directory", self.falafel.directory, "--interval",
                                "0.5"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(top.communicate)
        self.addCleanup(top.terminate)
        def refresh():
            return dict(field.split("=", 1) for field in top.stdout.readline().split())

        earlier = first = refresh()
        for number in range(4):
            self.falafel.run("set", f"key {number}", "value")
        granted = 0.0  # the sum of the rates, each for the time since the previous refresh
        while earlier["regions_granted"] != "4" or earlier is first:
            now = refresh()
            seconds = float(now["uptime_seconds"]) - float(earlier["uptime_seconds"])
            granted += float(now["regions_granted_per_second"]) * seconds
            earlier = now
        self.assertAlmostEqual(granted, 4 - int(first["regions_granted"]), delta=2)

    def test_a_server_that_is_away(self):
        self.assertEqual(self.plain("--count", "2"), [{"up": "0", "name": "falafel"}] * 2)

    def test_wrong_usage(self):
        self.assertEqual(self.falafel.run("top", "--interval", "0")[0], WRONG_USAGE)

    @unittest.skipUnless(os.geteuid() == 0, "needs several users")
    def test_says_who_may_ask(self):
        self.serve()
        folder = pathlib.Path(self.falafel.directory)
        folder.parent.chmod(0o755)
        folder.chmod(0o700)
        status, _, error = self.falafel.run("top", "--count", "1", user=1, group=1, extra_groups=[])
        self.assertEqual(status, NO_PERMISSION, error)
        self.assertIn("run as the user that runs the server", error)


if __name__ == "__main__":
    unittest.main()
