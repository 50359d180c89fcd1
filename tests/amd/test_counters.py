#!/usr/bin/env python3
"""
rocprofv3 --pmc on a (stand-in) HSA program that runs already, with queues that are older than limpet: kernels that were alone
have their own numbers, others are left out and counted, and no queue ever stalls.

Definitions and the topology are of our own, in ROCm's form (tests/counters/amd).
Environment: ROCPROFV3 is the executable under test.
"""

import contextlib
import csv
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter

from standin import STANDIN, Work, harness


ROCPROFV3 = os.environ["ROCPROFV3"]
MADE_UP = pathlib.Path(__file__).resolve().parent.parent / "counters/amd"
HOST = {**os.environ, "HSA_MODEL_TOPOLOGY": str(MADE_UP / "topology"),
        "ROCPROFILER_METRICS_PATH": str(MADE_UP / "definitions")}
PLACES = 8  # of SQ: two XCCs with four engines each
KERNELS = 20
DEADLINE_S = 2 * harness.PATIENCE_S
LIMIT_S = 2  # limpet waits for devices that long in exit(), where it waits in vain
TRIES = 3


class Counters(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def work(self, library="with", **variables):
        path = f"{STANDIN}/amd_register/old" + (f":{STANDIN}" if library else "")
        work = Work(library_path=path, program="standin_hsa_work", STANDIN_GFX="gfx942", **variables)
        self.addCleanup(work.close)
        work.ask("solo", 2)
        return work

    def run_rocprofv3(self, *arguments, environment=HOST):
        process = subprocess.Popen(
            [ROCPROFV3, *map(str, arguments), "-d", self.folder, "-o", "x"], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def begin(self, work, *counters, formats=("csv",)):
        process = self.run_rocprofv3("--pid", work.pid, "--pmc", *counters, "--output-format", *formats)
        self.said = []
        for line in iter(process.stdout.readline, ""):
            self.said.append(line)
            if ":: success" in line:
                return process
        raise AssertionError(f"not attached: {process.wait()} {self.said}")

    def end(self, process):
        out, _ = process.communicate("\n", timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0, out)
        return out

    def rows(self):
        path = os.path.join(self.folder, "x_counter_collection.csv")
        if not os.path.exists(path):
            return []
        with open(path) as file:
            return list(csv.DictReader(file))

    def forget_rows(self):
        """A run that counts nothing writes no file, and would be judged by the rows of the one before."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(self.folder, "x_counter_collection.csv"))

    def values(self, name):
        """In the order of the kernels."""
        rows = sorted((row for row in self.rows() if row["Counter_Name"] == name), key=lambda row: int(row["Dispatch_Id"]))
        return [float(row["Counter_Value"]) for row in rows]

    def test_every_kernel_that_was_alone_has_its_number(self):
        work = self.work()
        tables = work.tables()
        before = work.words(tables)
        process = self.begin(work, "SQ_WAVES", "GRBM_COUNT")
        work.ask("solo", KERNELS)
        self.assertNotIn("WARNING", self.end(process))
        self.assertEqual(work.words(tables), before)
        self.assertEqual(self.values("SQ_WAVES"), [float(i + 1) for i in range(KERNELS)])
        self.assertEqual(len([value for value in self.values("GRBM_COUNT") if value > 0]), KERNELS)
        for row in self.rows():
            self.assertEqual((row["Kernel_Name"], row["Workgroup_Size"], row["Agent_Id"]), ("hsa_kernel_0", "1", "Agent 1"))
            self.assertLessEqual(int(row["Start_Timestamp"]), int(row["End_Timestamp"]))
        starts, stops, reads = map(int, work.ask("bank")[0][1:])
        self.assertEqual((starts, stops), (reads, reads))
        work.ask("solo", 2)

    def test_computed_counters(self):
        work = self.work()
        process = self.begin(work, "WAVES_PER_CU,HIT_SHARE", "TCC_HIT_sum")
        work.ask("solo", 3)
        self.end(process)
        self.assertEqual(self.values("WAVES_PER_CU"), [1 / 8, 2 / 8, 3 / 8])
        self.assertEqual(self.values("HIT_SHARE"), [100.0] * 3)
        self.assertEqual(self.values("TCC_HIT_sum"), [64 * 8 * (i + 1) for i in range(3)])

    def test_all_formats_say_the_same(self):
        work = self.work()
        process = self.begin(work, "SQ_WAVES", "WAVES_PER_CU", formats=("csv", "json", "rocpd", "pftrace"))
        work.ask("solo", KERNELS)
        self.end(process)
        expected = {(str(float(i + 1)), i + 1) for i in range(KERNELS)}
        self.assertEqual({(str(value), i + 1) for i, value in enumerate(self.values("SQ_WAVES"))}, expected)
        self.check_json()
        self.check_database()
        self.check_pftrace()

    def check_json(self):
        with open(os.path.join(self.folder, "x_results.json")) as file:
            results = json.load(file)["rocprofiler-sdk-tool"][0]
        ids = {counter["name"]: counter["id"]["handle"] for counter in results["counters"]}
        self.assertEqual(set(ids), {"SQ_WAVES", "WAVES_PER_CU"})
        counted = results["callback_records"]["counter_collection"]
        sums = [sum(record["value"] for record in kernel["records"] if record["counter_id"]["handle"] == ids["SQ_WAVES"])
                for kernel in counted]
        self.assertEqual(sums, [i + 1 for i in range(KERNELS)])
        self.assertEqual({len(kernel["records"]) for kernel in counted}, {PLACES + 1})

    def check_database(self):
        database = sqlite3.connect(os.path.join(self.folder, "x_results.db"))
        self.addCleanup(database.close)
        sums = database.execute("SELECT value FROM counters_collection WHERE counter_name = 'SQ_WAVES' ORDER BY dispatch_id")
        self.assertEqual([value for value, in sums], [i + 1 for i in range(KERNELS)])
        self.assertEqual(database.execute("SELECT count(*) FROM pmc_events").fetchone()[0], KERNELS * (PLACES + 1))
        self.assertEqual(database.execute("SELECT name, block, is_derived FROM pmc_info ORDER BY name").fetchall(),
                         [("SQ_WAVES", "SQ", 0), ("WAVES_PER_CU", "", 1)])
        self.assertEqual(database.execute("SELECT count(*) FROM kernels").fetchone()[0], KERNELS)

    def check_pftrace(self):
        with open(os.path.join(self.folder, "x_results.pftrace"), "rb") as file:
            self.assertIn(b"SQ_WAVES AGENT [1]", file.read())

    def test_with_kernel_trace_each_kernel_has_one_row(self):
        work = self.work()
        process = self.run_rocprofv3("--pid", work.pid, "--pmc", "SQ_WAVES", "--kernel-trace", "-f", "rocpd", "csv")
        while ":: success" not in process.stdout.readline():
            self.assertIsNone(process.poll())
        work.ask("solo", 5)
        self.end(process)
        database = sqlite3.connect(os.path.join(self.folder, "x_results.db"))
        self.addCleanup(database.close)
        self.assertEqual(database.execute("SELECT count(*) FROM kernels").fetchone()[0], 5)
        self.assertEqual(self.values("SQ_WAVES"), [1, 2, 3, 4, 5])
        with open(os.path.join(self.folder, "x_kernel_trace.csv")) as file:
            self.assertEqual(len(list(csv.DictReader(file))), 5)

    def test_filters(self):
        work = self.work()
        process = self.run_rocprofv3("--pid", work.pid, "--pmc", "SQ_WAVES", "-f", "csv", "--kernel-iteration-range", "[2-3]")
        while ":: success" not in process.stdout.readline():
            self.assertIsNone(process.poll())
        work.ask("solo", 5)
        self.end(process)
        self.assertEqual(self.values("SQ_WAVES"), [2, 3])

    def test_kernels_at_the_same_time_are_left_out_and_counted(self):
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        work.ask("pairs", 5)
        work.ask("solo", 3)
        out = self.end(process)
        self.assertRegex(out, r"\d+ of 13 counted kernels ran, or were counted, at the same time as others")
        values = self.values("SQ_WAVES")
        self.assertEqual(values[-3:], [1, 2, 3])
        self.assertLessEqual(Counter(values[:-3]).keys(), {3.0})  # where one happened to run alone

    def test_kernels_of_two_queues_by_turns(self):
        """The next one's counters may be started before those of the last one are read: no value is wrong."""
        for slow in ("0", "3"):
            with self.subTest(slow):
                work = self.work(STANDIN_SLOW=slow)
                process = self.begin(work, "SQ_WAVES")
                work.ask("turns", KERNELS)
                self.check_right_or_left_out(self.end(process), KERNELS)
                self.forget_rows()

    def check_right_or_left_out(self, out, count):
        rows = [(int(row["Grid_Size"]) / 64, float(row["Counter_Value"])) for row in self.rows()]
        self.assertEqual([row for row in rows if row[0] != row[1]], [], out)
        left_out = re.search(r"(\d+) of \d+ counted kernels ran, or were counted", out) or [0, 0]
        uncounted = re.search(r"(\d+) packets of process \d+ went by uncounted", out) or [0, 0]
        self.assertEqual(len(rows) + int(left_out[1]) + int(uncounted[1]), count, out)

    def test_kernels_of_eight_threads_with_a_queue_each(self):
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        work.ask("streams", KERNELS)
        self.check_right_or_left_out(self.end(process), 8 * KERNELS)

    def family(self):
        """The parent of two programs that launch kernels now and then."""
        feeder = "import time\nwhile True: print('solo 2', flush=True); time.sleep(0.05)"
        parent = subprocess.Popen(
            ["sh", "-c", '"$0" -c "$1" | "$2" & "$0" -c "$1" | "$2" & wait', sys.executable, feeder, STANDIN / "standin_hsa_work"],
            env={**os.environ, "LD_LIBRARY_PATH": f"{STANDIN}/amd_register/old:{STANDIN}", "STANDIN_GFX": "gfx942"},
            stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(parent.wait)
        self.addCleanup(os.killpg, parent.pid, signal.SIGKILL)
        return parent

    def test_two_processes_that_are_counted_do_not_see_each_other(self):
        parent = self.family()
        for pause in (1, 5, 20):  # until both have begun, and were attached
            process = self.begin(parent, "SQ_WAVES")
            time.sleep(pause)
            out = self.end(process)
            if "kernels of 2 processes were counted" in out:
                return
        self.fail(out)

    def test_kernels_from_before_the_attach_are_beside_others(self):
        work = self.work()
        work.ask("beside", 0)
        process = self.begin(work, "SQ_WAVES")
        work.ask("solo", 3)
        work.ask("beside", 1)  # from here on the queue is known, and that it was not empty
        work.ask("solo", 2)
        work.ask("release")
        out = self.end(process)
        self.assertIn("6 of 6 counted kernels ran, or were counted, at the same time as others", out)
        self.assertEqual(self.rows(), [])

    def test_one_device_only(self):
        work = self.work()
        process = self.begin(work, "SQ_WAVES:device=0", "GRBM_COUNT:device=1")
        work.ask("solo", 3)
        self.end(process)
        self.assertEqual(self.values("SQ_WAVES"), [1, 2, 3])
        self.assertEqual(self.values("GRBM_COUNT"), [])
        for name, words in (("SQ_WAVES:device=7", "no such GPU"), ("SQ_WAVES:device=x", "the number of a GPU")):
            refused = self.run_rocprofv3("--pid", work.pid, "--pmc", name)
            out, _ = refused.communicate(timeout=DEADLINE_S)
            self.assertEqual(refused.returncode, 1, out)
            self.assertIn(words, out)

    def test_every_form_of_asking(self):
        work = self.work()
        folder = pathlib.Path(self.folder)
        (folder / "a.txt").write_text("pmc: SQ_WAVES GRBM_COUNT\n")
        (folder / "a.yaml").write_text("jobs:\n  - pmc: [SQ_WAVES, GRBM_COUNT]\n")
        (folder / "a.json").write_text('{"jobs": [{"pmc": ["SQ_WAVES", "GRBM_COUNT"]}]}')
        for options in (("--pmc", "SQ_WAVES", "GRBM_COUNT"), ("--pmc", "SQ_WAVES,GRBM_COUNT"), ("--pmc=SQ_WAVES,GRBM_COUNT",),
                        ("-i", folder / "a.txt"), ("-i", folder / "a.yaml"), ("-i", folder / "a.json")):
            with self.subTest(options):
                process = self.run_rocprofv3("--pid", work.pid, "-f", "csv", *options)
                while ":: success" not in (line := process.stdout.readline()):
                    self.assertTrue(line)
                work.ask("solo", 2)
                self.end(process)
                self.assertEqual((self.values("SQ_WAVES"), len(self.values("GRBM_COUNT"))), ([1, 2], 2))

    def test_variables_of_the_attach_library(self):
        work = self.work()
        variables = {**HOST, "ROCPROF_COUNTER_COLLECTION": "1", "ROCPROF_COUNTERS": "pmc: SQ_WAVES GRBM_COUNT",
                     "ROCPROF_OUTPUT_PATH": self.folder, "ROCPROF_OUTPUT_FILE_NAME": "x", "ROCPROF_OUTPUT_FORMAT": "csv",
                     "ROCPROF_ATTACH_TOOL_LIBRARY": "librocprofiler-sdk-tool.so"}
        program = ("import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); assert library.attach(int(sys.argv[2])) == 0; "
                   "print('in', flush=True); sys.stdin.readline(); assert library.detach() == 0")
        process = subprocess.Popen([sys.executable, "-c", program, os.environ["ATTACH_LIBRARY"], str(work.pid)], env=variables,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "in\n")
        work.ask("solo", 2)
        process.communicate("\n", timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0)
        self.assertEqual((self.values("SQ_WAVES"), len(self.values("GRBM_COUNT"))), ([1, 2], 2))

    def test_groups_and_single_queues_go_by(self):
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        work.ask("group", 5)
        work.ask("single", 5)
        work.ask("solo", 3)
        out = self.end(process)
        self.assertIn("packets of process", out)
        self.assertIn("kernels of graphs", out)
        self.assertIn("queues of one thread", out)
        self.assertLessEqual(set(self.values("SQ_WAVES")), {1.0, 2.0, 3.0})

    def test_a_program_that_fills_its_ring_before_it_rings(self):
        """Up to all of its packets: nobody waits for room that limpet took."""
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        for count in (1, 8, 31, 40, 63, 64):
            work.ask("stuff", count)
        self.end(process)
        work.ask("stuff", 64)

    def test_a_program_that_keeps_its_ring_full(self):
        """By its own count, which does not know of packets around its own: none of its kernels is lost, also while limpet leaves."""
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        work.ask("brim", 300)
        work.tell("brim", 600)
        self.end(process)
        self.assertEqual(set(self.values("SQ_WAVES")), {1.0})
        work.lines()
        work.ask("brim", 100)

    def test_eight_threads_in_one_queue(self):
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        work.ask("many", 60)
        work.ask("churn", 100)
        self.end(process)
        self.assertEqual(set(self.values("SQ_WAVES")), {94.0})  # of 10 times 20 times 30 items
        work.ask("many", 5)

    def test_queues_that_go_while_packets_are_in_them(self):
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        for _ in range(70):  # more than there are sets of packets
            work.ask("away")
        for _ in range(5):  # on a busy machine sets come back late, and kernels go by uncounted until then
            time.sleep(0.2)
            work.ask("solo", 3)
        self.end(process)
        self.assertEqual(self.values("SQ_WAVES")[-3:], [1, 2, 3])

    def check_nothing_is_left(self, work):
        starts, stops, reads = work.ask("bank")[0][1:]
        self.assertEqual((starts, stops), (reads, reads))
        self.assertEqual((work.ask("sets"), work.ask("memory")), ([["sets", "0"]], [["memory", "0"]]))

    def test_queues_that_go_as_soon_as_their_kernel_is_done(self):
        """Which is before the device has stopped and read its counters for it."""
        work = self.work(STANDIN_SLOW="5")
        process = self.begin(work, "SQ_WAVES")
        work.ask("brief", KERNELS)
        self.assertNotIn("WARNING", self.end(process))
        self.assertEqual(self.values("SQ_WAVES"), [float(i + 1) for i in range(KERNELS)])
        self.check_nothing_is_left(work)

    def test_queue_that_goes_while_limpet_leaves(self):
        """Its hooks are there for as long as packets of its are."""
        work = self.work(STANDIN_SLOW="300")
        process = self.begin(work, "SQ_WAVES")
        work.tell("brief", 1)  # 300 ms for each of three packets: it is under way at the end
        time.sleep(0.1)
        self.end(process)
        work.lines()
        self.check_nothing_is_left(work)

    def test_queue_that_goes_with_a_kernel_that_does_not_end(self):
        """Nobody waits for ever, and the kernel is told as one that has no values."""
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        work.ask("solo", 2)
        work.ask("endless")
        work.ask("queue")
        self.assertIn("1 of 3 counted kernels were not done", self.end(process))
        self.assertEqual(self.values("SQ_WAVES"), [1, 2])
        self.assertEqual((work.ask("sets"), work.ask("memory")), ([["sets", "0"]], [["memory", "0"]]))

    def test_runtime_that_ends_as_soon_as_a_kernel_is_done(self):
        work = self.work(STANDIN_SLOW="5")
        process = self.begin(work, "SQ_WAVES")
        work.ask("abandon")
        self.end(process)
        self.assertEqual(self.values("SQ_WAVES"), [7])
        starts, stops, reads = work.ask("bank")[0][1:]
        self.assertEqual((starts, stops), (reads, reads))

    def test_a_kernel_that_does_not_end(self):
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        work.ask("solo", 3)
        work.ask("endless")
        out = self.end(process)
        self.assertIn("1 of 4 counted kernels were not done", out)
        work.ask("release")
        work.ask("queue")
        process = self.begin(work, "SQ_WAVES")
        work.ask("solo", 2)
        self.end(process)
        self.assertEqual(self.values("SQ_WAVES"), [1, 2])

    def test_limpet_killed(self):
        work = self.work()
        for _ in range(3):
            process = self.begin(work, "SQ_WAVES", "TCC_HIT")
            work.tell("solo", 200)
            time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
            process.wait()
            work.lines()
        work.ask("solo", 50)

    def finish(self, work):
        """How it ends in exit()."""
        work.process.stdin.close()
        return work.process.wait(timeout=DEADLINE_S)

    def test_program_exits_while_counted(self):
        """aqlprofile destroys its sets in exit(): with limpet there, with a kernel that does not end, and later."""
        for chores in ((), (("endless",),)):
            for is_there in (True, False):
                with self.subTest(chores=chores, is_there=is_there):
                    work = self.work()
                    process = self.begin(work, "SQ_WAVES")
                    work.ask("solo", 3)
                    for chore in chores:
                        work.ask(*chore)
                    if not is_there:
                        self.end(process)
                        self.assertEqual(work.ask("sets"), [["sets", str(len(chores))]])
                        harness.limpet("detach", work.pid, "--unload")
                    self.assertEqual(self.finish(work), 0)

    def test_program_exits_as_soon_as_a_kernel_is_done(self):
        """Its counters are read before it ends, and one that is not done is told."""
        work = self.work(STANDIN_SLOW="20")
        process = self.begin(work, "SQ_WAVES")
        work.ask("solo", 1)
        work.ask("endless")
        self.assertEqual(self.finish(work), 0)
        self.assertIn("1 of 2 counted kernels were not done", self.end(process))
        self.assertEqual(self.values("SQ_WAVES"), [1])

    def test_queue_with_the_doorbell_of_one_that_just_went(self):
        """The runtime gives it away before its call is over: what is in the other queue is not lost with the first."""
        work = self.work(STANDIN_REUSE="300")
        process = self.begin(work, "SQ_WAVES")
        work.ask("heir")
        self.assertNotIn("not done", self.end(process))
        self.assertEqual(self.values("SQ_WAVES"), [5])
        self.check_nothing_is_left(work)

    def check_one_is_short(self, leave):
        """The machine may be busy, but not each time for as long as limpet would wait at most."""
        self.assertTrue(any(leave() < LIMIT_S for _ in range(TRIES)))

    def test_program_exits_while_its_threads_go_on(self):
        """limpet waits for kernels of before only: else it would wait for as long as it may, each time."""
        def leave():
            work = self.work(STANDIN_SLOW="5")
            process = self.begin(work, "SQ_WAVES")
            work.ask("busy", 16)
            time.sleep(0.2)
            begin = time.monotonic()
            self.assertEqual(self.finish(work), 0)
            seconds = time.monotonic() - begin
            self.end(process)
            return seconds
        self.check_one_is_short(leave)

    def test_kernel_that_is_waited_for_in_exit(self):
        """By what the program has registered for it: limpet comes before, and does not give it up."""
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        work.ask("pending")
        time.sleep(0.3)
        self.assertEqual(self.finish(work), 0)
        self.assertNotIn("not done", self.end(process))
        self.assertEqual(self.values("SQ_WAVES"), [7])

    def test_program_exits_in_a_call_of_the_runtime(self):
        """The thread that would tell limpet: what is not told by then is missing, and that is said."""
        def leave():
            work = self.work(STANDIN_SLOW="20")
            process = self.begin(work, "SQ_WAVES")
            work.ask("solo", 3)
            begin = time.monotonic()
            work.tell("callback")
            self.assertEqual(work.process.wait(timeout=DEADLINE_S), 0)
            seconds = time.monotonic() - begin
            self.assertIn("1 of 4 counted kernels were not done", self.end(process))
            self.assertEqual(self.values("SQ_WAVES"), [1, 2, 3])
            return seconds
        self.check_one_is_short(leave)

    def test_program_exits_while_the_first_set_is_made(self):
        """Its list of sets waits for who makes one."""
        work = self.work(STANDIN_MAKE_MS="400")
        process = self.run_rocprofv3("--pid", work.pid, "--pmc", "SQ_WAVES")
        self.assertTrue(harness.wait_until(lambda: work.ask("sets") == [["sets", "1"]]))
        self.assertEqual(self.finish(work), 0)
        process.communicate("\n", timeout=DEADLINE_S)

    def test_counts_that_are_being_read_at_the_end(self):
        """They are waited for, and their memory does not go under who reads them."""
        work = self.work(STANDIN_VISIT_MS="400")
        process = self.begin(work, "SQ_WAVES")
        work.ask("solo", 1)
        self.end(process)
        self.assertEqual(self.values("SQ_WAVES"), [1])
        self.assertEqual((work.ask("sets"), work.ask("memory")), ([["sets", "0"]], [["memory", "0"]]))

    def test_program_shuts_its_runtime_down_in_exit(self):
        """After aqlprofile has destroyed its sets there: nobody asks it for any."""
        work = self.work()
        work.ask("late_end")
        self.begin(work, "SQ_WAVES")
        work.ask("solo", 3)
        self.assertEqual(self.finish(work), 0)

    def test_forked_child_exits(self):
        """Memory in its copy of aqlprofile's list is its parent's."""
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        work.ask("solo", 2)
        self.assertEqual(work.ask("fork"), [["status", "0"]])
        work.ask("solo", 2)
        self.end(process)
        self.assertEqual(self.values("SQ_WAVES"), [1, 2, 1, 2])
        self.assertEqual(work.ask("fork"), [["status", "0"]])
        self.assertEqual(self.finish(work), 0)

    def test_runtime_ends_while_counted(self):
        work = self.work()
        process = self.begin(work, "SQ_WAVES")
        for _ in range(3):
            work.ask("solo", 2)
            work.ask("restart")
        work.ask("endless")
        self.end(process)
        self.assertLessEqual(int(work.ask("sets")[0][1]), 1)
        self.assertEqual(self.finish(work), 0)

    def test_no_memory_for_packets(self):
        """Of sets that fail what was allocated is freed, though aqlprofile keeps them."""
        for pieces in (0, 1, 3, 63, 255):
            with self.subTest(pieces):
                work = self.work(STANDIN_MEMORY=str(pieces))
                process = self.begin(work, "SQ_WAVES")
                work.ask("solo", 2)
                self.end(process)
                self.assertEqual(self.rows(), [])
                self.assertEqual(work.ask("memory"), [["memory", "0"]])
                self.assertEqual(work.ask("sets"), [["sets", "1"]])
                self.assertEqual(self.finish(work), 0)

    def test_values_that_nobody_expects(self):
        """Part of the counts is not told as all of them."""
        for variables, words in (({"STANDIN_VALUES": "1017"}, "more than 1,024 values"),
                                 ({"STANDIN_STRANGER": "1"}, "does not know a block or event")):
            with self.subTest(words):
                work = self.work(**variables)
                process = self.begin(work, "SQ_WAVES")
                work.ask("solo", 2)
                out = "".join(self.said) + self.end(process)
                self.assertIn(words, " ".join(out.split()))
                self.assertEqual(self.rows(), [])
                self.assertEqual((work.ask("sets"), work.ask("memory")), ([["sets", "0"]], [["memory", "0"]]))
        work = self.work(STANDIN_VALUES="1016")
        process = self.begin(work, "SQ_WAVES")
        work.ask("solo", 2)
        self.end(process)
        self.assertEqual(self.values("SQ_WAVES"), [1, 2])

    def test_without_aqlprofile_it_says_so(self):
        work = self.work(library=None)
        process = self.begin(work, "SQ_WAVES")
        work.ask("solo", 2)
        out = "".join(self.said) + self.end(process)
        self.assertIn("libhsa-amd-aqlprofile64.so.1", out)
        self.assertEqual(self.rows(), [])

    def test_refusals_touch_nothing(self):
        work = self.work()
        maps = pathlib.Path(f"/proc/{work.pid}/maps").read_text()
        nowhere = {**HOST, "HSA_MODEL_TOPOLOGY": "/nonexistent"}
        for arguments, environment, words in (
                (("--pmc", "GRBM_COUNT", "GRBM_GUI_ACTIVE", "GRBM_SPI_BUSY"), HOST, "exceeds the capabilities of the hardware"),
                (("--pmc", "NO_SUCH"), HOST, "Unable to find all counters for agent"),
                (("--pmc", "SQ_WAVES", "--pmc", "GRBM_COUNT"), HOST, "not compatible with attach mode (--pid)"),
                (("--pmc", "SQ_WAVES"), nowhere, "there is no AMD device"),
                (("--pmc", "SQ_WAVES", "--config-dir", "/nonexistent"), HOST, "neither counter_defs.yaml nor config.yaml"),
                (("--pmc", "ITSELF"), HOST, "made of itself")):
            with self.subTest(words):
                process = self.run_rocprofv3("--pid", work.pid, *arguments, environment=environment)
                out, _ = process.communicate(timeout=DEADLINE_S)
                self.assertNotEqual(process.returncode, 0)
                self.assertIn(words, " ".join(out.split()))
        self.assertEqual(pathlib.Path(f"/proc/{work.pid}/maps").read_text(), maps)

    def test_another_profiler_has_the_device(self):
        work = self.work()
        shared = os.path.join(self.folder, "shared")
        pathlib.Path(shared).write_bytes(bytes(4096))
        environment = {key: value for key, value in HOST.items() if key != "HSA_MODEL_TOPOLOGY"}
        done = subprocess.run([STANDIN / "standin_kfd", "busy", MADE_UP / "topology", shared, ROCPROFV3, "--pid", str(work.pid),
                               "--pmc", "SQ_WAVES", "-d", self.folder], env=environment, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("another profiler has the counters of device 1 (gfx942)", " ".join((done.stdout + done.stderr).split()))
        work.ask("solo", 1)

    def test_unknown_ones_are_named_and_the_rest_collected(self):
        work = self.work()
        process = self.run_rocprofv3("--pid", work.pid, "--pmc", "NO_SUCH", "SQ_WAVES", "-f", "csv")
        lines = []
        while not lines or ":: success" not in lines[-1]:
            lines.append(process.stdout.readline())
            self.assertTrue(lines[-1], lines)
        work.ask("solo", 2)
        self.assertIn("Unable to find all counters for agent", "".join(lines) + self.end(process))
        self.assertEqual(self.values("SQ_WAVES"), [1, 2])

    def test_input_files_and_extra_counters(self):
        work = self.work()
        extra = os.path.join(self.folder, "extra.yaml")
        job = os.path.join(self.folder, "job.txt")
        pathlib.Path(extra).write_text("rocprofiler-sdk:\n  counters:\n  - name: TWICE\n    definitions:\n"
                                       "    - architectures: [gfx942]\n      expression: 2*reduce(SQ_WAVES,sum)\n")
        pathlib.Path(job).write_text("pmc: TWICE\n")
        process = self.run_rocprofv3("--pid", work.pid, "-i", job, "-E", extra, "-f", "csv")
        while ":: success" not in process.stdout.readline():
            self.assertIsNone(process.poll())
        work.ask("solo", 3)
        self.end(process)
        self.assertEqual(self.values("TWICE"), [2, 4, 6])


if __name__ == "__main__":
    unittest.main(verbosity=2)
