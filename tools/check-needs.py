#!/usr/bin/env python3
"""Checks that seccomp filters are asked about every system call that code in targets makes by itself.

A call that src/shared/wire/needs.c does not name may be one that a filter answers by killing the program.
"""

import pathlib
import re
import sys

CALL = re.compile(r"\bSYS_[a-z0-9_]+")


def calls(*paths):
    return {call for path in paths for call in CALL.findall(path.read_text())}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    made = calls(*(path for path in (root / "src/target").rglob("*") if path.suffix in {".c", ".h", ".S"}))
    unasked = sorted(made - calls(root / "src/shared/wire/needs.c"))
    for call in unasked:
        print(f"{call}: made in src/target, not named in src/shared/wire/needs.c")
    return 1 if unasked or not made else 0


if __name__ == "__main__":
    sys.exit(main())
