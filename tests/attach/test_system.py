#!/usr/bin/env python3
"""
Settings of the whole machine: vm.memfd_noexec decides whether the agent may come as a memfd.  The setting
is put back whatever happens; tests that need it are skipped where it cannot be changed.
"""

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


if __name__ == "__main__":
    unittest.main()
