"""
A program for bench/real.py: a training loop of PyTorch, on the GPU where there is one.  Small layers, so that the loop is made of
calls rather than of arithmetic: the case in which a profiler costs most.  Counts its steps in the first word of the file that it
is given.
"""

import mmap
import sys
import threading

import torch

LAYERS, WIDTH, BATCH = 16, 64, 32


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    # As in most programs, there is another thread: libc knows that it must lock, with or without a profiler.
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    layers = [part for _ in range(LAYERS) for part in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    given, wanted = (torch.randn(BATCH, WIDTH, device=device) for _ in range(2))
    with open(sys.argv[1], "r+b") as file:
        words = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")
        while True:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(given), wanted).backward()
            optimizer.step()
            words[0] += 1


if __name__ == "__main__":
    main()
