"""
A program for bench/real.py: a training loop of PyTorch, on the GPU where there is one.  Small layers, so that the loop is made of
calls rather than of arithmetic: the case in which a profiler costs most.
"""

import real_turns
import torch

LAYERS, WIDTH, BATCH = 16, 64, 32


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    layers = [part for _ in range(LAYERS) for part in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    given, wanted = (torch.randn(BATCH, WIDTH, device=device) for _ in range(2))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(given), wanted).backward()
        optimizer.step()

    real_turns.count(step)


if __name__ == "__main__":
    main()
