"""The kernels of rows, reductions and copies in Triton's interpreter, against the CPU."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.helpers.devices import (
    KINDS,
    assert_passes_in_the_interpreter,
    with_kernels,
    without_kernels,
)

import suanzi as sz
from suanzi.ops import nn

RNG = np.random.default_rng(5)


@without_kernels
def test_in_the_interpreter() -> None:
    assert_passes_in_the_interpreter(__file__)


def numbers(kind: str, *shape: int, special: bool = False) -> sz.Tensor:
    made = (RNG.standard_normal(shape) * 3).astype(np.float32)
    if special:
        made.ravel()[:5] = [np.inf, -np.inf, np.nan, 0.0, -0.0]
        made.ravel()[-1] = -np.inf
    return sz.cast(sz.tensor(made), kind)


def moved(x: Any, device: str) -> Any:
    return x.to_device(device) if isinstance(x, sz.Tensor) else x


def same(function: Any, *args: Any, device: str, ulps: float = 4, **kwargs: Any) -> None:
    """Assert the CPU's results to a few ULP of the dtype, near 0 of the largest element."""
    wanted, got = function(*args, **kwargs), function(*(moved(x, device) for x in args), **kwargs)
    pairs = zip(wanted, got, strict=True) if isinstance(wanted, tuple | list) else [(wanted, got)]
    for a, b in pairs:
        assert (b.dtype, b.shape) == (a.dtype, a.shape)
        x, y = (sz.cast(v, sz.float64).numpy() for v in (a, b.to_host()))
        eps = sz.finfo(a.dtype).eps if a.dtype.kind == "float" else 0.0
        largest = np.abs(x[np.isfinite(x)]).max(initial=0)
        with np.errstate(invalid="ignore"):
            close = np.abs(x - y) <= ulps * eps * np.maximum(np.abs(x), largest / 16)
        close |= (x == y) | (np.isnan(x) & np.isnan(y))
        assert close.all(), (function, x[~close], y[~close])


@with_kernels
@KINDS
@pytest.mark.parametrize("n", [20])
def test_rows(device: str, used: Counter[str], kind: str, n: int) -> None:
    x, g, w = numbers(kind, 3, n), numbers(kind, 3, n), numbers(kind, n)
    for function in (nn.softmax, nn.log_softmax):
        same(function, x, device=device)
        same(function, numbers(kind, 4, n, special=True), device=device)
    same(nn.softmax_bwd, g, x, device=device, ulps=8)
    same(nn.log_softmax_bwd, g, x, device=device, ulps=8)
    same(nn.layer_norm, x, n, device=device)
    same(nn.layer_norm, x, n, w, w, device=device, ulps=8)
    same(nn.rms_norm, x, n, w, device=device, offset=1.0)
    same(nn.rms_norm, numbers(kind, 4, n, special=True), n, device=device)
    same(nn.layer_norm_bwd, g, x, n, w, w, device=device, ulps=16)
    same(nn.rms_norm_bwd, g, x, n, w, device=device, ulps=16)
    same(sz.cumsum, x, 1, device=device)
    rows = ("softmax", "log_softmax", "layer_norm", "rms_norm")
    assert all(used[f"nn:{name}{back}"] for name in rows for back in ("", "_bwd"))
    assert used["cumsum"]


@with_kernels
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("n", [2049, 4097, 5000, 6144, 6145])
def test_rows_that_a_block_does_not_fit(device: str, used: Counter[str], kind: str, n: int) -> None:
    for special in (False, True):
        x = numbers(kind, 2, n, special=special)
        for function in (nn.softmax, nn.log_softmax):
            same(function, x, device=device)
        w, b = numbers(kind, n), numbers(kind, n)
        same(nn.layer_norm, x, n, w, b, device=device, ulps=8)
        same(nn.rms_norm, x, n, w, device=device)
    same(sz.cumsum, numbers(kind, 2, n), 1, device=device)
    keys = ("nn:softmax", "nn:layer_norm", "nn:rms_norm", "cumsum")
    assert [used[key] for key in keys] == [1] * 4


@with_kernels
def test_softmax_of_float32_is_within_the_documented_bound(device: str) -> None:
    x = (RNG.standard_normal((2, 3000)) * RNG.choice([0.1, 3, 30], (2, 3000))).astype(np.float32)
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    wide /= wide.sum(1, keepdims=True)
    found = nn.softmax(sz.tensor(x, device=device)).to_host().numpy()
    normal = wide > 2.0**-126
    assert (np.abs(found - wide) / np.spacing(wide.astype(np.float32)))[normal].max() < 2.4


@with_kernels
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_rows_in_parts(
    device: str, used: Counter[str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suanzi.runtimes.torch.triton import norms, scanning, softmaxes

    for module in (norms, scanning, softmaxes):
        monkeypatch.setattr(module, "PART", 32)
        monkeypatch.setattr(module, "block_of", lambda n, wide: 0)
    x, w = numbers(kind, 3, 150), numbers(kind, 150)
    special = numbers(kind, 3, 150, special=True)
    hidden = sz.where(sz.tensor(np.arange(150) < 64), x, -np.inf)  # parts of -inf alone
    for given in (x, special, hidden):
        same(nn.softmax, given, device=device)
        same(nn.log_softmax, given, device=device)
    same(nn.layer_norm, x, 150, w, w, device=device, ulps=8)
    same(nn.rms_norm, x, 150, w, device=device)
    same(sz.cumsum, x, device=device)
    keys = ("nn:softmax", "nn:log_softmax", "nn:layer_norm", "nn:rms_norm", "cumsum")
    assert all(used[key] == 1 for key in keys)  # a plan that is kept serves the next calls


@with_kernels
@KINDS
def test_groups(
    device: str, used: Counter[str], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suanzi.runtimes.torch.triton import groups

    x, w, b = numbers(kind, 2, 6, 5, 7), numbers(kind, 6), numbers(kind, 6)
    flat, turned = numbers(kind, 3, 6), sz.transpose(numbers(kind, 7, 6, 2))
    for _ in range(2):  # whole groups, then parts of them
        for given in ((), (w,), (w, b), (None, b)):
            same(nn.group_norm, x, 3, *given, device=device, ulps=8)
            same(nn.instance_norm, x, *given, device=device, ulps=8)
        same(nn.group_norm, flat, 2, w, b, device=device, ulps=8)
        same(nn.group_norm, turned, 1, w, device=device, ulps=8)
        monkeypatch.setattr(groups, "PART", 32)
        monkeypatch.setattr(groups, "block_of", lambda n, wide: 0)
    same(nn.group_norm, sz.zeros((0, 6, 2)), 3, device=device)
    assert used["nn:group_norm"] == 12
    assert used["nn:instance_norm"] == 8


@with_kernels
@KINDS
def test_reductions(device: str, used: Counter[str], kind: str) -> None:
    x, special = numbers(kind, 5, 3, 4), numbers(kind, 5, 3, 4, special=True)
    for axis in (None, 0, 1, (1, 2)):
        for mode in ("SUM", "MEAN"):
            same(sz.reduce, x, mode, axis, device=device)
        for mode in ("MAX", "MIN", "LAND", "LOR"):
            same(sz.reduce, special, mode, axis, device=device)
    for axis in (0, 2):
        for function in (sz.argmax, sz.argmin):
            same(function, special, axis, device=device, keepdim=axis == 2)
    assert used["reduce"] == 24
    zeros = sz.cast(sz.tensor([[0.0, -0.0], [-0.0, 0.0]]), kind).to_device(device)
    for mode, sign in (("MAX", False), ("MIN", True)):
        for axis in (0, 1):
            found = sz.reduce(zeros, mode, axis).to_host()
            assert np.signbit(sz.cast(found, sz.float32).numpy()).tolist() == [sign] * 2
    columns = numbers(kind, 640, 128, special=True)  # in parts, of whole tiles
    for mode in ("MAX", "MIN"):
        same(sz.reduce, columns, mode, 0, device=device, ulps=0)


@with_kernels
def test_reductions_of_other_dtypes_and_in_parts(device: str, used: Counter[str]) -> None:
    whole = sz.tensor(RNG.integers(-100, 100, (7, 60)).astype(np.int32))
    truth = sz.tensor(RNG.random((7, 60)) > 0.9)
    for x, modes in ((whole, ("SUM", "MAX", "MIN")), (truth, ("LAND", "LOR"))):
        for axis in (None, 0, 1):
            for mode in modes:
                same(sz.reduce, x, mode, axis, device=device)
    same(sz.reduce, sz.cast(whole, sz.float64), "MAX", 1, device=device)
    same(sz.cumsum, whole, 1, device=device)
    large = numbers("float32", 2, 8300)
    for axis in (None, 0, 1):
        same(sz.reduce, large, "SUM", axis, device=device)
        same(sz.reduce, large.T, "MAX", axis, device=device)
        if axis is not None:
            same(sz.argmin, large, axis, device=device)
    assert used["reduce"] == 22


@with_kernels
def test_copies_that_turn_axes(device: str, used: Counter[str]) -> None:
    for kind in ("float32", "int8", "float16"):
        x = sz.cast(sz.tensor(RNG.integers(0, 9, (2, 5, 3, 66))), kind)
        for order in ((0, 1, 3, 2), (3, 0, 1, 2), (3, 2, 1, 0)):
            there = sz.contiguous(x.to_device(device).transpose(order))
            assert (there.to_host().numpy() == x.numpy().transpose(order)).all()
    assert used["contiguous"] == 9
    gaps = sz.tensor(RNG.random((6, 8))).to_device(device)[::2, ::2]
    assert (sz.contiguous(gaps).to_host().numpy() == gaps.to_host().numpy()).all()
