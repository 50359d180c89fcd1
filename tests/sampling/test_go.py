"""Stacks of Go programs: with debug information packed, stripped of everything, and with C in between.

Skipped, with the reason, where go is not installed."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from exactness import PROGRAMS
from recorded import Refused, record

HERE = pathlib.Path(__file__).resolve().parent
SAMPLER = os.environ.get("SAMPLER", "bpf")
# Where stacks of Go may begin.  morestack: the scheduler took the thread from a goroutine there.
BASES = {"runtime.goexit", "runtime.mstart", "runtime.mcall", "runtime.rt0_go", "runtime.morestack"}
LEAST = {"bpf": 98.5, "copy": 60}  # copies hold one stack: the goroutine's is read later, if it is still so


def build(source, *flags, cgo=False):
    """The path of the program; the reason why not, where this Go cannot."""
    cache = pathlib.Path(PROGRAMS) / "go_cache"
    path = pathlib.Path(PROGRAMS) / ("_".join([source, *re.findall(r"\w+", " ".join(flags)), SAMPLER]))
    environment = {**os.environ, "GOCACHE": str(cache), "GO111MODULE": "off", "GOFLAGS": "",
                   "CGO_ENABLED": "1" if cgo else "0"}
    done = subprocess.run(["go", "build", *flags, "-o", str(path), str(HERE / f"{source}.go")], env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise unittest.SkipTest(f"go build: {done.stderr.strip()}")
    return path


class Go(unittest.TestCase):
    def sample(self, *build_words, **build_options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = build(*build_words, **build_options)
        try:
            totals, stacks = record([program], folder.name, SAMPLER)
        except Refused as error:
            self.skipTest(str(error))
        print(f"{self.id()}: {totals['samples']} samples, {totals['complete_percent']} % complete", file=sys.stderr)
        complete = [names for names, _ in stacks if names[0] != "[incomplete stack]"]
        for names in stacks:
            if names[0][0] == "[incomplete stack]":
                print("  ", names[0][:8], file=sys.stderr)
        self.assertGreaterEqual(totals["complete_percent"], LEAST[SAMPLER], totals["stacks"])
        for names in complete:
            self.assertIn(names[0], BASES, names)
        return complete

    def check_work(self, complete):
        leaf = [names for names in complete if "main.leaf" in names]
        self.assertTrue(leaf)
        for names in leaf:
            upto = names[:names.index("main.leaf") + 1]
            self.assertRegex(" ".join(upto), r"^runtime\.goexit (main\.work|runtime\.main main\.main main\.work) "
                             r"main\.outer main\.middle main\.leaf$")

    def test_packed_debug_information(self):
        self.check_work(self.sample("go_work"))

    def test_stripped(self):
        self.check_work(self.sample("go_work", "-ldflags=-s -w"))

    def test_position_independent(self):
        self.check_work(self.sample("go_work", "-buildmode=pie", "-ldflags=-s -w"))

    def check_cgo(self, complete, has_names):
        leaf = [" ".join(names) for names in complete if "main.leaf" in names]
        self.assertTrue(leaf)
        for names in leaf:
            self.assertRegex(names, r"^runtime\.goexit runtime\.main main\.main main\.turn (main\.turn\.func\d )?"
                             r"main\._Cfunc_calls_back runtime\.cgocall .*runtime\.cgocallback.* main\.back main\.leaf")
        spin = [" ".join(names) for names in complete if "spin" in names]
        self.assertTrue(spin or not has_names)
        for names in spin:
            self.assertRegex(names, r"^runtime\.goexit runtime\.main main\.main main\.turn (main\.turn\.func\d )?"
                             r"main\._Cfunc_spin runtime\.cgocall runtime\.asmcgocall .*spin")

    @unittest.skipIf(SAMPLER == "copy", "the goroutine that waits for C is read later, a guess")
    def test_c_in_between(self):
        self.check_cgo(self.sample("go_cgo", cgo=True), has_names=True)

    @unittest.skipIf(SAMPLER == "copy", "the goroutine that waits for C is read later, a guess")
    def test_c_in_between_stripped(self):
        self.check_cgo(self.sample("go_cgo", "-ldflags=-s -w", cgo=True), has_names=False)


if __name__ == "__main__":
    if not shutil.which("go"):
        print("skipped: go is not installed")
        sys.exit(77)
    unittest.main()
