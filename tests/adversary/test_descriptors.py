#!/usr/bin/env python3
"""
A target whose root has no /proc gets libraries by descriptor.  While limpet attaches, loads a tool, or fails, a
thread of the target tries each descriptor that it sees for a way to the host: none may lead anywhere.
"""

import os
import subprocess
import tempfile
import unittest

import harness
from harness import TargetTest, limpet

WALKER = os.path.join(os.environ.get("ADVERSARY", "."), "walker")
PROBE = harness.program("tool_probe.so")
REFUSED = 6
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
NOTHING_CAPTURED = 5


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Descriptors(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.secret = os.path.join(folder.name, "secret")
        with open(self.secret, "w") as file:
            file.write("the host's\n")
        os.environ["SECRET"] = self.secret
        self.addCleanup(os.environ.pop, "SECRET")

    def assert_imprisoned(self, target):
        self.assertTrue(target.alive(), target.fate())
        self.assertTrue(target.stats.wait_turn())
        self.assertEqual(target.stats.word("corruptions"), 0, target.stats.detail())
        self.assertFalse(os.path.exists(self.secret + ".written"))

    def visit(self, name, code, *options):
        target = self.target(WALKER, name)
        for _ in range(3):
            result = limpet("attach", target.pid, "--json", "--duration", "100ms", *options)
            self.assertEqual(result.code, code, str(result))
            self.assert_imprisoned(target)
        return result

    def test_a_container(self):
        self.visit("docker", 0, "--unload")

    def test_a_container_with_a_tool(self):
        result = self.visit("docker", 0, "--load", PROBE)
        self.assertTrue(result.event("attached")["tools"][0]["ok"], str(result))
        self.assertTrue(result.event("attached")["tools"][0]["by_content"], str(result))

    def test_a_container_and_a_tool_that_fails(self):
        self.visit("docker", 1, "--strict", "--tool", harness.program("launched_library.so"))

    def test_a_container_without_any_capability(self):
        result = self.visit("bare", REFUSED)
        self.assertIn("CAP_SYS_CHROOT", result.err)

    def test_a_container_that_may_trace(self):
        self.visit("ptrace", 0)

    def test_a_container_that_is_traced(self):
        target = self.target(WALKER, "docker")
        result = limpet("record", "-p", target.pid, "--io-trace", "-o", self.secret + ".limpet", "--duration", "100ms")
        self.assertIn(result.code, (0, NOTHING_CAPTURED), str(result))
        self.assert_imprisoned(target)

    def test_a_folder_as_root(self):
        self.visit("chrooted", 0, "--unload")
        self.visit("chrooted", 0, "--load", PROBE)

    def attach_as_nobody(self, target, *before):
        process = subprocess.run([*before, harness.LIMPET, "attach", str(target.pid), "--duration", "0"],
                                 capture_output=True, text=True, timeout=harness.PATIENCE_S)
        if process.returncode == 3:
            self.skipTest("here it may not attach at all: " + process.stderr)
        return process

    def test_an_ordinary_user_and_a_sandbox_of_hers(self):
        """Who may not make file systems has a child that may, in namespaces of its own."""
        target = self.target(WALKER, "chrooted", before=(*NOBODY, "unshare", "--map-root-user"))
        process = self.attach_as_nobody(target, *NOBODY)
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assert_imprisoned(target)

    def test_a_limpet_that_may_make_no_file_system(self):
        """Nor a child of it, as here in a folder as root: its user may attach, and is told what is missing."""
        target = self.target(WALKER, "chrooted", before=(*NOBODY, "unshare", "--map-root-user"))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        elsewhere = f'mount --rbind / {folder.name} && exec chroot --userspec=65534:65534 --groups= {folder.name} "$@"'
        process = self.attach_as_nobody(target, "unshare", "--mount", "sh", "-c", elsewhere, "sh")
        self.assertEqual(process.returncode, REFUSED, process.stderr)
        self.assertIn("cannot create the temporary file system", process.stderr)
        self.assertIn("run limpet as root", process.stderr)
        self.assert_imprisoned(target)


if __name__ == "__main__":
    unittest.main()
