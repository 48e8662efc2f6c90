"""Kernels of losses of classes, in Triton's interpreter or on a GPU, against the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.devices import (
    KIND,
    KINDS,
    assert_passes_in_the_interpreter,
    with_kernels,
    without_kernels,
)

import suanzi as sz
from suanzi.ops import nn

RNG = np.random.default_rng(3)


@without_kernels
def test_in_the_interpreter() -> None:
    assert_passes_in_the_interpreter(__file__)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the calls that the kernels of losses compute."""
    from suanzi.runtimes.torch.loading import usable

    assert usable(KIND)
    from suanzi.runtimes.torch.triton import losses

    seen: list[str] = []

    class Noted(losses._Rows):
        def __init__(self, call: Any, *args: Any) -> None:
            super().__init__(call, *args)
            seen.append(call.op.name)

    monkeypatch.setattr(losses, "_Rows", Noted)
    monkeypatch.setattr(losses, "_BLOCK", 64)
    monkeypatch.setattr(losses, "_ROWS", 4)
    return seen


def moved(x: Any, device: str) -> Any:
    return x.to_device(device) if isinstance(x, sz.Tensor) else x


def same(function: Any, *args: Any, device: str, ulps: float = 4.0, **given: Any) -> None:
    """Assert the CPU's results to some ULP of the largest."""
    wanted = function(*args, **given)
    got = function(*(moved(x, device) for x in args), **given)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    x, y = (sz.cast(v, sz.float64).numpy() for v in (wanted, got.to_host()))
    finite = np.abs(np.where(np.isfinite(x), x, 0)).max(initial=0)
    with np.errstate(invalid="ignore"):
        close = np.abs(x - y) <= ulps * sz.finfo(wanted.dtype).eps * np.maximum(
            np.abs(x), finite / 4
        )
    close |= (x == y) | (np.isnan(x) & np.isnan(y))
    assert close.all(), (function, given, x[~close], y[~close])


def numbers(kind: str, *shape: int) -> sz.Tensor:
    return sz.cast(sz.tensor(RNG.standard_normal(shape) * 3), kind)


@with_kernels
@KINDS
@pytest.mark.parametrize("n", [5, 150])
def test_losses(device: str, rows: list[str], kind: str, n: int) -> None:
    x, g = numbers(kind, 7, n), numbers(kind, 7)
    target = sz.tensor([1, 4, -100, 0, n - 1, 2, 2])
    weight = sz.cast(sz.tensor(RNG.random(n) + 0.5), kind)
    for by, smoothing in ((None, 0.0), (weight, 0.0), (weight, 0.2), (None, 0.2)):
        for reduction in ("mean", "sum", "none"):
            how = {"reduction": reduction, "device": device}
            one = g if reduction == "none" else g[0]
            smooth = {"label_smoothing": smoothing}
            if (reduction == "mean") == (by is None):
                same(nn.cross_entropy, x, target, by, **smooth, **how)
                same(nn.cross_entropy_bwd, one, x, target, by, **smooth, **how)
            elif not smoothing:
                same(nn.nll_loss, x, target, by, **how)
                same(nn.nll_loss_bwd, one, x, target, by, **how)
    assert len(rows) == 18


@with_kernels
def test_special_values_and_rows_that_do_not_count(device: str, rows: list[str]) -> None:
    x = np.array(RNG.standard_normal((6, 70)), np.float32)
    x[0, 3], x[1, 66], x[2, 65], x[3] = np.inf, -np.inf, np.nan, -np.inf
    x[4, :65] = -np.inf
    x[5, :69] = -1e30
    logits, target = sz.tensor(x), sz.tensor([3, 66, 0, 1, 66, 69])
    for smoothing in (0.0, 0.1):
        how = {"label_smoothing": smoothing, "reduction": "none", "device": device}
        same(nn.cross_entropy, logits, target, **how)
        if not smoothing:
            same(nn.cross_entropy_bwd, sz.tensor([1.0] * 6), logits, target, **how)
    same(nn.nll_loss, logits, target, reduction="none", device=device)
    nothing = sz.tensor([-100] * 6)
    for empty in (None, 0.5):
        same(nn.cross_entropy, logits, nothing, empty_mean=empty, device=device)
        same(nn.nll_loss, logits, nothing, empty_mean=empty, device=device)
    some = sz.tensor([-100, 7, -100, -100, -100, 7], sz.int32)
    zeros = sz.tensor(np.zeros(70, np.float32))
    for weight in (None, zeros):
        same(nn.cross_entropy, logits[:2], some[:2], weight, device=device)
        same(nn.nll_loss, sz.tensor(np.ones((2, 70), np.float32)), some[:2], weight, device=device)
    assert len(rows) == 12


@with_kernels
def test_a_loss_near_0_is_not_lost(device: str) -> None:
    x = np.zeros((1, 100), np.float32)
    x[0, 0] = 20
    found = nn.cross_entropy(sz.tensor(x, device=device), sz.tensor([0], device=device))
    assert abs(found.to_host().item() / np.log1p(99 * np.exp(-20.0)) - 1) < 1e-6


@with_kernels
def test_shapes_and_dtypes(device: str, rows: list[str]) -> None:
    x = numbers("float32", 3, 4, 9)
    target = sz.tensor(RNG.integers(0, 9, (3, 4)).astype(np.uint8))
    same(nn.cross_entropy, x, target, axis=2, device=device)
    same(nn.cross_entropy_bwd, sz.tensor(2.0), x, target, axis=-1, device=device)
    same(nn.cross_entropy, x[0, 0], target[0, 0], axis=0, device=device)
    same(
        nn.cross_entropy,
        numbers("float32", 6, 20)[:, 3:12],
        target[:2, :3].reshape(-1),
        device=device,
    )
    assert len(rows) == 4
    wide = sz.cast(x, sz.float64)
    same(nn.cross_entropy, wide, target, axis=2, device=device, ulps=64)
    same(nn.cross_entropy, x, sz.tensor(RNG.integers(0, 4, (3, 9))), axis=1, device=device)
    same(nn.cross_entropy, x[:, 0], nn.softmax(x[:, 1]), device=device)
    same(nn.cross_entropy, sz.zeros((0, 5)), sz.zeros((0,), sz.int64), device=device)
    assert len(rows) == 4


@with_kernels
def test_classes_out_of_range_are_reported(device: str, rows: list[str]) -> None:
    x, one = numbers("float32", 2, 5).to_device(device), sz.tensor(1.0, device=device)
    for bad in ([0, 5], [-1, 2]):
        target = sz.tensor(bad, device=device)
        for call in (
            lambda t: nn.cross_entropy(x, t), lambda t: nn.nll_loss(x, t),
            lambda t: nn.cross_entropy_bwd(one, x, t), lambda t: nn.nll_loss_bwd(one, x, t),
        ):  # fmt: skip
            call(target)
            with pytest.raises(sz.OutOfRange, match="valid classes are 0 to 4, and -100"):
                sz.synchronize()
    assert len(rows) == 8
