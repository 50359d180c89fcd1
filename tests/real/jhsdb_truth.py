"""limpet's frames of Java beside those of HotSpot's own debugger (jhsdb), of the same threads while they stand still.

gdb does not know what HotSpot makes, and goes astray there. The JDK's debugger knows: for each method of a thread it says
where that stands. limpet must have these frames in code of the machine, and no others but stubs, which are no methods:
one where a thread stands or has left the code of the machine, and the one by which the machine calls Java."""

import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import time

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
AGENT = ("--add-modules", "jdk.hotspot.agent", "--add-exports", "jdk.hotspot.agent/sun.jvm.hotspot.tools=ALL-UNNAMED")
LIMIT_S = 300
PAUSES_S = (0.05, 0.11, 0.17, 0.29)  # the process works between two stops
THREAD = re.compile(r'^"(.*)" #\d+ .*\bnid=(0x[0-9a-f]+|\d+)')
METHOD = re.compile(r"^ - (.+?) @bci=.*?, pc=(0x[0-9a-f]+).*?\((Compiled|Interpreted) frame")
CALLER = "JavaCalls::call_helper("


def build(folder):
    """None, or why there is no such debugger."""
    done = subprocess.run(["javac", "-d", folder, *AGENT, PROGRAMS / "Frames.java"], capture_output=True, text=True, check=False)
    return done.stderr.strip()[-300:] or "javac failed" if done.returncode else None


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        states = {path.read_text().rsplit(")", 1)[1].split()[0] for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")}
        if states == {"T"}:
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} does not stop: {states}")


def methods_of(text):
    """[(address, whether it is compiled, name)] of each thread by its number, innermost first."""
    threads, frames = {}, []
    for line in text.splitlines():
        thread, method = THREAD.match(line), METHOD.match(line)
        if thread:
            frames = threads[int(thread[2], 0)] = []
        elif method:
            frames.append((int(method[2], 16), method[3] == "Compiled", method[1]))
    return threads


def look(pid, folder):
    """One stop: (methods by thread, limpet's threads)."""
    stop(pid)
    try:
        dumped = subprocess.run([os.environ["LIMPET"], "dump", str(pid), "--json", "--user", "--no-lines", "--sampler", "bpf"],
                                capture_output=True, text=True, check=False)  # fmt: skip
        asked = subprocess.run(["java", *AGENT, "-cp", folder, "Frames", str(pid)], capture_output=True, text=True,
                               timeout=LIMIT_S, check=False)  # fmt: skip
    finally:
        os.kill(pid, signal.SIGCONT)
    threads = [json.loads(line) for line in dumped.stdout.splitlines()]
    methods = methods_of(asked.stdout)
    assert methods, f"jhsdb: {(asked.stdout + asked.stderr).strip()[-300:]}"
    return methods, {thread["tid"]: thread for thread in threads if thread.get("event") == "thread"}


def made_frames(thread):
    """Addresses in code of the machine, innermost first, without the stub by which it calls Java."""
    frames = [frame for frame in thread["frames"] if not frame["inlined"]]
    callers = [frame["function"] for frame in frames[1:]] + [""]
    return [int(frame["address"], 16) for frame, caller in zip(frames, callers)
            if frame["module"] == "[JIT of java]" and not caller.startswith(CALLER)]  # fmt: skip


def once(addresses, compiled):
    """Methods that were inlined share an address; compiled ones that call themselves are not told from them."""
    return [address for i, address in enumerate(addresses) if not i or address != addresses[i - 1] or address not in compiled]


def compare(methods, thread):
    if not methods:
        return "jhsdb has none"
    if not thread or not thread["has_stack"]:
        return "limpet has no stack"
    compiled = {address for address, is_compiled, _ in methods if is_compiled}
    theirs, ours = once([method[0] for method in methods], compiled), once(made_frames(thread), compiled)
    if theirs in (ours, ours[1:]):
        return "same"
    return "another frame" if thread["complete"] else "limpet's is incomplete"


class Verdict:
    def __init__(self):
        self.stops, self.frames, self.kinds, self.examples = 0, 0, collections.Counter(), []

    def add(self, methods, threads):
        self.stops += 1
        for tid, frames in methods.items():
            kind = compare(frames, threads.get(tid))
            self.kinds[kind] += 1
            self.frames += len(frames)
            if kind not in ("same", "jhsdb has none"):
                ours = made_frames(threads[tid]) if tid in threads else []
                theirs = [f"{name} {address:#x}" for address, _, name in frames]
                self.examples.append(f"{kind}: jhsdb {theirs}, limpet {[hex(address) for address in ours]}")

    def text(self):
        rest = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items() if kind != "same")
        return f"{self.stops} stops, {self.frames} methods: {self.kinds['same']} threads the same" + (f"; {rest}" if rest else "")

    def problem(self):
        return self.text() if self.kinds["another frame"] or self.kinds["limpet has no stack"] or not self.kinds["same"] else None


def judge(pid, stops, folder):
    verdict = Verdict()
    for number in range(stops):
        verdict.add(*look(pid, folder))
        time.sleep(PAUSES_S[number % len(PAUSES_S)])
    return verdict
