#!/usr/bin/env python3
"""
`limpet fleet top` without a cluster: what is shown of ranks that run, on a screen and as JSON, and how it ends: by Ctrl-C, with
home, with the ranks, and where nodes fail.

Environment: LIMPET is the executable under test, PROGRAMS the folder with fleet_rank.
"""

import contextlib
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fleet_ranks import PATIENCE, Nodes  # noqa: E402
import harness  # noqa: E402
from harness import LIMPET  # noqa: E402


class Top(Nodes):
    def start_spinning(self, count, odd=99):
        return [self.start(odd, "spin", RANK=str(rank), WORLD_SIZE=str(count)) for rank in range(count)]

    def begin(self, *arguments, whom=("--local",), **options):
        """A limpet that shows ranks until it is stopped."""
        process = subprocess.Popen([LIMPET, "fleet", "top", *whom, "--match", self.name, *PATIENCE, *arguments],
                                   **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for stream in (process.stdout, process.stderr):
            if stream:
                self.addCleanup(stream.close)
        return process

    def node_parts(self):
        """Node parts that a limpet of ours may have started: those that run our own copy of it."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = path.read_bytes().split(b"\0")
                if words[1:2] == [b"fleet-node"] and os.path.realpath(path.parent / "exe") == str(self.folder / "limpet"):
                    found.append(int(path.parent.name))
        return found

    def picture(self, process, is_wanted):
        """The first one of --json that is as wanted."""
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "top" and is_wanted(event):
                return event
        self.fail(f"no such picture came: {process.stderr.read()}")

    def test_functions_are_spread_over_ranks(self):
        self.start_spinning(3, odd=1)
        process = self.begin("--json", "-F", "199")

        def is_wanted(top):
            return {rank["who"]["rank"] for rank in top["by_rank"] if rank["running_ns"]} == {0, 2}
        top = self.picture(process, is_wanted)
        self.assertEqual((top["ranks"], top["nodes"]), (3, 1))
        (row,) = [row for row in top["functions"] if row["function"] == "compute"]
        self.assertEqual((row["ranks"], row["module"]), (2, self.name))
        self.assertEqual(row["least_ns"], 0)
        self.assertNotIn("least", row)
        self.assertIn(row["most"]["rank"], (0, 2))
        self.assertGreater(row["most_ns"], row["mean_ns"])
        self.assertEqual([rank["function"] for rank in top["by_rank"] if rank["running_ns"]], ["compute"] * 2)
        process.send_signal(signal.SIGINT)
        events = [json.loads(line) for line in process.communicate(timeout=harness.PATIENCE_S)[0].splitlines()]
        self.assertEqual(process.returncode, 0, events)
        states = {event["rank"]: event["state"] for event in events if event["event"] == "rank"}
        self.assertEqual(states, {0: "done", 1: "idle", 2: "done"})

    def test_tables_for_people(self):
        (rank,) = self.start_spinning(1)
        process = self.begin("-F", "199")
        for line in process.stdout:
            if re.search(rf"^ +0 +\S+ +{rank.pid} .* compute$", line):
                break
        else:
            self.fail(process.stderr.read())
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=harness.PATIENCE_S)
        self.assertEqual(process.returncode, 0, rest + errors)
        self.assertNotIn("\033", rest)

    def test_a_screen_is_drawn_again_and_bounded(self):
        self.start_spinning(12)
        home, screen = pty.openpty()
        self.addCleanup(os.close, home)
        termios.tcsetwinsize(home, (16, 60))
        process = self.begin("-F", "199", stdout=screen)
        os.close(screen)
        text = b""
        while text.count(b"\033[H") < 3:
            text += os.read(home, 4096)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):
            while part := os.read(home, 4096):
                text += part
        self.assertEqual(process.wait(harness.PATIENCE_S), 0)
        pictures = text.decode().split("\033[H")[1:3]
        for picture in pictures:
            lines = picture.split("\033[J")[0].replace("\r", "").replace("\033[K", "").splitlines()
            self.assertLessEqual(len(lines), 16, lines)
            self.assertLess(max(map(len, lines)), 60, lines)
            self.assertRegex(picture, "and 8 between")

    def test_it_ends_with_home_everywhere(self):
        self.start_spinning(1)
        shutil.copy(LIMPET, self.folder / "limpet")
        process = self.begin("--json", executable=str(self.folder / "limpet"))
        self.picture(process, lambda top: top["ranks"])
        self.assertNotEqual(self.node_parts(), [])
        process.kill()
        self.assertTrue(harness.wait_until(lambda: not self.node_parts(), 60))

    def test_a_second_is_enough_for_a_picture(self):
        self.start_spinning(2)
        process = self.begin("--json", "-F", "199", "-d", "1")
        events = [json.loads(line) for line in process.communicate(timeout=harness.PATIENCE_S)[0].splitlines()]
        self.assertEqual(process.returncode, 0, events)
        self.assertEqual(max(event["ranks"] for event in events if event["event"] == "top"), 2)
        # Not on a CPU for a whole second: where the machine is that busy.
        states = [event["state"] for event in events if event["event"] == "rank"]
        self.assertLessEqual(set(states), {"done", "idle"})

    def test_nobody_is_idle_who_was_not_looked_at(self):
        self.start(0, "sleep", RANK="0", WORLD_SIZE="1")
        process = self.begin("--json", "-d", "1ms")
        events = [json.loads(line) for line in process.communicate(timeout=harness.PATIENCE_S)[0].splitlines()]
        self.assertNotEqual(process.returncode, 0, events)
        (rank,) = [event for event in events if event["event"] == "rank"]
        self.assertIn("before the first second was over", rank["reason"])

    def test_it_ends_where_nobody_can_see_it(self):
        self.start_spinning(1)
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = self.begin("--json", stdout=full)
            errors = process.communicate(timeout=harness.PATIENCE_S)[1]
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn("not all of the output could be written", errors)

    def test_it_ends_with_the_last_rank(self):
        ranks = self.start_spinning(2)
        process = self.begin("--json")
        self.picture(process, lambda top: top["ranks"] == 2)
        ranks[0].kill()
        self.picture(process, lambda top: top["ranks"] == 1)
        ranks[1].kill()
        events = [json.loads(line) for line in process.communicate(timeout=harness.PATIENCE_S)[0].splitlines()]
        self.assertNotEqual(process.returncode, 0, events)
        self.assertEqual({event["state"] for event in events if event["event"] == "rank"}, {"ended"})

    def test_a_rank_whose_first_thread_has_ended_goes_on(self):
        rank = self.start(99, "leave", RANK="0", WORLD_SIZE="1")
        process = self.begin("--json", "-F", "199")
        self.picture(process, lambda top: top["ranks"] == 1)
        rank.send_signal(signal.SIGUSR1)
        state = pathlib.Path(f"/proc/{rank.pid}/stat")
        self.assertTrue(harness.wait_until(lambda: state.read_text(encoding="utf-8").split(") ")[-1].startswith("Z")))
        left_ns = time.time_ns()
        top = self.picture(process, lambda top: top["real_ns"] > left_ns + 2 * 10**9 and top["by_rank"])
        self.assertEqual(top["ranks"], 1)
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=harness.PATIENCE_S)[0]
        self.assertEqual(process.returncode, 0, text)

    def test_windows_are_as_long_as_they_are_said_to_be(self):
        self.start_spinning(1)
        process = self.begin("-F", "199", "-d", "2")
        text = process.communicate(timeout=harness.PATIENCE_S)[0]
        self.assertRegex(text, r"samples? in [0-9.]+ s")
        # At most two seconds and what the machine is late.
        self.assertNotRegex(text.splitlines()[0], r"samples? in 5 s")

    def test_nodes_that_say_nothing_any_more_are_not_shown_for_ever(self):
        self.start_spinning(1)
        script = self.script('#!/bin/sh\nshift\necho $$ > "$0.pid"\nexec "$@"\n')
        process = self.begin("--json", whom=("--launcher", f"{script} {{host}}", "--hosts", "n1"))
        self.picture(process, lambda top: top["ranks"] == 1)
        pid = int(pathlib.Path(f"{script}.pid").read_text(encoding="utf-8"))
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(self.kill_group, pid)
        top = self.picture(process, lambda top: not top["ranks"])
        self.assertEqual((top["nodes"], top["functions"], top["by_rank"]), (0, [], []))
        os.kill(pid, signal.SIGCONT)
        self.picture(process, lambda top: top["ranks"] == 1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=harness.PATIENCE_S)
        self.assertEqual(process.returncode, 0)

    def test_nodes_that_fail_cost_only_themselves(self):
        self.start_spinning(1)
        script = self.script('#!/bin/sh\nhost=$1; shift\n[ "$host" = n1 ] && exec "$@"\necho no such node >&2; exit 3\n')
        process = self.begin("--json", whom=("--launcher", f"{script} {{host}}", "--hosts", "n1,n2"))
        self.assertEqual(self.picture(process, lambda top: top["ranks"])["nodes"], 1)
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=harness.PATIENCE_S)[0]
        self.assertEqual(process.returncode, 8, text)
        nodes = {event["node"]: event for event in map(json.loads, text.splitlines()) if event["event"] == "node"}
        self.assertEqual(nodes["n1"]["state"], "done")
        self.assertIn("no such node", nodes["n2"]["trouble"])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root to become others")
    def test_ranks_of_others_are_refused_and_the_rest_is_shown(self):
        others = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        self.folder.chmod(0o755)
        self.start(99, "spin", RANK="0", WORLD_SIZE="2")
        self.start(99, "spin", before=others, RANK="1", WORLD_SIZE="2")
        copy = self.folder / "limpet"
        shutil.copy(LIMPET, copy)
        result = subprocess.run([*others, copy, "fleet", "top", "--local", "--match", self.name, "--json", "-d", "3", *PATIENCE],
                                capture_output=True, text=True, timeout=harness.PATIENCE_S)
        events = [json.loads(line) for line in result.stdout.splitlines()]
        states = {event["rank"]: event["state"] for event in events if event["event"] == "rank"}
        self.assertEqual(result.returncode, 8, result.stdout + result.stderr)
        self.assertEqual(states[0], "refused")
        self.assertIn(states[1], ("done", "idle"))

    def test_what_cannot_be_asked_for(self):
        self.fleet("top", "--local", "-F", "0", code=2)
        self.fleet("top", "--local", "-F", "1000", code=2)
        self.fleet("top", code=2)
        self.fleet("top", "--local", "--match", self.name, code=4)


if __name__ == "__main__":
    unittest.main()
