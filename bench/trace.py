#!/usr/bin/env python3
"""
What a traced call costs: nanoseconds added to a call by limpet's hooks, beside perf's uprobes, bpftrace,
strace, ltrace and uftrace where they are installed, in the same run and on the same target.

The target says every 0.2 s what a call takes (the fifth percentile of short windows); each tool is
measured against the seconds before it in the same process.

Environment: PROGRAMS is the folder with the built trace_probe, BENCH the one with trace_target.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "../build")
BENCH = os.environ.get("BENCH", os.path.join(BUILD, "bench"))
PROBE = os.path.join(os.environ.get("PROGRAMS", os.path.join(BUILD, "tests/programs")), "trace_probe")
CALLEE = os.path.realpath(os.path.join(BENCH, "libtrace_callee.so"))
LIMPET = os.environ.get("LIMPET", os.path.join(BUILD, "src/host/limpet"))
AIM_NS, AIM_RATIO = 45, 50
RING = "ring=67108864"  # large enough that nothing is dropped: a dropped record is cheaper


class Target:
    """A running trace_target and what it has said."""

    def __init__(self, mode):
        self.process = subprocess.Popen(
            [os.path.join(BENCH, "trace_target"), mode, "120"], stdout=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.pid = self.process.pid

    def said(self):
        try:
            return os.read(self.process.stdout.fileno(), 1 << 20).decode()
        except BlockingIOError:
            return ""

    def values(self, seconds):
        """What it says in that time, without what was begun before."""
        time.sleep(0.25)
        self.said()
        time.sleep(seconds)
        return [float(line.split()[0]) for line in self.said().splitlines() if len(line.split()) == 2]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def libc_path(pid):
    with open(f"/proc/{pid}/maps") as file:
        return next(line.split()[-1] for line in file if "/libc.so.6" in line or "/libc-2" in line)


def limpet(*words, probe=PROBE):
    return lambda target: [probe, str(target.pid), "0", RING, *words]


def uprobe(names, recorded):
    def command(target):
        # A probe of returns has the mark of the version of perf that made it.
        events = [f"probe_limpet:{name}" + ("__return" if name.endswith("_returns") else "")
                  for name in names]
        list_of = [part for event in events for part in ("-e", event)]
        verb = ["perf", "record", "-q", "-o", "/dev/null"] if recorded else ["perf", "stat"]
        return [*verb, *list_of, "-p", str(target.pid)]
    return command


def add_probes(names, library):
    """A name with %return is probed where it returns."""
    for name in names:
        event = name.replace("%return", "_returns")
        subprocess.run(["perf", "probe", "-q", "-x", library, f"probe_limpet:{event}={name}"],
                       capture_output=True)


def drop_probes():
    subprocess.run(["perf", "probe", "-q", "-d", "probe_limpet:*"], capture_output=True)


def bpftrace(names, library):
    def command(target):
        path = library or libc_path(target.pid)
        program = " ".join(f"uprobe:{path}:{name} {{ @{name} = count(); }}" for name in names)
        return ["bpftrace", "-p", str(target.pid), "-e", program]
    return command


def measure(mode, name, command, seconds, before=None, after=None):
    """(base, with the tool) in nanoseconds, or a reason."""
    target = Target(mode)
    try:
        base = target.values(seconds)
        if before:
            before(target)
        tool = subprocess.Popen(command(target), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        if tool.poll() is not None:
            return f"does not run here: {(tool.communicate()[1] or '?').strip().splitlines()[-1][:80]}"
        during = target.values(seconds)
        said = stop(tool, name)
        if not base or not during:
            return "the target said nothing: the tool is too slow to measure"
        return statistics.median(base), statistics.median(during), said
    finally:
        if after:
            after()
        target.close()


def stop(tool, name):
    if name.startswith("limpet"):
        out, _ = tool.communicate("\n", timeout=120)
        trace = json.loads(out.splitlines()[-1])
        return f"{trace['records']} records, {trace['full'] + trace['no_ring']} dropped"
    tool.send_signal(signal.SIGINT)
    try:
        tool.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        tool.kill()
        tool.communicate()
    return ""


OUR_ROWS = (
    ("call", "limpet, any function", ("function=libtrace_callee.so:*",), 1),
    ("malloc", "limpet, malloc+free", ("alloc",), 2),
    ("malloc", "limpet, malloc+free sampled", ("alloc-sample=524288",), 2),
    ("write", "limpet, write", ("io",), 1),
)


def rows(seconds):
    """mode, name, command, how many events one unit has, setup, teardown."""
    callee = lambda target: add_probes(["trivial", "trivial%return"], CALLEE)
    heap = lambda target: add_probes(["malloc", "free"], libc_path(target.pid))
    for mode, name, words, events in OUR_ROWS:
        yield mode, name, limpet(*words), events, None, None
    if shutil.which("perf"):
        yield "call", "perf uprobe, counted", uprobe(["trivial"], False), 1, callee, drop_probes
        yield "call", "perf uprobe, recorded", uprobe(["trivial"], True), 1, callee, drop_probes
        yield "call", "perf, entry and return", uprobe(["trivial", "trivial_returns"], True), 1, callee, drop_probes
        yield "malloc", "perf uprobe, malloc+free", uprobe(["malloc", "free"], True), 2, heap, drop_probes
    if shutil.which("bpftrace"):
        yield "call", "bpftrace uprobe, counted", bpftrace(["trivial"], CALLEE), 1, None, None
        yield "malloc", "bpftrace, malloc+free", bpftrace(["malloc", "free"], None), 2, None, None
    if shutil.which("strace"):
        yield "write", "strace, write", lambda target: [
            "strace", "-f", "-e", "trace=write", "-o", "/dev/null", "-p", str(target.pid)], 1, None, None
    if shutil.which("ltrace"):
        yield "call", "ltrace, any function", lambda target: [
            "ltrace", "-f", "-x", "trivial", "-o", "/dev/null", "-p", str(target.pid)], 1, None, None


def slot(mode, command, seconds):
    """What a target says more while the tool is in it, or (None) while nothing is.  Two versions do not share a target."""
    target = Target(mode)
    try:
        base = statistics.median(target.values(seconds))
        tool = command and subprocess.Popen(command(target), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        time.sleep(1)
        value = statistics.median(target.values(seconds))
        if tool:
            stop(tool, "limpet")
        return value - base
    finally:
        target.close()


def compare(peer, rounds, seconds, only):
    """This tracer, another build's, and nothing (what is measured there is noise) in turns."""
    print(f"{'added ns an event, median (least to most)':44} {'this':>22} {'other':>22} {'nothing':>22}")
    for mode, name, words, events in OUR_ROWS:
        if only not in name:
            continue
        commands = {"this": limpet(*words), "other": limpet(*words, probe=peer), "nothing": None}
        added = {which: [] for which in commands}
        for turn in range(rounds):
            for which in list(commands)[turn % 3:] + list(commands)[:turn % 3]:
                added[which].append(slot(mode, commands[which], seconds) / events)
        cells = [f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})" for values in added.values()]
        print(f"{name:44} " + " ".join(f"{cell:>22}" for cell in cells), flush=True)


def uftrace(seconds):
    """It cannot attach to a program that was not prepared: measured on one that it starts."""
    run = subprocess.run(
        ["uftrace", "record", "--no-pager", "--force", "-d", "/tmp/uftrace.limpet.bench",
         os.path.join(BENCH, "trace_target"), "call", str(int(seconds))], capture_output=True, text=True)
    shutil.rmtree("/tmp/uftrace.limpet.bench", ignore_errors=True)
    values = [float(line.split()[0]) for line in run.stdout.splitlines() if len(line.split()) == 2]
    if run.returncode or not values:
        return f"does not run here: {(run.stderr or run.stdout).strip().splitlines()[-1:]}"
    return statistics.median(values)


def record_once(pause_ns, seconds, path):
    """Two busy threads for so long: records, drops, bytes in the file."""
    target = subprocess.Popen([os.path.join(BENCH, "trace_target"), "malloc", "60", "2", str(pause_ns)])
    try:
        time.sleep(0.2)
        run = subprocess.run(
            [LIMPET, "record", "-p", str(target.pid), "--alloc-trace", "--json", "-o", path,
             "--duration", f"{int(seconds * 1000)}ms"], capture_output=True, text=True)
        recorded = next(event for event in map(json.loads, run.stdout.splitlines())
                        if event["event"] == "recorded")
        drops = sum(recorded[key] for key in recorded if key.startswith("dropped_"))
        return recorded["records"], drops, recorded["bytes"]
    finally:
        target.kill()
        target.wait()


def sustained(seconds):
    """The most records a second of two busy threads (malloc and free) that all reach the file."""
    with tempfile.TemporaryDirectory() as folder:
        for pause_ns in (0, 500, 1000, 2000, 3000, 5000, 8000, 12000, 20000, 50000):
            records, drops, size = record_once(pause_ns, seconds, os.path.join(folder, "bench.limpet"))
            print(f"two busy threads, {pause_ns / 1000:g} us a batch of 32: {records / seconds / 1e6:.2f} M records/s, "
                  f"{drops} dropped, {size / max(records, 1):.2f} bytes a record in the file", flush=True)
            if not drops:
                return


def main():
    parser = argparse.ArgumentParser(description="what a traced call costs")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--peer-probe", metavar="PATH",
                        help="measure this tracer and another build's (tests/programs/trace_probe) in turns, and nothing else")
    parser.add_argument("--rounds", type=int, default=7, help="with --peer-probe (7)")
    arguments = parser.parse_args()
    if arguments.peer_probe:
        compare(arguments.peer_probe, arguments.rounds, arguments.seconds, arguments.only)
        return 0
    added, base_call = {}, None
    peers.tell_missing("perf", "bpftrace", "strace", "ltrace", "uftrace")
    print(f"{'':32} {'base ns':>9} {'traced ns':>10} {'added/event':>12} {'of limpet':>10}")
    for mode, name, command, events, before, after in rows(arguments.seconds):
        if arguments.only not in name:
            continue
        result = measure(mode, name, command, arguments.seconds, before, after)
        if isinstance(result, str):
            print(f"{name:32} {result}")
            continue
        base, during, said = result
        base_call = base if mode == "call" else base_call
        added[name] = (during - base) / events
        ours = {"call": "limpet, any function", "malloc": "limpet, malloc+free",
                "write": "limpet, write"}[mode]
        ratio = f"{added[name] / added[ours]:.0f} x" if added.get(ours, 0) > 0 else ""
        print(f"{name:32} {base:9.1f} {during:10.1f} {added[name]:12.1f} {ratio:>10}  {said}", flush=True)
    if not arguments.only and base_call and shutil.which("uftrace"):
        result = uftrace(arguments.seconds)
        if isinstance(result, float):
            cost = result - base_call
            print(f"{'uftrace (started by it)':32} {base_call:9.1f} {result:10.1f} {cost:12.1f} "
                  f"{cost / added['limpet, any function']:9.0f} x")
        else:
            print(f"{'uftrace':32} {result}")
    ours = added.get("limpet, any function")
    if ours:
        print(f"\naim: at most {AIM_NS} ns added: {'kept' if ours <= AIM_NS else 'MISSED'} ({ours:.1f})")
    # limpet has both times of a call; one uprobe has one.
    for name in ("perf uprobe, recorded", "perf, entry and return"):
        if ours and name in added:
            ratio = added[name] / ours
            print(f"aim: {AIM_RATIO} times cheaper than {name}: "
                  f"{'kept' if ratio >= AIM_RATIO else 'MISSED'} ({ratio:.0f})")
    if not arguments.only:
        print()
        sustained(3 * arguments.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
