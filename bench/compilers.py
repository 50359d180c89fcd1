"""How true stacks are of what each compiler makes at each level: a program of many frames, in C
(tests/unwind/make_shapes.py) and in other languages (make_chains.py), built by every compiler that is found, and
sampled by both samplers with stacks.  That in C is also run instruction by instruction beside a list of its calls
(tests/unwind/each_instruction.c).

Wrong: called complete, and not a path of the program's calls."""

import collections
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import report

HERE = os.path.dirname(os.path.abspath(__file__))
UNWIND = os.path.join(HERE, "../tests/unwind")
EACH = os.environ.get("EACH_INSTRUCTION", os.path.join(HERE, "../build/tests/unwind/each_instruction"))
# How a language's programs are written and built: the command that writes one, the end of its name, its compilers, what a
# compiler is called with before its level, and the levels.
Language = collections.namedtuple("Language", "writer ending compilers options levels")


def versions(*names):
    return [f"{name}{number}" for name in names for number in ("", *(f"-{n}" for n in range(9, 23)))]


C = Language(("make_shapes.py",), ".c", versions("gcc", "clang"), "-w -lm",
             ("-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-O2 -fomit-frame-pointer", "-O2 -fno-omit-frame-pointer", "-O2 -flto",
              "-O2 -static", "-O2 -fno-asynchronous-unwind-tables -fexceptions"))  # fmt: skip
LANGUAGES = (
    C,
    Language(("make_chains.py", "fortran"), ".f90", versions("gfortran"), "-w -fno-inline -fno-ipa-cp",
             ("-O0", "-O2", "-O3", "-Os", "-O2 -fomit-frame-pointer")),
    Language(("make_chains.py", "rust"), ".rs", ["rustc", "/usr/bin/rustc"], "-Awarnings",
             ("-Copt-level=0", "-Copt-level=2", "-Copt-level=3", "-Copt-level=s", "-Copt-level=2 -Clto=fat",
              "-Copt-level=2 -Cpanic=abort -Cforce-unwind-tables=no")),
    Language(("make_chains.py", "go"), ".go", ["go", *sorted(glob.glob("/usr/lib/go-*/bin/go"))], "build",
             ("-gcflags=-N", "-gcflags=", "-ldflags=-s")),
    Language(("make_chains.py", "d"), ".d", ["ldc2", *versions("gdc")], "", ("-O0", "-O1", "-O2", "-O3")),
)  # fmt: skip
OWN = re.compile(r"c(\d\d)_([a-h])(_tail)?$")
SUMMARY = re.compile(r"(\d+) instructions, (\d+) right, (\d+) wrong, (\d+) incomplete$")
WRONG_MAX, INCOMPLETE_MAX = 1 / 10000, 1 / 100

Counts = collections.namedtuple("Counts", "right wrong incomplete guessed", defaults=(0,))


def compilers(commands):
    """One of each file: gcc is a link to one of the others."""
    found = {}
    for command in commands:
        path = shutil.which(shlex.split(command)[0])
        if path:
            found.setdefault((os.path.realpath(path), *shlex.split(command)[1:]), command)
    return sorted(found.values())


def build(language, compiler, level, source, program):
    options = (*shlex.split(language.options), *shlex.split(level))
    # `go build` takes options before files only, and libraries stand behind what needs them.
    output = (f"-of={program}",) if os.path.basename(compiler).startswith("ldc") else ("-o", program)
    command = [*shlex.split(compiler), *(option for option in options if option != "-lm"), *output, source]
    done = subprocess.run([*command, *(option for option in options if option == "-lm")], stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "GO111MODULE": "off"}, check=False)  # fmt: skip
    if done.returncode:
        report.progress(f"{compiler} {level}: not built: {done.stderr.strip()[-100:]}")
    return not done.returncode


def plain(name):
    """A function's name as the writers of programs have it."""
    name = name if ".so" in name else name.removeprefix("main.").split(".")[0]
    return "main" if name in ("MAIN__", "_Dmain", "D main") else name


def is_true(names):
    """Whether these can be the functions of a stack, outermost first."""
    names = [plain(name) for name in names]
    if "turn" not in names:
        return not any(OWN.match(name) for name in names)
    at = names.index("turn")
    calls = names[at + 1:]
    while calls and not OWN.match(calls[-1]):  # what they call: leaves, and the C library, which may be linked in
        if calls.pop() in ("main", "turn"):
            return False
    # Of Rust's main, shapes::main, samples have the crate's name.
    return at > 0 and names[at - 1] in ("main", "shapes") and is_path(calls)


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


sys.path.insert(0, UNWIND)
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


def measure(language, compiler, level, source, sample):
    """Rows of the table, and whether the bars are kept."""
    program = os.path.join(os.path.dirname(source), "shapes")
    if not build(language, compiler, level, source, program):
        return
    if language is C:
        yield [compiler, level, "each instruction"], run_each_instruction(program), ""
    for sampler in ("bpf", "copy"):
        stacks, (_, refused) = sample(sampler, program)
        counts, example = judge_samples(stacks)
        yield [compiler, level, sampler], None if refused else counts, example


def measure_all(language, more, sample):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "shapes" + language.ending)
        with open(source, "w", encoding="ascii") as file:
            subprocess.run([sys.executable, os.path.join(UNWIND, language.writer[0]), *language.writer[1:]], stdout=file, check=True)
        for compiler in compilers([*language.compilers, *more]):
            for level in language.levels:
                report.progress(f"{compiler} {level} ...")
                yield from measure(language, compiler, level, source, sample)


def is_kept(counts):
    everything = sum(counts)
    return counts.wrong <= everything * WRONG_MAX and counts.incomplete <= everything * INCOMPLETE_MAX


def cells(head, counts):
    return [*head, *(f"{count}" for count in counts)] if counts else [*head, "-", "-", "-", "-"]


def main(options, machine, sample):
    """Tells and returns which bars were missed."""
    rows, missed, examples = [], [], []
    for language in LANGUAGES if not options.language else [one for one in LANGUAGES if one.ending[1:] in options.language]:
        for head, counts, example in measure_all(language, options.compiler if language is C else (), sample):
            rows.append(cells(head, counts))
            missed += [" ".join(head)] if counts and not is_kept(counts) else []
            examples += [f"- {' '.join(head)}: {example}"] if example else []
    machine.load_after = os.getloadavg()
    print("\n".join(machine.lines()) + "\n")
    print(report.table(["compiler", "options", "by", "right", "wrong", "incomplete", "guessed"], rows) + "\n")
    print("\n".join(examples))
    print("aim (wrong 1 in 10,000, incomplete 1 %): " + ("MISSED by " + "; ".join(missed) if missed else "kept"))
    return missed
