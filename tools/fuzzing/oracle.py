"""What NumPy computes for operators that it has, too: exactly, or to a few units of the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import suanzi as sz

Array = np.ndarray[Any, Any]
_NUMPYS = {sz.bool, sz.int8, sz.int16, sz.int32, sz.int64, sz.uint8, sz.uint16, sz.uint32}
_NUMPYS |= {sz.uint64, sz.float16, sz.float32, sz.float64, sz.complex64, sz.complex128}

EXACT: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "sign": np.sign,
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
    "equal": np.equal, "not_equal": np.not_equal, "greater": np.greater, "less": np.less,
    "greater_equal": np.greater_equal, "less_equal": np.less_equal, "sqrt": np.sqrt,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "logical_not": np.logical_not, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor, "bitwise_not": np.bitwise_not, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "round": np.round, "square": np.square,
    "is_nan": np.isnan, "is_inf": np.isinf, "is_finite": np.isfinite, "conj": np.conj,
    "where": np.where, "duplicate": np.copy, "contiguous": np.copy,
}  # fmt: skip
"""Element-wise operators of one dtype, rounded correctly."""
_REAL_ONLY = {"sqrt", "square", "mul", "abs", "sign"}  # NumPy's complex ones round otherwise

NEAR: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "expm1": np.expm1, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip
"""Functions, compared with NumPy's in float64 and so only for narrower dtypes."""

MOVING: dict[str, Callable[..., Any]] = {
    "reshape": lambda input, dims: input.reshape(dims),
    "transpose": lambda input, perm: input.transpose(perm),
    "concat": lambda input_lists, axis: np.concatenate(input_lists, axis),
    "stack": lambda input_lists, axis: np.stack(input_lists, axis),
    "tile": lambda input, repeats: np.tile(input, repeats),
    "flip": lambda input, axis: np.flip(input, axis),
    "reverse": lambda input, axis: np.flip(input, axis),
    # No axes are all of them, to us.
    "roll": lambda input, shifts, axis: np.roll(input, shifts, axis) if axis else None,
    "expand": lambda input, shape: np.broadcast_to(input, shape),
    "diag": lambda input: np.diag(input),
    "gather": lambda input, index: np.take(input, index, 0) if index.ndim == 1 else None,
    # Axis -1 is none, to us.
    "cumsum": lambda input, axis: (
        np.cumsum(input, axis, input.dtype) if input.dtype.kind in "iu" and axis != -1 else None
    ),
    "masked_select": lambda input, mask: input[mask] if mask.shape == input.shape else None,
}
"""Calls with just these arguments; None where the two do not mean the same."""


def disagreement(op: str, arguments: Mapping[str, Any], found: Any) -> str | None:
    """Return how an answer differs from NumPy's; None if it does not, or cannot be compared."""
    if not isinstance(found, sz.Tensor) or found.dtype not in _NUMPYS:
        return None
    tensors = _flat(arguments.values())
    if any(not isinstance(x, sz.Tensor) or x.dtype not in _NUMPYS for x in tensors):
        return None if op not in MOVING else _moved(op, arguments, found)
    dtypes = {x.dtype for x in (tensors[1:] if op == "where" else tensors)}
    if op in MOVING:
        return _moved(op, arguments, found)
    if len(dtypes) != 1 or len(tensors) != len(arguments):
        return None
    arrays = [x.numpy() for x in tensors]
    if op in EXACT:
        if op in _REAL_ONLY and arrays[0].dtype.kind == "c":
            return None
        expected = np.asarray(EXACT[op](*arrays))
        return _differs(found, expected) if sz.dtype(expected.dtype) is found.dtype else None
    # Integers are rounded to the dtype of the result first.
    if op in NEAR and found.dtype is tensors[0].dtype and found.dtype in (sz.float16, sz.float32):
        return _far(op, arrays, found)
    return None


def _moved(op: str, arguments: Mapping[str, Any], found: sz.Tensor) -> str | None:
    if not all(x.dtype in _NUMPYS for x in _flat(arguments.values()) if isinstance(x, sz.Tensor)):
        return None

    def array(x: Any) -> Any:
        if isinstance(x, list):
            return [array(one) for one in x]
        return x.numpy() if isinstance(x, sz.Tensor) else x

    try:
        expected = MOVING[op](**{name: array(value) for name, value in arguments.items()})
    except Exception:  # arguments that NumPy does not know, or refuses
        return None
    if expected is None or sz.dtype(expected.dtype) is not found.dtype:
        return None
    return _differs(found, expected)


def _flat(values: Any) -> list[Any]:
    return [x for value in values for x in (value if isinstance(value, list) else [value])]


def _differs(found: sz.Tensor, expected: Array) -> str | None:
    array = found.numpy()
    if array.shape != expected.shape:
        return f"shape {array.shape}, NumPy {expected.shape}"
    same = (array == expected) | ((array != array) & (expected != expected))
    return None if same.all() else f"{array[~same][:3]}, NumPy {expected[~same][:3]}"


def _far(op: str, arrays: list[Array], found: sz.Tensor) -> str | None:
    truth = NEAR[op](arrays[0].astype(np.float64))
    array = found.numpy().astype(np.float64)
    if array.shape != truth.shape:
        return f"shape {array.shape}, NumPy {truth.shape}"
    limits = np.finfo(found.numpy().dtype)
    unit = np.maximum(np.abs(truth), float(limits.smallest_normal)) * float(limits.eps)
    rounded = truth.astype(found.numpy().dtype).astype(np.float64)
    good = (np.abs(array - truth) <= 6 * unit) | (array == rounded)
    good |= np.isnan(array) & np.isnan(truth)
    # Around the largest number either side may go over.
    good |= (np.abs(truth) >= float(limits.max) * (1 - 1e-5)) & (np.abs(array) >= limits.max)
    return None if good.all() else f"{array[~good][:3]}, NumPy {truth[~good][:3]}"
