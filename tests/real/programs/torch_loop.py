#!/usr/bin/env python3
"""A PyTorch program that knows nothing of limpet, and says what it does: torch_loop.py PAGE MODE

MODE: small, big (a product of matrices), train, infer (batches from the host and back), graph (a CUDA graph), compile
(training by torch.compile), stream (sums that do not fit into caches), nccl (all_reduce of one rank), nvtx (small, with ranges and marks of NVTX).  PAGE is a file of eight words that it keeps mapped: 0 iterations done, 1 the iteration at which it shall wait (0: none),
2 whether it waits, with nothing left on the device, 3 its process, 4 the iteration at which it shall end, 5 a checksum of
what it has computed, 6 whether it shall profile itself with torch.profiler (1: CUDA, 2: CPU and CUDA), 7 whether it does.
When it ends by itself it says "ok".
"""

import os
import sys
import time

import torch

from torch_page import CHECKSUM, DONE, END_AT, PID, PROFILE, PROFILES, WAIT_AT, WAITS, Page

SIZES = {"small": 64, "big": 1024, "train": 256, "graph": 256, "infer": 256, "compile": 256, "nccl": 256, "nvtx": 64, "stream": 8192}


def plain(size):
    a, b = (torch.randn(size, size, device="cuda") for _ in range(2))
    return lambda: torch.nn.functional.gelu(a @ b)


def streamed(size):
    a, b = (torch.randn(size, size, device="cuda") for _ in range(2))
    return lambda: torch.add(a, 1, out=b)


def training(size):
    layers = [layer for _ in range(8) for layer in (torch.nn.Linear(size, size), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data, wanted = (torch.randn(64, size, device="cuda") for _ in range(2))

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(data), wanted)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def captured(size):
    step = plain(size)
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(10):
            result = step()

    def replay():
        graph.replay()
        return result

    return replay


def inference(size):
    layers = [layer for _ in range(8) for layer in (torch.nn.Linear(size, size), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers).cuda().eval()
    batch = torch.randn(64, size).pin_memory()

    @torch.inference_mode()
    def step():
        return model(batch.to("cuda", non_blocking=True)).cpu()

    return step


def compiled(size):
    return torch.compile(training(size), mode="default")


def reduced(size):
    torch.distributed.init_process_group("nccl", init_method="tcp://127.0.0.1:29517", rank=0, world_size=1)
    data = torch.ones(size, size, device="cuda")

    def step():
        torch.distributed.all_reduce(data)
        return data

    return step


def marked(size):
    multiply = plain(size)

    def step():
        torch.cuda.nvtx.range_push("limpet step")
        torch.cuda.nvtx.mark("limpet mark")
        result = multiply()
        torch.cuda.nvtx.range_pop()
        return result

    return step


def await_word(page):
    torch.cuda.synchronize()
    page[WAITS] = 1
    while page[WAIT_AT] and page[WAIT_AT] <= page[DONE]:
        time.sleep(0.001)
    page[WAITS] = 0


def profile(page, running):
    """Begins or ends what the page asks for; the profiler that runs then, or None."""
    wanted = page[PROFILE]
    if running:
        running.stop()
        running = None
    if wanted:
        activities = [torch.profiler.ProfilerActivity.CUDA, torch.profiler.ProfilerActivity.CPU][:wanted]
        running = torch.profiler.profile(activities=activities)
        running.start()
    page[PROFILES] = wanted
    return running


def main():
    page, mode = Page(sys.argv[1]), sys.argv[2]
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(mode not in ("graph", "compile"), warn_only=True)
    steps = {"train": training, "graph": captured, "infer": inference, "compile": compiled, "nccl": reduced, "nvtx": marked, "stream": streamed}
    step = steps.get(mode, plain)(SIZES[mode])
    for _ in range(20):
        step()
    page[PID] = os.getpid()
    done, profiler = 0, None
    while not page[END_AT] or done < page[END_AT]:
        if page[WAIT_AT] and done >= page[WAIT_AT]:
            await_word(page)
        if page[PROFILE] != page[PROFILES]:
            profiler = profile(page, profiler)
        result = step()
        done += 1
        page[DONE] = done
    torch.cuda.synchronize()
    page[CHECKSUM] = int(result.double().sum().view(torch.int64).item())
    print("ok", flush=True)


if __name__ == "__main__":
    main()
