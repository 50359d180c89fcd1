#!/usr/bin/env python3
"""
Programs that give up their rights while limpet is in them: every step answers what it answers without limpet, and
afterwards no thread of limpet's has rights that the program has given up, or lacks a filter that it has put on itself.
"""

import concurrent.futures
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import harness

PROGRAM = os.path.join(os.environ["ADVERSARY"], "identity")
PROGRAMS = {"musl": PROGRAM + "_musl", "no_plt": PROGRAM + "_no_plt", "no_plt_traced": PROGRAM + "_no_plt"}
PASSERS = os.path.join(os.environ["ADVERSARY"], "passers")
REGISTER = os.environ["REGISTER"]
TOOL = os.path.join(harness.PROGRAMS, "life_a.so")
SLOW_TOOL = os.path.join(harness.PROGRAMS, "life_slow_detach.so")
OURS = ("limpet", "limpet-watch", "limpet-tool", "rocp-bg-attach")
IDENTITY = "Uid Gid Groups CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs Seccomp Seccomp_filters".split()
PLACES = ("root", *(f"ns/{name}" for name in "user mnt pid_for_children net ipc uts cgroup".split()))
RIGHTS = "CapInh CapPrm CapEff CapBnd CapAmb".split()
AT_ONCE = 4  # programs
UNLOADS = 15
LOOKS_S = 0.6  # a thread of ours that were still there would look at the program, and be killed for it
MOMENTS = 30
PPOLL = ("73", "271")  # its number on aarch64, x86-64

# Those that libc makes known to all threads, and those that are a thread's own.
SEQUENCES = (
    "keepcaps setpriv sudo nginx sshd postgres systemd raise capset no_new_privs fsuid filter tsync filter_deadly strict "
    "network setns mounts chroot jail own_root call_root pivot call_pivot "
    "dumpable vfork fork handler threads nothing"
).split()
RAW = "raw raw_root raw_pivot raw_network raw_mounts raw_capset raw_no_new_privs raw_filter raw_tsync".split()
# In a mount namespace of their own from the beginning: the register library's listener refuses limpet there.
OWN_MOUNTS = "pivot call_pivot raw_pivot".split()
# A filter for all threads that kills whoever does more than the program: ours must not be there.
DEADLY = ["tsync_deadly"]
# Where limpet notices the calls, and goes before they are made.
NOTICED = "attached tool traced door register".split()


class Program:
    """One that waits before it begins; without limpet, or with it as `mode` says."""

    def __init__(self, sequence, mode):
        self.limpet = None
        self.watchdog = threading.Timer(2 * harness.PATIENCE_S, self.end_all)
        self.watchdog.daemon = True
        self.watchdog.start()
        self.folder = tempfile.TemporaryDirectory()
        environment = dict(os.environ)
        if mode in ("register", "door", "early"):
            environment |= {"LD_PRELOAD": self.register(mode), "ROCP_TOOL_ATTACH": "1"}
        self.process = subprocess.Popen(
            [PROGRAMS.get(mode, PROGRAM), sequence], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.pid = self.process.pid
        if self.process.stdout.readline() != b"ready\n":
            raise AssertionError(f"{sequence} did not begin: {self.process.wait()}")
        if mode in ("register", "door") and not harness.wait_until(lambda: is_listening(self.pid)):
            raise AssertionError(f"{sequence}, {mode}: the register library does not listen")
        self.come_in(mode)
        if mode not in ("alone", "early") and not harness.wait_until(lambda: list(threads_of_ours(self.pid))):
            raise AssertionError(f"{sequence}, {mode}: no thread of ours is there")

    def register(self, mode):
        """The register library lets limpet in where the agent is beside it."""
        if mode != "door":
            return REGISTER
        for library in (REGISTER, os.environ["SDK"]):
            shutil.copy(library, self.folder.name)
        return os.path.join(self.folder.name, os.path.basename(REGISTER))

    def end_all(self):
        """What hangs is killed, which the test then sees."""
        for process in (self.process, self.limpet):
            if process and process.poll() is None:
                process.kill()

    def come_in(self, mode):
        recording = os.path.join(self.folder.name, "recording")
        arguments = {
            "attached": ("attach", self.pid, "--json"),
            "musl": ("attach", self.pid, "--json"),
            "no_plt": ("attach", self.pid, "--json"),
            "slow_tool": ("attach", self.pid, "--json", "--tool", SLOW_TOOL),
            "no_plt_traced": ("record", self.pid, "--io-trace", "-o", recording, "--json"),
            "door": ("attach", self.pid, "--json"),
            "tool": ("attach", self.pid, "--json", "--tool", TOOL),
            "traced": ("record", self.pid, "--io-trace", "-o", recording, "--json"),
        }.get(mode)
        if arguments:
            self.limpet = harness.limpet_start(*arguments)
            self.await_ours(mode)

    def await_ours(self, mode):
        """Attached, and everything in place: limpet says so."""
        line = self.limpet.stdout.readline()
        if '"attached"' not in line and '"recording"' not in line:
            raise AssertionError(f"not attached: {line} {harness.limpet_finish(self.limpet)}")
        if mode == "door" and '"way":"door"' not in line:
            raise AssertionError(f"not by the register library: {line}")

    def go(self):
        """All its answers up to "done", or to its end."""
        os.write(self.process.stdin.fileno(), b"x")
        lines = []
        while not lines or lines[-1] not in ("done\n", ""):
            lines.append(self.process.stdout.readline().decode())
        return lines

    def again(self):
        os.write(self.process.stdin.fileno(), b"x")
        return self.process.stdout.readline().decode()

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        code = self.process.wait()
        self.process.stdout.close()
        result = None
        if self.limpet:
            if self.limpet.poll() is None:
                self.limpet.send_signal(signal.SIGINT)
            result = harness.limpet_finish(self.limpet)
        self.watchdog.cancel()
        self.folder.cleanup()
        return code, result


def identity(pid, tid=None):
    status = harness.status_of(pid, tid)
    return {key: status.get(key, "") for key in IDENTITY} if status.get("State", "X")[0] not in "XZ" else {}


def threads_of_ours(pid):
    for tid in harness.threads_of(pid):
        if tid != pid and harness.status_of(pid, tid).get("Name") in OURS:
            yield tid


def is_listening(pid):
    """It waits for visitors, after it has made its hooks."""
    for tid in threads_of_ours(pid):
        try:
            with open(f"/proc/{pid}/task/{tid}/syscall") as file:
                call = file.read().split()[0]
        except (OSError, IndexError):
            continue
        if harness.status_of(pid, tid).get("Name") == "rocp-bg-attach" and call in PPOLL:
            return True
    return False


def place(pid, tid):
    """The root and the namespaces of a thread; empty when it is gone."""
    try:
        return {name: (seen.st_dev, seen.st_ino) for name in PLACES if (seen := os.stat(f"/proc/{pid}/task/{tid}/{name}"))}
    except OSError:
        return {}


def is_elsewhere(pid, tid):
    """In what a thread of ours differs from the program's first one."""
    ours, theirs = place(pid, tid), place(pid, pid)
    return [name for name in PLACES if ours and theirs and ours[name] != theirs[name]]


def holds_more(ours, theirs):
    """What a thread of ours has that the program has not; "" when it is gone, too."""
    if not ours or not theirs:
        return ""
    more = [key for key in ("Uid", "Gid", "Groups") if ours[key] != theirs[key]]
    more += [key for key in RIGHTS if int(ours[key], 16) & ~int(theirs[key], 16)]
    more += [key for key in ("NoNewPrivs", "Seccomp", "Seccomp_filters") if int(ours[key]) < int(theirs[key])]
    return " ".join(more)


def surplus(pid):
    theirs = identity(pid)
    return {tid: more for tid in threads_of_ours(pid)
            if (more := " ".join([holds_more(identity(pid, tid), theirs), *is_elsewhere(pid, tid)]).strip())}


def play(sequence, mode):
    """What the program answered, what it is afterwards, how it ended, what we kept at first and for too long."""
    program = Program(sequence, mode)
    try:
        lines = program.go()
        at_once = surplus(program.pid)
        if sequence in DEADLY:
            time.sleep(LOOKS_S)
        harness.wait_until(lambda: not surplus(program.pid))
        kept, after = surplus(program.pid), identity(program.pid)
    finally:
        code, result = program.close()
    return {"lines": lines, "code": code, "after": after, "kept": kept, "at_once": at_once, "limpet": result}


@unittest.skipUnless(os.geteuid() == 0, "needs root, to have something to give up")
class Identity(unittest.TestCase):
    maxDiff = None

    def compare(self, mode, sequences):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            alone = dict(zip(sequences, pool.map(lambda name: play(name, "alone"), sequences)))
            with_us = dict(zip(sequences, pool.map(lambda name: play(name, mode), sequences)))
        for name in sequences:
            with self.subTest(mode=mode, sequence=name):
                for key in ("lines", "code", "after"):
                    self.assertEqual(with_us[name][key], alone[name][key], f"{name}: {with_us[name]}")
                self.assertEqual(with_us[name]["kept"], {}, name)
                if with_us[name]["limpet"]:
                    self.assertFalse(with_us[name]["limpet"].hung, name)

    def test_alone_every_step_is_as_it_should_be(self):
        """What the other tests compare with."""
        for name in SEQUENCES + RAW:
            with self.subTest(sequence=name):
                result = play(name, "alone")
                self.assertEqual((result["lines"][-1], result["code"]), ("done\n", 0), str(result))

    def test_alone_another_root_is_taken(self):
        """Which a machine may refuse whose root is no mount; then nothing was tested."""
        for name in OWN_MOUNTS:
            with self.subTest(sequence=name):
                self.assertEqual(play(name, "alone")["lines"][:2], ["0 0\n", "0 0\n"])

    def test_attached(self):
        self.compare("attached", SEQUENCES + RAW + DEADLY)

    @unittest.skipUnless(harness.runs(PROGRAMS["musl"]), "no program of musl runs here")
    def test_attached_with_musl(self):
        """libc itself ends the program with SIGKILL where two threads get unlike answers."""
        self.compare("musl", SEQUENCES + RAW)

    def test_attached_without_a_plt(self):
        """Such calls are not noticed without tracing: limpet finds out when it looks."""
        self.compare("no_plt", SEQUENCES + RAW)

    def test_traced_without_a_plt(self):
        self.compare("no_plt_traced", SEQUENCES + RAW + DEADLY)

    def test_with_a_tool(self):
        self.compare("tool", SEQUENCES + RAW + DEADLY)

    def test_with_the_register_library(self):
        self.compare("register", SEQUENCES + RAW + DEADLY)

    def test_the_register_library_does_not_wait_for_the_program(self):
        """What the program does first comes after the hooks, not before: a filter would kill our thread."""
        self.compare("early", ["keepcaps", "nginx", "tsync"] + DEADLY)

    def test_attached_by_the_register_library(self):
        self.compare("door", [name for name in SEQUENCES + RAW + DEADLY if name not in OWN_MOUNTS])

    def test_traced(self):
        self.compare("traced", SEQUENCES + RAW + DEADLY)

    def test_ours_are_gone_before_a_call_through_libc_returns(self):
        for mode in NOTICED:
            for name in ("nginx", "systemd", "capset", "no_new_privs", "tsync", "own_root", "pivot"):
                if mode == "door" and name in OWN_MOUNTS:
                    continue
                with self.subTest(mode=mode, sequence=name):
                    # A thread that is ending may wait for a processor; three times in a row it does not.
                    self.assertTrue(any(play(name, mode)["at_once"] == {} for _ in range(3)))

    def test_calls_that_change_nothing(self):
        """They are no reason to leave."""
        for mode in NOTICED:
            with self.subTest(mode=mode):
                program = Program("nothing", mode)
                before = set(threads_of_ours(program.pid))
                self.assertEqual(program.go()[-1], "done\n")
                time.sleep(LOOKS_S)
                self.assertEqual(set(threads_of_ours(program.pid)) & before, before)
                code, result = program.close()
                self.assertEqual(code, 0)
                self.assertNotIn("changed its user", str(result))

    def test_a_handler_that_jumps_out_while_a_call_waits(self):
        """Nobody knows whether the thread comes back: the agent stays."""
        program = Program("jump", "slow_tool")
        self.assertEqual(program.go(), ["0 0\n", "done\n"])
        self.assertEqual(identity(program.pid)["Uid"].split(), ["0"] * 4)  # the call was not made
        self.assertTrue(harness.wait_until(lambda: not list(threads_of_ours(program.pid))))
        result = harness.limpet("attach", program.pid, "--json", "--duration", "0", "--unload")
        self.assertFalse(result.event("detached")["unloaded"], str(result))
        self.assertIn("may return into it", str(result.event("detached")["left"]))
        self.assertEqual(program.again(), "again\n")
        self.assertEqual(program.close()[0], 0)

    def test_a_handler_that_forks_while_a_call_waits(self):
        """The child has no thread of ours to wait for."""
        result = play("fork_inside", "slow_tool")
        self.assertEqual((result["lines"], result["code"]), (["0 0\n", "done\n"], 0), str(result))
        self.assertEqual((result["after"]["Uid"].split(), result["kept"]), (["0", "1234", "0", "1234"], {}), str(result))

    def test_recorded_again_with_the_rights_that_are_left(self):
        """limpet comes back by itself, with threads that have no more than the program, and says what is missing."""
        program = Program("nginx", "traced")
        self.assertEqual(program.go()[-1], "done\n")
        self.assertTrue(harness.wait_until(lambda: list(threads_of_ours(program.pid))))
        self.assertEqual(surplus(program.pid), {})
        # It is in, and hooks one after the other: at some time each call is seen.
        self.assertTrue(harness.wait_until(lambda: harness.thread_count(program.pid) > 2))
        for _ in range(200):
            self.assertEqual(program.again(), "again\n")
            time.sleep(0.02)
        program.limpet.send_signal(signal.SIGINT)
        result = harness.limpet_finish(program.limpet)
        self.assertEqual(program.close()[0], 0)
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("changed its user", result.err)
        self.assertGreater(result.event("recorded")["records"], 0, str(result))

    def test_a_recording_that_was_left_says_so(self):
        """Also where the program ends before limpet is back."""
        result = play("nginx", "traced")["limpet"]
        self.assertIn("changed its user", result.err, str(result))

    def test_an_attach_that_was_left_says_so(self):
        result = play("nginx", "attached")["limpet"]
        self.assertEqual(result.code, 1, str(result))
        self.assertEqual(result.event("detached")["reason"], "identity", str(result))
        self.assertIn("changed its user", result.event("summary")["error"])

    def test_told_to_leave_in_the_moment_in_which_it_leaves(self):
        """Whichever came first is the reason; that both came is no failure."""
        for _ in range(MOMENTS):
            program = Program("nginx", "attached")
            os.write(program.process.stdin.fileno(), b"x")
            program.limpet.send_signal(signal.SIGINT)
            result = harness.limpet_finish(program.limpet)
            program.close()
            reason = result.event("detached").get("reason")
            self.assertIn((result.code, reason), ((0, "signal"), (1, "identity"), (0, "exit")), str(result))

    def test_a_user_namespace_needs_a_process_of_one_thread(self):
        """Which it may not be while limpet is attached: a limit, and over with the attach."""
        for mode in NOTICED:
            with self.subTest(mode=mode):
                during = play("users", mode)
                self.assertIn(during["lines"], (["-1 22\n", "done\n"], ["0 0\n", "done\n"]))
                self.assertEqual(during["code"], 0)
        for mode in ("attached", "tool", "traced"):
            with self.subTest(mode=mode, detached=True):
                program = Program("users", mode)
                program.limpet.send_signal(signal.SIGINT)
                harness.limpet_finish(program.limpet)
                self.assertTrue(harness.wait_until(lambda: not list(threads_of_ours(program.pid))))
                self.assertEqual(program.go(), ["0 0\n", "done\n"])
                self.assertEqual(program.close()[0], 0)


class Unload(unittest.TestCase):
    """What notices such calls goes again, while threads come through it all the time."""

    def test_nobody_is_inside_when_it_goes(self):
        process = subprocess.Popen([PASSERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        unloads = 0
        for _ in range(UNLOADS):
            result = harness.limpet("attach", process.pid, "--json", "--duration", "0", "--unload")
            self.assertEqual(result.code, 0, str(result))
            self.assertTrue(result.event("attached")["notices_rights"], str(result))
            detached = result.event("detached")
            unloads += detached["unloaded"]
            self.assertEqual(detached["unloaded"], not harness.limpet_mappings(process.pid), str(result))
            self.assertEqual(detached["unloaded"], not detached["left"], str(result))
        process.stdin.close()
        self.assertEqual(process.wait(), 0)
        process.stdout.close()
        self.assertGreater(unloads, 0)

    def test_not_under_a_handler_that_interrupts_a_hook(self):
        """It computes for as long as it likes, and returns into the hook."""
        process = subprocess.Popen([PASSERS, "handler"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        limpet = harness.limpet_start("attach", process.pid, "--json", "--unload")
        self.assertIn('"attached"', limpet.stdout.readline())
        self.assertEqual(process.stdout.readline(), b"inside\n")
        limpet.send_signal(signal.SIGINT)
        result = harness.limpet_finish(limpet)
        detached = result.event("detached")
        process.stdin.close()
        self.assertEqual(process.wait(), 0, str(result))
        process.stdout.close()
        self.assertFalse(detached["unloaded"], str(result))
        self.assertIn("signal handler", str(detached["left"]))

    def test_not_where_a_thread_may_not_wait(self):
        """Who is held up by a hook makes system calls: a thread with a filter of its own may be killed for them."""
        process = subprocess.Popen([PASSERS, "sandboxed"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.assertTrue(harness.wait_until(
            lambda: any(identity(process.pid, tid).get("Seccomp") == "2" for tid in harness.threads_of(process.pid))))
        result = harness.limpet("attach", process.pid, "--json", "--duration", "300ms", "--unload")
        self.assertEqual(result.code, 0, str(result))
        self.assertFalse(result.event("attached")["notices_rights"], str(result))
        self.assertIn("filters of their own", result.event("attached")["unnoticed"])
        self.assertTrue(result.event("detached")["unloaded"], str(result))
        process.stdin.close()
        self.assertEqual(process.wait(), 0)
        process.stdout.close()


if __name__ == "__main__":
    unittest.main()
