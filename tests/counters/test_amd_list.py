#!/usr/bin/env python3
"""
Counters of AMD's devices, listed: definitions and a topology of our own (definitions/, topology/), in the form of ROCm's.

Environment: LIMPET and ROCPROFV3 are the executables under test.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import progress  # noqa: E402, F401

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "amd")
LIMPET, ROCPROFV3 = os.environ["LIMPET"], os.environ["ROCPROFV3"]


def run(*command, **environment):
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "HSA_MODEL_TOPOLOGY": f"{HERE}/topology", **environment}
    )


class List(unittest.TestCase):
    def test_rocprofv3_lists_every_device(self):
        text = run(ROCPROFV3, "-L", "--config-dir", f"{HERE}/definitions").stdout
        self.assertEqual(text.count("GPU: node"), 2)
        self.assertEqual(text.count("Name: SQ_WAVES\n"), 2)
        self.assertIn("  Name: HIT_SHARE\n  Description: Hits of a hundred requests.\n  Expression: 100*TCC_HIT_sum/", text)

    def test_a_variable_names_the_folder(self):
        text = run(ROCPROFV3, "--list-avail", ROCPROFILER_METRICS_PATH=f"{HERE}/definitions").stdout
        self.assertIn("Name: GRBM_COUNT", text)

    def test_newer_releases_have_another_file(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{HERE}/definitions/counter_defs.yaml") as source, open(f"{folder}/config.yaml", "w") as into:
                into.write(source.read())
            self.assertIn("Name: GRBM_COUNT", run(ROCPROFV3, "-L", "--config-dir", folder).stdout)

    def test_without_definitions_it_says_so(self):
        result = run(ROCPROFV3, "-L", "--config-dir", "/nonexistent")
        self.assertEqual(result.returncode, 0)
        self.assertIn("neither counter_defs.yaml nor config.yaml", result.stdout)

    def test_without_devices_it_says_so(self):
        result = run(ROCPROFV3, "-L", HSA_MODEL_TOPOLOGY="/nonexistent")
        self.assertIn("no AMD device", result.stdout)

    def test_a_node_that_cannot_be_read_hides_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(f"{HERE}/topology", f"{folder}/topology")
            os.unlink(f"{folder}/topology/nodes/1/properties")
            os.mkdir(f"{folder}/topology/nodes/1/properties")
            text = run(ROCPROFV3, "-L", "--config-dir", f"{HERE}/definitions", HSA_MODEL_TOPOLOGY=f"{folder}/topology").stdout
        self.assertEqual(text.count("GPU: node"), 1)

    def test_a_wrong_file_is_named_by_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/counter_defs.yaml", "w") as into:
                into.write("rocprofiler-sdk:\n  counters:\n  - name: A\n    definitions:\n    - event: 1\n")
            self.assertIn("line 6", run(ROCPROFV3, "-L", "--config-dir", folder).stdout)

    def test_stat_lists_them_too(self):
        environment = {"ROCPROFILER_METRICS_PATH": f"{HERE}/definitions"}
        self.assertIn("SQ_WAVES                     device 1, block SQ", run(LIMPET, "stat", "--list", **environment).stdout)
        lines = [json.loads(line) for line in run(LIMPET, "stat", "--list", "--json", **environment).stdout.splitlines()]
        counters = [line for line in lines if line["event"] == "device-counter" and line["name"] == "WAVES_PER_CU"]
        self.assertEqual([(c["device"], c["architecture"], c["block"]) for c in counters], [(1, "gfx942", ""), (2, "gfx942", "")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
