"""Rotary embeddings: pairs of columns turned by angles of a table, each element read once."""

import math
from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import fast, planned
from suanzi.runtimes.torch.triton.conversions import from_bf16, to_bf16
from suanzi.runtimes.torch.triton.driver import At
from suanzi.runtimes.torch.triton.launching import Plain
from suanzi.runtimes.torch.triton.steps import Memory, Step, Steps
from suanzi.runtimes.torch.triton.tiles import FLOATS
from suanzi.runtimes.torch.ways import Call


@triton.jit
def _loaded(at, inside):
    x = tl.load(at, inside, 0.0)
    return from_bf16(x) if x.dtype == tl.bfloat16 else x.to(tl.float32)


@triton.jit
def _stored(at, x, inside):
    if at.dtype.element_ty == tl.bfloat16:
        tl.store(at, to_bf16(x), inside)
    else:
        tl.store(at, x.to(at.dtype.element_ty), inside)


@triton.jit
def _rotate(x, cos, sin, out, rows, columns, pairs, second, third,
            x_0, x_1, x_2, x_d, c_0, c_1, c_2, c_d, s_0, s_1, s_2, s_d,
            NEAR: tl.constexpr, BACK: tl.constexpr, ROWS: tl.constexpr,
            BLOCK: tl.constexpr):  # fmt: skip
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    here = row < rows
    i, j, k = row // third // second, row // third % second, row % third
    x_at, out_at = x + i * x_0 + j * x_1 + k * x_2, out + row * columns
    cos_at, sin_at = cos + i * c_0 + j * c_1 + k * c_2, sin + i * s_0 + j * s_1 + k * s_2
    for start in range(0, pairs, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        inside = here & (column < pairs)
        c, s = _loaded(cos_at + column * c_d, inside), _loaded(sin_at + column * s_d, inside)
        s = -s if BACK else s
        if NEAR:
            both = 2 * start + tl.arange(0, 2 * BLOCK)[None, :]
            fits = here & (both < 2 * pairs)
            a, b = tl.split(tl.reshape(_loaded(x_at + both * x_d, fits), (ROWS, BLOCK, 2)))
            made = tl.join(a * c - b * s, b * c + a * s)
            _stored(out_at + both, tl.reshape(made, (ROWS, 2 * BLOCK)), fits)
        else:
            a = _loaded(x_at + column * x_d, inside)
            b = _loaded(x_at + (column + pairs) * x_d, inside)
            _stored(out_at + column, a * c - b * s, inside)
            _stored(out_at + column + pairs, b * c + a * s, inside)
    for start in range(2 * pairs, columns, BLOCK):  # which stay as they are
        column = start + tl.arange(0, BLOCK)[None, :]
        inside = here & (column < columns)
        tl.store(out_at + column, tl.load(x_at + column * x_d, inside), inside)


def _leading(x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """Return a tensor broadcast to leading axes, as three of them."""
    x = x.expand(*shape, x.shape[-1])
    first = math.prod(shape[:-2])
    return x.reshape(first, *((1,) * (2 - len(shape))), *shape[-2:], x.shape[-1])


def _steps(call: Call, x: torch.Tensor, *tables: torch.Tensor, near: bool) -> Steps | None:
    """Return the kernel of a call; None where it copies, or offsets are too far."""
    lead, columns, pairs = x.shape[:-1], x.shape[-1], tables[0].shape[-1]
    given = [_leading(v, lead) for v in (x, *tables)]
    if columns * x.stride(-1) >= 2**31 or columns >= 2**29:
        return None
    if any(v.data_ptr() != w.data_ptr() for v, w in zip(given, (x, *tables), strict=True)):
        return None
    rows = math.prod(lead)
    if rows >= 2**31:
        return None
    block = min(max(16, int(triton.next_power_of_2(max(pairs, 1)))), 256)
    each = max(1, 1024 // block)
    constants = {"NEAR": near, "BACK": call.op.name.endswith("_bwd"), "ROWS": each, "BLOCK": block}
    sizes = [Plain(rows), columns, pairs, *(Plain(n) for n in given[0].shape[1:3])]
    strides = [s for v in given for s in v.stride()]
    out = Memory(tuple(x.shape), TORCH[call.result.dtype])
    args = [At(0), At(1), At(2), At(3), *sizes, *strides]
    step = Step(_rotate, triton.cdiv(rows, each), args, constants, 4)
    made = Steps([x, *tables], out, [step])
    made.in_order = True
    return made


def _takes(call: Call, x: torch.Tensor) -> bool:
    return call.result.dtype.name in FLOATS and bool(x.numel())


@planned("nn:rotary_embedding", "nn:rotary_embedding_bwd", rounded=False)
def plan(
    call: Call, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool,
    out_grad: torch.Tensor | None = None,
) -> Steps | None:  # fmt: skip
    """Return the plan of a rotary embedding of operands as they lie in memory."""
    if not _takes(call, x) or any(dt is not call.result.dtype for dt in call.dtypes.values() if dt):
        return None
    return _steps(call, x if out_grad is None else out_grad, cos, sin, near=bool(interleaved))


@fast("nn:rotary_embedding", "nn:rotary_embedding_bwd")
def rotary(
    call: Call, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool,
    out_grad: torch.Tensor | None = None,
) -> Any:  # fmt: skip
    """Return x, or the gradient of the result, with its pairs turned."""
    if not _takes(call, x):
        return None
    names = ("x" if out_grad is None else "out_grad", "cos", "sin")
    operands = (x if out_grad is None else out_grad, cos, sin)
    given = [
        cast(v, call.dtypes[n], call.result.dtype) for n, v in zip(names, operands, strict=True)
    ]
    steps = _steps(call, *given, near=bool(interleaved))
    if steps is None:
        steps = _steps(call, *(v.contiguous() for v in given), near=bool(interleaved))
    return None if steps is None else steps.run(steps.operands)
