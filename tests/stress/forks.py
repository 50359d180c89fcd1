#!/usr/bin/env python3
"""
Threads fork all the time, and their children use the loader, the environment, threads and exit, while limpet attaches,
loads tools, traces and leaves: no child may hang or die.

  tests/stress/forks.py [--seconds N] [--threads N] [--only NAME]

--seconds are those of each kind of visit. STANDIN, REGISTER_TESTS and SDK_TOOLS name the folders of the built tests,
LIMPET the limpet to test. Ends with "N passed, N failed".
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "common"), str(HERE.parent / "sdk")]

import forks
from report import Report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--only", choices=forks.VISITS)
    options = parser.parse_args()
    report = Report()
    for visit in forks.VISITS:
        if options.only in (None, visit):
            report.check(visit, *forks.storm(visit, options.seconds, options.threads))
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
