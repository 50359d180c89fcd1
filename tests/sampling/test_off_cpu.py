"""Time off the processor: known sleeps, and that nothing of the wall time is missing."""

import collections
import os
import statistics
import subprocess
import time
import unittest

from exactness import (IS_LONG, LIMIT, PROGRAMS, exit_if_refused, in_three_tries, running, sample, times_of_threads,
                       wait_until_it_sleeps)

SAMPLER = os.environ.get("SAMPLER", "copy")
RUNNING, BLOCKED, RUNNABLE = 0, 1, 2
SLEEP_NS = 2_000_000
NAPS_NS = {"nap_1_ms": 1_000_000, "nap_5_ms": 5_000_000, "nap_20_ms": 20_000_000}
WAITS = os.path.join(PROGRAMS, "waits")


@in_three_tries
class OffCpu(unittest.TestCase):
    def test_known_sleeps(self):
        with running(os.path.join(PROGRAMS, "chain_50"), "3", "sleepy") as process:
            recording = sample(SAMPLER, process.pid, "on", "off", "max=600")
        blocked = [s for s in recording.samples if s["kind"] == BLOCKED]
        # The others ran, or wanted to: how many depends on who else wants the processors.
        self.assertGreater(len(blocked), 100)
        whole = [s for s in blocked if s["weight"] >= SLEEP_NS - 100_000]
        # The first of each thread began before us, the last one had not ended; and a thread may wait for memory.
        self.assertGreaterEqual(len(whole), len(blocked) * 0.97 - 6)
        certain = [s for s in blocked if s["end"] == "complete" and not s["guessed"]]
        self.assertGreater(len(certain), len(blocked) * 0.9)
        asleep = [s for s in certain if "leaf_sleep" in recording.stack(s)]
        self.assertGreater(len(asleep), len(certain) * 0.97 - 1)
        for one in certain:
            functions = [name for name in recording.stack(one) if name.startswith("f_")]
            self.assertEqual(functions, [f"f_{i:04}" for i in range(50 if one in asleep else len(functions))])

    def test_sleeps_have_their_lengths(self):
        """Each length in its own function, to a tenth of a millisecond where nobody else wants the processor."""
        process = subprocess.Popen([WAITS, "naps"])
        try:
            recording = sample(SAMPLER, process.pid, "off", "max=90")
        finally:
            process.kill()
            process.wait()
        lengths = collections.defaultdict(list)
        for one in recording.samples[1:-1]:  # whole ones
            if one["kind"] == BLOCKED and one["end"] == "complete":
                for name in NAPS_NS.keys() & set(recording.stack(one)):
                    lengths[name].append(one["weight"])
        for name, length in NAPS_NS.items():
            self.assertGreater(len(lengths[name]), 5)
            # Beside other programs a timer may run before the thread has left its processor, and may come late; the
            # copy sampler counts the wait for a processor too.
            quarters = statistics.quantiles(lengths[name], n=4)
            self.assertGreater(min(lengths[name]) if IS_LONG else quarters[1], length - 100_000)
            typical = quarters[0 if SAMPLER == "copy" else 1]
            late = typical - length
            self.assertLess(late, 100_000 if IS_LONG else 50_000_000, f"{name}: {lengths[name]}")

    def test_a_sleep_that_began_before_us_has_its_stack(self):
        """Also where it ends before anybody has looked at what the kernel told."""
        process = subprocess.Popen([WAITS, "naps"])
        try:
            wait_until_it_sleeps(process.pid, "waits")
            firsts = [sample(SAMPLER, process.pid, "off", "max=1") for _ in range(5)]
        finally:
            process.kill()
            process.wait()
        stacks = [recording.stack(next(one for one in recording.samples if one["kind"] == BLOCKED))
                  for recording in firsts]
        # It may have woken in the very moment in which it was to be read.
        self.assertGreaterEqual(sum(bool(NAPS_NS.keys() & set(stack)) for stack in stacks), 4, stacks)

    def test_a_convoy_shows_who_waits_where(self):
        process = subprocess.Popen([WAITS, "convoy"])
        try:
            end = time.monotonic() + LIMIT
            while len(os.listdir(f"/proc/{process.pid}/task")) < 4 and time.monotonic() < end:
                time.sleep(0.01)
            recording = sample(SAMPLER, process.pid, "off", "max=200")
        finally:
            process.kill()
            process.wait()
        waits = collections.defaultdict(collections.Counter)
        for one in recording.samples:
            if one["kind"] == BLOCKED:
                names = recording.stack(one)
                where = next((name for name in ("want_lock", "hold_lock", "take_lock") if name in names), "elsewhere")
                waits[one["tid"]][where] += one["weight"]
        self.assertEqual(len(waits), 4)
        for tid, where in waits.items():
            own = ("hold_lock", "take_lock") if tid == process.pid else ("want_lock",)
            self.assertGreater(sum(where[name] for name in own), 0.8 * sum(where.values()), f"{tid}: {where}")
        self.assertGreater(waits[process.pid]["hold_lock"], 0)

    def test_no_time_of_a_thread_is_missing(self):
        with running(os.path.join(PROGRAMS, "chain_50"), "4", "sleepy") as process:
            recording = sample(SAMPLER, process.pid, "on", "off", seconds=2)
        totals = times_of_threads(recording)
        self.assertEqual(len(totals), 4)
        for total, wall in totals.values():
            self.assertAlmostEqual(total / wall, 1, delta=0.01 if IS_LONG else 0.1, msg=f"{total} of {wall} ns")

    def test_a_sleep_that_never_ends_is_there(self):
        process = subprocess.Popen(["sleep", "1000"])
        try:
            wait_until_it_sleeps(process.pid)
            recording = sample(SAMPLER, process.pid, "off", seconds=1)
        finally:
            process.kill()
            process.wait()
        self.assertEqual([s["kind"] for s in recording.samples], [BLOCKED])
        self.assertEqual(recording.samples[0]["end"], "complete")
        self.assertGreater(recording.samples[0]["weight"], 500_000_000)


if __name__ == "__main__":
    exit_if_refused(SAMPLER)
    unittest.main()
