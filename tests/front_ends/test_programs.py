#!/usr/bin/env python3
"""
The Python programs: rocprof-attach and rocprofv3-attach.py, run from the staged tree with a tool.  What ends
them, what they say, what they find; and main() of the second called from Python.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import life
import staged
from life import FIRST, Doors, expected, tool
from staged import harness

NEW, OLD = "rocprof-attach", "rocprofv3-attach.py"


class Programs(Doors):
    def launch(self, program, *arguments, stdin=subprocess.PIPE, before=(), **variables):
        process = subprocess.Popen(
            [*before, self.prefix.program(program), *map(str, arguments)],
            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
            env=staged.environment(self.log, **variables),
        )
        self.addCleanup(self.end_process, process)
        return process

    def end_process(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def finish(self, process, code=0, text=None):
        """Both outputs of a program that must end with that status."""
        out, err = process.communicate(text, timeout=staged.DEADLINE_S)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def start(self, name="a", program=NEW, **options):
        """A program that has attached that tool and waits."""
        self.log.clear()
        if program == NEW:
            process = self.launch(NEW, "-p", self.target.pid, "-t", tool(name), **options)
        else:
            process = self.launch(program, ROCPROF_ATTACH_PID=str(self.target.pid),
                                  ROCPROF_ATTACH_TOOL_LIBRARY=tool(name), **options)
        self.assertTrue(harness.wait_until(lambda: "tool_attach" in self.log.events()))
        return process


class Ends(Programs):
    """Of both programs."""

    def both(self):
        for program in (NEW, OLD):
            self.target = self.new_target()
            yield program
            self.assert_well()

    def test_enter(self):
        for program in self.both():
            out, err = self.finish(self.start(program=program), text="\n")
            self.assertIn(f"Attaching to PID {self.target.pid} using library ", out)
            self.assertIn(" :: success", out)
            self.assertIn("Press Enter to detach...", out)
            self.assertEqual(err, "")
            self.assert_log(*expected(1))

    def test_signals(self):
        for program in self.both():
            for number in (signal.SIGINT, signal.SIGTERM):
                process = self.start(program=program)
                process.send_signal(number)
                self.assertIn(f"Caught signal {number.name}", self.finish(process)[0])
                self.assertEqual(self.log.events()[-1], "tool_detach")

    def test_end_of_file_is_not_enter(self):
        for program in self.both():
            for given in ("", "no newline"):
                process = self.start(program=program)
                process.stdin.write(given)
                process.stdin.close()
                process.stdin = None
                time.sleep(0.3)
                self.assertIsNone(process.poll(), "ended by itself")
                process.send_signal(signal.SIGTERM)
                self.finish(process)

    def test_no_input_at_all(self):
        for program in self.both():
            process = self.start(program=program, stdin=None, before=("sh", "-c", 'exec "$@" <&-', "sh"))
            time.sleep(0.3)
            self.assertIsNone(process.poll(), "ended by itself")
            process.send_signal(signal.SIGTERM)
            self.finish(process)

    def test_killed(self):
        for program in self.both():
            self.start(program=program).kill()
            self.assert_log(*expected(1))

    def test_exit_of_the_target(self):
        for program in (NEW, OLD):
            with self.subTest(program=program):
                self.target = self.new_target("exits")
                process = self.start(program=program)
                self.end_target()
                self.assertIn(f"PID {self.target.pid} has ended", self.finish(process)[0])
                self.assert_log(*FIRST, "finalize")

    def test_a_signal_while_attaching(self):
        """It is not lost, and the target is left in order."""
        process = self.launch(NEW, "-p", self.target.pid, "-t", tool("sleeps"))
        self.assertTrue(harness.wait_until(lambda: "tool_attach" in self.log.events()))
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assert_log(*expected(1))
        self.assert_well()


class Newer(Programs):
    def test_the_whole_life(self):
        self.target = self.new_target("exits")
        for _ in range(11):
            self.finish(self.launch(NEW, "-p", self.target.pid, "-t", tool("a"), "-d", 0))
        self.end_target()
        self.assert_log(*expected(11, exited=True))

    def test_every_spelling(self):
        pid, path = self.target.pid, tool("a")
        spellings = (
            ("-p", pid, "-t", path, "-d", 0),
            ("--pid", pid, "--attach-tool-library", path, "--attach-duration-msec", 0),
            ("--attach", pid, "--tool-library", path, "--attach-duration", 0, "--attach-children", "false"),
            (f"--attach-pid={pid}", f"--tool={path}", "--duration-msec=0", "--attach-children=0"),
            ("-p", pid, "-t", path, "--duration", 0, "--attach-library", self.prefix.library("librocprofv3-attach.so")),
            ("-p", pid, "-t", path, "-d", 0, "-a", "librocprofiler-attach.so", "--attach-children"),
            ("-p", pid, "--fallback-tool-library", path, "-d", 0),
        )
        for arguments in spellings:
            with self.subTest(arguments=arguments):
                self.log.clear()
                self.finish(self.launch(NEW, *arguments))
                self.assertEqual(self.log.events()[-2:], ["tool_attach", "tool_detach"])

    def test_everything_from_the_environment(self):
        library = self.prefix.library("librocprofiler-sdk-rocattach.so.1")
        out, _ = self.finish(self.launch(
            NEW, ROCPROF_ATTACH_PID=str(self.target.pid), ROCPROF_ATTACH_TOOL_LIBRARY=tool("a"),
            ROCPROF_ATTACH_DURATION="0", ROCPROF_ATTACH_CHILDREN="0", ROCPROF_ATTACH_LIBRARY=library))
        self.assertIn(f"using library {library}", out)
        self.assert_log(*expected(1))

    def test_options_win_over_the_environment(self):
        self.finish(self.launch(
            NEW, "-p", self.target.pid, "-t", tool("b"), "-d", 0, ROCPROF_ATTACH_PID="1",
            ROCPROF_ATTACH_TOOL_LIBRARY=tool("a"), ROCPROF_ATTACH_DURATION="60000"))
        self.assertEqual({line.split()[0] for line in self.log.lines()}, {"b"})

    def test_duration(self):
        begin = time.monotonic()
        self.finish(self.launch(NEW, "-p", self.target.pid, "-t", tool("a"), "-d", 400))
        self.assertGreater(time.monotonic() - begin, 0.4)  # and not for 400 s

    def test_refusals(self):
        pid, path = self.target.pid, tool("a")
        wrong = {
            "no process given": ("-t", path),
            "not a process number": ("-p", "x", "-t", path),
            "not a number of milliseconds": ("-p", pid, "-t", path, "-d", "soon"),
            "no such process": ("-p", life.free_pid(), "-t", path, "-d", 0),
            "no such process (status 6)": ("-p", life.new_zombie(self), "-t", path, "-d", 0),
            "no trace was requested": ("-p", pid, "-d", 0),
            "/nowhere/tool.so": ("-p", pid, "-t", "/nowhere/tool.so", "-d", 0),
            "cannot load the attach library": ("-p", pid, "-t", path, "--attach-library", "/nowhere/a.so"),
            "is no attach library": ("-p", pid, "-t", path, "--attach-library", "libm.so.6"),
            "unrecognized arguments": ("-p", pid, "--no-such-option"),
        }
        for words, arguments in wrong.items():
            with self.subTest(words=words):
                begin = time.monotonic()
                _, err = self.finish(self.launch(NEW, *arguments), code=1)
                self.assertIn(words, err)
                self.assertRegex(err, r"(?m)^rocprof-attach: ERROR: ")
                self.assertNotIn("Traceback", err)
                self.assertLess(time.monotonic() - begin, staged.AT_ONCE_S)
        self.assert_well()

    @life.needs_root
    def test_not_permitted(self):
        process = self.launch(NEW, "-p", self.target.pid, "-t", tool("a"), "-d", 0, before=life.as_nobody())
        _, err = self.finish(process, code=1)
        self.assertIn("  why: it belongs to root", err)
        self.assertIn("operation not permitted", err)

    def test_from_another_place(self):
        """Through a link, and in a prefix that was moved as a whole."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        link, moved = os.path.join(folder, "attach"), os.path.join(folder, "moved")
        os.symlink(self.prefix.program(NEW), link)
        shutil.copytree(self.prefix.root, moved, symlinks=True)
        for program in (link, os.path.join(moved, "bin", NEW)):
            process = self.launch(program, "-p", self.target.pid, "-t", tool("a"), "-d", 0)
            out, _ = self.finish(process)
        self.assertIn(f"using library {moved}/lib/", out)
        self.assert_log(*expected(2))

    def test_help(self):
        out, _ = self.finish(self.launch(NEW, "--help"))
        for word in ("--pid", "--attach-tool-library", "--attach-duration-msec", "--attach-children",
                     "--attach-library", "ROCPROF_ATTACH_DURATION"):
            self.assertIn(word, out)


class Older(Programs):
    def run_main(self, code, expected_code=0, **variables):
        """A script that has loaded the program as a module."""
        load = ("import importlib.util, sys\n"
                f"spec = importlib.util.spec_from_file_location('front_end', {self.prefix.program(OLD)!r})\n"
                "front_end = importlib.util.module_from_spec(spec)\n"
                "spec.loader.exec_module(front_end)\n")
        process = subprocess.Popen(
            [sys.executable, "-c", load + code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd="/", env=staged.environment(self.log, **variables))
        self.addCleanup(self.end_process, process)
        return self.finish(process, expected_code)

    def test_main_with_arguments(self):
        self.target = self.new_target("exits")
        self.run_main(f"front_end.main({self.target.pid}, {tool('a')!r}, 0)\n" * 101)
        self.end_target()
        self.assert_log(*expected(101, exited=True))

    def test_main_with_names_and_texts(self):
        self.run_main(f"front_end.main(pid='{self.target.pid}', attach_library={tool('a')!r}, duration='100')")
        self.assert_log(*expected(1))

    def test_main_with_the_environment(self):
        self.run_main("front_end.main()", ROCPROF_ATTACH_PID=str(self.target.pid), ROCPROF_ATTACH_DURATION="0",
                      ROCPROF_ATTACH_TOOL_LIBRARY=":".join((tool("a"), tool("b"))))
        self.assertEqual({line.split()[0] for line in self.log.lines()}, {"a", "b"})

    def test_the_list_may_hold_the_attach_library(self):
        """As AMD's first script had it."""
        for name in ("librocprofv3-attach.so", "librocprofiler-attach.so"):
            front_end = self.prefix.library(name)
            self.log.clear()
            out, _ = self.run_main(f"front_end.main({self.target.pid}, {front_end + ':' + tool('a')!r}, 0)")
            self.assertIn(f"using library {front_end}", out)
            self.assertEqual(self.log.events()[-1], "tool_detach")
        _, err = self.run_main(f"front_end.main({self.target.pid}, {front_end!r}, 0)", expected_code=1)
        self.assertIn("no trace was requested", err)

    def test_main_raises(self):
        code = ("for arguments in ((None, {0!r}, 0), (4, {0!r}, 'soon'), ({1}, {0!r}, 0)):\n"
                "    try:\n"
                "        front_end.main(*arguments)\n"
                "    except RuntimeError as error:\n"
                "        print('raised', error)\n").format(tool("a"), life.free_pid())
        out, _ = self.run_main(code)
        self.assertEqual(out.count("raised"), 3, out)

    def test_main_in_another_thread(self):
        self.run_main("import threading\n"
                      f"thread = threading.Thread(target=front_end.main, args=({self.target.pid}, {tool('a')!r}, 100))\n"
                      "thread.start(); thread.join()\n")
        self.assert_log(*expected(1))

    def test_handlers_are_given_back(self):
        out, _ = self.run_main("import signal\n"
                               "before = signal.getsignal(signal.SIGINT)\n"
                               f"front_end.main({self.target.pid}, {tool('a')!r}, 0)\n"
                               "print('same', signal.getsignal(signal.SIGINT) is before)\n")
        self.assertIn("same True", out)

    def test_a_refusal_of_the_program(self):
        _, err = self.finish(self.launch(OLD, ROCPROF_ATTACH_TOOL_LIBRARY=tool("a")), code=1)
        self.assertIn("rocprofv3-attach: ERROR: no process given", err)

    def test_the_name_without_ending(self):
        self.finish(self.launch("rocprofv3-attach", ROCPROF_ATTACH_PID=str(self.target.pid),
                                ROCPROF_ATTACH_TOOL_LIBRARY=tool("a"), ROCPROF_ATTACH_DURATION="0"))
        self.assert_log(*expected(1))


if __name__ == "__main__":
    unittest.main()
