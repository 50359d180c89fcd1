"""Functions of Ruby, PHP, Perl and Lua in stacks: the right ones, with the right lines; and programs that pass for their
interpreters.

Each program in languages/ says in comments which function a line leads to.

RUBY, PHP, PERL, LUA, LUAJIT: the interpreters; Debian's own when not given (LUA: several, apart by blanks).
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

from exactness import WrongStack, in_three_tries
from python_stacks import LIMIT, LIMPET, Recording, record, run

HERE = pathlib.Path(__file__).resolve().parent
BUILT = pathlib.Path(os.environ["SAMPLING_PROGRAMS"])
SAMPLES = 100
SHARE = 0.99
NO_SAMPLES = 5  # the exit code
VERSIONS_OF_LUA = os.environ.get("LUA", "lua5.1 lua5.2 lua5.3 lua5.4").split()


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "a.limpet"

    def wait_for(self, process, condition):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and process.poll() is None and not condition():
            time.sleep(0.02)
        self.assertIsNone(process.poll())

    def start(self, *command, ticks=15, **options):
        """A program that is past its beginning."""
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_for(process, lambda: cpu_ticks(process.pid) >= ticks)
        return process

    @contextlib.contextmanager
    def running(self, *command, **options):
        """One that ends with its block, and takes no time from the next one."""
        process = self.start(*command, **options)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def record(self, pid, *options, least=SAMPLES):
        """The stacks of a recording with enough samples, however busy the machine is."""
        for seconds in (0.3, 1, 4, 16, 60):
            self.done = record(pid, self.path, "-F", "1999", "--duration", f"{seconds}s", *options)
            if self.done.returncode == NO_SAMPLES:
                continue
            self.assertEqual(self.done.returncode, 0, self.done.stderr)
            stacks = [stack for of_thread in Recording(self.path, self.folder).stacks.values() for stack in of_thread]
            if len(stacks) >= least:
                return stacks
        self.fail(f"too few samples: {self.done.stderr}")


class Program:
    """A program of languages/, and what may be seen of it."""

    def __init__(self, name, leaf):
        self.leaf = leaf
        self.path = HERE / "languages" / name
        self.lines = self.path.read_text(encoding="utf-8").splitlines()
        self.burn = next(i for i, line in enumerate(self.lines, 1) if re.search(r"\b(def|function|sub) burn", line))
        self.end = next(i for i, line in enumerate(self.lines, 1) if "of burn" in line)

    def frames(self, stack):
        return [frame for frame in stack if pathlib.Path(frame.file).name == self.path.name]

    def callees(self, frame):
        return re.split(r", ", self.lines[frame.line - 1].partition("-> ")[2])

    def problem(self, stack, roots):
        """What is wrong with a stack, or None."""
        frames = self.frames(stack)
        if not frames:
            return "no function"
        if frames[0].function not in roots:
            return f"root: {frames[0]}"
        for frame, callee in zip(frames, frames[1:]):
            if callee.function not in self.callees(frame):
                return f"{frame} does not call {callee.function}"
        if frames[-1].function == self.leaf and not self.burn <= frames[-1].line <= self.end:
            return f"line: {frames[-1]}"
        return None


class Language:
    """What is the same for all of them."""

    interpreter = program = language = None
    roots = ("<main>",)
    leaf = "burn"
    functions = ()
    waiting = "waiting"
    callback, calling = None, "callback"
    versions, asking = (), ()  # those that limpet knows, and how an interpreter tells its own

    def setUp(self):
        super().setUp()
        if not shutil.which(self.interpreter):
            self.skipTest(f"no {self.interpreter}")
        if self.asking:
            version = subprocess.run([self.interpreter, *self.asking], capture_output=True, text=True, check=True).stdout
            if not version.startswith(tuple(f"{known}." for known in self.versions)):
                self.skipTest(f"{self.title} {version} is not supported")
        self.truth = Program(self.program, self.leaf)

    def check_stacks(self, stacks, roots):
        wrong = [problem for stack in stacks if (problem := self.truth.problem(stack, roots))]
        self.assertLessEqual(len(wrong) / len(stacks), 1 - SHARE, wrong[:3])
        burning = [stack for stack in stacks if [frame.function for frame in self.truth.frames(stack)][-1:] == [self.leaf]]
        self.assertGreaterEqual(len(burning) / len(stacks), 0.9)

    def test_functions_and_lines(self):
        process = self.start(self.interpreter, self.truth.path, "all")
        stacks = self.record(process.pid)
        self.check_stacks(stacks, self.roots)
        self.assertIn(f"{self.leaf} ({self.truth.path.name})", run("report", self.path).stdout)
        exported = self.folder / "only.folded"
        self.assertEqual(run("export", self.path, "--only", self.language or self.title.lower(), "-o", exported).returncode, 0)
        only = {name for line in exported.read_text().splitlines() for name in line.rsplit(" ", 1)[0].split(";")[1:]}
        self.assertIn(self.leaf, only)
        self.assertNotIn("_start", only)
        self.assertLessEqual(set(self.functions), {frame.function for stack in stacks for frame in stack})

    def test_native_frames_between(self):
        """C code that the language called, and that called it, stays where it was."""
        process = self.start(self.interpreter, self.truth.path, "callback")
        seen = 0
        for stack in self.record(process.pid, least=50):
            names = [frame.function for frame in stack]
            if self.callback in names:
                between = stack[names.index(self.calling) + 1 : names.index(self.callback)]
                seen += bool(between) and not self.truth.frames(between)
        self.assertGreater(seen, 0)

    def test_waits(self):
        process = self.start(self.interpreter, self.truth.path, "waiting", ticks=0)
        wanted = next(i for i, line in enumerate(self.truth.lines, 1) if "-> nowhere" in line)
        lines = {}

        def is_waiting():
            shown = run("dump", process.pid, "--json")
            events = [json.loads(line) for line in shown.stdout.splitlines()]
            frames = [frame for event in events if event["event"] == "thread" for frame in event["frames"]]
            lines.update((frame["function"], frame["line"]) for frame in frames)
            return lines.get(self.waiting) == wanted

        self.wait_for(process, is_waiting)
        self.assertEqual(lines.get(self.waiting), wanted, lines)

    def test_without_kernel_programs(self):
        process = self.start(self.interpreter, self.truth.path, "nested", ticks=1)
        done = record(process.pid, self.path, "--sampler", "copy", "--duration", "200ms")
        self.assertIn(f"{self.title} functions are not seen, native frames only", done.stderr)


@in_three_tries
class Ruby(Language, Case):
    title = "Ruby"
    interpreter = os.environ.get("RUBY", "ruby")
    versions, asking = ("3.1", "3.3"), ("-e", "print RUBY_VERSION")
    program = "program.rb"
    roots = ("<main>", "block (2 levels) in <main>", "block in fiber")
    functions = ("nested", "recursion", "block in callback", "block in <class:Shop>", "block in fiber", "größe")
    callback = "block in callback"

    def test_threads(self):
        """They run in turn; where they wait for each other, that is in a line of Ruby, too."""
        process = self.start(self.interpreter, self.truth.path, "nested", "callback", "recursion")
        wanted, seen, stacks = {"nested", "callback", "recursion"}, set(), []

        def has_seen_all():
            """On a busy machine it takes long until each has had its turn."""
            stacks.extend(self.record(process.pid, "--off-cpu"))
            seen.update(frame.function for stack in stacks for frame in stack)
            return wanted <= seen

        self.wait_for(process, has_seen_all)
        wrong = [problem for stack in stacks if self.truth.frames(stack)
                 if (problem := self.truth.problem(stack, self.roots))]  # fmt: skip
        self.assertLessEqual(len(wrong) / len(stacks), 1 - SHARE, wrong[:3])
        self.assertLessEqual(wanted, seen)

    def script(self, text):
        path = self.folder / "script.rb"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def test_odd_names(self):
        script = self.script(r"""
            def burn
              i = 0
              i += 1 while i < 20_000
            end
            name = "a;b\n\e[2J\xff" + "x" * 5000
            eval("define_method(name.b.to_sym) { burn }", binding, "<\e[31m\n; späße>")
            loop { send(name.b.to_sym) }
        """)
        stacks = self.record(self.start(self.interpreter, script).pid, least=50)
        texts = {text for stack in stacks for frame in stack for text in (frame.function, frame.file)}
        self.assertTrue(any("späße" in text for text in texts), texts)
        for text in texts:
            self.assertTrue(text.isprintable(), repr(text))

    def test_code_that_comes_and_goes(self):
        script = self.script("""
            i = 0
            loop do
              i += 1
              eval("\\n" * (i % 50) + "def made_#{i}\\n  200.times { |k| k }\\nend", binding, "<made #{i}>")
              20.times { send("made_#{i}") }
              Object.send(:remove_method, "made_#{i}")
              GC.start if i % 100 == 0
            end
        """)
        stacks = self.record(self.start(self.interpreter, script).pid)
        for frame in (frame for stack in stacks for frame in stack if frame.function.startswith("made_")):
            if frame.file != f"<made {frame.function[5:]}>":
                raise WrongStack(frame)


@in_three_tries
class Php(Language, Case):
    title = "PHP"
    interpreter = os.environ.get("PHP", "php")
    versions, asking = ("8.2",), ("-r", "echo PHP_VERSION;")
    program = "program.php"
    functions = ("nested", "recursion", "{closure}", "Shop::__get", "produce")
    callback = "{closure}"


@in_three_tries
class Perl(Language, Case):
    title = "Perl"
    interpreter = os.environ.get("PERL", "perl")
    versions, asking = ("5.36", "5.38", "5.40", "5.42"), ("-e", 'printf "%vd", $^V')
    program = "program.pl"
    leaf = "main::burn"
    waiting = "main::waiting"
    functions = ("main::nested", "main::recursion", "main::by_burning", "Shop::__ANON__", "main::trying", "main::__ANON__")
    callback, calling = "main::by_burning", "main::callback"


class LuaProgram(Program):
    """Functions of Lua are values without names: they are told by the line where they begin."""

    def named(self, name):
        line = next((i for i, line in enumerate(self.lines, 1) if re.search(rf"\bfunction (shop\.)?{name}\(", line)), 0)
        return f"function <{self.path.name}:{line}>"

    def callees(self, frame):
        return [self.named(name) for name in super().callees(frame)]


class LuaLanguage(Language):
    title = "Lua"
    language = "lua"
    program = "program.lua"

    def setUp(self):
        super().setUp()
        self.truth = LuaProgram(self.program, self.leaf)
        self.leaf = self.truth.leaf = self.truth.named("burn")
        self.waiting, self.callback, self.calling = map(self.truth.named, ("waiting", "by_burning", "callback"))
        self.functions = tuple(map(self.truth.named, ("nested", "recursion", "by_burning", "index", "generator", "trying")))

    def start(self, *command, **options):
        """One that waits reads from a pipe that nobody writes to."""
        process = super().start(*command, stdin=subprocess.PIPE, **options)
        self.addCleanup(process.stdin.close)
        return process


def of_lua(version):
    """The last one shows everything, the others what is not the same in all versions."""

    @in_three_tries
    class Lua(LuaLanguage, Case):
        interpreter = version
        if version != VERSIONS_OF_LUA[-1]:
            test_waits = test_without_kernel_programs = test_native_frames_between = None

    Lua.__name__ = Lua.__qualname__ = pathlib.Path(version).name.replace(".", "_")
    return Lua


for found in VERSIONS_OF_LUA:
    globals()[pathlib.Path(found).name.replace(".", "_")] = of_lua(found)


@unittest.skipUnless(os.uname().machine == "x86_64", "functions of LuaJIT are known on x86-64 only")
@in_three_tries
class LuaJit(LuaLanguage, Case):
    """Interpreted: what is compiled has inlined what it calls."""

    title = "LuaJIT"
    interpreter = os.environ.get("LUAJIT", "luajit")

    def start(self, *command, **options):
        return super().start(command[0], "-joff", *command[1:], **options)

    def test_compiled(self):
        """Known is the function in which it was entered; the code that runs is shown as what it is."""
        process = Case.start(self, self.interpreter, self.truth.path, "nested", ticks=30)
        compiled = [[frame.function for frame in stack] for stack in self.record(process.pid)]
        compiled = [names for names in compiled if "[JIT of luajit]" in names]
        self.assertGreater(len(compiled), 0)
        known = {"<main>", *map(self.truth.named, ("nested", "inner", "burn"))}
        for names in compiled:
            self.assertIn(names[names.index("[JIT of luajit]") - 1], known, names)
            self.assertEqual([name for name in names if name in known][:1], ["<main>"], names)


class Strangers(Case):
    """Programs that pass for an interpreter."""

    def check_unknown(self, name, reason):
        with self.running(BUILT / name, "cycle", ticks=2) as process:
            names = {frame.function for stack in self.record(process.pid, least=10) for frame in stack}
        self.assertIn("execute_ex", names)
        self.assertIn(reason, self.done.stderr + run("report", self.path).stdout)

    def test_unknown_versions(self):
        self.check_unknown("php8.9", "no functions of PHP, native frames only: its version (module API 99999999)")
        self.check_unknown("perl5.99", "no functions of Perl, native frames only: version 5.99 is not supported")
        self.check_unknown("ruby9.9", "no functions of Ruby, native frames only: version 9.9 is not supported")
        self.check_unknown("lua9.9", "no functions of Lua, native frames only: version 9.9.9 is not supported")

    def test_liars(self):
        for name in ("php8.2", "ruby3.1", "perl5.36", "lua5.4"):
            for mode in ("cycle", "garbage", "changing"):
                with self.subTest(name=name, mode=mode), self.running(BUILT / name, mode, ticks=2) as process:
                    self.assertGreater(len(self.record(process.pid, least=20)), 0)
                    self.assertIsNone(process.poll())
                    self.assertEqual(run("dump", process.pid).returncode, 0)


def main():
    probe = subprocess.run([LIMPET, "record", "-p", str(os.getpid()), "--sampler", "bpf", "--duration", "10ms",
                            "-o", os.devnull], capture_output=True, text=True)  # fmt: skip
    if probe.returncode == 3:
        print(probe.stderr)
        sys.exit(77)
    unittest.main()


if __name__ == "__main__":
    main()
