#!/usr/bin/env python3
"""
A million kernels a minute, recorded for ten minutes: none is lost, and neither side's memory grows.

  tests/stress/kernels.py [--seconds N] [--per-minute N] [--short]

The program is standin_work on the stand-ins of AMD's runtimes (tests/standin). STANDIN and REGISTER_TESTS
name the folders of the built tests, LIMPET the limpet to test. Ends with "N passed, N failed".
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "common"), str(HERE.parent / "amd")]

from report import Report
from standin import CASES, Recorder, Work, harness

SHORT_S = 3  # too short to ask that a busy machine keeps pace
GROWTH_KIB = 2048  # of either side, from a quarter of the time to the end


def memory_kib(pid):
    """What is its own: the rings, which both sides see, are not counted."""
    return int(harness.status_of(pid).get("RssAnon", "0 kB").split()[0])


def watch(pids, seconds):
    """Memory of each, at about a hundred moments."""
    samples, end = {pid: [] for pid in pids}, time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(max(0.2, seconds / 100))
        for pid in pids:
            samples[pid].append(memory_kib(pid))
    return samples


def growth(samples):
    return samples[-1] - samples[len(samples) // 4]


def kernels_in(path):
    result = harness.limpet("report", path, "--json", deadline_s=600)
    return sum(event["calls"] for event in result.events if event["event"] == "kernel")


def run(report, seconds, per_minute, path, rings):
    work = Work(**CASES["amds"])
    try:
        work.tables()
        recorder = Recorder(work.pid, path, "--kernel-trace", *rings)
        work.tell("pace", 60_000_000_000 // per_minute)
        samples = watch((work.pid, recorder.process.pid), seconds)
        did = {words[1]: int(words[2]) for words in work.ask("stop") if words[0] == "did"}
        result = recorder.stop()
        total = result.event("recorded")
    finally:
        work.close()
    report.check("the recording is whole", None if result.code == 0 and not total["invalid"] else str(result))
    dropped = sum(count for name, count in total.items() if name.startswith("dropped"))
    report.check("no record was dropped", f"{dropped} were" if dropped else None)
    seen = kernels_in(path)
    rate = did["kernels"] / seconds * 60
    report.check("every kernel is in it", None if seen == did["kernels"] else f"{seen} of {did['kernels']}",
                 f"{seen} kernels, {rate:.0f} a minute, {os.stat(path).st_size >> 20} MiB")
    if seconds > SHORT_S:
        report.check("as many as were wanted", None if rate >= 0.97 * per_minute else f"{rate:.0f} a minute")
    for name, pid in (("program", work.pid), ("limpet", recorder.process.pid)):
        grown = growth(samples[pid])
        report.check(f"memory of the {name} is flat", f"{grown} KiB more" if grown > GROWTH_KIB else None,
                     f"{samples[pid][-1]} KiB, {grown:+} KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--per-minute", type=int, default=1_000_000)
    parser.add_argument("--short", action="store_true", help=f"{SHORT_S} seconds")
    options = parser.parse_args()
    seconds = SHORT_S if options.short else options.seconds
    report = Report()
    with tempfile.TemporaryDirectory(prefix="limpet-kernels-") as folder:
        # The short form says nothing about how far the usual rings reach on a machine that stands still.
        run(report, seconds, options.per_minute, f"{folder}/it.limpet", ("--ring-size", "16M") if options.short else ())
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
