"""7.2.1.7 to .11: random numbers.

They are drawn by Philox4x32-10, whose numbers follow from a seed and an index, that in row-major
order, so that a seed gives the same numbers on every machine, for any layout and number of threads.
The seed 0 is the system's entropy, and never the same.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

from suanzi import _core
from suanzi.base.device import CPU, DeviceLike
from suanzi.base.dtypes import DType, DTypeLike, float32, float64, iinfo, int64
from suanzi.base.hints import shown
from suanzi.base.numpy import Array, np
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling.arguments import tensor_argument
from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.elementwise import check_dtype
from suanzi.ops.calling.scalars import flag_argument, integer_argument
from suanzi.ops.creation import VALUES, WHOLE_AND_FLOATING
from suanzi.ops.creation_wanted import (
    LayoutLike,
    Scalar,
    count_argument,
    finite_argument,
    limits,
    line,
    put,
    real_scalar_argument,
    scalar_argument,
    wanted,
)
from suanzi.promote.registry import COMPLEX, FLOATS, REGISTRY, Operator
from suanzi.tensors.exchange import check_room, from_numpy
from suanzi.tensors.parts import readable
from suanzi.tensors.tensor import Tensor, TensorLike


def _seed_argument(op: Operator, seed: Any) -> int:
    found = integer_argument(op, "seed", seed)
    if not -(2**63) <= found < 2**63:
        raise InvalidArgument(
            f"{op.title}: seed is {shown(found)}; it must be an integer of 64 bits."
        )
    return found


@operator("7.2.1.7", dtypes=VALUES, fast=True)
def rand_uniform(
    shape: Any,
    dtype: DTypeLike = float32,
    device: DeviceLike = CPU,
    min: Scalar = None,
    max: Scalar = None,
    seed: int = 0,
    *,
    layout: LayoutLike = None,
) -> Tensor:
    """Return uniform random numbers from `min` to `max`, by default over the dtype's whole range.

    That default is the standard's: float32 numbers are of the order of 1e38. For numbers from 0 to
    1 use ``sz.rand_uniform(shape, min=0, max=1)``. Floats are at least `min` and below `max`,
    integers may be `max`; the parts of complex numbers are each between those of `min` and `max`.

    >>> sz.rand_uniform((2, 3), sz.int8, min=1, max=6, seed=7)
    Tensor([[3, 6, 6],
            [5, 5, 1]], dtype=int8)
    """
    op = REGISTRY["rand_uniform"]
    want = wanted(op, shape, dtype, device, layout)
    dt = want.dtype
    low, high = (_bound(op, name, x, dt) for name, x in (("min", min), ("max", max)))
    if low.real > high.real or low.imag > high.imag:
        raise InvalidArgument(
            f"{op.title}: min is {low} and max is {high}; min must not be above max."
        )
    number = _seed_argument(op, seed)

    def compute() -> Tensor:
        made = _core.empty(want.shape, dt)
        fill_uniform(number, dt, low, high, made)
        return want.copied(made)

    return want.make(compute, min=low, max=high, seed=number)


def fill_uniform(
    seed: int, dt: DType, low: complex, high: complex, made: Tensor, first: int = 0
) -> None:
    """Fill a new tensor with the numbers from index `first` on."""
    if dt.exponent_bits:
        last = complex(_last(low.real, high.real, dt), _last(low.imag, high.imag, dt))
        _core.random_uniform(made, seed, low, high, last, first)
    else:  # the ends are Python integers
        least = int(low.real)
        _core.random_integers(made, seed, least, int(high.real) - least + 1, first)


def _bound(op: Operator, name: str, x: Any, dt: DType) -> complex:
    """Return a bound as a number of the dtype; without one, the end of the dtype's range."""
    if not dt.exponent_bits:
        low, high = (0, 1) if dt.kind == "bool" else (iinfo(dt).min, iinfo(dt).max)
        if x is None:
            return low if name == "min" else high
        return scalar_argument(op, name, x, dt)
    end = limits(dt).min if name == "min" else limits(dt).max
    if x is None:
        return complex(end, end) if dt.kind == "complex" else end
    finite_argument(op, name, x, dt)
    found = _core.full((), dt, scalar_argument(op, name, x, dt)).item()
    assert not isinstance(found, bytes)
    if not (math.isfinite(found.real) and math.isfinite(found.imag)):
        raise InvalidArgument(
            f"{op.title}: {name} is {shown(x)}, outside the range of {dt}, whose largest number is "
            f"{limits(dt).max}."
        )
    return found


def _last(low: float, high: float, dt: DType) -> float:
    """Return the largest number that is drawn: below `high`, which rounding must not reach."""
    return low if low == high else _below(high, dt)


def _below(x: float, dt: DType) -> float:
    """Return the largest number of a floating-point dtype, or of its parts, that is below one.

    >>> from suanzi.dtypes import float16
    >>> _below(1.0, float16), _below(0.0, float16)
    (0.99951171875, -5.960464477539063e-08)
    """
    if limits(dt).bits == 64:
        return math.nextafter(x, -math.inf)
    mantissa, exponent = math.frexp(x)
    least = limits(dt).min_exponent
    gap = builtins.max(exponent - 1, least) if x else least
    if mantissa == 0.5 and gap > least:
        gap -= 1  # below a power of two numbers are closer
    return x - math.ldexp(1.0, gap - dt.mantissa_bits)


@operator("7.2.1.8", dtypes=(*FLOATS, *COMPLEX), fast=True)
def rand_normal(
    shape: Any,
    dtype: DTypeLike = float32,
    device: DeviceLike = CPU,
    mean: Scalar = 0,
    std: Scalar = 1,
    seed: int = 0,
    *,
    layout: LayoutLike = None,
) -> Tensor:
    """Return random numbers of the normal distribution.

    Of complex numbers, both parts together have the deviation `std`. What lies beyond the range of
    the dtype becomes the end of it.

    >>> sz.rand_normal((3,), mean=10, seed=7)
    Tensor([9.754791, 9.493678, 9.450413], dtype=float32)
    """
    op = REGISTRY["rand_normal"]
    want = wanted(op, shape, dtype, device, layout)
    dt = want.dtype
    middle = finite_argument(op, "mean", mean, dt)
    deviation = real_scalar_argument(op, "std", std, dt)
    if deviation < 0:
        raise InvalidArgument(f"{op.title}: std is {deviation}; it must be at least 0.")
    number = _seed_argument(op, seed)

    def compute() -> Tensor:
        made = _core.empty(want.shape, dt)
        each = deviation / math.sqrt(2) if dt.kind == "complex" else deviation
        _core.random_normal(made, number, middle, each, limits(dt).max)
        return want.copied(made)

    return want.make(compute, mean=middle, std=deviation, seed=number)


@operator("7.2.1.9", dtypes=FLOATS)
def rand_bernoulli(input: TensorLike, seed: int = 0) -> Tensor:
    """Return 1 with the probability given by each element of the input, else 0.

    >>> sz.rand_bernoulli(sz.tensor([0, 0.5, 1]), seed=7)
    Tensor([0, 0, 1], dtype=float32)
    """
    op = REGISTRY["rand_bernoulli"]
    x = tensor_argument(op, "input", input)
    check_dtype(op, {"input": x}, x.dtype)
    number = _seed_argument(op, seed)
    chances = x
    if not _core.is_row_major(x):
        chances = _core.empty(x.shape, x.dtype)
        _core.copy_into(chances, x)
    made = _core.empty(x.shape, x.dtype)
    if not _core.random_bernoulli(made, chances, number):
        raise InvalidArgument(
            f"{op.title}: input contains values that are not probabilities; each must be from 0 "
            "to 1."
        )
    return made


@operator("7.2.1.10", dtypes=FLOATS)
def multinomial(
    input: TensorLike, num_samples: int = 1, replacement: bool = True, seed: int = 0
) -> Tensor:
    """Return indices of the input, drawn with probabilities proportional to its elements.

    The elements are nonnegative weights, of which only the ratios count; each row of a matrix is
    drawn from for itself. Without `replacement`, no index is drawn twice.

    >>> sz.multinomial(sz.tensor([0, 0.5, 1.5]), 5, seed=7)
    Tensor([1, 2, 2, 2, 2], dtype=int64)
    """
    op = REGISTRY["multinomial"]
    x = tensor_argument(op, "input", input)
    check_dtype(op, {"input": x}, x.dtype)
    if x.ndim not in (1, 2):
        raise InvalidArgument(
            f"{op.title}: input has shape {x.shape}; it must have one or two axes."
        )
    count = count_argument(op, "num_samples", num_samples)
    if not isinstance(replacement, np.bool_):
        flag_argument(op, "replacement", replacement)
    number = _seed_argument(op, seed)
    check_room(3 * 8 * x.size, f"{x.size} weights as float64, and their sums")
    rows = x.shape[0] if x.ndim == 2 else 1
    weights = readable(x).astype(np.float64, order="C").reshape(rows, x.shape[-1])
    _check_weights(op, weights, None if replacement else count)
    flat = line(count * len(weights) if count < 2**63 else count, int64)  # also of no rows
    shape = (*x.shape[:-1], count)
    made = _core.view(flat, 0, shape, (count, 1)[-len(shape) :])
    for at, row in enumerate(weights):
        if replacement:
            ends = np.cumsum(row / row.max())
            # Rounding may reach the very end, which belongs to the last weight above 0.
            last = int(np.flatnonzero(row)[-1])
            _core.random_choices(made, at, from_numpy(ends), last, number)
        else:
            put(flat, at * count, _drawn_once(row, at, number)[:count])
    return made


def _check_weights(op: Operator, weights: Array, most: int | None) -> None:
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise InvalidArgument(
            f"{op.title}: input contains values that are not weights; each must be finite and at "
            "least 0."
        )
    if weights.size:
        fewest = int((weights > 0).sum(axis=1).min())
    else:  # counting would take memory for each row, of which there may be any number
        fewest = 0 if len(weights) else most or 1
    if fewest == 0:
        raise InvalidArgument(
            f"{op.title}: the weights of a row are all 0; at least one must be positive."
        )
    if most is not None and most > fewest:
        raise InvalidArgument(
            f"{op.title}: num_samples is {shown(most)}, and a row has {fewest} positive weights. "
            "Draw fewer, or with replacement."
        )


def _drawn_once(weights: Array, row: int, seed: int) -> Array:
    """Return the indices of all weights above 0 in the order in which they are drawn.

    Clocks that ring at random, at a rate of their weight, ring in this order; their logarithms
    neither overflow nor underflow.
    """
    rings = _core.empty(weights.shape, float64)
    _core.random_rings(rings, from_numpy(weights), row * weights.size, seed)
    order: Array = np.argsort(rings.numpy(), kind="stable")
    return order


@operator("7.2.1.11", dtypes=WHOLE_AND_FLOATING)
def randperm(
    len: int, dtype: DTypeLike = float32, device: DeviceLike = CPU, seed: int = 0
) -> Tensor:
    """Return the numbers from 0 to `len` - 1 in random order.

    >>> sz.randperm(5, seed=7)
    Tensor([2, 1, 0, 3, 4], dtype=float32)
    """
    op = REGISTRY["randperm"]
    want = wanted(op, (), dtype, device)
    dt = want.dtype
    count = count_argument(op, "len", len)
    most = 2 ** (dt.mantissa_bits + 1) if dt.exponent_bits else iinfo(dt).max
    if count - 1 > most:
        raise InvalidArgument(
            f"{op.title}: len is {shown(count)}, but {dt} represents only the integers from 0 to "
            f"{most}. Choose a wider dtype."
        )
    number = _seed_argument(op, seed)

    def compute() -> Tensor:
        made = line(count, dt)
        _core.fill_sequence(made, 0, count, 0, 1, 0, False)
        _core.random_permutation(made, number)
        return made

    want = want._replace(shape=(count,))
    return want.make(compute, len=count, seed=number)
