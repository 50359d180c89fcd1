"""Stacks beside the truth: programs whose callers are known, without frame pointers."""

import os
import re
import sys
import unittest

from exactness import PROGRAMS, exit_if_refused, running, sample

RUNG = os.environ.get("RUNG", "copy")
COUNT = int(os.environ.get("SAMPLES", "300"))
LIBC_START = r"_start libc\.so\.6 libc\.so\.6 main "
THREAD_START = r"libc\.so\.6 libc\.so\.6 "
# Callees that have no name of ours: libraries, the loader, the vdso; stubs lie behind _init.
FOREIGN = r"(\S+\.so(\.\d+)* |\[vdso\] |_init |_fini |__do_global_dtors_aux |frame_dummy |(de)?register_tm_clones )*"


class Exactness(unittest.TestCase):
    def judge(self, recording, truth, count=COUNT, least_complete=0.999, least_certain=0.8):
        """Every complete, certain stack is the truth; nearly all are complete."""
        complete = [s for s in recording.samples if s["end"] == "complete"]
        certain = [s for s in complete if not s["guessed"]]
        pattern = re.compile(truth + "$")
        for one in certain:
            names = " ".join(recording.stack(one)) + " "
            self.assertRegex(names, pattern)
        total = len(recording.samples)
        self.assertGreaterEqual(total, count, recording.counts)
        ends = recording.counts["ends"]
        print(f"{self.id()}: {total} samples, {len(complete)} complete, "
              f"{total - len(certain)} not certain, lost {recording.counts['lost']}", file=sys.stderr)
        for one in recording.samples:
            if one["end"] != "complete":
                print(f"  {one['end']}: {' '.join(recording.stack(one))}", file=sys.stderr)
        self.assertGreaterEqual(len(complete), total * least_complete - 1, ends)
        self.assertGreaterEqual(len(certain), total * least_certain - 1, "too many guesses")
        return certain

    def sample_program(self, *command, words=(), truth, count=COUNT, **bars):
        with running(*command) as process:
            recording = sample(RUNG, process.pid, f"max={count}", *words)
        self.assertIsNone(recording.error, recording.error)
        return recording, self.judge(recording, truth, count=count, **bars)

    def check_depth(self, depth, **bars):
        truth = rf"({LIBC_START}|{THREAD_START})(worker (f_\d+ )*(leaf_spin )?)?"
        program = os.path.join(PROGRAMS, f"chain_{depth}")
        recording, certain = self.sample_program(program, "2", truth=truth, **bars)
        exact = leaf = 0
        for one in certain:
            names = recording.stack(one)
            functions = [name for name in names if name.startswith("f_")]
            self.assertEqual(functions, [f"f_{i:04}" for i in range(len(functions))])
            if names[-1] == "leaf_spin":
                leaf += 1
                exact += len(functions) == depth
        self.assertEqual(exact, leaf)
        self.assertGreater(leaf, len(certain) / 4)
        self.assertEqual(len({one["tid"] for one in certain}), 2)

    def test_depth_10(self):
        self.check_depth(10)

    def test_depth_50(self):
        self.check_depth(50)

    def test_depth_200(self):
        self.check_depth(200)

    def test_depth_1000(self):
        self.check_depth(1000, count=min(COUNT, 150), least_certain=0.5)

    def zoo(self, kind, truth, **more):
        library = os.path.join(PROGRAMS, "libzoo_plugin.so")
        program = os.path.join(PROGRAMS, "zoo")
        return self.sample_program(program, kind, library, truth=LIBC_START + truth, **more)

    def test_stubs_of_the_linker(self):
        recording, certain = self.zoo("plt", r"plt_outer (plt_inner (zoo_library_step |\S+ )?)?")
        names = {tuple(recording.stack(one)[5:]) for one in certain}
        self.assertTrue(any("zoo_library_step" in stack for stack in names))

    def test_signal_handler(self):
        inner = r"signal_outer (signal_inner (spin )?)?"
        truth = rf"run_signal (run_signals ({inner}(libc\.so\.6 (on_signal (handler_inner (spin )?)?)?)?)?)?"
        recording, certain = self.zoo("signal", truth)
        self.assertTrue(any("on_signal" in recording.stack(one) for one in certain))

    def test_signal_handler_without_rules_for_its_return(self):
        """musl has none."""
        program = os.path.join(PROGRAMS, "musl_signal")
        if not os.path.exists(program):
            self.skipTest("no musl-gcc")
        # Code of musl itself has no rules at all: what called main is not known.
        truth = r"(\S+ )?main interrupted (spin )?__restore_rt on_signal (spin )?"
        with running(program) as process:
            recording = sample(RUNG, process.pid, f"max={COUNT}")
        handled = [s for s in recording.samples if "on_signal" in recording.stack(s)]
        self.assertGreater(len(handled), COUNT / 10)
        for one in handled:
            self.assertRegex(" ".join(recording.stack(one)) + " ", "^" + truth + "$")

    def test_signal_handler_on_its_own_stack(self):
        inner = r"signal_outer (signal_inner (spin )?)?"
        truth = rf"run_altstack (run_signals ({inner}(libc\.so\.6 (on_signal (handler_inner (spin )?)?)?)?)?)?"
        # A copy holds one stack: what the signal interrupted is read from the process, a guess.
        certain_share = 0 if RUNG == "copy" else 0.99
        recording, _ = self.zoo("altstack", truth, least_complete=0.99, least_certain=certain_share)
        self.assertTrue(any("on_signal" in recording.stack(one) for one in recording.samples))

    def test_alloca_and_realigned_stack(self):
        self.zoo("alloca", r"run_alloca (alloca_aligned (alloca_inner (spin )?)?)?")

    def test_vdso(self):
        recording, certain = self.zoo("vdso", rf"run_vdso {FOREIGN}")
        self.assertTrue(any("[vdso]" in recording.stack(one) for one in certain))

    def test_libraries_that_come_and_go(self):
        recording, certain = self.zoo(
            "dlopen", rf"run_dlopen (zoo_library_call (spin )?|{FOREIGN})", least_complete=0.99)
        self.assertTrue(any("zoo_library_call" in recording.stack(one) for one in certain))

    def test_children(self):
        recording, certain = self.zoo(
            "fork", rf"run_fork (forked_work (spin )?|{FOREIGN})", words=("children",),
            least_complete=0.99)
        self.assertGreater(len(recording.processes), 0)
        self.assertGreater(len({one["pid"] for one in certain}), 1)

    def test_executed_anew(self):
        own = rf"{LIBC_START}run_exec (executed_work (spin )?|{FOREIGN})"
        library = os.path.join(PROGRAMS, "libzoo_plugin.so")
        with running(os.path.join(PROGRAMS, "zoo"), "exec", library) as process:
            recording = sample(RUNG, process.pid, f"max={COUNT}")
        # The first moments of a new image are the loader's.
        self.judge(recording, rf"({own}|{FOREIGN}|_start {FOREIGN})", least_complete=0.97)
        self.assertGreater(len(recording.processes), 0)

    def test_exceptions_in_flight(self):
        if not os.path.exists(os.path.join(PROGRAMS, "throwing")):
            self.skipTest("no C++ compiler")
        # __cxa_end_catch is a tail call.  And while libgcc installs the handler's registers it
        # writes the handler's return address into its own frame: for that moment the stack itself
        # has one frame twice, or the handler's caller is looked for, a guess.
        truth = rf"{LIBC_START}(catch_all ){{0,2}}(throw_level )*{FOREIGN}"
        program = os.path.join(PROGRAMS, "throwing")
        recording, certain = self.sample_program(program, truth=truth)
        deepest = max(recording.stack(one).count("throw_level") for one in certain)
        self.assertEqual(deepest, 13)


if __name__ == "__main__":
    exit_if_refused(RUNG)
    unittest.main()
