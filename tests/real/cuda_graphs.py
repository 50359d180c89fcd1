"""Programs with CUDA graphs, visited under load and left, beside twins that nobody touches: part graphs of cuda.py.

  1 a long trace of one graph's launches, while the other programs begin: records, memory of the device, of the program and of limpet
  2 each program in turn with its twin, one running at a time: speed before
  3 all together: attached and left again and again while they work, then watched for some seconds
  4 as 2: speed afterwards
  5 program and twin end at the same iteration: the same bits; the kernel's log has no new Xid

LIMPET_CUDA_GRAPHS: only these programs.  LIMPET_CUDA_VISITS: how often each is visited.  LIMPET_CUDA_LONG: records of the long trace, 0: none.
"""

import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import threading
import time

from cuda_programs import AFTER_S, PROGRAMS, Program, finish, harness, record, spread, turns
from torch_page import CHECKSUM, DONE, END_AT

MODELS = ("compile", "reduce-overhead", "max-autotune", "cuda-graph", "gpt2", "triton", "jax", "cupy")
PLAIN = "graphs"  # of graph_loop.c
VISITS = int(os.environ.get("LIMPET_CUDA_VISITS", "20"))
VISIT_S, BETWEEN_S = 0.25, 0.15
TURNS, TURN_S = 4, 0.5
LONG_RECORDS, LONG_S, LONG_NODES = int(os.environ.get("LIMPET_CUDA_LONG", "32000000")), 100, 1000
SPEED_FLOOR = 0.98
END_MORE, END_S, REPORT_S = 400, 60, 120
MIB = 1 << 20


def xids():
    """Faults of devices in the kernel's log; None where it may not be read."""
    result = subprocess.run(["dmesg"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return None if result.returncode else [line for line in result.stdout.splitlines() if "Xid" in line]


def build(folder):
    """graph_loop.c as a program, or None."""
    path = os.path.join(folder, "graph_loop")
    done = subprocess.run(["cc", "-O1", str(PROGRAMS / "graph_loop.c"), "-o", path, "-ldl", "-lpthread"], check=False)
    return path if done.returncode == 0 else None


def words_of(mode, plain):
    return [plain] if mode == PLAIN else [sys.executable, str(PROGRAMS / "model_loop.py")]


class Pair:
    """A program that is visited, and its twin, which begins later: compilers find what the first has chosen, so that both compute the same."""

    def __init__(self, mode, plain):
        self.mode, self.before, self.after, self.problems, self.left_s = mode, [], [], [], []
        self.programs, self.refusal = [], None
        self.starter = threading.Thread(target=self.start, args=(plain,))
        self.starter.start()

    def start(self, plain):
        try:
            for _ in range(2):
                self.programs.append(Program(self.mode, words=words_of(self.mode, plain)))
                self.programs[-1].await_begin()
                self.programs[-1].pause()
            self.touched, self.twin = self.programs
        except AssertionError as problem:
            self.refusal = str(problem).replace("\n", " | ")

    def go_on(self):
        for program in (self.touched, self.twin):
            program.go_on()

    def visit(self, folder):
        """Attached and left under load; what went wrong."""
        path = os.path.join(folder, f"{self.mode}.limpet")
        process = record(self.touched, path, "--cuda-trace")
        time.sleep(VISIT_S)
        began = time.monotonic()
        result, totals = finish(process)
        self.left_s.append(time.monotonic() - began)
        if result.code or not totals.get("records"):
            self.problems.append(f"limpet {result.code}: {result.err.strip()[-200:]}")
        time.sleep(BETWEEN_S)
        if not self.touched.lives():
            raise AssertionError(f"it died: {self.touched.process.communicate()[1].strip()[-300:]}")

    def visits(self, folder):
        try:
            for _ in range(VISITS):
                self.visit(folder)
            if not self.touched.goes_on(2 * AFTER_S):
                self.problems.append("it stands still after the last visit")
            self.touched.pause()
        except AssertionError as problem:
            self.problems.append(str(problem))
        self.twin.pause()

    def end(self):
        """Both end at the same iteration: what they have computed."""
        at = max(self.touched.page[DONE], self.twin.page[DONE]) + END_MORE
        for program in (self.touched, self.twin):
            program.page[END_AT] = at
        self.go_on()
        codes = [program.process.wait(END_S) for program in (self.touched, self.twin)]
        if any(codes):
            self.problems.append(f"exit codes {codes}")
        return self.touched.page[CHECKSUM], self.twin.page[CHECKSUM]

    def close(self):
        self.starter.join()
        for program in self.programs:
            program.close()


def pairs_start(verdict, plain):
    pairs = []
    for mode in os.environ.get("LIMPET_CUDA_GRAPHS", " ".join((PLAIN, *MODELS))).split():
        if mode == PLAIN and not plain:
            verdict.skip(f"graphs {mode}", "no C compiler")
        else:
            pairs.append(Pair(mode, plain))
    return pairs


def pairs_begin(verdict, pairs):
    """Those that begin."""
    for pair in pairs:
        pair.starter.join()
        if pair.refusal:
            verdict.skip(f"graphs {pair.mode}", pair.refusal)
    return [pair for pair in pairs if not pair.refusal]


def device_mib(pid):
    """What the process has of the device's memory."""
    words = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    try:
        out = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = [line.split(",")[1].strip() for line in out.splitlines() if line.split(",")[0].strip() == str(pid)]
    return int(found[0]) if found and found[0].isdigit() else None


def resident_mib(pid):
    return int(harness.status_of(pid).get("VmRSS", "0 kB").split()[0]) // 1024


def tell_times(verdict, report, traced_ns):
    """Kernels of one stream come one after the other: the device was busy for the sum of them, within the trace."""
    result = harness.limpet_finish(report, REPORT_S)
    rows = [json.loads(line) for line in result.out.splitlines()]
    kernels, devices = ([row for row in rows if row["event"] == event] for event in ("kernel", "device_time"))
    if len(kernels) != 1 or len(devices) != 1:
        verdict.say(False, f"long: report {result.code}, {len(kernels)} kernels, {len(devices)} devices {result.err.strip()[-200:]}")
        return
    [kernel], [device] = kernels, devices
    is_right = abs(kernel["total_ns"] - device["busy_ns"]) <= 1e-4 * kernel["total_ns"] and device["length_ns"] <= traced_ns and kernel["min_ns"] > 0
    verdict.say(is_right, f"long: times are in order: {kernel['calls']} kernels of {kernel['min_ns']} to {kernel['max_ns']} ns, {kernel['total_ns']} ns together, "
                f"{device['busy_ns']} ns busy in {device['length_ns']} ns, {traced_ns} ns traced")


def long_trace(verdict, folder, plain):
    """What is to be told of its times: a report that is being made, and how long was traced."""
    path, sizes = os.path.join(folder, "long.limpet"), []
    with Program("long", words=[plain]) as program:
        program.await_begin()
        began = time.monotonic()
        process = record(program, path, "--kernel-trace", "--ring-size", "64M")
        begun, end = program.page[DONE], time.monotonic() + LONG_S
        while program.lives() and LONG_NODES * (program.page[DONE] - begun) < LONG_RECORDS and time.monotonic() < end:
            sizes.append((device_mib(program.pid), resident_mib(program.pid), resident_mib(process.pid)))
            time.sleep(2)
        result, totals = finish(process)
        traced_ns = round(1e9 * (time.monotonic() - began))
        verdict.say(program.goes_on(), f"long: it works on for {AFTER_S:.0f} s without limpet")
    lost = {key: value for key, value in totals.items() if (key.startswith("dropped") or key in ("work_lost", "work_cut")) and value}
    verdict.say(result.code == 0 and totals.get("records", 0) >= 0.97 * LONG_RECORDS,
                f"long: {totals.get('records')} records of {LONG_RECORDS} wanted, {lost or 'none'} lost, {os.path.getsize(path) // MIB} MiB; "
                f"{'renewed' if 'renewed' in result.err else 'not renewed'}")
    middle, last = sizes[len(sizes) // 4], sizes[-1]
    grown = [b - a for a, b in zip(middle, last) if None not in (a, b)]
    verdict.say(all(more < 64 for more in grown), f"long: MiB of the device, the program, limpet: {middle} after a quarter, {last} at the end")
    return harness.limpet_start("report", path, "--json"), traced_ns


def measure(pairs, name):
    for pair in pairs:
        getattr(pair, name).extend(turns(pair.touched, pair.twin, TURNS, TURN_S))


def tell_visits(verdict, pair):
    verdict.say(not pair.problems, f"graphs {pair.mode}: {len(pair.left_s)} of {VISITS} visits under load, left in {max(pair.left_s or [0]):.2f} s at most; "
                f"{'; '.join(pair.problems) or 'goes on'}")


def tell_speed(verdict, pair):
    ratio = statistics.median(pair.after) / statistics.median(pair.before)
    verdict.say(ratio >= SPEED_FLOOR, f"graphs {pair.mode}: speed afterwards {ratio:.3f} of before; beside its twin {spread(pair.before)} before, "
                f"{spread(pair.after)} afterwards")


def tell_end(verdict, pair):
    try:
        sums = pair.end()
        verdict.say(sums[0] == sums[1] and not pair.problems,
                    f"graphs {pair.mode}: the same bits as its twin at iteration {pair.touched.page[END_AT]}: {sums} {'; '.join(pair.problems)}")
    except subprocess.TimeoutExpired:
        verdict.say(False, f"graphs {pair.mode}: does not end")


def visit_all(verdict, pairs, folder):
    measure(pairs, "before")
    for pair in pairs:
        pair.go_on()
    with concurrent.futures.ThreadPoolExecutor(max(1, len(pairs))) as pool:
        list(pool.map(lambda pair: pair.visits(folder), pairs))
    for pair in pairs:
        tell_visits(verdict, pair)
    sound = [pair for pair in pairs if not pair.problems]
    measure(sound, "after")
    for tell in (tell_speed, tell_end):
        for pair in sound:
            tell(verdict, pair)


def part_graphs(verdict, folder):
    before, plain = xids(), build(folder)
    pairs, report = pairs_start(verdict, plain), None
    try:
        if plain and LONG_RECORDS:
            report = long_trace(verdict, folder, plain)
        visit_all(verdict, pairs_begin(verdict, pairs), folder)
        if report:
            tell_times(verdict, *report)
    finally:
        for pair in pairs:
            pair.close()
    after = xids()
    verdict.say(after == before, f"graphs: Xid in the kernel's log: {len(after or [])}, {len(before or [])} before {(after or [''])[-1][-150:]}")
