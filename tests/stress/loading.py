#!/usr/bin/env python3
"""
Programs that open and close libraries all the time, in C and with the C++ library's memory, recorded with every option
that traces.  Each is judged by what it does afterwards: all its threads must go on, for seconds.

    loading.py [--rounds N] [--only TEXT] [--after SECONDS]
"""

import argparse
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "common"))

import driving  # noqa: E402,F401
import harness  # noqa: E402
from report import Report  # noqa: E402

BUILT = pathlib.Path(harness.PROGRAMS).parent
# Stand-ins of runtimes, so that there is something to hook.
CUDA = [BUILT / "cuda" / name for name in ("libcuda.so.1", "libcudart.so.13", "libnccl.so.2", "libnvtx3interop.so")]
AMD = [BUILT / "standin" / name for name in ("libhsa-runtime64.so.2", "libamdhip64.so.7", "librccl.so.1", "libroctx64.so.4")]
OPENCL = [BUILT / "opencl" / "libstandin_cl.so"]

OPTIONS = [
    ("alloc-trace", []), ("alloc-stacks", []), ("alloc-sample 64K", []), ("alloc-sample 1K", []), ("io-trace", []),
    ("lock-trace", []), ("lock-all", []), ("function *:*", []), ("function libc.so.6:*", []), ("syscall-trace", []),
    ("off-cpu", []), ("frequency 999", []), ("alloc-trace --children", []), ("alloc-sample 64K --io-trace --lock-all --unload", []),
    ("marker-trace", [*AMD, *CUDA]), ("opencl-trace", OPENCL), ("opencl-device-time", OPENCL), ("cuda-trace", CUDA),
    ("cuda-runtime-trace", CUDA), ("nccl-trace", CUDA), ("hip-trace", AMD), ("hsa-trace", AMD), ("rccl-trace", AMD),
    ("kernel-trace", AMD), ("sys-trace", [*AMD, *CUDA, *OPENCL]),
]
LEAST_TURNS = 3  # a second
NOTHING = 5  # limpet's status


def progress_problem(workload, seconds):
    """Does it go on, second after second?"""
    for second in range(seconds):
        before = workload.stats.word("turns")
        time.sleep(1)
        if not workload.alive():
            return f"died in second {second + 1}: {workload.fate()}"
        if workload.stats.word("turns") - before < LEAST_TURNS and not workload.stats.wait_turn(10):
            return f"stands still since second {second + 1}"
    return driving.workload_problem(workload)


def visit_problem(binary, name, words, libraries, seconds):
    preload = ":".join(str(path) for path in libraries if path.exists()) or None
    with harness.Workload(binary, name, preload=preload) as workload, tempfile.TemporaryDirectory() as folder:
        result = harness.limpet("record", "-p", workload.pid, *f"--{words}".split(), "--duration", "500ms", "--max-size", "64M",
                                "-o", f"{folder}/it.limpet", deadline_s=90)
        problem = progress_problem(workload, seconds)
        # Nothing calls the stand-ins: there may be nothing to record.
        is_right = result.code == 0 or (libraries and result.code == NOTHING)
        return problem or (None if is_right else f"exit {result.code}: {result.err.strip()}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--after", type=int, default=3, help="seconds for which it must go on")
    arguments = parser.parse_args()
    report = Report()
    for _ in range(arguments.rounds):
        for binary in ("loading", "loading_cpp"):
            for words, libraries in OPTIONS:
                for name in ("often", "always"):
                    title = f"{binary} {name} {words}"
                    if arguments.only not in title:
                        continue
                    try:
                        report.check(title, visit_problem(binary, name, words, libraries, arguments.after))
                    except harness.Unavailable as reason:
                        report.skip(title, str(reason))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
