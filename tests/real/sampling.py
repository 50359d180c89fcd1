#!/usr/bin/env python3
"""Live programs from Debian's packages, sampled under load: whole stacks, no failed request, gdb's stacks beside.

  tests/real/sampling.py [--seconds S] [--stops N] [NAME...]     redis postgres nginx python3 node java ruby php
                                                                 perl go go-stripped go-cgo ffmpeg lua luajit
                                                                 guile erlang r prolog octave sqlite3 xz zstd
                                                                 openssl awk gcc rust fortran ocaml ada pascal
                                                                 7zip mariadb;
                                                                 all by default

Each is recorded by both samplers with stacks, on and off the processor. Then gdb stops it N times, and both look at
the same threads; of Java, whose code gdb does not know, a tenth as often the JDK's debugger. LIMPET names the limpet to test. Ends with "N passed, N failed".
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]
os.environ.setdefault("LIMPET", str(HERE.parent.parent / "out/bin/limpet"))

import jhsdb_truth
from busy import SAMPLED
from gdb_truth import Verdict, look, modules
from report import Report, table
from servers import Unavailable, wait_for

WARM_UP_S = 2.0
RATE = 499
LEAST_PERCENT = 99.5
LEAST_INSIDE = 90.0
HEAD = ("program", "sampler", "samples", "complete %", "why not", "lost", "names %", "threads", "bytes/sample")
MODES = (("bpf", ()), ("bpf", ("--off-cpu",)), ("copy", ()))


def record(pid, seconds, folder, sampler, words):
    """What limpet says at the end of a recording; None when the process ended before it began."""
    path = folder / f"{sampler}{len(words)}-{pid}.limpet"
    argv = [os.environ["LIMPET"], "record", "-p", str(pid), "-F", str(RATE), "--sampler", sampler, *words,
            "--duration", f"{seconds * 1000:.0f}ms", "-o", str(path), "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    totals = next((line for line in said if "complete_percent" in line), None)
    if totals is None:
        if done.returncode == 4:
            return None
        raise AssertionError(f"limpet record: exit {done.returncode}: {done.stderr.strip()}")
    return {**totals, "bytes": path.stat().st_size, "path": path}


def stacks_of(path):
    """Names of functions and how often, of each stack of a recording."""
    folded = path.with_suffix(".folded")
    subprocess.run([os.environ["LIMPET"], "export", path, "-o", folded], check=True, capture_output=True)
    for line in folded.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        yield set(stack.split(";")), int(count)


def add(all_of, one):
    for key in ("samples", "samples_lost", "frames", "frames_named", "sampled_threads", "bytes"):
        all_of[key] += one[key]
    for end, count in one["stacks"].items():
        all_of[end, "end"] += count


def percent(part, of):
    return 100 * part / of if of else 0.0


class Trial:
    def __init__(self, server, options, report):
        self.server, self.options, self.report = server, options, report
        self.rows, self.sums = [], {}

    def run(self):
        self.server.open()
        self.load = self.server.load().start()
        try:
            wait_for(lambda: self.load.problem or self.server.targets(), "a working process")
            time.sleep(WARM_UP_S)
            for sampler, words in MODES:
                self.record_all(sampler, words)
        finally:
            self.load.finish()
        self.report.check(f"{self.server.name}: no failed request while it was recorded", self.load.problem,
                          f"{self.load.requests} requests")
        if not self.server.is_known_to_gdb:
            self.report.skip(f"{self.server.name}: gdb sees the same", "gdb does not know its stacks")
        elif shutil.which("gdb"):
            self.compare_with_gdb()
        if self.server.has_methods and self.options.stops:
            self.compare_with_jhsdb()

    def record_all(self, sampler, words):
        """All processes that do the work, one after the other."""
        sums = collections.Counter()
        for _ in range(3):
            targets = self.server.targets()[:2]
            wait_for(self.server.targets, "a working process")
            for pid in targets:
                one = record(pid, self.options.seconds, self.server.folder, sampler, words)
                if one:
                    add(sums, one)
                    if self.server.functions and sampler == "bpf" and not words:
                        self.judge_functions(one["path"])
            if sums["samples"]:
                break
        self.judge_record(" ".join((sampler, *words)), sums)

    def judge_functions(self, path):
        """Nearly all of its time is spent in functions that it has, and in each of them."""
        wanted, seen, inside, total = set(self.server.functions), set(), 0, 0
        for names, count in stacks_of(path):
            seen |= names & wanted
            inside += count * bool(names & wanted)
            total += count
        share = percent(inside, total)
        problem = None
        if seen != wanted:
            problem = f"not seen: {', '.join(wanted - seen)}"
        elif share < LEAST_INSIDE:
            problem = f"only {share:.1f} % of the samples are in one of them"
        self.report.check(f"{self.server.name}: its functions by name", problem, f"{share:.1f} % of {total}")

    def judge_record(self, what, sums):
        name, complete = self.server.name, percent(sums["complete", "end"], sums["samples"])
        ends = {key[0]: count for key, count in sums.items() if isinstance(key, tuple) and key[0] != "complete" and count}
        why = ", ".join(f"{count} {end}" for end, count in ends.items()) or "-"
        self.rows.append((name, what, sums["samples"], f"{complete:.2f}", why, sums["samples_lost"],
                          f"{percent(sums['frames_named'], sums['frames']):.0f}", sums["sampled_threads"],
                          f"{sums['bytes'] / max(1, sums['samples']):.1f}"))
        wrong, least = None, self.server.least.get(what.split()[0], LEAST_PERCENT)
        if not sums["samples"]:
            wrong = "no sample"
        elif complete < least:
            wrong = f"{complete:.2f} % reach the root: {why}"
        self.report.check(f"{name}, {what}: whole stacks", wrong, f"{complete:.2f} % of {sums['samples']}")
        lost = f"{sums['samples_lost']} lost" if sums["samples_lost"] else None
        self.report.check(f"{name}, {what}: nothing lost", lost)

    def compare_with_gdb(self):
        """Under a load of its own: what gdb does to the requests is not ours to answer for."""
        load = self.server.load().start()
        try:
            wait_for(lambda: load.problem or self.server.targets(), "a working process")
            paths = modules(self.server.targets()[0])
            seen, stops = look(self.server.targets, self.options.stops)
        finally:
            load.finish()
        verdict = Verdict(seen, stops, paths)
        wrong = verdict.kinds["another frame"] + verdict.kinds["limpet ends earlier"] + verdict.kinds["limpet has no stack"]
        problem = None if stops >= self.options.stops else f"only {verdict.text()}"
        if wrong:
            problem = verdict.text()
        self.report.check(f"{self.server.name}: gdb sees the same", problem, verdict.text())
        for line in verdict.lines():
            print(line)


    def compare_with_jhsdb(self):
        name, missing = f"{self.server.name}: jhsdb sees the same methods", jhsdb_truth.build(self.server.folder)
        if missing:
            self.report.skip(name, missing)
            return
        verdict = jhsdb_truth.judge(self.server.targets()[0], -(-self.options.stops // 10), self.server.folder)
        self.report.check(name, verdict.problem(), verdict.text())
        for line in verdict.examples[:8]:
            print(f"  {line}")


def try_server(kind, options, report):
    with tempfile.TemporaryDirectory(prefix="limpet-real-") as folder:
        trial = Trial(kind(pathlib.Path(folder)), options, report)
        try:
            trial.run()
            report.check(f"{kind.name}: goes on", trial.server.goes_on_problem())
        except Unavailable as reason:
            report.skip(kind.name, str(reason))
        except AssertionError as error:
            report.not_ok(kind.name, str(error))
        finally:
            trial.server.close()
    return trial.rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--stops", type=int, default=100)
    options = parser.parse_args()
    unknown = set(options.names) - {kind.name for kind in SAMPLED}
    if unknown:
        parser.error(f"no such program: {' '.join(unknown)}")
    report, rows = Report(), [HEAD]
    for kind in SAMPLED:
        if not options.names or kind.name in options.names:
            rows += try_server(kind, options, report)
    print()
    table(rows)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
