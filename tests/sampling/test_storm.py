"""
Threads and processes that are born while the clocks are made have inherited some of them and are given others, and
so does whoever is born of them later: each moment must be counted once.

Environment: SAMPLER beside that of the other tests here.
"""

import collections
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from exactness import DRIVER, IS_LONG, LIMIT, PROGRAMS, exit_if_refused

SAMPLER = os.environ.get("SAMPLER", "bpf")
RATE = 199  # with more, samples are thinned out
WORK_MS = 100


class Storm:
    """Runs until it is told to end; then it has computed for so long in each of its last threads."""

    def __init__(self, what):
        self.process = subprocess.Popen(
            [os.path.join(PROGRAMS, "storm"), what, str(WORK_MS)], stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.stdout.close()
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGUSR1)
        out, _ = self.process.communicate(timeout=LIMIT)
        return {int(tid): int(ns) for tid, ns in (line.split() for line in out.splitlines())}


class Driver:
    """Its words go to a file: who waits for a reader does not listen."""

    def __init__(self, pid):
        self.out = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([DRIVER, SAMPLER, str(pid), str(RATE), str(LIMIT), "children"], stdout=self.out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.out.close()

    def lines(self):
        self.out.seek(0)
        return [json.loads(line) for line in self.out if line.endswith("\n")]

    def wait_until_ready(self):
        end = time.monotonic() + LIMIT
        while self.process.poll() is None and time.monotonic() < end:
            if os.fstat(self.out.fileno()).st_size:
                return True
            time.sleep(0.001)
        return False


def times_of(lines):
    times = collections.Counter()
    for sample in (line["sample"] for line in lines if "sample" in line):
        times[sample["tid"]] += sample["weight"]
    return times


def members(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return len(file.read().split()) + len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


class Births(unittest.TestCase):
    def storm(self, what):
        with Storm(what) as storm:
            end = time.monotonic() + LIMIT
            while members(storm.process.pid) < 30 and time.monotonic() < end:
                time.sleep(0.01)
            with Driver(storm.process.pid) as driver:
                self.assertTrue(driver.wait_until_ready())
                worked = storm.end()
                driver.process.wait(timeout=LIMIT)
                lines = driver.lines()
        times = times_of(lines)
        self.assertTrue(worked)
        self.assertEqual([line for line in lines if "error" in line], [])
        twice = {tid: (times[tid], ns) for tid, ns in worked.items() if times[tid] > 1.5 * ns}
        seen = sum(times[tid] > 0 for tid in worked)
        self.assertEqual(twice, {}, f"of {len(worked)} threads")
        # A busy machine has them wait, and computes no less for it.
        self.assertGreater(seen, 0.9 * len(worked))

    def test_processes_that_make_threads(self):
        for _ in range(5 if IS_LONG else 1):
            self.storm("processes")

    def test_threads_that_make_threads(self):
        for _ in range(5 if IS_LONG else 1):
            self.storm("threads")


if __name__ == "__main__":
    exit_if_refused(SAMPLER)
    unittest.main()
