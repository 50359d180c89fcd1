#!/usr/bin/env python3
"""A program of PyTorch, JAX, CuPy or Triton that knows nothing of limpet: model_loop.py PAGE MODE, a MODE of graph_models.py.

PAGE as of torch_loop.py.  It waits for the device every few steps, as programs do that look at their results.
"""

import os
import sys
import time

from graph_models import MODELS
from torch_page import CHECKSUM, DONE, END_AT, PID, WAIT_AT, WAITS, Page

SETTLE_EACH = 20
ARRAYS = ("jax", "cupy")


def prepare(mode):
    if mode in ARRAYS:
        return
    import torch

    torch.manual_seed(1)
    torch.set_grad_enabled(False)


def await_word(page):
    page[WAITS] = 1
    while page[WAIT_AT] and page[WAIT_AT] <= page[DONE]:
        time.sleep(0.001)
    page[WAITS] = 0


def main():
    page, mode = Page(sys.argv[1]), sys.argv[2]
    prepare(mode)
    step, settle, add_up = MODELS[mode]()
    for _ in range(SETTLE_EACH):
        step()
    settle()
    page[PID] = os.getpid()
    done = 0
    while not page[END_AT] or done < page[END_AT]:
        if page[WAIT_AT] and done >= page[WAIT_AT]:
            settle()
            page[DONE] = done
            await_word(page)
        step()
        done += 1
        if done % SETTLE_EACH == 0:
            settle()
            page[DONE] = done
    settle()
    page[CHECKSUM] = add_up()
    print("ok", flush=True)


if __name__ == "__main__":
    main()
