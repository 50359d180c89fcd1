"""limpet's stacks beside gdb's, of the same threads while they stand still: where they agree, and why they do not."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

LOOK = pathlib.Path(__file__).resolve().parent / "gdb_look.py"
LIMIT_S = 600
STUCK_LEAST = 8  # frames: nobody calls itself so in what is looked at
LOOP = "the loop of an interpreter"
LOOPS = ("_PyEval_EvalFrameDefault", "execute_ex", "Perl_runops_standard")


def look(targets, stops):
    """Lines of gdb_look.py, until there were so many stops; processes that end meanwhile are followed by others."""
    seen, done, end = [], 0, time.monotonic() + LIMIT_S
    while done < stops and time.monotonic() < end:
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            environment = {**os.environ, "PIDS": " ".join(map(str, targets())), "STOPS": str(stops - done),
                           "SEEN": file.name}  # fmt: skip
            gdb = subprocess.run(["gdb", "-nx", "-batch", "-x", str(LOOK)], env=environment, capture_output=True,
                                 text=True, timeout=LIMIT_S, check=False)  # fmt: skip
            lines = [json.loads(line) for line in file.read().splitlines()]
        is_lost = "Traceback" in gdb.stderr  # gdb itself ends as if all were well
        assert not gdb.returncode and not is_lost, f"gdb ended with {gdb.returncode}: {gdb.stderr.strip()[-300:]}"
        seen += [line for line in lines if "tid" in line]
        done += sum("stop" in line for line in lines)
    return seen, done


def bare(name):
    """Without the version of a symbol, and the marks that glibc gives to its own names for a function."""
    return re.sub(r"^_*(GI_+)?(libc_)?|@.*$|_impl$", "", name)


def addresses(thread):
    """Those that limpet tells; inlined functions share theirs. Without lines only functions of interpreters have a file, or
    their language as module: those that follow each other run in one loop of the interpreter's."""
    return once([(0, LOOP, LOOP) if frame["file"] or frame["module"] == "[php]" else (int(frame["address"], 16), frame["module"], frame["function"])
                 for frame in thread["frames"] if not frame["inlined"]])  # fmt: skip


def gdb_addresses(line):
    return once([(0, LOOP, True, LOOP) if frame[3] in LOOPS else frame for frame in line["gdb"]])


def once(frames):
    return [frame for i, frame in enumerate(frames) if i == 0 or frame[1] != LOOP or frames[i - 1][1] != LOOP]


def same_location(by_gdb, by_limpet):
    """What a signal interrupted is one behind in limpet's. The loop of an interpreter may have no name (Lua's)."""
    if by_limpet[1] == LOOP:
        return by_gdb[1] == LOOP or not by_gdb[3]
    return by_limpet[0] - by_gdb[0] in (0, 1)


def is_stuck(frames, number):
    """From there on gdb has the frame before again and again, as in some of V8's functions."""
    rest = frames[number:]
    return number > 0 and len(rest) >= STUCK_LEAST and all(frame[0] == frames[number - 1][0] for frame in rest)


def compare(line):
    """("same", 0), or what is different and from which frame on."""
    if not line["limpet"] or not line["limpet"]["has_stack"]:
        return "limpet has no stack", 0
    ours, theirs = addresses(line["limpet"]), gdb_addresses(line)
    for number, (mine, other) in enumerate(zip(ours, theirs)):
        if not same_location(other, mine):
            if is_stuck(theirs, number):
                return "gdb has one frame again and again", number
            is_lost = not all(frame[2] for frame in theirs[number:])
            return "gdb goes where no code is" if is_lost else "another frame", number
    if len(ours) > len(theirs):
        return "gdb ends earlier", len(theirs)
    if len(ours) == len(theirs):
        return "same", 0
    is_lost = not all(frame[2] for frame in theirs[len(ours):])
    return "gdb goes where no code is" if is_lost else "limpet ends earlier", len(ours)


class Aliases:
    """Names that one file has for the same address."""

    def __init__(self):
        self.known = {}

    def of(self, path):
        if path not in self.known:
            text = "".join(subprocess.run(["nm", *how, path], capture_output=True, text=True, check=False).stdout
                           for how in (["-D", "--defined-only"], ["--defined-only"]))  # fmt: skip
            found = re.findall(r"^([0-9a-f]+) \S (\S+)", text, re.MULTILINE)
            self.known[path] = {bare(name): int(address, 16) for address, name in found}
        return self.known[path]

    def are_same(self, path, one, other):
        names = self.of(path)
        return names.get(one) is not None and names.get(one) == names.get(other)


def names_differ(line, paths, aliases):
    """(limpet's, gdb's) of frames at the same location with names that are not the same function's."""
    for mine, other in zip(addresses(line["limpet"]), gdb_addresses(line)):
        if not same_location(other, mine):
            return
        ours, theirs = bare(mine[2]), bare(re.sub(r"\(.*", "", other[3]))
        if not theirs or "+0x" in ours or ours == theirs or ours.split("(")[0] == theirs:
            continue
        if not aliases.are_same(paths.get(other[1], ""), ours, theirs):
            yield ours, theirs, other[1]


class Verdict:
    def __init__(self, seen, stops, paths):
        self.seen, self.stops, self.frames = len(seen), stops, 0
        self.kinds, self.examples, self.names = collections.Counter(), {}, collections.Counter()
        aliases = Aliases()
        for line in seen:
            kind, at = compare(line)
            self.kinds[kind] += 1
            self.frames += len(line["gdb"])
            if kind != "same":
                self.examples.setdefault((kind, location_of(line, at)), []).append(describe(line, at))
            if line["limpet"]:
                self.names.update(names_differ(line, paths, aliases))

    def text(self):
        rest = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items() if kind != "same")
        return f"{self.stops} stops, {self.seen} stacks, {self.frames} frames: {self.kinds['same']} the same" + \
            (f"; {rest}" if rest else "")

    def lines(self):
        for (kind, where), texts in sorted(self.examples.items(), key=lambda item: -len(item[1])):
            yield f"  {len(texts)} x {kind}, at {where}: {texts[0]}"
        for (ours, theirs, where), count in self.names.most_common(8):
            yield f"  name of {count} frames in {where}: limpet {ours}, gdb {theirs}"


def location_of(line, at):
    """The frame from which on they differ, by file."""
    frames = gdb_addresses(line) or [["", "?", False, ""]]
    return frames[at - 1 if 0 < at <= len(frames) else 0][1] or "code without a file"


def describe(line, at):
    theirs = [f"{name or '??'} ({where or hex(address)})" for address, where, _, name in gdb_addresses(line)[max(0, at - 2):at + 2]]
    ours = [f"{name} ({where})" for _, where, name in addresses(line["limpet"])[max(0, at - 2):at + 2]] \
        if line["limpet"] else []
    return f"gdb {theirs} [{line['gdb_end']}], limpet {ours}" + \
        (f" [{line['limpet']['end']}]" if line["limpet"] else "")


def modules(pid):
    """Paths of the files of a process by their names."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
        paths = {line.split(None, 5)[5].strip() for line in file if "/" in line}
    return {os.path.basename(path): path for path in paths if os.path.exists(path)}
