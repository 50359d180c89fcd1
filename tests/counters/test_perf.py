#!/usr/bin/env python3
"""
limpet stat and perf stat on the same process at the same time: the same counts of software events, within 1 %.

Both count before the program begins its work, and until it rests again; perf says by its control pipe when it does.

Environment: LIMPET is the executable under test, PROGRAMS the folder with counted.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest

from ground import PATIENCE_S, SOFTWARE, CountTest, harness, value

PERF = shutil.which("perf")
TOLERANCE = 0.01


class Perf:
    """A `perf stat` that counts by now."""

    def __init__(self, folder, pid, *options):
        self.ways = [os.path.join(folder, name) for name in ("control", "answer")]
        for way in self.ways:
            os.mkfifo(way)
        self.control, self.answer = (os.open(way, os.O_RDWR) for way in self.ways)
        self.process = subprocess.Popen(
            [PERF, "stat", "-x", ";", "-D", "-1", "-e", ",".join(SOFTWARE), "-p", str(pid), *options, "--control",
             f"fifo:{self.ways[0]},{self.ways[1]}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        os.write(self.control, b"enable\n")

    def await_start(self):
        """False: it ended instead, and says so."""
        os.set_blocking(self.answer, False)
        return harness.wait_until(lambda: self.has_answered() or self.process.poll() is not None) \
            and self.process.poll() is None

    def has_answered(self):
        try:
            return bool(os.read(self.answer, 16))
        except BlockingIOError:
            return False

    def finish(self):
        self.process.send_signal(signal.SIGINT)
        _, text = self.process.communicate(timeout=PATIENCE_S)
        rows = [line.split(";") for line in text.splitlines() if line.count(";") >= 3]
        return {row[2].split(":")[0]: row[0] for row in rows}

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.control)
        os.close(self.answer)


@unittest.skipIf(not PERF, "perf is not installed (linux-perf)")
class BesidePerf(CountTest):
    def begin(self, pid, *options):
        folder = tempfile.mkdtemp(prefix="stat-perf-")
        self.addCleanup(shutil.rmtree, folder)
        perf = Perf(folder, pid, *options)
        self.addCleanup(perf.close)
        if not perf.await_start():
            self.skipTest(f"perf stat does not count here: {perf.process.stderr.read()}")
        return perf

    def compare(self, work, perf_options=(), limpet_options=()):
        target = self.counted(*work)
        process = self.start(target.pid, *limpet_options)
        perf = self.begin(target.pid, *perf_options)
        target.work()
        theirs, ours = perf.finish(), self.finish(process)
        self.assertEqual(set(theirs), set(SOFTWARE))
        for name in SOFTWARE:
            if theirs[name].startswith("<"):  # perf's words for one that never ran
                self.assertEqual(value(ours, name), 0)
                continue
            wanted, is_time = float(theirs[name]), name == "task-clock"
            got = value(ours, name) / 1e6 if is_time else value(ours, name)
            self.assertAlmostEqual(got, wanted, delta=wanted * TOLERANCE + (0.05 if is_time else 1), msg=name)

    def test_one_that_computes(self):
        self.compare(("compute", 300))

    def test_one_that_sleeps_often(self):
        self.compare(("sleep", 500))

    def test_one_that_faults(self):
        self.compare(("fault", 5000))

    def test_one_that_rests(self):
        self.compare(("rest",))

    def test_500_threads(self):
        self.compare(("threads", 500))

    def test_500_threads_each_with_a_line(self):
        self.compare(("threads", 500), limpet_options=("--threads",))

    def test_a_family(self):
        """perf counts children where it is not told otherwise."""
        self.compare(("fork", 100), limpet_options=("--children",))

    def test_one_that_forks_without_its_children(self):
        self.compare(("fork", 100), perf_options=("--no-inherit",))


if __name__ == "__main__":
    unittest.main()
