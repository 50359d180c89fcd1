#!/usr/bin/env python3
"""
AMD's files from a recording of a GPU program that never ran: sqlite3, csv, json and perfetto.py read
them, and all say the same.  Names and headers are those of AMD's tools, to the letter.

Environment: LIMPET is the executable under test, PROGRAMS the folder with make_gpu_recording and
amd_output.
"""

import csv
import glob
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attach"))

from harness import PROGRAMS, limpet  # noqa: E402

import perfetto  # noqa: E402

ROUNDS = 40
API = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
STATS = ["Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage", "MinNs", "MaxNs", "StdDev"]
AGENT = """Node_Id Logical_Node_Id Agent_Type Cpu_Cores_Count Simd_Count Cpu_Core_Id_Base Simd_Id_Base
Max_Waves_Per_Simd Lds_Size_In_Kb Gds_Size_In_Kb Num_Gws Wave_Front_Size Num_Xcc Cu_Count Array_Count
Num_Shader_Banks Simd_Arrays_Per_Engine Cu_Per_Simd_Array Simd_Per_Cu Max_Slots_Scratch_Cu Gfx_Target_Version
Vendor_Id Device_Id Location_Id Domain Drm_Render_Minor Num_Sdma_Engines Num_Sdma_Xgmi_Engines
Num_Sdma_Queues_Per_Engine Num_Cp_Queues Max_Engine_Clk_Ccompute Max_Engine_Clk_Fcompute Sdma_Fw_Version
Fw_Version Capability Cu_Per_Engine Max_Waves_Per_Cu Family_Id Workgroup_Max_Size Grid_Max_Size Local_Mem_Size
Hive_Id Gpu_Id Workgroup_Max_Dim_X Workgroup_Max_Dim_Y Workgroup_Max_Dim_Z Grid_Max_Dim_X Grid_Max_Dim_Y
Grid_Max_Dim_Z Name Vendor_Name Product_Name Model_Name""".split()
HEADERS = {
    "hip_api_trace": API, "hsa_api_trace": API, "marker_api_trace": API, "rccl_api_trace": API,
    "opencl_api_trace": API, "limpet_api_trace": API,
    "kernel_trace": [
        "Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name",
        "Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count",
        "Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z",
        "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"],
    "memory_copy_trace": [
        "Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id",
        "Start_Timestamp", "End_Timestamp"],
    "memory_allocation_trace": [
        "Kind", "Operation", "Agent_Id", "Allocation_Size", "Address", "Correlation_Id", "Start_Timestamp",
        "End_Timestamp"],
    "scratch_memory_trace": [
        "Kind", "Operation", "Agent_Id", "Queue_Id", "Thread_Id", "Alloc_Flags", "Start_Timestamp",
        "End_Timestamp", "Allocation_Size"],
    "agent_info": AGENT, "domain_stats": STATS,
    **{f"{name}_stats": STATS for name in (
        "hip_api", "hsa_api", "marker_api", "rccl_api", "opencl_api", "limpet_api", "kernel", "memory_copy",
        "memory_allocation", "scratch_memory")},
}
VIEWS = """code_objects kernel_symbols processes threads regions region_args samples sample_regions
regions_and_samples kernels pmc_info pmc_events events_args stream_args memory_copies memory_allocations
scratch_memory counters_collection top_kernels busy top""".split()
TABLES = """metadata string info_node info_process info_thread info_agent info_queue info_stream info_pmc
info_code_object info_kernel_symbol track event arg pmc_event region sample kernel_dispatch memory_copy
memory_allocate""".split()
VEC_ADD = "vecAdd(float const*, float const*, float*, int)"
REDUCE = "math::Tensor<float>::reduce(float const*, int)"


def make(path, rounds=ROUNDS, processes=1):
    """Writes a recording; what must be in it."""
    done = subprocess.run([os.path.join(PROGRAMS, "make_gpu_recording"), path, str(rounds), str(processes)],
                          stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def output(*arguments, cwd=None, code=0, **options):
    done = subprocess.run([os.path.join(PROGRAMS, "amd_output"), *arguments], cwd=cwd, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != code:
        raise AssertionError(f"amd_output: {done.returncode} {done.stdout} {done.stderr}")
    return done


class Sums(dict):
    """{(domain, name): [how many, nanoseconds]}"""

    def add(self, domain, name, duration_ns):
        found = self.setdefault((domain, name), [0, 0])
        found[0] += 1
        found[1] += duration_ns


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


NAME_COLUMNS = {"kernel_trace": "Kernel_Name", "memory_copy_trace": "Direction",
                "memory_allocation_trace": "Operation", "scratch_memory_trace": "Operation"}


def sums_of_csv(prefix):
    sums = Sums()
    for path in glob.glob(prefix + "_*_trace.csv"):
        kind = re.sub(r".*?_([a-z_]+_trace)\.csv", r"\1", os.path.basename(path))
        for row in rows(path):
            sums.add(row.get("Domain") or row.get("Kind"), row[NAME_COLUMNS.get(kind, "Function")],
                     int(row["End_Timestamp"]) - int(row["Start_Timestamp"]))
    return sums


def sums_of_database(path):
    sums = Sums()
    database = sqlite3.connect(path)
    for category, name, extdata, duration in database.execute(
            "SELECT category, name, extdata, duration FROM regions_and_samples"):
        sums.add(category, json.loads(extdata).get("message", name), duration)
    for table, name in (("kernels", "name"), ("memory_copies", "name")):
        for row in database.execute(f"SELECT category, {name}, duration FROM {table}"):
            sums.add(*row)
    words = {("ALLOC", "REAL"): "MEMORY_ALLOCATION_ALLOCATE", ("FREE", "REAL"): "MEMORY_ALLOCATION_FREE",
             ("ALLOC", "SCRATCH"): "SCRATCH_MEMORY_ALLOC", ("FREE", "SCRATCH"): "SCRATCH_MEMORY_FREE"}
    for category, kind, level, duration in database.execute(
            "SELECT category, type, level, duration FROM memory_allocations"):
        sums.add(category, words[kind, level], duration)
    database.close()
    return sums


def sums_of_json(path):
    sums = Sums()
    with open(path, encoding="utf-8") as file:
        processes = json.load(file)["rocprofiler-sdk-tool"]
    for process in processes:
        kinds = process["strings"]["buffer_records"]
        messages = {entry["key"]: entry["value"] for entry in process["strings"]["marker_api"]}
        kernels = {symbol["kernel_id"]: symbol["formatted_kernel_name"] for symbol in process["kernel_symbols"]}
        for records in process["buffer_records"].values():
            for record in records:
                kind = kinds[record["kind"]]
                name = kind["operations"][record["operation"]]
                if name in ("roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA"):
                    name = messages[record["correlation_id"]["internal"]]
                if "dispatch_info" in record:
                    name = kernels[record["dispatch_info"]["kernel_id"]]
                sums.add(kind["kind"], name, record["end_timestamp"] - record["start_timestamp"])
    return sums


CATEGORIES = {
    "alloc": "LIMPET_ALLOC", "marker_api": "MARKER_CORE_RANGE_API", "opencl_api": "OPENCL_API",
    "hip_api": "HIP_RUNTIME_API_EXT", "hsa_api": "HSA_CORE_API", "rccl_api": "RCCL_API",
    "kernel_dispatch": "KERNEL_DISPATCH", "memory_copy": "MEMORY_COPY", "memory_allocation": "MEMORY_ALLOCATION",
    "scratch_memory": "SCRATCH_MEMORY"}
# Categories are wider than kinds: what begins so is of another one.
NARROWER = {"__hip": "HIP_COMPILER_API_EXT", "hsa_ext_image": "HSA_IMAGE_EXT_API",
            "hsa_ext_program": "HSA_FINALIZE_EXT_API", "hsa_amd_": "HSA_AMD_EXT_API",
            "roctxProfiler": "MARKER_CONTROL_API"}


def sums_of_pftrace(path):
    sums = Sums()
    trace = perfetto.Trace(path)
    for slice_ in trace.slices + [dict(mark, end=mark["begin"]) for mark in trace.marks]:
        kinds = [kind for head, kind in NARROWER.items() if slice_["name"].startswith(head)]
        sums.add((kinds or [CATEGORIES[slice_["category"]]])[0], slice_["name"], slice_["end"] - slice_["begin"])
    return sums


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="amd-files-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.file("app.limpet")
        self.expected = make(self.path)

    def file(self, name):
        return os.path.join(self.folder, name)

    def export(self, form, name):
        result = limpet("export", self.path, "-f", form, "-o", self.file(name))
        self.assertEqual(result.code, 0, str(result))
        return self.file(name)


class Agreement(Folder):
    def test_four_formats_say_the_same(self):
        output(self.path, "-d", self.folder, "-o", "x", "-f", "csv", "-f", "json", "-f", "rocpd", "-f", "pftrace")
        from_csv = sums_of_csv(self.file("x"))
        self.assertEqual(sums_of_database(self.file("x_results.db")), from_csv)
        self.assertEqual(sums_of_json(self.file("x_results.json")), from_csv)
        self.assertEqual(sums_of_pftrace(self.file("x_results.pftrace")), from_csv)
        counts = {name: count for (_, name), (count, _) in from_csv.items()}
        told = self.expected["functions"]
        self.assertEqual([counts[name] for name in (VEC_ADD, "plain_kernel", REDUCE)], self.expected["kernels"])
        for direction, copies in self.expected["copies"].items():
            self.assertEqual(counts["MEMORY_COPY_" + direction], copies)
        for name in ("hipMalloc", "hipFree", "hipMemcpyAsync", "hipLaunchKernel", "__hipPushCallConfiguration",
                     "hsa_signal_create", "hsa_ext_image_create", "hsa_ext_program_create", "ncclAllReduce",
                     "clEnqueueNDRangeKernel", "malloc", "roctxProfilerPause"):
            self.assertEqual(counts[name], told[name], name)
        self.assertEqual((counts['step "one"'], counts["span"], counts["here"]), (ROUNDS,) * 3)

    def test_report_and_limpets_own_formats_agree(self):
        events = limpet("report", self.path, "--json").events
        kernels = {event["name"]: [event["calls"], event["total_ns"]] for event in events
                   if event["event"] == "kernel"}
        sums = sums_of_csv(self.export("rocprof-csv", "x"))
        self.assertEqual(kernels, {name: value for (kind, name), value in sums.items() if kind == "KERNEL_DISPATCH"})
        copied = sum(event["bytes"] for event in events if event["event"] == "copy")
        self.assertEqual(copied, self.expected["copied_bytes"])
        self.assertNotIn("kernel", {event["name"] for event in events if event["event"] == "function"})
        flat = [row for row in rows(self.export("csv", "y.csv")) if row["domain"] == "kernel"]
        self.assertEqual({row["name"] for row in flat}, set(kernels))
        self.assertEqual({(row["device"], row["queue"]) for row in flat}, {("1", "1"), ("2", "2")})


class Csv(Folder):
    def test_names_and_headers(self):
        prefix = self.export("rocprof-csv", "out/deep/x")
        found = {os.path.basename(path)[2:-4]: path for path in glob.glob(prefix + "_*.csv")}
        self.assertEqual(set(found), set(HEADERS))
        for name, path in found.items():
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.readline(), ",".join(f'"{column}"' for column in HEADERS[name]) + "\n", name)

    def test_texts_are_quoted_and_numbers_bare(self):
        prefix = self.export("rocprof-csv", "x")
        with open(prefix + "_kernel_trace.csv", encoding="utf-8") as file:
            line = file.readlines()[1]
        self.assertRegex(line, r'^"KERNEL_DISPATCH","Agent 1",1,0,1001,1,1,"vecAdd\(.*\)",\d+,\d+,\d+,'
                               r'512,16,,,,256,1,1,1024,1,1\n$')
        with open(prefix + "_marker_api_trace.csv", encoding="utf-8") as file:
            self.assertIn('"MARKER_CORE_RANGE_API","step ""one""",', file.read())
        freed = [row for row in rows(prefix + "_memory_allocation_trace.csv") if "FREE" in row["Operation"]]
        self.assertEqual({row["Agent_Id"] for row in freed}, {""})
        self.assertRegex(freed[0]["Address"], "^0x[0-9a-f]{16}$")

    def test_work_is_linked_to_its_call(self):
        prefix = self.export("rocprof-csv", "x")
        calls = {row["Correlation_Id"]: row["Function"] for name in ("hip", "opencl")
                 for row in rows(f"{prefix}_{name}_api_trace.csv")}
        causes = {row["Kernel_Name"]: calls[row["Correlation_Id"]] for row in rows(prefix + "_kernel_trace.csv")}
        self.assertEqual(causes, {VEC_ADD: "hipLaunchKernel", "plain_kernel": "hipLaunchKernel",
                                  REDUCE: "clEnqueueNDRangeKernel"})
        for row in rows(prefix + "_memory_copy_trace.csv"):
            if row["Direction"] == "MEMORY_COPY_HOST_TO_DEVICE":
                self.assertEqual(calls[row["Correlation_Id"]], "hipMemcpyAsync")
                self.assertEqual((row["Source_Agent_Id"], row["Destination_Agent_Id"]), ("Agent 0", "Agent 1"))
            else:
                self.assertEqual(row["Correlation_Id"], "0")

    def test_statistics_add_up(self):
        prefix = self.export("rocprof-csv", "x")
        stats = rows(prefix + "_kernel_stats.csv")
        self.assertAlmostEqual(sum(float(row["Percentage"]) for row in stats), 100, delta=0.1)
        totals = [int(row["TotalDurationNs"]) for row in stats]
        self.assertEqual(totals, sorted(totals, reverse=True))
        domain = [row for row in rows(prefix + "_domain_stats.csv") if row["Name"] == "KERNEL_DISPATCH"]
        self.assertEqual(int(domain[0]["TotalDurationNs"]), sum(totals))

    def test_agents(self):
        agents = rows(self.export("rocprof-csv", "x") + "_agent_info.csv")
        self.assertEqual([(row["Node_Id"], row["Agent_Type"], row["Name"]) for row in agents],
                         [("0", "CPU", 'A "host", processor'), ("1", "GPU", "gfx942"), ("2", "GPU", "gfx90a"),
                          ("255", "GPU", "unknown")])
        self.assertEqual((agents[0]["Cpu_Cores_Count"], agents[0]["Cu_Count"]), ("96", "0"))
        found = {name: agents[1][name] for name in (
            "Simd_Count", "Cu_Count", "Num_Shader_Banks", "Cu_Per_Engine", "Max_Waves_Per_Cu", "Device_Id",
            "Workgroup_Max_Dim_X", "Model_Name")}
        self.assertEqual(found, {
            "Simd_Count": "1216", "Cu_Count": "304", "Num_Shader_Banks": "32", "Cu_Per_Engine": "9",
            "Max_Waves_Per_Cu": "32", "Device_Id": "29857", "Workgroup_Max_Dim_X": "1024", "Model_Name": "ip"})

    def test_correlation_ids_count_from_1(self):
        prefix = self.export("rocprof-csv", "x")
        ids = {}
        for path in glob.glob(prefix + "_*_api_trace.csv"):
            for row in rows(path):
                self.assertNotIn(row["Correlation_Id"], ids)
                ids[row["Correlation_Id"]] = int(row["Start_Timestamp"])
        self.assertEqual(sorted(map(int, ids)), list(range(1, len(ids) + 1)))
        self.assertEqual(ids["1"], min(ids.values()))

    def test_work_without_its_calls_has_ids_of_its_own(self):
        output(self.path, "-d", self.folder, "-o", "x", "-f", "csv", "--kernel-include-regex", "reduce")
        self.assertEqual(len({row["Correlation_Id"] for row in rows(self.file("x_kernel_trace.csv"))}), ROUNDS)


class Rocpd(Folder):
    def setUp(self):
        super().setUp()
        self.database = sqlite3.connect(self.export("rocpd", "x.db"))
        self.addCleanup(self.database.close)

    def one(self, query):
        return self.database.execute(query).fetchone()

    def test_every_view_runs(self):
        for name in VIEWS + ["rocpd_" + table for table in TABLES]:
            with self.subTest(name):
                self.database.execute(f"SELECT * FROM {name}").fetchall()
        for name in ("kernels", "regions", "memory_copies", "memory_allocations", "scratch_memory", "samples",
                     "top_kernels", "busy", "top", "threads", "processes", "kernel_symbols", "region_args"):
            self.assertGreater(self.one(f"SELECT count(*) FROM {name}")[0], 0, name)

    def test_it_is_sound(self):
        self.assertEqual(self.one("PRAGMA integrity_check"), ("ok",))
        self.assertEqual(self.database.execute("PRAGMA foreign_key_check").fetchall(), [])
        self.assertGreater(len(self.database.execute(
            "SELECT * FROM pragma_foreign_key_list((SELECT name FROM sqlite_master WHERE name LIKE "
            "'rocpd_kernel_dispatch_%'))").fetchall()), 5)

    def test_tables_have_the_suffix_of_the_file(self):
        facts = dict(self.database.execute("SELECT tag, value FROM rocpd_metadata"))
        self.assertEqual(facts["schema_version"], "3.0.1")
        self.assertEqual(facts["uuid"], "_" + facts["guid"].replace("-", "_"))
        self.assertRegex(facts["guid"], "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        names = {row[0] for row in self.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.assertLessEqual({f"rocpd_{table}{facts['uuid']}" for table in TABLES}, names)
        guids = {row[0] for row in self.database.execute("SELECT DISTINCT guid FROM rocpd_event")}
        self.assertEqual(guids, {facts["guid"]})

    def test_rows(self):
        self.assertEqual(self.one("SELECT sum(size) FROM memory_copies")[0], self.expected["copied_bytes"])
        self.assertEqual(self.one("SELECT queue, stream, agent_type, tid, grid_x FROM kernels ORDER BY start"),
                         ("queue of compute", "Default Stream", "GPU", 1001, 1024))
        self.assertEqual(self.one("SELECT pid, ppid, command FROM processes"),
                         (self.expected["pid"], 4000, "gpu --fast \N{REPLACEMENT CHARACTER}"))
        self.assertEqual(self.one("SELECT kernel_name, truncated_kernel_name FROM kernel_symbols WHERE id = 1"),
                         ("_Z6vecAddPKfS0_Pfi.kd", "vecAdd"))
        linked = self.one("SELECT count(*) FROM kernels k JOIN regions r ON r.stack_id = k.stack_id")[0]
        self.assertEqual(linked, sum(self.expected["kernels"]))
        self.assertEqual(self.one("SELECT value FROM region_args JOIN regions USING (id) "
                                  "WHERE regions.name = 'hipFree' AND region_args.name = 'result'"), ("-2",))

    def test_agents_are_whole(self):
        uuid, model, extdata = self.one("SELECT uuid, model_name, extdata FROM rocpd_info_agent WHERE id = 1")
        self.assertEqual((uuid, model), (29857, "ip"))
        whole = json.loads(extdata)
        self.assertEqual((whole["cu_count"], whole["simd_count"], whole["node_id"], whole["type"]), (304, 1216, 1, 2))
        self.assertEqual(whole["uuid"]["bytes"], [2, 1] + [0] * 14)
        self.assertEqual(whole["workgroup_max_dim"], {"x": 1024, "y": 1024, "z": 1024})
        self.assertEqual(self.one("SELECT count(*), max(id) FROM rocpd_info_agent"), (4, 255))
        self.assertEqual(self.one("SELECT count(*) FROM memory_copies WHERE src_agent_abs_index = 255")[0], ROUNDS / 4)

    def test_names_of_columns(self):
        columns = {view: [row[1] for row in self.database.execute(f"PRAGMA table_info({view})")]
                   for view in ("sample_regions", "kernels")}
        self.assertIn("END", columns["sample_regions"])
        self.assertNotIn("agent_id", columns["kernels"])
        self.assertEqual({row[0] for row in self.database.execute("SELECT alloc_flags FROM scratch_memory")},
                         {"0", "2"})
        self.assertEqual(self.one("SELECT max(id) FROM rocpd_info_kernel_symbol"), (3,))

    def test_the_same_recording_has_the_same_guid(self):
        again = sqlite3.connect(self.export("rocpd", "y.db"))
        self.addCleanup(again.close)
        query = "SELECT value FROM rocpd_metadata WHERE tag = 'guid'"
        self.assertEqual(again.execute(query).fetchone(), self.one(query))

    def test_it_needs_a_file(self):
        result = limpet("export", self.path, "-f", "rocpd", "-o", "-")
        self.assertEqual(result.code, 2, str(result))
        self.assertIn("-o FILE.db", result.err)


class Json(Folder):
    def setUp(self):
        super().setUp()
        with open(self.export("rocprof-json", "x_results.json"), encoding="utf-8") as file:
            [self.process] = json.load(file)["rocprofiler-sdk-tool"]
        self.records = self.process["buffer_records"]

    def test_symbols_are_indexed_by_kernel(self):
        symbols = self.process["kernel_symbols"]
        self.assertEqual([symbol["kernel_id"] for symbol in symbols], [0, 1, 2, 3])
        names = {symbols[record["dispatch_info"]["kernel_id"]]["formatted_kernel_name"]
                 for record in self.records["kernel_dispatch"]}
        self.assertEqual(names, {VEC_ADD, "plain_kernel", REDUCE})

    def test_fields(self):
        sizes = {name: {record["size"] for record in records} for name, records in self.records.items() if records}
        self.assertEqual({name: sizes[name] for name in ("kernel_dispatch", "memory_copy", "memory_allocation",
                                                         "scratch_memory", "hsa_api", "hip_api")},
                         {"kernel_dispatch": {184}, "memory_copy": {96}, "memory_allocation": {88},
                          "scratch_memory": {96}, "hsa_api": {64}, "hip_api": {176}})
        self.assertRegex(self.records["memory_allocation"][0]["address"], "^0x[0-9a-f]{16}$")
        self.assertEqual({record["dispatch_info"]["size"] for record in self.records["kernel_dispatch"]}, {72})
        self.assertEqual(self.process["metadata"]["config"]["kernel_rename"], False)
        self.assertEqual(self.process["host_functions"], [])
        self.assertEqual([agent["cu_count"] for agent in self.process["agents"]], [0, 304, 0, 0])

    def test_kinds_and_operations(self):
        kinds = self.process["strings"]["buffer_records"]
        operations = {kind["kind"]: kind["operations"] for kind in kinds}
        self.assertEqual(len(operations["MEMORY_ALLOCATION"]), 5)
        self.assertEqual(len(operations["SCRATCH_MEMORY"]), 4)
        ours = {i for i, kind in enumerate(kinds) if kind["kind"].startswith(("LIMPET_", "OPENCL"))}
        self.assertGreaterEqual(min(ours), 100)


class Perfetto(Folder):
    def test_categories(self):
        found = {slice_["category"] for slice_ in perfetto.Trace(self.export("pftrace", "x.pftrace")).slices}
        self.assertEqual(found, {"hip_api", "hsa_api", "marker_api", "rccl_api", "opencl_api", "kernel_dispatch",
                                 "memory_copy", "memory_allocation", "scratch_memory", "alloc"})

    def test_tracks_flows_and_counters(self):
        trace = perfetto.Trace(self.export("pftrace", "x.pftrace"))
        tracks = {slice_["track_name"] for slice_ in trace.slices if slice_.get("track_name")}
        self.assertLessEqual({"COMPUTE Agent [1] QUEUE [1] GPU", "COMPUTE Agent [2] QUEUE [2] GPU",
                              "COPY to AGENT [1] THREAD [0] (GPU)", "COPY to AGENT [0] THREAD [0] (CPU)"}, tracks)
        flows = {}
        for slice_ in trace.slices:
            for flow in slice_["flows"]:
                flows.setdefault(flow, []).append(slice_)
        launched = [{slice_["name"] for slice_ in slices} for slices in flows.values() if len(slices) > 1]
        self.assertIn({"clEnqueueNDRangeKernel", REDUCE}, launched)
        self.assertIn({"hipLaunchKernel", VEC_ADD}, launched)
        self.assertEqual(len([names for names in launched if REDUCE in names]), self.expected["kernels"][2])
        for name in ("COPY BYTES to Agent [1] (GPU)", "ALLOCATE BYTES on Agent [1] (GPU)",
                     "SCRATCH MEMORY on Agent [1] (GPU)"):
            values = [value for _, value in trace.amounts[name]]
            self.assertGreater(max(values), 0)
            self.assertEqual(values[-1], 0)
            self.assertGreaterEqual(min(values), 0)

    def test_streams(self):
        output(self.path, "-d", self.folder, "-o", "x", "-f", "pftrace")
        trace = perfetto.Trace(self.file("x_results.pftrace"))
        kernels = {slice_["track_name"] for slice_ in trace.slices if slice_["category"] == "kernel_dispatch"}
        self.assertEqual(kernels, {"STREAM [0]", "STREAM [1]"})

    def test_chrome_draws_arrows(self):
        with open(self.export("chrome", "x.chrome.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        threads = {event["tid"]: event["args"]["name"] for event in events
                   if event["ph"] == "M" and event["name"] == "thread_name"}
        kernels = {threads[event["tid"]] for event in events if event.get("cat") == "kernel" and event["ph"] == "X"}
        self.assertEqual(kernels, {"COMPUTE Agent [1] QUEUE [1] GPU", "COMPUTE Agent [2] QUEUE [2] GPU"})
        begins = {event["id"]: event for event in events if event["ph"] == "s"}
        ends = {event["id"]: event for event in events if event["ph"] == "f"}
        self.assertEqual(set(begins), set(ends))
        self.assertTrue(all(begins[key]["ts"] <= ends[key]["ts"] for key in begins))


class Output(Folder):
    def test_names_follow_the_rules(self):
        done = output(self.path, "-d", "%rank%-of-%size%", "-o", "{hostname}/%q{CASE}_%ppid%", "-f", "rocpd",
                      cwd=self.folder)
        self.assertIn("file 3-of-8/node7/a_b_4000_results.db\n", done.stdout)
        self.assertTrue(os.path.isfile(self.file("3-of-8/node7/a_b_4000_results.db")))

    def test_the_usual_name(self):
        output(self.path, "-f", "json", cwd=self.folder)
        self.assertTrue(os.path.isfile(self.file(f"node7/{self.expected['pid']}_results.json")))

    def test_files_are_replaced_and_nothing_else_stays(self):
        for _ in range(2):
            output(self.path, "-d", self.folder, "-o", "x", "-f", "rocpd", "-f", "csv")
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])
        sums_of_database(self.file("x_results.db"))

    def test_a_file_in_the_way(self):
        with open(self.file("out"), "w", encoding="utf-8"):
            pass
        done = output(self.path, "-d", self.file("out"), "-f", "csv", code=1)
        self.assertRegex(done.stderr, "out' exists and is no folder|Not a directory")

    def test_a_full_disk(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        done = output(self.path, "-d", self.folder, "-o", "x", "-f", "rocpd", code=1, preexec_fn=limit)
        self.assertIn("x_results.db", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["app.limpet"])

    def test_forms_of_names(self):
        for option, name in (("-M", "_Z6vecAddPKfS0_Pfi.kd"), ("-T", "vecAdd")):
            output(self.path, "-d", self.folder, "-o", "x", "-f", "csv", option)
            self.assertIn(name, {row["Kernel_Name"] for row in rows(self.file("x_kernel_trace.csv"))})
        output(self.path, "-d", self.folder, "-o", "x", "-f", "csv", "-A", "type-relative")
        self.assertEqual({row["Agent_Id"] for row in rows(self.file("x_kernel_trace.csv"))}, {"GPU 0", "GPU 1"})

    def test_kernels_by_the_range_that_launched_them(self):
        output(self.path, "-d", self.folder, "-o", "x", "-f", "csv", "-f", "rocpd", "-f", "json",
               "--kernel-rename")
        names = [row["Kernel_Name"] for row in rows(self.file("x_kernel_trace.csv"))]
        self.assertEqual({name: names.count(name) for name in names}, {'step "one"': ROUNDS, REDUCE: ROUNDS})
        with open(self.file("x_results.json"), encoding="utf-8") as file:
            results = json.load(file)["rocprofiler-sdk-tool"][0]
        regions = {entry["key"]: entry["value"] for entry in results["strings"]["correlation_id"]["external"]}
        renamed = [regions.get(record["correlation_id"]["external"])
                   for record in results["buffer_records"]["kernel_dispatch"]]
        self.assertEqual((renamed.count('step "one"'), renamed.count(None)), (ROUNDS, ROUNDS))
        database = sqlite3.connect(self.file("x_results.db"))
        self.addCleanup(database.close)
        self.assertEqual(set(database.execute("SELECT name, region FROM kernels")),
                         {(VEC_ADD, 'step "one"'), ("plain_kernel", 'step "one"'), (REDUCE, "")})

    def test_filters(self):
        def kernels(*options):
            output(self.path, "-d", self.folder, "-o", "x", "-f", "csv", *options)
            return [row["Kernel_Name"] for row in rows(self.file("x_kernel_trace.csv"))]
        self.assertEqual(set(kernels("--kernel-include-regex", "vec|plain")), {VEC_ADD, "plain_kernel"})
        self.assertEqual(set(kernels("--kernel-exclude-regex", "^plain")), {VEC_ADD, REDUCE})
        found = kernels("--kernel-iteration-range", "[2-3],[5]", "--kernel-include-regex", "reduce")
        self.assertEqual(found, [REDUCE] * 3)
        done = output(self.path, "-f", "csv", "--kernel-include-regex", "(", code=2)
        self.assertIn("invalid regular expression", done.stderr)
        done = output(self.path, "-f", "csv", "--kernel-iteration-range", "[0-3]", code=2)
        self.assertIn("is not a range of iterations", done.stderr)

    def test_statistics_only_when_asked_for(self):
        output(self.path, "-d", self.folder, "-o", "x", "-f", "csv")
        self.assertEqual(glob.glob(self.file("x_*_stats.csv")), [])
        output(self.path, "-d", self.folder, "-o", "x", "-f", "csv", "--stats")
        self.assertEqual(len(glob.glob(self.file("x_*_stats.csv"))), 11)


class Processes(Folder):
    """Two processes in one recording, with the same numbers for everything."""

    def setUp(self):
        super().setUp()
        self.expected = make(self.path, processes=2)
        self.second = self.expected["pid"] + 1

    def check(self, path, processes):
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        self.assertEqual(database.execute("PRAGMA foreign_key_check").fetchall(), [])
        found = dict(database.execute("SELECT pid, count(*) FROM kernels GROUP BY pid"))
        self.assertEqual(found, {pid: sum(self.expected["kernels"]) / 2 for pid in processes})

    def test_one_export_holds_both(self):
        self.check(self.export("rocpd", "x.db"), [self.expected["pid"], self.second])
        with open(self.export("rocprof-json", "x_results.json"), encoding="utf-8") as file:
            processes = json.load(file)["rocprofiler-sdk-tool"]
        self.assertEqual([process["metadata"]["pid"] for process in processes], [self.expected["pid"], self.second])
        trace = perfetto.Trace(self.export("pftrace", "x.pftrace"))
        self.assertEqual({slice_["pid"] for slice_ in trace.slices}, {self.expected["pid"], self.second})

    def test_sets_of_files_are_told_apart(self):
        output(self.path, "-d", self.folder, "-o", "x", "-f", "rocpd", "-f", "csv", "-f", "pftrace")
        for prefix, pid in (("x", self.expected["pid"]), (f"x_{self.second}", self.second)):
            self.check(self.file(prefix + "_results.db"), [pid])
            calls = rows(self.file(prefix + "_hip_api_trace.csv"))
            self.assertEqual({int(row["Process_Id"]) for row in calls}, {pid})
            trace = perfetto.Trace(self.file(prefix + "_results.pftrace"))
            self.assertEqual({slice_["pid"] for slice_ in trace.slices}, {pid})


class Summary(Folder):
    def table(self, text, title):
        """Rows of one table as dicts."""
        lines = text[text.index(f"ROCPROFV3 {title}:"):].splitlines()
        head, rule, *body = [line.strip() for line in lines[2:]]
        self.assertRegex(rule, r"^\|(-+\|){9}$")
        columns = [cell.strip() for cell in head.strip("|").split(" | ")]
        found = []
        for line in body:
            if not line:
                break
            self.assertEqual(len(line), len(head))
            found.append(dict(zip(columns, [cell.strip() for cell in line.strip("|").split(" | ")])))
        return found

    def test_all_in_one_table(self):
        done = output(self.path, "-S")
        found = self.table(done.stderr, "SUMMARY")
        self.assertEqual(list(found[0]), ["NAME", "DOMAIN", "CALLS", "DURATION (nsec)", "AVERAGE (nsec)",
                                          "PERCENT (INC)", "MIN (nsec)", "MAX (nsec)", "STDDEV"])
        durations = [int(row["DURATION (nsec)"]) for row in found]
        self.assertEqual(durations, sorted(durations, reverse=True))
        self.assertAlmostEqual(sum(float(row["PERCENT (INC)"]) for row in found), 100, delta=0.01)
        kernel = [row for row in found if row["NAME"] == REDUCE][0]
        self.assertEqual((kernel["DOMAIN"], int(kernel["CALLS"])), ("KERNEL_DISPATCH", self.expected["kernels"][2]))

    def test_per_domain_and_units(self):
        done = output(self.path, "-D", "-u", "usec", "--summary-output-file", "stdout")
        self.assertEqual(re.findall("ROCPROFV3 (.*):", done.stdout),
                         [f"{name} SUMMARY" for name in (
                             "HSA_API", "HIP_API", "MARKER_API", "KERNEL_DISPATCH", "MEMORY_COPY", "SCRATCH_MEMORY",
                             "RCCL_API", "MEMORY_ALLOCATION", "OPENCL_API", "LIMPET_API")])
        found = self.table(done.stdout, "HIP_API SUMMARY")
        self.assertIn("DURATION (usec)", found[0])

    def test_groups_go_into_a_file(self):
        output(self.path, "-d", self.folder, "-o", "x", "--summary-groups", "KERNEL_DISPATCH|MEMORY_COPY",
               "--summary-groups", "HIP_API", "--summary-output-file", "sum")
        with open(self.file("x_sum.txt"), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("\nROCPROFV3 KERNEL_DISPATCH + MEMORY_COPY SUMMARY:\n\n|"))
        found = self.table(text, "KERNEL_DISPATCH + MEMORY_COPY SUMMARY")
        self.assertEqual({row["DOMAIN"] for row in found}, {"KERNEL_DISPATCH", "MEMORY_COPY"})

    def test_an_empty_group_is_said(self):
        done = output(self.path, "--summary-groups", "ROCDECODE_API")
        self.assertIn("note the summary of 'ROCDECODE_API' is empty", done.stdout)
        self.assertIn("unknown unit 'hour'", output(self.path, "-S", "-u", "hour", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
