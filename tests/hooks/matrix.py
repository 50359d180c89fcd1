#!/usr/bin/env python3
"""
The hazard matrix with tracing on: every workload of tests/stress is traced and left, again and again with
other options, and looked at: dead, stuck, EINTR, wrong data, lost signals, cut sleeps, words of others.

    matrix.py [--cycles N] [--only NAME]

Environment as test_hooks.py.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
for folder in ("attach", "common", "stress"):
    sys.path.append(str(ROOT / folder))

import harness  # noqa: E402
from driving import workload_problem  # noqa: E402
from attach_matrix import CASES  # noqa: E402
from report import Report  # noqa: E402

PROBE = harness.program("trace_probe")
OPTIONS = (["alloc", "io", "lock"], ["function=*:*"], ["alloc-sample=4096", "lock-all", "io"],
           ["io", "function=libc.so.6:*"])
TOO_MUCH = ("bad", "unwritable", "refused", "foreign")
# Their filters let pass what attaching needs, and nothing that only tracing needs: refused, with the reason.
FILTERED = {name: "a seccomp filter of the process forbids it" for name in ("seccomp_needs_always", "seccomp_needs_variables")}


def trace(pid, words):
    """(what came of it or None, the error)"""
    try:
        run = subprocess.run([PROBE, str(pid), "150", *words], capture_output=True, text=True,
                             timeout=60)
    except subprocess.TimeoutExpired:
        return None, "trace_probe hangs"
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    return (lines[-1], "") if lines else (None, run.stderr.strip() or f"exit {run.returncode}")


def problem_of(case, cycles):
    with harness.Workload(case.binary, case.workload, preload=case.preload) as workload:
        refused, records = 0, 0
        for cycle in range(cycles):
            result, error = trace(workload.pid, OPTIONS[cycle % len(OPTIONS)])
            if not result and case.name in FILTERED and FILTERED[case.name] in error:
                refused += 1
            elif not result:
                refused += 1
                if case.expected == (0,) and not case.threads_vary and "musl" not in case.name:
                    return f"cycle {cycle}: {error}", ""
            else:
                records += result["records"]
                wrong = [f"{result[name]} {name}" for name in TOO_MUCH if result[name]]
                if wrong and not case.threads_vary:
                    return f"cycle {cycle}: {', '.join(wrong)}", ""
            wrong = workload_problem(workload)
            if wrong:
                return f"cycle {cycle}: {wrong}", ""
        return None, f"{records} records" + (f", {refused} refused" if refused else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cycles", type=int, default=4)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    report = Report()
    for case in CASES:
        if arguments.only not in case.name or case.is_stopped or case.is_slow:
            continue
        preload = case.preload and harness.preload_find(case.preload)
        if case.preload and not preload:
            report.skip(case.name, f"no {case.preload}")
            continue
        case.preload = preload
        try:
            problem, note = problem_of(case, arguments.cycles)
        except harness.Unavailable as reason:
            report.skip(case.name, str(reason))
            continue
        except harness.progress.Harm as harm:
            problem, note = str(harm), ""
        report.check(case.name, problem, note)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
