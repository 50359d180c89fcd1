#!/usr/bin/env python3
"""Tests tests/common/progress.py: a target that a visit has harmed must be found where the test ends it.

`limpet` is a stand-in here, a shell script of that name, which does to the target what it is told.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import progress  # noqa: E402

BUSY = "print(flush=True)\nwhile True: sum(range(1000))"
# Works until SIGUSR1, for some time; then its only thread waits for a lock that nobody releases.
LOCKS = ("import signal, threading; lock = threading.Lock(); lock.acquire()\n"
         "signal.signal(signal.SIGUSR1, lambda *_: [sum(range(20_000_000)), print(flush=True), lock.acquire()])\nprint(flush=True)\nwhile True: signal.sigtimedwait([], 0.005)")


class Visits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.limpet = os.path.join(folder.name, "limpet")
        self.addCleanup(setattr, progress, "PATIENCE_S", progress.PATIENCE_S)
        progress.PATIENCE_S = 0.5

    def visit(self, program, deed):
        """A target, visited once."""
        target = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True)
        self.addCleanup(target.wait)
        self.addCleanup(target.stdout.close)
        target.stdout.readline()
        pathlib.Path(self.limpet).write_text(f"#!/bin/sh\n{deed}\n")
        os.chmod(self.limpet, 0o755)
        subprocess.run([self.limpet, "attach", str(target.pid), "--duration", "0"], check=True)
        return target

    def test_a_target_that_works_is_killed_and_nothing_is_said(self):
        for program, deed in ((BUSY, ""), ("import time; print(flush=True); time.sleep(60)", ""), (LOCKS, "")):
            target = self.visit(program, deed)
            target.kill()
            self.assertNotIn(target.pid, progress.visited)

    def locked(self):
        target = self.visit(LOCKS, "kill -USR1 $2")
        target.stdout.readline()
        while progress.state_of(target.pid) != "S":
            time.sleep(0.01)
        return target

    def test_a_target_that_waits_for_a_lock(self):
        target = self.locked()
        with self.assertRaisesRegex(progress.Harm, "hangs after limpet left: .*system call"):
            target.kill()
        self.assertEqual(target.wait(10), -signal.SIGKILL)

    def test_the_group_of_a_target(self):
        target = self.locked()
        with self.assertRaisesRegex(progress.Harm, "hangs"):
            os.killpg(target.pid, signal.SIGKILL)

    def test_a_target_that_crashed(self):
        target = self.visit(BUSY, "kill -SEGV $2")
        with self.assertRaisesRegex(progress.Harm, "died .*SIGSEGV"):
            progress.end(target)

    def test_a_signal_while_limpet_is_there(self):
        target = subprocess.Popen(["sleep", "60"])
        pathlib.Path(self.limpet).write_text("#!/bin/sh\nexec sleep 60\n")
        os.chmod(self.limpet, 0o755)
        limpet = subprocess.Popen([self.limpet, "attach", str(target.pid)])
        target.kill()
        self.assertIn(target.pid, progress.visited)
        limpet.kill()
        self.assertEqual((target.wait(10), limpet.wait(10)), (-signal.SIGKILL, -signal.SIGKILL))

    def test_what_a_command_visits(self):
        for command, pids in ((["limpet", "attach", 12, "--duration", "0"], [12]), (["gdb", "-p", "12"], []),
                              (["unshare", "sh", "-c", "/x/limpet record -p 12 -p 13,14"], [12, 13, 14])):
            self.assertEqual(progress.pids_named(command), pids)


if __name__ == "__main__":
    unittest.main()
