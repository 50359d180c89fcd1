#!/usr/bin/env python3
"""
Rights: nobody is told to make every user root, and a limpet with capabilities of its file takes no orders from the
variables of whoever starts it.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import LIMPET, PATIENCE_S, Workload, limpet

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOBODY = 65534
SENTENCE = "any user who may run this file can become root on this machine"
CAPABILITIES = "cap_sys_ptrace,cap_dac_override,cap_sys_nice,cap_perfmon,cap_bpf+ep"


class Advice(unittest.TestCase):
    def test_setup(self):
        text = limpet("doctor", "--setup")
        self.assertEqual(text.code, 0, str(text))
        self.assertIn(SENTENCE, text.out)
        self.assertIn("Nothing of this was done", text.out)
        setup, summary = map(json.loads, limpet("doctor", "--setup", "--json").out.splitlines())
        self.assertEqual((setup["event"], summary["exit"], setup["warning"]), ("setup", 0, SENTENCE))
        self.assertTrue(setup["works_without"])
        commands = setup["commands"]
        for command in (*commands, *setup["removal"]):
            self.assertIn(f"  {command}\n", text.out)
        # The copy is the group's alone before it can do anything.
        index = [next(i for i, command in enumerate(commands) if word in command) for word in ("-m 0750", "setcap")]
        self.assertLess(*index)
        self.assertRegex(commands[index[0]], "-o root -g limpet -m 0750 .* /usr/local/bin/limpet-attach$")
        self.assertRegex(commands[index[1]], "/usr/local/bin/limpet-attach$")
        self.assertEqual(limpet("doctor", "--setup", "1").code, 2)

    def test_nobody_advises_more(self):
        texts = [ROOT / "README.md", *ROOT.glob("docs/**/*"), *ROOT.glob("src/host/**/*.c"), *ROOT.glob("compat/**/*.c")]
        for path in (path for path in texts if path.is_file() and path.name != "setup.c" and path.suffix != ".png"):
            self.assertFalse(re.search(r"setcap +cap_", path.read_text()), path)

    @unittest.skipIf(os.geteuid(), "needs root, to be somebody else")
    def test_errors_say_where_it_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(LIMPET, folder)
            done = subprocess.run([copy, "attach", str(os.getpid())], capture_output=True, text=True, user=NOBODY,
                                  group=NOBODY, extra_groups=[], cwd="/", timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("\n  or : limpet doctor --setup\n", done.stderr)


@unittest.skipIf(os.geteuid() or not shutil.which("setcap"), "needs root and setcap")
class Capable(unittest.TestCase):
    """A limpet as --setup makes it, started by nobody."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="setup-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        os.chmod(cls.folder, 0o755)
        cls.limpet = shutil.copy(LIMPET, cls.folder)
        if subprocess.run(["setcap", CAPABILITIES, cls.limpet], capture_output=True).returncode:
            raise unittest.SkipTest("this file system keeps no capabilities")
        cls.target = Workload("plain", "idle")
        cls.addClassCleanup(cls.target.close)

    def setUp(self):
        self.own = tempfile.mkdtemp(dir=self.folder)
        os.chown(self.own, NOBODY, NOBODY)

    def run_it(self, *arguments, **variables):
        return subprocess.run(
            [self.limpet, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, user=NOBODY,
            group=NOBODY, extra_groups=[], cwd=self.own, env={"PATH": os.environ["PATH"], **variables},
            timeout=2 * PATIENCE_S)

    def test_it_has_its_rights(self):
        done = self.run_it("dump", self.target.pid)
        if done.returncode:
            self.skipTest(done.stderr)
        self.assertIn("thread", done.stdout)

    def test_its_user_chooses_no_files(self):
        done = self.run_it("dump", self.target.pid, XDG_CACHE_HOME=self.own, HOME=self.own)
        self.assertNotIn(done.returncode, (-11, -6))
        self.assertEqual(os.listdir(self.own), [])

    def test_its_user_chooses_no_servers(self):
        done = self.run_it("dump", self.target.pid, "--debuginfod", DEBUGINFOD_URLS="http://127.0.0.1:1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("DEBUGINFOD_URLS is not set", done.stderr)

    def test_programs_get_their_variables_and_no_rights(self):
        script = "echo given: $XDG_CACHE_HOME; grep CapEff /proc/self/status; " \
                 "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"
        done = self.run_it("record", "-F", "999", "-o", "x.limpet", "--", "sh", "-c", script, XDG_CACHE_HOME="theirs")
        self.assertIn("given: theirs\n", done.stdout, done.stderr)
        self.assertIn("CapEff:\t0000000000000000\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
