#!/usr/bin/env python3
"""
How true stacks are: programs whose callers are known (-O2, no frame pointers), sampled by limpet's two
samplers with stacks and by `perf record --call-graph dwarf` and `fp`, one after the other.

exact     the whole stack is the truth; of the chains, of the samples in their last function
complete  the stack reaches the outermost function
wrong     a complete stack that is not the truth, or an incomplete one in which somebody calls what it never
          calls; limpet's guesses, which it marks, are counted apart

Environment: SAMPLER_DRIVER and SAMPLING_PROGRAMS, as for tests/sampling.
"""

import argparse
import collections
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.join(HERE, "../build/tests/sampling")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../tests/sampling"))
os.environ.setdefault("SAMPLING_PROGRAMS", os.path.realpath(BUILT))
os.environ.setdefault("SAMPLER_DRIVER", os.path.join(os.path.realpath(BUILT), "sampler_driver"))

import compilers
import peers
import perf_tool
import report
from exactness import DRIVER, PROGRAMS, Recording, running
from truths import KNOWN, LEAF, chain, chain_is_exact, expression

DEPTHS = (10, 50, 200, 1000)
RATE = 1999
PATIENCE_S = 60
NEVER_COMPLETE = ("made_bare",)  # code that is made, called by functions without frame pointers: it must say so
TOOLS = ("limpet bpf", "limpet copy", "perf dwarf", "perf fp")
OUTERMOST = ("_start", "libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")

# Stacks: {(names, how they ended, guessed): how often}.
COMPLETE, CUT = "complete", "incomplete"
Stacks = collections.Counter


class Judgement:
    def __init__(self):
        self.samples = self.judged = self.exact = self.complete = self.wrong = self.guessed = 0
        self.lost, self.refused, self.example, self.ends = 0, "", "", collections.Counter()

    def share(self, count, of=None):
        of = self.samples if of is None else of
        if not of:
            return "-"
        text = f"{100 * count / of:.2f} %"
        return text if count in (0, of) or text not in ("100.00 %", "0.00 %") else f"{100 * count / of:.4f} %"


def chain_depth(name):
    return int(name.split()[1]) if name.startswith("depth") else None


def is_exact(name, pattern, names):
    if not pattern.match(" ".join(names) + " "):
        return False
    depth = chain_depth(name)
    return not depth or names[-1] != LEAF or chain_is_exact(names, depth)


def pairs(names):
    """Who calls whom; who calls whom inside of libraries is not ours to know."""
    return [pair for pair in zip(names, names[1:]) if not all(".so" in name for name in pair)]


class Case:
    """One program, and what each tool saw of it."""

    def __init__(self, name, known):
        self.name, self.known, self.seen, self.notes = name, known, {}, {}

    def calls(self):
        """Who calls whom, by the stacks that are the truth."""
        pattern, called = expression(self.known), set()
        for stacks in self.seen.values():
            for names, end, _ in stacks:
                if end == COMPLETE and is_exact(self.name, pattern, names):
                    called.update(pairs(names))
        return called

    def judge(self, called):
        return {tool: self.judge_tool(tool, expression(self.known), called) for tool in TOOLS}

    def judge_tool(self, tool, pattern, called):
        result = Judgement()
        result.lost, result.refused = self.notes.get(tool, (0, ""))
        for (names, end, is_guessed), count in self.seen.get(tool, Stacks()).items():
            is_complete = end == COMPLETE
            exact = is_complete and is_exact(self.name, pattern, names)
            result.samples += count
            result.complete += count * is_complete
            result.guessed += count * is_guessed
            result.ends[end] += count
            if not chain_depth(self.name) or names[-1:] == (LEAF,):
                result.judged += count
                result.exact += count * exact
            if not exact and not is_guessed and (is_complete or not called.issuperset(pairs(names))):
                result.wrong += count
                result.example = result.example or " ".join(names[-12:])
        return result


def drive(sampler, pid, count, words):
    """The driver's lines; the same stack is kept once."""
    with tempfile.TemporaryDirectory() as cache:
        driver = subprocess.Popen(
            [DRIVER, sampler, str(pid), str(RATE), str(PATIENCE_S), f"max={count}", *words],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_CACHE_HOME": cache})  # fmt: skip
        raw, recording = collections.Counter(), Recording("")
        for line in driver.stdout:
            if line.startswith('{"sample"'):
                raw[line[line.index('"end"'):]] += 1
            else:
                (kind, value), = json.loads(line).items()
                recording.take(kind, value)
        driver.wait()
    return raw, recording


def limpet_stacks(sampler, case, count):
    with running(*case.known.command) as process:
        raw, recording = drive(sampler, process.pid, count, case.known.words)
    return counted(raw, recording)


def counted(raw, recording):
    stacks = Stacks()
    for text, times in raw.items():
        one = json.loads("{" + text.rstrip()[:-1])
        stacks[tuple(recording.stack(one)), one["end"], one["guessed"]] += times
    if recording.error:
        return stacks, (0, f"{recording.error['what']}: {recording.error['why']}")
    return stacks, (recording.counts["lost"], "")


def sample_program(sampler, program, count):
    """One whose functions have names of their own, wherever it is."""
    with running(program) as process:
        raw, recording = drive(sampler, process.pid, count, ())
    recording.programs = os.path.dirname(os.path.realpath(program))
    return counted(raw, recording)


def perf_name(symbol, dso):
    """As the tests name frames: functions of our programs, else files."""
    base = os.path.basename(dso)
    if not dso.startswith(PROGRAMS):
        return base
    return "_init" if symbol.endswith("@plt") or symbol == "[unknown]" else symbol


def perf_stacks(mode, case, seconds):
    with tempfile.TemporaryDirectory() as folder, running(*case.known.command) as process:
        perf = perf_tool.Perf(folder, process.pid, RATE // 2, mode, event="cpu-clock:u", is_waiting=False)
        perf.tell("ping")
        time.sleep(seconds)
        perf.stop()
        _, lost = perf_tool.counts(perf.path)
        stacks = Stacks()
        for frames in perf_tool.stacks(perf_tool.script(perf.path)):
            names = tuple(perf_name(*frame) for frame in frames)
            stacks[names, COMPLETE if names[0] in OUTERMOST and len(names) > 1 else CUT, False] += 1
    return stacks, (lost, "")


def leaves(case, stacks):
    if not chain_depth(case.name):
        return sum(stacks.values())
    return sum(count for (names, _, _), count in stacks.items() if names[-1:] == (LEAF,))


def measure_limpet(sampler, case, count):
    stacks, lost = Stacks(), 0
    for _ in range(6):
        more, (more_lost, refused) = limpet_stacks(sampler, case, count)
        stacks, lost = stacks + more, lost + more_lost
        if refused or leaves(case, stacks) >= count:
            break
    return stacks, (lost, refused)


def measure(case, options):
    report.progress(f"{case.name} ...")
    count = options.samples if chain_depth(case.name) else options.samples * 3 // 5
    for sampler in ("bpf", "copy"):
        case.seen[f"limpet {sampler}"], case.notes[f"limpet {sampler}"] = measure_limpet(sampler, case, count)
    for mode in ("dwarf", "fp") if perf_tool.PERF else ():
        case.seen[f"perf {mode}"], case.notes[f"perf {mode}"] = perf_stacks(mode, case, options.perf_seconds)


def cases(only):
    everything = [Case(f"depth {depth}", chain(depth)) for depth in DEPTHS]
    everything += [Case(name, known) for name, known in KNOWN.items() if os.path.exists(known.command[0])]
    return [case for case in everything if case.name.startswith(only or "")]


def ratio(judgements, tool):
    ours, theirs = judgements[TOOLS[0]], judgements[tool]
    if not ours.judged or not theirs.judged:
        return "-"
    if not theirs.exact:
        return "only limpet" if ours.exact else "-"
    return f"{(ours.exact / ours.judged) / (theirs.exact / theirs.judged):.2f} x"


def lines(results):
    for case, judgements in results:
        for tool in TOOLS:
            one = judgements[tool]
            if not one.samples:
                yield [case.name, tool, one.refused or "-", "-", "-", "-", "-", "-", "-"]
                continue
            yield [case.name, tool, f"{one.samples}", f"{one.judged}", one.share(one.exact, one.judged),
                   one.share(one.complete), f"{one.wrong}", f"{one.guessed}", f"{one.lost}"]


def show(results, machine):
    head = ["program", "tool", "samples", "judged", "exact", "complete", "wrong", "guessed", "lost"]
    print("\n".join(machine.lines()) + "\n")
    print(report.table(head, list(lines(results))) + "\n")
    print(report.table(["exact stacks, limpet bpf beside", *TOOLS[2:]], [
        [case.name, *(ratio(judgements, tool) for tool in TOOLS[2:])] for case, judgements in results]) + "\n")
    for case, judgements in results:
        for tool, one in judgements.items():
            ends = ", ".join(f"{count} {end}" for end, count in one.ends.items() if end not in (COMPLETE, CUT))
            if ends:
                print(f"- {case.name}, {tool}, incomplete: {ends}")
            if one.wrong and tool.startswith("limpet"):
                print(f"- {case.name}, {tool}, wrong: ... {one.example}")


def judge_all(chosen):
    """Programs with the same functions tell of each other who calls whom: of one no stack may be whole."""
    called = collections.defaultdict(set)
    for case in chosen:
        called[case.known.pattern] |= case.calls()
    return [(case, case.judge(called[case.known.pattern])) for case in chosen]


def is_complete_enough(case, one):
    return case.name in NEVER_COMPLETE or one.complete >= one.samples * 0.999


def verdicts(results):
    for case, judgements in results:
        is_chain = chain_depth(case.name)
        for tool in TOOLS[:2]:
            one = judgements[tool]
            if not one.samples:
                continue
            is_kept = one.exact == one.judged if is_chain else is_complete_enough(case, one) and not one.wrong
            yield is_kept, f"{case.name}, {tool}"


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench exactness", description="how true sampled stacks are")
    parser.add_argument("--samples", type=int, default=5000, help="samples to judge of each chain (5000)")
    parser.add_argument("--perf-seconds", type=float, default=1.5, help="how long perf records each (1.5)")
    parser.add_argument("--only", metavar="NAME", help="programs whose name begins so")
    parser.add_argument("--compilers", action="store_true",
                        help="one program by every compiler and level that is found, and no other")  # fmt: skip
    parser.add_argument("--compiler", action="append", default=[], metavar="COMMAND", help="with --compilers: this one of C, too")
    parser.add_argument("--language", action="append", default=[], metavar="ENDING", help="with --compilers: of c, f90, rs, go and d these only")
    return parser.parse_args()


def main():
    options = arguments()
    machine = report.Machine(os.cpu_count(), platform.uname(), os.getloadavg())
    if options.compilers:
        compilers.main(options, machine, lambda sampler, program: sample_program(sampler, program, options.samples))
        return
    peers.tell_missing("perf")
    chosen = cases(options.only)
    for case in chosen:
        measure(case, options)
    machine.load_after = os.getloadavg()
    results = judge_all(chosen)
    show(results, machine)
    missed = [text for is_kept, text in verdicts(results) if not is_kept]
    print("aim (chains 100 % exact; the others 99.9 % complete, 0 wrong): "
          + ("MISSED by " + "; ".join(missed) if missed else "kept"))


if __name__ == "__main__":
    main()
