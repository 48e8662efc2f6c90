"""Element-wise operators and casts on a device give the CPU's bits, where it rounds correctly."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import suanzi as sz
import suanzi.array_api
from suanzi import _core
from suanzi.promote.registry import FUNCTIONS, NAMESPACES, REGISTRY

pytest.importorskip("torch", reason="devices of PyTorch")

from suanzi.runtimes.torch.dtypes import TORCH

KERNELS = {
    key: op for key, op in {**REGISTRY, **NAMESPACES}.items() if op.kernel and op.name != "where"
}
SPECIAL = [0, 1, -1, 2, -2, 3, 7, -7, 100]
FLOATS = [np.inf, -np.inf, np.nan, -0.0, 0.5, -1.5, 2.5]


def values(dt: sz.DType, other: bool, count: int = 400) -> sz.Tensor:
    """Return elements of all bits, and pairs of special ones; `other`: the second of each pair."""
    rng = np.random.default_rng([dt.code, dt.bits, other])
    if dt.kind == "bool":
        return sz.tensor(rng.integers(0, 2, count).astype(bool))
    some = SPECIAL + (FLOATS if dt.exponent_bits else [])
    pairs = [(b if other else a) for a in some for b in some]
    near = sz.cast(sz.tensor(np.array(pairs + list(5 * rng.standard_normal(count)))), dt)
    bits = _core.empty((count,), dt)
    bits.storage.memory[: bits.nbytes] = rng.bytes(bits.nbytes)
    return sz.concat([bits, near], 0)


def same(wanted: Any, got: Any) -> bool:
    """Return whether all elements have the same bits, NaN whatever its bits."""

    def numbers(x: sz.Tensor) -> Any:
        wide = {"float": sz.float64, "complex": sz.complex128}.get(x.dtype.kind)
        return x.numpy() if wide is None else sz.cast(x, wide).numpy()

    a, b = numbers(wanted), numbers(got)
    if a.dtype.kind in "fc":
        a, b = np.stack([a.real, a.imag]), np.stack([b.real, b.imag])
        return bool(
            ((a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))).all()
        )
    return bool((a == b).all())


@pytest.mark.parametrize("key", KERNELS)
def test_kernels_have_the_cpus_bits(device: str, key: str) -> None:
    op, function = KERNELS[key], FUNCTIONS[key]
    for dt in op.dtypes:
        inexact = ("mul", "multiply", "square", "sign")
        if dt not in TORCH or (key.endswith(inexact) and dt is sz.complex128):
            continue  # products of complex128 that overflow differ
        count = len(inspect.signature(op.function).parameters)
        args = [values(dt, bool(i)) for i in range(count)]
        whole = dt.kind in ("int", "uint")
        if whole and any(word in str(op.kernel) for word in ("div", "mod")):
            args[1] = sz.where(sz.equal(args[1], 0), sz.tensor(1, dt), args[1])
        if whole and ("shift" in str(op.kernel) or op.name == "pow"):
            args[1] = sz.mod(args[1], sz.tensor(7, dt))
        wanted = function(*args)
        there = [x.to_device(device) for x in args]
        got: Any = function(*there)
        assert got.dtype is wanted.dtype
        if op.ulp is None or op.ulp <= 0.5 or (dt.bits < 32 and not dt.is_complex):
            assert same(wanted, got.to_host()), (key, dt)


@pytest.mark.parametrize("source", TORCH, ids=str)
def test_casts_have_the_cpus_bits(device: str, source: sz.DType) -> None:
    x = values(source, False, 3000)
    if source.kind in ("float", "int", "uint") and source.bits >= 32:
        rng = np.random.default_rng(5)
        wide = rng.standard_normal(3000) * 10.0 ** rng.integers(-42, 38, 3000)
        edges = [65519.99999999, 65520, 65520.0000001, 464, 464.000001, 2.0**-25, 2.0**63, 2.0**64,
                 2.0**-25 * (1 + 2**-40), 255.5, 2.0**53, 2.0**24 + 1, 2.0**31 - 1]  # fmt: skip
        x = sz.concat([x, sz.cast(sz.tensor(np.concatenate([wide, edges])), source)], 0)
    there = x.to_device(device)
    for target in TORCH:
        for saturate in (False, True):
            wanted = sz.cast(x, target, saturate=saturate)
            got: Any = sz.cast(there, target, saturate=saturate)
            assert same(wanted, got.to_host()), (source, target, saturate)


@pytest.mark.parametrize("rules", ["cann", "torch", "numpy", "jax", "paddle"])
def test_promotion_is_that_of_the_rule_set_in_force(device: str, rules: str) -> None:
    """The two roundings of the definition: operands to the promoted dtype, then the result."""
    with sz.promotion(rules):
        for a in (sz.int32, sz.int64, sz.uint8, sz.float16, sz.bfloat16, sz.float32):
            for b in (sz.int8, sz.float16, sz.bfloat16, sz.float32):
                x, y = values(a, False, 100)[:100], values(b, True, 100)[:100]
                try:
                    wanted = sz.add(x, y)
                except sz.TypeMismatch:
                    with pytest.raises(sz.TypeMismatch):
                        sz.add(x.to_device(device), y.to_device(device))
                    continue
                got: Any = sz.add(x.to_device(device), y.to_device(device))
                assert got.dtype is wanted.dtype
                assert same(wanted, got.to_host()), (a, b)


def test_comparisons_by_value(device: str) -> None:
    with sz.promotion("numpy"):
        x = sz.tensor([2**53 + 1, 2**53, -(2**63), 5, 7, -3, -3, 2**62 + 5, 0, 3])
        y = sz.tensor([2.0**53, 2.0**53, -(2.0**63), np.nan, 7, -3, -2.5, 2.0**62, -1e-300, np.inf],
                      sz.float64)  # fmt: skip
        z = sz.cast(y[4:8], sz.int32)
        for function in (sz.equal, sz.less, sz.greater_equal):
            for a, b in ((x, y), (sz.cast(x, sz.uint64)[4:8], z)):
                got = function(a.to_device(device), b.to_device(device)).tolist()
                assert got == function(a, b).tolist()


def test_where_clip_and_shapes(device: str) -> None:
    x = values(sz.float8_e4m3fn, False, 64)[:64].reshape(8, 8)
    there: Any = x.to_device(device)
    assert same(sz.clip(x, -1, 1.5), sz.clip(there, -1, 1.5).to_host())
    mask = sz.less(x[:1], 0)
    got: Any = sz.where(mask.to_device(device), there.T, 1)
    assert same(sz.where(mask, x.T, 1), got.to_host())
    with pytest.raises(sz.DimensionsMismatch, match=r"x has shape \(8, 8\) and y has shape \(7,\)"):
        sz.add(there, sz.zeros((7,), sz.float8_e4m3fn, device=device))


def test_pow_is_computed_in_the_dtype_of_both_operands(device: str) -> None:
    x, e = sz.tensor([3, 4], sz.int8), sz.tensor([20.0, 3], sz.float64)
    assert sz.pow(x.to_device(device), e.to_device(device)).tolist() == [3486784401, 64]
    with sz.promotion("cann"):
        assert sz.pow(2**63, e.to_device(device)).dtype is sz.float64
