#!/usr/bin/env python3
"""
PM sampling of NVIDIA's devices, from a stand-in of NVIDIA's libraries that a process of limpet's own asks: windows are made
of all samples but the first, refusals are named, and nothing of it comes into the target.
"""

import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import TargetTest, limpet

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
        self.assertEqual(self.stat("--pm", "-I", "0.4", STANDIN_PM_OVERFLOWS="1", seconds=0.3), {})

    def test_refusals_have_names(self):
        few = "sm__cycles_active.avg,dram__bytes_read.sum"
        for words, code, expected, variables in (
                (["--pm"], 1, "ERR_NVGPUCTRPERM", {"STANDIN_PM": "35"}),
                (["--pm"], 1, "NVreg_RestrictProfilingToAdminUsers=0", {"STANDIN_PM": "40"}),
                (["--pm"], 1, "another profiler holds", {"STANDIN_PM": "26"}),
                (["--pm-metrics", few], 1, "not of this device", {"STANDIN_PM_CHIP": "1"}),
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
        self.assertIn("libcuda.so.1 is not there", self.limpet("stat", "--list", "--pm", library=self.folder, code=1).err)


class Library(TargetTest):
    """The library of the process that is measured, taken where nobody else can have put it there."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="limpet-pm-", dir="/root" if os.geteuid() == 0 else None)
        self.addCleanup(shutil.rmtree, self.folder)
        self.loads = os.path.join(self.folder, "loads")
        os.mkdir(self.loads)
        for name in ("libnvidia-ml.so.1", "libcuda.so.1"):
            shutil.copy(os.path.join(STANDIN, name), self.loads)
        self.mapped = os.path.join(self.folder, "libcupti.so.13")
        shutil.copy(os.path.join(STANDIN, "libcupti.so.13"), self.mapped)
        code = f"import ctypes; ctypes.CDLL({self.mapped!r}); print('loaded', flush=True); input()"
        self.target = subprocess.Popen(["python3", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                       env=dict(os.environ, LD_LIBRARY_PATH=self.loads))
        self.addCleanup(self.end_process, self.target)
        self.assertEqual(self.target.stdout.readline(), "loaded\n")

    def stat(self):
        return limpet("stat", self.target.pid, "--pm", "-d", "0.5", env=dict(os.environ, LD_LIBRARY_PATH=self.loads))

    def test_it_is_taken_from_a_safe_place_only(self):
        if os.geteuid() != 0:
            self.skipTest("folders above are others'")
        result = self.stat()
        self.assertEqual(result.code, 0, str(result))
        for path, mode in ((self.mapped, 0o666), (self.folder, 0o777)):
            before = os.stat(path).st_mode
            os.chmod(path, mode)
            result = self.stat()
            self.assertEqual(result.code, 1, path)
            self.assertIn("no libcupti is there" if not INSTALLED else "no PM sampling", result.err)
            os.chmod(path, before)
        os.chown(self.mapped, 65534, 65534)
        self.assertEqual(self.stat().code, 1)


if __name__ == "__main__":
    unittest.main()
