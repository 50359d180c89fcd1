#!/usr/bin/env python3
"""
`limpet diff`: two recordings of make_samples, whose shares are known, as table, JSON, page and picture;
and what it says about recordings that cannot be compared.

Environment: LIMPET is the executable under test, PROGRAMS the folder with make_samples and make_recording.
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import PROGRAMS, limpet  # noqa: E402

ROUNDS = 500

# Percent of what ran, as make_samples plans it: self in A and B, total in A and B.
SHARES = {
    "inner": (400 / 6, 100 / 8, 400 / 6, 100 / 8),
    "middle": (200 / 6, 100 / 8, 500 / 6, 200 / 8),
    "outer": (0, 0, 500 / 6, 100),
    "fresh": (0, 600 / 8, 0, 600 / 8),
}


def make(path, rounds=ROUNDS, mode="calm"):
    subprocess.run([os.path.join(PROGRAMS, "make_samples"), path, str(rounds), mode], check=mode != "kill",
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return path


class Diff(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="diff-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.a = make(cls.file("a.limpet"))
        cls.b = make(cls.file("b.limpet"), mode="changed")

    @classmethod
    def file(cls, name):
        return os.path.join(cls.folder, name)

    def diff(self, *words, code=0):
        result = limpet("diff", *words)
        self.assertEqual(result.code, code, str(result))
        return result

    def functions(self, *words):
        events = self.diff(*words, "--json").events
        return {event["name"]: event for event in events if event["event"] == "compared_function"}

    def test_shares_of_both_and_their_difference(self):
        found = self.functions(self.a, self.b)
        self.assertEqual(set(found), set(SHARES))
        for name, (self_a, self_b, total_a, total_b) in SHARES.items():
            event = found[name]
            for key, a, b in (("self", self_a, self_b), ("total", total_a, total_b)):
                self.assertAlmostEqual(event[key]["a_percent"], a, places=3)
                self.assertAlmostEqual(event[key]["b_percent"], b, places=3)
                self.assertAlmostEqual(event[key]["points"], b - a, places=3)
            self.assertEqual(event["module"], "make_samples")

    def test_the_largest_change_comes_first(self):
        for by, order in (("self", ["fresh", "inner", "middle", "outer"]),
                          ("total", ["fresh", "middle", "inner", "outer"])):
            self.assertEqual(list(self.functions(self.a, self.b, "--by", by)), order)

    def test_new_and_gone(self):
        self.assertEqual({name: event["in"] for name, event in self.functions(self.a, self.b).items()},
                         {"fresh": "new", "inner": "both", "middle": "both", "outer": "both"})
        back = self.functions(self.b, self.a)
        self.assertEqual(back["fresh"]["in"], "gone")
        self.assertAlmostEqual(back["fresh"]["self"]["points"], -75, places=3)

    def test_the_error_is_that_of_two_shares(self):
        event = self.functions(self.a, self.b)["inner"]["self"]
        spread = 0
        for share, count in ((4 / 6, 6 * ROUNDS), (1 / 8, 8 * ROUNDS)):
            moved = (share * count + 1) / (count + 2)
            spread += moved * (1 - moved) / (count + 2)
        self.assertAlmostEqual(event["error"], 196 * math.sqrt(spread), places=3)
        self.assertFalse(event["noise"])

    def test_nothing_changed(self):
        found = self.functions(self.a, self.a)
        self.assertTrue(all(event["self"]["noise"] and event["total"]["noise"] for event in found.values()))
        self.assertTrue(all(event["self"]["points"] == 0 for event in found.values()))

    def test_few_samples_are_said_to_be_few(self):
        few = make(self.file("few.limpet"), rounds=2)
        result = self.diff(few, make(self.file("few-changed.limpet"), rounds=2, mode="changed"))
        self.assertIn("few samples (12 in A, 16 in B)", result.err)
        row = next(line for line in result.out.splitlines() if "middle (make_samples)" in line)
        self.assertIn("~", row)
        # Three of four samples new are more than chance even here.
        self.assertRegex(result.out, r"(?m) \+75\.00  .* new .*fresh")

    def test_for_people(self):
        result = self.diff(self.a, self.b, "--threads")
        self.assertRegex(result.out, r"(?m)^A: .*a\.limpet: worker \(\d+\)$")
        self.assertRegex(result.out, r"(?m)^   4000 samples in \d\.\d{3} s at 1000 Hz by made-up; 0 lost; 87\.50 % complete$")
        self.assertRegex(result.out, r"(?m)^ +66\.66 +12\.50 +-54\.16 +\d\.\d\d +x0\.19 +66\.66 +12\.50  inner \(make_samples\)$")
        # The second thread of A does not exist, so its name may be that of any.
        self.assertRegex(result.out, r"(?m)^ +(83\.33|100\.00) +100\.00 .* [12] +1  worker$")
        self.assertIn("different rates: 1000 Hz in A, 500 Hz in B", result.err)
        self.assertIn("complete in A, 100.00 % in B", result.err)
        wide = [line for line in result.out.splitlines() if len(line) > 80 and "/" not in line]
        self.assertEqual(wide, [])

    def test_the_summary_tells_about_both(self):
        summary = self.diff(self.a, self.b, "--json").events[-1]
        self.assertEqual((summary["verb"], summary["exit"], summary["view"]), ("diff", 0, "on-cpu"))
        self.assertEqual((summary["a"]["samples"], summary["b"]["samples"]), (8 * ROUNDS, 8 * ROUNDS))
        self.assertEqual((summary["a"]["hz"], summary["b"]["hz"]), (1000, 500))
        self.assertEqual(summary["a"]["complete_percent"], 87.5)
        self.assertTrue(any("different rates" in text for text in summary["warnings"]))

    def test_the_executable_may_have_another_name(self):
        renamed = self.file("make_samples-new")
        shutil.copy(os.path.join(PROGRAMS, "make_samples"), renamed)
        path = self.file("renamed.limpet")
        subprocess.run([renamed, path, "100", "changed"], check=True, timeout=120)
        self.assertEqual(self.functions(self.a, path)["inner"]["in"], "both")

    def test_svg(self):
        path = self.file("changed.svg")
        self.diff(self.a, self.b, "-o", path)
        name = "{http://www.w3.org/2000/svg}"
        boxes = {}
        for group in xml.etree.ElementTree.parse(path).getroot().iter(name + "g"):
            title, box = group.find(name + "title").text, group.find(name + "rect")
            boxes.setdefault(title.split(":")[0], (title, float(box.get("width")), box.get("fill")))
        self.assertAlmostEqual(boxes["all"][1], 1200, delta=1)
        self.assertAlmostEqual(boxes["fresh"][1], 450, delta=1)
        self.assertIn("A 0.00 %, B 75.00 %, +75.00 points", boxes["fresh"][0])
        self.assertRegex(boxes["fresh"][2], r"^hsl\(5,")
        self.assertRegex(boxes["middle"][2], r"^hsl\(215,")
        self.assertRegex(boxes["all"][2], r"^hsl\(0,0%")

    @unittest.skipUnless(shutil.which("node"), "no node here")
    def test_the_page(self):
        path = self.file("changed.html")
        self.diff(self.a, self.b, "-o", path)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page.js")
        done = subprocess.run(["node", script, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(done.stdout)
        self.assertIn("found: A 66.66 %, B 12.50 %", shown["found"]["status"])
        self.assertRegex(shown["tip"], r"^outer \(make_samples\) — A 83\.33 %, B 100\.00 %: \+16\.66 points ± \d\.\d\d, ×1\.20; "
                                       r"self A 0\.00 %, B 0\.00 %$")
        self.assertEqual(set(shown["cleared"]["texts"]),
                         {"all", "outer", "middle", "inner", "fresh", "[incomplete s…"})
        self.assertIn("different rates", shown["warning"])

    def test_frames_of_one_language(self):
        self.assertIn("inner", self.diff(self.a, self.b, "--only", "native").out)
        result = limpet("diff", self.a, self.b, "--only", "python")
        self.assertEqual(result.code, 5, result)
        self.assertIn("no samples with python frames", result.err)

    def test_a_view_that_one_does_not_have(self):
        result = self.diff(self.a, self.b, "--view", "off-cpu", code=5)
        self.assertRegex(result.err, r"b\.limpet' has no samples of the view off-cpu")
        found = self.functions(self.a, self.a, "--view", "off-cpu")
        self.assertEqual((found["waits"]["self"]["a_percent"], found["waits"]["self"]["b_percent"]), (100, 100))

    def test_recordings_that_cannot_be_compared(self):
        empty = make(self.file("empty.limpet"), rounds=0)
        self.assertIn("no calls, no samples and no counters", self.diff(self.a, empty, code=5).err)
        calls = self.file("calls.limpet")
        subprocess.run([os.path.join(PROGRAMS, "make_recording"), calls, "2", "50"], check=True, timeout=120,
                       stdout=subprocess.PIPE)
        self.assertIn("has calls and no samples", self.diff(calls, self.a, code=5).err)
        self.diff(self.a, self.file("none.limpet"), code=1)
        text = self.file("text.limpet")
        with open(text, "w", encoding="utf-8") as file:
            file.write("not a recording\n" * 100)
        self.diff(text, self.a, code=1)

    def test_a_recording_that_was_cut(self):
        cut = make(self.file("cut.limpet"), mode="kill")
        result = self.diff(self.a, cut)
        self.assertIn("warning: B is incomplete: it has no end", result.err)

    def test_wrong_usage(self):
        for words, said in (((), "no recordings given"), ((self.a,), "second recording"),
                            ((self.a, self.b, "c"), "unexpected argument 'c'"), ((self.a, self.b, "--by", "size"), "--by"),
                            ((self.a, self.b, "--view", "sideways"), "--view"),
                            ((self.a, self.b, "-o", "x.csv"), "-o OUT.html or -o OUT.svg")):
            self.assertIn(said, self.diff(*words, code=2).err)
        self.assertEqual(self.diff("--json", code=2).events[-1]["exit"], 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
