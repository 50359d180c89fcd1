"""
A program of the stand-in CUDA (libcuda.so.1 and libcudart.so.13 of $CUDA) in Python.  "go" on stdin launches a kernel from
inner() and one from outer(), in two threads; "filter" lets process_vm_readv kill.  A line on stdout answers each.
"""

import ctypes
import os
import platform
import struct
import sys
import threading

FOLDER = os.environ["CUDA"]
cuda = ctypes.CDLL(os.path.join(FOLDER, "libcuda.so.1"))
runtime = ctypes.CDLL(os.path.join(FOLDER, "libcudart.so.13"))
runtime.cudaLaunchKernel.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p]


def inner():
    assert runtime.cudaLaunchKernel(b"_Z8kernel_aPi", 2, 64, 1) == 0  # line of inner


def outer():
    inner()
    assert runtime.cudaLaunchKernel(b"_Z8kernel_bPf", 2, 64, 1) == 0  # line of outer


def other():
    while True:
        turn.acquire()
        outer()
        done.release()


def set_filter():
    number = {"x86_64": 310, "aarch64": 270}[platform.machine()]
    code = b"".join(struct.pack("HBBI", *step) for step in (
        (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7FFF0000)))
    memory = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("H6xP", len(code) // 8, ctypes.addressof(memory)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.syscall(ctypes.c_long({"x86_64": 317, "aarch64": 277}[platform.machine()]), ctypes.c_long(1), ctypes.c_long(1), program) == 0


turn, done = threading.Semaphore(0), threading.Semaphore(0)
assert cuda.cuInit(0) == 0
threading.Thread(target=other, daemon=True).start()
print("{}", flush=True)
for word in sys.stdin:
    if word == "filter\n":
        set_filter()
    outer()
    turn.release()
    done.acquire()
    cuda.cuStreamSynchronize(ctypes.c_void_p(1))
    print("{}", flush=True)
