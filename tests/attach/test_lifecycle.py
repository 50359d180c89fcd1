#!/usr/bin/env python3
"""
The life of a tool in a live process, as its own log tells it: the calls of each attach, detach, attach
again and end; several tools; tools that fail, hang, make threads, leak.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import harness
from harness import Workload, limpet


def tool(name):
    return harness.program(f"life_{name}.so")


def life(name="a", priority=0, attached="1"):
    """What a tool writes down, by event."""
    given = f"version=10000 runtime=1.0.0 priority={priority} size=24"
    return {
        "configure": f"{name} configure {given}",
        "configure_attach": f"{name} configure_attach {given}",
        "initialize": f"{name} initialize fini=1 data=42",
        "attach": f"{name} tool_attach detach=0 contexts=0 data=43 attached={attached}",
        "detach": f"{name} tool_detach data=43",
        "finalize": f"{name} finalize data=42",
    }


TIMEOUT = "1"  # second, for a tool that never returns; the others need microseconds and a processor
A, B = life(), life("b", 1)
FIRST = [A["configure"], A["configure_attach"], A["initialize"], A["attach"]]


class Lifecycle(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = os.path.join(folder.name, "log")
        os.environ["ROCP_TEST_LOG"] = self.log
        self.addCleanup(os.environ.pop, "ROCP_TEST_LOG")
        self.target = Workload("plain", "idle")
        self.addCleanup(self.target.close)

    def lines(self):
        try:
            with open(self.log) as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def attach(self, *names, arguments=(), code=0):
        tools = [word for name in names for word in ("--tool", tool(name))]
        result = limpet("attach", self.target.pid, "--json", "--duration", "0", *tools, *arguments)
        self.assertEqual(result.code, code, str(result))
        self.assert_well()
        return result

    def assert_well(self):
        self.assertTrue(self.target.alive(), self.target.fate())
        self.assertTrue(self.target.stats.wait_turn(), "stuck")
        for name in ("eintr", "corruptions", "errors"):
            self.assertEqual(self.target.stats.word(name), 0, self.target.stats.detail())

    def tell(self):
        """Whichever of the tools waits in a call goes on."""
        open(self.log + ".go", "w").close()

    def status(self):
        result = limpet("status", self.target.pid, "--json")
        self.assertEqual(result.code, 0, str(result))
        return {os.path.basename(each["path"])[5:-3]: each
                for each in result.event("status")["tools"]}


class OneTool(Lifecycle):
    def test_the_whole_sequence(self):
        """Attach, detach, a hundred more of both, and the end of the program."""
        self.target = self.exiting()
        for _ in range(101):
            self.attach("a")
        self.end()
        self.assertEqual(self.lines(), FIRST + [A["detach"]] + [A["attach"], A["detach"]] * 100
                         + [A["finalize"]])

    def end(self):
        self.target.process.send_signal(signal.SIGUSR1)
        self.assertEqual(self.target.process.wait(harness.PATIENCE_S), 0)

    def exiting(self):
        target = Workload("plain", "exits")
        self.addCleanup(target.close)
        return target

    def test_finalize_once_at_exit_while_detached(self):
        self.target = self.exiting()
        self.attach("a")
        self.end()
        self.assertEqual(self.lines(), FIRST + [A["detach"], A["finalize"]])

    def test_finalize_once_at_exit_while_attached(self):
        self.target = self.exiting()
        process = harness.limpet_start("attach", self.target.pid, "--json", "--tool", tool("a"))
        self.assertIsNotNone(harness.attached_wait(process))
        self.end()
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(self.lines(), FIRST + [A["finalize"]])

    def test_a_program_ends_with_its_last_thread(self):
        """Ours does not count."""
        self.target = Workload("plain", "last_thread")
        self.addCleanup(self.target.close)
        process = harness.limpet_start("attach", self.target.pid, "--json", "--tool", tool("a"))
        if harness.attached_wait(process) is None:
            self.fail(str(harness.limpet_finish(process)))
        self.end()
        self.assertEqual(harness.limpet_finish(process).event("detached")["reason"], "exit")
        self.assertEqual(self.lines(), FIRST + [A["detach"], A["finalize"]])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and unshare")
    def test_a_pid_namespace_with_the_proc_of_another(self):
        inside = Workload("plain", "idle", before=("unshare", "--pid", "--fork", "--kill-child"))
        self.addCleanup(inside.close)
        with open(f"/proc/{inside.process.pid}/task/{inside.process.pid}/children") as file:
            pid = file.read().strip()
        for _ in range(2):
            result = limpet("attach", pid, "--json", "--duration", "0", "--tool", tool("a"))
            self.assertEqual(result.code, 0, str(result))
        self.assertEqual(self.lines(), FIRST + [A["detach"], A["attach"], A["detach"]])

    def test_unload_finalizes_and_the_next_attach_is_a_first(self):
        for _ in range(3):
            self.attach("a", arguments=["--unload"])
        self.assertEqual(self.lines(), (FIRST + [A["detach"], A["finalize"]]) * 3)

    def test_a_forked_child_that_exits_finalizes_nothing(self):
        self.target = Workload("storms", "fork")
        self.addCleanup(self.target.close)
        self.attach("a")
        self.assertTrue(self.target.stats.wait_turn())
        self.assertNotIn(A["finalize"], self.lines())

    def test_without_configure_attach(self):
        for _ in range(2):
            self.attach("without_attach")
        self.assertEqual(self.lines(), [A["configure"], A["initialize"]])
        self.assertEqual(self.status()["without_attach"]["state"], "detached")

    def test_the_older_form(self):
        for _ in range(3):
            self.attach("experimental")
        configure = A["configure"].replace("configure", "configure_experimental")
        again = ["a tool_reattach data=42", "a tool_detach data=42"]
        self.assertEqual(self.lines(), [configure, A["initialize"], again[1]] + again * 2)

    def test_a_tool_that_opts_out(self):
        result = self.attach("opts_out")
        self.attach("opts_out")
        self.assertEqual(self.lines(), [A["configure"]])
        told = result.event("attached")["tools"][0]
        self.assertEqual((told["ok"], told["takes_part"]), (True, False))
        self.assertEqual(self.status()["opts_out"]["state"], "idle")

    def test_contexts_reach_the_tool_and_rest_with_it(self):
        for _ in range(2):
            self.attach("contexts")
        attach = A["attach"].replace("contexts=0", "contexts=2")
        self.assertEqual(
            self.lines(),
            [A["configure"], A["configure_attach"], A["initialize"], "a create_context 0 0"]
            + [attach, "a contexts 2 active=1 same=1", "a detaching active=0", A["detach"]] * 2)
        self.assertEqual(self.status()["contexts"]["contexts"], 2)

    def test_where_the_first_thread_has_ended(self):
        self.target = Workload("plain", "zombie_leader")
        self.addCleanup(self.target.close)
        for _ in range(2):
            self.attach("a")
        self.assertEqual(self.lines(), FIRST + [A["detach"], A["attach"], A["detach"]])

    def test_where_memory_is_locked_and_scarce(self):
        """The tool's thread gets a small stack."""
        self.target = Workload("confined", "locked_scarce")
        self.addCleanup(self.target.close)
        self.attach("a")
        self.assertEqual(self.lines(), FIRST + [A["detach"]])

    def test_limpet_killed_while_attached(self):
        """The tool is told to detach, the process goes on, and a new attach works."""
        process = harness.limpet_start("attach", self.target.pid, "--json", "--tool", tool("a"))
        self.assertIsNotNone(harness.attached_wait(process))
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            stream.close()
        self.assertTrue(harness.wait_until(lambda: A["detach"] in self.lines()))
        self.attach("a")
        self.assertEqual(self.lines(), FIRST + [A["detach"], A["attach"], A["detach"]])


class SeveralTools(Lifecycle):
    def test_in_the_order_of_the_list(self):
        for separator in ":", ",", " ":
            with self.subTest(separator=separator):
                open(self.log, "w").close()
                both = separator.join((tool("a"), tool("b")))
                self.attach(arguments=["--tool", both, "--unload"])
                self.assertEqual(self.lines(), [
                    A["configure"], A["configure_attach"], B["configure"], B["configure_attach"],
                    A["initialize"], B["initialize"], A["attach"], B["attach"],
                    A["detach"], B["detach"], A["finalize"], B["finalize"]])

    def test_another_set_each_time(self):
        self.attach("a")
        self.attach("b")
        self.attach("a", "b")
        self.assertEqual(self.lines(), FIRST + [
            A["detach"], B["configure"], B["configure_attach"], B["initialize"], B["attach"],
            B["detach"], A["attach"], B["attach"], A["detach"], B["detach"]])

    def test_a_missing_one_stays_detached(self):
        self.attach("a", "b")
        process = harness.limpet_start("attach", self.target.pid, "--json", "--tool", tool("b"))
        self.assertIsNotNone(harness.attached_wait(process))
        states = {name: each["state"] for name, each in self.status().items()}
        self.assertEqual(states, {"a": "detached", "b": "attached"})
        process.terminate()
        self.assertEqual(harness.limpet_finish(process).code, 0)

    def test_the_same_tool_twice_is_one(self):
        self.attach("a", "a")
        self.assertEqual(self.lines(), FIRST + [A["detach"]])

    def test_a_file_that_was_touched_is_the_same_tool(self):
        copy = os.path.join(os.path.dirname(self.log), "life_copy.so")
        shutil.copy(tool("a"), copy)
        for _ in range(2):
            self.attach(arguments=["--tool", copy])
            os.utime(copy)
        self.assertEqual(self.lines(), FIRST + [A["detach"], A["attach"], A["detach"]])

    def test_a_file_that_was_replaced_is_told(self):
        """The loader would give us the old one under its name: one library would live two lives."""
        copy = os.path.join(os.path.dirname(self.log), "life_copy.so")
        shutil.copy(tool("a"), copy)
        self.attach(arguments=["--tool", copy])
        shutil.copy(tool("b"), copy + ".new")
        os.rename(copy + ".new", copy)
        result = self.attach(arguments=["--tool", copy], code=1)
        self.assertIn("still loaded", result.event("attached")["tools"][0]["error"])
        limpet("detach", self.target.pid, "--unload")
        self.attach(arguments=["--tool", copy])
        self.assertEqual(self.lines()[:6], FIRST + [A["detach"], A["finalize"]])
        self.assertEqual([line[0] for line in self.lines()[6:]], ["b"] * 5)

    def test_a_library_that_turns_out_to_be_a_tool(self):
        self.attach(arguments=["--load", tool("a")])
        self.attach("a")
        self.assertEqual(self.lines(), FIRST + [A["detach"]])
        path = harness.program("tool_probe.so")
        self.attach(arguments=["--load", path])
        result = self.attach(arguments=["--tool", path], code=1)
        self.assertIn("does not export rocprofiler_configure",
                      result.event("attached")["tools"][0]["error"])

    def test_two_by_content_with_the_same_descriptor_number(self):
        try:
            self.target = Workload("confined", "namespaces")
        except harness.Unavailable as reason:
            self.skipTest(str(reason))
        self.addCleanup(self.target.close)
        result = self.attach("a", "b")
        self.assertEqual([each["ok"] for each in result.event("attached")["tools"]], [True, True])
        self.assertEqual(sorted(self.status()), ["a", "b"])


class BadTools(Lifecycle):
    def assert_fails(self, name, words):
        """The one fails with these words; the ones around it live their lives."""
        result = self.attach("a", name, "b", code=1)
        told = [(each["ok"], each["error"]) for each in result.event("attached")["tools"]]
        self.assertEqual([ok for ok, _ in told], [True, False, True], str(result))
        self.assertIn(words, told[1][1])
        self.assertIn(f"life_{name}.so", told[1][1])
        for line in (A["attach"], A["detach"]):
            self.assertIn(line, self.lines())
        self.assertTrue(any(line.startswith("b tool_attach") for line in self.lines()))

    def test_initialize_returns_an_error(self):
        self.assert_fails("fails_initialize", "initialize returned 7")
        self.assertEqual(self.status()["fails_initialize"]["state"], "failed")

    def test_attach_returns_an_error(self):
        self.assert_fails("fails_attach", "tool_attach returned -3")
        self.attach("fails_attach", code=1)  # it gets another chance each time
        self.assertEqual(self.lines().count(A["initialize"]), 2)

    def test_a_function_that_the_sdk_does_not_have(self):
        self.assert_fails("misses", "undefined symbol: rocprofiler_no_such_function")

    def test_a_library_that_is_no_tool(self):
        path = harness.program("tool_probe.so")
        result = self.attach("a", arguments=["--tool", path], code=1)
        told = result.event("attached")["tools"][1]
        self.assertIn("does not export rocprofiler_configure", told["error"])
        with open(f"/proc/{self.target.pid}/maps") as maps:
            self.assertNotIn("tool_probe", maps.read())

    def test_strict_undoes_all(self):
        result = self.attach("a", "fails_attach", "b", arguments=["--strict"], code=1)
        self.assertIn("tool_attach returned -3", result.err)
        lines = self.lines()
        self.assertIn(A["detach"], lines)
        self.assertFalse(any(line.startswith("b tool_attach") for line in lines), lines)
        result = limpet("status", self.target.pid, "--json")
        self.assertEqual(result.code, 1, "everything was unloaded: " + str(result))

    def test_a_tool_that_sleeps_too_long(self):
        result = self.attach("a", "waits", "b", arguments=["--tool-timeout", TIMEOUT], code=1)
        told = result.event("attached")["tools"][1]["error"]
        self.assertIn(f"tool_attach did not return within 1000 ms", told)
        self.assertTrue(self.status()["waits"]["inside"])
        again = self.attach("waits", code=1)
        self.assertIn("has not returned", again.event("attached")["tools"][0]["error"])
        # When it does return, what it began is ended, and it may be attached again.
        self.tell()
        self.assertTrue(harness.wait_until(lambda: not self.status()["waits"]["inside"]))
        self.assertIn("a tool_detach data=43", self.lines()[-1])
        self.attach("waits")

    def test_tools_that_end_their_threads(self):
        # libc takes a thread that ends off its arena, and ours were never put there: at the second it would abort.
        tools = ":".join(map(tool, ("ends_thread", "ends_thread_too")))
        with harness.Mirror("mirror") as target:
            result = limpet("attach", target.pid, "--duration", "0", "--tool", tools, "--tool-timeout", "200ms")
            self.assertEqual(result.code, 1, str(result))
            self.assertTrue(target.look(), target.fate())

    def test_a_tool_that_is_inside_stays_when_all_is_unloaded(self):
        self.attach("waits", arguments=["--tool-timeout", TIMEOUT], code=1)
        result = limpet("detach", self.target.pid, "--unload", "--json")
        self.assertEqual(result.code, 0, str(result))
        self.assertFalse(result.event("detached")["unloaded"])
        self.assertIn("life_waits.so", " ".join(result.event("detached")["left"]))
        self.assert_well()
        self.tell()
        self.assertTrue(harness.wait_until(lambda: not self.status()["waits"]["inside"]))
        result = limpet("detach", self.target.pid, "--unload", "--json")
        self.assertTrue(result.event("detached")["unloaded"], str(result))
        self.assert_well()

    def stacks(self):
        """How many stacks of the runner's size are mapped."""
        with open(f"/proc/{self.target.pid}/maps") as maps:
            spans = [line.split()[0].split("-") for line in maps]
        return sum(0x800000 <= int(end, 16) - int(begin, 16) <= 0x810000 for begin, end in spans)

    def assert_unloads(self):
        """Soon: when a thread that was told has gone."""
        def is_unloaded():
            result = limpet("detach", self.target.pid, "--unload", "--json")
            self.assertEqual(result.code, 0, str(result))
            return result.event("detached")["unloaded"]

        self.assertTrue(harness.wait_until(is_unloaded), "it never goes")

    def test_a_constructor_that_takes_too_long(self):
        """Its thread returns into the agent, which stays until then; afterwards nothing is left."""
        before = self.stacks()
        result = self.attach("slow_start", code=1,
                             arguments=["--tool-timeout", "200ms", "--unload"])  # its very first call
        self.assertIn("constructor did not return", result.event("attached")["tools"][0]["error"])
        self.assertIn("has not returned yet", " ".join(result.event("detached")["left"]))
        self.assertEqual(self.stacks(), before + 1)
        self.tell()
        self.assert_unloads()
        self.assertEqual(self.stacks(), before)
        self.assert_well()

    def test_initialize_that_returns_too_late_is_finalized(self):
        self.attach("slow_initialize", arguments=["--tool-timeout", TIMEOUT], code=1)
        self.tell()
        self.assertTrue(harness.wait_until(
            lambda: not self.status()["slow_initialize"]["inside"]))
        self.assertEqual(self.lines(), FIRST[:3] + [A["finalize"]])

    def test_a_tool_that_ends_itself_is_not_called_again(self):
        for _ in range(3):
            self.attach("ends_itself")
        self.assertEqual(self.lines(), FIRST[:3] + [A["finalize"]])
        self.assert_well()

    def test_finalize_that_takes_too_long_ends_that_life(self):
        """No tool_attach for a tool that was finalized: the next attach is a first one."""
        self.attach("slow_finalize", arguments=["--tool-timeout", TIMEOUT, "--unload"])
        self.tell()
        self.assertTrue(harness.wait_until(
            lambda: not self.status()["slow_finalize"]["inside"]))
        self.attach("slow_finalize")
        self.assertEqual(self.lines(), FIRST + [A["detach"], A["finalize"]] + FIRST
                         + [A["detach"]])

    def test_a_thread_that_takes_too_long_to_end(self):
        """The call has returned; the destructors of its thread-local data have not."""
        self.attach("slow_end", arguments=["--tool-timeout", TIMEOUT])
        result = limpet("detach", self.target.pid, "--unload", "--json")
        self.assertFalse(result.event("detached")["unloaded"], str(result))
        self.tell()
        self.assert_unloads()
        self.assert_well()

    def test_a_tool_that_makes_threads(self):
        for _ in range(5):
            self.attach("threads")
        result = self.attach("threads", arguments=["--unload"])
        self.assertTrue(result.event("detached")["unloaded"], str(result))
        self.assert_well()

    def test_a_tool_that_leaves_threads(self):
        result = self.attach("leaves_threads", arguments=["--unload"])
        self.assertFalse(result.event("detached")["unloaded"])
        self.assertIn("is inside", " ".join(result.event("detached")["left"]))
        self.assert_well()

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and unshare")
    def test_a_tool_that_leaves_threads_where_the_clock_is_ahead(self):
        """A container's boot time says nothing about when a thread began."""
        program = subprocess.Popen(["unshare", "--time", "--boottime", "1000000", "--fork",
                                    "sleep", "60"])
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)

        def sleeper():
            """When it has become that program."""
            with open(f"/proc/{program.pid}/task/{program.pid}/children") as file:
                pid = (file.read().split() or [None])[0]
            return harness.status_of(pid).get("Name") == "sleep" and pid

        if not harness.wait_until(lambda: program.poll() is not None or sleeper()) or program.poll():
            self.skipTest("no time namespaces")
        pid = int(sleeper())
        result = limpet("attach", pid, "--json", "--duration", "0", "--unload",
                        "--tool", tool("leaves_threads"))
        self.assertIn("is inside", " ".join(result.event("detached")["left"]), str(result))
        time.sleep(0.1)
        os.kill(pid, 0)
        os.kill(pid, signal.SIGKILL)

    def test_a_tool_that_leaks(self):
        for _ in range(3):
            self.attach("leaks", arguments=["--unload"])
        self.assertEqual(self.lines().count("a leaks 1"), 3)

    def test_the_target_exits_while_all_is_unloaded(self):
        """exit() waits in the agent for a slow tool_detach: neither may be unmapped under it."""
        for _ in range(4):
            with self.subTest():
                self.target = Workload("plain", "exits")
                self.addCleanup(self.target.close)
                process = harness.limpet_start("attach", self.target.pid, "--json", "--unload",
                                               "--tool", tool("slow_detach"))
                self.assertIsNotNone(harness.attached_wait(process))
                process.terminate()
                time.sleep(0.1)
                self.target.process.send_signal(signal.SIGUSR1)
                self.assertEqual(self.target.process.wait(harness.PATIENCE_S), 0)
                self.assertFalse(harness.limpet_finish(process).hung)

    def test_the_target_exits_while_a_tool_sleeps(self):
        self.target = Workload("plain", "exits")
        self.addCleanup(self.target.close)
        process = harness.limpet_start("attach", self.target.pid, "--json", "--tool",
                                       tool("waits"))
        self.assertTrue(harness.wait_until(lambda: any("tool_attach" in line
                                                       for line in self.lines())))
        self.target.process.send_signal(signal.SIGUSR1)
        self.assertEqual(self.target.process.wait(harness.PATIENCE_S), 0)
        self.assertFalse(harness.limpet_finish(process).hung)

    def test_exit_finalizes_the_others_while_one_tool_sleeps(self):
        self.target = Workload("plain", "exits")
        self.addCleanup(self.target.close)
        process = harness.limpet_start("attach", self.target.pid, "--json", "--tool", tool("b"),
                                       "--tool", tool("waits"))
        self.assertTrue(harness.wait_until(lambda: any("a tool_attach" in line
                                                       for line in self.lines())))
        self.target.process.send_signal(signal.SIGUSR1)
        self.assertEqual(self.target.process.wait(harness.PATIENCE_S), 0)  # that one is never told
        self.assertEqual(self.lines()[-1], B["finalize"])
        self.assertFalse(harness.limpet_finish(process).hung)


class OwnCopy(Lifecycle):
    """The program itself has the library that the tools belong to, and closes it."""

    INSIDE = """if True:
        import ctypes, sys
        libc = ctypes.CDLL(None)
        names = ("pthread_create pthread_attr_init pthread_attr_setstack"
                 " pthread_attr_setdetachstate pthread_getspecific pthread_join"
                 " dlopen dlsym dlclose dlerror unsetenv __cxa_atexit __cxa_finalize").split()
        addresses = [ctypes.cast(getattr(libc, name), ctypes.c_void_p).value for name in names]
        problem = ctypes.create_string_buffer(600)
        ctypes.CDLL(sys.argv[1]).limpet_inprocess_attach(
            (ctypes.c_uint64 * (len(names) + 2))(*addresses), None, sys.argv[2].encode(), problem, 600)
        print(problem.value.decode(), file=sys.stderr)
    """

    def test_no_handler_of_the_program_runs_on_a_tools_thread(self):
        """Also where the program attached the tool itself, on a thread with its own mask."""
        library = harness.program("../../src/target/librocprofiler-sdk.so.1")
        program = subprocess.Popen([sys.executable, "-c", self.INSIDE, library, tool("waits")])
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertTrue(harness.wait_until(lambda: any("tool_attach" in line
                                                       for line in self.lines())))
        masks = {}
        for task in os.listdir(f"/proc/{program.pid}/task"):
            with open(f"/proc/{program.pid}/task/{task}/status") as file:
                fields = dict(line.split(":\t", 1) for line in file)
            masks[fields["Name"].strip()] = int(fields["SigBlk"], 16)
        self.assertEqual(masks["limpet-tool"] & 1 << signal.SIGALRM - 1,
                         1 << signal.SIGALRM - 1)
        self.assertEqual(masks["limpet-tool"] & 3 << 31, 0, "libc's own signals are open")
        self.assertTrue(masks["limpet-tool"] & 1 << 33, "SIGRTMIN is the program's")

    PROGRAM = """if True:
        import _ctypes, signal, sys
        asked = {signal.SIGUSR1, signal.SIGUSR2}
        signal.pthread_sigmask(signal.SIG_BLOCK, asked)
        handle = _ctypes.dlopen(sys.argv[1], 2)
        print("ready", flush=True)
        signal.sigwait({signal.SIGUSR1})
        _ctypes.dlclose(handle)
        print("closed", flush=True)
        signal.sigwait({signal.SIGUSR2})
    """

    def test_it_stays_until_the_end(self):
        """A thread of ours is in it, and exit() will call it."""
        library = harness.program("../../src/target/librocprofiler-sdk.so.1")
        program = subprocess.Popen([sys.executable, "-c", self.PROGRAM, library], text=True,
                                   stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "ready\n")
        visitor = harness.limpet_start("attach", program.pid, "--json", "--tool", tool("a"))
        self.assertIsNotNone(harness.attached_wait(visitor))
        program.send_signal(signal.SIGUSR1)
        self.assertEqual(program.stdout.readline(), "closed\n")
        visitor.terminate()
        self.assertEqual(harness.limpet_finish(visitor).code, 0)
        program.send_signal(signal.SIGUSR2)
        self.assertEqual(program.wait(harness.PATIENCE_S), 0)
        self.assertEqual(self.lines(), FIRST + [A["detach"], A["finalize"]])


if __name__ == "__main__":
    unittest.main()
