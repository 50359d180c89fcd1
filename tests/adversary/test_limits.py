"""
What is larger, fuller or barer than usual: crowds of threads, full disks, machines without /proc.
"""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import LIMPET, PATIENCE_S, Result, TargetTest, limpet

ADVERSARY = os.environ.get("ADVERSARY", ".")


class Crowds(TargetTest):
    THREADS = 12000  # more than 8192 stacks by enough that no thread looked at is among those

    @classmethod
    def setUpClass(cls):
        cls.crowd = subprocess.Popen([os.path.join(ADVERSARY, "crowd"), str(cls.THREADS)], stdout=subprocess.PIPE)
        cls.count = int(cls.crowd.stdout.readline())

    @classmethod
    def tearDownClass(cls):
        cls.crowd.kill()
        cls.crowd.wait()
        cls.crowd.stdout.close()

    def setUp(self):
        if self.count < self.THREADS:
            self.skipTest(f"only {self.count} threads may be here")

    def test_attach_and_leave(self):
        result = limpet("attach", self.crowd.pid, "--json", "--duration", "1ms", "--unload")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(result.event("attached")["pid"], self.crowd.pid)

    def test_dump_shows_every_thread(self):
        result = limpet("dump", self.crowd.pid, "--json")
        self.assertEqual(result.code, 0, result.err)
        tids = {event["tid"] for event in result.events if "tid" in event}
        self.assertGreaterEqual(len(tids), self.THREADS)

    def test_waits_are_sampled(self):
        with_waits = limpet(
            "record", "-p", self.crowd.pid, "--off-cpu", "--duration", "500ms", "--json", "-o", "/dev/null"
        )
        self.assertIn(with_waits.code, (0, 3), with_waits)
        if with_waits.code == 0:
            self.assertGreaterEqual(with_waits.event("recorded")["sampled_threads"], self.THREADS)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Proc(TargetTest):
    """Where /proc is missing or hides what is there, every verb says so, and says the same."""

    NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups"
    HIDDEN = "mount -t proc -o hidepid=2 proc /proc"
    MISSING = "mount -t tmpfs none /proc"

    def setUp(self):
        self.sleeper = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(self.end_process, self.sleeper)
        folder = tempfile.TemporaryDirectory(prefix="limits-")
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o777)
        self.limpet = shutil.copy(LIMPET, folder.name)
        self.file = os.path.join(folder.name, "x.limpet")

    def verbs(self):
        pid = str(self.sleeper.pid)
        return [
            ["attach", pid, "--duration", "1ms"], ["dump", pid], ["status", pid], ["detach", pid], ["doctor", pid],
            ["record", "-p", pid, "--duration", "1ms", "-o", self.file],
            ["record", "-p", pid, "--duration", "1ms", "-o", self.file, "--lock-trace"],
            ["top", pid, "--batch", "--duration", "1ms"],
        ]

    def run_in(self, prepare, command):
        """In mounts of its own."""
        line = f"mount --make-rprivate / && {prepare} && exec " + " ".join(command)
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE_S,
        )
        return Result(done.returncode, done.stdout, done.stderr, False)

    def test_hidden(self):
        for verb in self.verbs():
            with self.subTest(verb=verb[0]):
                result = self.run_in(self.HIDDEN, [self.NOBODY, self.limpet, *verb])
                self.assertEqual(result.code, 3, result)
                self.assertIn(f"cannot look at process {self.sleeper.pid}", result.err)
                self.assertIn("hidepid", result.err)

    def test_missing(self):
        for verb in [*self.verbs(), ["ps"], ["doctor"], ["record", "-o", self.file, "--", "/bin/true"]]:
            with self.subTest(verb=verb[0]):
                result = self.run_in(self.MISSING, [self.limpet, *verb])
                self.assertEqual(result.code, 1, result)
                self.assertIn("/proc is not mounted here", result.err)

    def test_nobody_there_is_said_at_once(self):
        begun = time.monotonic()
        result = limpet("attach", 2**22 - 1)
        self.assertEqual(result.code, 4, result)
        self.assertLess(time.monotonic() - begun, 9)  # it waited 11 s for the end of what never was


class EndlessLists(TargetTest):
    def test_modules_that_lead_to_themselves(self):
        target = subprocess.Popen([os.path.join(ADVERSARY, "ring_of_modules")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_process, target)
        self.assertEqual(target.stdout.readline(), "ready\n")
        result = limpet("attach", target.pid, "--duration", "1ms")
        self.assertFalse(result.hung, result)
        self.assertIn(result.code, (1, 6), result)
        self.assertIsNone(target.poll())


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class FileSizes(TargetTest):
    def test_a_program_that_does_not_fit_is_not_run(self):
        """The limit of file sizes holds for memory files: an injector that was cut would hold a target, and die."""
        target = self.target("plain", "idle")
        with tempfile.TemporaryDirectory() as folder:
            for size in range(250000, 650001, 100000):
                for words in (["attach", str(target.pid), "--duration", "0"],
                              ["record", "--io-trace", "-o", os.path.join(folder, f"{size}.limpet"), "--", "true"]):
                    done = subprocess.run(["prlimit", f"--fsize={size}", LIMPET, *words], capture_output=True, text=True,
                                          timeout=PATIENCE_S)
                    self.assertIn(done.returncode, (0, 1), done)
                    self.assertNotIn("killed by signal", done.stderr)
                    self.assertNotIn("could not run", done.stderr)
        self.assertTrue(target.stats.wait_turn())


class FullDisks(TargetTest):
    """What is said to be in a recording is in it."""

    def record(self, *arguments):
        """Into a small file system that only these see; what record said, and what report found then."""
        target = self.target("plain", "malloc8")
        folder = tempfile.TemporaryDirectory(prefix="limits-")
        self.addCleanup(folder.cleanup)
        command = [LIMPET, "record", "-p", str(target.pid), "-o", "full.limpet", "--json", "--duration", "20s", *arguments]
        script = (
            f"mount -t tmpfs -o size=128k none {folder.name} && cd {folder.name} && {shlex.join(command)};"
            f"echo '{{\"code\":'$?'}}'; {LIMPET} report full.limpet --json"
        )
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE_S,
        )
        self.assertTrue(target.alive())
        events = [json.loads(line) for line in done.stdout.splitlines()]
        where = next(i for i, event in enumerate(events) if "code" in event)
        self.assertEqual(events[where]["code"], 1, done)
        self.assertIn("No space left on device", done.stderr)
        recorded = next(event for event in events[:where] if event.get("event") == "recorded")
        return recorded, events[where + 1:]

    def test_records(self):
        recorded, report = self.record("--alloc-trace")
        self.assertGreater(recorded["records"], 0)
        self.assertEqual(recorded["records"], report[-1]["records"])
        self.assertLessEqual(recorded["bytes"], 128 * 1024)

    def test_samples(self):
        recorded, report = self.record("--off-cpu", "-F", "5000")
        self.assertGreater(recorded["samples"], 0)
        self.assertEqual(recorded["samples"], report[-1]["samples"])


if __name__ == "__main__":
    unittest.main()
