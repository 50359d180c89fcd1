#!/usr/bin/env python3
"""
What it takes to add up the recordings of many ranks: `limpet fleet report` on made-up recordings with stacks and names
of their own, 35 KB each, as many as a 10 s recording at 99 Hz has.

    usage: ./dev bench fleet [RANKS]

Environment: LIMPET is the executable under test, BENCH the folder with make_samples_file.
"""

import os
import subprocess
import sys
import tempfile
import time

LIMPET = os.environ["LIMPET"]
MAKER = os.path.join(os.environ["BENCH"], "make_samples_file")
SAMPLES, NODES = "990", "4500"


def make(folder, ranks):
    """All of it, and how many bytes that is."""
    size = 0
    for rank in range(ranks):
        path = os.path.join(folder, f"rank-{rank:05}-n{rank // 8}-{1000 + rank}.limpet")
        subprocess.run([MAKER, path, SAMPLES, NODES, str(rank + 1)], check=True)
        size += os.path.getsize(path)
    return size


def main():
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    with tempfile.TemporaryDirectory(prefix="limpet-fleet-") as folder:
        size = make(folder, ranks)
        begin = time.monotonic()
        process = subprocess.Popen([LIMPET, "fleet", "report", folder], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
    if process.returncode:
        sys.exit(f"limpet fleet report: exit code {process.returncode}")
    print(f"{ranks} recordings, {size / 1e6:.0f} MB: {seconds:.1f} s, "
          f"{usage.ru_utime + usage.ru_stime:.1f} s of processor, {usage.ru_maxrss / 1024:.0f} MiB at most")


if __name__ == "__main__":
    main()
