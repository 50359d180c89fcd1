#!/usr/bin/env python3
"""
Hooks in live programs: what they see, that they change nothing, and that they go.

Beside LIMPET and PROGRAMS, HOOKS names the folder with the programs of this one.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import harness
from harness import Unavailable, Workload, wait_until

PROBE = harness.program("trace_probe")
HOOKS = os.environ.get("HOOKS", ".")
MARK_BYTES, CHILD_BYTES = 12345, 54321  # of tests/programs/traced.c
MALLOCS_A_TURN = 1000  # of tests/programs/plain.c


class Probe:
    """A running trace_probe."""

    def __init__(self, pid, *words, duration_ms=0, least=None):
        goals = [f"least={name}:{count}" for name, count in (least or {}).items()]
        self.process = subprocess.Popen(
            [PROBE, str(pid), str(duration_ms), *words, *goals], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.is_attached = harness.line_wait(self.process) == "attached\n"

    def finish(self, deadline_s=2 * harness.PATIENCE_S):
        out, err = self.process.communicate("\n" if self.process.stdin else None, timeout=deadline_s)
        self.error = err or f"exit {self.process.returncode}"
        lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        self.calls = [line for line in lines if line["event"] == "call"]
        return next((line for line in lines if line["event"] == "trace"), None)

    def kill(self):
        self.process.kill()
        self.process.communicate()


def functions_named(trace, name):
    return [seen for key, seen in trace["functions"].items() if key.split("@")[0] == name]


def calls_of(trace, name):
    return sum(seen["calls"] for seen in functions_named(trace, name))


def file_mappings(pid):
    """The mappings of files that the program itself has."""
    with open(f"/proc/{pid}/maps") as file:
        return [line.rstrip() for line in file if re.search(r" /(?!memfd)", line)]


def ring_mappings(pid):
    """How many times memory for records is mapped there."""
    return sum("limpet-rings" in line for line in harness.limpet_mappings(pid))


def constant_memory(pid):
    """What lies in mappings of files that cannot be written: the tables of imports among it."""
    content = {}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in file_mappings(pid):
            fields = line.split()
            if fields[1] == "r--p" and fields[2] != "00000000" and ".so" in fields[-1]:
                start, end = (int(part, 16) for part in fields[0].split("-"))
                memory.seek(start)
                content[line] = memory.read(end - start)
    return content


class Hooks(unittest.TestCase):
    maxDiff = None

    def target(self, binary, name, folder=None, **options):
        before = harness.PROGRAMS
        try:
            harness.PROGRAMS = folder or before
            target = Workload(binary, name, **options)
        except Unavailable as reason:
            self.skipTest(str(reason))
        finally:
            harness.PROGRAMS = before
        self.addCleanup(target.close)
        return target

    def trace(self, pid, *words, duration_ms=300, least=None):
        """For so long, and longer where it has not yet seen so many calls of each function.  A thread that cannot be
        stopped "at the moment" is tried again, as the message advises."""
        for _ in range(3):
            probe = Probe(pid, *words, duration_ms=duration_ms, least=least)
            trace = probe.finish()
            if trace is not None or "stopped safely at the moment" not in probe.error:
                break
        self.assertIsNotNone(trace, probe.error)
        self.check_trace(trace)
        for name, count in (least or {}).items():
            self.assertGreaterEqual(trace.get(name, calls_of(trace, name)), count, name)
        self.assert_nobody_inside(pid)
        return trace

    def check_trace(self, trace):
        for name in ("bad", "unwritable", "refused"):
            self.assertEqual(trace[name], 0, (name, trace))

    def assert_nobody_inside(self, pid):
        """
        The memory for records is gone.  A thread that lost its processor in the middle of a write, and did
        not get it back in a second, keeps it: until the end of one of the next traces.
        """
        def is_gone():
            if not ring_mappings(pid):
                return True
            Probe(pid, "alloc", "io", duration_ms=20).finish()
            return not ring_mappings(pid)

        self.assertTrue(wait_until(is_gone), "memory for records stays for ever")

    def assert_well(self, target, *, signals=False):
        self.assertTrue(target.alive(), target.fate())
        self.assertTrue(target.stats.wait_turn(), "it hangs")
        for name in ("eintr", "corruptions", "errors"):
            self.assertEqual(target.stats.word(name), 0, target.stats.detail())

    # What passes through.

    def torture(self, name):
        target = self.target("torture", name, folder=HOOKS)
        for words in (["function=libcallees.so:*"], ["function=*:*", "alloc", "io", "lock-all"]):
            trace = self.trace(target.pid, *words, duration_ms=500, least={"interleaved": 100})
            self.assertEqual(trace["foreign"], 0)
            self.assert_well(target)
        self.assertTrue(wait_until(lambda: target.stats.word("signals_received") > 100))

    def test_functions_of_every_shape_bound_late(self):
        self.torture("lazy")

    def test_functions_of_every_shape_bound_at_once_and_read_only(self):
        self.torture("now")

    def test_functions_of_every_shape_called_without_plt(self):
        self.torture("noplt")

    def test_functions_of_every_shape_in_writable_tables(self):
        self.torture("norelro")

    def test_a_process_that_traces_itself_sees_every_call(self):
        libraries = [os.path.join(HOOKS, f"rounds_{name}.so")
                     for name in ("lazy", "now", "noplt", "norelro")]
        tracer = os.environ["TRACER"]
        result = subprocess.run(
            [os.path.join(HOOKS, "self_torture"), tracer, *libraries], capture_output=True, text=True,
            env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(tracer)})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    # What is allowed, and few do.

    def hazard(self, name, *words, duration_ms=300, least=None):
        target = self.target("hazards", name, folder=HOOKS)
        trace = self.trace(target.pid, *words, duration_ms=duration_ms, least=least)
        self.assert_well(target)
        return trace

    def test_a_function_of_the_programs_called_like_libcs(self):
        names = ("accept", "connect")  # called as any function
        trace = self.hazard("strangers", "io", "lock", "function=libstrangers.so:*", least=dict.fromkeys(names, 100))
        for name in names:
            [seen] = functions_named(trace, name)
            self.assertEqual(seen["texts"], 0)

    def test_a_thread_that_may_only_read_and_write(self):
        self.hazard("confined", "io", "lock", "alloc", least={"write": 10})

    def test_a_thread_that_may_only_read_and_write_does_not_speak_for_the_others(self):
        self.hazard("confined_parent", "io", least={"write": 10})

    def test_a_thread_in_strict_confinement_is_refused_by_name(self):
        target = self.target("hazards", "strict", folder=HOOKS)
        probe = Probe(target.pid, "io", duration_ms=100)
        self.assertIsNone(probe.finish())
        self.assertIn("strict", probe.error)
        self.assert_well(target)

    def test_a_thread_that_goes_into_strict_confinement_while_it_is_traced(self):
        target = self.target("hazards", "surrender", folder=HOOKS)
        probe = Probe(target.pid, "io", "lock")
        self.assertTrue(probe.is_attached)
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(wait_until(lambda: target.stats.word("signals_received") > 0))
        turns = target.stats.word("turns")
        self.assertTrue(wait_until(lambda: target.stats.word("turns") > turns + 20))
        probe.finish()
        self.assert_well(target)

    def test_children_of_a_program_that_forks_while_we_look_at_its_modules(self):
        target = self.target("hazards", "forks", folder=HOOKS)
        for _ in range(10):
            self.trace(target.pid, "function=*:*", "alloc", duration_ms=20)
            self.assert_well(target)

    def test_a_call_at_the_end_of_a_stack(self):
        self.hazard("top", "function=libstrangers.so:*", least={"strangers_count": 100})

    def test_arguments_on_the_stack_at_every_place_in_a_page(self):
        self.hazard("sweep", "function=libstrangers.so:*", least={"strangers_weigh": 1000})

    def test_handlers_on_a_stack_above_the_one_they_interrupt(self):
        trace = self.hazard("altstack", "io", "ring=16777216", duration_ms=1500, least={"open": 1, "nested": 1})
        [opened] = functions_named(trace, "open")
        # Each has its text but for one that found no room, whose thread lost its processor in the write, or that
        # stood between call and text when the session ended: of each thread one.
        without = opened["calls"] - opened["texts"]
        self.assertTrue(0 <= without <= trace["full"] + trace["held"] + trace["threads"], trace)

    def test_a_page_that_the_program_has_made_writable_stays_so(self):
        trace = self.hazard("reopened", "io", least={"close": 100})
        self.assertEqual(trace["restored"], trace["hooked"], trace)

    def test_no_room_for_what_we_need(self):
        for megabytes in (8, 12, 16, 20, 24, 32):
            target = self.target("plain", "idle")
            size = int(harness.status_of(target.pid)["VmSize"].split()[0]) << 10
            resource.prlimit(target.pid, resource.RLIMIT_AS,
                             (size + (megabytes << 20), resource.RLIM_INFINITY))
            Probe(target.pid, "alloc", "slots=4", "ring=4096", duration_ms=20).finish()
            self.assert_well(target)

    def test_a_plugin_that_sees_its_own_libraries_first(self):
        target = self.target("hazards", "deepbind", folder=HOOKS)
        probe = Probe(target.pid, "function=*:twin_number", duration_ms=1, least={"twin_number": 50})
        self.assertTrue(probe.is_attached)
        os.kill(target.pid, signal.SIGUSR1)
        trace = probe.finish()
        self.assert_well(target)
        [seen] = functions_named(trace, "twin_number")
        self.assertGreaterEqual(seen["calls"], 50)  # from when the loader had bound it

    def test_a_child_that_libc_knows_nothing_of(self):
        target = self.target("hazards", "cloned", folder=HOOKS)
        probe = Probe(target.pid, "io", "calls", duration_ms=300, least={"close": 50})
        self.check_trace(probe.finish())
        self.assertGreaterEqual(len(probe.calls), 50)
        self.assertEqual({call["tid"] for call in probe.calls}, {target.pid})
        self.assert_well(target)

    def test_data_that_lies_among_code(self):
        trace = self.hazard("constants", "function=libconstants.so:*", least={"constants_call": 50})
        self.assertEqual(functions_named(trace, "constants_table"), [])

    def addresses(self, name):
        target = self.target("hazards", f"addresses_{name}", folder=HOOKS)
        for words in (["function=addresses_*:*"], ["function=*:*", "alloc"]):
            trace = self.trace(target.pid, *words, least={"addresses_count": 100})
            self.assert_well(target)
            self.assertGreater(trace["left"], 0)  # the comparisons' own words
            self.assertEqual(trace["foreign"], 0)
        self.assertTrue(wait_until(lambda: calls_of(self.trace(target.pid, "alloc"), "malloc") > 0))
        turns = target.stats.word("turns")
        self.assertTrue(wait_until(lambda: target.stats.word("turns") > turns + 100))
        self.assert_well(target)

    def test_a_library_that_compares_addresses_bound_late(self):
        self.addresses("lazy")

    def test_a_library_that_compares_addresses_bound_at_once(self):
        self.addresses("now")

    def test_a_library_that_compares_addresses_called_without_plt(self):
        self.addresses("noplt")

    # Calls that do not return.

    def test_longjmp_out_of_a_traced_call(self):
        target = self.target("traced", "longjmp")
        before = target.stats.word("turns")
        trace = self.trace(target.pid, "alloc", "function=libc.so.6:qsort", least={"malloc": 100})
        turns = target.stats.word("turns") - before
        self.assertEqual(calls_of(trace, "qsort"), 0)
        self.assertLessEqual(calls_of(trace, "malloc"), turns + 2)
        self.assert_well(target)

    def test_siglongjmp_out_of_whatever_a_signal_found(self):
        target = self.target("traced", "siglongjmp")
        # The last call may have been left while it wrote its record: then its memory stays.
        trace = self.trace(target.pid, "io", duration_ms=1500, least={"write": 10000})
        self.assertLess(trace["nested"], calls_of(trace, "write") / 100)  # a ring that was left so is not lost
        self.assert_well(target)
        self.trace(target.pid, "io", least={"write": 1000})

    def test_cancellation_of_threads_in_traced_calls(self):
        target = self.target("traced", "cancel")
        trace = self.trace(target.pid, "alloc", "io", "lock", duration_ms=1000, least={"malloc": 50})
        self.assertEqual(calls_of(trace, "sem_wait"), 0)
        self.assert_well(target)

    def test_exceptions_through_traced_calls(self):
        path = harness.program("thrower")
        if not os.path.exists(path):
            self.skipTest("no C++ compiler")
        with subprocess.Popen([path], stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                trace = self.trace(process.pid, "alloc", "function=*:*", duration_ms=700,
                                   least={"__cxa_allocate_exception": 50, "operator new": 1000})
                self.assertEqual(calls_of(trace, "qsort"), 0)
                time.sleep(0.1)
                self.assertIsNone(process.poll())
            finally:
                process.kill()

    # Who writes, and who must not.

    def test_a_forked_child_writes_nothing(self):
        target = self.target("traced", "fork")
        probe = Probe(target.pid, "alloc", "calls", duration_ms=700, least={"malloc": 100})
        self.assertTrue(probe.is_attached)
        trace = probe.finish()
        self.check_trace(trace)
        sizes = [call["values"][0] for call in probe.calls if call["name"] == "malloc"]
        self.assertGreaterEqual(sizes.count(MARK_BYTES), 100)
        self.assertEqual(sizes.count(CHILD_BYTES), 0)
        self.assertEqual({call["tid"] for call in probe.calls}, {target.pid})
        self.assert_well(target)

    def test_a_child_forked_while_traced_can_be_traced_itself(self):
        script = ("import os, sys, time\nprint('ready', flush=True)\nsys.stdin.readline()\npid = os.fork()\n"
                  "if pid: print(pid, flush=True)\n"
                  "while True: open('/dev/null').close(); time.sleep(0.001)")
        with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as parent:
            child = None
            try:
                self.assertEqual(parent.stdout.readline(), "ready\n")
                probe = Probe(parent.pid, "io", "alloc")
                parent.stdin.write("\n")
                parent.stdin.flush()
                child = int(parent.stdout.readline())
                for _ in range(2):
                    trace = self.trace(child, "io", least={"open": 50})
                    self.assertEqual(calls_of(trace, "malloc"), 0)
                    self.assertEqual(trace["foreign"], 0)
                trace = probe.finish()
                self.check_trace(trace)
                self.assertGreater(calls_of(trace, "open"), 10)
                self.assertIsNone(parent.poll())
                os.kill(child, 0)
            finally:
                parent.kill()
                if child:
                    os.kill(child, signal.SIGKILL)

    def test_a_signal_handler_makes_traced_calls(self):
        target = self.target("traced", "handler")
        self.trace(target.pid, "alloc", duration_ms=1000, least={"mmap": 200, "malloc": 10000})
        self.assert_well(target)

    def test_a_signal_handler_on_a_stack_of_its_own_makes_traced_calls(self):
        target = self.target("traced", "altstack")
        self.trace(target.pid, "alloc", "alloc-stack", "ring=16777216", duration_ms=1000,
                   least={"mmap": 50, "nested": 1})
        self.assert_well(target)

    def test_more_threads_than_rings(self):
        target = self.target("plain", "malloc8")
        trace = self.trace(target.pid, "alloc", "slots=4", least={"threads": 4, "no_ring": 1})
        self.assertEqual(trace["threads"], 4)
        self.assert_well(target)

    def test_a_full_ring_drops_and_counts(self):
        target = self.target("plain", "malloc8")
        self.trace(target.pid, "alloc", "ring=4096", least={"full": 1})
        self.assert_well(target)

    def test_threads_come_and_go(self):
        target = self.target("traced", "cancel")
        self.trace(target.pid, "function=*:*", "slots=64", duration_ms=1000, least={"threads": 65})
        self.assert_well(target)

    # What is changed, and put back.

    def test_words_and_protection_are_as_before(self):
        for binary, name, folder in (("plain", "idle", None), ("torture", "now", HOOKS)):
            target = self.target(binary, name, folder=folder)
            self.trace(target.pid, "alloc")  # the program has its libraries now
            maps, memory = file_mappings(target.pid), constant_memory(target.pid)
            self.assertTrue(memory)
            probe = Probe(target.pid, "alloc", "io", "lock", "function=*:*", "address-entries")
            self.assertTrue(probe.is_attached)
            self.assertEqual(file_mappings(target.pid), maps)
            self.assertNotEqual(constant_memory(target.pid), memory)
            trace = probe.finish()
            self.assertEqual(trace["restored"], trace["hooked"], trace)
            self.assertEqual(file_mappings(target.pid), maps)
            self.assertEqual(constant_memory(target.pid), memory)
            self.assert_well(target)

    def trace_changed(self, target):
        """A trace in which the program has changed a word; what came too early was hooked with the rest."""
        probe = Probe(target.pid, "alloc")
        self.assertTrue(probe.is_attached)
        time.sleep(0.5)
        os.kill(target.pid, signal.SIGUSR1)
        turns = target.stats.word("turns")
        self.assertTrue(wait_until(lambda: target.stats.word("turns") > turns + 100))
        return probe.finish()

    def test_a_word_that_another_has_changed_is_left_and_named(self):
        for _ in range(5):
            target = self.target("traced", "foreign")
            trace = self.trace_changed(target)
            if trace["foreign"]:
                break
        self.assertEqual(trace["foreign"], 1)
        self.assertEqual(trace["restored"], trace["hooked"] - 1)
        self.assertGreater(calls_of(trace, "malloc"), 100)  # through the other one
        self.assert_well(target)
        self.assertEqual(self.trace(target.pid, "alloc")["foreign"], 0)
        self.assert_well(target)

    def test_a_library_that_comes_late_is_traced(self):
        target = self.target("traced", "late")
        probe = Probe(target.pid, "alloc", "calls")
        for step in (1, 2):  # its word is hooked, it has called
            os.kill(target.pid, signal.SIGUSR1)
            self.assertTrue(wait_until(lambda: target.stats.word("signals_received") == step), step)
        trace = probe.finish()
        self.check_trace(trace)
        sizes = [call["values"][0] for call in probe.calls if call["name"] == "malloc"]
        self.assertEqual(sizes.count(MARK_BYTES), 1000)
        self.assert_well(target)

    def test_libraries_come_and_go(self):
        target = self.target("plain", "dlopen8")
        for _ in range(3):
            trace = self.trace(target.pid, "alloc", "io", duration_ms=500)
            self.assertEqual(trace["foreign"], 0)
            self.assert_well(target)

    def test_libraries_come_and_go_while_operators_are_hooked(self):
        """Whoever asks the loader something while it walks through modules waits for ever for a thread in dlopen."""
        for _ in range(3):
            try:
                with Workload("loading_cpp", "always") as target:
                    self.trace(target.pid, "alloc-sample=4096", duration_ms=50)
                    self.assert_well(target)
            except Unavailable as reason:
                self.skipTest(str(reason))

    def test_again_and_again_with_other_options(self):
        # One heap, however the threads meet.
        target = self.target("plain", "malloc8", before=["env", "MALLOC_ARENA_MAX=1"])
        options = (["alloc"], ["io", "lock"], ["function=libc.so.6:*alloc"], ["alloc-sample=100000"],
                   ["lock-all", "alloc-stack"])
        sizes = []
        for turn in range(15):
            trace = self.trace(target.pid, *options[turn % len(options)], duration_ms=100)
            self.assertEqual(trace["foreign"], 0)
            sizes.append(int(harness.status_of(target.pid)["VmSize"].split()[0]))
        # Of ours nothing comes any more; the program's own heap may still grow by some pages.
        self.assertLess(sizes[14] - sizes[9], 256)
        self.assert_well(target)

    def readers(self, target):
        """How many of its threads are in read."""
        number = {"x86_64": "0", "aarch64": "63"}[os.uname().machine]
        calls = []
        for tid in harness.threads_of(target.pid):
            with open(f"/proc/{target.pid}/task/{tid}/syscall") as file:
                calls.append(file.read().split()[0])
        return calls.count(number)

    def inside(self, target):
        said = subprocess.run([harness.LIMPET, "status", str(target.pid), "--json"], capture_output=True, text=True).stdout
        return json.loads(said.splitlines()[0])["inside"]

    def positions(self, target):
        """Where each of its threads is, for the one who reads that a test failed."""
        def read(tid, name):
            with open(f"/proc/{target.pid}/task/{tid}/{name}") as file:
                return file.read().strip()
        return "; ".join(f"{tid} {read(tid, 'comm')}: {read(tid, 'syscall')}" for tid in harness.threads_of(target.pid))

    def test_threads_inside_at_detach_come_back(self):
        target = self.target("traced", "blocked")
        for turn in range(1, 4):
            probe = Probe(target.pid, "io")
            os.kill(target.pid, signal.SIGUSR1)
            self.assertTrue(wait_until(
                lambda: target.stats.word("signals_received") == 6 * turn - 3))
            self.assertTrue(wait_until(lambda: self.readers(target) == 3), "they wait again, inside")
            self.check_trace(probe.finish())
            # What points into the tracer may be left on the stack of one that has come out, until it is overwritten.
            self.assertTrue(wait_until(lambda: self.inside(target) == 3), f"{self.inside(target)} {self.positions(target)}")
            os.kill(target.pid, signal.SIGUSR1)
            self.assertTrue(wait_until(
                lambda: target.stats.word("signals_received") == 6 * turn), "a read did not end")
            self.assert_well(target)

    def park(self, target):
        """Traces until a signal has found the thread in a write, and keeps it there."""
        for _ in range(40):
            probe = Probe(target.pid, "alloc-stack", "alloc")
            self.assertTrue(probe.is_attached)
            before = target.stats.word("signals_received")
            os.kill(target.pid, signal.SIGUSR1)
            self.assertTrue(wait_until(lambda: target.stats.word("signals_received") > before))
            trace = probe.finish()
            self.check_trace(trace)
            if trace["held"]:
                return
            os.kill(target.pid, signal.SIGUSR2)
            self.assertEqual(ring_mappings(target.pid), 0)
        self.fail("no signal found it in a write")

    def trace_briefly(self, target):
        """An attach may run out of time on a busy machine, once."""
        for _ in range(3):
            probe = Probe(target.pid, "alloc", duration_ms=1)
            trace = probe.finish()
            if trace:
                return trace
        self.fail(probe.error)

    def test_a_thread_that_stays_in_a_write_keeps_its_memory_until_it_is_out(self):
        target = self.target("traced", "parked")
        self.park(target)
        for _ in range(10):  # more than there are sets of writers
            self.assertEqual(self.trace_briefly(target)["held"], 0)
            self.assertEqual(ring_mappings(target.pid), 1)
        os.kill(target.pid, signal.SIGUSR2)
        self.assert_well(target)
        self.trace(target.pid, "alloc", least={"malloc": 100})
        self.assertEqual(ring_mappings(target.pid), 0)

    def test_unloading_gives_such_memory_back(self):
        target = self.target("traced", "parked")
        self.park(target)
        os.kill(target.pid, signal.SIGUSR2)
        self.assert_well(target)
        self.assertEqual(ring_mappings(target.pid), 1)
        harness.limpet("detach", target.pid, "--unload")
        self.assertEqual(ring_mappings(target.pid), 0)
        self.assert_well(target)

    def record(self, target, *options):
        """What limpet says when it has recorded a moment and unloads."""
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(
                [harness.LIMPET, "record", "-p", str(target.pid), "-d", "0.2", "-o", f"{folder}/r.limpet", "--unload",
                 *options], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def assert_unloaded(self, target, said):
        self.assertEqual(harness.limpet_mappings(target.pid), [], said)
        self.assertNotIn("stays", said)
        turns = target.stats.word("turns")
        self.assertTrue(wait_until(lambda: target.stats.word("turns") > turns + 100))
        self.assert_well(target)

    def test_unloading_takes_the_tracer_along(self):
        target = self.target("hazards", "pool", folder=HOOKS)
        for options in (["--alloc-trace"], ["--alloc-sample", "64K", "--io-trace"], ["--lock-all"]):
            self.assert_unloaded(target, self.record(target, *options))

    def test_unloading_waits_for_threads_inside(self):
        target = self.target("traced", "blocked")
        probe = Probe(target.pid, "io")
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(wait_until(lambda: target.stats.word("signals_received") == 3))
        self.assertTrue(wait_until(lambda: self.readers(target) == 3), "they wait again, inside")
        probe.finish()
        said = harness.limpet("detach", target.pid, "--unload")
        self.assertIn("has not returned from a traced call", said.out + said.err)
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(wait_until(lambda: target.stats.word("signals_received") == 6), "a read did not end")
        said = harness.limpet("detach", target.pid, "--unload")
        self.assert_unloaded(target, said.out + said.err)

    def test_unloading_sees_a_coroutine_that_is_suspended_inside(self):
        for workload in ("suspended", "suspended_below"):
            target = self.target("hazards", workload, folder=HOOKS)
            probe = Probe(target.pid, "function=libc.so.6:qsort")
            os.kill(target.pid, signal.SIGUSR1)
            self.assertTrue(wait_until(lambda: target.stats.word("signals_received") == 1))
            probe.finish()
            said = harness.limpet("detach", target.pid, "--unload")
            self.assertIn("memory holds an address", said.out + said.err)
            os.kill(target.pid, signal.SIGUSR1)
            self.assertTrue(wait_until(lambda: target.stats.word("signals_received") == 2))
            self.assert_well(target)

    def test_unloading_sees_a_suspended_call_below_the_stack_pointer(self):
        for workload in ("suspended_array", "suspended_array_thread", "suspended_altstack"):
            with self.subTest(workload=workload), tempfile.TemporaryDirectory() as folder:
                target = self.target("hazards", workload, folder=HOOKS)
                process = harness.limpet_attached("record", "-p", target.pid, "-o", f"{folder}/r.limpet", "--json",
                                                  "--unload", "--function", "libc.so.6:qsort")
                os.kill(target.pid, signal.SIGUSR1)
                self.assertTrue(wait_until(lambda: target.stats.word("signals_received") == 1))
                process.send_signal(signal.SIGINT)
                said = harness.limpet_finish(process)
                self.assertIn("has not returned from a traced call", said.out + said.err)
                os.kill(target.pid, signal.SIGUSR1)
                self.assertTrue(wait_until(lambda: target.stats.word("signals_received") == 2))
                self.assert_well(target)
                said = harness.limpet("detach", target.pid, "--unload")
                self.assert_unloaded(target, said.out + said.err)

    def test_unloading_ignores_stacks_whose_threads_have_ended(self):
        target = self.target("hazards", "ended", folder=HOOKS)
        probe = Probe(target.pid, "alloc", "io", "lock")
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(wait_until(lambda: target.stats.word("signals_received") == 1))
        probe.finish()
        said = harness.limpet("detach", target.pid, "--unload")
        self.assert_unloaded(target, said.out + said.err)

    def test_the_host_dies(self):
        target = self.target("plain", "malloc8")
        self.trace(target.pid, "alloc")
        memory = constant_memory(target.pid)
        for _ in range(3):
            probe = Probe(target.pid, "alloc", "io", "address-entries")
            self.assertNotEqual(constant_memory(target.pid), memory)
            probe.kill()
            self.assertTrue(wait_until(lambda: constant_memory(target.pid) == memory))
            self.assert_well(target)
        self.trace(target.pid, "alloc", least={"malloc": 100})

    # What the domains say.

    def test_files(self):
        target = self.target("traced", "files")
        span = harness.Span(lambda: target.stats.word("turns"))
        probe = Probe(target.pid, "io", "calls")
        span.begin()
        self.assertTrue(wait_until(lambda: span.turns() > span.begun + 100))
        span.end()
        trace = probe.finish()
        span.close()
        for name, each in (("connect", 1), ("open", 3), ("read", 1), ("fopen", 1), ("fgets", 1), ("close", 2),
                           ("fclose", 1)):
            self.assertTrue(span.holds(calls_of(trace, name), each), (name, vars(span), trace))
        [opened], [connected] = functions_named(trace, "open"), functions_named(trace, "connect")
        self.assertTrue(span.holds(opened["failed"], 2), (vars(span), opened))
        self.assertTrue(span.holds(opened["texts"], 2), (vars(span), opened))  # one path was not there
        self.assertEqual(connected["text"], "unix:/nonexistent/socket")
        results = {call["values"][0] for call in probe.calls if call["name"] == "open"}
        self.assertIn(-2, results)   # ENOENT
        self.assertIn(-14, results)  # EFAULT
        self.assert_well(target)

    def test_names_that_the_kernel_never_read(self):
        target = self.target("traced", "unread")
        names = ("connect", "open", "fopen")
        trace = self.trace(target.pid, "io", least=dict.fromkeys(names, 50))
        for name in names:
            [seen] = functions_named(trace, name)
            self.assertEqual(seen["texts"], 0)
        self.assert_well(target)

    def test_an_address_for_which_there_was_no_room(self):
        target = self.target("traced", "nowhere")
        trace = self.trace(target.pid, "io", least={"accept": 50})
        [seen] = functions_named(trace, "accept")
        self.assertEqual(seen["texts"], 0)
        self.assert_well(target)

    def test_an_address_that_had_too_little_room(self):
        """What is behind the room is not the peer's."""
        target = self.target("traced", "shortened")
        trace = self.trace(target.pid, "io", least={"accept": 50})
        [seen] = functions_named(trace, "accept")
        self.assertEqual(seen["text"], "unix:@")
        self.assert_well(target)

    def test_only_locks_that_are_held(self):
        target = self.target("traced", "locks")
        before = target.stats.word("turns")
        probe = Probe(target.pid, "lock", "calls", duration_ms=500, least={"pthread_mutex_lock": 20})
        trace = probe.finish()
        turns = target.stats.word("turns") - before
        calls = [call for call in probe.calls if call["name"] == "pthread_mutex_lock"]
        self.assertGreaterEqual(len(calls), 20)
        # The one that is held, and the one that is locked twice; not the hundred that are free.
        self.assertLessEqual(len(calls), 3 * turns + 5)
        owners = {call["values"][1] for call in calls}
        self.assertTrue(owners & set(harness.threads_of(target.pid)), owners)
        self.trace(target.pid, "lock-all", duration_ms=300, least={"pthread_mutex_lock": 1000})
        self.assert_well(target)

    def test_a_preloaded_library_that_counts_locks(self):
        target = self.target("hazards", "mutexes", folder=HOOKS,
                             preload=os.path.join(HOOKS, "lock_counter.so"))
        trace = self.trace(target.pid, "lock")
        whole = self.trace(target.pid, "lock-all", least={"pthread_mutex_lock": 1000})
        # Nobody had to wait, but for the processor.
        self.assertLess(calls_of(trace, "pthread_mutex_lock"),
                        calls_of(whole, "pthread_mutex_lock") / 10)
        self.assert_well(target)

    def test_samples_have_stacks(self):
        target = self.target("plain", "malloc1")
        before = target.stats.word("turns")
        trace = self.trace(target.pid, "alloc-sample=65536", least={"malloc": 10})
        turns = target.stats.word("turns") - before + 1
        [malloc] = functions_named(trace, "malloc")
        self.assertGreaterEqual(malloc["stacks"], 10)
        self.assertGreaterEqual(malloc["frames"], 2 * malloc["stacks"])
        self.assertLess(malloc["calls"], MALLOCS_A_TURN * turns / 4)
        self.assert_well(target)

    def test_samples_on_other_threads_have_copies_of_their_stacks(self):
        target = self.target("plain", "malloc8")
        trace = self.trace(target.pid, "alloc-sample=65536", least={"malloc": 10})
        [malloc] = functions_named(trace, "malloc")
        self.assertGreater(malloc["copies"], 0)
        self.assertGreater(malloc["copies"] + malloc["stacks"], malloc["calls"] / 2)  # a full ring drops some
        self.assert_well(target)

    def test_samples_that_never_came_back_take_no_room_from_later_ones(self):
        target = self.target("hazards", "hoard", folder=HOOKS)
        probe = Probe(target.pid, "alloc-sample=1", "ring=16777216")
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(wait_until(lambda: target.stats.word("signals_received") >= 100000))
        probe.finish()
        self.trace(target.pid, "alloc-sample=1", least={"malloc": 100})
        self.assert_well(target)

    def test_what_is_absent_is_named(self):
        target = self.target("plain", "idle")
        trace = self.trace(target.pid, "alloc", "marker", "function=libnothing.so:*")
        self.assertEqual(trace["absent"], ["function", "marker"])

    def test_musl_is_refused_by_name(self):
        target = self.target("plain_musl", "idle")
        probe = Probe(target.pid, "alloc", duration_ms=100)
        self.assertIsNone(probe.finish())
        self.assertIn("musl", probe.error)
        self.assert_well(target)

    # Real programs.

    def test_redis_with_another_allocator(self):
        if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
            self.skipTest("no redis")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "socket")
        with subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", ""],
                              stdout=subprocess.DEVNULL, cwd=folder.name) as server:
            try:
                ready = ["redis-cli", "-s", path, "ping"]
                self.assertTrue(wait_until(
                    lambda: subprocess.run(ready, capture_output=True).stdout == b"PONG\n"))
                probe = Probe(server.pid, "alloc", "io", "lock", "ring=16777216", "address-entries")
                load = subprocess.run(
                    ["redis-benchmark", "-s", path, "-n", "20000", "-c", "5", "-q", "-t", "set"],
                    capture_output=True, text=True)
                trace = probe.finish()
                self.assertNotIn("rror", load.stdout + load.stderr)
                self.check_trace(trace)
                self.assertEqual(trace["full"], 0)
                # One answer a request: exact.
                self.assertGreaterEqual(calls_of(trace, "write"), 20000)
                self.assertLess(calls_of(trace, "write"), 20100)
                self.assertGreater(calls_of(trace, "malloc"), 20000)
                self.assertIsNone(server.poll())
            finally:
                server.kill()

    def test_python(self):
        script = "print('ready', flush=True)\nwhile True: [str(i) for i in range(1000)]; open('/dev/null').close()"
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()
                for words in (["alloc", "io", "lock"], ["function=*:*"], ["alloc-sample=10000"]):
                    self.trace(process.pid, *words, least={"records": 100})
                time.sleep(0.1)
                self.assertIsNone(process.poll())
            finally:
                process.kill()


if __name__ == "__main__":
    unittest.main()
