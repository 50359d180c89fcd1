#!/usr/bin/env python3
"""
`limpet fleet --slurm` on a cluster of Debian's Slurm (cluster.py), as `./dev fleet` runs it: jobs of srun, of mpirun and in
the manner of torchrun, wrappers, and all that can go wrong with a node.

Environment: LIMPET is the executable under test, PROGRAMS the folder with fleet_rank.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import cluster

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import progress  # noqa: E402

LIMPET, PROGRAMS = os.environ["LIMPET"], os.environ["PROGRAMS"]
USER, OTHER = 65534, 65533
DONE, NOT_PERMITTED, NO_PROCESS, PARTLY = 0, 3, 4, 8
ODD = 5


class Slurm(unittest.TestCase):
    """One cluster for all tests of a class; each has a job of its own."""

    nodes, namespaced = 4, True

    @classmethod
    def setUpClass(cls):
        if cluster.missing():
            raise unittest.SkipTest(f"not installed: {', '.join(cluster.missing())}")
        if os.geteuid():
            raise unittest.SkipTest("a cluster needs root")
        cls.cluster = cluster.Cluster(cls.nodes, cls.namespaced).__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.shared = cls.cluster.folder / "shared"
        for path in (LIMPET, os.path.join(PROGRAMS, "fleet_rank")):
            shutil.copy(path, cls.shared)

    def submit(self, *words, tasks=8, launcher="srun", user=USER):
        """A job that runs, when all its tasks say so; its number."""
        command = [str(word) for word in words] or [str(self.shared / "fleet_rank"), str(ODD)]
        process = self.cluster.start(launcher, f"--nodes={self.nodes}", f"--ntasks={tasks}",
                                     f"--ntasks-per-node={tasks // self.nodes}", "--job-name", self._testMethodName, *command,
                                     user=user, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        seen = []
        while sum(line == b"ready\n" for line in seen) < tasks:
            seen.append(process.stdout.readline())
            self.assertTrue(seen[-1], f"the job ended: {seen}")
        job = self.cluster.ask("squeue", "--noheader", "--name", self._testMethodName, "--format=%A").split()[0]
        self.addCleanup(self.cluster.wait, self.is_idle, "an idle cluster")
        self.addCleanup(self.cluster.ask, "scancel", job)
        self.addCleanup(progress.check_programs, "fleet_rank")
        return job

    def is_idle(self):
        return not self.cluster.ask("squeue", "--noheader").strip()

    def fleet(self, verb, job, *arguments, code=DONE, user=USER, limit_s=120):
        """(events by kind, seconds, what it said)."""
        begin = time.monotonic()
        result = subprocess.run([*self.cluster.become(user), str(self.shared / "limpet"), "fleet", verb, "--slurm", job,
                                 "--json", *arguments], env=self.cluster.environment, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=limit_s, cwd="/")
        took = time.monotonic() - begin
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        events = {}
        for line in result.stdout.splitlines():
            event = json.loads(line)
            events.setdefault(event["event"], []).append(event)
        return events, took, result.stderr

    def states(self, events):
        return {rank["rank"]: rank["state"] for rank in events["rank"]}

    def assertOddOne(self, job, *arguments, through=None):
        """Seven ranks wait in one function, one in another."""
        result = subprocess.run([*self.cluster.become(USER), str(self.shared / "limpet"), "fleet", "dump", "--slurm", job,
                                 *arguments], env=self.cluster.environment, capture_output=True, text=True, timeout=120,
                                stdin=subprocess.DEVNULL, cwd="/")
        self.assertEqual(result.returncode, DONE, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"7:\[0-4,6-7\] reduce_all")
        self.assertRegex(result.stdout, r"1:\[5\] stuck_on_lock")
        events, _, _ = self.fleet("ps", job, *arguments)
        self.assertEqual(self.states(events), dict.fromkeys(range(8), "done"))
        self.assertEqual({rank["node"] for rank in events["rank"]}, {f"v{i}" for i in range(1, self.nodes + 1)})
        for rank in events["rank"]:
            self.assertEqual(rank["program"], "fleet_rank")
            if through:
                self.assertIn(through, rank["through"])


class Jobs(Slurm):
    def test_srun(self):
        job = self.submit()
        self.assertOddOne(job)
        self.assertOddOne(f"{job}.0")
        events, _, _ = self.fleet("ps", job, "--ranks", "2,5-6")
        self.assertEqual(sorted(self.states(events)), [2, 5, 6])

    def test_wrappers(self):
        rank = self.shared / "fleet_rank"
        self.assertOddOne(self.submit("timeout", "600", "sh", "-c", f"{rank} {ODD}; true"), through="timeout")

    def test_torchrun_style(self):
        """One launcher a node, which starts two ranks with RANK."""
        script = self.shared / "torchrun"
        script.write_text("#!/bin/sh\nfor i in 0 1; do RANK=$((SLURM_NODEID * 2 + i)) WORLD_SIZE=8 "
                          f"{self.shared}/fleet_rank {ODD} & done; wait\n", encoding="utf-8")
        script.chmod(0o755)
        process_count = 8
        job = self.submit(script, tasks=4)
        self.cluster.wait(lambda: len(self.fleet("ps", job)[0]["rank"]) == process_count, "all ranks")
        self.assertOddOne(job)

    def test_top(self):
        """As the job's owner, whom the sampler of the nodes may show states only."""
        job = self.submit("nice", "-n", "19", self.shared / "fleet_rank", str(ODD), "spin")
        events, _, _ = self.fleet("top", job, "--duration", "8")
        self.assertTrue(any(top["ranks"] == 8 and top["nodes"] == 4 for top in events["top"]), events["top"])
        self.assertTrue(set(self.states(events).values()) <= {"done", "idle"}, events["rank"])
        self.assertEqual(self.states(events)[ODD], "idle")

    @unittest.skipUnless(shutil.which("mpirun.openmpi"), "no Open MPI here")
    def test_mpirun_inside(self):
        job = self.submit("mpirun.openmpi", "--oversubscribe", "--map-by", "node", "-n", "8", str(self.shared / "fleet_rank"),
                          str(ODD), launcher="salloc")
        self.assertOddOne(job)

    def test_limpet_is_copied_where_it_is_not(self):
        job = self.submit()
        events, _, _ = self.fleet("ps", job, "--limpet", "/nowhere/limpet")
        self.assertEqual(self.states(events), dict.fromkeys(range(8), "done"))
        self.fleet("ps", job, "--copy")
        left = self.cluster.ask("srun", f"--jobid={job}", "--overlap", f"--nodes={self.nodes}", f"--ntasks={self.nodes}", "ls",
                                "/tmp", user=USER)
        self.assertNotIn("limpet", left, "copies stay behind")

    def test_nothing_stays(self):
        job = self.submit()
        self.fleet("dump", job)
        steps = self.cluster.ask("squeue", "--noheader", "--steps", "--jobs", job, "--format=%i")
        self.cluster.wait(lambda: "limpet" not in self.cluster.ask("squeue", "--noheader", "--steps", "--format=%j"),
                          f"the end of our step: {steps}")

    def test_somebody_elses(self):
        job = self.submit()
        _, _, said = self.fleet("ps", job, code=NOT_PERMITTED, user=OTHER)
        self.assertIn("owner", said)

    def test_no_job(self):
        _, _, said = self.fleet("ps", "4711", code=NO_PROCESS)
        self.assertIn("does not know", said)

    def test_a_rank_has_ended(self):
        job = self.submit("sh", "-c", f"if [ $SLURM_PROCID = 3 ]; then echo ready; else exec {self.shared}/fleet_rank {ODD}; fi")
        events, _, _ = self.fleet("dump", job, code=PARTLY)
        states = self.states(events)
        self.assertEqual([number for number, state in states.items() if state != "done"], [3])

    def test_cancelled_while_it_looks(self):
        job = self.submit()
        process = self.cluster.start(*self.cluster.become(USER), str(self.shared / "limpet"), "fleet", "dump", "--slurm", job,
                                     "--times", "100", "--json", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.cluster.wait(lambda: f"{job}.1" in self.cluster.ask("squeue", "--noheader", "--steps", "--format=%i"), "our step")
        self.cluster.ask("scancel", job)
        self.assertIn(process.wait(90), (1, PARTLY))


class Records(Slurm):
    """Nodes that were started at different times; recordings come home, or lie in a folder that all see."""

    def record(self, job, name, *arguments, code=DONE):
        folder = self.shared / name
        self.fleet("record", job, "-d", "2s", "-F", "99", "-o", str(folder), *arguments, code=code)
        with open(folder / "fleet.json", encoding="utf-8") as file:
            return json.load(file), folder

    def spinning(self):
        return self.submit(self.shared / "fleet_rank", ODD, "spin")

    def assertTogether(self, told, folder):
        """Clocks since boot differ by a thousand seconds and more; the times of day do not."""
        boots = {node["name"]: node["real_ns"] - node["boot_ns"] for node in told["nodes"]}
        self.assertEqual(len(boots), self.nodes)
        self.assertGreater(max(boots.values()) - min(boots.values()), 2500 * 10**9)
        self.assertEqual([rank["state"] for rank in told["ranks"]].count("done"), 7)
        self.assertEqual(told["ranks"][ODD]["state"], "idle")
        result = subprocess.run([str(self.shared / "limpet"), "fleet", "report", str(folder)], capture_output=True, text=True)
        self.assertEqual(result.returncode, DONE, result.stdout + result.stderr)
        self.assertIn("compute", result.stdout)

    def test_into_a_folder_that_all_see(self):
        self.assertTogether(*self.record(self.spinning(), "seen"))

    def test_sent_home(self):
        self.assertTogether(*self.record(self.spinning(), "sent", "--send"))

    def test_a_full_disk_on_one_node(self):
        """What is sent home needs no disk there; a copy of limpet does."""
        job = self.spinning()
        fill = "cat /dev/zero >/tmp/full; true"
        self.cluster.ask("srun", f"--jobid={job}", "--overlap", "--nodes=1", "--nodelist=v2", "--ntasks=1", "sh", "-c", fill, user=USER)
        empty = ("srun", f"--jobid={job}", "--overlap", "--nodes=1", "--nodelist=v2", "--ntasks=1", "rm", "/tmp/full")
        self.addCleanup(lambda: self.cluster.ask(*empty, user=USER))
        self.assertTogether(*self.record(job, "full", "--send"))
        result = subprocess.run([*self.cluster.become(USER), str(self.shared / "limpet"), "fleet", "ps", "--slurm", job, "--copy"],
                                env=self.cluster.environment, capture_output=True, text=True, timeout=90, cwd="/")
        self.assertEqual(result.returncode, NO_PROCESS, result.stdout + result.stderr)
        self.assertIn("Failed to broadcast", result.stderr)
        self.assertNotIn("limpet", self.cluster.ask("srun", f"--jobid={job}", "--overlap", f"--nodes={self.nodes}",
                                                    f"--ntasks={self.nodes}", "ls", "/tmp", user=USER))

    def test_a_rank_ends_meanwhile(self):
        job = self.submit("sh", "-c", f"if [ $SLURM_PROCID = 3 ]; then echo ready; sleep 2; else exec {self.shared}/fleet_rank "
                                      f"{ODD} spin; fi")
        told, _ = self.record(job, "ends", "-d", "5s", code=PARTLY)
        self.assertNotEqual(told["ranks"][3]["state"], "done")
        self.assertEqual([rank["state"] for rank in told["ranks"]].count("done"), 6)


class Faults(Slurm):
    """Each kills a node: a cluster of its own."""

    def setUp(self):
        self.cluster.wait(self.cluster.is_up, "all nodes")

    def revive(self, name):
        self.cluster.node_begin(name, int(name[1:]))
        self.cluster.ask("scontrol", "update", f"NodeName={name}", "State=RESUME")

    def done(self, events):
        return sorted(number for number, state in self.states(events).items() if state == "done")

    def test_a_node_dies_and_is_down(self):
        job = self.submit("--no-kill", self.shared / "fleet_rank", ODD)
        self.addCleanup(self.revive, "v3")
        self.cluster.nodes["v3"].kill()
        self.cluster.nodes["v3"].wait()
        for is_known in (False, True):
            if is_known:
                self.cluster.ask("scontrol", "update", "NodeName=v3", "State=DOWN", "Reason=test", check=True)
            events, took, _ = self.fleet("dump", job, "--timeout", "10s", code=PARTLY)
            self.assertEqual(self.done(events), [0, 1, 2, 3, 6, 7])
            self.assertEqual({self.states(events)[number] for number in (4, 5)}, {"no-answer"})
            self.assertLess(took, 40)

    def test_a_node_hangs(self):
        job = self.submit("--no-kill", self.shared / "fleet_rank", ODD)
        daemon = int(self.cluster.ask("pgrep", "-f", "slurmd -D -N v2$").split()[-1])
        os.kill(daemon, signal.SIGSTOP)
        self.addCleanup(os.kill, daemon, signal.SIGCONT)
        events, took, _ = self.fleet("dump", job, "--timeout", "10s", code=PARTLY)
        self.assertEqual(self.done(events), [0, 1, 4, 5, 6, 7])
        self.assertLess(took, 40)


class Scale(Slurm):
    nodes, namespaced = 64, False

    def test_256_ranks_on_64_nodes(self):
        job = self.submit(tasks=256)
        took = []
        for _ in range(3):
            events, seconds, _ = self.fleet("dump", job)
            self.assertEqual(self.states(events), dict.fromkeys(range(256), "done"))
            took.append(seconds)
        print(f"256 ranks on 64 nodes: {', '.join(f'{seconds:.2f} s' for seconds in took)}", file=sys.stderr)
        self.assertLess(min(took), 5)


if __name__ == "__main__":
    unittest.main(verbosity=2)
