#!/usr/bin/env python3
"""A program of CuPy or JAX that knows nothing of limpet: array_loop.py PAGE cupy|jax.  PAGE as of torch_loop.py."""

import os
import sys
import time

from torch_page import CHECKSUM, DONE, END_AT, PID, WAIT_AT, WAITS, Page

SIZE = 256


def of_cupy():
    import cupy

    a, b = (cupy.random.default_rng(seed).random((SIZE, SIZE), dtype=cupy.float32) for seed in (1, 2))
    scaled = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * 0.5f", "limpet_scaled")

    return lambda: scaled(a @ b), cupy.cuda.runtime.deviceSynchronize, lambda result: float(result.sum())


def of_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax

    a, b = (jax.random.normal(jax.random.PRNGKey(seed), (SIZE, SIZE)) for seed in (1, 2))
    multiply = jax.jit(lambda x, y: jax.numpy.tanh(x @ y))
    results = []

    def step():
        results[:] = [multiply(a, b)]
        return results[0]

    return step, lambda: results[0].block_until_ready(), lambda result: float(result.sum())


def await_word(page, settle):
    settle()
    page[WAITS] = 1
    while page[WAIT_AT] and page[WAIT_AT] <= page[DONE]:
        time.sleep(0.001)
    page[WAITS] = 0


def main():
    page, mode = Page(sys.argv[1]), sys.argv[2]
    step, settle, add_up = {"cupy": of_cupy, "jax": of_jax}[mode]()
    for _ in range(20):
        step()
    page[PID] = os.getpid()
    done = 0
    while not page[END_AT] or done < page[END_AT]:
        if page[WAIT_AT] and done >= page[WAIT_AT]:
            await_word(page, settle)
        result = step()
        done += 1
        page[DONE] = done
    page[CHECKSUM] = int(add_up(result))
    print("ok", flush=True)


if __name__ == "__main__":
    main()
