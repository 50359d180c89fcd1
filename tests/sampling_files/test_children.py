#!/usr/bin/env python3
"""
`limpet record -p PID --children`: processes that were there before, and those that are born meanwhile, each under its
own name.  Waits for what the targets have done, never for a time.

Environment: LIMPET is the executable under test, PROGRAMS the folder with spinner.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import PROGRAMS, limpet  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
SPINNER = os.path.join(PROGRAMS, "spinner")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def is_spinner(pid):
    try:
        return os.path.samefile(f"/proc/{pid}/exe", SPINNER) and cpu_seconds(pid) > 0.05
    except OSError:
        return False


class Children(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="record-children-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "it.limpet")

    def family(self):
        """A shell with a child that computes; for each line that it reads it starts another one."""
        shell = subprocess.Popen(
            ["sh", "-c", f"{SPINNER} & while read line; do {SPINNER} & done; wait"], stdin=subprocess.PIPE, text=True,
            start_new_session=True)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.stdin.close)
        self.addCleanup(self.kill_session, shell.pid)
        return shell, self.await_spinners(shell, 1)

    @staticmethod
    def kill_session(group):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def await_spinners(self, shell, count):
        self.assertTrue(harness.wait_until(
            lambda: sum(map(is_spinner, children_of(shell.pid))) == count, 120), "no child came")
        return [pid for pid in children_of(shell.pid) if is_spinner(pid)]

    def bear_one(self, shell, count):
        shell.stdin.write("one\n")
        shell.stdin.flush()
        return self.await_spinners(shell, count)

    def start(self, pid, *options):
        process = harness.limpet_start("record", "-p", pid, "-o", self.path, "--json", *options)
        self.assertTrue(harness.attached_wait(process), "it does not record")
        return process

    def finish(self, process):
        process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(process, 120)
        self.assertEqual(result.code, 0, str(result))
        return result

    def await_work(self, pids, seconds=0.25):
        begin = [cpu_seconds(pid) for pid in pids]
        self.assertTrue(harness.wait_until(
            lambda: all(cpu_seconds(pid) - before > seconds for pid, before in zip(pids, begin)), 240))

    def report(self):
        result = limpet("report", self.path, "--json")
        self.assertEqual(result.code, 0, str(result))
        return result.events

    def time_of(self, events, pid):
        """On a processor, in all threads of the process, in seconds."""
        return sum(event["on_cpu_ns"] for event in events
                   if event["event"] == "sampled_thread" and event["pid"] == pid) / 1e9

    def record_family(self, sampler, *options):
        shell, (first,) = self.family()
        process = self.start(shell.pid, "--sampler", sampler, "--children", "-F", "199", *options)
        pids = self.bear_one(shell, 2)
        self.await_work(pids)
        result = self.finish(process)
        used = {pid: cpu_seconds(pid) for pid in pids}
        events = self.report()
        for pid in pids:
            names = {event["process"] for event in events
                     if event["event"] == "sampled_thread" and event["pid"] == pid and event["name"] == "spinning"}
            self.assertEqual(names, {"spinner"}, str(result))
            self.assertGreater(self.time_of(events, pid), 0.1)
            if sampler in ("bpf", "copy"):  # each tick is counted once, whoever opened its clock
                self.assertLess(self.time_of(events, pid), 1.2 * used[pid] + 0.1)
        return shell, pids, events

    def test_by_kernel_programs(self):
        _, _, events = self.record_family("bpf")
        names = {event["name"] for event in events if event["event"] == "sampled_function"}
        self.assertTrue({"spin_leaf", "spin_hot"} <= names, names)

    def test_by_copies(self):
        _, _, events = self.record_family("copy")
        names = {event["name"] for event in events if event["event"] == "sampled_function"}
        self.assertTrue({"spin_leaf", "spin_hot"} <= names, names)

    def test_by_states(self):
        self.record_family("state")

    def test_waits_of_all(self):
        shell, _, events = self.record_family("bpf", "--off-cpu")
        waits = {event["name"] for event in events if event["event"] == "sampled_thread" and event["waited_ns"]}
        self.assertIn("dozing", waits)
        self.assertIn("sh", waits)

    def test_names_tell_processes_apart(self):
        _, pids, _ = self.record_family("bpf")
        folded, scope = os.path.join(self.folder, "it.folded"), os.path.join(self.folder, "it.speedscope.json")
        self.assertEqual(limpet("export", self.path, "-o", folded).code, 0)
        self.assertEqual(limpet("export", self.path, "-o", scope).code, 0)
        with open(folded, encoding="utf-8") as file:
            first = {line.split(";")[0] for line in file}
        with open(scope, encoding="utf-8") as file:
            profiles = file.read()
        for pid in pids:
            self.assertIn(f"spinner {pid}: spinning", first)
            self.assertIn(f"spinner {pid}: spinning (", profiles)
            self.assertIn(f"spinner {pid}: spinning", limpet("report", self.path).out)

    def test_without_it_children_are_not_seen(self):
        shell, (first,) = self.family()
        process = self.start(shell.pid, "-F", "199")
        self.await_work([first], 0.2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(harness.limpet_finish(process, 120).code, 5)

    def test_it_ends_with_the_last_of_them(self):
        shell, (first,) = self.family()
        process = self.start(shell.pid, "--children", "-F", "199")
        os.kill(shell.pid, signal.SIGKILL)
        self.await_work([first])
        self.assertIsNone(process.poll())
        os.kill(first, signal.SIGKILL)
        result = harness.limpet_finish(process, 120)
        self.assertEqual((result.code, result.event("recorded")["reason"]), (0, "exit"), str(result))
        self.assertGreater(self.time_of(self.report(), first), 0.1)

    def test_a_program_that_limpet_starts(self):
        result = limpet("record", "--children", "-F", "499", "-o", self.path, "--", "sh", "-c",
                        f"{SPINNER} & child=$!; sleep 1; kill $child", deadline_s=120)
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("spin_leaf", {event.get("name") for event in self.report()})


if __name__ == "__main__":
    unittest.main()
