"""The data that kernels are judged with: tensors of every data class, by NumPy.

The classes are the kit's; large tensors of them take a moment here.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.model.numbers import FORMATS, PARTS
from suanzi.conformance.nn._calls import CLASSES, Operand
from suanzi.conformance.subjects.wire import Data

FAR = "far from 0"
"""A class of the judge alone: the first operand is so, the others are ordinary."""

Array = NDArray[np.float64]
Fill = Callable[[str, Operand, np.random.Generator], Array]


def dtype_of(name: str) -> np.dtype[Any]:
    """Return NumPy's dtype of a name, or that of ml_dtypes.

    >>> dtype_of("bfloat16").itemsize
    2
    """
    return np.dtype(getattr(ml_dtypes, name, name))


def numbers_of(x: Data) -> NDArray[Any]:
    """Return the elements of a tensor: floats as float64 or complex128, the others as they are."""
    found = np.frombuffer(x.raw, dtype_of(x.dtype)).reshape(x.shape)
    if x.dtype in PARTS:
        return found.astype(np.complex128)
    return found.astype(np.float64) if x.dtype in FORMATS else found


def of_parts(real: Array, imag: Array) -> NDArray[np.complex128]:
    """Return complex numbers of two parts, without arithmetic: infinity times 1j has a NaN.

    >>> of_parts(np.array([0.0, -0.0]), np.array([np.inf, -0.0])).tolist()
    [infj, (-0-0j)]
    """
    found = np.empty(real.shape, np.complex128)
    found.real, found.imag = real, imag
    return found


def filled(dtype: str, x: Any, data_class: str, seed: str) -> Any:
    """Return an argument of a call: operands as tensors, everything else as it is."""
    if isinstance(x, list | tuple) and any(isinstance(one, Operand) for one in x):
        return [filled(dtype, one, data_class, f"{seed} {i}") for i, one in enumerate(x)]
    if not isinstance(x, Operand):
        return x
    of = x.dtype or dtype
    random = np.random.default_rng(zlib.crc32(seed.encode()))
    if x.values is not None:
        given: NDArray[Any] = np.array(x.values)
    elif of in FORMATS:
        given = _FILLS[data_class](of, x, random)
    elif of in PARTS:
        given = of_parts(*(_FILLS[data_class](PARTS[of], x, random) for _ in range(2)))
    else:
        low, high = (0, 1) if of == "bool" else (math.ceil(x.low), math.floor(x.high))
        given = random.integers(low, high, x.shape, endpoint=True)
        if of in ("bool", "uint1") and given.size:
            given.flat[-1] = 1  # or an unwritten tail would be right in half of the cases
    with np.errstate(all="ignore"):
        array = np.asarray(given).astype(dtype_of(of)).reshape(x.shape)
    return Data(of, x.shape, array.tobytes())


def _ordinary(dtype: str, x: Operand, random: np.random.Generator) -> Array:
    return random.uniform(x.low, x.high, x.shape)


def _whole(dtype: str, x: Operand, random: np.random.Generator) -> Array:
    low, high = max(math.ceil(x.low), -3), math.floor(min(x.high, 3))
    return random.integers(low, high, x.shape, endpoint=True).astype(np.float64)


def _wide(dtype: str, x: Operand, random: np.random.Generator) -> Array:
    form = FORMATS[dtype]
    exponents = random.integers(max(-12, 2 - form.bias), min(6, form.bias - 1), x.shape)
    found = np.ldexp(random.uniform(1, 2, x.shape), exponents)
    return found * random.choice([-1.0, 1.0], x.shape) if x.low < 0 else found


def _constant(dtype: str, x: Operand, random: np.random.Generator) -> Array:
    return np.full(x.shape, random.uniform(x.low, x.high))


def _outliers(dtype: str, x: Operand, random: np.random.Generator) -> Array:
    found = _ordinary(dtype, x, random)
    form = FORMATS[dtype]
    flat, most = found.reshape(-1), 2.0 ** (form.bias - 2)
    some = flat[random.integers(min(16, flat.size) or 1) :: 16]
    some *= 1000
    if x.low < 0 < x.high and some.size:  # an exponential overflows on one side alone
        some[0] = 1000 * random.uniform(x.high / 2, x.high)
    return np.asarray(np.clip(found, -most, most))


def _far(dtype: str, x: Operand, random: np.random.Generator) -> Array:
    """Ordinary numbers around a large one: what is left of their differences is few digits."""
    return _ordinary(dtype, x, random) + (64.0 if FORMATS[dtype].mantissa < 20 else 1000.0)


def _special(dtype: str, x: Operand, random: np.random.Generator) -> Array:
    found = _ordinary(dtype, x, random)
    if not x.shape or not found.size:
        return found
    some = [math.nan, -0.0, *([math.inf, -math.inf] if FORMATS[dtype].infinity else [])]
    rows = found.reshape(-1, x.shape[-1])
    for i, row in enumerate(range(0, len(rows), 2)):
        rows[row, random.integers(x.shape[-1])] = some[i % len(some)]
    return found


_FILLS: Mapping[str, Fill] = {
    "ordinary": _ordinary, "whole numbers": _whole, "many magnitudes": _wide,
    "constant": _constant, "outliers": _outliers, "special values": _special,
    FAR: _far,
}  # fmt: skip
assert set(_FILLS) >= set(CLASSES)
