#!/usr/bin/env python3
"""
limpet record --counters on a (stand-in) HSA program that runs already: windows of whole devices, read by a queue of limpet's
own, beside what the program does; no queue of the program's is touched.

Definitions and the topology are of our own, in ROCm's form (tests/counters/amd).
"""

import csv
import functools
import json
import os
import pathlib
import signal
import sqlite3
import struct
import subprocess
import tempfile
import time
import unittest

from standin import STANDIN, Recorder, Work, harness

MADE_UP = pathlib.Path(__file__).resolve().parent.parent / "counters/amd"
KERNELS = 20
HITS = 64 * 8  # of a kernel of one work group: one for each item, in 4 channels of 2 XCCs
os.environ.update(HSA_MODEL_TOPOLOGY=str(MADE_UP / "topology"), ROCPROFILER_METRICS_PATH=str(MADE_UP / "definitions"))
TRIES = 5


def patiently(test):
    """A machine that stands still makes readings late, and late ones are not used: such a test is tried again."""
    @functools.wraps(test)
    def tried(self):
        for left in reversed(range(TRIES)):
            try:
                return test(self)
            except AssertionError:
                if not left:
                    raise
                self.doCleanups()
                self.setUp()
    return tried


class Windows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = str(self.folder / "x.limpet")

    def work(self, library=True, **variables):
        path = f"{STANDIN}/amd_register/old" + (f":{STANDIN}" if library else "")
        work = Work(library_path=path, program="standin_hsa_work", STANDIN_GFX="gfx942", **variables)
        self.addCleanup(work.close)
        work.ask("solo", 2)
        return work

    def record(self, work, counters, *options, interval="10ms"):
        return Recorder(work.pid, self.path, "--counters", counters, "--counter-interval", interval, *options)

    def rows(self):
        report = harness.limpet("report", self.path, "--json")
        self.assertEqual(report.code, 0, report)
        events = map(json.loads, report.out.splitlines())
        return {row["name"]: row for row in events if row["event"] == "counter" and row.get("device") == 1}

    def export(self, form):
        out = self.folder / f"x.{form}"
        result = harness.limpet("export", self.path, "-f", form, "-o", out)
        self.assertEqual(result.code, 0, result)
        return out

    @patiently
    def test_totals_are_what_the_program_did(self):
        work = self.work()
        tables = work.tables()
        before = work.words(tables)
        recorder = self.record(work, "TCC_HIT_sum,GRBM_COUNT,HIT_SHARE")
        time.sleep(0.2)
        work.ask("solo", KERNELS)
        time.sleep(0.2)
        result = recorder.stop()
        self.assertEqual(result.code, 0, result)
        self.assertEqual(work.words(tables), before)
        rows = self.rows()
        self.assertEqual(rows["TCC_HIT_sum"]["total"], HITS * sum(range(1, KERNELS + 1)))
        self.assertEqual((rows["TCC_HIT_sum"]["form"], rows["HIT_SHARE"]["form"]), ("count", "level"))
        self.assertEqual(rows["HIT_SHARE"]["max"], 100)
        # The stand-in counts a cycle each nanosecond, on each of two XCCs.
        self.assertAlmostEqual(rows["GRBM_COUNT"]["mean"] / 2e9, 1, delta=0.02)
        self.assertGreater(rows["GRBM_COUNT"]["windows"], 10)
        self.check_left_behind(work)

    def check_left_behind(self, work):
        """The last packet is in the queue; on a busy machine the device comes to it later."""
        def is_stopped():
            starts, stops, reads = map(int, work.ask("bank")[0][1:])
            return starts == stops and reads > 0

        self.assertTrue(harness.wait_until(is_stopped), work.ask("bank"))
        self.assertEqual(work.ask("sets"), [["sets", "0"]])
        work.ask("solo", 2)

    @patiently
    def test_all_formats_hold_them(self):
        work = self.work()
        recorder = self.record(work, "TCC_HIT_sum", "--kernel-trace")
        work.ask("solo", KERNELS)
        time.sleep(0.1)
        self.assertEqual(recorder.stop().code, 0)
        total = HITS * sum(range(1, KERNELS + 1))
        with open(self.export("csv"), newline="") as file:
            windows = [row for row in csv.DictReader(file) if row["kind"] == "window" and row["thread"] == "gfx942 1"]
        self.assertEqual(sum(float(row["value"]) for row in windows), total)
        with open(self.export("json")) as file:
            data = json.load(file)
        mine = [i for i, metric in enumerate(data["metrics"]) if metric["device"] == 1]
        self.assertEqual(sum(window["value"] for window in data["windows"] if window["metric"] in mine), total)
        self.assertEqual(sum(data["functions"][call["function"]]["domain"] == "kernel" for call in data["calls"]), KERNELS)
        with open(self.export("chrome")) as file:
            self.assertIn("TCC_HIT_sum, gfx942 1", {event["name"] for event in json.load(file)["traceEvents"] if event["ph"] == "C"})
        with open(self.export("pftrace"), "rb") as file:
            self.assertIn(b"TCC_HIT_sum, gfx942 1 (/s)", file.read())
        self.check_database(total)

    def check_database(self, total):
        """AMD's place for values over time: samples of a track, with values of their events; no dispatch has any."""
        database = sqlite3.connect(self.export("rocpd"))
        self.addCleanup(database.close)
        rows = database.execute(
            "SELECT sum(v.value), count(*) FROM rocpd_sample s JOIN rocpd_pmc_event v ON v.event_id = s.event_id "
            "JOIN rocpd_info_pmc i ON i.id = v.pmc_id JOIN rocpd_info_agent a ON a.id = i.agent_id "
            "WHERE i.name = 'TCC_HIT_sum' AND a.absolute_index = 1").fetchone()
        self.assertEqual(rows[0], total)
        self.assertEqual(database.execute("SELECT count(*) FROM counters_collection").fetchone()[0], 0)
        self.assertEqual(database.execute("SELECT count(*) FROM kernels").fetchone()[0], KERNELS)

    @patiently
    def test_events_of_the_kernel_beside_them(self):
        work = self.work()
        recorder = self.record(work, "task-clock,TCC_HIT_sum")
        work.ask("solo", KERNELS)
        time.sleep(0.1)
        self.assertEqual(recorder.stop().code, 0)
        report = harness.limpet("report", self.path)
        self.assertRegex(report.out, r"msec .* CPUs .* task-clock\n")
        self.assertRegex(report.out, r"/s .* TCC_HIT_sum, gfx942 1\n")

    @patiently
    def test_stat_counts_devices_beside_the_kernels_events(self):
        work = self.work()
        process = harness.limpet_start("stat", work.pid, "-e", "task-clock,TCC_HIT_sum,HIT_SHARE", "-I", "100ms", "--json")
        self.assertEqual(harness.event_wait(process)["event"], "counting")
        time.sleep(0.15)
        work.ask("solo", KERNELS)
        time.sleep(0.15)
        process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, result)
        rows = [row for row in map(json.loads, result.out.splitlines()) if row.get("device") == "gfx942 1"]
        total = HITS * sum(range(1, KERNELS + 1))
        sums = [sum(row["value"] or 0 for row in rows if row["name"] == "TCC_HIT_sum" and row["scope"] == scope) for scope in ("interval", "total")]
        self.assertEqual(sums, [total, total])
        self.assertEqual({row["name"]: row["form"] for row in rows}, {"TCC_HIT_sum": "count", "HIT_SHARE": "level"})
        self.assertIn("task-clock", {row.get("name") for row in map(json.loads, result.out.splitlines())})
        self.check_left_behind(work)
        text = harness.limpet("stat", work.pid, "-e", "GRBM_COUNT", "-d", "0.3")
        self.assertEqual(text.code, 0, text)
        self.assertRegex(text.out, r"[\d,]+ +GRBM_COUNT +[\d.]+ /s  \(gfx942 1\)\n")
        lines = harness.limpet("stat", work.pid, "-e", "GRBM_COUNT", "-d", "0.3", "--csv").out.splitlines()
        self.assertEqual({line.count(",") for line in lines}, {lines[0].count(",")})
        self.assertIn("gfx942 1", lines[1])

    @patiently
    def test_top_shows_the_last_window(self):
        work = self.work()
        result = harness.limpet("top", work.pid, "--batch", "-d", "0.5", "--counters", "task-clock,GRBM_COUNT", "--counter-interval", "50ms")
        self.assertRegex(result.out, r"\d\.\d{3} CPUs   task-clock\n *[\d.]+ /s     GRBM_COUNT gfx942 1\n")
        self.check_left_behind(work)

    @patiently
    def test_program_that_shuts_its_runtime_down_and_starts_again(self):
        work = self.work()
        recorder = self.record(work, "TCC_HIT_sum")
        work.ask("solo", 3)
        work.ask("restart")
        time.sleep(0.3)
        work.ask("solo", 3)
        time.sleep(0.3)
        self.assertEqual(recorder.stop().code, 0)
        self.assertEqual(self.rows()["TCC_HIT_sum"]["total"], HITS * (6 + 6))
        self.check_left_behind(work)

    @patiently
    def test_program_outlives_a_fault_of_limpets_queue(self):
        work = self.work(STANDIN_FAULT="4")
        recorder = self.record(work, "TCC_HIT_sum")
        time.sleep(0.3)
        self.assertIn(recorder.stop().code, (0, 5))
        work.ask("solo", 3)
        self.assertEqual(work.ask("sets"), [["sets", "0"]])

    def test_a_device_that_needs_longer_than_a_window(self):
        """Each of both is started once, and stopped: an answer that comes late is one, too."""
        work = self.work(STANDIN_SLOW="5")
        recorder = self.record(work, "TCC_HIT_sum", interval="1ms")
        work.ask("solo", KERNELS)
        time.sleep(0.1)
        self.assertEqual(recorder.stop().code, 0)
        self.assertEqual(work.ask("bank")[0][1:3], ["2", "2"])
        self.check_left_behind(work)

    def test_limpet_killed(self):
        work = self.work()
        for _ in range(3):
            recorder = self.record(work, "TCC_HIT", interval="1ms")
            work.ask("solo", 5)
            recorder.process.send_signal(signal.SIGKILL)
            recorder.process.communicate()
        deadline = time.monotonic() + harness.PATIENCE_S
        while work.ask("sets") != [["sets", "0"]]:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.check_left_behind(work)

    def test_program_and_its_child_exit_while_counted(self):
        """aqlprofile destroys its sets in both; the program shuts its runtime down after that."""
        for chores in ((), ("late_end",)):
            with self.subTest(chores):
                work = self.work()
                for chore in chores:
                    work.ask(chore)
                recorder = self.record(work, "TCC_HIT_sum", interval="1ms")
                work.ask("solo", 3)
                self.assertEqual(work.ask("fork"), [["status", "0"]])
                work.ask("solo", 3)
                work.process.stdin.close()
                self.assertEqual(work.process.wait(timeout=harness.PATIENCE_S), 0)
                self.assertEqual(harness.limpet_finish(recorder.process).code, 0)

    def test_refusals_touch_nothing(self):
        work = self.work()
        maps = pathlib.Path(f"/proc/{work.pid}/maps").read_text()
        for options, words in (
                (("--counters", "GRBM_COUNT,GRBM_GUI_ACTIVE,GRBM_SPI_BUSY"), "exceeds the capabilities of the hardware"),
                (("--counters", "NO_SUCH,SQ_WAVES"), "neither an event nor a counter of gfx942: NO_SUCH"),
                (("--counters", "no-such"), "no-such"),
                (("--counters", "SQ_WAVES", "--children"), "are read by one process"),
                (("--counters", "SQ_WAVES", "--counter-interval", "0.5ms"), "at least 1ms"),
                (("--counters", ","), "no counter is named")):
            with self.subTest(words):
                result = harness.limpet("record", "-p", work.pid, "-o", self.path, *options)
                self.assertEqual(result.code, 2, result)
                self.assertIn(words, " ".join((result.out + result.err).split()))
        self.assertEqual(pathlib.Path(f"/proc/{work.pid}/maps").read_text(), maps)
        self.assertFalse(os.path.exists(self.path))

    def under_driver(self, mode, work, shared):
        """limpet record with a (stand-in) driver: what it says."""
        environment = {key: value for key, value in os.environ.items() if key != "HSA_MODEL_TOPOLOGY"}
        command = [STANDIN / "standin_kfd", mode, MADE_UP / "topology", shared, harness.LIMPET, "record", "-p", work.pid,
                   "-o", self.path, "--counters", "SQ_WAVES", "--counter-interval", "10ms", "--kernel-trace", "--json"]
        process = subprocess.Popen(list(map(str, command)), env=environment, text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdin.close)
        if mode != "busy":
            self.assertIn("attached", process.stdout.readline())
            held = struct.unpack("<1024I", shared.read_bytes())
            self.assertEqual(held[1:3] + held[-1:], (1, 1, 2) if mode == "free" else (0, 0, 0))
            work.ask("solo", KERNELS)
            time.sleep(0.1)
        out, err = process.communicate("\n", timeout=harness.PATIENCE_S)
        self.assertEqual(struct.unpack("<1024I", shared.read_bytes())[-1], 0)
        return process.returncode, out + err

    @patiently
    def test_the_driver_makes_waves_visible_or_it_is_said_that_they_are_not(self):
        shared = self.folder / "shared"
        shared.write_bytes(bytes(4096))
        work = self.work(STANDIN_KFD=shared)
        waves = sum(range(1, KERNELS + 1))
        for mode, code, total, words in (
                ("free", 0, waves, ""), ("forbidden", 0, 0, "for root or CAP_PERFMON only"), ("old", 0, 0, "cannot make them visible"),
                ("busy", 7, None, "another profiler has the counters of device 1 (gfx942)")):
            with self.subTest(mode):
                returned, said = self.under_driver(mode, work, shared)
                self.assertEqual(returned, code, said)
                self.assertIn(words, said)
                self.assertEqual("SQ_WAVES) do not see" in said, mode in ("forbidden", "old"))
                if total is not None:
                    self.assertEqual(self.rows()["SQ_WAVES"]["total"], total)

    def test_without_aqlprofile_it_says_so(self):
        work = self.work(library=False)
        recorder = self.record(work, "SQ_WAVES", "--kernel-trace")
        work.ask("solo", 2)
        result = recorder.stop()
        self.assertIn("libhsa-amd-aqlprofile64.so.1", result.out + result.err)
        self.assertEqual(result.code, 0, result)
        self.assertIn("nothing was counted", result.out + result.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
