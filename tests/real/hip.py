#!/usr/bin/env python3
"""
Debian's own libamdhip64 (5.2.3), which is older than tables of functions: a running program, traced late.

  tests/real/hip.py

Its calls and their error codes are in the recording; afterwards no word of the program's or the runtime's
leads to limpet, and the program's own words are as they were. Without a GPU all calls but one fail: that is
what is looked at. LIMPET names the limpet to test. Ends with "N passed, N failed".
"""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "common"), str(HERE.parent / "attach")]

import harness
from report import Report

ROUNDS = 300
GOES_ON_S = 3.0
LIBRARY = "libamdhip64.so.5"


class Loop:
    """A running hip_loop."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline().split()[1])

    def go(self, rounds):
        """What it did: name to result and count."""
        self.process.stdin.write(f"go {rounds}\n")
        self.process.stdin.flush()
        lines = [line.split() for line in iter(self.process.stdout.readline, "end\n")]
        return {words[1]: (int(words[2]), int(words[3])) for words in lines}

    def maps(self):
        with open(f"/proc/{self.pid}/maps") as file:
            for line in file:
                extent, rights, _, _, _, *path = line.split()
                start, end = (int(text, 16) for text in extent.split("-"))
                yield start, end, rights, path[0] if path else ""

    def read(self, start, end):
        with open(f"/proc/{self.pid}/mem", "rb", 0) as memory:
            memory.seek(start)
            return memory.read(end - start)

    def words(self, name):
        """Everything in the data of a module, with the rights on it."""
        return [(start, rights, self.read(start, end)) for start, end, rights, path in self.maps()
                if path.endswith(name) and "x" not in rights]

    def strays(self):
        """Words in data of all modules that lead to limpet's tracer."""
        maps = list(self.maps())
        ours = [(start, end) for start, end, _, path in maps if "limpet-tracer" in path]
        found = []
        for start, end, rights, path in maps:
            if not path.startswith("/") or "limpet" in path or "w" not in rights:
                continue
            data = self.read(start, end)
            for (word,) in struct.iter_unpack("<Q", data[:len(data) // 8 * 8]):
                found += [path for low, high in ours if low <= word < high]
        return found

    def close(self):
        self.process.kill()
        self.process.wait()


def build(folder, name, *options):
    path = str(pathlib.Path(folder) / name)
    subprocess.run(["cc", "-O1", "-o", path, HERE / "programs/hip_loop.c", f"-l:{LIBRARY}", *options], check=True)
    return path


def record(loop, path):
    """What the program did while it was recorded, and what is in the recording."""
    process = harness.limpet_start("record", "-p", loop.pid, "-o", path, "--json", "--hip-trace",
                                   "--kernel-trace", stdin=subprocess.PIPE)
    if not harness.attached_wait(process):
        raise RuntimeError(str(harness.limpet_finish(process)))
    did = loop.go(ROUNDS)
    result = harness.limpet_finish_enter(process)
    return did, result


def seen_in(path):
    """Name to the results of its calls, counted."""
    out = path + ".json"
    result = harness.limpet("export", path, "-f", "json", "-o", out)
    if result.code:
        raise RuntimeError(str(result))
    data = json.load(open(out))
    names = [(function["domain"], function["name"]) for function in data["functions"]]
    seen = {}
    for call in data["calls"]:
        domain, name = names[call["function"]]
        if domain == "hip":
            seen.setdefault(name, Counter())[call.get("result")] += 1
    return seen


def try_one(report, name, program, folder):
    loop = Loop(program)
    try:
        loop.go(1)
        before = loop.words(pathlib.Path(program).name)
        for turn in ("first", "second"):
            path = f"{folder}/{name}-{turn}.limpet"
            did, result = record(loop, path)
            wrong = None if result.code == 0 else str(result)
            report.check(f"{name}: recorded, {turn} time", wrong)
            if wrong:
                return
            seen = seen_in(path)
            expected = {called: {code: count} for called, (code, count) in did.items()}
            got = {called: dict(seen.get(called, {})) for called in expected}
            report.check(f"{name}: calls and error codes, {turn} time",
                         None if got == expected else f"{got} instead of {expected}", str(expected))
            report.check(f"{name}: hipGetErrorString, {turn} time",
                         None if sum(seen.get("hipGetErrorString", {}).values()) == ROUNDS else str(seen))
            report.check(f"{name}: that kernels are not seen is said, {turn} time",
                         None if "nothing to trace for kernel" in result.err else result.err)
            report.check(f"{name}: its words are as they were, {turn} time",
                         None if loop.words(pathlib.Path(program).name) == before else "they differ")
            strays = loop.strays()
            report.check(f"{name}: no word leads to limpet, {turn} time", ", ".join(sorted(set(strays))) or None)
        answers = harness.progress.Answers(loop.process, "go 1\n")
        work = harness.progress.Progress(loop.pid, answers, loop.process)
        report.check(f"{name}: goes on", work.problem(GOES_ON_S))
    finally:
        loop.close()


def main():
    report = Report()
    found = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    if LIBRARY not in found or not shutil.which("cc"):
        report.skip("hip", f"{LIBRARY} or a compiler is not installed")
        return report.end()
    with tempfile.TemporaryDirectory(prefix="limpet-hip-") as folder:
        try_one(report, "bound late", build(folder, "hip_lazy", "-Wl,-z,lazy"), folder)
        try_one(report, "bound at load", build(folder, "hip_now", "-Wl,-z,now"), folder)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
