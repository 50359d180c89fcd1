#!/usr/bin/env python3
"""
What a recording may cost `limpet ui`: small files that ask for much are shown in part, or refused, with the limit.

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs, SAMPLES_FILE a program
that makes up samples.
"""

import os
import resource
import subprocess
import tempfile
import unittest

from server import LIMPET, PATIENCE_S, Server, program

LANES_MAX = 4096
PROCESSES = 400  # each has 13 lanes
SAMPLES = 3_000_000
ADDRESS_SPACE = 160 << 20


class Limits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="limits-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "it.limpet")

    def test_lanes(self):
        """Without end they would be gigabytes, of a file of some megabytes."""
        subprocess.run([program("make_gpu_recording"), self.path, "1", str(PROCESSES)], check=True, timeout=PATIENCE_S,
                       stdout=subprocess.DEVNULL)
        with Server(self.path) as server:
            answer = server.ask("/api/spans?session=1&width=1000")
            seen = sum(lane["spans"] for lane in answer["lanes"])
            self.assertEqual(len(answer["lanes"]), LANES_MAX)
            self.assertGreater(answer["left_out"], 0)
            self.assertEqual(answer["limited"], f"{answer['left_out']} spans are not shown: there are more than {LANES_MAX} lanes")
            self.assertEqual(sum(answer["columns"]["count"]), seen)
            gpu = server.ask("/api/flame?session=1&kind=gpu")
            self.assertEqual(gpu["empty"], "")

    def test_few_lanes_have_no_limit(self):
        subprocess.run([program("make_gpu_recording"), self.path, "5"], check=True, timeout=PATIENCE_S, stdout=subprocess.DEVNULL)
        with Server(self.path) as server:
            answer = server.ask("/api/spans?session=1&width=1000")
            self.assertEqual((answer["left_out"], answer["limited"]), (0, ""))

    def test_samples_that_take_too_much_memory(self):
        """Half of what is left, here of what `ulimit -v` leaves: the file is refused before anything is sent."""
        subprocess.run([os.environ["SAMPLES_FILE"], self.path, str(SAMPLES), "10"], check=True, timeout=PATIENCE_S)
        done = subprocess.run([LIMPET, "ui", "--no-open", "--json", self.path], capture_output=True, text=True, timeout=PATIENCE_S,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE)), check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"its samples take more than \d+ MiB")
        self.assertIn("half of the memory that is left", done.stderr)
        self.assertIn("fix:", done.stderr)


if __name__ == "__main__":
    unittest.main()
