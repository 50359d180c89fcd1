#!/usr/bin/env python3
"""
The lock by which limpets exclude each other: a user who may not attach cannot hold it, one who may attach can.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
import unittest

from harness import TargetTest, limpet, limpet_finish, limpet_for_all, limpet_start, thread_count, wait_until

NOBODY = 65534
WAIT_S = 1.5  # longer than an attach takes

def as_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def grasp(pid):
    """Locks what it can open of a process, its pidfd included; how much that is."""
    names = [os.path.join(folder, name) for folder, _, names in os.walk(f"/proc/{pid}") for name in names]
    held = [os.pidfd_open(pid)]
    count = 0
    for path in [f"/proc/{pid}", f"/proc/{pid}/task", f"/proc/{pid}/task/{pid}", *names]:
        try:
            held.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        except OSError:
            pass
    for fd in held:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            count += 1
        except OSError:
            pass
    return count


def grasper_start(pid):
    """A child as another user that holds what it can until it is killed: its pid, and how much that is."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            as_nobody()
            os.write(writer, str(grasp(pid)).encode())
            signal.pause()
        finally:
            os._exit(1)
    os.close(writer)
    count = os.read(reader, 16)
    os.close(reader)
    return child, int(count or 0)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Lock(TargetTest):
    def test_a_stranger_cannot_hold_it(self):
        target = self.target("plain", "idle")
        child, count = grasper_start(target.pid)
        self.addCleanup(os.waitpid, child, 0)
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.assertGreater(count, 5, "it could lock nothing")
        begin = time.monotonic()
        result = limpet("attach", target.pid, "--duration", "0")
        self.assertEqual(result.code, 0, str(result))
        self.assertLess(time.monotonic() - begin, 20)

    def test_a_program_that_holds_it_itself(self):
        """It never gives it back: limpet says so at once."""
        script = "import fcntl\nheld = open('/proc/self/mem')\nfcntl.flock(held, fcntl.LOCK_EX)\nprint('held', flush=True)\ninput()"
        target = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_process, target)
        self.assertEqual(target.stdout.readline(), "held\n")
        begin = time.monotonic()
        result = limpet("attach", target.pid, "--json", "--duration", "0")
        self.assertLess(time.monotonic() - begin, 8)
        self.assertEqual(result.code, 7, str(result))
        self.assertIn("locked its own memory file", result.err)

    def test_who_holds_it_is_named_and_the_wait_can_be_interrupted(self):
        target = self.target("plain", "idle")
        memory = os.open(f"/proc/{target.pid}/mem", os.O_RDONLY)
        self.addCleanup(os.close, memory)
        fcntl.flock(memory, fcntl.LOCK_EX)
        process = limpet_start("attach", target.pid, "--json")
        self.addCleanup(self.end_process, process)
        self.assertTrue(wait_until(lambda: thread_count(process.pid) > 1))
        process.send_signal(signal.SIGINT)
        result = limpet_finish(process)
        self.assertEqual(result.code, 7, str(result))
        self.assertIn(f"process {os.getpid()} holds the lock", result.err)

    def test_a_limpet_of_root_and_one_of_the_owner_exclude_each_other(self):
        options = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        target = self.target("plain", "idle", before=("setpriv", *options))
        memory = os.open(f"/proc/{target.pid}/mem", os.O_RDONLY)
        self.addCleanup(os.close, memory)
        for start in (lambda: None, as_nobody):
            fcntl.flock(memory, fcntl.LOCK_EX)
            process = limpet_start("attach", target.pid, "--duration", "0", preexec_fn=start, executable=limpet_for_all())
            self.addCleanup(self.end_process, process)
            time.sleep(WAIT_S)
            self.assertIsNone(process.poll(), "it did not wait for the lock")
            fcntl.flock(memory, fcntl.LOCK_UN)
            result = limpet_finish(process)
            if start is as_nobody and result.code == 3:
                self.skipTest("here the owner may not attach: " + result.err)
            self.assertEqual(result.code, 0, str(result))


if __name__ == "__main__":
    unittest.main()
