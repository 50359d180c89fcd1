#!/usr/bin/env python3
"""
What `rocprofv3 --pmc` costs a program that does little else than launch kernels: launches a second on the STAND-IN of AMD's HSA
(tests/standin: a device is a thread, and a kernel does nothing), one kernel at a time, counted and not, in turns; beside turns in
which neither half is counted, which show how much the machine itself varies.

Environment: STANDIN, REGISTER_TESTS, REGISTER, SDK, ROCPROFV3 name what the build made (./dev bench counters sets them).
"""

import argparse
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent / "build"
for name, path in {"LIMPET": "src/host/limpet", "PROGRAMS": "tests/programs", "STANDIN": "tests/standin",
                    "REGISTER_TESTS": "tests/register", "SDK": "src/target/librocprofiler-sdk.so.1",
                    "REGISTER": "compat/register/librocprofiler-register.so.0", "ROCPROFV3": "compat/rocprofv3/rocprofv3"}.items():
    os.environ.setdefault(name, str(BUILD / path))
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "tests/stress")]

import counters  # noqa: E402

LAUNCHES, TIMES = 1500, 3


def rate(program):
    """Launches a second, the median of a few."""
    rates = []
    for _ in range(TIMES):
        begin = time.monotonic()
        program.ask("solo", LAUNCHES)
        rates.append(LAUNCHES / (time.monotonic() - begin))
    return statistics.median(rates)


def counted(program):
    with tempfile.TemporaryDirectory() as folder:
        visit = counters.Visit(program.work.pid, folder)
        visit.await_attached()
        result = rate(program)
        visit.end()
        values, wrong = visit.values()
    if wrong or not values:
        sys.exit(f"{values} values, wrong: {wrong}")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    program = counters.Program(random.Random(1))
    plain, on, off = [], [], []
    try:
        for _ in range(parser.parse_args().rounds):
            plain.append(rate(program))
            on.append(counted(program) / plain[-1])
            off.append(rate(program) / rate(program))
    finally:
        program.work.close()
    print(f"{statistics.median(plain):.0f} launches a second; counted / not: {statistics.median(on):.2f} "
          f"({min(on):.2f} to {max(on):.2f}); not / not: {statistics.median(off):.2f} ({min(off):.2f} to {max(off):.2f})")


if __name__ == "__main__":
    main()
