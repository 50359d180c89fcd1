"""limpet dump: deadlocks and none, equal stacks, headers that are true of the stacks below them, and the priority of its threads."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "attach"))

import harness  # noqa: E402
from exactness import LIMIT, PROGRAMS, running  # noqa: E402

LOCKS = os.path.join(os.environ["SAMPLING_PROGRAMS"], "locks")
WAYS = ("bpf", "read")
LOOKS = 5  # at a program that changes all the time, by each of them


class Dump(harness.TargetTest):
    def start(self, *words):
        process = subprocess.Popen([LOCKS, *map(str, words)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_process, process)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def dump(self, pid, way, *options):
        result = harness.limpet("dump", pid, "--sampler", way, *options)
        if result.code == 3:
            self.skipTest(result.err)
        self.assertEqual(result.code, 0, str(result))
        return result

    def events(self, pid, way):
        return [json.loads(line) for line in self.dump(pid, way, "--json").out.splitlines()]

    def deadlock(self, pid, way="read"):
        return next((event["threads"] for event in self.events(pid, way) if event["event"] == "deadlock"), None)


class Deadlocks(Dump):
    def await_deadlock(self, process, way="read"):
        found = []
        self.assertTrue(harness.wait_until(lambda: found.append(self.deadlock(process.pid, way)) or found[-1]))
        return found[-1]

    def test_a_circle(self):
        for kind in ("normal", "recursive", "checked", "robust"):
            with self.subTest(kind):
                threads = self.await_deadlock(self.start("circle", kind, 3))
                self.assertEqual(len(threads), 3)
                order = [int(thread["name"].split()[1]) for thread in threads]
                self.assertEqual([(number + 1) % 3 for number in order], order[1:] + order[:1])
                self.assertEqual(len({thread["waits_for"] for thread in threads}), 3)

    def test_what_people_see(self):
        process = self.start("circle", "normal", 2)
        threads = self.await_deadlock(process, "bpf")
        text = self.dump(process.pid, "bpf").out
        self.assertIn("DEADLOCK", text)
        for thread in threads:
            self.assertRegex(text, f"{thread['tid']} .locker .. waits for the mutex at {thread['waits_for']}, held by")

    def test_alone(self):
        process = self.start("self", "normal", 1)
        self.assertEqual(len(self.await_deadlock(process)), 1)

    def test_a_lock_that_is_only_tried(self):
        process = self.start("timed", "normal", 2)
        for _ in range(8):
            self.assertIsNone(self.deadlock(process.pid))

    def test_locks_that_are_fought_for(self):
        process = self.start("busy", "normal", 4)
        for way in WAYS:
            for _ in range(LOOKS):
                self.assertIsNone(self.deadlock(process.pid, way))


class Texts(Dump):
    def test_equal_stacks_are_shown_once(self):
        many = self.start("alike", "normal", 12)
        for way in WAYS:
            is_folded = harness.wait_until(lambda: "threads with the same stack" in self.dump(many.pid, way).out)
            self.assertTrue(is_folded)
            text = self.dump(many.pid, way, "--all").out
            self.assertEqual(text.count("\nthread "), 13)
            threads = [event for event in self.events(many.pid, way) if event["event"] == "thread"]
            self.assertEqual(len(threads), 13)

    def test_the_way_into_the_kernel_is_one_line(self):
        process = self.start("circle", "normal", 2)
        text = self.dump(process.pid, "bpf").out
        self.assertIn("system call ([kernel],", text)
        self.assertNotRegex(text, "do_el0_svc|do_syscall_64")
        self.assertRegex(self.dump(process.pid, "bpf", "--all").out, "do_el0_svc|do_syscall_64")

    def problem(self, thread):
        functions = " ".join(frame["function"] for frame in thread["frames"])
        if thread["state"] == "R" and thread["call"]:
            return f"runs, and waits in {thread['call']}"
        if thread["call"] == "clock_nanosleep" and "sleep" not in functions:
            return f"sleeps, in {functions}"
        return None

    def test_the_header_is_true_of_the_stack(self):
        process = self.start("switching", "normal", 4)
        for way in WAYS:
            for _ in range(LOOKS):
                threads = [event for event in self.events(process.pid, way) if event["event"] == "thread"]
                problems = [self.problem(thread) for thread in threads if thread["has_stack"]]
                self.assertEqual([problem for problem in problems if problem], [])


@unittest.skipUnless(shutil.which("strace"), "needs strace")
class Priority(unittest.TestCase):
    """Loading kernel programs takes tens of milliseconds: other programs must get a processor meanwhile."""

    def calls(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace")
            command = ["strace", "-f", "-o", trace, "-e", "trace=bpf,sched_setscheduler", os.environ["LIMPET"],
                       *arguments]
            subprocess.run([text.replace("FOLDER", folder) for text in command], check=True, timeout=LIMIT,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(trace, encoding="ascii", errors="replace") as file:
                return file.read().splitlines()

    def assert_not_realtime_while_loading(self, lines):
        is_realtime, loaded = False, 0
        for line in lines:
            if "sched_setscheduler" in line:
                is_realtime = "SCHED_OTHER" not in line
            elif "BPF_PROG_LOAD" in line and "license=\"Dual MIT/GPL\"" in line:
                loaded += 1
                self.assertFalse(is_realtime, line)
        self.assertGreater(loaded, 0)

    def test_of_a_dump(self):
        with running(os.path.join(PROGRAMS, "chain_10"), "1") as target:
            self.assert_not_realtime_while_loading(self.calls("dump", str(target.pid)))

    def test_of_a_recording(self):
        with running(os.path.join(PROGRAMS, "chain_10"), "1") as target:
            self.assert_not_realtime_while_loading(self.calls(
                "record", "-p", str(target.pid), "-d", "0.1", "--off-cpu", "-o", "FOLDER/it.limpet"))


if __name__ == "__main__":
    unittest.main()
