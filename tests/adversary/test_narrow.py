#!/usr/bin/env python3
"""
A thread whose own filter kills for calls that the rest of the program may make: traced, it marks ranges, accepts connections,
changes its rights and lives.
"""

import json
import os
import signal
import subprocess
import tempfile
import unittest

import harness

PROGRAM = os.path.join(os.environ["ADVERSARY"], "narrow")


class Narrow(unittest.TestCase):
    def test_a_traced_thread_makes_no_call_that_its_filter_kills_for(self):
        with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
                [PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            self.assertEqual(program.stdout.readline(), b"ready\n")
            limpet = harness.limpet_start(
                "record", program.pid, "--io-trace", "--marker-trace", "-o", os.path.join(folder, "recording"),
                "--json")
            self.assertIn('"attached"', limpet.stdout.readline())
            for _ in range(3):
                os.write(program.stdin.fileno(), b"x")
                self.assertEqual(program.stdout.readline(), b"ok\n")
            limpet.send_signal(signal.SIGINT)
            result = harness.limpet_finish(limpet)
            program.stdin.close()
            self.assertEqual(program.wait(), 0)
            self.assertFalse(result.hung, str(result))
            self.assertIn("have no names", result.out + result.err)
            report = harness.limpet("report", os.path.join(folder, "recording"), "--json").out
            calls = {row.get("name"): row.get("calls") for row in map(json.loads, report.splitlines())}
            self.assertEqual(calls.get("(no name)"), 3, report)
            self.assertEqual(calls.get("accept"), 3, report)

    def test_a_filter_that_comes_while_nobody_can_leave(self):
        """The thread waits for limpet for two seconds, and goes on: from then on nothing is tried on it."""
        with tempfile.TemporaryDirectory() as folder, subprocess.Popen(
                [PROGRAM, "late"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            self.assertEqual(program.stdout.readline(), b"ready\n")
            limpet = harness.limpet_start(
                "record", program.pid, "--io-trace", "--marker-trace", "-o", os.path.join(folder, "recording"),
                "--json")
            self.assertIn('"attached"', limpet.stdout.readline())
            for _ in range(3):
                os.write(program.stdin.fileno(), b"x")
                self.assertEqual(program.stdout.readline(), b"ok\n")
            limpet.send_signal(signal.SIGINT)
            result = harness.limpet_finish(limpet)
            program.stdin.close()
            self.assertEqual(program.wait(), 0)
            self.assertFalse(result.hung, str(result))


if __name__ == "__main__":
    unittest.main()
