"""7.2.14 and 7.2.15: every status that they return; what is refused makes nothing."""

from __future__ import annotations

import pytest

import suanzi as sz
from helpers.moves import refused

X = sz.tensor([[5.0, 8.0, 9.0], [0.0, 7.0, 1.0]])
PLACES = sz.argsort(X)[1]
AXIS_ERROR = {
    "argmax": sz.OutOfRange,
    "argmin": sz.OutOfRange,
    "argsort": sz.OutOfRange,
    "argsort_bwd": sz.OutOfRange,
    "topk": sz.InvalidArgument,
}


@pytest.mark.parametrize("name", AXIS_ERROR)
def test_tensors_without_axes(name: str) -> None:
    scalar = sz.tensor(1.0)
    more = {"topk": (1,), "argsort_bwd": (sz.tensor(0),)}.get(name, ())
    for axis in (0, -1):
        refused(AXIS_ERROR[name], name, scalar, *more, axis=axis, match="no axes")


def test_argmax_and_argmin() -> None:
    for name in ("argmax", "argmin"):
        for shape, axis in (((0,), 0), ((2, 0), 1), ((0, 0), 0)):
            refused(sz.InvalidArgument, name, sz.zeros(shape), axis, match="is empty")
        for wanted in (sz.int16, "float32", sz.uint32, bool):
            refused(sz.TypeMismatch, name, X, dtype=wanted, match="must be int32 or int64")
        for wanted in ("no such", None, 3):
            with pytest.raises(sz.StatusError, match=name):
                getattr(sz, name)(X, dtype=wanted)
        huge = sz.expand(X, (2**32, 2, 3))
        refused(sz.OutOfRange, name, huge, 0, dtype=sz.int32, match="4294967296")


def test_topk() -> None:
    for k in (0, -1, 4, 2**70):
        refused(sz.InvalidArgument, "topk", X, k, match="k is ")
    refused(sz.InvalidArgument, "topk", X, 3, axis=0, match="from 1 to 2")
    refused(sz.InvalidArgument, "topk", sz.zeros((0,)), 1, match="size 0")


def test_nonzero() -> None:
    refused(sz.InvalidArgument, "nonzero", sz.tensor(1.0), match="no axes")
    refused(sz.InvalidArgument, "nonzero", sz.tensor(True))
    for x in (sz.zeros((3, 2)), sz.zeros((0,)), sz.zeros((2, 0)), sz.zeros((3,), sz.bool)):
        refused(sz.OutOfRange, "nonzero", x, match="no nonzero elements")
        refused(sz.OutOfRange, "nonzero", x, False)
    refused(sz.InvalidArgument, "nonzero", sz.zeros((2,), sz.char))


def test_argsort_bwd() -> None:
    for shape in ((3,), (3, 2), (2, 3, 1), (1, 3)):
        refused(sz.DimensionsMismatch, "argsort_bwd", X, sz.zeros(shape, sz.int64))
    for dtype in (sz.float32, sz.bool, sz.int4, sz.complex64):
        refused(
            sz.TypeMismatch, "argsort_bwd", X, sz.cast(PLACES, dtype), match="must be of integers"
        )
    for bad in (3, -1, 2**62, -(2**63)):
        places = sz.tensor([[0, 1, 2], [0, bad, 1]])
        refused(sz.OutOfRange, "argsort_bwd", X, places, match=f"contains {bad} along axis 1")
    unsigned = sz.tensor([[0, 1, 2], [0, 2**64 - 1, 1]], sz.uint64)
    refused(sz.OutOfRange, "argsort_bwd", X, unsigned, match=str(2**64 - 1))
    twice = sz.tensor([[0, 1, 2], [0, 2, 2]])
    refused(sz.InvalidArgument, "argsort_bwd", X, twice, match="contains 2 twice")
    refused(sz.OutOfRange, "argsort_bwd", X, PLACES, axis=0, match="contains 2 along axis 0")


def test_complex() -> None:
    for dtype in (sz.bfloat16, sz.float8_e5m2, sz.int32, sz.bool, sz.complex64, sz.char):
        x = sz.zeros((2,), dtype)
        refused(sz.TypeMismatch, "complex", x, x, match=f"real is {dtype}")
    x, y, z = (sz.zeros((2,), d) for d in (sz.float16, sz.float32, sz.float64))
    for a, b in ((x, y), (y, z), (z, x)):
        refused(sz.TypeMismatch, "complex", a, b, match="they must be the same")
        with sz.promotion("numpy"):
            refused(sz.TypeMismatch, "complex", a, b)
    refused(sz.TypeMismatch, "complex", y, sz.zeros((2,), sz.int64), match="imag is int64")
    refused(sz.TypeMismatch, "complex", y, 1j)
    refused(sz.TypeMismatch, "complex", 1, 2)
    refused(sz.DimensionsMismatch, "complex", y, sz.zeros((3,)))
    refused(sz.DimensionsMismatch, "complex", sz.zeros((2, 2)), sz.zeros((3,)))
