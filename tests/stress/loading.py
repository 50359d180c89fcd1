#!/usr/bin/env python3
"""
Programs that open and close libraries all the time, in C and with the C++ library's memory, recorded with every option
that limpet record has.  They call stand-ins of CUDA, NCCL, NVTX, HIP, HSA, RCCL, ROCTx, rocDecode, rocJPEG and OpenCL
meanwhile, so that each trace has something to hook and to see.  Each is judged by what it does afterwards: all its threads
must go on, for seconds.

    loading.py [--rounds N] [--only TEXT] [--after SECONDS] [--short]
"""

import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "common"))

import driving  # noqa: E402
import harness  # noqa: E402
from report import Report  # noqa: E402

BUILT = pathlib.Path(harness.PROGRAMS).parent.resolve()
PROGRAMS = [str(BUILT / "stress" / name) for name in ("loading_devices", "loading_devices_cpp")]
# A register library that tells no tables, so that limpet looks for them; devices whose counters are known.
TARGET = ("env", f"LD_LIBRARY_PATH={BUILT}/standin/amd_register/old", "STANDIN_GFX=gfx942")
OPENCL = BUILT / "opencl/libstandin_cl.so"
MADE_UP = ROOT / "counters/amd"
HOST = {**os.environ, "LD_LIBRARY_PATH": str(BUILT / "cuda"), "HSA_MODEL_TOPOLOGY": str(MADE_UP / "topology"),
        "ROCPROFILER_METRICS_PATH": str(MADE_UP / "definitions")}
DEADLINE_S = 90
TRIES = 3  # of a limpet that has nothing to show, on a machine with too much to do
REFUSED = 1  # limpet's status

# A line of limpet record --help: an option, and the word for its value.
OPTION = re.compile(r"^  (?:-\w,|   ) --([\w-]+) ([A-Z][A-Z:]*)?", re.MULTILINE)
# Options that are no row of their own.
EXCLUDED = {
    "pid": "each row has it", "output": "each row has it", "duration": "each row has it",
    "max-size": "each row has it", "all": "records other processes, too, and loads nothing",
    "json": "only how limpet prints", "ui": "only how limpet prints", "no-open": "only how limpet prints",
    "ring-size": "only how much room there is", "counter-interval": "only how often counters are read",
    "force": "for filters, which these programs have not", "cont": "for stopped programs",
    "debuginfod": "asks servers, after the recording",
}
# What options with a value are given.
VALUES = {
    "frequency": ["999"], "event": ["cpu-clock"], "sampler": ["copy"], "alloc-sample": ["1K", "64K"],
    "function": ["*:*", "libc.so.6:*"], "cuda-api": ["default", "all"], "counters": ["task-clock", "SQ_WAVES"],
    "pm-metrics": ["dram__bytes_read.sum"], "collection-period": ["50ms:50ms:3"],
}
# Options that say more about others.
BESIDE = {
    "children": ["--alloc-trace"], "all-descendants": ["--children", "--alloc-trace"], "address-entries": ["--alloc-trace"],
    "unload": ["--alloc-sample", "64K", "--io-trace", "--lock-all"], "cuda-api": ["--cuda-trace"],
    "collection-period": ["--alloc-sample", "1K"],
}
# What cannot be had here: there is no Java virtual machine in these programs, and limpet says so.
EXPECTED = {"--java-names": REFUSED}
# One for each way in which limpet comes to what it hooks.
SHORT = ["loading_devices_cpp always --alloc-sample 1K", "loading_devices always --nccl-trace",
         "loading_devices_cpp always --cuda-trace", "loading_devices always --sys-trace"]
# What a recording with --sys-trace has: functions of these domains, and these other things.
DOMAINS = set("opencl hip hip-compiler hsa-core hsa-amd hsa-image hsa-finalizer rccl cuda cuda-runtime nccl rocdecode "
              "rocjpeg".split())
EVENTS = {"kernel", "copy", "device_memory", "scratch_memory", "range"}


def rows_of(help_text):
    """What to record with, row by row, and the options of which nobody has said how."""
    rows, unknown = [], []
    for name, value in OPTION.findall(help_text):
        if name in EXCLUDED:
            continue
        if bool(value) != (name in VALUES):
            unknown.append(name)
        rows += [[f"--{name}", *given, *BESIDE.get(name, [])] for given in ([v] for v in VALUES.get(name, []))] or [
            [f"--{name}", *BESIDE.get(name, [])]]
    return rows, unknown


def seen_problem(path):
    """Has a recording of all runtimes something of each?"""
    lines = [json.loads(line) for line in harness.limpet("report", path, "--json").out.splitlines()]
    missing = DOMAINS - {line.get("domain") for line in lines if line["event"] == "function"}
    missing |= EVENTS - {line["event"] for line in lines}
    return f"nothing of {', '.join(sorted(missing))}" if missing else None


def record_problem(pid, words, duration):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/it.limpet"
        result = harness.limpet("record", "-p", pid, *words, "--duration", duration, "--max-size", "64M", "-o", path,
                                deadline_s=DEADLINE_S, env={**HOST, "STANDIN_NVML_PID": str(pid)})
        problem = driving.result_problem(result, EXPECTED.get(words[0], 0))
        return problem or (seen_problem(path) if words == ["--sys-trace"] else None)


def visit_problem(binary, name, words, arguments):
    try:
        with harness.Workload(binary, name, preload=OPENCL, before=TARGET) as workload:
            for _ in range(TRIES):
                problem = record_problem(workload.pid, words, arguments.duration)
                workload.check_progress(arguments.after)
                harm = driving.workload_problem(workload)
                if harm or not problem:
                    break
            return harm or problem
    except harness.progress.Harm as harm:
        return str(harm)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--after", type=float, default=3, help="seconds for which it must go on")
    parser.add_argument("--duration", default="500ms", help="of each recording")
    parser.add_argument("--short", action="store_true", help="a few rows, for as short as can be")
    arguments = parser.parse_args()
    if arguments.short:
        arguments.after, arguments.duration = harness.progress.PROGRESS_S, "200ms"
    report = Report()
    rows, unknown = rows_of(harness.limpet("record", "--help").out)
    report.check("every option has a row or a reason", f"how: {unknown}" if unknown or not rows else None)
    for _ in range(arguments.rounds):
        for binary in PROGRAMS:
            for words in rows:
                for name in ("often", "always"):
                    title = f"{os.path.basename(binary)} {name} {' '.join(words)}"
                    if arguments.only not in title or (arguments.short and title not in SHORT):
                        continue
                    try:
                        report.check(title, visit_problem(binary, name, words, arguments))
                    except harness.Unavailable as reason:
                        report.skip(title, str(reason))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
