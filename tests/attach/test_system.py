#!/usr/bin/env python3
"""
What other tests would notice.  vm.memfd_noexec decides whether the agent may come as a memfd; it is put back
whatever happens, and its tests are skipped where it cannot be changed.  A processor that is taken from everybody.
"""

import os
import signal
import subprocess
import time
import unittest

import harness
from harness import Workload, limpet

MEMFD_NOEXEC = "/proc/sys/vm/memfd_noexec"


class MemfdNoexec(unittest.TestCase):
    def setUp(self):
        try:
            with open(MEMFD_NOEXEC) as file:
                before = file.read().strip()
            self.put(before)
        except OSError as error:
            self.skipTest(f"vm.memfd_noexec: {error.strerror}")
        self.addCleanup(self.put, before)
        self.target = Workload("plain", "idle")
        self.addCleanup(self.target.close)

    def put(self, value):
        with open(MEMFD_NOEXEC, "w") as file:
            file.write(value)

    def attach(self):
        return limpet("attach", self.target.pid, "--json", "--duration", "0",
                      "--load", harness.program("tool_probe.so"))

    def assert_well(self):
        self.assertTrue(self.target.alive())
        self.assertTrue(self.target.stats.wait_turn())

    def test_executable_unless_asked_otherwise(self):
        self.put("0")
        self.assertEqual(self.attach().code, 0)

    def test_executable_only_when_asked(self):
        self.put("1")
        result = self.attach()
        self.assertEqual(result.code, 0, str(result))
        self.assert_well()

    def test_never_executable(self):
        self.put("2")
        result = self.attach()
        self.assertIn(result.code, (0, 6), str(result))
        if result.code:
            self.assertIn("memfd_noexec", result.err)
        self.assert_well()


@unittest.skipUnless(os.geteuid() == 0 and len(os.sched_getaffinity(0)) > 1, "needs root and two processors")
class Starved(harness.TargetTest):
    def test_a_filter_that_forbids_the_restart(self):
        """The thread stops late.  The injector ended first, once, and the kernel restarted the wait under the filter."""
        cpu = str(max(os.sched_getaffinity(0)))
        target = self.target("restarts", "poll_errno", before=["taskset", "-c", cpu])
        for _ in range(2):
            busy = subprocess.Popen(["taskset", "-c", cpu, "chrt", "-f", "10", "sh", "-c", "while :; do :; done"])
            self.addCleanup(self.end_process, busy)
            visitor = harness.limpet_start("attach", target.pid, "--force", "--duration", "0")
            time.sleep(0.1)
            visitor.send_signal(signal.SIGSTOP)  # so that no second try comes in between
            time.sleep(0.8)
            self.end_process(busy)
            visitor.send_signal(signal.SIGCONT)
            self.assertIn("restart_syscall", harness.limpet_finish(visitor).err)
            self.assertTrue(target.stats.wait_turn(), target.fate())
            self.assertEqual(target.stats.word("errors"), 0, target.stats.detail())


if __name__ == "__main__":
    unittest.main()
