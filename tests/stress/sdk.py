#!/usr/bin/env python3
"""
Eight threads call HIP for ten minutes while three tools of AMD's SDK see every call by callbacks, in buffers and by what
devices do: what they count is what the program did, and its memory does not grow.

  tests/stress/sdk.py [--seconds N]

STANDIN, REGISTER_TESTS and SDK_TOOLS name the folders of the built tests, LIMPET the limpet to test. Ends with
"N passed, N failed".
"""

import argparse
import pathlib
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "common"), str(HERE.parent / "sdk")]

from report import Report
from sdk import CASES, Attached, Log, Work, harness

THREADS = 8
GROWTH_KIB = 2048  # from a quarter of the time to the end


def memory_kib(pid):
    return int(harness.status_of(pid).get("RssAnon", "0 kB").split()[0])


def watch(pid, seconds):
    samples, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(max(0.2, seconds / 100))
        samples.append(memory_kib(pid))
    return samples


def run(report, seconds, log):
    work = Work(**CASES["amds"], program="standin_hazards")
    try:
        attached = Attached(work, log, "callbacks", "buffers", "work")
        work.tell("storm", THREADS)
        work.process.stdout.readline()
        samples = watch(work.pid, seconds)
        launched = int(work.ask("stop")[-1][1])
        result = attached.leave()
    finally:
        work.close()
    report.check("it was left", None if result.code == 0 else str(result))
    seen = [words[3:5] for words in log.lines("call") if words[2] == "hipLaunchKernel"]
    report.check("callbacks and buffers saw every launch", None if seen == [[str(launched)] * 2] * 2 else str(seen),
                 f"{launched} launches, {launched / seconds:.0f} a second")
    kernels = log.fields("detach").get("kernels")
    report.check("every kernel was told", None if kernels == launched else f"{kernels} of {launched}")
    report.check("nothing was wrong", str(log.lines("wrong")) if log.lines("wrong") else None)
    grown = samples[-1] - samples[len(samples) // 4]
    report.check("memory is flat", f"{grown} KiB more" if grown > GROWTH_KIB else None,
                 f"{samples[-1]} KiB, {grown:+} KiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    report, log = Report(), Log()
    run(report, options.seconds, log)
    log.close()
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
