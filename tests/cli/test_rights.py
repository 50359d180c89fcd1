#!/usr/bin/env python3
"""
What sampling gets with exactly some rights, and what is said about it: by `limpet doctor`, and in the same words by
`limpet record`.

Environment: LIMPET is the executable under test, PROGRAMS the folder with spinner.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

import harness  # noqa: E402
from harness import LIMPET, PROGRAMS  # noqa: E402

SOMEBODY, ANOTHER = 65534, 65533


def become(user, *capabilities):
    """As this user, with these capabilities and no others."""
    some = ",".join(["-all", *(f"+{name}" for name in capabilities)])
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", f"--inh-caps={some}",
            f"--ambient-caps={some}", f"--bounding-set={some}"]


def without_switches(reasons):
    """How often threads switch is known only while they are sampled: on a busy machine these do so often."""
    return "".join(line for line in reasons.splitlines(True) if "threads got a processor more than" not in line)


@unittest.skipIf(os.geteuid() or not shutil.which("setpriv"), "needs root and setpriv, to become other users")
class Rights(unittest.TestCase):
    """Programs lie where every user may run them."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="rights-")
        os.chmod(cls.folder, 0o777)
        for path in (LIMPET, os.path.join(PROGRAMS, "spinner")):
            shutil.copy(path, cls.folder)
        cls.target = subprocess.Popen([*become(SOMEBODY), os.path.join(cls.folder, "spinner")])
        harness.wait_until(lambda: harness.thread_count(cls.target.pid) == 3)

    @classmethod
    def tearDownClass(cls):
        cls.target.kill()
        cls.target.wait()
        shutil.rmtree(cls.folder)

    count = 0

    def limpet(self, rights, *arguments):
        result = subprocess.run(
            [*rights, os.path.join(self.folder, "limpet"), *map(str, arguments)], capture_output=True, text=True,
            stdin=subprocess.DEVNULL, cwd="/", timeout=2 * harness.PATIENCE_S)
        return result, [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]

    def record(self, rights, *options):
        """With enough samples, however busy the machine is; of states of threads there are few."""
        self.count += 1
        path = os.path.join(self.folder, f"{self.id()}-{self.count}.limpet")
        for duration in ("500ms", "4s", "16s"):
            result, events = self.limpet(
                rights, "record", "-p", self.target.pid, "-F", "999", "--duration", duration, "-o", path, "--json",
                *options)
            recorded = [event for event in events if event["event"] == "recorded"][0]
            if recorded["samples"] >= (1 if recorded["sampler"] == "state" else 100):
                break
        return result, recorded, path

    def examine(self, rights, *options):
        """What doctor says of the process; record must come to the same."""
        result, events = self.limpet(rights, "doctor", self.target.pid, "--json")
        told = [event for event in events if event["event"] == "sampling" and event.get("pid") == self.target.pid]
        self.assertEqual(len(told), 1, result.stdout + result.stderr)
        result, recorded, path = self.record(rights, *options)
        if not options:
            self.assertEqual(told[0]["no_better_sampler"], without_switches(recorded["no_better_sampler"]))
            for line in told[0]["no_better_sampler"].splitlines():
                self.assertIn(f"note: {line}", result.stderr)
        self.assertEqual(told[0]["sampler"], recorded["sampler"])
        text, _ = self.limpet(rights, "doctor", self.target.pid)
        self.assertIn(f"sampling {self.target.pid}: {told[0]['sampler']}: ", text.stdout)
        return told[0], recorded, path

    def test_all_rights(self):
        told, recorded, _ = self.examine([])
        if told["works"] != "yes":
            self.skipTest(told["no_better_sampler"])
        self.assertEqual(told["sampler"], "bpf")
        self.assertGreater(recorded["complete_percent"], 90)

    def test_the_same_user_without_capabilities(self):
        told, recorded, path = self.examine(become(SOMEBODY))
        self.assertEqual(told["works"], "partly")
        self.assertIn("limpet doctor --setup", told["no_better_sampler"])
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            level = int(file.read())
        if told["sampler"] != "copy":
            self.assertGreaterEqual(level, 3)
            self.assertIn("sudo sysctl kernel.perf_event_paranoid=2", told["no_better_sampler"])
            return
        self.assertGreater(recorded["samples"], 0)
        if level == 2:
            self.assertIn("sudo sysctl kernel.perf_event_paranoid=1", told["no_better_sampler"])
        self.assertIn("spin_leaf", self.limpet([], "report", path)[0].stdout)

    def test_another_user(self):
        told, recorded, _ = self.examine(become(ANOTHER), "--sampler", "state")
        self.assertEqual((told["sampler"], told["works"]), ("state", "partly"))
        for words in ("CAP_BPF and CAP_PERFMON are missing", "perf_event_open: Permission denied",
                      "or: limpet doctor --setup", "no stacks"):
            self.assertIn(words, told["no_better_sampler"])
        self.assertEqual(recorded["complete_percent"], 0)
        self.assertTrue(all(one["fix"].startswith("--sampler bpf or copy") for one in recorded["incomplete_stacks"]))

    def test_another_user_is_refused_before_a_file_is_made(self):
        """States of threads alone are no profile; a user who wants them names the sampler."""
        path = os.path.join(self.folder, "refused.limpet")
        for verb in (["record", "-p", self.target.pid, "-o", path],
                     ["push", "http://127.0.0.1:9", "-p", self.target.pid],
                     ["top", self.target.pid, "--batch"]):
            result, _ = self.limpet(become(ANOTHER), *verb, "--duration", "500ms")
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(result.stdout, "")
            self.assertNotIn("note:", result.stderr)
            for words in ("its stacks cannot be read", f"belongs to uid {SOMEBODY}", f"as uid {ANOTHER}",
                          "or: limpet doctor --setup"):
                self.assertIn(words, result.stderr)
        self.assertFalse(os.path.exists(path))

    def test_two_capabilities_and_no_more(self):
        if self.examine([])[0]["sampler"] != "bpf":
            self.skipTest("kernel programs cannot be loaded here")
        told, recorded, path = self.examine(become(ANOTHER, "perfmon", "bpf"))
        if told["sampler"] != "bpf":  # reading the mappings of others needs more in older kernels
            self.assertIn("maps", told["no_better_sampler"])
            return
        self.assertGreater(recorded["complete_percent"], 90)
        self.assertIn("spin_leaf", self.limpet([], "report", path)[0].stdout)
        self.assertEqual(self.examine(become(SOMEBODY, "perfmon", "bpf"))[0]["sampler"], "bpf")


if __name__ == "__main__":
    unittest.main()
