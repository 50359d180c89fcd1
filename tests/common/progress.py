"""
Verifies from outside that a target goes on with its work after limpet has detached.

A visit is judged by what the target does afterwards: for some seconds its work must grow, as fast as before, and the
process must live.  Work is what a source counts: turns in a mapped file, lines, answered requests; without a source
it is the processor time and the voluntary switches of all threads in /proc.  The target is only read.

    work = Progress(pid, count=lambda: stats.word("turns"))     before the visit
    work.measure(1.0)                                           optional: how fast it is undisturbed
    ... limpet attaches and detaches ...
    problem = work.problem(3.0, share=0.5)                      None, or what is wrong, in words

Test harnesses name the targets of each limpet (note_visit, note_departure) and call check() where a target is
ended: PROGRESS_S is for how many seconds it must have been watched since limpet left; ./dev stress sets seconds.
"""

import os
import select
import signal
import time

PROGRESS_S = float(os.environ.get("PROGRESS_S", "0.07"))
PATIENCE_S = int(os.environ.get("PATIENCE_S", "60"))  # without any progress: the target hangs
SLICE_S = 0.1
LOOK_S = 0.002
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
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

    def __init__(self, pid, count=None, process=None):
        self.pid, self.process = pid, process
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

    def wait_growth(self, deadline_s=PATIENCE_S):
        """True as soon as the work has grown; False when it did not in time, or when the process has ended."""
        begin, end = self.count(), time.monotonic() + deadline_s
        while self.count() <= begin:
            if time.monotonic() > end or not is_alive(self.pid):
                return False
            time.sleep(LOOK_S)
        return True

    def problem(self, seconds=PROGRESS_S, share=None, deadline_s=PATIENCE_S):
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


visited = {}  # pid of a target: when the last limpet that was there ended, or None while one is there


def pids_in(argv):
    """The targets that a command of limpet's names: whatever is the number of a process."""
    words = [word for argument in map(str, argv) for word in argument.split(",")]
    return [int(word) for word in words if word.isdigit() and int(word) > 1]


def note_visit(argv):
    visited.update(dict.fromkeys(pids_in(argv)))


def note_departure(argv):
    visited.update(dict.fromkeys(pids_in(argv), time.monotonic()))


def crash_of(process):
    """The signal that a crashed process died of, or None."""
    code = process.poll() if process else None
    return signal.Signals(-code).name if code is not None and -code in CRASHES else None


def check(pid, count=None, process=None, seconds=None):
    """
    Called where a test ends a target.  Raises Harm when a visited target crashed, or when it does not work on.  The
    time since limpet left counts: a test that looked at the target for long enough waits for one more step only.
    """
    if pid not in visited:
        return
    departed = visited.pop(pid)
    crash = crash_of(process)
    if crash:
        raise Harm(f"the target {pid} died of {crash} after a visit")
    if (process and process.poll() is not None) or not is_alive(pid) or state_of(pid) in "Tt":
        return  # ended or stopped by the test
    if isinstance(count, Answers) and process.stdin.closed:
        return  # told to end
    wanted = PROGRESS_S if seconds is None else seconds
    watched = time.monotonic() - departed if departed else 0
    problem = Progress(pid, count, process).problem(max(0.0, wanted - watched))
    if problem:
        raise Harm(problem)


def end(process, count=None):
    """For addCleanup(): ends a target, and checks it before where limpet was there."""
    try:
        check(process.pid, count, process)
    finally:
        process.kill()
        process.wait()
