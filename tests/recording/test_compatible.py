#!/usr/bin/env python3
"""
Recordings of other versions: those that limpet 0.1.0 made give the report that it gave, and one of a limpet that
does not exist yet is read as far as it can be: domains that nobody knows today are kept as "other N", with their
calls and times, in the report and in every format.

old/NAME.limpet was recorded by 0.1.0; old/NAME.json is what its `limpet report --json -n 0` said.

Environment: LIMPET is the executable under test, PROGRAMS the folder with make_newer_recording.
"""

import csv
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import PROGRAMS, limpet  # noqa: E402

import perfetto  # noqa: E402

OLD = pathlib.Path(__file__).resolve().parent / "old"


# 0.1.0 called a function that was in no sample, or in all, certain; now it has an error of its own.
CERTAIN = {"self_error": 0.0}


def part_of(found, told):
    """What of it was told then, too."""
    if isinstance(told, dict) and isinstance(found, dict):
        return {key: value if CERTAIN.get(key) == value else part_of(found.get(key), value) for key, value in told.items()}
    if isinstance(told, list) and isinstance(found, list) and len(told) == len(found):
        return [part_of(one, other) for one, other in zip(found, told)]
    return found


class Old(unittest.TestCase):
    def check(self, name):
        """All that was said then is said now; more may be said beside it. By now a wait is own time of what called the kernel."""
        result = limpet("report", OLD / f"{name}.limpet", "--json", "-n", "0")
        self.assertEqual(result.code, 0, str(result))
        expected = [json.loads(line) for line in (OLD / f"{name}.json").read_text().splitlines()]
        kinds = {told["event"] for told in expected}
        events = [event for event in result.events if event["event"] in kinds]
        self.assertEqual(len(events), len(expected))
        for found, told in zip(events, expected):
            self.assertEqual(part_of(found, told), told)

    def test_calls(self):
        self.check("cpu")

    def test_devices(self):
        self.check("gpu")

    def test_samples(self):
        self.check("samples")


class Newer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="newer-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.path = os.path.join(cls.folder, "newer.limpet")
        made = subprocess.run([os.path.join(PROGRAMS, "make_newer_recording"), cls.path], check=True,
                              stdout=subprocess.PIPE, text=True, timeout=60)
        cls.told = json.loads(made.stdout)

    def report(self):
        result = limpet("report", self.path, "--json")
        self.assertEqual(result.code, 0, str(result))
        return result.events

    def export(self, name, extension):
        out = os.path.join(self.folder, f"out.{name}{extension}")
        result = limpet("export", self.path, "-f", name, "-o", out)
        self.assertEqual(result.code, 0, str(result))
        return out

    def test_the_report_keeps_what_it_does_not_know(self):
        events = self.report()
        functions = {event["domain"]: event for event in events if event["event"] == "function"}
        self.assertEqual(set(functions), {"alloc", *self.told["domains"]})
        for event in functions.values():
            self.assertEqual(event["calls"], self.told["each"])
            self.assertGreater(event["total_ns"], 0)
        self.assertEqual(events[-1]["other_records"], self.told["newer_records"])
        self.assertIs(events[-1]["complete"], True)

    def test_the_text_says_so(self):
        text = limpet("report", self.path).out
        for domain in self.told["domains"]:
            self.assertIn(f"calls: {domain}\n", text)
        self.assertIn(f"NOT SHOWN: {self.told['newer_records']} records", text)

    def test_formats_of_ours(self):
        expected = {"alloc", *self.told["domains"]}
        with open(self.export("csv", ".csv"), newline="", encoding="utf-8") as file:
            self.assertEqual({row["domain"] for row in csv.DictReader(file)}, expected)
        with open(self.export("json", ".json"), encoding="utf-8") as file:
            content = json.load(file)
            self.assertEqual({function["domain"] for function in content["functions"]}, expected)
            self.assertEqual(len(content["calls"]), 3 * self.told["each"])
        with open(self.export("chrome", ".trace"), encoding="utf-8") as file:
            self.assertEqual({event["cat"] for event in json.load(file)["traceEvents"] if event["ph"] == "X"},
                             expected)
        self.assertEqual({slice_["category"] for slice_ in perfetto.Trace(self.export("pftrace", ".pftrace")).slices},
                         expected)

    def test_formats_of_amd(self):
        out = self.export("rocprof-csv", "")
        with open(out + "_limpet_api_trace.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["Function"] for row in rows}, {"malloc", "futureCall", "lastCall"})
        self.assertEqual({row["Domain"] for row in rows}, {"LIMPET_ALLOC", "LIMPET_OTHER"})
        with open(self.export("rocprof-json", ".json"), encoding="utf-8") as file:
            self.assertIn("futureCall", file.read())
        with sqlite3.connect(self.export("rocpd", ".db")) as database:
            [(count,)] = database.execute("SELECT count(*) FROM regions WHERE name = 'futureCall'")
        self.assertEqual(count, self.told["each"])

    def test_no_format_is_left_out(self):
        """Whoever adds one looks here, too."""
        text = limpet("export", "--help").out.split("formats of calls, samples and counters over time:", 1)[1].split("format of everything:", 1)[0]
        self.assertEqual(set(re.findall(r"(?m)^  (\S+) ", text)),
                         {"csv", "json", "chrome", "kineto", "kernel-folded", "pftrace", "rocprof-csv", "rocprof-json", "rocpd"})


if __name__ == "__main__":
    unittest.main()
