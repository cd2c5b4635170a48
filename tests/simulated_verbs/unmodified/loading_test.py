#!/usr/bin/env python3
"""A copy of a process that has loaded a program runs as a process that loads it does.

Usage: loading_test.py FALAFEL MISBEHAVING THREADED BEFORE_MAIN WITHOUT_LIBRARY
"""

import ctypes
import errno
import os
import struct
import sys
import unittest

from runs import NO_SEARCH, pingpong, run, trace_hash

MISBEHAVING, THREADED, BEFORE_MAIN, WITHOUT_LIBRARY = sys.argv[2:6]

RPING = {"server": "rping -s -C 2 -v", "client": "rping -c -a server -C 2 -v"}
WRITE_LATENCY = {"server": "ib_write_lat -n 5 -F", "client": "ib_write_lat -n 5 -F server"}

PR_SET_CHILD_SUBREAPER = 36


def call_prctl(*arguments):
    if ctypes.CDLL(None, use_errno=True).prctl(*arguments) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def refuse_copies():
    """The system answers prctl(PR_GET_TID_ADDRESS) as one that is not made for it."""
    system_call, first_argument, prctl, get_tid_address = 0, 16, 157, 40
    load, jump_if_equal, give = 0x20, 0x15, 0x06
    permit, refuse = 0x7FFF0000, 0x00050000 | errno.EINVAL
    instructions = [(load, 0, 0, system_call), (jump_if_equal, 0, 3, prctl),
                    (load, 0, 0, first_argument), (jump_if_equal, 0, 1, get_tid_address),
                    (give, 0, 0, refuse), (give, 0, 0, permit)]
    code = ctypes.create_string_buffer(
        b"".join(struct.pack("HBBI", *instruction) for instruction in instructions))
    program = struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(code))
    no_new_privileges, set_seccomp, filter_mode = 38, 22, 2
    call_prctl(no_new_privileges, 1, 0, 0, 0)
    call_prctl(set_seccomp, filter_mode, program, 0, 0)


class Copies(unittest.TestCase):
    def check(self, hosts, seeds, *options, text="trace hash"):
        for seed in seeds:
            outputs = [run("--seed", str(seed), *options, *loading, hosts=hosts).stdout
                       for loading in ([], ["--load-anew"])]
            self.assertIn(text, outputs[0])
            self.assertEqual(outputs[0], outputs[1])

    def check_alone(self, program, seeds=(1, 2), **arguments):
        self.check({"alone": program}, seeds, **arguments)

    def test_pingpongs(self):
        for program in ["ibv_rc_pingpong -n 4 -r 8", "ibv_rc_pingpong -e -n 4 -r 8",
                        "ibv_srq_pingpong -n 4 -r 20"]:
            self.check(pingpong(program), range(1, 6), text="4 iters in")

    def test_the_run_of_the_document(self):
        self.check(pingpong("ibv_rc_pingpong -n 20"), [1], text="trace hash")

    def test_rdma_cm_and_threads(self):
        self.check(RPING, range(1, 4), text="ping data: rdma-ping-1")

    def test_loops_without_calls(self):
        self.check(WRITE_LATENCY, [1], text="t_typical")
        self.check_alone(f"{THREADED} flag")

    def test_failures(self):
        self.check_alone(f"{MISBEHAVING} status", text="VIOLATED verbs.exit-status")
        self.check_alone(f"{MISBEHAVING} fork", text="fork is not simulated")
        self.check_alone(f"{MISBEHAVING} wild", text="VIOLATED verbs.unknown-memory")

    def test_crashes(self):
        self.check_alone(f"{MISBEHAVING} crash", text="killed by signal 11")
        self.check_alone(f"{THREADED} crash", text="killed by signal 11")

    def test_crashes_of_hosts(self):
        hosts = pingpong("ibv_rc_pingpong -n 60 -r 8")
        self.check(hosts, range(1, 12), "--faults", "client_crash")

    def test_time_and_random_numbers(self):
        self.check_alone(f"{MISBEHAVING} hour", text="slept 3600 s")
        self.check_alone(f"{MISBEHAVING} random")
        self.check_alone(f"{MISBEHAVING} clocks")

    def test_memory(self):
        for argument in ["mmap", "library", "variable"]:
            self.check_alone(f"{MISBEHAVING} {argument}", text="exited with status 0")

    def test_threads(self):
        for argument in ["work", "many", "left"]:
            self.check_alone(f"{THREADED} {argument}", text="exited with status 0")
        self.check_alone(f"{THREADED} exit", text="ended with status 5 in another thread")
        self.check_alone(f"{THREADED} deadlock", text="VIOLATED progress.stuck")

    def test_actions_before_main(self):
        self.check_alone(BEFORE_MAIN, seeds=range(1, 6), text="loaded\nconstructor: process ")

    def test_a_library_that_is_not_there(self):
        self.check_alone(WITHOUT_LIBRARY, text="exited with status 127")
        self.check_alone(WITHOUT_LIBRARY, text="libmissing_library.so: cannot open shared object")


class Campaigns(unittest.TestCase):
    def check(self, hosts, schedules, *options):
        hashes = {trace_hash(run("--schedules", schedules, *options, *loading, hosts=hosts))
                  for loading in (["--jobs", "1"], ["--jobs", "2"], ["--load-anew"])}
        self.assertEqual(len(hashes), 1)

    def test_programs(self):
        self.check(pingpong("ibv_rc_pingpong -n 2 -r 8"), "30")
        self.check(RPING, "10")
        self.check({"alone": f"{THREADED} work"}, "10")
        self.check({"alone": BEFORE_MAIN}, "10")

    def test_crashes_of_hosts(self):
        self.check(pingpong("ibv_rc_pingpong -n 60 -r 8"), "12", "--faults", "client_crash",
                   *NO_SEARCH)

    def test_no_process_is_left(self):
        call_prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        run("--schedules", "5", "--jobs", "2", hosts=pingpong("ibv_rc_pingpong -n 2 -r 8"))
        self.assertRaises(ChildProcessError, os.waitpid, -1, os.WNOHANG)


class SystemsThatRefuseCopies(unittest.TestCase):
    def test_each_run_loads_its_programs(self):
        hosts = pingpong("ibv_rc_pingpong -n 2 -r 8")
        usual = run("--schedules", "5", hosts=hosts)
        refused = run("--schedules", "5", hosts=hosts, before=refuse_copies)
        self.assertEqual(trace_hash(refused), trace_hash(usual))
        self.assertEqual(refused.stderr.count("the system does not copy processes"), 1)
        self.assertIn("(Invalid argument)", refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
