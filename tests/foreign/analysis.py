"""Readers of PyTorch's trace format, installed by pip into the user's cache, on what limpet exports in it: how many kernels of
each name Holistic Trace Analysis and TensorBoard's PyTorch plugin count."""

import json
import subprocess
import sys

from driving import harness

import firefox

ROUNDS = 40
INSTALL_S = 600
# Each reader prints {name: count} of the kernels in the file that its first argument names.
READERS = {
    "Holistic Trace Analysis": ("analysis", "HolisticTraceAnalysis==0.5.0", "hta", """
import collections, json, sys
from hta.trace_analysis import TraceAnalysis
trace = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="").t
names, rows = trace.symbol_table.get_sym_table(), trace.get_trace(0)
found = collections.Counter(names[name] for name in rows[rows["stream"] >= 0]["name"])
print("FOUND " + json.dumps({name: count for name, count in found.items() if not name.startswith("Mem")}))
"""),
    "TensorBoard's PyTorch plugin": ("tensorboard", "torch-tb-profiler==0.4.3", "torch_tb_profiler.plugin", """
import json, sys
from torch_tb_profiler.profiler.data import RunProfileData
profile = RunProfileData.parse("worker", None, sys.argv[1], None)
print("FOUND " + json.dumps({name: int(count) for name, count in profile.kernel_stat["count"].items()}))
"""),
}


class Unavailable(Exception):
    """It cannot be had here, and why."""


def install(name, package, module):
    """A Python that has it; what is there stays."""
    folder = firefox.CACHE / name
    python = folder / "bin/python"
    for command in ([sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "--quiet", package]):
        if python.exists() and not subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode:
            break
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"pip took more than {INSTALL_S} s") from None
        if done.returncode:
            raise Unavailable("pip could not install it: " + (done.stderr.strip() or "?").splitlines()[-1])
    return python


def kernels_of(recording):
    wanted = {}
    for event in harness.limpet("report", recording, "--json", deadline_s=120).events:
        if event["event"] == "kernel":
            wanted[event["name"]] = wanted.get(event["name"], 0) + event["calls"]
    return wanted


def exported(folder):
    recording = folder / "devices.limpet"
    subprocess.run([harness.program("make_gpu_recording"), recording, str(ROUNDS)], check=True, capture_output=True)
    path = recording.with_suffix(".pt.trace.json")
    result = harness.limpet("export", recording, "-o", path, deadline_s=120)
    if result.code:
        raise RuntimeError(str(result))
    return path, kernels_of(recording)


def check(report, reader, python, code, path, wanted):
    done = subprocess.run([python, "-c", code, path], capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    if not lines:
        raise RuntimeError(done.stderr[-300:])
    found = json.loads(lines[0][6:])
    report.check(f"{reader}: how often each kernel ran", "" if found == wanted and found else f"{found}, not {wanted}",
                 f"{len(found)} kernels, {sum(found.values())} launches")


def try_all(report, folder):
    path, wanted = exported(folder)
    for reader, (name, package, module, code) in READERS.items():
        try:
            check(report, reader, install(name, package, module), code, path, wanted)
        except Unavailable as reason:
            report.skip(reader, str(reason))
        except (RuntimeError, subprocess.SubprocessError) as problem:
            report.not_ok(reader, " / ".join(str(problem).splitlines()[:6]))
