"""Programs that compile while they run: what is called complete is true, and what is not says why.  Each runs once, and is
sampled by one sampler after the other."""

import collections
import contextlib
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from exactness import LIMIT, WrongStack, allowed_samplers, cpu_ticks, in_three_tries, sample

SAMPLERS = os.environ.get("SAMPLER", "bpf copy").split()
COUNT = int(os.environ.get("SAMPLES", "120"))
LIMPET = os.environ["LIMPET"]
SOURCES = pathlib.Path(__file__).resolve().parent / "jit"
WARM_TICKS = 60  # of processor time: what is hot is compiled
IN_JIT = "ended in JIT code"


def find(*names):
    for name in names:
        if not shutil.which(name):
            raise unittest.SkipTest(f"no {name}")


@contextlib.contextmanager
def running(*command, folder=None):
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True)
    try:
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and process.poll() is None and cpu_ticks(process.pid) < WARM_TICKS:
            time.sleep(0.02)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@functools.cache
def java_classes():
    """The folder with what javac makes, once for all tests."""
    find("java", "javac")
    folder = tempfile.TemporaryDirectory(prefix="limpet-java-")
    unittest.addModuleCleanup(folder.cleanup)
    subprocess.run(["javac", "-d", folder.name, SOURCES / "Hot.java"], check=True)
    return folder.name


def java(*options):
    return ("java", "-cp", java_classes(), "-Xmx64m", "-XX:+UseSerialGC", "-XX:-Inline", *options, "Hot")


@in_three_tries
class Jit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="limpet-jit-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def look(self, command, check=lambda recording: None):
        """Samples of it, by each sampler."""
        with running(*command, folder=self.folder) as process:
            for sampler in SAMPLERS:
                check(self.take(process, sampler))

    def take(self, process, sampler):
        """Each complete stack begins where a program or a thread does."""
        recording = sample(sampler, process.pid, f"max={COUNT}")
        self.assertIsNone(process.poll())
        self.assertIsNone(recording.error, recording.error)
        self.assertGreaterEqual(len(recording.samples), COUNT, recording.counts)
        self.complete = [one for one in recording.samples if one["end"] == "complete"]
        for one in self.complete:
            roots = {self.path(recording, frame) for frame in one["frames"][-3:]}
            if not any("libc.so" in path for path in roots):
                raise WrongStack(recording.stack(one))
        ends = {key: count for key, count in recording.counts["ends"].items() if count}
        print(f"{self.id()} by {sampler}: {ends}", file=sys.stderr)
        return recording

    def path(self, recording, frame):
        return recording.modules.get(frame[0], {}).get("path", "")

    def is_made(self, recording, frame):
        path = self.path(recording, frame)
        return not path or path.startswith(("/memfd:", "/dev/zero", "[anon"))

    def made(self, recording, one):
        return [frame for frame in one["frames"] if self.is_made(recording, frame)]

    def at_least(self, share):
        """A check: so many of the stacks are complete."""
        return lambda recording: self.assertGreaterEqual(
            len(self.complete) / len(recording.samples), share, recording.counts)

    def call_before(self, recording, frame):
        """The instruction before a return address."""
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--start-address={frame[1] - 8:#x}",
                               f"--stop-address={frame[1]:#x}", self.path(recording, frame)],
                              capture_output=True, text=True, check=False).stdout
        return text.splitlines()[-1].split(":", 1)[1].split() if ":" in text else []

    def check_java(self, recording):
        """All calls are there: each has a frame in code of the machine."""
        self.at_least(0.95)(recording)
        depths = collections.Counter(len(self.made(recording, one)) for one in self.complete
                                     if self.is_made(recording, one["frames"][0]))
        depth, count = depths.most_common(1)[0]
        self.assertGreaterEqual(depth, 22, depths)  # main, down 21 times, the leaf perhaps inlined
        self.assertGreaterEqual(count, sum(depths.values()) * 0.7, depths)

    def test_java_interpreted(self):
        self.look(java("-Xint"), self.check_java)

    def test_java_compiled(self):
        self.look(java("-XX:TieredStopAtLevel=1"), self.check_java)

    def test_java_with_frame_pointers(self):
        self.look(java("-XX:+PreserveFramePointer"), self.check_java)

    def record(self, process, sampler, *options):
        """What limpet said; the file is self.file then."""
        self.file = os.path.join(self.folder, "it.limpet")
        return subprocess.run([LIMPET, "record", "-p", str(process.pid), "--sampler", sampler, "-o", self.file, *options],
                              capture_output=True, text=True, check=False, timeout=LIMIT)

    def report(self, *options):
        return subprocess.run([LIMPET, "report", self.file, *options], capture_output=True, text=True, check=True).stdout

    def test_java_is_not_asked_for_frame_pointers_that_it_keeps(self):
        with running("env", "JAVA_TOOL_OPTIONS=-XX:+PreserveFramePointer", *java()) as process:
            for sampler in SAMPLERS:
                done = self.record(process, sampler, "--duration", "1s")
                self.assertIn(done.returncode, (0, 5), done.stderr)
                self.assertNotIn("PreserveFramePointer): ", done.stdout + done.stderr)

    def test_java_names_leave_no_file(self):
        """The machine writes its names into a file in /tmp, and makes a socket there: the file goes with limpet."""
        with running(*java(), folder=self.folder) as process:
            before = self.files_of(process.pid)
            done = self.record(process, SAMPLERS[0], "--java-names", "--duration", "500ms")
            left = self.files_of(process.pid) - before
        if done.returncode == 6 and "JDK" in done.stderr:
            self.skipTest("this one knows no names")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(self.report(), r"Hot[.:]+\w+")  # it did ask
        self.assertLessEqual(left, {f".java_pid{process.pid}"})  # the machine's own socket, which it keeps

    def files_of(self, pid):
        return {name for name in os.listdir("/tmp") if str(pid) in name}

    def test_node(self):
        find("node")
        self.look(("node", SOURCES / "hot.js"), self.at_least(0.97))

    def test_guile(self):
        """Its code has no frame of its own: who called it must not be lost."""
        find("guile", "objdump")
        compiled = os.path.join(self.folder, "hot.go")
        subprocess.run(["guile", "-c", f'(compile-file "{SOURCES}/hot.scm" #:output-file "{compiled}")'], check=True,
                       stdout=subprocess.DEVNULL, timeout=LIMIT)
        self.look(("guile", "-c", f'(load-compiled "{compiled}")'), self.check_callers_of_made_code)

    def check_callers_of_made_code(self, recording):
        calls = set()
        for one in self.complete:
            for inner, outer in zip(one["frames"], one["frames"][1:]):
                if self.is_made(recording, inner) and not self.is_made(recording, outer):
                    calls.add(tuple(outer))
        for outer in calls:
            call = self.call_before(recording, outer)
            if call[0] != "blr" and not any("*" in word for word in call):
                raise WrongStack(call)

    def test_erlang(self):
        """Its code keeps no frames: stacks end there, and say so."""
        self.look(self.erlang(), self.check_made_code_is_an_end)

    def erlang(self):
        find("erl", "erlc")
        subprocess.run(["erlc", "-o", self.folder, SOURCES / "hot.erl"], check=True, timeout=LIMIT)
        return ("erl", "-noshell", "-noinput", "-s", "hot", "main")

    def check_made_code_is_an_end(self, recording):
        made = [one for one in recording.samples if self.made(recording, one)]
        if not made:
            self.skipTest("this one has no JIT")
        for one in made:
            if one["end"] != IN_JIT:
                raise WrongStack(recording.stack(one))
        return made

    def test_racket(self):
        """Its code has a stack of its own. On aarch64 the frame pointer is that of the function which entered it, and leads to
        that one's caller: such a stack would lack a function and be called complete."""
        find("racket")
        self.look(("racket", SOURCES / "hot.rkt"), lambda recording: self.assertGreater(
            len(self.check_made_code_is_an_end(recording)), len(recording.samples) / 2))

    def test_sbcl(self):
        """Its code lies in a file that is no ELF object, and has a stack of its own on aarch64."""
        find("sbcl")
        self.look_at_reports(("sbcl", "--script", SOURCES / "hot.lisp"), self.check_sbcl)

    def look_at_reports(self, command, check):
        """What is reported of it, by each sampler."""
        with running(*command, folder=self.folder) as process:
            for sampler in SAMPLERS:
                with self.subTest(sampler):
                    done = self.record(process, sampler, "--duration", "1s", "-F", "499")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    check(self.report("-n", "0"))

    def check_sbcl(self, report):
        self.assertEqual(len(re.findall(r"(?m)\d  \[JIT of sbcl\]$", report)), 1, report)
        self.assertNotIn("sbcl.core+0x", report)
        if os.uname().machine == "aarch64":
            self.assertIn(IN_JIT, report)

    def test_unnamed_code_is_one_entry(self):
        self.look_at_reports(self.erlang(), self.check_unnamed_code)

    def check_unnamed_code(self, report):
        if "JIT" not in report:
            self.skipTest("this one has no JIT")
        rows = [line for line in report.splitlines() if re.search(r"\d  \[JIT of erlang\]$", line)]
        self.assertEqual(len(rows), 1, report)
        self.assertNotRegex(report, r"JIT[^ ]*\+0x")
        self.assertRegex(report, r"% in code without names, \[JIT of erlang\]; for names: start it with")

    def test_luajit(self):
        find("luajit")
        self.look(("luajit", SOURCES / "hot.lua"), self.at_least(0.97))

    def test_luajit_interpreted(self):
        """Its assembly has subroutines of its own."""
        find("luajit")
        self.look(("luajit", "-joff", SOURCES / "hot.lua"), self.at_least(0.97))

    def test_php_and_pcre2(self):
        """On x86-64 what pcre2 makes keeps no frame pointer: some stacks end there, and say so."""
        find("php")
        self.look(("php", SOURCES / "hot.php"), self.at_least(0.95 if os.uname().machine == "aarch64" else 0.7))

    def test_pypy(self):
        find("pypy3")
        source = os.path.join(self.folder, "hot.py")
        pathlib.Path(source).write_text("s = 0\nwhile True:\n for i in range(100000): s = (s * 31 + i) % 1000003\n")
        self.look(("pypy3", source))


if __name__ == "__main__":
    SAMPLERS = allowed_samplers(*SAMPLERS)
    unittest.main()
