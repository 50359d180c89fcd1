#!/usr/bin/env python3
"""
Recordings through the command line: report and every export format say the same, and say what the
threads that were recorded know of themselves.  Formats are read by Python's own csv and json, by
protoc, and by perfetto.py.

Environment: LIMPET is the executable under test, PROGRAMS the folder with make_recording.
"""

import collections
import csv
import filecmp
import json
import os
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import LIMPET, PROGRAMS, limpet  # noqa: E402

import perfetto  # noqa: E402
import readers  # noqa: E402

THREADS, ROUNDS = 5, 700
TEXT = '/tmp/some "file",\nä\N{REPLACEMENT CHARACTER}'


def make(path, threads=THREADS, rounds=ROUNDS, mode="calm", code=0, **options):
    """Writes a recording; what must be in it."""
    done = subprocess.run(
        [os.path.join(PROGRAMS, "make_recording"), path, str(threads), str(rounds), mode],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, **options)
    if done.returncode != code:
        raise AssertionError(f"make_recording: {done.returncode} {done.stderr}")
    return json.loads(done.stdout) if done.stdout else done.stderr


class Folder(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="recording-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.file("app.limpet")

    def file(self, name):
        return os.path.join(self.folder, name)

    def export(self, name, *options, code=0):
        result = limpet("export", self.path, "-o", self.file(name), *options)
        self.assertEqual(result.code, code, str(result))
        return self.file(name)

    def report(self, *options, code=0, path=None):
        result = limpet("report", path or self.path, "--json", *options)
        self.assertEqual(result.code, code, str(result))
        return result.events


def calls_expected(expected):
    """Of functions that are no markers: {name: calls}."""
    return {name: told["calls"] for name, told in expected["functions"].items()
            if not name.startswith("roctx")}


def calls_found(totals):
    return {name: calls for (kind, name), (calls, _) in totals.items() if kind == "call"}


class Totals(Folder):
    def test_every_format_and_the_report_say_the_same(self):
        expected = make(self.path)
        report = readers.of_report(self.report())
        self.assertEqual(calls_found(report), calls_expected(expected))
        self.assertEqual(set(report.bytes), {"malloc", "read"})
        for name, reader in readers.FORMATS.items():
            with self.subTest(name):
                found = reader(self.export("a" + name))
                self.assertEqual(found, report)
                self.assertEqual({name: found.bytes.get(name, 0) for name in report.bytes}, report.bytes)

    def test_durations_are_those_of_the_counter(self):
        expected = make(self.path)
        with open(self.export("a.json"), encoding="utf-8") as file:
            clocks = json.load(file)["clocks"]
        tick_ns = ((clocks["end"]["boottime_ns"] - clocks["start"]["boottime_ns"])
                   / (clocks["end"]["ticks"] - clocks["start"]["ticks"]))
        for (kind, name), (calls, total_ns) in readers.of_report(self.report()).items():
            told = expected["functions" if kind == "call" else "ranges"].get(name)
            if not told or not told["ticks"]:
                continue
            # Each end of each call is rounded to a nanosecond.
            self.assertAlmostEqual(total_ns, told["ticks"] * tick_ns, delta=calls + 1, msg=name)

    def test_nothing_is_lost_that_is_not_counted(self):
        expected = make(self.path, threads=3, rounds=60000, mode="drops")
        summary = self.report()[-1]
        self.assertEqual(summary["records"] + summary["dropped"]["full"], expected["tried"])
        self.assertEqual(summary["records"], expected["records"])

    def test_more_threads_than_rings(self):
        expected = make(self.path, threads=40, rounds=50)
        threads = [event for event in self.report() if event["event"] == "thread"]
        self.assertEqual(len(threads), 40)
        self.assertEqual({thread["name"] for thread in threads}, {f"worker {i}" for i in range(40)})
        self.assertEqual(sum(thread["calls"] for thread in threads),
                         sum(calls_expected(expected).values()))


class Report(Folder):
    def test_memory_that_is_out(self):
        expected = make(self.path)
        sites = [event for event in self.report() if event["event"] == "allocation"]
        self.assertEqual(sum(site["out_bytes"] for site in sites), expected["kept_bytes"])
        self.assertEqual(sum(site["out_blocks"] for site in sites), expected["kept"])
        self.assertEqual(sites[0]["stack"], ["libwork.so+0x1108", "libwork.so+0x1200", "[unknown]+0x7000"])
        self.assertEqual(sites[1]["out_bytes"], 0)

    def test_files_and_locks(self):
        expected = make(self.path)
        events = self.report()
        files = [event for event in events if event["event"] == "file"]
        self.assertEqual({file["name"] for file in files}, {TEXT})
        self.assertEqual({file["descriptor"] for file in files}, set(range(7, 7 + THREADS)))
        self.assertEqual(sum(file["read_bytes"] for file in files),
                         expected["functions"]["read"]["calls"] * expected["read_bytes"])
        locks = [event for event in events if event["event"] == "lock"]
        self.assertEqual([(lock["object"], lock["owner"], lock["calls"]) for lock in locks],
                         [("0xabc000", 4711, expected["functions"]["pthread_mutex_lock"]["calls"])])

    def test_shares_add_up_and_bytes_are_those_of_the_calls(self):
        make(self.path)
        events = self.report()
        shares = collections.defaultdict(float)
        for event in events:
            if event["event"] in ("function", "file", "lock", "thread", "range"):
                shares[event["event"], event.get("domain")] += event["percent"]
        for key in (("function", "alloc"), ("function", "io"), ("lock", None), ("thread", None), ("file", None),
                    ("range", None)):
            # Each row is rounded down to a hundredth.
            self.assertAlmostEqual(shares[key], 100, delta=0.01 * THREADS + 0.05, msg=str(key))
        sites = [event for event in events if event["event"] == "allocation"]
        [malloc] = [event for event in events if event["event"] == "function" and event["name"] == "malloc"]
        self.assertEqual(sum(site["bytes"] for site in sites), malloc["bytes"])
        self.assertEqual(sum(site["calls"] for site in sites), malloc["calls"])

    def test_units(self):
        make(self.path, threads=1, rounds=50)
        totals = {}
        for unit in ("sec", "msec", "usec", "nsec"):
            result = limpet("report", self.path, "-u", unit)
            self.assertIn(f"TOTAL {unit}", result.out)
            [line] = [line for line in result.out.splitlines() if line.endswith("outer (libwork \"1\", é.so)")]
            totals[unit] = float(line.split()[1])
        [outer] = [event for event in self.report() if event.get("name") == "outer"]
        self.assertEqual(totals["nsec"], outer["total_ns"])
        self.assertAlmostEqual(totals["usec"], outer["total_ns"] / 1e3, delta=0.001)

    def test_statistics_are_right(self):
        make(self.path, threads=2, rounds=100)
        durations = collections.defaultdict(list)
        with open(self.export("a.csv"), newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                durations[row["function"]].append(int(row["duration_ns"]))
        for event in self.report():
            if event["event"] != "function":
                continue
            values = durations[event["name"]]
            mean = sum(values) / len(values)
            deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
            self.assertEqual((event["min_ns"], event["max_ns"]), (min(values), max(values)))
            self.assertAlmostEqual(event["average_ns"], mean, delta=0.01)
            self.assertAlmostEqual(event["stddev_ns"], deviation, delta=0.01 + deviation * 1e-9)

    def test_tables_for_people(self):
        make(self.path, threads=2, rounds=100)
        result = limpet("report", self.path, "-u", "msec", "-n", "1")
        self.assertEqual(result.code, 0, str(result))
        for words in ("process ", "TOTAL msec", "calls: alloc", "memory:", "files", "locks:", "threads", "ranges", "marks",
                      "worker ", "and 1 more (-n 0 shows all)"):
            self.assertIn(words, result.out)
        self.assertNotIn("LOST", result.out)
        self.assertNotIn("INCOMPLETE", result.out)
        self.assertTrue(all(character >= " " or character == "\n" for character in result.out))

    def test_losses_are_said_plainly(self):
        make(self.path, threads=2, rounds=60000, mode="drops")
        self.assertRegex(limpet("report", self.path).out, r"LOST: \d+ records were dropped")
        make(self.path, threads=2, rounds=60, mode="cut")
        result = limpet("report", self.path)
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("INCOMPLETE: it has no end", result.out)
        self.assertIs(self.report()[-1]["complete"], False)
        self.assertIn("incomplete", limpet("export", self.path, "-f", "csv").err)

    def test_mistakes(self):
        make(self.path, threads=1, rounds=1)
        for arguments, code, words in (
                ((), 2, "no recording given"),
                ((self.path, "more"), 2, "unexpected argument 'more'"),
                ((self.path, "-u", "msek"), 2, "-u msec"),
                ((self.file("none"),), 1, "No such file"),
                (("/bin/sh",), 1, "is not a recording")):
            with self.subTest(arguments):
                result = limpet("report", *arguments)
                self.assertEqual(result.code, code, str(result))
                self.assertIn(words, result.err)

    def test_an_empty_recording_is_no_success(self):
        make(self.path, mode="empty")
        summary = self.report(code=5)[-1]
        self.assertEqual(summary["exit"], 5)
        self.assertIn("alloc;io", summary["why"])
        result = limpet("export", self.path, "-f", "csv")
        self.assertEqual(result.code, 5)
        self.assertEqual(os.listdir(self.folder), ["app.limpet"])


class Export(Folder):
    def setUp(self):
        super().setUp()
        self.expected = make(self.path, threads=2, rounds=100)
        self.calls = sum(calls_expected(self.expected).values())
        self.ranges = sum(told["calls"] for told in self.expected["ranges"].values()) + 2  # from before

    def test_csv(self):
        with open(self.export("a.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), self.calls + self.ranges + 2)  # and a mark each
        begins = [int(row["begin_ns"]) for row in rows]
        self.assertEqual(begins, sorted(begins))
        opened = [row for row in rows if row["function"] == "open"]
        self.assertEqual({row["text"] for row in opened}, {TEXT})
        outer = [row for row in rows if row["function"] == "outer"][0]
        self.assertEqual((outer["library"], outer["result"]), ('libwork "1", é.so', "-1"))
        malloc = [row for row in rows if row["function"] == "malloc"][0]
        self.assertEqual(malloc["stack"], "libwork.so+0x1100;libwork.so+0x1200;[unknown]+0x7000;[incomplete stack: no-frame-pointers]")
        self.assertEqual((malloc["size"], malloc["descriptor"], malloc["domain"]), ("16", "", "alloc"))
        self.assertEqual(int(malloc["pid"]), self.expected["pid"])

    def test_json(self):
        with open(self.export("a.json"), encoding="utf-8") as file:
            content = json.load(file)
        self.assertEqual(len(content["calls"]), self.calls + self.ranges + 2)
        self.assertEqual(content["totals"]["calls"],
                         sum(told["calls"] for told in self.expected["functions"].values()))
        self.assertEqual(content["totals"]["complete"], True)
        self.assertEqual(content["session"]["options"], "alloc;io")
        process = content["processes"][0]
        self.assertEqual((process["pid"], process["modules"][0]["build_id"]), (self.expected["pid"], "abcdef"))
        self.assertGreater(content["clocks"]["end"]["realtime_ns"], content["clocks"]["start"]["realtime_ns"])
        marks = [call for call in content["calls"] if call.get("text") == "step one"]
        self.assertEqual(sorted(mark["id"] for mark in marks), [0, 1])

    def test_chrome(self):
        with open(self.export("a.chrome.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = {(event["name"], event["args"]["name"]) for event in events if event["ph"] == "M"}
        self.assertEqual(names, {("process_name", "make"), ("thread_name", "worker 0"), ("thread_name", "worker 1")}
                         | {name for name in names if name[1].startswith("ranges ")})
        slices = [event for event in events if event["ph"] == "X"]
        self.assertEqual(len(slices), self.calls + self.ranges)
        self.assertEqual(min(event["ts"] for event in slices), 0)
        marks = [event for event in events if event["ph"] == "i"]
        self.assertEqual({(event["name"], event["s"]) for event in marks}, {("step one", "t")})

    def test_pftrace_is_sound(self):
        path = self.export("a.pftrace")
        trace = perfetto.Trace(path)
        self.assertEqual(len(trace.slices), self.calls + self.ranges)
        self.assertEqual({slice_["thread"] for slice_ in trace.slices if slice_["name"] != "span"}, {"worker 0", "worker 1"})
        self.assertEqual({slice_["pid"] for slice_ in trace.slices}, {self.expected["pid"]})
        self.assertEqual(len(trace.clocks), 2)
        self.assertEqual(set(trace.clocks[0]), {"boottime", "monotonic", "monotonic_raw", "realtime"})
        outer = [slice_ for slice_ in trace.slices if slice_["name"] == "outer"][0]
        self.assertEqual((outer["category"], outer["args"]["result"]), ("function", -1))
        opened = [slice_ for slice_ in trace.slices if slice_["name"] == "open"][0]
        self.assertEqual(opened["args"]["text"], TEXT)

    def test_pftrace_nests_calls(self):
        trace = perfetto.Trace(self.export("a.pftrace"))
        outers = collections.defaultdict(list)
        for slice_ in trace.slices:
            if slice_["name"] == "outer":
                outers[slice_["track"]].append(slice_)
        for slice_ in trace.slices:
            if slice_["name"] == "inner":
                self.assertTrue(any(outer["begin"] <= slice_["begin"] and slice_["end"] <= outer["end"]
                                    for outer in outers[slice_["track"]]))

    @unittest.skipUnless(shutil.which("protoc"), "no protoc here")
    def test_protoc_reads_pftrace(self):
        with open(self.export("a.pftrace"), "rb") as file:
            done = subprocess.run(["protoc", "--decode_raw"], stdin=file, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines.count("    9: 1"), self.calls + self.ranges)
        self.assertEqual(lines.count("    9: 2"), self.calls + self.ranges)

    def test_the_format_follows_the_name(self):
        for name, expected in (("x.csv", "csv"), ("x.json", "json"), ("x.chrome.json", "chrome"),
                               ("x.trace", "chrome"), ("x.pftrace", "pftrace"), ("x.perfetto-trace", "pftrace")):
            result = limpet("export", self.path, "-o", self.file(name), "--json")
            self.assertEqual(result.events[0]["format"], expected)
        self.assertIn("does not determine the format", limpet("export", self.path, "-o", self.file("x.txt")).err)
        self.assertEqual(limpet("export", self.path, "--json").events[0]["format"], "pftrace")
        self.assertIn("-f pftrace", limpet("export", self.path, "-f", "pftrase").err)

    def test_beside_the_recording_by_default(self):
        self.assertEqual(limpet("export", self.path, "-f", "pftrace").code, 0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["app.limpet", "app.pftrace"])

    def test_stdout(self):
        done = subprocess.run([LIMPET, "export", self.path, "-f", "csv", "-o", "-"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(list(csv.reader(done.stdout.splitlines()))) > self.calls, True)
        self.assertEqual(limpet("export", self.path, "-f", "csv", "-o", "-", "--json").code, 2)
        with open("/dev/full", "w") as full:
            done = subprocess.run([LIMPET, "export", self.path, "-f", "csv", "-o", "-"], stdout=full,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)

    def test_a_file_appears_complete_or_not_at_all(self):
        path = self.file("a.csv")
        with open(path, "w") as file:
            file.write("begin_ns,duration_ns,pid,process,was there before")

        def little_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

        done = subprocess.run([LIMPET, "export", self.path, "-o", path], capture_output=True, text=True,
                              preexec_fn=little_room)
        self.assertEqual(done.returncode, 1)
        self.assertIn("File too large", done.stderr)
        with open(path) as file:
            self.assertEqual(file.read(), "begin_ns,duration_ns,pid,process,was there before")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.csv", "app.limpet"])
        self.export("a.csv")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.csv", "app.limpet"])

    def test_a_recording_is_not_written_over(self):
        other = shutil.copy(self.path, self.file("other.limpet"))
        for name in ("csv", "pftrace", "rocpd"):
            result = limpet("export", self.path, "-f", name, "-o", other)
            self.assertEqual(result.code, 1, str(result))
            self.assertIn("that is a recording", result.err)
        self.assertTrue(filecmp.cmp(self.path, other, shallow=False))
        self.assertEqual(sorted(os.listdir(self.folder)), ["app.limpet", "other.limpet"])

    def test_a_device_stays_a_device(self):
        self.assertEqual(limpet("export", self.path, "-f", "csv", "-o", "/dev/null").code, 0)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        result = limpet("export", self.path, "-f", "csv", "-o", "/dev/full")
        self.assertEqual(result.code, 1)
        self.assertIn("No space left", result.err)


class Ranges(Folder):
    """Calls that open and close ranges become ranges, in every format."""

    def setUp(self):
        super().setUp()
        self.expected = make(self.path, threads=3, rounds=100)

    def test_report(self):
        rows = {event["name"]: event for event in self.report() if event["event"] == "range"}
        self.assertEqual({name: row["calls"] for name, row in rows.items()},
                         {**{name: told["calls"] for name, told in self.expected["ranges"].items()},
                          "(began before)": 3})
        self.assertEqual({name: row["unfinished"] for name, row in rows.items() if row["unfinished"]},
                         {'never "done"': 3, "(began before)": 3})
        self.assertEqual({name for name, row in rows.items() if row["scope"] == "process"}, {"span"})
        summary = self.report()[-1]
        self.assertEqual((summary["unfinished"], summary["marks"]), (6, 3))
        text = limpet("report", self.path).out
        self.assertIn("6 began or ended outside of what was recorded", text)
        self.assertIn("span (process-wide)", text)
        self.assertNotIn("roctxRange", text)

    def test_what_is_cut_reaches_to_the_ends_of_the_recording(self):
        with open(self.export("a.json"), encoding="utf-8") as file:
            content = json.load(file)
        clocks = {name: clock["boottime_ns"] for name, clock in content["clocks"].items()}
        cut = collections.Counter()
        for call in content["calls"]:
            if call.get("unfinished") == "began before":
                self.assertEqual(call["begin_ns"], clocks["start"])
            elif call.get("unfinished") == "did not end":
                self.assertEqual(call["begin_ns"] + call["duration_ns"], clocks["end"])
            cut[call.get("unfinished")] += 1
        self.assertEqual((cut["began before"], cut["did not end"]), (3, 3))

    def test_ranges_of_threads_nest_and_those_of_processes_have_tracks_of_their_own(self):
        trace = perfetto.Trace(self.export("a.pftrace"))
        phases = {slice_["track"]: slice_ for slice_ in trace.slices if slice_["name"] == "phase"}
        self.assertEqual(len(phases), 3)
        for slice_ in trace.slices:
            if slice_["name"] in ("step", "malloc"):
                phase = phases[slice_["track"]]
                self.assertTrue(phase["begin"] <= slice_["begin"] and slice_["end"] <= phase["end"])
            if slice_["name"] == "span":
                self.assertNotIn("tid", slice_)
                self.assertEqual(slice_["pid"], self.expected["pid"])

    def test_chrome_events_of_one_thread_lie_inside_each_other(self):
        with open(self.export("a.chrome.json"), encoding="utf-8") as file:
            events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
        events.sort(key=lambda event: (event["tid"], event["ts"], -event["dur"]))
        open_until = []
        for before, event in zip([None] + events, events):
            if not before or before["tid"] != event["tid"]:
                open_until = []
            end = round((event["ts"] + event["dur"]) * 1000)
            while open_until and open_until[-1] <= round(event["ts"] * 1000):
                open_until.pop()
            self.assertTrue(not open_until or end <= open_until[-1], event)
            open_until.append(end)


class Broken(Folder):
    """Whatever ended the writer: what was committed is there."""

    def test_killed(self):
        for tries_left in range(4, -1, -1):  # a busy machine may not have written all of it yet
            expected = make(self.path, mode="kill", code=-signal.SIGKILL)
            try:
                events = self.report()
                self.assertEqual(calls_found(readers.of_report(events)), calls_expected(expected))
                break
            except AssertionError:
                if not tries_left:
                    raise
        self.assertIs(events[-1]["complete"], False)
        self.assertEqual(readers.of_pftrace(self.export("a.pftrace")), readers.of_report(events))

    def test_no_room(self):
        said = make(self.path, rounds=60000, mode="limit", code=1)
        self.assertIn("File too large", said)
        self.assertIn("is readable", said)
        self.assertIn("ulimit -f", said)
        self.check_full_file(60000)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount")
    def test_a_full_file_system(self):
        mounted = self.file("small")
        os.mkdir(mounted)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", mounted], capture_output=True)
        if done.returncode:
            self.skipTest("mount is not allowed here")
        self.addCleanup(subprocess.run, ["umount", mounted])
        self.path = os.path.join(mounted, "app.limpet")
        self.assertIn("No space left", make(self.path, rounds=60000, code=1))
        self.check_full_file(65536)
        self.assertIn("No space left", limpet("export", self.path, "-f", "csv").err)

    def check_full_file(self, size):
        self.assertLessEqual(os.stat(self.path).st_size, size)
        events = self.report()
        self.assertGreater(events[-1]["calls"], 1000)
        self.assertIs(events[-1]["complete"], False)
        self.assertGreater(len(events), 10)

    def test_cut_at_any_byte(self):
        make(self.path, threads=2, rounds=3)
        with open(self.path, "rb") as file:
            whole = file.read()
        calls = self.report()[-1]["calls"]
        path = self.file("cut.limpet")
        seen = []
        for size in range(0, len(whole), 13):
            with open(path, "wb") as file:
                file.write(whole[:size])
            result = limpet("report", path, "--json")
            self.assertIn(result.code, (0, 1, 5), str(result))
            if result.code == 0:
                seen.append(result.events[-1]["calls"])
        self.assertEqual(seen, sorted(seen))
        self.assertEqual(seen[-1], calls)

    def test_a_foreign_reader_finds_the_chunks(self):
        """As docs/recording-format.md has it; the checksum is zlib's."""
        make(self.path)
        with open(self.path, "rb") as file:
            data = file.read()
        self.assertEqual(data[:8], b"limpet\r\n")
        self.assertEqual(struct.unpack_from("<I", data, 8), (1,))
        at, kinds = 16, collections.Counter()
        while at < len(data):
            magic, kind, version, length, raw, checksum, head = struct.unpack_from("<4sHHIIII", data, at)
            self.assertEqual((magic, version), (b"chnk", 1))
            self.assertEqual(zlib.crc32(data[at:at + 20]), head)
            self.assertEqual(zlib.crc32(data[at + 24:at + 24 + length]), checksum)
            if raw:
                self.assertEqual(data[at + 24:at + 28], b"\x28\xb5\x2f\xfd")  # zstd
            kinds[kind] += 1
            at += 24 + length
        self.assertEqual((kinds[1], kinds[2], kinds[3], kinds[9]), (1, 1, THREADS, 1))
        self.assertGreaterEqual(kinds[6], 2)
        self.assertGreaterEqual(kinds[7], THREADS)

    def test_an_unknown_chunk_is_skipped(self):
        make(self.path)
        before = self.report()
        payload = b"from the future"
        head = struct.pack("<4sHHIII", b"chnk", 999, 3, len(payload), 0, zlib.crc32(payload))
        with open(self.path, "ab") as file:
            file.write(head + struct.pack("<I", zlib.crc32(head)) + payload)
        self.assertEqual(self.report(), before)

    def test_a_damaged_chunk_costs_itself(self):
        make(self.path)
        with open(self.path, "r+b") as file:
            data = bytearray(file.read())
            at = 16
            while struct.unpack_from("<H", data, at + 4)[0] != 7:
                at += 24 + struct.unpack_from("<I", data, at + 8)[0]
            data[at + 40] ^= 1
            file.seek(0)
            file.write(data)
        summary = self.report()[-1]
        self.assertIn("1 damaged chunks", summary["incomplete"])
        self.assertGreater(summary["calls"], 1000)


if __name__ == "__main__":
    unittest.main()
