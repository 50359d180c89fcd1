"""
A program that uses the stand-ins of AMD's runtimes, the staged rocprofv3 that traces it, and what the files say.
"""

import glob
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / name) for name in ("amd", "front_ends", "recording", "attach", "ui")]

import staged  # noqa: E402
import test_amd_files as files  # noqa: E402
from server import Server  # noqa: E402, F401
from standin import CASES, STANDIN, Work, harness  # noqa: E402

DEADLINE_S = 2 * harness.PATIENCE_S
HOST = socket.gethostname()
ROUNDS = 5
COUNTED = ("hipMalloc", "hipFree", "hipLaunchKernel", "hipMemcpyAsync", "hipMemcpy", "hipStreamSynchronize",
           "hipSetDevice", "hipStreamCreate", "hipStreamDestroy")


class Running:
    """A program while it runs; what it says goes to files."""

    def __init__(self, command, cwd, **variables):
        self.files = [tempfile.TemporaryFile("w+") for _ in range(2)]
        self.process = subprocess.Popen(
            list(map(str, command)), cwd=cwd, text=True, stdin=subprocess.PIPE, stdout=self.files[0],
            stderr=self.files[1], env=staged.environment(**variables))

    @property
    def out(self):
        return self.read(0)

    @property
    def err(self):
        return self.read(1)

    def read(self, which):
        self.files[which].seek(0)
        return self.files[which].read()

    def wait_for(self, text):
        harness.wait_until(lambda: text in self.out or self.process.poll() is not None)
        if text not in self.out:
            raise AssertionError(f"{self.process.poll()}: {self.out} {self.err}")
        return self

    def finish(self, code=0, text=None):
        self.process.communicate(text, timeout=DEADLINE_S)
        if self.process.returncode != code:
            raise AssertionError(f"{self.process.returncode}: {self.out} {self.err}")
        return self

    def signal(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.finish()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        for file in self.files:
            file.close()


class Profiled(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.prefix = staged.prefix()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rocprofv3-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.temporary = os.path.join(self.folder, "temporary")
        os.mkdir(self.temporary)

    def work(self, case="unprepared"):
        """A program whose runtimes are there."""
        work = Work(**CASES[case])
        self.addCleanup(work.close)
        work.tables()
        return work

    def run_program(self, *command, **variables):
        running = Running(command, self.folder, ROCPROF_TMPDIR=self.temporary, **variables)
        self.addCleanup(self.end, running)
        return running

    def start(self, *arguments, wait=True):
        running = self.run_program(self.prefix.program("rocprofv3"), *arguments)
        return running.wait_for(":: success") if wait else running

    def end(self, running):
        running.close()
        self.assertEqual(os.listdir(self.temporary), [], "recordings are left")

    def go(self, work, rounds=ROUNDS):
        return {words[1]: int(words[2]) for words in work.ask("go", rounds) if words[0] == "did"}

    def trace(self, work, *arguments, rounds=ROUNDS):
        """Attached while it works: what it did, and the program when it has ended."""
        running = self.start("-p", work.pid, *arguments)
        did = self.go(work, rounds)
        return did, running.signal()

    def usual(self, work, *folders):
        return os.path.join(self.folder, *folders, HOST, str(work.pid))

    def made(self):
        """All files, by their names from the folder on."""
        found = glob.glob(self.folder + "/**", recursive=True)
        return sorted(os.path.relpath(path, self.folder) for path in found if os.path.isfile(path))

    def check_counts(self, sums, did):
        counts = Counter()
        for (_, name), (count, _) in sums.items():
            counts[name] += count
        self.assertEqual({name: counts[name] for name in COUNTED}, {name: did[name] for name in COUNTED})
        self.assertEqual(sum(count for (kind, _), (count, _) in sums.items() if kind == "KERNEL_DISPATCH"),
                         did["kernels"])
        self.assertEqual(counts["MEMORY_COPY_HOST_TO_DEVICE"], did["copies_to_device"])
        self.assertEqual(counts["MEMORY_COPY_DEVICE_TO_HOST"], did["copies_to_host"])
        for text in ("round", "copies", "whole", "allocated"):
            self.assertEqual(counts[text], did["roctxMarkA"], text)
