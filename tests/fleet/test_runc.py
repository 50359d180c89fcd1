#!/usr/bin/env python3
"""
`limpet fleet --k8s` into real containers of runc, two of them with a rank each; kubectl is a STAND-IN that hands its exec to
`runc exec`. And the same ranks from outside. Needs root and runc; run by ./dev fleet.

Environment: LIMPET is the executable under test, PROGRAMS the folder with fleet_rank.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fleet_ranks import RANK  # noqa: E402
from harness import LIMPET, progress, wait_until  # noqa: E402

RUNC = shutil.which("runc", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
PODS = ("train-0", "train-1")
# What a container has of this machine, and cannot change.
SHARED = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc")
KUBECTL = """#!/bin/sh
# A STAND-IN of kubectl.
verb=$1; shift
if [ "$verb" = get ]; then
    for pod in {pods}; do echo "$pod Running"; done
    exit
fi
while [ "$1" = --stdin ]; do shift; done
pod=$1; shift 2
exec {runc} --root {folder}/state exec "$pod" "$@"
"""


@unittest.skipIf(not RUNC or os.geteuid(), "needs root and runc")
class Runc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="limpet-runc-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        (cls.folder / "bin").mkdir()
        kubectl = cls.folder / "bin" / "kubectl"
        kubectl.write_text(KUBECTL.format(pods=" ".join(PODS), runc=RUNC, folder=cls.folder), encoding="utf-8")
        kubectl.chmod(0o755)
        for rank, pod in enumerate(PODS):
            cls.container(pod, rank)

    @classmethod
    def runc(cls, *words, check=True):
        return subprocess.run([RUNC, "--root", cls.folder / "state", *words], check=check, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True)

    @classmethod
    def container(cls, name, rank):
        bundle = cls.folder / name
        root = bundle / "rootfs"
        root.mkdir(parents=True)
        shutil.copy(RANK, root / "trainer")
        subprocess.run([RUNC, "spec", "--bundle", bundle], check=True)
        spec = json.loads((bundle / "config.json").read_text())
        spec["process"] |= {"terminal": False, "args": ["/trainer", "1"],
                            "env": ["PATH=/usr/bin:/bin", f"RANK={rank}", "WORLD_SIZE=2", f"HOSTNAME={name}"]}
        spec["hostname"] = name
        spec["mounts"] += [{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777", "size=64m"]}]
        spec["mounts"] += [{"destination": path, "type": "bind", "source": os.path.realpath(path), "options": ["rbind", "ro"]}
                           for path in SHARED if os.path.exists(path)]
        for mount in spec["mounts"]:
            (root / mount["destination"].lstrip("/")).mkdir(parents=True, exist_ok=True)
        (bundle / "config.json").write_text(json.dumps(spec), encoding="utf-8")
        with open(bundle / "log", "wb") as log:
            subprocess.run([RUNC, "--root", cls.folder / "state", "run", "--detach", "--bundle", bundle, name], check=True,
                           stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cls.addClassCleanup(cls.runc, "delete", "--force", name, check=False)
        assert wait_until(lambda: "ready" in (bundle / "log").read_text(), 60), (bundle / "log").read_text()

    def fleet(self, verb, *words, whom=("--k8s", "app=train"), code=0):
        result = subprocess.run([LIMPET, "fleet", verb, *whom, *words, "--timeout", "60"], capture_output=True, text=True, check=False,
                                env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout

    def tearDown(self):
        progress.check_programs("trainer")

    def ranks(self, *words, **options):
        events = map(json.loads, self.fleet("ps", *words, "--json", **options).splitlines())
        return {event["rank"]: event for event in events if event["event"] == "rank"}

    def test_ranks_are_found_in_containers(self):
        ranks = self.ranks()
        self.assertEqual([ranks[rank]["node"] for rank in (0, 1)], list(PODS))
        self.assertEqual({rank["pid"] for rank in ranks.values()}, {1})
        self.assertEqual({rank["state"] for rank in ranks.values()}, {"done"})

    def test_the_odd_rank_is_found_in_its_container(self):
        text = self.fleet("dump")
        self.assertRegex(text, r"(?m)^ *1:\[0\] reduce_all")
        self.assertRegex(text, r"(?m)^ *1:\[1\] stuck_on_lock")
        for name in PODS:
            self.assertEqual(self.runc("exec", name, "/bin/ls", "-A", "/tmp").stdout, "")

    def test_recordings_come_out_of_containers(self):
        run = self.folder / "run"
        # Ranks that wait have no samples on CPU: they are idle, which is no failure.
        text = self.fleet("record", "-d", "1", "--off-cpu", "-o", run)
        self.assertIn("2 of 2 ranks recorded, on 2 nodes", text)
        self.assertEqual(len(list(run.glob("*.limpet"))), 2)
        for name in PODS:
            self.assertEqual(self.runc("exec", name, "/bin/ls", "-A", "/tmp").stdout, "")

    def test_the_same_ranks_from_outside(self):
        whom = ("--local", "--match", "trainer")
        self.assertEqual({rank["state"] for rank in self.ranks(whom=whom).values()}, {"done"})
        self.assertRegex(self.fleet("dump", whom=whom), r"(?m)^ *1:\[1\] stuck_on_lock")


if __name__ == "__main__":
    unittest.main(verbosity=2)
