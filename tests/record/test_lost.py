#!/usr/bin/env python3
"""
A process that limpet was in and cannot attach to again: the message names what the process did, and why the
attach is refused.
"""

import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import TargetTest  # noqa: E402

# Does what the line on its standard input says, then waits for the next line.
PROGRAM = """if True:
    import ctypes, os, struct, sys
    NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2
    libc = ctypes.CDLL(None)
    def confine():
        number = {"x86_64": 219, "aarch64": 128}[os.uname().machine]  # restart_syscall
        code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x80000000), (6, 0, 0, 0x7fff0000)]
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
        program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(code)))
        assert not libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
        assert not libc.prctl(SECCOMP, FILTER, program, 0, 0)
    def work():
        print(os.getpid(), flush=True)
        for line in sys.stdin:
            words = line.split()
            if words[0] == "confine":
                confine()
                continue
            os.execvp(words[0], words)
    if len(sys.argv) > 1 and os.fork():
        os.wait()
    else:
        work()
"""

CALLS = ("--function", "libc.so*:getppid")
PLAIN_STATIC = harness.program("plain_static")
CONFINED = "changed its identity or confined itself and is not attached again: cannot attach to"
EXECUTED = "executed another program and is not attached again: cannot attach to"


class Lost(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, *arguments):
        """The process to attach, and the one that gets lines."""
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end_process, process)
        worker = int(process.stdout.readline())
        self.addCleanup(self.kill, worker)
        return process, worker

    @staticmethod
    def kill(pid):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass

    def tell(self, process, line):
        process.stdin.write(line + "\n")
        process.stdin.flush()

    def record(self, pid, *arguments):
        path = os.path.join(self.folder, "it.limpet")
        process = harness.limpet_attached("record", "-p", pid, *CALLS, "-o", path, "--json", *arguments)
        self.addCleanup(self.end_process, process)
        return process

    def attach(self, pid):
        process = harness.limpet_start("attach", pid, "--children", "--json")
        self.addCleanup(self.end_process, process)
        while (event := harness.event_wait(process)) and event["event"] != "tree":
            pass
        self.assertIsNotNone(event)
        return process

    def has_limpet(self, pid):
        return any(harness.status_of(pid, tid).get("Name") == "limpet" for tid in harness.threads_of(pid))

    def await_lost(self, process, worker, line):
        self.assertTrue(harness.wait_until(lambda: self.has_limpet(worker)))
        self.tell(process, line)
        self.assertTrue(harness.wait_until(lambda: not self.has_limpet(worker)))

    def finish(self, limpet):
        limpet.terminate()
        return harness.limpet_finish(limpet)

    def static_line(self):
        return f"{PLAIN_STATIC} idle {self.folder}/statistics"

    def await_skipped(self, limpet):
        while (event := harness.event_wait(limpet)) and event["event"] != "skipped":
            pass
        self.assertIsNotNone(event, "no line says that it was skipped")
        return event

    def finish_later(self, limpet):
        """What limpet says in the end.  It returns 50 ms after it left."""
        with self.assertRaises(subprocess.TimeoutExpired):
            limpet.wait(0.5)
        return self.finish(limpet).err

    def test_a_program_that_confines_itself(self):
        process, worker = self.program()
        limpet = self.record(worker)
        self.await_lost(process, worker, "confine")
        self.assertRegex(self.finish_later(limpet),
                         "it went on with other rights, which is not recorded: .*seccomp filter")

    def test_the_reason_stays_when_the_process_has_ended(self):
        process, worker = self.program()
        limpet = self.record(worker)
        self.await_lost(process, worker, "confine")
        with self.assertRaises(subprocess.TimeoutExpired):
            limpet.wait(2)  # the first try to come back must be over: a busy machine needs more than half a second
        self.kill(worker)
        self.assertRegex(harness.limpet_finish(limpet).err, "which is not recorded: .*seccomp filter")

    def launch(self, *command):
        """A change of rights that limpet leaves for, and another program within the 50 ms until it returns."""
        path = os.path.join(self.folder, "it.limpet")
        process = harness.limpet_start("record", "--alloc-trace", "-d", "5s", "-o", path, "--json", "--",
                                       "setpriv", "--no-new-privs", *command)
        self.addCleanup(self.end_process, process)
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        time.sleep(1)
        with open(children) as file:
            for pid in file.read().split():
                if harness.status_of(int(pid)).get("Name") == os.path.basename(command[0]):
                    self.kill(int(pid))
        return harness.limpet_finish(process).err

    def test_another_program_right_after_a_change_of_rights(self):
        """limpet attached to the new program and took it for the old one."""
        self.assertRegex(self.launch("sleep", "60"), r"it executes another program now: recording \d+ \(sleep\)")

    def test_a_static_program_right_after_a_change_of_rights(self):
        err = self.launch(*self.static_line().split())
        self.assertRegex(err, "it executed another program, which is not recorded: .*statically linked")
        self.assertNotIn("other rights", err)

    def test_a_child_that_confines_itself(self):
        for begin in (self.attach, lambda pid: self.record(pid, "--children")):
            process, worker = self.program("child")
            limpet = begin(process.pid)
            self.await_lost(process, worker, "confine")
            event = self.await_skipped(limpet)
            self.assertEqual(event["pid"], worker)
            self.assertIn(CONFINED, event["error"])
            self.assertIn(CONFINED, self.finish(limpet).err)

    def test_a_child_that_executes_a_static_program(self):
        for begin in (self.attach, lambda pid: self.record(pid, "--children")):
            process, worker = self.program("child")
            limpet = begin(process.pid)
            self.await_lost(process, worker, self.static_line())
            event = self.await_skipped(limpet)
            self.assertEqual(event["pid"], worker)
            self.assertIn(EXECUTED, event["error"])
            self.assertIn("statically linked", event["error"])
            self.finish(limpet)


if __name__ == "__main__":
    unittest.main()
