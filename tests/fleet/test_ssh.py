#!/usr/bin/env python3
"""
`limpet fleet` over ssh, on four nodes with networks and processes of their own on this machine: jobs of Open MPI's mpirun and of
MPICH's hydra, by --mpirun and by --hosts. Needs root, openssh-server, iproute2, openmpi-bin, mpich; run by ./dev fleet.

Environment: LIMPET is the executable under test, PROGRAMS the folder with fleet_rank.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fleet_ranks import RANK  # noqa: E402
from harness import LIMPET, progress, wait_until  # noqa: E402
import ssh_nodes  # noqa: E402

NAMES = ["n1", "n2", "n3", "n4"]
MPIRUN, HYDRA = shutil.which("mpirun.openmpi"), shutil.which("mpiexec.hydra")


@unittest.skipIf(ssh_nodes.missing() or os.geteuid(), "needs root, sshd and ip")
class Ssh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.nodes = cls.enterClassContext(ssh_nodes.SshNodes(NAMES))
        for source, name in ((LIMPET, "limpet"), (RANK, "solver")):
            shutil.copy(source, cls.nodes.folder / name)
        cls.limpet, cls.solver = cls.nodes.folder / "limpet", cls.nodes.folder / "solver"

    def begin(self, *words, has_begun=None):
        """A job, when all of its ranks run; the launcher's number as home sees it."""
        process = self.nodes.start(*words)
        name = os.path.basename(words[0])[:15]
        self.addCleanup(self.end, process, name)
        self.assertTrue(wait_until(has_begun or (lambda: self.solvers() == 8), 90),
                        f"not all ranks run: {(self.nodes.folder / 'job.log').read_text()}")
        return int(self.nodes.ask("pgrep", "-n", "-x", name).stdout)

    def solvers(self):
        """Processes called solver on all nodes; a shell around them is another one."""
        return sum(len(self.nodes.ask("pgrep", "-x", "solver", name=name).stdout.split()) for name in NAMES)

    def end(self, process, launcher):
        try:
            progress.check_programs("solver")
        finally:
            self.end_job(process, launcher)

    def end_job(self, process, launcher):
        self.nodes.ask("pkill", "-9", "-x", launcher)
        for name in NAMES:
            self.nodes.ask("pkill", "-9", "-x", "solver", name=name)
            self.nodes.ask("pkill", "-9", "-f", "mpi_rank.py", name=name)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
        # The next job's are not taken for these.
        self.assertTrue(wait_until(lambda: self.solvers() == 0, 90))

    def fleet(self, verb, *words, code=0):
        result = self.nodes.ask(self.limpet, "fleet", verb, *words, "--timeout", "60")
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout

    def mpirun(self, *words):
        return self.begin(MPIRUN, "--allow-run-as-root", "--hostfile", self.nodes.folder / "hosts.list", "--map-by", "node",
                          "--oversubscribe", "-n", "8", *words, self.solver, "5")

    def hydra(self):
        return self.begin(HYDRA, "-launcher", "ssh", "-f", self.nodes.folder / "hosts.list", "-n", "8", self.solver, "5")

    def check(self, *whom):
        ranks = {}
        for line in self.fleet("ps", *whom, "--json").splitlines():
            event = json.loads(line)
            if event["event"] == "rank":
                ranks[event["rank"]] = event
        self.assertEqual(sorted(ranks), list(range(8)))
        self.assertEqual({rank["node"] for rank in ranks.values()}, set(NAMES))
        self.assertEqual({rank["state"] for rank in ranks.values()}, {"done"})
        text = self.fleet("dump", *whom)
        self.assertRegex(text, r"(?m)^ *7:\[0-4,6-7\] .*reduce_all")
        self.assertRegex(text, r"(?m)^ *1:\[5\] .*stuck_on_lock")

    @unittest.skipUnless(MPIRUN, "no Open MPI here")
    def test_a_job_of_mpirun(self):
        """Its list of ranks is there when all have called MPI_Init."""
        folder = self.nodes.folder
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mpi_rank.py"), folder)
        pid = self.begin(MPIRUN, "--allow-run-as-root", "--hostfile", folder / "hosts.list", "--map-by", "node", "--oversubscribe",
                         "--mca", "btl_tcp_if_include", "10.99.0.0/24", "--mca", "oob_tcp_if_include", "10.99.0.0/24",
                         "-n", "8", "nice", "-n", "19", "/usr/bin/python3", folder / "mpi_rank.py", "5", folder,
                         has_begun=lambda: len(list(folder.glob("began-*"))) == 8)
        self.check("--mpirun", str(pid))

    @unittest.skipUnless(MPIRUN, "no Open MPI here")
    def test_a_job_of_mpirun_without_mpi_says_why(self):
        self.assertIn("MPI_Init", self.fleet("ps", "--mpirun", str(self.mpirun()), "--json", code=6))

    @unittest.skipUnless(HYDRA, "no MPICH here")
    def test_a_job_of_hydra(self):
        self.check("--mpirun", str(self.hydra()))

    @unittest.skipUnless(MPIRUN, "no Open MPI here")
    def test_hosts_by_name_with_a_copy_and_recordings_that_come_home(self):
        self.mpirun()
        whom = ("--hosts", "n[1-4]", "--match", "solver")
        self.check(*whom)
        # limpet is nowhere but here, and leaves nothing there.
        self.nodes.ask("cp", self.limpet, "/tmp/limpet-alone")
        result = self.nodes.ask("/tmp/limpet-alone", "fleet", "record", *whom, "-d", "1", "--off-cpu", "-F", "199", "-o",
                                "/tmp/run", "--timeout", "60")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("8 of 8 ranks recorded, on 4 nodes", result.stdout)
        files = self.nodes.ask("ls", "/tmp/run").stdout.split()
        self.assertEqual(sum(name.endswith(".limpet") for name in files), 8)
        for name in NAMES:
            self.assertNotIn("limpet", self.nodes.ask("ls", "/tmp", name=name).stdout)
        self.nodes.ask("rm", "-r", "/tmp/run", "/tmp/limpet-alone")

    @unittest.skipUnless(MPIRUN, "no Open MPI here")
    def test_top_over_ssh(self):
        self.begin(MPIRUN, "--allow-run-as-root", "--hostfile", self.nodes.folder / "hosts.list", "--map-by", "node",
                   "--oversubscribe", "-n", "8", "nice", "-n", "19", self.solver, "5", "spin")
        text = self.fleet("top", "--hosts", "n[1-4]", "--match", "solver", "-d", "8", "--json")
        tops = [event for event in map(json.loads, text.splitlines()) if event["event"] == "top"]
        self.assertTrue(any(top["nodes"] == 4 and top["ranks"] == 8 for top in tops), text)
        self.assertTrue(any(row["function"] == "compute" for top in tops for row in top["functions"]), text)

    @unittest.skipUnless(MPIRUN, "no Open MPI here")
    def test_a_node_that_is_cut_off_costs_only_itself(self):
        self.mpirun()
        self.nodes.run(*self.nodes.inside("n3"), "ip", "link", "set", "uplink", "down")
        try:
            text = self.fleet("dump", "--hosts", "n[1-4]", "--match", "solver", code=8)
        finally:
            self.nodes.run(*self.nodes.inside("n3"), "ip", "link", "set", "uplink", "up")
        self.assertRegex(text, "stuck_on_lock")


if __name__ == "__main__":
    unittest.main(verbosity=2)
