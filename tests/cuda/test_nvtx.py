#!/usr/bin/env python3
"""
NVTX 3 as a header inside a live program (nvtx_app.c, on a stand-in), which began with it long before limpet came: its ranges
and marks are recorded, what it is answered does not change, and every pointer is as it was afterwards.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness
from harness import TargetTest, limpet

APP = os.path.join(os.environ.get("CUDA", "."), "nvtx_app")
HOOKED = 16  # pointers of functions that mark something
NAMES = {"outer", "inner", "span", "of a library"}


class Nvtx(TargetTest):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="limpet-nvtx-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "it.limpet")
        self.app = subprocess.Popen([APP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.app.stdout.readline()

    def end(self):
        self.app.kill()
        self.app.communicate()

    def ask(self, word):
        self.app.stdin.write(word + "\n")
        self.app.stdin.flush()
        return json.loads(self.app.stdout.readline())

    def start(self):
        process = harness.limpet_attached("record", "-p", self.app.pid, "-o", self.path, "--json", "--marker-trace")
        self.addCleanup(self.end_process, process)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))

    def counts(self):
        report = limpet("report", self.path, "--json", deadline_s=60).out
        rows = [json.loads(line) for line in report.splitlines()]
        return {row["name"]: row["calls"] for row in rows if row["event"] in ("range", "mark")}

    def test_ranges_of_one_that_began_long_ago(self):
        self.assertEqual(self.ask("go 3"), {"begun": 1, "set": 0, "decoy": 0})
        for _ in range(2):
            process = self.start()
            self.assertEqual(self.ask("go 100"), {"begun": 1, "set": HOOKED, "decoy": 0})
            self.stop(process)
            self.assertEqual(self.counts(), dict.fromkeys((*NAMES, "mark"), 100))
            self.assertEqual(self.ask("go 3"), {"begun": 1, "set": 0, "decoy": 0})

    def test_texts_that_dangle_are_not_read(self):
        self.ask("go 1")
        process = self.start()
        self.assertEqual(self.ask("dangle")["set"], HOOKED)
        self.ask("go 10")
        self.stop(process)
        self.assertIsNone(self.app.poll())
        counts = self.counts()
        self.assertEqual({name: counts[name] for name in NAMES}, dict.fromkeys(NAMES, 10))
        self.assertIn("wwww", counts)  # as far as it can be read

    def test_one_that_has_not_begun_is_left_alone_until_it_has(self):
        process = self.start()
        fresh = self.ask("state")
        self.assertEqual((fresh["begun"], fresh["decoy"]), (0, 0))
        self.ask("go 1")  # with it the program begins
        self.assertTrue(harness.wait_until(lambda: self.ask("state")["set"] == HOOKED))
        self.ask("go 50")
        self.stop(process)
        counts = self.counts()
        for name in NAMES - {"of a library"}:
            self.assertIn(counts[name], (50, 51), counts)
        self.assertEqual(self.ask("go 3"), {"begun": 1, "set": 0, "decoy": 0})


if __name__ == "__main__":
    unittest.main()
