#!/usr/bin/env python3
"""
Sixteen threads read the environment without a pause while attaches and detaches swap it.  No reader may
crash or see half a value, and afterwards none of limpet's variables is left.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import Workload, limpet

SWAPS_SHORT = 40


def is_still_published(target):
    """Whether the agent could not take its variables back."""
    return limpet("status", target.pid, "--json").event("status")["environment"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--swaps", type=int, default=10000)
    parser.add_argument("--short", action="store_true", help=f"{SWAPS_SHORT} swaps")
    options = parser.parse_args()
    complaints = []
    with Workload("plain", "getenv16") as target:
        for index in range(SWAPS_SHORT if options.short else options.swaps):
            result = limpet("attach", target.pid, "--json", "--duration", "0", "--env",
                            "WORKLOAD_SHARED=limpet", "--env", "LIMPET_NEW=x")
            if result.code or not target.alive():
                complaints.append(f"swap {index}: {result}\n{target.fate()}")
                break
        if not complaints and is_still_published(target):
            complaints.append("variables of limpet's are left")
        if target.stats.word("corruptions"):
            complaints.append(target.stats.detail())
    for text in complaints:
        print("    " + text.replace("\n", "\n    "))
    print("0 passed, 1 failed" if complaints else "1 passed, 0 failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
