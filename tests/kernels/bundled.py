"""The quick suites of a bundle (./dev cross ARCH --bundle) in one virtual machine, as far as the given time allows.

Runs on the developer's machine. The last line counts what the guest has run, also when the guest did not come to its end.
"""

import pathlib
import re
import subprocess
import sys

import archive
import vm

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE = 5  # an emulated machine may get little of a busy one
BOOT_S = 300
MEMORY_MB = 3072  # at least: the bundle lies in the guest's memory
SUITE = re.compile(r"^(?:not )?ok \S+.*: (\d+) passed, (\d+) failed, (\d+) skipped, [\d.]+ s$")
SUMMARY = re.compile(r"^\d+ passed, \d+ failed, \d+ skipped$")


def make(arch):
    """The folder of the bundle, made anew."""
    done = subprocess.run([sys.executable, ROOT / "tools/cross.py", arch, "--bundle"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise archive.Unavailable(f"no bundle for {arch}: {done.stdout[-400:]}")
    return ROOT / ("build" if arch == vm.NATIVE else f"build-cross-{arch}") / "bundle"


def count(lines):
    """The sum of what the suites said, for a guest that was ended before its summary."""
    found = [match.groups() for match in map(SUITE.match, lines) if match]
    passed, failed, skipped = (sum(int(row[column]) for row in found) for column in range(3))
    return f"{passed} passed, {failed} failed, {skipped} skipped"


def run(options, machine):
    folder = options.bundle_folder or make(machine.arch)
    machine.memory_mb = max(machine.memory_mb, MEMORY_MB)
    suites = " ".join(f"--suite {name}" for name in options.suite or [])
    command = (f"exec python3 -B /files/bundle/run --jobs {2 * machine.cpus} --patience {PATIENCE} --seconds {options.seconds} "
               f"--short-first --logs /tmp/logs {suites}")
    result = machine.run(command, {"bundle": folder}, options.seconds + BOOT_S, lambda line: print(line, flush=True))
    if result.status is None and not any(map(SUMMARY.match, result.lines)):
        print(f"\nthe guest was ended after {result.total_s:.0f} s\n\n{count(result.lines)}")
        return 1
    return result.status or 0
