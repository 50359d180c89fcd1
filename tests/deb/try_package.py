#!/usr/bin/env python3
"""
Unpacks the Debian package and uses what is in it: try_package.py PACKAGE.deb

The command and the C API against a live program, the manual, the completions, and what the package says of
itself.  Environment: PROGRAMS has spinner.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import progress  # noqa: E402, F401

PACKAGE = sys.argv.pop(1) if len(sys.argv) > 1 else None


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="limpet-deb-")
        subprocess.run(["dpkg", "-x", PACKAGE, cls.root], check=True)
        cls.target = subprocess.Popen([os.path.join(os.environ["PROGRAMS"], "spinner")])

    @classmethod
    def tearDownClass(cls):
        cls.target.kill()
        cls.target.wait()
        shutil.rmtree(cls.root)

    def path(self, name):
        return os.path.join(self.root, name)

    def limpet(self, *arguments):
        result = run(self.path("usr/bin/limpet"), *arguments, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_what_it_holds(self):
        for name in (
                "usr/bin/limpet", "usr/bin/rocprofv3", "usr/bin/rocprof-compute", "usr/bin/rocprof-attach", "usr/lib/liblimpet.so.0",
                "usr/lib/librocprofiler-register.so.0", "usr/lib/librocprofiler-sdk.so.1", "usr/lib/pkgconfig/limpet.pc",
                "usr/include/limpet/limpet.h", "usr/share/man/man1/limpet-record.1.gz",
                "usr/share/man/man3/limpet.3.gz", "usr/share/bash-completion/completions/limpet",
                "usr/share/zsh/site-functions/_limpet", "usr/share/fish/vendor_completions.d/limpet.fish",
                "usr/share/doc/limpet/copyright", "usr/share/doc/limpet/README.md",
                "usr/share/doc/limpet/changelog.Debian.gz"):
            self.assertTrue(os.path.exists(self.path(name)), name)

    def test_what_it_says_of_itself(self):
        fields = run("dpkg-deb", "-f", PACKAGE).stdout
        version = self.limpet("--version").split()[1]
        self.assertIn(f"Version: {version}-1\n", fields)
        self.assertIn("Depends: libc6 (>= ", fields)
        with open(self.path("usr/share/doc/limpet/copyright"), encoding="utf-8") as file:
            text = file.read()
        self.assertRegex(text, r"(?m)^Copyright: \S")
        self.assertIn("AS IS", text)

    def test_its_sums_are_right(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["dpkg-deb", "-e", PACKAGE, folder], check=True)
            result = run("md5sum", "--check", "--quiet", os.path.join(folder, "md5sums"), cwd=self.root)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_the_command_records(self):
        path = os.path.join(self.root, "it.limpet")
        self.limpet("record", "-p", self.target.pid, "--duration", "1s", "-F", "499", "-o", path)
        self.assertIn("spin_leaf", self.limpet("report", path))

    @unittest.skipIf(os.geteuid(), "needs root")
    def test_the_command_needs_nothing_else(self):
        result = run("chroot", self.root, "/usr/bin/limpet", "--version")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_program_is_built_with_it(self):
        program = self.path("attach_test")
        environment = {**os.environ, "PKG_CONFIG_PATH": self.path("usr/lib/pkgconfig"),
                       "PKG_CONFIG_SYSROOT_DIR": self.root}
        flags = run("pkg-config", "--cflags", "--libs", "limpet", env=environment, check=True).stdout.split()
        subprocess.run(
            ["cc", self.path("usr/share/doc/limpet/examples/attach_test.c"), "-o", program, *flags], check=True)
        result = run(program, self.target.pid, 1, env={**os.environ, "LD_LIBRARY_PATH": self.path("usr/lib")})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("spin_hot", result.stdout)

    def test_the_front_ends(self):
        self.assertEqual(run(self.path("usr/bin/rocprofv3"), "--version").returncode, 0)

    def test_the_manual_can_be_read(self):
        for folder in ("man1", "man3"):
            path = self.path(f"usr/share/man/{folder}")
            for name in os.listdir(path):
                result = run("man", "--warnings", "-l", os.path.join(path, name), env={**os.environ, "MANWIDTH": "100"})
                self.assertEqual((result.returncode, result.stderr), (0, ""), name)

    def test_completions_are_scripts(self):
        self.assertEqual(run("bash", "-n", self.path("usr/share/bash-completion/completions/limpet")).stderr, "")

    @unittest.skipIf(os.geteuid(), "needs root")
    def test_it_can_be_installed_and_removed(self):
        """Into a root of its own, with a database of its own; its dependencies are this machine's."""
        root = tempfile.mkdtemp(prefix="limpet-root-")
        self.addCleanup(shutil.rmtree, root)
        os.makedirs(os.path.join(root, "var/lib/dpkg/info"))
        os.makedirs(os.path.join(root, "var/lib/dpkg/updates"))
        for name in ("status", "available"):
            open(os.path.join(root, "var/lib/dpkg", name), "w", encoding="ascii").close()
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless"]
        result = run(*dpkg, "-i", PACKAGE)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ii  limpet", run("dpkg", f"--root={root}", "-l", "limpet").stdout)
        result = run(*dpkg, "-r", "limpet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse(os.path.exists(os.path.join(root, "usr/bin/limpet")))


if __name__ == "__main__":
    if not PACKAGE:
        sys.exit("usage: try_package.py PACKAGE.deb")
    unittest.main()
