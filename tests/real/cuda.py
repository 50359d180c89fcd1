#!/usr/bin/env python3
"""CUDA on a real device: PyTorch programs that nobody prepared, traced while they work.  tests/real/cuda.py [PART...]

Needs a machine with an NVIDIA device and a python3 with PyTorch; LIMPET names the limpet to test.  Parts, all by default:

  counts   so many iterations, waited for on both sides: each kernel as often in every iteration, causes, drops; of all
           programs that run here
  cost     on and off in turn, with off beside off as the noise, for each part of the trace; small and big
  cycles   attached and left again and again, in turn with a program that nobody touches: speed of both, before and after
  kill     limpet killed at any time, the program goes on and can be attached again
  hazards  a fork, a context destroyed, the device reset, another program executed, all while traced; torch.profiler first
  metrics  --gpu beside a small program of its own that asks the same library, and beside nvidia-smi
  pm       --pm beside --gpu: the same counters by another way; two at once; limpet killed; what it costs
  peers    what torch.profiler costs the same program, started from inside, in turn with limpet
  long     ten million kernels: drops, and memory of both
  sampled  Python's stacks at the same time
  stacks   --launch-stacks: kernels by the line of Python that launched them, and what that costs beside --cuda-trace
  nvtx     ranges and marks of a program that began with NVTX before limpet came
  end      the program ends while it is traced; the same result with limpet and without it
  graphs   programs with CUDA graphs: torch.compile, torch.cuda.graph, GPT-2, Triton, JAX, CuPy and C, visited under load (cuda_graphs.py)

Whoever was traced is watched for some seconds after limpet has left.

LIMPET_CUDA_SECONDS: no part begins after so many seconds.  LIMPET_CUDA_MODES: only these programs are counted.  Ends with "N passed, N failed".
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
sys.path[:0] = [str(HERE)]

from cuda_programs import PROGRAMS, Program, Verdict, finish, harness, record, rest, spread, turns  # noqa: E402
from cuda_graphs import part_graphs  # noqa: E402
from torch_page import CHECKSUM, DONE, PROFILE, PROFILES, WAIT_AT, WAITS  # noqa: E402

ITERATIONS = {"small": 20000, "train": 300, "graph": 500, "infer": 500, "plain": 2000, "nccl": 2000, "compile": 300, "cupy": 2000, "jax": 2000}
SLOT_S, PAIRS = 1.5, int(os.environ.get("LIMPET_CUDA_PAIRS", "8"))
CYCLES, KILLS = 50, 50
METRICS_S, WITHIN = 6.0, 0.05
FORK, CONTEXT, RESET, EXEC = 1, 2, 3, 4  # deeds of cuda_c.py
CAUSES_SHARE = 0.9999
LONG_KERNELS, LONG_S = 10_000_000, 230
KERNELS_EACH = 2  # of an iteration of small
RUNTIME_CALLS_EACH = 1  # cuBLAS calls the driver
PEER_S, PEER_SETTLE_S, PEER_ROUNDS = 1.5, 0.4, 6


class Recording:
    def __init__(self, path):
        data = json.loads(harness.limpet("export", path, "-f", "json", "-o", "-", deadline_s=300).out)
        functions = data["functions"]
        self.work, self.calls, self.functions = collections.defaultdict(list), [], collections.Counter()
        for call in data["calls"]:
            domain = functions[call["function"]]["domain"]
            self.functions[functions[call["function"]]["name"]] += 1
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
    modes = os.environ.get("LIMPET_CUDA_MODES", " ".join(ITERATIONS)).split()
    for mode, count in ((mode, ITERATIONS[mode]) for mode in modes):
        path = os.path.join(folder, f"{mode}.limpet")
        try:
            program = Program(mode)
        except AssertionError as problem:
            verdict.skip(f"counts {mode}", str(problem).replace("\n", " | "))
            continue
        with program:
            program.wait_at(100)
            process = record(program, path, "--cuda-trace", "--nccl-trace")
            program.wait_at(count)
            began = time.monotonic()
            result, totals = finish(process)
            print(f"      left in {time.monotonic() - began:.3f} s", flush=True)
            rest(verdict, program, mode)
            verdict.say(result.code == 0, f"{mode}: recorded, exit {result.code} {result.err.strip()[-300:]}")
        print(json.dumps(totals), flush=True)
        dropped = sum(value for key, value in totals.items() if key.startswith("dropped"))
        verdict.say(not dropped and not totals.get("work_lost"), f"{mode}: {totals.get('records')} records, {dropped} dropped")
        recording = Recording(path)
        names = collections.Counter(kernel["title"] for kernel in recording.work["kernel"])
        for name, times in names.most_common(12):
            print(f"      {times:8d} {times / count:8.2f} an iteration  {name[:110]}")
        uneven = [name for name, times in names.items() if times % count]
        verdict.say((names or mode == "nccl") and not uneven, f"{mode}: {sum(names.values())} kernels, each name in every iteration; not: {uneven[:3]}")
        found, early = recording.causes()
        verdict.say(found >= CAUSES_SHARE * sum(names.values()), f"{mode}: {found} of {sum(names.values())} have their launch")
        verdict.say(early <= 0, f"{mode}: no kernel before its launch; by {early} ns at most")
        print(f"      {mode}: calls {dict(recording.functions.most_common(9))}", flush=True)
        if mode == "plain":
            expected = {"limpet_first": count, "limpet_second": count, "[memset]": count}
            verdict.say(names == expected and len(recording.work["memory-copy"]) == 2 * count,
                        f"plain: exactly what it did, {dict(names)}, {len(recording.work['memory-copy'])} copies")
        if mode == "nccl":
            verdict.say(recording.functions["ncclAllReduce"] == count, f"nccl: {recording.functions['ncclAllReduce']} of {count}")
        if mode == "train":
            print(harness.limpet("report", path, "-n", "6", deadline_s=300).out[:5000], flush=True)


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


COSTS = {"small": (0.80, (["--kernel-trace"], ["--cuda-driver-trace"], ["--cuda-runtime-trace"], ["--cuda-trace"])),
         "big": (0.97, (["--cuda-trace"],))}


def part_cost(verdict, folder):
    for mode, (floor, parts) in COSTS.items():
        with Program(mode) as program:
            program.rate(2)
            for traces in parts:
                offs, ons, dropped = slots(program, folder, traces)
                ratios = [2 * on / (offs[i] + offs[i + 1]) for i, on in enumerate(ons)]
                noise = [2 * offs[i] / (offs[i - 1] + offs[i + 1]) for i in range(1, len(offs) - 1)]
                verdict.say(statistics.median(ratios) >= floor and not dropped,
                            f"cost {mode} {traces[0]}: on/off {spread(ratios)}, off/off {spread(noise)}, "
                            f"{statistics.median(offs):.0f} it/s off, {dropped} dropped")


def part_cycles(verdict, folder):
    with Program("small") as program, Program("small") as other:
        other.pause()
        program.pause()
        before, failed = turns(program, other), 0
        program.go_on()
        for _ in range(CYCLES):
            result, totals = finish(record(program, os.path.join(folder, "cycle.limpet"), "--cuda-trace"))
            failed += result.code != 0 or not totals.get("records")
        program.pause()
        after = turns(program, other)
        ratio = statistics.median(after) / statistics.median(before)
        rest(verdict, program, "cycles")
        verdict.say(not failed and program.process.poll() is None, f"cycles: {CYCLES} attached and left, {failed} failed")
        verdict.say(ratio > 0.95, f"cycles: beside a program that nobody touched {spread(before)} before, "
                                  f"{spread(after)} afterwards: {ratio:.3f}")


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
        rest(verdict, program, "kill")
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
            print(f"      peers: round {[round(ratios[-1], 3) for ratios in found.values()]}", flush=True)
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
        rest(verdict, program, "long")
    dropped = sum(value for key, value in totals.items() if key.startswith("dropped") or key in ("work_lost", "work_cut"))
    calls = (2 * KERNELS_EACH + RUNTIME_CALLS_EACH) * count
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
        rest(verdict, program, "sampled")
    out = harness.limpet("report", path, "-n", "12", deadline_s=300).out
    at = out.find("kernels: where they were launched")
    print(json.dumps(totals)[:400], out[at:at + 5000] if at >= 0 else "", sep="\n")
    verdict.say(result.code == 0 and "torch_loop.py" in out and "cuLaunchKernel" in out, "sampled: Python's lines beside kernels")
    rows = [json.loads(line) for line in harness.limpet("report", path, "--json", deadline_s=300).out.splitlines()]
    for event, kernel in (("kernel_launch", "kernel"), ("device_idle", "device")):
        found = [row for row in rows if row["event"] == event]
        lines = [row for row in found if ".py:" in row["place"]]
        verdict.say(lines, f"sampled: {len(found)} rows of {event}, {len(lines)} with a line of Python, {len({row[kernel] for row in found})} {kernel}s")


def launch_lines(program, path, count):
    """Kernels of so many iterations by the line that launched them."""
    program.wait_at(100)
    process = record(program, path, "--launch-stacks")
    program.wait_at(count)
    result, totals = finish(process)
    program.go_on()
    rows = [json.loads(line) for line in harness.limpet("report", path, "--json", deadline_s=120).out.splitlines()]
    return result, totals, [row for row in rows if row["event"] == "launch_line"]


def part_stacks(verdict, folder):
    for mode, share in (("small", 0.8), ("train", 0.2)):
        path = os.path.join(folder, f"stacks-{mode}.limpet")
        with Program(mode) as program:
            result, totals, rows = launch_lines(program, path, ITERATIONS[mode])
            rest(verdict, program, f"stacks {mode}")
            dropped = sum(value for key, value in totals.items() if key.startswith("dropped") or key == "work_lost")
            verdict.say(result.code == 0 and not dropped, f"stacks {mode}: exit {result.code}, {totals.get('records')} records, "
                        f"{dropped} dropped {result.err.strip()[-200:]}")
            whole = sum(row["kernels"] for row in rows)
            known = sum(row["kernels"] for row in rows if ".py:" in row["place"])
            for row in rows[:12]:
                print(f"      {row['kernels']:8d} {row['place'] or '(no stack)':50.50} {row['kernel'][:90]}")
            verdict.say(whole and known >= share * whole, f"stacks {mode}: {known} of {whole} kernels have a line of Python")
            folded = harness.limpet("export", path, "-f", "kernel-folded", "-o", "-", deadline_s=120).out
            verdict.say("<module>;main;" in folded, f"stacks {mode}: {len(folded.splitlines())} folded stacks, {folded[:160]!r}")
            if mode == "small":
                for traces in (["--cuda-trace"], ["--launch-stacks"]):
                    offs, ons, dropped = slots(program, folder, traces)
                    ratios = [2 * on / (offs[i] + offs[i + 1]) for i, on in enumerate(ons)]
                    noise = [2 * offs[i] / (offs[i - 1] + offs[i + 1]) for i in range(1, len(offs) - 1)]
                    verdict.say(not dropped, f"stacks: cost small {traces[0]}: on/off {spread(ratios)}, off/off {spread(noise)}, "
                                f"{statistics.median(offs):.0f} it/s off, {dropped} dropped")


def part_nvtx(verdict, folder):
    path, count = os.path.join(folder, "nvtx.limpet"), 2000
    with Program("nvtx") as program:
        program.wait_at(100)
        process = record(program, path, "--marker-trace", "--kernel-trace")
        program.wait_at(count)
        result, totals = finish(process)
        rest(verdict, program, "nvtx")
        verdict.say(result.code == 0, f"nvtx: exit {result.code}, {totals.get('records')} records "
                    f"{result.err.strip()[-200:]}")
    rows = [json.loads(line) for line in harness.limpet("report", path, "--json", deadline_s=120).out.splitlines()]
    found = {row["name"]: row["calls"] for row in rows if row["event"] in ("range", "mark")}
    verdict.say(found == {"limpet step": count, "limpet mark": count}, f"nvtx: {found} of {count} iterations")


def hazard(verdict, folder, program, name, deed):
    process = record(program, os.path.join(folder, "hazard.limpet"), "--cuda-trace")
    program.do(deed)
    if deed != EXEC:
        program.wait_at(200)
        program.go_on()
    result, totals = finish(process)
    lives = harness.wait_until(lambda: program.page[DONE] > 10 or program.process.poll() is not None, 60)
    verdict.say(lives and program.process.poll() is None and result.code == 0,
                f"hazards: {name}: limpet {result.code}, {totals.get('records')} records {result.err.strip()[-200:]}")
    rest(verdict, program, f"hazards: {name}")


def part_hazards(verdict, folder):
    with Program("plain") as program:
        for name, deed in (("fork", FORK), ("context destroyed", CONTEXT), ("device reset", RESET), ("exec", EXEC)):
            hazard(verdict, folder, program, name, deed)
        result, totals = finish(record(program, os.path.join(folder, "hazard.limpet"), "--cuda-trace", ))
        verdict.say(program.process.poll() is None, f"hazards: attached again, limpet {result.code}, {totals.get('records')} records")
    with Program("small") as program:
        program.page[PROFILE] = 1
        harness.wait_until(lambda: program.page[PROFILES] == 1, 120)
        process = harness.limpet_start("record", "-p", program.pid, "-o", os.path.join(folder, "held.limpet"), "--cuda-driver-trace",
                                       "-d", "1")
        result = harness.limpet_finish(process)
        verdict.say(result.code == 7 and "another profiler holds" in result.err, f"hazards: torch.profiler first: exit {result.code}, "
                    f"{result.err.strip()[:200]}")
        program.page[PROFILE] = 0
        harness.wait_until(lambda: program.page[PROFILES] == 0, 120)
        process = record(program, os.path.join(folder, "held.limpet"), "--cuda-trace")
        program.page[PROFILE] = 1
        harness.wait_until(lambda: program.page[PROFILES] == 1, 60)
        time.sleep(0.5)
        program.page[PROFILE] = 0
        harness.wait_until(lambda: program.page[PROFILES] == 0 or program.process.poll() is not None, 60)
        result, totals = finish(process)
        verdict.say(program.process.poll() is None and result.code == 0,
                    f"hazards: torch.profiler while limpet traces: limpet {result.code}, {totals.get('records')} records")


def metrics_by_limpet(program):
    result = harness.limpet("stat", program.pid, "--gpu", "-d", METRICS_S, "--json")
    rows = [json.loads(line) for line in result.out.splitlines()]
    return {row["name"]: row["value"] for row in rows if row.get("of") == "device" and row["scope"] == "total"}


def metrics_by_truth():
    truth = subprocess.Popen([sys.executable, str(PROGRAMS / "nvml_truth.py"), str(METRICS_S)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    return truth


def part_metrics(verdict, folder):
    for mode in ("big", "train"):
        with Program(mode) as program:
            program.rate(3)
            other = metrics_by_truth()
            ours = metrics_by_limpet(program)
            out, err = other.communicate()
            truth = json.loads(out) if out else {}
            if not truth:
                verdict.say(False, f"metrics: {err.strip()[-200:]}")
                continue
            wrong = {name: (ours.get(name), value) for name, value in truth.items()
                     if abs(ours.get(name, -1) - value) > max(WITHIN * value, 0.05 if "pcie" not in name else 1e6)}
            print(f"      metrics {mode}: {({name: (round(ours.get(name, -1), 2), round(value, 2)) for name, value in truth.items()})}")
            print(f"      metrics {mode}, only limpet's: {({name: value for name, value in ours.items() if name not in truth})}")
            verdict.say(not wrong, f"metrics {mode}: {len(truth)} within 5 %; not: {wrong}")
    for words in (["nvidia-smi", "dmon", "--gpm-metrics", "2,3,5,10", "-c", "1"],
                  ["nvidia-smi", "--query-gpu=power.draw,clocks.sm,memory.used", "--format=csv,noheader"]):
        try:
            print(subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20).stdout[:600])
        except (OSError, subprocess.TimeoutExpired) as problem:
            print(f"      metrics: {problem}")
    with Program("train") as program:
        path = os.path.join(folder, "metrics.limpet")
        result, totals = finish_after(record(program, path, "--cuda-trace", "--gpu-metrics", "-F", "199"), 3)
        verdict.say(result.code == 0 and totals.get("windows", 0) > 20, f"metrics: recorded with the rest, {totals.get('windows')} windows")


PM_SAME = {"gpu.dram_active": "dram__bytes.avg.pct_of_peak_sustained_elapsed",
           "gpu.sm_occupancy": "sm__warps_active.avg.pct_of_peak_sustained_elapsed",
           "gpu.sm_active": "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
           "gpu.engine_active": "gr__cycles_active.avg.pct_of_peak_sustained_elapsed"}
PM_MUST = ("gpu.dram_active", "gpu.sm_occupancy")


def pm_library(program):
    """The program's own CUPTI, which is trusted here."""
    with open(f"/proc/{program.pid}/maps", encoding="utf-8") as maps:
        found = [os.path.dirname(line.split()[-1]) for line in maps if "/libcupti.so" in line]
    return {"LD_LIBRARY_PATH": found[0]} if found else {}


def pm_values(program, seconds):
    result = harness.limpet("stat", program.pid, "--pm", "-d", seconds, "--json", deadline_s=120)
    rows = [json.loads(line) for line in result.out.splitlines()] if result.code == 0 else []
    return result, {row["name"]: row["value"] for row in rows if row.get("of") == "device" and row["scope"] == "total"}


def pm_compare(verdict, program, mode):
    began = time.monotonic()
    result, values = pm_values(program, METRICS_S)
    print(f"      pm {mode}: {time.monotonic() - began:.1f} s, {({name: round(value, 3) for name, value in values.items()})}", flush=True)
    for ours, theirs in PM_SAME.items():
        first, second = values.get(ours), values.get(theirs)
        is_near = None not in (first, second) and abs(first - second) <= max(WITHIN * second, 0.05)
        if ours in PM_MUST or None not in (first, second):
            verdict.say(is_near or ours not in PM_MUST, f"pm {mode}: {ours} {first}, {theirs} {second} {result.err.strip()[-300:]}")


def pm_alone(verdict, program):
    """Two at once, a kill, and again."""
    process = harness.limpet_start("stat", program.pid, "--pm", "-d", "60")
    time.sleep(8)
    result, _ = pm_values(program, 1)
    verdict.say(result.code == 1 and "another profiler holds" in result.err, f"pm: two at once: exit {result.code}, {result.err.strip()[:300]}")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    time.sleep(1)
    result, values = pm_values(program, 2)
    verdict.say(result.code == 0 and any("__" in name for name in values), f"pm: after a kill: exit {result.code} {result.err.strip()[:300]}")


def part_pm(verdict, folder):
    for mode in ("stream", "big", "small"):
        with Program(mode) as program:
            program.rate(3)
            os.environ.update(pm_library(program))
            pm_compare(verdict, program, mode)
            if mode == "big":
                pm_alone(verdict, program)
            if mode == "small":
                for traces in (["--gpu-metrics"], ["--pm"]):
                    offs, ons, _ = slots(program, folder, traces)
                    ratios = [2 * on / (offs[i] + offs[i + 1]) for i, on in enumerate(ons)]
                    noise = [2 * offs[i] / (offs[i - 1] + offs[i + 1]) for i in range(1, len(offs) - 1)]
                    verdict.say(True, f"pm: cost small {traces[0]}: on/off {spread(ratios)}, off/off {spread(noise)}")
    listed = harness.limpet("stat", "--list", "--pm", deadline_s=120)
    verdict.say(listed.code == 0 and "dram__bytes" in listed.out, f"pm: {len(listed.out.splitlines())} metrics listed {listed.err[:300]}")


def finish_after(process, seconds):
    time.sleep(seconds)
    return finish(process)


PARTS = {"counts": part_counts, "metrics": part_metrics, "pm": part_pm, "hazards": part_hazards, "cost": part_cost, "cycles": part_cycles,
         "kill": part_kill, "peers": part_peers, "long": part_long, "sampled": part_sampled, "stacks": part_stacks,
         "nvtx": part_nvtx, "end": part_end, "graphs": part_graphs}


def main():
    verdict, started, limit_s = Verdict(), time.monotonic(), float(os.environ.get("LIMPET_CUDA_SECONDS", "inf"))
    with tempfile.TemporaryDirectory(prefix="limpet-cuda-") as folder:
        for name in sys.argv[1:] or PARTS:
            began = time.monotonic()
            if began - started > limit_s:
                verdict.skip(name, "no time is left for it")
                continue
            try:
                PARTS[name](verdict, folder)
            except Exception as problem:  # a part that cannot go on does not end the others
                verdict.say(False, f"{name}: {type(problem).__name__}: {problem}")
            print(f"      {name} took {time.monotonic() - began:.0f} s", flush=True)
    sys.exit(verdict.end())


if __name__ == "__main__":
    main()
