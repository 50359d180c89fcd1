#!/usr/bin/env python3
"""
What tracing OpenCL costs: time and processor time of a round of a program that does little else than call it (tests/opencl/cl_loop.c: three
tiny kernels, six copies, a buffer, four refused calls and two waits a round), traced, traced with device times, and not, in turns. Where other
things run on the machine, only the processor time says something.

Environment: OPENCL is the folder with the built cl_loop, LIMPET the limpet.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "../build")
LOOP = os.path.join(os.environ.get("OPENCL", os.path.join(BUILD, "tests/opencl")), "cl_loop")
LIMPET = os.environ.get("LIMPET", os.path.join(BUILD, "src/host/limpet"))
MODES = {"traced": [], "device times": ["--opencl-device-time"]}
SETTLE_S = 0.6  # queues are changed a quarter of a second after the attach


class Loop:
    def __init__(self, words, folder):
        self.process = subprocess.Popen([LOOP, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, POCL_CACHE_DIR=folder))
        self.process.stdout.readline()

    def end_epoch(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def cpu_ns(self):
        """Of all its threads, the driver's too."""
        folder = f"/proc/{self.process.pid}/task"
        return sum(int(open(f"{folder}/{tid}/schedstat").read().split()[0]) for tid in os.listdir(folder))

    def round_us(self, seconds):
        """What a round takes from now on: time, processor time."""
        self.end_epoch()
        begin, cpu = time.monotonic(), self.cpu_ns()
        time.sleep(seconds)
        rounds = self.end_epoch()["rounds"]
        return (time.monotonic() - begin) * 1e6 / rounds, (self.cpu_ns() - cpu) / 1e3 / rounds

    def traced_us(self, seconds, path, modes):
        limpet = subprocess.Popen([LIMPET, "record", "-p", str(self.process.pid), "-o", path, "--opencl-trace",
                                   "--ring-size", "64M", "--json", *modes], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        limpet.stdout.readline()
        time.sleep(SETTLE_S)
        taken = self.round_us(seconds)
        events = [json.loads(line) for line in limpet.communicate("\n")[0].splitlines()]
        recorded = next(event for event in events if event["event"] == "recorded")
        return taken, recorded["dropped_full"]

    def close(self):
        self.process.kill()
        self.process.communicate()


def measure(words, options, folder):
    """In turns: not traced, and in each mode."""
    loop, path = Loop(words, folder), os.path.join(folder, "it.limpet")
    quiet, traced, dropped = [], {mode: [] for mode in MODES}, 0
    try:
        loop.round_us(options.seconds)
        for _ in range(options.turns):
            quiet.append(loop.round_us(options.seconds))
            for mode in MODES:
                taken, lost = loop.traced_us(options.seconds, path, MODES[mode])
                traced[mode].append(taken)
                dropped += lost
    finally:
        loop.close()
    for at, name in enumerate(("time", "processor")):
        before = statistics.median(each[at] for each in quiet)
        columns = [f"{' '.join(words) or 'plain':18} {name:9} {before:7.1f} us"]
        for mode in MODES:
            during = statistics.median(each[at] for each in traced[mode])
            columns.append(f"{mode} {during:7.1f} us ({during / before:.2f}x)")
        print("   ".join(columns), flush=True)
    print(f"{dropped} dropped", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    if not os.path.exists(LOOP):
        print("cl_loop was not built: OpenCL's headers are missing", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for words in ([], ["profiling"], ["unordered", "events"], ["threads", "events"]):
            measure(words, options, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
