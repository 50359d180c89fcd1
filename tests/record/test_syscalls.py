#!/usr/bin/env python3
"""
limpet record --syscall-trace on a program that makes system calls in known numbers (tests/programs/caller.c): what is
recorded is what it did, call by call; what is not in the recording is counted; nothing of limpet's stays.
"""

import collections
import csv
import ctypes
import errno
import glob
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import TargetTest, limpet  # noqa: E402

SOMEBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
NOT_PERMITTED = 3
SYS_READ, SYS_BPF = {"x86_64": (0, 321), "aarch64": (63, 280)}[platform.machine()]
# How the kernel is asked for a program, a map, a link of that number.
BPF_COMMANDS = {"prog_id": 13, "map_id": 14, "link_id": 30}


def refusal():
    """Why system calls cannot be traced here; None: they can."""
    with tempfile.TemporaryDirectory() as folder:
        result = limpet("record", "-p", os.getpid(), "--syscall-trace", "-d", "10ms", "--json", "-o",
                        os.path.join(folder, "it.limpet"))
    error = result.events[-1].get("error", "") if result.events else result.err
    return error if "BPF" in error or "kernel" in error else None


REFUSAL = refusal()


class Caller:
    """The program, and what it answers."""

    def __init__(self, *before):
        self.process = subprocess.Popen([*before, harness.program("caller")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.own_pid = int(self.process.stdout.readline().split()[1])
        self.pid = self.find_pid() if before else self.process.pid
        self.settle()

    def find_pid(self):
        """Of the program, where another one was started to start it."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return int(file.read())

    def ask(self, command, count=0):
        self.tell(command, count)
        return self.hear()

    def is_waiting(self):
        with open(f"/proc/{self.pid}/syscall", encoding="ascii") as file:
            return file.read().split()[0] == str(SYS_READ)

    def settle(self):
        """Returns when it waits for the next command: whatever it did before has returned, too."""
        if self.process.poll() is None and not harness.wait_until(self.is_waiting):
            raise AssertionError("it does not wait for a command")

    def tell(self, command, count=0):
        self.process.stdin.write(f"{command} {count}\n")
        self.process.stdin.flush()

    def hear(self):
        return int(self.process.stdout.readline().split()[1])

    def end(self):
        self.process.stdin.close()
        return self.process.wait()

    def close(self):
        try:
            answers = harness.progress.Answers(self.process, "enoent 1\n")
            harness.progress.check(self.pid, answers, self.process)
        finally:
            self.kill()

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.stdout.close()
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait()


class Recorded(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "it.limpet")
        self.callers = []

    def caller(self, *before):
        caller = Caller(*before)
        self.addCleanup(caller.close)
        self.callers.append(caller)
        return caller

    def start(self, *arguments):
        process = harness.limpet_attached("record", "-o", self.path, "--json", "--syscall-trace", *arguments)
        self.addCleanup(self.end_process, process)
        return process

    def finish(self, process):
        """The summary of the recording, which ends when the programs are at rest."""
        for caller in self.callers:
            caller.settle()
        if process.poll() is None:
            process.terminate()
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        return result.event("recorded")

    def report(self, event=None):
        result = limpet("report", self.path, "--json")
        self.assertEqual(result.code, 0, str(result))
        return [one for one in result.events if not event or one["event"] == event]

    def calls(self):
        return {row["name"]: row["calls"] for row in self.report("function")}

    def rows(self):
        out = os.path.join(self.folder, "it.csv")
        result = limpet("export", self.path, "-o", out)
        self.assertEqual(result.code, 0, str(result))
        with open(out, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def calls_by(self, *columns):
        """{columns: how often getsid was called}."""
        found = collections.Counter()
        for row in self.rows():
            if row["function"] == "getsid":
                found[tuple(row[column] for column in columns)] += 1
        return found


@unittest.skipIf(REFUSAL, REFUSAL)
class Counts(Recorded):
    def test_counts_are_exact(self):
        caller = self.caller()
        process = self.start("-p", caller.pid)
        caller.ask("call", 1234)
        caller.ask("enoent", 321)
        self.assertEqual(caller.ask("read", 500), 500 * 64)
        caller.ask("sleep", 30)
        told = self.finish(process)
        functions = {row["name"]: row for row in self.report("function")}
        self.assertEqual(functions["getsid"]["calls"], 1234)
        self.assertEqual(functions["getsid"]["errors"], 0)
        self.assertEqual((functions["openat"]["calls"], functions["openat"]["errors"]), (322, 321))
        self.assertEqual(functions["nanosleep"]["calls"], 1)
        self.assertGreaterEqual(functions["nanosleep"]["total_ns"], 30_000_000)
        self.assertLess(functions["getsid"]["min_ns"], 1_000_000)
        self.check_errors()
        self.check_files()
        self.check_ends(told)

    def check_errors(self):
        errors = self.report("syscall_error")
        self.assertEqual([(row["name"], row["error"], row["calls"]) for row in errors], [("openat", "ENOENT", 321)])

    def check_files(self):
        files = {row["name"]: row for row in self.report("syscall_file")}
        self.assertEqual((files["/no/such/file"]["calls"], files["/no/such/file"]["errors"]), (321, 321))
        # Opened, read, closed.
        self.assertEqual((files["/dev/zero"]["calls"], files["/dev/zero"]["read_bytes"]), (502, 500 * 64))

    def check_ends(self, told):
        """It waited for a command when limpet came, and does so when it leaves."""
        self.assertEqual((told["syscalls_before"], told["syscalls_under_way"]), (1, 1))
        summary = self.report("summary")[0]
        self.assertEqual((summary["syscalls_before"], summary["syscalls_under_way"]), (1, 1))
        self.assertIn("NOT COUNTED", limpet("report", self.path).out)

    def test_a_process_that_does_nothing_is_in_a_call_all_the_time(self):
        caller, other = self.caller(), self.caller()
        process = self.start("-p", caller.pid, "-p", other.pid)
        other.ask("call", 5)
        told = self.finish(process)
        self.assertEqual((told["syscalls_before"], told["syscalls_under_way"]), (2, 2))

    def test_threads(self):
        """One that was there, in a call, and one that is born later: each has all of its calls."""
        caller = self.caller()
        caller.ask("begin-thread")
        process = self.start("-p", caller.pid)
        caller.ask("thread", 300)
        caller.ask("end-thread", 200)
        caller.ask("call", 100)
        self.finish(process)
        self.assertEqual(self.calls_by("thread"),
                         {("born-later",): 300, ("there-before",): 200, ("caller",): 100})
        self.assertEqual(len({row["tid"] for row in self.rows() if row["function"] == "getsid"}), 3)

    def test_descriptors_lead_to_files(self):
        caller = self.caller()
        process = self.start("-p", caller.pid)
        self.assertEqual(caller.ask("socket", 50), 50)
        self.finish(process)
        written = collections.Counter()
        for row in self.report("syscall_file"):
            written[row["name"].split(":")[0]] += row["written_bytes"]
        # Closed before limpet has looked, they have no name.
        self.assertEqual(written["socket"] + written["unix"] + written[""], 50, written)
        self.assertEqual(written["pipe"], len("ok 50\n"), written)

    def test_calls_that_a_filter_refuses(self):
        caller = self.caller()
        process = self.start("-p", caller.pid)
        failed = caller.ask("refused", 40)
        if failed < 0:
            self.skipTest("seccomp filters cannot be had here")
        self.assertEqual(failed, 40)
        self.finish(process)
        errors = {(row["name"], row["error"]): row["calls"] for row in self.report("syscall_error")}
        self.assertEqual(errors.get(("getpriority", "EPERM")), 40)

    def test_unknown_numbers(self):
        caller = self.caller()
        process = self.start("-p", caller.pid)
        self.assertEqual(caller.ask("unknown", 7), 7)
        self.finish(process)
        self.assertEqual(self.calls()["syscall 1000"], 7)

    @unittest.skipUnless(platform.machine() == "x86_64", "int 0x80 is x86's")
    def test_32_bit_calls_are_said_to_be(self):
        caller = self.caller()
        process = self.start("-p", caller.pid, "--children")
        if caller.ask("32-bit", 25) < 0:
            self.skipTest("this kernel has no 32-bit calls")
        self.finish(process)
        self.assertEqual(self.calls()["syscall 20 (32-bit)"], 25)


@unittest.skipIf(REFUSAL, REFUSAL)
class Processes(Recorded):
    def test_several(self):
        callers = [self.caller(), self.caller()]
        process = self.start("-p", callers[0].pid, "-p", callers[1].pid)
        for number, caller in enumerate(callers):
            caller.ask("call", 100 + number)
        self.finish(process)
        self.assertEqual(self.calls_by("pid"), {(str(caller.pid),): 100 + number
                                                for number, caller in enumerate(callers)})

    def test_without_children(self):
        caller = self.caller()
        process = self.start("-p", caller.pid)
        caller.ask("fork", 50)
        caller.ask("call", 10)
        self.finish(process)
        self.assertEqual(self.calls_by("pid"), {(str(caller.pid),): 10})

    def test_children(self):
        """One that was there, one that is born meanwhile, one that executes another program."""
        caller = self.caller()
        there = caller.ask("begin-child")
        process = self.start("-p", caller.pid, "--children")
        self.assertEqual(caller.ask("end-child", 30), there)
        born = caller.ask("fork", 40)
        executed = caller.ask("exec", 50)
        told = self.finish(process)
        self.assertEqual(self.calls_by("pid"), {(str(there),): 30, (str(born),): 40, (str(executed),): 50})
        files = {row["name"]: row["calls"] for row in self.report("syscall_file")}
        self.assertGreaterEqual(files[harness.program("caller")], 1)
        self.assertGreaterEqual(told["processes"], 4)

    def test_it_ends_with_the_last_of_the_family(self):
        caller = self.caller()
        process = self.start("-p", caller.pid, "--children")
        caller.ask("fork", 40)
        self.assertEqual(caller.end(), 0)
        result = harness.limpet_finish(process)
        self.assertEqual((result.code, result.event("recorded").get("reason")), (0, "exit"), str(result))

    def test_a_thread_that_executes(self):
        """It goes on under the number of the first thread."""
        caller = self.caller()
        process = self.start("-p", caller.pid)
        caller.tell("exec-thread", 60)
        result = harness.limpet_finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(self.calls_by("pid", "tid"), {(str(caller.pid), str(caller.pid)): 60})
        self.assertEqual(result.event("recorded")["syscalls_under_way"], 0, str(result))

    def test_a_program_from_its_beginning(self):
        result = limpet("record", "--syscall-trace", "--json", "-o", self.path, "--", harness.program("caller"), "70")
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(self.calls()["getsid"], 70)
        self.assertNotIn("nothing to trace", result.err)

    @unittest.skipUnless(shutil.which("unshare") and os.geteuid() == 0, "needs root and unshare")
    def test_a_target_in_a_namespace_of_its_own(self):
        caller = self.caller("unshare", "--pid", "--fork", "--kill-child")
        pid = str(caller.pid)
        process = self.start("-p", pid)
        caller.ask("call", 80)
        self.finish(process)
        self.assertEqual(caller.own_pid, 1)
        self.assertEqual(self.calls_by("pid", "tid"), {(pid, pid): 80})

    @unittest.skipUnless(shutil.which("unshare") and os.geteuid() == 0, "needs root and unshare")
    def test_limpet_in_a_namespace(self):
        """Numbers are those that limpet sees."""
        script = f'"$LIMPET" record --syscall-trace --json -o {self.path} -- {harness.program("caller")} 90; echo $?'
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script],
                              capture_output=True, text=True, timeout=harness.PATIENCE_S,
                              env={**os.environ, "LIMPET": harness.LIMPET})
        if "unshare failed" in done.stderr or "not permitted" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.stdout.split()[-1], "0", done.stderr)
        found = self.calls_by("pid", "tid")
        self.assertEqual(list(found.values()), [90])
        self.assertTrue(all(0 < int(number) < 100 for number in next(iter(found))), found)


@unittest.skipIf(REFUSAL, REFUSAL)
class Together(Recorded):
    def test_with_samples_and_other_traces(self):
        """One file with all three, each complete."""
        caller = self.caller()
        process = self.start("-p", caller.pid, "--function", "libc.so*:scanf", "--io-trace", "-F", "99")
        caller.ask("call", 150)
        caller.ask("socket", 20)
        self.finish(process)
        functions = {(row["domain"], row["name"]): row["calls"] for row in self.report("function")}
        self.assertEqual(functions["syscall", "getsid"], 150)
        # By syscall() itself, and so none of the library's; the two sockets are closed by it.
        self.assertEqual(functions["io", "close"], 2)
        self.assertGreaterEqual(functions["syscall", "close"], 2)

    def test_every_format_has_them(self):
        caller = self.caller()
        process = self.start("-p", caller.pid)
        caller.ask("enoent", 33)
        self.finish(process)
        for extension in ("csv", "json", "chrome.json", "pftrace"):
            out = os.path.join(self.folder, f"out.{extension}")
            result = limpet("export", self.path, "-o", out)
            self.assertEqual(result.code, 0, f"{extension}: {result}")
            with open(out, "rb") as file:
                data = file.read()
            self.assertIn(b"openat", data, extension)
            self.assertIn(b"/no/such/file", data, extension)
        with open(os.path.join(self.folder, "out.chrome.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual(sum(event.get("name") == "openat" for event in events), 33)

    def test_periods(self):
        """What happens between them is not recorded; each has its own ends."""
        caller = self.caller()
        process = self.start("-p", caller.pid, "--collection-period", "0:100ms:3")
        result = harness.limpet_finish(process)
        # It slept in a call all the time.
        self.assertIn(result.code, (0, 5), str(result))
        self.assertEqual(result.event("recorded")["syscalls_under_way"], 3, str(result))

    def test_size(self):
        caller = self.caller()
        process = self.start("-p", caller.pid, "--max-size", "20K")
        caller.tell("call", 1_000_000)
        result = harness.limpet_finish(process)
        self.assertEqual((result.code, result.event("recorded").get("reason")), (0, "max-size"), str(result))
        caller.hear()


@unittest.skipIf(REFUSAL, REFUSAL)
class Losses(Recorded):
    def test_what_finds_no_room_is_counted(self):
        """limpet stands still while the program calls more than the ring can hold."""
        caller = self.caller()
        process = self.start("-p", caller.pid, "--ring-size", "4K")
        caller.ask("call", 10)
        os.kill(process.pid, signal.SIGSTOP)
        self.assertTrue(harness.wait_until(lambda: harness.status_of(process.pid)["State"][0] == "T"))
        caller.ask("call", 5000)
        os.kill(process.pid, signal.SIGCONT)
        caller.ask("call", 10)
        told = self.finish(process)
        self.assertGreater(told["dropped_full"], 4000)
        recorded = self.calls()["getsid"]
        # The reads and writes of commands and answers are dropped or not.
        self.assertLessEqual(recorded, 5020)
        self.assertGreaterEqual(recorded + told["dropped_full"], 5020)
        self.assertLessEqual(recorded + told["dropped_full"], 5020 + 8)
        self.assertIn(f"LOST: {told['dropped_full']} records", limpet("report", self.path).out)

    @staticmethod
    def kernel_objects(pid):
        """(what, number) of each program, map and link that a process holds."""
        found = set()
        for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
            with open(path, encoding="ascii") as file:
                found |= set(re.findall(r"^(prog_id|map_id|link_id):\s*(\d+)$", file.read(), re.MULTILINE))
        return found

    @staticmethod
    def is_there(what, number):
        """Does the kernel still know it?"""
        libc = ctypes.CDLL(None, use_errno=True)
        attributes = ctypes.create_string_buffer(128)
        ctypes.memmove(attributes, int(number).to_bytes(4, "little"), 4)
        fd = libc.syscall(SYS_BPF, BPF_COMMANDS[what], attributes, 128)
        if fd >= 0:
            os.close(fd)
        return fd >= 0 or ctypes.get_errno() != errno.ENOENT

    def test_killed_it_leaves_nothing(self):
        """The program does not notice; what was written is readable."""
        caller = self.caller()
        process = self.start("-p", caller.pid)
        objects = self.kernel_objects(process.pid)
        self.assertTrue(objects)
        caller.ask("call", 100)
        before = harness.status_of(caller.pid)
        self.assertTrue(harness.wait_until(self.has_calls))
        process.kill()
        process.wait()
        self.assertTrue(harness.wait_until(lambda: not any(self.is_there(*one) for one in objects)))
        self.assertEqual(caller.ask("call", 1000), 1000)
        after = harness.status_of(caller.pid)
        for key in ("TracerPid", "Threads", "Seccomp"):
            self.assertEqual(before[key], after[key], key)
        self.assertEqual(self.calls()["getsid"], 100)
        self.assertEqual(caller.end(), 0)

    def has_calls(self):
        result = limpet("report", self.path, "--json")
        return any(row.get("name") == "getsid" and row["calls"] == 100 for row in result.events
                   if row["event"] == "function")


class Refusals(Recorded):
    def test_of_the_whole_machine(self):
        result = limpet("record", "-a", "--syscall-trace", "--json", "-o", self.path)
        self.assertEqual(result.code, 2, str(result))
        self.assertIn("--syscall-trace", result.events[-1]["error"])

    @unittest.skipUnless(shutil.which("setpriv") and os.geteuid() == 0, "needs root, to become another user")
    def test_without_rights(self):
        """Said before anything is made: what, why, and what would help."""
        folder = os.path.join(self.folder, "it")
        os.mkdir(folder)
        os.chmod(self.folder, 0o755)
        os.chmod(folder, 0o777)
        program = os.path.join(folder, "limpet")
        shutil.copy(harness.LIMPET, program)
        caller = self.caller()
        done = subprocess.run([*SOMEBODY, program, "record", "-p", str(caller.pid), "--syscall-trace", "--json"],
                              cwd=folder, capture_output=True, text=True, timeout=harness.PATIENCE_S)
        self.assertEqual(done.returncode, NOT_PERMITTED, done.stderr)
        summary = json.loads(done.stdout.splitlines()[-1])
        self.assertIn("BPF programs may not be loaded", summary["error"])
        self.assertIn("CAP_BPF", summary["why"])
        self.assertTrue(summary["fix"])
        self.assertEqual(os.listdir(folder), ["limpet"])


if __name__ == "__main__":
    unittest.main()
