#!/usr/bin/env python3
"""
Tools attached from within, by the functions of the register library and limpet's own agent: by the
program itself, by an attacher that calls them on the thread rocp-bg-attach, and tools that are there
from the start.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

from ground import SDK, STANDIN, TESTS, Ground

sys.path.append(os.path.join(os.path.dirname(__file__), "../attach"))
import harness  # noqa: E402
from test_lifecycle import A, B, FIRST, tool  # noqa: E402

SUCCESS, NO_TOOLS, ERROR, INVALID = "0", "1", "6", "8"


class Program:
    """A self_attacher, talked to line by line."""

    def __init__(self, test, *variables, before=(), **environment):
        self.ground = Ground(SDK)
        test.addCleanup(self.ground.close)
        self.tool_log = self.ground.path / "tool.log"
        variables = (f"ROCP_TEST_LOG={self.tool_log}", *variables)
        self.process = self.ground.start(TESTS / "self_attacher", *variables, before=before,
                                         **environment)
        test.addCleanup(self.close)

    def ask(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().rstrip("\n")

    def code(self, words):
        return self.ask(words).split()[0]

    def end(self):
        self.process.stdin.write("exit\n")
        self.process.stdin.flush()
        return self.process.wait(harness.PATIENCE_S)

    def lines(self):
        return self.tool_log.read_text().splitlines() if self.tool_log.exists() else []

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Inside(unittest.TestCase):
    maxDiff = None

    def test_the_whole_sequence(self):
        program = Program(self)
        for i in range(101):
            self.assertEqual(program.code(f"attach {tool('a')}"), SUCCESS)
            self.assertEqual(program.code("detach"), SUCCESS)
        self.assertEqual(program.end(), 0)
        self.assertEqual(program.lines(), FIRST + [A["detach"]]
                         + [A["attach"], A["detach"]] * 100 + [A["finalize"]])

    def test_the_older_name(self):
        program = Program(self)
        self.assertEqual(program.code("reattach"), NO_TOOLS)
        self.assertEqual(program.code(f"attach {tool('a')}"), SUCCESS)
        self.assertEqual(program.code("detach"), SUCCESS)
        self.assertEqual(program.code("reattach"), SUCCESS)
        self.assertEqual(program.lines(), FIRST + [A["detach"], A["attach"]])

    def test_other_tools_the_next_time(self):
        program = Program(self)
        self.assertEqual(program.code(f"attach {tool('a')}"), SUCCESS)
        self.assertEqual(program.code("detach"), SUCCESS)
        self.assertEqual(program.code(f"attach {tool('a')},{tool('b')}"), SUCCESS)
        self.assertEqual(program.lines()[5:], [B["configure"], B["configure_attach"],
                                               B["initialize"], A["attach"], B["attach"]])

    def test_a_broken_tool_is_told_and_the_others_go_on(self):
        program = Program(self)
        answer = program.ask(f"attach {tool('a')}:/nowhere/x.so:{tool('b')}")
        self.assertEqual(answer.split()[0], ERROR)
        self.assertIn("x.so", answer)
        self.assertIn(A["attach"], program.lines())
        self.assertIn("b tool_attach", " ".join(program.lines()))

    def test_an_empty_list(self):
        self.assertEqual(Program(self).code("attach :"), INVALID)

    def test_variables_are_there_while_attached(self):
        program = Program(self, "ROCP_VISIBLE=yes")
        program.code(f"attach {tool('a')}")
        self.assertEqual(program.ask("getenv ROCP_VISIBLE"), "yes")
        self.assertEqual(program.ask("getenv ROCPROFILER_REGISTER_TOOL_ATTACHED"), "1")
        self.assertEqual(program.ask("getenv ROCP_REGISTERED_TOOL_ATTACH"), "1")
        program.code("detach")
        self.assertEqual(program.ask("getenv ROCP_VISIBLE"), "")
        self.assertEqual(program.ask("getenv ROCPROFILER_REGISTER_TOOL_ATTACHED"), "")

    def test_a_runtime_that_comes_while_attached(self):
        program = Program(self)
        self.assertEqual(program.code("register hsa"), NO_TOOLS)
        self.assertEqual(program.code(f"attach {tool('a')}"), SUCCESS)
        self.assertEqual(program.code("register hip"), SUCCESS)
        status = harness.limpet("status", program.process.pid, "--json").event("status")
        self.assertEqual([table["name"] for table in status["tables"]], ["hsa", "hip"])
        self.assertEqual(status["state"], "attached")

    def test_not_while_limpet_is_attached(self):
        program = Program(self)
        self.assertEqual(program.code("register hsa"), NO_TOOLS)
        host = harness.limpet_start("attach", program.process.pid, "--json",
                                    stdin=subprocess.PIPE)
        self.assertIsNotNone(harness.attached_wait(host))
        answer = program.ask(f"attach {tool('a')}")
        self.assertEqual(answer.split()[0], ERROR)
        self.assertIn("limpet is attached", answer)
        self.assertEqual(harness.limpet_finish_enter(host).code, 0)
        self.assertEqual(program.code(f"attach {tool('a')}"), SUCCESS)

    def test_tools_of_the_environment_are_there_from_the_start(self):
        program = Program(self, ROCP_TOOL_LIBRARIES=tool("a"))
        program.ground.log.touch()
        os.environ.pop("ROCP_TEST_LOG", None)
        self.assertEqual(program.code("register hsa"), SUCCESS)
        self.assertEqual(program.code("register hip"), SUCCESS)
        status = harness.limpet("status", program.process.pid, "--json").event("status")
        self.assertEqual([os.path.basename(each["path"]) for each in status["tools"]],
                         ["life_a.so"])
        self.assertEqual(program.end(), 0)

    def test_a_missing_tool_of_the_environment_is_no_end(self):
        program = Program(self, ROCP_TOOL_LIBRARIES="/nowhere/x.so")
        self.assertEqual(program.code("register hsa"), SUCCESS)
        self.assertEqual(program.end(), 0)


@unittest.skipUnless(shutil.which("gdb"), "gdb is not here")
class ByAnAttacher(unittest.TestCase):
    """What AMD's attacher does, done by gdb: the functions are called on the helper thread."""

    def gdb(self, pid, *commands):
        words = [word for command in commands for word in ("-ex", command)]
        return subprocess.run(["gdb", "-nx", "-q", "-batch", "-p", str(pid), *words], text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "DEBUGINFOD_URLS": ""}).stdout

    def call(self, pid, expression):
        threads = self.gdb(pid, "info threads")
        number = re.search(r'^\*?\s*(\d+)\s.*"rocp-bg-attach"', threads, re.MULTILINE)
        self.assertIsNotNone(number, threads)
        out = self.gdb(pid, f"thread {number.group(1)}", f"print {expression}")
        if "Couldn't write extended state" in out:
            self.skipTest("this gdb cannot write the registers of this processor")
        answer = re.search(r"\$1 = (?:ROCP_REG_)?(\w+)", out)
        self.assertIsNotNone(answer, out)
        return answer.group(1)

    def test_attach_and_detach_on_the_helper_thread(self):
        ground = Ground(SDK)
        self.addCleanup(ground.close)
        stats = ground.path / "stats"
        stats.write_bytes(bytes(256))
        app = ground.start(STANDIN / "standin_app", "gpu", stats, ROCP_TEST_LOG=str(ground.log),
                           ROCP_TOOL_ATTACH="1")
        self.addCleanup(app.stdin.close)
        self.addCleanup(app.stdout.close)
        self.addCleanup(app.wait)
        self.addCleanup(app.kill)
        while app.stdout.readline() != "end of tables\n":
            pass
        for _ in range(2):
            self.assertIn(self.call(app.pid, "(int)rocprofiler_register_attach((char*)0, "
                                    f"\"{tool('a')}\")"), ("0", "SUCCESS"))
            self.assertIn(self.call(app.pid, "(int)rocprofiler_register_detach()"),
                          ("0", "SUCCESS"))
        self.assertEqual(ground.log.read_text().splitlines(),
                         FIRST + [A["detach"], A["attach"], A["detach"]])
        # The thread is back at its listener.
        result = harness.limpet("attach", app.pid, "--json", "--duration", "0")
        self.assertEqual(result.event("attached").get("method"), "listener", str(result))
        self.assertEqual(harness.Stats(stats).word("corruptions"), 0)
        self.assertIsNone(app.poll())


if __name__ == "__main__":
    unittest.main()
