#!/usr/bin/env python3
"""
Twenty-four busy threads (tests/programs/numbered.c), recorded and let go again and again with other options.

    stress.py [--seconds N] [--cycle SECONDS]

What is looked at:
  numbers   eight threads number their calls: what is missing between two records was counted as dropped,
            and what was recorded and dropped together was really called
  target    its own checks; memory, mappings, descriptors and threads at the end as after the first cycles
  host      limpet's memory in one long recording
Environment: LIMPET, PROGRAMS.
"""

import argparse
import collections
import os
import pathlib
import signal
import struct
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
for folder in ("attach", "common"):
    sys.path.append(str(ROOT / folder))

from driving import harness, result_problem, workload_problem  # noqa: E402
from report import Report  # noqa: E402

THREADS = 8  # whose calls are numbered, and what each calls in a turn
IO = ("write", "read")
ALLOC = ("malloc", "realloc", "free", "calloc", "free")
LOCK = ("pthread_mutex_lock",)
FUNCTION = ("numbered_step",)
SIZES = 500  # after so many turns malloc is asked for the same again

# Options, what they must see of a turn, and whether a call is one record: then counts are exact.
Cycle = collections.namedtuple("Cycle", "options calls is_exact")
CYCLES = (
    Cycle(("--alloc-trace", "--io-trace", "--lock-trace", "--lock-all", "--marker-trace", "--function",
           "libnumbered.so:*"), IO + ALLOC + LOCK + FUNCTION, True),
    Cycle(("--io-trace", "--function", "*:numbered_s*"), IO + FUNCTION, True),
    Cycle(("--alloc-trace", "--ring-size", "4K"), ALLOC, True),
    Cycle(("--alloc-sample", "64K", "--lock-trace", "--io-trace"), IO, False),
    Cycle(("--io-trace", "--lock-all", "--ring-size", "4K"), IO + LOCK, True),
    Cycle(("--alloc-stacks", "--io-trace", "--ring-size", "64K", "--unload"), IO + ALLOC, False),
    Cycle(("--lock-all", "--function", "libnumbered*:*", "--ring-size", "16K"), LOCK + FUNCTION, True),
    Cycle(("--alloc-trace", "--io-trace", "--lock-trace", "--ring-size", "256K"), IO + ALLOC, True),
)

# How much more of each the target may have at the end: what its own threads need from moment to moment.
SLACK = {"VmSize kB": 12 << 10, "VmRSS kB": 3 << 10, "mappings": 8, "descriptors": 1, "threads": 5}
HOST_SLACK_KB = 1024
SHORT_S, SHORT_SLACK_KB = 60, 4096  # threads of the target that had no processor before are new to limpet
SETTLING = 3  # cycles after which the target has what it needs


class Numbered(harness.Workload):
    """The program, and how many turns each of its numbered threads has ended."""

    def __init__(self):
        super().__init__("numbered", "all")

    def turns(self):
        with open(self.path + ".turns", "rb") as file:
            return struct.unpack(f"<{THREADS}Q", file.read(THREADS * 8))

    def close(self):
        super().close()
        for ending in (".turns", ".file"):
            pathlib.Path(self.path + ending).unlink(missing_ok=True)


def look(pid):
    status = harness.status_of(pid)
    with open(f"/proc/{pid}/maps") as file:
        mappings = file.read().splitlines()
    return {"VmSize kB": int(status["VmSize"].split()[0]), "VmRSS kB": int(status["VmRSS"].split()[0]),
            "mappings": len(mappings), "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            "threads": int(status["Threads"]),
            "rings": sum("limpet-rings" in line for line in harness.limpet_mappings(pid))}


def footprint(pid):
    """The least of several looks: what threads have for a moment only does not count."""
    looks = []
    for _ in range(20):
        looks.append(look(pid))
        time.sleep(0.005)
    return {name: min(each[name] for each in looks) for name in looks[0]}


class Recording:
    """One limpet record on the program, and the turns of its threads around it."""

    def __init__(self, target, path, options):
        self.target, self.path = target, path
        self.before = target.turns()
        self.process = harness.limpet_start("record", "-p", target.pid, "-o", path, "--json", *options)
        self.is_attached = harness.attached_wait(self.process) is not None
        self.begun = target.turns()

    def stop(self):
        self.ending = self.target.turns()
        self.process.send_signal(signal.SIGINT)
        result = harness.limpet_finish(self.process)
        self.after = self.target.turns()
        return result


def calls_by_thread(path):
    """(function, size) of each call of the numbered threads, in order; by the thread's number."""
    out = path + ".csv"
    result = harness.limpet("export", path, "-f", "csv", "-o", out, deadline_s=300)
    if result.code:
        return None
    calls = collections.defaultdict(list)
    with open(out) as file:
        head = file.readline().rstrip("\n").split(",")
        thread, function, size = (head.index(name) for name in ("thread", "function", "size"))
        for line in file:
            if ",numbered-" in line:
                row = line.split(",")
                calls[int(row[thread][9:])].append((row[function], row[size]))
    os.unlink(out)
    return calls


def drops_by_thread(path):
    result = harness.limpet("report", path, "--json", deadline_s=300)
    threads = [event for event in result.events if event.get("event") == "thread"]
    return {int(event["name"][9:]): sum(event["dropped"].values())
            for event in threads if event["name"].startswith("numbered-")}


def whole_turns(calls, wanted):
    """
    From the first to the last turn in which all functions were hooked: words are changed one by one, so at
    both ends there are turns of which a part was seen.  Begins with the first call of a turn, and ends before
    another such call.
    """
    names = [name for name, _ in calls]
    first = max(names.index(name) for name in wanted)
    last = min(len(names) - 1 - names[::-1].index(name) for name in wanted)
    begins = [at for at in range(first, last + 1) if names[at] == wanted[0]]
    return calls[begins[0]:begins[-1] + 1] if begins else []


def turns_of(calls, wanted, dropped):
    """How many turns lie between the first call and the last, by their numbers; None when they do not tell."""
    sizes = [int(size or 0) for name, size in calls if name == wanted[0]]
    if wanted[0] == "write":
        return sizes[-1] - sizes[0]
    if dropped:
        return None
    if wanted[0] == "malloc":
        return sum((right - left) % SIZES for left, right in zip(sizes, sizes[1:]))
    return len(sizes) - 1


def gap_problem(calls, wanted, dropped):
    """Every call between the first and the last record is there once, or was counted as dropped."""
    middle = whole_turns(calls, wanted)
    turns = turns_of(middle, wanted, dropped) if middle else None
    if turns is None:
        return None
    missing = turns * len(wanted) - (len(middle) - 1)
    if 0 <= missing <= dropped:
        return None
    return f"{missing} of {turns * len(wanted)} calls are missing, {dropped} were dropped"


def count_problem(recording, thread, calls, dropped, wanted):
    """What was seen and dropped together are the calls of this time."""
    least = (recording.ending[thread] - recording.begun[thread] - 2) * len(wanted)
    most = (recording.after[thread] - recording.before[thread] + 2) * len(wanted)
    seen = len(calls) + dropped
    return None if least <= seen <= most else f"{seen} calls seen or dropped, not {least} to {most}"


def numbers_problem(recording, cycle):
    calls, drops = calls_by_thread(recording.path), drops_by_thread(recording.path)
    if calls is None:
        return "export failed"
    for thread in range(THREADS):
        mine = [call for call in calls[thread] if call[0] in cycle.calls]
        dropped = drops.get(thread, 0)
        if not set(cycle.calls) <= {name for name, _ in mine} and dropped == 0:
            return f"thread {thread}: some functions were never seen"
        if set(cycle.calls) <= {name for name, _ in mine}:
            wrong = gap_problem(mine, cycle.calls, dropped)
            if wrong:
                return f"thread {thread}: {wrong}"
        if cycle.is_exact:
            wrong = count_problem(recording, thread, mine, dropped, cycle.calls)
            if wrong:
                return f"thread {thread}: {wrong}"
    return None


def cycle_once(target, path, cycle, seconds):
    """(what is wrong, a note)"""
    recording = Recording(target, path, cycle.options)
    time.sleep(seconds if recording.is_attached else 0)
    result = recording.stop()
    recorded = result.event("recorded")
    wrong = result_problem(result) or workload_problem(target)
    if not wrong and recorded["invalid"]:
        wrong = f"{recorded['invalid']} invalid records"
    wrong = wrong or numbers_problem(recording, cycle)
    dropped = sum(recorded.get(f"dropped_{name}", 0) for name in ("full", "nested", "no_ring"))
    return wrong, f"{recorded.get('records')} records, {dropped} dropped"


def growth_problem(first, last):
    """Of the target, beyond what moves anyway."""
    grown = [f"{name}: {first[name]}, then {last[name]}" for name, slack in SLACK.items()
             if last[name] > first[name] + slack]
    if last["rings"] > 1:  # one may be held for a while by a thread without a processor
        grown.append(f"{last['rings']} mappings of rings are left")
    return "; ".join(grown) or None


def host_problem(target, path, seconds):
    """limpet's own memory while it records: the same at the end as after the first third."""
    recording = Recording(target, path, CYCLES[0].options)
    sizes, end = [], time.monotonic() + seconds
    while time.monotonic() < end and recording.process.poll() is None:
        sizes.append(int(harness.status_of(recording.process.pid)["RssAnon"].split()[0]))
        time.sleep(0.2)
    result = recording.stop()
    wrong = result_problem(result)
    if wrong:
        return wrong, ""
    third = max(1, len(sizes) // 3)
    early, late = max(sizes[third:2 * third] or sizes), max(sizes[-third:])
    slack = SHORT_SLACK_KB if seconds < SHORT_S else HOST_SLACK_KB
    return (f"{early} kB, then {late} kB" if late > early + slack else None,
            f"{late} kB, {result.event('recorded')['records']} records")


def run_cycles(report, target, path, arguments, end):
    first = last = None
    turn = 0
    while time.monotonic() < end or turn < len(CYCLES):
        cycle = CYCLES[turn % len(CYCLES)]
        wrong, note = cycle_once(target, path, cycle, arguments.cycle)
        report.check(f"cycle {turn} {' '.join(cycle.options)}", wrong, note)
        last = footprint(target.pid)
        turn += 1
        if turn == SETTLING:
            first = last
    note = ", ".join(f"{last[name]} {name}" for name in SLACK)
    report.check(f"the target after {turn} cycles", growth_problem(first, last), note)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--cycle", type=float, default=5)
    arguments = parser.parse_args()
    report = Report()
    end = time.monotonic() + arguments.seconds
    try:
        with tempfile.TemporaryDirectory() as folder, Numbered() as target:
            path = os.path.join(folder, "it.limpet")
            wrong, note = host_problem(target, path, min(60, arguments.seconds / 5))
            report.check("limpet in a long recording", wrong, note)
            run_cycles(report, target, path, arguments, end)
            report.check("the program in the end", workload_problem(target))
    except harness.Unavailable as reason:
        report.skip("numbered", str(reason))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
