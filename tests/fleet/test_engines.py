#!/usr/bin/env python3
"""
The command lines that `limpet fleet` makes for Slurm and Kubernetes, on STAND-INS of their programs: there is neither a
cluster nor a server here (for Slurm there is ./dev fleet).

Environment: LIMPET is the executable under test, PROGRAMS the folder with fleet_rank.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import PROGRAMS, limpet  # noqa: E402

DONE, USAGE, NOT_PERMITTED, NO_PROCESS, PARTLY = 0, 2, 3, 4, 8

# Notes its words, says what it was told to say, and runs what is behind "--", or behind its own options.
STANDIN = """#!/usr/bin/env python3
# A STAND-IN.
import json, os, pathlib, sys
folder, name = pathlib.Path(__file__).parent, os.path.basename(__file__)
with open(folder / "log", "a", encoding="utf-8") as log:
    log.write(json.dumps([name, *sys.argv[1:]]) + "\\n")
says = folder / (name + "." + sys.argv[1] + ".says" if name == "kubectl" else name + ".says")
if says.exists():
    code, _, text = says.read_text(encoding="utf-8").partition("\\n")
    print(text, end="", flush=True)
    sys.exit(int(code))
words = [word for word in sys.argv[1:] if not word.startswith("--")]
if name == "kubectl":
    words = sys.argv[sys.argv.index("--") + 1:]
os.execv(words[0], words)
"""


class Engines(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="limpet-engines-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("squeue", "sinfo", "srun", "scontrol", "kubectl"):
            (self.folder / name).write_text(STANDIN, encoding="utf-8")
            (self.folder / name).chmod(0o755)
        self.environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "SLURMD_NODENAME": "n1"}
        self.name = f"engine-{os.getpid()}"[:15]
        shutil.copy(os.path.join(PROGRAMS, "fleet_rank"), self.folder / self.name)

    def rank(self, **variables):
        """A rank, when it runs."""
        process = subprocess.Popen([str(self.folder / self.name), "5"], stdout=subprocess.PIPE, start_new_session=True,
                                   env={"PATH": os.environ["PATH"], "ENDS_WITH_PARENT": "1", **variables})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.send_signal, signal.SIGKILL)
        self.assertEqual(process.stdout.readline(), b"ready\n")

    def says(self, program, text, code=0):
        (self.folder / f"{program}.says").write_text(f"{code}\n{text}", encoding="utf-8")

    def fleet(self, *arguments, code=DONE):
        result = limpet("fleet", "ps", "--timeout", "60", "--json", *arguments, env=self.environment)
        self.assertEqual(result.code, code, str(result))
        return result

    def commands(self, program):
        lines = (self.folder / "log").read_text(encoding="utf-8").splitlines()
        return [words[1:] for words in map(json.loads, lines) if words[0] == program]

    def job(self, state="RUNNING", user=None, nodes="n1"):
        self.says("squeue", f"17|{state}|{os.geteuid() if user is None else user}|{nodes}\n")
        self.says("sinfo", "n1 allocated\nn2 down*\n")
        self.says("scontrol", "PID JOBID STEPID LOCALID GLOBALID\n")

    def test_slurm_starts_a_step_that_waits_for_nothing(self):
        self.job(nodes="n[1-2]")
        self.rank(SLURM_JOB_ID="17", SLURM_STEP_ID="0", SLURM_PROCID="0", SLURM_NTASKS="2", SLURMD_NODENAME="n1")
        result = self.fleet("--slurm", "17.0", code=PARTLY)
        states = {event["rank"]: event["state"] for event in result.events if event["event"] == "rank"}
        self.assertEqual(states, {0: "done", 1: "no-answer"})
        self.assertIn("down", next(event["trouble"] for event in result.events if event.get("node") == "n2"))
        (command,) = self.commands("srun")
        for word in ("--jobid=17", "--overlap", "--nodes=1", "--nodelist=n1", "--ntasks-per-node=1", "--cpu-bind=none",
                     "--mpi=none"):
            self.assertIn(word, command)
        self.assertIn(["listpids", "17", "n1"], self.commands("scontrol"))

    def test_slurm_copies_limpet_where_it_is_not(self):
        self.job()
        self.says("srun", "srun: error: n1: task 0: Exited with exit code 2\n", code=2)
        self.fleet("--slurm", "17", "--limpet", "/nowhere/limpet", code=NO_PROCESS)
        first, second, third = self.commands("srun")
        self.assertIn("/nowhere/limpet", first)
        self.assertNotIn("/nowhere/limpet", second)
        self.assertRegex(" ".join(second), r"--bcast=/tmp/limpet-\d+-[0-9a-f]{16} --send-libs=no")
        (copy,) = [word.removeprefix("--bcast=") for word in second if word.startswith("--bcast=")]
        self.assertEqual(third[-3:], ["rm", "-f", copy])

    def test_slurm_jobs_that_cannot_be_looked_at(self):
        for word in ("x", "17.batch", "-1", "17;ls", "17_"):
            self.fleet("--slurm", word, code=USAGE)
        self.job(user=os.geteuid() + 1)
        self.assertIn("owner", self.fleet("--slurm", "17", code=NOT_PERMITTED).err)
        self.job(state="PENDING", nodes="")
        self.assertIn("PENDING", self.fleet("--slurm", "17", code=NO_PROCESS).err)
        self.says("squeue", "")
        self.assertIn("does not know", self.fleet("--slurm", "17", code=NO_PROCESS).err)

    def test_kubernetes_asks_for_pods_and_looks_into_them(self):
        self.says("kubectl.get", "train-0 Running\ntrain-1 Pending\n--evil Running\n")
        self.rank(RANK="0", WORLD_SIZE="2")
        result = self.fleet("--k8s", "app=train", "--namespace", "ml", "--match", self.name, "--copy", code=PARTLY)
        ranks = [event for event in result.events if event["event"] == "rank"]
        self.assertEqual([(rank["rank"], rank["node"], rank["state"]) for rank in ranks],
                         [(0, "train-0", "done"), (1, "?", "no-answer")])
        get, run = self.commands("kubectl")
        self.assertEqual(get[:4], ["get", "pods", "--selector=app=train", "--namespace=ml"])
        self.assertEqual(run[:7], ["exec", "--stdin", "--namespace=ml", "train-0", "--", "/bin/sh", "-c"])
        self.assertIn("Pending", str(result.events))

    def test_kubernetes_without_a_pod(self):
        self.says("kubectl.get", "")
        self.assertIn("no pod", self.fleet("--k8s", "app=train", code=NO_PROCESS).err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
