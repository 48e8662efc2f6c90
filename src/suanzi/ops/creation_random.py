"""7.2.1.7 to .11: random numbers.

They are drawn by NumPy's PCG64 in row-major order, so that a seed gives the same numbers on every
machine, for every layout and number of threads. The seed 0 is the system's entropy, and never the
same.
"""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi._hints import shown
from suanzi.device import CPU, DeviceLike
from suanzi.dtypes import DType, DTypeLike, float32, iinfo, int64
from suanzi.ops.creation import VALUES, WHOLE_AND_FLOATING
from suanzi.ops.creation_wanted import (
    LayoutLike,
    Scalar,
    blocks,
    count_argument,
    finite_argument,
    limits,
    line,
    put,
    real_scalar_argument,
    scalar_argument,
    wanted,
)
from suanzi.registry import COMPLEX, FLOATS, REGISTRY, Operator
from suanzi.resolve.arguments import tensor_argument
from suanzi.resolve.declare import operator
from suanzi.resolve.elementwise import check_dtype
from suanzi.resolve.scalars import flag_argument, integer_argument
from suanzi.status import InvalidArgument
from suanzi.tensors.exchange import check_room
from suanzi.tensors.parts import readable
from suanzi.tensors.tensor import Tensor, TensorLike

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def _seed_argument(op: Operator, seed: Any) -> int:
    found = integer_argument(op, "seed", seed)
    if not -(2**63) <= found < 2**63:
        raise InvalidArgument(
            f"{op.title}: seed is {shown(found)}; it must be an integer of 64 bits."
        )
    return found


def _generator(seed: int) -> np.random.Generator:
    from numpy.random import PCG64, Generator

    return Generator(PCG64(seed % 2**64 if seed else None))


@operator("7.2.1.7", dtypes=VALUES)
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
    """Return random numbers that are uniform between `min` and `max`.

    Floats are at least `min` and below `max`, integers may be `max`; the parts of complex numbers
    are each between those of `min` and `max`. Without bounds, they are the lowest and the highest
    number of the dtype.

    >>> import suanzi as sz
    >>> sz.rand_uniform((2, 3), sz.int8, min=1, max=6, seed=7)
    Tensor([[4, 2, 6],
            [6, 4, 2]], dtype=int8)
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
        generator = _generator(number)
        for at, length in blocks(made):
            put(made, at, _uniform(generator, length, dt, low, high))
        return want.copied(made)

    return want.make(compute, min=low, max=high, seed=number)


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
            f"{op.title}: {name} is {shown(x)}, which is beyond {dt}, whose largest number is "
            f"{limits(dt).max}."
        )
    return found


def _uniform(
    generator: np.random.Generator, count: int, dt: DType, low: complex, high: complex
) -> Array:
    import numpy as np

    if dt.exponent_bits:
        if dt.kind == "complex":
            parts = generator.random((count, 2))
            parts[:, 0] = _between(parts[:, 0], low.real, high.real, dt)
            parts[:, 1] = _between(parts[:, 1], low.imag, high.imag, dt)
            return parts.view(np.complex128).reshape(count)
        return _between(generator.random(count), low.real, high.real, dt)
    bits = builtins.max(dt.bits, 8)
    kind = f"int{bits}" if dt.kind == "int" else f"uint{bits}"
    # NumPy takes the ends as Python integers, and draws both.
    return generator.integers(
        int(low.real), int(high.real), size=count, dtype=np.dtype(kind), endpoint=True
    )


def _between(u: Array, low: float, high: float, dt: DType) -> Array:
    """Return numbers from `low` up to below `high` for numbers from 0 up to below 1."""
    import numpy as np

    last = low if low == high else _below(high, dt)  # what rounding must not go beyond
    found = u * high if low == 0 else (1 - u) * low + u * high
    return np.clip(found, low, last, out=found)


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


@operator("7.2.1.8", dtypes=(*FLOATS, *COMPLEX))
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

    >>> import suanzi as sz
    >>> sz.rand_normal((3,), mean=10, seed=7)
    Tensor([ 10.00123, 10.298745, 9.7258625], dtype=float32)
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
        generator = _generator(number)
        for at, length in blocks(made):
            put(made, at, _normal(generator, length, dt, middle, deviation))
        return want.copied(made)

    return want.make(compute, mean=middle, std=deviation, seed=number)


def _normal(
    generator: np.random.Generator, count: int, dt: DType, middle: complex, deviation: float
) -> Array:
    import numpy as np

    end = limits(dt).max
    with np.errstate(over="ignore"):
        if dt.kind != "complex":
            drawn = generator.standard_normal(count) * deviation + middle.real
            return np.clip(drawn, -end, end)
        parts = generator.standard_normal((count, 2)) * (deviation / math.sqrt(2))
        parts += (middle.real, middle.imag)
        return np.clip(parts, -end, end).view(np.complex128).reshape(count)


@operator("7.2.1.9", dtypes=FLOATS)
def rand_bernoulli(input: TensorLike, seed: int = 0) -> Tensor:
    """Return 1 with the probability that each element of the input is, and else 0.

    >>> import suanzi as sz
    >>> sz.rand_bernoulli(sz.tensor([0, 0.5, 1]), seed=7)
    Tensor([0, 0, 1], dtype=float32)
    """
    op = REGISTRY["rand_bernoulli"]
    x = tensor_argument(op, "input", input)
    check_dtype(op, {"input": x}, x.dtype)
    number = _seed_argument(op, seed)
    check_room(x.size * (4 + x.dtype.bits // 8), f"{x.size} numbers, and what is compared to them")
    chances = readable(x).reshape(-1)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise InvalidArgument(
            f"{op.title}: input holds what is not a probability; each element must be from 0 to 1."
        )
    made = _core.empty(x.shape, x.dtype)
    generator = _generator(number)
    for at, length in blocks(made):
        drawn = generator.random(length) < chances[at : at + length]
        put(made, at, drawn)
    return made


@operator("7.2.1.10", dtypes=FLOATS)
def multinomial(
    input: TensorLike, num_samples: int = 1, replacement: bool = True, seed: int = 0
) -> Tensor:
    """Return indices of the input, each drawn with the probability its element stands for.

    The elements are weights from 0 up, of which only the ratios count; each row of a matrix is
    drawn from for itself. Without `replacement`, no index is drawn twice.

    >>> import suanzi as sz
    >>> sz.multinomial(sz.tensor([0, 0.5, 1.5]), 5, seed=7)
    Tensor([2, 2, 2, 1, 2], dtype=int64)
    """
    import numpy as np

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
    weights = readable(x).astype(np.float64).reshape(rows, x.shape[-1])
    _check_weights(op, weights, None if replacement else count)
    made = line(count * len(weights) if count < 2**63 else count, int64)  # also of no rows
    generator = _generator(number)
    at = 0
    for row in weights:
        if replacement:
            for length in _lengths(count):
                put(made, at, _drawn(generator, row, length))
                at += length
        else:
            put(made, at, _drawn_once(generator, row)[:count])
            at += count
    shape = (*x.shape[:-1], count)
    return _core.view(made, 0, shape, (count, 1)[-len(shape) :])


def _lengths(count: int) -> list[int]:
    from suanzi.ops.creation_wanted import BLOCK

    return [BLOCK] * (count // BLOCK) + [count % BLOCK] * (count % BLOCK > 0)


def _check_weights(op: Operator, weights: Array, most: int | None) -> None:
    import numpy as np

    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise InvalidArgument(
            f"{op.title}: input holds what is not a weight; each element must be finite and at "
            "least 0."
        )
    if weights.size:
        fewest = int((weights > 0).sum(axis=1).min())
    else:  # counting would take memory for each row, of which there may be any number
        fewest = 0 if len(weights) else most or 1
    if fewest == 0:
        raise InvalidArgument(f"{op.title}: the weights of a row are all 0; one must be above.")
    if most is not None and most > fewest:
        raise InvalidArgument(
            f"{op.title}: num_samples is {shown(most)}, and a row has {fewest} weights above 0; "
            "without replacement there are no more. Draw fewer, or with replacement."
        )


def _drawn(generator: np.random.Generator, weights: Array, count: int) -> Array:
    import numpy as np

    ends = np.cumsum(weights / weights.max())
    found = np.searchsorted(ends, generator.random(count) * ends[-1], side="right")
    # Rounding may reach the very end, which belongs to the last weight above 0.
    indices: Array = np.minimum(found, np.flatnonzero(weights)[-1])
    return indices


def _drawn_once(generator: np.random.Generator, weights: Array) -> Array:
    """Return the indices of all weights above 0 in the order in which they are drawn.

    Clocks that ring at random, at a rate of their weight, ring in this order; their logarithms
    neither overflow nor underflow.
    """
    import numpy as np

    with np.errstate(divide="ignore"):
        rings = np.log(generator.standard_exponential(weights.shape)) - np.log(weights)
    order: Array = np.argsort(rings, kind="stable")
    return order


@operator("7.2.1.11", dtypes=WHOLE_AND_FLOATING)
def randperm(
    len: int, dtype: DTypeLike = float32, device: DeviceLike = CPU, seed: int = 0
) -> Tensor:
    """Return the numbers from 0 to `len` - 1 in random order.

    >>> import suanzi as sz
    >>> sz.randperm(5, seed=7)
    Tensor([2, 0, 4, 1, 3], dtype=float32)
    """
    op = REGISTRY["randperm"]
    want = wanted(op, (), dtype, device)
    dt = want.dtype
    count = count_argument(op, "len", len)
    most = 2 ** (dt.mantissa_bits + 1) if dt.exponent_bits else iinfo(dt).max
    if count - 1 > most:
        raise InvalidArgument(
            f"{op.title}: len is {shown(count)}, and {dt} holds the integers from 0 to {most} "
            "alone. Choose a wider dtype."
        )
    number = _seed_argument(op, seed)

    def compute() -> Tensor:
        made = line(count, dt)
        check_room(8 * count, f"{count} numbers to be put in order")
        order = _generator(number).permutation(count)
        for at, length in blocks(made):
            put(made, at, order[at : at + length])
        return made

    want = want._replace(shape=(count,))
    return want.make(compute, len=count, seed=number)
