"""The sampler of kernel programs: many threads, snapshots, and that nothing of it stays."""

import ctypes
import errno
import glob
import json
import os
import re
import signal
import statistics
import subprocess
import threading
import time
import unittest

from exactness import (DRIVER, IS_LONG, LIMIT, PROGRAMS, exit_if_refused, in_three_tries, running, sample,
                       times_of_threads, wait_until_it_sleeps)

RUNNING, BLOCKED, RUNNABLE = 0, 1, 2
SLEEP_NS = 2_000_000
PAGED_OUT_DEPTH = 40
ALONE_S = 30  # until no sampler of the whole machine is at work
OFTEN = 30_000  # switches in a second, on the average: three times as many as it takes
WAITS = os.path.join(PROGRAMS, "waits")
BPF_PROG_GET_FD_BY_ID, BPF_MAP_GET_FD_BY_ID, BPF_LINK_GET_FD_BY_ID = 13, 14, 30
SYS_BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]


def program(depth):
    return os.path.join(PROGRAMS, f"chain_{depth}")


def functions(recording, one):
    return [name for name in recording.stack(one) if name.startswith("f_")]


def is_there(command, number):
    """Whether the kernel still knows a program, map or link of that number."""
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = ctypes.create_string_buffer(128)
    ctypes.memmove(attributes, number.to_bytes(4, "little"), 4)
    fd = libc.syscall(SYS_BPF, command, attributes, 128)
    if fd >= 0:
        os.close(fd)
        return True
    if ctypes.get_errno() != errno.ENOENT:
        raise OSError(ctypes.get_errno(), "bpf")
    return False


def kernel_objects(pid):
    """(how to ask for it, number) of each program, map and link that a process holds."""
    fields = {"prog_id": BPF_PROG_GET_FD_BY_ID, "map_id": BPF_MAP_GET_FD_BY_ID, "link_id": BPF_LINK_GET_FD_BY_ID}
    found = set()
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with open(path, encoding="ascii") as file:
            for name, number in re.findall(r"^(\w+):\s*(\d+)$", file.read(), re.MULTILINE):
                if name in fields:
                    found.add((fields[name], int(number)))
    return found


def state_and_tracer(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        text = file.read()
    return re.search(r"^State:\s*(\S)", text, re.MULTILINE)[1], re.search(r"^TracerPid:\s*(\d+)", text, re.MULTILINE)[1]


def wait_for_threads(pid, count):
    end = time.monotonic() + LIMIT
    while len(os.listdir(f"/proc/{pid}/task")) < count and time.monotonic() < end:
        time.sleep(0.01)


def run_time_ns(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])


def turns_and_time(pid):
    """How often the threads of a process got a processor, and for how long, in nanoseconds."""
    sums = [0, 0]
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as file:
            used, _, turns = map(int, file.read().split())
        sums = [sums[0] + turns, sums[1] + used]
    return sums


def wait_until_all_ran(pid, count):
    """Past what a thread does first."""
    wait_for_threads(pid, count)
    end = time.monotonic() + LIMIT
    while any(run_time_ns(pid, tid) < 1_000_000 for tid in os.listdir(f"/proc/{pid}/task")) and time.monotonic() < end:
        time.sleep(0.01)


class Driver:
    """The driver, running until it is killed."""

    def __init__(self, pid, *words):
        self.process = subprocess.Popen([DRIVER, "bpf", str(pid), "999", "600", *words], stdout=subprocess.PIPE)

    def __enter__(self):
        line = json.loads(self.process.stdout.readline())
        if "ready" not in line:
            raise AssertionError(line)
        return self.process

    def __exit__(self, *_):
        self.process.kill()
        self.process.stdout.close()
        self.process.wait()


@in_three_tries
class Bpf(unittest.TestCase):
    def test_nothing_is_lost_with_64_threads_at_4999_hz(self):
        # They take only what nobody else wants of the processors, this test least of all.
        with running("chrt", "--idle", "0", program(50), "64") as process:
            wait_for_threads(process.pid, 64)
            recording = sample("bpf", process.pid, "max=3000", rate=4999, seconds=30 if IS_LONG else 3)
        self.assertIsNone(recording.error, recording.error)
        self.assertEqual(recording.counts["lost"], 0)
        self.assertGreater(len(recording.samples), 0)
        self.assertEqual(recording.counts["ends"]["complete"], len(recording.samples))
        for one in recording.samples:
            if recording.stack(one)[-1] == "leaf_spin":
                self.assertEqual(len(functions(recording, one)), 50)

    def test_a_thousand_threads(self):
        with running("chrt", "--idle", "0", program(10), "1000", "sleepy") as process:
            wait_for_threads(process.pid, 1000)
            recording = sample("bpf", process.pid, "max=1", rate=99, seconds=3)
            snapshot = sample("snapshot", process.pid)
        self.assertIsNone(recording.error, recording.error)
        self.assertEqual(recording.counts["lost"], 0)
        self.assertIsNone(snapshot.error, snapshot.error)
        self.assertEqual(len({one["tid"] for one in snapshot.samples}), 1000)
        exact = sum(functions(snapshot, one) == [f"f_{i:04}" for i in range(10)] for one in snapshot.samples)
        # The rest was about to fall asleep again.
        self.assertGreater(exact, 900 if IS_LONG else 500)

    def assert_nearly_complete(self, recording):
        """A thread that has not run yet has a stack without memory, and rules that count on some."""
        self.assertGreaterEqual(recording.counts["ends"]["complete"], 0.99 * len(recording.samples) - 1)

    def test_with_few_descriptors_processors_have_the_clocks(self):
        with running("chrt", "--idle", "0", program(50), "200") as process:
            wait_for_threads(process.pid, 200)
            recording = sample("bpf", process.pid, "max=200", rate=1999, before=("prlimit", "--nofile=100:100"))
        self.assertIsNone(recording.error, recording.error)
        self.assertIn("each CPU", recording.counts["limits"])
        self.assertGreater(len(recording.samples), 0)
        self.assertEqual({one["pid"] for one in recording.samples}, {process.pid})
        self.assert_nearly_complete(recording)

    def sample_waking(self, kind, middle=lambda pid: None):
        """(the recording, switches in a second, processor time in a second) of threads that wake each other."""
        process = subprocess.Popen([WAITS, kind])
        try:
            wait_for_threads(process.pid, 2)
            timer = threading.Timer(1, middle, (process.pid,))
            timer.start()
            before, begin = turns_and_time(process.pid), time.monotonic()
            recording = sample("bpf", process.pid, seconds=4)
            after, passed = turns_and_time(process.pid), time.monotonic() - begin
            timer.join()
        finally:
            process.kill()
            process.wait()
        self.assertIsNone(recording.error, recording.error)
        self.assertEqual({one["pid"] for one in recording.samples}, {process.pid})
        return recording, (after[0] - before[0]) / passed, (after[1] - before[1]) / passed

    def assert_clocks_are_of_processors(self, kind, middle=lambda pid: None):
        """Beside other programs they may not get to switch that often: another try."""
        end, rate = time.monotonic() + LIMIT, 0
        while rate < OFTEN and time.monotonic() < end:
            recording, rate, used = self.sample_waking(kind, middle)
        if rate < OFTEN:
            self.skipTest(f"{rate:.0f} switches a second, on a machine as busy as this one")
        self.assertIn("more than 10,000 times in a second", recording.counts["limits"])
        return recording, used

    def test_threads_that_switch_often_have_the_clocks_of_processors(self):
        recording, used = self.assert_clocks_are_of_processors("wakes")
        times = [one["time"] for one in recording.samples]
        sampled = sum(one["weight"] for one in recording.samples) / (max(times) - min(times))
        self.assertAlmostEqual(sampled / (used / 1e9), 1, delta=0.3)
        self.assertEqual(len({one["tid"] for one in recording.samples}), 2)
        self.assert_nearly_complete(recording)

    def test_threads_that_begin_to_switch_often_get_them_later(self):
        self.assert_clocks_are_of_processors("wakes_later", lambda pid: os.kill(pid, signal.SIGUSR1))

    def test_threads_that_switch_seldom_have_their_own(self):
        with running(program(10), "2") as process:
            recording = sample("bpf", process.pid, "max=100")
        self.assertNotIn("each CPU", recording.counts["limits"])

    def test_threads_born_later_are_seen(self):
        with running("chrt", "--idle", "0", program(10), "40") as process:
            recording = sample("bpf", process.pid, "max=2000", rate=1999, seconds=30 if IS_LONG else 3)
        self.assertIsNone(recording.error, recording.error)
        # On a busy machine hardly any of them runs.
        self.assertGreater(len({one["tid"] for one in recording.samples}), 1 if IS_LONG else 0)
        self.assert_nearly_complete(recording)

    def test_times_add_up(self):
        """Threads that run, wait for a processor and sleep: no time of theirs is missing or there twice."""
        # The time of threads that compute is counted in ticks, and a machine that is halted has none.
        for words in (("3", "sleepy"), ("5",)) if IS_LONG else (("3", "sleepy"),):
            with running(program(50), *words) as process:
                wait_for_threads(process.pid, int(words[0]))
                recording = sample("bpf", process.pid, "on", "off", seconds=2)
            self.assertIsNone(recording.error, recording.error)
            totals = times_of_threads(recording)
            self.assertEqual(len(totals), int(words[0]))
            for total, wall in totals.values():
                self.assertAlmostEqual(total / wall, 1, delta=0.01 if IS_LONG else 0.1, msg=f"{total} of {wall} ns")

    def test_sleeps_have_their_length(self):
        with running(program(50), "2", "sleepy") as process:
            recording = sample("bpf", process.pid, "off", "max=600")
        lengths = sorted(one["weight"] for one in recording.samples if one["kind"] == BLOCKED)[4:]
        self.assertGreater(len(lengths), 100)
        self.assertGreater(lengths[0], SLEEP_NS - 100_000)
        # Timers of an unhurried thread are late by 50 microseconds; a busy machine makes some later.
        if IS_LONG:
            self.assertLess(statistics.quantiles(lengths, n=4)[0], SLEEP_NS + 150_000)

    def test_kernel_frames(self):
        with running(program(50), "2", "sleepy") as process:
            recording = sample("bpf", process.pid, "off", "kernel", "max=50")
        blocked = [one for one in recording.samples if one["kind"] == BLOCKED]
        self.assertTrue(blocked)
        self.assertTrue(all(one["kernel"] > 0 for one in blocked))

    def test_a_snapshot_of_threads_that_sleep_and_run(self):
        with running(program(50), "4") as busy, running(program(50), "4", "sleepy") as sleepy:
            wait_until_all_ran(busy.pid, 4)
            wait_until_all_ran(sleepy.pid, 4)
            taken = [(sample("snapshot", process.pid), process) for process in (busy, sleepy)]
        for recording, process in taken:
            self.assertIsNone(recording.error, recording.error)
            self.assertEqual(len(recording.samples), 4)
            self.assertIn(process.pid, {one["tid"] for one in recording.samples})
            for one in recording.samples:
                self.assertEqual(one["end"], "complete")
                names = functions(recording, one)
                self.assertEqual(names, [f"f_{i:04}" for i in range(len(names))])
        self.assertTrue(all(one["kind"] in (RUNNING, RUNNABLE) for one in taken[0][0].samples))

    def test_a_snapshot_stops_nobody(self):
        process = subprocess.Popen(["sleep", "1000"])
        try:
            wait_until_it_sleeps(process.pid)
            recording = sample("snapshot", process.pid, "kernel")
            state = state_and_tracer(process.pid)
        finally:
            process.kill()
            process.wait()
        self.assertIsNone(recording.error, recording.error)
        (one,) = recording.samples
        self.assertEqual((one["kind"], one["state"], one["end"]), (BLOCKED, "S", "complete"))
        self.assertGreater(one["kernel"], 0)
        self.assertEqual(state, ("S", "0"))

    def guesses_of(self, process):
        """Of how many stacks a part was read later; all of them are whole and right."""
        recording = sample("bpf", process.pid, "max=100", rate=499)
        self.assertIsNone(recording.error, recording.error)
        self.assertGreaterEqual(len(recording.samples), 100)
        for one in recording.samples:
            self.assertEqual(one["end"], "complete")
            self.assertEqual(recording.stack(one).count("descend"), PAGED_OUT_DEPTH)
        return sum(one["guessed"] for one in recording.samples)

    def test_a_stack_that_goes_out_of_memory_again_and_again(self):
        with running(os.path.join(PROGRAMS, "paged_out"), "always") as process:
            self.assertGreater(self.guesses_of(process), 0)

    def test_a_stack_that_was_read_once_is_there_for_the_next_sample(self):
        end = time.monotonic() + ALONE_S
        while time.monotonic() < end:
            with running(os.path.join(PROGRAMS, "paged_out"), "once") as process:
                if self.guesses_of(process):
                    self.assertLess(self.guesses_of(process), 10)  # the machine itself may take memory away
                    return
        self.skipTest("another sampler of the whole machine has read that stack each time")

    def test_killed_it_leaves_nothing(self):
        with running(program(50), "2", "sleepy") as process:
            with Driver(process.pid, "on", "off") as driver:
                held = kernel_objects(driver.pid)
                self.assertGreater(len(held), 10)
                self.assertTrue(all(is_there(*one) for one in held))
                for _ in range(20):
                    state, tracer = state_and_tracer(process.pid)
                    self.assertNotIn(state, "tT")
                    self.assertEqual(tracer, "0")
                    time.sleep(0.01)
                driver.send_signal(signal.SIGKILL)
                driver.wait()
            end = time.monotonic() + LIMIT
            while any(is_there(*one) for one in held) and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual([one for one in held if is_there(*one)], [])
            self.assertIsNone(process.poll())

    def test_in_another_namespace_of_pids(self):
        """The numbers are those that the driver sees."""
        command = f"{program(50)} 2 & until grep -q chain /proc/$!/comm; do sleep 0.1; done; " \
                  f"sleep 0.5; {DRIVER} bpf $! 999 30 on off max=200; kill $!"
        done = subprocess.run(["unshare", "-pf", "--mount-proc", "sh", "-c", command], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        if "unshare failed" in done.stderr or "Operation not permitted" in done.stderr:
            self.skipTest(done.stderr.strip())
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        samples = [line["sample"] for line in lines if "sample" in line]
        self.assertGreaterEqual(len(samples), 200, done.stderr)
        self.assertEqual({one["pid"] for one in samples}, {2})
        self.assertLess(max(one["tid"] for one in samples), 100)
        self.assertGreater(sum(one["end"] == "complete" for one in samples), len(samples) * 0.9)


if __name__ == "__main__":
    exit_if_refused("bpf")
    unittest.main()
