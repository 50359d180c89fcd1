#!/usr/bin/env python3
"""
limpet record on several processes at once, and on families: each that is there, or is born meanwhile, is in the one
file with all that it did.
"""

import collections
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import TargetTest, limpet  # noqa: E402

# A server and its workers.  Worker N says its pid, waits for its "go", calls getppid() 100 + N times, and waits for the end.
PROGRAM = """if True:
    import os, sys, time
    folder = sys.argv[1]
    def path(name):
        return os.path.join(folder, name)
    def mark(name, text=""):
        with open(path(name + "~"), "w") as file:
            file.write(text)
        os.rename(path(name + "~"), path(name))
    def wait_for(name):
        while not os.path.exists(path(name)):
            time.sleep(0.005)
    def work(number):
        mark("pid-%d" % number, str(os.getpid()))
        wait_for("go-%d" % number)
        for _ in range(100 + number):
            os.getppid()
        mark("done-%d" % number)
        wait_for("end")
        os._exit(0)
    def begin(number):
        if os.fork():
            return
        if number == EXECUTES:
            os.execv(sys.executable, [sys.executable, "-c", os.environ["PROGRAM"], folder, str(number)])
        work(number)
    EXECUTES = 4
    if len(sys.argv) > 2:
        work(int(sys.argv[2]))
    for number in range(3):
        begin(number)
    number = 3
    while not os.path.exists(path("end")):
        if os.path.exists(path("more-%d" % number)):
            begin(number)
            number += 1
        time.sleep(0.005)
"""

CALLS = ("--function", "libc.so*:getppid")


class Families(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "it.limpet")

    def server(self, name="server", workers=3):
        folder = os.path.join(self.folder, name)
        os.mkdir(folder)
        process = subprocess.Popen(["/usr/bin/python3", "-c", PROGRAM, folder], env={**os.environ, "PROGRAM": PROGRAM},
                                   start_new_session=True)
        self.addCleanup(self.end_session, process)
        for number in range(workers):
            self.pid(name, number)
        return process

    @staticmethod
    def end_session(process):
        """The server and its workers, who are in its group."""
        try:
            harness.progress.check(process.pid, process=process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def mark(self, name, what):
        with open(os.path.join(self.folder, name, what), "w"):
            pass

    def wait_for(self, name, what):
        path = os.path.join(self.folder, name, what)
        self.assertTrue(harness.wait_until(lambda: os.path.exists(path)), what)
        return path

    def pid(self, name, number):
        with open(self.wait_for(name, f"pid-{number}")) as file:
            return int(file.read())

    def start(self, *arguments):
        process = harness.limpet_attached("record", *arguments, "-o", self.path, "--json")
        self.addCleanup(self.end_process, process)
        return process

    def wait_traced(self, process, pids):
        """Until limpet has said that these are traced; byte by byte, so that the rest is there for limpet_finish()."""
        missing = set(pids)
        while missing:
            line = harness.event_wait(process)
            self.assertIsNotNone(line, f"limpet ended; not traced: {missing}")
            if line["event"] == "traced":
                missing.discard(line["pid"])

    def work(self, name, number):
        self.mark(name, f"go-{number}")
        self.wait_for(name, f"done-{number}")

    def finish(self, process):
        process.terminate()
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        return result

    def events(self, kind):
        result = limpet("report", self.path, "--json")
        self.assertEqual(result.code, 0, str(result))
        return [event for event in map(json.loads, result.out.splitlines()) if event["event"] == kind]

    def calls(self):
        """Of each process."""
        calls = collections.Counter()
        for thread in self.events("thread"):
            calls[thread["pid"]] += thread["calls"]
        return calls

    @staticmethod
    def is_traced(pid):
        """Whether the tracer is attached in the program that it runs now; what it was born with is its parent's."""
        status = limpet("status", pid, "--json").event("status")
        if not status or status["state"] != "attached":
            return False
        return any(tool["state"] == "attached" for tool in status.get("tools", ()))

    def test_who_is_there_who_is_born_and_who_executes(self):
        server = self.server()
        pids = [self.pid("server", number) for number in range(3)]
        process = self.start("-p", server.pid, "--children", *CALLS)
        self.wait_traced(process, [server.pid] + pids)
        for number in (3, 4):
            self.mark("server", f"more-{number}")
            pids.append(self.pid("server", number))
            self.assertTrue(harness.wait_until(lambda: self.is_traced(pids[-1])))
        for number in range(5):
            self.work("server", number)
        result = self.finish(process)
        calls = self.calls()
        self.assertEqual({pid: calls[pid] for pid in pids}, {pid: 100 + n for n, pid in enumerate(pids)})
        self.assertGreaterEqual(result.event("recorded")["processes"], 6)
        self.assertEqual(result.event("recorded")["invalid"], 0)
        summary = limpet("report", self.path, "--json").event("summary")
        self.assertTrue(summary["complete"], summary)
        self.assertEqual(summary["records"], result.event("recorded")["records"])

    def test_the_end_of_a_family(self):
        server = self.server()
        process = self.start("-p", server.pid, "--children", *CALLS)
        self.wait_traced(process, [server.pid] + [self.pid("server", number) for number in range(3)])
        for number in range(3):
            self.work("server", number)
        self.mark("server", "end")
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(result.event("recorded")["reason"], "exit")
        self.assertEqual(self.calls(), {self.pid("server", number): 100 + number for number in range(3)})

    def test_samples_and_calls_of_a_family(self):
        server = self.server()
        pids = {server.pid} | {self.pid("server", number) for number in range(3)}
        process = self.start("-p", server.pid, "--children", "--off-cpu", *CALLS)
        self.wait_traced(process, pids)
        for number in range(3):
            self.work("server", number)
        self.finish(process)
        self.assertEqual(sorted(self.calls().values()), [100, 101, 102])
        self.assertEqual({event["pid"] for event in self.events("sampled_thread")}, pids)
        # Samples and calls of a process are of one process in the file.
        self.assertEqual(sorted(event["pid"] for event in self.events("process")), sorted(pids))

    def test_several_processes(self):
        servers = [self.server(name) for name in ("one", "two")]
        process = self.start("-p", servers[0].pid, "-p", self.pid("two", 1), "-p", servers[0].pid, *CALLS, "-F", "99")
        self.wait_traced(process, [servers[0].pid, self.pid("two", 1)])
        for number in range(3):
            self.work("two", number)
        self.mark("one", "end")
        servers[0].wait()
        self.assertIsNone(process.poll())
        self.mark("two", "end")
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(result.event("recorded")["reason"], "exit")
        self.assertEqual(result.event("recorded")["processes"], 2)
        self.assertEqual(self.calls(), {self.pid("two", 1): 101})

    def sampled(self, pids, sampler, duration):
        words = [word for pid in pids for word in ("-p", pid)]
        result = limpet("record", *words, "--sampler", sampler, "--off-cpu", "-d", duration, "-o", self.path)
        if result.code == 3:
            self.skipTest(f"{sampler} is not allowed here")
        self.assertEqual(result.code, 0, str(result))
        return {event["pid"] for event in self.events("sampled_thread")}

    def test_each_sampler_takes_several(self):
        spinners = [subprocess.Popen([harness.program("spinner")]) for _ in range(2)]
        for spinner in spinners:
            self.addCleanup(harness.progress.end, spinner)
        pids = {spinner.pid for spinner in spinners}
        for sampler in ("bpf", "copy", "read", "state"):
            with self.subTest(sampler):
                # Longer where others keep the machine busy.
                self.assertTrue(any(self.sampled(pids, sampler, time) == pids for time in ("500ms", "4s", "16s")))

    def test_several_processes_or_none(self):
        server = self.server()
        gone = subprocess.Popen(["true"])
        gone.wait()
        result = limpet("record", "-p", server.pid, "-p", gone.pid, "-o", self.path, *CALLS)
        self.assertEqual(result.code, 4, str(result))
        self.assertFalse(os.path.exists(self.path))
        self.assertFalse(self.is_traced(server.pid))

    def test_a_descendant_that_is_named_too(self):
        server = self.server()
        worker = self.pid("server", 0)
        process = self.start("-p", worker, "-p", server.pid, "--children", *CALLS)
        self.wait_traced(process, [worker, server.pid])
        self.work("server", 0)
        result = self.finish(process)
        self.assertEqual(self.calls(), {worker: 100})
        self.assertEqual(result.event("recorded")["processes"], 4)

    def test_in_periods(self):
        server = self.server()
        process = self.start("-p", server.pid, "--children", *CALLS, "--off-cpu", "--collection-period",
                             "0:500ms:2")
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(result.event("recorded")["reason"], "duration")
        self.assertFalse(self.is_traced(server.pid))

    def test_the_size_counts_for_all(self):
        server = self.server()
        process = self.start("-p", server.pid, "--children", "--off-cpu", *CALLS, "--max-size", "60K")
        self.wait_traced(process, [self.pid("server", 0)])
        self.work("server", 0)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(result.event("recorded")["reason"], "max-size")

    def test_limpet_killed(self):
        server = self.server()
        process = self.start("-p", server.pid, "--children", *CALLS)
        self.wait_traced(process, [self.pid("server", 0)])
        process.send_signal(signal.SIGKILL)
        process.wait()
        for number in range(3):
            self.work("server", number)
        self.mark("server", "end")
        self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    unittest.main()
