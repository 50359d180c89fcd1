#!/usr/bin/env python3
"""
Process trees through the front ends: a shell with children, one of them born while attached.  That the tree itself
is followed well is the business of tests/tree; here it is that each front end asks for it, and lets go of all.
"""

import os
import signal
import subprocess
import unittest

import life
import staged
from life import Doors, tool
from staged import INVALID, NOT_FOUND, SUCCESS, harness

SHELL = "sleep 1000 & while read line; do sleep 1000 & done; wait"


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def is_held(pid):
    """Whether a thread of limpet's is in it."""
    names = []
    for tid in harness.threads_of(pid):
        try:
            with open(f"/proc/{pid}/task/{tid}/comm") as file:
                names.append(file.read().strip())
        except OSError:
            pass
    return "limpet" in names


class Trees(Doors):
    def setUp(self):
        super().setUp()
        self.shell = subprocess.Popen(["sh", "-c", SHELL], stdin=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end_shell)
        self.assertTrue(harness.wait_until(lambda: len(self.sleepers()) == 1))

    def end_shell(self):
        os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.stdin.close()
        self.shell.wait()

    def sleepers(self):
        """Children that have become the program they are to be."""
        found = []
        for pid in children_of(self.shell.pid):
            with open(f"/proc/{pid}/comm") as file:
                found += [pid] if file.read() == "sleep\n" else []
        return found

    def add_child(self):
        before = set(self.sleepers())
        self.shell.stdin.write(b"\n")
        self.shell.stdin.flush()
        self.assertTrue(harness.wait_until(lambda: len(self.sleepers()) > len(before)))
        return (set(self.sleepers()) - before).pop()

    def caller(self):
        path = self.prefix.library("librocprofiler-sdk-rocattach.so.1")
        caller = staged.Caller(path, staged.environment(self.log, [tool("a")]))
        self.addCleanup(caller.close)
        return caller

    def assert_held(self, *pids):
        for pid in pids:
            self.assertTrue(harness.wait_until(lambda: is_held(pid)), f"{pid} is not attached")

    def assert_free(self, *pids):
        for pid in pids:
            self.assertTrue(harness.wait_until(lambda: not is_held(pid)), f"{pid} is still attached")
            self.assertIn(harness.status_of(pid)["State"][0], "SR", "it did not survive")

    def assert_followed(self, end):
        """The shell, the child that it had, and a new one; and what ends it frees them all."""
        old = self.sleepers()
        self.assert_held(self.shell.pid, *old)
        self.assert_held(self.add_child())
        family = (self.shell.pid, *self.sleepers())
        # A child that was attached before it became another program had no time to say goodbye.
        self.assertTrue(harness.wait_until(lambda: self.calls("tool_attach") >= len(family)))
        end()
        self.assert_free(*family)
        self.assertEqual(self.calls("tool_detach"), len(family))
        self.log.clear()

    def calls(self, name):
        return self.log.events().count(name)


class Libraries(Trees):
    def test_rocattach(self):
        caller = self.caller()
        for end in (("rocattach_detach_tree", self.shell.pid), ("rocattach_detach", self.shell.pid),
                    ("rocattach_detach", 0)):
            with self.subTest(end=end):
                self.assertEqual(caller.call("rocattach_attach_tree", self.shell.pid), SUCCESS)
                self.assertEqual(caller.call("rocattach_attach_tree", self.shell.pid), INVALID)
                self.assert_followed(lambda: self.assertEqual(caller.call(*end), SUCCESS))

    def test_without_a_tree_the_children_are_left_alone(self):
        caller = self.caller()
        self.assertEqual(caller.call("rocattach_attach", self.shell.pid), SUCCESS)
        self.assert_held(self.shell.pid)
        self.assert_free(*self.sleepers(), self.add_child())

    def test_the_end_of_the_caller(self):
        for end in ("kill", "end", "close"):
            with self.subTest(end=end):
                caller = self.caller()
                self.assertEqual(caller.call("rocattach_attach_tree", self.shell.pid), SUCCESS)
                ends = {"kill": caller.kill, "end": caller.end, "close": lambda: caller.call("close")}
                self.assert_followed(ends[end])

    def test_no_such_tree(self):
        caller = self.caller()
        self.assertEqual(caller.call("rocattach_attach_tree", life.free_pid()), NOT_FOUND)

    def test_the_caller_sees_no_child_but_its_own(self):
        caller = self.caller()
        self.assertEqual(caller.call("rocattach_attach_tree", self.shell.pid), SUCCESS)
        self.assert_followed(lambda: caller.call("rocattach_detach_tree", self.shell.pid))
        self.assertIn(" foreign 0 ", caller.ask("family"))


class Scope(Trees):
    """Too many descendants: nothing is touched unless the caller allows it."""

    MANY = 33

    def setUp(self):
        super().setUp()
        self.shell.stdin.write(b"\n" * (self.MANY - 1))
        self.shell.stdin.flush()
        self.assertTrue(harness.wait_until(lambda: len(self.sleepers()) == self.MANY))

    def run_program(self, *words, **variables):
        return subprocess.run(
            [self.prefix.program(words[0]), *words[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=staged.DEADLINE_S, env=staged.environment(self.log, [tool("a")], **variables))

    def assert_refused(self, result):
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"process {self.shell.pid} has {self.MANY} descendants of 1 user", result.stderr)
        self.assert_free(self.shell.pid, *self.sleepers())
        self.assertEqual(self.calls("tool_attach"), 0)

    def test_rocprof_attach(self):
        words = ("rocprof-attach", "-p", str(self.shell.pid), "-d", "100")
        self.assert_refused(self.run_program(*words))
        allowed = self.run_program(*words, "--all-descendants")
        self.assertEqual(allowed.returncode, 0, allowed.stderr)
        self.assertEqual(self.calls("tool_attach"), self.MANY + 1)

    def test_rocprofv3(self):
        self.assert_refused(self.run_program("rocprofv3", "--attach", str(self.shell.pid), "--hip-trace"))

    def test_the_library(self):
        caller = self.caller()
        self.assertEqual(caller.call("rocattach_attach_tree", self.shell.pid), INVALID)
        self.assert_free(self.shell.pid, *self.sleepers())


class Programs(Trees):
    def launch(self, *words, **variables):
        env = staged.environment(self.log, [tool("a")], **variables)
        process = subprocess.Popen([self.prefix.program(words[0]), *words[1:]], env=env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end_process, process)
        return process

    def end_process(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def finish(self, process):
        out, err = process.communicate(b"\n", timeout=staged.DEADLINE_S)
        self.assertEqual((process.returncode, err), (0, b""), out)

    def test_children_by_default(self):
        process = self.launch("rocprof-attach", "-p", str(self.shell.pid))
        self.assert_followed(lambda: self.finish(process))

    def test_children_of_the_older_program_when_asked(self):
        process = self.launch("rocprofv3-attach.py", ROCPROF_ATTACH_PID=str(self.shell.pid),
                              ROCPROF_ATTACH_CHILDREN="1")
        self.assert_followed(lambda: self.finish(process))

    def test_no_children_when_not_wanted(self):
        processes = (("rocprof-attach", "-p", str(self.shell.pid), "--attach-children", "false"),
                     ("rocprofv3-attach.py",))
        for words in processes:
            with self.subTest(program=words[0]):
                process = self.launch(*words, ROCPROF_ATTACH_PID=str(self.shell.pid))
                self.assert_held(self.shell.pid)
                self.assert_free(*self.sleepers(), self.add_child())
                self.finish(process)
                self.assert_free(self.shell.pid)


if __name__ == "__main__":
    unittest.main()
