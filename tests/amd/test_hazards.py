#!/usr/bin/env python3
"""
Programs that treat (stand-in) runtimes of AMD's badly while they are traced: they take no harm, and what limpet
says about them is true.
"""

import csv
import json
import os
import sqlite3
import tempfile
import unittest

from standin import CASES, Recorder, Seen, Work, harness

ODD_NAMES = 8  # as standin_hazards has them
TRACED = ("--hip-trace", "--kernel-trace", "--memory-copy-trace", "--ring-size", "1M")
NAME_MAX = 65536
NOTHING_RECORDED = 5
FORBIDDEN = 50
OLDER, NEWER = 30, 50
GRAPHS = 200
BESIDE = 40
GRAPH_KERNELS = 3  # each, as standin_hip.h has them
IMPORTS = 120  # if each waited for limpet as long as it may, 36 s
SHORT_MS = 18000


class Hazards(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.work = Work(**CASES["amds"], program="standin_hazards")
        self.addCleanup(self.work.close)

    def begin(self, *options):
        path = tempfile.mktemp(suffix=".limpet", dir=self.folder)
        recorder = Recorder(self.work.pid, path, *options)
        self.assertIsNotNone(recorder.attached)
        return recorder

    def end(self, recorder, code=0):
        result = recorder.stop()
        self.assertEqual(result.code, code, str(result))
        self.assertEqual(result.event("recorded")["invalid"], 0, str(result))
        return result

    def is_alive(self):
        self.assertEqual(self.work.ask("streams", 1), [])

    def test_many_threads_while_limpet_comes_and_goes(self):
        self.work.tell("storm", 64)
        self.assertEqual(self.work.process.stdout.readline(), "storming\n")
        for _ in range(5):
            recorder = self.begin(*TRACED)
            self.assertTrue(harness.wait_until(lambda: os.stat(recorder.path).st_size > 50000, 20))
            recorded = self.end(recorder).event("recorded")
            self.assertEqual(recorded["words_foreign"], 0)
            self.assertEqual(recorded["words_unwritable"], 0)
        did = self.work.ask("stop")
        self.assertGreater(int(did[-1][1]), 0)
        self.is_alive()

    def test_calls_that_are_left_by_longjmp(self):
        recorder = self.begin(*TRACED)
        self.assertEqual(self.work.ask("leaps", 2000), [])
        self.is_alive()
        self.end(recorder)
        self.assertEqual(self.work.ask("leaps", 20), [])

    def test_threads_that_are_cancelled_in_their_calls(self):
        recorder = self.begin(*TRACED)
        self.assertEqual(self.work.ask("cancels", 500), [])
        self.is_alive()
        self.end(recorder)
        self.assertEqual(self.work.ask("cancels", 5), [])

    def test_children_forked_among_launches(self):
        recorder = self.begin(*TRACED)
        self.assertEqual(self.work.ask("forks", 60), [])
        self.is_alive()
        self.end(recorder)

    def test_a_forked_child_that_imports_waits_for_nobody(self):
        recorder = self.begin(*TRACED)
        ((_, took_ms),) = self.work.ask("imports", IMPORTS)
        self.assertLess(int(took_ms), SHORT_MS)
        self.end(recorder, NOTHING_RECORDED)

    def test_imports_under_a_lock_that_limpet_needs(self):
        recorder = self.begin(*TRACED)
        ((_, took_ms),) = self.work.ask("locked", IMPORTS)
        self.assertLess(int(took_ms), SHORT_MS)
        self.end(recorder, NOTHING_RECORDED)

    def test_more_streams_than_limpet_has_numbers(self):
        recorder = self.begin("--kernel-trace", "--ring-size", "1M")
        self.assertEqual(self.work.ask("streams", 3000), [])
        self.end(recorder)
        kernels = Seen(recorder.path).of("kernel")
        self.assertEqual(len(kernels), 3000)
        known = sum(1 for call in kernels if call["cause"])
        self.assertGreater(known, 2900)

    def test_kernels_of_graphs_among_others(self):
        recorder = self.begin("--kernel-trace")
        self.assertEqual(self.work.ask("graphs", GRAPHS), [])
        recorded = self.end(recorder).event("recorded")
        self.assertEqual(recorded["work_cut"], 0)
        kernels = Seen(recorder.path).of("kernel")
        of_graphs = [call for call in kernels if call.get("title") == "in_a_graph"]
        self.assertEqual(len(of_graphs), GRAPH_KERNELS * GRAPHS)
        self.assertFalse(any(call["cause"] for call in of_graphs))
        others = [call for call in kernels if call.get("title") != "in_a_graph"]
        self.assertEqual(len(others), GRAPHS)
        self.assertGreater(sum(1 for call in others if call["cause"]), GRAPHS * 0.9)

    def test_kernels_beside_graphs_of_another_stream(self):
        """A graph's report answers no question, and teaches nothing about streams and functions."""
        recorder = self.begin("--kernel-trace")
        self.assertEqual(self.work.ask("beside", BESIDE), [])
        self.end(recorder)
        others = [call for call in Seen(recorder.path).of("kernel") if call.get("title") != "in_a_graph"]
        self.assertEqual(len(others), 1 + BESIDE)
        self.assertTrue(all(call["cause"] for call in others))

    def test_a_call_that_begins_in_one_session_and_ends_in_the_next(self):
        """Its function has no number there, where it is not traced."""
        recorder = self.begin("--hip-trace")
        self.assertEqual(self.work.ask("waits"), [])
        self.end(recorder)
        recorder = self.begin("--marker-trace")
        self.assertEqual(self.work.ask("release"), [])
        self.end(recorder, NOTHING_RECORDED)

    def test_a_kernel_that_does_not_end(self):
        recorder = self.begin("--kernel-trace")
        self.assertEqual(self.work.ask("endless"), [])
        result = self.end(recorder, NOTHING_RECORDED)
        self.assertIn("warning: 1 command was not done by the devices 2 s after the end", result.err)
        self.assertEqual(result.event("recorded")["work_cut"], 1)
        # What ends now ends without limpet.
        self.assertEqual(self.work.ask("release"), [])
        self.is_alive()
        recorder = self.begin("--kernel-trace")
        self.assertEqual(self.work.ask("streams", 5), [])
        self.assertEqual(self.end(recorder).event("recorded")["work_cut"], 0)
        self.assertEqual(len(Seen(recorder.path).of("kernel")), 5)

    def test_kernels_that_a_session_before_has_asked_for(self):
        """They are reported to the next one, begin while it is there, and are not taken for its own."""
        recorder = self.begin("--kernel-trace")
        self.assertEqual(self.work.ask("endless"), [])
        self.assertEqual(self.work.ask("queue", OLDER), [])
        self.assertEqual(self.end(recorder, NOTHING_RECORDED).event("recorded")["work_cut"], OLDER + 1)
        recorder = self.begin("--hip-trace", "--kernel-trace")
        for words in (("queue", NEWER), ("release",), ("drain",), ("queue", NEWER), ("drain",)):
            self.assertEqual(self.work.ask(*words), [])
        self.assertEqual(self.end(recorder).event("recorded")["work_cut"], 0)
        seen = Seen(recorder.path)
        kernels = sorted(seen.of("kernel"), key=lambda call: call["dispatch"])
        launches = sorted(call["begin_ns"] for call in seen.of("hip") if call["function"] == "hipLaunchKernel")
        self.assertEqual((len(kernels), len(launches)), (1 + OLDER + 2 * NEWER, 2 * NEWER))
        self.assertEqual([kernel["cause"] for kernel in kernels[:1 + OLDER]], [0] * (1 + OLDER))
        told = [(kernel["cause"], begin) for kernel, begin in zip(kernels[1 + OLDER:], launches) if kernel["cause"]]
        self.assertEqual([one for one in told if abs(seen.begin_ns(one[0]) - one[1]) > 2], [])
        self.assertTrue(told, "all was settled by then")

    def test_a_thread_that_may_not_read_the_counter(self):
        recorder = self.begin(*TRACED)
        self.assertEqual(self.work.ask("forbid", FORBIDDEN), [])
        self.is_alive()
        recorded = self.end(recorder).event("recorded")
        self.assertEqual(len(Seen(recorder.path).of("kernel")), 1)  # before
        # The launches and what they asked for, at least.
        self.assertGreaterEqual(recorded["dropped_no_counter"], 2 * FORBIDDEN)
        # The next one is told, and finds out nothing.
        recorder = self.begin(*TRACED)
        self.assertEqual(self.work.ask("forbid", FORBIDDEN), [])
        result = self.end(recorder, NOTHING_RECORDED)
        self.assertIn("records were not made: the program forbids to read the machine's counter", result.err)
        self.assertIn("has forbidden a thread of its own to read the machine's counter", result.err)

    def test_names_that_no_compiler_would_give(self):
        recorder = self.begin("--kernel-trace")
        self.assertEqual(self.work.ask("names"), [])
        self.end(recorder)
        titles = [call.get("title", "") for call in Seen(recorder.path).of("kernel")]
        self.assertEqual(len(titles), ODD_NAMES)
        self.assertIn("k" * NAME_MAX, titles)
        self.check_formats(recorder.path)

    def check_formats(self, path):
        """Every reader finds as many kernels, and none trips over a name."""
        for form, name in (("rocpd", "a.db"), ("rocprof-csv", "b"), ("rocprof-json", "c_results.json"),
                           ("pftrace", "d.pftrace"), ("chrome", "e.json")):
            result = harness.limpet("export", path, "-f", form, "-o", os.path.join(self.folder, name))
            self.assertEqual(result.code, 0, str(result))
        database = sqlite3.connect(os.path.join(self.folder, "a.db"))
        database.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        self.assertEqual(len(database.execute("select name from kernels").fetchall()), ODD_NAMES)
        database.close()
        csv.field_size_limit(1 << 20)
        with open(os.path.join(self.folder, "b_kernel_trace.csv"), newline="", errors="surrogateescape") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), ODD_NAMES)
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        for name in ("c_results.json", "e.json"):
            with open(os.path.join(self.folder, name)) as file:
                json.load(file)

    def test_calls_at_the_very_end(self):
        recorder = self.begin(*TRACED)
        self.work.tell("quit")
        self.assertEqual(self.work.process.wait(20), 0)
        result = harness.limpet_finish(recorder.process, 30)
        self.assertEqual(result.code, 0, str(result))

    def test_calls_at_the_very_end_after_limpet_left(self):
        recorder = self.begin(*TRACED)
        self.is_alive()
        self.end(recorder)
        self.work.tell("quit")
        self.assertEqual(self.work.process.wait(20), 0)


if __name__ == "__main__":
    unittest.main()
