#!/usr/bin/env python3
"""CUDA on a real device: PyTorch programs that nobody prepared, traced while they work.  tests/real/cuda.py [PART...]

Needs a machine with an NVIDIA device and a python3 with PyTorch; LIMPET names the limpet to test.  Parts, all by default:

  counts   so many iterations, waited for on both sides: each kernel as often in every iteration, causes, drops; small,
           train and graph
  cost     on and off in turn, with off beside off as the noise: --kernel-trace and --cuda-trace; small and big
  cycles   attached and left again and again; speed before and after
  kill     limpet killed at any time, the program goes on and can be attached again
  peers    what torch.profiler costs the same program, started from inside, in turn with limpet
  long     ten million kernels: drops, and memory of both
  sampled  Python's stacks at the same time
  end      the program ends while it is traced; the same result with limpet and without it

Ends with "N passed, N failed".
"""

import collections
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "programs"), str(HERE.parent / "attach"), str(HERE.parent / "common")]
ROOT = HERE.parent.parent
for built in ("build", f"build-cross-{'amd64' if os.uname().machine == 'x86_64' else 'arm64'}"):
    if (ROOT / built / "src/host/limpet").exists():
        os.environ.setdefault("LIMPET", str(ROOT / built / "src/host/limpet"))

import harness  # noqa: E402
from report import Report  # noqa: E402
from torch_page import CHECKSUM, DONE, END_AT, PAGE_BYTES, PID, PROFILE, PROFILES, WAIT_AT, WAITS, Page  # noqa: E402

LOOP = HERE / "programs/torch_loop.py"
START_S = 180
ITERATIONS = {"small": 20000, "train": 300, "graph": 500}
SLOT_S, PAIRS = 2.0, 8
CYCLES, KILLS = 50, 10
CAUSES_SHARE = 0.9999
LONG_KERNELS, LONG_S = 10_000_000, 230
KERNELS_EACH = 2  # of an iteration of small
PEER_S, PEER_SETTLE_S, PEER_ROUNDS = 1.5, 0.4, 4


class Program:
    """A running torch_loop.py."""

    def __init__(self, mode, end_at=0):
        handle, self.path = tempfile.mkstemp(prefix="torch-")
        os.write(handle, bytes(PAGE_BYTES))
        os.close(handle)
        self.page = Page(self.path)
        self.page[END_AT] = end_at
        self.process = subprocess.Popen([sys.executable, str(LOOP), self.path, mode], stdout=subprocess.PIPE, text=True)
        if not harness.wait_until(lambda: self.page[PID] or self.process.poll() is not None, START_S) or not self.page[PID]:
            raise AssertionError(f"{mode}: it does not begin: {self.process.poll()}")
        self.pid = self.page[PID]

    def wait_at(self, more):
        """Lets it go on for so many iterations, until it waits."""
        at = self.page[DONE] + more
        self.page[WAIT_AT] = at
        if not harness.wait_until(lambda: self.page[WAITS] and self.page[DONE] >= at, 120):
            raise AssertionError("it does not come to its place")

    def go_on(self):
        self.page[WAIT_AT] = 0

    def rate(self, seconds):
        begin, at = time.monotonic(), self.page[DONE]
        time.sleep(seconds)
        return (self.page[DONE] - at) / (time.monotonic() - begin)

    def close(self):
        self.process.kill()
        self.process.communicate()
        os.unlink(self.path)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class Verdict(Report):
    def say(self, is_right, text):
        if is_right:
            self.ok(text)
        else:
            self.not_ok(text, "wrong")


def record(program, path, *traces):
    return harness.limpet_attached("record", "-p", program.pid, "-o", path, "--json", *traces)


def finish(process):
    process.send_signal(signal.SIGINT)
    result = harness.limpet_finish(process)
    return result, result.event("recorded")


class Recording:
    def __init__(self, path):
        data = json.loads(harness.limpet("export", path, "-f", "json", "-o", "-", deadline_s=300).out)
        functions = data["functions"]
        self.work, self.calls = collections.defaultdict(list), []
        for call in data["calls"]:
            domain = functions[call["function"]]["domain"]
            if domain == "cuda":
                self.calls.append(call)
            else:
                self.work[domain].append(call)
        start, end = data["clocks"]["start"], data["clocks"]["end"]
        self.rate = (end["boottime_ns"] - start["boottime_ns"]) / (end["ticks"] - start["ticks"])
        self.start = start

    def ns(self, ticks):
        return self.start["boottime_ns"] + (ticks - self.start["ticks"]) * self.rate

    def causes(self):
        """How many kernels have a call that is there, and by how much any begins before it."""
        begins = {call["begin_ns"] for call in self.calls}
        found, early = 0, 0
        for kernel in self.work["kernel"]:
            cause = round(self.ns(kernel["cause"])) if kernel["cause"] else 0
            near = [cause + step for step in range(-3, 4) if cause + step in begins]
            found += bool(near)
            early = max(early, near[0] - kernel["begin_ns"] if near else 0)
        return found, early


def part_counts(verdict, folder):
    for mode, count in ITERATIONS.items():
        path = os.path.join(folder, f"{mode}.limpet")
        with Program(mode) as program:
            program.wait_at(100)
            process = record(program, path, "--cuda-trace")
            program.wait_at(count)
            began = time.monotonic()
            result, totals = finish(process)
            print(f"      left in {time.monotonic() - began:.3f} s", flush=True)
            program.go_on()
            verdict.say(result.code == 0, f"{mode}: recorded, exit {result.code} {result.err.strip()[-300:]}")
        print(json.dumps(totals), flush=True)
        dropped = sum(value for key, value in totals.items() if key.startswith("dropped"))
        verdict.say(not dropped and not totals.get("work_lost"), f"{mode}: {totals.get('records')} records, {dropped} dropped")
        recording = Recording(path)
        names = collections.Counter(kernel["title"] for kernel in recording.work["kernel"])
        for name, times in names.most_common(12):
            print(f"      {times:8d} {times / count:8.2f} an iteration  {name[:110]}")
        uneven = [name for name, times in names.items() if times % count]
        verdict.say(names and not uneven, f"{mode}: {sum(names.values())} kernels, each name in every iteration; not: {uneven[:3]}")
        found, early = recording.causes()
        verdict.say(found >= CAUSES_SHARE * sum(names.values()), f"{mode}: {found} of {sum(names.values())} have their launch")
        verdict.say(early <= 0, f"{mode}: no kernel before its launch; by {early} ns at most")
        if mode == "train":
            print(harness.limpet("report", path, deadline_s=300).out[:6000], flush=True)


def slots(program, folder, traces):
    """Rates, in turn: off, on, off, on, ..., off."""
    offs, ons, dropped = [program.rate(SLOT_S)], [], 0
    for _ in range(PAIRS):
        process = record(program, os.path.join(folder, "slot.limpet"), *traces)
        ons.append(program.rate(SLOT_S))
        _, totals = finish(process)
        dropped += sum(value for key, value in totals.items() if key.startswith("dropped") or key == "work_lost")
        time.sleep(0.3)
        offs.append(program.rate(SLOT_S))
    return offs, ons, dropped


def spread(values):
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f}, {len(values)})"


def part_cost(verdict, folder):
    for mode, floor in (("small", 0.80), ("big", 0.97)):
        with Program(mode) as program:
            program.rate(2)
            for traces in (["--kernel-trace"], ["--cuda-trace"]):
                offs, ons, dropped = slots(program, folder, traces)
                ratios = [2 * on / (offs[i] + offs[i + 1]) for i, on in enumerate(ons)]
                noise = [2 * offs[i] / (offs[i - 1] + offs[i + 1]) for i in range(1, len(offs) - 1)]
                verdict.say(statistics.median(ratios) >= floor and not dropped,
                            f"cost {mode} {traces[0]}: on/off {spread(ratios)}, off/off {spread(noise)}, "
                            f"{statistics.median(offs):.0f} it/s off, {dropped} dropped")


def part_cycles(verdict, folder):
    with Program("small") as program:
        program.rate(2)
        before, failed = [program.rate(1) for _ in range(3)], 0
        for _ in range(CYCLES):
            result, totals = finish(record(program, os.path.join(folder, "cycle.limpet"), "--cuda-trace"))
            failed += result.code != 0 or not totals.get("records")
        after = [program.rate(1) for _ in range(3)]
        ratio = statistics.median(after) / statistics.median(before)
        verdict.say(not failed and program.process.poll() is None, f"cycles: {CYCLES} attached and left, {failed} failed")
        verdict.say(ratio > 0.9, f"cycles: {statistics.median(before):.0f} it/s before, {ratio:.3f} of it afterwards")


def part_kill(verdict, folder):
    with Program("small") as program:
        for _ in range(KILLS):
            process = record(program, os.path.join(folder, "kill.limpet"), "--cuda-trace")
            time.sleep(random.random() / 2)
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            time.sleep(0.5)
        rate = program.rate(1)
        result, totals = finish(record(program, os.path.join(folder, "kill.limpet"), "--cuda-trace"))
        verdict.say(program.process.poll() is None and rate > 0, f"kill: {KILLS} limpets killed, {rate:.0f} it/s afterwards")
        verdict.say(result.code == 0 and totals.get("records"), f"kill: attached again, {totals.get('records')} records")


def part_end(verdict, folder):
    sums = []
    for is_traced in (False, True):
        with Program("train", end_at=3000) as program:
            process = record(program, os.path.join(folder, "end.limpet"), "--cuda-trace") if is_traced else None
            code = program.process.wait(120)
            sums.append(program.page[CHECKSUM])
            if process:
                result = harness.limpet_finish(process)
                verdict.say(code == 0 and result.code == 0, f"end: the program {code}, limpet {result.code} {result.err[-200:]}")
    verdict.say(sums[0] == sums[1], f"end: the same result with limpet and without it, {sums}")


def spans(program, is_on, switch):
    """The rate while something is on, beside the mean of before and after."""
    before = program.rate(PEER_S)
    switch(is_on)
    time.sleep(PEER_SETTLE_S)
    during = program.rate(PEER_S)
    switch(0)
    time.sleep(PEER_SETTLE_S)
    return 2 * during / (before + program.rate(PEER_S))


def part_peers(verdict, folder):
    with Program("small") as program:
        program.rate(2)

        def profile(wanted):
            program.page[PROFILE] = wanted
            harness.wait_until(lambda: program.page[PROFILES] == wanted, 120)

        running = []

        def trace(wanted):
            if wanted:
                running.append(record(program, os.path.join(folder, "peer.limpet"), "--cuda-trace"))
            else:
                finish(running.pop())

        found = collections.defaultdict(list)
        for _ in range(PEER_ROUNDS):
            found["limpet --cuda-trace"].append(spans(program, 1, trace))
            found["torch.profiler CUDA"].append(spans(program, 1, profile))
            found["torch.profiler CUDA and CPU"].append(spans(program, 2, profile))
        for name, ratios in found.items():
            print(f"      peers: {name}: on/off {spread(ratios)}", flush=True)
        ours, *others = found.values()
        if min(ours) <= max(max(ratios) for ratios in others):
            verdict.skip("peers", "the ranges overlap: which costs less cannot be told from this run")
        else:
            verdict.ok("peers: limpet costs less than torch.profiler, in every round")


def resident_kib(pid):
    return int(harness.status_of(pid).get("VmRSS", "0 kB").split()[0])


def part_long(verdict, folder):
    path, sizes = os.path.join(folder, "long.limpet"), []
    with Program("small") as program:
        program.wait_at(100)
        process = record(program, path, "--cuda-trace")
        begun = program.page[DONE]
        program.page[WAIT_AT] = begun + LONG_KERNELS // KERNELS_EACH
        end = time.monotonic() + LONG_S
        while not (program.page[WAITS] and program.page[DONE] >= program.page[WAIT_AT]) and time.monotonic() < end:
            sizes.append((resident_kib(program.pid), resident_kib(process.pid)))
            if len(sizes) % 10 == 1:
                print(f"      long: {KERNELS_EACH * (program.page[DONE] - begun)} kernels, KiB {sizes[-1]}", flush=True)
            time.sleep(2)
        if not program.page[WAITS]:
            program.wait_at(1000)
        count = program.page[DONE] - begun
        result, totals = finish(process)
        program.go_on()
    dropped = sum(value for key, value in totals.items() if key.startswith("dropped") or key in ("work_lost", "work_cut"))
    calls = 2 * KERNELS_EACH * count
    verdict.say(result.code == 0 and not dropped, f"long: {KERNELS_EACH * count} kernels, {dropped} dropped or cut, exit {result.code}")
    verdict.say(0 <= totals.get("records", 0) - calls < 1000, f"long: {totals.get('records')} records of {calls} calls and kernels")
    middle = sizes[len(sizes) // 4]
    verdict.say(all(last < 1.1 * first + 8192 for first, last in zip(middle, sizes[-1])), f"long: memory {middle} to {sizes[-1]} KiB")


def part_sampled(verdict, folder):
    path = os.path.join(folder, "sampled.limpet")
    with Program("train") as program:
        process = record(program, path, "--cuda-trace", "-F", "499")
        time.sleep(3)
        result, totals = finish(process)
    out = harness.limpet("report", path, deadline_s=300).out
    print(json.dumps(totals)[:400])
    verdict.say(result.code == 0 and "torch_loop.py" in out and "cuLaunchKernel" in out, "sampled: Python's lines beside kernels")


PARTS = {"counts": part_counts, "cost": part_cost, "cycles": part_cycles, "kill": part_kill,
         "peers": part_peers, "long": part_long, "sampled": part_sampled, "end": part_end}


def main():
    verdict = Verdict()
    with tempfile.TemporaryDirectory(prefix="limpet-cuda-") as folder:
        for name in sys.argv[1:] or PARTS:
            began = time.monotonic()
            try:
                PARTS[name](verdict, folder)
            except Exception as problem:  # a part that cannot go on does not end the others
                verdict.say(False, f"{name}: {type(problem).__name__}: {problem}")
            print(f"      {name} took {time.monotonic() - began:.0f} s", flush=True)
    sys.exit(verdict.end())


if __name__ == "__main__":
    main()
