"""What the tests of sampling share: programs, the driver, names of frames."""

import bisect
import collections
import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
import time

import elf_symbols

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import progress  # noqa: E402

DRIVER = os.environ["SAMPLER_DRIVER"]
PROGRAMS = os.environ["SAMPLING_PROGRAMS"]
LIMIT = 120
IS_LONG = "SAMPLING_LONG" in os.environ  # what only a quiet machine keeps: ./dev stress sampling


class WrongStack(Exception):
    """One that is called complete and is not what the program does: there is no second try."""


def in_three_tries(case):
    """A class whose tests may miss a bar twice, if they must: beside other programs samples are few or late, and now and
    then in step with the program."""
    for name in dir(case):
        if name.startswith("test_") and callable(getattr(case, name)):
            setattr(case, name, tried_thrice(getattr(case, name)))
    return case


def tried_thrice(test):
    @functools.wraps(test)
    def try_it(self):
        for tries_left in (2, 1, 0):
            try:
                return test(self)
            except AssertionError as error:
                if not tries_left:
                    raise
                print(f"{self.id()}: another try: {error}", file=sys.stderr)
            self.doCleanups()
            self.setUp()

    return try_it


@contextlib.contextmanager
def running(*command, user=None):
    """A program, once it has used the processor: its own code runs then."""
    process = subprocess.Popen([*as_user(user), *command], stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and process.poll() is None and cpu_ticks(process.pid) < 2:
            time.sleep(0.01)
        progress.note_visit([process.pid])  # also by a sampler of the whole machine, which names no process
        yield process
    finally:
        process.kill()
        process.wait()


def cpu_ticks(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def wait_until_it_sleeps(pid, name="sleep"):
    """The program of this name, that is."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            if f"({name}) S" in file.read():
                return
        time.sleep(0.01)


def times_of_threads(recording):
    """Of each thread: the time of all its samples, and from the first to the last one."""
    totals, first, last = collections.Counter(), {}, {}
    for one in recording.samples:
        tid, begin = one["tid"], one["time"] - one["weight"]
        totals[tid] += one["weight"]
        first[tid] = min(first.get(tid, begin), begin)
        last[tid] = max(last.get(tid, 0), one["time"])
    return {tid: (total, last[tid] - first[tid]) for tid, total in totals.items()}


def as_user(user, capabilities=()):
    """Another user, with these capabilities of root and no other."""
    if user is None:
        return []
    given = ",".join(f"+{name}" for name in capabilities)
    more = [f"--inh-caps={given}", f"--ambient-caps={given}"] if given else []
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *more]


def allowed_samplers(*samplers):
    """Those that this machine allows; the reasons of the others are printed, and where it allows none the test ends as
    skipped (77)."""
    allowed = []
    for sampler in samplers:
        refused = sample(sampler, os.getpid(), seconds=0).error
        if refused:
            print(f"skipped: {refused['what']}: {refused['why']}")
        else:
            allowed.append(sampler)
    if not allowed:
        sys.exit(77)
    return allowed


def exit_if_refused(sampler):
    allowed_samplers(sampler)


class Symbols:
    """Functions of one file by address."""

    def __init__(self, path):
        self.items = elf_symbols.functions(path)
        self.starts = [start for start, _ in self.items]

    def name(self, address):
        index = bisect.bisect_right(self.starts, address) - 1
        return self.items[index][1] if index >= 0 else "?"


class Recording:
    """What the driver printed."""

    programs = PROGRAMS  # files below have functions with names

    def __init__(self, text):
        self.samples, self.modules, self.processes, self.refused = [], {}, [], []
        self.counts = self.error = self.ready = None
        for line in text.splitlines():
            (kind, value), = json.loads(line).items()
            self.take(kind, value)
        self.symbols, self.names = {}, {}

    def take(self, kind, value):
        if kind == "sample":
            self.samples.append(value)
        elif kind == "module":
            self.modules[value["number"]] = value
        elif kind == "process":
            self.processes.append(value)
        elif kind == "refused":
            self.refused.append(value)
        else:
            setattr(self, kind, value)

    def name(self, frame, is_leaf):
        key = (*frame, is_leaf)
        if key not in self.names:
            self.names[key] = self.find_name(frame, is_leaf)
        return self.names[key]

    def find_name(self, frame, is_leaf):
        """A function of our programs by name, else the name of its file."""
        number, address = frame
        module = self.modules.get(number)
        if module is None:
            return "?"
        base = os.path.basename(module["path"])
        if not module["path"].startswith(self.programs):
            return base
        if number not in self.symbols:
            self.symbols[number] = Symbols(module["path"])
        return self.symbols[number].name(address if is_leaf else address - 1)

    def stack(self, sample):
        """Names, outermost first."""
        names = [self.name(frame, i == 0) for i, frame in enumerate(sample["frames"])]
        return names[::-1]


def sample(sampler, pid, *words, rate=999, seconds=30, user=None, capabilities=(), before=()):
    """Samples until `max=` samples are there, at most so long; by a command that runs the driver where one is given."""
    with tempfile.TemporaryDirectory() as cache:
        if user is not None:
            os.chown(cache, user, user)
        done = subprocess.run(
            [*before, *as_user(user, capabilities), DRIVER, sampler, str(pid), str(rate), str(seconds), *words],
            capture_output=True, text=True, timeout=seconds + LIMIT, check=False,
            env={**os.environ, "XDG_CACHE_HOME": cache},
        )
    recording = Recording(done.stdout)
    recording.exit = done.returncode
    if done.stderr:
        raise AssertionError(done.stderr)
    return recording
