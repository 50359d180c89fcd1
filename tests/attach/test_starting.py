#!/usr/bin/env python3
"""
A program that has only just been started is waited for: its loader may be at work still.  One that stays there is
refused, after a limit that Ctrl-C cuts short.  The loader is held up by a pipe among the libraries to preload: it
waits in open() until somebody writes there, and leaves out what is no library.
"""

import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from harness import TargetTest, Workload, limpet, limpet_finish, limpet_start, thread_count, wait_until

START_WAIT_S = 3  # of limpet
ROUNDS = 20
ROUNDS_OF_LEADERS = 60


def is_opening(pid):
    """Nothing but opening that file makes a program wait that has no C library yet."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return "ld-linux" in maps and "libc.so" not in maps and state == "S"


class Starting(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="starting-")
        self.addCleanup(folder.cleanup)
        self.pipe = os.path.join(folder.name, "held.so")
        os.mkfifo(self.pipe)

    def start(self, **options):
        process = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        self.addCleanup(self.end_process, process)
        return process

    def start_held(self):
        process = self.start(env={**os.environ, "LD_PRELOAD": self.pipe})
        self.assertTrue(wait_until(lambda: is_opening(process.pid)))
        return process

    def release(self):
        with open(self.pipe, "wb"):
            pass

    def test_one_whose_loader_takes_its_time(self):
        target = self.start_held()
        attaching = limpet_start("attach", target.pid, "--json", "--duration", "0")
        self.addCleanup(self.end_process, attaching)
        timer = threading.Timer(0.5, self.release)
        timer.start()
        self.addCleanup(timer.join)
        result = limpet_finish(attaching)
        self.assertEqual(result.code, 0, str(result))
        self.assertIsNone(target.poll())

    def test_one_that_stays_in_its_loader(self):
        target = self.start_held()
        begin = time.monotonic()
        result = limpet("attach", target.pid, "--json", "--duration", "0")
        self.assertGreaterEqual(time.monotonic() - begin, START_WAIT_S)
        self.assertEqual(result.code, 6, str(result))
        self.assertIn("starting", result.err)
        self.release()
        self.assertIsNone(target.poll())

    def interrupt(self, pid):
        """How long an attach takes that is told to end as soon as it listens."""
        begin = time.monotonic()
        attaching = limpet_start("attach", pid, "--json")
        self.addCleanup(self.end_process, attaching)
        self.assertTrue(wait_until(lambda: thread_count(attaching.pid) > 1 or attaching.poll() is not None))
        attaching.send_signal(signal.SIGINT)
        result = limpet_finish(attaching)
        self.assertEqual(result.code, 6, str(result))
        return time.monotonic() - begin

    def test_the_wait_can_be_interrupted(self):
        """On a busy machine not each time in time."""
        target = self.start_held()
        self.assertTrue(any(self.interrupt(target.pid) < START_WAIT_S for _ in range(5)))
        self.release()

    def test_at_once(self):
        """As a shell does it, `sleep 1000 & limpet attach $!`, between fork, exec and the loader."""
        for _ in range(ROUNDS):
            result = limpet("attach", self.start().pid, "--json", "--duration", "0")
            self.assertEqual(result.code, 0, str(result))

    def test_the_first_thread_ends_meanwhile(self):
        """The program goes on without it, and so does the attach, whatever was read of that thread."""
        for _ in range(ROUNDS_OF_LEADERS):
            target = Workload("plain", "brief_leader")
            self.addCleanup(target.close)
            result = limpet("attach", target.pid, "--json", "--duration", "0")
            self.assertEqual(result.code, 0, str(result))
            self.assertTrue(target.alive())


if __name__ == "__main__":
    unittest.main()
