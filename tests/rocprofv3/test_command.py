#!/usr/bin/env python3
"""
rocprofv3 --attach on a program that says what it did: the same in all four formats; every way to end; names; again
with other options; children.
"""

import os
import shutil
import signal
import subprocess
import time
import unittest

from profiled import CASES, COUNTED, HOST, STANDIN, Profiled, Server, Work, files, harness

TRACES = ("--hip-trace", "--kernel-trace", "--memory-copy-trace", "--marker-trace")


class Formats(Profiled):
    def test_all_four_say_what_the_program_did(self):
        for case in ("unprepared", "amds, opted in"):
            with self.subTest(case):
                work = self.work(case)
                did, running = self.trace(work, *TRACES, "--output-format", "csv", "json", "rocpd", "pftrace")
                prefix = self.usual(work)
                from_csv = files.sums_of_csv(prefix)
                self.check_counts(from_csv, did)
                self.assertEqual(files.sums_of_database(prefix + "_results.db"), from_csv)
                self.assertEqual(files.sums_of_json(prefix + "_results.json"), from_csv)
                self.assertEqual(files.sums_of_pftrace(prefix + "_results.pftrace"), from_csv)
                for name in ("results.db", "results.json", "results.pftrace", "hip_api_trace.csv"):
                    self.assertIn(f"Opened result file: ./{HOST}/{work.pid}_{name}", running.err)

    def test_the_recording_opens_on_the_page(self):
        work = self.work()
        did, _ = self.trace(work, *TRACES, "-f", "limpet", "csv")
        path = self.usual(work) + "_results.limpet"
        events = sum(count for count, _ in files.sums_of_csv(self.usual(work)).values())
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with Server(path) as server:
            spans = server.ask("/api/spans?session=1&width=16384")
            self.assertLessEqual(events, sum(lane["spans"] for lane in spans["lanes"]))
            self.assertIn("queue", {lane["type"] for lane in spans["lanes"]})
            self.assertTrue([name for name in spans["columns"]["names"] if name.startswith("hip")], "short calls are drawn as one, not all")
            gpu = server.ask("/api/flame?session=1&kind=gpu")
            self.assertGreaterEqual(gpu["samples"], did["kernels"])
            self.assertGreater(len(server.ask("/api/flows?session=1")["columns"]["to_time"]), 0)

    def test_headers_to_the_letter(self):
        work = self.work()
        self.trace(work, "--sys-trace", "-f", "csv", "--stats")
        prefix = self.usual(work)
        made = {path[len(f"{HOST}/{work.pid}_"):-len(".csv")] for path in self.made()}
        self.assertLessEqual({"hip_api_trace", "hsa_api_trace", "marker_api_trace", "kernel_trace", "kernel_stats",
                              "memory_copy_trace", "memory_allocation_trace", "scratch_memory_trace", "agent_info",
                              "hip_api_stats", "domain_stats"}, made)
        for name in made:
            with open(f"{prefix}_{name}.csv") as file:
                self.assertEqual(file.readline(), ",".join(f'"{column}"' for column in files.HEADERS[name]) + "\n")

    def test_a_database_where_nothing_is_said(self):
        work = self.work()
        did, _ = self.trace(work, "--kernel-trace")
        self.assertEqual(self.made(), [f"{HOST}/{work.pid}_results.db"])
        sums = files.sums_of_database(self.usual(work) + "_results.db")
        self.assertEqual(sum(count for count, _ in sums.values()), did["kernels"])

    def test_summaries(self):
        work = self.work()
        did, running = self.trace(work, "--hip-runtime-trace", "-S", "-D", "-u", "usec",
                                  "--summary-groups", "HIP.*", "--summary-output-file", "stdout")
        self.assertEqual(running.out.count("hipMalloc"), 3)
        self.assertRegex(running.out, rf"hipMalloc[^\n]*\b{did['hipMalloc']}\b")

    def test_the_file_alone_does_it(self):
        """The executable needs nothing of what is staged beside it."""
        work = self.work()
        copy = os.path.join(self.folder, "rocprofv3")
        subprocess.run(["cp", self.prefix.program("rocprofv3"), copy], check=True)
        done = subprocess.run([copy, "-p", str(work.pid), "--hip-trace", "--attach-duration-msec", "0"],
                              cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2 * harness.PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        os.unlink(copy)
        self.assertEqual(self.made(), [f"{HOST}/{work.pid}_results.db"])


class Ends(Profiled):
    def trace_until(self, end, *arguments, between=lambda: None):
        work = self.work()
        running = self.start("--attach", work.pid, "--hip-trace", "-f", "csv", *arguments)
        did = self.go(work)
        between()
        end(work, running)
        sums = files.sums_of_csv(self.usual(work))
        self.assertEqual({name: sums["HIP_RUNTIME_API_EXT", name][0] for name in COUNTED},
                         {name: did[name] for name in COUNTED})
        return running

    def test_enter(self):
        running = self.trace_until(lambda work, running: running.finish(text="\n"))
        self.assertIn("Press Enter to detach...", running.out)
        self.assertRegex(running.out, r"Detaching from PID \d+ :: success")

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number=number):
                self.trace_until(lambda work, running: running.signal(number))

    def test_exit_of_the_process(self):
        def leave(work, running):
            work.process.stdin.close()
            running.finish()
        self.says_that_it_ended(self.trace_until(leave))

    def says_that_it_ended(self, running):
        """Nothing was detached from."""
        self.assertRegex(running.out, r"PID \d+ has ended\n")
        self.assertNotIn("Detaching", running.out)

    def test_a_killed_process(self):
        work = self.work()
        running = self.start("--attach", work.pid, "--hip-trace", "-f", "csv")
        self.go(work)
        work.process.kill()
        running.finish()
        self.says_that_it_ended(running)

    def test_duration(self):
        """The program must have worked within that time; where the machine is slow, in a longer one."""
        class TooSlow(Exception):
            pass

        def try_for(duration_s):
            def check():
                if time.monotonic() - begin > duration_s:
                    raise TooSlow()

            begin = time.monotonic()
            running = self.trace_until(lambda work, running: running.finish(), "--attach-duration-msec",
                                       int(duration_s * 1000), between=check)
            self.assertGreater(time.monotonic() - begin, duration_s)
            self.assertNotIn("Press Enter", running.out)

        for duration_s in (1, 5, 20):
            try:
                return try_for(duration_s)
            except TooSlow:
                pass
        self.fail("the machine is too slow")

    def test_the_end_of_input_is_not_enter(self):
        work = self.work()
        running = self.start("-p", work.pid, "--hip-trace")
        running.process.stdin.close()
        running.process.stdin = None
        time.sleep(0.3)
        self.assertIsNone(running.process.poll())
        self.go(work, 1)
        running.signal()

    def test_an_empty_trace_is_said_and_no_failure(self):
        work = self.work()
        running = self.start("-p", work.pid, "--hip-trace", "--attach-duration-msec", 10).finish()
        self.assertIn("warning: the trace is empty", running.err)

    def test_what_is_absent_is_said_at_once(self):
        work = self.work()
        running = self.start("-p", work.pid, "--hip-trace", "--rccl-trace", "--attach-duration-msec", 0).finish()
        self.assertIn("nothing to trace for rccl", running.err)
        self.assertNotIn("nothing to trace for hip", running.err)

    def test_a_program_with_nothing_to_trace_runs(self):
        running = self.start("--", "sh", "-c", "echo ran; exit 3", wait=False).finish(code=3)
        self.assertEqual(running.out, "ran\n")
        self.assertIn("no trace was requested: the program runs untraced", running.err)

    def test_a_process_that_is_not_there(self):
        running = self.start("-p", 4194303, "--hip-trace", wait=False).finish(code=1)
        self.assertIn("there is no process 4194303", running.err)


class Names(Profiled):
    def test_keys(self):
        work = self.work()
        self.trace(work, "--hip-trace", "-f", "csv", "rocpd", "-d", "out/%hostname%", "-o",
                   "a_%pid%_{rank}_%env{STANDIN_NAME}%_%p", rounds=1)
        self.assertIn(f"out/{HOST}/a_{work.pid}_0__{work.pid}_results.db", self.made())
        self.assertIn(f"out/{HOST}/a_{work.pid}_0__{work.pid}_hip_api_trace.csv", self.made())

    def test_variables_say_where_files_go(self):
        work = self.work()
        running = self.run_program(self.prefix.program("rocprofv3"), "-p", work.pid, "--kernel-trace", "-o", "named",
                                   ROCPROF_OUTPUT_PATH="there", ROCPROF_OUTPUT_FILE_NAME="other",
                                   ROCPROF_OUTPUT_FORMAT="csv,json").wait_for(":: success")
        self.go(work, 1)
        running.signal()
        self.assertIn("there/named_kernel_trace.csv", self.made())
        self.assertIn("there/named_results.json", self.made())
        self.assertNotIn("there/named_results.db", self.made())

    def test_variables_of_the_process(self):
        work = Work(**CASES["unprepared"], STANDIN_NAME="mine", SLURM_PROCID="7")
        self.addCleanup(work.close)
        work.tables()
        self.trace(work, "--hip-trace", "-o", "%rank%_%q{STANDIN_NAME}", rounds=1)
        self.assertEqual(self.made(), ["7_mine_results.db"])

    def test_it_replaces_files(self):
        work = self.work()
        for rounds in (3, 1):
            did, _ = self.trace(work, "--kernel-trace", "-o", "same", rounds=rounds)
        sums = files.sums_of_database(os.path.join(self.folder, "same_results.db"))
        self.assertEqual(sum(count for count, _ in sums.values()), did["kernels"])


    def test_files_that_cannot_be_written(self):
        """What was recorded is kept, and its place is said."""
        work = self.work()
        with open(os.path.join(self.folder, "file"), "w"):
            pass
        running = self.start("-p", work.pid, "--hip-trace", "-d", "file")
        self.go(work, 1)
        running.process.send_signal(signal.SIGINT)
        running.finish(code=1)
        kept = os.listdir(self.temporary)
        self.assertEqual(len(kept), 1)
        self.assertIn(f"the recordings are kept in {self.temporary}/{kept[0]}", running.err)
        self.assertIn("error: ", running.err)
        recording = os.path.join(self.temporary, kept[0], os.listdir(os.path.join(self.temporary, kept[0]))[0])
        self.assertEqual(harness.limpet("report", recording).code, 0)
        shutil.rmtree(os.path.join(self.temporary, kept[0]))


class Again(Profiled):
    def test_other_options(self):
        work = self.work()
        for i, (options, kinds) in enumerate((
                (("--kernel-trace",), {"KERNEL_DISPATCH"}),
                (("--hip-runtime-trace", "true", "--kernel-trace", "false"), {"HIP_RUNTIME_API_EXT"}),
                (("--marker-trace=1", "--memory-copy-trace"), {"MARKER_CORE_RANGE_API", "MEMORY_COPY"}),
                (("--hip-compiler-trace", "false", "--hip-trace", "--attach-children", "false"),
                 {"HIP_RUNTIME_API_EXT"}),
                (("--hip-trace", "off", "-r", "--sys-trace=false", "--memory-copy-trace", "no", "--marker-trace=f",
                  "--hip-runtime-trace", "--scratch-memory-trace", "0", "--memory-allocation-trace", "n"),
                 {"HIP_RUNTIME_API_EXT", "KERNEL_DISPATCH"}))):
            with self.subTest(options):
                self.trace(work, *options, "-f", "csv", "-o", f"turn{i}", rounds=1)
                sums = files.sums_of_csv(os.path.join(self.folder, f"turn{i}"))
                self.assertEqual({kind for kind, _ in sums}, kinds)

    def test_periods(self):
        """Two of them, each with a pause before; what happens in pauses is not there."""
        work = self.work()
        running = self.start("-p", work.pid, "--hip-trace", "-f", "csv", "-P", "1000:300:2",
                             "--collection-period-unit", "msec")
        work.tell("pace", 20000)
        running.finish()
        work.tell("stop")
        work.lines()
        times = sorted(int(row["Start_Timestamp"]) for row in files.rows(self.usual(work) + "_hip_api_trace.csv"))
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        self.assertEqual(len([gap for gap in gaps if gap > 800e6]), 1, sorted(gaps)[-5:])

    def test_kernels_by_name(self):
        work = self.work()
        for i, (options, expected) in enumerate((
                (("--kernel-include-regex", "^kernel_[01]"), {"kernel_0(int*)": 5, "kernel_1(int*)": 5}),
                (("--kernel-exclude-regex", "kernel_"), {"default_kernel(float)": 15}),
                (("--kernel-include-regex", "default", "--kernel-iteration-range", "[2-3]", "[5]", "-T"),
                 {"default_kernel": 3}))):
            with self.subTest(options):
                self.trace(work, "--kernel-trace", "-f", "csv", "-o", f"turn{i}", *options)
                sums = files.sums_of_csv(os.path.join(self.folder, f"turn{i}"))
                self.assertEqual({name: count for (_, name), (count, _) in sums.items()}, expected)


class Pipes:
    """Of a program that somebody else started."""

    def __init__(self, stdin, stdout):
        self.stdin, self.stdout = stdin, stdout


class Children(Profiled):
    def shell(self):
        """A shell without runtimes, whose child uses them when it is told to begin."""
        ground = Work(**CASES["unprepared"])
        self.addCleanup(ground.close)
        script = f"read line; {STANDIN}/standin_work; exit 0"
        process = subprocess.Popen(
            ["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=ground.ground.environment(LD_LIBRARY_PATH=str(CASES["unprepared"]["library_path"])))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_child(self, process):
        process.stdin.write("begin\n")
        process.stdin.flush()
        pid = int(process.stdout.readline().split()[1])
        return pid

    def ask(self, process, *words):
        process.stdin.write(" ".join(words) + "\n")
        process.stdin.flush()
        lines = [line.split() for line in iter(process.stdout.readline, "end\n")]
        return {words[1]: int(words[2]) for words in lines if words[0] == "did"}

    def test_a_child_that_is_born_meanwhile(self):
        process = self.shell()
        running = self.start("-p", process.pid, "--hip-trace", "--kernel-trace", "-f", "csv", "-o", "%pid%",
                             "--log-level", "info")
        child = self.run_child(process)
        self.ask(process, "tables")
        self.assertTrue(harness.wait_until(lambda: self.is_hooked(process, child)))
        did = self.ask(process, "go", "5")
        running.signal()
        sums = files.sums_of_csv(os.path.join(self.folder, str(child)))
        self.assertEqual(sums["HIP_RUNTIME_API_EXT", "hipMalloc"][0], did["hipMalloc"])
        self.assertFalse([path for path in self.made() if path.startswith(f"{process.pid}_")])

    def test_one_name_for_several(self):
        """Each has its own files: the first by that name, the other with its number behind it."""
        ground = Work(**CASES["unprepared"])
        self.addCleanup(ground.close)
        for name in "abcd":
            os.mkfifo(os.path.join(self.folder, name))
        shell = subprocess.Popen(
            ["sh", "-c", f"{STANDIN}/standin_work <a >b & {STANDIN}/standin_work <c >d & wait"], cwd=self.folder,
            env=ground.ground.environment(LD_LIBRARY_PATH=str(CASES["unprepared"]["library_path"])))
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)
        pipes = [open(os.path.join(self.folder, name), mode) for name, mode in zip("abcd", "wrwr")]
        for pipe in pipes:
            self.addCleanup(pipe.close)
        children = [Pipes(*pipes[:2]), Pipes(*pipes[2:])]
        pids = [int(child.stdout.readline().split()[1]) for child in children]
        for child in children:
            self.ask(child, "tables")
        running = self.start("-p", shell.pid, "--hip-trace", "-f", "csv", "-o", "same")
        did = [self.ask(child, "go", str(rounds))["hipMalloc"] for child, rounds in zip(children, (2, 3))]
        running.signal()
        found = {}
        for path in self.made():
            if path.endswith("hip_api_trace.csv"):
                rows = files.rows(os.path.join(self.folder, path))
                found[int(rows[0]["Process_Id"])] = len([row for row in rows if row["Function"] == "hipMalloc"])
        self.assertEqual(found, dict(zip(pids, did)))
        self.assertIn("same_hip_api_trace.csv", self.made())

    def is_hooked(self, process, child):
        """No slot of HIP's table leads into its library any more."""
        process.stdin.write("tables\n")
        process.stdin.flush()
        lines = [line.split() for line in iter(process.stdout.readline, "end\n")]
        table, slots = next((int(words[3], 16), int(words[4])) for words in lines if words[:2] == ["table", "hip"])
        with open(f"/proc/{child}/mem", "rb", 0) as memory:
            memory.seek(table + 8)
            words = memoryview(memory.read(8 * slots)).cast("Q")
        with open(f"/proc/{child}/maps") as maps:
            ranges = [line.split()[0].split("-") for line in maps if "libamdhip64" in line]
        return not any(int(start, 16) <= word < int(end, 16) for word in words for start, end in ranges)

    def test_not_wanted(self):
        process = self.shell()
        child = self.run_child(process)
        self.ask(process, "tables")
        running = self.start("-p", process.pid, "--hip-trace", "--attach-children", "false")
        self.ask(process, "go", "1")
        self.assertIn("the trace is empty", running.signal().err)
        self.assertFalse([path for path in self.made() if str(child) in path])


if __name__ == "__main__":
    unittest.main(verbosity=2)
