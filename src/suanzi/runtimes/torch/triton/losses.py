"""Losses of rows of classes, and their gradients, where classes are along the last axis.

A program goes through one row, once for a loss: the largest element so far and the sum of
exponentials up to it are renewed block by block. float32 is computed in float64. Rows' losses and
weights are then added up in a fixed order. A gradient reads a row again, or keeps it in registers
where it fits.
"""

# ruff: noqa: F821  ("fp64" is Triton's name of a type)

import math
from typing import Any

import torch
import triton
import triton.language as tl

from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import TORCH
from suanzi.runtimes.torch.fast import fast
from suanzi.runtimes.torch.nn_losses import no_class
from suanzi.runtimes.torch.triton.conversions import bits, floats, odd32, to_bf16
from suanzi.runtimes.torch.triton.launching import launch
from suanzi.runtimes.torch.triton.softmaxes import exponential
from suanzi.runtimes.torch.triton.tiles import FLOATS, in_rows, unit_of
from suanzi.runtimes.torch.ways import Call

_BLOCK = 4096
_ROWS = 1024


NO_ROW = tl.constexpr(0x7FF8000000001234)
"""The bits of a NaN that no weight has: the row does not count."""


@triton.jit
def marked(counts, share):
    """Return shares, and the mark of those rows that do not count."""
    mark = bits(share) * 0 + NO_ROW
    return tl.where(counts, share, floats(mark))


@triton.jit
def rounded(x, kind: tl.constexpr):
    """Return float64 or float32 rounded to a dtype, also in Triton's interpreter."""
    if kind == tl.bfloat16:
        return to_bf16(odd32(x) if x.dtype == tl.float64 else x)
    elif kind == tl.float16 and x.dtype == tl.float64:
        return odd32(x).to(kind)
    else:
        return x.to(kind)


@triton.jit
def _class_of(target, weight, flag, row, inside, n, ignored, HAS_W: tl.constexpr):
    """Return the class of rows, whether they count, and by which weight."""
    picked = tl.load(target + row, inside, 0).to(tl.int64)
    counts = (picked != ignored) & inside
    bad = counts & ((picked < 0) | (picked >= n))
    tl.store(flag + tl.zeros_like(bad.to(tl.int32)), bad.to(tl.uint8), bad)
    counts = counts & (bad == 0)
    safe = tl.where(counts, picked, 0)
    share = tl.where(counts, 1.0, 0.0).to(tl.float64)
    if HAS_W:
        share = tl.where(counts, tl.load(weight + safe, counts, 0.0).to(tl.float64), 0.0)
    return safe, counts, share


@triton.jit
def _sums(x, weight, at, n, SMOOTH: tl.constexpr, HAS_W: tl.constexpr, WIDE: tl.constexpr,
          BLOCK: tl.constexpr):  # fmt: skip
    """Return the largest element of a row, the sum of exponentials of what others lack of it, and
    the sums of the weights and of elements times weights."""
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    column = tl.arange(0, BLOCK)
    top = tl.full((1,), float("-inf"), tl.float32)
    sums = tl.zeros((BLOCK,), wide)
    products = tl.zeros((BLOCK,), tl.float64)
    weights = tl.zeros((BLOCK,), tl.float64)
    for start in range(0, n, BLOCK):
        inside = start + column < n
        v = tl.load(x + at + start + column, inside, float("-inf")).to(tl.float32)
        new = tl.maximum(top, tl.max(v, 0))
        # Without a finite number so far nothing was added up, which there is nothing to scale of.
        shift = tl.where(new == float("-inf"), 0.0, new)
        scale = tl.where(top == float("-inf"), 0.0, exponential((top - shift).to(wide), WIDE))
        e = exponential(v.to(wide) - shift.to(wide), WIDE)
        sums = sums * scale + tl.where(inside, e, 0.0)
        top = new
        if SMOOTH:
            w = tl.where(inside, 1.0, 0.0).to(tl.float64)
            if HAS_W:
                w = tl.load(weight + start + column, inside, 0.0).to(tl.float64)
            products += tl.where(inside, w * v.to(tl.float64), 0.0)
            weights += w
    # A row without a finite number, or with an infinite one, has no softmax.
    total = tl.sum(sums, 0).to(tl.float64) + tl.sum(tl.abs(top) * 0.0, 0).to(tl.float64)
    return tl.sum(top, 0), total, tl.sum(weights, 0), tl.sum(products, 0)


@triton.jit
def _losses(x, target, weight, losses, shares, flag, units, steps, ignored, smoothing: "fp64",
            SMOOTH: tl.constexpr, HAS_W: tl.constexpr, WIDE: tl.constexpr, UNIT: tl.constexpr,
            BLOCK: tl.constexpr):  # fmt: skip
    n = units * UNIT
    row = tl.program_id(0).to(tl.int64)
    at = row * steps * UNIT
    one = row + tl.zeros((1,), tl.int64)
    safe, counts, share = _class_of(target, weight, flag, one, one >= 0, n, ignored, HAS_W)
    top, total, weights, products = _sums(x, weight, at, n, SMOOTH, HAS_W, WIDE, BLOCK)
    log = tl.log(total)
    mine = tl.load(x + at + safe).to(tl.float64)
    loss = (log + (top.to(tl.float64) - mine)) * share
    if SMOOTH:
        rest = (log + top.to(tl.float64)) * weights - products
        loss = loss * (1.0 - smoothing) + rest * (smoothing / n)
    tl.store(losses + one, tl.where(counts, loss, 0.0))
    tl.store(shares + one, marked(counts, share))


@triton.jit
def _picked_losses(x, target, weight, losses, shares, flag, rows, n, step, ignored,
                   HAS_W: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = row < rows
    safe, counts, share = _class_of(target, weight, flag, row, inside, n, ignored, HAS_W)
    mine = tl.load(x + row * step + safe, counts, 0.0).to(tl.float64)
    tl.store(losses + row, tl.where(counts, -(mine * share), 0.0), inside)
    tl.store(shares + row, marked(counts, share), inside)


@triton.jit
def _weights(target, weight, shares, flag, rows, n, ignored, HAS_W: tl.constexpr,
             BLOCK: tl.constexpr):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    _, counts, share = _class_of(target, weight, flag, row, row < rows, n, ignored, HAS_W)
    tl.store(shares + row, marked(counts, share), row < rows)


@triton.jit
def _add_up(losses, shares, out, rows, empty: "fp64", KIND: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of losses (0), their mean, of no rows that count `empty` (1), or of weights (2)."""
    at = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float64)
    weights = tl.zeros((BLOCK,), tl.float64)
    rows_that_count = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, rows, BLOCK):
        inside = start + at < rows
        sums += tl.load(losses + start + at, inside, 0.0)
        share = tl.load(shares + start + at, inside, 0.0)
        counts = (bits(share) != NO_ROW) & inside
        weights += tl.where(counts, share, 0.0)
        rows_that_count += counts.to(tl.int32)
    weight = tl.sum(weights, 0)
    total = tl.sum(sums, 0)
    if KIND == 1:
        mean = total / weight
        total = tl.where(tl.max(rows_that_count, 0) > 0, mean, empty + tl.zeros_like(mean))
    if KIND == 2:
        total = weight
    tl.store(out, rounded(total, out.dtype.element_ty))


@triton.jit
def _entropy_slopes(grad, x, target, weight, counts_of, out, flag, units, steps, ignored,
                    smoothing: "fp64", EACH: tl.constexpr, MEAN: tl.constexpr,
                    SMOOTH: tl.constexpr, HAS_W: tl.constexpr, WIDE: tl.constexpr,
                    UNIT: tl.constexpr, BLOCK: tl.constexpr):  # fmt: skip
    wide: tl.constexpr = tl.float64 if WIDE else tl.float32
    n = units * UNIT
    row = tl.program_id(0).to(tl.int64)
    at = row * steps * UNIT
    one = row + tl.zeros((1,), tl.int64)
    column = tl.arange(0, BLOCK)
    safe, counts, share = _class_of(target, weight, flag, one, one >= 0, n, ignored, HAS_W)
    top, total, weights, _ = _sums(x, weight, at, n, SMOOTH, HAS_W, WIDE, BLOCK)
    g = tl.load(grad + one * EACH).to(tl.float64)
    if MEAN:
        g = g / tl.load(counts_of)
    mine = share * (1.0 - smoothing)
    each = smoothing / n + tl.zeros((1,), tl.float64)
    whole = mine + weights * each if SMOOTH else mine
    by = tl.where(counts, g, 0.0)
    factor = (whole / total * by).to(wide)
    for start in range(0, n, BLOCK):
        inside = start + column < n
        v = tl.load(x + at + start + column, inside, float("-inf")).to(wide)
        made = exponential(v - top.to(wide), WIDE) * factor
        taken = tl.where(start + column == safe, (mine * by).to(wide), 0.0)
        if SMOOTH:
            w = tl.full((BLOCK,), 1.0, tl.float64)
            if HAS_W:
                w = tl.load(weight + start + column, inside, 0.0).to(tl.float64)
            taken += (w * (each * by)).to(wide)
        made = tl.where(counts, made - taken, 0.0)
        tl.store(out + row * n + start + column, rounded(made, out.dtype.element_ty), inside)


@triton.jit
def _picked_slopes(grad, target, weight, counts_of, out, flag, units, ignored, EACH: tl.constexpr,
                   MEAN: tl.constexpr, HAS_W: tl.constexpr, UNIT: tl.constexpr,
                   BLOCK: tl.constexpr):  # fmt: skip
    n = units * UNIT
    row = tl.program_id(0).to(tl.int64)
    one = row + tl.zeros((1,), tl.int64)
    safe, counts, share = _class_of(target, weight, flag, one, one >= 0, n, ignored, HAS_W)
    g = tl.load(grad + one * EACH).to(tl.float64)
    if MEAN:
        g = g / tl.load(counts_of)
    taken = -(share * g)
    column = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        made = tl.where(counts & (start + column == safe), taken, 0.0)
        inside = start + column < n
        tl.store(out + row * n + start + column, rounded(made, out.dtype.element_ty), inside)


# ---- calls ---------------------------------------------------------------------------------------


class _Rows:
    """The operands of a loss, in the dtype of the result, and what kernels are started with."""

    def __init__(self, call: Call, name: str, x: torch.Tensor, target: torch.Tensor, weight: Any,
                 ignore: int) -> None:  # fmt: skip
        dt = call.result.dtype
        self.x = cast(x, call.dtypes[name], dt)
        if not in_rows(self.x):
            self.x = self.x.contiguous()
        self.n = x.shape[-1]
        self.rows = x.numel() // self.n
        self.step = self.n if self.x.is_contiguous() else self.x.stride(0)
        self.target = target.contiguous()
        self.weight = None if weight is None else cast(weight, call.dtypes["weight"], dt)
        by = self.x if self.weight is None else self.weight.contiguous()
        self.given = [self.target, by]
        self.ignore = int(ignore)
        self.flag = deferred_errors.slot(call.place, no_class(call, self.n, ignore))
        self.unit = unit_of(self.n, self.step)
        self.block = min(_BLOCK, max(int(triton.next_power_of_2(self.n)), 16))
        self.wide, self.place = dt.bits == 32, call.place
        self.facts = {"HAS_W": weight is not None}
        self.of_rows = {**self.facts, "UNIT": self.unit, "BLOCK": self.block}
        self.warps = 4 if self.block < 2048 else 8

    def scratch(self, count: int) -> torch.Tensor:
        """Return memory of kernels."""
        return torch.empty(count, dtype=torch.float64, device=self.place)

    def weights(self, shares: torch.Tensor) -> torch.Tensor:
        """Return the sum of the weights of rows that count, of shares that a kernel has written."""
        found = self.scratch(1)
        launch(_add_up, (1,), [shares, shares, found, self.rows, 0.0],
               {"KIND": 2, "BLOCK": _ROWS}, warps=8)  # fmt: skip
        return found


def _refused(call: Call, x: torch.Tensor, target: Any, axis: int) -> bool:
    """Return whether there are no kernels for a call."""
    last = x.dim() == 1 or axis % x.dim() == x.dim() - 1
    return (
        call.result.dtype.name not in FLOATS or not x.numel() or not last
        or not isinstance(target, torch.Tensor) or target.is_floating_point()
        or target.dtype is torch.bool or x.shape[-1] >= 2**30
    )  # fmt: skip


def _reduced(
    call: Call, rows: _Rows, losses: torch.Tensor, shares: torch.Tensor, reduction: str, empty: Any
) -> torch.Tensor:
    if reduction == "none":
        return losses.reshape(call.result.shape)
    out = torch.empty((), dtype=TORCH[call.result.dtype], device=call.place)
    nothing = math.nan if empty is None else float(empty)
    launch(_add_up, (1,), [losses, shares, out, rows.rows, nothing],
           {"KIND": int(reduction == "mean"), "BLOCK": _ROWS}, warps=8)  # fmt: skip
    return out


@fast("nn:cross_entropy")
def cross_entropy(
    call: Call, logits: torch.Tensor, target: torch.Tensor, weight: Any, ignore_index: int,
    label_smoothing: float, reduction: str, axis: int, empty_mean: float | None,
) -> Any:  # fmt: skip
    """Return -log(softmax(logits)) at the class of each row, or the sum or mean of these."""
    if _refused(call, logits, target, axis):
        return None
    rows = _Rows(call, "logits", logits, target, weight, ignore_index)
    losses, shares = rows.scratch(2 * rows.rows).reshape(2, -1)
    smoothing = float(label_smoothing)
    launch(_losses, (rows.rows,),
           [rows.x, *rows.given, losses, shares, rows.flag, rows.n // rows.unit,
            rows.step // rows.unit, rows.ignore, smoothing],
           {"SMOOTH": smoothing != 0, "WIDE": rows.wide, **rows.of_rows},
           warps=rows.warps)  # fmt: skip
    return _reduced(call, rows, losses, shares, reduction, empty_mean)


@fast("nn:nll_loss")
def nll_loss(
    call: Call, x: torch.Tensor, target: torch.Tensor, weight: Any, ignore_index: int,
    reduction: str, axis: int, empty_mean: float | None,
) -> Any:  # fmt: skip
    """Return -x at the class of each row, or the sum or mean of these."""
    if _refused(call, x, target, axis):
        return None
    rows = _Rows(call, "x", x, target, weight, ignore_index)
    losses, shares = rows.scratch(2 * rows.rows).reshape(2, -1)
    launch(_picked_losses, (triton.cdiv(rows.rows, _ROWS),),
           [rows.x, *rows.given, losses, shares, rows.flag, rows.rows, rows.n, rows.step,
            rows.ignore],
           {**rows.facts, "BLOCK": _ROWS})  # fmt: skip
    return _reduced(call, rows, losses, shares, reduction, empty_mean)


@fast("nn:cross_entropy_bwd", "nn:nll_loss_bwd")
def slopes(
    call: Call, out_grad: torch.Tensor, target: torch.Tensor, weight: Any, ignore_index: int,
    reduction: str, axis: int, label_smoothing: float = 0.0, **given: Any,
) -> Any:  # fmt: skip
    """Return the gradient of a loss by its first operand."""
    name, x = next(iter(given.items()))
    if _refused(call, x, target, axis) or not isinstance(out_grad, torch.Tensor):
        return None
    rows = _Rows(call, name, x, target, weight, ignore_index)
    counts, mean = rows.x, reduction == "mean"
    if mean:
        shares = rows.scratch(rows.rows)
        launch(_weights, (triton.cdiv(rows.rows, _ROWS),),
               [*rows.given, shares, rows.flag, rows.rows, rows.n, rows.ignore],
               {**rows.facts, "BLOCK": _ROWS})  # fmt: skip
        counts = rows.weights(shares)
    grad = cast(out_grad, call.dtypes["out_grad"], call.result.dtype).contiguous()
    out = torch.empty(x.shape, dtype=TORCH[call.result.dtype], device=call.place)
    facts = {"EACH": int(grad.numel() > 1), "MEAN": mean, **rows.of_rows}
    units, steps, smoothing = rows.n // rows.unit, rows.step // rows.unit, float(label_smoothing)
    if name == "x":
        launch(_picked_slopes, (rows.rows,),
               [grad, *rows.given, counts, out, rows.flag, units, rows.ignore], facts,
               warps=rows.warps)  # fmt: skip
    else:
        launch(_entropy_slopes, (rows.rows,),
               [grad, rows.x, *rows.given, counts, out, rows.flag, units, steps, rows.ignore,
                smoothing],
               {**facts, "SMOOTH": smoothing != 0, "WIDE": rows.wide},
               warps=rows.warps)  # fmt: skip
    return out
