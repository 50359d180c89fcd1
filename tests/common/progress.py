"""
Verifies from outside that a target goes on with its work after limpet has detached.

A visit is judged by what the target does afterwards: for some seconds its work must grow, as fast as before, and the
process must live.  Work is what a source counts: turns in a mapped file, lines, answered requests; without a source
it is the processor time and the voluntary switches of all threads in /proc.  The target is only read.

    work = Progress(pid, count=lambda: stats.word("turns"))     before the visit
    work.measure(1.0)                                           optional: how fast it is undisturbed
    ... limpet attaches and detaches ...
    problem = work.problem(3.0, share=0.5)                      None, or what is wrong, in words

A script that imports this module has the check: subprocess.Popen, os.kill and os.killpg are replaced.  A command that runs
limpet notes the processes that it names as visited; a signal that ends a visited process checks it before.  Classes that
know better what a target's work is call check() themselves; a visit that no command names is noted by note_visit().

python3 progress.py PID looks at one process, for scripts in other languages.

PROGRESS_S is for how many seconds a target must have been watched since limpet left; ./dev stress and ./dev real set seconds.
"""

import os
import platform
import re
import select
import signal
import subprocess
import sys
import time

PROGRESS_S = float(os.environ.get("PROGRESS_S", "0.07"))
ANSWERS_S = float(os.environ.get("PROGRESS_S", "0"))  # one answer is enough where no time is asked for
PATIENCE_S = int(os.environ.get("PATIENCE_S", "60"))  # without any progress: the target hangs
SLICE_S = 0.1
LOOK_S = 0.002
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
IDLE_S = 0.03  # in which a target that works does some of it
WORKED_US = 100_000  # of processor time: more than a visit costs a thread that waits
# Programs that visit the processes whose numbers they are given.
VISITORS = {os.path.basename(os.environ.get("LIMPET", "limpet")), "limpet", "rocprofv3", "rocprof-attach", "sampler_driver", "trace_probe"}
ENDING = {signal.SIGKILL, signal.SIGTERM}
FUTEX = {"x86_64": "202", "aarch64": "98"}.get(platform.machine())
# Signals that a test does not send to end a target: the process has crashed.
CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS}


class Harm(AssertionError):
    """The target did not survive a visit unharmed."""


def read_text(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def threads_of(pid):
    try:
        return sorted(map(int, os.listdir(f"/proc/{pid}/task")))
    except OSError:
        return []


def state_of(pid, tid=None):
    """The letter of /proc/PID/stat; X when there is no such process."""
    text = read_text(f"/proc/{pid}/task/{tid}/stat" if tid else f"/proc/{pid}/stat")
    return text.rpartition(") ")[2][:1] or "X"


def is_alive(pid):
    """A process whose first thread has ended lives as long as another thread does."""
    return state_of(pid) not in "ZX" or len(threads_of(pid)) > 1


def work_of(pid):
    """Microseconds of processor time plus voluntary switches of the target's threads: grows while they run."""
    total = 0
    for tid in threads_of(pid):
        if read_text(f"/proc/{pid}/task/{tid}/comm").startswith("limpet"):
            continue
        text = read_text(f"/proc/{pid}/task/{tid}/status")
        switches = [line.split()[1] for line in text.splitlines() if line.startswith("voluntary")]
        total += sum(map(int, switches)) + thread_us(pid, tid)
    return total


def thread_us(pid, tid):
    """Processor time of one thread: by the scheduler's clock where the kernel has it, else by ticks."""
    fine = read_text(f"/proc/{pid}/task/{tid}/schedstat").split()
    if fine:
        return int(fine[0]) // 1000
    fields = read_text(f"/proc/{pid}/task/{tid}/stat").rpartition(") ")[2].split()
    return int((int(fields[11]) + int(fields[12])) * TICK_S * 1e6) if len(fields) > 12 else 0


def diagnosis(pid, process=None):
    """How the process ended, or where its threads are, in words."""
    code = process.poll() if process else None
    if code is not None:
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
    if not is_alive(pid):
        return "gone"
    return "; ".join(thread_words(pid, tid) for tid in threads_of(pid)[:8])


def thread_words(pid, tid):
    base = f"/proc/{pid}/task/{tid}"
    call = read_text(f"{base}/syscall").split()
    where = f"system call {call[0]}" if call and call[0].lstrip("-").isdigit() else "running"
    name, channel = read_text(f"{base}/comm").strip(), read_text(f"{base}/wchan") or "-"
    return f"{tid} {name}: {state_of(pid, tid)}, {where}, {channel}"


class Progress:
    """The work of one target.  count() grows with it; process, where given, is the Popen that knows how it ended."""

    def __init__(self, pid, count=None, process=None, visit=None):
        """With a visit the target may be one that does nothing (is_idle)."""
        self.pid, self.process, self.visit = pid, process, visit
        self.count = count or (lambda: work_of(pid))
        self.before = self.after = None

    def rate(self, seconds):
        begin_s, begin = time.monotonic(), self.count()
        time.sleep(seconds)
        return (self.count() - begin) / (time.monotonic() - begin_s)

    def measure(self, seconds=1.0):
        """Work for each second without limpet; the fastest of all measurements is what problem() compares with."""
        self.before = max(self.before or 0, self.rate(seconds))
        return self.before

    def wait_growth(self, deadline_s=None):
        """True as soon as the work has grown, or the target is found idle; False when it did not in time, or when the process has ended."""
        begin, begin_s = self.count(), time.monotonic()
        while self.count() <= begin:
            waited_s = time.monotonic() - begin_s
            if self.visit and waited_s > IDLE_S and is_idle(self.pid, self.visit):
                return True
            if waited_s > (PATIENCE_S if deadline_s is None else deadline_s) or not is_alive(self.pid):
                return False
            time.sleep(LOOK_S)
        return True

    def problem(self, seconds=PROGRESS_S, share=None, deadline_s=None):
        """
        Watches the target for so many seconds: its work must grow all the time, and reach that share of the rate
        that measure() found.  What is wrong, or None.
        """
        begin_s, begin = time.monotonic(), self.count()
        while True:
            if not self.wait_growth(deadline_s):
                fate = "hangs" if is_alive(self.pid) else "died"
                return f"the target {fate} after limpet left: {diagnosis(self.pid, self.process)}"
            left_s = begin_s + seconds - time.monotonic()
            if left_s <= 0:
                break
            time.sleep(min(SLICE_S, left_s))
        if seconds >= PROGRESS_S:
            visited.pop(self.pid, None)  # judged
        self.after = (self.count() - begin) / max(time.monotonic() - begin_s, 1e-9)
        if share and self.before and self.after < share * self.before:
            return f"the target is slower after limpet left: {self.speeds()}"
        return None

    def speeds(self):
        if self.before is None or self.after is None:
            return "not measured"
        return f"{self.before:.0f}/s before, {self.after:.0f}/s after"


class Answers:
    """A source for programs that answer requests on their standard output: counts requests that were answered."""

    def __init__(self, process, request):
        self.process, self.request, self.count = process, request, 0

    def __call__(self):
        try:
            os.write(self.process.stdin.fileno(), self.request.encode())
        except BrokenPipeError:
            return self.count  # the process has ended
        if select.select([self.process.stdout], [], [], 1.0)[0]:
            self.count += bool(os.read(self.process.stdout.fileno(), 65536))
        return self.count


class Visit:
    """What is known about a visited target: who is there, when the last limpet left; of its threads, where they waited and how
    long they had worked before."""

    def __init__(self):
        self.limpets, self.departed, self.places, self.worked_us = set(), None, {}, {}

    def is_on(self):
        return any(limpet.poll() is None for limpet in list(self.limpets))


visited = {}  # by pid


def note_visit(pids, limpet=None):
    """limpet is the Popen that visits these processes, where there is one; it is waited for by the test."""
    for pid in pids:
        visit = visited.setdefault(pid, Visit())
        visit.departed = None
        for tid, place in places_of(pid).items():
            visit.places[tid] = place or visit.places.get(tid)
            visit.worked_us.setdefault(tid, thread_us(pid, tid))
        if limpet:
            visit.limpets.add(limpet)


def note_departure(pids):
    for pid in pids:
        if pid in visited:
            visited[pid].departed = time.monotonic()


def places_of(pid):
    """Where each thread of a process waits, as {tid: (system call, stack pointer, instruction)}, or {tid: None} for one that runs."""
    places = {}
    for tid in threads_of(pid):
        state = state_of(pid, tid)
        if state in "ZX" or read_text(f"/proc/{pid}/task/{tid}/comm").startswith("limpet"):
            continue
        call = read_text(f"/proc/{pid}/task/{tid}/syscall").split() or ["unreadable"]
        waits = state in "SD" and call[0] not in ("running", "-1")
        places[tid] = (call[0], *call[-2:]) if waits else None
    return places


def is_idle(pid, visit):
    """
    A target that does nothing waits for something, in any system call.  A thread that was there before the visit, has
    worked since and waits in another futex than before may wait for a lock that limpet did not release.
    """
    return all(place and (place[0] != FUTEX or (visit.places.get(tid) or ())[1:] == place[1:]
                          or tid not in visit.worked_us or thread_us(pid, tid) - visit.worked_us[tid] < WORKED_US)
               for tid, place in places_of(pid).items())


def exit_of(pid, process):
    """How a process ended, as Popen says it; None while it runs, or when the process is no child."""
    if process:
        return process.poll()
    try:
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return ended and (ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)


def check(pid, count=None, process=None, seconds=None):
    """
    Called where a test ends a target.  Raises Harm when a visited target crashed, or when it does not work on.  The
    time since limpet left counts: a test that looked at the target for long enough waits for one more step only.
    """
    visit = visited.pop(pid, None)
    if visit is None:
        return
    code = exit_of(pid, process)
    if code is not None and -code in CRASHES:
        raise Harm(f"the target {pid} died of {signal.Signals(-code).name} after a visit")
    if code is not None or not is_alive(pid) or state_of(pid) in "Tt":
        return  # ended or stopped by the test
    if isinstance(count, Answers) and process.stdin.closed:
        return  # told to end
    wanted = seconds if seconds is not None else ANSWERS_S if isinstance(count, Answers) else PROGRESS_S
    left_s = max(0.0, wanted - (time.monotonic() - visit.departed if visit.departed else 0))
    problem = Progress(pid, count, process, None if count else visit).problem(left_s)
    if problem and (count or exit_of(pid, process) != 0):
        raise Harm(problem)


def end(process):
    """For addCleanup(): ends a target, which checks it before where limpet was there."""
    try:
        process.kill()
    finally:
        process.wait()


def check_programs(name):
    """Checks all processes of that name, in whatever namespaces, for targets that others start and end."""
    pids = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and read_text(f"/proc/{pid}/comm").strip() == name]
    note_visit(pids)
    note_departure(pids)
    for pid in pids:
        check(pid)


def check_before(number, pids, process=None):
    """A signal is about to be sent.  One that comes while limpet is still there is part of the test."""
    for pid in pids if number in ENDING else ():
        if pid in visited and not visited[pid].is_on():
            check(pid, process=process)


def pids_named(command):
    """The processes that a command visits: every number in it, when it runs one of VISITORS."""
    arguments = [command] if isinstance(command, (str, bytes, os.PathLike)) else command
    words = re.split(r"[\s,=;\"']+", " ".join(map(os.fsdecode, map(str_of, arguments))))
    visits = any(os.path.basename(word) in VISITORS for word in words)
    return [int(word) for word in words if visits and word.isdigit() and 1 < int(word) < 1 << 22]


def str_of(argument):
    return argument if isinstance(argument, (str, bytes, os.PathLike)) else str(argument)


class Popen(subprocess.Popen):
    """Notes the targets of limpet, and checks a target before the signal that ends it."""

    def __init__(self, args, *rest, **options):
        self.targets = pids_named(args)
        note_visit(self.targets, self)
        super().__init__(args, *rest, **options)

    def poll(self):
        return self.leave(super().poll())

    def wait(self, timeout=None):
        return self.leave(super().wait(timeout))

    def leave(self, code):
        if code is not None and self.targets:
            note_departure(self.targets)
            self.targets = ()
        return code

    def send_signal(self, sig):
        try:
            check_before(sig, [self.pid], self)
        finally:
            super().send_signal(sig)


def group_of(pid):
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def checked(send, pids_of):
    """os.kill or os.killpg with a check of the visited targets that it ends."""

    def send_checked(pid, number):
        try:
            check_before(number, pids_of(pid))
        finally:
            send(pid, number)

    return send_checked


if subprocess.Popen is not Popen:
    subprocess.Popen = Popen
    os.kill = checked(os.kill, lambda pid: [pid])
    os.killpg = checked(os.killpg, lambda group: [pid for pid in list(visited) if group_of(pid) == group])

if __name__ == "__main__":
    sys.exit(Progress(int(sys.argv[1]), visit=Visit()).problem())
