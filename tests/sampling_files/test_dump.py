#!/usr/bin/env python3
"""
`limpet dump PID`: every thread with its state, what it waits for, and its stack; by each way.

Environment: LIMPET is the executable under test, PROGRAMS the folder with spinner.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import PROGRAMS, limpet  # noqa: E402

# The system call that libc's pause() makes: aarch64 has none of that name.
PAUSE = "ppoll" if os.uname().machine == "aarch64" else "pause"


class Dump(unittest.TestCase):
    def target(self, *arguments):
        process = subprocess.Popen([os.path.join(PROGRAMS, "spinner"), *arguments])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def dump(self, pid, *options):
        """The threads by name, and what is said of the process."""
        result = limpet("dump", pid, "--json", *options)
        self.assertEqual(result.code, 0, str(result))
        return ({event["name"]: event for event in result.events if event["event"] == "thread"},
                [event for event in result.events if event["event"] == "process"][0])

    def await_threads(self, pid, *names):
        def are_there():
            found = set()
            for tid in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8") as file:
                    found.add(file.read().strip())
            return found >= set(names)
        self.assertTrue(harness.wait_until(are_there, 60))

    def functions(self, thread):
        return [frame["function"] for frame in thread["frames"] if frame["module"] == "spinner"]

    def ways(self):
        result = limpet("dump", os.getpid(), "--json", "--sampler", "bpf")
        return ["read"] if result.code == 3 or result.code == 1 else ["bpf", "read"]

    def test_frames_of_one_language(self):
        threads, _ = self.dump(os.getpid(), "--only", "python")
        [frames] = [thread["frames"] for thread in threads.values() if thread["tid"] == os.getpid()]
        self.assertIn("Dump.test_frames_of_one_language", [frame["function"] for frame in frames])
        self.assertEqual({frame["file"].endswith(".py") for frame in frames if frame["file"][0] != "<"}, {True})
        self.assertEqual(limpet("dump", os.getpid(), "--only", "cobol").code, 2)

    def test_where_threads_are(self):
        target = self.target()
        self.await_threads(target.pid, "spinning", "dozing")
        for way in self.ways():
            with self.subTest(way=way):
                threads, process = self.dump(target.pid, "--sampler", way)
                self.assertEqual((process["threads"], process["sampler"], process["way"]), (3, way, way))
                self.assertEqual(self.functions(threads["spinner"])[0], "main")
                self.assertEqual(threads["spinner"]["call"], PAUSE)
                self.assertTrue(threads["spinner"]["complete"])
                if threads["dozing"]["has_stack"] and threads["dozing"]["complete"]:
                    self.assertIn(self.functions(threads["dozing"]),
                                  (["sleep_short", "doze"], ["doze"]))  # between two naps
                if threads["spinning"]["has_stack"]:
                    self.assertEqual(self.functions(threads["spinning"])[-1], "spin")
        with open(f"/proc/{target.pid}/status", encoding="utf-8") as file:
            self.assertIn("TracerPid:\t0\n", file.read())

    def test_who_holds_the_lock(self):
        target = self.target("locked")
        self.await_threads(target.pid, "holding", "waiting")

        def waits():
            threads, _ = self.dump(target.pid)
            return threads["waiting"] if threads["waiting"]["call"] == "futex" else None

        self.assertTrue(harness.wait_until(waits, 60))
        threads, _ = self.dump(target.pid)
        self.assertIn("wait_for_lock", self.functions(threads["waiting"]))
        self.assertRegex(threads["waiting"]["waits_for"],
                         rf"^a lock at 0x[0-9a-f]+, held by {threads['holding']['tid']} \(holding\)$")
        text = limpet("dump", target.pid, "--user").out
        self.assertRegex(text, r"thread \d+ \(waiting\): sleeping, in futex: a lock at ")
        self.assertNotIn("[kernel]", text)

    def test_a_stopped_process(self):
        target = self.target("quiet")
        target.send_signal(signal.SIGSTOP)
        self.assertTrue(harness.wait_until(lambda: self.dump(target.pid)[0]["spinner"]["state"] == "T", 60))
        threads, _ = self.dump(target.pid)
        self.assertEqual(threads["spinner"]["state_name"], "stopped")
        target.send_signal(signal.SIGCONT)

    @unittest.skipUnless(os.getuid() == 0, "needs another user")
    def test_a_process_of_somebody_else(self):
        target = self.target("quiet")
        with tempfile.TemporaryDirectory() as folder:  # that others may enter
            os.chmod(folder, 0o755)
            copy = shutil.copy(harness.LIMPET, folder)
            done = subprocess.run([copy, "dump", str(target.pid)], user=65534, group=65534, extra_groups=[],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stdout, r"thread \d+ \(spinner\): sleeping")
        self.assertIn("no stack", done.stdout)
        self.assertIn("as root", done.stderr)

    def test_what_cannot_be(self):
        self.assertEqual(limpet("dump").code, 2)
        self.assertEqual(limpet("dump", 2 ** 22 - 1).code, 4)
        for option in ("--sampler", "--way"):  # the second is its name in 0.1.0
            result = limpet("dump", os.getpid(), option, "sideways")
            self.assertEqual(result.code, 2, str(result))
            self.assertIn("unknown sampler 'sideways'", result.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
