"""Holistic Trace Analysis, installed by pip into the user's cache, on what limpet exports in PyTorch's format: how many
kernels and copies of each name."""

import json
import subprocess
import sys

from driving import harness

import firefox

FOLDER = firefox.CACHE / "analysis"
PACKAGE = "HolisticTraceAnalysis==0.5.0"
ROUNDS = 40
INSTALL_S = 600
# Prints {name: count} of what ran on devices.
READ = """
import collections, json, sys
from hta.trace_analysis import TraceAnalysis
trace = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="").t
names, rows = trace.symbol_table.get_sym_table(), trace.get_trace(0)
print("FOUND " + json.dumps(collections.Counter(names[name] for name in rows[rows["stream"] >= 0]["name"])))
"""


class Unavailable(Exception):
    """It cannot be had here, and why."""


def install():
    """A Python that has it; what is there stays."""
    python = FOLDER / "bin/python"
    for command in ([sys.executable, "-m", "venv", FOLDER], [python, "-m", "pip", "install", "--quiet", PACKAGE]):
        if python.exists() and not subprocess.run([python, "-c", "import hta"], capture_output=True, check=False).returncode:
            break
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"pip took more than {INSTALL_S} s") from None
        if done.returncode:
            raise Unavailable("pip could not install it: " + (done.stderr.strip() or "?").splitlines()[-1])
    return python


def check(report, python, folder):
    recording = folder / "devices.limpet"
    subprocess.run([harness.program("make_gpu_recording"), recording, str(ROUNDS)], check=True, capture_output=True)
    path = recording.with_suffix(".pt.trace.json")
    result = harness.limpet("export", recording, "-o", path, deadline_s=120)
    if result.code:
        raise RuntimeError(str(result))
    done = subprocess.run([python, "-c", READ, path], capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    if not lines:
        raise RuntimeError(done.stderr[-300:])
    found = {name: count for name, count in json.loads(lines[0][6:]).items() if not name.startswith("Mem")}
    wanted = {}
    for event in harness.limpet("report", recording, "--json", deadline_s=120).events:
        if event["event"] == "kernel":
            wanted[event["name"]] = wanted.get(event["name"], 0) + event["calls"]
    report.check("Holistic Trace Analysis: how often each kernel ran", "" if found == wanted and found else f"{found}, not {wanted}",
                 f"{len(found)} kernels, {sum(found.values())} launches")


def try_all(report, folder):
    try:
        check(report, install(), folder)
    except Unavailable as reason:
        report.skip("Holistic Trace Analysis", str(reason))
    except (RuntimeError, subprocess.SubprocessError) as problem:
        report.not_ok("Holistic Trace Analysis", " / ".join(str(problem).splitlines()[:6]))
