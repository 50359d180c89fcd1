#!/usr/bin/env python3
"""
A late attach has the live tables of the (stand-in) runtimes: with limpet's register library, with a
stand-in of AMD's, opted in or not, and with one of each in the process.
"""

import os
import subprocess
import sys
import unittest

from ground import REGISTER_NAME, SDK, STANDIN, Ground

sys.path.append(os.path.join(os.path.dirname(__file__), "../attach"))
import harness  # noqa: E402
from test_lifecycle import tool  # noqa: E402

AMDS = STANDIN / "amd_register"


class App:
    """A standin_app and the tables that it says it has: name to addresses."""

    def __init__(self, test, workload="gpu", library_path=None, before=(), **variables):
        self.ground = Ground(SDK)
        test.addCleanup(self.ground.close)
        self.stats_file = self.ground.path / "stats"
        self.stats_file.write_bytes(bytes(256))
        os.chmod(self.stats_file, 0o666)
        self.process = self.ground.start(
            STANDIN / "standin_app", workload, self.stats_file, before=before,
            LD_LIBRARY_PATH=str(library_path or self.ground.path),
            **{name: value.format(ground=self.ground.path) for name, value in variables.items()})
        test.addCleanup(self.close)
        self.tables, self.codes = {}, {}
        for line in iter(self.process.stdout.readline, "end of tables\n"):
            words = line.split()
            if words[0] == "table":
                self.tables.setdefault(words[1], []).append(words[3])
            elif words[0] == "registered":
                self.codes[words[1]] = words[2]
        self.stats = harness.Stats(self.stats_file)
        self.pid = self.stats.word("pid")

    def problem(self):
        """What is wrong with it now, or None."""
        if self.process.poll() is not None:
            return f"it ended with {self.process.returncode}"
        if not self.stats.wait_turn():
            return "it hangs"
        bad = [name for name in ("errors", "corruptions", "eintr") if self.stats.word(name)]
        return f"{bad}: {self.stats.detail()}" if bad else None

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Tables(unittest.TestCase):
    maxDiff = None

    def check(self, app, way, ignored=()):
        """Attaches twice and compares what the agent has with what the program says."""
        self.assertEqual(set(app.codes.values()), {"1"})  # NO_TOOLS: nothing was there before
        for _ in range(2):
            result = harness.limpet("attach", app.pid, "--json", "--duration", "0", "--tool",
                                    tool("a"))
            self.assertEqual(result.code, 0, str(result))
            self.assertEqual(result.event("attached")["method"], way)
            status = harness.limpet("status", app.pid, "--json").event("status")
            found = {table["name"]: table["addresses"] for table in status["tables"]
                     if table["name"] not in ignored}
            self.assertEqual(found, app.tables)
            self.assertEqual(len(found["roctx"]), 3)
            self.assertIsNone(app.problem())

    def test_limpets_register_library_by_its_listener(self):
        self.check(App(self, ROCP_TOOL_ATTACH="1"), "listener")

    def test_limpets_register_library_with_its_listener_shut(self):
        self.check(App(self), "thread")

    def test_amds_register_library_that_was_not_asked_for_attach(self):
        self.check(App(self, library_path=AMDS), "thread")

    def test_amds_register_library_that_was(self):
        self.check(App(self, library_path=AMDS, ROCP_TOOL_ATTACH="1"), "thread", ("rocattach",))

    def test_one_of_each(self):
        """The copy that ROCTx uses is limpet's, the others use AMD's."""
        app = App(self, library_path=AMDS, STANDIN_REGISTER_roctx="{ground}/" + REGISTER_NAME,
                  ROCP_TOOL_ATTACH="0")
        maps = subprocess.run(["grep", "-c", f"r-xp.*{REGISTER_NAME[:-2]}", f"/proc/{app.pid}/maps"],
                              capture_output=True, text=True).stdout
        self.assertEqual(maps.strip(), "2")
        self.check(app, "thread")

    def test_one_of_each_with_the_listener_open(self):
        app = App(self, library_path=AMDS, STANDIN_REGISTER_roctx="{ground}/" + REGISTER_NAME,
                  ROCP_TOOL_ATTACH="1")
        self.check(app, "listener", ("rocattach",))


if __name__ == "__main__":
    unittest.main()
