"""The cost of a run of the tests: processor time, because elapsed time depends on what else the
machine does. The unit is a loop that is measured during the same run, so that machines of
different speeds can be compared."""

import os
import pathlib
import resource
import subprocess
import tempfile
import threading

# Most of the cost is compiling, so the loop compiles, too.
LOOP = """#include <map>
#include <regex>
#include <string>
std::map<std::string, int> count(const std::string& text) {
  std::map<std::string, int> counts;
  const std::regex word("[a-z]+");
  for (std::sregex_iterator match(text.begin(), text.end(), word), end; match != end; ++match) {
    ++counts[match->str()];
  }
  return counts;
}
"""
LOOP_COMMAND = ["g++", "-std=c++20", "-O1", "-x", "c++", "-", "-c", "-o"]
SECONDS_BETWEEN_LOOPS = 60


def processor_seconds():
    """The time of all processes that have ended and were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Unit:
    """Measures the loop at the begin of a stage and then once a minute, in the background. Its own
    time is not part of the stage's cost."""

    def __enter__(self):
        self._seconds = []
        self._over = threading.Event()
        self._measure()
        self._thread = threading.Thread(target=self._repeat)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _repeat(self):
        while not self._over.wait(SECONDS_BETWEEN_LOOPS):
            self._measure()

    def _measure(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [*LOOP_COMMAND, str(pathlib.Path(folder) / "loop.o")]
            process = subprocess.Popen(command, stdin=subprocess.PIPE)
            process.stdin.write(LOOP.encode())
            process.stdin.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if status != 0:
            raise RuntimeError(f"{' '.join(command)} failed; is g++ installed? Run tools/setup")
        self._seconds.append(usage.ru_utime + usage.ru_stime)

    @property
    def loops_seconds(self):
        return sum(self._seconds)

    @property
    def mean_seconds(self):
        return self.loops_seconds / len(self._seconds)


def read_costs(path):
    """The lines of cmake/measured as a list of (seconds, name), the dearest first."""
    if not path.exists():
        return []
    costs = {}
    for line in path.read_text().splitlines():
        user, system, name = line.split(" ", 2)
        costs[name] = costs.get(name, 0) + float(user) + float(system)
    return sorted(((seconds, name) for name, seconds in costs.items()), reverse=True)
