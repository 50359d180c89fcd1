#!/usr/bin/env python3
"""
Every function of the register library, through probe.c: one process for each case, because the
library remembers for as long as the process lives.
"""

import shutil
import subprocess
import unittest

from ground import RECORDING, REGISTER, SDK_NAME, STANDIN, TESTS, Ground

FORCED = {"ROCPROFILER_REGISTER_FORCE_LOAD": "1"}
OLD_NAMES = ("ROCP_TOOL_ATTACH", "ROCPROFILER_REGISTER_ATTACHMENT_ENABLED",
             "ROCPROFILER_REGISTER_ATTACHMENT_QUEUES_ENABLED",
             "ROCPROFILER_REGISTER_ALWAYS_SUPPORT_ATTACH")


class Functions(unittest.TestCase):
    program = "probe"

    def ground(self, sdk=None):
        ground = Ground(sdk)
        self.addCleanup(ground.close)
        return ground

    def probe(self, scenario, ground=None, **variables):
        """Runs a scenario; it must find everything as it expects."""
        ground = ground or self.ground()
        result = ground.run(ground.path / self.program, scenario, **variables)
        self.assertEqual(result.returncode, 0, f"{scenario}: {result.stderr}")
        return ground

    def tables(self, ground):
        return [line[1] for line in ground.lines() if line[0] == "table"]

    def test_strings(self):
        self.probe("strings")

    def test_every_name_is_remembered(self):
        self.probe("every_name")

    def test_bad_arguments(self):
        self.probe("bad_arguments")

    def test_more_than_eight_instances(self):
        self.probe("too_many")

    def test_disabled_records_nothing(self):
        for word in ("0", "false", "OFF", "no"):
            self.probe("disabled", ROCPROFILER_REGISTER_ENABLED=word)

    def test_secure_refuses_other_files(self):
        self.probe("secure", ROCPROFILER_REGISTER_SECURE="1")

    def test_sixteen_threads_at_once(self):
        for _ in range(10):
            self.probe("at_once")

    def test_sixteen_threads_at_once_with_a_profiler(self):
        for _ in range(5):
            ground = self.probe("at_once", self.ground(RECORDING), **FORCED)
            self.assertEqual(len(self.tables(ground)), 80)

    def test_words_of_threads(self):
        self.probe("thread_words")

    def test_each(self):
        self.probe("each")

    def check_with_tool(self, ground, **variables):
        self.probe("with_tool", ground, **variables)
        # Once at registration, nothing new, then all again.
        self.assertEqual(self.tables(ground), ["hsa", "hip", "hsa", "hip"])
        self.assertEqual(ground.lines()[0][:5], ["table", "hsa", "60200", "0", "1"])

    def test_tool_by_force(self):
        self.check_with_tool(self.ground(RECORDING), **FORCED)

    def test_tool_by_list(self):
        self.check_with_tool(self.ground(RECORDING), ROCP_TOOL_LIBRARIES="sometool.so")

    def test_tool_that_is_visible(self):
        self.check_with_tool(self.ground(RECORDING), PROBE_TOOL=str(TESTS / "visible_tool.so"))

    def test_profiler_on_the_loaders_path(self):
        """By the names under which AMD's library looks for one; not beside this library."""
        for name in ("librocprofiler-sdk.so", "librocprofiler-sdk.so.1", "librocprofiler-sdk.so.0"):
            with self.subTest(name=name):
                ground = self.ground()
                folder = ground.path / "elsewhere"
                folder.mkdir()
                shutil.copy(RECORDING, folder / name)
                self.check_with_tool(ground, LD_LIBRARY_PATH=f"{ground.path}:{folder}", **FORCED)

    def test_profiler_named_by_the_environment(self):
        self.check_with_tool(self.ground(), ROCPROFILER_REGISTER_LIBRARY=str(RECORDING))

    def test_force_load_can_be_switched_off(self):
        self.probe("every_name", self.ground(RECORDING), ROCP_TOOL_LIBRARIES="sometool.so",
                   ROCPROFILER_REGISTER_FORCE_LOAD="0")

    def test_a_missing_profiler_is_no_end(self):
        self.probe("without_sdk", **FORCED)
        self.probe("without_sdk", ROCPROFILER_REGISTER_LIBRARY="/nowhere/librocprofiler-sdk.so")

    def test_a_broken_profiler_is_no_end(self):
        ground = self.ground()
        (ground.path / SDK_NAME).write_bytes(b"\x7fELF, but not really")
        self.probe("without_sdk", ground, **FORCED)

    def test_a_profiler_that_refuses(self):
        ground = self.probe("refused", self.ground(RECORDING), RECORDING_ANSWER="1", **FORCED)
        self.assertEqual(self.tables(ground), ["hsa", "hip", "hsa", "hip"])

    def test_registering_from_inside(self):
        ground = self.probe("from_inside", self.ground(RECORDING), RECORDING_REGISTERS="roctx",
                            **FORCED)
        self.assertIn(["inside", "roctx", "2"], ground.lines())  # ROCP_REG_DEADLOCK
        self.assertEqual(self.tables(ground), ["hsa", "roctx", "hip"])  # but handed over

    def test_registering_while_another_thread_does(self):
        ground = self.probe("meanwhile", self.ground(RECORDING), RECORDING_SLEEPS="300", **FORCED)
        self.assertEqual(self.tables(ground), ["hsa", "hip"])

    def test_attach_from_within(self):
        ground = self.probe("attach", self.ground(RECORDING))
        words = [" ".join(line) for line in ground.lines() if line[0] != "table"]
        first = ["attach a.so:b.so libc", "variable ROCPROF_A=one", "variable ROCP_EMPTY="]
        self.assertEqual(words, (first + ["detach"]) * 3 + ["attach other.so libc", "detach"])
        # The first attach, "hip" as it comes, and all with each of three more.
        self.assertEqual(self.tables(ground), ["hsa", "hip"] + ["hsa", "hip"] * 3)

    def test_two_attaches_at_once(self):
        ground = self.probe("attach_at_once", self.ground(RECORDING), RECORDING_ATTACH_SLEEPS="300")
        self.assertEqual([line[0] for line in ground.lines()], ["attach", "attach"])

    def test_a_tool_that_attaches_while_it_is_attached(self):
        """It is refused at once: the attach that it would wait for waits for it."""
        ground = self.probe("attach_at_once", self.ground(RECORDING), RECORDING_ATTACHES="1")
        self.assertEqual([line for line in ground.lines() if line[0] == "inside"], [["inside", "6"]] * 2)

    def test_attach_leaks_nothing(self):
        self.probe("attach", self.ground(RECORDING), ASAN_OPTIONS="detect_leaks=1")

    def test_attach_that_is_refused(self):
        for answer, code in (("-22", "8"), ("-16", "6"), ("-8", "6")):
            self.probe("attach_refused", self.ground(RECORDING), RECORDING_ATTACH=answer,
                       PROBE_CODE=code)

    def test_attach_switched_off(self):
        for name in OLD_NAMES:
            self.probe("attach_off", self.ground(RECORDING), **{name: "off"})

    def test_garbage_from_an_attacher(self):
        ground = self.probe("garbage", self.ground(RECORDING))
        self.assertEqual([line[0] for line in ground.lines()], ["attach", "variable", "attach"])

    def test_forks(self):
        self.probe("forks", self.ground(RECORDING), RECORDING_SLEEPS="400", **FORCED)


class Exported(unittest.TestCase):
    """The library itself, and what runtimes with the right file names get from it."""

    def test_secure_lets_the_runtimes_in(self):
        ground = Ground()
        self.addCleanup(ground.close)
        stats = ground.path / "stats"
        stats.write_bytes(bytes(256))
        with ground.start(STANDIN / "standin_app", "gpu", stats,
                          ROCPROFILER_REGISTER_SECURE="1") as app:
            lines = []
            while not lines or lines[-1] != "end of tables":
                lines.append(app.stdout.readline().strip())
            app.kill()
        codes = [line.split()[1:3] for line in lines if line.startswith("registered")]
        self.assertEqual(codes, [["hsa", "1"], ["hip_compiler", "1"], ["hip", "1"], ["roctx", "1"]])

    @unittest.skipUnless(shutil.which("readelf"), "needs readelf")
    def test_never_unmapped_and_found_beside(self):
        words = subprocess.run(["readelf", "-dW", str(REGISTER)], capture_output=True,
                               text=True, check=True).stdout
        self.assertIn("NODELETE", words)
        self.assertIn("[librocprofiler-register.so.0]", words)


def load_tests(loader, tests, pattern):
    """All cases twice: with the library, and with its code inside the program, for sanitizers."""
    inside = type("FunctionsInside", (Functions,), {"program": "probe_inside"})
    suite = unittest.TestSuite(tests)
    for name in loader.getTestCaseNames(inside):
        suite.addTest(inside(name))
    return suite


if __name__ == "__main__":
    unittest.main()
