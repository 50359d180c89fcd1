#!/usr/bin/env python3
"""
What limpet costs programs as people have them: a service in Python, a training loop of PyTorch, redis under load, and redis with a
script (under load much of its work is the kernel's for sockets, which is charged to whoever runs: that is the noise).  In short slots:
without, with one tool, without, with another, and so on, in an order that chance makes.  Each slot with a tool is compared with the
two around it; each slot without is compared with its two neighbours in the same way, which is the noise.  A slot with a tool begins
a moment after the tool says that it has begun: what beginning costs is not in it.

Environment: LIMPET.
"""

import argparse
import json
import mmap
import os
import pathlib
import platform
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.realpath(os.path.join(HERE, "../build"))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, "../tests/real")]

import peers
import perf_tool
import real_turns
import report
from servers import Redis, Unavailable, find

LIMPET = os.environ.get("LIMPET", os.path.join(BUILD, "src/host/limpet"))
LIMIT_S = 120
OFF = "off"
RING = ["--ring-size", "4M"]


def python_with(module):
    """An interpreter that has it; None: there is none."""
    for python in (sys.executable, "/usr/bin/python3"):
        if not subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode:
            return python
    return None


def begin_python(folder):
    return Counted(folder, "real_python.py", python_with("numpy") or sys.executable)


def begin_torch(folder):
    python = python_with("torch")
    if not python:
        raise Unavailable("no Python here has torch")
    return Counted(folder, "real_torch.py", python)


class Counted:
    """A Python program of ours that counts its turns."""

    def __init__(self, folder, script, python):
        path = os.path.join(folder, script + ".turns")
        with open(path, "wb") as file:
            file.write(bytes((real_turns.WORDS + 1) * 8))
        self.process = subprocess.Popen([python, os.path.join(HERE, script), path])
        self.pid = self.process.pid
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 0)
        wait_until(lambda: self.turns() > 20, self.process)

    def turns(self):
        return struct.unpack_from("Q", self.page)[0]

    def price(self, first, last):
        """Processor time of the turn in the middle of these: those that others disturbed lie at the end."""
        each = [struct.unpack_from("Q", self.page, 8 + i % real_turns.WORDS * 8)[0] for i in range(first, last)]
        return statistics.median(each[-real_turns.WORDS // 2 :]) if each else 0

    def close(self):
        self.process.kill()
        self.process.wait()
        self.page.close()


class OneThread(Redis):
    """Its other threads would spin while they wait, and so use processor time without work."""

    def open(self):
        options = f"--port {self.port} --bind 127.0.0.1 --appendonly no --dir {self.folder}"
        self.start(find("redis-server"), *options.split(), "--save", "")
        self.wait_port()


def server_open(folder):
    server = OneThread(pathlib.Path(folder))
    try:
        server.open()
    except Unavailable:
        server.close()
        raise
    return server


class Commands:
    """redis under load: its own count of commands."""

    def __init__(self, folder):
        self.server = server_open(folder)
        self.pid = self.server.targets()[0]
        argv = ["redis-benchmark", "-q", "-p", str(self.server.port), "-n", "1000000000", "-r", "100000", "-d", "200",
                "-c", "20", "-P", "16", "-t", "set"]  # fmt: skip
        self.load = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
        self.way = socket.create_connection(("127.0.0.1", self.server.port))
        wait_until(lambda: self.turns() > 1000, self.load)

    def turns(self):
        self.way.sendall(b"INFO stats\r\n")
        text = b""
        while b"total_commands_processed:" not in text or not text.endswith(b"\r\n"):
            text += self.way.recv(65536)
        return int(text.split(b"total_commands_processed:")[1].split(b"\r\n")[0])

    def price(self, *_):
        return 0

    def close(self):
        self.way.close()
        self.load.kill()
        self.load.wait()
        self.server.close()


class Script:
    """redis that runs a script: a turn is 1000 of its commands, which no socket has to do with."""

    TEXT = b"for i = 1, 1000 do redis.call('set', 'key:' .. math.random(100000), string.rep('x', 200)) end return 1"
    REQUEST = b"*3\r\n$4\r\nEVAL\r\n$%d\r\n%s\r\n$1\r\n0\r\n" % (len(TEXT), TEXT)

    def __init__(self, folder):
        self.server = server_open(folder)
        self.pid, self.prices, self.is_over = self.server.targets()[0], [], False
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()

    def ask(self):
        with socket.create_connection(("127.0.0.1", self.server.port)) as way:
            before = cpu_s(self.pid)
            while not self.is_over:
                way.sendall(self.REQUEST)
                if way.recv(64) != b":1\r\n":
                    return
                now = cpu_s(self.pid)
                self.prices.append(1e9 * (now - before))
                before = now

    def turns(self):
        return len(self.prices)

    def price(self, first, last):
        return statistics.median(self.prices[first:last]) if last > first else 0

    def close(self):
        self.is_over = True
        self.thread.join()
        self.server.close()


class Limpet:
    """`limpet record` while it records."""

    def __init__(self, folder, pid, *options):
        argv = [LIMPET, "record", "-p", str(pid), "-o", os.path.join(folder, "real.limpet"), "--json", *options]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)  # fmt: skip
        first = self.process.stdout.readline()
        if '"attached"' not in first:
            sys.exit(f"bench: limpet did not begin: {first}{self.process.stderr.read()}")

    def stop(self):
        """Its processor time in seconds, and what it says of what it has got."""
        self.process.send_signal(signal.SIGINT)
        text = self.process.stdout.read()
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.process.stdout.close()
        self.process.stderr.close()
        said = json.loads(text.splitlines()[0])
        return usage.ru_utime + usage.ru_stime, said.get("samples") or said.get("records") or 0


class Perf(perf_tool.Perf):
    """`perf record` while it records."""

    def __init__(self, folder, pid, mode):
        super().__init__(folder, pid, 999, mode)
        self.tell("enable")

    def stop(self):
        return super().stop(), perf_tool.counts(self.path)[0]


PROGRAMS = {
    "python": begin_python,
    "torch": begin_torch,
    "redis": Commands,
    "redis-script": Script,
}
LIMPET_MODES = {
    "99 Hz": ["-F", "99"],
    "999 Hz": ["-F", "999"],
    "--alloc-sample 512K": ["--alloc-sample", "512K"],
    "--alloc-sample 512K --address-entries": ["--alloc-sample", "512K", "--address-entries"],
    "--alloc-trace": ["--alloc-trace", *RING],
}
PERF_MODES = {"perf -g, 999 Hz": "fp", "perf dwarf, 999 Hz": "dwarf"}
AIMS = {"999 Hz": 0.97, "--alloc-sample 512K": 0.95}


def tools():
    """Beginnings of all tools that are here, by name."""
    begin = {name: lambda folder, pid, words=words: Limpet(folder, pid, *words) for name, words in LIMPET_MODES.items()}
    if perf_tool.PERF:
        begin |= {name: lambda folder, pid, mode=mode: Perf(folder, pid, mode) for name, mode in PERF_MODES.items()}
    return begin


def wait_until(condition, process):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if process.poll() is not None or time.monotonic() > end:
            sys.exit("bench: a program did not start")
        time.sleep(0.01)


def cpu_s(pid):
    return time.clock_gettime(~pid << 3 | 2)


class Slot:
    """Turns in a second of the clock, and in one of processor time: of the turn in the middle, or of all where the program does not
    tell them apart."""

    def __init__(self, name, program, seconds):
        turns, wall, cpu = program.turns(), time.monotonic(), cpu_s(program.pid)
        time.sleep(seconds)
        done = program.turns()
        price_ns = program.price(turns, done)
        self.name = name
        self.speed = max(done - turns, 1) / (time.monotonic() - wall)
        self.thrift = 1e9 / price_ns if price_ns else max(done - turns, 1) / max(cpu_s(program.pid) - cpu, 1e-9)
        self.tool_cpu, self.got = 0, 0


def slot_with(name, begin, program, folder, options):
    tool = begin(folder, program.pid)
    time.sleep(options.settle)
    before = cpu_s(tool.process.pid)
    slot = Slot(name, program, options.slot)
    slot.tool_cpu = (cpu_s(tool.process.pid) - before) / options.slot
    slot.got = tool.stop()[1]
    time.sleep(options.settle / 2)
    return slot


def measure(program, chosen, options):
    """Slots in the order of time; without a tool first, last, and between any two with one."""
    begin = tools()
    with tempfile.TemporaryDirectory() as folder:
        slots = [Slot(OFF, program, options.slot)]
        for i in range(options.rounds):
            for name in random.sample(chosen, len(chosen)):
                slots.append(slot_with(name, begin[name], program, folder, options))
                slots.append(Slot(OFF, program, options.slot))
            report.progress(f"round {i + 1} of {options.rounds}")
    return slots


def ratios(slots, name, measure_of):
    """Of the slots of that name to those without a tool around them."""
    kind = [slot for slot in slots if slot.name == OFF] if name == OFF else slots
    return [measure_of(kind[i]) / statistics.mean([measure_of(kind[i - 1]), measure_of(kind[i + 1])])
            for i in range(1, len(kind) - 1) if kind[i].name == name]  # fmt: skip


def spread(values):
    """The median, and where the middle half of all lies."""
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def row(slots, name):
    speed = ratios(slots, name, lambda slot: slot.speed)
    thrift = ratios(slots, name, lambda slot: slot.thrift)
    own = [slot for slot in slots if slot.name == name]
    tool = statistics.median(slot.tool_cpu for slot in own)
    got = statistics.median(slot.got for slot in own)
    label = "nothing (the noise)" if name == OFF else name
    more = ["", ""] if name == OFF else [f"{100 * tool:.1f} %", f"{got:.0f}"]
    return [label, spread(speed), spread(thrift), str(len(speed)), *more]


def verdict(noise, found, aim):
    low, _, high = statistics.quantiles(noise, n=4)
    if high - low > 2 * (1 - aim):
        return "not known, the machine is too busy to tell"
    return "kept" if found >= aim else "MISSED, or within the noise of it" if found + (high - low) / 2 >= aim else "MISSED"


def verdicts(slots, chosen):
    """By its own processor time: on a machine that others use, too, speed is their doing."""
    noise = ratios(slots, OFF, lambda slot: slot.thrift)
    for name in chosen:
        if name in AIMS:
            found = statistics.median(ratios(slots, name, lambda slot: slot.thrift))
            yield f"- aim: {name}: at least {AIMS[name]:.2f}: {verdict(noise, found, AIMS[name])} ({found:.3f}, noise {spread(noise)})"


def run(name, options):
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = PROGRAMS[name](folder)
        except Unavailable as reason:
            print(f"{name}: left out: {reason}\n")
            return
        chosen = [mode for mode in tools() if mode in options.modes] if options.modes else list(tools())
        try:
            time.sleep(options.warm)
            slots = measure(program, chosen, options)
        finally:
            program.close()
    head = ["what", "speed", "turns per CPU second", "n", "tool's CPU", "records"]
    print(f"{name}, slots of {options.slot} s; median (quartiles) to the slots around:\n")
    print(report.table(head, [row(slots, mode) for mode in [OFF, *chosen]]) + "\n")
    print("\n".join(verdicts(slots, chosen)) + "\n", flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench real", description="what limpet costs real programs")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(PROGRAMS)}; all when none is named")
    parser.add_argument("--rounds", type=int, default=12, help="slots of each kind (12)")
    parser.add_argument("--slot", type=float, default=0.8, help="seconds of a slot (0.8)")
    parser.add_argument("--settle", type=float, default=0.4, help="seconds from a tool's first word to its slot (0.4)")
    parser.add_argument("--warm", type=float, default=2, help="seconds before the first (2)")
    parser.add_argument("--modes", action="append", metavar="MODE", help=f"only these: {', '.join(tools())}")
    options = parser.parse_args()
    unknown = set(options.programs) - set(PROGRAMS)
    if unknown:
        parser.error(f"no such program: {' '.join(unknown)}")
    return options


def main():
    options = arguments()
    peers.tell_missing("perf", "redis-server")
    machine = report.Machine(os.cpu_count(), platform.uname(), os.getloadavg())
    for name in options.programs or PROGRAMS:
        run(name, options)
    machine.load_after = os.getloadavg()
    print("\n".join(machine.lines()))


if __name__ == "__main__":
    main()
