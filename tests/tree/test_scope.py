#!/usr/bin/env python3
"""
Descendants that the user did not name: those of process 1, very many, or of several users.  limpet asks on a terminal,
refuses without one, and touches none of them before.
"""

import os
import pty
import signal
import subprocess
import tempfile
import time
import unittest

import families
import harness

IS_ROOT = os.geteuid() == 0
MANY = 33
SLEEPERS = "for i in $(seq {count}); do {before} sleep 1000 & done; wait"
# Process 1 is of a namespace of the test's own: were limpet to attach after all, then to nobody else.
IN_NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c",
                'sleep 1000 & sleep 1000 & "$@"; echo "code $?"; cat /proc/[0-9]*/task/*/comm; :', "sh")


class Scope(unittest.TestCase):
    def shell(self, count, before=""):
        shell = subprocess.Popen(["sh", "-c", SLEEPERS.format(count=count, before=before)],
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(shell.wait)
        self.addCleanup(os.killpg, shell.pid, signal.SIGKILL)
        self.assertTrue(harness.wait_until(lambda: len(self.sleepers(shell.pid)) == count))
        return shell.pid

    def sleepers(self, pid):
        found = []
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            for child in file.read().split():
                found += [int(child)] if harness.progress.read_text(f"/proc/{child}/comm") == "sleep\n" else []
        return found

    def assert_untouched(self, pid):
        for one in [pid, *self.sleepers(pid)]:
            self.assertEqual(harness.limpet_mappings(one), [], f"limpet was in {one}")

    def assert_refused(self, result, figure):
        self.assertEqual(result.code, 2, str(result))
        self.assertIn(figure, result.err)
        self.assertIn("--all-descendants", result.err)

    def record(self, pid, *options):
        with tempfile.TemporaryDirectory() as folder:
            return harness.limpet("record", "-p", pid, "--children", "-d", "300ms", "-o", folder + "/a.limpet", *options)

    def test_many_descendants_are_refused_without_a_terminal(self):
        pid = self.shell(MANY)
        figure = f"process {pid} has {MANY} descendants of 1 user"
        self.assert_refused(harness.limpet("attach", pid, "--children", "-d", "100ms"), figure)
        self.assert_refused(self.record(pid, "--alloc-trace"), figure)
        self.assert_untouched(pid)
        sampled = self.record(pid, "-F", "99", "--sampler", "state")
        self.assertIn(sampled.code, (0, 5), "samples load nothing: " + str(sampled))
        self.assert_untouched(pid)

    def test_the_option_allows_them(self):
        pid = self.shell(MANY)
        result = harness.limpet("attach", pid, "--children", "--all-descendants", "-d", "100ms")
        self.assertEqual(result.code, 0, str(result))
        self.assertIn(f"{MANY + 1} attached", result.out)
        time.sleep(0.5)
        self.assertEqual(len(self.sleepers(pid)), MANY)

    def test_a_few_need_no_option(self):
        result = harness.limpet("attach", self.shell(3), "--children", "-d", "100ms")
        self.assertEqual(result.code, 0, str(result))

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_descendants_of_two_users_are_refused(self):
        pid = self.shell(2, '$([ "$i" = 2 ] && echo ' + " ".join(families.DROP) + ")")
        result = harness.limpet("attach", pid, "--children", "-d", "100ms")
        self.assert_refused(result, f"process {pid} has 2 descendants of 2 users")
        self.assert_untouched(pid)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_process_1_is_refused(self):
        result = subprocess.run([*IN_NAMESPACE, harness.LIMPET, "attach", "1", "--children", "-d", "100ms"],
                                capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=harness.PATIENCE_S)
        self.assertIn("code 2", result.stdout, result.stderr)
        self.assertIn("process 1 has 2 descendants of 1 user", result.stderr)
        self.assertIn("sleep", result.stdout)
        self.assertNotIn("limpet", result.stdout, "a thread of limpet's is there")

    def on_terminal(self, pid, answer):
        """What limpet says on a terminal to somebody who answers so; and its exit code."""
        child, terminal = pty.fork()
        if not child:
            os.execl(harness.LIMPET, "limpet", "attach", str(pid), "--children", "-d", "100ms")
        said = b""
        try:
            while b"[y/N]" not in said:
                said += os.read(terminal, 4096)
            os.write(terminal, answer)
            while True:
                said += os.read(terminal, 4096)
        except OSError:  # limpet has ended
            pass
        os.close(terminal)
        return said.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_a_terminal_is_asked(self):
        pid = self.shell(MANY)
        said, code = self.on_terminal(pid, b"\n")
        self.assertEqual(code, 2, said)
        self.assertIn(f"process {pid} has {MANY} descendants of 1 user, which limpet does not follow unasked. Load code", said)
        self.assert_untouched(pid)
        said, code = self.on_terminal(pid, b"yes\n")
        self.assertEqual(code, 0, said)
        self.assertIn(f"{MANY + 1} attached", said)


if __name__ == "__main__":
    unittest.main()
