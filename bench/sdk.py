#!/usr/bin/env python3
"""
What a tool of AMD's SDK costs a call of HIP: nanoseconds of processor time a call on the STAND-IN of AMD's HIP
(tests/standin), without a tool and with one that does nothing, in turns. A call has two callbacks, or one record. The first calls with
a tool are told apart: they are the first to write to the memory of its buffer.

Aims: 150 ns a callback, 60 ns a record.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent / "build"
LIMPET = os.environ.get("LIMPET", str(BUILD / "src/host/limpet"))
WARM = 600_000  # calls, after which both halves of the buffer have been written to
MODES = {"callbacks": ("bench_callbacks.so", 2), "buffer": ("bench_buffer.so", 1)}


class Target:
    def __init__(self):
        self.process = subprocess.Popen(
            [BUILD / "tests/sdk/bench_target"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline().split()[1])

    def call(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def with_tool(target, tool, count):
    limpet = subprocess.Popen([LIMPET, "attach", str(target.pid), "--json", "--tool", BUILD / "tests/sdk" / tool],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if '"ok":true' not in limpet.stdout.readline():
        sys.exit(f"{tool}: not attached")
    first = target.call(WARM)
    taken = target.call(count)
    limpet.communicate("\n")
    return first, taken


def measure(name, arguments):
    tool, parts = MODES[name]
    target = Target()
    turns = []
    for _ in range(arguments.turns):
        turns.append((target.call(arguments.calls), *with_tool(target, tool, arguments.calls)))
    target.close()
    quiet, first, during = (statistics.median(column) for column in zip(*turns))
    least = min(turn[2] for turn in turns) - min(turn[0] for turn in turns)
    print(f"| {name} | {quiet:.0f} | {(first - quiet) / parts:.0f} | {during:.0f} | {(during - quiet) / parts:.0f} | {least / parts:.0f} |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--calls", type=int, default=200_000)
    arguments = parser.parse_args()
    print(f"stand-in, {arguments.turns} turns of {arguments.calls} calls each; load {os.getloadavg()[0]:.0f}\n")
    print("| by | a call ns | a callback or record at first | a call with a tool | a callback or record | at best |\n|---|---|---|---|---|---|")
    for name in MODES:
        measure(name, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
