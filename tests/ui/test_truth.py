#!/usr/bin/env python3
"""
The numbers of `limpet ui` are those of `limpet report --json`; both forms of a table say the same.

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs.
"""

import base64
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest
from urllib.parse import quote

from server import LIMPET, PATIENCE_S, Server, program, read_answer

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

    def test_functions_of_a_range(self):
        """The same part of the recording, by --from and --to."""
        end = self.server.ask("/api/sessions")["sessions"][0]["end_ns"]
        for begin, until in ((0, end // 2), (end // 3, end // 3 * 2), (end - 5_000_000, end + 1)):
            events = self.report("--from", f"{begin / 1e9:.9f}", "--to", f"{until / 1e9:.9f}")
            for kind, view in VIEWS.items():
                self.assertEqual(self.asked(kind, f"&from={begin}&to={until}"), self.functions(events, view),
                                 (kind, begin, until))

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

    def test_compare(self):
        """Both sides have what their ranges have alone; a range beside itself differs nowhere."""
        end = self.server.ask("/api/sessions")["sessions"][0]["end_ns"]
        half = end // 2
        both = self.server.ask(f"/api/compare?session=1&from=0&to={half}&session_b=1&from_b={half}&to_b={end + 1}"
                               "&kind=wall")
        for name, part in (("", f"&from=0&to={half}"), ("_b", f"&from={half}&to={end + 1}")):
            alone = self.server.ask(f"/api/flame?session=1&kind=wall{part}")
            self.assertEqual(sum(both["columns"][f"self{name}"]), alone["total"])
            self.assertEqual((both[f"total{name}"], both[f"samples{name}"]), (alone["total"], alone["samples"]))
        same = self.server.ask("/api/compare?session=1&session_b=1")["columns"]
        self.assertEqual(same["self"], same["self_b"])
        self.assertEqual(self.server.get("/api/compare?session=1&session_b=9").status, 404)

    def test_exports(self):
        """What is exported is what `limpet export` writes of the same range."""
        end = self.server.ask("/api/sessions")["sessions"][0]["end_ns"]
        answer = self.server.get(f"/api/export?session=1&format=folded&from=0&to={end // 2}")
        self.assertEqual(answer.status, 200, answer.raw[:300])
        self.assertEqual(answer.headers["content-disposition"], 'attachment; filename="limpet-1.folded"')
        done = subprocess.run([LIMPET, "export", self.path, "-f", "folded", "-o", "-", "--to", f"{end // 2 / 1e9:.9f}"],
                              capture_output=True, timeout=PATIENCE_S, check=True)
        self.assertEqual(answer.body, done.stdout)
        names = [row["name"] for row in self.server.ask("/api/formats?session=1")["formats"]]
        self.assertIn("pftrace", names)
        for name in names:  # Whatever is offered can be had, and is one file.
            self.assertEqual(self.server.get(f"/api/export?session=1&format={name}").status, 200, name)
        self.assertFalse({"rocpd", "rocprof-csv", "chrome"} & set(names))
        for name, status in (("nonsense", 400), ("rocpd", 409), ("chrome", 409), ("speedscope", 200)):
            self.assertEqual(self.server.get(f"/api/export?session=1&format={name}").status, status, name)

    def test_an_export_outlives_its_session(self):
        """It is written beside other answers, also where its session is closed meanwhile."""
        with Server(self.path) as server, server.connect() as connection:
            connection.sendall(server.head("/api/export?session=1&format=folded").encode())
            # Once it was taken, or after it: either way it is whole.
            self.assertEqual(server.ask("/api/sessions")["sessions"][0]["id"], 1)
            self.assertEqual(server.post("/api/sessions/1/close").status, 200)
            answer = read_answer(connection)
            self.assertEqual(answer.status, 200, answer.raw[:300])
            self.assertEqual(answer.body, self.server.get("/api/export?session=1&format=folded").body)
            self.assertEqual(server.get("/api/export?session=1&format=folded").status, 404)

    def test_shared_page(self):
        size = self.server.get("/api/share?session=1&size=1").json()
        answer = self.server.get("/api/share?session=1")
        self.assertEqual((answer.status, len(answer.body)), (200, size["bytes"]), answer.raw[:300])
        page = answer.body.decode()
        data = page.partition('id="limpet-share">')[2].partition("</script>")[0]
        answers = json.loads(data)["answers"]
        # Names of a hostile program cannot leave it: all that they are in has letters that mean nothing to HTML.
        shape = r'\{"version":1,"answers":\{(\s*"[/a-z?=&0-9-]+":"[A-Za-z0-9+/=]*",?)+\s*\}\}\s*'
        self.assertTrue(re.fullmatch(shape, data), data[:200])
        flame = decode(base64.b64decode(answers["/api/flame?kind=cpu&invert=0"]))
        self.assertEqual(flame["total"], self.server.ask("/api/flame?session=1")["total"])
        self.assertTrue(json.loads(base64.b64decode(answers["/api/about"]))["share"])
        for wrong in ("http-equiv=\"refresh", "src=", 'href="app'):
            self.assertNotIn(wrong, page.partition("<script>")[0].replace("-src", ""))
        path = os.path.join(self.folder.name, "share.html")
        done = subprocess.run([LIMPET, "export", self.path, "-f", "html-page", "-o", path], timeout=PATIENCE_S, check=True,
                              capture_output=True, text=True)
        with open(path, encoding="utf-8") as file:
            self.assertIn("limpet-share", file.read())
        self.assertIn(f"{(os.path.getsize(path) + 1023) // 1024} KiB", done.stdout)

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


class Calls(unittest.TestCase):
    """Traced calls and work of devices."""

    def test_spans(self):
        with tempfile.TemporaryDirectory(prefix="spans-") as folder:
            path = os.path.join(folder, "gpu.limpet")
            subprocess.run([program("make_gpu_recording"), path, "20"], check=True, timeout=PATIENCE_S,
                           stdout=subprocess.DEVNULL)
            with Server(path) as server:
                self.check(server)

    def check(self, server):
        answer = server.ask("/api/spans?session=1&width=16384")
        spans = answer["columns"]
        self.assertEqual(sum(spans["count"]), sum(lane["spans"] for lane in answer["lanes"]))
        self.assertEqual({lane["type"] for lane in answer["lanes"]} & {"calls", "queue"}, {"calls", "queue"})
        self.assertLessEqual({"GPU 0 queue of compute", "GPU 0 copies of thread 1001", "GPU 0 copies to the host of thread 1001",
                              "GPU 1 copies to the host of thread 1001"}, {lane["title"] for lane in answer["lanes"]})
        # Nothing on one level of a lane lies over another.
        last = {}
        for row in sorted(zip(spans["lane"], spans["level"], spans["begin"], spans["end"])):
            self.assertGreaterEqual(row[2], last.get(row[:2], 0), row)
            last[row[:2]] = row[3]
        flows = server.ask("/api/flows?session=1")["columns"]
        self.assertTrue(flows["correlation"])
        for begin, end in zip(flows["from_time"], flows["to_time"]):
            self.assertLessEqual(begin, end)
        span = server.ask(f"/api/span?session=1&correlation={flows['correlation'][0]}")
        self.assertTrue(span["found"] and span["work"] and span["call"]["name"])
        gpu = server.ask("/api/flame?session=1&kind=gpu")
        self.assertGreater(gpu["total"], 0)
        self.assertEqual(sum(gpu["columns"]["self"]), gpu["total"])
        self.assertIn("gpu", server.ask("/api/sessions")["sessions"][0]["kinds"])
        self.check_gpu(server, gpu)
        self.check_ranges(server, answer, flows)
        # Each launch is a thread's: what those that launched have adds up to all whose launch was seen.
        threads = {lane["thread"] for lane in answer["lanes"] if lane["thread"] >= 0}
        alone = [server.ask(f"/api/flame?session=1&kind=gpu&threads={thread}") for thread in threads]
        self.assertEqual(sum(one["total"] for one in alone),
                         server.ask(f"/api/flame?session=1&kind=gpu&threads={','.join(map(str, threads))}")["total"])
        self.assertGreater(max(one["total"] for one in alone), 0)
        self.assertTrue(all("[launch not seen]" not in one["columns"]["names"] for one in alone))
        self.assertEqual(server.ask(f"/api/flame?session=1&kind=gpu&threads={max(threads) + 1000}")["total"], 0)

    def check_gpu(self, server, gpu):
        """Every picture of samples is one of device time too."""
        for more in ("&invert=1", "&by_thread=1"):
            self.assertEqual(server.ask(f"/api/flame?session=1&kind=gpu{more}")["total"], gpu["total"])
        functions = server.ask("/api/functions?session=1&kind=gpu")
        self.assertEqual(sum(functions["columns"]["self"]), gpu["total"])
        kernel = functions["columns"]["name"][0], functions["columns"]["module"][0]
        sandwich = server.ask(f"/api/sandwich?session=1&kind=gpu&name={quote(kernel[0])}&module={quote(kernel[1])}")
        self.assertEqual(sandwich["self"], functions["columns"]["self"][0])
        self.assertIn(0, sandwich["columns"]["role"])
        heat = server.ask("/api/heatmap?session=1&kind=gpu&cell_ms=1")
        self.assertAlmostEqual(sum(heat["columns"]["value"]) / gpu["total"], 1, places=6)
        both = server.ask("/api/compare?session=1&session_b=1&kind=gpu")
        self.assertEqual((both["total"], both["total_b"]), (gpu["total"], gpu["total"]))

    def check_ranges(self, server, whole, flows):
        """A range has those spans and arrows of the whole that lie in it; wide ones one by one, others added up."""
        rows = list(zip(whole["columns"]["begin"], whole["columns"]["end"], whole["columns"]["count"]))
        end = max(row[1] for row in rows)
        for begin, to in ((end // 3, end // 2), (0, end // 7), (end // 2, end // 2 + 1000), (end // 9, end)):
            begin, to = int(begin), int(to)
            part = server.ask(f"/api/spans?session=1&width=16384&from={begin}&to={to}")["columns"]
            seen = sum(part["count"])
            known = sum(row[2] for row in rows if row[0] < to and row[1] >= begin)
            self.assertLessEqual(seen, known)
            self.assertGreaterEqual(seen, sum(row[2] for row in rows if row[0] >= begin and row[1] < to))
            few = server.ask(f"/api/spans?session=1&width=3&from={begin}&to={to}")["columns"]
            self.assertEqual(sum(few["count"]), seen)
            arrows = server.ask(f"/api/flows?session=1&from={begin}&to={to}")["columns"]["to_time"]
            self.assertEqual(sorted(arrows), sorted(at for at in flows["to_time"] if begin <= at < to))



class Counters(unittest.TestCase):
    """Counters over time: what limpet record --counters counts, and limpet report adds up."""

    def test_means(self):
        with tempfile.TemporaryDirectory(prefix="truth-") as folder:
            path = os.path.join(folder, "it.limpet")
            command = [LIMPET, "record", "-o", path, "--counters", "task-clock,page-faults", "--counter-interval", "5ms",
                       "--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.05"]
            subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)
            done = subprocess.run([LIMPET, "report", path, "--json"], check=True, capture_output=True, text=True, timeout=PATIENCE_S)
            told = [row for row in map(json.loads, done.stdout.splitlines()) if row["event"] == "counter" and row["windows"]]
            self.assertLessEqual({"task-clock", "page-faults"}, {row["name"] for row in told})
            with Server(path) as server:
                answer = server.ask("/api/counters?session=1&width=500")
                self.assertEqual(server.ask("/api/counters?session=1&width=1&from=1000000000000&to=1000000000001")["columns"]["value"], [])
                self.check(answer, told)

    def check(self, answer, told):
        names = {metric["number"]: metric["name"] for metric in answer["metrics"]}
        for row in told:
            seconds = answer["step_ns"] / 1e9
            values = [value for number, value in zip(answer["columns"]["metric"], answer["columns"]["value"])
                      if names[number] == row["name"]]
            scale = 1e9 if row["unit"] == "ns" else 1
            total = sum(other["total"] for other in told if other["name"] == row["name"])
            # Parts at both ends are not measured all of their time.
            self.assertAlmostEqual(sum(values) * seconds * scale / total, 1, delta=0.1, msg=row["name"])


if __name__ == "__main__":
    unittest.main()
