#!/usr/bin/env python3
"""
What sampling costs: time stolen from the target, its slow-down, bytes, the tool's own processor time, samples
lost, the time until the first sample and from Ctrl-C to a picture; beside perf (dwarf, fp), in one run.

Environment: LIMPET, BENCH (sampled_target, gap_target).
"""

import argparse
import contextlib
import json
import mmap
import os
import pathlib
import platform
import random
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.realpath(os.path.join(HERE, "../build"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, "../tests/real")]

import peers
import perf_tool
import report
from servers import Node, Unavailable

BENCH = os.environ.get("BENCH", os.path.join(BUILD, "bench"))
LIMPET = os.environ.get("LIMPET", os.path.join(BUILD, "src/host/limpet"))
BUCKETS, BUCKET_US = 1000, 0.1
SLOT_WORDS = 1 + BUCKETS + 7
DEPTH = 50
LIMIT_S = 120
PICTURE_LIMIT_S = 20
VERDICTS = {True: "kept", False: "MISSED", None: "not known, the machine is too busy to tell"}
AIM_SLOWDOWN, AIM_SIZE, AIM_PICTURE_S, AIM_ATTACH_MS = 1.0, 15, 1.0, 100


class Target:
    """A running sampled_target and its page."""

    def __init__(self, threads=1, depth=DEPTH):
        self.file = tempfile.NamedTemporaryFile()
        self.threads = threads
        argv = [os.path.join(BENCH, "sampled_target"), str(depth), str(threads), self.file.name]
        # A crowd would keep the tools from beginning for many seconds; and on many processors perf would write gigabytes.
        crowd = ["nice", "-n", "19", "taskset", "-c", ",".join(map(str, sorted(os.sched_getaffinity(0))[-2:]))]
        self.process = subprocess.Popen([*(crowd if threads > 1 else []), *argv])
        self.pid = self.process.pid
        wait_until(lambda: os.path.getsize(self.file.name) and len(os.listdir(f"/proc/{self.pid}/task")) == threads)
        self.page = mmap.mmap(self.file.fileno(), threads * SLOT_WORDS * 8)
        wait_until(lambda: self.steps() > 0)

    def steps(self):
        return sum(struct.unpack_from("Q", self.page, i * SLOT_WORDS * 8)[0] for i in range(self.threads))

    def gaps(self):
        return struct.unpack_from(f"{BUCKETS}Q", self.page, 8)

    def clock(self):
        """(its own clock, which stands while another program or the hypervisor has its processor; how much of that
        went into interruptions of less than 100 us)."""
        now, away, interrupted = struct.unpack_from("3Q", self.page, 8 + BUCKETS * 8)
        return now - away, interrupted

    def pin(self):
        """To the last processor: the tools have the others."""
        os.sched_setaffinity(self.pid, {max(os.sched_getaffinity(0))})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.page.close()
        self.file.close()


def wait_until(condition):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            sys.exit("bench: a target did not start")
        time.sleep(0.005)


def cpu_s(pid):
    """Exact to the moment, unlike what /proc says of a thread that runs."""
    return time.clock_gettime(~pid << 3 | 2)


class Limpet:
    """`limpet record`, running."""

    def __init__(self, folder, pid, rate, sampler="bpf", cache=None):
        self.path = os.path.join(folder, "samples.limpet")
        argv = [LIMPET, "record", "-p", str(pid), "-F", str(rate), "--sampler", sampler, "-o", self.path, "--json"]
        environment = {**os.environ, "XDG_CACHE_HOME": cache} if cache else None
        self.said = None
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)  # fmt: skip
        first = self.process.stdout.readline()
        if '"attached"' not in first:
            sys.exit(f"bench: limpet did not begin: {first}{self.process.stderr.read()}")

    def stop(self):
        """As Ctrl-C does; its processor time in seconds."""
        self.process.send_signal(signal.SIGINT)
        text = self.process.stdout.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.process.stdout.close()
        self.process.stderr.close()
        self.said = json.loads(text.splitlines()[0])
        return usage.ru_utime + usage.ru_stime

    def counts(self):
        return self.said["samples"], self.said["samples_lost"]

    def make_picture(self, folder):
        argv = [LIMPET, "export", self.path, "-o", os.path.join(folder, "picture.html")]
        subprocess.run(argv, check=True, capture_output=True, timeout=PICTURE_LIMIT_S)


class Perf(perf_tool.Perf):
    """`perf record`, counting."""

    def __init__(self, folder, pid, rate, mode):
        super().__init__(folder, pid, rate, mode)
        self.tell("enable")

    def counts(self):
        return perf_tool.counts(self.path)

    def make_picture(self, _):
        perf_tool.script(self.path, PICTURE_LIMIT_S)


def limpet(sampler):
    return lambda folder, pid, rate: Limpet(folder, pid, rate, sampler)


def perf(mode):
    return lambda folder, pid, rate: Perf(folder, pid, rate, mode)


def tools():
    theirs = {f"perf {mode}": perf(mode) for mode in ("dwarf", "fp")} if perf_tool.PERF else {}
    return {"limpet bpf": limpet("bpf"), "limpet copy": limpet("copy"), **theirs}


@contextlib.contextmanager
def at_work(tool, target_pid, rate):
    """A tool while it samples; stopped and its file kept until the end."""
    with tempfile.TemporaryDirectory() as folder:
        running = tool(folder, target_pid, rate)
        try:
            yield running
        finally:
            if running.process.returncode is None:
                running.stop()


# Time stolen for each sample.


def gaps_during(target, seconds):
    before = target.gaps()
    time.sleep(seconds)
    return [after - then for after, then in zip(target.gaps(), before)]


def percentile_us(gaps, share):
    """The middle of the bucket below which that share of the gaps is."""
    total, seen = sum(gaps), 0
    for bucket, count in enumerate(gaps):
        seen += count
        if total and seen >= share * total:
            return (bucket + 0.5) * BUCKET_US
    return float("nan")


def measure_stolen(options):
    """In turns: what happens anyway is taken off."""
    rate, sums = 4999, {}
    floor = {"perf no stacks": perf("no stacks")} if perf_tool.PERF else {}
    with Target() as target:
        target.pin()
        for _ in range(options.rounds):
            for name, tool in {**floor, **tools()}.items():
                quiet = gaps_during(target, options.slot)
                with at_work(tool, target.pid, rate):
                    busy = gaps_during(target, options.slot)
                more = [max(0, with_it - without) for with_it, without in zip(busy, quiet)]
                sums[name] = [a + b for a, b in zip(sums.get(name, [0] * BUCKETS), more)]
    return {name: [percentile_us(gaps, share) for share in (0.1, 0.5, 0.9)] for name, gaps in sums.items()}


# Slow-down.


def speeds(target, seconds):
    """Steps for the time that the target had by its own clock; for its processor time; the share that interruptions left
    it.  The first does not depend on whom the kernel charges for interrupts, the third not on how fast the processor
    is, which it shares with others."""
    progress = lambda: (target.steps(), cpu_s(target.pid), *target.clock())
    before = progress()
    time.sleep(seconds)
    steps, used, had, interrupted = (now - then for now, then in zip(progress(), before))
    return steps / max(1, had), steps / used, 1 - interrupted / max(1, had)


def slower(with_it, before, after):
    """In percent of what it was on both sides, each kind of speed."""
    return [100 * (1 - 2 * one / (left + right)) for one, left, right in zip(with_it, before, after)]


def measure_slowdown(options):
    """Without, with, without, with: the speed of a machine wanders, and its neighbours in time are most like a slot."""
    values = {}
    with Target() as target:
        target.pin()
        before = speeds(target, options.slot)
        for _ in range(options.pairs):
            for name, tool in tools().items():
                for rate in (99, 999):
                    with at_work(tool, target.pid, rate):
                        with_it = speeds(target, options.slot)
                    after = speeds(target, options.slot)
                    values.setdefault((name, rate), []).append(slower(with_it, before, after))
                    before = after
    return {key: list(zip(*found)) for key, found in values.items()}


def middle(values):
    """(the median, the bounds of 95 in 100 medians of values drawn from these)."""
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), medians[50], medians[-51]


# Size, the tool's processor time, and what is lost.


def record(tool, target_pid, rate, seconds):
    """(samples, lost, expected, bytes, processor time of the tool, seconds) of a recording."""
    with at_work(tool, target_pid, rate) as running:
        used, begin = cpu_s(target_pid), time.monotonic()
        time.sleep(seconds)
        expected = (cpu_s(target_pid) - used) * rate
        tool_s = running.stop()
        samples, lost = running.counts()
        return samples, lost, expected, os.path.getsize(running.path), tool_s, time.monotonic() - begin


def measure_records(target_pid, rate, seconds):
    return {name: record(tool, target_pid, rate, seconds) for name, tool in tools().items()}


# The time until it samples.


def time_to_begin(tool, pid):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        running = tool(folder, pid, 99)
        took = time.monotonic() - begin
        running.stop()
    return took * 1000


def begins(pid, times):
    """perf's once: beside many threads it takes seconds."""
    found = {}
    with tempfile.TemporaryDirectory() as empty:
        found["limpet bpf, first time"] = [
            time_to_begin(lambda folder, pid, rate: Limpet(folder, pid, rate, "bpf", cache=empty), pid)]
    for name, tool in tools().items():
        found[name] = [time_to_begin(tool, pid) for _ in range(1 if name.startswith("perf") else times)]
    return found


@contextlib.contextmanager
def sleepers(count):
    """Threads that wake up now and then."""
    with tempfile.NamedTemporaryFile() as page:
        process = subprocess.Popen([os.path.join(BENCH, "gap_target"), "tick", str(count), page.name])
        try:
            wait_until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) >= count)
            yield process
        finally:
            process.kill()
            process.wait()


def measure_begins(options):
    results = {}
    with Target() as target:
        results["1 thread"] = begins(target.pid, options.attaches)
    with Target(threads=64) as target:
        results["64 busy threads"] = begins(target.pid, options.attaches)
    with sleepers(1000) as process:
        results["1000 threads that sleep"] = begins(process.pid, options.attaches)
        results["lost"] = record(limpet("bpf"), process.pid, 99, 2)[1]
    return results


# From Ctrl-C to a picture.


def picture(tool, pid, rate, seconds):
    """(seconds until the recording is whole, until the picture is there, bytes for each sample)."""
    with tempfile.TemporaryDirectory() as folder:
        running = tool(folder, pid, rate)
        time.sleep(seconds)
        begin = time.monotonic()
        running.stop()
        whole = time.monotonic()
        try:
            running.make_picture(folder)
            drawn = f"{time.monotonic() - begin:.2f}"
        except subprocess.TimeoutExpired:
            drawn = f"> {PICTURE_LIMIT_S}"
        samples = running.counts()[0]
        return whole - begin, drawn, os.path.getsize(running.path) / max(1, samples), samples


def measure_pictures(options):
    with tempfile.TemporaryDirectory() as folder:
        server = Node(pathlib.Path(folder))
        try:
            server.open()
            load = server.load().start()
            time.sleep(2)  # its hot code is compiled by then
            try:
                return {(name, rate): picture(tool, server.process.pid, rate, options.seconds)
                        for name, tool in tools().items() for rate in (99, 999)}  # fmt: skip
            finally:
                load.finish()
        except Unavailable as reason:
            report.progress(f"no node: {reason}")
            return {}
        finally:
            server.close()


# What is shown.


def stolen_table(stolen):
    floor = stolen.get("perf no stacks", [float("nan")] * 3)[1]
    return report.table(["tool", "p10 us", "p50 us", "p90 us", "p50 above the bare timer"], [
        [name, *(f"{value:.2f}" for value in values), f"{values[1] - floor:.2f}"] for name, values in stolen.items()])


def slowdown_table(slowdown):
    shown = lambda values: "{:+.2f} % ({:+.2f} to {:+.2f})".format(*middle(values))
    rows = [[name, str(rate), *map(shown, kinds)] for (name, rate), kinds in slowdown.items()]
    return report.table(["tool", "Hz", "steps, by its clock", "by processor time", "in interruptions"], rows)


def records_table(records):
    base = records["limpet bpf"]
    rows = []
    for name, (samples, lost, expected, size, tool_s, seconds) in records.items():
        each = size / max(1, samples)
        rows.append([name, str(samples), f"{100 * samples / expected:.1f} %", str(lost), f"{size / 1024:.0f}",
                     f"{each:.1f}", f"{each / (base[3] / max(1, base[0])):.0f} x", f"{100 * tool_s / seconds:.2f} %"])
    head = ["tool", "samples", "of expected", "lost, as it says", "KiB", "bytes/sample", "of limpet bpf", "its processor time"]
    return report.table(head, rows)


def begins_table(results):
    rows = [[what, name, f"{statistics.median(values):.0f}", f"{max(values):.0f}"]
            for what, found in results.items() if what != "lost" for name, values in found.items()]
    return report.table(["target", "tool", "ms, median", "most"], rows)


def pictures_table(pictures):
    rows = [[name, str(rate), str(samples), f"{whole:.2f}", drawn, f"{each:.0f}"]
            for (name, rate), (whole, drawn, each, samples) in pictures.items()]
    head = ["tool", "Hz", "samples", "recording is whole, s", "picture is there, s", "bytes/sample"]
    return report.table(head, rows)


def slowdown_aim(slowdown):
    """By each measure; not known where chance could have made the difference."""
    found = [middle(values) for values in slowdown["limpet bpf", 999]]
    is_missed = any(low > AIM_SLOWDOWN for _, low, _ in found)
    is_kept = all(high <= AIM_SLOWDOWN for _, _, high in found)
    values = ", ".join(f"{low:+.2f} to {high:+.2f} %" for _, low, high in found)
    yield f"at most {AIM_SLOWDOWN:.0f} % slower at 999 Hz", False if is_missed else is_kept or None, values


def records_aim(records):
    if "perf dwarf" in records:
        each = {name: one[3] / max(1, one[0]) for name, one in records.items()}
        times = each["perf dwarf"] / each["limpet bpf"]
        yield f"{AIM_SIZE} times less data than perf dwarf", times >= AIM_SIZE, f"{times:.0f} times"


def crowd_aim(crowd):
    lost = crowd["limpet bpf"][1]
    yield "no sample lost at 4999 Hz with 64 threads", lost == 0, f"{lost} lost"


def begins_aim(found):
    yield "no sample lost at 99 Hz with 1000 threads", found["lost"] == 0, f"{found['lost']} lost"
    attach = statistics.median(found["1000 threads that sleep"]["limpet bpf"])
    yield f"1000 threads in at most {AIM_ATTACH_MS} ms", attach <= AIM_ATTACH_MS, f"{attach:.0f} ms"


def pictures_aim(pictures):
    if pictures:
        drawn = pictures["limpet bpf", 99][1]
        is_kept = not drawn.startswith(">") and float(drawn) < AIM_PICTURE_S
        yield f"node: a picture in less than {AIM_PICTURE_S:.0f} s", is_kept, f"{drawn} s"


def no_aim(_):
    return ()


# What is measured, how it is shown, and what is wanted of it.
PARTS = {
    "stolen": (measure_stolen, stolen_table, no_aim,
               f"Time taken from the target by one sample (4999 Hz, {DEPTH} calls deep, pinned; the target's own clock):"),
    "slowdown": (measure_slowdown, slowdown_table, slowdown_aim,
                 "How much slower the target works, with and without the tool in turns; median (95 % interval):"),
    "records": (lambda options: with_target(1, 999, options.seconds), records_table, records_aim,
                f"One busy thread, {DEPTH} calls deep, 999 Hz:"),
    "crowd": (lambda options: with_target(64, 4999, options.seconds), records_table, crowd_aim,
              f"64 busy threads (nice 19) on two processors, {DEPTH} calls deep, 4999 Hz:"),
    "begins": (measure_begins, begins_table, begins_aim,
               "From the command to the first sample (limpet: its first line; perf: its answer to `enable`):"),
    "pictures": (measure_pictures, pictures_table, pictures_aim,
                 "node under load: from Ctrl-C to a flame graph (perf: to the text that pictures are made of):"),
}


def with_target(threads, rate, seconds):
    with Target(threads=threads) as target:
        return measure_records(target.pid, rate, seconds)


def run_part(name, options):
    """Measures and shows it; whoever stops the others has this one."""
    measure, table, aims, text = PARTS[name]
    report.progress(f"{name} ...")
    begin = time.monotonic()
    result = measure(options)
    report.progress(f"{name}: {time.monotonic() - begin:.0f} s")
    print(f"{text}\n\n{table(result)}\n")
    for what, is_kept, value in aims(result):
        print(f"- aim: {what}: {VERDICTS[is_kept]} ({value})\n")
    sys.stdout.flush()


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench sampling", description="what sampling costs")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all when none is named")
    parser.add_argument("--pairs", type=int, default=12, help="slots of each kind for the slow-down (12)")
    parser.add_argument("--slot", type=float, default=0.25, help="seconds of a slot (0.25)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the stolen time (3)")
    parser.add_argument("--seconds", type=float, default=2, help="length of a recording (2)")
    parser.add_argument("--attaches", type=int, default=3, help="attaches of each kind (3)")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {' '.join(unknown)}")
    return options


def main():
    options = arguments()
    peers.tell_missing("perf")
    machine = report.Machine(os.cpu_count(), platform.uname(), os.getloadavg())
    for name in options.parts or PARTS:
        run_part(name, options)
    machine.load_after = os.getloadavg()
    print("\n".join(machine.lines()))


if __name__ == "__main__":
    main()
