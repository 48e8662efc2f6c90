"""How rows are cut into tiles: so many elements per program, so many warps."""

import math

import torch
import triton
import triton.language as tl

FLOATS = ("float16", "bfloat16", "float32")
"""The dtypes that these kernels compute; PyTorch does the others."""
ACCUMULATORS = {torch.float32: tl.float32, torch.float64: tl.float64, torch.int32: tl.int32,
                torch.int64: tl.int64}  # fmt: skip
"""Triton's names of the dtypes that elements are combined in."""
PART = 8192
"""Elements of a part of a row that does not fit one program."""


def block_of(n: int, wide: bool) -> int:
    """Return the power of 2 that a row of n elements fits, 0 if it is too long for a program."""
    block = int(triton.next_power_of_2(max(n, 1)))
    return block if block <= (16384 if wide else 32768) else 0


def cut_in_two(block: int, n: int) -> tuple[int, int]:
    """Return two blocks that a row of n elements fits, the second 0 if one is as good.

    A row of 5,000 fits 4,096 and 1,024: a block of 8,192 would leave a third of its threads idle.
    """
    half = block // 2
    if half < 2048 or n <= half:
        return block, 0
    rest = int(triton.next_power_of_2(n - half))
    return (half, rest) if rest < half else (block, 0)


def warps_of(elements: int) -> int:
    """Return the warps of a program: each thread has about 32 elements."""
    return min(max(elements // 1024, 1), 32)


def tiles(block: int) -> tuple[int, int]:
    """Return how many rows of a block a program has, and its warps."""
    rows = max(1, 2048 // block)
    return rows, max(warps_of(rows * block), 4)


def warps_of_cut(block: int, first: int, rest: int, wide: bool) -> int:
    """Return the warps of a program whose rows may be cut in two.

    Rows of 16 bits that are cut have those of the first part: with as many as for the whole block,
    layer_norm of 5,000 bfloat16 took 1.9 times as long on an H200.
    """
    return tiles(first if rest and not wide else block)[1]


def unit_of(*sizes: int) -> int:
    """Return the largest of 16, 8, 4, 2, 1 that divides sizes, so that a kernel knows of it."""
    return math.gcd(16, *sizes)


def in_rows(x: torch.Tensor) -> bool:
    """Return whether rows along the last axis are contiguous, all with one step between them."""
    if x.is_contiguous():
        return True
    return x.dim() == 2 and x.stride(1) == 1 and x.stride(0) >= x.shape[1]
