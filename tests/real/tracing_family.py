"""limpet record --children on servers that fork: every worker in one file, and each one's calls as uprobes count them.

As in tracing.py the clients are stopped while both sides begin and end.
"""

import contextlib
import pathlib
import signal
import tempfile
import time

import uprobes
from driving import harness, result_problem
from footprint import threads
from load import Load, count_pgbench
from servers import Nginx, Postgres, Unavailable, children, wait_for
from trace_counts import ALLOC, CONTENDED, Comparison, find_offsets, read_calls, without_own_calls
from tracing import EDGE_MAX, WINDOW_S, Recording, settle

TRACES = ("--children", "--alloc-trace", "--lock-trace")
HEAD = ("program", "worker", "calls", "uprobes", "edge", "file")


class FamilyNginx(Nginx):
    workers = 3


class FamilyPostgres(Postgres):
    def load(self):
        """Connections for all the time."""
        return Load(self.pgbench("-c", "3", "-T", "3600", "-P", "1"), count_pgbench, end_signal=signal.SIGALRM)


FAMILIES = (FamilyNginx, FamilyPostgres)


class FamilyRecording(Recording):
    """Of a server and all its processes."""

    def await_traced(self, pids):
        missing = set(pids)
        while missing:
            event = harness.event_wait(self.limpet)
            if event is None:
                raise AssertionError(f"limpet ended, without {missing}: {harness.limpet_finish(self.limpet)}")
            if event["event"] == "traced":
                missing.discard(event["pid"])


    def end_family(self, pids):
        """Calls that have not returned are asked of each, while nothing moves any more."""
        self.inside = {pid: harness.limpet("status", pid, "--json").event("status")["inside"] for pid in pids}
        return self.end()

    def problem(self):
        """Words of those that have ended meanwhile went with them."""
        said = self.said
        wrong = result_problem(self.result)
        if not wrong and (said["invalid"] or said["words_foreign"] or self.dropped):
            wrong = f"{said['invalid']} invalid records, {self.dropped} dropped"
        return wrong


class FamilyTrial:
    def __init__(self, server, report, rows):
        self.server, self.report, self.rows, self.recording, self.tids = server, report, rows, None, {}

    def open(self):
        uprobes.require()
        self.server.open()

    def check(self, what, problem, note=""):
        return self.report.check(f"{self.server.name} and its family: {what}", problem, note)

    @contextlib.contextmanager
    def quiet(self):
        self.load.pause()
        try:
            for pid in self.workers:
                settle(pid)
            yield
        finally:
            self.load.resume()

    def count(self, path):
        """A recording of the family, and what uprobes saw in each worker meanwhile."""
        counters, counted = {}, {}
        self.tids = {pid: set(threads(pid)) for pid in self.workers}  # not limpet's own
        with self.quiet():
            self.recording = FamilyRecording(self.server.process.pid, path, *TRACES)
            self.recording.await_traced(self.workers)
            offsets = find_offsets(self.workers[0], ALLOC + CONTENDED)
            for pid in self.workers:
                counters[pid] = uprobes.Counters(offsets, self.tids[pid])
                counters[pid].start()
        time.sleep(WINDOW_S)
        with self.quiet():
            for pid in self.workers:
                counted[pid] = without_own_calls(counters[pid].stop(), offsets)
                counters[pid].close()
            self.recording.end_family(self.workers)
        return counted

    def run(self):
        self.load = self.server.load().start()
        try:
            wait_for(lambda: self.load.problem or len(self.server.targets()) >= 3, "three workers")
            self.workers = self.server.targets()
            self.family = [self.server.process.pid, *children(self.server.process.pid)]
            path = self.server.folder / "family.limpet"
            counted = self.count(path)
        finally:
            self.load.finish()
        self.check("recorded, all put back", self.recording.problem())
        self.judge(read_calls(path), counted)
        self.check("no failed request", self.load.problem, f"{self.load.requests} requests")
        self.check("goes on", self.server.goes_on_problem())

    def judge(self, calls, counted):
        family = len(self.family)
        file = f"{self.recording.said['records']} records, {self.recording.said['bytes'] // 1024} KiB"
        missing = family - self.recording.said["processes"]
        self.check("every process is in the file", f"{missing} are not" if missing > 0 else None, f"{family}")
        for pid in self.workers:
            own = [call for call in calls if call.tid in self.tids[pid]]
            comparison = Comparison(own, counted[pid], self.recording.inside[pid])
            told = (comparison.recorded, comparison.counted, comparison.edge)
            self.rows.append((self.server.name, pid, *told, file))
            wrong = comparison.wrong[:]
            if comparison.edge > EDGE_MAX or comparison.counted < 100:
                wrong.append(f"{comparison.edge} calls at the edges of {comparison.counted}")
            self.check(f"worker {pid}: calls as uprobes count them", "; ".join(wrong), f"{comparison.counted} calls")

    def close(self):
        if self.recording and self.recording.limpet.poll() is None:
            self.recording.limpet.kill()
            self.recording.limpet.wait()
        self.server.close()


def trace_family(kind, report, rows):
    with tempfile.TemporaryDirectory(prefix="limpet-family-") as folder:
        trial = FamilyTrial(kind(pathlib.Path(folder)), report, rows)
        try:
            trial.open()
        except (Unavailable, uprobes.Unavailable) as reason:
            report.skip(f"trace the family of {kind.name}", str(reason))
            trial.close()
            return
        try:
            trial.run()
        except Exception as error:  # the other servers are tried all the same
            report.not_ok(f"trace the family of {kind.name}", repr(error))
        finally:
            trial.close()


def trace_families(names, report):
    rows = [HEAD]
    for kind in FAMILIES:
        if not names or kind.name in names:
            trace_family(kind, report, rows)
    return rows
