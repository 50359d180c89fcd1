#!/usr/bin/env python3
"""
The attach libraries, loaded by their path alone into a program that has children of its own: tools live the
life that AMD's interface promises, errors come at once and in words, the program notices nothing.
"""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import life
import staged
from life import FIRST, Doors, expected, tool
from staged import BUSY, ERROR, INVALID, NOT_FOUND, NOT_PERMITTED, NOT_SUPPORTED, SUCCESS, harness

LEGACY = "librocprofv3-attach.so"
ROCATTACH = "librocprofiler-sdk-rocattach.so.1"


class Libraries(Doors):
    library = LEGACY

    def start(self, *tools, library=None, before=(), **variables):
        env = staged.environment(self.log, tools, **variables)
        path = self.prefix.library(library or self.library)
        caller = staged.Caller(path, env, before)
        self.addCleanup(caller.close)
        self.assertEqual(caller.greeting, "ready")
        return caller

    def assert_succeeds(self, caller, *words):
        status = caller.call(*words)
        self.assertEqual(status, SUCCESS, "" if status == SUCCESS else caller.ask("status"))

    def assert_at_once(self, caller, status, *words):
        """A refusal, which must not take long."""
        begin = time.monotonic()
        self.assertEqual(caller.call(*words), status)
        self.assertLess(time.monotonic() - begin, staged.AT_ONCE_S)


class Legacy(Libraries):
    def test_the_whole_life(self):
        self.target = self.new_target("exits")
        caller = self.start(tool("a"))
        for _ in range(101):
            self.assert_succeeds(caller, "attach", self.target.pid)
            self.assert_succeeds(caller, "detach")
        self.assert_well()
        self.end_target()
        self.assert_log(*expected(101, exited=True))
        self.assertEqual(caller.end(), "")

    def test_the_other_name_is_the_same_library(self):
        caller = self.start(tool("a"), library="librocprofiler-attach.so")
        self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)
        self.assertEqual(caller.ask("status"), "0")
        self.assert_log(*FIRST)

    def test_two_tools_with_any_separator(self):
        for separator in ":, ":
            caller = self.start(separator.join((tool("a"), tool("b"))))
            self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)
            self.assertEqual(caller.call("detach"), SUCCESS)
        self.assertEqual([line.split()[0] for line in self.log.lines()].count("b"), len(expected(3)))

    def test_the_older_name_of_the_list(self):
        caller = self.start(ROCPROFILER_REGISTER_ATTACHMENT_TOOL_LIB=tool("a"))
        self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)
        self.assert_log(*FIRST)

    def test_a_bare_name_is_found_in_the_library_path(self):
        caller = self.start("life_a.so", LD_LIBRARY_PATH="/nowhere:" + harness.PROGRAMS)
        self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)
        self.assert_log(*FIRST)

    def test_no_tool(self):
        own = self.prefix.library(LEGACY)
        for named in ("", ":", own, "librocprofiler-sdk-tool.so"):
            with self.subTest(named=named):
                caller = self.start(named)
                self.assert_at_once(caller, INVALID, "attach", self.target.pid)
                status = caller.ask("status")
                self.assertIn("no trace was requested", status)
                self.assertIn("ROCPROF_HIP_RUNTIME_API_TRACE", status)
        self.assertEqual(harness.limpet_mappings(self.target.pid), [])

    def test_a_broken_tool_among_others(self):
        caller = self.start(tool("a"), "/nowhere/tool.so", tool("b"))
        self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)
        self.assertEqual(caller.call("detach"), SUCCESS)
        self.assertIn("b", [line.split()[0] for line in self.log.lines()])
        self.assertIn("/nowhere/tool.so", caller.end())
        self.assert_well()

    def test_nothing_but_broken_tools(self):
        for tools, status in ((["/nowhere/tool.so"], INVALID), ([tool("fails_attach")], ERROR),
                              (["/nowhere/a.so", "/nowhere/b.so"], ERROR)):
            with self.subTest(tools=tools):
                caller = self.start(*tools)
                self.assert_at_once(caller, status, "attach", self.target.pid)
                self.assertIn(tools[0], caller.ask("status"))
                self.assertEqual(caller.call("detach"), INVALID, "it is not attached")
        self.assert_well()

    def test_a_second_attach_is_an_error(self):
        other = self.new_target()
        caller = self.start(tool("a"))
        self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)
        for pid in (self.target.pid, other.pid):
            self.assert_at_once(caller, INVALID, "attach", pid)
            self.assertIn(f"attached to {self.target.pid} already", caller.ask("status"))
        self.assertEqual(caller.call("detach"), SUCCESS)
        self.assertEqual(caller.call("attach", other.pid), SUCCESS)

    def test_two_threads_at_once(self):
        other = self.new_target()
        caller = self.start(tool("a"))
        self.assertEqual(sorted(caller.call("attach", self.target.pid, other.pid)), [SUCCESS, INVALID])

    def test_a_target_that_has_ended_does_not_stand_in_the_way(self):
        first = self.new_target()
        caller = self.start(tool("a"))
        self.assertEqual(caller.call("attach", first.pid), SUCCESS)
        first.process.kill()
        first.process.wait()
        self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)

    def test_the_target_ends_while_attached(self):
        caller = self.start(tool("a"))
        self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)
        os.kill(self.target.pid, signal.SIGKILL)
        self.target.process.wait()
        self.assert_at_once(caller, NOT_FOUND, "detach")
        self.assert_at_once(caller, INVALID, "detach")

    def test_messages_have_three_parts(self):
        caller = self.start(tool("a"), before=life.as_nobody() if os.geteuid() == 0 else ())
        caller.call("attach", 1)
        status = caller.ask("status")
        self.assertRegex(status, r"^5 cannot attach to 1 .*\|  why: .*\|  fix: ")
        self.assertRegex(caller.end(), r"(?m)^rocattach: error: cannot attach to 1 .*\n  why: .*\n  fix: ")


class Death(Libraries):
    """The tools are detached however the caller goes."""

    def attached(self):
        caller = self.start(tool("a"))
        self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)
        return caller

    def assert_detached(self):
        self.assert_log(*expected(1))
        self.assert_well()
        again = self.start(tool("a"))
        self.assertEqual(again.call("attach", self.target.pid), SUCCESS)
        self.assert_log(*expected(1), "tool_attach")

    def test_killed(self):
        self.attached().kill()
        self.assert_detached()

    def test_exit(self):
        self.assertEqual(self.attached().end(), "")
        self.assert_detached()

    def test_dlclose(self):
        self.assertEqual(self.attached().call("close"), 0)
        self.assert_detached()

    def test_a_forked_child_that_exits_detaches_nothing(self):
        caller = self.attached()
        self.assertEqual(caller.ask("fork"), "forked")
        self.assert_log(*FIRST)
        self.assertEqual(caller.call("detach"), SUCCESS)
        self.assert_log(*expected(1))


class DeathOfRocattach(Death):
    library = ROCATTACH

    def attached(self):
        caller = self.start(tool("a"))
        self.assertEqual(caller.call("rocattach_attach", self.target.pid), SUCCESS)
        return caller

    def assert_detached(self):
        self.assert_log(*expected(1))
        self.assert_well()

    def test_a_forked_child_that_exits_detaches_nothing(self):
        caller = self.attached()
        self.assertEqual(caller.ask("fork"), "forked")
        self.assert_log(*FIRST)
        self.assertEqual(caller.call("rocattach_detach", self.target.pid), SUCCESS)


class Family(Libraries):
    """The caller waits for any child, and has many."""

    FORMAT = re.compile(r"made (\d+) reaped (\d+) foreign (\d+) signals (\d+)")

    def family(self, caller):
        return tuple(map(int, self.FORMAT.match(caller.ask("family")).groups()))

    def test_the_caller_sees_no_child_but_its_own(self):
        caller = self.start(tool("a"))
        for _ in range(20):
            self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)
            self.assertEqual(caller.call("detach"), SUCCESS)
        self.assertTrue(harness.wait_until(lambda: self.family(caller)[0] > 20))
        made, reaped, foreign, _ = self.family(caller)
        self.assertEqual(reaped, made, "children of the caller were lost")
        self.assertEqual(foreign, 0)
        self.assert_well()

    def test_a_caller_that_ignores_its_children(self):
        ignoring = ("env", "--ignore-signal=CHLD")
        caller = self.start(tool("a"), before=ignoring)
        self.assertEqual(caller.call("attach", self.target.pid), SUCCESS)

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_there_is_no_ptrace_in_the_caller(self):
        log = staged.Log()
        self.addCleanup(log.close)
        strace = ("strace", "-f", "-qq", "-e", "trace=ptrace", "-e", "signal=none", "-o", log.path)
        caller = self.start(tool("a"), before=strace)
        # So slowed down, limpet may give up and leave the target as it was.
        self.assertTrue(harness.wait_until(lambda: caller.call("attach", self.target.pid) == SUCCESS))
        self.assertEqual(caller.call("detach"), SUCCESS)
        with open(f"/proc/{caller.process.pid}/task/{caller.process.pid}/children") as file:
            threads = harness.threads_of(file.read().split()[0])
        tracers = {int(line.split()[0]) for line in log.lines() if "PTRACE_SEIZE" in line}
        self.assertTrue(tracers, "nobody was seen to attach: the test is blind")
        self.assertTrue(threads)
        self.assertTrue(tracers.isdisjoint(threads), (tracers, threads))


class Rocattach(Libraries):
    library = ROCATTACH

    def test_the_whole_life(self):
        self.target = self.new_target("exits")
        caller = self.start(tool("a"))
        for _ in range(101):
            self.assertEqual(caller.call("rocattach_attach", self.target.pid), SUCCESS)
            self.assertEqual(caller.call("rocattach_detach", self.target.pid), SUCCESS)
        self.assert_well()
        self.end_target()
        self.assert_log(*expected(101, exited=True))
        self.assertEqual(caller.end(), "")

    def test_several_processes_and_all_at_once(self):
        others = [self.new_target() for _ in range(3)]
        caller = self.start(tool("a"))
        for target in (self.target, *others):
            self.assertEqual(caller.call("rocattach_attach", target.pid), SUCCESS)
        self.assertEqual(caller.call("rocattach_detach", others[0].pid), SUCCESS)
        self.assertEqual(self.log.events().count("tool_detach"), 1)
        self.assertEqual(caller.call("rocattach_detach", 0), SUCCESS)
        self.assertEqual(self.log.events().count("tool_detach"), 4)
        self.assertEqual(caller.call("rocattach_detach", 0), SUCCESS, "nothing is no failure")
        for target in (self.target, *others):
            self.assert_well(target)

    def test_two_threads_at_once(self):
        other = self.new_target()
        caller = self.start(tool("a"))
        for _ in range(10):
            pids = (self.target.pid, other.pid)
            self.assertEqual(caller.call("rocattach_attach", *pids), [SUCCESS, SUCCESS])
            self.assertEqual(caller.call("rocattach_detach", *pids), [SUCCESS, SUCCESS])
        self.assertEqual(sorted(caller.call("rocattach_attach", other.pid, other.pid)), [SUCCESS, INVALID])
        self.assert_well()
        self.assert_well(other)

    def test_a_slow_process_does_not_hold_up_the_others(self):
        slow = self.new_target()
        sleeper = self.start(tool("sleeps"))
        sleeper.send("rocattach_attach", slow.pid, self.target.pid)
        self.assertEqual(sleeper.read_line().split(), ["0", "0"])
        self.assertEqual(self.log.events().count("tool_attach"), 2)

    def test_wrong_arguments(self):
        caller = self.start(tool("a"))
        for words in (("rocattach_attach", 0), ("rocattach_attach", -3), ("rocattach_attach_tree", 0),
                      ("rocattach_detach", self.target.pid), ("rocattach_detach_tree", 4)):
            with self.subTest(call=words):
                self.assert_at_once(caller, INVALID, *words)
        self.assertEqual(caller.call("rocattach_attach", self.target.pid), SUCCESS)
        self.assert_at_once(caller, INVALID, "rocattach_attach", self.target.pid)
        self.assert_at_once(caller, INVALID, "rocattach_attach_tree", self.target.pid)
        self.assertEqual(caller.call("rocattach_detach", self.target.pid), SUCCESS)

    def test_a_process_that_is_not_there(self):
        caller = self.start(tool("a"))
        for pid in (life.free_pid(), life.new_zombie(self)):
            self.assert_at_once(caller, NOT_FOUND, "rocattach_attach", pid)

    @life.needs_root
    def test_not_permitted(self):
        caller = self.start(tool("a"), before=life.as_nobody())
        self.assert_at_once(caller, NOT_PERMITTED, "rocattach_attach", self.target.pid)
        self.assertIn("rocattach: error: ", caller.end())

    @life.needs_root
    def test_an_ordinary_user_and_her_own_process(self):
        own = self.new_target(before=life.as_nobody())
        caller = self.start(shutil.copy(tool("a"), self.prefix.folder), before=life.as_nobody())
        self.assertEqual(caller.call("rocattach_attach", own.pid), SUCCESS)
        self.assertEqual(caller.call("rocattach_detach", own.pid), SUCCESS)
        self.assert_log(*expected(1))
        self.assert_well(own)

    def test_a_process_that_job_control_has_stopped(self):
        os.kill(self.target.pid, signal.SIGSTOP)
        self.assertTrue(harness.wait_until(
            lambda: harness.status_of(self.target.pid)["State"].startswith("T")))
        caller = self.start(tool("a"))
        begin = time.monotonic()
        self.assertEqual(caller.call("rocattach_attach", self.target.pid), BUSY)
        self.assertLess(time.monotonic() - begin, staged.AT_ONCE_S)
        os.kill(self.target.pid, signal.SIGCONT)
        self.assertEqual(caller.call("rocattach_attach", self.target.pid), SUCCESS)

    def test_a_process_that_cannot_be_attached(self):
        static = harness.Workload("plain_static", "idle")
        self.addCleanup(static.close)
        caller = self.start(tool("a"))
        self.assert_at_once(caller, NOT_SUPPORTED, "rocattach_attach", static.pid)
        self.assert_at_once(caller, NOT_SUPPORTED, "rocattach_attach", caller.process.pid)

    def test_somebody_else_has_it(self):
        first, second = self.start(tool("a")), self.start(tool("a"))
        self.assertEqual(first.call("rocattach_attach", self.target.pid), SUCCESS)
        self.assert_at_once(second, BUSY, "rocattach_attach", self.target.pid)
        self.assertEqual(first.call("rocattach_detach", self.target.pid), SUCCESS)
        self.assertEqual(second.call("rocattach_attach", self.target.pid), SUCCESS)

    def test_a_number_that_another_process_has_now(self):
        """The entry of a process that has ended does not block its number."""
        caller = self.start(tool("a"))
        self.assertEqual(caller.call("rocattach_attach", self.target.pid), SUCCESS)
        os.kill(self.target.pid, signal.SIGKILL)
        self.target.process.wait()
        self.assert_at_once(caller, NOT_FOUND, "rocattach_attach", self.target.pid)
        self.assert_at_once(caller, INVALID, "rocattach_detach", self.target.pid)


class Words(Libraries):
    """What is said on stderr, and how much."""

    library = ROCATTACH

    def said(self, **variables):
        caller = self.start(tool("a"), **variables)
        caller.call("rocattach_attach", self.target.pid)
        caller.call("rocattach_detach", self.target.pid)
        caller.call("rocattach_detach", self.target.pid)
        return caller.end()

    def test_levels(self):
        error = f"rocattach: error: not attached to {self.target.pid}\n"
        self.assertEqual(self.said(), error)
        self.assertEqual(self.said(ROCATTACH_LOG_LEVEL="error"), error)
        self.assertEqual(self.said(ROCATTACH_LOG_LEVEL="fatal"), "")
        self.assertEqual(self.said(ROCPROF_LOG_LEVEL="FATAL"), "")
        self.assertEqual(self.said(ROCPROF_LOG_LEVEL="fatal", ROCATTACH_LOG_LEVEL="error"), error)
        info = self.said(ROCATTACH_LOG_LEVEL="info")
        self.assertIn(f"info: attached to {self.target.pid} in ", info)
        self.assertIn(f"info: detached from {self.target.pid}", info)
        self.assertIn(f"trace: tool: {tool('a')}", self.said(ROCATTACH_LOG_LEVEL="trace"))

    def test_a_list_for_starting_programs_is_no_list_for_attaching(self):
        caller = self.start(ROCP_TOOL_LIBRARIES=tool("a"))
        self.assert_at_once(caller, INVALID, "rocattach_attach", self.target.pid)
        self.assertIn("warning: ROCP_TOOL_LIBRARIES is for programs that are being started", caller.end())


class Interface(unittest.TestCase):
    """The parts of rocattach that need no process, by AMD's numbers and strings."""

    NAMES = {
        0: ("SUCCESS", "Success"),
        1: ("ERROR", "General error"),
        2: ("ERROR_INVALID_ARGUMENT", "Invalid function argument"),
        3: ("ERROR_NOT_SUPPORTED", "Attachment not supported on this platform"),
        4: ("ERROR_PTRACE_ERROR", "General ptrace error"),
        5: ("ERROR_PTRACE_OPERATION_NOT_PERMITTED", "ptrace returned EPERM, operation not permitted"),
        6: ("ERROR_PTRACE_PROCESS_NOT_FOUND", "ptrace returned ESRCH, no such process"),
    }

    @classmethod
    def setUpClass(cls):
        cls.prefix = staged.prefix()
        cls.library = ctypes.CDLL(cls.prefix.library("librocprofiler-sdk-rocattach.so"))

    def test_names_and_strings(self):
        name, text = self.library.rocattach_get_status_name, self.library.rocattach_get_status_string
        name.restype = text.restype = ctypes.c_char_p
        for status, (ending, words) in self.NAMES.items():
            self.assertEqual(name(status).decode(), "ROCATTACH_STATUS_" + ending)
            self.assertEqual(text(status).decode(), words)
        for unknown in (7, -1, 1000):
            self.assertIsNone(name(unknown))
            self.assertIsNone(text(unknown))

    def test_version(self):
        numbers = (ctypes.c_uint32 * 3)(9, 9, 9)
        at = [ctypes.byref(numbers, 4 * i) for i in range(3)]
        self.assertEqual(self.library.rocattach_get_version(*at), SUCCESS)
        self.assertEqual(list(numbers), [1, 0, 0])
        self.assertEqual(self.library.rocattach_get_version(None, None, None), SUCCESS)
        triplet = (ctypes.c_uint32 * 3)(9, 9, 9)
        self.assertEqual(self.library.rocattach_get_version_triplet(triplet), SUCCESS)
        self.assertEqual(list(triplet), [1, 0, 0])
        self.assertEqual(self.library.rocattach_get_version_triplet(None), INVALID)

    @unittest.skipUnless(shutil.which("cc"), "needs cc")
    def test_headers_compile_alone(self):
        for language, standard in (("c", "c11"), ("c++", "c++11")):
            for header in ("rocprofiler-sdk-rocattach/rocattach.h", "limpet/attach.h"):
                code = f"#include <{header}>\n"
                done = subprocess.run(
                    ["cc", "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic",
                     "-fsyntax-only", "-I", os.path.join(self.prefix.root, "include"), "-"],
                    input=code, text=True, capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
