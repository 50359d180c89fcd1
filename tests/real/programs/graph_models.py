"""Steps of model_loop.py, which add up all that they have made: whatever goes wrong once is in the result.

Each makes (step, settle, add_up): step() goes on, settle() waits for the device, add_up() is a number of all bits of the sum.
"""

import os

SIZE, BATCH, LAYERS = 128, 16, 8
WORDS, WINDOW = 1000, 16


def of_torch(make_next, state):
    """make_next(state) is the next state."""
    import torch

    held, total = [state], torch.zeros((), dtype=torch.float64, device="cuda")

    def step():
        held[0] = make_next(held[0])
        total.add_(held[0].sum(dtype=torch.float64))

    def add_up():
        return int(total.view(torch.int64).item())

    return step, torch.cuda.synchronize, add_up


def layers():
    import torch

    made = [layer for _ in range(LAYERS) for layer in (torch.nn.Linear(SIZE, SIZE), torch.nn.GELU())]
    return torch.nn.Sequential(*made, torch.nn.LayerNorm(SIZE)).cuda().eval().requires_grad_(False)


def compiled(mode):
    def make():
        import torch

        fast = torch.compile(layers(), mode=mode)
        # A graph's output is overwritten by its next launch.
        return of_torch(lambda state: fast(state).clone(), torch.randn(BATCH, SIZE, device="cuda"))

    return make


def captured():
    import torch

    model, state = layers(), torch.randn(BATCH, SIZE, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            model(state)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        state.copy_(model(state))

    def replay(same):
        graph.replay()
        return same

    return of_torch(replay, state)


def gpt2():
    import torch
    import transformers

    config = transformers.GPT2Config(n_layer=4, n_head=4, n_embd=128, vocab_size=WORDS, n_positions=WINDOW,
                                     bos_token_id=0, eos_token_id=0)
    model = transformers.GPT2LMHeadModel(config).cuda().eval().requires_grad_(False)

    def make_next(words):
        following = model(words, use_cache=False).logits[:, -1].argmax(-1, keepdim=True)
        return torch.cat((words[:, 1:], (following + words[:, :1]) % WORDS), 1)

    return of_torch(make_next, torch.arange(WINDOW, device="cuda").unsqueeze(0))


def triton_kernel():
    import graph_triton
    import torch

    return of_torch(graph_triton.advance, torch.rand(BATCH * SIZE, device="cuda"))


def jax_jitted():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    # XLA measures which code is the fastest: 4 of 12 processes that limpet did not visit chose other code, and had other bits.
    os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"
    import jax
    import numpy

    other = jax.random.normal(jax.random.PRNGKey(2), (SIZE, SIZE))

    @jax.jit
    def advance(x, total):
        for _ in range(LAYERS):
            x = jax.numpy.tanh((x[:, :, None] * other).sum(1) + x)
        return x, total + jax.lax.bitcast_convert_type(x, jax.numpy.int32).sum()

    held = [(jax.random.normal(jax.random.PRNGKey(1), (BATCH, SIZE)), jax.numpy.zeros((), jax.numpy.int32))]

    def step():
        held[0] = advance(*held[0])

    return step, lambda: held[0][1].block_until_ready(), lambda: int(numpy.asarray(held[0][1]))


def cupy_arrays():
    import cupy

    other = cupy.random.default_rng(2).random((SIZE, SIZE), dtype=cupy.float32) - 0.5
    scaled = cupy.ElementwiseKernel("float32 x", "float32 y", "y = tanh(x)", "limpet_scaled")
    held, total = [cupy.random.default_rng(1).random((BATCH, SIZE), dtype=cupy.float32)], cupy.zeros((), dtype=cupy.int64)

    def step():
        held[0] = scaled(held[0] @ other)
        cupy.add(total, held[0].view(cupy.int32).sum(dtype=cupy.int64), out=total)

    return step, cupy.cuda.runtime.deviceSynchronize, lambda: int(total)


MODELS = {"compile": compiled("default"), "reduce-overhead": compiled("reduce-overhead"), "max-autotune": compiled("max-autotune"),
          "cuda-graph": captured, "gpt2": gpt2, "triton": triton_kernel, "jax": jax_jitted, "cupy": cupy_arrays}
