"""
`limpet record -a` and `limpet top -a`: every process of the machine, whatever else runs on it.  Waits for what the programs of this test
have done, never for a time; what is asserted is about these programs only.

Environment: LIMPET is the executable under test, SAMPLING_PROGRAMS the folder of the programs.
"""

import contextlib
import json
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

from exactness import PROGRAMS, as_user, cpu_ticks, running
from truths import LEAF, chain_is_exact

LIMPET = os.environ["LIMPET"]
LIMIT = 240
TICKS = os.sysconf("SC_CLK_TCK")
NOBODY = 65534
WORK_S = 0.2  # of processor time; at RATE it is 100 ticks
RATE = 499

HOSTILE = """
import mmap, os, sys
kept = []
for name in sorted(os.listdir(sys.argv[1])):
    with open(os.path.join(sys.argv[1], name), "rb") as file:
        kept.append(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC))
while True:
    pass
"""
FILES = 1500


def program(depth):
    return os.path.join(PROGRAMS, f"chain_{depth}")


def children_ticks(pid):
    """Processor time of children that have ended."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()
    return int(fields[13]) + int(fields[14])


def wait_until(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it took too long")
        time.sleep(0.02)


def await_work(*pids, ticks=cpu_ticks):
    """Until each of them has used the processor for WORK_S more."""
    before = [ticks(pid) for pid in pids]
    wait_until(lambda: all(ticks(pid) - first >= WORK_S * TICKS for pid, first in zip(pids, before)))


def limpet(*words, before=(), **options):
    return subprocess.run([*before, LIMPET, *map(str, words)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=LIMIT, **options)


class Recording:
    """What one recording of every process has of some of them."""

    def __init__(self, path):
        self.path = path
        self.pid = None
        self.totals = self.events = None
        self.said = ""

    @contextlib.contextmanager
    def going_on(self, *options):
        """Records while the block runs."""
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen([LIMPET, "record", "-a", "-F", str(RATE), "-o", str(self.path), "--json", *options],
                                       stdout=subprocess.PIPE, stderr=said, stdin=subprocess.DEVNULL, text=True)
            try:
                line = process.stdout.readline()
                if not line or json.loads(line)["event"] != "attached":
                    process.wait(LIMIT)
                    said.seek(0)
                    if process.returncode == 3:
                        raise unittest.SkipTest(said.read())
                    raise AssertionError(line + said.read())
                self.pid = process.pid
                yield self
                process.send_signal(signal.SIGINT)
                out, _ = process.communicate(timeout=LIMIT)
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
            said.seek(0)
            self.said = said.read()
        if process.returncode:
            raise AssertionError(f"exit {process.returncode}\n{out}\n{self.said}")
        (self.totals,) = [line for line in map(json.loads, out.splitlines()) if line["event"] == "recorded"]
        self.events = [json.loads(line) for line in limpet("report", self.path, "--json").stdout.splitlines()]

    def processes(self, pid):
        return [event for event in self.events if event["event"] == "sampled_process" and event["pid"] == pid]

    def stacks(self, name, pid):
        """[(names from the outermost on, how often)] of the complete stacks of a process."""
        folded = self.path.with_suffix(".folded")
        if not folded.exists():
            done = limpet("export", self.path, "-f", "folded", "-o", folded)
            assert done.returncode == 0, done.stderr
        found = []
        for line in folded.read_text(encoding="utf-8").splitlines():
            names, count = line.rsplit(" ", 1)
            names = names.split(";")
            if names[0] == f"{name} ({pid})" and names[2] != "[incomplete stack]":
                found.append((names[2:], int(count)))
        return found


class SystemWide(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.recording = Recording(self.folder / "all.limpet")

    def assert_exact(self, depth, pid):
        """Nearly all of its time is in the leaf: each of these stacks is all of the chain."""
        stacks = self.recording.stacks(f"chain_{depth}", pid)
        leaves = [names for names, _ in stacks if names[-1] == LEAF]
        self.assertTrue(leaves, self.recording.totals)
        for names in leaves:
            self.assertTrue(chain_is_exact(names, depth), names)
        # One that started meanwhile may have been seen before it executed the program, too, under either name.
        samples = [process["samples"] for process in self.recording.processes(pid) if process["name"] == f"chain_{depth}"]
        self.assertTrue(samples, self.recording.events)
        if "tenth of a CPU" not in self.recording.said:  # else others have kept limpet busy
            self.assertGreater(sum(count for _, count in stacks), sum(samples) * 0.8)

    def test_programs_among_others(self):
        """Two of the same program are kept apart; one that starts later is seen; nobody is idle; limpet is not there.
        Pictures and trees are by process."""
        with running(program(50), "1") as one, running(program(50), "1") as two, self.recording.going_on():
            with running(program(10), "1") as later:
                await_work(one.pid, two.pid, later.pid)
        for depth, process in (50, one), (50, two), (10, later):
            self.assert_exact(depth, process.pid)
        pids = {event["pid"] for event in self.recording.events if event["event"] == "sampled_process"}
        self.assertNotIn(0, pids)
        self.assertNotIn(self.recording.pid, pids)
        summary = self.recording.events[-1]
        self.assertTrue(summary["all_processes"], summary)
        self.assert_pictures("chain_50", one.pid)

    def assert_pictures(self, name, pid):
        for form in "flamegraph", "svg":
            path = self.folder / f"it.{form}"
            self.assertEqual(limpet("export", self.recording.path, "-f", form, "-o", path).returncode, 0)
            self.assertIn(f"{name} ({pid})", path.read_text(encoding="utf-8"))
        report = limpet("report", self.recording.path, "--tree", "-n", "0").stdout
        self.assertIn("\nprocesses: ", report)
        self.assertRegex(report, rf"\n +[\d.]+ +[\d.]+ +{name} \({pid}\)\n")

    def hostile_files(self):
        folder, code = self.folder / "files", pathlib.Path(program(10)).read_bytes()
        folder.mkdir()
        for number in range(FILES):
            head = bytearray(code[:4096])
            head[(number * 7) % 4096] ^= 0xff
            (folder / f"{number:05}").write_bytes(head)
        return str(folder)

    def test_unfriendly_neighbours(self):
        """One forks all the time, one executes itself, one has files without number mapped, all executable and most of
        them broken ELF: that is counted and said, and others are as exact as before."""
        script = self.folder / "circle"
        script.write_text(f"exec sh {script}\n", encoding="utf-8")
        with running(program(50), "1") as one, running("sh", "-c", "while :; do /bin/true; done") as storm, \
                running("sh", str(script)) as circle, running(sys.executable, "-c", HOSTILE, self.hostile_files()) as hostile:
            wait_until(lambda: pathlib.Path(f"/proc/{hostile.pid}/maps").read_text(encoding="utf-8").count("/files/") == FILES)
            with self.recording.going_on():
                await_work(storm.pid, ticks=children_ticks)
                await_work(one.pid, circle.pid, hostile.pid)
        self.assert_exact(50, one.pid)
        totals = self.recording.totals
        self.assertGreaterEqual(totals["code_left_out"], FILES - 1024, totals)
        self.assertIn("had no room", self.recording.said)
        self.assertTrue(self.recording.processes(hostile.pid))
        self.assertEqual(totals["samples"], sum(totals["stacks"].values()), totals)
        self.assertEqual(totals["samples_unlisted"], 0, totals)
        names = {event["name"] for event in self.recording.events if event["event"] == "sampled_process"}
        self.assertTrue(names & {"true", "sh"}, names)
        self.assertTrue(self.recording.processes(circle.pid), "what executes itself was not seen")

    def test_as_long_as_a_program_runs(self):
        work = f"import time\nwhile time.process_time() < {WORK_S}: pass"
        done = limpet("record", "-a", "-F", RATE, "-o", self.recording.path, "--json", "--", sys.executable, "-c", work)
        if done.returncode == 3:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        (ended,) = [line for line in said if line["event"] == "program"]
        self.assertEqual(ended["status"], 0)
        self.recording.events = [json.loads(line)
                                 for line in limpet("report", self.recording.path, "--json").stdout.splitlines()]
        self.assertTrue(self.recording.processes(ended["pid"]))


    def top(self, pattern):
        """The tables once, of as long a time as the pattern needs on a busy machine."""
        for duration in "1s", "4s", "16s":
            done = limpet("top", "-a", "-F", RATE, "--batch", "-n", 0, "-d", duration, "-o", self.recording.path)
            if done.returncode == 3:
                self.skipTest(done.stderr)
            if re.search(pattern, done.stdout):
                break
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_live_tables_and_their_recording(self):
        """What starts meanwhile is shown too; what was shown can be kept, and is of every process then."""
        # One that ends and starts again all the time has a number that nobody has looked at before.
        later = f"import os, subprocess\nwhile True: subprocess.run(['timeout', '0.3', {program(10)!r}, '1'])"
        with running(program(50), "1") as one, running(sys.executable, "-c", later):
            out = self.top(rf"(?s){one.pid} .* chain_50\n.* {LEAF} \(chain_10\)\n")
        self.assertRegex(out, r"\Aevery process, \d+ seen: sampler bpf \(")
        self.assertRegex(out, rf"\n +{one.pid}  \w+ .*  chain_50\n")
        self.assertIn(f"  {LEAF} (chain_50)\n", out)
        self.assertIn(f"  {LEAF} (chain_10)\n", out)
        self.assertRegex(out, r"HOTTEST PATH\n +[\d.]+ +[\d.]+  .+ \(\d+\)\n")
        self.recording.events = [json.loads(line)
                                 for line in limpet("report", self.recording.path, "--json").stdout.splitlines()]
        self.assertTrue(self.recording.events[-1]["all_processes"])
        self.assertEqual(self.recording.processes(one.pid)[-1]["name"], "chain_50")


class Refusals(unittest.TestCase):
    def test_what_the_live_view_cannot_have_with_it(self):
        for words, reason in ((("-p", "1"), "every process"), (("1",), "unexpected argument"),
                              (("--counters", "cs"), "that are named"), (("--children",), "children too"),
                              (("--off-cpu",), "every switch")):
            with self.subTest(words=words):
                done = limpet("top", "-a", *words, "--batch", "-d", "1")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(reason, done.stderr)

    def test_what_cannot_be_had_with_it(self):
        for words, reason in ((("-p", "1"), "every process"), (("1",), "unexpected argument"),
                              (("--alloc-trace",), "loads code"), (("--syscall-trace",), "that are named"),
                              (("--children",), "children too"),
                              (("--off-cpu",), "every switch"), (("--java-names",), "process number"),
                              (("--sampler", "copy"), "cannot sample every process")):
            with self.subTest(words=words), tempfile.TemporaryDirectory() as folder:
                done = limpet("record", "-a", *words, "-d", "1", "-o", os.path.join(folder, "it.limpet"), cwd=folder)
                if words[0] == "--sampler" and done.returncode == 3:
                    continue
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertEqual(os.listdir(folder), [])

    @unittest.skipIf(os.geteuid(), "needs root, to become another user")
    def test_a_user_without_rights(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            own = shutil.copy(LIMPET, folder)
            os.chmod(own, 0o755)
            done = subprocess.run([*as_user(NOBODY), own, "record", "-a", "-d", "1", "-o", "it.limpet"], cwd=folder,
                                  capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=LIMIT)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("sample every process: ", done.stderr)
            self.assertIn("CAP_BPF and CAP_PERFMON are missing", done.stderr)
            self.assertIn("-p PID, of a process of your own", done.stderr)
            self.assertEqual(os.listdir(folder), ["limpet"])


if __name__ == "__main__":
    unittest.main()
