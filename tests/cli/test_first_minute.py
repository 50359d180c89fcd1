#!/usr/bin/env python3
"""
The first minute with limpet: times mean what they mean elsewhere, and what is offered next works.
(ps, names, -p and completions: test_looking.py; files and full disks: test_outputs.py; static programs:
../launch, ../sampling_files.)

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import LIMPET, PATIENCE_S, TargetTest, limpet, limpet_finish, limpet_start, program  # noqa: E402


class Minute(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="minute-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "it.limpet")

    def spinner(self):
        process = subprocess.Popen([program("spinner")])
        self.addCleanup(self.end_process, process)
        return process.pid


class Times(Minute):
    """Without a unit they are seconds, in every verb of limpet's own."""

    def understood(self, word):
        """What record says of a time, without waiting for its end."""
        process = limpet_start("record", "-p", self.spinner(), "-o", self.path, "-d", word)
        line = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        self.assertEqual(limpet_finish(process).hung, False)
        return re.search(r"into .*it\.limpet for (.*); Enter or Ctrl-C stops", line).group(1)

    def test_are_said_as_they_were_understood(self):
        for word, said in (("60", "60 s"), ("90.5", "90.5 s"), ("2m", "120 s")):
            self.assertEqual(self.understood(word), said)

    def lasts(self, *words):
        begin = time.monotonic()
        result = limpet(*words)
        self.assertIn(result.code, (0, 5), result)
        return time.monotonic() - begin

    def test_are_seconds(self):
        pid = self.spinner()
        for words in (("record", "-p", pid, "-o", self.path, "-d"), ("top", pid, "--batch", "-d"),
                      ("attach", pid, "--duration"), ("record", "-p", pid, "-o", self.path, "--collection-period")):
            self.assertGreaterEqual(self.lasts(*words, "0:1:1" if words[-1].endswith("period") else "1"), 1, words)
        self.assertGreaterEqual(self.lasts(*words, "0:0.7:1"), 0.7)

    def test_a_patience_with_tools_is_seconds(self):
        for word in ("1", "0.5"):
            result = limpet("attach", self.spinner(), "--tool", "/no/such/tool.so", "--tool-timeout", word, "-d", "0")
            self.assertNotEqual(result.code, 2, result)
        self.assertEqual(limpet("attach", 1, "--tool-timeout", "1h").code, 2)


class Next(Minute):
    """Every command that is offered works."""

    def record(self, *options):
        result = limpet("record", "-p", self.spinner(), "-o", self.path, "-d", "1", *options)
        lines = result.out.partition("next: ")[2].splitlines()
        return result, [shlex.split(line) for line in lines if line.strip().startswith("limpet ")]

    def try_all(self, commands):
        for command in commands:
            done = subprocess.run([LIMPET, *command[1:]], cwd=self.folder, stdin=subprocess.DEVNULL, timeout=PATIENCE_S,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr}")

    def test_of_samples(self):
        result, commands = self.record("-F", "499")
        self.assertEqual(result.code, 0, result)
        self.assertEqual([command[1] for command in commands], ["report", "export"])
        self.try_all(commands)

    def test_of_calls(self):
        result, commands = self.record("--function", "*:nanosleep", "--function", "*:clock_nanosleep")
        if result.code == 0:
            self.assertEqual([command[1] for command in commands], ["report"])
            self.try_all(commands)

    def test_of_nothing(self):
        result, commands = self.record("--function", "*:no_such_function")
        self.assertEqual(result.code, 5, result)
        self.assertEqual(commands, [])

    def test_export_alone_is_the_flame_graph_and_says_where(self):
        self.record("-F", "499")
        result = limpet("export", self.path)
        page = os.path.join(self.folder, "it.html")
        self.assertTrue(result.out.startswith(f"{page}: "), result)
        with open(page, encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("<!DOCTYPE html>"))


if __name__ == "__main__":
    unittest.main()
