#!/usr/bin/env python3
"""
`limpet record -a` beside `perf record -a -g` and `--call-graph dwarf`, in one run: how many stacks reach their
beginning, bytes, the tool's own processor time, and what it costs a program that works among others.

Environment: LIMPET, BENCH (sampled_target).
"""

import argparse
import contextlib
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import peers
import perf_tool
import report
import sampling
from sampling import LIMPET, Target, middle, slower, speeds

RATE = 99
# Where a user's stack begins, and where a kernel thread's does.
ROOTS = {"_start", "clone3", "__clone3", "clone", "__clone", "start_thread", "ret_from_fork_asm", "ret_from_fork", "kthread"}
OTHERS = (
    ["python3", "-c", "import json\nwhile True: json.loads(json.dumps(list(range(500))))"],
    ["sh", "-c", "while :; do ls -l /usr/bin | sort -k5 | wc -l; done"],
)


class Limpet:
    """`limpet record -a`, running."""

    def __init__(self, folder, rate):
        self.path = os.path.join(folder, "all.limpet")
        argv = [LIMPET, "record", "-a", "-F", str(rate), "-o", self.path, "--json"]
        self.said = None
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        if '"attached"' not in self.process.stdout.readline():
            sys.exit("bench: limpet did not begin")

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        text = self.process.stdout.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.process.stdout.close()
        self.said = json.loads(text.splitlines()[0])
        return usage.ru_utime + usage.ru_stime

    def stacks(self):
        """(name of the process, is it complete) of each sample."""
        text = subprocess.run([LIMPET, "report", self.path, "--json"], capture_output=True, text=True, check=True).stdout
        for line in map(json.loads, text.splitlines()):
            if line["event"] == "sampled_process":
                for number in range(line["samples"]):
                    yield line["name"], number >= line["incomplete"]

    def lost(self):
        return self.said["samples_lost"]


class Perf:
    """`perf record -a`, running."""

    def __init__(self, folder, rate, mode):
        self.path = os.path.join(folder, "perf.data")
        argv = [perf_tool.PERF, "record", "-q", "-e", "cpu-clock", "-F", str(rate), *perf_tool.MODES[mode], "-a", "-o", self.path]
        self.process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sampling.wait_until(lambda: os.path.exists(self.path) and os.path.getsize(self.path))

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime

    def stacks(self):
        argv = [perf_tool.PERF, "script", "--no-inline", "--max-stack", str(perf_tool.FRAMES_MOST), "-F", "comm,tid,ip,sym", "-i",
                self.path]
        text = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False).stdout
        for block in text.split("\n\n"):
            lines = block.strip("\n").splitlines()
            if len(lines) > 1 and not lines[0].startswith("swapper"):
                name = lines[0].rsplit(None, 1)[0].strip()
                yield name, re.sub(r"^\s*[0-9a-f]+ ", "", lines[-1]).strip() in ROOTS

    def lost(self):
        return perf_tool.counts(self.path)[1]


def tools():
    ours = {"limpet -a": Limpet}
    if perf_tool.PERF:
        ours["perf -a -g"] = lambda folder, rate: Perf(folder, rate, "fp")
        ours["perf -a --call-graph dwarf"] = lambda folder, rate: Perf(folder, rate, "dwarf")
    return ours


@contextlib.contextmanager
def at_work(tool):
    with tempfile.TemporaryDirectory() as folder:
        running = tool(folder, RATE)
        try:
            yield running
        finally:
            if running.process.returncode is None:
                running.stop()


@contextlib.contextmanager
def others():
    """What else runs: an interpreter, and programs that live for a moment."""
    processes = [subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True) for words in OTHERS]
    try:
        yield
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def measure_slowdown(target, options):
    """Without, with, without, with; "nothing" is how much two slots without any tool differ."""
    values = {}
    before = speeds(target, options.slot)
    for _ in range(options.pairs):
        for name, tool in {**tools(), "nothing": None}.items():
            with at_work(tool) if tool else contextlib.nullcontext():
                with_it = speeds(target, options.slot)
            after = speeds(target, options.slot)
            values.setdefault(name, []).append(slower(with_it, before, after))
            before = after
    return {name: list(zip(*found)) for name, found in values.items()}


def share(stacks, name=None):
    chosen = [is_complete for whose, is_complete in stacks if name in (None, whose)]
    return f"{100 * sum(chosen) / len(chosen):.1f} % of {len(chosen)}" if chosen else "-"


def measure_records(options):
    rows = []
    for name, tool in tools().items():
        with at_work(tool) as running:
            begin = time.monotonic()
            time.sleep(options.seconds)
            tool_s = running.stop()
            seconds = time.monotonic() - begin
            stacks = list(running.stacks())
            rows.append([name, share(stacks, "sampled_target"), share(stacks, "python3"), share(stacks), str(running.lost()),
                         f"{os.path.getsize(running.path) / max(1, len(stacks)):.0f}", f"{100 * tool_s / seconds:.1f} %"])
    return rows


def interval(values):
    median, low, high = middle(values)
    return f"{median:+.2f} % ({low:+.2f} to {high:+.2f})"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10, help="slots with each tool")
    parser.add_argument("--slot", type=float, default=1, help="seconds of a slot")
    parser.add_argument("--seconds", type=float, default=6, help="of the recordings whose stacks are counted")
    return parser.parse_args()


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what it has started is ended, too
    peers.tell_missing("perf")
    machine = report.Machine(os.cpu_count(), platform.uname(), os.getloadavg())
    with Target() as target, others():
        target.pin()
        records = measure_records(options)
        slowdown = measure_slowdown(target, options)
    machine.load_after = os.getloadavg()
    print("\n".join(machine.lines()))
    print(report.table(["tool", "complete: sampled_target", "python3", "all", "lost", "bytes a sample", "its processor time"],
                       records))
    print(report.table(["tool", "steps, by its clock", "by processor time", "in interruptions"],
                       [[name, *map(interval, kinds)] for name, kinds in slowdown.items()]))


if __name__ == "__main__":
    main()
