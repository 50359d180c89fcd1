#!/usr/bin/env python3
"""
What a target has made so that limpet never gets done with it: a descriptor that nobody can close, memory without an
end.  limpet gets done, and takes no memory of the machine for it.  And a program that uses our numbers for itself, or whose
loader cannot be used.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import TargetTest, attached_wait, limpet, limpet_start, program, status_of, wait_until

ADVERSARY = os.environ.get("ADVERSARY", ".")
LOADER = os.path.abspath(os.path.join(ADVERSARY, "loader"))
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
ATTEMPTS = 10
FORK_S = 1.1  # longer than one takes
MOST_KB = 256 << 10
SOON_S = 40
NOTHING_CAPTURED = 5


class Waits(TargetTest):
    def start(self, name, *arguments, stdin=subprocess.DEVNULL):
        process = subprocess.Popen(
            [os.path.join(ADVERSARY, name), *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.addCleanup(self.end_family, process)
        if process.stdout.readline() != "ready\n":
            self.skipTest("the program cannot do that here")
        return process

    def end_family(self, process):
        """Those that answer for a file system among them: who waits for them ends, too."""
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount")
    def test_a_descriptor_that_nobody_can_close(self):
        folder = tempfile.TemporaryDirectory(prefix="waits-")
        self.addCleanup(folder.cleanup)
        target = self.start("unflushed", folder.name)
        process = limpet_start("attach", target.pid, "--duration", "1")
        self.addCleanup(self.end_process, process)
        self.assertEqual(target.stdout.readline(), "rung\n")
        try:
            process.wait(SOON_S)
        except subprocess.TimeoutExpired:
            self.end_family(target)  # nothing else ends such a wait
            self.fail("limpet waits")
        self.assertIsNone(target.poll())

    def test_memory_without_an_end(self):
        target = self.start("boundless")
        for command in (("status",), ("detach",), ("attach", "--duration", "1")):
            with self.subTest(command=command):
                result = limpet(command[0], target.pid, *command[1:], deadline_s=20)
                self.assertFalse(result.hung, str(result))
                self.assertIsNone(target.poll())
                self.assertLess(int(status_of(target.pid)["VmRSS"].split()[0]), MOST_KB)

    def test_memory_that_the_target_does_not_serve(self):
        """A read of it ends by SIGKILL alone: limpet ends itself, and says why."""
        target = self.start("served")
        with tempfile.TemporaryDirectory(prefix="waits-") as folder:
            file = os.path.join(folder, "served.limpet")
            result = limpet("record", "-p", target.pid, "--sampler", "copy", "-d", "1", "-o", file, deadline_s=SOON_S)
            self.assertFalse(result.hung, str(result))
        self.assertIsNone(target.poll())
        if result.code:
            self.assertIn("serves that memory itself", result.err)

    def test_a_number_that_the_program_uses_itself(self):
        """What it says to itself there is not for the agent."""
        target = self.start("reopener", stdin=subprocess.PIPE)
        process = limpet_start("attach", target.pid, "--json")
        self.addCleanup(self.end_process, process)
        self.assertTrue(attached_wait(process))
        target.stdin.write("\n")
        target.stdin.flush()
        self.assertEqual(target.stdout.readline(), "kept\n")
        target.stdin.close()


class Loading(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o777)
        self.folder = folder.name

    def test_a_program_whose_name_is_a_pipe_by_now(self):
        """The loader knows the program: it is not asked to look for it by its name, and waits for nobody."""
        path = os.path.join(self.folder, "program")
        shutil.copy(LOADER, path)
        target = self.target(path, "renamed")
        os.unlink(path)
        os.mkfifo(path)
        result = limpet("record", "-p", target.pid, "--marker-trace", "-o", path + ".limpet", "--duration", "300ms")
        self.assertIn(result.code, (0, NOTHING_CAPTURED), str(result))
        self.assertTrue(target.stats.wait_turn(), "it waits for the loader")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_library_that_is_opened_after_its_time(self):
        """Its descriptor stays until then: the number might be a file of the program's, else."""
        out = os.path.join(self.folder, "out")
        target = self.target(LOADER, "forks", before=(*NOBODY, "env", "LIMPET_TEST_OUT=" + out))
        self.assertEqual(limpet("attach", target.pid, "--duration", "0").code, 0)
        time.sleep(FORK_S)  # forks that begin from now on know it
        for attempt in range(ATTEMPTS):
            before = self.loads(out)
            result = limpet("attach", target.pid, "--load", self.tool(attempt), "--tool-timeout", "200ms", "--duration", "5s")
            if "did not return in time" in str(result):
                break
        else:
            self.skipTest("it was loaded in time each time")
        self.assertTrue(wait_until(lambda: self.loads(out) > before), "it was never loaded")

    def tool(self, number):
        """A library that the program's user may not open, so that its bytes are handed over."""
        path = os.path.join(self.folder, f"tool{number}.so")
        shutil.copy(program("tool_probe.so"), path)
        os.chmod(path, 0o600)
        return path

    def loads(self, path):
        return pathlib.Path(path).read_text().count("probe loaded") if os.path.exists(path) else 0


if __name__ == "__main__":
    unittest.main()
