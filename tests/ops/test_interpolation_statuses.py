"""7.2.18: every status, and nothing made with it; the worked example of A.2.18."""

from __future__ import annotations

from itertools import count, repeat
from typing import Any

import numpy as np

import suanzi as sz
from helpers.moves import destroyed, refused

X = sz.tensor(np.ones((1, 2, 3, 4), np.float32))
NO_NUMBER: list[Any] = ["2", b"2", True, np.bool_(True), object(), {"a": 1}, 1j, [[1]], [None, 1]]


def test_ranks_and_modes() -> None:
    modes = {3: "linear", 4: "bilinear", 5: "trilinear"}
    for ndim in range(8):
        x = sz.zeros((1,) * ndim)
        for mode in ("nearest", "area", *modes.values()):
            fits = ndim in modes and (mode in ("nearest", "area") or mode == modes[ndim])
            if fits:
                assert sz.interpolate(x, 2, mode=mode).shape == (1, 1, *[2] * (ndim - 2))
            else:
                refused(sz.DimensionsMismatch, "interpolate", x, 2, mode=mode, match="rank")
    bad_modes: list[Any] = ["", "cubic", "Nearest", "bilinea", 1, None, b"area", object(), ["area"]]
    for mode in bad_modes:
        refused(sz.InvalidArgument, "interpolate", X, 2, mode=mode, match="mode")
    refused(
        sz.InvalidArgument, "interpolate", X, 2, mode="bilinea", match="Did you mean 'bilinear'"
    )
    refused(sz.UninitializedObject, "interpolate", X, 2, mode=destroyed(), match="mode")
    refused(sz.DimensionsMismatch, "interpolate", 1.5, 2, match="rank 0")


def test_no_size() -> None:
    for size in (None, (), [], np.array([])):
        for factor in (None, (), []):
            refused(sz.InvalidArgument, "interpolate", X, size, factor, match="neither")


def test_bad_sizes() -> None:
    for size in (0, -1, (0, 2), (2, -3), 2**63, (2**70, 1), 2.0, (2, 1.5)):
        refused(sz.InvalidArgument, "interpolate", X, size)
    for size in ((2,), (2, 2, 2), count(1), repeat(3), np.ones((3, 3), int)):
        refused(sz.DimensionsMismatch, "interpolate", X, size, match="size")


def test_bad_factors() -> None:
    nan, inf = float("nan"), float("inf")
    bad: list[Any] = [0, 0.0, -1, -0.5, nan, inf, -inf, (1, 0), (nan, 1), 10**400, 1e-3, 1e300]
    for factor in [*bad, *NO_NUMBER, np.array(True)]:
        several = isinstance(factor, (list, dict)) and len(factor) == 1
        error = sz.DimensionsMismatch if several else sz.InvalidArgument
        refused(error, "interpolate", X, None, factor, match="scale_factor")
    refused(sz.UninitializedObject, "interpolate", X, None, destroyed())
    for factor in ((2,), (2, 2, 2), repeat(2.0)):
        refused(sz.DimensionsMismatch, "interpolate", X, None, factor, match="scale_factor")


def test_empty_axes() -> None:
    for shape in ((1, 1, 0), (1, 1, 2, 0), (0, 1, 0, 2), (1, 1, 0, 0, 0)):
        x = sz.zeros(shape)
        refused(sz.InvalidArgument, "interpolate", x, 2, match="one element")
        refused(sz.InvalidArgument, "interpolate", x, scale_factor=2)
