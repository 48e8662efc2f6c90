"""Attention and rotary embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from suanzi import _core
from suanzi.base.dtypes import DType, widened
from suanzi.base.dtypes import bool as boolean
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument, TypeMismatch
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import common_shape
from suanzi.ops.calling.scalars import flag_argument, integer_argument, integers_argument
from suanzi.ops.nn._arguments import broadcast, float_operands, real_parameter
from suanzi.promote.registry import ARITHMETIC, FLOATS, REGISTRY, Operator
from suanzi.tensors.parts import converted
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "rotary_embedding",
    "rotary_embedding_bwd",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_bwd",
]

Rows = Literal["zero", "nan"]
Corner = Literal["top_left", "bottom_right"]


@operator("8.1", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def scaled_dot_product_attention(
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    mask: TensorLike | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    window: int | Sequence[int] | None = None,
    sink: TensorLike | None = None,
    masked_rows: Rows = "zero",
    align: Corner = "top_left",
) -> Tensor:
    """Return softmax(scale q k^T) v for queries, keys and values (..., heads, rows, columns).

    k and v may have fewer heads than q: consecutive heads of q share one. Other leading axes are
    broadcast. `scale` is 1 / sqrt(columns of q) by default; `softcap` c turns a score s into
    c tanh(s / c). Then a mask of bool hides keys where it is False, and one of floats is added.
    `causal` hides the keys after a query, `window` = (left, right) those further away (-1: no
    limit; one number: both). Query i stands at key i, or with `align` = "bottom_right" the last
    query at the last key, as a KV cache needs. `sink` has a score for each head that takes part
    without a value. A row without any key is 0, or NaN as `masked_rows` says. Hidden keys take
    no part, even if their values are NaN.

    >>> q, k = sz.tensor([[[1.0, 0.0]]]), sz.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    >>> sz.nn.scaled_dot_product_attention(q, k, k, causal=True)
    Tensor([[[1, 0]]], dtype=float32)
    >>> sz.nn.scaled_dot_product_attention(q, k, k, scale=0.0)
    Tensor([[[0.5, 0.5]]], dtype=float32)
    """
    op = REGISTRY["nn:scaled_dot_product_attention"]
    found = _read(op, {"q": q, "k": k, "v": v}, mask, sink)
    options = _options(op, found, causal, scale, softcap, window, masked_rows, align)
    q, k, v, mask, sink = found.tensors
    scale, softcap, left, right, offset, zero = options
    made = _core.attention(q, k, v, mask, sink, scale, softcap, left, right, offset, zero)
    return made[0] if found.is_plain else made


@operator("8.1.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def scaled_dot_product_attention_bwd(
    out_grad: TensorLike,
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    mask: TensorLike | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    window: int | Sequence[int] | None = None,
    sink: TensorLike | None = None,
    masked_rows: Rows = "zero",
    align: Corner = "top_left",
) -> tuple[Tensor, ...]:
    """Return the gradients of q, k and v, and of sink if it is given; a mask has none.

    Rows without any key have gradients of 0, whatever `masked_rows` is.

    >>> q, k = sz.tensor([[[0.0, 0.0]]]), sz.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    >>> q_grad, k_grad, v_grad = sz.nn.scaled_dot_product_attention_bwd(q + 1, q, k, k)
    >>> v_grad
    Tensor([[[0.5, 0.5],
             [0.5, 0.5]]], dtype=float32)
    """
    op = REGISTRY["nn:scaled_dot_product_attention_bwd"]
    found = _read(op, {"q": q, "k": k, "v": v, "out_grad": out_grad}, mask, sink)
    options = _options(op, found, causal, scale, softcap, window, masked_rows, align)
    q, k, v, mask, sink = found.tensors
    scale, softcap, left, right, offset, _ = options
    above = found.out_grad
    made = _core.attention_bwd(above, q, k, v, mask, sink, scale, softcap, left, right, offset)
    grads = [
        converted(_summed(g, shape), found.dtype)
        for g, shape in zip(made, found.shapes, strict=False)
    ]
    return (*grads, converted(made[3].sum(0), found.dtype)) if sink is not None else tuple(grads)


def _summed(gradient: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return the gradient of what was broadcast: the sum of those of its copies."""
    for _ in range(gradient.ndim - len(shape)):
        gradient = gradient[0] if gradient.shape[0] == 1 else gradient.sum(0)
    for axis, size in enumerate(shape):
        if size != gradient.shape[axis]:
            gradient = gradient.sum(axis, keepdims=True)
    return gradient


@dataclass(frozen=True)
class _Operands:
    """Operands of one rank of at least 3, broadcast along the batch."""

    tensors: tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]
    """q, k, v, mask and sink."""
    is_plain: bool
    """Whether they were given without an axis of heads."""
    dtype: DType
    """What they are promoted to."""
    shapes: tuple[tuple[int, ...], ...]
    """Those of q, k and v as given."""
    out_grad: Tensor | None


def _read(op: Operator, given: dict[str, Any], mask: Any, sink: Any) -> _Operands:
    """Return checked operands: one dtype, and shapes that the core takes."""
    hiding = None if mask is None else real_argument(op, "mask", mask)
    added = hiding if hiding is not None and hiding.dtype is not boolean else None
    if added is not None and added.dtype.kind != "float":
        raise TypeMismatch(
            f"{op.title}: mask is {added.dtype}; it must be bool (True where a key takes part) or "
            "floating-point (added to the scores). Cast it first."
        )
    found = float_operands(op, {**given, "mask": added, "sink": sink})
    _check_shapes(op, found)
    q, k, v = (_with_heads(found[name]) for name in ("q", "k", "v"))
    heads, queries, keys = q.shape[-3], q.shape[-2], k.shape[-2]
    leading = {"q": q.shape[:-3], "k": k.shape[:-3], "v": v.shape[:-3]}
    batch = common_shape(op, {f"{name} before its heads": shape for name, shape in leading.items()})
    if hiding is not None:
        hiding = broadcast(op, "mask", found.get("mask", hiding), (*batch, heads, queries, keys))
    if "sink" in found and found["sink"].shape != (heads,):
        raise DimensionsMismatch(
            f"{op.title}: sink has shape {found['sink'].shape}; q has {heads} heads, so it must be "
            f"({heads},)."
        )
    shapes, dtype = tuple(found[name].shape for name in ("q", "k", "v")), q.dtype
    # Gradients of copies are added up before the one rounding.
    copied = any(shape != batch for shape in leading.values())
    wide = widened(dtype) if copied and "out_grad" in found else dtype
    q, k, v = (
        converted(broadcast(op, "q, k or v", x, (*batch, *x.shape[-3:])), wide) for x in (q, k, v)
    )
    sinks = found.get("sink")
    hiding, sinks = (
        x if x is None or x.dtype is not dtype else converted(x, wide) for x in (hiding, sinks)
    )
    above = _above(op, found, (*batch, heads, queries, v.shape[-1]))
    gradient = None if above is None else converted(above, wide)
    return _Operands((q, k, v, hiding, sinks), found["q"].ndim == 2, dtype, shapes, gradient)


def _above(op: Operator, found: dict[str, Tensor], shape: tuple[int, ...]) -> Tensor | None:
    """Return the gradient of the result, if there is one, with an axis of heads."""
    if "out_grad" not in found:
        return None
    above, expected = found["out_grad"], shape[1:] if found["q"].ndim == 2 else shape
    if above.shape != expected:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {above.shape}; it must have that of the result, "
            f"{expected}."
        )
    return _with_heads(above)


def _with_heads(x: Tensor) -> Tensor:
    return x if x.ndim > 2 else _core.view(x, x.offset, (1, *x.shape), (0, *x.strides))


def _check_shapes(op: Operator, found: dict[str, Tensor]) -> None:
    for name in ("q", "k", "v"):
        if found[name].ndim < 2:
            raise DimensionsMismatch(
                f"{op.title}: {name} has rank {found[name].ndim}; it must have at least two axes, "
                "for rows and columns, and before them one for heads."
            )
    q, k, v = (found[name] for name in ("q", "k", "v"))
    heads = [x.shape[-3] if x.ndim > 2 else 1 for x in (q, k, v)]
    came = f"q has shape {q.shape}, k {k.shape} and v {v.shape}"
    if q.shape[-1] != k.shape[-1]:
        raise DimensionsMismatch(f"{op.title}: {came}; the last sizes of q and k must be equal.")
    if k.shape[-2] != v.shape[-2] or heads[1] != heads[2]:
        raise DimensionsMismatch(
            f"{op.title}: {came}; k and v must have the same number of rows and of heads."
        )
    if (heads[0] % heads[1] if heads[1] else heads[0]) != 0:
        raise DimensionsMismatch(
            f"{op.title}: {came}; the number of heads of q (axis -3) must be a multiple of that of "
            "k, each of which serves as many heads of q."
        )


def _options(
    op: Operator,
    found: _Operands,
    causal: Any,
    scale: Any,
    softcap: Any,
    window: Any,
    masked_rows: Any,
    align: Any,
) -> tuple[float, float, int, int, int, bool]:
    """Return scale, softcap (0: none), left, right, offset, and whether empty rows are 0."""
    q, k = found.tensors[:2]
    depth, queries, keys = q.shape[-1], q.shape[-2], k.shape[-2]
    default = 1 / math.sqrt(max(depth, 1))
    factor = default if scale is None else real_parameter(op, "scale", scale)
    cap = 0.0 if softcap is None else real_parameter(op, "softcap", softcap)
    if softcap is not None and not 0 < cap < math.inf:
        raise InvalidArgument(f"{op.title}: softcap is {shown(softcap)}; it must be above 0.")
    left, right = _window(op, window)
    if flag_argument(op, "causal", causal):
        right = 0
    for name, x, allowed in (
        ("masked_rows", masked_rows, ("zero", "nan")),
        ("align", align, ("top_left", "bottom_right")),
    ):
        if not isinstance(x, str) or x not in allowed:
            choices = " or ".join(map(repr, allowed))
            raise InvalidArgument(f"{op.title}: {name} is {shown(x)}; it must be {choices}.")
    offset = keys - queries if align == "bottom_right" else 0
    most = keys + queries
    return factor, cap, min(left, most), min(right, most), offset, masked_rows == "zero"


def _window(op: Operator, window: Any) -> tuple[int, int]:
    if window is None:
        return -1, -1
    if isinstance(window, int):
        both = integer_argument(op, "window", window, 0)
        return both, both
    left, right = integers_argument(op, "window", window, 2)
    if min(left, right) < -1:
        raise InvalidArgument(
            f"{op.title}: window is {shown(window)}; its numbers must be at least 0, or -1 for no "
            "limit on that side."
        )
    return left, right


@operator("8.2", dtypes=FLOATS, fast=True, promotes=ARITHMETIC, catalogue="nn")
def rotary_embedding(
    x: TensorLike, cos: TensorLike, sin: TensorLike, *, interleaved: bool = False
) -> Tensor:
    """Return x with pairs (a, b) of its last axis as (a cos - b sin, b cos + a sin).

    cos and sin broadcast to x, but for the last axis, which is that of pairs. Without
    `interleaved`, a pair is an element of the first half and one of the second, as in Llama; with
    it, two neighbours, as in GPT-J. Elements beyond the pairs stay as they are.

    >>> x, one, none = sz.tensor([1.0, 2.0, 3.0, 4.0]), sz.tensor([1.0, 1.0]), sz.tensor([0.0, 0.0])
    >>> sz.nn.rotary_embedding(x, none, one)
    Tensor([-3, -4,  1,  2], dtype=float32)
    >>> sz.nn.rotary_embedding(x, none, one, interleaved=True)
    Tensor([-2,  1, -4,  3], dtype=float32)
    """
    op = REGISTRY["nn:rotary_embedding"]
    source, *tables = _rotated(op, {"x": x, "cos": cos, "sin": sin})
    flag = flag_argument(op, "interleaved", interleaved)
    return _core.rotary(source, tables[0], tables[1], flag, False)


@operator("8.2.1", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def rotary_embedding_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    cos: TensorLike,
    sin: TensorLike,
    *,
    interleaved: bool = False,
) -> Tensor:
    """Return the gradient of x. cos and sin are tables without a gradient.

    >>> one, none = sz.tensor([1.0]), sz.tensor([0.0])
    >>> sz.nn.rotary_embedding_bwd(sz.tensor([1.0, 2.0]), sz.tensor([3.0, 4.0]), none, one)
    Tensor([ 2, -1], dtype=float32)
    """
    op = REGISTRY["nn:rotary_embedding_bwd"]
    given = {"out_grad": out_grad, "x": x, "cos": cos, "sin": sin}
    gradient, source, *tables = _rotated(op, given)
    if gradient.shape != source.shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {gradient.shape}; it must have that of x, "
            f"{source.shape}."
        )
    flag = flag_argument(op, "interleaved", interleaved)
    return _core.rotary(gradient, tables[0], tables[1], flag, True)


def _rotated(op: Operator, given: dict[str, Any]) -> list[Tensor]:
    """Return the operands of rotary embeddings, the tables broadcast to x."""
    found = float_operands(op, given)
    x, cos, sin = (found[name] for name in ("x", "cos", "sin"))
    if sin.shape[-1:] != cos.shape[-1:]:
        raise DimensionsMismatch(
            f"{op.title}: cos has shape {cos.shape} and sin has shape {sin.shape}; their last "
            "sizes, the number of pairs, must be equal."
        )
    for name, table in (("cos", cos), ("sin", sin)):
        if not x.ndim or not table.ndim or table.shape[-1] * 2 > x.shape[-1]:
            raise DimensionsMismatch(
                f"{op.title}: {name} has shape {table.shape} and x has shape {x.shape}; the last "
                f"size of {name} is the number of pairs, at most half of the last of x."
            )
        broadcast(op, name, table, (*x.shape[:-1], cos.shape[-1]))  # it can be
    return list(found.values())
