#!/usr/bin/env python3
"""
`limpet top PID`: live in a terminal, and once as text.

Environment: LIMPET is the executable under test, PROGRAMS the folder with spinner.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import LIMPET, PROGRAMS  # noqa: E402
from terminal import Terminal  # noqa: E402

CYAN_TITLE = 46

# A session with a shell in it: without one nobody could continue what Ctrl-Z stops.
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if not child:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    status = os.waitpid(child, os.WUNTRACED)[1]
    if os.WIFSTOPPED(status):
        os.tcsetpgrp(0, os.getpgrp())
        os.write(1, b"STOPPED")
        os.read(0, 1)
        os.tcsetpgrp(0, child)
        os.kill(child, signal.SIGCONT)
    else:
        sys.exit(os.waitstatus_to_exitcode(status))
"""

# Computes under a name that would turn a terminal red.
HOSTILE = """
import ctypes, threading
ctypes.CDLL(None).prctl(15, b"\\x1b[31mred\\x07", 0, 0, 0)
print("ready", flush=True)
while True:
    sum(range(1000))
"""


class Top(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def target(self, *arguments):
        process = subprocess.Popen([os.path.join(PROGRAMS, "spinner"), *arguments])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def environment(self, **changes):
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **changes}
        return {name: value for name, value in environment.items() if value is not None}

    def top(self, pid, *options, width=80, height=24, before=(), **changes):
        terminal = Terminal([*before, LIMPET, "top", str(pid), *options], width, height,
                            self.environment(**changes))
        self.addCleanup(terminal.close)
        return terminal

    def assert_shows(self, terminal, *texts):
        self.assertTrue(terminal.wait_for(*texts), f"no {texts} in:\n{terminal.screen.text()}")

    def assert_left(self, terminal, code=0):
        self.assertEqual(terminal.finish(), code, terminal.screen.text())
        self.assertTrue(terminal.is_as_before())
        self.assertNotIn(1049, terminal.screen.modes)
        self.assertEqual(terminal.screen.strange, [])

    def batch(self, pid, *options):
        return subprocess.run([LIMPET, "top", str(pid), *options], capture_output=True, text=True,
                              env=self.environment(), stdin=subprocess.DEVNULL, cwd=self.folder.name, timeout=120)

    def batch_until(self, pattern, pid, *options):
        """One that lasts until its text has that, however busy the machine is."""
        for duration in ("1s", "4s", "16s"):
            result = self.batch(pid, *options, "-d", duration)
            if re.search(pattern, result.stdout):
                break
        return result

    def test_shows_threads_functions_and_the_path(self):
        terminal = self.top(self.target().pid)
        self.assert_shows(terminal, "spin_leaf", "spin_cold", "spinning", "dozing", "running", "% complete",
                          " lost", "sampler ", "99 Hz", "last 10 s", "│spin_hot", "q quit")
        self.assertRegex(terminal.screen.text(), r"\d+ samples, \d+\.\d\d % complete, 0 lost")
        self.assertIn(CYAN_TITLE, terminal.screen.colors)
        self.assertIn(1049, terminal.screen.modes)
        terminal.press("q")
        self.assert_left(terminal)

    def test_small_and_resized(self):
        terminal = self.top(self.target().pid, width=40, height=10)
        self.assert_shows(terminal, "spin_leaf", "samples")
        self.assertNotIn("spinning", terminal.screen.text())
        terminal.resize(80, 24)
        self.assert_shows(terminal, "spin_leaf", "spinning", "q quit")
        terminal.resize(120, 40)
        self.assert_shows(terminal, "spin_leaf", "spinning", "q quit")
        self.assertIn("q quit", terminal.screen.lines()[39])
        terminal.resize(20, 3)
        self.assertTrue(terminal.wait(lambda screen: screen.lines()[2].startswith("q quit")))
        terminal.press("q")
        self.assert_left(terminal)

    def test_without_colours(self):
        target = self.target()
        for options, changes in (((), {"TERM": "vt100"}), ((), {"NO_COLOR": "1"}), (("--no-color",), {})):
            with self.subTest(options=options, changes=changes):
                terminal = self.top(target.pid, *options, **changes)
                self.assert_shows(terminal, "spin_leaf", "spinning")
                terminal.press("q")
                self.assert_left(terminal)
                self.assertEqual(terminal.screen.colors - {39, 49}, set())

    def test_ascii_alone(self):
        target = self.target()
        for options, changes in ((("--ascii",), {}), ((), {"LC_ALL": "C"}), ((), {"LC_ALL": None})):
            with self.subTest(options=options, changes=changes):
                terminal = self.top(target.pid, *options, **changes)
                self.assert_shows(terminal, "|spin_hot", "spinning")
                terminal.press("q")
                self.assert_left(terminal)
                self.assertTrue(terminal.seen.isascii())

    def test_keys(self):
        terminal = self.top(self.target().pid)
        self.assert_shows(terminal, "spin_leaf", "spin_cold")
        terminal.press("?")
        self.assert_shows(terminal, "leave", "hold the screen still", "sampler ")
        terminal.press("?s")
        self.assert_shows(terminal, "sorted by total", "by total")
        terminal.press("/cold")
        self.assert_shows(terminal, "filter: cold_")
        terminal.press("\r")
        self.assert_shows(terminal, "FUNCTION with: cold")
        self.assertFalse(re.search(r"\d  spin_leaf", terminal.screen.text()))
        terminal.press("\x1b")
        self.assertTrue(terminal.wait(lambda screen: re.search(r"\d  spin_leaf", screen.text())))
        terminal.press("v")
        self.assert_shows(terminal, "--off-cpu")
        terminal.press("w")
        self.assert_shows(terminal, "last 60 s")
        terminal.press("\tz")
        self.assertTrue(terminal.wait(lambda screen: "FLAME VIEW" in screen.lines()[2]))
        terminal.press("z\t\r")
        self.assert_shows(terminal, "only thread")
        terminal.press("\x1b[B\x1b[A\x1bOA\x1bOB\x1b[5~\x1b[6~x")
        terminal.press("q")
        self.assert_left(terminal)

    def test_a_function_is_opened(self):
        terminal = self.top(self.target().pid)
        self.assert_shows(terminal, "spin_leaf", "spin_cold")
        terminal.press("/spin_hot\r\r")
        self.assert_shows(terminal, "spin_hot (spinner): self", "CALLED BY", "CALLS", "LINES", "Esc or Backspace back")
        self.assertTrue(terminal.wait(lambda screen: re.search(
            r"CALLED BY.*\d  spin  .*CALLS.*\d  spin_leaf .*LINES.*\d  spinner\.c:\d+", screen.text(), re.DOTALL)))
        terminal.press("\x1bOB\r")
        self.assert_shows(terminal, "spin_leaf (spinner): self")
        self.assertTrue(terminal.wait(lambda screen: re.search(r"CALLED BY.*\d  spin_hot ", screen.text(), re.DOTALL)))
        terminal.press("\x7f")
        self.assert_shows(terminal, "spin_hot (spinner): self")
        terminal.press("\x1b")
        self.assert_shows(terminal, "FUNCTION with: spin_hot", "FLAME VIEW", "Enter open")
        terminal.press("q")
        self.assert_left(terminal)

    def test_pause(self):
        target = self.target()
        terminal = self.top(target.pid)
        self.assert_shows(terminal, "spin_leaf")
        terminal.press(" ")
        self.assert_shows(terminal, "paused")
        shown = terminal.screen.text()
        self.assertFalse(terminal.wait(lambda screen: screen.text() != shown, limit_s=2.5))
        terminal.press(" ")
        self.assertTrue(terminal.wait(lambda screen: "paused" not in screen.text() and screen.text() != shown))
        terminal.press(" ")
        self.assert_shows(terminal, "paused")
        target.kill()
        target.wait()
        self.assert_shows(terminal, "ended, paused", "spin_leaf")
        terminal.press("q")
        self.assert_left(terminal)

    def test_waits(self):
        terminal = self.top(self.target().pid, "--off-cpu")
        self.assert_shows(terminal, "spin_leaf")
        terminal.press("v")
        self.assert_shows(terminal, "off-cpu", "sleep_short")
        terminal.press("q")
        self.assert_left(terminal)

    def test_freeze(self):
        path = os.path.join(self.folder.name, "frozen.limpet")
        target = self.target()
        terminal = self.top(target.pid, "-o", path)
        self.assert_shows(terminal, "spin_leaf", "spin_cold")
        terminal.press("f")
        self.assert_shows(terminal, "wrote ")
        terminal.press("q")
        self.assert_left(terminal)
        report = harness.limpet("report", path, "--json")
        self.assertEqual(report.code, 0, str(report))
        functions = {event["name"] for event in report.events if event["event"] == "sampled_function"}
        threads = {event["name"] for event in report.events if event["event"] == "sampled_thread"}
        self.assertLessEqual({"spin_leaf", "spin_cold", "spin_hot"}, functions)
        self.assertIn("spinning", threads)
        folded = os.path.join(self.folder.name, "out.folded")
        export = harness.limpet("export", path, "-o", folded)
        self.assertEqual(export.code, 0, str(export))
        with open(folded, encoding="utf-8") as file:
            self.assertIn("spin;spin_hot;spin_leaf", file.read())

    def test_a_failed_freeze_is_said(self):
        terminal = self.top(self.target().pid, "-o", "/proc/nowhere/x.limpet")
        self.assert_shows(terminal, "spin_leaf")
        terminal.press("f")
        self.assert_shows(terminal, "not written: ")
        terminal.press("q")
        self.assert_left(terminal)

    def test_signals_give_the_terminal_back(self):
        target = self.target()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                terminal = self.top(target.pid)
                self.assert_shows(terminal, "spin_leaf")
                self.assertFalse(terminal.is_as_before())
                terminal.process.send_signal(number)
                self.assert_left(terminal)
        terminal = self.top(target.pid)
        self.assert_shows(terminal, "spin_leaf")
        terminal.press("\x03")
        self.assert_left(terminal)

    def test_stopped_and_continued(self):
        terminal = self.top(self.target().pid, before=(sys.executable, "-c", SHELL))
        self.assert_shows(terminal, "spin_leaf")
        terminal.press("\x1a")
        self.assertTrue(terminal.wait(lambda _: b"STOPPED" in terminal.seen))
        self.assertTrue(terminal.is_as_before())
        self.assertNotIn(1049, terminal.screen.modes)
        terminal.screen.resize(80, 24)
        terminal.press("\n")
        self.assert_shows(terminal, "spin_leaf", "q quit")
        self.assertIn(1049, terminal.screen.modes)
        terminal.press("q")
        self.assert_left(terminal)

    def test_the_end_of_the_target_is_said(self):
        target = self.target()
        terminal = self.top(target.pid)
        self.assert_shows(terminal, "spin_leaf")
        target.kill()
        target.wait()
        self.assert_shows(terminal, "the process has ended", "ended")
        terminal.press("q")
        self.assert_left(terminal)

    def test_duration(self):
        terminal = self.top(self.target().pid, "--duration", "500ms")
        self.assert_left(terminal)

    def test_terminals_that_are_none(self):
        target = self.target()
        for name in (None, "", "no-such-terminal", "dumb"):
            with self.subTest(TERM=name):
                terminal = self.top(target.pid, TERM=name)
                self.assertEqual(terminal.finish(), 1)
                self.assertIn("--batch", terminal.screen.text())
                self.assertIn("error: ", terminal.screen.text())
                self.assertTrue(terminal.is_as_before())
                self.assertNotIn(b"\x1b", terminal.seen)

    def test_names_are_harmless(self):
        target = subprocess.Popen([sys.executable, "-c", HOSTILE], stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.stdout.close)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        terminal = self.top(target.pid, "--no-color")
        self.assert_shows(terminal, "?[31mred?")
        terminal.press("q")
        self.assert_left(terminal)
        self.assertEqual(terminal.screen.colors - {39, 49}, set())
        result = self.batch(target.pid, "--batch", "-d", "300ms")
        self.assertIn("?[31mred?", result.stdout)
        self.assertNotIn("\x1b", result.stdout + result.stderr)

    def test_batch(self):
        path = os.path.join(self.folder.name, "b.limpet")
        result = self.batch_until(r"\d\d+ samples", self.target().pid, "--batch", "-o", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"process \d+ \(spinner\): sampler \w+ \(.+\), 99 Hz, on-cpu")
        self.assertRegex(result.stdout, r"\d+ samples, \d+\.\d\d % complete, \d+ lost")
        self.assertRegex(result.stdout, r"\d+  running +\d+\.\d +\d+  spinning\n")
        self.assertRegex(result.stdout, r"\d+  \w+ +\d+\.\d +\d+  dozing\n")
        self.assertRegex(result.stdout, r"(?m)^ +\d+\.\d\d +\d+\.\d\d +\d+  spin_leaf \(spinner\)$")
        functions = result.stdout.split("FUNCTION\n")[1]
        self.assertTrue(functions.splitlines()[0].endswith("spin_leaf (spinner)"), functions)
        path_names = [line.split()[-1] for line in result.stdout.split("HOTTEST PATH\n")[1].splitlines() if line]
        self.assertLessEqual({"spin", "spin_hot", "spin_leaf"}, set(path_names))
        self.assertRegex(result.stdout, rf"wrote {re.escape(path)}: \d+ samples")
        self.assertEqual(harness.limpet("report", path).code, 0)

    def test_a_family(self):
        # The shell goes on when both run, and dies with its last word.
        shell = subprocess.Popen(["sh", "-c", '"$0" & "$0" & wait', os.path.join(PROGRAMS, "spinner")],
                                 start_new_session=True)
        self.addCleanup(shell.wait)
        self.addCleanup(os.killpg, shell.pid, signal.SIGKILL)
        spinning = r"(?s)( running +\d+\.\d +[1-9]\d*  spinning\n.*){2}"
        result = self.batch_until(spinning, shell.pid, "--batch", "--children")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"process \d+ \(sh\) and 2 descendants: sampler ")
        self.assertRegex(result.stdout, spinning)
        self.assertRegex(result.stdout, r"(?m)^ +\d+\.\d\d +\d+\.\d\d +\d+  spin_leaf \(spinner\)$")

    def test_no_terminal_is_a_batch_and_said(self):
        result = self.batch_until(r"more \(-n\)", self.target().pid, "-n", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("stdout is not a terminal", result.stderr)
        self.assertIn("more (-n)", result.stdout)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_nothing_seen_is_no_success(self):
        result = self.batch(self.target("quiet").pid, "--batch", "-d", "200ms")
        self.assertEqual(result.returncode, 5, result.stdout + result.stderr)
        self.assertIn("no sample was taken", result.stderr)
        self.assertIn("spinner", result.stdout)

    def test_each_rung_says_so(self):
        target = self.target()
        for sampler in ("bpf", "copy", "read", "state"):
            with self.subTest(sampler=sampler):
                result = self.batch(target.pid, "--batch", "-d", "500ms", "--sampler", sampler)
                if result.returncode == 3 and sampler in ("bpf", "copy"):
                    continue
                self.assertIn(f"sampler {sampler} (", result.stdout, result.stderr)

    def test_wrong_words(self):
        for words, code in ((("top",), 2), (("top", "-1"), 2), (("top", "4194305"), 4),
                            (("top", str(os.getpid()), "-F", "0"), 2),
                            (("top", str(os.getpid()), "--batch", "--sampler", "magic"), 2)):
            result = harness.limpet(*words)
            self.assertEqual(result.code, code, str(result))


if __name__ == "__main__":
    unittest.main(verbosity=2)
