#!/usr/bin/env python3
"""
Samples in recordings: report and every format say what make_samples planned.  Formats are read by
Python's json and gzip, by an XML parser, by protoc, and by `go tool pprof` where there is one.

Environment: LIMPET is the executable under test, PROGRAMS the folder with make_samples.
"""

import collections
import gzip
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import LIMPET, PATIENCE_S, PROGRAMS, limpet  # noqa: E402

ROUNDS = 500
MS = 1000000

# Of make_samples: what runs, by stack, outermost first; samples of a round.
ON_CPU = {
    ("outer", "middle", "inner"): 3,
    ("outer", "middle"): 1,
    ("outer", "middle", "middle"): 1,
    ("[incomplete stack]", "inner"): 1,
}
SELF = {"inner": 4, "middle": 2, "outer": 0}
TOTAL = {"inner": 4, "middle": 5, "outer": 5}


def make(path, rounds=ROUNDS, mode="calm"):
    return subprocess.run([os.path.join(PROGRAMS, "make_samples"), path, str(rounds), mode],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)


def has_pprof():
    """Go 1.25 and later build pprof at its first use, which takes minutes."""
    go = shutil.which("go")
    folder = go and subprocess.run([go, "env", "GOTOOLDIR"], stdout=subprocess.PIPE, text=True, timeout=120).stdout.strip()
    return bool(folder) and os.path.exists(os.path.join(folder, "pprof"))


class Samples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="samples-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.path = os.path.join(cls.folder, "app.limpet")
        made = make(cls.path)
        if made.returncode:
            raise AssertionError(made.stderr)

    def file(self, name):
        return os.path.join(self.folder, name)

    def export(self, name, *options, path=None, code=0):
        result = limpet("export", path or self.path, "-o", self.file(name), *options)
        self.assertEqual(result.code, code, str(result))
        return self.file(name)

    def report(self, *options, path=None, code=0):
        result = limpet("report", path or self.path, "--json", *options)
        self.assertEqual(result.code, code, str(result))
        return result.events

    def test_report_adds_up_what_was_sampled(self):
        events = self.report()
        hot = {event["name"]: event for event in events
               if event["event"] == "sampled_function" and event["view"] == "on-cpu"}
        self.assertEqual({name: event["self_samples"] for name, event in hot.items()},
                         {name: count * ROUNDS for name, count in SELF.items()})
        self.assertEqual({name: event["total_ns"] for name, event in hot.items()},
                         {name: count * ROUNDS * MS for name, count in TOTAL.items()})
        self.assertEqual(hot["inner"]["module"], "make_samples")
        waits = [event for event in events
                 if event["event"] == "sampled_function" and event["view"] == "off-cpu"]
        self.assertEqual([(event["name"], event["self_ns"]) for event in waits][0],
                         ("waits", 5 * MS * ROUNDS))

    def test_one_long_wait_is_uncertain(self):
        path = self.file("uneven.limpet")
        self.assertEqual(make(path, 1, "uneven").returncode, 0)
        waits = {event["name"]: event for event in self.report(path=path)
                 if event["event"] == "sampled_function" and event["view"] == "off-cpu"}
        self.assertEqual((waits["waits"]["self_percent"], waits["inner"]["self_percent"]), (90, 10))
        # 1.96 * sqrt(900^2 * 0.1^2 + 100 * 0.9^2) / 1000: of time, not of 1 wait of 101
        self.assertEqual((waits["waits"]["self_error"], waits["inner"]["self_error"]), (17.73, 17.73))

    def test_nothing_is_certain(self):
        """What was never seen, or always, is as uncertain as the rule of three says: 3 of as many samples."""
        views = collections.defaultdict(list)
        for event in self.report():
            if event["event"] == "sampled_function":
                views[event["view"]].append(event)
        for rows in views.values():
            count = sum(row["self_samples"] for row in rows)
            extremes = [row for row in rows if row["self_percent"] in (0, 100)]
            for row in extremes:
                self.assertAlmostEqual(row["self_error"], min(100, 300 / count), delta=0.01)
        self.assertTrue(any(row["self_percent"] == 0 for rows in views.values() for row in rows))
        self.assertTrue(any(row["self_percent"] == 100 for rows in views.values() for row in rows))
        self.assertNotRegex(limpet("report", self.path).out, r"(?m)^ +\d+\.\d\d +0\.00 ")

    def test_all_that_the_sampler_does_not_see_is_told(self):
        path = self.file("limited.limpet")
        self.assertEqual(make(path, 1, "limited").returncode, 0)
        self.assertEqual(self.report(path=path)[-1]["no_better_sampler"],
                         "made-up: this is not seen; that is not seen\n")

    def test_report_tells_threads_and_losses(self):
        events = self.report()
        threads = [event for event in events if event["event"] == "sampled_thread"]
        self.assertEqual([(event["on_cpu_ns"], event["waited_ns"], event["runnable_ns"], event["incomplete"])
                          for event in threads],
                         [(5 * MS * ROUNDS, 5 * MS * ROUNDS, 2 * MS * ROUNDS, 0), (MS * ROUNDS, 0, 0, ROUNDS)])
        self.assertEqual(threads[0]["name"], "worker")
        summary = events[-1]
        self.assertEqual((summary["samples"], summary["complete_percent"], summary["samples_lost"]),
                         (8 * ROUNDS, 87.5, 0))
        self.assertEqual(summary["stacks"]["no-table"], ROUNDS)

    def test_report_for_people_names_what_is_incomplete(self):
        text = limpet("report", self.path, "--tree").out
        self.assertIn("87.50 % of the stacks complete", text)
        self.assertRegex(text, r"INCOMPLETE: 500 stacks \(12\.50 %\)")
        self.assertRegex(text, r"(?m)^ +50\.00 +50\.00 +inner$")
        self.assertRegex(text, r"(?m)^ +38\.46 +2500\.000 +500  sleeping$")
        for line in text.splitlines():
            self.assertTrue(len(line) <= 80 or line.startswith("process "), line)

    def test_a_report_has_one_unit_of_time(self):
        for options, unit in (((), "msec"), (("-u", "usec"), "usec"), (("-u", "sec"), "sec")):
            text = limpet("report", self.path, *options).out
            for words in (rf"samples in [\d.]+ {unit} at", f"SELF {unit}", f"times in {unit}", rf"% +{unit} +SAMPLES"):
                self.assertRegex(text, words)
            self.assertNotRegex(text, r"\d (s|ms|us)\b")

    def test_report_tells_states(self):
        self.assertEqual({event["state"]: (event["samples"], event["time_ns"]) for event in self.report()
                          if event["event"] == "sampled_state"},
                         {"running": (6 * ROUNDS, 6 * MS * ROUNDS), "sleeping": (ROUNDS, 5 * MS * ROUNDS),
                          "wants a processor": (ROUNDS, 2 * MS * ROUNDS)})

    def test_report_of_waits_only(self):
        text = limpet("report", self.path, "--tree", "--view", "off-cpu").out
        self.assertIn("call tree: off-cpu", text)
        self.assertRegex(text, r"(?m)^ +100\.00 +100\.00 +waits$")
        self.assertNotIn("hot functions", text)
        self.assertEqual({event["view"] for event in self.report("--view", "off-cpu")
                          if event["event"] == "sampled_function"}, {"off-cpu"})
        self.assertEqual(limpet("report", self.path, "--view", "sideways").code, 2)

    def folded(self, *options):
        stacks = {}
        with open(self.export("app.folded", *options), encoding="utf-8") as file:
            for line in file:
                names, count = line.rstrip("\n").rsplit(" ", 1)
                stacks[tuple(names.split(";")[1:])] = int(count)
        return stacks

    def test_folded(self):
        self.assertEqual(self.folded(), {stack: count * ROUNDS for stack, count in ON_CPU.items()})
        self.assertEqual(self.folded("--view", "off-cpu"), {("outer", "waits"): 5000 * ROUNDS})

    def test_folded_has_each_stack_once(self):
        """Also where threads share a name, and where functions were sampled at several places."""
        path = self.file("twins.limpet")
        self.assertEqual(make(path, rounds=5, mode="twins").returncode, 0)
        with open(self.export("twins.folded", path=path), encoding="utf-8") as file:
            lines = [line.rstrip("\n").rsplit(" ", 1) for line in file]
        names = [name for name, _ in lines]
        self.assertEqual(sorted(set(names)), sorted(names))
        self.assertEqual(sum(int(count) for _, count in lines), 2 * 6 * 5)
        self.assertEqual(len(lines), len(ON_CPU))

    def test_the_flame_graph_is_what_one_gets(self):
        path = shutil.copy(self.path, self.file("usual.limpet"))
        result = limpet("export", path)
        self.assertEqual(result.code, 0, str(result))
        self.assertTrue(result.out.startswith(self.file("usual.html") + ": "), result.out)
        self.page_data(self.file("usual.html"))

    def test_long_work_is_told_at_a_terminal(self):
        """Nobody reads the pipe yet: it takes as long as we like."""
        pipe = self.file("pipe")
        os.mkfifo(pipe)
        for is_terminal in (True, False):
            ours, theirs = pty.openpty() if is_terminal else os.pipe()
            process = subprocess.Popen([LIMPET, "export", self.path, "-f", "folded", "-o", pipe], stderr=theirs,
                                       stdout=subprocess.DEVNULL)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            os.close(theirs)
            told = ""
            while is_terminal and " s " not in told and select.select([ours], [], [], PATIENCE_S)[0]:
                told += os.read(ours, 1000).decode()
            with open(pipe, encoding="utf-8") as reader:
                self.assertTrue(reader.read())
            self.assertEqual(process.wait(60), 0)
            if is_terminal:
                self.assertRegex(told, r"^\rexporting .*: 2 s ")
            else:
                self.assertNotIn(b"exporting", os.read(ours, 1000))
            os.close(ours)

    def test_speedscope(self):
        with open(self.export("app.speedscope.json"), encoding="utf-8") as file:
            data = json.load(file)
        stacks = collections.Counter()
        for profile in data["profiles"]:
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual(sum(profile["weights"]), profile["endValue"])
            for sample in profile["samples"]:
                stacks[tuple(data["shared"]["frames"][frame]["name"] for frame in sample)] += 1
        expected = collections.Counter()
        for stack, count in ON_CPU.items():
            expected[tuple(name for name in stack if name[0] != "[")] += count * ROUNDS
        self.assertEqual(stacks, expected)
        self.assertRegex(data["shared"]["frames"][0]["file"], r"make_samples\.c$")

    def firefox_stacks(self, data):
        """(stack of names, outermost first) of each row of the table."""
        shared, stacks = data["shared"], []
        for frame, offset in zip(shared["stackTable"]["frame"], shared["stackTable"]["prefixOffset"]):
            name = shared["stringArray"][shared["funcTable"]["name"][shared["frameTable"]["func"][frame]]]
            stacks.append((stacks[len(stacks) - offset] if offset else ()) + (name,))
        return stacks

    def test_firefox(self):
        with open(self.export("app.firefox.json"), encoding="utf-8") as file:
            data = json.load(file)
        for name, table in data["shared"].items():
            if name != "stringArray":
                self.assertEqual({len(column) for column in table.values() if isinstance(column, list)},
                                 {table["length"]}, name)
        rows, found = self.firefox_stacks(data), collections.Counter()
        for thread in data["threads"]:
            samples = thread["samples"]
            self.assertEqual(samples["time"], sorted(samples["time"]))
            self.assertEqual((samples["weightType"], set(samples["weight"])), ("samples", {1}))
            found.update(rows[stack] for stack in samples["stack"])
        self.assertEqual(found, {stack: count * ROUNDS for stack, count in ON_CPU.items()})
        self.assertEqual([(thread["name"], thread["isMainThread"]) for thread in data["threads"]][0], ("worker", True))
        self.assertEqual(data["libs"][0]["name"], "make_samples")
        self.assertEqual(len(data["libs"][0]["breakpadId"]), 33)
        sources = [data["shared"]["stringArray"][name] for name in data["shared"]["sources"]["filename"]]
        self.assertTrue(sources and all(name.endswith("make_samples.c") for name in sources))

    def test_firefox_has_waits_as_markers(self):
        with open(self.export("waits.firefox.json", "--view", "wall"), encoding="utf-8") as file:
            data = json.load(file)
        worker, names, rows = data["threads"][0], data["shared"]["stringArray"], self.firefox_stacks(data)
        sums, causes = collections.Counter(), set()
        markers = worker["markers"]
        for name, begin, end, what in zip(markers["name"], markers["startTime"], markers["endTime"], markers["data"]):
            sums[names[name]] += round((end - begin) * MS)
            causes.add((what["state"], rows[what["cause"]["stack"]]))
        self.assertEqual(sums, {"waiting": 5 * MS * ROUNDS, "runnable": 2 * MS * ROUNDS})
        self.assertEqual(causes, {("sleeping", ("outer", "waits")), ("runnable", ("outer",))})
        self.assertEqual(worker["samples"]["weightType"], "tracing-ms")
        self.assertAlmostEqual(sum(worker["samples"]["weight"]), 12 * ROUNDS, places=3)

    def test_perf_script(self):
        with open(self.export("app.perf-script"), encoding="utf-8") as file:
            blocks = file.read().rstrip("\n").split("\n\n")
        self.assertEqual(len(blocks), 6 * ROUNDS)
        head, *frames = blocks[0].splitlines()
        self.assertRegex(head, r"^worker \d+/\d+ \[000\] \d+\.\d{9}: 1000000 cpu-clock:$")
        self.assertEqual([frame.split()[1] for frame in frames], ["inner", "middle", "outer"])

    def test_svg_is_well_formed_and_as_wide_as_its_samples(self):
        tree = xml.etree.ElementTree.parse(self.export("app.svg"))
        boxes = {}
        for group in tree.getroot().iter("{http://www.w3.org/2000/svg}g"):
            name = group.find("{http://www.w3.org/2000/svg}title").text.split(":")[0]
            width = float(group.find("{http://www.w3.org/2000/svg}rect").get("width"))
            boxes[name] = max(boxes.get(name, 0), width)
        self.assertAlmostEqual(boxes["outer"], 1000, delta=1)
        self.assertAlmostEqual(boxes["[incomplete stack]"], 200, delta=1)

    def page_data(self, path):
        with open(path, encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page.count("</script>"), 2)
        self.assertNotIn("@DATA@", page)
        self.assertNotRegex(re.sub(r"<script type=.*?</script>", "", page), r"https?://")
        return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))

    def test_the_flame_graph_holds_all_stacks(self):
        data = self.page_data(self.export("app.html"))
        stacks = collections.Counter()
        for at in range(0, len(data["entries"]), 5):
            _, node, kind, count, _ = data["entries"][at:at + 5]
            names = []
            while node >= 0:
                value = data["values"][node]
                names.append(data["functions"][value] if value >= 0 else "[incomplete stack]")
                node = data["parents"][node]
            if kind == 0:
                stacks[tuple(reversed(names))] += count
        self.assertEqual(stacks, {stack: count * ROUNDS for stack, count in ON_CPU.items()})
        self.assertEqual(data["views"], ["on-cpu", "off-cpu", "runnable", "wall"])
        self.assertIn("87.50 %", data["warning"])

    @unittest.skipUnless(shutil.which("node"), "no node here")
    def test_the_flame_graph_searches_zooms_and_inverts(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.js")
        done = subprocess.run(["node", script, self.export("app.html")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(done.stdout)
        self.assertRegex(shown["title"], r"^worker \(\d+\)$")
        self.assertIn("found: 66.66 %", shown["found"]["status"])
        self.assertIn("/(inner/ is no regular expression: ", shown["wrong"]["status"])
        self.assertNotIn("found", shown["wrong"]["status"])
        self.assertIn("found: 66.66 %", shown["mended"]["status"])
        self.assertEqual((shown["wrong"]["isMarked"], shown["mended"]["isMarked"]), ("true", "false"))
        self.assertEqual(shown["legend"], "width: share of the time; below a function: what it called; colours:"
                         " # native code # incomplete stack # found by the search")
        self.assertNotIn("found", shown["cleared"]["status"])
        self.assertRegex(shown["zoomed"]["status"], r"^outer \(make_samples\).*83\.33 % of all, self 0\.00 %")
        self.assertNotIn("[incomplete stack]", shown["zoomed"]["texts"])
        self.assertRegex(shown["tip"], "^outer ")
        self.assertRegex(shown["reset"]["status"], "^all ")
        self.assertEqual(shown["inverted"]["texts"][:2], ["all", "inner"])
        self.assertEqual(sorted(shown["waits"]["texts"]), ["all", "outer", "waits"])

    def test_svg_grows_as_the_page_does(self):
        """What a function calls stands below it."""
        tops = {}
        for group in xml.etree.ElementTree.parse(self.export("app.svg")).getroot().iter("{http://www.w3.org/2000/svg}g"):
            name = group.find("{http://www.w3.org/2000/svg}title").text.split(":")[0].split(" ")[0]
            tops.setdefault(name, float(group.find("{http://www.w3.org/2000/svg}rect").get("y")))
        self.assertLess(tops["all"], tops["outer"])
        self.assertLess(tops["outer"], tops["middle"])

    def test_shares_are_the_same_everywhere(self):
        """Two thirds are 66.66 % in every file and text: what is rounded is rounded down."""
        path = self.file("third.limpet")
        self.assertEqual(make(path, rounds=1).returncode, 0)
        texts = [limpet("report", path).out, limpet("report", path, "--tree").out, limpet("diff", path, path).out]
        for name in ("third.svg", "third-diff.svg"):
            words = ("diff", path, path) if "diff" in name else ("export", path)
            self.assertEqual(limpet(*words, "-o", self.file(name)).code, 0)
            with open(self.file(name), encoding="utf-8") as file:
                texts.append(file.read())
        for text in texts:
            self.assertRegex(text, r"\b(66\.66|83\.33|16\.66)\b")
            self.assertNotRegex(text, r"\b(66\.67|83\.34|16\.67)\b")

    def test_one_is_no_plural(self):
        path = self.file("one.limpet")
        self.assertEqual(make(path, rounds=1).returncode, 0)
        said = [limpet("report", path), limpet("report", path, "--view", "off-cpu"), limpet("diff", path, path, "--view", "off-cpu"),
                limpet("export", path, "-f", "svg", "-o", "-")]
        for result in said:
            self.assertEqual(result.code, 0, result)
            self.assertNotRegex(result.out + result.err, r"\b1 (samples|threads|records|calls|stacks|processes|times)\b")
        self.assertRegex(said[0].out, r"INCOMPLETE: 1 stack \(")
        self.assertRegex(said[2].out, r"off-cpu: 1 sample,")

    def test_pprof_by_protoc(self):
        with gzip.open(self.export("app.pb.gz")) as file:
            raw = file.read()
        text = subprocess.run(["protoc", "--decode_raw"], input=raw, stdout=subprocess.PIPE, check=True,
                              timeout=60).stdout.decode()
        self.assertEqual(len(re.findall(r"(?m)^2 \{", text)), 6)
        self.assertIn('6: "inner"', text)

    def test_pprof_begins_with_the_program(self):
        """Also where nothing of its own was sampled."""
        other = self.file("foreign.limpet")
        self.assertEqual(make(other, rounds=5, mode="foreign").returncode, 0)
        for path in (self.path, other):
            with gzip.open(self.export("first.pb.gz", path=path)) as file:
                text = subprocess.run(["protoc", "--decode_raw"], input=file.read(), stdout=subprocess.PIPE,
                                      check=True, timeout=60).stdout.decode()
            strings = re.findall(r'(?m)^6: "(.*)"$', text)
            first = re.search(r"(?m)^3 \{\n((?:  .*\n)+)", text).group(1)
            name = int(re.search(r"5: (\d+)", first).group(1))
            self.assertEqual(os.path.basename(strings[name]), "make_samples")

    def test_perfetto_by_protoc(self):
        with open(self.export("app.pftrace"), "rb") as file:
            text = subprocess.run(["protoc", "--decode_raw"], stdin=file, stdout=subprocess.PIPE, check=True,
                                  timeout=120).stdout.decode()
        samples = re.findall(r"(?m)^  66 \{\n((?:    .*\n)+)", text)
        self.assertEqual(len(samples), 6 * ROUNDS)
        self.assertEqual(sum("16: 3" in sample for sample in samples), ROUNDS)
        stacks = re.findall(r"(?m)^    7 \{\n((?:      .*\n)+)", text)
        self.assertEqual(sorted(stack.count("2: ") for stack in stacks), [1, 2, 3, 3])

    @unittest.skipUnless(has_pprof(), "no Go with pprof in it (newer ones build it first: ./dev foreign)")
    def test_pprof_by_go(self):
        path = self.export("app.pb.gz")
        text = subprocess.run(["go", "tool", "pprof", "-top", path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120).stdout
        rows = {}
        for line in text.splitlines():
            words = line.split()
            if len(words) >= 6 and words[1].endswith("%"):
                rows[words[5]] = float(words[3].rstrip("s"))
        self.assertEqual(rows, {name: count * ROUNDS / 1000 for name, count in TOTAL.items()}, text)

    def test_formats_of_calls_refuse_samples(self):
        result = limpet("export", self.path, "-o", self.file("app.csv"))
        self.assertEqual(result.code, 5, str(result))
        self.assertIn("only samples", result.err)
        self.assertFalse(os.path.exists(self.file("app.csv")))

    def test_a_view_without_samples(self):
        path = self.file("busy.limpet")
        self.assertEqual(make(path, rounds=5, mode="changed").returncode, 0)
        for words in (("report",), ("export", "-o", self.file("none.html")),
                      ("export", "-o", self.file("none.firefox.json"))):
            result = limpet(words[0], path, *words[1:], "--view", "off-cpu")
            self.assertEqual(result.code, 5, str(result))
            self.assertIn("no samples of the view off-cpu", result.err)
        self.assertFalse(os.path.exists(self.file("none.html")))

    def test_without_a_sample(self):
        path = self.file("empty.limpet")
        self.assertEqual(make(path, rounds=0).returncode, 0)
        for words in (("report",), ("export", "-o", self.file("empty.firefox.json"))):
            result = limpet(words[0], path, *words[1:])
            self.assertEqual(result.code, 5, str(result))
            self.assertIn("no thread ran while it was sampled (made-up, 1000 Hz)", result.err)

    def test_an_unknown_view(self):
        result = limpet("export", self.path, "-o", self.file("x.folded"), "--view", "sideways")
        self.assertEqual(result.code, 2, str(result))

    def test_killed_while_recording(self):
        path = self.file("killed.limpet")
        self.assertEqual(make(path, mode="kill").returncode, -signal.SIGKILL)
        events = self.report(path=path)
        summary = events[-1]
        self.assertEqual((summary["samples"], summary["complete"]), (8 * ROUNDS, False))
        names = {event["name"] for event in events if event["event"] == "sampled_function"}
        self.assertEqual(names, {"inner", "middle", "outer", "waits"})

    def test_a_sampler_that_is_refused(self):
        made = make(self.file("none.limpet"), mode="refused")
        self.assertEqual(made.returncode, 1)
        self.assertIn("no right for it", made.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
