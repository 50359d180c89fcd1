#!/usr/bin/env python3
"""
PM sampling of NVIDIA's devices, from a stand-in of NVIDIA's libraries that a process of limpet's own asks: windows are made
of all samples but the first, refusals are named, and nothing of it comes into the target.
"""

import contextlib
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness
from harness import TargetTest, limpet, limpet_finish, limpet_start, wait_until

STANDIN = os.environ.get("CUDA", ".")
USUAL = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed": "%", "sm__warps_active.avg.pct_of_peak_sustained_elapsed": "%",
         "dram__bytes.avg.pct_of_peak_sustained_elapsed": "%", "dram__bytes_read.sum.per_second": "B/s",
         "dram__bytes_write.sum.per_second": "B/s", "sm__inst_executed.avg.per_cycle_elapsed": ""}
MEAN = 40
INSTALLED = glob.glob("/usr/local/cuda*/**/libcupti.so.1*", recursive=True)  # NVIDIA's own, which no stand-in satisfies
A_SAMPLE, PERIOD_S = 1000, 0.01


class PmSampling(TargetTest):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="limpet-pm-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "it.limpet")
        self.target = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(self.end_process, self.target)

    def limpet(self, *words, code=0, library=STANDIN, **variables):
        result = limpet(*words, env=dict(os.environ, LD_LIBRARY_PATH=library, **variables))
        self.assertEqual(result.code, code, str(result))
        return result

    def stat(self, *words, seconds=1, **variables):
        result = self.limpet("stat", self.target.pid, "-d", seconds, "--json", *words, **variables)
        rows = [json.loads(line) for line in result.out.splitlines()]
        return {row["name"]: row for row in rows if row.get("of") == "device" and row["scope"] == "total" and "__" in row["name"]}

    def end_of(self, window):
        return window["begin_ns"] + window["duration_ns"]

    def test_the_usual_metrics_of_the_device_that_cuda_sees(self):
        rows = self.stat("--gpu", "--pm")
        self.assertEqual({name: row["unit"] for name, row in rows.items()}, USUAL)
        for name, row in rows.items():
            self.assertEqual(row["device"], "Stand-in GPU 1")
            self.assertAlmostEqual(row["value"], MEAN, delta=MEAN / 5, msg=name)
        with open(f"/proc/{self.target.pid}/maps", encoding="utf-8") as maps:
            self.assertNotIn("cupti", maps.read())

    def test_sums_are_of_all_samples_but_the_first(self):
        rows = self.stat("--pm-metrics", "dram__bytes_read.sum,sm__warps_active.avg")
        self.assertEqual(set(rows), {"dram__bytes_read.sum", "sm__warps_active.avg"})
        samples = rows["dram__bytes_read.sum"]["value"] / A_SAMPLE
        self.assertEqual(samples, int(samples))
        self.assertGreaterEqual(samples, 0.9 / PERIOD_S)
        self.assertAlmostEqual(rows["sm__warps_active.avg"]["value"], MEAN * samples, delta=MEAN)

    def test_a_chip_that_has_only_cycles(self):
        self.assertEqual(set(self.stat("--pm", STANDIN_PM_CYCLES="1")), set(USUAL))

    def test_recorded_on_limpets_clock(self):
        self.limpet("record", "-p", self.target.pid, "--pm", "-d", "1", "-o", self.path)
        data = json.loads(self.limpet("export", self.path, "-f", "json", "-o", "-").out)
        metrics = {metric["name"]: index for index, metric in enumerate(data["metrics"])}
        self.assertLessEqual(set(USUAL) | {"gpu.power"}, set(metrics))
        of_both = [[window for window in data["windows"] if window["metric"] == metrics[name]]
                   for name in ("gpu.power", "dram__bytes_read.sum.per_second")]
        power, dram = of_both
        self.assertGreaterEqual(len(dram), 2)
        self.assertLess(abs(self.end_of(dram[-1]) - self.end_of(power[-1])), 1e9)
        for before, after in zip(dram, dram[1:]):
            self.assertLessEqual(abs(self.end_of(before) - after["begin_ns"]), 1e8)
        self.assertIn("dram__bytes.avg.pct_of_peak_sustained_elapsed, Stand-in GPU 1",
                      self.limpet("report", self.path, "-n", "0").out)

    def test_what_a_full_buffer_lost_is_missing(self):
        for variables in ({}, {"STANDIN_PM_LATE": "1"}):
            rows = self.stat("--pm", "-I", "0.4", STANDIN_PM_OVERFLOWS="1", seconds=0.3, **variables)
            self.assertEqual(set(rows), set(USUAL))
            self.assertEqual({row.get("value") for row in rows.values()}, {None}, rows)

    def test_what_is_no_number_for_a_while_is_missing(self):
        rows = self.stat("--pm", STANDIN_PM_NAN="1")
        missing = {name for name, row in rows.items() if row.get("value") is None}
        self.assertEqual(missing, {"sm__inst_executed.avg.per_cycle_elapsed"}, rows)

    def test_what_cannot_be_decoded_is_a_failure(self):
        result = self.limpet("stat", self.target.pid, "--pm", "-d", "1", code=1, STANDIN_PM_UNDECODED="1")
        self.assertIn("CUPTI_ERROR_OF_STANDIN", result.err)

    @staticmethod
    def has_child(pid):
        for path in glob.glob(f"/proc/{pid}/task/*/children"):
            with contextlib.suppress(OSError):
                if pathlib.Path(path).read_text(encoding="utf-8").strip():
                    return True
        return False

    def test_a_library_that_does_not_come_back_is_interrupted(self):
        for words in (["stat", self.target.pid, "--pm"], ["stat", "--list", "--pm"],
                      ["record", "-p", self.target.pid, "--pm", "-o", self.path]):
            process = limpet_start(*words, env=dict(os.environ, LD_LIBRARY_PATH=STANDIN, STANDIN_PM_HANGS="1"))
            self.assertTrue(wait_until(lambda pid=process.pid: self.has_child(pid)), "it starts no process")
            process.send_signal(signal.SIGINT)
            result = limpet_finish(process, deadline_s=40)  # all that have its standard error have ended
            self.assertEqual(result.code, 1, str(result))
            self.assertIn("interrupted before limpet-nvml was ready", result.err)
            self.assertFalse(os.path.exists(self.path))

    def test_refusals_have_names(self):
        few = "sm__cycles_active.avg,dram__bytes_read.sum"
        for words, code, expected, variables in (
                (["--pm"], 1, "ERR_NVGPUCTRPERM", {"STANDIN_PM": "35"}),
                (["--pm"], 1, "NVreg_RestrictProfilingToAdminUsers=0", {"STANDIN_PM": "40"}),
                (["--pm"], 1, "another profiler holds", {"STANDIN_PM": "26"}),
                (["--pm-metrics", few], 1, "not of this device", {"STANDIN_PM_CHIP": "1"}),
                (["--pm"], 1, "refuses it", {"STANDIN_PM": "7"}),
                (["--pm-metrics", "dram__bytes_read.max"], 2, "dram__bytes_read.max", {}),
                (["--pm-metrics", "sm__nothing.sum"], 2, "sm__nothing.sum", {}),
                (["--pm-metrics", ",".join(["sm__cycles_active.avg"] * 9)], 2, "they take 2 passes", {}),
                (["--pm-metrics", ",".join(["sm__cycles_active.avg"] * 33)], 2, "32 can be sampled", {}),
                (["--pm-metrics", "x" * 5000], 2, "too many", {})):
            result = self.limpet("stat", self.target.pid, *words, "-d", "1", code=code, **variables)
            self.assertIn(expected, result.err)
        result = self.limpet("record", "-p", self.target.pid, "--pm", "-d", "1", "-o", self.path, code=1, STANDIN_PM="35")
        self.assertIn("ERR_NVGPUCTRPERM", result.err)
        self.assertFalse(os.path.exists(self.path))

    def test_without_the_library(self):
        for name in ("libnvidia-ml.so.1", "libcuda.so.1"):
            os.symlink(os.path.join(STANDIN, name), os.path.join(self.folder, name))
        result = self.limpet("stat", self.target.pid, "--pm", "-d", "1", library=self.folder, code=1)
        self.assertIn("libcupti" if not INSTALLED else "no PM sampling", result.err)

    def test_a_library_that_crashes_ends_nobody_but_its_process(self):
        result = self.limpet("stat", self.target.pid, "--pm", "-d", "1", code=1, STANDIN_PM_CRASHES="1")
        self.assertIn("limpet-nvml has ended", result.err)
        self.assertIsNone(self.target.poll())

    def test_the_list(self):
        self.assertRegex(self.limpet("stat", "--list", "--pm").out, r"\n  dram__bytes_read +of the stand-in\n")
        rows = [json.loads(line) for line in self.limpet("stat", "--list", "--pm", "--json").out.splitlines()]
        self.assertEqual(len([row for row in rows if row["event"] == "device-metric"]), 6)
        if not harness.has_library("libcuda.so.1"):
            refused = self.limpet("stat", "--list", "--pm", library=self.folder, code=1)
            self.assertIn("libcuda.so.1 is not there", refused.err)


class Library(TargetTest):
    """Which libcupti is loaded: never that of the process that is measured."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="limpet-pm-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.loads = os.path.join(self.folder, "loads")
        os.mkdir(self.loads)
        for name in ("libnvidia-ml.so.1", "libcuda.so.1"):
            shutil.copy(os.path.join(STANDIN, name), self.loads)

    def start(self, folder):
        os.makedirs(folder, exist_ok=True)
        mapped = os.path.join(folder, "libcupti.so.13")
        shutil.copy(os.path.join(STANDIN, "libcupti.so.13"), mapped)
        code = f"import ctypes; ctypes.CDLL({mapped!r}); print('loaded', flush=True); input()"
        target = subprocess.Popen(["python3", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env=dict(os.environ, LD_LIBRARY_PATH=self.loads))
        self.addCleanup(self.end_process, target)
        self.assertEqual(target.stdout.readline(), "loaded\n")
        return target

    def stat(self, target, library, **options):
        return limpet("stat", target.pid, "--pm", "-d", "0.5", env=dict(os.environ, LD_LIBRARY_PATH=library), **options)

    @unittest.skipIf(INSTALLED, "NVIDIA's own is there")
    def test_that_of_the_process_is_named_and_not_loaded(self):
        result = self.stat(self.start(self.folder), self.loads)
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("no libcupti is there", result.err)
        self.assertIn(f"LD_LIBRARY_PATH={self.folder} limpet", result.err)
        result = self.stat(self.start(os.path.join(self.folder, "a;b")), self.loads)
        self.assertNotIn("a;b", result.err)

    def test_one_that_is_too_old_does_not_hide_another(self):
        shutil.copy(os.path.join(STANDIN, "libnccl.so.2"), os.path.join(self.loads, "libcupti.so.13"))
        target = self.start(self.folder)
        if not INSTALLED:
            self.assertIn("libcupti is too old", self.stat(target, self.loads).err)
        shutil.copy(os.path.join(STANDIN, "libcupti.so.13"), os.path.join(self.loads, "libcupti.so.12"))
        result = self.stat(target, self.loads)
        self.assertEqual(result.code, 0, str(result))

    @unittest.skipIf(INSTALLED, "NVIDIA's own is there")
    def test_nothing_is_loaded_from_the_current_directory(self):
        result = self.stat(self.start(self.folder), f"{self.loads}:", cwd=STANDIN)
        self.assertIn("no libcupti is there", result.err)


if __name__ == "__main__":
    unittest.main()
