"""A stack is complete only where it reached a known end."""

import os
import pathlib
import re
import tempfile
import unittest

from exactness import PROGRAMS
from recorded import Refused, limpet, record

SAMPLER = os.environ.get("SAMPLER", "copy")


class Ends(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_a_chain_that_ends_in_zero_is_not_complete(self):
        try:
            totals, stacks = record([pathlib.Path(PROGRAMS) / "made_zero"], self.folder, SAMPLER, least=40)
        except Refused as error:
            self.skipTest(str(error))
        # By the stack's end: a sample may be in the function that calls the leaf.
        astray = sum(count for names, count in stacks if names[:2] == ["[incomplete stack]", "[JIT]"])
        self.assertGreater(astray, 0)
        self.assertEqual(totals["stacks"]["jit"], astray)
        self.assertFalse([names for names, _ in stacks if "zero_leaf" in names and names[0] != "[incomplete stack]"])
        self.assertEqual(totals["stacks"]["complete"], totals["samples"] - sum(
            one["stacks"] for one in totals["incomplete_stacks"]))
        told = {one["end"]: one for one in totals["incomplete_stacks"]}
        self.assertIn("frame pointers", told["jit"]["fix"])
        report = limpet("report", str(pathlib.Path(self.folder) / "recording")).stdout
        self.assertRegex(report, rf"INCOMPLETE: {astray} stacks .*: ended in JIT code\n  fix: ")
        self.assertTrue(re.search(r"[01]\.\d\d % of the stacks complete", report), report)

    def test_the_first_function_of_musl_is_an_end(self):
        """On aarch64 its _start jumps: the caller of what comes next is 0."""
        program = pathlib.Path(PROGRAMS) / "musl_signal"
        if not program.exists():
            self.skipTest("musl-gcc is not installed")
        try:
            totals, _ = record([program], self.folder, SAMPLER, least=40)
        except Refused as error:
            self.skipTest(str(error))
        self.assertGreaterEqual(totals["complete_percent"], 97, totals["stacks"])


if __name__ == "__main__":
    unittest.main()
