"""What the scripts that attach to live programs share, on top of tests/attach/harness.py.

Imported before the harness: it names the limpet to test (LIMPET, else the staged one).
"""

import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("LIMPET", str(ROOT / "out/bin/limpet"))
sys.path.append(str(ROOT / "tests/attach"))

import harness  # noqa: E402

WRONG = ("eintr", "corruptions", "errors", "signals_lost", "early")


def cycle(pid, *options, **how):
    """One attach that detaches at once."""
    return harness.limpet("attach", pid, "--json", "--duration", "0", *options, **how)


def result_problem(result, expected=0):
    """What is wrong with a run of limpet that should have ended with that status, or None."""
    if result.code == expected:
        return None
    said = " / ".join(line.strip() for line in result.err.splitlines()) or result.event("summary")
    return f"{'hung' if result.hung else f'exit {result.code}'}, not exit {expected}: {said}"


def refusal_problem(result, expected):
    """A refusal must name what failed and why, on stderr and in the summary."""
    summary = result.event("summary")
    wrong = result_problem(result, expected)
    if wrong or (summary.get("error") and summary.get("why") and "error:" in result.err):
        return wrong
    return f"refused without a reason: {summary} {result.err}"


def workload_problem(workload, deadline_s=harness.PATIENCE_S, seconds=0):
    """What is wrong with a workload after all that was done to it, watched for so many seconds, or None."""
    work = harness.progress.Progress(workload.pid, lambda: workload.stats.word("turns"), workload.process)
    problem = work.problem(seconds, deadline_s=deadline_s)
    if problem:
        return problem
    wrong = [f"{workload.stats.word(name)} {name}" for name in WRONG if workload.stats.word(name)]
    return ", ".join([*wrong, workload.stats.detail()]) if wrong else None
