#!/usr/bin/env python3
"""
Tool libraries: by path, by content where the target sees other files, several at once, again after
unloading, broken ones; and the environment that they are given.
"""

import os
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import limpet, Mirror, TargetTest

PROBE, SECOND, LACKING = (
    harness.program(f"tool_{name}.so") for name in ("probe", "second", "lacking"))


class Tools(TargetTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o777)
        self.out = os.path.join(self.folder, "out")

    def attach(self, target, tools, *arguments, code=0):
        result = limpet("attach", target.pid, "--json", "--duration", "0", "--load", tools,
                        "--env", f"LIMPET_TEST_OUT={self.out}", *arguments)
        self.assertEqual(result.code, code, str(result))
        return result

    def seen(self):
        try:
            with open(self.out) as file:
                return [line.split() for line in file]
        except FileNotFoundError:
            return []

    def assert_well(self, target):
        self.assertTrue(target.alive())
        self.assertTrue(target.stats.wait_turn())
        for name in ("eintr", "corruptions", "errors"):
            self.assertEqual(target.stats.word(name), 0, target.stats.detail())

    def test_a_tool_is_loaded_by_its_path(self):
        target = self.target("plain", "idle")
        result = self.attach(target, PROBE)
        self.assertEqual([line[:3] for line in self.seen()],
                         [["probe", "loaded", f"pid={target.pid}"]])
        path = self.seen()[0][5][len("path="):]
        self.assertEqual(os.path.realpath(path), os.path.realpath(PROBE))
        self.assertEqual([tool["ok"] for tool in result.event("attached")["tools"]], [True])
        self.assert_well(target)

    def test_a_tool_runs_on_a_thread_of_its_own(self):
        target = self.target("plain", "idle")
        self.attach(target, PROBE)
        self.assertNotEqual(self.seen()[0][3], f"tid={target.pid}")

    def test_unload_runs_the_destructor(self):
        target = self.target("plain", "idle")
        result = self.attach(target, PROBE, "--unload")
        self.assertEqual([line[1] for line in self.seen()], ["loaded", "unloaded"])
        self.assertTrue(result.event("detached")["unloaded"], str(result))
        self.assert_well(target)

    def test_loaded_again_after_unload(self):
        target = self.target("plain", "idle")
        for _ in range(3):
            self.attach(target, PROBE, "--unload")
        self.assertEqual([line[1] for line in self.seen()], ["loaded", "unloaded"] * 3)

    def test_two_tools_at_once(self):
        target = self.target("plain", "idle")
        result = self.attach(target, f"{PROBE}:{SECOND}")
        self.assertEqual([line[0] for line in self.seen()], ["probe", "second"])
        self.assertEqual(len(result.event("attached")["tools"]), 2)

    def test_two_tools_one_after_the_other_get_the_same_descriptor_number(self):
        """glibc takes a path that it knows for the library it knows, whatever lies there now."""
        target = self.target("confined", "namespaces")
        for tool in (PROBE, SECOND, PROBE):
            result = self.attach(target, self.private_copy(tool))
            self.assertTrue(result.event("attached")["tools"][0]["ok"], str(result))
        names = {os.path.basename(line.split()[-1]) for line in self.maps(target)
                 if "memfd:" in line or "tool_" in line}
        self.assertGreaterEqual(len(self.loaded_texts(target)), 2, names)

    def maps(self, target):
        with open(f"/proc/{target.pid}/maps") as file:
            return [line.strip() for line in file]

    def loaded_texts(self, target):
        """Which tools' words lie in the target's mapped memfds."""
        found = set()
        for line in self.maps(target):
            if "memfd:" not in line or "limpet-agent" in line:
                continue
            span = line.split()[0]
            with open(f"/proc/{target.pid}/map_files/{span}", "rb") as file:
                text = file.read()
            found |= {name for name in (b"probe", b"second") if name + b"\0" in text}
        return found

    def private_copy(self, tool):
        return shutil.copy(tool, self.folder)

    def test_a_tool_by_content_in_another_mount_namespace(self):
        target = self.target("confined", "namespaces")
        result = self.attach(target, self.private_copy(PROBE))
        self.assertTrue(result.event("attached")["tools"][0]["ok"], str(result))
        path = f"/proc/{target.pid}/root/{self.folder}"
        self.assertFalse(os.path.exists(path), "the test's folder is visible in the namespace")
        self.assertTrue(self.loaded_texts(target))
        self.assert_well(target)

    def test_a_tool_by_content_where_the_programs_user_may_not_open_it(self):
        target = self.target("confined", "other_user")
        hidden = os.path.join(self.folder, "hidden")
        os.mkdir(hidden, 0o700)
        result = self.attach(target, shutil.copy(PROBE, hidden))
        self.assertTrue(result.event("attached")["tools"][0]["ok"], str(result))
        self.assertTrue(result.event("attached")["tools"][0]["by_content"])
        self.assertTrue(self.seen())
        self.assert_well(target)

    def test_a_tool_in_an_empty_root(self):
        target = self.target("confined", "empty_root")
        result = self.attach(target, PROBE)
        self.assertTrue(result.event("attached")["tools"][0]["ok"], str(result))
        self.assert_well(target)

    def assert_tool_fails(self, tool, *words):
        """The words are in the event for programs, and on stderr for people; the target is well."""
        target = self.target("plain", "malloc8")
        result = self.attach(target, tool, code=1)
        told = result.event("attached")["tools"][0]
        self.assertFalse(told["ok"])
        shown = limpet("attach", target.pid, "--duration", "0", "--load", tool)
        self.assertEqual(shown.code, 1, str(shown))
        for word in (os.path.basename(tool), *words):
            self.assertIn(word, told["error"], str(result))
            self.assertIn(word, shown.err, str(shown))
        self.assert_well(target)
        again = limpet("attach", target.pid, "--json", "--duration", "0")
        self.assertEqual(again.code, 0, str(again))

    def assert_tool_refused(self, tool, word):
        """Before a thread is stopped: no thread of limpet's has been there.  With --strict also beside a good tool."""
        target = self.target("plain", "malloc8")
        for words in (("--load", tool), ("--tool", f"{tool}:{tool}"), ("--strict", "--load", f"{PROBE}:{tool}")):
            result = limpet("attach", target.pid, "--json", "--duration", "0", *words)
            self.assertEqual(result.code, 1, str(result))
            self.assertFalse(result.event("attached"), str(result))
            for part in (tool, word, "was not touched", "fix"):
                self.assertIn(part, result.err, str(result))
        self.assertEqual(harness.limpet_mappings(target.pid), [])
        self.assert_well(target)

    def test_a_tool_that_is_not_there(self):
        self.assert_tool_refused("/no/such.so", "No such file")

    def test_a_tool_that_is_no_library(self):
        path = os.path.join(self.folder, "text.so")
        with open(path, "w") as file:
            file.write("this is not an ELF file\n" * 10)
        self.assert_tool_refused(path, "not a shared library")

    def test_a_tool_for_another_machine(self):
        path = shutil.copy(PROBE, os.path.join(self.folder, "other.so"))
        with open(path, "r+b") as file:
            file.seek(18)  # e_machine
            file.write(b"\x02\x00")
        self.assert_tool_refused(path, "another machine")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root to become another user")
    def test_a_process_of_another_user_is_refused_for_that(self):
        """Whatever is wrong with the tool: a readable one would not help."""
        target = self.target("plain", "idle")
        result = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", harness.limpet_for_all(), "attach",
             str(target.pid), "--duration", "0", "--tool", "/no/such.so"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("why: it belongs to root", result.stderr)

    def test_a_tool_that_lacks_a_dependency(self):
        self.assert_tool_fails(LACKING, "liblimpet-test-missing.so")

    def test_a_bad_tool_beside_a_good_one(self):
        target = self.target("plain", "idle")
        result = self.attach(target, f"{LACKING}:{PROBE}", code=1)
        tools = result.event("attached").get("tools", [])
        self.assertEqual([tool["ok"] for tool in tools], [False, True], str(result))
        self.assertEqual([line[0] for line in self.seen()][:1], ["probe"])

    def test_a_bad_tool_with_strict(self):
        target = self.target("plain", "idle")
        result = self.attach(target, f"{LACKING}:{PROBE}", "--strict", code=1)
        self.assertIn("liblimpet-test-missing.so", result.err)
        self.assert_well(target)


class Environment(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "out")
        self.mirror = Mirror("mirror")
        self.addCleanup(self.mirror.close)

    def variables(self, request=b"?"):
        lines = self.mirror.look(request)
        return dict(line[4:].split("=", 1) for line in lines if line.startswith("env "))

    def start(self, *arguments):
        process = harness.limpet_start(
            "attach", self.mirror.pid, "--json", "--load", PROBE, "--env",
            f"LIMPET_TEST_OUT={self.out}", "--env", "LIMPET_TEST_VALUE=a=b c", *arguments,
            stdin=subprocess.PIPE)
        self.assertIsNotNone(harness.attached_wait(process))
        return process

    def end(self, process):
        result = harness.limpet_finish_enter(process)
        self.assertEqual(result.code, 0, str(result))

    def test_variables_are_seen_and_gone(self):
        before = self.variables()
        process = self.start()
        during = self.variables()
        self.assertEqual(during.get("LIMPET_TEST_VALUE"), "a=b c")
        self.end(process)
        self.assertEqual(self.variables(), before)
        with open(self.out) as file:
            self.assertIn("value=a=b c", file.read())

    def test_the_application_sets_one_meanwhile(self):
        before = self.variables()
        process = self.start()
        self.variables(b"s")
        self.end(process)
        self.assertEqual(self.variables(), {**before, "MIRROR_SET": "by the application"})
        self.assertEqual(self.variables(b"u"), before)

    def test_the_application_unsets_one_meanwhile(self):
        self.variables(b"s")
        process = self.start()
        self.variables(b"u")
        self.end(process)
        after = self.variables()
        self.assertNotIn("MIRROR_SET", after)
        self.assertNotIn("LIMPET_TEST_VALUE", after)

    def test_a_variable_that_the_application_has_too(self):
        self.variables(b"s")
        process = self.start("--env", "MIRROR_SET=by limpet")
        self.assertEqual(self.variables()["MIRROR_SET"], "by limpet")
        self.end(process)
        self.assertEqual(self.variables()["MIRROR_SET"], "by the application")

    def test_again_and_again(self):
        before = self.variables()
        for _ in range(10):
            self.end(self.start())
        self.assertEqual(self.variables(), before)


if __name__ == "__main__":
    unittest.main()
