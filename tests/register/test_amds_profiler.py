#!/usr/bin/env python3
"""
limpet beside AMD's own profiler (stand-ins of it): a process in which that has the tables survives a visit, AMD's
attach works after one, and what AMD's register library keeps of limpet is said.
"""

import os
import sys
import unittest

from ground import SDK, STANDIN, Ground

sys.path.append(os.path.join(os.path.dirname(__file__), "../attach"))
import harness  # noqa: E402
from test_lifecycle import tool  # noqa: E402

AMDS = STANDIN / "amd_register"
WITH_SDK = f"{AMDS}:{STANDIN / 'amd_sdk'}"
RCCL = STANDIN / "librccl.so.1"
AGENT = "limpet-agent"
NAMES = {"hsa", "hip", "roctx", "hip_compiler", "rccl", "rocattach", "unnamed"}


class Program:
    """A standin_work that has called each of its runtimes."""

    def __init__(self, test, library_path=WITH_SDK, **variables):
        self.ground = Ground(SDK)
        test.addCleanup(self.ground.close)
        self.process = self.ground.start(STANDIN / "standin_work", LD_LIBRARY_PATH=str(library_path), **variables)
        test.addCleanup(test.end_process, self.process)
        self.pid = int(self.process.stdout.readline().split()[1])
        self.tables = {words[1] for words in self.ask("tables") if words[0] == "table"}

    def ask(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        lines = []
        for line in iter(self.process.stdout.readline, "end\n"):
            if not line:
                raise AssertionError(f"it ended with {self.process.wait()}")
            lines.append(line.split())
        return lines

    def maps(self):
        with open(f"/proc/{self.pid}/maps") as file:
            return file.read()


class AmdsProfiler(harness.TargetTest):
    def visit(self, program, *options):
        result = harness.limpet("attach", program.pid, "--json", "--duration", "0", "--tool", tool("a"), *options)
        self.assertIsNone(program.process.poll(), "the visit ended it")
        self.assertEqual(result.code, 0, str(result))
        return result

    def found(self, program):
        status = harness.limpet("status", program.pid, "--json").event("status")
        return {table["name"] for table in status["tables"]}

    def test_a_process_whose_tables_it_has_already(self):
        program = Program(self, ROCPROFILER_REGISTER_FORCE_LOAD="1")
        self.assertIn("librocprofiler-sdk.so", program.maps())
        for _ in range(2):
            self.visit(program)
            self.assertLessEqual(program.tables, self.found(program))
        self.assertTrue(program.ask("go"))

    def test_that_and_a_table_that_cannot_be_found(self):
        program = Program(self, ROCPROFILER_REGISTER_FORCE_LOAD="1", LD_PRELOAD=str(RCCL), STANDIN_RCCL_HIDDEN="1")
        self.visit(program)
        self.assertNotIn("rccl", self.found(program))
        self.assertTrue(program.ask("go"))

    def test_its_attach_works_after_a_visit(self):
        for options in ((), ("--unload",)):
            for hidden in ({}, {"LD_PRELOAD": str(RCCL), "STANDIN_RCCL_HIDDEN": "1"}):
                with self.subTest(options=options, hidden=hidden):
                    program = Program(self, ROCP_TOOL_ATTACH="1", **hidden)
                    self.visit(program, *options)
                    self.assertEqual(program.ask("attach"), [["attach", "0"]])
                    self.assertTrue(program.ask("go"))

    def test_names_that_are_gone(self):
        """AMD's library keeps the pointer that a runtime gave it."""
        for names in ("kept", "unmapped"):
            for hidden in ({}, {"LD_PRELOAD": str(RCCL), "STANDIN_RCCL_HIDDEN": "1"}):
                with self.subTest(names=names, hidden=hidden):
                    program = Program(self, AMDS, STANDIN_NAMES=names, **hidden)
                    self.visit(program)
                    found = self.found(program)
                    self.assertLessEqual(program.tables - {"rccl"}, found)
                    self.assertLessEqual(found, NAMES)
                    self.assertTrue(program.ask("go"))

    def test_nothing_is_left_that_was_not_asked_for(self):
        program = Program(self, AMDS)
        result = self.visit(program, "--unload")
        self.assertTrue(result.event("detached")["unloaded"], str(result))
        self.assertNotIn(AGENT, program.maps())

    def test_a_table_is_found_by_its_shape(self):
        program = Program(self, AMDS, LD_PRELOAD=str(RCCL))
        result = self.visit(program, "--unload")
        self.assertTrue(result.event("detached")["unloaded"], str(result))

    def test_what_the_register_library_keeps_is_said(self):
        """The one table that is not found is asked for, and AMD's library keeps whom it gave it to."""
        program = Program(self, AMDS, LD_PRELOAD=str(RCCL), STANDIN_RCCL_HIDDEN="1")
        self.visit(program)
        self.assertIn("rccl", self.found(program))
        result = self.visit(program, "--unload")
        self.assertIn(AGENT, program.maps())
        self.assertFalse(result.event("detached")["unloaded"], str(result))
        self.assertIn("the agent itself", " ".join(result.event("detached")["left"]), str(result))
        self.visit(program)
        self.assertTrue(program.ask("go"))


if __name__ == "__main__":
    unittest.main()
