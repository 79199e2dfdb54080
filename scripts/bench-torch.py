"""PyTorch's attention as a child of scripts/bench: answers a line with a line, as scripts/peer.lua says.

usage: bench-torch.py THREADS ISA CLOCK (wall or cpu)
"""
import os
import sys
import time

THREADS, ISA, CLOCK = int(sys.argv[1]), sys.argv[2], sys.argv[3]

# What was chosen for Tessera holds for PyTorch and its libraries, too, and for the compiler of its generated code,
# which would else take AVX-512's registers for vectors of AVX2. They read it when they are loaded.
LIMITS = {
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2",
             "TORCHINDUCTOR_CPP_MARCH": "x86-64-v3"},
    "sse2": {"ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41"},
}
os.environ.update(LIMITS.get(ISA, {}))
os.environ["OMP_NUM_THREADS"] = str(THREADS)

# Answers have a stream of their own: whatever a library prints goes where errors go.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

BLOCK = 128  # FlexAttention's usual block of queries and keys


def say(*words):
    print(*words, sep="\t", file=answers, flush=True)


def explain(error):
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}".replace("\t", " ")


def split(matrix, heads):
    """n x heads*d -> 1 x heads x n x d, packed: the layout that PyTorch likes best."""
    n, columns = matrix.shape
    return matrix.reshape(n, heads, columns // heads).transpose(0, 1).contiguous().unsqueeze(0)


def join(output):
    heads, n, d = output.shape[1:]
    return output[0].transpose(0, 1).reshape(n, heads * d)


def window_blocks(n, width):
    """The causal window of `width` keys, by blocks: made in closed form, as create_block_mask takes n * n bytes."""
    from torch.nn.attention.flex_attention import BlockMask

    def lists(kept):
        count = torch.tensor([len(row) for row in kept], dtype=torch.int32)
        index = torch.zeros(len(kept), len(kept), dtype=torch.int32)
        for row, columns in zip(index, kept):
            row[: len(columns)] = torch.tensor(columns, dtype=torch.int32)
        return count[None, None], index[None, None]

    def full(i, j):  # the newest key is older than the oldest query, and the oldest key in the newest query's window
        return j < i and (i - j + 1) * BLOCK - 1 < width

    if n % BLOCK:
        raise ValueError(f"a window over {n} keys, which are no whole blocks of {BLOCK}")
    seen = [[j for j in range(i + 1) if (i - j - 1) * BLOCK + 1 < width] for i in range(n // BLOCK)]
    partial = [[j for j in row if not full(i, j)] for i, row in enumerate(seen)]
    whole = [[j for j in row if full(i, j)] for i, row in enumerate(seen)]
    return BlockMask.from_kv_blocks(
        *lists(partial), *lists(whole), BLOCK_SIZE=BLOCK, seq_lengths=(n, n),
        mask_mod=lambda b, h, i, j: (j <= i) & (i - j < width))


def flex(q, k, v, width):
    from torch.nn.attention.flex_attention import flex_attention

    if ISA == "avx2":
        import torch._inductor.config

        torch._inductor.config.cpp.simdlen = 256
    blocks = window_blocks(q.shape[2], width)
    compiled = torch.compile(flex_attention)
    return lambda: compiled(q, k, v, block_mask=blocks)


def attention(q, k, v, mask):
    """A call without arguments, for one of the masks "full", "causal" and "window WIDTH"."""
    kind, *width = mask.split()
    if kind == "window":
        return flex(q, k, v, int(width[0]))
    if kind not in ("full", "causal"):
        raise ValueError(f"unknown mask {mask}")
    grouped = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}
    sdpa = torch.nn.functional.scaled_dot_product_attention
    return lambda: sdpa(q, k, v, is_causal=kind == "causal", **grouped)


calls = {}


def load(name, q, k, v, heads, kv_heads, mask, out):
    counts = (int(heads), int(kv_heads), int(kv_heads))
    inputs = [split(torch.from_numpy(numpy.load(file)), count) for file, count in zip((q, k, v), counts)]
    call = attention(*inputs, mask)
    numpy.save(out, join(call()).numpy())
    calls[name] = call


def seconds(name, times):
    clock = time.perf_counter if CLOCK == "wall" else lambda: time.process_time() / THREADS
    call = calls[name]
    time.sleep(0.02)  # OpenMP's threads spin on for a while: Tessera's until here, PyTorch's before the answer
    begun = clock()
    for _ in range(int(times)):
        call()
    passed = (clock() - begun) / int(times)
    time.sleep(0.02)
    return passed


def serve():
    actions = {"load": load, "time": seconds}
    for line in sys.stdin:
        verb, *words = line.rstrip("\n").split("\t")
        try:
            result = actions[verb](*words)
            say("ok", *([] if result is None else [result]))
        except Exception as error:  # whatever it is, the bench tells of it
            say("error", explain(error))


try:
    import numpy
    import torch
except ImportError as error:
    say("error", explain(error))
    sys.exit(0)
torch.set_num_threads(THREADS)
torch.set_grad_enabled(False)
say("ok", torch.__version__)
serve()
