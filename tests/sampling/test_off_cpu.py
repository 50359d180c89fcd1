"""Time off the processor: known sleeps, and that nothing of the wall time is missing."""

import os
import subprocess
import unittest

from exactness import PROGRAMS, exit_if_refused, running, sample, times_of_threads

RUNG = os.environ.get("RUNG", "copy")
RUNNING, BLOCKED, RUNNABLE = 0, 1, 2
SLEEP_NS = 2_000_000


class OffCpu(unittest.TestCase):
    def test_known_sleeps(self):
        with running(os.path.join(PROGRAMS, "chain_50"), "3", "sleepy") as process:
            recording = sample(RUNG, process.pid, "on", "off", "max=600")
        blocked = [s for s in recording.samples if s["kind"] == BLOCKED]
        # The others ran, or wanted to: how many depends on who else wants the processors.
        self.assertGreater(len(blocked), 100)
        whole = [s for s in blocked if s["weight"] >= SLEEP_NS - 100_000]
        # The first of each thread began before us, the last one had not ended.
        self.assertGreaterEqual(len(whole), len(blocked) - 6)
        certain = [s for s in blocked if s["end"] == "complete" and not s["guessed"]]
        self.assertGreater(len(certain), len(blocked) * 0.9)
        for one in certain:
            names = recording.stack(one)
            functions = [name for name in names if name.startswith("f_")]
            self.assertEqual(functions, [f"f_{i:04}" for i in range(50)])
            self.assertIn("leaf_sleep", names)

    def test_no_time_of_a_thread_is_missing(self):
        with running(os.path.join(PROGRAMS, "chain_50"), "4", "sleepy") as process:
            recording = sample(RUNG, process.pid, "on", "off", seconds=2)
        totals = times_of_threads(recording)
        self.assertEqual(len(totals), 4)
        for total, wall in totals.values():
            self.assertGreater(total, wall * 0.9)
            self.assertLess(total, wall * 1.1)

    def test_a_sleep_that_never_ends_is_there(self):
        process = subprocess.Popen(["sleep", "1000"])
        try:
            recording = sample(RUNG, process.pid, "off", seconds=1)
        finally:
            process.kill()
            process.wait()
        self.assertEqual([s["kind"] for s in recording.samples], [BLOCKED])
        self.assertEqual(recording.samples[0]["end"], "complete")
        self.assertGreater(recording.samples[0]["weight"], 500_000_000)


if __name__ == "__main__":
    exit_if_refused(RUNG)
    unittest.main()
