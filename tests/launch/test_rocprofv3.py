#!/usr/bin/env python3
"""
rocprofv3 [options] -- program: what is in AMD's files is what the program says it did, from its first call on, however
its runtimes are registered; its status and its signals; several jobs.
"""

import json
import os
import pathlib
import signal
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / name) for name in ("rocprofv3", "attach")]

from profiled import CASES, HOST, STANDIN, Profiled, files, harness  # noqa: E402
from standin import SDK, Ground  # noqa: E402

TRACES = ("--hip-trace", "--kernel-trace", "--memory-copy-trace", "--marker-trace")
PROGRAM = STANDIN / "standin_work"
LAUNCHED = harness.program("launched")


class Launch(Profiled):
    def launch(self, *words, case="unprepared", text=None, code=0):
        """The program when it has ended."""
        variables = dict(CASES[case])
        ground = Ground(SDK)
        self.addCleanup(ground.close)
        running = self.run_program(self.prefix.program("rocprofv3"), *words,
                                   LD_LIBRARY_PATH=str(variables.pop("library_path", None) or ground.path), **variables)
        return running.finish(code, text)

    def said(self, running):
        """The number of the program, and what it did."""
        lines = [line.split() for line in running.out.splitlines()]
        pid = next(int(words[1]) for words in lines if words and words[0] == "ready")
        return pid, {words[1]: int(words[2]) for words in lines if words and words[0] == "did"}

    def check_all(self, prefix, did):
        from_csv = files.sums_of_csv(prefix)
        self.check_counts(from_csv, did)
        self.assertEqual(files.sums_of_database(prefix + "_results.db"), from_csv)
        self.assertEqual(files.sums_of_json(prefix + "_results.json"), from_csv)
        self.assertEqual(files.sums_of_pftrace(prefix + "_results.pftrace"), from_csv)


class Formats(Launch):
    def test_all_four_say_what_the_program_did(self):
        """The runtimes register in its first call, and nobody has looked at them before."""
        for case in CASES:
            with self.subTest(case):
                running = self.launch(*TRACES, "--output-format", "csv", "json", "rocpd", "pftrace", "--", PROGRAM,
                                      case=case, text="go 5\n")
                pid, did = self.said(running)
                self.check_all(os.path.join(self.folder, HOST, str(pid)), did)

    def begin(self, *words):
        """A program that waits for its orders, under whatever was started; and its number, once it is traced."""
        running = self.run_program(self.prefix.program("rocprofv3"), *words,
                                   LD_LIBRARY_PATH=str(CASES["unprepared"]["library_path"]))
        pid = int(running.wait_for("ready").out.split()[1])
        self.assertTrue(harness.wait_until(lambda: self.is_traced(pid)), f"not attached: {running.err}")
        return running, pid

    def is_traced(self, pid):
        """Its tools are attached: the hooks are in."""
        status = harness.limpet("status", pid, "--json")
        return any(tool.get("state") == "attached" for event in status.events for tool in event.get("tools", ()))

    def test_programs_that_it_executes_and_children(self):
        """They are attached when they are there; their files have names of their own."""
        for i, before in enumerate((("env", "STANDIN_NAME=mine"), ("sh", "-c", '"$0"; exit 0'))):
            with self.subTest(before[0]):
                running, pid = self.begin("--hip-trace", "-f", "csv", "-d", f"out{i}", "-o", "a_%pid%", "--",
                                          *before, PROGRAM)
                running.finish(text="go 2\n")
                _, did = self.said(running)
                sums = files.sums_of_csv(os.path.join(self.folder, f"out{i}", f"a_{pid}"))
                self.assertIn(("HIP_RUNTIME_API_EXT", "hipMalloc"), sums, f"{self.made()}\n{running.err}")
                self.assertEqual(sums["HIP_RUNTIME_API_EXT", "hipMalloc"][0], did["hipMalloc"])
                self.assertNotIn("nothing to trace", running.err)

    def test_a_child_that_cannot_be_attached_is_not_said_to_have_nothing(self):
        for time_ms in (500, 2000, 8000, 32000):
            running = self.launch("--hip-trace", "--", "sh", "-c", '"$0" sleep "$1"; exit 0',
                                  harness.program("launched_static"), time_ms)
            if "statically linked" in running.err:
                break
        self.assertIn("statically linked", running.err)
        self.assertNotIn("nothing to trace", running.err)

    def test_several_jobs(self):
        """The program is started once for each."""
        with open(os.path.join(self.folder, "jobs.json"), "w") as file:
            json.dump({"jobs": [{"hip_trace": True, "output_format": ["csv"]},
                                {"kernel_trace": True, "output_file": "second"}]}, file)
        running = self.launch("-i", "jobs.json", "-d", "out", "--", PROGRAM, text="go 2\n")
        pids = [int(line.split()[1]) for line in running.out.splitlines() if line.startswith("ready")]
        self.assertEqual(len(pids), 2)
        _, did = self.said(running)
        sums = files.sums_of_csv(os.path.join(self.folder, "out/pass_1", HOST, str(pids[0])))
        self.assertEqual(sums["HIP_RUNTIME_API_EXT", "hipMalloc"][0], did["hipMalloc"])
        self.assertEqual([path for path in self.made() if path.startswith("out/pass_2/")],
                         ["out/pass_2/second_results.db"])


    def test_python(self):
        """A runtime that is loaded by dlopen and used at once."""
        script = os.path.join(self.folder, "script.py")
        library = next(STANDIN.glob("libamdhip64.so*"))
        with open(script, "w") as file:
            file.write(f"import ctypes\nhip = ctypes.CDLL('{library}')\nfor _ in range(7): hip.hipSetDevice(0)\n")
        for i in range(3):
            running = self.launch("--hip-trace", "-f", "csv", "-o", f"py{i}", "--", "/usr/bin/python3", script)
            self.assertNotIn("nothing to trace", running.err)
            sums = files.sums_of_csv(os.path.join(self.folder, f"py{i}"))
            self.assertEqual(sums["HIP_RUNTIME_API_EXT", "hipSetDevice"][0], 7)


class Regions(Launch):
    """Only what the program selects."""

    def blocks(self, running):
        """What it did, order by order."""
        found = []
        for line in running.out.splitlines():
            words = line.split()
            if words and words[0] == "thread" and words[1] == "0":
                found.append({})
            elif words and words[0] == "did":
                found[-1][words[1]] = int(words[2])
        return found

    def test_between_resume_and_pause(self):
        running = self.launch(*TRACES, "--selected-regions", "-f", "csv", "json", "rocpd", "pftrace", "--", PROGRAM,
                              text="go 2\nresume\ngo 3\npause\ngo 1\n")
        pid, _ = self.said(running)
        self.check_all(os.path.join(self.folder, HOST, str(pid)), self.blocks(running)[1])

    def test_markers_that_nobody_asked_for_are_not_shown(self):
        running = self.launch("--hip-runtime-trace", "--selected-regions", "-f", "csv", "-o", "it", "--", PROGRAM,
                              text="go 1\nresume\ngo 2\npause\ngo 1\nresume\ngo 3\n")
        sums = files.sums_of_csv(os.path.join(self.folder, "it"))
        self.assertEqual({kind for kind, _ in sums}, {"HIP_RUNTIME_API_EXT"})
        did = self.blocks(running)
        self.assertEqual(sums["HIP_RUNTIME_API_EXT", "hipMalloc"][0], did[1]["hipMalloc"] + did[3]["hipMalloc"])

    def test_counted(self):
        text = "resume\nresume\ngo 1\npause\ngo 2\npause\ngo 1\n"
        for option, indexes in (("--selected-regions", (0,)), ("--selected-regions-ref-count", (0, 1))):
            with self.subTest(option):
                running = self.launch("--kernel-trace", option, "-f", "csv", "-o", "it", "--", PROGRAM, text=text)
                sums = files.sums_of_csv(os.path.join(self.folder, "it"))
                did = self.blocks(running)
                self.assertEqual(sum(count for count, _ in sums.values()), sum(did[i]["kernels"] for i in indexes))

    def test_attached(self):
        work = self.work()
        running = self.start("-p", work.pid, "--hip-trace", "--selected-regions", "-f", "csv")
        self.go(work, 1)
        work.tell("resume")
        did = self.go(work, 2)
        work.tell("pause")
        self.go(work, 1)
        running.signal()
        sums = files.sums_of_csv(self.usual(work))
        self.assertEqual(sums["HIP_RUNTIME_API_EXT", "hipMalloc"][0], did["hipMalloc"])

    def test_nothing_selected(self):
        running = self.launch("--hip-trace", "--selected-regions", "--", PROGRAM, text="go 1\n")
        self.assertIn("the trace is empty", running.err)


class Ends(Launch):
    def test_the_status_is_the_programs(self):
        running = self.launch("--hip-trace", "--", LAUNCHED, "count", 1, code=3)
        self.assertIn("the program ended: exit status 3", running.err)
        self.assertIn("nothing to trace for hip in the program", running.err)
        self.assertIn("the trace is empty", running.err)
        running = self.launch("--hip-trace", "--", LAUNCHED, "crash", code=128 + signal.SIGABRT)
        self.assertIn("killed by signal 6", running.err)

    def test_output_and_signals_are_the_programs(self):
        running = self.run_program(self.prefix.program("rocprofv3"), "--hip-trace", "--", LAUNCHED, "wait")
        running.wait_for("ready")
        running.process.send_signal(signal.SIGTERM)
        running.finish(9)
        self.assertEqual(running.out.splitlines()[1:], ["signal 15"])

    def test_refusals(self):
        for words, expected in ((("--", "no_such_program_anywhere"), "there is no such program"),
                                (("--", harness.program("launched_static"), "count", 1), "statically linked"),
                                (("-p", 1, "--", LAUNCHED), "both a process and a program"),
                                (("-p", 1, LAUNCHED), "unexpected argument")):
            running = self.launch("--hip-trace", *words, code=1)
            self.assertIn(expected, running.err)
        self.assertEqual(self.made(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
