#!/usr/bin/env python3
"""
limpet stat: counts of programs that know what they did; threads, intervals, ends, refusals, formats.

Environment: LIMPET is the executable under test, PROGRAMS the folder with counted.
"""

import csv
import ctypes
import errno
import io
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest

from ground import LIMPET, PROGRAMS, SOFTWARE, CountTest, counts, harness, limpet, value

HARDWARE = ("cycles", "instructions", "branches", "branch-misses", "cache-references", "cache-misses")
SOMEBODY, ANOTHER = 65534, 65533
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}


def has_pmu():
    devices = "/sys/bus/event_source/devices"
    return any(name == "cpu" or os.path.exists(f"{devices}/{name}/cpus") for name in os.listdir(devices))


class Process(CountTest):
    def test_sleeps_are_switches(self):
        target = self.counted("sleep", 200)
        process = self.start(target.pid)
        target.work()
        result = self.finish(process)
        self.assertGreaterEqual(value(result, "context-switches"), 200)
        self.assertEqual(counts(result)["context-switches"]["status"], "counted")

    def test_switches_take_time_that_is_no_loss(self):
        """Of a process that switches often, its own clock has much more than is counted."""
        target = self.counted("sleep", 5000)
        process = self.start(target.pid)
        target.work()
        self.assertTrue(self.finish(process).event("counted")["complete"])

    def test_pages_are_faults(self):
        target = self.counted("fault", 3000)
        process = self.start(target.pid)
        target.work()
        result = self.finish(process)
        for name in ("page-faults", "minor-faults"):
            self.assertGreaterEqual(value(result, name), 3000)
            self.assertLess(value(result, name), 3300)

    def test_time_is_processor_time(self):
        target = self.counted("compute", 300)
        process = self.start(target.pid)
        target.work()
        result = self.finish(process)
        self.assertGreaterEqual(value(result, "task-clock"), 300e6 * 0.8)  # without what switches take
        self.assertTrue(result.event("counted")["complete"])

    def test_one_that_rests_has_true_zeros(self):
        target = self.counted("rest")
        result = self.judge(limpet("stat", target.pid, "-d", "0.2", "--json"))
        for name in SOFTWARE:
            self.assertEqual((value(result, name), counts(result)[name]["status"]), (0, "counted"))
        self.assertIn("it did not run", limpet("stat", target.pid, "-d", "0.1").out)

    def test_nothing_is_left_and_nothing_stops(self):
        target = self.counted("compute", 50)
        with open(f"/proc/{target.pid}/maps", encoding="utf-8") as file:
            maps = file.read()
        process = self.start(target.pid, "--threads")
        status = harness.status_of(target.pid)
        self.assertEqual(status["TracerPid"], "0")
        self.assertEqual(harness.thread_count(target.pid), 1)
        self.finish(process)
        with open(f"/proc/{target.pid}/maps", encoding="utf-8") as file:
            self.assertEqual(file.read(), maps)

    def test_several(self):
        targets = [self.counted("fault", 100 * number) for number in (1, 20)]
        process = self.start(*(word for target in targets for word in ("-p", target.pid)))
        for target in targets:
            target.work()
        result = self.finish(process)
        few, many = (value(result, "minor-faults", pid=target.pid) for target in targets)
        self.assertLess(few, 1000)
        self.assertGreaterEqual(many, 2000)


class Endings(CountTest):
    def test_the_process_ends(self):
        target = self.counted("fault", 500)
        process = self.start(target.pid)
        target.work()
        target.end()
        result = self.judge(harness.limpet_finish(process))
        self.assertEqual(result.event("counted")["ending"], "exit")
        self.assertTrue(result.event("counted")["ended"])
        self.assertGreaterEqual(value(result, "minor-faults"), 500)

    def test_one_of_two_ends(self):
        first, second = self.counted("rest"), self.counted("fault", 500)
        process = self.start("-p", first.pid, "-p", second.pid)
        first.end()
        second.work()
        result = self.finish(process)
        self.assertEqual([event["ended"] for event in result.events if event["event"] == "counted"], [True, False])
        self.assertGreaterEqual(value(result, "minor-faults", pid=second.pid), 500)

    def test_the_text_says_that_it_ended(self):
        target = self.counted("rest")
        process = harness.limpet_start("stat", target.pid)
        self.assertIn("Ctrl-C stops", process.stderr.readline())
        target.end()
        result = self.judge(harness.limpet_finish(process))
        self.assertIn("; it has ended", result.out)

    def test_the_duration(self):
        target = self.counted("rest")
        result = self.judge(limpet("stat", target.pid, "-d", "300ms", "--json"))
        self.assertEqual(result.event("counted")["ending"], "duration")
        self.assertGreaterEqual(result.event("counted")["seconds"], 0.3)

    def test_a_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(self.counted("rest").pid)
            process.send_signal(number)
            result = self.judge(harness.limpet_finish(process))
            self.assertEqual(result.event("counted")["ending"], "signal")

    def test_another_program(self):
        """What it executes is counted as before."""
        shell = subprocess.Popen(
            ["sh", "-c", 'read line; exec "$0" fault 700', harness.program("counted")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(shell.stdout.close)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.stdin.close)
        process = self.start(shell.pid)
        shell.stdin.write("exec\ngo\n")
        shell.stdin.flush()
        self.assertEqual(shell.stdout.readline(), "done\n")
        result = self.finish(process)
        self.assertGreaterEqual(value(result, "minor-faults"), 700)
        self.assertEqual(counts(result)["minor-faults"]["comm"], "counted")


class Threads(CountTest):
    def test_those_that_come_and_go_are_counted(self):
        target = self.counted("threads", 500)
        process = self.start(target.pid)
        target.work()
        result = self.finish(process)
        self.assertGreaterEqual(value(result, "task-clock"), 500 * 2e6 * 0.8)
        self.assertGreaterEqual(value(result, "context-switches"), 500)
        self.assertGreaterEqual(value(result, "minor-faults"), 500 * 4)

    def test_lines_of_threads_add_up(self):
        target = self.counted("threads", 200)
        process = self.start(target.pid, "--threads")
        target.work()
        result = self.finish(process)
        for name in ("task-clock", "context-switches", "minor-faults"):
            rows = [event for event in result.events if event.get("event") == "counter" and event["name"] == name]
            parts = sum(event["value"] for event in rows if event["of"] != "process")
            self.assertEqual(parts, value(result, name), name)

    def test_threads_that_ended_keep_their_counts(self):
        """One lives for a while, is seen, and ends before the counting does."""
        target = self.counted("threads", 300)
        process = self.start(target.pid, "--threads")
        target.work()
        result = self.finish(process)
        ended = [event for event in result.events if event.get("event") == "counter" and event["of"] == "thread"
                 and event["ended"] and event["name"] == "task-clock"]
        self.assertTrue(ended)
        self.assertTrue(any(event["value"] > 0 for event in ended))

    def spinner(self):
        process = subprocess.Popen([harness.program("spinner")])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(harness.wait_until(lambda: set(thread_names(process.pid)) == {"spinner", "spinning", "dozing"}))
        return process.pid

    def await_work(self, pid):
        """Until the one thread has computed for a while, and the other has slept often."""
        tids = thread_names(pid)
        before = run_ns(pid, tids["spinning"]), switches(pid, tids["dozing"])
        self.assertTrue(harness.wait_until(
            lambda: run_ns(pid, tids["spinning"]) > before[0] + 100e6 and switches(pid, tids["dozing"]) > before[1] + 20))

    def test_each_has_its_own(self):
        pid = self.spinner()
        process = self.start(pid, "--threads")
        self.await_work(pid)
        result = self.finish(process)
        self.assertEqual(set(rows(result, "task-clock")), {"spinner", "spinning", "dozing"})
        self.assertGreaterEqual(rows(result, "task-clock")["spinning"], 80e6)
        self.assertGreaterEqual(rows(result, "context-switches")["dozing"], 20)
        self.assertEqual(rows(result, "task-clock")["spinner"], 0)

    def test_text_has_a_line_for_each_that_ran(self):
        pid = self.spinner()
        process = harness.limpet_start("stat", pid, "-t")
        self.assertIn("Ctrl-C stops", process.stderr.readline())
        self.await_work(pid)
        text = self.finish(process).out
        for name in ("spinning", "dozing"):
            self.assertRegex(text, rf"\n +\d+ {name} ")
        self.assertIn("1 thread did not run", text)

    def test_the_note_says_how_far_looks_were_apart(self):
        """Threads that end between two looks are told of with the time that was, not with the one that was meant."""
        target = self.counted("threads", 300)
        process = self.start(target.pid, "--threads")
        target.work()
        note = self.finish(process).err
        apart = re.search(r"'other threads' counts .* up to (\d+) ms apart", note)
        self.assertTrue(apart, note)
        self.assertGreaterEqual(int(apart[1]), 10)


def rows(result, name):
    """{thread: count} of those that have a line."""
    return {event["comm"]: event["value"] for event in result.events
            if event.get("event") == "counter" and event["of"] == "thread" and event["name"] == name}


def thread_names(pid):
    return {harness.status_of(pid, tid).get("Name"): tid for tid in harness.threads_of(pid)}


def run_ns(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])


def switches(pid, tid):
    return int(harness.status_of(pid, tid)["voluntary_ctxt_switches"])


class Children(CountTest):
    def test_only_when_asked_for(self):
        target = self.counted("fork", 30)
        process = self.start(target.pid)
        other = self.start(target.pid, "--children")
        target.work()
        alone, all_of_them = self.finish(process), self.finish(other)
        self.assertGreaterEqual(value(all_of_them, "task-clock"), 30 * 2e6 * 0.8)
        if "before Linux 5.13" not in alone.err:
            self.assertLess(value(alone, "task-clock"), value(all_of_them, "task-clock"))
            self.assertLess(value(alone, "minor-faults"), value(all_of_them, "minor-faults"))

    def test_those_that_are_there_already(self):
        shell = subprocess.Popen(["sh", "-c", '"$0" fault 900; exit', harness.program("counted")],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(shell.stdout.close)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.stdin.close)
        children = f"/proc/{shell.pid}/task/{shell.pid}/children"
        self.assertTrue(harness.wait_until(lambda: is_child_ready(children)))
        process = self.start(shell.pid, "--children")
        shell.stdin.write("go\n")
        shell.stdin.flush()
        self.assertEqual(shell.stdout.readline(), "done\n")
        self.assertGreaterEqual(value(self.finish(process), "minor-faults"), 900)


def is_child_ready(path):
    with open(path, encoding="ascii") as file:
        pids = file.read().split()
    return bool(pids) and harness.status_of(pids[0]).get("Name") == "counted" \
        and harness.status_of(pids[0])["State"][0] == "S"


class Intervals(CountTest):
    def await_intervals(self, process, count):
        """The events of so many of them."""
        events = []
        while sum(event["name"] == "task-clock" for event in events) < count:
            events.append(harness.event_wait(process))
            self.assertIsNotNone(events[-1], "it ended")
        return events

    def test_add_up(self):
        target = self.counted("sleep", 300)
        process = self.start(target.pid, "-I", "20ms")
        target.work()
        events = self.await_intervals(process, 3)
        target.work()
        result = self.finish(process)
        events += [event for event in result.events if event.get("scope") == "interval"]
        for name in SOFTWARE:
            parts = [event for event in events if event["name"] == name]
            self.assertEqual(sum(event["value"] for event in parts), value(result, name), name)
            for before, after in zip(parts, parts[1:]):
                self.assertEqual(before["end_s"], after["begin_s"])
        self.assertGreaterEqual(value(result, "context-switches"), 600)

    def test_of_threads_add_up(self):
        target = self.counted("threads", 60)
        process = self.start(target.pid, "-I", "20ms", "--threads")
        target.work()
        result = self.finish(process)
        for name in ("context-switches", "minor-faults"):
            parts = sum(event["value"] for event in result.events if event.get("event") == "counter"
                        and event["scope"] == "interval" and event["of"] == "process" and event["name"] == name)
            self.assertEqual(parts, value(result, name), name)


class Refusals(CountTest):
    def test_what_is_not_there_is_never_zero(self):
        if has_pmu():
            self.skipTest("this machine has a PMU")
        target = self.counted("rest")
        result = self.judge(limpet("stat", target.pid, "-d", "0.1", "--json"))
        for name in HARDWARE:
            event = counts(result)[name]
            self.assertEqual((event["value"], event["status"]), (None, "not supported"))
            self.assertIn("PMU", event["why"])
            self.assertTrue(event["fix"])
        text = limpet("stat", target.pid, "-d", "0.1")
        self.assertRegex(text.out, r"<not supported> +cycles")
        self.assertEqual(text.err.count("PMU"), 2, text.err)  # one note, with its fix
        self.judge(limpet("stat", target.pid, "-d", "0.1", "-e", "cycles,instructions"), 5)

    def test_wrong_usage(self):
        pid = os.getpid()
        for words in (("-e", "cyles"), ("-e", "{cycles"), ("-e", ""), ("-e", "cycles:q"), ("--json", "--csv"),
                      ("-I", "1ms"), ("-e", "nosuch/event=1/"), ("--list",), ("extra",)):
            result = limpet("stat", pid, *words)
            self.assertEqual(result.code, 2, f"{words}: {result}")
            self.assertIn("error: ", result.err)
        self.assertIn("did you mean 'cycles'", limpet("stat", pid, "-e", "cyles").err)
        self.judge(limpet("stat"), 2)

    def test_no_process(self):
        process = subprocess.Popen(["true"])
        process.wait()
        self.judge(limpet("stat", process.pid, "-d", "0.1"), 4)

    def test_a_process_that_has_ended_and_is_not_waited_for(self):
        process = subprocess.Popen(["true"])
        self.addCleanup(process.wait)
        self.assertTrue(harness.wait_until(lambda: harness.status_of(process.pid).get("State", "")[:1] == "Z"))
        self.judge(limpet("stat", process.pid, "-d", "0.1"), 4)

    def test_user_mode_of_what_the_kernel_does(self):
        result = limpet("stat", self.counted("rest").pid, "-d", "0.1", "-e", "task-clock,context-switches:u", "--json")
        self.judge(result)
        event = counts(result)["context-switches:u"]
        self.assertEqual((event["value"], event["status"]), (None, "not supported"))
        self.assertIn("in the kernel", event["why"])


def become_only(user):
    """It may gain rights again."""
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]


def become(user):
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all",
            "--ambient-caps=-all", "--bounding-set=-all"]


def libc_call(name, *arguments):
    if getattr(LIBC, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def show_file(path, over):
    """To the calling process and its children only."""
    libc_call("unshare", CLONE_NEWNS)
    libc_call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    libc_call("mount", path.encode(), over.encode(), None, MS_BIND, None)


def refuse_perf_events():
    """By a seccomp filter: perf_event_open says EACCES."""
    code = struct.pack("HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, PERF_EVENT_OPEN[os.uname().machine],
                       0x06, 0, 0, 0x00050000 | errno.EACCES, 0x06, 0, 0, 0x7fff0000)
    kept = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxQ", 4, ctypes.addressof(kept))
    libc_call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(program), 0, 0)


def knows_three():
    """Kernels with Debian's or Android's change."""
    return any(word in os.uname().version + os.uname().release for word in ("Debian", "android"))


@unittest.skipIf(os.geteuid() or not shutil.which("setpriv"), "needs root and setpriv, to become other users")
class Rights(CountTest):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="stat-rights-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        for path in (LIMPET, os.path.join(PROGRAMS, "counted")):
            shutil.copy(path, self.folder)
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            self.level = int(file.read())
        self.target = self.counted("fault", 800, before=become(SOMEBODY), path=os.path.join(self.folder, "counted"))

    def stat(self, user, *words, before=None):
        process = subprocess.Popen(
            [*become(user), os.path.join(self.folder, "limpet"), "stat", str(self.target.pid), *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, cwd="/", preexec_fn=before)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def test_the_same_user(self):
        if knows_three() and self.level >= 3:
            self.skipTest("here nobody may count without CAP_PERFMON")
        process = self.stat(SOMEBODY, "--json")
        self.assertEqual(harness.event_wait(process)["event"], "counting")
        self.target.work()
        result = self.finish(process)
        self.assertIsNotNone(value(result, "task-clock"))
        if self.level < 2:
            self.assertIsNotNone(value(result, "context-switches"))
            return
        self.assertGreaterEqual(value(result, "minor-faults:u"), 800)
        for name in ("context-switches", "cpu-migrations"):
            event = counts(result)[name]
            self.assertEqual((event["value"], event["status"]), (None, "not counted"))
            self.assertIn(f"kernel.perf_event_paranoid is {self.level}", event["why"])
            self.assertIn("kernel.perf_event_paranoid=1", event["fix"])
        self.assertIn("user mode", counts(result)["minor-faults:u"]["why"])
        self.assertIn("note: context-switches, cpu-migrations: kernel.perf_event_paranoid", result.err)

    def test_a_program_with_other_rights(self):
        """The kernel closes all counters, and tells nobody."""
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("no setuid programs in the temporary folder")
        program = os.path.join(self.folder, "counted")
        os.chmod(program, 0o4755)
        for words, said in (((), "of the CPU time"), (("-e", "minor-faults"), "of the CPU time"),
                            (("-C",), "executes a program with other rights")):
            shell = self.counted("-c", f"read line; exec {program} compute 200", before=become_only(ANOTHER),
                                 path="/bin/sh")
            process = self.start(shell.pid, *words)
            shell.process.stdin.write("exec\n")
            shell.work()
            result = self.finish(process)
            self.assertFalse(result.event("counted")["complete"], words)
            self.assertIn(said, result.err)
            self.assertIn("executes a program with other rights", result.err)
            if words[:1] == ("-e",):
                self.assertEqual(list(counts(result)), ["minor-faults"])

    def three(self, is_known):
        """What a process that is about to start has to do: it reads 3 as the level, of a kernel that knows it or does not."""
        level = os.path.join(self.folder, "level")
        with open(level, "w", encoding="ascii") as file:
            file.write("3\n")

        def prepare():
            show_file(level, "/proc/sys/kernel/perf_event_paranoid")
            if is_known:
                refuse_perf_events()
        return prepare

    def test_a_level_of_three_where_the_kernel_knows_it(self):
        """Debian's and Android's: nobody may count without CAP_PERFMON, not even itself."""
        for user in (SOMEBODY, ANOTHER):
            for words in ((), ("--threads",), ("-e", "task-clock"), ("-e", "page-faults:u"), ("--json",)):
                result = self.judge(harness.limpet_finish(self.stat(user, "-d", "0.1", *words, before=self.three(True))), 3)
                self.assertIn("kernel.perf_event_paranoid is 3: only CAP_PERFMON may use it", result.err)
                self.assertIn("sudo sysctl kernel.perf_event_paranoid=2", result.err)

    def test_a_level_of_three_where_the_kernel_does_not(self):
        """It is a 2 there: own processes are counted, and of others' the level is not the cause."""
        if knows_three() and self.level >= 3:
            self.skipTest("this kernel knows it")
        process = self.stat(SOMEBODY, "--json", before=self.three(False))
        self.assertEqual(harness.event_wait(process)["event"], "counting")
        self.target.work()
        result = self.finish(process)
        self.assertIsNotNone(value(result, "task-clock"))
        if self.level >= 2:
            self.assertIsNone(counts(result)["context-switches"]["value"])
            self.assertIn("kernel.perf_event_paranoid is 3", counts(result)["context-switches"]["why"])
        result = self.judge(harness.limpet_finish(self.stat(ANOTHER, "-d", "0.1", before=self.three(False))), 3)
        self.assertIn("only its own user and CAP_PERFMON", result.err)
        self.assertNotIn("sysctl", result.err)

    def test_another_user(self):
        for words in ((), ("--threads",), ("-e", "task-clock"), ("-e", "page-faults:u")):
            result = self.judge(harness.limpet_finish(self.stat(ANOTHER, "-d", "0.1", *words)), 3)
            self.assertIn("error: count ", result.err)
            self.assertIn("limpet doctor --setup", result.err)


class Formats(CountTest):
    def test_csv(self):
        target = self.counted("rest")
        result = self.judge(limpet("stat", target.pid, "-d", "0.1", "--csv", "--threads", "-I", "50ms"))
        rows = list(csv.DictReader(io.StringIO(result.out)))
        self.assertEqual({row["scope"] for row in rows}, {"interval", "total"})
        self.assertEqual({row["tid"] for row in rows}, {"", str(target.pid)})
        for row in rows:
            self.assertEqual(len(row), 14)
            self.assertEqual(row["value"] == "", row["status"] in ("not supported", "not counted"), row)
            self.assertIn(row["event"], (*SOFTWARE, *HARDWARE, "stalled-cycles-frontend", "stalled-cycles-backend")
                          if not has_pmu() else (row["event"],))

    def test_text_has_each_event_once(self):
        text = self.judge(limpet("stat", self.counted("rest").pid, "-d", "0.1")).out
        for name in (*SOFTWARE, *HARDWARE):
            self.assertEqual(len([line for line in text.splitlines() if f" {name} " in line + " "]), 1, text)

    def test_list(self):
        result = self.judge(limpet("stat", "--list", "--json"))
        listed = {event["name"]: event for event in result.events if event["event"] == "countable"}
        self.assertTrue(listed["task-clock"]["supported"])
        self.assertEqual(listed["cycles"]["supported"], has_pmu())
        self.assertIn("L1-dcache-load-misses", listed)
        text = self.judge(limpet("stat", "--list")).out
        self.assertRegex(text, r"\n  task-clock +yes\n")

    def test_aliases_and_groups(self):
        target = self.counted("sleep", 20)
        process = self.start(target.pid, "-e", "{cs,faults},migrations", "-e", "cpu-clock")
        target.work()
        result = self.finish(process)
        self.assertEqual(list(counts(result)), ["context-switches", "page-faults", "cpu-migrations", "cpu-clock"])
        self.assertGreaterEqual(value(result, "context-switches"), 20)

    def test_tracepoints(self):
        if not os.access("/sys/kernel/tracing/events/sched/sched_switch/id", os.R_OK):
            self.skipTest("no tracepoints here")
        target = self.counted("sleep", 50)
        process = self.start(target.pid, "-e", "sched:sched_switch,cs")
        target.work()
        result = self.finish(process)
        self.assertGreaterEqual(value(result, "sched:sched_switch"), 50)


if __name__ == "__main__":
    unittest.main()
