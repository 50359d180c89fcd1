#!/usr/bin/env python3
"""
The first minute with limpet: times mean what they mean elsewhere, and what is offered next works.
(ps, names, -p and completions: test_looking.py; files and full disks: test_outputs.py; static programs:
../launch, ../sampling_files.)

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs.
"""

import contextlib
import os
import pty
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


class Nothing(Minute):
    """Exit 0 means that there is data; where there is none, the reason is told."""

    def test_no_time_at_all_is_refused(self):
        pid = self.spinner()
        for words in (("record", "-p", pid, "-o", self.path), ("record", "-p", pid, "-o", self.path, "--alloc-trace"),
                      ("stat", pid), ("top", pid, "--batch"), ("push", "http://127.0.0.1:9", "-p", pid)):
            result = limpet(*words, "-d", "0")
            self.assertEqual(result.code, 2, (words, result))
            self.assertIn("invalid value '0' for --duration", result.err)
            self.assertIn("a time above 0", result.err)
        self.assertFalse(os.path.exists(self.path))

    def start(self, *command):
        process = subprocess.Popen(command)
        self.addCleanup(self.end_process, process)
        return process

    def test_a_program_that_waits(self):
        pid = self.start("sleep", "1000").pid
        for options, why in (((), "no thread of the process ran for a whole sampling interval"),
                             (("--alloc-trace",), "no traced function was called and returned")):
            result = limpet("record", "-p", pid, "-o", self.path, "-d", "0.5", *options)
            self.assertEqual(result.code, 5, result)
            self.assertIn(why, result.err)

    def test_a_program_that_is_killed(self):
        process = self.start("sleep", "1000")
        recording = limpet_start("record", "-p", process.pid, "-o", self.path)
        recording.stderr.readline()
        process.kill()
        result = limpet_finish(recording)
        self.assertEqual(result.code, 5, result)
        self.assertIn("before it ended", result.err)

    def test_processes_too_short_for_a_sample(self):
        pid = self.start("sh", "-c", "while :; do /bin/true; done").pid
        result = limpet("record", "-p", pid, "--children", "-o", self.path, "-d", "1", "--json")
        recorded = result.event("recorded")
        self.assertGreater(recorded["processes_seen"], 20)
        self.assertLess(recorded["processes_sampled"], recorded["processes_seen"] / 2)
        if result.code == 5:
            self.assertIn("processes were seen; none ran for a whole sampling interval", result.err)
        else:
            self.assertEqual(result.code, 0, result)
            self.assertRegex(result.err, r"warning: \d+ of \d+ processes have no sample")
        self.assertIn("limpet record -a samples CPUs", result.err)
        report = limpet("report", self.path)
        self.assertLessEqual(sum(line.startswith("process ") for line in report.out.splitlines()), 20)
        if result.code == 5:
            self.assertRegex(report.err, r"why: none of \d+ processes ran long enough")

    def test_processes_too_short_for_kernel_programs(self):
        """They end before their mappings are read; the kernel tells them to the sampler that copies stacks."""
        pid = self.start("sh", "-c", "while :; do /bin/true; done").pid
        result = limpet("record", "-p", pid, "--children", "-F", "999", "-o", self.path, "-d", "4", "--json")
        self.assertEqual(result.code, 0, result)
        recorded = result.event("recorded")
        if recorded["sampler"] != "copy" or "most processes ended before" not in result.err:
            self.skipTest(f"by {recorded['sampler']}: no kernel programs here, or no 16 samples of such processes")
        self.assertGreater(recorded["complete_percent"], 50, recorded)


class Again(Minute):
    """A recording is not replaced in silence."""

    def on_a_terminal(self, answer, *options):
        main, other = pty.openpty()
        command = [LIMPET, "record", "-p", str(self.pid), "-F", "499", "-d", "1", "-o", self.path, *options]
        with subprocess.Popen(command, stdin=other, stderr=other, stdout=other) as process:
            os.close(other)
            os.write(main, answer)
            text = b""
            with contextlib.suppress(OSError):  # the other side is closed
                while part := os.read(main, 65536):
                    text += part
        os.close(main)
        return process.returncode, text.decode()

    def test_is_asked_on_a_terminal(self):
        self.pid = self.spinner()
        code, text = self.on_a_terminal(b"")
        self.assertEqual((code, "Replace it?" in text), (0, False), text)
        first = os.stat(self.path).st_ino
        code, text = self.on_a_terminal(b"n\n")
        self.assertEqual(code, 2, text)
        self.assertIn("Replace it? [y/N]", text)
        self.assertIn("--overwrite", text)
        self.assertEqual(os.stat(self.path).st_ino, first)
        self.assertEqual(self.on_a_terminal(b"y\n")[0], 0)
        self.assertNotEqual(os.stat(self.path).st_ino, first)
        code, text = self.on_a_terminal(b"", "--overwrite")
        self.assertEqual((code, "eplace" in text), (0, False), text)

    def test_is_told_without_one(self):
        words = ("record", "-p", self.spinner(), "-F", "499", "-d", "1", "-o", self.path)
        self.assertNotIn("replaced", limpet(*words).err)
        self.assertIn("it.limpet was there already and is replaced", limpet(*words).err)
        self.assertNotIn("replaced", limpet(*words, "--overwrite").err)


class Advice(Minute):
    """No fix names what is in use already."""

    def test_a_sampler_in_use_is_no_advice(self):
        pid = self.spinner()
        for sampler, advised in (("state", "--sampler bpf or copy"), ("copy", None), ("bpf", None)):
            result = limpet("record", "-p", pid, "-o", self.path, "-F", "999", "-d", "0.5", "--sampler", sampler, "--json")
            if result.code == 3:
                continue
            recorded = result.event("recorded")
            fixes = [one["fix"] for one in recorded["incomplete_stacks"]]
            self.assertTrue(advised is None or all(fix.startswith(advised) for fix in fixes), fixes)
            self.assertFalse([fix for fix in fixes if f"--sampler {sampler}" in fix])
            self.assertNotIn(f"--sampler {sampler}", limpet("report", self.path).out)


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

    def test_every_export_counts_the_same_samples(self):
        self.record("-F", "499")
        counts = set()
        for name in ("flamegraph", "folded", "svg", "pprof", "speedscope", "firefox", "perf-script", "pftrace"):
            to_file = limpet("export", self.path, "-f", name, "-o", os.path.join(self.folder, name))
            counts.add(re.search(r" (\d+) samples? \(", to_file.out)[1])
            result = subprocess.run([LIMPET, "export", self.path, "-f", name, "-o", "-"], capture_output=True, check=True)
            counts.add(re.search(rb"^stdout:.* (\d+) samples? \(", result.stderr, re.M)[1].decode())
        self.assertEqual(len(counts), 1, counts)

    def test_export_alone_is_the_flame_graph_and_says_where(self):
        self.record("-F", "499")
        result = limpet("export", self.path)
        page = os.path.join(self.folder, "it.html")
        self.assertTrue(result.out.startswith(f"{page}: "), result)
        with open(page, encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("<!DOCTYPE html>"))


if __name__ == "__main__":
    unittest.main()
