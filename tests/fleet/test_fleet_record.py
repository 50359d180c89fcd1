#!/usr/bin/env python3
"""
`limpet fleet record` and `fleet report` without a cluster: where recordings go, what they come to, and what becomes of
them when ranks end, lines tear, disks are full and node parts die.

Environment: LIMPET is the executable under test, PROGRAMS the folder with fleet_rank.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fleet_ranks import PATIENCE, Nodes  # noqa: E402
import harness  # noqa: E402
from harness import LIMPET, limpet  # noqa: E402


class Record(Nodes):
    def setUp(self):
        super().setUp()
        self.run_folder = self.folder / "run"

    def start_spinning(self, count, odd=99):
        return [self.start(odd, "spin", RANK=str(rank), WORLD_SIZE=str(count)) for rank in range(count)]

    def listed(self):
        """{rank: object} of fleet.json, and each recording in it is there."""
        fleet = json.loads((self.run_folder / "fleet.json").read_text(encoding="utf-8"))
        self.assertTrue(fleet["complete"])
        for rank in fleet["ranks"]:
            if rank["recording"]:
                self.assertGreater((self.run_folder / rank["recording"]).stat().st_size, 0)
        return {rank["rank"]: rank for rank in fleet["ranks"]}

    def begin(self, *arguments, whom=("--local",), count=1):
        """A limpet that records until it is stopped, when so many recordings have begun."""
        process = subprocess.Popen(
            [LIMPET, "fleet", "record", *whom, "--match", self.name, "-o", self.run_folder, *PATIENCE, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(harness.wait_until(lambda: self.begun() >= count, 60))
        return process

    def begun(self):
        return sum(path.stat().st_size > 200 for path in self.run_folder.glob("*.limpet"))

    def recorders(self):
        """Processes that record into this folder."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                line = path.read_bytes()
                if line.split(b"\0")[1:2] == [b"record"] and str(self.run_folder).encode() in line:
                    found.append(path.parent.name)
        return found

    def test_ranks_are_recorded_and_added_up(self):
        pids = [process.pid for process in self.start_spinning(3, odd=1)]
        arguments = ("--match", self.name, "-d", "1", "-F", "999", "-o", self.run_folder)
        text = self.fleet("record", "--local", *arguments).out
        self.assertRegex(text, rf"(?m)^ +2 +\S+ +{pids[2]} .* compute$")
        self.assertRegex(text, r"(?m)^ .* compute \(")
        ranks = self.listed()
        self.assertEqual([ranks[rank]["state"] for rank in (0, 1, 2)], ["done", "idle", "done"])
        self.assertTrue(all(rank["recording"] for rank in ranks.values()))
        self.assertIn("is not empty", self.fleet("record", "--local", *arguments, code=2).err)
        found = {}
        for event in limpet("fleet", "report", self.run_folder, "--json").events:
            found.setdefault(event["event"], []).append(event)
        compute = next(row for row in found["function"] if row["function"] == "compute")
        self.assertEqual((compute["ranks"], compute["least_ns"]), (2, 0))
        self.assertIn(compute["most_rank"], (0, 2))
        self.assertEqual(sum(rank["running_ns"] > 0 for rank in found["recorded_rank"]), 2)
        self.assertEqual([rank["pid"] for rank in found["recorded_rank"]], pids)
        # Without its list, and with one of somebody else.
        (self.run_folder / "fleet.json").unlink()
        self.assertIn("compute", self.fleet_report(code=0).out)
        (self.run_folder / "fleet.json").write_text('{"fleet":1,"ranks":[{"rank":', encoding="utf-8")
        self.assertIn("is no list of a fleet", self.fleet_report(code=1).err)

    def fleet_report(self, code):
        result = limpet("fleet", "report", self.run_folder)
        self.assertEqual(result.code, code, str(result))
        return result

    def test_recordings_come_home(self):
        self.start_spinning(2)
        self.launched("n1", {"n1": """ "$@" | sed -u 's/^/n1: /' """}, "-d", "1", "-F", "999", "--send", "-o",
                      self.run_folder, verb="record")
        ranks = self.listed()
        for rank in ranks.values():
            self.assertEqual(rank["state"], "done", rank)
            self.assertTrue(rank["recording"].startswith(f"rank-0000{rank['rank']}-n1-"))
            self.assertEqual(limpet("report", self.run_folder / rank["recording"]).code, 0)

    def test_its_folder_is_nobody_elses(self):
        self.start_spinning(1)
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        deep = self.folder / "deep"
        self.fleet("record", "--local", "--match", self.name, "-d", "1", "-F", "999", "-o", f"{deep}/run//")
        self.assertEqual((deep.stat().st_mode & 0o777, (deep / "run").stat().st_mode & 0o777), (0o755, 0o700))
        own = self.folder / "own-link"
        (self.folder / "empty").mkdir()
        own.symlink_to(self.folder / "empty")
        self.fleet("record", "--local", "--match", self.name, "-d", "1", "-F", "999", "-o", own)
        self.assertTrue((self.folder / "empty" / "fleet.json").exists())

    @unittest.skipUnless(os.geteuid() == 0, "needs root to be others")
    def test_links_of_others_are_not_followed(self):
        (self.folder / "empty").mkdir()
        link = self.folder / "link"
        link.symlink_to(self.folder / "empty")
        os.lchown(link, 65534, 65534)
        result = self.fleet("record", "--local", "--match", self.name, "-d", "1", "-o", link, code=2)
        self.assertIn("behind another user's link", result.err)
        self.assertEqual(list((self.folder / "empty").iterdir()), [])

    def test_a_folder_that_others_may_write_to_is_not_written_by_nodes(self):
        self.start_spinning(1)
        self.run_folder.mkdir()
        self.run_folder.chmod(0o777)
        self.launched("n1", {"n1": f'"$@" | tee {self.folder}/said'}, "-d", "1", "-F", "999", "-o", self.run_folder,
                      verb="record")
        recording = self.run_folder / self.listed()[0]["recording"]
        self.assertGreater((self.folder / "said").stat().st_size, recording.stat().st_size)

    def test_a_torn_line_costs_one_recording(self):
        self.start_spinning(2)
        result = self.launched("n1", {"n1": """ "$@" | sed -u '7s/...$/!!!/' """}, "-d", "1", "-F", "999", "--send", "-o",
                               self.run_folder, verb="record", code=8)
        self.assertRegex(result.err, "damaged on the way")
        self.assertIn("done", [rank["state"] for rank in self.listed().values()])

    def test_a_rank_without_its_recording_is_not_done(self):
        self.start_spinning(2)
        self.launched("n1", {"n1": f'"$@"; rm {self.run_folder}/rank-00001-*'}, "-d", "1", "-F", "999", "-o",
                      self.run_folder, verb="record", code=8)
        ranks = self.listed()
        self.assertEqual((ranks[1]["state"], ranks[1]["reason"]), ("cut", "its recording is missing"))
        self.assertTrue(ranks[0]["recording"])

    def test_a_rank_that_ends_is_recorded_up_to_there(self):
        ranks = self.start_spinning(2)
        process = self.begin(count=2)
        ranks[0].kill()
        self.assertTrue(harness.wait_until(lambda: len(self.recorders()) == 1, 60))
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=harness.PATIENCE_S)[0]
        # 5: on a busy machine the other one may have had no sample yet.
        self.assertIn(process.returncode, (8, 5), text)
        self.assertRegex(text, r"ended: 1:\[0\] ")
        self.assertTrue(self.listed()[1]["recording"])

    def test_an_interrupt_ends_all_recordings(self):
        self.start_spinning(2)
        process = self.begin("-F", "999")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=harness.PATIENCE_S)[0]
        self.assertIn(process.returncode, (0, 5), text)
        self.assertTrue(all(rank["recording"] for rank in self.listed().values()))
        self.assertEqual(self.recorders(), [])

    def test_recorders_end_with_their_node_part(self):
        self.start_spinning(1)
        script = self.script('#!/bin/sh\necho $$ >"$(dirname "$0")/pid"\nexec "$@"\n')
        process = self.begin(whom=("--launcher", script))
        self.assertNotEqual(self.recorders(), [])
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)
        text = process.communicate(timeout=harness.PATIENCE_S)[0]
        self.assertNotEqual(process.returncode, 0, text)
        self.assertTrue(harness.wait_until(lambda: not self.recorders(), 60))
        rank = self.listed()[0]
        self.assertEqual(rank["state"], "cut")
        self.assertTrue(rank["recording"])

    def test_a_full_disk_is_said(self):
        self.start_spinning(1)
        result = self.launched("n1", {"n1": 'ulimit -f 1; exec "$@"'}, "-d", "1", "-F", "999", "-o", self.run_folder,
                               verb="record", code=1)
        self.assertRegex(result.err, r"cut: 1:\[0\] ")

    def test_not_all_ranks_are_traced(self):
        self.start_two()
        result = limpet("fleet", "record", "--local", "--match", self.name, "--alloc-trace", "-F", "999", "-d", "200ms",
                        "--max-traced", "1", "-o", self.run_folder, *PATIENCE)
        self.assertIn("1 of 2 ranks are traced: 0", result.err)
        self.assertEqual(list(self.listed()), [0])

    def test_silent_nodes_do_not_raise_the_number_of_traced_ranks(self):
        self.start(1)
        result = self.launched("n1,n2", {"n1": 'exec "$@"', "n2": "exit 1"}, "--alloc-trace", "-o", self.run_folder,
                               verb="record", code=1)
        self.assertIn("1 of 2 nodes did not answer while ranks were counted", result.err)
        self.assertFalse(self.run_folder.exists())

    def test_an_interrupt_while_ranks_are_counted_ends_all(self):
        script = self.script('#!/bin/sh\n: >"$(dirname "$0")/began"\nexec cat\n')
        process = subprocess.Popen(
            [LIMPET, "fleet", "record", "--launcher", script, "--hosts", "n1", "--alloc-trace", "-o", self.run_folder],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertTrue(harness.wait_until((self.folder / "began").exists, 60))
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=harness.PATIENCE_S)[0]
        self.assertEqual(process.returncode, 1, text)
        self.assertIn("stopped while ranks were counted", text)
        self.assertFalse(self.run_folder.exists())

    def test_what_cannot_be_asked_for(self):
        self.fleet("record", "--local", code=2)
        self.fleet("record", "--local", "-F", "0", "-o", self.folder / "none", code=2)
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    unittest.main()
