"""Operands of attention on a device, and results against the bounds of their truth."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import suanzi as sz

RNG = np.random.default_rng(41)
HERE = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def numbers(kind: str, *shape: int) -> Any:
    """Return normal numbers of a dtype, others in every call."""
    return RNG.standard_normal(shape).astype(np.float32).astype(HERE[kind])


def tensor(x: Any, device: str = "cpu") -> sz.Tensor:
    """Return an array as a tensor there, also of bfloat16."""
    if x.dtype == ml_dtypes.bfloat16:
        return sz.cast(sz.tensor(x.astype(np.float32)), sz.bfloat16).to_device(device)
    return sz.tensor(x, device=device)


def wide(x: sz.Tensor) -> Any:
    """Return the numbers of a tensor of any device as float64."""
    return sz.cast(x.to_device("cpu"), sz.float64).numpy()


def moved_to(device: str, operands: Any, options: dict[str, Any]) -> tuple[list[Any], Any]:
    """Return operands and options with their arrays as tensors there."""
    there = [x if isinstance(x, sz.Tensor) else tensor(x, device) for x in operands]
    return there, {
        k: tensor(x, device) if isinstance(x, np.ndarray) else x for k, x in options.items()
    }


def assert_within(found: Any, bound: Any, name: str = "") -> None:
    """Assert that results are within a bound of the truth, NaN where it has NaN."""
    assert found.shape == bound.value.shape
    with np.errstate(invalid="ignore"):
        off = np.abs(found - bound.value)
        good = (off <= bound.error) | (found == bound.value)
    good |= np.isnan(found) & np.isnan(bound.value)
    assert good.all(), (name, off[~good], bound.error[~good], bound.value[~good])
