"""Tensors of normal numbers for sz.nn, their values as float64, and other orders in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

import suanzi as sz
from suanzi import _core
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]


def made(dtype: str, *shape: int, seed: int = 0) -> sz.Tensor:
    """Return normal numbers, the same for a shape and a seed."""
    x = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return sz.cast(sz.tensor(x), dtype)


def exact(x: sz.Tensor) -> Array:
    """Return the same numbers as float64."""
    return np.asarray(sz.cast(x, sz.float64))


def turned(x: sz.Tensor) -> sz.Tensor:
    """Return the same elements, the first axis the fastest in memory."""
    order = range(x.ndim)[::-1]
    return permuted(_core.row_major_copy(permuted(x, order)), order)
