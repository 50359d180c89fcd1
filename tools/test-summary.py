#!/usr/bin/env python3
"""Counts what `meson test` ran in the given build trees; the last line is "N passed, N failed".

A test that counts by itself (such a last line, unittest, cmocka, "ok" and "not ok" lines) adds its
own numbers, any other counts once.
Names and output of what failed come first. Exit status 1 when something failed or nothing ran.
"""

import json
import pathlib
import re
import sys

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*$(?s:.*?)^(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)
CMOCKA = re.compile(r"^\[  (PASSED|FAILED|SKIPPED)  \] (\d+) test\(s\)", re.MULTILINE)
LINE = re.compile(r"^(not )?ok\b(.*)$", re.MULTILINE)
SKIP = re.compile(r"#\s*skip", re.IGNORECASE)
TAIL_LINES = 60


def count_summary(output):
    """(passed, failed, skipped) of a script that ends as we do, or None."""
    found = SUMMARY.findall(output)
    return tuple(int(number or 0) for number in found[-1]) if found else None


def count_unittest(output):
    found = UNITTEST.search(output)
    if not found:
        return None
    ran, words = int(found.group(1)), found.group(2) or ""
    numbers = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", words)}
    failed, skipped = numbers.get("failures", 0) + numbers.get("errors", 0), numbers.get("skipped", 0)
    return max(0, ran - failed - skipped), failed, skipped  # a test whose cleanup fails, too, has failed twice


def count_cmocka(output):
    found = {word: int(number) for word, number in CMOCKA.findall(output)}
    return tuple(found.get(word, 0) for word in ("PASSED", "FAILED", "SKIPPED")) if found else None


def count_lines(output):
    lines = LINE.findall(output)
    failed = sum(1 for negated, _ in lines if negated)
    skipped = sum(1 for negated, text in lines if not negated and SKIP.search(text))
    return (len(lines) - failed - skipped, failed, skipped) if lines else None


def count_result(result):
    if result == "SKIP":
        return 0, 0, 1
    return (0, 1, 0) if is_failure(result) else (1, 0, 0)


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, result, output):
        ways = (count_summary, count_unittest, count_cmocka, count_lines, lambda _: count_result(result))
        passed, failed, skipped = next(filter(None, (way(output) for way in ways)))
        # A test that failed without naming what: a crash, a deadline.
        failed += is_failure(result) and not failed
        self.passed, self.failed, self.skipped = self.passed + passed, self.failed + failed, self.skipped + skipped

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
