"""
What is larger, fuller or barer than usual: crowds of threads, full disks, machines without /proc.
"""

import os
import subprocess
import unittest

from harness import TargetTest, limpet

ADVERSARY = os.environ.get("ADVERSARY", ".")


class Crowds(TargetTest):
    THREADS = 12000  # more than 8192 stacks by enough that no thread looked at is among those

    @classmethod
    def setUpClass(cls):
        cls.crowd = subprocess.Popen([os.path.join(ADVERSARY, "crowd"), str(cls.THREADS)], stdout=subprocess.PIPE)
        cls.count = int(cls.crowd.stdout.readline())

    @classmethod
    def tearDownClass(cls):
        cls.crowd.kill()
        cls.crowd.wait()
        cls.crowd.stdout.close()

    def setUp(self):
        if self.count < self.THREADS:
            self.skipTest(f"only {self.count} threads may be here")

    def test_attach_and_leave(self):
        result = limpet("attach", self.crowd.pid, "--json", "--duration", "1ms", "--unload")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.event("attached")["pid"], self.crowd.pid)

    def test_dump_shows_every_thread(self):
        result = limpet("dump", self.crowd.pid, "--json")
        self.assertEqual(result.code, 0, result.err)
        tids = {event["tid"] for event in result.events if "tid" in event}
        self.assertGreaterEqual(len(tids), self.THREADS)

    def test_waits_are_sampled(self):
        with_waits = limpet(
            "record", "-p", self.crowd.pid, "--off-cpu", "--duration", "500ms", "--json", "-o", "/dev/null"
        )
        self.assertIn(with_waits.code, (0, 3), with_waits)
        if with_waits.code == 0:
            self.assertGreaterEqual(with_waits.event("recorded")["sampled_threads"], self.THREADS)


if __name__ == "__main__":
    unittest.main()
