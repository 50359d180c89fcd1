"""
Turns the measurements of bench/attach.py into tables, which are Markdown and readable as they are.
"""

import datetime
import json
import math
import os
import statistics
import subprocess
import sys

AIM_P50_MS, AIM_P99_MS, AIM_ATTACH_MS = 0.2, 1.0, 30.0
# Two samples of the same thing give 0.5; this far off, the difference is not chance (see differs).
SIGNIFICANCE = 0.01


LATE, QUEUE, STOOD = range(3)


class Row:
    """One line of the tables: a target, and how it is attached."""

    def __init__(self, name, kind, threads, busy, unloads=True, cycles_divisor=1):
        self.name, self.kind, self.threads, self.busy = name, kind, threads, busy
        self.unloads, self.cycles_divisor = unloads, cycles_divisor


class Result:
    """What was measured for a row.  Gaps are {tid: (late_ns, queue_ns, stood_ns)}."""

    def __init__(self, row):
        self.row = row
        self.quiet, self.elsewhere = [], []  # gaps
        self.attaches = []  # (what limpet said, gaps)
        self.gdb = []  # (wall_ns, gaps)

    def said(self, name):
        return [said[name] for said, _ in self.attaches]

    def stopped(self, index):
        """Of the stopped thread: LATE, QUEUE or STOOD."""
        return [gaps[said["tid"]][index] for said, gaps in self.attaches if said["tid"] in gaps]

    def stopped_elsewhere(self):
        """The same threads while limpet was at work elsewhere."""
        pairs = zip(self.attaches, self.elsewhere)
        return [gaps[said["tid"]][LATE] for (said, _), gaps in pairs if said["tid"] in gaps]

    def others(self, windows):
        """The longest gap of any thread but the stopped one, in each window."""
        pairs = zip(self.attaches, windows)
        return [longest(gaps, said["tid"]) for (said, _), gaps in pairs if len(gaps) > 1]

    def others_attached(self):
        return self.others([gaps for _, gaps in self.attaches])

    def gdb_gaps(self):
        return [longest(gaps) for _, gaps in self.gdb]

    def is_realtime(self):
        return all(self.said("realtime"))


class Machine:
    def __init__(self, cores, uname, load):
        self.cores, self.uname, self.load_before, self.load_after = cores, uname, load, load
        self.stolen_before_s = stolen_s()

    def lines(self):
        return [
            f"- date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
            f"- machine: {cpu_model()}, {self.cores} cores{virtual()}; Linux {self.uname.release} "
            f"{self.uname.machine}, {os.confstr('CS_GNU_LIBC_VERSION')}",
            f"- load average (1, 5, 15 min): {load_text(self.load_before)} before, "
            f"{load_text(self.load_after)} after (the benchmark's own threads are in it); processor time "
            f"taken by a hypervisor meanwhile: {stolen_s() - self.stolen_before_s:.2f} s",
        ]


def stolen_s():
    with open("/proc/stat") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def load_text(load):
    return " / ".join(f"{value:.2f}" for value in load)


def lscpu(field):
    try:
        environment = {**os.environ, "LC_ALL": "C"}
        text = subprocess.run(["lscpu"], capture_output=True, text=True, env=environment).stdout
    except FileNotFoundError:
        return None
    found = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith(field + ":")]
    return found[0] if found else None


def cpu_model():
    return lscpu("Model name") or "unknown processor"


def virtual():
    vendor = lscpu("Hypervisor vendor")
    return f" (virtual, {vendor})" if vendor else ""


def longest(gaps, but=None):
    return max(gap[LATE] for tid, gap in gaps.items() if tid != but)


def json_lines(text):
    """limpet's answers by their event."""
    return {line["event"]: line for line in map(json.loads, text.splitlines())}


def progress(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def percentile(values, share):
    """The nearest rank: a value that was really measured."""
    return sorted(values)[max(0, math.ceil(len(values) * share) - 1)]


def ms(value_ns):
    value = value_ns / 1e6
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def spread(values, shares=(0.5, 0.99, 1)):
    return " / ".join(ms(percentile(values, share)) for share in shares) if values else "-"


def times(slow_ns, fast_ns):
    return f"{slow_ns / fast_ns:.0f}x" if fast_ns else "-"


def superiority(left, right):
    """How often a value of left is above one of right (ties half), and the chance of that by luck
    (Mann-Whitney, normal approximation)."""
    above = sum((a > b) + (a == b) / 2 for a in left for b in right)
    n, m = len(left), len(right)
    z = (above - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12)
    return above / (n * m), math.erfc(abs(z) / math.sqrt(2))


def table(head, lines):
    rows = [head, *lines]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    show_row = lambda row: "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([show_row(head), rule, *map(show_row, lines)])


def stopped_table(results):
    head = ["target", "threads", "attaches", "pause, as limpet says", "gap, as the target measured",
            "longest not waiting for a core", "gap of that thread without a stop"]
    return table(head, [[
        result.row.name, str(result.row.threads), str(len(result.attaches)), spread(result.said("pause_ns")),
        spread(result.stopped(LATE)), spread(result.stopped(STOOD)), spread(result.stopped_elsewhere()),
    ] for result in results])


def others_table(results):
    head = ["target", "quiet", "limpet elsewhere", "limpet in it", "longer in it than elsewhere", "gdb in it"]
    return table(head, [others_line(result) for result in results if result.row.threads > 1])


def others_line(result):
    inside, elsewhere = result.others_attached(), result.others(result.elsewhere)
    share, chance = superiority(inside, elsewhere)
    word = "no difference" if chance > SIGNIFICANCE else "differs"
    shift = (statistics.median(inside) - statistics.median(elsewhere)) / 1e6
    return [
        result.row.name, spread(result.others(result.quiet)), spread(elsewhere), spread(inside),
        f"{share:.0%} of pairs, median {shift:+.3f}: {word} (p={chance:.2g})",
        spread(result.gdb_gaps(), (0.5, 1)),
    ]


def time_table(results):
    head = ["target", "attach", "attach + detach, whole command", "gdb attach + detach", "gap under gdb",
            "gdb / limpet: gap", "time"]
    return table(head, [time_line(result) for result in results])


def time_line(result):
    walls, gaps = [wall_ns for wall_ns, _ in result.gdb], result.gdb_gaps()
    middle = statistics.median
    return [
        result.row.name, spread(result.said("attach_ns")), spread(result.said("wall_ns")),
        spread(walls, (0.5, 1)), spread(gaps, (0.5, 1)),
        times(middle(gaps), middle(result.said("pause_ns"))) if gaps else "-",
        times(middle(walls), middle(result.said("wall_ns"))) if walls else "-",
    ]


def is_free(result, cores):
    """Whether the stopped thread had a core for itself: without a stop, nothing held it up either."""
    return result.row.busy < cores and percentile(result.stopped_elsewhere(), 0.99) < AIM_P99_MS * 1e6


def verdict(result, cores):
    """Where no core was free and time was lost: what the scheduler took, and what is left without it."""
    p50, p99 = (percentile(result.said("pause_ns"), share) / 1e6 for share in (0.5, 0.99))
    whole = percentile(result.said("attach_ns"), 0.5) / 1e6
    text = f"pause p50 {p50:.3f}, p99 {p99:.3f}, attach p50 {whole:.1f}"
    if p50 <= AIM_P50_MS and p99 < AIM_P99_MS and whole <= AIM_ATTACH_MS:
        return "met: " + text
    if is_free(result, cores):
        return "NOT MET: " + text
    return (f"no core was free: {text}; the scheduler's share of the gap is {spread(result.stopped(QUEUE))}, "
            f"without it {spread(result.stopped(STOOD))}")


def aims(results, cores):
    head = (f"Aims (p50 <= {AIM_P50_MS} ms, p99 < {AIM_P99_MS:.0f} ms, attach <= {AIM_ATTACH_MS:.0f} ms, with "
            "SCHED_FIFO and a free core):\n")
    return "\n".join([head, *(f"- {result.row.name}: {verdict(result, cores)}" for result in results)])


def sections(results, machine):
    realtime = "yes" if all(result.is_realtime() for result in results) else "NO, or not always"
    yield "\n".join([*machine.lines(), f"- SCHED_FIFO for limpet's injector: {realtime}; the rest ran with nice "
                     f"{os.getpriority(os.PRIO_PROCESS, 0)}"])
    yield "All times in ms: p50 / p99 / max (for gdb: p50 / max)."
    yield "The one stopped thread:\n\n" + stopped_table(results)
    yield ("The longest gap of all other threads. \"Elsewhere\": limpet attaches to another process, the "
           "same load without a stop here:\n\n" + others_table(results))
    yield "Time, beside gdb in the same run (gdb stops all threads):\n\n" + time_table(results)
    yield aims(results, machine.cores)


def show(results, machine, command):
    """With a command: the whole section for docs/benchmarks.md."""
    if command:
        print(f"## Attach\n\n`{command}`\n")
    print("\n\n".join(sections(results, machine)))
