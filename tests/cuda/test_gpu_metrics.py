#!/usr/bin/env python3
"""
Metrics of NVIDIA's devices over time, from a stand-in of NVIDIA's library that a process of limpet's own asks: what is
told equals what the library says, what it does not say is left out, and nothing of it comes into the target.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness
from harness import TargetTest, limpet

STANDIN = os.environ.get("CUDA", ".")
MIB = 1 << 20
SAMPLED = {"gpu.engine_active": 1, "gpu.sm_active": 2, "gpu.sm_occupancy": 3, "gpu.integer_active": 4,
           "gpu.tensor_active": 5, "gpu.dram_active": 10, "gpu.fp64_active": 11, "gpu.fp32_active": 12,
           "gpu.fp16_active": 13, "gpu.pcie_sent": 20 * MIB, "gpu.pcie_received": 21 * MIB}
ASKED = {"gpu.utilization": 42, "gpu.power": 123.45, "gpu.sm_clock": 1980, "gpu.memory_clock": 2619,
         "gpu.memory_used": 5000 * MIB}
OF_PROCESS = {"gpu.process.sm_utilization": 30, "gpu.process.memory_used": 2000 * MIB}


class Metrics(TargetTest):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="limpet-gpu-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "it.limpet")
        self.target = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(self.end_process, self.target)

    def limpet(self, *words, code=0, has_library=True, **variables):
        environment = dict(variables, STANDIN_NVML_PID=str(self.target.pid))
        environment["LD_LIBRARY_PATH"] = STANDIN if has_library else self.folder
        result = limpet(*words, env=dict(os.environ, **environment))
        self.assertEqual(result.code, code, str(result))
        return result

    def stat(self, *words, **variables):
        result = self.limpet("stat", self.target.pid, "--gpu", "-d", "0.5", "--json", *words, **variables)
        rows = [json.loads(line) for line in result.out.splitlines()]
        return [row for row in rows if row.get("of") == "device"]

    def values(self, rows, device):
        return {row["name"]: row["value"] for row in rows
                if row["device"] == f"Stand-in GPU {device}" and row["scope"] == "total"}

    def assert_values(self, found, expected):
        self.assertEqual(set(found), set(expected))
        for name, value in expected.items():
            self.assertAlmostEqual(found[name], value, delta=value / 1000, msg=name)

    def test_stat_tells_what_the_library_says(self):
        rows = self.stat()
        self.assert_values(self.values(rows, 0), {**SAMPLED, **ASKED, **OF_PROCESS})
        self.assert_values(self.values(rows, 1), {**SAMPLED, **ASKED})
        units = {row["name"]: row["unit"] for row in rows}
        self.assertEqual((units["gpu.power"], units["gpu.sm_active"], units["gpu.pcie_sent"]), ("W", "%", "B/s"))
        maps = open(f"/proc/{self.target.pid}/maps", encoding="utf-8").read()
        self.assertNotIn("nvidia", maps)

    def test_stat_by_interval_and_as_text(self):
        rows = self.stat("-I", "0.2")
        self.assertTrue([row for row in rows if row["scope"] == "interval" and row["name"] == "gpu.sm_active"])
        out = self.limpet("stat", self.target.pid, "--gpu", "-d", "0.3").out
        self.assertRegex(out, r"\b123\.450 W +gpu\.power +\(Stand-in GPU 0\)")

    def test_devices_without_sampling_tell_the_rest(self):
        self.assert_values(self.values(self.stat(STANDIN_NVML_OLD="1"), 1), ASKED)

    def test_recorded_with_the_rest(self):
        self.limpet("record", "-p", self.target.pid, "--gpu-metrics", "-d", "0.6", "-o", self.path)
        rows = [json.loads(line) for line in limpet("report", self.path, "--json").out.splitlines()]
        found = {row["name"]: row for row in rows if row["event"] == "counter" and "GPU 0" in str(row)}
        self.assertEqual(set(found), set(SAMPLED) | set(ASKED) | set(OF_PROCESS))
        self.assertIn("gpu.dram_active, Stand-in GPU 1", limpet("report", self.path, "-n", "0").out)

    def test_what_is_missing_is_said_before_anything_is_touched(self):
        refused = [(("does not begin", "Driver Not Loaded"), {"STANDIN_NVML_REFUSES": "1"})]
        if not harness.has_library("libnvidia-ml.so.1"):
            refused.append((("libnvidia-ml.so.1 is not there",), {"has_library": False}))
        for words, variables in refused:
            for verb in (["stat", self.target.pid, "--gpu"],
                         ["record", "-p", self.target.pid, "--gpu-metrics", "-o", self.path]):
                result = self.limpet(*verb, "-d", "1", code=1, **variables)
                for word in words:
                    self.assertIn(word, result.err)
        self.assertFalse(os.path.exists(self.path))

    def test_a_library_that_crashes_ends_nobody_but_its_process(self):
        result = self.limpet("record", "-p", self.target.pid, "--gpu-metrics", "-d", "20", "-o", self.path, code=1,
                             STANDIN_NVML_CRASHES="1")
        self.assertIn("limpet-nvml has ended", result.err)
        self.assertIsNone(self.target.poll())

    def test_a_killed_limpet_takes_its_process_along(self):
        environment = dict(os.environ, LD_LIBRARY_PATH=STANDIN)
        process = subprocess.Popen([harness.LIMPET, "record", "-p", str(self.target.pid), "--gpu-metrics", "-o", self.path],
                                   env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end_process, process)
        self.assertTrue(harness.wait_until(lambda: self.children(process.pid)))
        [child] = self.children(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(harness.wait_until(lambda: not os.path.exists(f"/proc/{child}") or self.state(child) == "Z"))

    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(word) for word in file.read().split() if self.name(int(word)) != "limpet"]

    def name(self, pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return os.path.basename(file.read().split(b"\0")[0].decode())
        except OSError:
            return "limpet"

    def state(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            return "Z"


if __name__ == "__main__":
    unittest.main()
