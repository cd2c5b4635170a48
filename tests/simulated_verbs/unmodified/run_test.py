#!/usr/bin/env python3
"""Tests of falafel run: Debian's programs, unmodified, as hosts of the simulator.

Usage: run_test.py FALAFEL MISBEHAVING THREADED FIXED
"""

import re
import sys
import tempfile
import unittest

from runs import NO_SEARCH, pingpong, run, trace_hash

MISBEHAVING, THREADED, FIXED = sys.argv[2:5]


class PingPongs(unittest.TestCase):
    def check(self, program, seeds, *options):
        for seed in seeds:
            first = run("--seed", str(seed), *options, hosts=pingpong(program))
            self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
            self.assertEqual(first.stdout.count("4 iters in"), 2, first.stdout)
            self.assertIn("--- server (exited with status 0)", first.stdout)
            self.assertIn("--- client (exited with status 0)", first.stdout)
            self.assertIsNotNone(trace_hash(first))
            second = run("--seed", str(seed), *options, hosts=pingpong(program))
            self.assertEqual(first.stdout, second.stdout)

    def test_reliable_connection(self):
        self.check("ibv_rc_pingpong -n 4 -r 8", [1, 2, 3])

    def test_events(self):
        self.check("ibv_rc_pingpong -e -n 4 -r 8", [1])

    def test_batches(self):
        self.check("ibv_rc_pingpong -N -n 4 -r 8", [1])

    def test_time_stamps(self):
        self.check("ibv_rc_pingpong -t -n 4 -r 8", [1, 2])

    def test_shared_receive_queue(self):
        self.check("ibv_srq_pingpong -n 4 -r 20", [1])

    def test_services_that_may_lose_messages(self):
        self.check("ibv_uc_pingpong -n 4 -r 8", [1], "--faults", "none")
        self.check("ibv_ud_pingpong -n 4 -r 8", [1], "--faults", "none")

    def test_other_seeds_take_other_courses(self):
        hosts = pingpong("ibv_rc_pingpong -n 4 -r 8")
        hashes = {trace_hash(run("--seed", seed, hosts=hosts)) for seed in ["1", "2"]}
        self.assertEqual(len(hashes), 2)


class Connections(unittest.TestCase):
    def test_a_client_connects_by_rdma_cm(self):
        hosts = {"server": "rdma_server", "client": "rdma_client -s server"}
        inline = ["--simulator", "max_inline_bytes=64"]
        first = run("--seed", "1", *inline, hosts=hosts)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertIn("rdma_client: end 0", first.stdout)
        self.assertEqual(first.stdout, run("--seed", "1", *inline, hosts=hosts).stdout)

    def test_examples_of_rdma_cm_exchange_messages(self):
        for program, end in (("ucmatose", "receiving data transfers"), ("udaddy", "data transfers complete")):
            with self.subTest(program):
                hosts = {"server": program, "client": f"{program} -s server"}
                first = run("--seed", "1", "--faults", "none", hosts=hosts)
                self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
                self.assertEqual(first.stdout.count(end), 2, first.stdout)
                self.assertEqual(first.stdout,
                                 run("--seed", "1", "--faults", "none", hosts=hosts).stdout)

    def test_a_program_with_threads_connects_by_rdma_cm(self):
        hosts = {"server": "rping -s -C 2 -v", "client": "rping -c -a server -C 2 -v"}
        first = run("--seed", "1", hosts=hosts)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertEqual(first.stdout.count("ping data: rdma-ping-1"), 2, first.stdout)
        self.assertEqual(first.stdout, run("--seed", "1", hosts=hosts).stdout)


class Threads(unittest.TestCase):
    def run_alone(self, argument, *options):
        result = run(*options, hosts={"alone": f"{THREADED} {argument}"})
        self.assertIn(f"before: {argument}", result.stdout)
        return result

    def test_threads_work_together(self):
        outputs = set()
        for seed in ["1", "2", "3", "1"]:
            first = self.run_alone("work", "--seed", seed)
            self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
            self.assertIn("counted 12,", first.stdout)
            outputs.add(first.stdout)
        self.assertEqual(len(outputs), 3)

    def test_stacks_of_detached_threads_are_used_again(self):
        result = self.run_alone("many")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_a_thread_can_be_joined_without_waiting(self):
        result = self.run_alone("try")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_threads_that_are_left_end_with_main(self):
        self.assertEqual(self.run_alone("left").returncode, 0)

    def test_a_deadlock_is_stuck(self):
        self.assertIn("VIOLATED progress.stuck", self.run_alone("deadlock").stdout)

    def test_a_thread_that_crashes_is_reported(self):
        self.assertIn("VIOLATED verbs.killed: the program of alone was killed by signal 11",
                      self.run_alone("crash").stdout)

    def test_a_thread_that_ends_the_process_is_reported(self):
        self.assertIn("ended with status 5 in another thread than that of main",
                      self.run_alone("exit").stdout)

    def test_what_is_not_carried_out_is_refused_by_name(self):
        self.assertIn("falafel: pthread_cancel is not simulated", self.run_alone("cancel").stdout)


class WaitingWithoutACall(unittest.TestCase):
    def check(self, argument):
        hosts = {"alone": f"{THREADED} {argument}"}
        first = run("--seed", "1", hosts=hosts)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertEqual(first.stdout, run("--seed", "1", hosts=hosts).stdout)
        # The first runs of each process find the loops, and later ones know them.
        hashes = {
            trace_hash(run("--schedules", "6", "--jobs", jobs, hosts=hosts)) for jobs in ["1", "3"]
        }
        self.assertEqual(len(hashes), 1)

    def test_a_loop_that_reads_a_word(self):
        self.check("flag")

    def test_a_loop_that_changes_its_stack(self):
        self.check("stack")

    def test_the_time_stamp_counter_is_virtual_time(self):
        result = run(hosts={"alone": f"{THREADED} stamps"})
        self.assertEqual(result.returncode, 0, result.stdout)


class Devices(unittest.TestCase):
    def test_devinfo_says_what_the_simulated_device_is(self):
        result = run(hosts={"alone": "ibv_devinfo -v"})
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("simulated0", result.stdout)
        self.assertIn("PORT_ACTIVE", result.stdout)


class Measurements(unittest.TestCase):
    def test_of_perftest(self):
        programs = {"ib_read_lat -n 5 -F": "t_typical", "ib_send_lat -n 5 -F": "t_typical",
                    "ib_atomic_lat -n 5 -F": "t_typical", "ib_write_bw -n 10 -s 64 -F": "BW average"}
        for program, column in programs.items():
            with self.subTest(program):
                first = run("--seed", "1", hosts=pingpong(program))
                self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
                self.assertIn(column, first.stdout)
                second = run("--seed", "1", hosts=pingpong(program))
                self.assertEqual(first.stdout, second.stdout)

    # The server sets an alarm, and the client leaves a completion queue when it closes the device.
    def test_of_messages(self):
        hosts = pingpong("ib_send_bw -n 10 -s 64 -F")
        for seed in ["1", "2"]:
            first = run("--seed", seed, hosts=hosts)
            self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
            self.assertEqual(first.stdout.count("BW average"), 2, first.stdout)
            self.assertEqual(first.stdout, run("--seed", seed, hosts=hosts).stdout)


class Campaigns(unittest.TestCase):
    def test_a_campaign_repeats_its_runs(self):
        hosts = pingpong("ibv_rc_pingpong -n 2 -r 8")
        hashes = {
            trace_hash(run("--schedules", "10", "--jobs", jobs, hosts=hosts))
            for jobs in ["1", "2"]
        }
        self.assertEqual(len(hashes), 1)

    def test_a_failing_schedule_is_recorded_and_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            hosts = {"alone": f"{MISBEHAVING} status"}
            found = run("--schedules", "3", "--output", folder, *NO_SEARCH, hosts=hosts)
            self.assertEqual(found.returncode, 1, found.stdout)
            self.assertRegex(found.stdout, "VIOLATED verbs.exit-status in .* first with seed 1:")
            file = f"{folder}/run-verbs.exit-status-1.replay"
            replayed = run("--replay", file, *NO_SEARCH, hosts=hosts)
            self.assertEqual(replayed.returncode, 1, replayed.stdout)
            self.assertIn("ended with status 7", replayed.stdout)


class Crashes(unittest.TestCase):
    def test_a_host_that_crashes_kills_its_process(self):
        hosts = pingpong("ibv_rc_pingpong -n 60 -r 8")
        for seed in range(1, 40):
            first = run("--faults", "client_crash", "--seed", str(seed), hosts=hosts)
            if "(was killed by signal 9)" not in first.stdout:
                continue
            second = run("--faults", "client_crash", "--seed", str(seed), hosts=hosts)
            self.assertEqual(first.stdout, second.stdout)
            return
        self.fail("no host has crashed")


class Misbehaviour(unittest.TestCase):
    def check(self, argument, *texts, options=(), status=1):
        result = run(*options, hosts={"alone": f"{MISBEHAVING} {argument}"})
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        for text in [f"before: {argument}", *texts]:
            self.assertIn(text, result.stdout)

    def test_sleeping_takes_virtual_time(self):
        self.check("hour", "slept 3600 s", status=0)

    def test_an_alarm_comes_in_virtual_time(self):
        self.check("alarm", "alarm after 2 s", status=0)

    def test_an_alarm_that_the_program_does_not_handle_ends_it(self):
        self.check("ignored", "VIOLATED verbs.killed: the program of alone was killed by signal 14")

    # perftest does not report if the processor's clock and the system's differ much.
    def test_clocks_agree_for_a_program_that_reads_them_again_and_again(self):
        self.check("clocks", "exited with status 0", status=0)

    # Most readings are no calls, each of which takes steps of the simulator.
    def test_clocks_that_are_read_again_and_again_are_read_without_calls(self):
        result = run(hosts={"alone": f"{MISBEHAVING} readings"})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("\n1 readings in 100 us", result.stdout)
        self.assertLess(int(re.search("([0-9]+) steps", result.stdout)[1]), 1000)

    def test_a_status_other_than_0_fails_the_run(self):
        self.check("status", "VIOLATED verbs.exit-status: the program of alone ended with status 7")

    def test_what_is_not_simulated_is_refused_by_name(self):
        self.check("fork", "falafel: fork is not simulated", "ended with status 126")

    def test_a_crash_is_reported(self):
        self.check("crash", "VIOLATED verbs.killed: the program of alone was killed by signal 11")

    def test_anonymous_memory_can_be_registered(self):
        self.check("mmap", status=0)

    def test_memory_of_a_library_can_be_passed(self):
        self.check("library", status=0)

    def test_memory_of_a_library_cannot_be_registered(self):
        self.check("foreign", "VIOLATED verbs.unknown-memory: the program of alone registers 64 bytes")

    def test_an_address_without_memory_is_reported(self):
        self.check("wild", "VIOLATED verbs.unknown-memory: the program of alone has called a function "
                   "with the address 0x1000")

    def test_random_numbers_of_the_system_repeat(self):
        outputs = [run("--seed", seed, hosts={"alone": f"{MISBEHAVING} random"}).stdout
                   for seed in ["1", "1", "2"]]
        self.assertIn("exited with status 0", outputs[0])
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0].splitlines()[:3], outputs[2].splitlines()[:3])

    def test_a_program_without_calls_is_ended(self):
        self.check("spin", "VIOLATED verbs.silent: the program of alone has run for 0.2 s",
                   options=["--patience", "0.2"])


class Variables(unittest.TestCase):
    def check(self, program):
        hosts = {"fixed": f"{program} variable", "other": f"{MISBEHAVING} variable"}
        result = run(hosts=hosts)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_variables_can_be_registered(self):
        self.check(MISBEHAVING)

    def test_variables_of_a_program_with_fixed_addresses_can_be_registered(self):
        self.check(FIXED)


class WrongUsage(unittest.TestCase):
    def check(self, message, *options, hosts):
        result = run(*options, hosts=hosts)
        self.assertEqual(result.returncode, 2)
        self.assertIn(message, result.stderr)

    def test_a_program_that_does_not_exist(self):
        self.check("there is no program 'ibv_no_pingpong'", hosts={"a": "ibv_no_pingpong"})

    def test_a_script(self):
        self.check("scripts and static programs do not", hosts={"a": __file__})

    def test_a_command_that_is_not_closed(self):
        self.check("a quote is not closed", hosts={"a": "ibv_devinfo 'x"})

    def test_an_unknown_fault(self):
        self.check("--faults hail", "--faults", "hail", hosts={"a": "ibv_devinfo"})

    def test_two_programs_with_fixed_addresses(self):
        self.check("fixed_program has fixed addresses, as has the program of host 'one'",
                   hosts={"one": f"{FIXED} hour", "two": f"{FIXED} hour"})

    def test_no_host(self):
        self.check("--host", hosts={})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
