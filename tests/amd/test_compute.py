#!/usr/bin/env python3
"""
rocprof-compute of limpet's: the four commands of AMD's page on attaching, on a (stand-in) HSA program that runs already; what
cannot be is refused before anything is touched; limpet's own analysis of what comes of it.

Definitions are of our own, in the form of rocprof-compute's (tests/counters/compute).  ./dev real compute FOLDER takes AMD's.
Environment: COMPUTE is the executable under test.
"""

import csv
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from standin import STANDIN, Work, harness

COMPUTE = os.environ["COMPUTE"]
TESTS = pathlib.Path(__file__).resolve().parent.parent
HOST = {**os.environ, "HSA_MODEL_TOPOLOGY": str(TESTS / "counters/amd/topology"),
        "ROCPROFILER_METRICS_PATH": str(TESTS / "counters/amd/definitions"),
        "ROCPROF_COMPUTE_HOME": str(TESTS / "counters/compute")}
DEADLINE_S = 2 * harness.PATIENCE_S
KERNELS = 5
DURATIONS_MS = (200, 1500, 10000, 60000)
PAUSES_S = (0.02, 0.2, 1)
FOLDER = "workloads/try_live_attach_detach/gfx942"

# What AMD's programs call.
DRIVER = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
attach, detach = (getattr(library, name) for name in sys.argv[3:])
assert attach(int(sys.argv[2])) == 0
print("in", flush=True)
sys.stdin.readline()
assert detach(int(sys.argv[2])) == 0
"""
QUESTION = "SELECT kernel_name, grid_size, value FROM counters_collection WHERE counter_name = 'SQ_WAVES' ORDER BY start"
AVAIL = """
import ctypes, json, sys
library, number, text = ctypes.CDLL(sys.argv[1]), ctypes.c_ulong, ctypes.c_char_p
def ask(name, handle):
    found = text()
    getattr(library, name)(number(handle), ctypes.byref(found))
    return found.value.decode()
def numbers(name, count, *handle):
    found = (number * count)()
    getattr(library, name)(found, *map(number, handle), number(count))
    return list(found)
library.get_number_of_agents.restype = library.get_number_of_agent_counters.restype = number
library.is_counter_set.restype = ctypes.c_bool
agents = []
for agent in numbers("agent_handles", library.get_number_of_agents()):
    counters, handles = {}, {}
    for handle in numbers("agent_counter_handles", library.get_number_of_agent_counters(number(agent)), agent):
        name, description, derived, constant = text(), text(), ctypes.c_uint(), ctypes.c_uint()
        library.counter_info(number(handle), *map(ctypes.byref, (name, description, derived, constant)))
        more = ask("counter_expression" if derived.value else "counter_block", handle)
        counters[name.value.decode()] = [description.value.decode(), derived.value, more]
        handles[name.value.decode()] = handle
    sets = []
    for names in (("SQ_WAVES", "GRBM_COUNT"), ("GRBM_COUNT", "GRBM_GUI_ACTIVE", "GRBM_SPI_BUSY")):
        array = (number * len(names))(*(handles[name] for name in names))
        sets.append(library.is_counter_set(array, number(agent), number(len(names))))
    agents.append({"info": json.loads(ask("agent_info", agent)), "counters": counters, "sets": sets})
print(json.dumps(agents))
"""


def tables(text):
    """{"3.1.0": [name, cell, ...]} of the tables of metrics."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("│")[1:-1]]
        if cells and re.fullmatch(r"\d+\.\d+\.\d+", cells[0]):
            rows[cells[0]] = cells[1:]
    return rows


class Compute(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def work(self):
        work = Work(library_path=f"{STANDIN}/amd_register/old:{STANDIN}", program="standin_hsa_work", STANDIN_GFX="gfx942")
        self.addCleanup(work.close)
        work.ask("solo", 2)
        return work

    def start(self, line, environment=HOST):
        words = line.split() if isinstance(line, str) else [str(word) for word in line]
        process = subprocess.Popen([COMPUTE, *words[1:]], cwd=self.folder, env=environment, text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_to_end(self, line, environment=HOST):
        process = self.start(line, environment)
        out, _ = process.communicate(timeout=DEADLINE_S)
        return process.returncode, out

    def attach(self, work, line):
        """What it said; kernels run while it is attached."""
        process = self.start(line)
        said = []
        while not said or ":: success" not in said[-1]:
            said.append(harness.line_wait(process))
            self.assertTrue(said[-1], f"not attached: {said}")
        work.ask("solo", KERNELS)
        rest, _ = process.communicate("" if "--attach-duration-msec" in line else "\n", timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0, said + [rest])
        return "".join(said) + rest

    def attach_for(self, work, line, durations):
        """The same for a while; once more for longer where the machine was too busy to run kernels in that time."""
        for duration in durations:
            said = self.attach(work, line + (f" --attach-duration-msec {duration}" if duration else ""))
            if len(self.values("SQ_WAVES")) == KERNELS:
                break
        return said

    def rows(self):
        with open(self.folder / FOLDER / "pmc_perf.csv") as file:
            return list(csv.DictReader(file))

    def values(self, name):
        return [float(row["Counter_Value"]) for row in self.rows() if row["Counter_Name"] == name]

    def analyze(self, *options):
        code, out = self.run_to_end(["rocprof-compute", "analyze", "--native", "-p", FOLDER, *options])
        self.assertEqual(code, 0, out)
        return out

    def test_the_commands_of_amds_page(self):
        work = self.work()
        for choice in ("-b 3.1.1 4.1.1 5.1.1", "--set launch_stats"):
            for durations in ((None,), DURATIONS_MS):
                with self.subTest(f"{choice} {durations[0]}"):
                    said = self.attach_for(work, f"rocprof-compute profile -n try_live_attach_detach {choice} --no-roof -VVV "
                                                 f"--attach-pid {work.pid}", durations)
                    self.assertEqual(self.values("SQ_WAVES"), [i + 1 for i in range(KERNELS)])
                    self.assertEqual("Skipping 4.1.1: file id 0400 not found in" in said, "4.1.1" in choice)
        self.assertEqual(sorted(path.name for path in (self.folder / FOLDER).iterdir()),
                         ["log.txt", "out", "perfmon", "pmc_perf.csv", "profiling_config.yaml", "sysinfo.csv"])
        self.check_files()
        self.check_analysis()
        work.ask("solo", 2)

    def check_files(self):
        folder = self.folder / FOLDER
        self.assertEqual((folder / "perfmon/pmc_perf_0.yaml").read_text(), "jobs:\n- pmc:\n  - GRBM_GUI_ACTIVE\n  - SQ_WAVES\n")
        self.assertIn("filter_blocks:\n- '3.1.0'\n- '3.1.1'\n", (folder / "profiling_config.yaml").read_text())
        self.assertIn("Set Selection: launch_stats", (folder / "log.txt").read_text())
        with open(folder / "sysinfo.csv") as file:
            system, = csv.DictReader(file)
        self.assertEqual((system["gpu_arch"], system["cu_per_gpu"], system["num_xcd"]), ("gfx942", "8", "2"))
        self.assertEqual({row["Kernel_Name"] for row in self.rows()}, {"hsa_kernel_0"})
        registers = {row[name] for row in self.rows() for name in ("Arch_VGPR", "Accum_VGPR", "SGPR")}
        self.assertEqual(registers, {""}, "what is not known is no number")

    def check_analysis(self):
        out = self.analyze()
        self.assertRegex(out, rf"0\.1 Top Kernels\n.*\n.*\n.*\n│ 0 +│ hsa_kernel_0 +│ {KERNELS}\.00 ")
        rows = tables(out)
        self.assertEqual(rows["3.1.0"], ["Waves", "3.00", "1.00", "5.00", "Waves per kernel"])
        self.assertEqual(rows["3.1.1"], ["Waves of a unit", "0.38", "0.12", "0.62", "Waves"])
        self.assertEqual(rows["3.1.2"], ["Busy", "", "", "", "Cycles"])  # it was not counted
        self.assertEqual(rows["3.2.0"], ["Waves", "1.00", "2.00", "3.00", "4.00", "5.00"])
        self.assertNotIn("5.1.0", rows)
        self.assertEqual(set(tables(self.analyze("-b", "3.1.0"))), {"3.1.0"})
        self.assertEqual(tables(self.analyze("-b", "3.1.0", "-d", "1", "2"))["3.1.0"][1:4], ["2.50", "2.00", "3.00"])
        self.assertEqual(tables(self.analyze("-b", "3.1.0", "-n", "per_wave"))["3.1.0"][1:], ["1.00"] * 3 + ["Waves per wave"])

    def test_filters_and_a_program_of_its_own(self):
        work = self.work()
        self.attach(work, f"rocprof-compute profile -n try_live_attach_detach -b 5.1.1 -d 1 3:5 -k hsa_kernel --no-roof "
                          f"--attach-pid {work.pid}")
        self.assertEqual(self.values("SQ_WAVES"), [2, 4, 5])
        self.attach(work, f"rocprof-compute profile -n try_live_attach_detach -b 5.1.1 -k other --no-roof --attach-pid {work.pid}")
        self.assertEqual(self.rows(), [])

    def test_what_cannot_be_is_refused_before_anything_is_touched(self):
        work = self.work()
        tables_before = work.tables()
        before = work.words(tables_before)
        profile = f"rocprof-compute profile -n x --no-roof --attach-pid {work.pid}"
        for line, words in (
                (f"{profile} -b 5.1.2 5.1.3", "Cannot attach process for profiling as the requested performance counters exceed"),
                (f"{profile} -b 5.1.2 5.1.3", "needs 2 number of passes. Please use"),
                (f"{profile} -b five", "Invalid metric id: five"),
                (f"{profile} -b 9.9", "No performance counters to collect"),
                (f"{profile} --set nothing", "invalid choice: 'nothing' (choose from launch_stats, cache)"),
                (f"{profile} --set cache -b 3", "--block and --set are exclusive options."),
                (f"{profile} -b 3.1 --config-dir /nonexistent", "--config-dir FOLDER"),
                (f"{profile} -b 3.1 --iteration-multiplexing", "--iteration-multiplexing is not supported"),
                (f"{profile} -b 3.1 -- true", "both a process and a program"),
                ("rocprof-compute profile -n x -b 3.1 --attach-pid five", "'five' is not a process ID"),
                ("rocprof-compute profile -n x -b 3.1 --attach-pid 2147483647", "there is no process 2147483647"),
                (f"{profile} -b 3.1 --attach-duration-msec long", "not a number of milliseconds"),
                ("rocprof-compute profile -n x -b 3.1", "there is nothing to profile"),
                ("rocprof-compute profile -n ../x -b 3.1 -- true", "no name of a folder"),
                ("rocprof-compute nothing", "unknown mode"),
                ("rocprof-compute analyze -p nothing --native", "no folder of a workload")):
            with self.subTest(line):
                code, out = self.run_to_end(line)
                self.assertEqual(code, 1, out)
                self.assertIn(words, out)
        code, out = self.run_to_end(f"{profile} -b 3.1", {**HOST, "ROCPROF_COMPUTE_HOME": "/nonexistent"})
        self.assertEqual(code, 1, out)
        self.assertIn("there are no definitions of rocprof-compute", out)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(work.words(tables_before), before)

    def test_lists(self):
        code, out = self.run_to_end("rocprof-compute profile --list-sets")
        self.assertEqual(code, 0, out)
        self.assertIn("\nlaunch_stats: Launch Stats\n  3.1.0    Waves\n", out)
        code, out = self.run_to_end("rocprof-compute profile --list-metrics gfx942")
        self.assertEqual(code, 0, out)
        self.assertIn("3 -> Waves\n\t3.1 -> Waves of kernels\n\t\t3.1.0 -> Waves\n", out)
        self.assertEqual(self.run_to_end("rocprof-compute --help")[0], 0)

    def launch(self, pause_s):
        """A program of its own, which works ten times: devices are asked a moment after it has begun."""
        process = self.start(["rocprof-compute", "profile", "-n", "try_live_attach_detach", "-b", "3.1.0", "--no-roof", "-q", "--",
                              STANDIN / "standin_hsa_work"],
                             {**HOST, "LD_LIBRARY_PATH": f"{STANDIN}/amd_register/old:{STANDIN}", "STANDIN_GFX": "gfx942"})
        while not process.stdout.readline().startswith("ready"):
            self.assertIsNone(process.poll())
        for _ in range(10):
            process.stdin.write("solo 3\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "end\n")
            time.sleep(pause_s)
        out, _ = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0, out)
        return out

    def test_a_program_that_is_started(self):
        for pause_s in PAUSES_S:
            out = self.launch(pause_s)
            if self.values("SQ_WAVES"):
                break
        self.assertEqual(set(self.values("SQ_WAVES")), {1, 2, 3}, out)

    def test_amds_program_attaches_through_limpets_libraries(self):
        """As rocprof-compute of 2026 does it: its variables, either of its two interfaces, and its question to the database."""
        work = self.work()
        for library, calls in (
                (os.environ["ROCATTACH"], ("rocattach_attach", "rocattach_detach")),
                (os.environ["ATTACH_LIBRARY"], ("attach", "detach"))):
            with self.subTest(calls):
                folder = self.folder / calls[0] / "out/pmc_1"
                variables = {**HOST, "ROCPROF_COUNTER_COLLECTION": "1", "ROCPROF_COUNTERS": "pmc: SQ_WAVES GRBM_GUI_ACTIVE",
                             "ROCPROF_KERNEL_TRACE": "1", "ROCPROF_OUTPUT_FORMAT": "rocpd", "ROCPROF_OUTPUT_PATH": str(folder),
                             "ROCPROF_AGENT_INDEX": "absolute", "ROCPROF_ATTACH_PID": str(work.pid),
                             "ROCPROF_ATTACH_LIBRARY": library, "ROCPROF_ATTACH_OUTPUT_GENERATION_SYNC": "1",
                             "ROCPROF_ATTACH_TOOL_LIBRARY": "/opt/rocm/lib/rocprofiler-sdk/librocprofiler-sdk-tool.so"}
                process = subprocess.Popen([sys.executable, "-c", DRIVER, library, str(work.pid), *calls], env=variables,
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for stream in (process.stdin, process.stdout, process.stderr):
                    self.addCleanup(stream.close)
                self.addCleanup(process.wait)
                self.addCleanup(process.kill)
                said = process.stdout.readline()
                self.assertEqual(said, "in\n")
                work.ask("solo", KERNELS)
                _, complaints = process.communicate("\n", timeout=DEADLINE_S)
                self.assertEqual((process.returncode, complaints), (0, ""))
                database = sqlite3.connect(next(folder.rglob("*_results.db")))
                self.addCleanup(database.close)
                self.assertEqual(database.execute(QUESTION).fetchall(), [("hsa_kernel_0", 64 * (i + 1), i + 1.0)
                                                                         for i in range(KERNELS)])

    def test_amds_program_asks_which_counters_there_are(self):
        """As rocprofv3-avail's module does it, by ctypes."""
        process = subprocess.run([sys.executable, "-c", AVAIL, os.environ["LIST_AVAIL"]], env=HOST, capture_output=True, text=True,
                                 timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 0, process)
        agents = json.loads(process.stdout)
        self.assertEqual([agent["info"]["name"] for agent in agents], ["gfx942", "gfx942"])
        counters = agents[0]["counters"]
        self.assertEqual(counters["SQ_WAVES"], ["Waves that were started.", 0, "SQ"])
        self.assertEqual(counters["TCC_HIT_sum"], ["Hits, of all instances.", 1, "reduce(TCC_HIT,sum)"])
        self.assertEqual(agents[0]["sets"], [True, False])
        process = subprocess.run([sys.executable, "-c", AVAIL, os.environ["LIST_AVAIL"]], capture_output=True, text=True,
                                 env={**HOST, "ROCPROFILER_METRICS_PATH": "/nonexistent"}, timeout=DEADLINE_S)
        self.assertEqual((process.returncode, process.stdout), (0, "[]\n"), process)
        self.assertIn("why: ", process.stderr)


if __name__ == "__main__":
    unittest.main()
