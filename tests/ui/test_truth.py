#!/usr/bin/env python3
"""
The numbers of `limpet ui` are those of `limpet report --json`; both forms of a table say the same.

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs.
"""

import json
import os
import struct
import subprocess
import tempfile
import unittest

from server import LIMPET, PATIENCE_S, Server, program

VIEWS = {"cpu": "on-cpu", "off-cpu": "off-cpu", "runnable": "runnable"}


def decode(data):
    """The binary form of a table, as its JSON form would be."""
    magic, version, count, facts_size, total = struct.unpack_from("<4sHHII", data)
    assert (magic, version, total) == (b"LMPC", 1, len(data)), (magic, version, total, len(data))
    facts = json.loads(data[16 + 32 * count:16 + 32 * count + facts_size])
    facts["columns"] = {}
    for i in range(count):
        name, kind, items, offset, size = struct.unpack_from("<16sIIII", data, 16 + 32 * i)
        assert offset % 8 == 0 and offset + size <= len(data)
        letter = {1: "B", 2: "I", 3: "d", 4: "I"}[kind]
        values = list(struct.unpack_from(f"<{items}{letter}", data, offset))
        if kind == 4:
            texts = data[offset + 4 * items:offset + size]
            values = [texts[begin:end].decode() for begin, end in zip([0, *values], values)]
        facts["columns"][name.rstrip(b"\0").decode()] = values
    return facts


class Truth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="truth-")
        cls.path = os.path.join(cls.folder.name, "it.limpet")
        subprocess.run([program("make_samples"), cls.path, "50"], check=True, timeout=PATIENCE_S)
        cls.server = Server(cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.folder.cleanup()

    def report(self, *options):
        done = subprocess.run([LIMPET, "report", self.path, "--json", *options], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def functions(self, events, view):
        return sorted((row["name"], row["module"], row["self_ns"], row["total_ns"], row["self_samples"],
                       row["total_samples"], row["self_error"])
                      for row in events if row["event"] == "sampled_function" and row["view"] == view)

    def asked(self, kind, more=""):
        columns = self.server.ask(f"/api/functions?session=1&kind={kind}&limit=0{more}")["columns"]
        return sorted(zip(*(columns[name] for name in ("name", "module", "self", "total", "self_count", "total_count",
                                                       "self_error"))))

    def test_functions(self):
        events = self.report()
        for kind, view in VIEWS.items():
            self.assertEqual(self.asked(kind), self.functions(events, view), kind)

    def test_threads(self):
        columns = self.server.ask("/api/threads?session=1")["columns"]
        asked = sorted(zip(*(columns[name] for name in ("tid", "name", "samples", "on_cpu_ns", "waited_ns",
                                                        "runnable_ns", "incomplete"))))
        told = sorted((row["tid"], row["name"], row["samples"], row["on_cpu_ns"], row["waited_ns"], row["runnable_ns"],
                       row["incomplete"]) for row in self.report() if row["event"] == "sampled_thread")
        self.assertEqual(asked, told)

    def test_session(self):
        session = self.server.ask("/api/sessions")["sessions"][0]
        summary = self.report()[-1]
        self.assertEqual((session["samples"], session["lost"], session["hz"], session["sampler"]),
                         (summary["samples"], summary["samples_lost"], summary["hz"], summary["sampler"]))
        self.assertEqual((session["state"], session["file"]), ("file", "it.limpet"))

    def test_both_forms(self):
        for path in ("/api/flame?session=1&kind=wall&by_thread=1", "/api/flame?session=1&invert=1",
                     "/api/functions?session=1", "/api/threads?session=1", "/api/timeline?session=1&width=50",
                     "/api/heatmap?session=1&cell_ms=1", "/api/sandwich?session=1&name=middle&module=make_samples"):
            binary, text = decode(self.server.get(path).body), self.server.ask(path)
            for answer in (binary, text):
                answer.pop("elapsed_us", None)
            self.assertEqual(binary, text, path)

    def test_trees(self):
        whole = self.server.ask("/api/functions?session=1&kind=wall")["total"]
        for options in ("", "&invert=1", "&by_thread=1", "&width=0"):
            flame = self.server.ask(f"/api/flame?session=1&kind=wall{options}")
            self.assertEqual((sum(flame["columns"]["self"]), flame["total"]), (whole, whole), options)
        narrow = self.server.ask("/api/flame?session=1&kind=wall&width=1")
        self.assertEqual(sum(narrow["columns"]["self"]), whole)
        self.assertGreater(narrow["trimmed"], 0)
        self.assertIn(4, narrow["columns"]["type"])

    def test_parts_add_up(self):
        """Time is cut, not counted twice: the parts of a range have together what the whole has."""
        end = self.server.ask("/api/sessions")["sessions"][0]["end_ns"]
        whole = self.server.ask("/api/flame?session=1&kind=wall")["total"]
        cuts = [0, end // 7, end // 3, end // 2 + 1, end + 1]
        parts = [self.server.ask(f"/api/flame?session=1&kind=wall&from={begin}&to={until}")["total"]
                 for begin, until in zip(cuts, cuts[1:])]
        self.assertEqual(sum(parts), whole)
        heat = self.server.ask("/api/heatmap?session=1&kind=wall&cell_ms=1")
        self.assertEqual(sum(heat["columns"]["value"]), whole)
        threads = self.server.ask("/api/threads?session=1")["columns"]["number"]
        by_thread = [self.server.ask(f"/api/flame?session=1&kind=wall&threads={number}")["total"] for number in threads]
        self.assertEqual(sum(by_thread), whole)

    def test_a_stack(self):
        end = self.server.ask("/api/sessions")["sessions"][0]["end_ns"]
        thread = self.server.ask("/api/threads?session=1")["columns"]["number"][0]
        stack = self.server.ask(f"/api/stack?session=1&thread={thread}&time={end // 2}")
        self.assertTrue(stack["found"])
        self.assertIn("outer", [frame["name"] for frame in stack["frames"]])

    def test_sandwich(self):
        answer = self.server.ask("/api/sandwich?session=1&kind=cpu&name=middle&module=make_samples")
        rows = list(zip(answer["columns"]["role"], answer["columns"]["name"]))
        self.assertIn((0, "outer"), rows)
        self.assertIn((1, "inner"), rows)


if __name__ == "__main__":
    unittest.main()
