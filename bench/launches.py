#!/usr/bin/env python3
"""
What tracing costs a program that does little else than launch kernels: nanoseconds a launch on the STAND-IN of AMD's
HIP (tests/standin: a device is a thread, and a kernel does nothing), traced and not, in turns. "Launching thread" is
processor time of the thread that launches; "all threads" has the device's threads in it, which write kernels down.

Environment: STANDIN, REGISTER_TESTS, REGISTER, SDK name what the build made (./dev bench launches sets them), LIMPET the
limpet.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent / "build"
for name, path in {"LIMPET": "src/host/limpet", "PROGRAMS": "tests/programs", "STANDIN": "tests/standin",
                    "REGISTER_TESTS": "tests/register", "SDK": "src/target/librocprofiler-sdk.so.1",
                    "REGISTER": "compat/register/librocprofiler-register.so.0"}.items():
    os.environ.setdefault(name, str(BUILD / path))
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "tests/amd")]

from standin import CASES, Recorder, Work  # noqa: E402

MODES = {
    "--kernel-trace": ("--kernel-trace",),
    "--hip-trace": ("--hip-trace",),
    "both": ("--hip-trace", "--kernel-trace"),
}


def cpu_ns(pid):
    folder = f"/proc/{pid}/task"
    return sum(int(open(f"{folder}/{tid}/schedstat").read().split()[0]) for tid in os.listdir(folder))


def launch(work, count):
    """Nanoseconds a launch: of the thread that launches, of all threads."""
    before = cpu_ns(work.pid)
    lines = work.ask("launch", count)
    busy = next(int(words[2]) for words in lines if words[0] == "took")
    return busy / count, (cpu_ns(work.pid) - before) / count


def traced(work, options, count, path):
    recorder = Recorder(work.pid, path, *options, "--ring-size", "16M")
    try:
        taken = launch(work, count)
    finally:
        result = recorder.stop()
    return taken, result.event("recorded")


def measure(name, options, arguments, folder):
    work, path = Work(**CASES["amds"]), os.path.join(folder, "it.limpet")
    quiet, during, dropped, records = [], [], 0, 0
    try:
        work.tables()
        launch(work, arguments.launches)
        for _ in range(arguments.turns):
            quiet.append(launch(work, arguments.launches))
            taken, recorded = traced(work, options, arguments.launches, path)
            during.append(taken)
            dropped += recorded["dropped_full"]
            records += recorded["records"]
    finally:
        work.close()
    columns = []
    for at in range(2):
        before, after = (statistics.median(each[at] for each in side) for side in (quiet, during))
        columns += [f"{before:.0f}", f"{after:.0f}", f"{after - before:+.0f}"]
    print(f"| {name} | {' | '.join(columns)} | {records / arguments.turns / arguments.launches:.2f} | {dropped} |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--launches", type=int, default=100_000)
    arguments = parser.parse_args()
    print(f"stand-in, {arguments.turns} turns of {arguments.launches} launches each; load {os.getloadavg()[0]:.0f}\n")
    print("| traced | launching thread ns | traced ns | added | all threads ns | traced ns | added | records/launch | dropped |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="bench-launches-") as folder:
        for name, options in MODES.items():
            measure(name, options, arguments, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
