#!/usr/bin/env python3
"""
The hazard matrix: attaches to each workload and leaves it, many times, through the command line, and
looks after each cycle whether the target was hurt: dead, stuck, EINTR, wrong registers or data, lost
signals, cut sleeps, threads left behind.  One line per workload, then "N passed, N failed".
"""

import argparse
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness
from harness import Unavailable, Workload, limpet

CYCLES_FULL = 190
CYCLES_REFUSED = 20
CYCLES_SHORT = 4
CYCLES_SHORT_SLOW = 1
LATE_LIMIT_NS = 20_000_000_000  # a re-issued wait of 40 ms starts again; the rest is the scheduler's
COMPLAINTS_MAX = 10  # then the case is given up
CYCLES_BUSY = 12  # until limpet has caught a filtered thread outside of its wait
FRESH_S = 0.2  # heap corruption shows a little later
COUNTERS = ("eintr", "corruptions", "errors", "signals_lost", "early")


class Case:
    """One row of the matrix: which program, and what limpet must answer."""

    def __init__(self, name, binary, workload=None, **options):
        self.name, self.binary, self.workload = name, binary, workload or name
        self.expected = options.pop("expected", (0,))
        self.is_fresh = options.pop("fresh", False)  # a new target for each cycle
        self.preload = options.pop("preload", None)
        self.is_stopped = options.pop("stopped", False)  # by SIGSTOP, before each cycle
        self.threads_vary = options.pop("threads_vary", False)
        self.arguments = options.pop("arguments", ())
        self.deadline_s = harness.PATIENCE_S
        self.is_slow = options.pop("slow", False)  # each refusal takes seconds
        self.must_attach = options.pop("must_attach", False)  # at least once
        self.is_recorded = options.pop("recorded", False)  # by limpet record, not limpet attach
        assert not options, options

    def cycles(self, wanted):
        if self.is_slow and wanted <= CYCLES_SHORT:
            return min(wanted, CYCLES_SHORT_SLOW)
        return min(wanted, CYCLES_REFUSED) if self.is_slow or 0 not in self.expected else wanted


def family(binary, names, prefix="", **options):
    return [Case(prefix + name, binary, name, **options) for name in names.split()]


ANY_ROOM = (0, 1, 6)
FILTERED = (6,)

TIMED_WAITS = "nanosleep clock poll futex".split()
OTHER_WAITS = "absolute ppoll select".split()
FORBIDDING = "kill kill_thread trap errno trace notify kill_all".split()
ALLOWING = "log allow kill_other".split()


def waits_under(wait, action):
    """
    One wait under a filter that judges restart_syscall: attached, attached with --force, and recorded where it allows
    the call.  Where it forbids the call, limpet must refuse.  Where it allows it, limpet must attach: at each try if the
    kernel resumes the wait otherwise or another thread has no filter, else at least once, because a thread that is never
    seen outside of a timed wait is not stopped (busy).  With --force it is stopped in its wait, and must go on all the same.
    """
    name = f"{wait}_{action}"
    is_allowed = action in ALLOWING
    may_be_busy = wait in TIMED_WAITS and action != "kill_other"
    code = 0 if is_allowed else 6
    expected = (code, 7) if may_be_busy else (code,)
    options = {"slow": True, "must_attach": is_allowed}
    rows = [Case("restart_" + name, "restarts", name, expected=expected, **options),
            Case("forced_" + name, "restarts", name, expected=(code,), arguments=("--force",), **options)]
    if is_allowed:
        rows.append(Case("recorded_" + name, "restarts", name, expected=expected, recorded=True, **options))
    return rows


def restarts():
    rows = [row for wait in TIMED_WAITS + OTHER_WAITS for action in FORBIDDING + ALLOWING
            for row in waits_under(wait, action)]
    rows.append(Case("restart_supervised", "restarts", "supervised", slow=True, expected=(0, 7)))
    return rows


CASES = [
    *family("plain", "idle busy malloc1 malloc8"),
    Case("malloc64", "plain"),
    Case("malloc_fresh", "plain", fresh=True),
    *family("plain", "dlopen1 dlopen8"),
    *family("loading", "often always", prefix="loading_"),
    *family("loading_cpp", "often always", prefix="loading_cpp_"),
    *family("plain", "threads1000 zombie_leader descriptors"),
    Case("environment", "plain", arguments=("--env", "LIMPET_TEST_VALUE=x")),
    Case("getenv16", "plain", arguments=("--env", "WORKLOAD_SHARED=limpet")),
    *family("signals", "alarm alarm_wait altstack"),
    *family(
        "calls",
        "nanosleep clock_relative clock_absolute poll poll_endless ppoll select pselect pipe_read "
        "bulk epoll epoll_endless epoll_pwait epoll_pwait2 recv send accept",
    ),
    *family(
        "waits",
        "futex futex_endless semtimedop semop sigtimedwait sigwaitinfo io_getevents inotify waitpid",
    ),
    *family(
        "transfers",
        "readv writev preadv2 pwritev2 recvmsg sendmsg recvmmsg recvmmsg_many sendmmsg sendfile splice_in splice_out "
        "connect accept io_pgetevents futex_bitset futex_waitv futex_wait mq_receive mq_send msgrcv",
        prefix="timed_",
    ),
    *family("registers", "general general_call general_ppoll vector vector_call vector_ppoll"),
    *family("critical", "sequence dispatch handler coroutine", prefix="critical_"),
    *family("interrupted", "epoll read ppoll recv recv_altstack inotify io_getevents io_getevents_altstack",
            prefix="eintr_"),
    # Its only thread may stand on a stack that is not surely its own; then it must be left alone.
    Case("coroutine", "coroutine", expected=(0, 6)),
    *family("storms", "fork vfork spawn", prefix="storm_"),
    Case("storm_exec", "storms", "exec", expected=(0, 1, 4, 6, 7), threads_vary=True),
    Case("storm_threads", "storms", "threads", threads_vary=True),
    Case("storm_setuid", "storms", "setuid", arguments=("--duration", "30ms")),
    # limpet leaves before each change, which may come while it comes.
    *family("storms", "chroot unshare", prefix="storm_", expected=(0, 1), threads_vary=True),
    *family("confined", "nondumpable other_user empty_root namespaces locked"),
    *family("confined", "limit_processes limit_memory little_memory limit_files", expected=ANY_ROOM),
    *family("confined", "limit_stack limit_locked limit_written limit_core limit_signals limit_time"),
    Case("limit_data", "confined", expected=ANY_ROOM),
    *family("filtered", "container harmless", prefix="seccomp_"),
    *family("needs", "always variables", prefix="seccomp_needs_"),
    *family("filtered", "mmap_kill mmap_errno clone_kill clone_errno", prefix="seccomp_",
            expected=FILTERED),
    # Filters of one thread only: another thread may be used, or the process is refused.
    *family("filtered", "socket_kill open_kill thread_kill leader_kill", prefix="seccomp_",
            expected=(0, 6)),
    *restarts(),
    Case("stopped", "plain", "idle", stopped=True, expected=(7,)),
    Case("stopped_cont", "plain", "idle", stopped=True, arguments=("--cont",)),
    Case("jemalloc", "plain", "malloc8", preload="libjemalloc.so.2"),
    Case("jemalloc_fresh", "plain", "malloc_fresh", preload="libjemalloc.so.2", fresh=True),
    Case("tcmalloc", "plain", "malloc8", preload="libtcmalloc_minimal.so.4"),
    Case("tcmalloc_fresh", "plain", "malloc_fresh", preload="libtcmalloc_minimal.so.4", fresh=True),
    Case("static", "plain_static", "idle", expected=(6,)),
    Case("musl_idle", "plain_musl", "idle"),
    *family("registers_musl", "general_ppoll vector_ppoll", prefix="musl_"),
    # A thread that is always inside the allocator can never be used.
    *family("plain_musl", "malloc1 malloc8", prefix="musl_", expected=(0, 7), slow=True),
    Case("go_cgo", "gocgo", threads_vary=True),
]


class Tally:
    """What happened in all cycles of one case."""

    def __init__(self):
        self.cycles = self.ok = self.hang = self.dead = self.stuck = self.threads = 0
        self.refused = {}
        self.counts = dict.fromkeys(COUNTERS, 0)
        self.max_late_ns = 0
        self.pauses = []
        self.complaints = []

    def complain(self, text):
        self.complaints.append(f"cycle {self.cycles}: {text}")

    def add_stats(self, stats, seen):
        """Adds what the counters of this target gained since they were last seen."""
        for name in COUNTERS:
            gained = stats.word(name) - seen[name]
            seen[name] += gained
            self.counts[name] += gained
            if gained:
                self.complain(f"{name} +{gained} {stats.detail()}")
        late_ns = stats.word("max_late_ns")
        if late_ns > max(LATE_LIMIT_NS, self.max_late_ns):
            self.complain("a timed wait took %d ms too long" % (late_ns // 10**6))
        self.max_late_ns = max(self.max_late_ns, late_ns)

    def row(self, name):
        refused = ",".join(f"{code}:{count}" for code, count in sorted(self.refused.items())) or "-"
        pause = [harness.percentile(self.pauses, part) / 1e6 for part in (0.5, 0.99, 1)]
        counts = [self.counts[key] for key in COUNTERS]
        return "%-30s %6d %6d %-9s %4d %4d %5d %5d %5d %7d %6d %4d %5d  %8.3f %8.3f %8.3f" % (
            name, self.cycles, self.ok, refused, self.hang, self.dead, self.stuck, self.threads,
            *counts, *pause)


HEADER = "%-30s %6s %6s %-9s %4s %4s %5s %5s %5s %7s %6s %4s %5s  %8s %8s %8s" % (
    "workload", "cycles", "ok", "refused", "hang", "dead", "stuck", "left", "EINTR", "corrupt",
    "errors", "lost", "early", "p50 ms", "p99 ms", "max ms")


def variant(case, cycle):
    """Plain, with --unload, with two tools, with both, in turn."""
    arguments = ["--json", "--duration", "0", *case.arguments]
    if cycle % 4 in (1, 3):
        arguments.append("--unload")
    if cycle % 4 in (2, 3):
        arguments += ["--tool", ":".join(harness.program(f"life_{name}.so") for name in "ab")]
    return arguments


def visit(case, cycle, target, path):
    if not case.is_recorded:
        return limpet("attach", target.pid, *variant(case, cycle), deadline_s=case.deadline_s)
    arguments = ["--unload"] if cycle % 2 else []
    return limpet("record", "-p", target.pid, "--alloc-trace", "--duration", "200ms", "--json", "-o", path, *arguments,
                  deadline_s=case.deadline_s)


def judge_visit(case, tally, result):
    """What limpet says of a visit that succeeded."""
    if not case.is_recorded:
        if not result.event("detached"):
            tally.complain("no detached line")
    elif not result.event("recorded").get("records"):
        tally.complain("nothing was recorded")


def judge_result(case, tally, result):
    if result.hung:
        tally.hang += 1
        tally.complain("limpet hung: " + result.err.strip())
        return
    summary = result.event("summary")
    if summary.get("exit") != result.code:
        tally.complain(f"exit code and summary differ: {result}")
    if result.code == 0:
        tally.ok += 1
        tally.pauses.append(result.event("attached").get("pause_ns", 0))
        judge_visit(case, tally, result)
    else:
        tally.refused[result.code] = tally.refused.get(result.code, 0) + 1
    if result.code not in case.expected:
        tally.complain(f"exit {result.code}, expected {case.expected}: {result.err.strip()}")


def judge_target(case, tally, target, threads):
    if not target.alive():
        tally.dead += 1
        tally.complain("target dead: " + target.fate())
        return False
    if case.is_stopped:
        is_stopped = harness.status_of(target.pid).get("State", "?")[0] == "T"
        if is_stopped and "--cont" in case.arguments:
            tally.complain("target still stopped after --cont")
        if not is_stopped and "--cont" not in case.arguments:
            tally.complain("target no longer stopped")
        os.kill(target.pid, signal.SIGCONT)
    if not target.stats.wait_turn(case.deadline_s):
        tally.stuck += 1
        tally.complain("target stuck")
        return False
    # Fewer is fine: a thread that was joined before the first count may have been seen at its end.
    if not case.threads_vary and not harness.wait_until(
            lambda: harness.thread_count(target.pid) <= threads):
        tally.threads += 1
        tally.complain("threads %d -> %d" % (threads, harness.thread_count(target.pid)))
    return True


def cycle_run(case, tally, target, threads):
    if case.is_stopped:
        os.kill(target.pid, signal.SIGSTOP)
        harness.wait_until(lambda: harness.status_of(target.pid).get("State", "T")[0] == "T")
    tally.cycles += 1
    with tempfile.TemporaryDirectory() as folder:
        judge_result(case, tally, visit(case, tally.cycles - 1, target, os.path.join(folder, "recording")))
    return judge_target(case, tally, target, threads)


def preload_path(case):
    if not case.preload:
        return None
    path = harness.preload_find(case.preload)
    if not path:
        raise Unavailable(f"{case.preload} is not installed")
    return path


def target_run(case, tally, cycles):
    """Up to so many cycles on one target; returns when it is done or the target is lost."""
    with Workload(case.binary, case.workload, preload=preload_path(case)) as target:
        threads = harness.thread_count(target.pid)
        seen = dict.fromkeys(COUNTERS, 0)
        for _ in range(cycles):
            is_well = cycle_run(case, tally, target, threads)
            tally.add_stats(target.stats, seen)
            if not is_well or len(tally.complaints) >= COMPLAINTS_MAX:
                break
        judge_progress(case, tally, target)
        tally.add_stats(target.stats, seen)


def judge_progress(case, tally, target):
    """Whether the target goes on after the last limpet has left."""
    try:
        target.check_progress(FRESH_S if case.is_fresh else None)
    except harness.progress.Harm as harm:
        tally.dead += 1
        tally.complain(str(harm))


def case_run(case, cycles):
    tally = Tally()
    while tally.cycles < cycles and len(tally.complaints) < COMPLAINTS_MAX:
        target_run(case, tally, 1 if case.is_fresh else cycles - tally.cycles)
    while case.must_attach and not tally.ok and not tally.complaints and tally.cycles < max(cycles, CYCLES_BUSY):
        target_run(case, tally, 1)
    if case.must_attach and not tally.ok:
        tally.complain("every attach was refused")
    return tally


def cases_run(cases, cycles):
    passed = failed = attached = 0
    skipped = []
    print(HEADER)
    for case in cases:
        try:
            tally = case_run(case, case.cycles(cycles))
        except Unavailable as reason:
            skipped.append(f"{case.name}: {reason}")
            continue
        attached += tally.ok
        passed += not tally.complaints
        failed += bool(tally.complaints)
        print(tally.row(case.name), flush=True)
        for text in tally.complaints[:3]:
            print("    " + text.replace("\n", "\n    "))
    for text in skipped:
        print("skipped:", text)
    print(f"{attached} attach and detach cycles, {len(skipped)} workloads skipped")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=CYCLES_FULL, help="cycles per workload")
    parser.add_argument("--only", action="append", help="only workloads with this name")
    parser.add_argument("--short", action="store_true", help=f"{CYCLES_SHORT} cycles per workload, {CYCLES_SHORT_SLOW} of slow ones")
    options = parser.parse_args()
    cases = [case for case in CASES if not options.only or case.name in options.only]
    return cases_run(cases, CYCLES_SHORT if options.short else options.cycles)


if __name__ == "__main__":
    sys.exit(main())
