"""limpet record on live servers under load, held against what others count.

Each trial makes several recordings of one process:

  counted    alloc, io and lock; every function's calls against uprobes on the same symbols
  all locks  also locks that nobody held; they are taken by trying, so uprobes count the tries
  starved    the smallest rings: calls and drops together against uprobes
  full speed without uprobes, which slow a server down many times

The load is stopped (its clients are, not the server) while both sides begin and end, so that the
counts must be equal: what is left in between is what a server does by itself, and that is told
apart by the times of the calls.
"""

import collections
import contextlib
import os
import pathlib
import tempfile
import time

import uprobes
from driving import harness, result_problem
from footprint import Footprint, cpu_s, threads
from servers import Unavailable, wait_for
from trace_bytes import Traffic, check_bytes
from trace_counts import ALLOC, CONTENDED, IO, TRY, Comparison, find_offsets, read_calls, without_own_calls, without_text
from trace_servers import TRACED

WINDOW_S = 3.0
SPEED_ROUNDS = 5
SPEED_TRIES = 5
SPEED_SHARE = 0.9
BUSY_SHARE = 0.7  # rates differ so much from one minute to the next where others take the processors
BY_CPU = "of processor time"
EDGE_MAX = 40
# Redis takes addresses of malloc and free through the words by which it calls them.
DOMAINS = ("--alloc-trace", "--io-trace", "--lock-trace", "--address-entries")
# An arena of libc's for each of three threads of ours, or five where one has not ended when the next
# begins; the region, the libraries, tables.
GROWTH_KIB = 5 * 65536 + 16384
RESIDENT_KIB = 6144
AGAIN_KIB = 1024
HEAD = ("program", "recording", "calls", "uprobes", "edge", "pending", "dropped", "bytes")


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def is_asleep(pid):
    """No thread runs, or waits for a processor."""
    try:
        return all(harness.status_of(pid, tid)["State"][0] in "SI" for tid in threads(pid))
    except KeyError:
        return False


def settle(pid):
    """Until the process has nothing to do but what it does by itself, for a quarter of a second."""

    def rests():
        begin = cpu_ticks(pid)
        for _ in range(25):
            if not is_asleep(pid):
                return False
            time.sleep(0.01)
        return cpu_ticks(pid) - begin <= 1

    wait_for(rests, "rest without load")


class Recording:
    """One limpet record under way, and what it said at its end."""

    def __init__(self, pid, path, *options):
        self.pid = pid
        self.limpet = harness.limpet_start("record", "-p", pid, "-o", path, "--json", *options)
        if not harness.attached_wait(self.limpet):
            raise AssertionError(f"not attached: {harness.limpet_finish(self.limpet)}")

    def end(self):
        """How many calls have not returned is asked while nothing moves any more."""
        self.pending = harness.limpet("status", self.pid, "--json").event("status")["inside"]
        self.limpet.terminate()
        self.result = harness.limpet_finish(self.limpet, 120)
        self.said = self.result.event("recorded")
        return self

    @property
    def dropped(self):
        return sum(self.said.get(f"dropped_{reason}", 0) for reason in ("full", "nested", "no_ring"))

    def problem(self):
        said = self.said
        wrong = result_problem(self.result)
        if not wrong and said["invalid"]:
            wrong = f"{said['invalid']} invalid records"
        if not wrong and (said["words_foreign"] or said["words_restored"] != said["words_hooked"]):
            wrong = f"{said['words_restored']} of {said['words_hooked']} words put back"
        return wrong


class Trial:
    def __init__(self, server, report, rows):
        self.server, self.report, self.rows, self.recordings = server, report, rows, []

    def check(self, what, problem, note=""):
        return self.report.check(f"{self.server.name}: {what}", problem, note)

    def open(self):
        uprobes.require()
        self.is_busy = os.getloadavg()[0] > os.cpu_count()
        self.server.open()

    def run(self):
        self.load = self.server.load().start()
        try:
            self.speed_before = self.speed()
            self.pid = self.server.targets()[0]
            with self.quiet():
                self.before = Footprint(self.pid)
            self.record_all()
            self.judge_footprint()
            self.judge_speed()
        finally:
            self.load.finish()
        self.record_bytes()
        self.check("no failed request", self.load.problem, f"{self.load.requests} requests")
        self.check("goes on", self.server.goes_on_problem())

    @contextlib.contextmanager
    def quiet(self):
        """The load is stopped, and the process has come to rest."""
        self.load.pause()
        try:
            settle(self.pid)
            yield
        finally:
            self.load.resume()

    def speed(self):
        """
        The best rates of some rounds from now on, by kind, and requests for a second of processor time
        (BY_CPU). The first round began before.
        """
        begin = len(self.load.lines)
        self.wait_rounds(begin, 1)
        pid, first = self.server.targets()[0], self.requests(begin)
        spent_s = cpu_s(pid)
        self.wait_rounds(begin, 1 + SPEED_ROUNDS)
        by_cpu = (self.requests(begin) - first) / (cpu_s(pid) - spent_s)
        return {BY_CPU: by_cpu} | {kind: max(values[1:]) for kind, values in self.rates(begin).items()}

    def wait_rounds(self, begin, rounds):
        enough = lambda: self.rates(begin) and min(map(len, self.rates(begin).values())) >= rounds
        wait_for(lambda: self.load.problem or enough(), "a round of the load", 600)
        if self.load.problem:
            raise AssertionError(self.load.problem)

    def requests(self, begin):
        """How many the rates stand for."""
        rates = sum(self.rates(begin).values(), [])
        return sum(rate * self.server.rate_s if self.server.rate_s else self.server.requests for rate in rates)

    def rates(self, begin):
        """What the load has said of its speed since that line, by kind of request."""
        rates = collections.defaultdict(list)
        for found in map(self.server.rate.match, self.load.lines[begin:]):
            if found:
                rates[found["kind"]].append(float(found["rate"]))
        return rates

    def record_all(self):
        self.recording_counted()
        self.after_first = self.footprint()
        self.recording_all_locks()
        self.recording_starved()
        self.recording_full_speed()

    def record_bytes(self):
        """Without other clients: redis takes memory back from those that are idle."""
        if self.server.name == "redis":
            check_bytes(self, lambda path: self.record(path, "--alloc-trace", "--address-entries", "--ring-size", "8M"))

    def record(self, path, *options):
        self.recordings.append(Recording(self.pid, path, *options))
        return self.recordings[-1]

    def close(self):
        """Nothing of it goes on, however it ended."""
        for recording in self.recordings:
            if recording.limpet.poll() is None:
                recording.limpet.kill()
                recording.limpet.wait()
        self.server.close()

    def footprint(self):
        with self.quiet():
            return Footprint(self.pid)

    def record_and_count(self, name, functions, *options):
        """
        A recording with a window of the counters inside it, and no load at the edges of either. Threads
        that come later, of an allocator's, have no counter.
        """
        tids = set(threads(self.pid))
        path = self.server.folder / f"{name.replace(' ', '-')}.limpet"
        with self.quiet():
            recording = self.record(path, *DOMAINS, *options)
            offsets = find_offsets(self.pid, functions)
            counters = uprobes.Counters(offsets, tids)
            counters.start()
        time.sleep(WINDOW_S)
        with self.quiet():
            counted = without_own_calls(counters.stop(), offsets)
            counters.close()
            recording.end()
        self.check(f"{name}: recorded, all put back", recording.problem())
        return recording, [call for call in read_calls(path) if call.tid in tids], counted

    def add_row(self, name, recording, comparison):
        told = (comparison.recorded, comparison.counted, comparison.edge, recording.pending)
        self.rows.append((self.server.name, name, *told, recording.dropped, recording.said["bytes"]))

    def judge(self, name, recording, comparison):
        self.add_row(name, recording, comparison)
        wrong = comparison.wrong[:]
        if recording.dropped:
            wrong.append(f"{recording.dropped} dropped")
        if comparison.edge > EDGE_MAX:
            wrong.append(f"{comparison.edge} calls at the edges: not at rest")
        if comparison.counted < 1000:
            wrong.append(f"only {comparison.counted} calls")
        self.check(f"{name}: calls as uprobes count them", "; ".join(wrong), f"{comparison.counted} calls")

    def recording_counted(self):
        recording, calls, counted = self.record_and_count("counted", ALLOC + IO + CONTENDED)
        self.judge("counted", recording, Comparison(calls, counted, recording.pending))

    def recording_all_locks(self):
        """The program's own tries are traced as any function is; with ours they are all that there are."""
        options = ("--lock-all", "--function", f"libc.so.6:{TRY}")
        functions = [*ALLOC, *IO, TRY, "sem_wait", "pthread_cond_wait"]
        recording, calls, counted = self.record_and_count("all locks", functions, *options)
        tried = [call._replace(name=TRY) if call.name == "pthread_mutex_lock" else call for call in calls]
        self.judge("all locks", recording, Comparison(tried, counted, recording.pending))

    def recording_starved(self):
        """Calls that were recorded and records that were dropped, less dropped texts, are all calls."""
        recording, calls, counted = self.record_and_count("starved", ALLOC + IO + CONTENDED, "--ring-size", "4K")
        comparison = Comparison(calls, counted, recording.pending)
        least = comparison.recorded - comparison.edge + recording.dropped - without_text(calls)
        most = least + comparison.edge + (recording.pending if self.server.waits else 0)
        self.add_row("starved", recording, comparison)
        self.check(
            "starved: calls and drops as uprobes count them",
            None if least <= comparison.counted <= most else f"{least} to {most}, counted {comparison.counted}",
            f"{recording.dropped} dropped of {comparison.counted}",
        )

    def recording_full_speed(self):
        path = self.server.folder / "full.limpet"
        with self.quiet():
            recording = self.record(path, *DOMAINS)
            traffic = Traffic(self.server) if self.server.name == "redis" else None
        time.sleep(WINDOW_S)
        with self.quiet():
            if traffic:
                traffic.end()
            recording.end()
        calls = read_calls(path)
        told = (len(calls), "", "", recording.pending, recording.dropped, recording.said["bytes"])
        self.rows.append((self.server.name, "full speed", *told))
        self.check("full speed: recorded, all put back", recording.problem(), f"{recording.dropped} dropped")
        if traffic:
            problem = traffic.problem(calls, recording.dropped)
            self.check("full speed: reads as the server counts them", problem, f"{traffic.reads} reads")

    def judge_footprint(self):
        before, first, after = self.before, self.after_first, self.footprint()
        sizes = [step.size_kib for step in (before, first, after)]
        self.check("address space", *self.judge_growth(*sizes, GROWTH_KIB))
        sizes = [step.private_kib for step in (before, first, after)]
        self.check("memory", *self.judge_growth(*sizes, RESIDENT_KIB))
        same = after.threads == before.threads
        self.check("threads as before", None if same else f"{before.threads}, then {after.threads}")
        same = after.descriptors == before.descriptors
        self.check("descriptors as before", None if same else f"{before.descriptors}, then {after.descriptors}")
        changed = after.words_changed_since(before)
        self.check("words of imports as before", str(changed[:3]) if changed else None, f"{len(before.words)} words")

    @staticmethod
    def judge_growth(before, first, after, limit_kib):
        """The first recording leaves something behind, the next ones nothing more."""
        note = f"{first - before} KiB more after one recording, {after - first} KiB more after all"
        return (note if first - before > limit_kib or after - first > AGAIN_KIB else None), note

    def judge_speed(self):
        """
        The best of some rounds, of more where the machine is busy: the server can be as fast as it was. By
        the clock; or, where others take the processors away, for the same processor time.
        """
        best = dict.fromkeys(self.speed_before, 0.0)
        share = BUSY_SHARE if self.is_busy else SPEED_SHARE
        for _ in range(SPEED_TRIES):
            best = {kind: max(rate, best[kind]) for kind, rate in self.speed().items()}
            slow = {kind for kind, rate in self.speed_before.items() if best[kind] < share * rate}
            if not slow - {BY_CPU} or BY_CPU not in slow:
                break
        note = ", ".join(f"{kind} {rate:.0f}/s, then {best[kind]:.0f}/s" for kind, rate in self.speed_before.items())
        note += f"; the machine is busy: {share:.0%} will do" if self.is_busy else ""
        self.check("speed as before", note if slow - {BY_CPU} and BY_CPU in slow else None, note)


def trace_server(kind, report, rows):
    with tempfile.TemporaryDirectory(prefix="limpet-trace-") as folder:
        trial = Trial(kind(pathlib.Path(folder)), report, rows)
        try:
            trial.open()
        except (Unavailable, uprobes.Unavailable) as reason:
            report.skip(f"trace {kind.name}", str(reason))
            trial.close()
            return
        try:
            trial.run()
        except Exception as error:  # the other servers are tried all the same
            report.not_ok(f"trace {kind.name}", repr(error))
        finally:
            trial.close()


def trace_servers(names, report):
    rows = [HEAD]
    for kind in TRACED:
        if not names or kind.name in names:
            trace_server(kind, report, rows)
    return rows
