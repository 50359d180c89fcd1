"""Runtimes that come and go while tools of AMD's SDK are attached, and programs without memory then."""

import os
import pathlib
import resource
import signal
import tempfile
import unittest

from sdk import CASES, ToolCase, Work, did, harness

FLIPS = 700
HIP_SLOT = 8 + 8 * 90


def is_mapped(pid, name):
    return name in pathlib.Path(f"/proc/{pid}/maps").read_text()


class Late(ToolCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory(prefix="late-")
        self.addCleanup(self.folder.cleanup)

    def file(self, name, content=b""):
        path = pathlib.Path(self.folder.name) / name
        path.write_bytes(content)
        return path

    def begin(self, *tools, case="unprepared", arguments=(), **variables):
        self.work = Work(program="standin_late", **CASES[case], **variables)
        self.addCleanup(self.work.close)
        self.attached = self.attach(self.work, *tools, arguments=arguments)

    def while_limpet_stands_still(self, act):
        """What it finds afterwards was all there before it looked."""
        os.kill(self.attached.process.pid, signal.SIGSTOP)
        try:
            return act()
        finally:
            os.kill(self.attached.process.pid, signal.SIGCONT)

    def assert_ends_well(self):
        self.work.process.stdin.close()
        self.assertEqual(self.work.process.wait(harness.PATIENCE_S), 0)

    def test_a_program_that_loads_and_unloads_hip_all_the_time(self):
        """Several at once: what is found of each is gone a moment later."""
        works = []
        for case in ("unprepared", "amds") * 3:
            self.begin("callbacks", "tables", "work", case=case)
            self.work.tell("flip", FLIPS)
            works.append((self.work, self.attached))
        for self.work, attached in works:
            self.assertEqual(self.work.lines(), [])
            attached.leave()
            self.assert_ends_well()

    def test_a_table_stays_while_a_tool_is_shown_it(self):
        self.begin("tables", arguments=("--env", "SDK_LINGER=500"))
        self.work.tables()
        self.assertTrue(harness.wait_until(lambda: [line for line in self.log.lines("table") if line[1] == "2"]))
        self.work.ask("drop")
        self.assertTrue(harness.wait_until(lambda: not is_mapped(self.work.pid, "libamdhip64")), "it was not given back")
        self.attached.leave()
        self.assert_ends_well()

    def test_runtimes_that_are_gone_when_tools_come_again(self):
        """They are neither shown to tools nor asked for what they have loaded."""
        for case in ("unprepared", "limpets door", "amds"):
            with self.subTest(case):
                work = Work(program="standin_late", **CASES[case])
                self.addCleanup(work.close)
                work.tables()
                self.attach(work, "work").leave()
                self.assertEqual(did(work.ask("close")), {"close": 1})
                self.attach(work, "work", "tables").leave()
                work.process.stdin.close()
                self.assertEqual(work.process.wait(harness.PATIENCE_S), 0)

    def test_a_program_without_memory_for_a_thread(self):
        """It is shown to tools when there is some again."""
        self.begin("callbacks")
        limits = resource.prlimit(self.work.pid, resource.RLIMIT_AS)

        def load():
            tables = self.work.tables()
            resource.prlimit(self.work.pid, resource.RLIMIT_AS, (1 << 20, limits[1]))
            return tables["hip"][0][0] + HIP_SLOT

        slot = self.while_limpet_stands_still(load)
        harness.wait_until(lambda: False, 1.5)
        self.assertFalse(self.work.leads_out_of("libamdhip64", slot))
        resource.prlimit(self.work.pid, resource.RLIMIT_AS, limits)
        self.assertTrue(harness.wait_until(lambda: self.work.leads_out_of("libamdhip64", slot)), "calls are not seen")
        self.leave(self.attached)
        self.assert_ends_well()

    def test_a_runtime_without_tables(self):
        """AMD's register library is asked less and less often, and no variable is left in the program for that."""
        self.begin("callbacks", case="amds", STANDIN_MAPPED=str(self.file("librccl.so.1", bytes(4096))))
        self.work.tables()
        done = did(self.work.ask("stir", 500))
        self.assertEqual(done["seen"], 0)
        self.assertIn(done["asked"], range(1, 7))
        self.leave(self.attached)
        self.assert_ends_well()


if __name__ == "__main__":
    unittest.main()
