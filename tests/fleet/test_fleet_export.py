#!/usr/bin/env python3
"""
`limpet fleet export` on recordings that were made up: each file is read by what it is meant for, or by its published
form, and has all ranks in it.

Environment: LIMPET is the executable under test, PROGRAMS the folder with make_samples and make_gpu_recording.
"""

import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import LIMPET, PROGRAMS, limpet  # noqa: E402

RANKS = 3


class Export(unittest.TestCase):
    """A folder of RANKS recordings on two nodes, the first two of which have a process of the same number."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="limpet-fleet-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def make(self, program, *arguments):
        folder = self.folder / "run"
        folder.mkdir()
        made = [f"rank-{rank:05}-n{rank % 2}-{100 + rank}.limpet" for rank in range(RANKS)]
        for name in made[1:]:
            subprocess.run([os.path.join(PROGRAMS, program), folder / name, *arguments], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(folder / made[1], folder / made[0])
        nodes = [{"name": f"n{node}", "answered": True, "clock_synchronized": True, "clock_error_ns": 1000} for node in (0, 1)]
        ranks = [{"rank": rank, "numbered": True, "node": rank % 2, "pid": 100 + rank, "state": "done", "recording": name}
                 for rank, name in enumerate(made)]
        (folder / "fleet.json").write_text(json.dumps(
            {"limpet": "test", "fleet": 1, "title": "job 17", "complete": True, "nodes": nodes, "ranks": ranks}))

    def export(self, form, name, code=0):
        output = self.folder / name
        result = limpet("fleet", "export", self.folder / "run", "-f", form, "-o", output)
        self.assertEqual(result.code, code, str(result))
        return output

    def test_samples_of_all_ranks(self):
        self.make("make_samples", "2")
        lines = self.export("folded", "all.folded").read_text(encoding="utf-8").splitlines()
        for rank in range(RANKS):
            of_rank = [line for line in lines if line.startswith(f"rank {rank} on n{rank % 2}: ")]
            self.assertTrue(any(";outer;middle;inner " in line for line in of_rank), lines)
        self.assertIn("rank 2 on n0", self.export("flamegraph", "all.html").read_text(encoding="utf-8"))
        merged = self.export("limpet", "all.limpet")
        events = {event["event"]: event for event in limpet("report", merged, "--json").events}
        self.assertIn("summary", events)
        report = limpet("report", merged).out
        self.assertEqual(len(set(re.findall(r"(?m)^process (\d+) \(rank \d on n\d", report))), RANKS, report)
        # A function of one file is one, whichever rank was in it.
        self.assertEqual(len(re.findall(r"(?m)^ .* inner \(make_samples\)", report.split("threads", 1)[0])), 1, report)

    def test_labels_of_pprof(self):
        self.make("make_samples", "2")
        path = self.export("pprof", "all.pb.gz")
        if not shutil.which("go"):
            self.skipTest("no go tool pprof here")
        text = subprocess.run(["go", "tool", "pprof", "-tags", path], capture_output=True, text=True, check=True).stdout
        self.assertRegex(text, r"(?s)job: .*job 17.*node: .*n[01].*rank: ")

    def test_an_archive_for_perfetto(self):
        self.make("make_gpu_recording", "3", "1")
        with tarfile.open(self.export("pftrace", "all.tar")) as archive:
            names = archive.getnames()
            manifest = json.load(archive.extractfile(names[0]))["perfetto_manifest"]
            sizes = {member.name: member.size for member in archive.getmembers()}
        self.assertEqual(manifest["version"], 1)
        self.assertEqual([one["path"] for one in manifest["files"]], names[1:])
        self.assertEqual([one["machine"]["name"] for one in manifest["files"]], ["n0", "n1", "n0"])
        self.assertTrue(all(sizes[name] > 100 for name in names))

    def test_all_ranks_in_one_chrome_file(self):
        self.make("make_gpu_recording", "3", "1")
        events = json.loads(self.export("chrome", "all.chrome.json").read_text(encoding="utf-8"))["traceEvents"]
        processes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        self.assertEqual(sorted(name[:12] for name in processes.values()), ["rank 0 on n0", "rank 1 on n1", "rank 2 on n0"])
        for pid in processes:
            self.assertTrue(any(event["pid"] == pid and event["ph"] == "X" for event in events))
        self.assertTrue(all(0 <= event["ts"] < 60e6 for event in events if "ts" in event))

    def test_one_database_with_all_processes(self):
        self.make("make_gpu_recording", "3", "1")
        limpet("export", self.folder / "run" / "rank-00002-n0-102.limpet", "-f", "rocpd", "-o", self.folder / "one.db")
        counts = []
        for path in (self.folder / "one.db", self.export("rocpd", "all.db")):
            database = sqlite3.connect(path)
            self.addCleanup(database.close)
            counts.append([database.execute(f"select count(*) from {view}").fetchone()[0]
                           for view in ("kernels", "regions", "memory_copies", "rocpd_info_process", "rocpd_info_thread")])
        self.assertEqual([RANKS * count for count in counts[0]], counts[1])
        self.assertEqual(sorted(database.execute("select hostname from rocpd_info_node").fetchall()), [("n0",), ("n1",)])
        self.assertEqual(database.execute("select count(distinct nid || ' ' || pid) from kernels").fetchone()[0], RANKS)

    def test_files_for_holistic_trace_analysis(self):
        self.make("make_gpu_recording", "3", "1")
        folder = self.export("kineto", "traces")
        for rank, path in enumerate(sorted(folder.iterdir())):
            text = path.read_text(encoding="utf-8")
            # As it looks for them: with that space.
            self.assertEqual(re.findall(r'"rank": (\d+)', text), [str(rank)])
            self.assertIn('"cat":"kernel"', text)

    def test_a_page_of_all_ranks(self):
        self.make("make_samples", "2")
        page = subprocess.Popen([LIMPET, "ui", self.folder / "run", "--socket", self.folder / "socket", "--no-open", "--json"],
                                stdout=subprocess.PIPE)
        self.addCleanup(page.stdout.close)
        self.addCleanup(page.wait)
        self.addCleanup(page.terminate)
        self.assertEqual(json.loads(page.stdout.readline())["event"], "listening")
        self.assertIn("rank 2 on n0", limpet("report", self.folder / "run" / ".all-ranks.limpet").out)
        result = limpet("ui", self.folder, "--no-open")
        self.assertEqual(result.code, 5, str(result))

    def test_what_is_missing_is_said(self):
        self.make("make_samples", "1")
        self.export("rocpd", "none.db", code=5)
        self.assertFalse((self.folder / "none.db").exists())
        (self.folder / "run" / "rank-00001-n1-101.limpet").write_bytes(b"no recording")
        self.export("folded", "some.folded", code=8)
        self.assertIn("rank 2 on n0", (self.folder / "some.folded").read_text(encoding="utf-8"))
        self.export("foldde", "none", code=2)

    def assertPartly(self, why):
        for verb in ("report", "export"):
            result = limpet("fleet", verb, self.folder / "run")
            self.assertEqual(result.code, 8, str(result))
            self.assertRegex(result.err, f"rank 1: .*{why}")

    def test_what_is_cut_or_absent_is_said(self):
        self.make("make_samples", "1")
        self.assertEqual(limpet("fleet", "report", self.folder / "run").code, 0)
        recording = self.folder / "run" / "rank-00001-n1-101.limpet"
        recording.write_bytes(recording.read_bytes()[:-1])
        self.assertPartly("it has no end")
        recording.unlink()
        self.assertPartly("No such file")
        fleet = json.loads((self.folder / "run" / "fleet.json").read_text())
        fleet["ranks"][1]["recording"] = ""
        (self.folder / "run" / "fleet.json").write_text(json.dumps(fleet))
        self.assertPartly("recording")

    def test_pipes_are_not_waited_for(self):
        self.make("make_samples", "1")
        for name in ("rank-00001-n1-101.limpet", "fleet.json"):
            (self.folder / "run" / name).unlink()
            os.mkfifo(self.folder / "run" / name)
            if name != "fleet.json":
                self.assertPartly("is not a recording")
        result = limpet("fleet", "report", self.folder / "run")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("fleet.json': it is no file", result.err)


if __name__ == "__main__":
    unittest.main()
