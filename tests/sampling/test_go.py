"""Stacks of Go programs: with debug information packed, stripped of everything, and with C in between.

Skipped, with the reason, where go is not installed."""

import functools
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from exactness import PROGRAMS, WrongStack, in_three_tries
from recorded import Refused, record

HERE = pathlib.Path(__file__).resolve().parent
# Where stacks of Go may begin.  morestack: the scheduler took the thread from a goroutine there.  clone: a thread of C.
BASES = {"runtime.goexit", "runtime.mstart", "runtime.mcall", "runtime.rt0_go", "runtime.morestack", "runtime.gopreempt_m",
         "runtime.preemptPark", "clone", "clone3", "start_thread"}
# A copy holds one stack, and the goroutine's is read when the sample is heard of: at once where limpet may come before others.
LEAST = {"bpf": 98.5, "copy": 60 if os.geteuid() else 95}
WRONG = {"bpf": 0, "copy": 0.02}  # of the stacks: guesses


# The stack that C leaves when it calls Go is found on x86-64 only (docs/unwinding.md).
WALKS_C = platform.machine() == "x86_64"


def c_between(caller, called, has_names):
    """From runtime.cgocall to runtime.cgocallback: C that Go calls, which calls Go."""
    if not WALKS_C:
        return r"runtime\.\w+ runtime\.cgocallback"
    functions = rf"_cgo_\w+_Cfunc_{caller} {caller}" if has_names else r"\S+ \S+"
    return rf"runtime\.asmcgocall {functions} {called} crosscall2 runtime\.cgocallback"


@functools.cache
def build(source, *flags, cgo=False):
    """The path of the program; the reason why not, where this Go cannot."""
    path = pathlib.Path(PROGRAMS) / ("_".join([source, *re.findall(r"\w+", " ".join(flags))]))
    environment = {**os.environ, "GO111MODULE": "off", "GOFLAGS": "",
                   "CGO_ENABLED": "1" if cgo else "0"}
    done = subprocess.run(["go", "build", *flags, "-o", str(path), str(HERE / f"{source}.go")], env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise unittest.SkipTest(f"go build: {done.stderr.strip()}")
    return path


class Go:
    """By one sampler."""

    sampler = None

    def sample(self, *build_words, **build_options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = build(*build_words, **build_options)
        try:
            totals, stacks = record([program], folder.name, self.sampler, least=300)
        except Refused as error:
            self.skipTest(str(error))
        print(f"{self.id()}: {totals['samples']} samples, {totals['complete_percent']} % complete", file=sys.stderr)
        complete = [names for names, count in stacks if names[0] != "[incomplete stack]" for _ in range(count)]
        for names in stacks:
            if names[0][0] == "[incomplete stack]":
                print("  ", names[0][:8], file=sys.stderr)
        self.assertGreaterEqual(totals["complete_percent"], LEAST[self.sampler], totals["stacks"])
        for names in complete:
            if names[0] not in BASES:
                raise WrongStack(names)
        return complete

    def check_all(self, stacks, expected):
        """As texts."""
        wrong = [stack for stack in stacks if not re.match(expected, stack)]
        self.assertLessEqual(len(wrong), WRONG[self.sampler] * len(stacks), wrong[:3])

    def check_work(self, complete):
        leaf = [" ".join(names[:names.index("main.leaf") + 1]) for names in complete if "main.leaf" in names]
        self.assertTrue(leaf)
        self.check_all(leaf, r"runtime\.goexit (main\.work|runtime\.main main\.main main\.work) main\.outer main\.middle main\.leaf$")

    def test_packed_debug_information(self):
        self.check_work(self.sample("go_work"))

    def test_stripped(self):
        self.check_work(self.sample("go_work", "-ldflags=-s -w"))

    def test_position_independent(self):
        self.check_work(self.sample("go_work", "-buildmode=pie", "-ldflags=-s -w"))

    def check_cgo(self, complete, has_names):
        caller = r"runtime\.goexit runtime\.main main\.main main\.turn (main\.turn\.func\d )?"
        leaf = [" ".join(names) for names in complete if "main.leaf" in names]
        self.assertTrue(leaf)
        back = r"main\._Cfunc_calls_back runtime\.cgocall " + c_between("calls_back", "back", has_names) + r".* main\.back main\.leaf"
        again = r"main\._Cfunc_calls_again runtime\.cgocall " + c_between("calls_again", "again", has_names) + r".* main\.again "
        self.check_all(leaf, caller + f"({again})?{back}")
        self.assertTrue([stack for stack in leaf if "main.again" in stack])
        spin = [" ".join(names) for names in complete if "spin" in names]
        self.assertTrue(spin or not has_names)
        self.check_all(spin, caller + r"main\._Cfunc_spin runtime\.cgocall runtime\.asmcgocall .*spin")

    def test_c_in_between(self):
        self.check_cgo(self.sample("go_cgo", cgo=True), has_names=True)

    def test_thread_of_c(self):
        complete = self.sample("go_called", cgo=True)
        leaf = [" ".join(names) for names in complete if "main.leaf" in names]
        self.assertTrue(leaf)
        thread = r".*start_thread c_thread from_thread back crosscall2 " if WALKS_C else r"runtime\.goexit "
        self.check_all(leaf, thread + r"runtime\.cgocallback .*main\.back main\.leaf")

    def test_c_in_between_stripped(self):
        self.check_cgo(self.sample("go_cgo", "-ldflags=-s -w", cgo=True), has_names=False)


@in_three_tries
class ByBpf(Go, unittest.TestCase):
    sampler = "bpf"


@in_three_tries
class ByCopies(Go, unittest.TestCase):
    sampler = "copy"


if __name__ == "__main__":
    if not shutil.which("go"):
        print("skipped: go is not installed")
        sys.exit(77)
    unittest.main()
