#!/usr/bin/env python3
"""
What an attach costs: how long the one stopped thread stood still, as limpet says and as the target itself
measured, whether the other threads noticed, how long it all took; beside gdb in the same run.

Four measurements take turns on the same target: nothing ("quiet"), limpet attaching to another process
("elsewhere": the same work for the processors, no stop here), limpet attaching to the target, and gdb.

Environment: LIMPET is the executable to measure, BENCH the folder with the built gap_target.
"""

import argparse
import atexit
import mmap
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import peers
import report
from report import Row

LIMPET = os.environ.get("LIMPET", os.path.join(HERE, "../out/bin/limpet"))
GAP_TARGET = os.path.join(os.environ.get("BENCH", os.path.join(HERE, "../build/bench")), "gap_target")
GDB = ("gdb", "-nx", "-batch", "-p")
CORES = len(os.sched_getaffinity(0))

# struct page and struct slot of bench/gap_target.c
HEADER_BYTES = 64
SLOT = struct.Struct("<QQQQQQQ8x")
CYCLES_QUICK = 10
NICEST, AUTOGROUP = -20, "/proc/self/autogroup"


class Broken(Exception):
    """The measurement makes no sense: the target was hurt, or limpet refused."""


class Target:
    """A running gap_target, and its page.  A context manager: its end kills the process."""

    def __init__(self, kind, threads):
        self.threads = threads
        self.file = tempfile.NamedTemporaryFile(prefix="gap-")
        self.process = subprocess.Popen([GAP_TARGET, kind, str(threads), self.file.name])
        try:
            self._map()
        except BaseException:
            self.close()
            raise
        self.pid = self.process.pid
        self.epoch = 0

    def _map(self):
        size = HEADER_BYTES + self.threads * SLOT.size
        wait_until(lambda: os.path.getsize(self.file.name) >= size, "gap_target did not start")
        self.page = mmap.mmap(self.file.fileno(), size)
        ready = lambda: struct.unpack_from("<Q", self.page, 8)[0] >= self.threads
        wait_until(ready, "gap_target did not start its threads")

    def slots(self):
        """(tid, turns, epoch, late_ns, queue_ns, stood_ns, wrong) of each thread."""
        return list(SLOT.iter_unpack(self.page[HEADER_BYTES:]))

    def begin(self):
        """A new measurement; returns when every thread has noticed."""
        self.epoch += 1
        struct.pack_into("<Q", self.page, 0, self.epoch)
        noticed = lambda: all(slot[2] == self.epoch for slot in self.slots())
        wait_until(noticed, "a thread of the target hangs")

    def end(self):
        """Lets every thread finish the turn it is in; {tid: (late_ns, queue_ns, stood_ns)}."""
        turns = [slot[1] for slot in self.slots()]
        moved = lambda: all(slot[1] > turn + 1 for slot, turn in zip(self.slots(), turns))
        wait_until(moved, "a thread of the target hangs")
        slots = self.slots()
        if any(slot[6] for slot in slots) or self.process.poll() is not None:
            raise Broken("the target was hurt")
        return {slot[0]: slot[3:6] for slot in slots}

    def close(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def wait_until(is_true, complaint, limit_s=60):
    end = time.monotonic() + limit_s
    while not is_true():
        if time.monotonic() > end:
            raise Broken(complaint)
        time.sleep(0.002)


def limpet_attach(pid, unloads, program=LIMPET):
    """Attaches and leaves at once; what limpet says about it."""
    command = [program, "attach", str(pid), "--duration", "0", "--json", *["--unload"] * unloads]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    if done.returncode:
        raise Broken(done.stderr.decode(errors="replace").strip())
    return report.json_lines(done.stdout)["attached"]


def gdb_attach(pid):
    done = subprocess.run([*GDB, str(pid)], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if done.returncode:
        raise Broken("gdb: " + done.stderr.decode(errors="replace").strip())


class Series:
    """All measurements of one row."""

    def __init__(self, row, target, decoy):
        self.row, self.target, self.decoy = row, target, decoy
        self.result = report.Result(row)
        self.length_s = 0.05

    def window(self, action):
        """Measures the threads of the target while something happens; (answer, gaps, seconds)."""
        self.target.begin()
        begin = time.monotonic()
        answer = action()
        seconds = time.monotonic() - begin
        return answer, self.target.end(), seconds

    def quiet(self):
        _, gaps, _ = self.window(lambda: time.sleep(self.length_s))
        self.result.quiet.append(gaps)

    def elsewhere(self):
        _, gaps, _ = self.window(lambda: limpet_attach(self.decoy.pid, self.row.unloads))
        self.result.elsewhere.append(gaps)

    def attach(self):
        said, gaps, self.length_s = self.window(lambda: limpet_attach(self.target.pid, self.row.unloads))
        said["wall_ns"] = self.length_s * 1e9
        self.result.attaches.append((said, gaps))

    def gdb(self):
        _, gaps, seconds = self.window(lambda: gdb_attach(self.target.pid))
        self.result.gdb.append((seconds * 1e9, gaps))

    def run(self, cycles, gdb_cycles):
        steps = [self.quiet, self.elsewhere, self.attach]
        self.attach()  # the first one reads files into the page cache
        self.result.attaches.clear()
        for cycle in range(cycles):
            for step in steps[cycle % 3:] + steps[:cycle % 3]:
                step()
        for _ in range(gdb_cycles if shutil.which(GDB[0]) else 0):
            self.gdb()
        return self.result


def rows():
    """A thread less than cores leaves one for limpet; the others show what the scheduler adds."""
    spare = max(1, CORES - 1)
    return [
        Row("idle", "tick", 4, busy=0),
        Row("idle, agent resident", "tick", 4, busy=0, unloads=False),
        Row("busy", "spin", spare, busy=spare),
        Row("busy, every core", "spin", CORES, busy=CORES),
        Row("malloc", "malloc", spare, busy=spare),
        Row("malloc, crowded", "malloc", 4 * CORES, busy=4 * CORES),
        Row("1000 threads", "tick", 1000, busy=0, cycles_divisor=3),
    ]


def come_first():
    """Before the other programs here, also where the kernel shares the cores among sessions."""
    os.setpriority(os.PRIO_PROCESS, 0, NICEST)
    if os.path.exists(AUTOGROUP):
        with open(AUTOGROUP) as file:
            atexit.register(autogroup_set, file.read().split()[-1])
        autogroup_set(NICEST)


def autogroup_set(nice):
    with open(AUTOGROUP, "w") as file:
        file.write(str(nice))


def measure(row, options):
    report.progress(f"{row.name} ...")
    # A busy one would take the core that the row leaves free.
    decoy_kind = "still" if row.busy else row.kind
    with Target(row.kind, row.threads) as target, Target(decoy_kind, row.threads) as decoy:
        cycles = max(3, options.cycles // row.cycles_divisor)
        return Series(row, target, decoy).run(cycles, options.gdb_cycles)


def compare(row, peer, cycles):
    """This limpet, the other one, and this one once more (what differs there is noise) take turns; what each said."""
    report.progress(f"{row.name} ...")
    programs = {"this": LIMPET, "other": peer, "this again": LIMPET}
    said = {name: [] for name in programs}
    with Target(row.kind, row.threads) as target:
        for cycle in range(-1, cycles):  # the first one reads files into the page cache
            names = list(programs)[cycle % 3:] + list(programs)[:cycle % 3]
            for name in names:
                answer = limpet_attach(target.pid, row.unloads, programs[name])
                said[name] += [answer] * (cycle >= 0)
    return said


def show_comparison(chosen, options):
    head = ["target", "limpet", "attaches", "attach p50 / p90 / p99", "pause p50 / p90 / p99"]
    shares = (0.5, 0.9, 0.99)
    lines = [[row.name, name, str(len(answers))]
             + [report.spread([answer[key] for answer in answers], shares) for key in ("attach_ns", "pause_ns")]
             for row in chosen if row.unloads  # two versions do not share an agent
             for name, answers in compare(row, options.peer_limpet, options.cycles).items()]
    print(report.table(head, lines))


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench attach", description="measure what an attach costs")
    parser.add_argument("--cycles", type=int, default=300, help="attaches for each row (300)")
    parser.add_argument("--gdb-cycles", type=int, default=10, help="the same for gdb (10)")
    parser.add_argument("--quick", action="store_true", help=f"{CYCLES_QUICK} attaches, 2 of gdb")
    parser.add_argument("--only", metavar="NAME", help="rows whose name begins so")
    parser.add_argument("--first", action="store_true",
                        help="run all of it before the other programs here (nice -20, needs root)")
    parser.add_argument("--peer-limpet", metavar="PATH",
                        help="measure this limpet and another one in turns, and nothing else")
    parser.add_argument("--markdown", action="store_true", help="print the section for docs/benchmarks.md")
    options = parser.parse_args()
    if options.quick:
        options.cycles, options.gdb_cycles = CYCLES_QUICK, 2
    return options


def main():
    options = arguments()
    peers.tell_missing(GDB[0])
    if options.first:
        come_first()
    machine = report.Machine(CORES, platform.uname(), os.getloadavg())
    chosen = [row for row in rows() if row.name.startswith(options.only or "")]
    try:
        if options.peer_limpet:
            show_comparison(chosen, options)
            return
        results = [measure(row, options) for row in chosen]
    except (Broken, OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"bench: {error}")
    machine.load_after = os.getloadavg()
    command = " ".join(["./dev bench attach", *sys.argv[1:]]).replace(" --markdown", "")
    report.show(results, machine, command if options.markdown else None)


if __name__ == "__main__":
    main()
