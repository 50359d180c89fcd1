"""Runs a Python program whose stacks are known under limpet, and compares what is seen with what is true."""

import ast
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import progress  # noqa: E402, F401

LIMPET = os.environ["LIMPET"]
PROGRAM = pathlib.Path(__file__).resolve().with_name("python_program.py")
LIMIT = 300
MAIN = ("<module>", "main", "go")
THREAD = ("_bootstrap", "_bootstrap_inner", "run", "go")
WAYS = {
    "nested": ("nested", "middle", "inner", "burn"),
    "generator": ("generator", "produce", "burn"),
    "comprehension": ("comprehension", "<listcomp>", "burn"),
    "recursion": ("recursion",) * 41 + ("burn",),
    "callback": ("callback", "by_burning", "burn"),
    "methods": ("methods", "result", "method", "burn"),
    "unicode_names": ("unicode_names", "größe", "burn"),
    "closing": ("closing", "enclosed", "burn"),
    "coroutines": ("coroutines", "awaiting", "awaited", "burn"),
}
# What a line that leads to the next function has, where that is not its name; by the two of them.
CALLS = {("comprehension", "<listcomp>"): "[burn() for", **{("go", way): "WAYS[way]()" for way in WAYS}}
Frame = collections.namedtuple("Frame", "function file line is_python")


def run(*words):
    return subprocess.run([LIMPET, *map(str, words)], capture_output=True, text=True, timeout=LIMIT)


def simple(name):
    """Versions before 3.11 know no other names."""
    return name.rsplit(".", 1)[-1]


class Recording:
    """The samples of a recording: for each thread's name, lists of frames, outermost first."""

    def __init__(self, path, folder):
        exported = pathlib.Path(folder) / "all.speedscope.json"
        done = run("export", path, "-o", exported)
        if done.returncode:
            raise AssertionError(done.stderr)
        document = json.loads(exported.read_text(encoding="utf-8"))
        frames = [self.frame(entry) for entry in document["shared"]["frames"]]
        self.stacks = collections.defaultdict(list)
        for profile in document["profiles"]:
            name = re.sub(r" \(\d+\)$", "", profile["name"])
            self.stacks[name] += [[frames[i] for i in stack] for stack in profile["samples"]]

    @staticmethod
    def frame(entry):
        file = entry.get("file", "")
        is_python = file.endswith(".py") or file.startswith("<")
        return Frame(entry["name"], file, entry.get("line", 0), is_python)


def record(pid, path, *options):
    return run("record", "-p", pid, "-o", path, *options)


def python_frames(stack):
    return [frame for frame in stack if frame.is_python]


class Truth:
    """What may be seen of the program."""

    def __init__(self, version):
        self.lines = PROGRAM.read_text(encoding="utf-8").splitlines()
        self.ranges = {"<module>": (1, len(self.lines))}
        for node in ast.walk(ast.parse("\n".join(self.lines))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.ranges[node.name] = (node.lineno, node.end_lineno)
        self.ranges["<listcomp>"] = self.ranges["comprehension"]
        self.version = version

    def chain(self, way, is_main):
        functions = WAYS[way]
        if self.version >= (3, 12):
            functions = tuple(name for name in functions if name != "<listcomp>")
        return (MAIN if is_main else THREAD) + functions

    def problem(self, stack):
        """What is wrong with a stack, or None.  One that is on its way to or from burn() has a part of it."""
        frames = python_frames(stack)
        names = tuple(simple(frame.function) for frame in frames)
        if not names:
            return "no Python frame"
        way = next((name for name in names if name in WAYS), "nested")
        if names != self.chain(way, names[0] == MAIN[0])[: len(names)]:
            return f"wrong functions: {names}"
        for frame, callee in zip(frames, (*names[1:], None)):
            wrong = self.line_problem(frame, callee)
            if wrong:
                return wrong
        return None

    def line_problem(self, frame, callee):
        if pathlib.Path(frame.file).name != PROGRAM.name:
            return None if simple(frame.function) in THREAD else f"wrong file: {frame}"
        first, last = self.ranges[simple(frame.function)]
        if not first <= frame.line <= last:
            return f"line out of range: {frame}"
        if callee and CALLS.get((simple(frame.function), callee), callee) not in self.lines[frame.line - 1]:
            return f"{frame} does not call {callee}"
        return None
