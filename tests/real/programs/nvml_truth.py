#!/usr/bin/env python3
"""What NVIDIA's management library says of device 0, asked by ctypes, independently of limpet: nvml_truth.py SECONDS

One sample of performance at the beginning and one at the end; the rest every 100 ms, as a mean.  A line of JSON.
"""

import ctypes
import json
import sys
import time

SAMPLED = {"gpu.engine_active": 1, "gpu.sm_active": 2, "gpu.sm_occupancy": 3, "gpu.integer_active": 4,
           "gpu.tensor_active": 5, "gpu.dram_active": 10, "gpu.fp64_active": 11, "gpu.fp32_active": 12,
           "gpu.fp16_active": 13, "gpu.pcie_sent": 20, "gpu.pcie_received": 21}
MIB = 1 << 20


class Metric(ctypes.Structure):
    _fields_ = [("number", ctypes.c_uint), ("result", ctypes.c_int), ("value", ctypes.c_double),
                ("names", ctypes.c_char_p * 3)]


class Comparison(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint), ("count", ctypes.c_uint), ("before", ctypes.c_void_p),
                ("after", ctypes.c_void_p), ("metrics", Metric * 400)]


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def main():
    nvml, device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
    assert not nvml.nvmlInit_v2() and not nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
    samples = [ctypes.c_void_p(), ctypes.c_void_p()]
    for sample in samples:
        assert not nvml.nvmlGpmSampleAlloc(ctypes.byref(sample))
    assert not nvml.nvmlGpmSampleGet(device, samples[0])
    end, values = time.monotonic() + float(sys.argv[1]), {"gpu.power": [], "gpu.sm_clock": [], "gpu.memory_used": []}
    while time.monotonic() < end:
        number, memory = ctypes.c_uint(), Memory()
        assert not nvml.nvmlDeviceGetPowerUsage(device, ctypes.byref(number))
        values["gpu.power"].append(number.value / 1000)
        assert not nvml.nvmlDeviceGetClockInfo(device, 1, ctypes.byref(number))
        values["gpu.sm_clock"].append(number.value)
        assert not nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
        values["gpu.memory_used"].append(memory.used)
        time.sleep(0.1)
    assert not nvml.nvmlGpmSampleGet(device, samples[1])
    all_of_them = Comparison(version=1, count=len(SAMPLED), before=samples[0], after=samples[1])
    for metric, number in zip(all_of_them.metrics, SAMPLED.values()):
        metric.number = number
    assert not nvml.nvmlGpmMetricsGet(ctypes.byref(all_of_them))
    found = {name: sum(some) / len(some) for name, some in values.items()}
    for metric, name in zip(all_of_them.metrics, SAMPLED):
        if not metric.result:
            found[name] = metric.value * (MIB if "pcie" in name else 1)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
