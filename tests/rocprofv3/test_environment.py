#!/usr/bin/env python3
"""
AMD's variables through the attach libraries: the example of AMD's documentation in C and in Python leaves files; the
names of limpet's tracer; what cannot be served.
"""

import os
import sys
import unittest

from profiled import CASES, Profiled, Work, files

LEGACY, ROCATTACH = "librocprofv3-attach.so", "librocprofiler-sdk-rocattach.so.1"
ASKED = {"ROCPROF_HIP_RUNTIME_API_TRACE": "1", "ROCPROF_KERNEL_TRACE": "true", "ROCPROF_MEMORY_COPY_TRACE": "on",
         "ROCPROF_MARKER_API_TRACE": "1", "ROCPROF_OUTPUT_FORMAT": "csv"}


class Environment(Profiled):
    def check(self, work, did, prefix=None):
        sums = files.sums_of_csv(prefix or self.usual(work))
        self.check_counts(sums, did)
        return sums

    def check_headers(self, prefix):
        for name in ("hip_api_trace", "kernel_trace", "memory_copy_trace", "marker_api_trace", "agent_info"):
            with open(f"{prefix}_{name}.csv") as file:
                self.assertEqual(file.readline(), ",".join(f'"{column}"' for column in files.HEADERS[name]) + "\n")

    def python(self, code, **variables):
        program = self.prefix.program("rocprofv3-attach.py")
        return self.run_program(
            sys.executable, "-c", "import importlib.util\n"
            f"spec = importlib.util.spec_from_file_location('door', {program!r})\n"
            "door = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(door)\n" + code, **variables)

    def test_the_example_in_c(self):
        for library in (LEGACY, "librocprofiler-attach.so"):
            with self.subTest(library):
                work = self.work()
                running = self.run_program(os.environ["DOCUMENTED"], self.prefix.library(library), work.pid)
                running.wait_for("attached 0")
                did = self.go(work)
                running.finish(text="\n").wait_for("detached 0")
                self.assertEqual(running.err, "")
                sums = self.check(work, did)
                self.check_headers(self.usual(work))
                self.assertEqual(files.sums_of_json(self.usual(work) + "_results.json"), sums)

    def test_the_example_in_python(self):
        work = self.work()
        running = self.python(f"door.main({work.pid}, '', None)", **ASKED).wait_for("Press Enter")
        did = self.go(work)
        running.finish(text="\n")
        self.check(work, did)
        self.check_headers(self.usual(work))

    def test_the_programs(self):
        for program, more in (("rocprofv3-attach", {}), ("rocprof-attach", {"ROCPROF_ATTACH_CHILDREN": "0"}),
                              ("rocprof-attach", {})):
            with self.subTest(program):
                work = self.work()
                running = self.run_program(self.prefix.program(program), ROCPROF_ATTACH_PID=str(work.pid),
                                           **{**ASKED, **more}).wait_for("Press Enter")
                did = self.go(work)
                running.signal()
                self.check(work, did)

    def test_names_of_the_tracer(self):
        work = self.work()
        for name in ("librocprofiler-sdk-tool.so", "librocprofiler-sdk-tool.so.1", "/opt/rocm/lib/librocprofiler-sdk-tool.so.1",
                     ":librocprofiler-sdk-tool.so:"):
            with self.subTest(name):
                running = self.run_program(self.prefix.program("rocprof-attach"), "-p", work.pid, "-t", name,
                                           **ASKED).wait_for("Press Enter")
                did = self.go(work, 1)
                running.signal()
                self.check(work, did)

    def test_beside_a_tool(self):
        work = self.work()
        log = os.path.join(self.folder, "log")
        tool = os.path.join(os.environ["PROGRAMS"], "life_a.so")
        running = self.run_program(self.prefix.program("rocprof-attach"), "-p", work.pid, "-t",
                                   tool + ":librocprofiler-sdk-tool.so", ROCP_TEST_LOG=log, **ASKED)
        running.wait_for("Press Enter")
        did = self.go(work, 1)
        running.signal()
        self.check(work, did)
        with open(log) as file:
            self.assertEqual([line.split()[1] for line in file][-2:], ["tool_attach", "tool_detach"])

    def test_beside_a_tool_of_the_sdk(self):
        """Both see every call of HIP's: limpet's tracer, and a tool that is told of them."""
        log = os.path.join(self.folder, "log")
        work = Work(**CASES["unprepared"], SDK_LOG=log)
        self.addCleanup(work.close)
        work.tables()
        tool = os.path.join(os.environ["BUILD"], "tests", "sdk", "tool_callbacks.so")
        for _ in range(2):
            running = self.run_program(self.prefix.program("rocprof-attach"), "-p", work.pid, "-t",
                                       tool + ":librocprofiler-sdk-tool.so", **ASKED).wait_for("Press Enter")
            did = self.go(work)
            running.signal()
            self.check(work, did)
            with open(log) as file:
                told = {words[2]: words[3:5] for words in map(str.split, file) if words[0] == "call"}
            os.unlink(log)
            for name in ("hipMalloc", "hipFree", "hipMemcpyAsync", "hipStreamSynchronize"):
                self.assertEqual(told[name], [str(did[name])] * 2, name)

    def test_older_names_and_the_rest(self):
        work = self.work()
        running = self.run_program(
            self.prefix.program("rocprof-attach"), "-p", work.pid, ROCPROF_HIP_API_TRACE="1", ROCPROF_HSA_API_TRACE="0",
            ROCPROF_MARKER_TRACE="1", ROCPROF_KERNEL_TRACE="1", ROCPROF_OUTPUT_FORMAT="csv, rocpd",
            ROCPROF_OUTPUT_PATH="out/%pid%", ROCPROF_OUTPUT_FILE_NAME="x", ROCPROF_STATS="1",
            ROCPROF_TRUNCATE_KERNELS="1", ROCPROF_KERNEL_FILTER_INCLUDE_REGEX="default", ROCPROF_LOGGING_LEVEL="info",
            ROCPROF_STATS_SUMMARY="1", ROCPROF_STATS_SUMMARY_GROUPS="KERNEL.*##@@##HIP.*",
            ROCPROF_STATS_SUMMARY_OUTPUT="summary", ROCPROF_STATS_SUMMARY_UNITS="usec", ROCPROF_DEMANGLE_KERNELS="1",
            ROCPROF_ATTACH_OUTPUT_GENERATION_SYNC="1", ROCPROF_SIGNAL_HANDLERS="0").wait_for("Press Enter")
        did = self.go(work)
        running.signal()
        prefix = os.path.join(self.folder, "out", str(work.pid), "x")
        sums = files.sums_of_csv(prefix)
        self.assertEqual({kind for kind, _ in sums}, {"HIP_RUNTIME_API_EXT", "HIP_COMPILER_API_EXT",
                                                      "MARKER_CORE_RANGE_API", "KERNEL_DISPATCH"})
        self.assertEqual(sums["KERNEL_DISPATCH", "default_kernel"][0], 15)
        self.assertEqual(sums["HIP_RUNTIME_API_EXT", "hipMalloc"][0], did["hipMalloc"])
        for name in ("x_kernel_stats.csv", "x_results.db", "x_summary.txt"):
            self.assertIn(f"out/{work.pid}/{name}", self.made())
        self.assertIn("Opened result file: ", running.err)

    def test_again(self):
        """One program, several times, with other variables."""
        work = self.work()
        running = self.python(
            "import os, sys\n"
            "for variable in sys.stdin:\n"
            "    variable = variable.strip()\n"
            "    os.environ[variable] = '1'\n"
            "    os.environ['ROCPROF_OUTPUT_FILE_NAME'] = variable\n"
            f"    door.main({work.pid}, 'librocprofiler-sdk-tool.so', 300)\n"
            "    del os.environ[variable]\n", ROCPROF_OUTPUT_FORMAT="csv")
        work.tell("pace", 20000)
        running.finish(text="ROCPROF_KERNEL_TRACE\nROCPROF_HIP_RUNTIME_API_TRACE\n")
        work.tell("stop")
        work.lines()
        for variable, kind in (("ROCPROF_KERNEL_TRACE", "KERNEL_DISPATCH"),
                               ("ROCPROF_HIP_RUNTIME_API_TRACE", "HIP_RUNTIME_API_EXT")):
            sums = files.sums_of_csv(os.path.join(self.folder, variable))
            self.assertEqual({found for found, _ in sums}, {kind})

    def test_the_process_ends_first(self):
        work = self.work()
        running = self.run_program(os.environ["DOCUMENTED"], self.prefix.library(LEGACY), work.pid)
        running.wait_for("attached 0")
        did = self.go(work)
        work.process.stdin.close()
        work.process.wait()
        running.finish(text="\n").wait_for("detached 0")
        self.check(work, did)

    def test_the_caller_ends_without_detaching(self):
        """At exit the library detaches, and leaves the files."""
        work = self.work()
        running = self.python(
            "import ctypes\n"
            f"library = ctypes.CDLL({self.prefix.library(LEGACY)!r})\n"
            f"print('attached', library.attach({work.pid}), flush=True)\n"
            "input()\n", **ASKED).wait_for("attached 0")
        did = self.go(work)
        running.finish(text="\n")
        self.check(work, did)

    def test_refusals(self):
        work = self.work()
        for variables, words in (
                ({}, "no trace was requested"),
                ({"ROCPROF_COUNTER_COLLECTION": "1", "ROCPROF_COUNTERS": "pmc: A B", "HSA_MODEL_TOPOLOGY": "/nonexistent"},
                 "there is no AMD device"),
                ({"ROCPROF_KERNEL_TRACE": "perhaps"}, "invalid value 'perhaps' for --kernel-trace"),
                ({"ROCPROF_OUTPUT_FORMAT": "csv,otf2"}, "otf2 is not supported")):
            with self.subTest(words):
                running = self.run_program(self.prefix.program("rocprof-attach"), "-p", work.pid, "-d", 0, **variables)
                self.assertIn(words, running.finish(code=1).err)
                self.assertIn("(status 2)", running.err)

    def test_what_the_script_sets_for_sets_and_ranks(self):
        """For -s, -r and under MPI: what is not served is said, and the rest is traced."""
        work = self.work()
        names = ["KFD_PAGE_FAULT_TRACE", "KFD_QUEUE_TRACE", "OMPT_TRACE",
                 "ROCSHMEM_API_TRACE", "HIPFILE_API_TRACE", "HIP_GRAPH_TRACE", "MPI_RANK_VAR", "MPI_SIZE_VAR"]
        running = self.run_program(self.prefix.program("rocprof-attach"), "-p", work.pid,
                                   **ASKED, **{f"ROCPROF_{name}": "1" for name in names}).wait_for("Press Enter")
        did = self.go(work, 1)
        running.signal()
        self.check(work, did)
        for name in names:
            self.assertIn(f"ROCPROF_{name} is not supported: ", running.err)

    def test_what_changes_nothing_is_said(self):
        work = self.work()
        running = self.run_program(
            self.prefix.program("rocprof-attach"), "-p", work.pid, "-d", 0, ROCPROF_KERNEL_TRACE="1",
            ROCPROF_HIP_GRAPH_TRACE="1", ROCPROF_NOBODY_KNOWS="1", ROCPROF_KFD_QUEUE_TRACE="0").finish()
        self.assertIn("ROCPROF_HIP_GRAPH_TRACE is not supported", running.err)
        self.assertIn("ROCPROF_NOBODY_KNOWS is not known", running.err)
        self.assertNotIn("KFD", running.err)
        self.assertIn("the trace is empty", running.err)


if __name__ == "__main__":
    unittest.main(verbosity=2)
