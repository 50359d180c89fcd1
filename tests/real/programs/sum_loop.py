"""Adds vectors with pyopencl for ever, compares every result, and says how often and how many were wrong."""

import time

import numpy
import pyopencl

SOURCE = """
__kernel void sum(__global const float *a, __global const float *b, __global float *c)
{
    int i = get_global_id(0);
    c[i] = a[i] + b[i];
}
"""
COUNT = 1 << 18

context = pyopencl.create_some_context(interactive=False)
queue = pyopencl.CommandQueue(context)
kernel = pyopencl.Program(context, SOURCE).build().sum
a, b = (numpy.random.rand(COUNT).astype(numpy.float32) for _ in range(2))
expected, found = a + b, numpy.empty_like(a)
flags = pyopencl.mem_flags
inputs = [pyopencl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=each) for each in (a, b)]
output = pyopencl.Buffer(context, flags.WRITE_ONLY, found.nbytes)
rounds = wrong = 0
said = time.monotonic()
while True:
    kernel(queue, (COUNT,), None, *inputs, output)
    pyopencl.enqueue_copy(queue, found, output)
    rounds += 1
    wrong += not numpy.array_equal(found, expected)
    if time.monotonic() - said > 0.1:
        said = time.monotonic()
        print("rounds", rounds, "wrong", wrong, flush=True)
