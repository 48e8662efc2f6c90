"""Creation functions of the array API standard."""

from __future__ import annotations

import cmath
import math
from typing import Any, TypeAlias

from suanzi import _core
from suanzi.base.device import DeviceLike, create
from suanzi.base.dtypes import DType, DTypeLike, complex64, float32, iinfo, int64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.hints import shown
from suanzi.base.numpy import np
from suanzi.base.status import AllocFailed, InvalidArgument, StatusError, TypeMismatch
from suanzi.faces.array_api.along import repeated
from suanzi.faces.array_api.arguments import (
    array_argument,
    copy_argument,
    device_of,
    double,
    dtype_or,
    placed,
    provider_for,
    shape_of,
)
from suanzi.faces.array_api.declare import RULES, function
from suanzi.ops.calling.scalars import flag_argument, integer_argument
from suanzi.ops.creation_wanted import line, number_argument, scalar_argument
from suanzi.tensors.exchange import from_dlpack as exchanged
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.make import from_python, tensor
from suanzi.tensors.parts import copy as copied
from suanzi.tensors.tensor import Tensor

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip

Number = bool | int | float | complex
Shape = int | tuple[int, ...]
Place: TypeAlias = "DeviceLike | None"


def _alone(x: Number) -> DType:
    """Return the default dtype of a Python number."""
    if isinstance(x, bool):
        return bool_
    return int64 if isinstance(x, int) else complex64 if isinstance(x, complex) else float32


# ---- of existing arrays --------------------------------------------------------------------------


@function
def asarray(
    obj: Any, /, *, dtype: DTypeLike = None, device: Place = None, copy: bool | None = None
) -> Tensor:
    """Convert numbers, nested lists or an array to a tensor.

    Arrays of NumPy, and others with ``__dlpack__``, are taken without a copy if they can be. With
    `copy`, there is always one; with ``copy=False``, what needs one raises ValueError.

    >>> xp.asarray([[1, 2], [3, 4]], dtype=xp.float8_e5m2)
    Tensor([[1, 2],
            [3, 4]], dtype=float8_e5m2)
    """
    if device is not None:
        if copy is False and provider_for("asarray", device)[1] is not None:
            _refuse_copy(copy, f"to {device}")
        return placed("asarray", asarray(obj, dtype=dtype, copy=copy), device)
    target = None if dtype is None else dtype_or("asarray", dtype, float32)
    if type(obj) in (list, tuple, bool, int, float, complex):
        _refuse_copy(copy, "of Python's numbers")
        return _of_numbers(obj, target)
    taken = obj if isinstance(obj, Tensor) else _shared(obj)
    if taken is None:
        _refuse_copy(copy, f"of a {type(obj).__name__}")
        return tensor(obj, target)
    taken = array_argument("asarray", "obj", taken)
    if target is not None and target is not taken.dtype:
        _refuse_copy(copy, f"from {taken.dtype} to {target}")
        return _core.cast(taken, target, False)
    return copied(taken) if copy_argument("asarray", copy) else taken


def _refuse_copy(copy: bool | None, what: str) -> None:
    if copy is False:
        raise InvalidArgument(f"asarray: copy is False, and a copy is needed {what}.")


def _of_numbers(obj: Any, target: DType | None) -> Tensor:
    """Make a tensor of numbers, or of lists of numbers and 0-d tensors."""
    try:
        return from_python(obj, target, RULES)
    except TypeMismatch:
        if not isinstance(obj, list | tuple) or not _holds_arrays(obj):
            raise
    from suanzi.faces.array_api.manipulation_functions import stack

    parts = [asarray(one) if not isinstance(one, Tensor) else one for one in obj]
    made = stack(parts)
    return made if target in (None, made.dtype) else _core.cast(made, target, False)


def _holds_arrays(obj: Any) -> bool:
    return any(
        hasattr(x, "__dlpack__") or (isinstance(x, list | tuple) and _holds_arrays(x)) for x in obj
    )


def _shared(obj: Any) -> Tensor | None:
    """Return a tensor on the memory of another library's array; None where that cannot be."""
    if type(obj).__module__.partition(".")[0] == "numpy" and hasattr(obj, "__array_interface__"):
        given = np.asarray(obj)
        try:
            if given.dtype == np.bool_ and given.size and given.view(np.uint8).max() > 1:
                return None  # bytes that are true to NumPy, and neither 0 nor 1
            return from_numpy(given)
        except (BufferError, InvalidArgument, ValueError):
            return None
    if hasattr(obj, "__dlpack__"):
        try:
            return exchanged(obj)
        except (BufferError, TypeMismatch, RuntimeError):
            return None
    return None


@function
def from_dlpack(x: Any, /, *, device: Place = None, copy: bool | None = None) -> Tensor:
    """Return a tensor that shares the memory of another library's array, or a copy with `copy`."""
    made = exchanged(x, copy=copy_argument("from_dlpack", copy))
    if device is None or made.device == device_of("from_dlpack", device):
        return made
    return placed("from_dlpack", made, device) if type(made) is Tensor else made.to_device(device)


# ---- of one value --------------------------------------------------------------------------------


@function
def empty(shape: Shape, *, dtype: DTypeLike = None, device: Place = None) -> Tensor:
    """Return a new uninitialised tensor."""
    wanted, dt = shape_of("empty", "shape", shape), dtype_or("empty", dtype, float32)
    return _core.empty(wanted, dt) if device is None else _filled("empty", wanted, 0, dt, device)


@function
def zeros(shape: Shape, *, dtype: DTypeLike = None, device: Place = None) -> Tensor:
    """Return a new tensor of zeros, float32 unless `dtype` is given."""
    wanted, dt = shape_of("zeros", "shape", shape), dtype_or("zeros", dtype, float32)
    return _core.full(wanted, dt, 0) if device is None else _filled("zeros", wanted, 0, dt, device)


@function
def ones(shape: Shape, *, dtype: DTypeLike = None, device: Place = None) -> Tensor:
    """Return a new tensor of ones, float32 unless `dtype` is given."""
    wanted, dt = shape_of("ones", "shape", shape), dtype_or("ones", dtype, float32)
    return _core.full(wanted, dt, 1) if device is None else _filled("ones", wanted, 1, dt, device)


@function
def full(
    shape: Shape, fill_value: Number, *, dtype: DTypeLike = None, device: Place = None
) -> Tensor:
    """Return a new tensor filled with a number; without `dtype`, its dtype follows from the number.

    >>> sz.array_api.full((2,), 7), sz.array_api.full(2, 0.5).dtype
    (Tensor([7, 7], dtype=int64), suanzi.float32)
    """
    number = number_argument("full", "fill_value", fill_value)
    dt = dtype_or("full", dtype, _alone(number))
    return _filled("full", shape_of("full", "shape", shape), number, dt, device)


@function
def empty_like(x: Tensor, /, *, dtype: DTypeLike = None, device: Place = None) -> Tensor:
    """Return an uninitialised tensor with the shape and dtype of another."""
    x = array_argument("empty_like", "x", x)
    dt = dtype_or("empty_like", dtype, x.dtype)
    return (
        _core.empty(x.shape, dt)
        if device is None
        else _filled("empty_like", x.shape, 0, dt, device)
    )


@function
def zeros_like(x: Tensor, /, *, dtype: DTypeLike = None, device: Place = None) -> Tensor:
    """Return zeros with the shape and dtype of another tensor."""
    x = array_argument("zeros_like", "x", x)
    return _filled("zeros_like", x.shape, 0, dtype_or("zeros_like", dtype, x.dtype), device)


@function
def ones_like(x: Tensor, /, *, dtype: DTypeLike = None, device: Place = None) -> Tensor:
    """Return ones with the shape and dtype of another tensor."""
    x = array_argument("ones_like", "x", x)
    return _filled("ones_like", x.shape, 1, dtype_or("ones_like", dtype, x.dtype), device)


@function
def full_like(
    x: Tensor, /, fill_value: Number, *, dtype: DTypeLike = None, device: Place = None
) -> Tensor:
    """Return a tensor with the shape and dtype of another, filled with a number."""
    x = array_argument("full_like", "x", x)
    number = number_argument("full_like", "fill_value", fill_value)
    return _filled("full_like", x.shape, number, dtype_or("full_like", dtype, x.dtype), device)


def _filled(op: str, shape: tuple[int, ...], value: Number, dt: DType, device: Place) -> Tensor:
    number = scalar_argument(op, "fill_value", value, dt)
    if device is not None:
        place, provider = provider_for(op, device)
        if provider is not None:
            one = _core.full((), dt, number)
            given = {"shape": shape, "dtype": dt, "value": one.item(), "min2maj": None}
            try:
                made: Any = create("full", place, provider, given)
            except StatusError as error:
                raise type(error)(f"{op}: {error}") from None
            if made is NotImplemented:
                return placed(op, repeated(one, shape), place)
            if hasattr(made, "is_array_api"):
                made.is_array_api = True
            return made  # type: ignore[no-any-return]
    return _core.full(shape, dt, number)


# ---- of many -------------------------------------------------------------------------------------


@function
def arange(
    start: int | float, /, stop: int | float | None = None, step: int | float = 1, *,
    dtype: DTypeLike = None, device: Place = None,
) -> Tensor:  # fmt: skip
    """Return the numbers from `start` to `stop`, which is excluded; one argument alone is `stop`.

    >>> sz.array_api.arange(1, 8, 3), sz.array_api.arange(3, dtype=sz.bfloat16)
    (Tensor([1, 4, 7], dtype=int64), Tensor([0, 1, 2], dtype=bfloat16))
    """
    if device is not None:
        return placed("arange", arange(start, stop, step, dtype=dtype), device)
    if stop is None:
        start, stop = 0, start
    given = {"start": start, "stop": stop, "step": step}
    first, last, by = (number_argument("arange", name, x) for name, x in given.items())
    if isinstance(first, complex) or isinstance(last, complex) or isinstance(by, complex) or not by:
        raise InvalidArgument("arange: the ends and the step are real, and the step not 0.")
    if not all(isinstance(x, int) or math.isfinite(x) for x in (first, last, by)):
        raise InvalidArgument("arange: the ends and the step are finite numbers.")
    whole = all(isinstance(x, int) for x in (first, last, by))
    dt = dtype_or("arange", dtype, int64 if whole else float32)
    try:
        steps = -((first - last) // by) if whole else math.ceil((last - first) / by)
    except OverflowError:
        raise AllocFailed(
            f"arange: from {shown(first)} to {shown(last)} by {shown(by)} there are more "
            "numbers than can be counted."
        ) from None
    count = max(int(steps), 0)
    if not dt.exponent_bits and count and not whole:
        return _core.cast(arange(first, last, by, dtype="float64"), dt, False)
    if dt.kind in ("int", "uint") and count:
        ends = (first, first + (count - 1) * by)
        if min(ends) < iinfo(dt).min or max(ends) > iinfo(dt).max:
            raise InvalidArgument(
                f"arange: it goes from {shown(ends[0])} to {shown(ends[1])}, and {dt} "
                f"holds {iinfo(dt).min} to {iinfo(dt).max}. Choose a wider dtype."
            )
    made = line(count, dt)
    by = by if count > 1 else 0  # of one number there is none, and it may be too large for a float
    if dt.exponent_bits:
        first, by = double("arange", "start", first), double("arange", "step", by)
    if count:
        _core.fill_sequence(made, 0, count, first, by, 0, False)
    return made


@function
def linspace(
    start: Number, stop: Number, /, num: int, *,
    dtype: DTypeLike = None, device: Place = None, endpoint: bool = True,
) -> Tensor:  # fmt: skip
    """Return `num` evenly spaced numbers from `start` to `stop`, which `endpoint` includes.

    >>> sz.array_api.linspace(0, 1, 4, endpoint=False)
    Tensor([   0, 0.25,  0.5, 0.75], dtype=float32)
    """
    if device is not None:
        made = linspace(start, stop, num, dtype=dtype, endpoint=endpoint)
        return placed("linspace", made, device)
    first = number_argument("linspace", "start", start)
    last = number_argument("linspace", "stop", stop)
    count = integer_argument("linspace", "num", num)
    if count < 0:
        raise InvalidArgument(f"linspace: num is {shown(count)}; it must be at least 0.")
    ends_there = flag_argument("linspace", "endpoint", endpoint)
    is_complex = isinstance(first, complex) or isinstance(last, complex)
    dt = dtype_or("linspace", dtype, complex64 if is_complex else float32)
    if not dt.exponent_bits:
        wide = linspace(first, last, count, dtype="float64", endpoint=ends_there)
        return _core.cast(wide, dt, False)
    if is_complex and dt.kind != "complex":
        raise InvalidArgument(f"linspace: an end is complex, and dtype {dt}.")
    made = line(count, dt)
    gaps = count - 1 if ends_there else count
    if not count:
        return made
    middle = min(gaps // 2 + 1, count)
    first, last = (
        complex(x if isinstance(x, complex) else double("linspace", name, x))
        for name, x in (("start", first), ("stop", last))
    )
    halves = not cmath.isfinite(last - first)  # their difference is no number
    if halves:
        first, last = first / 2, last / 2
    step = (last - first) / max(gaps, 1)
    # From the nearer end, so that both are exact.
    _core.fill_sequence(made, 0, middle, first, step, 0, halves)
    _core.fill_sequence(made, middle, count, last, step, gaps, halves)
    return made


@function
def eye(
    n_rows: int, n_cols: int | None = None, /, *,
    k: int = 0, dtype: DTypeLike = None, device: Place = None,
) -> Tensor:  # fmt: skip
    """Return a matrix with ones on the `k`-th diagonal above the main one, and zeros elsewhere.

    >>> sz.array_api.eye(2, 3, k=1)
    Tensor([[0, 1, 0],
            [0, 0, 1]], dtype=float32)
    """
    if device is not None:
        return placed("eye", eye(n_rows, n_cols, k=k, dtype=dtype), device)
    rows, columns = shape_of(
        "eye", "n_rows, n_cols", (n_rows, n_rows if n_cols is None else n_cols)
    )
    above = integer_argument("eye", "k", k)
    dt = dtype_or("eye", dtype, float32)
    made = _core.full((rows, columns), dt, 0)
    if -rows < above < columns:
        _core.copy_into(_core.diagonal(made, above), _core.full((), dt, 1))
    return made


@function
def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return coordinate arrays of a grid: k vectors become k arrays with k axes.

    With ``indexing="xy"``, the first two axes are exchanged. The results are copies.
    """
    if not isinstance(indexing, str) or indexing not in ("xy", "ij"):
        raise InvalidArgument(f"meshgrid: indexing is {shown(indexing)}; it is 'xy' or 'ij'.")
    lines = [array_argument("meshgrid", f"arrays[{i}]", x) for i, x in enumerate(arrays)]
    for i, x in enumerate(lines):
        if x.ndim > 1:
            raise InvalidArgument(
                f"meshgrid: arrays[{i}] has shape {x.shape}; it must have one axis."
            )
    swaps = indexing == "xy" and len(lines) > 1
    places = [1, 0, *range(2, len(lines))] if swaps else list(range(len(lines)))
    shape = [1] * len(lines)
    for place, x in zip(places, lines, strict=True):
        shape[place] = x.size
    if 0 not in shape and math.prod(shape) >= 2**63:
        raise AllocFailed(f"meshgrid: not enough memory for shape {tuple(shape)}.")
    found = []
    for place, x in zip(places, lines, strict=True):
        strides = [0] * len(lines)
        strides[place] = x.strides[0] if x.ndim else 0
        found.append(_core.row_major_copy(_core.view(x, x.offset, shape, strides)))
    return tuple(found)


@function
def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Return the lower triangle of matrices, up to the `k`-th diagonal above the main one.

    >>> sz.array_api.tril(sz.array_api.ones((2, 3)))
    Tensor([[1, 0, 0],
            [1, 1, 0]], dtype=float32)
    """
    return _triangle("tril", x, k, lower=True)


@function
def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """Return the upper triangle of matrices, from the `k`-th diagonal above the main one."""
    return _triangle("triu", x, k, lower=False)


def _triangle(op: str, x: Tensor, k: int, *, lower: bool) -> Tensor:
    x = array_argument(op, "x", x)
    above = integer_argument(op, "k", k)
    if x.ndim < 2:
        raise InvalidArgument(f"{op}: x has shape {x.shape}; it must have two axes at least.")
    rows, columns = x.shape[-2:]
    row = arange(rows)
    column = arange(columns)
    within = max(-rows, min(above, columns))  # beyond, it makes no difference
    edge = _core.run_operator("add", [row, within], int64)[0]
    kept = _core.run_operator(
        "less_equal" if lower else "greater_equal",
        [_core.view(column, 0, (1, columns), (0, 1)), _core.view(edge, 0, (rows, 1), (1, 0))],
        int64,
    )[0]
    return _core.run_operator("where", [kept, x, _core.full((), x.dtype, 0)], x.dtype)[0]
