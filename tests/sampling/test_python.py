"""Python functions in stacks: the right ones, with the right lines, for every kind of call; and interpreters
that are not known, or lie.

PYTHON: the interpreter; Debian's own when not given.
"""

import collections
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

from exactness import in_three_tries
from python_stacks import LIMIT, LIMPET, PROGRAM, WAYS, Recording, Truth, record, run, simple

PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
BUILT = pathlib.Path(os.environ["SAMPLING_PROGRAMS"])
SHARE = 0.99
SAMPLES = 300
NO_SAMPLES = 5  # the exit code


def version_of(python):
    shown = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
    return tuple(map(int, shown.stdout.split()))


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.folder / "a.limpet"

    def await_running(self, process, condition):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and process.poll() is None and not condition():
            time.sleep(0.02)
        self.assertIsNone(process.poll())

    def start(self, *command, threads=1, ticks=10):
        """A program that is past its beginning, also that of its last thread."""
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.await_running(process, lambda: len(os.listdir(f"/proc/{process.pid}/task")) >= threads)
        enough = cpu_ticks(process.pid) + threads * ticks
        self.await_running(process, lambda: cpu_ticks(process.pid) >= enough)
        return process

    def script(self, text):
        path = self.folder / "script.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def record(self, pid, *options, least=SAMPLES):
        """A recording with enough samples, however busy the machine is."""
        for seconds in (0.3, 1, 4, 16, 60):
            self.done = record(pid, self.path, "-F", "1999", "--duration", f"{seconds}s", *options)
            if self.done.returncode == NO_SAMPLES:
                continue
            self.assertEqual(self.done.returncode, 0, self.done.stderr)
            recording = Recording(self.path, self.folder)
            if sum(map(len, recording.stacks.values())) >= least:
                return recording
        self.fail(f"too few samples: {self.done.stderr}")

    def check_share(self, problems, least=SHARE):
        wrong = [problem for problem in problems if problem]
        self.assertGreater(len(problems), 0)
        self.assertGreaterEqual(1 - len(wrong) / len(problems), least, collections.Counter(wrong).most_common(3))


@in_three_tries
class KnownStacks(Case):
    def check_stacks(self, stacks, ways):
        truth = Truth(version_of(PYTHON))
        self.check_share([truth.problem(stack) for stack in stacks])
        seen = {simple(frame.function) for stack in stacks for frame in stack}
        self.assertLessEqual(set(ways), seen)
        burning = [stack for stack in stacks if any(simple(frame.function) == "burn" for frame in stack)]
        self.assertGreaterEqual(len(burning) / len(stacks), 0.9)

    def test_one_thread(self):
        process = self.start(PYTHON, PROGRAM, "all")
        recording = self.record(process.pid)
        stacks = [stack for of_thread in recording.stacks.values() for stack in of_thread]
        self.check_stacks(stacks, WAYS)
        roots = collections.Counter(stack[0].function for stack in stacks if stack)
        self.assertGreaterEqual((roots["_start"] + roots["main"]) / len(stacks), SHARE, roots)

    def test_threads(self):
        """They run in turn; where they wait for each other, that is in a line of Python, too."""
        ways = [way for way in WAYS if way != "nested"]
        process = self.start(PYTHON, PROGRAM, "nested", *ways, threads=len(ways) + 1)
        recording = self.record(process.pid, "--off-cpu")
        self.check_stacks([stack for of_thread in recording.stacks.values() for stack in of_thread], ways)


@in_three_tries
class NativeFramesBetween(Case):
    """C code that Python called and that called Python stays where it was."""

    def test_sort_is_between(self):
        process = self.start(PYTHON, PROGRAM, "callback")
        recording = self.record(process.pid, least=50)
        seen = 0
        for stacks in recording.stacks.values():
            for stack in stacks:
                names = [simple(frame.function) for frame in stack]
                if "by_burning" in names:
                    between = stack[names.index("callback") + 1 : names.index("by_burning")]
                    seen += bool(between) and not any(frame.is_python for frame in between)
                    self.assertNotIn("_PyEval_EvalFrameDefault", names[: names.index("by_burning")])
        self.assertGreater(seen, 0)

    def test_report_names_functions(self):
        process = self.start(PYTHON, PROGRAM, "nested")
        self.record(process.pid, least=50)
        shown = run("report", self.path).stdout
        self.assertIn("burn (python_program.py)", shown)


class Waiting(Case):
    PROGRAM = """
        import threading, time

        def sleeping():
            time.sleep(1000)

        def locked(lock):
            lock.acquire()

        lock = threading.Lock()
        lock.acquire()
        threading.Thread(target=sleeping, daemon=True).start()
        threading.Thread(target=locked, args=(lock,), daemon=True).start()
        for i in range(400000): pass
        time.sleep(1000)
    """

    def dump(self, pid, *options):
        shown = run("dump", pid, "--json", *options)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        events = [json.loads(line) for line in shown.stdout.splitlines()]
        return [event for event in events if event["event"] == "thread"]

    def check_dump(self, *options):
        script = self.script(self.PROGRAM)
        process = self.start(PYTHON, script, ticks=1)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            threads = self.dump(process.pid, *options)
            functions = [[frame["function"] for frame in thread["frames"]] for thread in threads]
            lines = {frame["function"]: frame["line"] for thread in threads for frame in thread["frames"]
                     if frame["file"] == str(script)}  # fmt: skip
            if {"sleeping", "locked", "<module>"} <= set(lines) and lines["<module>"] == 15:
                break
        self.assertEqual((lines.get("sleeping"), lines.get("locked"), lines.get("<module>")), (5, 8, 15), functions)

    def test_dump(self):
        self.check_dump()

    def test_dump_by_reading(self):
        self.check_dump("--sampler", "read")


@in_three_tries
class OneLanguage(Case):
    """--only and --full-paths."""

    def folded(self, *options):
        done = run("export", self.path, "-f", "folded", "-o", "-", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
        return {name for stack, _ in lines for name in stack.split(";")[1:]}, sum(int(count) for _, count in lines)

    def test_frames_of_one_language(self):
        process = self.start(PYTHON, PROGRAM, "callback")
        self.record(process.pid, least=50)
        everything, count = self.folded()
        python, python_count = self.folded("--only", "python")
        native, native_count = self.folded("--only", "native")
        self.assertLessEqual({"callback", "burn", "main", "go"}, python)
        self.assertFalse({"callback", "burn"} & native)
        self.assertTrue(any("sort" in name or "+0x" in name or name.startswith("Py") for name in native), native)
        self.assertFalse(python & native)
        self.assertEqual(python | native, everything)
        self.assertEqual(native_count, count)
        self.assertLessEqual(python_count, count)
        self.assertGreater(python_count, count * SHARE)
        shown = run("report", self.path, "--only", "python").stdout
        self.assertIn("burn (python_program.py)", shown)
        self.assertNotIn("_start", shown)

    def test_files_with_their_folders(self):
        process = self.start(PYTHON, PROGRAM, "nested")
        self.record(process.pid, least=20)
        for verb in (("report", self.path), ("top", process.pid, "--batch", "-d", "1s"), ("dump", process.pid)):
            short, long = run(*verb), run(*verb, "--full-paths")
            self.assertEqual((short.returncode, long.returncode), (0, 0), short.stderr + long.stderr)
            self.assertIn("burn (python_program.py)", short.stdout)
            self.assertIn(f"burn ({PROGRAM})", long.stdout)

    def test_live(self):
        process = self.start(PYTHON, PROGRAM, "callback")
        done = run("top", process.pid, "--batch", "--only", "python", "-n", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        functions = done.stdout.split("FUNCTION\n")[1].split("\n\n")[0].splitlines()
        self.assertTrue(functions)
        self.assertTrue(all("(python_program.py)" in line for line in functions), functions)

    def test_what_is_not_there(self):
        process = self.start(BUILT / "python3.99", "cycle", ticks=2)
        self.record(process.pid, least=1)
        self.assertEqual(run("report", self.path, "--only", "python").returncode, 5)
        done = run("report", self.path, "--only", "klingon")
        self.assertEqual(done.returncode, 2)
        self.assertIn("python", done.stderr)


@unittest.skipIf(version_of(PYTHON) < (3, 11), "threads have no names that are known")
@in_three_tries
class Threads(Case):
    """What the program calls its threads, and who has the lock of the interpreter."""

    PROGRAM = """
        import threading
        import time

        def burn():
            while True:
                pass

        def sleep():
            time.sleep(1000)

        class Named(threading.Thread):
            pass

        threading.Thread(target=burn, name="größter Brenner", daemon=True).start()
        Named(target=burn, daemon=True, name="second").start()
        sleeper = threading.Thread(target=sleep, daemon=True)
        sleeper.start()
        sleeper.name = "renamed " + "x" * 5000
        vars(sleeper)["more"] = 1
        time.sleep(1000)
    """
    NAMES = {"größter Brenner", "second"}

    def rows(self, *words):
        done = run(*words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_recorded(self):
        process = self.start(PYTHON, self.script(self.PROGRAM), threads=4, ticks=5)
        for sampler in ("bpf", "copy", "read"):
            rows = self.recorded_threads(process.pid, sampler)
            self.assertLessEqual(self.NAMES, set(rows))
            self.assertTrue(any(name.startswith("renamed xxx") for name in rows), rows)
            if version_of(PYTHON) != (3, 11):
                continue
            busy = [rows[name] for name in self.NAMES]
            self.assertGreater(min(row["gil_held"] for row in busy), 0)
            self.assertGreater(max(row["gil_waited"] for row in busy), 0)
            self.assertGreaterEqual(busy[0]["gil_looks"] * 1.05, sum(row["gil_held"] for row in rows.values() if "gil_held" in row))
            self.assertIn("FOR GIL", run("report", self.path).stdout)

    def recorded_threads(self, pid, sampler):
        """Of a recording that is long enough for each of them to have had the lock."""
        for seconds in (1, 4, 16):
            done = record(pid, self.path, "--sampler", sampler, "--off-cpu", "--duration", f"{seconds}s")
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = {row["name"]: row for row in self.rows("report", self.path) if row["event"] == "sampled_thread"}
            if all(rows.get(name, {}).get("gil_held") for name in self.NAMES):
                break
        return rows

    def test_dumped(self):
        process = self.start(PYTHON, self.script(self.PROGRAM), threads=4, ticks=5)
        for way in ("bpf", "read"):
            holders = 0
            for _ in range(10):
                rows = {row["name"]: row for row in self.rows("dump", process.pid, "--sampler", way) if row["event"] == "thread"}
                self.assertLessEqual(self.NAMES, set(rows))
                holders += any(rows[name]["has_gil"] for name in self.NAMES)
                if holders > 1:
                    break
            if version_of(PYTHON) == (3, 11):
                self.assertGreater(holders, 0)  # between two of them nobody has it

    def test_live(self):
        process = self.start(PYTHON, self.script(self.PROGRAM), threads=4, ticks=5)
        text = run("top", process.pid, "--batch").stdout
        for name in self.NAMES:
            self.assertIn(name, text)
        if version_of(PYTHON) == (3, 11):
            self.assertRegex(text, "second .GIL [1-9]")


class OddNames(Case):
    def test_names_that_are_not_harmless(self):
        script = self.script(r"""
            def burn():
                for i in range(20000):
                    pass

            source = "\n\ndef evil():\n    while True: burn()\n"
            names = {}
            exec(compile(source, "<\x1b[31m\n\ud800; späße>", "exec"), {"burn": burn}, names)
            evil = names["evil"]
            evil.__code__ = evil.__code__.replace(co_name="a;b\n\x1b[2J\ud83d" + "x" * 5000)
            if hasattr(evil.__code__, "co_qualname"):
                evil.__code__ = evil.__code__.replace(co_qualname="a;b\n\x1b[2J\ud83d" + "x" * 5000)
            evil()
        """)
        process = self.start(PYTHON, script)
        recording = self.record(process.pid)
        names = {frame.function for stacks in recording.stacks.values() for stack in stacks for frame in stack}
        odd = [name for name in names if name.startswith("a;b")]
        self.assertEqual(len(odd), 1)
        self.assertLess(len(odd[0]), 1100)
        files = {frame.file for stacks in recording.stacks.values() for stack in stacks for frame in stack}
        self.assertTrue(any("späße" in file for file in files), files)
        for text in names | files:
            self.assertTrue(text.isprintable() or not text, repr(text))
        self.assertEqual(run("export", self.path, "-o", self.folder / "a.folded").returncode, 0)

    def test_code_that_comes_and_goes(self):
        """What was made anew at the address of another has its own name, or is said to be gone."""
        script = self.script("""
            i = 0
            while True:
                i += 1
                names = {}
                source = "\\n" * (i % 50) + f"def made_{i}():\\n    for i in range(3000): pass\\n"
                exec(compile(source, f"<made {i}>", "exec"), names)
                names[f"made_{i}"]()
        """)
        process = self.start(PYTHON, script)
        recording = self.record(process.pid)
        made = [frame for stacks in recording.stacks.values() for stack in stacks for frame in stack
                if frame.function.startswith("made_")]  # fmt: skip
        self.assertTrue(all(frame.file == f"<made {frame.function[5:]}>" for frame in made))


class Strangers(Case):
    """Programs that pass for Python."""

    def test_unknown_version(self):
        process = self.start(BUILT / "python3.99", "cycle", ticks=2)
        recording = self.record(process.pid, least=10)
        names = {frame.function for stacks in recording.stacks.values() for stack in stacks for frame in stack}
        self.assertIn("_PyEval_EvalFrameDefault", names)
        self.assertIn("this version is not supported", self.done.stderr + run("report", self.path).stdout)

    def check_liar(self, mode):
        for name in ("python3.10", "python3.11"):
            process = self.start(BUILT / name, mode, ticks=2)
            recording = self.record(process.pid, least=50)
            self.assertGreater(len(recording.stacks), 0)
            for sampler in ("copy", "read"):
                done = record(process.pid, self.path, "--sampler", sampler, "-F", "1999", "--duration", "500ms")
                self.assertIn(done.returncode, (0, NO_SAMPLES), done.stderr)
            self.assertIsNone(process.poll())
            self.assertEqual(run("dump", process.pid).returncode, 0)

    def test_frames_of_the_right_thread(self):
        """Of one that says who it is by what pthread_self() gave alone; of one that has its kernel's number."""
        for name in ("python3.10", "python3.11"):
            process = self.start(BUILT / name, "cycle", ticks=2)
            for sampler in ("bpf", "copy", "read"):
                recording = self.record(process.pid, "--sampler", sampler, least=5)
                seen = {frame.function for stacks in recording.stacks.values() for stack in stacks for frame in stack}
                self.assertIn("[python code that is gone]", seen, (name, sampler, self.done.stderr))

    def test_no_c_library_that_tells(self):
        """Who is who is not known: no frames rather than another thread's, and the reason."""
        process = self.start(BUILT / "python3.10-static", "cycle", ticks=2)
        for sampler in ("bpf", "copy", "read"):
            if sampler == "bpf" and platform.machine() == "x86_64":
                continue  # a register tells
            recording = self.record(process.pid, "--sampler", sampler, least=5)
            seen = {frame.function for stacks in recording.stacks.values() for stack in stacks for frame in stack}
            self.assertNotIn("[python code that is gone]", seen)
            self.assertRegex(self.done.stderr + run("report", self.path).stdout, "C library .*tell", sampler)

    def test_frames_in_a_circle(self):
        self.check_liar("cycle")

    def test_garbage(self):
        self.check_liar("garbage")

    def test_changing_garbage(self):
        self.check_liar("changing")


def main():
    if not pathlib.Path(PYTHON).exists():
        print(f"no {PYTHON}")
        sys.exit(77)
    probe = subprocess.run([LIMPET, "record", "-p", str(os.getpid()), "--sampler", "bpf", "--duration", "10ms",
                            "-o", os.devnull], capture_output=True, text=True)  # fmt: skip
    if probe.returncode == 3:
        print(probe.stderr)
        sys.exit(77)
    unittest.main()


if __name__ == "__main__":
    main()
