"""
A program of the stand-in CUDA (libcuda.so.1 and libcudart.so.13 of $CUDA) in Python.  "go" on stdin launches a kernel from
inner() and one from outer(), in two threads; a line on stdout answers each.
"""

import ctypes
import os
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


turn, done = threading.Semaphore(0), threading.Semaphore(0)
assert cuda.cuInit(0) == 0
threading.Thread(target=other, daemon=True).start()
print("{}", flush=True)
for word in sys.stdin:
    outer()
    turn.release()
    done.acquire()
    cuda.cuStreamSynchronize(ctypes.c_void_p(1))
    print("{}", flush=True)
