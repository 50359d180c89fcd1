#!/usr/bin/env python3
"""A plain CUDA program, of the driver and the runtime as libraries, without PyTorch: cuda_c.py PAGE MODE

What a C program would do, where no compiler is at hand: its kernels are PTX that the driver compiles.  PAGE is as that of
torch_loop.py; of word 6 each number is a deed that it does once, and says so in word 7: 1 forks a child that exits, 2
destroys a context and makes another, 3 resets the device, 4 executes itself again.  An iteration is two kernels, a copy
there, one back, and a memset, waited for.
"""

import ctypes
import glob
import os
import sys
import time

from torch_page import CHECKSUM, DONE, END_AT, PID, PROFILE, PROFILES, WAIT_AT, WAITS, Page

BYTES = 1 << 16
TO_DEVICE, TO_HOST = 1, 2
FORK, CONTEXT, RESET, EXEC = 1, 2, 3, 4
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry limpet_first(.param .u64 data) { ret; }
.visible .entry limpet_second(.param .u64 data) { ret; }
\0"""


def library(name):
    """As a program finds it: from the loader, or among Python's packages."""
    try:
        return ctypes.CDLL(name)
    except OSError:
        for folder in sys.path:
            for path in sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", name + "*"))):
                return ctypes.CDLL(path)
    raise SystemExit(f"no {name}")


def check(result, what):
    if result:
        raise SystemExit(f"{what}: {result}")


class Device:
    def __init__(self):
        self.driver, self.runtime = ctypes.CDLL("libcuda.so.1"), library("libcudart.so.13")
        self.open()

    def open(self):
        check(self.runtime.cudaFree(None), "begin")
        self.memory, self.module = ctypes.c_void_p(), ctypes.c_void_p()
        self.there = (ctypes.c_ubyte * BYTES)(*([7] * 256))
        self.back = (ctypes.c_ubyte * BYTES)()
        check(self.runtime.cudaMalloc(ctypes.byref(self.memory), ctypes.c_size_t(BYTES)), "memory")
        check(self.driver.cuModuleLoadData(ctypes.byref(self.module), PTX), "module")
        self.kernels = [ctypes.c_void_p(), ctypes.c_void_p()]
        for kernel, name in zip(self.kernels, (b"limpet_first", b"limpet_second")):
            check(self.driver.cuModuleGetFunction(ctypes.byref(kernel), self.module, name), "kernel")
        self.argument = ctypes.c_void_p(self.memory.value)
        self.arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(self.argument), ctypes.c_void_p))

    def step(self):
        size, none = ctypes.c_size_t(BYTES), ctypes.c_void_p()
        check(self.runtime.cudaMemcpyAsync(self.memory, self.there, size, TO_DEVICE, none), "copy there")
        for kernel in self.kernels:
            check(self.driver.cuLaunchKernel(kernel, 4, 1, 1, 32, 1, 1, 0, none, self.arguments, none), "launch")
        check(self.runtime.cudaMemcpyAsync(self.back, self.memory, size, TO_HOST, none), "copy back")
        check(self.runtime.cudaMemsetAsync(self.memory, 0, size, none), "memset")
        check(self.runtime.cudaStreamSynchronize(none), "wait")
        if self.back[0] != 7:
            raise SystemExit("wrong contents")

    def renew(self):
        context = ctypes.c_void_p()
        check(self.driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0), "context")
        check(self.driver.cuCtxDestroy_v2(context), "context destroyed")
        check(self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "context again")
        check(self.driver.cuCtxSetCurrent(context), "context set")

    def reset(self):
        check(self.runtime.cudaDeviceReset(), "reset")
        check(self.driver.cuCtxSetCurrent(None), "no context")
        self.open()


def fork():
    child = os.fork()
    if not child:
        os._exit(7)
    if os.waitpid(child, 0)[1] != 7 << 8:
        raise SystemExit("the child")


def do(page, device):
    deed = page[PROFILE]
    if deed == EXEC:
        page[PROFILES], page[PROFILE], page[DONE] = EXEC, 0, 0
        os.execv(sys.executable, [sys.executable, *sys.argv])
    {FORK: fork, CONTEXT: device.renew, RESET: device.reset}[deed]()
    page[PROFILE] = 0
    page[PROFILES] = deed


def await_word(page):
    page[WAITS] = 1
    while page[WAIT_AT] and page[WAIT_AT] <= page[DONE]:
        time.sleep(0.001)
    page[WAITS] = 0


def main():
    page, device = Page(sys.argv[1]), Device()
    page[PID] = os.getpid()
    done = 0
    while not page[END_AT] or done < page[END_AT]:
        if page[WAIT_AT] and done >= page[WAIT_AT]:
            await_word(page)
        if page[PROFILE]:
            do(page, device)
        device.step()
        done += 1
        page[DONE] = done
    page[CHECKSUM] = sum(device.back)
    print("ok", flush=True)


if __name__ == "__main__":
    main()
