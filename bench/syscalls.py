#!/usr/bin/env python3
"""
What it costs a program to have its system calls traced: limpet record --syscall-trace beside perf trace and strace -c -f,
in the same run and on the same target, which makes nothing but short system calls.

In alternating slots: each tool's slot lies between two without any, and those differ by the noise that is said. A tool counts
from when it says or shows that it is there.  "speed" is by the clock, "ns a call" by the target's own processor time, which others
on the machine hardly change, and which does not hold the time that it stands still (strace).  Beside that: how many calls each has counted.

Environment: LIMPET is the executable, BENCH the folder with syscalls_target.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import peers
import report

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "../build")
BENCH = os.environ.get("BENCH", os.path.join(BUILD, "bench"))
LIMPET = os.environ.get("LIMPET", os.path.join(BUILD, "src/host/limpet"))
SETTLE_S = 0.3
LIMIT_S = 60


class Target:
    def __init__(self):
        self.process = subprocess.Popen([os.path.join(BENCH, "syscalls_target")], stdout=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.pid = self.process.pid
        self.rest = ""

    def said(self):
        """(calls so far, when, processor time) of each line."""
        try:
            self.rest += os.read(self.process.stdout.fileno(), 1 << 20).decode()
        except BlockingIOError:
            pass
        *lines, self.rest = self.rest.split("\n")
        return [tuple(map(float, line.split())) for line in lines]

    def rate(self, seconds):
        """Calls a second, and nanoseconds of processor time for each, in that time."""
        self.said()
        lines, end = [], time.monotonic() + LIMIT_S
        while (len(lines) < 2 or lines[-1][1] - lines[0][1] < seconds) and time.monotonic() < end:
            time.sleep(0.05)
            lines += self.said()
        calls, wall, processor = (last - first for first, last in zip(lines[0], lines[-1]))
        return calls / wall, processor / calls * 1e9

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Limpet:
    name = "limpet record --syscall-trace"
    command = LIMPET

    def __init__(self, pid, folder):
        self.path = os.path.join(folder, "it.limpet")
        self.process = subprocess.Popen([LIMPET, "record", "-p", str(pid), "--syscall-trace", "--json", "-o", self.path],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if json.loads(self.process.stdout.readline()).get("event") != "attached":
            raise RuntimeError("limpet is not attached")

    def stop(self):
        self.process.terminate()
        told = json.loads(self.process.communicate(timeout=LIMIT_S)[0].splitlines()[0])
        size = os.path.getsize(self.path)
        return f"{told['records']} records, {told['dropped_full']} dropped, {size / max(told['records'], 1):.1f} bytes each"


class Strace:
    name, command = "strace -c -f", "strace"

    def __init__(self, pid, folder):
        self.process = subprocess.Popen(["strace", "-c", "-f", "-p", str(pid)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(1)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        text = self.process.communicate(timeout=LIMIT_S)[1]
        total = re.search(r"(\d+)\s+\d*\s*total$", text, re.MULTILINE)
        return f"{total[1]} calls" if total else "no table"


class PerfTrace:
    """By way of a file: perf trace -s on a running process shows a single event where perf is older than the kernel."""

    name, command = "perf trace record", "perf"

    def __init__(self, pid, folder):
        self.path = os.path.join(folder, "perf.data")
        self.process = subprocess.Popen(["perf", "trace", "record", "-o", self.path, "-p", str(pid)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(1)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=LIMIT_S)
        shown = subprocess.run(["perf", "trace", "-s", "-i", self.path], capture_output=True, text=True, timeout=LIMIT_S)
        events = re.search(r"(\d+) events", shown.stdout + shown.stderr)
        lost = sum(map(int, re.findall(r"LOST (\d+) events", shown.stdout + shown.stderr)))
        return f"{int(events[1]) // 2} calls, {lost} events lost" if events else "no table"


def slot(tool, target, seconds):
    """Calls a second with the tool, and what it says."""
    with tempfile.TemporaryDirectory() as folder:
        running = tool(target.pid, folder)
        time.sleep(SETTLE_S)
        rate = target.rate(seconds)
        return rate, running.stop()


class Figures:
    """Of one tool: each slot beside the two around it."""

    def __init__(self):
        self.speeds, self.added, self.said = [], [], ""

    def add(self, before, during, after):
        self.speeds.append(during[0] / statistics.mean((before[0], after[0])))
        self.added.append(during[1] - statistics.mean((before[1], after[1])))


def measure(tools, rounds, seconds):
    """(figures by tool, [(noise of the speed, ns a call)] without any)"""
    target = Target()
    figures, without = {tool: Figures() for tool in tools}, []
    try:
        for _ in range(rounds):
            for tool in tools:
                before = target.rate(seconds)
                during, figures[tool].said = slot(tool, target, seconds)
                time.sleep(SETTLE_S)
                after = target.rate(seconds)
                figures[tool].add(before, during, after)
                without.append((after[0] / before[0], before[1], before[0]))
    finally:
        target.close()
    return figures, without


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.5, help="length of a slot")
    parser.add_argument("--rounds", type=int, default=4)
    arguments = parser.parse_args()
    tools = [tool for tool in (Limpet, PerfTrace, Strace) if shutil.which(tool.command)]
    peers.tell_missing("perf", "strace")
    machine = report.Machine(os.cpu_count(), os.uname(), os.getloadavg())
    figures, without = measure(tools, arguments.rounds, arguments.seconds)
    machine.load_after = os.getloadavg()
    print("\n".join(machine.lines()), end="\n\n")
    noises, costs, speeds = zip(*without)
    print(f"without any: {statistics.median(speeds) / 1e6:.2f} million calls a second, {statistics.median(costs):.0f} ns of processor "
          f"time a call ({min(costs):.0f} to {max(costs):.0f});\nnoise: the slot after a tool has {min(noises):.2f} to {max(noises):.2f} "
          f"of the speed of the one before\n")
    print(f"{'':32}{'speed':>8}{'min':>7}{'max':>7}{'ns a call added':>17}{'min':>7}{'max':>7}")
    for tool in tools:
        speeds, added = figures[tool].speeds, figures[tool].added
        print(f"{tool.name:32}{statistics.median(speeds):8.3f}{min(speeds):7.2f}{max(speeds):7.2f}{statistics.median(added):17.0f}"
              f"{min(added):7.0f}{max(added):7.0f}  {figures[tool].said}")


if __name__ == "__main__":
    main()
