"""What the parts of cuda.py share: programs on a device, how they are watched, and limpet beside them."""

import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
sys.path[:0] = [str(PROGRAMS), str(HERE.parent / "attach"), str(HERE.parent / "common")]
ROOT = HERE.parent.parent
AFTER_S = 2.0  # a program is watched so long after limpet has left
for built in ("build", f"build-cross-{'amd64' if os.uname().machine == 'x86_64' else 'arm64'}"):
    if (ROOT / built / "src/host/limpet").exists():
        os.environ.setdefault("LIMPET", str(ROOT / built / "src/host/limpet"))

os.environ.setdefault("PROGRESS_S", str(AFTER_S))
import harness  # noqa: E402
from report import Report  # noqa: E402
from torch_page import DONE, END_AT, PAGE_BYTES, PID, PROFILE, PROFILES, WAIT_AT, WAITS, Page  # noqa: E402

START_S = 180


def words_of(mode):
    """How a program of that mode is started."""
    script = {"plain": "cuda_c.py", "cupy": "array_loop.py", "jax": "array_loop.py"}.get(mode, "torch_loop.py")
    return [sys.executable, str(PROGRAMS / script)]


class Program:
    """A running program of tests/real/programs; words: how it is started; where given, it may take its time to begin."""

    def __init__(self, mode, end_at=0, words=None):
        self.mode = mode
        handle, self.path = tempfile.mkstemp(prefix="torch-")
        os.write(handle, bytes(PAGE_BYTES))
        os.close(handle)
        self.page = Page(self.path)
        self.page[END_AT] = end_at
        self.process = subprocess.Popen([*(words or words_of(mode)), self.path, mode], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        if not words:
            self.await_begin()

    def await_begin(self):
        if not harness.wait_until(lambda: self.page[PID] or self.process.poll() is not None, START_S) or not self.page[PID]:
            self.process.kill()
            raise AssertionError(f"{self.mode}: it does not begin: {self.process.communicate()[1].strip()[-300:]}")
        self.pid = self.page[PID]

    def wait_at(self, more):
        """Lets it go on for so many iterations, until it waits."""
        at = self.page[DONE] + more
        self.page[WAIT_AT] = at
        harness.wait_until(lambda: self.page[WAITS] and self.page[DONE] >= at or not self.lives(), 120)
        if not self.page[WAITS] or self.page[DONE] < at or not self.lives():
            raise AssertionError("it does not come to its place")

    def go_on(self):
        self.page[WAIT_AT] = 0

    def pause(self):
        self.wait_at(1)

    def do(self, deed):
        """Lets cuda_c.py do something, and go on."""
        self.page[PROFILES], self.page[PROFILE] = 0, deed
        if not harness.wait_until(lambda: self.page[PROFILES] == deed or self.process.poll() is not None, 60):
            raise AssertionError(f"deed {deed} is not done")

    def lives(self):
        return self.process.poll() is None

    def goes_on(self, seconds=AFTER_S):
        """Does it work on, to the end of that time?"""
        return harness.progress.Progress(self.pid, lambda: self.page[DONE], self.process).problem(seconds) is None

    def rate(self, seconds):
        begin, at = time.monotonic(), self.page[DONE]
        time.sleep(seconds)
        return (self.page[DONE] - at) / (time.monotonic() - begin)

    def close(self):
        self.process.kill()
        self.process.communicate()
        os.unlink(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class Verdict(Report):
    def say(self, is_right, text):
        if is_right:
            self.ok(text)
        else:
            self.not_ok(text, "wrong")


def record(program, path, *traces):
    return harness.limpet_attached("record", "-p", program.pid, "-o", path, "--json", *traces)


def finish(process):
    process.send_signal(signal.SIGINT)
    result = harness.limpet_finish(process)
    return result, result.event("recorded")


def rest(verdict, program, name):
    """After limpet has left: whoever was traced works on, and not only for a moment."""
    program.go_on()
    verdict.say(program.goes_on(), f"{name}: it works on for {AFTER_S:.0f} s without limpet")


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f}, {len(values)})"


def turns(touched, other, count=6, seconds=1.0):
    """The rate of one beside that of the other, one running at a time, in turn."""
    ratios = []
    for _ in range(count):
        rates = []
        for program in (touched, other):
            program.go_on()
            program.rate(seconds / 5)
            rates.append(program.rate(seconds))
            program.pause()
        ratios.append(rates[0] / rates[1])
    return ratios
