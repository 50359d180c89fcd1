"""Runs inside gdb: stops a process again and again; each time gdb and limpet look at the same still threads.

Environment: LIMPET, PIDS (separated by spaces), STOPS, SEEN (a file; one line of JSON for each thread that was seen).
"""

import json
import os
import struct
import subprocess
import time

import gdb  # pylint: disable=import-error

FRAMES_MOST = 2000
PAUSES_S = (0.005, 0.011, 0.017, 0.029)  # the process works between two stops
SETTINGS = ("pagination off", "confirm off", "backtrace past-main on", "backtrace past-entry on",
            "auto-solib-add on", "debuginfod enabled off", f"backtrace limit {FRAMES_MOST}")


class Segments:
    """Where the loaded parts of a file are, in it and in memory. None of what is no ELF file (an archive of Java's classes)."""

    known = {}

    def __init__(self, path):
        self.parts = []
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:4] != b"\x7fELF" or len(head) < 64:
                return
            offset, = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            file.seek(offset)
            for _ in range(count):
                kind, _, at, address, _, length = struct.unpack_from("<IIQQQQ", file.read(size))
                if kind == 1:
                    self.parts.append((at, address, length))

    def address(self, offset):
        return next((offset - at + address for at, address, length in self.parts if at <= offset < at + length), None)

    @classmethod
    def of(cls, path):
        if path not in cls.known:
            cls.known[path] = cls(path)
        return cls.known[path]


def mappings(pid):
    found = []
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
        for line in file:
            fields = line.split(None, 5)
            begin, end = (int(part, 16) for part in fields[0].split("-"))
            path = fields[5].strip() if len(fields) > 5 else ""
            found.append((begin, end, int(fields[2], 16), path, "x" in fields[1]))
    return found


def location(maps, pc):
    """(address as limpet tells it, name of the file, whether it is code)."""
    for begin, end, offset, path, is_code in maps:
        if not begin <= pc < end:
            continue
        if path.startswith("/") and os.path.exists(path):
            return Segments.of(path).address(pc - begin + offset) or pc, os.path.basename(path), is_code
        return (pc - begin if path == "[vdso]" else pc), path, is_code
    return pc, "", False


def frames_of(thread, maps):
    """[address, file, whether it is code, function] of each frame, innermost first, and why gdb saw no more."""
    thread.switch()
    frames, frame, end = [], gdb.newest_frame(), ""
    try:
        while frame and len(frames) < FRAMES_MOST:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):  # neither is on the stack
                frames.append([*location(maps, frame.pc()), frame.name() or ""])
            end = gdb.frame_stop_reason_string(frame.unwind_stop_reason())
            if frames and not frames[-1][2]:  # it is astray, and would go on for long
                break
            frame = frame.older()
    except gdb.error as error:
        end = str(error)
    return frames, end


def limpet_frames(pid):
    argv = [os.environ["LIMPET"], "dump", str(pid), "--json", "--user", "--no-lines", "--sampler", "bpf"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    threads = [json.loads(line) for line in done.stdout.splitlines()]
    return {thread["tid"]: thread for thread in threads if thread.get("event") == "thread"}


def look(pid, out):
    gdb.execute(f"attach {pid}", to_string=True)
    try:
        maps = mappings(pid)
        by_limpet = limpet_frames(pid)
        for thread in gdb.selected_inferior().threads():
            tid = thread.ptid[1]
            seen, end = frames_of(thread, maps)
            print(json.dumps({"tid": tid, "gdb": seen, "gdb_end": end, "limpet": by_limpet.get(tid)}), file=out)
    finally:
        gdb.execute("detach", to_string=True)


def main():
    for setting in SETTINGS:
        try:
            gdb.execute(f"set {setting}", to_string=True)
        except gdb.error:
            pass  # an older gdb does not know all of them
    pids = [int(word) for word in os.environ["PIDS"].split()]
    with open(os.environ["SEEN"], "a", encoding="utf-8") as out:
        for number in range(int(os.environ["STOPS"])):
            pid = pids[number % len(pids)]
            try:
                look(pid, out)
            except gdb.error:
                if not os.path.exists(f"/proc/{pid}"):
                    break
            print(json.dumps({"stop": number}), file=out, flush=True)
            time.sleep(PAUSES_S[number % len(PAUSES_S)])


main()
