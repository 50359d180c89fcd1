"""A kernel of Triton's; a file of its own, because Triton reads its source."""

import torch
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def limpet_advance(source, target, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(source + at, mask=at < count)
    tl.store(target + at, value * (1 - value) * 3.9, mask=at < count)


def advance(state):
    made = torch.empty_like(state)
    limpet_advance[(triton.cdiv(state.numel(), BLOCK),)](state, made, state.numel(), BLOCK=BLOCK)
    return made
