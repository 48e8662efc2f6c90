"""7.2.13.1: reduce on sparse tensors against Python's integers and fractions."""

from __future__ import annotations

import functools
import math
import operator
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.sparse_cases import NAMES, SHAPES, make
from suanzi import _core

SMALL = ("int4", "uint4", "uint1")
MODES = "SUM PROD MAX MIN MEAN LAND LOR LXOR BAND BOR BXOR".split()
NOTHING = {"SUM": 0, "PROD": 1, "LAND": 1, "LOR": 0, "LXOR": 0, "BAND": -1, "BOR": 0, "BXOR": 0}


def takes(mode: str, name: str) -> bool:
    if name in SMALL:
        return False
    if mode in ("MAX", "MIN"):
        return not name.startswith("complex")
    return mode[0] != "B" or ("float" not in name and "complex" not in name)


def result_dtype(mode: str, name: str) -> str:
    if mode in ("LAND", "LOR", "LXOR"):
        return "bool"
    if mode in ("SUM", "PROD") and name == "bool":
        return "int64"
    return "float32" if mode == "MEAN" and ("int" in name or name == "bool") else name


def combined(mode: str, values: list[Any]) -> Any:
    """One mode of exact numbers, by its definition; None where there is none."""
    if not values:
        return NOTHING.get(mode)
    if mode == "MEAN":
        return sum(values) / len(values)
    if mode[0] == "L":
        return functools.reduce(
            {"LAND": operator.and_, "LOR": operator.or_, "LXOR": operator.xor}[mode],
            [int(v != 0) for v in values],
        )
    if mode in ("MAX", "MIN"):
        return max(values) if mode == "MAX" else min(values)
    step: Any = {"SUM": operator.add, "PROD": operator.mul, "BAND": operator.and_,
                 "BOR": operator.or_, "BXOR": operator.xor}[mode]  # fmt: skip
    return functools.reduce(step, values)


def reduced(mode: str, array: Any, axes: tuple[int, ...], keep: bool) -> list[Any]:
    """The results of the definition, in row-major order."""
    kept = [a for a in range(array.ndim) if a not in axes]
    moved = np.transpose(array, [*kept, *axes]).reshape(
        math.prod(array.shape[a] for a in kept), math.prod(array.shape[a] for a in axes)
    )
    return [combined(mode, list(row)) for row in moved]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_by_its_definition(name: str, mode: str) -> None:
    random = Random(f"{name} {mode}")
    for shape in SHAPES:
        x = make(random, shape, name, random.choice(["coo", "csr"] if len(shape) == 2 else ["coo"]),
                 random.choice([0, 1, 5, 40]), whole=True)  # fmt: skip
        if not takes(mode, name):
            with pytest.raises(sz.TypeMismatch, match=r"reduce \(7\.2\.13\.1\): input is"):
                x.reduce(mode)
            continue
        kind = complex if "complex" in name else float if "float" in name else int
        dense = np.array([kind(v) for v in x.to_dense().numpy().reshape(-1)], object)
        dense = dense.reshape(shape)
        every = [c for n in range(1, len(shape) + 1) for c in combinations(range(len(shape)), n)]
        axes = random.choice(every or [()])
        keep = random.random() < 0.5
        out = tuple(1 if a in axes else n for a, n in enumerate(shape) if keep or a not in axes)
        expected = reduced(mode, dense, axes, keep)
        if mode not in NOTHING and 0 in [shape[a] for a in axes]:
            with pytest.raises(sz.InvalidArgument, match=f"{mode} of an empty input is undefined"):
                x.reduce(mode, axes, keep)
            continue
        got = x.reduce(mode.lower(), axes, keep)
        assert (got.dtype.name, got.shape) == (result_dtype(mode, name), out)
        assert got.is_coalesced
        values = [kind_of(got.dtype)(v) for v in got.to_dense().numpy().reshape(-1)]
        right = sz.tensor(np.array([_wrapped(got.dtype, v) for v in expected], object).tolist(),
                          got.dtype) if expected else None  # fmt: skip
        if right is not None:
            assert values == [kind_of(got.dtype)(v) for v in right.numpy().reshape(-1)]


def kind_of(dt: sz.DType) -> Any:
    return {"complex": complex, "float": float}.get(dt.kind, int)


def _wrapped(dt: sz.DType, value: Any) -> Any:
    if dt.kind not in ("int", "uint"):
        return bool(value) if dt is sz.bool else value
    value = int(value) % 2**dt.bits
    return value - 2**dt.bits if dt.kind == "int" and value >= 2 ** (dt.bits - 1) else value


def test_zeros_that_are_not_stored_count() -> None:
    x = sz.create_sparse_tensor((3, 2), [[0, 0], [0, 1], [1, 0]], [-2, -3, -5])
    assert x.reduce("MAX", 1).to_dense().tolist() == [-2, 0, 0]
    assert x.reduce("MIN", 1).to_dense().tolist() == [-3, -5, 0]
    assert x.reduce("PROD", 1).to_dense().tolist() == [6, 0, 0]
    assert x.reduce("MEAN", 1).to_dense().tolist() == [-2.5, -2.5, 0]
    assert x.reduce("LAND", 1).to_dense().tolist() == [True, False, False]
    special = sz.create_sparse_tensor((2, 2), [[0, 0], [1, 1]], [math.inf, math.nan])
    assert str(special.reduce("PROD", 1).to_dense().tolist()) == "[nan, nan]"
    assert str(special.reduce("MAX", 1).to_dense().tolist()) == "[inf, nan]"


def test_sums_of_narrow_floats_are_rounded_once() -> None:
    """4096 ones, one after the other, stop at 2048 in float16 and at 256 in bfloat16."""
    for dtype in (sz.float16, sz.bfloat16):
        x = sz.to_sparse(sz.tensor(np.ones((64, 64)), dtype))
        assert x.reduce("SUM").item() == 4096
        assert x.reduce("MEAN").item() == 1
    wide = sz.to_sparse(sz.tensor([2**24 + 1, 2**24 + 1], sz.int64))
    assert wide.reduce("MEAN").item() == 2.0**24
    assert sz.to_sparse(sz.tensor([True] * 300)).reduce("SUM").item() == 300


def test_axes_and_modes() -> None:
    x = make(Random(1), (2, 3, 4), "int32")
    dense = x.to_dense().numpy()
    total = dense.sum(dtype=np.int32)
    for everything in (None, (), [0, 1, 2], (-1, 0, 1)):
        assert x.reduce("SUM", everything).item() == total
    assert x.reduce("SUM", -1, True).shape == (2, 3, 1)
    call = x.__suanzi_operator__
    assert call("reduce", (), {"input": x}).item() == total
    got = call("reduce", (x, "MAX", [2], True), {})
    assert (
        got.to_dense().numpy().tolist()
        == np.maximum(dense.max(2, keepdims=True), -(2**31)).tolist()
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"mode": "MEDIAN"}, {"mode": None}, {"mode": 1}, {"axis": 2}, {"axis": -3},
        {"axis": (0, 0)}, {"axis": (0, -2)}, {"axis": 1.0}, {"axis": True}, {"axis": "0"},
        {"keep_dims": 1}, {"keep_dims": None},
    ],
)  # fmt: skip
def test_what_is_refused(arguments: dict[str, Any]) -> None:
    x = sz.create_sparse_tensor((2, 3), [[0, 1]], [1])
    before = _core.pool_info()["storages"]
    with pytest.raises(sz.InvalidArgument, match=r"^reduce \(7\.2\.13\.1\): .*\.$"):
        x.reduce(**arguments)
    assert _core.pool_info()["storages"] <= before


@pytest.mark.parametrize("dtype", ["complex32", "complex64", "complex128"])
def test_an_infinite_part_of_a_mean_does_not_spoil_the_other(dtype: str) -> None:
    dense = sz.tensor([[complex(math.inf, 1), 3 + 2j], [-2j, complex(1, -math.inf)]], dtype)
    for axis in (0, 1):
        found = sz.to_sparse(dense).reduce("MEAN", axis).to_dense()
        assert found.tolist() == sz.reduce(dense, "MEAN", axis).tolist()
        assert not np.isnan(sz.imag(found).numpy()).any()


def test_exact_sums_are_refused() -> None:
    x = sz.to_sparse(sz.tensor([[1.0, 0.0], [0.0, 2.0]]))
    assert sz.reduce(x, accumulate="default").item() == 3
    with pytest.raises(sz.TypeMismatch, match=r"'exact', which sparse tensors do not have"):
        sz.reduce(x, accumulate="exact")
    with pytest.raises(sz.InvalidArgument, match="accumulate is None; it is one of"):
        sz.reduce(x, accumulate=None)  # type: ignore[arg-type]
