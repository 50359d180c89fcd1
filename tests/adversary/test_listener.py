#!/usr/bin/env python3
"""
The listener of the register library gives nobody more than the kernel would: who may not trace a
process does not get in, whatever its user's number is.  And who listens under the name of a process
hears nothing from limpet.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import harness

ADVERSARY = pathlib.Path(os.environ["ADVERSARY"])
REGISTER = pathlib.Path(os.environ["REGISTER"])
SDK = pathlib.Path(os.environ["SDK"])
HER, OTHER = 1234, 1235
LISTENER_WAIT_S = 5  # of wire/listener.h
YAMA = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")


def as_user(uid):
    return ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--bounding-set=-all")


CAPLESS_ROOT = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--clear-groups")
WITH_A_CAPABILITY = ("setpriv", f"--reuid={HER}", f"--regid={HER}", "--clear-groups",
                     "--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service")
OTHER_USER, OTHER_NAMESPACE, UNKNOWN_PEER, OTHER_RIGHTS = (f"refused {i}" for i in (1, 2, 3, 4))
BY_KERNEL = "kernel: Operation not permitted"
ENDED = ("nobody listens", "no offer")  # its thread has other rights than the program, by itself or at this ring


@unittest.skipUnless(os.geteuid() == 0, "needs root to become others")
class ListenerTest(harness.TargetTest):
    @classmethod
    def setUpClass(cls):
        # Where every user may read: the folder of the build may not be such a place.
        cls.folder = tempfile.TemporaryDirectory(prefix="listener-")
        cls.path = pathlib.Path(cls.folder.name)
        os.chmod(cls.path, 0o755)
        shutil.copy(REGISTER, cls.path / "librocprofiler-register.so.0")
        shutil.copy(SDK, cls.path / "librocprofiler-sdk.so.1")
        shutil.copy(harness.LIMPET, cls.path / "limpet")
        for name in ("listener_peer", "listener_target", "listener_impostor"):
            shutil.copy(ADVERSARY / name, cls.path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def start(self, *command, **variables):
        plain = {key: value for key, value in os.environ.items() if not key.startswith("ROCP")}
        process = subprocess.Popen(command, env={**plain, **variables}, text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end_process, process)
        return process

    def listener(self, way="plain", before=(), opted_in=True):
        """A target with the register library in it.  LD_PRELOAD goes to it only, not to setpriv."""
        variables = [f"LD_PRELOAD={self.path}/librocprofiler-register.so.0"]
        if opted_in:
            variables.append("ROCP_TOOL_ATTACH=1")
        process = self.start(*before, "env", *variables, str(self.path / "listener_target"), way)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def ring(self, process, *before):
        return subprocess.run([*before, str(self.path / "listener_peer"), str(process.pid)],
                              capture_output=True, text=True,
                              timeout=harness.PATIENCE_S).stdout.strip()

    def attach(self, process, *before):
        command = [*before, str(self.path / "limpet"), "attach", str(process.pid), "--json",
                   "--duration", "0"]
        return harness.limpet_finish(subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True))

    def attached(self, process, *before):
        result = self.attach(process, *before)
        self.assertEqual(result.code, 0, str(result))
        self.assertIsNone(process.poll())
        return result.event("attached")


class OptIn(ListenerTest):
    def test_nothing_of_it_is_there_unless_asked_for(self):
        target = self.listener(opted_in=False)
        self.assertEqual(harness.thread_count(target.pid), 1)
        links = [os.readlink(f"/proc/{target.pid}/fd/{fd}")
                 for fd in os.listdir(f"/proc/{target.pid}/fd")]
        self.assertFalse([link for link in links if link.startswith("socket:")])
        self.assertEqual(self.ring(target), "nobody listens")
        self.assertEqual(self.attached(target)["way"], "thread")

    def test_a_program_that_drops_rights_lives(self):
        """Its libc ends it when one of its threads, ours among them, cannot do the same."""
        self.assertIsNone(self.listener("drop", opted_in=False).poll())


class WhoMayComeIn(ListenerTest):
    def test_her_own_process(self):
        target = self.listener(before=as_user(HER))
        self.assertEqual(self.ring(target, *as_user(HER)), "in")
        self.assertEqual(self.attached(target, *as_user(HER))["way"], "door")

    def test_root_into_hers(self):
        target = self.listener(before=as_user(HER))
        self.assertEqual(self.ring(target), "in")
        self.assertEqual(self.attached(target)["way"], "door")

    def test_a_stranger(self):
        target = self.listener(before=as_user(HER))
        self.assertEqual(self.ring(target, *as_user(OTHER)), OTHER_USER)
        self.assertEqual(self.attach(target, *as_user(OTHER)).code, 3)

    def test_she_into_a_daemon_of_roots_that_is_her_for_a_while(self):
        target = self.listener("her for a while")
        self.assertIn(self.ring(target, *as_user(HER)), (UNKNOWN_PEER, BY_KERNEL, *ENDED))
        self.assertEqual(self.attach(target, *as_user(HER)).code, 3)

    def test_she_into_hers_that_can_do_more(self):
        target = self.listener(before=WITH_A_CAPABILITY)
        self.assertNotEqual(harness.status_of(target.pid)["CapPrm"], "0" * 16)
        self.assertIn(self.ring(target, *as_user(HER)), (UNKNOWN_PEER, BY_KERNEL, *ENDED))
        refused = self.attach(target, *as_user(HER))
        self.assertEqual(refused.code, 3, str(refused))
        self.assertIn("capabilities that limpet has not", refused.err)

    def test_a_container_on_the_network_of_the_machine(self):
        """uid 0 without capabilities, in namespaces of its own but for the network's."""
        target = self.listener()
        inside = ("unshare", "--pid", "--fork", "--mount", "--ipc", "--uts", *CAPLESS_ROOT)
        self.assertIn(self.ring(target, *inside), (OTHER_NAMESPACE, UNKNOWN_PEER))
        self.assertEqual(self.attached(target)["way"], "door")

    def test_root_without_capabilities(self):
        target = self.listener()
        self.assertIn(self.ring(target, *CAPLESS_ROOT), (UNKNOWN_PEER, BY_KERNEL, "nobody listens"))
        self.assertEqual(self.attach(target, *CAPLESS_ROOT).code, 3)

    def test_peers_of_other_namespaces(self):
        target = self.listener()
        for option in ("--mount", "--pid"):
            self.assertEqual(self.ring(target, "unshare", option, "--fork"), OTHER_NAMESPACE)
        for users in (("--map-root-user",), ()):
            self.assertNotEqual(self.ring(target, "unshare", "--user", *users), "in")

    def test_a_program_that_is_not_dumpable(self):
        target = self.listener("private", before=as_user(HER))
        self.assertNotEqual(self.ring(target, *as_user(HER)), "in")
        refused = self.attach(target, *as_user(HER))
        self.assertEqual(refused.code, 3, str(refused))
        self.assertIn("not dumpable", refused.err)
        self.assertEqual(self.ring(target), "in")  # root may

    @unittest.skipUnless(YAMA.exists() and YAMA.read_text().strip() != "0", "Yama refuses nothing here")
    def test_yama(self):
        target = self.listener(before=as_user(HER))
        self.assertEqual(self.ring(target, *as_user(HER)), BY_KERNEL)


class Refused(ListenerTest):
    def test_limpet_says_why_and_takes_the_other_way(self):
        target = self.listener()
        attached = self.attached(target, "unshare", "--mount")
        self.assertEqual(attached["way"], "thread")
        self.assertIn("mount namespace", attached["listener_refused"])
        self.assertNotIn("listener_refused", self.attached(target))

    def test_a_listener_with_more_rights_than_its_program_ends(self):
        target = self.listener("drop one")
        self.assertIn(self.ring(target), (OTHER_RIGHTS, *ENDED))
        self.assertTrue(harness.wait_until(lambda: harness.thread_count(target.pid) == 1))
        self.assertEqual(self.attached(target)["way"], "thread")

    def held_for(self):
        """For how many seconds the listener hears somebody out who says nothing, in a program that drops rights."""
        target = self.listener("drop one later")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as bell:
            bell.settimeout(harness.PATIENCE_S)
            bell.connect(f"\0limpet-attach-{target.pid}-0".encode())
            begin = time.monotonic()
            time.sleep(0.3)
            target.stdin.write("\n")
            target.stdin.flush()
            self.assertEqual(bell.recv(1), b"")
            held = time.monotonic() - begin
        self.assertTrue(harness.wait_until(lambda: harness.thread_count(target.pid) == 1))
        self.assertIsNone(target.poll())
        return held

    def test_who_rings_and_says_nothing_keeps_no_rights_here(self):
        """On a busy machine a look may be late; without looks the thread stays for five seconds each time."""
        self.assertTrue(any(self.held_for() < LISTENER_WAIT_S - 0.5 for _ in range(3)))

    def test_strangers_who_ring_do_not_keep_limpet_out(self):
        target = self.listener()
        for _ in range(20):
            self.assertEqual(self.ring(target, *as_user(OTHER)), OTHER_USER)
        self.assertEqual(self.attached(target)["way"], "door")


class Impostors(ListenerTest):
    def test_one_whose_number_the_target_has_got(self):
        impostor = self.start(str(self.path / "listener_impostor"))
        number = impostor.stdout.readline().strip()
        if not number.isdigit():
            self.skipTest(number or "it could not listen")
        result = harness.limpet("attach", number, "--json", "--duration", "0")
        impostor.stdin.write("tell\n")
        impostor.stdin.flush()
        self.assertEqual(impostor.stdout.readline(), "heard 0\n", str(result))
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(result.event("attached")["way"], "thread")


if __name__ == "__main__":
    unittest.main()
