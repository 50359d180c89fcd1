#!/usr/bin/env python3
"""
Kills the target at random times while limpet attaches to it.  limpet must end soon, with exit code 0
(it was in already) or 4 (the process died before), and say so.
"""

import argparse
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import Workload, limpet, limpet_finish, limpet_start

WORKLOADS = (("plain", "idle"), ("plain", "busy"), ("plain", "malloc8"), ("calls", "epoll"))


def attach_time_s():
    with Workload("plain", "idle") as target:
        start = time.monotonic()
        limpet("attach", target.pid, "--json", "--duration", "2ms")
        return time.monotonic() - start


def result_judge(result, delay, complaints, codes):
    where = f"killed after {delay * 1e3:.2f} ms"
    codes[result.code] = codes.get(result.code, 0) + 1
    if result.hung:
        complaints.append(f"{where}: limpet hung")
    elif result.code not in (0, 4):
        complaints.append(f"{where}: {result}")
    elif result.code == 4 and not result.err.startswith("error: "):
        complaints.append(f"{where}: no message: {result}")
    elif result.event("summary").get("exit") != result.code:
        complaints.append(f"{where}: no summary: {result}")


def kill_once(index, longest_s, complaints, codes):
    delay = random.uniform(0, longest_s)
    arguments = ("--json", "--duration", random.choice(("0", "2", "2000")))
    with Workload(*WORKLOADS[index % len(WORKLOADS)]) as target:
        process = limpet_start("attach", target.pid, *arguments)
        time.sleep(delay)
        os.kill(target.pid, signal.SIGKILL)
        if index % 2:
            target.process.wait()  # else it stays a zombie until limpet has ended
        result_judge(limpet_finish(process), delay, complaints, codes)
        target.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--short", action="store_true", help="20 kills")
    options = parser.parse_args()
    complaints, codes = [], {}
    longest_s = attach_time_s() * 1.2
    for index in range(20 if options.short else options.kills):
        kill_once(index, longest_s, complaints, codes)
    print("exit codes:", codes)
    for text in complaints[:10]:
        print("    " + text.replace("\n", "\n    "))
    print("0 passed, 1 failed" if complaints else "1 passed, 0 failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
