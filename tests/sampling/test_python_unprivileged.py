"""Python functions without any right: a user looks at a Python of their own, by the samplers that need none."""

import collections
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import time
import unittest

import python_stacks
from python_stacks import LIMIT, PROGRAM, WAYS, Recording, Truth, python_frames, simple

PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
SOMEBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
SHARE = 0.9
SAMPLES = {"copy": 40, "read": 20}  # reading takes longer than copying
HOW = {"copy": ("-F", "499", "--duration", "1s"), "read": ("--duration", "2s")}
NO_SAMPLES = 5  # the exit code


def version():
    shown = subprocess.run([PYTHON, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
    return tuple(map(int, shown.stdout.split()))


@unittest.skipIf(os.geteuid(), "needs root, to become another user")
@unittest.skipUnless(pathlib.Path(PYTHON).exists(), f"no {PYTHON}")
class Unprivileged(unittest.TestCase):
    """limpet and the program lie where every user may run them."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o777)
        self.limpet = self.folder / "limpet"
        shutil.copy(python_stacks.LIMPET, self.limpet)
        os.chmod(self.limpet, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
        self.program = self.folder / PROGRAM.name
        shutil.copy(PROGRAM, self.program)

    def start(self, *words, threads=1):
        process = subprocess.Popen([*SOMEBODY, PYTHON, self.program, *words], stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and not self.is_up(process.pid, threads):
            time.sleep(0.02)
        return process

    @staticmethod
    def is_up(pid, threads):
        if len(os.listdir(f"/proc/{pid}/task")) < threads or b"python_program" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
            return False
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12]) > 10 * threads

    def as_somebody(self, *words):
        return subprocess.run([*SOMEBODY, self.limpet, *map(str, words)], capture_output=True, text=True, timeout=LIMIT)

    def record(self, pid, sampler, *options):
        path = self.folder / f"{sampler}.limpet"
        done = self.as_somebody("record", "-p", pid, "-o", path, "--sampler", sampler, *options)
        if done.returncode == 3:
            self.skipTest(done.stderr)
        if done.returncode == NO_SAMPLES:
            return []
        self.assertEqual(done.returncode, 0, done.stderr)
        stacks = [stack for stacks in Recording(path, self.folder).stacks.values() for stack in stacks]
        return [stack for stack in stacks if python_frames(stack)]

    def check(self, pid, sampler, ways, *options):
        """Each way is seen, however long that takes on a busy machine, and what is seen is true."""
        truth, stacks, names = Truth(version()), [], set()
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and (len(stacks) < SAMPLES[sampler] or not set(ways) <= names):
            stacks += self.record(pid, sampler, *HOW[sampler], *options)
            names = {simple(frame.function) for stack in stacks for frame in stack}
        self.assertLessEqual(set(ways), names)
        wrong = collections.Counter(filter(None, map(truth.problem, stacks)))
        self.assertLessEqual(sum(wrong.values()) / len(stacks), 1 - SHARE, wrong.most_common(3))

    def test_copied_stacks(self):
        process = self.start("all")
        self.check(process.pid, "copy", WAYS)

    def test_copied_stacks_of_threads(self):
        process = self.start("nested", "callback", "methods", threads=3)
        self.check(process.pid, "copy", ("nested", "callback", "methods"))

    def test_stacks_that_are_read(self):
        process = self.start("all")
        self.check(process.pid, "read", ("nested", "recursion"))

    def test_children(self):
        """Of a pool, and of a shell that is no Python."""
        script = f"{PYTHON} {self.program} nested & {PYTHON} {self.program} callback & wait"
        process = subprocess.Popen([*SOMEBODY, "sh", "-c", script], stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and len(children.read_text().split()) < 2:
            time.sleep(0.02)
        pids = list(map(int, children.read_text().split()))
        for pid in pids:
            self.addCleanup(os.kill, pid, 9)
            while time.monotonic() < end and not self.is_up(pid, 1):
                time.sleep(0.02)
        for sampler in ("copy", "read"):
            self.check(process.pid, sampler, ("nested", "callback"), "--children")


if __name__ == "__main__":
    unittest.main()
