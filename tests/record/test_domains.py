#!/usr/bin/env python3
"""
What limpet record sees of programs that know what they did: ranges and marks, sampled allocations, bytes
through stdio.

Beside LIMPET and PROGRAMS, STANDIN names the folder with the stand-ins of GPU runtimes.
"""

import collections
import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import TargetTest, limpet  # noqa: E402

STANDIN = os.environ.get("STANDIN", ".")

# Of tests/programs/traced.c and newer.cpp.
SMALL_BYTES, LARGE_BYTES, SMALL_BLOCKS, LARGE_BLOCKS = 200, 40000, 100000, 2000
LOOP_BYTES = 1000 * 65536
TAKER_BLOCKS = 50000


class Domains(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "it.limpet")

    def start(self, pid, *arguments):
        process = harness.limpet_attached("record", "-p", pid, "-o", self.path, "--json", *arguments)
        self.addCleanup(self.end_process, process)
        return process

    def finish(self, process):
        process.terminate()
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        return result

    def report(self):
        result = limpet("report", self.path, "--json")
        self.assertEqual(result.code, 0, str(result))
        return result.events

    def rows(self):
        out = os.path.join(self.folder, "it.csv")
        result = limpet("export", self.path, "-o", out)
        self.assertEqual(result.code, 0, str(result))
        with open(out, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def assert_well(self, target):
        self.assertTrue(target.stats.wait_turn(), "it hangs")
        for name in ("corruptions", "errors"):
            self.assertEqual(target.stats.word(name), 0, target.stats.detail())


class Markers(Domains):
    def marked(self):
        programs = harness.PROGRAMS
        try:
            harness.PROGRAMS = STANDIN
            return self.target("marked", "markers")
        finally:
            harness.PROGRAMS = programs

    def test_ranges_of_roctx_and_nvtx(self):
        target = self.marked()
        span = harness.Span(lambda: target.stats.word("turns"))
        process = self.start(target.pid, "--marker-trace")
        span.begin()
        self.assertTrue(harness.wait_until(lambda: span.turns() > span.begun + 20))
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(harness.wait_until(lambda: target.stats.word("signals_received")))
        span.end()
        self.assertTrue(harness.wait_until(lambda: span.turns() > span.ending + 5))
        span.end()
        self.finish(process)
        span.close()
        self.assert_well(target)
        events = self.report()
        ranges = {event["name"]: event for event in events if event["event"] == "range"}
        marks = {event["name"]: event["calls"] for event in events if event["event"] == "mark"}
        self.check_counts(ranges, marks, span)
        self.check_unfinished(ranges, events)
        self.check_nesting()

    def check_counts(self, ranges, marks, span):
        self.assertEqual(set(ranges) - {"(began before)", "after"},
                         {"outer", "inner", "span", "nv outer", "nv domain", "nv w\u00efde", "nv span"})
        self.assertEqual(set(marks), {"mark", "nv mark \u20ac"})
        # What is under way at either end of the recording may be in it or not.
        for name, calls in {**{name: row["calls"] for name, row in ranges.items()}, **marks}.items():
            if name not in ("(began before)", "after"):
                self.assertTrue(span.holds(calls), (name, calls, vars(span)))
        for name in ("inner", "outer", "span", "nv domain", "nv span"):
            self.assertGreater(ranges[name]["max_ns"], 900000, name)
        self.assertEqual({name for name, row in ranges.items() if row["scope"] == "process"} - {"(began before)"},
                         {"span", "nv span"})

    def check_unfinished(self, ranges, events):
        self.assertGreaterEqual(ranges["(began before)"]["calls"], 1)
        self.assertEqual(ranges["(began before)"]["unfinished"], ranges["(began before)"]["calls"])
        self.assertEqual((ranges["after"]["calls"], ranges["after"]["unfinished"]), (1, 1))
        self.assertEqual(events[-1]["unfinished"],
                         sum(event["unfinished"] for event in events if event["event"] == "range"))
        # A pop where nothing is open is a call that failed, and no range.
        failed = [event for event in events if event["event"] == "function"]
        self.assertEqual([(event["name"], event["calls"]) for event in failed], [("roctxRangePop", 1)])

    def check_nesting(self):
        rows = [row for row in self.rows() if row["kind"] == "range"]
        extents = {name: [(int(row["begin_ns"]), int(row["begin_ns"]) + int(row["duration_ns"]))
                          for row in rows if row["text"] == name and not row["unfinished"]]
                   for name in ("outer", "inner")}
        lonely = [begin for begin, end in extents["inner"]
                  if not any(first <= begin and end <= last for first, last in extents["outer"])]
        self.assertLessEqual(len(lonely), 1)  # its outer one was cut

    def test_every_format_says_the_same(self):
        target = self.marked()
        process = self.start(target.pid, "--marker-trace")
        turns = target.stats.word("turns")
        self.assertTrue(harness.wait_until(lambda: target.stats.word("turns") > turns + 10))
        self.finish(process)
        wanted = collections.Counter()
        for event in self.report():
            if event["event"] == "range":
                wanted[event["name"]] += event["total_ns"]
        out = os.path.join(self.folder, "it.chrome.json")
        self.assertEqual(limpet("export", self.path, "-o", out).code, 0)
        with open(out, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        found = collections.Counter()
        for event in events:
            if event["ph"] == "X":
                found[event["name"]] += round(event["dur"] * 1000)
        self.assertEqual(found, wanted)


class Samples(Domains):
    """The estimate of a sum over n samples is off by about 1/sqrt(n); four times that is allowed, so that
    one run in 16000 may fail."""

    INTERVAL = 16384

    def record_sites(self, *options):
        target = self.target("traced", "sites")
        process = self.start(target.pid, *options)
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(harness.wait_until(lambda: target.stats.word("signals_received")))
        result = self.finish(process)
        self.assertEqual(result.event("recorded")["dropped_full"], 0)
        self.assert_well(target)
        sites = [event for event in self.report() if event["event"] == "allocation" and event["bytes"] > 1e6]
        return sorted(sites, key=lambda site: site["bytes"])

    def test_the_estimate_is_near_the_truth(self):
        small, other, large = self.record_sites("--alloc-sample", str(self.INTERVAL), "--ring-size", "16M")
        if other["out_bytes"] < small["out_bytes"]:
            small, other = other, small
        truth = SMALL_BLOCKS * SMALL_BYTES
        for site in (small, other):
            self.assertIs(site["estimated"], True)
            tolerance = 4 / (truth / self.INTERVAL) ** 0.5  # 11 %
            self.assertAlmostEqual(site["bytes"] / truth, 1, delta=tolerance)
            self.assertAlmostEqual(site["calls"] / SMALL_BLOCKS, 1, delta=tolerance)
            self.assertAlmostEqual(site["records"] / (truth / self.INTERVAL), 1, delta=tolerance)
        # Half of the first one's blocks were given back: half the samples, and a coin for each.
        self.assertAlmostEqual(small["out_bytes"] / (truth / 2), 1, delta=4 / (truth / 2 / self.INTERVAL) ** 0.5)
        self.assertAlmostEqual(other["out_bytes"] / truth, 1, delta=tolerance)
        # Larger than the interval: nearly each block is seen.
        self.assertAlmostEqual(large["bytes"] / (LARGE_BLOCKS * LARGE_BYTES), 1, delta=0.03)
        self.assertGreater(large["records"], LARGE_BLOCKS * 0.85)
        self.check_exports(small, other, large)

    def check_exports(self, *sites):
        stands_for = collections.Counter()
        for row in self.rows():
            stands_for[row["stack"].split(";[")[0]] += float(row["stands_for_bytes"] or 0)
        reported = collections.Counter()
        for site in self.report():
            if site["event"] == "allocation":
                reported[";".join(site["stack"])] += site["bytes"]
        for site in sites:
            stack = ";".join(site["stack"])
            self.assertAlmostEqual(stands_for[stack], reported[stack], delta=site["records"] + 1)
        text = limpet("report", self.path).out
        self.assertRegex(text, r"ESTIMATED from \d+ samples, one in 16384 bytes")
        self.assertIn("calls: alloc (samples", text)

    def test_every_call_is_exact(self):
        small, other, large = self.record_sites("--alloc-stacks", "--ring-size", "64M")
        truth = SMALL_BLOCKS * SMALL_BYTES
        if other["out_bytes"] < small["out_bytes"]:
            small, other = other, small
        self.assertEqual((small["bytes"], small["calls"], small["out_bytes"]), (truth, SMALL_BLOCKS, truth // 2))
        self.assertEqual((other["bytes"], other["calls"], other["out_bytes"]), (truth, SMALL_BLOCKS, truth))
        self.assertEqual((large["bytes"], large["calls"]), (LARGE_BLOCKS * LARGE_BYTES, LARGE_BLOCKS))
        self.assertIs(small["estimated"], False)
        for site in (small, other, large):
            self.assertRegex(site["stack"][0], r"^\w+ \(traced\.c:\d+\)$")

    def export_memory(self, view, name):
        out = os.path.join(self.folder, name)
        self.assertEqual(limpet("export", self.path, "--view", view, "-o", out).code, 0)
        return out

    def fold_memory(self, view):
        with open(self.export_memory(view, "memory.folded"), encoding="utf-8") as file:
            return {stack: int(size) for stack, size in (line.rsplit(" ", 1) for line in file)}

    def test_memory_is_exported_by_stack(self):
        self.record_sites("--alloc-stacks", "--ring-size", "64M")
        sites = [event for event in self.report() if event["event"] == "allocation"]
        allocated, live = self.fold_memory("alloc"), self.fold_memory("live")
        self.assertEqual(sum(allocated.values()), sum(site["bytes"] for site in sites))
        self.assertEqual(sum(live.values()), sum(site["out_bytes"] for site in sites))
        for site in sites:
            names = [frame.rsplit(" (", 1)[0] for frame in site["stack"]]
            self.assertTrue(any(stack.endswith(";".join(names[::-1] + [site["function"]])) for stack in allocated), names)
        with open(self.export_memory("alloc", "it.speedscope.json"), encoding="utf-8") as file:
            profiles = json.load(file)["profiles"]
        self.assertEqual({profile["unit"] for profile in profiles}, {"bytes"})
        self.assertEqual(sum(sum(profile["weights"]) for profile in profiles), sum(allocated.values()))
        with gzip.open(self.export_memory("live", "it.pb.gz")) as file:
            self.assertLess({b"alloc_objects", b"alloc_space", b"inuse_objects", b"inuse_space"},
                            set(re.findall(rb"[a-z]+_[a-z]+", file.read())))
        for name in ("it.svg", "it.html", "it.firefox.json", "it.perf-script"):
            self.export_memory("alloc", name)
        self.assertIn("for formats of samples",
                      limpet("export", self.path, "--view", "alloc", "-f", "csv", "-o", "-").err)
        self.assertIn("--view alloc", limpet("export", self.path, "-f", "folded", "-o", "-").err)

    def test_every_call_names_its_direct_caller(self):
        for site in self.record_sites("--alloc-trace", "--io-trace", "--ring-size", "64M"):
            self.assertEqual(site["stack_end"], "caller-only")
            [caller] = site["stack"]
            self.assertRegex(caller, r"^\w+ \(traced\.c:\d+\)$")
        stacks = {row["stack"] for row in self.rows() if row["function"] == "free"}
        self.assertTrue(stacks)
        for stack in stacks:
            self.assertRegex(stack, r"^[^;]+;\[incomplete stack: caller-only\]$")

    def test_calls_that_had_no_room_for_their_caller_are_counted(self):
        target = self.target("traced", "sites")
        process = self.start(target.pid, "--alloc-trace", "--ring-size", "64K")
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(harness.wait_until(lambda: target.stats.word("signals_received")))
        self.finish(process)
        without = sum(row["domain"] == "alloc" and row["function"] != "free" and not row["stack"] for row in self.rows())
        self.assertGreater(without, 0)
        counted = re.search(r"INCOMPLETE: (\d+) calls \(.* have no caller", limpet("report", self.path).out)
        self.assertTrue(counted)
        self.assertEqual(int(counted[1]), without)

    def sample_program(self, name, preload=""):
        """The sites where a program took memory when it was told to."""
        self.run_program(name, preload, "--alloc-sample", str(self.INTERVAL))
        return [event for event in self.report() if event["event"] == "allocation"]

    def run_program(self, name, preload, *options):
        """Records what a program does when it is told to."""
        path = harness.program(name)
        if not os.path.exists(path):
            self.skipTest("no C++ compiler")
        self.run_command([path], {"LD_PRELOAD": preload}, *options)

    def run_command(self, command, variables, *options):
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, **variables})
        self.addCleanup(self.end_process, program)
        self.assertEqual(program.stdout.readline(), "ready\n")
        process = self.start(program.pid, *options)
        program.stdin.write("go\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "done\n")
        return self.finish(process)

    def assert_near(self, sites, truth):
        found = sum(site["bytes"] for site in sites)
        self.assertAlmostEqual(found / truth, 1, delta=4 / (truth / self.INTERVAL) ** 0.5)

    def test_what_operator_new_gets_from_malloc_counts_once(self):
        sites = [site for site in self.sample_program("newer") if site["bytes"] > 1e6]
        self.assert_near(sites, 2 * SMALL_BLOCKS * SMALL_BYTES)
        for site in sites:
            self.assertRegex(site["stack"][0], r"^\w+\(\) \(newer")
            self.assertIn(site["function"], ("operator new", "operator new[]"))

    def test_callers_without_frame_pointers_are_found(self):
        sites = [site for site in self.sample_program("unframed_taker") if site["bytes"] > 0.4e6]
        self.assert_near(sites, 3 * 20000 * SMALL_BYTES)
        whole = collections.Counter()
        for site in sites:
            names = tuple(frame.split(" ")[0].split(".")[0] for frame in site["stack"])
            if site["stack_end"] == "complete":
                whole[names[:3]] += site["bytes"]
            else:
                self.assertEqual(site["stack_end"], "no-frame-pointers")
        # A burst leaves no room for some copies; no other stack than the thread's own is copied.
        for caller in ("main", "take_on_thread"):
            self.assertGreater(whole["take_inner", "take_outer", caller], 0.5 * 20000 * SMALL_BYTES, sites)
        self.assertEqual(len(whole), 2, sites)

    WAITS = (("lock", "pthread_mutex_lock", "hold_lock"), ("io", "read", "read_bytes"))

    def find_waits(self, *options):
        """The sites of the program's lock and of its file, by domain."""
        self.run_program("unframed_waiter", "", *options)
        sites = [event for event in self.report() if event["event"] == "call_site"]
        return {domain: [site for site in sites if site["domain"] == domain and site["function"] == function]
                for domain, function, _ in self.WAITS}

    def test_locks_and_io_have_stacks(self):
        found = self.find_waits("--lock-stacks", "--io-stacks")
        for domain, function, caller in self.WAITS:
            sites = [site for site in found[domain] if site["stack_end"] == "complete"]
            names = [[frame.split(" ")[0].split(".")[0] for frame in site["stack"]] for site in sites]
            self.assertIn([caller, "take_turns"], [stack[:2] for stack in names], found)
            total = sum(site["total_ns"] for site in found[domain])
            self.check_wait_view(domain, function, total)
        # Each reads as often as it was told to; how often one finds the lock held is chance.
        self.assertEqual(sum(site["calls"] for site in found["io"]), 2 * 200)
        self.assertGreater(sum(site["calls"] for site in found["lock"]), 100)
        text = limpet("report", self.path).out
        self.assertRegex(text, r"locks: where threads waited\n.*\n.*pthread_mutex_lock < hold_lock \(unframed_waiter.c:\d+\) < take_turns")

    def check_wait_view(self, domain, function, total):
        folded = self.fold_memory(domain)
        shown = sum(time for stack, time in folded.items() if stack.endswith(";" + function))
        self.assertAlmostEqual(shown, total / 1000, delta=len(folded) + 1)
        with gzip.open(self.export_memory(domain, "it.pb.gz")) as file:
            profile = file.read()
        self.assertIn({"lock": b"contentions", "io": b"calls"}[domain], profile)
        for name in ("it.svg", "it.html", "it.speedscope.json", "it.firefox.json", "it.perf-script"):
            self.export_memory(domain, name)

    def test_locks_and_io_name_their_direct_callers(self):
        found = self.find_waits("--lock-trace", "--io-trace")
        for domain, _, caller in self.WAITS:
            self.assertTrue(found[domain])
            for site in found[domain]:
                self.assertEqual(site["stack_end"], "caller-only")
                self.assertRegex(site["stack"][0], rf"^{caller}(\.\S+)? \(unframed_waiter\.c:\d+\)$")

    PYTHON = """
import sys

def take_inner(count):
    return [bytes(2000 + i) for i in range(count)]

def take_outer():
    for i in range(200):
        take_inner(1000)

print("ready", flush=True)
sys.stdin.readline()
take_outer()
print("done", flush=True)
sys.stdin.readline()
"""

    def test_allocations_of_python_have_lines_of_python(self):
        path = os.path.join(self.folder, "taker.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.PYTHON)
        self.run_command([sys.executable, path], {}, "--alloc-sample", "64K")
        whole = {}
        for site in self.report():
            if site["event"] == "allocation" and site["stack_end"] == "complete":
                names = [frame.split(" (")[0] for frame in site["stack"]]
                for name in ("take_inner", "take_outer"):
                    whole[name] = whole.get(name, 0) + (site["bytes"] if name in names else 0)
        if not whole.get("take_outer") and sys.version_info < (3, 11):
            self.skipTest("a Python whose frames are not read in calls")
        for name in ("take_inner", "take_outer"):
            self.assertGreater(whole[name], 200 * 1000 * 2000 * 0.3, whole)
        self.assertTrue(any(re.search(r"take_outer \(taker\.py:9\)", frame) for site in self.report()
                            if site["event"] == "allocation" for frame in site["stack"]))

    def test_stacks_by_frame_pointers_say_that_they_lack_python(self):
        path = os.path.join(self.folder, "taker.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.PYTHON)
        result = self.run_command([sys.executable, path], {}, "--alloc-stacks", "--ring-size", "16M")
        self.assertIn("no lines of Python: --alloc-sample has them", str(result))

    def check_takers(self, sites):
        """Large blocks of one site in a row, of which nearly each is a sample, and the rest."""
        by_caller = collections.Counter()
        for site in sites:
            by_caller[site["function"], site["stack"][0]] += site["bytes"]
        # One site has two stacks where a burst left no room for copies of them.
        loops = [site for site in sites if site["function"] == "reallocarray"
                 and by_caller[site["function"], site["stack"][0]] > 2 * TAKER_BLOCKS * SMALL_BYTES]
        self.assertAlmostEqual(sum(site["bytes"] for site in loops) / LOOP_BYTES, 1, delta=0.1)
        self.check_ways([site for site in sites if site not in loops])

    def check_ways(self, sites):
        each = TAKER_BLOCKS * SMALL_BYTES
        ways = {"malloc": 1, "calloc": 1, "realloc": 1, "reallocarray": 1, "posix_memalign": 1,
                "operator new": 3, "operator new[]": 3}  # fmt: skip
        for function, count in ways.items():
            with self.subTest(function):
                self.assert_near([site for site in sites if site["function"] == function], count * each)
        self.assert_near(sites, sum(ways.values()) * each)
        self.assertLess(sum(site["out_bytes"] for site in sites), 20 * self.INTERVAL)

    def test_memory_that_is_taken_in_any_way_counts_once_and_is_given_back(self):
        self.check_takers(self.sample_program("takers"))

    def test_memory_of_allocators_that_are_libraries_counts_once(self):
        """Also where operator new calls malloc, and what they take themselves by mmap does not."""
        for library in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
            path = harness.preload_find(library)
            if not path:
                self.skipTest(f"{library} is not installed")
            with self.subTest(library):
                self.check_takers(self.sample_program("takers", path))

    def test_operators_of_the_program_count_once(self):
        sites = self.sample_program("takers_own")
        self.assert_near(sites, TAKER_BLOCKS * SMALL_BYTES)
        self.assertLess(sum(site["out_bytes"] for site in sites), 20 * self.INTERVAL)


class Stdio(Domains):
    def test_bytes_not_items(self):
        target = self.target("traced", "stdio")
        process = self.start(target.pid, "--io-trace")
        turns = target.stats.word("turns")
        self.assertTrue(harness.wait_until(lambda: target.stats.word("turns") > turns + 10))
        self.finish(process)
        self.assert_well(target)
        seen = collections.defaultdict(set)
        for row in self.rows():
            seen[row["function"]].add((row["size"], row["result"]))
        self.assertEqual(seen["fwrite"], {("70", "70")})
        self.assertEqual(seen["fread"], {("56", "56"), ("60", "9")})
        self.assertEqual(seen["fgets"], {("64", "14")})
        self.assertEqual(seen["fputs"], {("", "13")})
        # glibc's header turns getline into __getdelim.
        self.assertEqual(seen["getline"] | seen["getdelim"], {("", "13"), ("", "3")})
        self.assertEqual(seen["vfprintf"], {("", "12")})
        self.assertEqual(seen["puts"], {("", "10")})
        self.check_report()

    def check_report(self):
        events = self.report()
        functions = {event["name"]: event for event in events if event["event"] == "function"}
        self.assertEqual(functions["fwrite"]["bytes"], 70 * functions["fwrite"]["calls"])
        self.assertEqual(functions["puts"]["bytes"], 10 * functions["puts"]["calls"])
        self.assertNotIn("bytes", functions["fclose"])
        # A row for each descriptor: while limpet's own thread opens something, the program gets the next number.
        rows = [event for event in events if event["event"] == "file" and "limpet-stdio" in event["name"]]
        self.assertEqual(len(rows), len({row["descriptor"] for row in rows}))
        in_file = sum(row["written_bytes"] for row in rows)
        written = sum(functions[name]["bytes"] for name in ("fwrite", "fputs", "vfprintf"))
        # Where the recording begins within a turn, the name of its file is not known; functions are hooked one by one.
        self.assertIn(written - in_file, (0, 12, 13, 25, 70, 82, 83, 95))
        # Nothing was closed but what was opened: fflush(NULL) has no descriptor.
        self.assertEqual({row["descriptor"] for row in self.rows() if row["function"] == "fflush"}, {"-1"})


if __name__ == "__main__":
    unittest.main()
