"""
Starts workloads, reads their statistics page from outside, runs limpet with a deadline.  Used by the
tests of attaching and by the stress drivers; Python's standard library only.

Environment: LIMPET is the executable under test, PROGRAMS the folder with the built test programs,
PATIENCE_S for how many seconds something may be late.
"""

import atexit
import contextlib
import ctypes
import functools
import json
import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import progress  # noqa: E402

LIMPET = os.environ.get("LIMPET", "limpet")
PROGRAMS = os.environ.get("PROGRAMS", ".")
SKIP = 77
BUSY = 7  # limpet's status
# How long a thing may take that must happen: whatever is slow or stands still for seconds is not broken.
PATIENCE_S = int(os.environ.get("PATIENCE_S", "60"))
PAUSE_MAX_S = 0.01  # between two looks at what one waits for

# struct workload_stats of tests/programs/workload.h
WORDS = (
    "magic pid ready turns eintr corruptions errors signals_sent signals_received signals_lost "
    "early max_late_ns max_gap_ns"
).split()
MAGIC = 0x31306574706D696C
PAGE_BYTES = 256


# The last part of the path of what limpet maps: "limpet-agent", "limpet-rings", "liblimpet-tracer.so".  Other parts say
# nothing: a checkout of limpet may lie in a folder of that name, and its test programs with it.
MAPPED = re.compile(r"/(?:memfd:)?(?:lib)?limpet-[^/]*$")


class Unavailable(Exception):
    """The workload cannot run on this machine."""


def program(name):
    return os.path.join(PROGRAMS, name)


def runs(name):
    """True if the program (a name, or an absolute path) was built and its loader is installed; musl's may not be."""
    if not os.path.exists(program(name)):
        return False
    try:
        process = subprocess.Popen([program(name)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        return False
    process.kill()
    process.wait()
    return True


def has_library(name):
    """Does this machine's own loader find it?"""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


class Stats:
    """The counters of one workload, read from its file without touching the process."""

    def __init__(self, path):
        with open(path, "r+b") as file:
            file.truncate(PAGE_BYTES)
            self.page = mmap.mmap(file.fileno(), PAGE_BYTES, prot=mmap.PROT_READ)

    def word(self, name):
        return struct.unpack_from("<Q", self.page, WORDS.index(name) * 8)[0]

    def detail(self):
        text = self.page[len(WORDS) * 8:]
        return text.split(b"\0", 1)[0].decode(errors="replace")

    def wait_turn(self, deadline_s=PATIENCE_S):
        """True when the main loop ends another turn in time."""
        wanted = self.word("turns") + 1
        end = time.monotonic() + deadline_s
        while self.word("turns") < wanted:
            if time.monotonic() > end:
                return False
            time.sleep(0.002)
        return True


class Workload:
    """A running target.  Use as a context manager: its end kills what it started."""

    def __init__(self, binary, name, preload=None, before=(), stdin=subprocess.DEVNULL):
        self.pid = None  # until it is ready
        path = program(binary)
        if not os.path.exists(path):
            raise Unavailable(f"{binary} was not built")
        handle, self.path = tempfile.mkstemp(prefix="workload-")
        os.close(handle)
        os.chmod(self.path, 0o666)
        self.stats = Stats(self.path)
        environment = dict(os.environ)
        if preload:
            environment["LD_PRELOAD"] = preload
        try:
            self.process = subprocess.Popen(
                [*before, path, name, self.path],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except FileNotFoundError as missing:
            os.unlink(self.path)
            raise Unavailable(f"{binary}: its loader or {missing.filename} is not here") from missing
        try:
            self._wait_ready(name)
        except BaseException:
            self.close()
            raise
        self.pid = self.stats.word("pid")

    def _wait_ready(self, name):
        line = self.process.stdout.readline().decode()
        if line.strip() != "ready":
            code = self.process.wait()
            raise Unavailable(f"{name}: {line.strip() or 'exit code %d' % code}")

    def alive(self):
        state = status_of(self.pid).get("State", "X")
        return state[0] not in "ZX" or thread_count(self.pid) > 1

    def fate(self):
        """How the process that was started ended, in words."""
        code = self.process.poll()
        if code is None:
            return "running"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"

    def close(self):
        try:
            self.check_progress()
        finally:
            self.end()

    def check_progress(self, seconds=None):
        """Raises progress.Harm when limpet was here and the program does not go on with its turns."""
        if self.pid:
            progress.check(self.pid, lambda: self.stats.word("turns"), self.process, seconds)

    def end(self):
        for number in (signal.SIGCONT, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                pass
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        self.process.stdout.close()
        os.unlink(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class Mirror(Workload):
    """A target that says how it sees itself."""

    def __init__(self, name, binary="mirror", **options):
        super().__init__(binary, name, stdin=subprocess.PIPE, **options)

    def check_progress(self, seconds=None):
        """It works when it is asked."""
        progress.check(self.pid, progress.Answers(self.process, "?"), self.process, seconds)

    def look(self, request=b"?"):
        """What the program says about itself, as lines."""
        self.process.stdin.write(request)
        self.process.stdin.flush()
        lines = []
        while True:
            line = self.process.stdout.readline().decode()
            if line in ("END\n", ""):
                return lines[1:]
            lines.append(line.rstrip("\n"))


def status_of(pid, tid=None):
    """/proc/PID/status (or of one thread) as a dictionary; empty when the process is gone."""
    path = f"/proc/{pid}/task/{tid}/status" if tid else f"/proc/{pid}/status"
    try:
        # A name may hold any byte but a newline, which the kernel writes otherwise.
        with open(path, errors="replace", newline="\n") as file:
            return {key: text.strip() for key, _, text in (line.partition(":") for line in file)}
    except (FileNotFoundError, ProcessLookupError):
        return {}


def threads_of(pid):
    try:
        return sorted(int(tid) for tid in os.listdir(f"/proc/{pid}/task"))
    except FileNotFoundError:
        return []


def thread_count(pid):
    return len(threads_of(pid))


class TargetTest(unittest.TestCase):
    """A test with targets, and with limpets that it starts."""

    maxDiff = None

    @contextlib.contextmanager
    def subTest(self, *arguments, **options):
        """Its targets end with it, and take no time from those of the next one."""
        kept = len(self._cleanups)
        with super().subTest(*arguments, **options):
            try:
                yield
            finally:
                while len(self._cleanups) > kept:
                    function, given, named = self._cleanups.pop()
                    function(*given, **named)

    def target(self, *arguments, **options):
        try:
            target = Workload(*arguments, **options)
        except Unavailable as reason:
            self.skipTest(str(reason))
        self.addCleanup(target.close)
        return target

    def end_process(self, process):
        if process.poll() is None:
            process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream and not stream.closed:
                stream.close()
        process.wait()


class Span:
    """
    How often a program has gone round while it was traced.  Words are hooked one by one, before limpet says that
    it is attached, and given back one by one when it is told to leave; a thread may lose its processor in between.
    So calls in the middle are certain, those at the ends may be seen or not.
    """

    def __init__(self, turns):
        self.turns, self.before = turns, turns()

    def begin(self):
        self.begun = self.turns()

    def end(self):
        self.ending = self.turns()

    def close(self):
        self.after = self.turns()

    def holds(self, count, each=1):
        """Can it be so many calls, of which there are so many in each turn?"""
        return (self.ending - self.begun - 1) * each <= count <= (self.after - self.before + 1) * each


def wait_until(condition, deadline_s=PATIENCE_S):
    """True as soon as condition() is; False after the deadline."""
    end, pause_s = time.monotonic() + deadline_s, 0.001
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, PAUSE_MAX_S)
    return True


class Result:
    """What one run of limpet said."""

    def __init__(self, code, out, err, hung):
        self.code, self.out, self.err, self.hung = code, out, err, hung
        self.events = []
        for line in out.splitlines():
            try:
                self.events.append(json.loads(line))
            except ValueError:
                self.events.append({"event": "unreadable", "line": line})

    def event(self, name):
        return next((event for event in self.events if event.get("event") == name), {})

    def __str__(self):
        words = "hung" if self.hung else f"exit {self.code}"
        return f"{words}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def limpet_start(*arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(
        [LIMPET, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def limpet_finish(process, deadline_s=PATIENCE_S):
    """Waits for limpet; one that hangs is killed together with its children, and it is said."""
    try:
        out, err = process.communicate(timeout=deadline_s)
        return Result(process.returncode, out, err, False)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Result(None, out, err, True)


def limpet_finish_enter(process, deadline_s=PATIENCE_S):
    """Presses Enter and waits."""
    process.stdin.write("\n")
    process.stdin.flush()
    return limpet_finish(process, deadline_s)


def limpet(*arguments, deadline_s=PATIENCE_S, **options):
    return limpet_finish(limpet_start(*arguments, **options), deadline_s)


def line_wait(process):
    """The next line; less when the process ended.  Byte by byte, so that nothing is taken from what communicate() reads."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(process.stdout.fileno(), 1)
        if not byte:
            break
        line += byte
    return line.decode()


def event_wait(process):
    """The next line of a limpet that stays; None when it ended."""
    line = line_wait(process)
    return json.loads(line) if line.endswith("\n") else None


def attached_wait(process):
    """Reads the "attached" line of a limpet that stays; None when it ended without one."""
    event = event_wait(process)
    return event if event and event.get("event") == "attached" else None


def limpet_attached(*arguments):
    """
    A limpet that stays, once it is attached; for tests of what comes then.  Where no thread of the target stopped in
    time, as on a machine with hundreds of runnable threads, it is tried again, as limpet says.
    """
    for _ in range(3):
        process = limpet_start(*arguments)
        if attached_wait(process):
            return process
        result = limpet_finish(process)
        if result.code != BUSY:
            break
    raise AssertionError(f"not attached: {result}")


def limpet_mappings(pid):
    """The lines of /proc/PID/maps with memory that is limpet's: its agent, its tracer, its rings."""
    with open(f"/proc/{pid}/maps") as file:
        return [line.rstrip() for line in file if MAPPED.search(line.rstrip())]


@functools.cache
def limpet_for_all():
    """A copy of limpet that other users can execute, wherever the checkout lies; gone when the test ends."""
    folder = tempfile.mkdtemp(prefix="limpet-for-all-")
    atexit.register(shutil.rmtree, folder)
    os.chmod(folder, 0o755)
    return shutil.copy(LIMPET, folder)


def preload_find(name):
    """The path of a library for LD_PRELOAD, or None: asks the loader's cache."""
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    match = re.search(r"^\s*%s .*=> (\S+)$" % re.escape(name), listing, re.MULTILINE)
    return match.group(1) if match else None


def percentile(values, fraction):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * fraction))] if ordered else 0
