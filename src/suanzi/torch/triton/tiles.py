"""How rows are cut into tiles: so many elements per program, so many warps."""

import torch
import triton

FLOATS = ("float16", "bfloat16", "float32")
"""The dtypes that these kernels compute; PyTorch does the others."""
PART = 8192
"""Elements of a part of a row that does not fit one program."""


def block_of(n: int, wide: bool) -> int:
    """Return the power of 2 that a row of n elements fits, 0 if it is too long for a program."""
    block = int(triton.next_power_of_2(max(n, 1)))
    return block if block <= (16384 if wide else 32768) else 0


def warps_of(elements: int) -> int:
    """Return the warps of a program: each thread has about 16 elements."""
    return min(max(elements // 512, 1), 32)


def tiles(block: int) -> tuple[int, int]:
    """Return how many rows of a block a program has, and its warps."""
    rows = max(1, 2048 // block)
    return rows, warps_of(rows * block)


def in_rows(x: torch.Tensor) -> bool:
    """Return whether rows along the last axis are contiguous, all with one step between them."""
    if x.is_contiguous():
        return True
    return x.dim() == 2 and x.stride(1) == 1 and x.stride(0) >= x.shape[1]
