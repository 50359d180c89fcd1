"""Stacks beside the truth: programs whose callers are known, without frame pointers."""

import os
import re
import signal
import subprocess
import sys
import time
import unittest

from exactness import (DRIVER, LIMIT, PROGRAMS, Recording, WrongStack, cpu_ticks, exit_if_refused, in_three_tries, running,
                       sample)
from truths import KNOWN, LEAF, chain, chain_is_exact, expression

SAMPLER = os.environ.get("SAMPLER", "copy")
COUNT = int(os.environ.get("SAMPLES", "200"))


@in_three_tries
class Exactness(unittest.TestCase):
    def judge(self, recording, known, count=COUNT, least_complete=0.999, least_certain=0.8):
        """Every complete, certain stack is the truth; nearly all are complete."""
        complete = [s for s in recording.samples if s["end"] == "complete"]
        certain = [s for s in complete if not s["guessed"]]
        pattern = expression(known)
        for one in certain:
            names = " ".join(recording.stack(one)) + " "
            if not re.search(pattern, names):
                raise WrongStack(f"{names}is none of {pattern}")
        total = len(recording.samples)
        self.assertGreaterEqual(total, count, recording.counts)
        print(f"{self.id()}: {total} samples, {len(complete)} complete, "
              f"{total - len(certain)} not certain, lost {recording.counts['lost']}", file=sys.stderr)
        others = [f"{one['end']}: {' '.join(recording.stack(one))}" for one in recording.samples
                  if one["end"] != "complete"]  # fmt: skip
        self.assertGreaterEqual(len(complete), total * least_complete - 1, others)
        self.assertGreaterEqual(len(certain), total * least_certain - 1, "too many guesses")
        return certain

    def sample_program(self, known, count=COUNT, **bars):
        with running(*known.command) as process:
            recording = sample(SAMPLER, process.pid, f"max={count}", *known.words)
        self.assertIsNone(recording.error, recording.error)
        return recording, self.judge(recording, known, count=count, **bars)

    def check_depth(self, depth, **bars):
        recording, certain = self.sample_program(chain(depth), **bars)
        leaf = 0
        for one in certain:
            names = recording.stack(one)
            length = sum(name.startswith("f_") for name in names)
            self.assert_right(chain_is_exact(names, depth if names[-1] == LEAF else length), names)
            leaf += names[-1] == LEAF
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

    def assert_right(self, is_right, names):
        if not is_right:
            raise WrongStack(names)

    def meets(self, kind, name, **bars):
        """Judges samples of a program, and sees that the hard part was met."""
        recording, certain = self.sample_program(KNOWN[kind], **bars)
        among = certain if bars.get("least_certain", 1) else recording.samples
        self.assertTrue(any(name in recording.stack(one) for one in among))
        return recording, certain

    def test_stubs_of_the_linker(self):
        self.meets("plt", "zoo_library_step")

    def test_signal_handler(self):
        self.meets("signal", "on_signal")

    def test_signal_handler_without_rules_for_its_return(self):
        """musl has none."""
        program = os.path.join(PROGRAMS, "musl_signal")
        if not os.path.exists(program):
            self.skipTest("no musl-gcc")
        # Code of musl itself has no rules at all: what called main is known by its instructions, if at all.
        truth = r"(\S+ ){0,3}main (interrupted (spin )?)?__restore_rt on_signal (spin )?"
        with running(program) as process:
            recording = sample(SAMPLER, process.pid, f"max={COUNT}")
        handled = [s for s in recording.samples if "on_signal" in recording.stack(s)]
        self.assertGreater(len(handled), COUNT / 10)
        self.assertGreater(sum("interrupted" in recording.stack(s) for s in handled), len(handled) / 2)
        for one in handled:
            self.assert_right(re.fullmatch(truth, " ".join(recording.stack(one)) + " "), recording.stack(one))

    def test_signal_handler_on_its_own_stack(self):
        # A copy holds one stack: what the signal interrupted is read from the process, a guess.  Who comes too late finds
        # the stack of another signal there, and says that it cannot be read.
        bars = {"least_complete": 0.9, "least_certain": 0} if SAMPLER == "copy" else {}
        self.meets("altstack", "on_signal", **{"least_complete": 0.99, "least_certain": 0.99, **bars})

    def test_code_that_is_made(self):
        self.meets("made", "made_leaf", least_complete=0.98)

    def test_code_that_is_made_below_functions_without_frame_pointers(self):
        """Nothing tells their stack pointers: such stacks are not complete, and say so."""
        recording, _ = self.sample_program(KNOWN["made_bare"], least_complete=0, least_certain=0)
        self.assertTrue(any("made_leaf" in recording.stack(one) for one in recording.samples))

    def test_code_that_is_made_before_and_behind_its_frame(self):
        """Where the frame is made or left, the caller is not where a frame pointer leads to."""
        recording, certain = self.sample_program(KNOWN["made_edges"], least_complete=0.98)
        first, second = 0x200000000, 0x200001000
        called = [one for one in certain if one["frames"][0][1] >> 12 == second >> 12]
        self.assertGreater(len(called), len(certain) / 2)
        for one in called:
            names = recording.stack(one)
            self.assert_right(one["frames"][1][1] >> 12 == first >> 12 and names[-3:-2] == ["call_made"], names)

    def test_alloca_and_realigned_stack(self):
        self.meets("alloca", "alloca_inner")

    def test_stack_pointer_that_is_moved_by_an_unknown_number(self):
        self.meets("room", "room_inner")

    def test_pages_of_the_stack_that_are_not_there(self):
        """The kernel copies up to the first one; what lies behind is in the copies once the page was read: it takes some
        samples, before which what lies there is read later, or not at all."""
        self.meets("hole", "hole_inner", least_complete=0.9 if SAMPLER == "copy" else 0.999, least_certain=0.8)

    def test_vdso(self):
        self.meets("vdso", "[vdso]")

    def test_libraries_that_come_and_go(self):
        self.meets("dlopen", "zoo_library_call", least_complete=0.99)

    def test_children(self):
        recording, certain = self.meets("fork", "forked_work", least_complete=0.99)
        self.assertGreater(len(recording.processes), 0)
        self.assertGreater(len({one["pid"] for one in certain}), 1)

    def test_executed_anew(self):
        recording, _ = self.meets("exec", "executed_work", least_complete=0.97)
        self.assertGreater(len(recording.processes), 0)

    def test_programs_that_take_turns_at_the_same_addresses(self):
        """Their frames differ only in size: what is known of the one is wrong for the other."""
        turns = "; ".join(f"timeout -s KILL 0.1 {PROGRAMS}/{name} 1" for name in ("chain_50", "chain_50_narrow"))
        command = ["setarch", "-R", "sh", "-c", f"while :; do {turns}; done"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            recording = sample(SAMPLER, process.pid, f"max={COUNT}", "children")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        leaves = [one for one in recording.samples if recording.stack(one)[-1:] == [LEAF]]
        complete = [one for one in leaves if one["end"] == "complete"]
        self.assertEqual(len({one["frames"][0][0] for one in complete}), 2, recording.counts)
        self.assertGreaterEqual(len(complete), len(leaves) * 0.97 - 1, recording.counts)
        for one in complete:
            self.assert_right(chain_is_exact(recording.stack(one), 50), recording.stack(one))

    def test_exceptions_in_flight(self):
        if not os.path.exists(KNOWN["exceptions"].command[0]):
            self.skipTest("no C++ compiler")
        recording, certain = self.meets("exceptions", "throw_level")
        deepest = max(recording.stack(one).count("throw_level") for one in certain)
        self.assertEqual(deepest, 13)

    def test_exceptions_in_flight_below_functions_with_frame_pointers(self):
        """While libgcc installs a handler, the frame pointer that it has saved is the handler's: what follows may be left out."""
        if not os.path.exists(KNOWN["exceptions_framed"].command[0]):
            self.skipTest("no C++ compiler")
        self.meets("exceptions_framed", "throw_level", count=5 * COUNT)

    def test_what_had_no_room_is_counted(self):
        """A collector that comes too late: the rings are full, and it says so."""
        with running(*chain(1000, threads=1).command) as process:
            driver = subprocess.Popen([DRIVER, SAMPLER, str(process.pid), "4999", str(LIMIT), "max=1", "wait"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
            driver.stdout.readline()
            enough, end = cpu_ticks(process.pid) + 100, time.monotonic() + LIMIT
            while cpu_ticks(process.pid) < enough and time.monotonic() < end:
                time.sleep(0.05)
            recording = Recording(driver.communicate()[0])
        self.assertGreater(len(recording.samples), 0)
        self.assertGreater(recording.counts["lost"], 0)


if __name__ == "__main__":
    exit_if_refused(SAMPLER)
    unittest.main()
