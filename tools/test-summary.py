#!/usr/bin/env python3
"""Counts what `meson test` ran in the given build trees; the last line is "N passed, N failed".

A test that prints "ok NAME" and "not ok NAME" lines counts once for each of them, any other once.
Names and output of what failed come first. Exit status 1 when something failed or nothing ran.
"""

import json
import pathlib
import re
import sys

LINE = re.compile(r"^(not )?ok\b(.*)$", re.MULTILINE)
SKIP = re.compile(r"#\s*skip", re.IGNORECASE)
TAIL_LINES = 60


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, result, output):
        lines = LINE.findall(output)
        failed = sum(1 for negated, _ in lines if negated)
        skipped = sum(1 for negated, text in lines if not negated and SKIP.search(text))
        self.failed += failed
        self.skipped += skipped
        self.passed += len(lines) - failed - skipped
        if is_failure(result) and not failed:
            self.failed += 1
        elif not lines:
            self.skipped += result == "SKIP"
            self.passed += result != "SKIP"

    def text(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def is_failure(result):
    return result not in ("OK", "SKIP", "EXPECTEDFAIL")


def show(name, test, output):
    print(f"\nFAILED: {name} ({test['result']}, {test['duration']:.1f} s)")
    for line in output.splitlines()[-TAIL_LINES:]:
        print(f"    {line}")


def main():
    counts = Counts()
    for build in map(pathlib.Path, sys.argv[1:]):
        log = build / "meson-logs" / "testlog.json"
        if not log.exists():
            print(f"\nFAILED: no test ran in {build.name}")
            counts.failed += 1
            continue
        for line in log.read_text().splitlines():
            test = json.loads(line)
            output = (test.get("stdout") or "") + (test.get("stderr") or "")
            counts.add(test["result"], output)
            if is_failure(test["result"]):
                show(f"{build.name}: {test['name']}", test, output)
    print(f"\n{counts.text()}")
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
