#!/usr/bin/env python3
"""
`limpet fleet` without a cluster: ranks of this machine by --local, and nodes that answer, lie, hang or die by
--launcher.

Environment: LIMPET is the executable under test, PROGRAMS the folder with fleet_rank.
"""

import base64
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fleet_ranks import PATIENCE, Nodes, Ranks  # noqa: E402
import harness  # noqa: E402
from harness import LIMPET, PROGRAMS  # noqa: E402


PYTHON_RANKS = """import os, time
def all_reduce(is_open):
    if not is_open:
        time.sleep(1000)
def step(rank):
    print("ready", flush=True)
    if rank < 2:
        all_reduce(rank == 1)
        all_reduce(False)
def spin():
    count = 0
    while True:
        count += 1
        count ^= 3
step(int(os.environ["RANK"]))
spin()
"""


class Local(Ranks):
    def test_the_odd_rank_is_found(self):
        for rank in range(5):
            self.start(3, RANK=str(rank), WORLD_SIZE="5", MARK=self.name)
        text = self.fleet("dump", "--local", "--match", self.name, "--times", "2", "--interval", "50ms").out
        self.assertRegex(text, r"(?m)^  4:\[0-2,4\] main \(fleet_rank\.c:\d+\) > reduce_all[^>]* > .*\n?.*sleeping")
        self.assertRegex(text, r"(?m)^  1:\[3\] main \(fleet_rank\.c:\d+\) > stuck_on_lock")
        self.assertRegex(text, r"(?m)^  waits in one place +5:\[0-4\]$")
        found = self.events("dump", "--local", "--match", self.name)
        self.assertEqual({one["ranks"]: one["frames"][-1]["function"] for one in found["class"]},
                         {"0-2,4": "_start", "3": "_start"})
        self.assertEqual([rank["state"] for rank in found["rank"]], ["done"] * 5)
        self.assertEqual(found["summary"][0]["exit"], 0)

    def waits(self, found):
        """{ranks: lines of step_twice} of the classes of main threads."""
        return {one["ranks"]: [frame["line"] for frame in one["frames"] if frame["function"] == "step_twice"]
                for one in found["class"]}

    def test_the_second_of_two_equal_waits(self):
        """Merged by function alone, all four are in one class."""
        pids = [self.start(2, "twice", RANK=str(rank), WORLD_SIZE="4").pid for rank in range(4)]
        found = self.events("dump", "--local", "--match", self.name)
        waits = self.waits(found)
        self.assertEqual(sorted(waits), ["0-1,3", "2"])
        self.assertEqual([len(lines) for lines in waits.values()], [1, 1])
        self.assertGreater(waits["2"][0], waits["0-1,3"][0])
        where = {one["ranks"]: one["where"] for one in found["class"]}
        self.assertEqual([(part["ranks"], part["pids"]) for part in where["2"]], [("2", str(pids[2]))])
        text = self.fleet("dump", "--local", "--match", self.name).out
        self.assertRegex(text, rf"(?m)^ +2 on \S+ \(pid {pids[2]}\)$")
        self.assertRegex(text, rf"(?m)^ +0-1,3 on \S+ \(pids .*{pids[3]}.*\)$")
        self.assertRegex(text, r"step_twice \(fleet_rank\.c:%u\)" % waits["2"][0])
        whole = self.waits(self.events("dump", "--local", "--match", self.name, "--no-lines"))
        self.assertEqual(whole, {"0-3": [0]})

    def test_waiting_is_no_spinning_and_no_progress(self):
        for rank, how in enumerate(("twice", "spin", "steps")):
            self.start(9, how, RANK=str(rank), WORLD_SIZE="3")
        found = self.events("dump", "--local", "--match", self.name, "--times", "6", "--interval", "110ms")
        self.assertEqual({one["motion"]: one["ranks"] for one in found["motion"]},
                         {"waits in one place": "0", "spins in one place": "1", "moves: call sites change": "2"})

    def test_lines_of_python(self):
        """The second of two equal waits, and a loop that is at another line each time, but in one place."""
        script = os.path.basename(self.script(PYTHON_RANKS, f"{self.name}.py"))
        for rank in range(3):
            self.start(before=(sys.executable,), program=script, RANK=str(rank), WORLD_SIZE="3")
        found = self.events("dump", "--local", "--match", script, "--times", "4", "--interval", "60ms")
        steps = {one["ranks"]: [frame["line"] for frame in one["frames"] if frame["function"] == "step"]
                 for one in found["class"]}
        self.assertEqual(steps, {"0": [8], "1": [9], "2": []})
        self.assertEqual({one["motion"]: one["ranks"] for one in found["motion"]},
                         {"waits in one place": "0-1", "spins in one place": "2"})

    def test_ranks_that_cannot_run_are_marked(self):
        stopped = self.start(9, RANK="0", WORLD_SIZE="3")
        dead = self.start(9, RANK="1", WORLD_SIZE="3")
        self.start(9, RANK="2", WORLD_SIZE="3")
        os.kill(stopped.pid, signal.SIGSTOP)
        os.kill(dead.pid, signal.SIGKILL)
        for pid, state in ((stopped.pid, "T"), (dead.pid, "Z")):
            self.assertTrue(harness.wait_until(lambda pid=pid, state=state: self.state_of(pid) == state))
        found = self.events("dump", "--local", "--match", self.name, "--times", "2", "--interval", "50ms", code=8)
        self.assertEqual([(one["state"], one["where"]["ranks"], one["where"]["pids"]) for one in found["halted"]],
                         [("stopped", "0", str(stopped.pid))])
        self.assertEqual({one["motion"]: one["ranks"] for one in found["motion"]},
                         {"stopped": "0", "waits in one place": "2"})
        result = self.fleet("dump", "--local", "--match", self.name, code=8)
        self.assertRegex(result.out, rf"(?m)^  stopped  0 on \S+ \(pid {stopped.pid}\): by a signal")
        self.assertIn("no answer: 1:[1]", result.err)
        self.assertIn(f"process {dead.pid} is a zombie that its parent, {os.getpid()}, has not collected", result.err)

    def test_a_rank_that_a_launcher_names_and_that_has_ended(self):
        gone, there = self.start(9), self.start(9)
        gone.kill()
        gone.wait()
        process = subprocess.Popen([os.path.join(PROGRAMS, "fleet_launcher"), "table", "localhost", str(gone.pid), str(there.pid)],
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        found = self.events("dump", "--mpirun", process.pid, code=8)
        self.assertEqual([(one["state"], one["where"]["ranks"], one["where"]["pids"]) for one in found["halted"]],
                         [("ended", "0", str(gone.pid))])

    @staticmethod
    def state_of(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0]

    def test_which_variable_counts(self):
        self.start(9, RANK="7", SLURM_PROCID="1", SLURM_STEP_ID="0", OMPI_COMM_WORLD_RANK="2", OMPI_COMM_WORLD_SIZE="3")
        self.start(9, RANK="8", OMPI_COMM_WORLD_RANK="0")
        self.start(9, RANK="9", OMPI_COMM_WORLD_RANK="1")
        ranks = self.ranks("--local", "--match", self.name)
        self.assertEqual(sorted(ranks), [0, 1, 2])
        self.assertEqual(ranks[2]["variable"], "OMPI_COMM_WORLD_RANK")
        self.assertEqual(sorted(self.ranks("--local", "--match", self.name, "--rank-variable", "RANK")), [7, 8, 9])

    def test_wrappers_are_looked_through(self):
        # By a variable that nobody else has: others run `timeout` as well.
        variable = f"RANK_OF_{os.getpid()}"
        whom = ("--local", "--rank-variable", variable)
        other = self.script(f'#!/bin/sh\n"{self.folder / self.name}" 1; true\n', "wrapped-" + self.name[6:])
        process = self.start(before=("timeout", "100"), program=os.path.basename(other), **{variable: "0"})
        rank = self.ranks(*whom)[0]
        self.assertEqual(rank["program"], self.name)
        self.assertEqual(rank["through"], f"timeout, {os.path.basename(other)[:15]}")
        top = self.ranks(*whom, "--top-level")[0]
        self.assertEqual((top["pid"], top["program"]), (process.pid, "timeout"))
        self.assertIn("reduce_all", self.fleet("dump", *whom, "--descendants", "-a").out)

    def test_processes_without_a_rank_are_numbered(self):
        pids = sorted(self.start(0).pid for _ in range(2))
        ranks = self.ranks("--local", "--match", self.name)
        self.assertEqual([(ranks[number]["pid"], ranks[number]["numbered"]) for number in (0, 1)],
                         [(pid, False) for pid in pids])

    def test_a_rank_that_was_set_later_is_read_from_memory(self):
        self.start(1, "late", 4)
        rank = self.ranks("--local", "--match", self.name)[4]
        self.assertEqual(rank["variable"], "RANK")

    def test_missing_and_unwanted_ranks(self):
        self.start(1, RANK="0", WORLD_SIZE="3")
        self.start(1, RANK="2", WORLD_SIZE="3")
        found = self.events("dump", "--local", "--match", self.name, code=8)
        self.assertEqual({rank["rank"]: rank["state"] for rank in found["rank"]}, {0: "done", 1: "no-answer", 2: "done"})
        found = self.events("dump", "--local", "--match", self.name, "--ranks", "2")
        self.assertEqual([rank["rank"] for rank in found["rank"]], [2])

    def test_a_rank_that_says_there_are_a_million(self):
        """Each that is missing was once held against each other: that took minutes, and heard no signal."""
        self.start(1, RANK="0", WORLD_SIZE="1000000")
        result = self.fleet("ps", "--local", "--match", self.name, code=8)
        self.assertIn("no answer: 262143:[1-262143] no node tells of it", result.err)

    def test_two_jobs_are_not_one(self):
        self.start(1, RANK="0")
        self.start(1, RANK="0")
        result = self.fleet("dump", "--local", "--match", self.name, code=4)
        self.assertIn("rank 0 is there twice", result.err)

    def test_nobody_is_an_error(self):
        self.assertIn("no process is called", self.fleet("ps", "--local", "--match", "no-such-program", code=4).err)
        self.fleet("ps", code=2)
        self.fleet("ps", "--local", "--hosts", "a", code=2)
        self.fleet("dump", "--hosts", "-oProxyCommand=x", code=2)

    def launcher(self, *arguments):
        process = subprocess.Popen([os.path.join(PROGRAMS, "fleet_launcher"), *arguments], stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def has_proxy(self, pid):
        """It is one from its exec on, not from its fork."""
        names = subprocess.run(["ps", "-o", "args=", "--ppid", str(pid)], capture_output=True, text=True).stdout
        return "hydra_pmi_proxy" in names

    def test_launchers_whose_list_is_empty(self):
        self.assertIn("has no list of ranks yet", self.fleet("ps", "--mpirun", self.launcher().pid, code=6).err)
        # Nobody is below its proxy: it was looked for there.
        hydra = self.launcher("hydra").pid
        self.assertTrue(harness.wait_until(lambda: self.has_proxy(hydra)))
        self.assertIn("no rank was found", self.fleet("ps", "--mpirun", hydra, code=4).err)
        gone = self.launcher()
        gone.kill()
        gone.wait()
        self.assertIn(f"there is no process {gone.pid}", self.fleet("ps", "--mpirun", gone.pid, code=4).err)

    def forger(self, *table):
        """Another user's launcher, whose list says what it likes."""
        process = subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                    self.public(os.path.join(PROGRAMS, "fleet_launcher")), "table", *map(str, table)],
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process.pid

    def public(self, path):
        """A copy that everybody may run."""
        copy = self.folder / os.path.basename(path)
        shutil.copy(path, copy)
        self.folder.chmod(0o755)
        return copy

    @unittest.skipIf(os.getuid(), "needs root")
    def test_a_foreign_launcher_chooses_nobody(self):
        victim = self.start(1)
        forger = self.forger("localhost", victim.pid)
        verbs = (("ps",), ("record", "-o", self.folder / "out", "-d", "100ms", "--alloc-trace"))
        for verb in verbs:
            result = self.fleet(*verb, "--mpirun", forger, code=3)
            self.assertIn(f"launcher {forger} belongs to another user (65534)", result.err)
            self.assertIn("--foreign-launcher", result.err)
        trusted = self.fleet("record", "-o", self.folder / "trusted", "-d", "100ms", "--alloc-trace", "--mpirun", forger,
                             "--foreign-launcher", code=3)
        self.assertRegex(trusted.err, r"refused: 1:\[0\] the process belongs to another user")
        self.assertEqual(harness.limpet_mappings(victim.pid), [], "limpet was in a process that a forged list named")

    @unittest.skipIf(os.getuid(), "needs root")
    def test_a_foreign_launcher_chooses_no_login(self):
        forger = self.forger("root@localhost", os.getpid())
        self.assertIn("'@'", self.fleet("ps", "--mpirun", forger, "--foreign-launcher", code=3).err)

    def test_ranks_without_numbers_are_an_error(self):
        processes = [self.start(1) for _ in range(3)]
        whom = ("--local", "--match", self.name, "--ranks", "1")
        for verb in (("ps",), ("dump",), ("top", "-d", "100ms"),
                     ("record", "-o", self.folder / "out", "-d", "100ms", "--alloc-trace")):
            result = self.fleet(*verb, *whom, code=2)
            self.assertIn("--ranks 1: 3 processes were found, and none has a rank number", result.err)
        for process in processes:
            self.assertEqual(harness.limpet_mappings(process.pid), [])

    def test_processes_without_a_number_are_left_out_of_ranks(self):
        self.start(1, RANK="0")
        numbered = self.start(1, RANK="1")
        self.start(1)
        ranks = self.ranks("--local", "--match", self.name, "--ranks", "1")
        self.assertEqual([ranks[1]["pid"], len(ranks)], [numbered.pid, 1])

    @unittest.skipIf(os.getuid(), "needs root")
    def test_ranks_of_others_are_refused(self):
        self.start(1, RANK="0")
        copy = self.folder / "limpet"
        shutil.copy(LIMPET, copy)
        self.folder.chmod(0o755)
        result = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy, "fleet", "dump",
                                 "--local", "--match", self.name, *PATIENCE], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertRegex(result.stderr, r"refused: 1:\[0\] ")

    def test_pages_and_graphs(self):
        self.start(1, RANK="0")
        page, graph = self.folder / "dump.html", self.folder / "dump.dot"
        self.fleet("dump", "--local", "--match", self.name, "-f", "html", "-o", page)
        self.fleet("dump", "--local", "--match", self.name, "-f", "dot", "-o", graph)
        self.assertIn("<code title=", page.read_text(encoding="utf-8"))
        self.assertRegex(graph.read_text(encoding="utf-8"), r'(?s)digraph fleet \{.*label="1:\[0\]".*\}\s*$')
        self.fleet("dump", "--local", "--match", self.name, "-f", "html", "-o", graph, code=1)


def text(value):
    return struct.pack("<I", len(value)) + value + b"\0"


def line(number, part, payload, tag=0x12345678, encoded=None):
    """As src/host/fleet/channel/channel.h has it."""
    checksum = zlib.crc32(b"%08x %d %s" % (tag, number, part) + payload)
    return b"limpet1 %08x %d %s %08x %s\n" % (tag, number, part, checksum, encoded or base64.b64encode(payload))


def hello(protocol=5, version=b"9.9", node=b"evil"):
    return (struct.pack("<II", 1, protocol) + text(version) + text(node) + text(b"m") + text(b"k")
            + struct.pack("<QQQII", 1, 1, 1, 0, 1))


class Launcher(Nodes):
    def test_nodes_that_fail_cost_only_themselves(self):
        self.start_two()
        result = self.launched("good,gone,absent", {
            "good": 'exec "$@"', "gone": "echo 'connection lost' >&2; exit 255", "absent": "exec no-such-program"}, code=8)
        self.assertIn("2:[0-1]", result.out)
        self.assertRegex(result.err, "node gone: connection lost; exit code 255")
        self.assertRegex(result.err, "node absent: .*not found; exit code 127")
        result = self.launched("mute", {"mute": "exec sleep 1000"}, "--timeout", "1", code=4)
        self.assertRegex(result.err, "mute: no answer in time")

    def test_lines_with_labels_and_noise(self):
        self.start_two()
        result = self.launched("n1", {"n1": '''echo 'Welcome!'; "$@" | sed -u 's/^/  3: /' '''})
        self.assertIn("2:[0-1]", result.out)

    def test_torn_lines_are_cut_and_said(self):
        self.start_two()
        result = self.launched("n1", {"n1": '''"$@" | sed -u '4s/...$/!!!/' '''}, verb="ps", code=8)
        self.assertRegex(result.err, "damaged on the way")

    def test_one_command_for_all(self):
        self.start_two()
        result = self.fleet("dump", "--launcher", "env", "--match", self.name)
        self.assertIn("2:[0-1]", result.out)

    def test_another_version_is_named(self):
        (self.folder / "said").write_bytes(line(0, b".", hello(protocol=77)) + line(1, b"!", b""))
        result = self.launched("n1", {"n1": f"cat {self.folder}/said; cat >/dev/null"}, code=4)
        self.assertIn("limpet 9.9 there speaks another protocol", result.err)

    def test_what_nodes_say_is_not_believed(self):
        bad = b"\x1b]0;owned\x07\x1b[31m"
        rank = (struct.pack("<IIIII", 2, 7, 7, 0, 1) + b"".join(text(bad) for _ in range(5)) + struct.pack("<II", 1, 83)
                + b"".join(text(bad) for _ in range(3)))
        messages = [hello(node=bad), rank, struct.pack("<IIIIII", 5, 7, 7, 0xffffffff, 0xffffffff, 9), b"\xff" * 600,
                    struct.pack("<IIIIII", 4, 0xffffffff, 5, 0xfffffff0, 5, 0xffffffff), struct.pack("<I", 6) + text(bad)]
        said = b"".join(line(number, b".", message) for number, message in enumerate(messages))
        (self.folder / "said").write_bytes(said + line(len(messages), b"!", b""))
        for verb in ("ps", "dump"):
            result = self.launched("n1", {"n1": f"cat {self.folder}/said; cat >/dev/null"}, verb=verb, code=1)
            self.assertNotIn("\x1b", result.out + result.err)
            self.assertIn("owned", result.out + result.err)

    def test_a_node_that_never_stops_is_not_heard_any_more(self):
        note = struct.pack("<I", 6) + text(b"x" * 600)
        with open(self.folder / "said", "wb") as said:
            said.write(line(0, b".", hello()))
            encoded = base64.b64encode(note)
            for number in range(1, (64 << 20) // len(note) + 2):
                said.write(line(number, b".", note, encoded=encoded))
        # Recordings may be larger; what is no piece of one may not.
        for verb, arguments in (("ps", ()), ("record", ("-d", "1", "-o", self.folder / "run"))):
            result = self.launched("n1", {"n1": f"cat {self.folder}/said; exec sleep 1000"}, *arguments, verb=verb, code=4)
            self.assertIn("said more than 64 MiB", result.err)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root to become others")
    def test_a_launcher_that_may_not_be_ended_is_left(self):
        """As sudo is: nobody who uses it may send it a signal."""
        self.folder.chmod(0o755)
        raised = self.folder / "raised"
        shutil.copy(shutil.which("setpriv"), raised)
        raised.chmod(0o4755)
        shutil.copy(LIMPET, self.folder / "limpet")
        started = self.folder / "started"
        script = self.script(f'#!/bin/sh\necho $$ >"{started}"\nexec sleep 1000\n')
        process = subprocess.Popen(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", self.folder / "limpet", "fleet", "ps",
             "--launcher", f"{raised} --reuid=0 {script} #", "--match", self.name, "--timeout", "1"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.addCleanup(self.kill_started, started)
        out, err = process.communicate(timeout=harness.PATIENCE_S)
        if not started.exists():
            self.skipTest(f"no setuid programs here: {err}")
        self.assertNotEqual(process.returncode, 0, out)

    @staticmethod
    def kill_started(pid):
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGKILL)

    def hanging(self):
        """A limpet whose node does not answer, and the process that the launcher runs."""
        script = self.script('#!/bin/sh\necho $$ >"$(dirname "$0")/pid"\nexec sleep 1000\n')
        process = subprocess.Popen([LIMPET, "fleet", "dump", "--launcher", script, *PATIENCE], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        pid = self.folder / "pid"
        self.assertTrue(harness.wait_until(lambda: pid.exists() and pid.read_text().strip(), 60))
        return process, int(pid.read_text())

    def test_an_interrupt_leaves_everywhere(self):
        process, pid = self.hanging()
        process.send_signal(signal.SIGINT)
        self.assertNotEqual(process.wait(60), 0)
        self.assertTrue(harness.wait_until(lambda: not os.path.exists(f"/proc/{pid}"), 60))

    def test_the_node_part_ends_with_home(self):
        self.start_two()
        script = self.script('#!/bin/sh\necho $$ >"$(dirname "$0")/pid"\nexec "$@"\n')
        process = subprocess.Popen([LIMPET, "fleet", "dump", "--launcher", script, "--match", self.name, "--times", "50",
                                    *PATIENCE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pid = self.folder / "pid"
        self.assertTrue(harness.wait_until(lambda: pid.exists() and pid.read_text().strip(), 60))
        time.sleep(0.5)
        process.kill()
        process.wait()
        self.assertTrue(harness.wait_until(lambda: not os.path.exists(f"/proc/{int(pid.read_text())}"), 60))


if __name__ == "__main__":
    unittest.main()
