"""Operands of attention on a device, and results against the bounds of their truth."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

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


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"causal": True},
    "causal, from the last key": {"causal": True, "align": "bottom_right", "scale": 0.5},
    "a window": {"window": (17, 3), "align": "bottom_right"},
    "a causal window": {"window": (20, -1), "causal": True, "align": "bottom_right"},
    "a window beyond the keys": {"window": 0, "masked_rows": "nan", "align": "bottom_right"},
    "a window without keys": {"window": 0, "masked_rows": "nan"},
    "a mask": {"mask": RNG.random((18, 37)) > 0.7},
    "a mask of keys": {"mask": RNG.random(37) > 0.5, "causal": True},
    "rows without keys": {"mask": np.arange(18)[:, None] > np.arange(37), "masked_rows": "nan"},
    "a soft cap": {"softcap": 1.5, "scale": 0.8, "causal": True},
    "a scale below 0": {"scale": -0.7},
}
EVERY_OPTION = pytest.mark.parametrize(
    ("kind", "options"),
    [(kind, one) for i, one in enumerate(OPTIONS.values())
     for kind in ("float32", ("bfloat16", "float16")[i % 2])],
    ids=[f"{name}-{i}" for name in OPTIONS for i in range(2)],
)  # fmt: skip
"""Options for 18 queries and 37 keys."""
