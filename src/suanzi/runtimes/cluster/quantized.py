"""Quantised tensors on blocks (7.2.1.15): the integers and what they stand for, as in one tensor.

What moves elements moves integers; element-wise operators get the quantised blocks, and all others
the real numbers. A scale that comes from data is a fact of a tensor: it is computed at the call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from dask.base import compute

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, float32, float64, int64, stored_dtype, uint8
from suanzi.base.dtypes import bool as bool_
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.status import StatusError
from suanzi.ops import quantized
from suanzi.ops.calling.arguments import without_scale
from suanzi.ops.quantized import QUANTIZE, channels
from suanzi.promote import registry
from suanzi.promote.context import get_promotion
from suanzi.promote.registry import Operator
from suanzi.runtimes.cluster import creating, grid
from suanzi.runtimes.cluster.computing import with_clear_errors
from suanzi.runtimes.cluster.elementwise import elementwise, on_elements
from suanzi.runtimes.cluster.graph import from_tasks, new_name
from suanzi.runtimes.cluster.quantization import Quantization, codes, quantization_of, standing_for
from suanzi.runtimes.cluster.tasks import (
    Hole,
    call_on_blocks,
    empty_like,
    large_like,
    result_of,
    thin_like,
)
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import METHODS, TAKES_QUANTIZED, Way, way
from suanzi.tensors.tensor import Tensor


def of_quantised(op: Operator, own: Way, arguments: Mapping[str, Any]) -> Any:
    """Run an operator's override on arguments some of which are quantised."""
    if op.form in ("elementwise", "creation", "query") or op.name in TAKES_QUANTIZED:
        return own(op, **arguments)
    if op.form in ("view", "copy"):
        return _moved(op, own, dict(arguments))
    return own(op, **_each(partial(_real, op), arguments))


METHODS.with_quantized = of_quantised


def _each(function: Callable[[str, BlockTensor], Any], arguments: Mapping[str, Any]) -> Any:
    """Return arguments with something made of every tensor of blocks, also of those in lists."""

    def made(name: str, x: Any) -> Any:
        if isinstance(x, BlockTensor):
            return function(name, x)
        if isinstance(x, list | tuple) and any(isinstance(one, BlockTensor) for one in x):
            return [made(f"{name}[{i}]", one) for i, one in enumerate(x)]
        return x

    return {name: made(name, x) for name, x in arguments.items()}


def _real(op: Operator, name: str, x: BlockTensor) -> BlockTensor:
    """Return what a quantised tensor stands for, in the dtype that operators compute with."""
    if x.dtype.kind != "quantized":
        return x
    if x.scale is None:
        raise without_scale(op.title, name, large_like(x))
    dtype = float32 if get_promotion().join is None else float64
    return on_elements("dequantize", quantized.dequantize, x, dtype)


# ---- what moves elements -------------------------------------------------------------------------


def _moved(op: Operator, own: Way, arguments: dict[str, Any]) -> Any:
    """Return what an operator that moves elements makes of the integers, and what they stand for.

    A call on stand-ins gives both, and raises the errors.
    """
    operands: list[tuple[str, BlockTensor]] = []

    def held(name: str, x: BlockTensor) -> Hole:
        operands.append((name, x))
        return Hole(len(operands) - 1)

    call = call_on_blocks(op.name, **_each(held, arguments))
    whole = [large_like(x) for _, x in operands]
    channels = {x.channel_axis for _, x in operands}
    thin = [
        large if op.form == "view" else _few(op, name, x, arguments, channels)
        for large, (name, x) in zip(whole, operands, strict=True)
    ]
    try:
        found = result_of(call, thin)
    except StatusError:
        result_of(call, whole)  # which says it of the shapes that there are
        raise
    several = isinstance(found, list | tuple)
    facts = list(found) if several else [found]
    if all(one.dtype.kind != "quantized" for one in facts):  # those of unlike scales
        return own(op, **_each(partial(_real, op), arguments))
    if op.name == "pad":
        arguments["pad_value"] = _padding(arguments, facts[0])
    made = own(op, **_each(lambda _, x: codes(x) if _is_quantised(x) else x, arguments))
    results = [
        standing_for(x, fact.dtype, quantization_of(fact)) if _is_quantised(fact) else x
        for x, fact in zip(made if several else [made], facts, strict=True)
    ]
    return results if several else results[0]


def _is_quantised(x: BlockTensor | Tensor) -> bool:
    return x.dtype.kind == "quantized"


def _few(
    op: Operator, name: str, x: BlockTensor, arguments: Mapping[str, Any], channels: set[int | None]
) -> Tensor:
    """Return a small tensor that stands for an operand: it has all channels, and little else."""
    if name == "index":
        source = arguments["input"]
        if op.name == "gather" and x.ndim == 1 and source.channel_axis == 0:
            return x.to_host()  # which says which scales there are
        shape = (*(1,) * (x.ndim - 1), x.shape[-1]) if x.ndim > 1 else (1,) * x.ndim
        return _core.full(shape, x.dtype, 0)
    return thin_like(x, () if name == "mask" else channels)


def _padding(arguments: Mapping[str, Any], padded: Tensor) -> Any:
    """Return the integer that is stored for the number around a tensor: the one at a corner."""
    widths = arguments["pad_width"]
    first = [one[0] if isinstance(one, list | tuple) else one for one in widths]
    before = first if len(first) == padded.ndim else first[::2]
    line = padded.int_repr().reshape(-1)
    return line[0 if any(before) else -1].item() if line.size else 0


# ---- to real numbers, and from them --------------------------------------------------------------


@way("quantize")
def quantize(x: BlockTensor, dtype: DType, **given: Any) -> BlockTensor:
    """Return real numbers as quantised blocks; scales that are not given are computed now."""
    return _quantised(QUANTIZE, "x", x, dtype, given)


def _quantised(
    op: Operator, name: str, x: BlockTensor, dtype: DType, given: Mapping[str, Any]
) -> BlockTensor:
    quantized.real_numbers(op, name, empty_like(x))
    source = on_elements("dequantize", quantized.dequantize, x, float64) if _is_quantised(x) else x
    how = quantized.quantizing(op, dtype, x.shape, partial(_ranges, op, name, source), **given)
    axis = None if how.axis < 0 else how.axis
    facts = Quantization(tuple(how.scales), how.zero_point, axis)
    made = new_name("quantize")
    tasks: dict[Any, Any] = {}
    for place, where in grid.parts(x.blocks):
        part = how._replace(scales=list(facts.part(where).scale))
        tasks[(made, *place)] = (part.of, (source.name, *place))
    found = from_tasks(made, tasks, x.blocks, dtype, [source])
    return BlockTensor(found.graph, made, x.blocks, dtype, facts)


def _ranges(op: Operator, name: str, x: BlockTensor, axis: int) -> tuple[list[float], list[float]]:
    """Return the least and the largest elements, of each channel along an axis, if it is one."""
    if x.size == 0:
        count = channels(op, x.shape, axis)
        return [math.inf] * count, [-math.inf] * count
    numbers = on_elements("cast", "cast", x, uint8) if x.dtype is bool_ else x
    axes = [a for a in range(x.ndim) if a != axis]
    ends = [
        registry.call("reduce", numbers, mode, axes) if axes else numbers for mode in ("MIN", "MAX")
    ]
    found: Any = with_clear_errors(x.graph, lambda: compute(*ends))
    lows, highs = ([float(n) for n in one.reshape(-1).tolist()] for one in found)
    if not all(map(math.isfinite, lows + highs)):
        raise quantized.without_range(op, name)
    return lows, highs


@way("dequantize")
def dequantized(x: BlockTensor, dtype: DTypeLike) -> BlockTensor:
    """Return what quantised blocks stand for."""
    return on_elements("dequantize", quantized.dequantize, x, dtype)


@way("cast")
def cast(op: Operator, input: BlockTensor, type: Any, **others: Any) -> BlockTensor:
    """Return it in another dtype; one that is quantised has scales for all blocks together."""
    try:
        target = dtype_of(type)
    except StatusError:
        target = float32
    if target.kind != "quantized":
        return elementwise(op, input=input, type=type, **others)
    result_of(call_on_blocks(op.name, Hole(0), type, **others), [empty_like(input)])
    if target is input.dtype:
        return input
    if input.dtype.kind == "complex":  # by its real part
        input = registry.call("real", input)
    return _quantised(op, "input", input, target, {})


# ---- others that know them -----------------------------------------------------------------------


@way("conj", "real", "imag")
def part_of_complex(op: Operator, **arguments: Any) -> BlockTensor:
    """Return the part of a number; what is quantised is real."""
    (x,) = arguments.values()
    if not isinstance(x, BlockTensor) or not _is_quantised(x):
        return elementwise(op, **arguments)
    if op.name != "imag":
        return x
    zeros = creating.full_in(x.blocks, stored_dtype(x.dtype), _stored_zero(op, x))
    return standing_for(zeros, x.dtype, x.quantization)


def _stored_zero(op: Operator, x: BlockTensor) -> int:
    if x.scale is None:
        raise without_scale(op.title, "x", large_like(x))
    return quantized.stored_zero(large_like(x))


@way("diag", takes_quantized=True)
def diag(op: Operator, input: BlockTensor) -> BlockTensor:
    """Return the matrix with a tensor on its diagonal; what is quantised stays so."""
    if not _is_quantised(input):
        return creating.diagonal(op, input)
    zero = _stored_zero(op, input)
    moved = on_elements("sub", partial(_moved_by, -zero), codes(input))
    made = on_elements("add", partial(_moved_by, zero), creating.diagonal(op, moved))
    return standing_for(made, input.dtype, input.quantization)


def _moved_by(shift: int, block: Tensor) -> Tensor:
    """Return integers that are moved by a number, modulo 2^n."""
    by = _core.cast(_core.full((), int64, shift), block.dtype, False)
    made: Tensor = _core.run_operator("add", [block, by], block.dtype)[0]
    return made


@way("create_quant_tensor")
def create_quant_tensor(
    op: Operator, shape: Any, scale: Any, dtype: Any, device: Any, values: Any, **others: Any
) -> BlockTensor:
    """Return blocks of integers as a quantised tensor; none is gathered."""
    call = call_on_blocks(op.name, shape, scale, dtype, values=Hole(0), **others)
    if not _fits(values, shape, dtype) or others["n_bytes"] is not None:
        result_of(call, [large_like(values)])
    target = dtype_of(dtype)
    axis = quantized.channel_axis_argument(op, others["channel_axis"], target, values.shape)
    scales, axis = quantized.scale_argument(op, scale, target, values.shape, axis)
    offset = quantized.zero_point_argument(op, others["zero_point"], target)
    facts = Quantization(tuple(scales), offset, None if axis < 0 else axis)
    integers = codes(values) if _is_quantised(values) else values
    return standing_for(integers, target, facts)


def _fits(values: Any, shape: Any, dtype: Any) -> bool:
    try:
        target = dtype_of(dtype)
        known = target.kind == "quantized" and values.dtype in (target, stored_dtype(target))
        return known and values.shape == tuple(shape)
    except (StatusError, TypeError, AttributeError):
        return False


def without_values(
    shape: tuple[int, ...],
    dtype: DType,
    scale: list[float],
    zero_point: int,
    channel_axis: int,
    values: Any,
    n_bytes: Any,
    min2maj: object = None,
) -> Any:
    """Return uninitialised quantised blocks; values of this machine are cut into blocks."""
    if values is not None:
        return NotImplemented
    facts = Quantization(tuple(scale), zero_point, None if channel_axis < 0 else channel_axis)
    return standing_for(creating.full(shape, stored_dtype(dtype)), dtype, facts)
