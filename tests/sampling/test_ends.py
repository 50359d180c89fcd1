"""A stack is complete only where it reached a known end."""

import os
import pathlib
import re
import tempfile
import unittest

from exactness import PROGRAMS, WrongStack, in_three_tries
from recorded import Refused, limpet, record

SAMPLER = os.environ.get("SAMPLER", "copy")
SWITCHES = {"swapcontext", "setcontext"}


@in_three_tries
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
        for names, _ in stacks:
            if "zero_leaf" in names and names[0] != "[incomplete stack]":
                raise WrongStack(names)
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

    def assert_coroutines_are_complete(self, kind):
        try:
            totals, stacks = record([pathlib.Path(PROGRAMS) / "coroutines", kind], self.folder, SAMPLER, least=100)
        except Refused as error:
            self.skipTest(str(error))
        # Inside a switch there is a moment in which nothing tells where it was called.
        astray = [names for names, _ in stacks if names[0] == "[incomplete stack]" and not SWITCHES & set(names)]
        self.assertEqual(astray, [], totals["stacks"])
        chain = ["coroutine_main", "link_1", "link_2", "link_3", "link_4", "leaf_work"]
        whole = sum(count for names, count in stacks if names[-len(chain):] == chain)
        self.assertGreater(whole, totals["samples"] / 3)

    def test_coroutines_of_the_c_library_are_complete(self):
        """They return to code that has no name where .symtab is stripped, and whose rules begin behind the return."""
        self.assert_coroutines_are_complete("contexts")

    def test_switches_of_the_c_library(self):
        """On aarch64 swapcontext() lays its return address into the context, and then forgets where that is."""
        try:
            totals, stacks = record([pathlib.Path(PROGRAMS) / "coroutines", "switches"], self.folder, SAMPLER, least=100)
        except Refused as error:
            self.skipTest(str(error))
        complete = [(names, count) for names, count in stacks if names[0] != "[incomplete stack]"]
        for names, _ in complete:
            if "swapcontext" in names and names[1:names.index("swapcontext")] != ["coroutine_main", "switch_over"]:
                raise WrongStack(names)
        self.assertGreater(totals["complete_percent"], 85, totals["stacks"])

    def test_coroutines_of_boost_are_complete(self):
        self.assert_coroutines_are_complete("fcontexts")


if __name__ == "__main__":
    unittest.main()
