#!/usr/bin/env python3
"""Arguments that the commands refuse: each ends at once, with the right exit status and a message
that names what was wrong. Argument: the program falafel."""

import concurrent.futures
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())

OK, FAILED, WRONG_USAGE, NO_SERVER = range(4)
NO_MEMORY, WRONG_SIZE, REFUSED, NO_INPUT_OUTPUT = 7, 10, 11, 15

HUGE = "18446744073709551615"
OVER = "18446744073709551616"
CHECK = ("check", "--format", "jsonl")
SIM = ("bench", "--fabric", "sim")
NOWHERE = "127.0.0.1:1"  # nobody listens there

# Arguments, exit status, a piece of the message. `word` is a file without JSON, `cut` one with the
# beginning of some, and `dir` a directory.
CASES = [
    # Commands and options that do not exist.
    ([], WRONG_USAGE, "A subcommand is required"),
    (["fuz"], WRONG_USAGE, "falafel: there is no command 'fuz'; did you mean 'fuzz'?"),
    (["servee", "--memory", "1"], WRONG_USAGE,
     "there is no command 'servee'; did you mean 'serve'?"),
    (["serve_memcached"], WRONG_USAGE, "did you mean 'serve-memcached'?"),
    (["elephant"], WRONG_USAGE, "there is no command 'elephant'\n"),
    (["--verison"], WRONG_USAGE, "there is no option '--verison'; did you mean '--version'?"),
    (["fuzz", "--sede", "1"], WRONG_USAGE,
     "falafel fuzz: there is no option '--sede'; did you mean '--seed'?"),
    (["get", "--nmae=x", "key"], WRONG_USAGE,
     "there is no option '--nmae'; did you mean '--name'?"),
    (["get", "key", "more"], WRONG_USAGE, "more"),
    (["get"], WRONG_USAGE, "key is required"),
    # serve
    (["serve", "--memory", "-5"], WRONG_USAGE, "--memory: '-5' is no size"),
    (["serve", "--memory", "-5MiB"], WRONG_USAGE, "--memory: '-5MiB' is no size"),
    (["serve", "--memory", "100TiB"], WRONG_USAGE,
     "--memory: '100TiB' is too large; use at most 256GiB"),
    (["serve", "--memory", "99999999999TiB"], WRONG_USAGE, "use at most 256GiB"),
    (["serve", "--memory", HUGE], WRONG_USAGE, "use at most 256GiB"),
    (["serve", "--memory", OVER], WRONG_USAGE, "use at most 256GiB"),
    (["serve", "--memory", ""], WRONG_USAGE, "--memory: '' is no size"),
    (["serve", "--memory", "MiB"], WRONG_USAGE, "--memory: 'MiB' is no size"),
    (["serve", "--memory", "1.5GiB"], WRONG_USAGE, "a whole number of bytes"),
    (["serve", "--memory", "10x"], WRONG_USAGE, "--memory: '10x' is no size"),
    (["serve", "--memory", "0"], WRONG_USAGE, "--memory 0 is too small"),
    (["serve", "--entries", "-1"], WRONG_USAGE, "--entries: "),
    (["serve", "--entries", "0"], WRONG_USAGE, "--entries: "),
    (["serve", "--entries", HUGE], WRONG_USAGE, "--entries: "),
    (["serve", "--max-entries", "0"], WRONG_USAGE, "--max-entries: "),
    (["serve", "--entries", "9", "--max-entries", "8"], WRONG_USAGE, "--max-entries 8 is less"),
    (["serve", "--region-size", "-5"], WRONG_USAGE, "--region-size: '-5' is no size"),
    (["serve", "--region-size", HUGE], WRONG_USAGE, "--region-size: "),
    (["serve", "--region-size", "0"], WRONG_USAGE, "--region-size: '0' is too small"),
    (["serve", "--region-size", "256GiB"], WRONG_USAGE, "--region-size"),
    (["serve", "--clients", "-1"], WRONG_USAGE, "--clients: "),
    (["serve", "--client-timeout", "-1"], WRONG_USAGE, "--client-timeout: "),
    (["serve", "--client-timeout", "nan"], WRONG_USAGE, "--client-timeout: 'nan' is not a number"),
    (["serve", "--name", "a/b"], WRONG_USAGE, "--name: 'a/b' cannot name a server"),
    (["serve", "--name", ""], WRONG_USAGE, "--name: the value is empty"),
    (["serve", "--directory", ""], WRONG_USAGE, "--directory: the value is empty"),
    (["serve", "--metrics", "9100"], WRONG_USAGE,
     "--metrics: '9100' is not an address and port; use the form 127.0.0.1:9100"),
    (["serve", "--metrics", "1.2.3.4:99999"], WRONG_USAGE, "--metrics: "),
    (["serve", "--fabric", "foo"], WRONG_USAGE, "unknown fabric 'foo'"),
    (["serve", "--port", "-1"], WRONG_USAGE, "--port"),
    (["serve", "--service-level", "99"], WRONG_USAGE, "--service-level: "),
    (["serve", "--config", "missing"], WRONG_USAGE, "missing"),
    # serve-memcached
    (["serve-memcached", "--listen", "11211"], WRONG_USAGE,
     "--listen: '11211' is not an address and port; use the form 127.0.0.1:11211"),
    (["serve-memcached", "--listen", ":11211"], WRONG_USAGE, "use the form 127.0.0.1:11211"),
    (["serve-memcached", "--metrics", "x"], WRONG_USAGE, "--metrics: 'x'"),
    (["serve-memcached", "--threads", "-1"], WRONG_USAGE, "--threads: "),
    (["serve-memcached", "--connections", "0"], WRONG_USAGE, "--connections: "),
    (["serve-memcached", "--largest-value", "-5"], WRONG_USAGE, "--largest-value: '-5' is no size"),
    (["serve-memcached", "--largest-value", "100TiB"], WRONG_USAGE,
     "--largest-value: '100TiB' is too large; use at most 4GiB"),
    (["serve-memcached", "--socket", ""], WRONG_USAGE, "--socket: the value is empty"),
    (["serve-memcached", "--name", "a/b"], WRONG_USAGE, "--name: 'a/b' cannot name a server"),
    (["serve-memcached"], NO_SERVER, "falafel serve --name falafel"),
    # get, set, del, keys, stat, top
    *[(words, WRONG_SIZE, "the key is empty; a key has 1 to 65536 bytes")
      for words in (["get", ""], ["set", "", "value"], ["del", ""])],
    *[([command, *words, "--name", "a/b"], WRONG_USAGE, "--name: 'a/b' cannot name a server")
      for command, *words in (["get", "key"], ["set", "key", "value"], ["del", "key"], ["keys"],
                              ["stat"], ["top"])],
    (["get", "--name", "." + "a", "key"], WRONG_USAGE, "no '.' in front"),
    (["get", "--name", "a" * 65, "key"], WRONG_USAGE, "up to 64 letters"),
    (["get", "--name", "", "key"], WRONG_USAGE, "--name: the value is empty"),
    (["get", "--servers", "a,a", "key"], WRONG_USAGE,
     "--servers: the list of servers has 'a' twice"),
    (["get", "--servers", "", "key"], WRONG_USAGE, "--servers: the value is empty"),
    (["get", "--servers", "a,b/c", "key"], WRONG_USAGE, "--servers: 'b/c' cannot name a server"),
    (["get", "--etcd", "", "key"], WRONG_USAGE, "--etcd: the value is empty"),
    (["get", "--etcd", "foo:bar", "key"], WRONG_USAGE, "etcd at 'foo:bar'"),
    (["get", "--etcd", NOWHERE, "key"], REFUSED, "Connection refused"),
    (["get", "--etcd", NOWHERE, "--etcd-ca", "word", "key"], WRONG_USAGE, "write https://"),
    (["get", "--etcd", f"https://{NOWHERE}", "--etcd-ca", "missing", "key"], WRONG_USAGE,
     "'missing' cannot be used"),
    (["get", "--etcd", NOWHERE, "--etcd-user", "me", "key"], WRONG_USAGE, "a user and the file"),
    (["get", "--etcd", NOWHERE, "--etcd-user", "me", "--etcd-password-file", "missing", "key"],
     WRONG_USAGE, "cannot be read from 'missing'"),
    (["keys", "--servers", "a,a"], WRONG_USAGE, "has 'a' twice"),
    (["keys", "--servers", "a,b"], NO_SERVER, "none of 2 servers"),
    (["get", "key"], NO_SERVER, "falafel serve --name falafel"),
    (["set", "key"], WRONG_USAGE,
     "standard input is empty; to store an empty value: falafel set key ''"),
    (["set", "key", "--file", "missing"], NO_INPUT_OUTPUT, "missing"),
    (["set", "key", "--file", "dir"], NO_INPUT_OUTPUT, "cannot read the value from 'dir'"),
    (["set", "key", "--file", ""], WRONG_USAGE, "--file: the value is empty"),
    (["set", "key", "value", "--time-to-live", "-1"], WRONG_USAGE, "--time-to-live: "),
    (["set", "key", "value", "--time-to-live", "nan"], WRONG_USAGE,
     "--time-to-live: 'nan' is not a number"),
    (["set", "key", "value", "--time-to-live", "1e300"], WRONG_USAGE, "--time-to-live: "),
    (["set", "key", "value", "--pin", "--time-to-live", "1"], WRONG_USAGE, "--time-to-live excludes --pin"),
    (["top", "--interval", "-1"], WRONG_USAGE, "--interval: "),
    (["top", "--interval", "nan"], WRONG_USAGE, "--interval: 'nan' is not a number"),
    (["top", "--count", "-1"], WRONG_USAGE, "--count: '-1' is not a whole number"),
    # members
    (["members"], WRONG_USAGE, "--etcd is required"),
    (["members", "--etcd", ""], WRONG_USAGE, "--etcd: the value is empty"),
    (["members", "--etcd", NOWHERE], FAILED, "Connection refused"),
    (["members", "--etcd", NOWHERE, "--etcd-password-file", "word"], WRONG_USAGE,
     "a user and the file"),
    *[(["members", "--etcd", NOWHERE, option, "a,a"], WRONG_USAGE,
     f"{option}: the list of servers has 'a' twice")
      for option in ("--set", "--add", "--remove", "--lost")],
    (["members", "--etcd", NOWHERE, "--set", ""], WRONG_USAGE, "--set: the value is empty"),
    (["members", "--etcd", NOWHERE, "--set", "a/b"], WRONG_USAGE,
     "--set: 'a/b' cannot name a server"),
    (["members", "--etcd", NOWHERE, "--lease", "-1"], WRONG_USAGE, "--lease: "),
    (["members", "--etcd", NOWHERE, "--settle", "nan"], WRONG_USAGE,
     "--settle: 'nan' is not a number"),
    (["members", "--etcd", NOWHERE, "--detection", "14"], WRONG_USAGE, "--detection: "),
    (["members", "--etcd", NOWHERE, "--lease", "3590"], WRONG_USAGE, "at most 3600 s"),
    # bench
    (["bench", "--name", "nobody"], NO_SERVER, "no server named 'nobody'"),
    (["bench", "--name", "a/b"], WRONG_USAGE, "--name: 'a/b' cannot name a server"),
    (["bench", "--clients", "-1"], WRONG_USAGE, "--clients"),
    (["bench", "--in-flight", "-1"], WRONG_USAGE, "--in-flight"),
    (["bench", "--keys", "-1"], WRONG_USAGE, "--keys: '-1' is not a whole number"),
    (["bench", "--keys", HUGE, "--key-bytes", "32"], WRONG_USAGE, "--keys is"),
    (["bench", "--key-bytes", "-1"], WRONG_USAGE, "--key-bytes: '-1'"),
    (["bench", "--value-bytes", "-1"], WRONG_USAGE, "--value-bytes: '-1'"),
    (["bench", "--value-bytes", HUGE], WRONG_USAGE, "--value-bytes is"),
    (["bench", "--value-bytes", OVER], WRONG_USAGE,
     "--value-bytes: '18446744073709551616' is too large"),
    (["bench", "--seconds", "-1"], WRONG_USAGE, "--seconds"),
    (["bench", "--seconds", "nan"], WRONG_USAGE, "--seconds: 'nan' is not a number"),
    (["bench", "--seconds", "1e300"], WRONG_USAGE,
     "--seconds: '1e300' is not a number from 0 to 1e9"),
    (["bench", "--load", "nan"], WRONG_USAGE, "--load: 'nan' is not a number"),
    (["bench", "--region-size", "-5"], WRONG_USAGE, "--region-size: '-5' is no size"),
    (["bench", "--seed", "-1"], WRONG_USAGE, "--seed: '-1'"),
    (["bench", "--readahead", "1,2"], WRONG_USAGE, "--readahead"),
    (["bench", "--readahead", "-1,2,3"], WRONG_USAGE, "--readahead"),
    (["bench", "--workload", "foo"], WRONG_USAGE, "--workload: unknown workload 'foo'"),
    ([*SIM, "--card", "missing"], WRONG_USAGE,
     "--card: there is no profile 'missing'; name a file, or one of: connectx2-ddr"),
    ([*SIM, "--card", "word"], WRONG_USAGE, "'word': the profile is not JSON"),
    ([*SIM, "--card", "cut"], WRONG_USAGE, "'cut': the profile is not JSON"),
    ([*SIM, "--card", "dir"], WRONG_USAGE, "cannot read 'dir'"),
    ([*SIM, "--card", ""], WRONG_USAGE, "--card: the value is empty"),
    ([*SIM, "--card", "connectx3-qdr", "--jitter-ns", HUGE], WRONG_USAGE, "--jitter-ns: "),
    # calibrate, compare-stores, doctor
    (["calibrate", "--seconds", "nan"], WRONG_USAGE, "--seconds"),
    (["calibrate", "--fabric", "sim", "--card", "word"], WRONG_USAGE,
     "'word': the profile is not JSON"),
    (["calibrate", "--clients", "-1"], WRONG_USAGE, "--clients: "),
    (["calibrate", "--output", ""], WRONG_USAGE, "--output: the value is empty"),
    (["compare-stores", "--seconds", "nan"], WRONG_USAGE, "--seconds: 'nan' is not a number"),
    (["compare-stores", "--seed", "-1"], WRONG_USAGE, "--seed: '-1'"),
    (["compare-stores", "--card", "dir"], WRONG_USAGE, "cannot read 'dir'"),
    (["compare-stores", "--svg", ""], WRONG_USAGE, "--svg: the value is empty"),
    (["compare-stores", "--keys", "-1"], WRONG_USAGE, "--keys: "),
    (["doctor", "--memory-mib", "-1"], WRONG_USAGE, "--memory-mib: "),
    (["doctor", "--memory-mib", HUGE], WRONG_USAGE, "--memory-mib: "),
    (["doctor", "--clients", "0"], WRONG_USAGE, "--clients: "),
    # check
    ([*CHECK], WRONG_USAGE, "files is required"),
    ([*CHECK, "missing"], WRONG_USAGE, "missing:1: cannot open the file"),
    ([*CHECK, "dir"], WRONG_USAGE, "dir:1: "),
    ([*CHECK, "word"], WRONG_USAGE, "word:1: not valid JSON: column 1 is unexpected"),
    ([*CHECK, "cut"], WRONG_USAGE, "cut:1: not valid JSON: column 6 is unexpected"),
    (["check", "--format", "specification", "cut"], WRONG_USAGE,
     "cut:1: not valid JSON: column 6 is unexpected"),
    (["check", "--format", "kv-log", "word"], WRONG_USAGE, "word:1: column 1: expected a map"),
    (["check", "--format", "foo", "word"], WRONG_USAGE, "--format: foo"),
    ([*CHECK, "word", "--steps", "-1"], WRONG_USAGE, "--steps: '-1'"),
    ([*CHECK, "word", "--memory-mib", "-1"], WRONG_USAGE, "--memory-mib: "),
    ([*CHECK, "word", "--page", ""], WRONG_USAGE, "--page: the value is empty"),
    # fuzz, ablate, prove, worlds
    (["fuzz", "--schedules", "-1"], WRONG_USAGE, "--schedules: "),
    (["fuzz", "--schedules", "0"], WRONG_USAGE, "--schedules: "),
    (["fuzz", "--schedules", OVER], WRONG_USAGE, "--schedules: "),
    (["fuzz", "--seed", "-1"], WRONG_USAGE, "--seed: '-1' is not a whole number"),
    (["fuzz", "--seed", "1.5"], WRONG_USAGE, "--seed: '1.5' is not a whole number"),
    (["fuzz", "--seconds", "-1"], WRONG_USAGE, "--seconds: "),
    (["fuzz", "--seconds", "nan"], WRONG_USAGE, "--seconds: 'nan' is not a number"),
    (["fuzz", "--jobs", "-1"], WRONG_USAGE, "--jobs: "),
    (["fuzz", "--shard", "5/4"], WRONG_USAGE, "--shard 5/4"),
    (["fuzz", "--shrink-seconds", "-1"], WRONG_USAGE, "--shrink-seconds: '-1' is not a number"),
    (["fuzz", "--faults", "foo"], WRONG_USAGE, "--faults foo: unknown fault"),
    (["fuzz", "--faults", ""], WRONG_USAGE, "--faults: the value is empty"),
    (["fuzz", "--output", ""], WRONG_USAGE, "--output: the value is empty"),
    (["fuzz", "--output", "word/x"], WRONG_USAGE, "--output word/x: Not a directory"),
    (["fuzz", "--results", ""], WRONG_USAGE, "--results: the value is empty"),
    (["fuzz", "--results", "dir", "--resume"], WRONG_USAGE, "dir: cannot read the file"),
    (["fuzz", "--trace-seed", "-1"], WRONG_USAGE, "--trace-seed: '-1'"),
    (["fuzz", "--simulator", "step_limit=-1"], WRONG_USAGE, "step_limit cannot be '-1'"),
    (["fuzz", "--without", "foo"], WRONG_USAGE, "--without foo: unknown safeguard"),
    (["ablate", "--seconds-per-safeguard", "-1"], WRONG_USAGE, "--seconds-per-safeguard: "),
    (["ablate", "--seconds-per-safeguard", "nan"], WRONG_USAGE, "--seconds-per-safeguard: "),
    (["ablate", "--schedules", "-1"], WRONG_USAGE, "--schedules: "),
    (["ablate", "--schedules", "0"], WRONG_USAGE, "--schedules: "),
    (["ablate", "--safeguard", "foo"], WRONG_USAGE, "--safeguard foo: unknown safeguard"),
    (["prove", "--seconds", "-1"], WRONG_USAGE, "--seconds: "),
    (["prove", "--seconds", "nan"], WRONG_USAGE, "--seconds: 'nan' is not a number"),
    (["prove", "--seed", "-1"], WRONG_USAGE, "--seed: '-1'"),
    (["prove", "--preemptions", "-1"], WRONG_USAGE, "--preemptions: '-1'"),
    (["prove", "--executions", "-1"], WRONG_USAGE, "--executions: '-1'"),
    (["prove", "--explored-from", "-1"], WRONG_USAGE, "--explored-from: '-1'"),
    (["prove", "--replay", "word"], WRONG_USAGE, "word: not a replay file"),
    (["prove", "--seconds", "1", "--checkpoint", "word"], WRONG_USAGE,
     "word: is no checkpoint; name another file"),
    (["prove", "--seconds", "1", "--checkpoint", "dir"], WRONG_USAGE,
     "dir: is no checkpoint; name another file"),
    (["worlds", "--seconds", "-1"], WRONG_USAGE, "--seconds: "),
    (["worlds", "--preemptions", "-1"], WRONG_USAGE, "--preemptions: '-1'"),
    (["worlds", "--world", "foo"], WRONG_USAGE, "--world foo: there is no such world"),
    # merge, report, replay, trace, shrink
    *[([command, file], WRONG_USAGE,
     f"{file}: ") for command in ("merge", "report", "replay", "trace")
      for file in ("missing", "word", "cut", "dir")],
    (["merge", "damaged_results"], WRONG_USAGE,
     "damaged_results: a value is missing or of another kind"),
    (["report", "word", "--known", "dir"], WRONG_USAGE, ": "),
    (["report", "word", "--shrink-seconds", "nan"], WRONG_USAGE, "--shrink-seconds: 'nan'"),
    (["replay", "word", "--critical-tries", "-1"], WRONG_USAGE, "--critical-tries: '-1'"),
    (["trace", "word", "--output", ""], WRONG_USAGE, "--output: the value is empty"),
    (["shrink", "word"], WRONG_USAGE, "--output is required"),
    (["shrink", "cut", "--output", "x"], WRONG_USAGE, "cut: not a replay file"),
    (["shrink", "word", "--output", "x", "--seconds", "-1"], WRONG_USAGE, "--seconds: "),
]


class Arguments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="falafel-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "word").write_text("hello\n")
        (self.folder / "cut").write_text('{"a":')
        (self.folder / "damaged_results").write_text(
            '{"format": "falafel campaign results", "version": 2}')
        (self.folder / "dir").mkdir()

    def run_falafel(self, *arguments, **options):
        return subprocess.run(
            [PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, cwd=self.folder,
            env={**os.environ, "FALAFEL_DIRECTORY": str(self.folder / "run")}, **options)

    def test_each_is_refused_with_its_status_and_message(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            completed = list(pool.map(lambda case: self.run_falafel(*case[0]), CASES))
        for (arguments, status, message), got in zip(CASES, completed):
            with self.subTest(arguments=arguments):
                self.assertEqual(got.returncode, status, got.stderr)
                self.assertIn(message, got.stderr)
                self.assertNotIn("json.exception", got.stderr)

    def test_the_version(self):
        got = self.run_falafel("--version")
        self.assertEqual((got.returncode, got.stderr), (OK, ""))
        self.assertRegex(got.stdout, r"^falafel \d+\.\d+\.\d+ ")

    def test_an_empty_value_is_stored_if_it_is_meant(self):
        for words in ([""], ["--file", os.devnull], ["--file", "-"]):
            with self.subTest(words=words):
                self.assertEqual(self.run_falafel("set", "key", *words).returncode, NO_SERVER)

    def test_a_profile_may_be_a_file_of_any_name(self):
        (self.folder / "card").write_text("{}")
        got = self.run_falafel(*SIM, "--card", "card")
        self.assertIn("'card': the profile does not begin with", got.stderr)

    @unittest.skipIf("FALAFEL_SANITIZED" in os.environ, "sanitizers need more address space")
    def test_too_little_address_space(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
        for words in (["serve", "--memory", "512MiB"], ["get", "key"], ["stat"], ["keys"]):
            with self.subTest(words=words):
                got = self.run_falafel(*words, preexec_fn=limit)
                self.assertIn(got.returncode, (NO_MEMORY, NO_SERVER), got.stderr)
                self.assertNotIn("assertion", got.stderr)
                self.assertNotIn("terminate", got.stderr)


if __name__ == "__main__":
    unittest.main()
