"""Time off the processor: known sleeps, and that nothing of the wall time is missing."""

import collections
import os
import subprocess
import unittest

from exactness import PROGRAMS, exit_if_refused, running, sample

RUNG = os.environ.get("RUNG", "copy")
RUNNING, BLOCKED, RUNNABLE = 0, 1, 2
SLEEP_NS = 2_000_000


class OffCpu(unittest.TestCase):
    def test_known_sleeps(self):
        with running(os.path.join(PROGRAMS, "chain_50"), "3", "sleepy") as process:
            recording = sample(RUNG, process.pid, "on", "off", "max=600")
        blocked = [s for s in recording.samples if s["kind"] == BLOCKED]
        self.assertGreater(len(blocked), 300)
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

    def test_all_threads_have_the_same_wall_time(self):
        with running(os.path.join(PROGRAMS, "chain_50"), "4", "sleepy") as process:
            recording = sample(RUNG, process.pid, "on", "off", seconds=2)
        totals = collections.Counter()
        for one in recording.samples:
            totals[one["tid"]] += one["weight"]
        self.assertEqual(len(totals), 4)
        self.assertGreater(min(totals.values()), max(totals.values()) * 0.9, totals)
        self.assertGreater(min(totals.values()), 1.8e9)

    def test_a_sleep_that_never_ends_is_there(self):
        process = subprocess.Popen(["sleep", "1000"])
        try:
            recording = sample(RUNG, process.pid, "off", seconds=1)
        finally:
            process.kill()
            process.wait()
        self.assertEqual([s["kind"] for s in recording.samples], [BLOCKED])
        self.assertEqual(recording.samples[0]["end"], "complete")
        self.assertGreater(recording.samples[0]["weight"], 900_000_000)


if __name__ == "__main__":
    exit_if_refused(RUNG)
    unittest.main()
