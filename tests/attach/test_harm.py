#!/usr/bin/env python3
"""
Ways in which limpet once hurt its target, or could not come back.  Each was found by looking for it; none
may come again.
"""

import ctypes
import errno
import os
import pathlib
import platform
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import harness
from harness import limpet, TargetTest

FAILED, CANNOT, BUSY = 1, 6, 7
ATTACHES = 200
BUSY_ATTACHES = 5
# Leaves its processor to others for 5 ms of every 25.
HOLD_PROCESSOR = """
import time
while True:
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
    time.sleep(0.005)
"""
TOOL_THREAD, TOOL_RENAME, TOOL_PROBE = (
    harness.program(f"tool_{name}.so") for name in ("thread", "rename", "probe"))


def refuse_thread_descriptors():
    """In a child that will be limpet: pidfd_open(..., PIDFD_THREAD) fails as on a kernel that does not know it."""
    number, flag, einval = 434, os.O_EXCL, errno.EINVAL
    load, jump_equal, answer = 0x20, 0x15, 0x06
    code = ((load, 0, 0, 0), (jump_equal, 0, 3, number), (load, 0, 0, 24), (jump_equal, 0, 1, flag),
            (answer, 0, 0, 0x50000 | einval), (answer, 0, 0, 0x7fff0000))
    words = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("H6xQ", len(code), ctypes.addressof(words)))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        os._exit(1)


class Harm(TargetTest):
    def attach(self, target, *arguments, codes=(0,)):
        result = limpet("attach", target.pid, "--json", "--duration", "0", *arguments)
        self.assertIn(result.code, codes, f"{result}\n--- the target: {target.fate()}")
        return result

    def start(self, target, *arguments):
        process = harness.limpet_start("attach", target.pid, "--json", *arguments)
        self.addCleanup(self.end_process, process)
        self.assertIsNotNone(harness.attached_wait(process), "not attached")
        return process

    def assert_well(self, target):
        self.assertTrue(target.alive(), target.fate())
        self.assertTrue(target.stats.wait_turn(), "stuck")
        for name in ("eintr", "corruptions", "errors", "signals_lost", "early"):
            self.assertEqual(target.stats.word(name), 0, f"{name}: {target.stats.detail()}")

    def traced_run(self, target, log, *options):
        """One attach under strace, which does something to the injector at one of its calls."""
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        process = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", log, "-e", "trace=ptrace,pwrite64", *options,
             harness.LIMPET, "attach", str(target.pid), "--json", "--duration", "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        self.addCleanup(self.end_process, process)
        return process

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name


class ToolsThatStay(Harm):
    """Unloading pulls the code from under a thread that a tool has made."""

    def setUp(self):
        self.file = os.path.join(self.folder(), "stay")
        open(self.file, "w").close()
        self.plain = self.target("plain", "idle")
        self.threads = harness.thread_count(self.plain.pid)

    def load(self, *arguments):
        self.attach(self.plain, "--load", TOOL_THREAD, "--env", f"LIMPET_TEST_OUT={self.file}",
                    *arguments)

    def inner_thread(self):
        """The number of the tool's thread; it names itself when it runs."""
        names = lambda: {harness.status_of(self.plain.pid, tid).get("Name"): tid
                         for tid in harness.threads_of(self.plain.pid)}
        self.assertTrue(harness.wait_until(lambda: "stays-inside" in names()))
        return names()["stays-inside"]

    def unload(self):
        result = limpet("detach", self.plain.pid, "--unload", "--json")
        self.assertEqual(result.code, 0, str(result))
        return result.event("detached")

    def assert_kept(self, event, tid):
        self.assertFalse(event["unloaded"])
        self.assertIn(str(tid), " ".join(event["left"]))
        time.sleep(0.3)  # longer than the thread waits in one go
        self.assert_well(self.plain)

    def end_thread(self):
        os.unlink(self.file)
        gone = lambda: harness.thread_count(self.plain.pid) == self.threads
        self.assertTrue(harness.wait_until(gone), "the tool's thread stays")

    def test_a_thread_that_waits(self):
        self.load()
        self.assert_kept(self.unload(), self.inner_thread())
        self.end_thread()
        self.assertEqual(self.unload()["left"], [])
        self.assert_well(self.plain)

    def test_a_thread_that_runs(self):
        self.load("--env", "LIMPET_TEST_VALUE=spin")
        self.assert_kept(self.unload(), self.inner_thread())
        self.end_thread()
        self.assertTrue(self.unload()["unloaded"])
        self.assert_well(self.plain)

    def test_unload_at_the_end_of_the_attach(self):
        self.load("--unload")
        tid = self.inner_thread()
        self.assert_kept(self.unload(), tid)


class Filters(Harm):
    """A filter of one thread says nothing about another; a list of calls must be the whole list."""

    def assert_attach_or_refusal(self, name):
        target = self.target("filtered", name)
        for arguments in ((), ("--unload",), ("--load", TOOL_PROBE)) * 3:
            self.attach(target, *arguments, codes=(0, CANNOT))
            self.assert_well(target)

    def test_one_thread_is_filtered(self):
        self.assert_attach_or_refusal("thread_kill")

    def test_only_the_leader_is_filtered(self):
        self.assert_attach_or_refusal("leader_kill")

    def test_what_is_needed_is_enough(self):
        target = self.target("needs", "always")
        for arguments in ((), ("--unload",), ("--load", TOOL_PROBE), ("--unload",), ("--strict",)):
            self.attach(target, *arguments)
            self.assert_well(target)

    def test_what_is_needed_for_variables(self):
        for name, codes in (("variables", (0,)), ("always", (CANNOT,))):
            with self.subTest(filter=name):
                target = self.target("needs", name)
                self.attach(target, "--env", "LIMPET_TEST_VALUE=x", codes=codes)
                self.attach(target, "--load", TOOL_PROBE, "--unload")
                self.assert_well(target)

    def needs(self):
        """What is always needed, by number: the name, and whether a failure is survived."""
        path = harness.program("needs")
        listing = subprocess.run([path, "list", os.path.join(self.folder(), "page")],
                                 capture_output=True, text=True, check=True).stdout
        found = {}
        for number, may_fail, when, name in (line.split(" ", 3) for line in listing.splitlines()):
            if when == "1":
                found.setdefault(int(number), (name, may_fail == "1"))
        return found

    def lacking(self, number, *variables):
        return self.target("needs", "always",
                           before=("env", f"NEEDS_WITHOUT={number}", *variables))

    def test_each_call_that_kills(self):
        for number, (name, _) in self.needs().items():
            with self.subTest(without=name):
                target = self.lacking(number)
                result = self.attach(target, codes=(CANNOT,))
                self.assertIn(name.split()[0], result.err)
                self.assert_well(target)

    def test_each_call_that_fails(self):
        """Where an error should be survived the attach may fail, but the target is never harmed."""
        for number, (name, may_fail) in self.needs().items():
            with self.subTest(without=name):
                target = self.lacking(number, f"NEEDS_ERRNO={errno.ENOSYS}")
                self.attach(target, "--load", TOOL_PROBE,
                            codes=(0, FAILED) if may_fail else (CANNOT,))
                self.assert_well(target)


class Restarts(Harm):
    """
    A stop ends a timed wait, and the kernel resumes it by restart_syscall: a filter that does not allow that call
    killed the process or failed the wait.
    """

    def assert_goes_on(self, target, turns=5):
        before = target.stats.word("turns")
        self.assertTrue(harness.wait_until(lambda: target.stats.word("turns") >= before + turns), target.fate())
        self.assert_well(target)

    def test_filters_that_forbid_it(self):
        names = ("nanosleep_kill", "poll_errno", "futex_trap", "clock_notify")
        targets = {name: self.target("restarts", name) for name in names}
        for name, target in targets.items():
            with self.subTest(filter=name):
                self.assertIn("seccomp filter", self.attach(target, codes=(CANNOT, BUSY)).err)
                # Interrupted inside of the wait, which is what else happens by chance only.
                self.assertIn("restart_syscall", self.attach(target, "--force", codes=(CANNOT,)).err)
        for name, target in targets.items():
            with self.subTest(filter=name):
                self.assert_goes_on(target)

    def test_a_supervisor_that_is_asked(self):
        target = self.target("restarts", "supervised")
        for _ in range(3):
            self.attach(target, codes=(0, BUSY))
        self.assert_goes_on(target)

    def test_signals_that_are_ignored(self):
        """They end the wait of a traced thread, and the kernel restarts it once more."""
        target = self.target("restarts", "nanosleep_kill")
        sender = subprocess.Popen(["sh", "-c", f"while kill -URG {target.pid}; do :; done"], stderr=subprocess.DEVNULL)
        self.addCleanup(self.end_process, sender)
        for _ in range(5):
            self.attach(target, "--force", codes=(CANNOT,))
        self.assert_goes_on(target)

    def test_filters_that_come_later(self):
        """In a process that is being recorded, where limpet comes back; and in children right after their birth."""
        late, server = (self.target("restarts", name) for name in ("late", "children"))
        path = os.path.join(self.folder(), "recording")
        record = harness.limpet_start("record", "--alloc-trace", "-d", "1s", "-o", path, "-p", late.pid)
        self.addCleanup(self.end_process, record)
        result = limpet("attach", server.pid, "--json", "--children", "--duration", "1s")
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("seccomp filter", harness.limpet_finish(record).err)
        for target in (late, server):
            self.assert_goes_on(target)

    def test_filters_that_allow_it(self):
        for name in ("nanosleep_allow", "futex_kill_other"):
            with self.subTest(filter=name):
                target = self.target("restarts", name)
                self.attach(target)
                self.assert_goes_on(target)


class Descriptors(Harm):
    """Descriptors of ours may be closed by the program, and their numbers be its own then."""

    def test_the_program_takes_our_numbers(self):
        for arguments in ((), ("--unload",), ("--load", TOOL_PROBE)):
            with self.subTest(arguments=arguments):
                target = self.target("habits", "closer")
                process = self.start(target, *arguments)
                os.kill(target.pid, signal.SIGUSR1)
                taken = lambda: target.stats.word("signals_received") == 598
                self.assertTrue(harness.wait_until(taken), "the numbers were not closed")
                process.send_signal(signal.SIGTERM)
                result = harness.limpet_finish(process)
                self.assertFalse(result.hung, str(result))
                self.assert_well(target)


class Numbers(Harm):
    """The kernel gives the lowest free number: one that limpet has is not the program's.  So it has none."""

    VISITS = (
        ("attach", "{pid}", "--duration", "30ms"),
        ("record", "-p", "{pid}", "--alloc-trace", "--duration", "60ms", "-o", "{file}"),
        ("attach", "{pid}", "--duration", "0", "--unload"),
    )
    NOTHING_CAPTURED = 5

    def assert_unnoticed(self, name):
        target = self.target("numbers", name)
        file = os.path.join(self.folder(), "visit.limpet")
        for number, visit in enumerate(self.VISITS):
            words = [word.format(pid=target.pid, file=f"{file}{number}") for word in visit]
            result = limpet(*words)
            self.assertIn(result.code, (0, self.NOTHING_CAPTURED), str(result))
            self.assert_well(target)
        self.assert_goes_on(target)

    def assert_goes_on(self, target):
        before = target.stats.word("turns")
        time.sleep(0.1)
        self.assertGreater(target.stats.word("turns"), before + 1, "it does not go on")
        self.assert_well(target)

    def test_a_daemon_without_the_first_three(self):
        self.assert_unnoticed("bare")

    def test_the_number_that_is_next(self):
        self.assert_unnoticed("next")

    def test_few_numbers(self):
        self.assert_unnoticed("small")
        self.assert_unnoticed("medium")

    def test_no_number_left(self):
        self.assert_unnoticed("full")

    def test_a_program_that_closes_what_it_does_not_know(self):
        self.assert_unnoticed("closing")

    def test_children(self):
        self.assert_unnoticed("forking")

    def test_a_queue_that_tells(self):
        self.assert_unnoticed("queue")

    def test_nothing_is_to_be_seen(self):
        target = self.target("numbers", "forking")
        before = os.listdir(f"/proc/{target.pid}/fd")
        self.start(target)
        self.assertEqual(os.listdir(f"/proc/{target.pid}/fd"), before)


class FlushedFiles(Harm):
    """A thread that leaves the program's table of descriptors closes copies of them, which asks FUSE to flush files."""

    def serve(self):
        folder, counts = tempfile.mkdtemp(), tempfile.NamedTemporaryFile()
        self.addCleanup(os.rmdir, folder)
        self.addCleanup(counts.close)
        counts.write(bytes(8))
        counts.flush()
        server = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "fuse_server.py"), folder,
                                   counts.name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.addCleanup(ctypes.CDLL(None).umount2, folder.encode(), 2)  # MNT_DETACH
        if server.stdout.readline() != "ready\n":
            self.skipTest("no FUSE here, or no right to mount")
        return os.path.join(folder, "file"), counts.name

    def test_fuse_is_not_asked_to_flush(self):
        path, counts = self.serve()
        with open(path, "rb", buffering=0) as file:
            target = self.target("plain", "idle", stdin=file)
        flushes = lambda: int.from_bytes(pathlib.Path(counts).read_bytes(), sys.byteorder)
        before = flushes()
        self.assertGreater(before, 0, "the server does not count")
        for arguments in ((), ("--unload",)):
            self.attach(target, *arguments)
            self.assertEqual(flushes(), before, arguments)
        self.assert_well(target)

    def test_fuse_that_was_unmounted_lazily(self):
        path, counts = self.serve()
        with open(path, "rb", buffering=0) as file:
            target = self.target("plain", "idle", stdin=file)
        ctypes.CDLL(None).umount2(os.path.dirname(path).encode(), 2)  # MNT_DETACH
        before = int.from_bytes(pathlib.Path(counts).read_bytes(), sys.byteorder)
        self.attach(target)
        self.assertEqual(int.from_bytes(pathlib.Path(counts).read_bytes(), sys.byteorder), before)
        self.assert_well(target)


class OlderKernels(Harm):
    """Before Linux 6.9 a descriptor can be taken from a first thread only, as here limpet is told."""

    def options(self):
        return {"preexec_fn": refuse_thread_descriptors}

    def test_the_socket_leaves_the_program(self):
        target = self.target("numbers", "idle")
        before = os.listdir(f"/proc/{target.pid}/fd")
        process = harness.limpet_start("attach", target.pid, "--json", "--load", TOOL_PROBE, **self.options())
        self.addCleanup(self.end_process, process)
        self.assertIsNotNone(harness.attached_wait(process), "not attached")
        self.assertEqual(os.listdir(f"/proc/{target.pid}/fd"), before)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(harness.limpet_finish(process).code, 0)
        self.assert_well(target)

    def test_a_daemon_without_the_first_three(self):
        target = self.target("numbers", "bare")
        result = limpet("attach", target.pid, "--json", "--duration", "0", **self.options())
        self.assertEqual(result.code, CANNOT, str(result))
        for word in ("0, 1 and 2", "6.9", "/dev/null"):
            self.assertIn(word, result.err)
        self.assert_well(target)


class Masks(Harm):
    """A signal that a wait keeps out by its own mask stays out while we come and go."""

    def assert_kept_out(self, name, counter):
        target = self.target("habits", name)
        for _ in range(3):
            self.assertTrue(target.stats.wait_turn(), "stuck")
            time.sleep(0.13)  # into the middle of the wait
            self.attach(target, codes=(0, BUSY))
        self.assertEqual(target.stats.word(counter), 0, target.stats.detail())

    def test_ppoll_no_early_handler(self):
        self.assert_kept_out("ppoll_masked", "errors")

    def test_pselect_no_early_handler(self):
        self.assert_kept_out("pselect_masked", "errors")


class Interruptions(Harm):
    """An EINTR that a handler made is the program's; without it this one would wait for ever."""

    def assert_kept(self, name):
        target = self.target("interrupted", name)
        for _ in range(ATTACHES):
            self.attach(target)
        self.assert_well(target)
        before, hits, after = map(target.stats.word, ("turns", "signals_received", "turns"))
        self.assertTrue(before - 1 <= hits <= after + 1, (before, hits, after))

    def test_epoll(self):
        self.assert_kept("epoll")

    def run_unseen(self, target):
        """As if the thread had been running whenever limpet looked, and had entered its call since."""
        log = os.path.join(self.folder(), "log")
        result = harness.limpet_finish(self.traced_run(
            target, log, "-P", f"/proc/{target.pid}/task/{target.pid}/syscall", "-e", "trace=openat",
            "-e", "inject=openat:error=EACCES:when=1..3"))
        self.assertEqual(result.code, 0, str(result))

    def test_calls_entered_since_the_last_look(self):
        """They are issued again: nobody but us has interrupted them."""
        for program, name in (("calls", "epoll"), ("waits", "io_getevents")):
            with self.subTest(name):
                target = self.target(program, name)
                self.run_unseen(target)
                self.assert_well(target)

    def test_handlers_since_the_last_look(self):
        for name in ("recv", "recv_altstack", "io_getevents", "io_getevents_altstack"):
            with self.subTest(name):
                target = self.target("interrupted", name)
                self.run_unseen(target)
                self.assert_well(target)


class ErrorsThatStay(Harm):
    """recvmmsg that a stop ends after its first message leaves the kernel's ERESTARTSYS on the socket, for the next."""

    def test_recvmmsg_with_a_message(self):
        target = self.target("transfers", "recvmmsg_many")
        for _ in range(20):
            self.attach(target)
        self.assert_well(target)


class KilledInjector(Harm):
    """Killed between the writing of the region and the start of a thread: nobody is at home."""

    def setUp(self):
        self.plain = self.target("plain", "idle")
        self.attach(self.plain)
        self.log = os.path.join(self.folder(), "log")

    def killed_at(self, call, number):
        process = self.traced_run(self.plain, self.log, "-e",
                                  f"inject={call}:signal=SIGKILL:when={number}")
        self.assertFalse(harness.limpet_finish(process).hung)
        return "+++ killed by SIGKILL" in self.calls()

    def calls(self):
        with open(self.log) as file:
            return file.read()

    def first_injector(self):
        """Its calls alone: another one tells libc at the end that the program has one thread again."""
        lines = self.calls().splitlines()
        number = next(line.split()[0] for line in lines if "ptrace(" in line)
        return "\n".join(line for line in lines if line.split()[0] == number)

    def assert_attachable(self, where):
        result = self.attach(self.plain)
        self.assertTrue(result.event("attached")["reattach"], where)
        self.assert_well(self.plain)

    def test_at_each_write(self):
        number = 1
        while self.killed_at("pwrite64", number):
            self.assert_attachable(f"write {number}")
            number += 1
        self.assertGreater(number, 1)

    def test_right_after_the_last_write_of_the_region(self):
        counts = []
        for _ in range(3):  # on a busy machine a run may have to try another thread, with calls of its own
            harness.limpet_finish(self.traced_run(self.plain, self.log))
            # The very last one puts back what the emergency frame covered.
            calls = self.first_injector()
            counts.append(calls.rpartition("pwrite64(")[0].rpartition("pwrite64(")[0].count("ptrace("))
        before = min(counts)
        for number in range(before + 1, before + 4):
            self.assertTrue(self.killed_at("ptrace", number))
            self.assert_attachable(f"ptrace {number}")


class SignalsOfTheKilled(Harm):
    """A signal that is on its way to the thread arrives, also when the injector dies with it in its hands."""

    PAUSE_US = 5000  # in each call of the injector's: the program gets ten signals meanwhile
    CALLS = 6  # seize, interrupt, handing on a signal, and a few

    def killed_at(self, number):
        """False where limpet gave up before: its own clock may interrupt a call that kill_at has not seen yet."""
        result = subprocess.run(
            [harness.program("kill_at"), "limpet-injector", str(number), harness.LIMPET, "attach",
             str(self.queued.pid), "--json", "--duration", "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            timeout=harness.PATIENCE_S, env={**os.environ, "KILL_AT_PAUSE_US": str(self.PAUSE_US)})
        if result.returncode == 77:
            self.skipTest("no seccomp filters with a listener here")
        self.output = result.stdout + result.stderr
        return "not killed" not in result.stdout

    def assert_next_signal_is_next(self):
        """Of a lost one only the next one tells."""
        wanted = self.queued.stats.word("signals_sent") + 1
        came = lambda: self.queued.stats.word("signals_received") >= wanted
        self.assertTrue(harness.wait_until(came), "no signals come any more")
        self.assert_well(self.queued)

    def test_at_each_call(self):
        self.queued = self.target("signals", "altstack")
        for number in range(1, self.CALLS + 1):
            with self.subTest(call=number):
                self.assertTrue(harness.wait_until(lambda: self.killed_at(number)), self.output)
                self.assert_next_signal_is_next()


class Critical(Harm):
    """Moments in which a thread is not to be touched; half of the program's time, or all of it."""

    ROUNDS = 10

    def assert_unharmed(self, name):
        target = self.target("critical", name)
        attached = lambda: self.attach(target, codes=(0, BUSY)).code == 0
        for _ in range(self.ROUNDS):
            self.assertTrue(harness.wait_until(attached), "never at a moment when it may be touched")
            self.assert_well(target)

    def test_restartable_sequences(self):
        self.assert_unharmed("sequence")

    def test_calls_that_are_dispatched_to_the_program(self):
        self.assert_unharmed("dispatch")

    def test_a_handler_in_the_middle_of_the_stack(self):
        self.assert_unharmed("handler")

    def test_a_coroutine_in_the_middle_of_the_stack(self):
        self.assert_unharmed("coroutine")


class OneThread(Harm):
    """Programs for which libc works without locks, and which say so."""

    def is_single(self, target):
        return target.stats.word("signals_received") == 1

    def target_alone(self, program, workload, **options):
        if not os.path.exists(harness.program(program)):
            self.skipTest("a libc that does not say whether it takes locks")
        target = self.target(program, workload, **options)
        self.assertTrue(harness.wait_until(lambda: self.is_single(target)))
        return target


class LocksOfLibc(OneThread):
    """libc works without locks again, in whatever way limpet leaves."""

    def leave(self, workload, act, *arguments):
        target = self.target_alone("single", workload)
        process = harness.limpet_attached(*(argument if argument != "PID" else target.pid for argument in arguments))
        self.assertTrue(harness.wait_until(lambda: not self.is_single(target)), "libc takes no locks beside limpet")
        act(target, process)
        result = harness.limpet_finish(process)
        self.assertTrue(harness.wait_until(lambda: self.is_single(target), 3), f"libc takes locks for ever: {result}")
        self.assertNotIn("glibc's locks", str(result))
        self.assert_well(target)

    def test_under_a_filter(self):
        for unload in ((), ("--unload",)):
            self.leave("filtered", lambda target, process: process.send_signal(signal.SIGINT),
                       "attach", "PID", "--json", *unload)

    @unittest.skipIf(os.geteuid() or not shutil.which("chrt"), "needs root and chrt")
    def test_where_a_processor_is_busy(self):
        """limpet's thread waits behind another program for 20 ms; the target, more urgent than both, must not go on before it."""
        pinned = ("taskset", "--cpu-list", str(min(os.sched_getaffinity(0))), "chrt", "--fifo")
        busy = subprocess.Popen([*pinned, "1", sys.executable, "-c", HOLD_PROCESSOR])
        self.addCleanup(self.end_process, busy)
        target = self.target_alone("single", "beside", before=(*pinned, "--reset-on-fork", "2"))
        for _ in range(BUSY_ATTACHES):
            result = harness.limpet("attach", target.pid, "--json", "--duration", "0", "--unload")
            self.assertEqual(result.code, 0, str(result))
            self.assert_well(target)
        self.assertIsNone(busy.poll(), "no other program was there")

    def test_where_the_program_gives_up_rights(self):
        for workload in ("user", "filter"):
            with self.subTest(workload=workload):
                self.leave(workload, lambda target, process: os.kill(target.pid, signal.SIGUSR1), "attach", "PID", "--json")

    def test_where_the_program_gives_up_rights_while_it_is_recorded(self):
        def act(target, process):
            os.kill(target.pid, signal.SIGUSR1)
            self.assertTrue(harness.wait_until(lambda: target.stats.word("signals_sent") == 1))
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)

        with tempfile.TemporaryDirectory() as folder:
            self.leave("user", act, "record", "-p", "PID", "-o", f"{folder}/r.limpet", "--json", "--alloc-trace")


    def test_after_limpet_was_killed(self):
        target = self.target_alone("single", "user")
        process = harness.limpet_attached("attach", target.pid, "--json")
        self.assertTrue(harness.wait_until(lambda: not self.is_single(target)))
        process.kill()
        harness.limpet_finish(process)
        self.assertTrue(harness.wait_until(lambda: harness.thread_count(target.pid) == 1))
        self.attach(target)
        self.assertTrue(harness.wait_until(lambda: self.is_single(target), 3), "libc takes locks for ever")
        self.assert_well(target)

    @unittest.skipIf(platform.machine() != "x86_64", "a thread pointer is set by a system call on x86-64 only")
    def test_while_the_thread_pointer_leads_elsewhere(self):
        """What lies there is the program's, at whatever offset glibc keeps a word of its own in its block. The next visit gives back."""
        target = self.target_alone("single", "block")
        process = harness.limpet_attached("attach", target.pid, "--json", "--unload")
        self.assertTrue(harness.wait_until(lambda: not self.is_single(target)))
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(harness.wait_until(lambda: target.stats.word("signals_lost") == 1))
        process.send_signal(signal.SIGINT)
        harness.limpet_finish(process)
        self.assertEqual(target.stats.word("signals_sent"), 0, "the program had its own block back before limpet left")
        self.assertTrue(harness.wait_until(lambda: target.stats.word("signals_sent") == 1, 5))
        self.assertEqual(harness.limpet_mappings(target.pid), [])
        self.attach(target, "--unload")
        self.assertTrue(harness.wait_until(lambda: self.is_single(target), 3), "libc takes locks for ever")
        self.assert_well(target)

    def count_locked_files(self, target):
        count = target.stats.word("signals_sent")
        os.kill(target.pid, signal.SIGUSR1)
        self.assertTrue(harness.wait_until(lambda: target.stats.word("signals_sent") > count))
        return target.stats.word("signals_lost")

    def test_work_of_the_stop_has_a_limit(self):
        target = self.target_alone("single", "files")
        self.assertEqual(self.count_locked_files(target), 0)
        self.attach(target)
        self.assertTrue(harness.wait_until(lambda: self.is_single(target)))
        locked = self.count_locked_files(target)
        self.assertGreaterEqual(locked, 2000 - 512, "too many files are told of it while the program is stopped")
        self.assertLess(locked, 2000)

    def test_files_that_always_take_locks(self):
        target = self.target_alone("single", "cookies")
        self.assertEqual(self.count_locked_files(target), 2000)
        self.attach(target)
        self.assertTrue(harness.wait_until(lambda: self.is_single(target)))
        self.assertEqual(self.count_locked_files(target), 2000)


class ForkOfOneThread(OneThread):
    """fork asks once, before the program's handlers, whether there are threads whose locks it must see to."""

    def test_heap_of_a_child_whose_fork_began_before(self):
        for _ in range(3):
            target = self.target_alone("single", "fork")
            os.kill(target.pid, signal.SIGUSR1)
            self.assertTrue(harness.wait_until(lambda: target.stats.word("signals_sent") == 1))
            process = harness.limpet_attached("attach", target.pid, "--json", "--duration", "0", "--load",
                                              harness.program("churn.so"))
            self.assertTrue(harness.wait_until(lambda: target.stats.word("signals_sent") == 2), target.stats.detail())
            self.assertEqual(harness.limpet_finish(process).code, 0)
            self.assert_well(target)


class KernelWorkers(OneThread):
    """Threads that the kernel makes for io_uring are listed among the program's."""

    def assert_unseen(self, workload):
        target = self.target_alone("uring", workload)
        with tempfile.TemporaryDirectory() as folder:
            process = harness.limpet_attached("record", "-p", target.pid, "-o", f"{folder}/r.limpet", "--json",
                                              "--alloc-trace", "--unload")
            self.assertTrue(harness.wait_until(lambda: not self.is_single(target)), "libc takes no locks beside limpet")
            process.send_signal(signal.SIGINT)
            result = harness.limpet_finish(process)
        self.assertNotIn("stays", str(result))
        self.assertEqual(harness.limpet_mappings(target.pid), [], str(result))
        self.assertTrue(harness.wait_until(lambda: self.is_single(target)), "libc takes locks for ever")
        self.assert_well(target)

    def test_worker_of_io_uring(self):
        self.assert_unseen("worker")

    def test_thread_that_polls_for_io_uring(self):
        self.assert_unseen("poller")


class Names(Harm):
    def test_a_tool_that_renames_our_thread(self):
        target = self.target("plain", "idle")
        process = self.start(target, "--load", TOOL_RENAME)
        status = limpet("status", target.pid, "--json").event("status")
        self.assertEqual((status["state"], status["holder"]), ("attached", process.pid))
        second = self.attach(target, codes=(BUSY,))
        self.assertIn(str(process.pid), second.err)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(harness.limpet_finish(process).code, 0)
        self.assert_well(target)


class Stopped(Harm):
    """SIGSTOP that comes while the thread is in our hand still stops the process."""

    DELAY_US = 300_000
    FIRST = 4  # of the ptrace calls that are made in the stop
    LAST = 3  # the same, from the end

    def setUp(self):
        self.log = os.path.join(self.folder(), "log")
        self.plain = self.target("plain", "idle")

    def state(self):
        return harness.status_of(self.plain.pid).get("State", "?")[0]

    def is_traced(self):
        return harness.status_of(self.plain.pid).get("TracerPid", "0") != "0"

    def calls_count(self):
        """How many ptrace calls an attach takes here, after the first one."""
        self.attach(self.plain)
        self.assertEqual(harness.limpet_finish(self.traced_run(self.plain, self.log)).code, 0)
        with open(self.log) as file:
            return file.read().count("ptrace(PTRACE_")

    def stop_at(self, number):
        """Slows down one ptrace call, and sends the signal there."""
        process = self.traced_run(self.plain, self.log, "-e",
                                  f"inject=ptrace:delay_enter={self.DELAY_US}:when={number}")
        self.assertTrue(harness.wait_until(lambda: self.is_traced() or process.poll() is not None))
        time.sleep(self.DELAY_US / 3e6)
        os.kill(self.plain.pid, signal.SIGSTOP)
        is_stopped = harness.wait_until(lambda: self.state() == "T")
        self.assertFalse(harness.limpet_finish(process).hung, "limpet hangs")
        self.assertTrue(is_stopped, f"SIGSTOP was lost: {self.state()}")
        self.assertEqual(self.state(), "T")

    def assert_goes_on(self):
        os.kill(self.plain.pid, signal.SIGCONT)
        self.assertTrue(self.plain.alive(), self.plain.fate())
        self.assertTrue(self.plain.stats.wait_turn(), "stuck")
        self.attach(self.plain)

    def test_anywhere_in_the_stop(self):
        count = self.calls_count()
        for number in (self.FIRST, count // 2, count - self.LAST):
            with self.subTest(ptrace=number):
                self.stop_at(number)
                self.assert_goes_on()


class Holders(Harm):
    def test_a_holder_that_is_no_limpet_gets_no_signal(self):
        target = self.target("plain", "idle")
        holder = subprocess.Popen([harness.program("holder"), str(target.pid)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_process, holder)
        self.assertEqual(holder.stdout.readline(), "ready\n")
        for arguments in ((), ("--unload",)):
            result = limpet("detach", target.pid, "--json", *arguments)
            self.assertEqual(result.code, BUSY, str(result))
            self.assertIn(str(holder.pid), result.err)
        self.assertIsNone(holder.poll(), "the holder was ended")
        holder.stdin.close()
        self.assertEqual(holder.wait(harness.PATIENCE_S), 0)
        self.assert_well(target)


if __name__ == "__main__":
    unittest.main()
