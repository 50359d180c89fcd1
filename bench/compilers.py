"""How true stacks are of what each compiler makes at each level: one program of many frames
(tests/unwind/make_shapes.py), built by every compiler that is found, run instruction by instruction beside a list of
its calls (tests/unwind/each_instruction.c), and sampled by both samplers with stacks.

Wrong: called complete, and not a path of the program's calls."""

import collections
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import report

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE_SHAPES = os.path.join(HERE, "../tests/unwind/make_shapes.py")
EACH = os.environ.get("EACH_INSTRUCTION", os.path.join(HERE, "../build/tests/unwind/each_instruction"))
COMPILERS = [f"{name}{number}" for name in ("gcc", "clang") for number in ("", *(f"-{n}" for n in range(9, 23)))]
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fomit-frame-pointer", "-O2 -fno-omit-frame-pointer", "-O2 -flto",
          "-O2 -fno-asynchronous-unwind-tables -fexceptions")  # fmt: skip
OWN = re.compile(r"c(\d\d)_([a-h])(_tail)?$")
SUMMARY = re.compile(r"(\d+) instructions, (\d+) right, (\d+) wrong, (\d+) incomplete$")
WRONG_MAX, INCOMPLETE_MAX = 1 / 10000, 1 / 100

Counts = collections.namedtuple("Counts", "right wrong incomplete guessed", defaults=(0,))


def compilers(more):
    """One of each file: gcc is a link to one of the others."""
    found = {}
    for command in (*COMPILERS, *more):
        path = shutil.which(shlex.split(command)[0])
        if path:
            found.setdefault((os.path.realpath(path), *shlex.split(command)[1:]), command)
    return sorted(found.values())


def build(compiler, level, source, program):
    done = subprocess.run([*shlex.split(compiler), *shlex.split(level), "-w", "-o", program, source, "-lm"],
                          stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
    if done.returncode:
        report.progress(f"{compiler} {level}: not built: {done.stderr.strip()[-100:]}")
    return not done.returncode


def is_true(names):
    """Whether these can be the functions of a stack, outermost first."""
    names = [name.split(".")[0] if ".so" not in name else name for name in names]
    if "turn" not in names:
        return not any(OWN.match(name) for name in names)
    at = names.index("turn")
    calls = names[at + 1:]
    while calls and not OWN.match(calls[-1]):  # what they call: leaves, and the C library, which may be linked in
        if calls.pop() in ("main", "turn"):
            return False
    return at > 0 and names[at - 1] == "main" and is_path(calls)


def is_path(calls):
    """c03_a, c03_b, ...: only one that ends in a tail call may be missing."""
    before = -1
    for name in calls:
        own = OWN.match(name)
        if not own or own[1] != OWN.match(calls[0])[1]:
            return False
        number = "abcdefgh".index(own[2])
        is_behind_tail = number == before + 2 and int(own[1]) == TAIL_CHAIN
        if number != before + 1 and not is_behind_tail:
            return False
        before = number
    return True


sys.path.insert(0, os.path.dirname(MAKE_SHAPES))
import make_shapes  # noqa: E402

TAIL_CHAIN = len(make_shapes.SHAPES)


def run_each_instruction(program):
    done = subprocess.run([EACH, program, "once"], stdout=subprocess.PIPE, text=True, timeout=600, check=False)
    found = SUMMARY.search(done.stdout)
    return Counts(*(int(found[i]) for i in (2, 3, 4))) if found else None


def judge_samples(stacks):
    """Of {(names, end, is guessed): how often}."""
    counts, example = collections.Counter(), ""
    for (names, end, is_guessed), count in stacks.items():
        kind = "incomplete" if end != "complete" else "right" if is_true(names) else "wrong"
        counts["guessed" if is_guessed else kind] += count
        if kind == "wrong" and not is_guessed:
            example = " ".join(names)
    return Counts(*(counts[name] for name in Counts._fields)), example


def measure(compiler, level, source, folder, sample):
    """Rows of the table, and whether the bars are kept."""
    program = os.path.join(folder, "shapes")
    if not build(compiler, level, source, program):
        return
    yield [compiler, level, "each instruction"], run_each_instruction(program), ""
    for sampler in ("bpf", "copy"):
        stacks, (_, refused) = sample(sampler, program)
        counts, example = judge_samples(stacks)
        yield [compiler, level, sampler], None if refused else counts, example


def is_kept(counts):
    everything = sum(counts)
    return counts.wrong <= everything * WRONG_MAX and counts.incomplete <= everything * INCOMPLETE_MAX


def cells(head, counts):
    return [*head, *(f"{count}" for count in counts)] if counts else [*head, "-", "-", "-", "-"]


def main(options, machine, sample):
    """Tells and returns which bars were missed."""
    rows, missed, examples = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "shapes.c")
        with open(source, "w", encoding="ascii") as file:
            subprocess.run([sys.executable, MAKE_SHAPES], stdout=file, check=True)
        for compiler in compilers(options.compiler):
            for level in LEVELS:
                report.progress(f"{compiler} {level} ...")
                for head, counts, example in measure(compiler, level, source, folder, sample):
                    rows.append(cells(head, counts))
                    missed += [" ".join(head)] if counts and not is_kept(counts) else []
                    examples += [f"- {' '.join(head)}: {example}"] if example else []
    machine.load_after = os.getloadavg()
    print("\n".join(machine.lines()) + "\n")
    print(report.table(["compiler", "options", "by", "right", "wrong", "incomplete", "guessed"], rows) + "\n")
    print("\n".join(examples))
    print("aim (wrong 1 in 10,000, incomplete 1 %): " + ("MISSED by " + "; ".join(missed) if missed else "kept"))
    return missed
