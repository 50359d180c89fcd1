#!/usr/bin/env python3
"""
CUDA of a live program that nobody prepared (cuda_app.c, on stand-ins of NVIDIA's libraries): what is recorded equals what
the program says it did, every kernel has the call that launched it, and nothing of ours stays behind.
"""

import bisect
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import harness
from harness import TargetTest, limpet

APP = os.path.join(os.environ.get("CUDA", "."), "cuda_app")
PYTHON_APP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch_app.py")
PYTHON = os.environ.get("PYTHON", sys.executable)
PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13")  # whose frames are known
NAMES = {"kernel_a(int*)", "kernel_b(float*)", "ns::kernel_c(char const*)"}
NODE = "graph_node(float*)"
MEMSET = "[memset]"
TO_DEVICE, TO_HOST = 2, 3
ALLOCATE, FREE = 0, 1
NOT_FOUND = 500  # what a launch of nothing answers
BYTES = 1000
CLOCK_NS = 1000  # how far clocks are apart, which limpet compares once a second
SAMPLED_TRIES = 5
OLD_VERSION, HANGING_VERSION, UNCHECKED_VERSION, STRANGE_VERSION = 22, 130000, 130900, 990000
NOTHING, HELD = 5, 7  # exit codes


def version_of(python):
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


class App:
    """A running cuda_app."""

    def __init__(self, *words, program=(APP,), **variables):
        self.process = subprocess.Popen([*program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, **variables))
        self.pid = self.process.pid
        self.line()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the program has ended: {self.process.wait()}")
        return json.loads(line)

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def ask(self, word):
        self.say(word)
        return self.line()

    def close(self):
        try:
            harness.progress.check(self.pid, harness.progress.Answers(self.process, "state\n"), self.process)
        finally:
            self.process.kill()
            self.process.communicate()


class Recording:
    """What limpet export says of a file."""

    def __init__(self, path):
        data = json.loads(limpet("export", path, "-f", "json", "-o", "-", deadline_s=120).out)
        self.calls, self.work = collections.defaultdict(list), collections.defaultdict(list)
        for call in data["calls"]:
            function = data["functions"][call["function"]]
            if function["domain"] in ("cuda", "cuda-runtime", "nccl"):
                self.calls[function["name"]].append(call)
            else:
                self.work[function["domain"]].append(call)
        start, end = data["clocks"]["start"], data["clocks"]["end"]
        self.start, self.rate = start, (end["boottime_ns"] - start["boottime_ns"]) / (end["ticks"] - start["ticks"])
        self.dropped = sum(data["totals"]["dropped"].values())
        self.queues = {queue["number"]: queue["name"] for queue in data["processes"][0]["queues"]}

    def ns(self, ticks):
        return self.start["boottime_ns"] + (ticks - self.start["ticks"]) * self.rate


class Cuda(TargetTest):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="limpet-cuda-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "it.limpet")

    def app(self, *words, **variables):
        app = App(*words, **variables)
        self.addCleanup(app.close)
        return app

    def start(self, app, *traces):
        process = harness.limpet_attached("record", "-p", app.pid, "-o", self.path, "--ring-size", "16M", "--json",
                                          *(traces or ["--cuda-trace"]))
        self.addCleanup(self.end_process, process)
        return process

    def stop(self, process, code=0):
        process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, code, str(result))
        return result

    def assert_left(self, app):
        """CUPTI is switched off, and was never finalized: what graphs write to is still there."""
        state = app.ask("state")
        gone = ("subscribed", "callbacks", "kinds", "buffers", "broken", "finalized", "faults")
        self.assertEqual({state[name] for name in gone}, {0}, state)

    def assert_goes_on(self, app):
        """It works on, without limpet."""
        before = app.ask("state")["rounds"]
        self.assertTrue(harness.wait_until(lambda: app.ask("state")["rounds"] > before + 50), "it stands still")

    def assert_causes(self, recording):
        """Every work was caused by a call that is there, and did not begin before it."""
        begins = {call["begin_ns"] for calls in recording.calls.values() for call in calls}
        for work in recording.work["kernel"] + recording.work["memory-copy"]:
            cause = round(recording.ns(work["cause"]))
            near = [cause + step for step in range(-3, 4) if cause + step in begins]
            self.assertTrue(near, work)
            self.assertGreaterEqual(work["begin_ns"] + 3, near[0])


class Contents(Cuda):
    def assert_kernels(self, counts, recording):
        seen = collections.Counter(kernel["title"] for kernel in recording.work["kernel"])
        third = counts["launches"] // 3
        self.assertEqual(seen, {**dict.fromkeys(NAMES, third), NODE: counts["nodes"], MEMSET: counts["memsets"]})
        for kernel in recording.work["kernel"]:
            if kernel["title"] in NAMES:
                self.assertEqual((kernel["group_x"], kernel["local_bytes"]), (64, 77))
                self.assertIn(kernel["grid_x"], (128, 192, 256))
            self.assertRegex(recording.queues[kernel["queue"]], r"^stream \d of context 1$")

    def assert_calls(self, counts, recording):
        launches = recording.calls["cuLaunchKernel"]
        self.assertEqual(len(launches), counts["launches"] + counts["failed"])
        results = collections.Counter(call["result"] for call in launches)
        self.assertEqual(results, {0: counts["launches"], NOT_FOUND: counts["failed"]})
        self.assertEqual(len(recording.calls["cuGraphLaunch"]), counts["graphs"])

    def one(self, *words, **variables):
        app = self.app(*words, **variables)
        app.ask("go 5")
        process = self.start(app)
        counts = app.ask("go 200")
        self.stop(process)
        app.ask("go 5")
        self.assert_left(app)
        return counts, Recording(self.path)

    def test_all_that_the_program_did(self):
        counts, recording = self.one()
        self.assertEqual(recording.dropped, 0)
        self.assert_kernels(counts, recording)
        self.assert_calls(counts, recording)
        self.assert_causes(recording)
        directions = collections.Counter(copy["direction"] for copy in recording.work["memory-copy"])
        self.assertEqual(directions, {TO_DEVICE: counts["copies"], TO_HOST: counts["copies"]})
        self.assertEqual({copy["size"] for copy in recording.work["memory-copy"]}, {BYTES})
        operations = collections.Counter(memory["operation"] for memory in recording.work["memory-allocation"])
        self.assertEqual(operations, {ALLOCATE: counts["allocations"], FREE: counts["allocations"]})

    def test_the_same_where_cupti_is_mapped_before(self):
        counts, recording = self.one("now", "mapped")
        self.assert_kernels(counts, recording)
        self.assert_causes(recording)

    def test_report_names_kernels_and_device(self):
        self.one()
        out = limpet("report", self.path).out
        for word in ("kernel_a(int*)", "cuLaunchKernel", "MEMORY_COPY_HOST_TO_DEVICE"):
            self.assertIn(word, out)

    def test_a_device_is_the_one_that_cuda_counts(self):
        """A rank that uses the fourth alone does not use the first."""
        self.one(STANDIN_CUDA_DEVICE="3")
        report = limpet("report", self.path).out
        self.assertRegex(report, r" GPU 3  kernel_a\(int\*\)\n")
        self.assertNotIn("GPU 0", report)
        out = os.path.join(self.folder, "it.pt.trace.json")
        self.assertEqual(limpet("export", self.path, "-o", out).code, 0)
        with open(out, encoding="utf-8") as file:
            data = json.load(file)
        self.assertEqual([(device["id"], device["name"]) for device in data["deviceProperties"]], [(3, "Stand-in GPU 3")])
        self.assertEqual({event["pid"] for event in data["traceEvents"] if event.get("cat") == "kernel"}, {3})

    def test_report_tells_errors_gaps_and_delays(self):
        counts, recording = self.one()
        rows = [json.loads(line) for line in limpet("report", self.path, "--json").out.splitlines()]
        errors = [(row["function"], row["name"], row["calls"]) for row in rows if row["event"] == "api_error"]
        self.assertEqual(errors, [("cuLaunchKernel", "CUDA_ERROR_NOT_FOUND", counts["failed"])])
        [device] = [row for row in rows if row["event"] == "device_time"]
        work = recording.work["kernel"] + recording.work["memory-copy"]
        first, last = min(one["begin_ns"] for one in work), max(one["begin_ns"] + one["duration_ns"] for one in work)
        self.assertEqual((device["work"], device["length_ns"]), (len(work), last - first))
        self.assertEqual(device["busy_ns"] + device["idle_ns"], last - first)
        self.assertLessEqual(abs(device["not_launched_ns"] + device["launched_ns"] - device["idle_ns"]), 1000)
        self.assertEqual(device["delays"], len(work))
        self.assertIn(device["peak_bytes"], (BYTES, 2 * BYTES, 3 * BYTES))
        streams = [row for row in rows if row["event"] == "device_queue"]
        self.assertEqual(sum(row["work"] for row in streams), len(work))
        report = limpet("report", self.path).out
        self.assertRegex(report, r"GB/s +DEVICE +NAME\n")
        for name in (r"MEMORY_COPY_HOST_TO_DEVICE", r"MEMORY_COPY_DEVICE_TO_HOST", r"kernel_a\(int\*\)"):
            self.assertRegex(report, rf" GPU 0  {name}\n", "devices are called as they are counted")

    def sampled_rows(self, app):
        """What the report says of launches that samples fell into, and of idle devices."""
        process = self.start(app, "--cuda-trace", "-F", "999")
        app.ask("go 1000")
        self.stop(process)
        rows = [json.loads(line) for line in limpet("report", self.path, "--json").out.splitlines()]
        return [row for row in rows if row["event"] == "kernel_launch"], [row for row in rows if row["event"] == "device_idle"]

    def test_report_tells_where_kernels_were_launched(self):
        app = self.app()
        for _ in range(SAMPLED_TRIES):
            launches, idles = self.sampled_rows(app)
            self.assertFalse([row for row in launches + idles if "[kernel]" in row["place"]], "the kernel calls no kernels of devices")
            if idles and any(re.match("one_round|thread_run", row["place"]) for row in launches):
                break
        else:
            self.fail(f"no sample fell into a launch, or into a gap: {launches} {idles}")
        self.assertLessEqual({row["kernel"] for row in launches}, {*NAMES, NODE, MEMSET})
        self.assertTrue(all(row["kernels"] > 0 for row in launches) and all(row["samples"] > 0 for row in idles))
        self.assertIn("kernels: where they were launched", limpet("report", self.path).out)

    def launch_rows(self):
        report = limpet("report", self.path, "--json", deadline_s=60).out
        return [row for row in map(json.loads, report.splitlines()) if row["event"] == "launch_line"]

    def lines_of_python(self):
        """Where launch_app.py launches what."""
        with open(PYTHON_APP, encoding="utf-8") as file:
            lines = {match.group(1): number for number, line in enumerate(file, 1)
                     if (match := re.search(r"# line of (\w+)", line))}
        return {"kernel_a(int*)": f"inner (launch_app.py:{lines['inner']})",
                "kernel_b(float*)": f"outer (launch_app.py:{lines['outer']})"}

    @unittest.skipUnless(version_of(PYTHON) in PYTHONS, "its frames are not known")
    def test_launch_stacks_of_python(self):
        """The host finds the states of threads a moment after their first launches: those before have no stack."""
        app, lines, threads = self.app(program=(PYTHON, PYTHON_APP)), self.lines_of_python(), set()
        for _ in range(SAMPLED_TRIES):
            process = self.start(app, "--launch-stacks")
            for _ in range(30):
                app.ask("go")
                time.sleep(0.02)
            self.stop(process)
            rows, recording = self.launch_rows(), Recording(self.path)
            for row in rows:
                self.assertIn(row["place"], (lines[row["kernel"]], ""), rows)
            stacks = [call["stack"] for call in recording.calls["cuLaunchKernel"] if "stack" in call]
            threads = {call["thread"] for call in recording.calls["cuLaunchKernel"] if "stack" in call}
            if len(threads) == 2:
                break
        self.assertEqual({row["kernel"] for row in rows if row["place"]}, set(lines), rows)
        self.assertEqual(len(threads), 2)
        self.assertIn("other", "".join(frame for stack in stacks for frame in stack))
        folded = limpet("export", self.path, "-f", "kernel-folded", "-o", "-").out
        self.assertRegex(folded, r"(?m)^<module>;outer;inner;kernel_a\(int\*\) \d+$")
        self.assertRegex(folded, r"(?m)^.*;other;outer;kernel_b\(float\*\) \d+$")

    def test_launch_stacks_where_a_filter_kills(self):
        """By a system call that it kills for, threads would read their frames."""
        app = self.app(program=(PYTHON, PYTHON_APP))
        app.ask("filter")
        process = self.start(app, "--launch-stacks")
        for _ in range(10):
            app.ask("go")
            time.sleep(0.02)
        result = self.stop(process)
        self.assertIn("seccomp filter", result.out + result.err)
        self.assertFalse([call for call in Recording(self.path).calls["cuLaunchKernel"] if "stack" in call])
        app.ask("go")

    def test_launch_stacks_without_python(self):
        """Whoever calls the runtime is known; calls of the driver itself have no stack."""
        app = self.app()
        process = self.start(app, "--launch-stacks")
        counts = app.ask("go 5")
        self.stop(process)
        places = collections.Counter()
        for row in self.launch_rows():
            places[row["kernel"] in NAMES, re.sub(r"\+0x.*", "", row["place"])] += row["kernels"]
        self.assertEqual(sum(count for (is_launched, place), count in places.items() if is_launched and "cuda_app" in place),
                         counts["launches"], places)
        self.assertEqual(places[False, ""], counts["nodes"] + counts["memsets"], places)
        self.assertEqual({call["call_stack"] for call in Recording(self.path).calls["cuLaunchKernel"]}, {0})

    def calls_by_correlation(self, spans):
        """One call for each number: its readers join them to the work by it."""
        calls = [event for event in spans if event["cat"] in ("cuda_driver", "cuda_runtime") and "correlation" in event["args"]]
        by_number = {event["args"]["correlation"]: event for event in calls}
        self.assertEqual(len(by_number), len(calls))
        return by_number

    def test_kineto_as_its_readers_want_it(self):
        """What Holistic Trace Analysis's parser takes: events with cat and dur, numbers of streams and correlation."""
        counts, _ = self.one()
        out = os.path.join(self.folder, "it.pt.trace.json")
        self.assertEqual(limpet("export", self.path, "-o", out).code, 0)
        with open(out, encoding="utf-8") as file:
            data = json.load(file)
        self.assertEqual((data["schemaVersion"], data["distributedInfo"]["rank"], data["deviceProperties"][0]["name"]),
                         (1, 0, "Stand-in GPU 0"))
        spans = [event for event in data["traceEvents"] if event["ph"] == "X"]
        kinds = collections.Counter(event["cat"] for event in spans)
        self.assertEqual((kinds["kernel"], kinds["gpu_memset"], kinds["gpu_memcpy"]),
                         (counts["launches"] + counts["nodes"], counts["memsets"], 2 * counts["copies"]))
        calls = self.calls_by_correlation(spans)
        for event in spans:
            self.assertGreaterEqual(event["dur"], 0)
            if event["cat"] == "kernel":
                self.assertIn(calls[event["args"]["correlation"]]["name"], ("cudaLaunchKernel", "cuGraphLaunch"))
                self.assertGreaterEqual(event["ts"], calls[event["args"]["correlation"]]["ts"])
                self.assertEqual((event["pid"], event["tid"]), (0, event["args"]["stream"]))
                self.assertIn(event["args"]["stream"], (1, 2, 3))
        arrows = collections.Counter(event["ph"] for event in data["traceEvents"] if event["cat"] == "ac2g")
        self.assertEqual(arrows["s"], arrows["f"])

    def test_calls_of_the_runtime_contain_those_of_the_driver(self):
        counts, recording = self.one()
        copies, launches = recording.calls["cudaMemcpyAsync"], recording.calls["cudaLaunchKernel"]
        self.assertEqual((len(copies), len(launches)), (counts["copies"], counts["launches"]))
        self.assertEqual({(copy["size"], copy["result"]) for copy in copies}, {(BYTES, 0)})
        inner = sorted(call["begin_ns"] for call in recording.calls["cuLaunchKernel"])
        for call in launches:
            first = bisect.bisect_left(inner, call["begin_ns"])
            self.assertLessEqual(inner[first], call["begin_ns"] + call["duration_ns"])
        self.assertFalse(recording.calls["cudaGetDevice"] or recording.calls["cuDeviceGet"])

    def test_the_runtime_alone_leaves_cupti_alone(self):
        app = self.app()
        process = self.start(app, "--cuda-runtime-trace")
        counts = app.ask("go 20")
        self.assertEqual(app.ask("state")["mapped"], 0)
        self.stop(process)
        recording = Recording(self.path)
        self.assertEqual(set(recording.calls), {"cudaMemcpyAsync", "cudaLaunchKernel"})
        self.assertEqual(len(recording.calls["cudaLaunchKernel"]), counts["launches"])
        self.assertFalse(recording.work)

    def test_all_calls_are_those_too_that_only_ask(self):
        app = self.app()
        process = self.start(app, "--cuda-api", "all")
        counts = app.ask("go 20")
        self.stop(process)
        recording = Recording(self.path)
        for name in ("cudaGetDevice", "cuDeviceGet", "cudaLaunchKernel"):
            self.assertEqual(len(recording.calls[name]), counts["launches"], name)
        self.assert_left(app)
        self.assertEqual(limpet("record", "-p", app.pid, "--cuda-api", "some").code, 2)

    def test_nccl_with_bytes_and_ranks(self):
        app = self.app()
        process = self.start(app, "--nccl-trace")
        self.assertEqual(app.ask("nccl 5")["broken"], 0)
        self.stop(process)
        calls = Recording(self.path).calls
        unknown = 2 ** 64 - 1

        def seen(name):
            return collections.Counter((call["result"], call["size"], call["rank"], call["ranks"], call["peer"])
                                       for call in calls[name])

        self.assertEqual(seen("ncclAllReduce"), {(0, 64, 3, 8, unknown): 5, (7, 4, unknown, unknown, unknown): 1})
        self.assertEqual(seen("ncclReduce"), {(0, 16, 3, 8, 5): 5})
        self.assertEqual(seen("ncclSend"), {(0, 8, 3, 8, 6): 5})

    def test_kernels_alone_cost_no_callbacks(self):
        app = self.app()
        process = self.start(app, "--kernel-trace")
        self.assertEqual((app.ask("state")["callbacks"], app.ask("state")["kinds"]), (0, 2))
        counts = app.ask("go 50")
        self.stop(process)
        recording = Recording(self.path)
        self.assertEqual(len(recording.work["kernel"]), counts["launches"] + counts["nodes"] + counts["memsets"])
        self.assertFalse(recording.calls or recording.work["memory-copy"])
        self.assert_left(app)


class Life(Cuda):
    def test_cuda_that_begins_later(self):
        app = self.app("late")
        process = self.start(app)
        app.ask("state")
        self.await_callbacks(app)
        counts = app.ask("go 20")
        self.stop(process)
        self.assertEqual(len(Recording(self.path).calls["cuGraphLaunch"]), counts["graphs"])
        self.assert_left(app)

    def await_callbacks(self, app):
        """They are switched on one by one: until there are no more of them for a while."""
        seen = []

        def have_settled():
            seen.append(app.ask("state")["callbacks"])
            time.sleep(0.1)
            return seen[-1] and len(seen) > 5 and len(set(seen[-5:])) == 1

        self.assertTrue(harness.wait_until(have_settled), seen[-9:])

    def record_a_kernel(self, app):
        """Of one that works: until it had a processor."""
        process = self.start(app)
        self.assertTrue(harness.wait_until(lambda: app.ask("state")["buffers"]), "no kernel was seen")
        self.stop(process)

    def test_again_and_again_while_it_works(self):
        app = self.app()
        app.ask("run")
        for _ in range(3):
            self.record_a_kernel(app)
            self.assert_goes_on(app)
            self.assert_left(app)
            recording = Recording(self.path)
            self.assertEqual(recording.dropped, 0)
            self.assert_causes_of_the_middle(recording)
        app.ask("stop")

    def test_kinds_are_switched_while_nobody_enqueues(self):
        """CUPTI crashes later: it counts that as broken."""
        app = self.app(STANDIN_CUPTI_SLOW="1")
        app.ask("run")
        for trace in ("--cuda-trace", "--kernel-trace") * 4:
            process = self.start(app, trace)
            time.sleep(0.1)  # something to record
            self.stop(process)
            self.assert_left(app)
        self.assert_goes_on(app)
        app.ask("stop")

    def assert_causes_of_the_middle(self, recording):
        """What was launched before we came has no cause; all others have one."""
        first = min(call["begin_ns"] for calls in recording.calls.values() for call in calls)
        late = [kernel for kernel in recording.work["kernel"] if kernel["begin_ns"] > first + 5e7]
        self.assertFalse([kernel for kernel in late if not kernel["cause"]][:3])

    def test_a_killed_limpet_leaves_too(self):
        app = self.app()
        app.ask("run")
        process = self.start(app)
        process.kill()
        process.wait()
        self.assertTrue(harness.wait_until(lambda: app.ask("state")["subscribed"] == 0))
        self.assert_goes_on(app)
        self.assert_left(app)
        self.record_a_kernel(app)
        self.assertGreater(app.ask("stop")["launches"], 0)

    def test_what_is_under_way_is_waited_for(self):
        app = self.app()
        process = self.start(app)
        app.ask("slow")
        self.assertEqual(self.stop(process).event("recorded")["work_cut"], 0)
        [kernel] = Recording(self.path).work["kernel"]
        self.assertEqual(kernel["title"], "slow_kernel()")
        self.assertGreater(kernel["duration_ns"], 3e8)
        self.assert_left(app)

    def test_what_takes_longer_is_counted(self):
        """Its buffer has what was done before, too; CUPTI may write to it when the kernel is done."""
        app = self.app(STANDIN_SLOW_MS="3000")
        process = self.start(app)
        counts = app.ask("go 5")
        app.ask("slow")
        self.assertEqual(self.stop(process).event("recorded")["work_cut"], 1)
        self.assertEqual(len(Recording(self.path).work["kernel"]), counts["launches"] + counts["nodes"] + counts["memsets"])
        process = self.start(app)
        app.ask("go 5")  # comes to its end behind the slow one
        self.stop(process)
        self.assert_left(app)

    def test_forks_and_ends_while_traced(self):
        app = self.app()
        process = self.start(app)
        self.assertEqual(app.ask("fork")["status"], 7 << 8)
        counts = app.ask("go 10")
        app.say("exit")
        self.assertEqual(app.process.wait(harness.PATIENCE_S), 0)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertGreaterEqual(len(Recording(self.path).calls["cuGraphLaunch"]), counts["graphs"])

    def test_ends_while_cupti_is_asked(self):
        app = self.app(STANDIN_SLOW_END="1")
        process = self.start(app)
        app.ask("go 10")
        app.say("exit")
        self.assertEqual(app.process.wait(harness.PATIENCE_S), 0)
        self.assertEqual(harness.limpet_finish(process).code, 0)


class Graphs(Cuda):
    """CUDA graphs that are made, updated, launched and destroyed meanwhile."""

    def causes_of_graphs(self):
        """Kernels of graphs by the call that caused each."""
        recording = Recording(self.path)
        names = {call["begin_ns"]: name for name, calls in recording.calls.items() for call in calls}
        causes = collections.Counter()
        for kernel in recording.work["kernel"]:
            cause = round(recording.ns(kernel["cause"])) if kernel["cause"] else 0
            near = [names[cause + step] for step in range(-3, 4) if cause + step in names]
            if kernel["title"] == NODE:
                causes[near[0] if near else "none" if not cause else "unknown"] += 1
        return causes

    def test_none_writes_to_memory_that_is_gone(self):
        app = self.app()
        app.ask("go 20")
        for trace in ("--cuda-trace", "--kernel-trace"):
            process = self.start(app, trace)
            app.ask("go 20")
            self.stop(process)
            app.ask("go 20")
            self.assert_left(app)

    def test_times_are_not_those_of_launches_after_the_end(self):
        """Kernels of one stream come one after the other; those whose times may be wrong are left out, and counted."""
        app = self.app(STANDIN_CUPTI_LATE="1")
        app.ask("run")
        for trace in ("--cuda-trace", "--kernel-trace"):
            process = self.start(app, trace)
            time.sleep(0.1)
            self.stop(process)
            ends, kernels = {}, Recording(self.path).work["kernel"]
            self.assertIn(NODE, {kernel["title"] for kernel in kernels})
            for kernel in sorted(kernels, key=lambda kernel: kernel["begin_ns"]):
                self.assertGreaterEqual(kernel["begin_ns"] + CLOCK_NS, ends.get(kernel["queue"], 0), kernel)
                ends[kernel["queue"]] = kernel["begin_ns"] + kernel["duration_ns"]
        app.ask("stop")

    def test_kernels_have_their_launch_in_every_session(self):
        app = self.app()
        for session in range(1, 4):
            process = self.start(app)
            counts = app.ask("go 10")
            self.stop(process)
            self.assertEqual(app.ask("state")["sessions"], session)
            self.assertEqual(self.causes_of_graphs(), {"cuGraphLaunch": counts["nodes"]})

    def test_wrong_numbers_give_no_launch(self):
        app = self.app(STANDIN_CUPTI_MISLEADS="1")
        for is_misled in (False, True):
            process = self.start(app)
            counts = app.ask("go 10")
            result = str(self.stop(process))
            self.assertEqual("the numbers of other calls" in result, is_misled, result)
            causes = self.causes_of_graphs()
        self.assertGreater(causes["none"], 0)
        self.assertEqual(set(causes) - {"none", "cuGraphLaunch"}, set(), causes)
        self.assertEqual(sum(causes.values()), counts["nodes"])

    def test_a_subscription_whose_times_go_wrong_is_renewed(self):
        app = self.app(STANDIN_CUPTI_TIMELESS="2000")
        app.ask("run")
        process = self.start(app)
        self.assertTrue(harness.wait_until(lambda: app.ask("state")["sessions"] == 2), "it is not renewed")
        self.assert_goes_on(app)
        result = self.stop(process)
        self.assertIn("was renewed", str(result))
        self.assertGreater(len(Recording(self.path).work["kernel"]), 2000)
        self.assert_left(app)
        app.ask("stop")

    def test_a_reset_while_traced(self):
        app = self.app()
        for _ in range(2):
            process = self.start(app)
            app.ask("go 5")
            app.ask("reset")
            counts = app.ask("go 5")
            self.stop(process)
            app.ask("go 5")
            self.assert_left(app)
        self.assertGreaterEqual(len(Recording(self.path).calls["cuGraphLaunch"]), counts["graphs"])


class Looking(Cuda):
    def test_doctor_says_which_cupti(self):
        for words, cupti in (((), "CUPTI not mapped"), (("now", "mapped"), "/libcupti.so.13")):
            app = self.app(*words)
            out = limpet("doctor", app.pid).out
            self.assertIn("/libcuda.so.1\n", out)
            self.assertIn(cupti, out)
        self.assertIn("cuda", limpet("ps", "--gpu").out)


    def test_nothing_is_loaded_by_a_relative_path(self):
        """The loader knows the runtime by a path from the folder of the start: whoever owns that folder now would be loaded."""
        library = os.path.join(self.folder, "lib")
        os.mkdir(library)
        for name in ("libcudart.so.13", "libcupti.so.13"):
            shutil.copy(os.path.join(os.path.dirname(APP), name), library)
        app = self.app(program=("env", "-C", self.folder, "LD_PRELOAD=lib/libcudart.so.13", APP))
        process = self.start(app)
        app.ask("go 3")
        process.send_signal(signal.SIGINT)
        harness.limpet_finish(process)
        with open(f"/proc/{app.pid}/maps") as file:
            maps = file.read()
        self.assertIn(library + "/libcudart.so.13", maps)
        self.assertNotIn(library + "/libcupti.so.13", maps)
        app.ask("go 3")


class Refusals(Cuda):
    def refused(self, why, code, **variables):
        """Devices and driver are refused, the runtime's calls are not."""
        for trace, ends in (("--cuda-driver-trace", code), ("--cuda-trace", 0)):
            app = self.app(**variables)
            process = self.start(app, trace)
            counts = app.ask("go 3")
            process.send_signal(signal.SIGINT)
            result = harness.limpet_finish(process)
            self.assertIn(why, str(result))
            self.assertEqual(result.code, ends, str(result))
            self.assert_left(app)
        self.assertEqual(len(Recording(self.path).calls["cudaLaunchKernel"]), counts["launches"])

    def test_another_profiler(self):
        self.refused("another profiler holds", HELD, STANDIN_CUPTI_HELD="1")

    def test_an_unknown_release(self):
        self.refused("does not know", NOTHING, STANDIN_CUPTI_VERSION=str(STRANGE_VERSION))

    def test_a_release_that_can_hang_the_process(self):
        self.refused("CUDA 13.0 before Update 1", NOTHING, STANDIN_CUPTI_VERSION=str(HANGING_VERSION))

    def test_cupti_stays_loaded_and_that_is_said(self):
        for version, is_unchecked in ((OLD_VERSION, False), (UNCHECKED_VERSION, True)):
            app = self.app(STANDIN_CUPTI_VERSION=str(version))
            process = self.start(app)
            counts = app.ask("go 3")
            result = str(self.stop(process))
            self.assertIn("note: CUPTI stays loaded in the process after this trace", result)
            self.assertIn("stays loaded until the process ends", result)
            self.assertEqual("was not checked against this release" in result, is_unchecked, result)
            self.assertEqual(len(Recording(self.path).calls["cuGraphLaunch"]), counts["graphs"])
            self.assert_left(app)


if __name__ == "__main__":
    unittest.main()
