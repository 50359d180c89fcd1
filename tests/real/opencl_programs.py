"""Programs of others that use OpenCL: how they are started, how far they are, and whether they are right.

Each runs for as long as it takes, in a pseudo-terminal so that it says at once how far it is.
"""

import hashlib
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


class Unavailable(Exception):
    """The program is not installed."""


class Program:
    """A running program. `kernels` is a pattern that some kernel of it matches; it is at work when its progress is
    more than `warm_up`."""

    kernels = "."
    warm_up = 0
    tells_progress, is_short = True, False

    def __init__(self, folder):
        self.folder, self.text, self.process = folder, "", None

    def open(self):
        words = self.words()
        if not shutil.which(words[0]):
            raise Unavailable(f"{words[0]} is not installed ({self.package})")
        home = str(self.folder)
        environment = dict(os.environ, HOME=home, XDG_DATA_HOME=home, XDG_CACHE_HOME=home, TERM="dumb",
                           POCL_CACHE_DIR=home)
        self.terminal, end = pty.openpty()
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=end, stderr=end, cwd=home,
                                        env=environment, start_new_session=True)
        os.close(end)
        self.pid = self.process.pid

    def read(self):
        """Takes what it has said meanwhile."""
        while select.select([self.terminal], [], [], 0)[0]:
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                return
            if not data:
                return
            self.text += data.decode(errors="replace")

    def is_running(self):
        return self.process.poll() is None

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            os.close(self.terminal)
            self.process = None


class Pyopencl(Program):
    name, package = "pyopencl", "python3-pyopencl"
    kernels = "^sum$"

    def words(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import pyopencl"], capture_output=True).returncode:
            raise Unavailable(f"{self.package} is not installed")
        return ["/usr/bin/python3", str(HERE / "programs/sum_loop.py")]

    def said(self):
        self.read()
        found = re.findall(r"rounds (\d+) wrong (\d+)", self.text)
        return [int(number) for number in found[-1]] if found else [0, 0]

    def progress(self):
        return self.said()[0]

    def problem(self):
        wrong = self.said()[1]
        return f"{wrong} sums are wrong" if wrong else None


class Hashcat(Program):
    """Looks for passwords; one of them it comes to while it is traced."""

    name, package = "hashcat", "hashcat"
    kernels = "^m00000_"
    mask = "?a?a?a?a?a?a?a"

    def words(self):
        hashes = self.folder / "hashes"
        hashes.write_text("".join(hashlib.md5(word.encode()).hexdigest() + "\n" for word in self.secrets()))
        return ["hashcat", "-m", "0", "-a", "3", "--force", "-D", "1", "--runtime", "700", "--potfile-disable",
                "--status", "--status-json", "--status-timer", "1", str(hashes), self.mask]

    def secrets(self):
        """What it tries in its first minutes, and what it never gets to."""
        words = ["no such\x01"]
        if not shutil.which("hashcat"):
            return words
        for at in (50, 200, 400):
            out = subprocess.run(["hashcat", "--stdout", "-a", "3", "--skip", str(at), "--limit", "1", self.mask],
                                 capture_output=True, text=True, errors="replace", cwd=self.folder,
                                 env=dict(os.environ, HOME=str(self.folder))).stdout
            words += out.splitlines()[:1]
        return words

    def states(self):
        self.read()
        states = []
        for line in re.findall(r"^\{.*\}\s*$", self.text, re.MULTILINE):
            try:
                states.append(json.loads(line))
            except ValueError:
                pass
        return states

    def progress(self):
        states = self.states()
        return states[-1]["progress"][0] if states else 0

    def problem(self):
        if "Self-test failed" in self.text:
            return "its test of itself failed"
        if not self.states()[-1]["recovered_hashes"][0]:
            return "it has found no password"
        return None


class Clblast(Program):
    """Multiplies matrices and compares with a CPU library: one letter for each result."""

    name, package = "clblast", "clblast-tests"
    kernels = "Xgemm"
    warm_up = 1000  # until then it compiles now and again

    def words(self):
        return ["clblast_test_xgemm", "-full_test", "0"]

    def results(self):
        """Letters only: its legend and its headlines have others, too."""
        self.read()
        text = re.sub(r"\x1b\[[0-9;]*m|\r", "", self.text)
        return "".join(re.findall(r"^ +([:.X/\\o-]+)$", text, re.MULTILINE))

    def progress(self):
        return len(self.results())

    def problem(self):
        wrong = sum(self.results().count(letter) for letter in "X/")
        return f"{wrong} of {self.progress()} results are wrong" if wrong else None


class Clfft(Program):
    """Compiles, enqueues everything at once, waits, and ends: caught while it compiles, once a process."""

    name, package = "clfft", "clfft-client"
    kernels = "^fft"
    tells_progress, is_short = False, True

    def words(self):
        return ["clFFT-client", "-x", "1024", "-y", "64", "-p", "2000"]

    def progress(self):
        """Has it come as far as its driver?"""
        try:
            return "libpocl" in pathlib.Path(f"/proc/{self.pid}/maps").read_text()
        except OSError:
            return False

    def problem(self):
        self.read()
        status = self.process.wait()
        return f"it ended with {status}: {self.text[-200:]}" if status else None


PROGRAMS = (Pyopencl, Hashcat, Clblast, Clfft)
