#!/usr/bin/env python3
"""
The cooperative listener, where the program asked for it: an ordinary user attaches to her own process
without a stop, and nobody else does; visitors that come together, die, or talk nonsense; programs
that close descriptors and fork.  What adversaries try is in tests/adversary/test_listener.py.
"""

import ctypes
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

from ground import SDK, TESTS, Ground

sys.path.append(os.path.join(os.path.dirname(__file__), "../attach"))
import harness  # noqa: E402
from test_lifecycle import A, FIRST, tool  # noqa: E402
from test_tables import App  # noqa: E402

HER, OTHER = 65534, 65533
MAGIC = 0x6c696d70646f6f72
HELLO = struct.pack("<QIIQQ", MAGIC, 2, 0, 1234, 5678)  # struct listener_hello
OFFER = struct.Struct("<QIIQiI")  # struct listener_offer
PIDFD_GETFD = 438
OPTED_IN = {"ROCP_TOOL_ATTACH": "1"}


def as_user(uid):
    """Without any capability, whoever runs the tests; 0 is root with all that it has here."""
    return () if uid == 0 else ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--bounding-set=-all")


def limpet_as(uid, *arguments):
    return harness.limpet_finish(limpet_start_as(uid, *arguments))


def limpet_start_as(uid, *arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen(
        [*as_user(uid), harness.LIMPET, *map(str, arguments)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True, **options)


def listener_of(pid, number=0):
    """A connection to a process's listener, or None."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect(f"\0limpet-attach-{pid}-{number}")
    except ConnectionRefusedError:
        connection.close()
        return None
    connection.settimeout(harness.PATIENCE_S)
    return connection


def ring(pid):
    """Rings, and takes what is offered: the connection to the agent, before hello is said."""
    listener = listener_of(pid)
    listener.send(HELLO)
    magic, version, refusal, inode, number, _ = OFFER.unpack(listener.recv(1000))
    assert (magic, version, refusal) == (MAGIC, 2, 0)
    process = os.pidfd_open(pid)
    link = socket.socket(fileno=ctypes.CDLL(None).syscall(PIDFD_GETFD, process, number, 0))
    os.close(process)
    assert os.fstat(link.fileno()).st_ino == inode
    link.settimeout(harness.PATIENCE_S)
    return listener, link


def has_listener(pid, number=0):
    connection = listener_of(pid, number)
    if connection:
        connection.close()
    return connection is not None


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root to become others")
class HerOwnProcess(unittest.TestCase):
    def setUp(self):
        reaches = subprocess.run([*as_user(HER), "test", "-x", harness.LIMPET], check=False)
        if reaches.returncode:
            self.skipTest("an ordinary user cannot enter the folder of this build")

    def app(self, workload="gpu", **variables):
        return App(self, workload, before=as_user(HER), **{**OPTED_IN, **variables})

    def attach(self, app, *arguments, uid=HER, code=0):
        result = limpet_as(uid, "attach", app.pid, "--json", "--duration", "0", *arguments)
        self.assertEqual(result.code, code, str(result))
        self.assertIsNone(app.problem())
        return result

    def test_what_the_kernel_forbids_the_listener_does_too(self):
        app = self.app("private")
        result = subprocess.run([*as_user(HER), "cat", f"/proc/{app.pid}/maps"],
                                capture_output=True, text=True)
        self.assertNotEqual(result.returncode, 0)
        self.assertTrue(has_listener(app.pid))
        refused = self.attach(app, code=3)  # EXIT_NOT_PERMITTED
        self.assertIn("not dumpable", refused.err)
        self.assertEqual(self.attach(app, uid=0).event("attached")["method"], "listener")

    def test_her_own_process(self):
        app = self.app()
        attached = self.attach(app).event("attached")
        self.assertEqual(attached["method"], "listener")
        self.assertEqual((attached["pause_ns"], attached["interrupt_ns"], attached["tid"]),
                         (0, 0, 0))

    def test_doctor_and_ps_know_who_may_come(self):
        for workload, code, word in (("gpu", 0, "yes"), ("private", 3, "no")):
            app = self.app(workload)
            self.assertEqual(limpet_as(HER, "doctor", app.pid).code, code)
            lines = [line for line in limpet_as(HER, "ps", "standin_app").out.splitlines()
                     if line.split()[0] == str(app.pid)]
            self.assertIn(f" {word}", lines[0].replace("no:", "no"))

    def test_the_life_of_a_tool(self):
        app = self.app()
        log = f"ROCP_TEST_LOG={app.ground.log}"
        for _ in range(3):
            result = self.attach(app, "--tool", tool("a"), "--env", log)
            self.assertEqual([(each["ok"], each["by_content"])
                              for each in result.event("attached")["tools"]], [(True, False)])
        self.assertEqual(app.ground.log.read_text().splitlines(),
                         FIRST + [A["detach"]] + [A["attach"], A["detach"]] * 2)

    def test_a_thread_and_a_descriptor_stay_as_they_were(self):
        app = self.app()
        self.attach(app, "--tool", tool("a"))
        before = self.marks(app)
        for _ in range(5):
            self.attach(app, "--tool", tool("a"))
        self.assertEqual(self.marks(app), before)
        self.assertIn("rocp-bg-attach", before[0])
        self.assertNotIn("limpet", before[0])

    def marks(self, app):
        names = sorted(pathlib.Path(path, "comm").read_text().strip()
                       for path in pathlib.Path(f"/proc/{app.pid}/task").iterdir())
        return names, sorted(os.listdir(f"/proc/{app.pid}/fd"))

    def test_she_may_unload_her_tools(self):
        app = self.app()
        result = self.attach(app, "--tool", tool("a"), "--unload")
        self.assertEqual(result.event("attached")["method"], "listener")

    def test_root_may_unload_her_tools(self):
        app = self.app()
        result = self.attach(app, "--tool", tool("a"), "--unload", uid=0)
        self.assertEqual(result.event("attached")["method"], "listener")

    def test_not_for_others(self):
        app = self.app()
        refused = self.attach(app, uid=OTHER, code=3)
        self.assertIn("not permitted", refused.err)
        self.assertEqual(self.attach(app).event("attached")["method"], "listener")

    def test_two_at_once(self):
        app = self.app()
        first = limpet_start_as(HER, "attach", app.pid, "--json", stdin=subprocess.PIPE)
        self.assertIsNotNone(harness.attached_wait(first))
        self.attach(app, code=7)  # EXIT_BUSY
        self.assertEqual(harness.limpet_finish_enter(first).code, 0)
        self.assertEqual(self.attach(app).event("attached")["reattach"], True)

    def test_a_host_that_is_killed(self):
        app = self.app()
        log = f"ROCP_TEST_LOG={app.ground.log}"
        host = limpet_start_as(HER, "attach", app.pid, "--json", "--tool", tool("a"), "--env", log)
        self.assertIsNotNone(harness.attached_wait(host))
        os.killpg(host.pid, signal.SIGKILL)
        harness.limpet_finish(host)
        self.assertTrue(harness.wait_until(
            lambda: app.ground.log.read_text().splitlines()[-1:] == [A["detach"]]))
        self.attach(app, "--tool", tool("a"), "--env", log)
        self.assertEqual(app.ground.log.read_text().splitlines()[-2:], [A["attach"], A["detach"]])

    def test_a_target_that_ends_while_attached(self):
        app = self.app()
        host = limpet_start_as(HER, "attach", app.pid, "--json")
        self.assertIsNotNone(harness.attached_wait(host))
        app.process.kill()
        result = harness.limpet_finish(host)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(result.event("detached")["reason"], "exit", str(result))


class Listening(unittest.TestCase):
    """The socket and the thread themselves."""

    def stay(self, sdk=SDK, **variables):
        ground = Ground(sdk)
        self.addCleanup(ground.close)
        process = ground.start(TESTS / "probe", "stay", **{**OPTED_IN, **variables})
        for end in (process.stdin.close, process.stdout.close, process.wait, process.kill):
            self.addCleanup(end)
        self.assertEqual(int(process.stdout.readline()), process.pid)
        return process

    def tell(self, process, byte):
        process.stdin.write(byte)
        process.stdin.flush()

    def attach(self, pid):
        result = harness.limpet("attach", pid, "--json", "--duration", "0")
        self.assertEqual(result.code, 0, str(result))
        return result.event("attached")["method"]

    def helper_of(self, pid):
        for path in pathlib.Path(f"/proc/{pid}/task").iterdir():
            if (path / "comm").read_text() == "rocp-bg-attach\n":
                return path
        return None

    def test_the_thread_blocks_all_signals_but_libcs(self):
        process = self.stay()
        self.assertTrue(harness.wait_until(lambda: self.helper_of(process.pid)))
        blocked = re.search(r"SigBlk:\s*(\w+)", (self.helper_of(process.pid) / "status").read_text())
        # SIGKILL and SIGSTOP cannot be blocked; 32 and 33 are libc's own.
        unblocked = ~int(blocked.group(1), 16) & (1 << 64) - 1
        self.assertEqual(unblocked, 1 << 8 | 1 << 18 | 1 << 31 | 1 << 32)

    def test_switched_off(self):
        for word in ("", "0", "no", "Off", "false"):
            process = self.stay(ROCP_TOOL_ATTACH=word)
            self.assertEqual(len(os.listdir(f"/proc/{process.pid}/task")), 1)
            self.assertFalse(has_listener(process.pid))
            self.assertEqual(self.attach(process.pid), "thread")

    def test_nonsense_is_answered_with_a_closed_connection(self):
        process = self.stay()
        for words in (b"x", b"\0" * 16, b"y" * 4000, HELLO[:-1], HELLO + b"z"):
            listener = listener_of(process.pid)
            listener.send(words)
            answer = listener.recv(1000)
            listener.close()
            self.assertEqual(answer, b"", words)
        self.assertEqual(self.attach(process.pid), "listener")

    def test_an_offer_that_nobody_takes_is_withdrawn(self):
        process = self.stay()
        before = self.sockets(process.pid)
        listener = listener_of(process.pid)
        listener.send(HELLO)
        self.assertEqual(len(listener.recv(1000)), OFFER.size)
        self.assertEqual(listener.recv(1000), b"")
        listener.close()
        self.assertEqual(self.attach(process.pid), "listener")
        self.assertTrue(harness.wait_until(lambda: self.sockets(process.pid) == before))

    def test_nonsense_instead_of_the_second_hello(self):
        process = self.stay()
        for words in (b"x", HELLO[:-1], HELLO + b"z", HELLO[:-1] + b"z"):
            listener, link = ring(process.pid)
            self.assertEqual(link.recv(1000), HELLO)
            link.send(words)
            self.assertEqual(link.recv(1000), b"", words)
            listener.close()
            link.close()
        self.assertEqual(self.attach(process.pid), "listener")

    def test_nonsense_after_the_welcome(self):
        process = self.stay()
        for words in (b"", b"nonsense", b"\0" * 600):
            listener, link = ring(process.pid)
            self.assertEqual(link.recv(1000), HELLO)
            link.send(HELLO)
            self.assertEqual(len(link.recv(1000)), 264)  # struct listener_welcome
            if words:
                link.send(words)
                self.assertEqual(link.recv(1000), b"")
            link.close()
            listener.close()
        self.assertEqual(self.attach(process.pid), "listener")

    def test_a_silent_visitor_is_shown_out(self):
        process = self.stay()
        listener = listener_of(process.pid)
        self.assertEqual(listener.recv(1000), b"")
        listener.close()
        self.assertEqual(self.attach(process.pid), "listener")

    def test_without_an_agent_beside_it_the_other_way_is_taken(self):
        process = self.stay(sdk=None)
        listener, link = ring(process.pid)
        link.recv(1000)
        link.send(HELLO)
        welcome = link.recv(1000)
        link.close()
        self.assertLess(struct.unpack_from("<i", welcome, 12)[0], 0)
        self.assertIn(b"librocprofiler-sdk.so.1", welcome)
        listener.close()
        self.assertEqual(self.attach(process.pid), "thread")

    def test_a_name_that_somebody_has_taken(self):
        """Whoever sits on the name, the next is used; and nobody is taken for the target."""
        ground = Ground(SDK)
        self.addCleanup(ground.close)
        squatter = None
        for _ in range(200):  # until the next process number is the one that we have taken
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as squatter:
                try:
                    squatter.bind(f"\0limpet-attach-{pid + 1}-0")
                except OSError:  # a program of another test is already there
                    continue
                squatter.listen()
                process = ground.start(TESTS / "probe", "stay", **OPTED_IN)
                process.stdout.readline()
                try:
                    if process.pid != pid + 1:
                        continue
                    self.assertTrue(has_listener(process.pid, 1))
                    self.assertEqual(self.attach(process.pid), "listener")
                    return
                finally:
                    process.kill()
                    process.wait()
                    process.stdin.close()
                    process.stdout.close()
        self.skipTest("process numbers are too restless here")

    def test_a_program_that_closes_everything(self):
        process = self.stay()
        for _ in range(2):
            before = self.sockets(process.pid)
            self.assertEqual(len(before), 1)
            self.tell(process, "c")
            self.assertTrue(harness.wait_until(lambda: self.sockets(process.pid) - before))
            self.assertTrue(harness.wait_until(lambda: has_listener(process.pid)))
            self.assertFalse(before & self.sockets(process.pid))
            self.assertEqual(self.attach(process.pid), "listener")
            self.assertTrue(harness.wait_until(lambda: len(self.sockets(process.pid)) == 1))
            time.sleep(2)  # a program that does it again and again is not served at once

    def sockets(self, pid):
        found = set()
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
            except FileNotFoundError:
                pass
        return {name for name in found if name.startswith("socket:")}

    def fork(self, process):
        self.tell(process, "f")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        self.assertTrue(harness.wait_until(children.read_text))
        child = int(children.read_text())
        self.addCleanup(os.kill, child, signal.SIGKILL)
        return child

    def test_a_child_of_fork_has_neither_thread_nor_socket(self):
        process = self.stay()
        # Seen without connecting: whom it lets in just now holds up a fork for a second at most.
        self.assertEqual(len(self.sockets(process.pid)), 1)
        child = self.fork(process)
        self.assertTrue(harness.wait_until(lambda: not self.sockets(child)))
        self.assertEqual(len(os.listdir(f"/proc/{child}/task")), 1)
        self.assertEqual(self.attach(child), "thread")
        self.assertEqual(self.attach(process.pid), "listener")

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_a_child_born_while_a_host_is_let_in_has_no_socket(self):
        """The listener's thread has just taken the host's connection, and a slow call keeps it from noting so."""
        process = self.stay()
        (listening,) = self.sockets(process.pid)
        self.assertTrue(harness.wait_until(lambda: self.helper_of(process.pid)))
        thread = int(self.helper_of(process.pid).name)
        strace = subprocess.Popen(["strace", "-p", str(thread), "-o", "/dev/null", "-e", "trace=fcntl",
                                   "-e", "inject=fcntl:delay_exit=100000"], stderr=subprocess.DEVNULL)
        self.addCleanup(strace.wait)
        self.addCleanup(strace.terminate)
        self.assertTrue(harness.wait_until(lambda: f"TracerPid:\t{strace.pid}" in pathlib.Path(f"/proc/{thread}/status").read_text()))
        with listener_of(process.pid):
            self.assertTrue(harness.wait_until(lambda: self.sockets(process.pid) - {listening}))
            child = self.fork(process)
            self.assertTrue(harness.wait_until(lambda: not self.sockets(child)))

    def test_a_child_forked_while_attached_does_not_hold_the_host_back(self):
        process = self.stay()
        host = harness.limpet_start("attach", process.pid, "--json", stdin=subprocess.PIPE)
        self.assertIsNotNone(harness.attached_wait(host))
        self.tell(process, "f")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        self.assertTrue(harness.wait_until(children.read_text))
        self.addCleanup(os.kill, int(children.read_text()), signal.SIGKILL)
        self.assertEqual(harness.limpet_finish_enter(host).code, 0)  # the child lives on for ever

    def test_many_visits(self):
        process = self.stay()
        self.assertTrue(has_listener(process.pid))
        for _ in range(100):
            self.assertEqual(self.attach(process.pid), "listener")
        self.assertIsNone(process.poll())


if __name__ == "__main__":
    unittest.main()
