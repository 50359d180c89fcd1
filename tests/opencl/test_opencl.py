#!/usr/bin/env python3
"""
OpenCL of a live program that nobody prepared (cl_loop.c, on PoCL): what is recorded equals what the program
says it did, its results stay right, and nothing of ours stays behind.
"""

import collections
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import harness
from harness import TargetTest, limpet

HERE = os.environ.get("OPENCL", ".")
LOOP, HARD, BYPASS = (os.path.join(HERE, name) for name in ("cl_loop", "cl_hard", "cl_bypass"))
TIMES = ("--opencl-trace", "--opencl-device-time")
TIMED_S = 0.4  # queues are changed a quarter of a second after the attach; tried for longer when that was not enough
TRIES = 10
LONG_NAME = "a_kernel_with_a_name_that_is_longer_than_most_and_goes_on_for_quite_a_while_until_it_ends"
TO_DEVICE, TO_HOST, IN_DEVICE = 2, 3, 4
ALLOCATE, FREE = 0, 1
START_S = 120  # a driver that compiles kernels takes its time
EPOCH_S = 0.05
BARRIER_VISITS = 4
GROUP, CROWD = 64, 1200  # as cl_loop.c has them
GENERATIONS = 8  # sessions that are told apart, in the target


class Ended(AssertionError):
    """The program is not there any more."""


class Loop:
    """A running cl_loop, or cl_hard."""

    def __init__(self, *words, cache, program=LOOP):
        environment = dict(os.environ, POCL_CACHE_DIR=cache)
        self.process = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        self.pid = self.process.pid

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise Ended(f"{self.process.wait()} {self.process.stderr.read()}")
        return json.loads(line)

    def order(self, word=""):
        try:
            self.process.stdin.write(word + "\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise Ended(str(self.process.wait())) from error

    def end_epoch(self):
        """What was done since the last one ended."""
        self.order()
        return self.line()

    def close(self):
        try:
            harness.progress.check(self.pid, harness.progress.Answers(self.process, "\n"), self.process)
        finally:
            self.process.kill()
            self.process.communicate()


class Recording:
    """What limpet export says of a file."""

    def __init__(self, path):
        result = limpet("export", path, "-f", "json", "-o", "-", deadline_s=120)
        data = json.loads(result.out)
        functions = data["functions"]
        self.work, self.calls = collections.defaultdict(list), collections.defaultdict(list)
        for call in data["calls"]:
            function = functions[call["function"]]
            call["begin"] = call["begin_ns"]
            if function["domain"] == "opencl":
                self.calls[function["name"]].append(call)
            else:
                self.work[function["domain"]].append(call)
        start, end = data["clocks"]["start"], data["clocks"]["end"]
        self.start = start
        self.rate = (end["boottime_ns"] - start["boottime_ns"]) / (end["ticks"] - start["ticks"])
        self.wall_ns = end["boottime_ns"] - start["boottime_ns"]
        self.dropped = sum(data["totals"]["dropped"].values())
        self.queues = {queue["number"]: queue["name"] for queue in data["processes"][0]["queues"]}

    def ns(self, ticks):
        return self.start["boottime_ns"] + (ticks - self.start["ticks"]) * self.rate


def find_driver(folder):
    """What is missing, or None; compiles the kernels once for all tests."""
    if not os.path.exists(LOOP):
        return "cl_loop was not built: no OpenCL headers (opencl-headers, ocl-icd-opencl-dev)"
    probe = Loop(cache=folder)
    try:
        probe.line()
        probe.end_epoch()  # kernels are linked when they first run
    except Ended as problem:
        return f"no OpenCL driver here (pocl-opencl-icd): {problem}"
    finally:
        probe.close()
    return None


def setUpModule():
    global FOLDER, MISSING
    FOLDER = tempfile.mkdtemp(prefix="limpet-opencl-")
    unittest.addModuleCleanup(shutil.rmtree, FOLDER)
    MISSING = find_driver(FOLDER)


class OpenCL(TargetTest):
    def setUp(self):
        self.folder = FOLDER
        if MISSING:
            self.skipTest(MISSING)

    def loop(self, *words):
        loop = Loop(*words, cache=self.folder)
        self.addCleanup(loop.close)
        self.assertTrue(loop.line())
        return loop

    def start(self, loop, *traces):
        self.path = os.path.join(self.folder, "it.limpet")
        if os.path.exists(self.path):
            os.unlink(self.path)
        process = harness.limpet_attached("record", "-p", loop.pid, "-o", self.path, "--ring-size", "16M", "--json",
                                          *(traces or ["--opencl-trace"]))
        self.addCleanup(self.end_process, process)
        return process

    def stop(self, process, code=0):
        process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, code, str(result))
        return result

    def one_epoch(self, loop, *traces):
        """Records one whole epoch in the middle of others; what the program and limpet say about it."""
        before = loop.end_epoch()
        process = self.start(loop, *traces)
        during = loop.end_epoch()
        time.sleep(EPOCH_S)
        counts = loop.end_epoch()
        result = self.stop(process)
        self.assertEqual(result.event("recorded")["work_cut"], 0)
        after = loop.end_epoch()
        for epoch in (before, during, counts, after):
            self.assertEqual((epoch["wrong"], epoch["failed"]), (0, 4 * epoch["rounds"]), epoch)
        self.assertGreater(counts["rounds"], 0)
        self.assertNotEqual(before["table"], counts["table"], "no hook was there")
        self.assertEqual(before["table"], after["table"], "a hook stayed")
        return counts, Recording(self.path)

    def assert_references(self, before, look):
        """look() gives an epoch like the one before. The driver itself still has a reference to an event now and then when
        that is complete (PoCL in one of fifty epochs); what limpet took would be there each time."""
        self.assertTrue(harness.wait_until(lambda: look()["references"] <= before["references"]), "references to events")

    def assert_kernels(self, counts, recording):
        seen = [kernel for kernel in recording.work["kernel"] if kernel["grid_x"] == counts["items"]]
        self.assertEqual(collections.Counter(kernel["title"] for kernel in seen),
                         dict.fromkeys(("add", "twice", LONG_NAME), counts["rounds"]))
        for kernel in seen:
            self.assertEqual((kernel["grid_y"], kernel["group_x"]), (1 + (kernel["title"] == "twice"), 64))
            # PoCL 5 says 0 of memory that is an argument.
            self.assertIn(kernel["local_bytes"], (0, 256) if kernel["title"] == LONG_NAME else (0,))

    def assert_copies(self, counts, recording):
        size = 4 * counts["items"]
        seen = collections.Counter(copy["direction"] for copy in recording.work["memory-copy"]
                                   if copy["size"] == size)
        self.assertEqual(seen, {TO_DEVICE: counts["to_device"] + counts["maps"],
                                TO_HOST: counts["to_host"] + counts["maps"],
                                IN_DEVICE: counts["in_device"] + counts["fills"]})

    def assert_memory(self, counts, recording):
        seen = collections.Counter(memory["operation"] for memory in recording.work["memory-allocation"]
                                   if memory["size"] == 12 * counts["items"])
        self.assertEqual(seen, {ALLOCATE: counts["buffers"], FREE: counts["buffers"]})

    def assert_causes(self, recording):
        """Every work was caused by a call that is there, and did not begin before it."""
        begins = {call["begin_ns"] for calls in recording.calls.values() for call in calls}
        for work in recording.work["kernel"] + recording.work["memory-copy"]:
            cause = round(recording.ns(work["cause"]))
            near = [cause + step for step in range(-3, 4) if cause + step in begins]
            self.assertTrue(near, work)
            self.assertGreaterEqual(work["begin_ns"] + 3, near[0])

    def assert_named(self, recording, end=""):
        """Every queue that did something has a name."""
        for work in recording.work["kernel"]:
            self.assertRegex(recording.queues[work["queue"]], rf"^OpenCL queue \d+{end}$")

    def assert_times(self, counts, recording):
        """A queue does one thing at a time: all together take no longer than the recording."""
        queues = collections.Counter()
        for work in recording.work["kernel"] + recording.work["memory-copy"]:
            queues[work["queue"]] += work["duration_ns"]
        self.assertGreaterEqual(len(queues), counts["workers"])
        for busy in queues.values():
            self.assertGreater(busy, 0)
            self.assertLessEqual(busy, recording.wall_ns)

    def assert_all(self, counts, recording):
        self.assertEqual(recording.dropped, 0)
        self.assert_kernels(counts, recording)
        self.assert_copies(counts, recording)
        self.assert_memory(counts, recording)
        self.assert_causes(recording)


class Contents(OpenCL):
    def test_three_times_in_the_middle(self):
        loop = self.loop("slow")
        for _ in range(3):
            counts, recording = self.one_epoch(loop)
            self.assert_all(counts, recording)
            self.assert_times(counts, recording)
            self.assert_named(recording)

    def test_queues_that_keep_times(self):
        counts, recording = self.one_epoch(self.loop("profiling", "slow"))
        self.assert_all(counts, recording)
        self.assert_times(counts, recording)

    def test_two_threads_with_events_of_their_own(self):
        loop = self.loop("threads", "events")
        before = loop.end_epoch()
        counts, recording = self.one_epoch(loop)
        self.assert_all(counts, recording)
        self.assert_times(counts, recording)
        if counts["references"] > before["references"]:
            self.assert_references(before, lambda: self.one_epoch(loop)[0])
        self.assert_references(before, loop.end_epoch)

    def test_out_of_order(self):
        self.assert_all(*self.one_epoch(self.loop("unordered", "events", "slow")))

    def test_errors_are_the_programs_own(self):
        counts, recording = self.one_epoch(self.loop("slow"))
        results = collections.Counter(call["result"] for call in recording.calls["clEnqueueNDRangeKernel"])
        self.assertGreaterEqual(results[-53], counts["rounds"])  # CL_INVALID_WORK_DIMENSION
        self.assertEqual(sum(results.values()) - results[0], 2 * results[-53])

    def test_kernels_only(self):
        counts, recording = self.one_epoch(self.loop("threads", "slow"), "--kernel-trace")
        self.assert_kernels(counts, recording)
        self.assertEqual((set(recording.work), set(recording.calls)), ({"kernel"}, set()))

    def test_memory_only(self):
        counts, recording = self.one_epoch(self.loop("slow"), "--memory-allocation-trace")
        self.assert_memory(counts, recording)
        self.assertEqual((set(recording.work), set(recording.calls)), ({"memory-allocation"}, set()))

    def test_calls_and_copies(self):
        counts, recording = self.one_epoch(self.loop("slow"), "--opencl-trace", "--memory-copy-trace")
        self.assertEqual(set(recording.work), {"memory-copy"})
        self.assert_copies(counts, recording)
        self.assert_causes(recording)

    def test_all_of_gpu_runtimes(self):
        counts, recording = self.one_epoch(self.loop("slow"), "--sys-trace")
        self.assert_all(counts, recording)
        self.assertEqual(set(recording.work), {"kernel", "memory-copy", "memory-allocation"})

    def test_more_queues_than_are_told_apart(self):
        loop = self.loop("slow")
        process = self.start(loop)
        loop.order("crowd")
        loop.end_epoch()
        result = self.stop(process)
        self.assertIn("warning: the program has used more OpenCL queues than limpet can tell apart", result.err)
        kernels = [kernel["queue"] for kernel in Recording(self.path).work["kernel"] if kernel["grid_x"] == GROUP]
        self.assertEqual(len(kernels), CROWD)
        self.assertLess(kernels.count(0), CROWD / 2)
        # Those that there was no room for cost no numbers.
        self.assertLess(max(kernels) - min(set(kernels) - {0}), CROWD)

    def test_a_driver_that_comes_later(self):
        loop = self.loop("late", "slow")
        process = self.start(loop)
        loop.order()
        self.assertEqual(loop.line(), {"ready": True})
        loop.end_epoch()
        loop.end_epoch()
        time.sleep(1)  # it is looked for five times a second
        loop.end_epoch()
        time.sleep(EPOCH_S)
        counts = loop.end_epoch()
        self.stop(process)
        self.assert_all(counts, Recording(self.path))


class Ends(OpenCL):
    def test_work_that_does_not_end(self):
        """It is cut off, told, and nothing of ours is left at its event; whenever it ends, nobody minds."""
        loop = self.loop("slow")
        loop.order("hold")
        alone = loop.end_epoch()["held"]
        loop.order("let go")
        loop.end_epoch()
        process = self.start(loop)
        loop.order("hold")
        self.assertTrue(harness.wait_until(lambda: loop.end_epoch()["held"] == alone), "our reference is seen")
        result = self.stop(process)
        self.assertEqual(result.event("recorded")["work_cut"], 1)
        self.assertIn("1 command was not done", result.err)
        self.assertTrue(harness.wait_until(lambda: loop.end_epoch()["held"] == alone), "our reference has stayed")
        for left in reversed(range(GENERATIONS)):
            process = self.start(loop)
            if not left:
                loop.order("let go")  # we hear of it in another session
            self.assertEqual(loop.end_epoch()["wrong"], 0)
            self.assertEqual(self.stop(process).event("recorded")["work_cut"], 0)
        self.assert_all(*self.one_epoch(loop))

    def test_a_child(self):
        loop = self.loop("slow")
        process = self.start(loop)
        loop.order("fork")
        self.assertEqual(loop.end_epoch()["wrong"], 0)
        self.stop(process)

    def test_a_thread_that_may_not_read_the_counter(self):
        alone = self.loop("slow")
        alone.order("forbid")
        try:
            for _ in range(20):
                alone.end_epoch()
        except Ended:
            self.skipTest("this driver reads the counter itself")
        counts, result = self.forbid_while_traced()
        self.assertGreater(counts["kernels"], 0)
        # Kernels and their calls, at least.
        self.assertGreaterEqual(result.event("recorded")["dropped_no_counter"], 2 * counts["kernels"])
        sizes = {kernel["grid_x"] for kernel in Recording(self.path).work["kernel"]}
        self.assertNotIn(counts["items"], sizes)
        self.assertGreater(len(sizes), 0)

    def forbid_while_traced(self):
        """Not each time: libc reads the counter, too, where threads of the driver's meet at a lock."""
        for _ in range(TRIES):
            loop = self.loop("slow")
            process = self.start(loop)
            try:
                loop.end_epoch()
                loop.order("forbid")
                loop.end_epoch()
                counts = loop.end_epoch()
                result = self.stop(process)
                self.assertEqual((counts["wrong"], loop.end_epoch()["wrong"]), (0, 0))
                return counts, result
            except Ended:
                pass
        self.skipTest("this driver reads the counter itself")

    def test_the_program_ends_with_work_under_way(self):
        loop = self.loop("slow")
        process = self.start(loop)
        loop.end_epoch()
        loop.order("exit")
        self.assertEqual(loop.process.wait(harness.PATIENCE_S), 0)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertGreater(len(Recording(self.path).work["kernel"]), 0)

    def test_nothing_of_opencl(self):
        target = self.target("plain", "idle")
        result = limpet("record", "-p", target.pid, "-o", os.path.join(self.folder, "no.limpet"),
                        "--opencl-trace", "--duration", "200ms")
        self.assertEqual(result.code, 5, str(result))
        self.assertIn("nothing to trace for opencl", result.err)


class Memory(OpenCL):
    def test_visits_leave_nothing(self):
        loop = self.loop("slow")
        sizes = []
        for _ in range(15):
            process = self.start(loop)
            self.assertEqual(loop.end_epoch()["wrong"], 0)
            self.stop(process)
            sizes.append(int(harness.status_of(loop.pid)["VmRSS"].split()[0]))
        self.assertLess(max(sizes[-5:]) - max(sizes[:5]), 2048, f"KiB: {sizes}")


class Hard(OpenCL):
    """Programs that see at once when somebody meddles with their events and queues (cl_hard.c)."""

    def hard(self, *words, program=HARD):
        loop = Loop(*words, cache=self.folder, program=program)
        self.addCleanup(loop.close)
        self.assertTrue(loop.line())
        return loop

    def visit(self, loop, *traces):
        """In, a few rounds of the program, out; what it says while we are there."""
        process = self.start(loop, *(traces or ["--opencl-trace"]))
        time.sleep(self.stay_s if traces else 0)
        told = self.rounds(loop, 3)
        self.result = self.stop(process)
        self.recorded = self.result.event("recorded")
        return told

    stay_s = TIMED_S

    def timed_visit(self, loop):
        """A visit that was long enough to have queues of ours in use."""
        for self.stay_s in (TIMED_S * (1 + i) for i in range(TRIES)):
            told = self.visit(loop, *TIMES)
            self.assertEqual(self.recorded["queues_left"], 0)
            if self.recorded["queues_timed"]:
                return told
        raise AssertionError(f"no queue was ever changed: {self.result}")

    def rounds(self, loop, count):
        """Waits until it has done so many; what it says then."""
        done = 0
        end = time.monotonic() + START_S
        loop.end_epoch()
        while done < count:
            self.assertLess(time.monotonic(), end, "the program stands still")
            told = loop.end_epoch()
            done += told["rounds"]
            time.sleep(0.02)
        return told

    def test_answers_are_those_without_us(self):
        loop = self.hard("answers")
        before = self.rounds(loop, 1)["answers"]
        for _ in range(3):
            self.assertEqual(self.visit(loop)["answers"], before)
            self.assertEqual(self.rounds(loop, 1)["answers"], before)

    def assert_unharmed(self, case, visit, visits):
        loop = self.hard(case)
        table = self.rounds(loop, 1)["table"]
        for _ in range(visits):
            self.assertEqual(visit(loop)["wrong"], 0, case)
            self.assertEqual(self.recorded["work_cut"], 0)
            after = self.rounds(loop, 1)
            self.assertEqual((after["wrong"], after["table"]), (0, table), case)

    def test_ways_that_break(self):
        for case in ("order", "unordered", "churn", "kinds"):
            with self.subTest(case):
                self.assert_unharmed(case, self.visit, visits=2)

    def test_ways_that_break_with_device_times(self):
        for case in ("order", "unordered", "churn", "kinds"):
            with self.subTest(case):
                self.assert_unharmed(case, self.timed_visit, visits=2)

    def test_answers_with_device_times(self):
        loop = self.hard("answers")
        before = self.rounds(loop, 1)["answers"]
        for _ in range(2):
            self.assertEqual(self.timed_visit(loop)["answers"], before)
            self.assertEqual(self.rounds(loop, 1)["answers"], before)

    def test_leaving_while_a_queue_is_made(self):
        """The driver takes its time over it, and nobody else is to find it half made."""
        for turn in range(2):
            with self.subTest(turn=turn):
                loop = self.hard("making")
                process = self.start_making(loop)
                self.stop(process)
                self.rounds(loop, 3)

    def start_making(self, loop):
        """In, until the driver is at work on a queue of ours."""
        process = self.start(loop, *TIMES)
        end = time.monotonic() + START_S
        while not loop.end_epoch()["begun"]:
            self.assertLess(time.monotonic(), end, "no queue of ours is made")
        return process

    def test_a_refusal_while_a_queue_is_made(self):
        """It is not used any more, and that is said."""
        loop = self.hard("making")
        process = self.start_making(loop)
        loop.order("f")
        self.assertTrue(loop.line() and loop.line())
        self.assertEqual(self.rounds(loop, 3)["wrong"], 0)
        recorded = self.stop(process).event("recorded")
        self.assertEqual([recorded[name] for name in ("queues_timed", "queues_estimated", "queues_left")], [0, 1, 0])

    def test_leaving_among_barriers(self):
        loop = self.hard("barriers")
        # The driver itself still has one now and then when clFinish has returned.
        is_alone = lambda: loop.end_epoch()["references"] == 1
        self.assertTrue(harness.wait_until(is_alone))
        for _ in range(BARRIER_VISITS):
            process = self.start(loop, *TIMES)
            time.sleep(TIMED_S)
            self.stop(process)
            self.assertTrue(harness.wait_until(is_alone))

    def test_a_program_that_may_go_past_us(self):
        """It keeps its own queue, and that is said."""
        loop = self.hard("bypass", program=BYPASS)
        for self.stay_s in (TIMED_S * (1 + i) for i in range(TRIES)):
            self.assertEqual(self.visit(loop, *TIMES)["wrong"], 0)
            if self.recorded["queues_estimated"]:
                break
        self.assertEqual((self.recorded["queues_timed"], self.recorded["queues_estimated"]), (0, 1))
        self.assertIn("are estimated: the program may have functions of its driver that go past us", self.result.err)
        self.assertGreater(self.recorded["records"], 0)


class DeviceTimes(OpenCL):
    """Queues of the program's that keep no times, with queues of ours beside them."""

    def timed_epoch(self, *words, traces=TIMES):
        """An epoch all of whose kernels were in our queue; what the program and limpet say about it."""
        loop = self.loop(*words, "slow")
        before = loop.end_epoch()
        for stay_s in (TIMED_S * (1 + i) for i in range(TRIES)):
            process = self.start(loop, *traces)
            time.sleep(stay_s)
            loop.end_epoch()
            counts = loop.end_epoch()
            result = self.stop(process)
            after = loop.end_epoch()
            recording = Recording(self.path)
            if self.are_timed(recording, counts) and counts["references"] <= before["references"]:
                break
        self.assertEqual(result.event("recorded")["queues_timed"], counts["workers"])
        self.assertEqual([result.event("recorded")[name] for name in ("queues_left", "queues_estimated", "work_cut")],
                         [0, 0, 0])
        for epoch in (before, counts, after):
            self.assertEqual((epoch["wrong"], epoch["failed"]), (0, 4 * epoch["rounds"]), epoch)
        self.assertEqual((before["table"], before["context"]), (after["table"], after["context"]))
        self.assertEqual(before["context"], counts["context"])
        self.assertLessEqual(counts["references"], before["references"])  # see assert_references()
        return counts, recording

    @staticmethod
    def are_timed(recording, epoch):
        """Numbers of our queues come after those of the program's."""
        queues = sorted({kernel["queue"] for kernel in recording.work["kernel"]})
        used = {kernel["queue"] for kernel in recording.work["kernel"] if kernel["grid_x"] == epoch["items"]}
        return len(queues) == 2 * epoch["workers"] and used == set(queues[epoch["workers"]:])

    def test_what_is_recorded(self):
        for words in ((), ("threads", "events"), ("unordered", "events")):
            counts, recording = self.timed_epoch(*words)
            self.assert_all(counts, recording)

    def test_kernels_only(self):
        counts, recording = self.timed_epoch(traces=("--kernel-trace", "--opencl-device-time"))
        self.assert_kernels(counts, recording)
        self.assertEqual((set(recording.work), set(recording.calls)), ({"kernel"}, set()))

    def test_queues_that_keep_times_are_left_alone(self):
        loop = self.loop("profiling", "slow")
        process = self.start(loop, *TIMES)
        time.sleep(TIMED_S)
        self.assertEqual(loop.end_epoch()["wrong"], 0)
        recorded = self.stop(process).event("recorded")
        self.assertEqual((recorded["queues_timed"], recorded["queues_estimated"]), (0, 0))

    def test_work_that_does_not_end(self):
        """The queue of ours that it is in goes when it is done, whenever that is."""
        loop = self.loop("slow")
        alone = loop.end_epoch()["context"]
        process = self.start(loop, *TIMES)
        time.sleep(2 * TIMED_S)
        loop.order("hold")
        loop.end_epoch()
        result = self.stop(process)
        recorded = result.event("recorded")
        self.assertEqual((recorded["work_cut"], recorded["queues_left"]), (1, 1), recorded)
        self.assertIn("1 of limpet's queues remain until the devices are done", result.err)
        loop.order("let go")
        end = time.monotonic() + 60
        while loop.end_epoch()["context"] != alone:
            self.assertLess(time.monotonic(), end, "our queue has stayed")
        self.assertEqual(loop.end_epoch()["wrong"], 0)

    def test_a_child_and_an_end_with_work_under_way(self):
        loop = self.loop("slow")
        process = self.start(loop, *TIMES)
        time.sleep(2 * TIMED_S)
        loop.order("fork")
        self.assertEqual(loop.end_epoch()["wrong"], 0)
        loop.order("exit")
        self.assertEqual(loop.process.wait(harness.PATIENCE_S), 0)
        self.assertEqual(harness.limpet_finish(process).code, 0)


class StandIn(TargetTest):
    """Tables that PoCL does not have: read-only, short, newer than we are; functions had by name."""

    @staticmethod
    def mappings(pid):
        with open(f"/proc/{pid}/maps") as file:
            return [line for line in file if "standin_cl" in line]

    EXPECTED = {"right": 100, "old": 100, "beyond": 100, "current": 100, "newer": 200, "extension": 100}

    def setUp(self):
        self.launch()

    def launch(self, library=os.path.join(HERE, "libstandin_cl.so"), **variables):
        self.loop = subprocess.Popen([os.path.join(HERE, "standin_loop"), library], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True, env=dict(os.environ, **variables))
        self.addCleanup(self.end_process, self.loop)
        self.told()
        self.path = os.path.join(FOLDER, "standin.limpet")

    def told(self):
        return json.loads(self.loop.stdout.readline())

    def ask(self, line=""):
        self.loop.stdin.write(line + "\n")
        self.loop.stdin.flush()
        return self.told()

    def start(self, *options):
        process = harness.limpet_attached("record", "-p", self.loop.pid, "-o", self.path, "--opencl-trace", "--json",
                                          *options)
        self.addCleanup(self.end_process, process)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGINT)
        self.assertEqual(harness.limpet_finish(process).code, 0)

    def test_tables_of_other_kinds(self):
        before = self.mappings(self.loop.pid)
        for _ in range(3):
            process = self.start()
            self.assertEqual(self.ask(), self.EXPECTED)
            self.stop(process)
            self.assertEqual(self.mappings(self.loop.pid), before)
            calls = Recording(self.path).calls
            seen = {name: collections.Counter(call["result"] for call in calls[name] if "result" in call)
                    for name in calls}
            self.assertEqual(seen, {"clFinish": {-7: 100, 0: 100}, "OpenCL slot 149": {-9: 100},
                                    "OpenCL slot 150": {-9: 100}, "clEnqueueMemFillINTEL": {-5: 100},
                                    "clGetExtensionFunctionAddressForPlatform": {}})
        self.assertEqual(self.ask(), self.EXPECTED)

    def wait_until_hooked(self):
        end = time.monotonic() + 60
        while not self.ask("look")["hooked"]:
            self.assertLess(time.monotonic(), end, "it was not hooked again")
            time.sleep(0.05)

    def test_a_driver_under_the_name_of_the_loader(self):
        """Nothing of it can be seen, and that is said with the reason."""
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "libOpenCL.so.1")
            shutil.copy(os.path.join(HERE, "libstandin_cl.so"), library)
            self.launch(library)
            result = limpet("record", "-p", self.loop.pid, "-o", self.path, "--opencl-trace", "--duration", "200ms")
        self.assertEqual(result.code, 5, str(result))
        self.assertIn("nothing to trace for opencl in this process: libOpenCL.so is there, but no driver", result.err)
        self.assertEqual(self.ask(), self.EXPECTED)

    def test_a_driver_that_goes_and_comes_again(self):
        process = self.start()
        self.assertEqual(self.ask(), self.EXPECTED)
        self.ask("again")
        self.wait_until_hooked()
        self.assertEqual(self.ask(), self.EXPECTED)
        self.stop(process)
        self.assertFalse(self.ask("look")["hooked"])
        self.assertEqual(self.ask(), self.EXPECTED)
        self.assertGreaterEqual(len(Recording(self.path).calls["clFinish"]), 400)

    def test_a_driver_that_goes_at_once(self):
        """What is to be asked for device times is not asked of a driver that has gone."""
        if MISSING:
            self.skipTest(MISSING)
        self.launch(LD_PRELOAD="libOpenCL.so.1")
        process = self.start("--opencl-device-time")
        self.ask("flee")
        self.wait_until_hooked()
        self.assertEqual(self.ask(), self.EXPECTED)
        self.stop(process)
        self.assertEqual(self.ask(), self.EXPECTED)


if __name__ == "__main__":
    unittest.main()
