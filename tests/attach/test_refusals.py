#!/usr/bin/env python3
"""
What limpet says, and with which exit code, when it cannot or may not attach; and that the target is not
touched by it.  Messages are three lines on stderr (error, why, fix) and the same words in the summary.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import harness
from harness import limpet, TargetTest

AT_ONCE_S = 8  # on a busy machine; what waits for an end waits longer

NOBODY = 65534
DROP = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


def needs_root(test):
    return unittest.skipUnless(os.geteuid() == 0, "needs root")(test)


class Refusal(TargetTest):
    def assert_refused(self, result, code, *words):
        self.assertFalse(result.hung, str(result))
        self.assertEqual(result.code, code, str(result))
        self.assertTrue(result.err.startswith("error: "), str(result))
        self.assertEqual([event["event"] for event in result.events], ["summary"], str(result))
        summary = result.event("summary")
        self.assertEqual(summary["exit"], code)
        self.assertEqual("  why: " in result.err, bool(summary["why"]))
        self.assertEqual("  fix: " in result.err, bool(summary["fix"]))
        self.assertIn(summary["error"], result.err)
        self.assertIn(summary["why"], result.err)
        text = result.err.lower()
        for word in words:
            self.assertIn(word.lower(), text)

    def assert_well(self, target):
        self.assertTrue(target.alive())
        self.assertTrue(target.stats.wait_turn())
        for name in ("eintr", "corruptions", "errors"):
            self.assertEqual(target.stats.word(name), 0, target.stats.detail())

    def attach(self, pid, *arguments, **options):
        return limpet("attach", pid, "--json", "--duration", "0", *arguments, **options)


class Usage(unittest.TestCase):
    def assert_usage(self, *arguments):
        result = limpet(*arguments)
        self.assertEqual(result.code, 2, str(result))
        self.assertIn("error: ", result.err)
        self.assertEqual(result.out if "--json" not in arguments else "", "")

    def test_no_pid(self):
        self.assert_usage("attach")

    def test_a_pid_that_is_no_number(self):
        self.assert_usage("attach", "+12")

    def test_a_negative_pid(self):
        self.assert_usage("attach", "--", "-5")

    def test_two_pids(self):
        self.assert_usage("attach", "1", "2")

    def test_an_unknown_option(self):
        self.assert_usage("attach", "1", "--no-such-option")

    def test_an_unknown_verb(self):
        self.assert_usage("atach", "1")

    def test_a_bad_duration(self):
        self.assert_usage("attach", "1", "--duration", "5 weeks")

    def test_a_bad_variable(self):
        self.assert_usage("attach", "1", "--env", "NO_EQUALS_SIGN")

    def test_the_other_verbs(self):
        for verb in ("detach", "status"):
            with self.subTest(verb=verb):
                self.assert_usage(verb)
                self.assert_usage(verb, "+12")

    def test_help(self):
        for arguments in (("--help",), ("help",), ("attach", "--help"), ("help", "attach")):
            with self.subTest(arguments=arguments):
                result = limpet(*arguments)
                self.assertEqual(result.code, 0, str(result))
                self.assertIn("limpet", result.out)


class NotThere(Refusal):
    def test_no_such_process(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        for verb in ("attach", "detach", "status"):
            with self.subTest(verb=verb):
                begin = time.monotonic()
                self.assert_refused(limpet(verb, gone.pid, "--json"), 4, str(gone.pid))
                self.assertLess(time.monotonic() - begin, AT_ONCE_S)

    def test_a_zombie(self):
        zombie = subprocess.Popen(["true"])
        harness.wait_until(lambda: harness.status_of(zombie.pid).get("State", "?")[0] == "Z")
        result = self.attach(zombie.pid)
        zombie.wait()
        self.assert_refused(result, 4, "zombie")


class CannotBeAttached(Refusal):
    def test_a_static_program(self):
        target = self.target("plain_static", "idle")
        self.assert_refused(self.attach(target.pid), 6, "static")
        self.assert_well(target)

    def test_a_kernel_thread(self):
        if harness.status_of(2).get("Name") != "kthreadd":
            self.skipTest("kernel threads are not visible here")
        self.assert_refused(self.attach(2), 6, "kernel thread")

    def test_a_32_bit_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "small")
            source = b"#include <unistd.h>\nint main(void) { for (;;) pause(); }\n"
            if not self.build_32_bit(path, source):
                self.skipTest("no compiler for 32-bit programs")
            process = subprocess.Popen([path])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            self.assert_refused(self.attach(process.pid), 6, "32-bit")

    def build_32_bit(self, path, source):
        for compiler in (["gcc", "-m32"], ["arm-linux-gnueabihf-gcc", "-static"]):
            if not shutil.which(compiler[0]):
                continue
            command = [*compiler, "-x", "c", "-", "-o", path]
            if subprocess.run(command, input=source, stderr=subprocess.DEVNULL).returncode == 0:
                return subprocess.run(["sh", "-c", f"timeout 0.2 {path}"]).returncode == 124
        return False

    def test_filters_that_kill_or_refuse(self):
        calls = {"mmap_kill": "mmap", "mmap_errno": "mmap", "clone_kill": "clone",
                 "clone_errno": "clone", "open_kill": "openat", "clock_errno": "clock_gettime"}
        for name, call in calls.items():
            with self.subTest(filter=name):
                target = self.target("filtered", name)
                self.assert_refused(self.attach(target.pid), 6, "seccomp", call)
                self.assert_well(target)

    def test_no_room_for_a_thread(self):
        target = self.target("confined", "limit_processes")
        result = self.attach(target.pid)
        self.assertIn(result.code, (1, 6), str(result))
        self.assertTrue(result.err.startswith("error: "), str(result))
        self.assert_well(target)


class Busy(Refusal):
    def traced(self, command):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        target = self.target("plain", "idle")
        tracer = subprocess.Popen([*command, "-p", str(target.pid)], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(tracer.stdin.close)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        held = lambda: harness.status_of(target.pid).get("TracerPid") == str(tracer.pid)
        self.assertTrue(harness.wait_until(held))
        return target, tracer

    def test_traced_by_strace(self):
        target, tracer = self.traced(["strace", "-f", "-o", "/dev/null"])
        self.assert_refused(self.attach(target.pid), 7, "traced", "strace", str(tracer.pid))
        self.assert_well(target)

    def test_held_by_gdb(self):
        target, tracer = self.traced(["gdb", "-nx", "-q"])
        self.assert_refused(self.attach(target.pid), 7, "traced", "gdb", str(tracer.pid))

    def test_stopped_by_job_control(self):
        target = self.target("plain", "idle")
        os.kill(target.pid, signal.SIGSTOP)
        state = lambda: harness.status_of(target.pid)["State"][0]
        self.assertTrue(harness.wait_until(lambda: state() == "T"))
        self.assert_refused(self.attach(target.pid), 7, "stopped", "--cont")
        self.assertEqual(state(), "T")
        result = self.attach(target.pid, "--cont")
        self.assertEqual(result.code, 0, str(result))
        self.assertNotEqual(state(), "T")
        self.assertTrue(target.stats.wait_turn())


@needs_root
class NotPermitted(Refusal):
    def setUp(self):
        if not shutil.which("setpriv"):
            self.skipTest("setpriv is not installed")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.copy = shutil.copy(shutil.which(harness.LIMPET), os.path.join(folder.name, "limpet"))
        os.chmod(self.copy, 0o755)

    def attach_as_nobody(self, pid, *arguments):
        process = subprocess.Popen(
            [*DROP, self.copy, "attach", str(pid), "--json", "--duration", "0", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        return harness.limpet_finish(process)

    def test_somebody_elses_process(self):
        target = self.target("plain", "idle")
        self.assert_refused(self.attach_as_nobody(target.pid), 3, "root", "cap_sys_ptrace")
        self.assert_well(target)

    def test_own_process_without_any_right(self):
        target = self.target("plain", "idle", before=DROP)
        scope = "/proc/sys/kernel/yama/ptrace_scope"
        if os.path.exists(scope) and open(scope).read().strip() != "0":
            self.assert_refused(self.attach_as_nobody(target.pid), 3, "ptrace_scope")
        else:
            result = self.attach_as_nobody(target.pid)
            self.assertEqual(result.code, 0, str(result))
        self.assert_well(target)

    def test_own_process_that_is_not_dumpable(self):
        target = self.target("confined", "nondumpable", before=DROP)
        self.assert_refused(self.attach_as_nobody(target.pid), 3, "dumpable")
        self.assert_well(target)


if __name__ == "__main__":
    unittest.main()
