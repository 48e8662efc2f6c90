"""A call that differs from an earlier one in its elements alone is not checked again."""

from __future__ import annotations

from typing import Any

import pytest

import suanzi as sz
from suanzi.ops import nn

pytest.importorskip("torch", reason="devices of PyTorch")
from suanzi.runtimes.torch import repeating, running


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    repeating.plans.clear()


def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows by the operator of each call that is checked."""
    seen: list[str] = []
    real = running._checked
    monkeypatch.setattr(
        running, "_checked", lambda op, *rest: (seen.append(op.key), real(op, *rest))[1]
    )
    return seen


def test_calls_are_checked_once(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = checked(monkeypatch)
    x, y = (sz.tensor([[i, 2.0], [3, 4]], sz.float32, device=device) for i in (1, 5))
    calls: list[Any] = [
        lambda v: sz.matmul(v, v), lambda v: v @ v, lambda v: v.sum(axis=0, keep_dims=True),
        lambda v: nn.softmax(v), lambda v: sz.transpose(v), lambda v: sz.fft_r2c(v),
        lambda v: nn.layer_norm(v, 2), lambda v: sz.gather(v, index), lambda v: nn.relu(v),
        lambda v: sz.cumsum(v, 1),
    ]  # fmt: skip
    index = sz.tensor([1, 0, 1], device=device)
    for call in calls:
        call(x), call(x)
        before = len(seen)
        got = call(y)
        assert len(seen) == before, seen[before:]
        repeating.plans.clear()
        wanted = call(y)
        assert len(seen) > before
        assert (got.dtype, got.strides, got.tolist()) == (
            wanted.dtype, wanted.strides, wanted.tolist())  # fmt: skip
        assert got.is_array_api == wanted.is_array_api


def test_a_tensor_given_twice(device: str) -> None:
    x, y = sz.tensor([1.0, 2], device=device), sz.tensor([10.0, 20], device=device)
    for _ in range(2):
        sz.sub(x, x)
    assert sz.sub(x, y).tolist() == [-9, -18]
    for _ in range(2):
        sz.muladd(x, a=x, y=x)
    assert sz.muladd(x, a=x, y=y).tolist() == [11, 42]
    assert sz.muladd(y, a=y, y=x).tolist() == [20, 60]


def test_a_number_before_a_tensor(device: str) -> None:
    x = sz.tensor([1.0, 4], sz.float32, device=device)
    for _ in range(3):
        assert sz.sub(2, x).tolist() == (2 - x).tolist() == [1, -2]
        assert sz.less(float("inf"), x).tolist() == [False, False]
        assert sz.pow(2.0, x).tolist() == [2, 16]
        assert sz.where(x > 2, 7.0, x).tolist() == [1, 7]
        assert sz.sub(x=2, y=x).tolist() == sz.sub(y=x, x=2).tolist() == [1, -2]


def test_shapes_that_depend_on_elements(device: str) -> None:
    x = sz.tensor([1, 2, 3], device=device)
    for mask in ([True, False, True], [True, True, True], [False, False, False]):
        found = sz.masked_select(x, sz.tensor(mask, device=device))
        assert found.tolist() == [n for n, taken in zip([1, 2, 3], mask, strict=True) if taken]
        assert found.shape == (found + found).shape == (sum(mask),)


def test_what_a_call_depends_on(device: str) -> None:
    x = sz.tensor([[1, 2], [3, 4]], sz.int8, device=device)
    y = sz.tensor([[0.5, 1], [2, 4]], sz.bfloat16, device=device)
    for rules, dt in (("cann", sz.bfloat16), ("strict", None), ("lossless", sz.bfloat16)):
        for _ in range(2):
            with sz.promotion(rules):
                if dt is None:
                    with pytest.raises(sz.WrongObject):
                        sz.matmul(x, y)
                else:
                    assert sz.matmul(x, y).dtype is dt
    for axis in (0, 1, sz.tensor(0, device=device), sz.tensor(1, device=device)):
        for _ in range(2):
            wanted = [4, 6] if int(axis) == 0 else [3, 7]
            assert sz.reduce(x, "SUM", axis).tolist() == wanted
    assert sz.mul(y, 1).dtype is sz.mul(y, 1.0).dtype is sz.bfloat16
    assert [sz.mul(y, n)[0, 0].item() for n in (0.0, -0.0, True, 2)] == [0, -0.0, 0.5, 1]


def test_arguments_that_are_equal_have_their_types(device: str) -> None:
    x = sz.tensor([[1.0, 2], [3, 4]], device=device)
    for axes in ((0, 1), (1,), (0,)):
        for _ in range(2):
            sz.array_api.flip(x, axis=axes), sz.array_api.sum(x, axis=axes)
        for wrong in (tuple(map(float, axes)), tuple(map(bool, axes))):
            with pytest.raises(sz.TypeMismatch, match="it must be an integer"):
                sz.array_api.flip(x, axis=wrong)
            with pytest.raises(sz.TypeMismatch, match="it must be an integer"):
                sz.array_api.sum(x, axis=wrong)


def test_errors_are_those_of_the_long_way(device: str) -> None:
    x = sz.tensor([7, 8], sz.int32, device=device)
    for _ in range(3):
        sz.floordiv(x, sz.tensor([2, 0], sz.int32, device=device))
        with pytest.raises(sz.DivisionByZero, match="y contains a zero"):
            sz.synchronize()
    a = sz.tensor([[2.0, 0], [0, 2]], device=device)
    for _ in range(2):
        sz.matmul(a, a)
    sz.destroy(a)
    with pytest.raises(sz.UninitializedObject, match="mat1 was destroyed"):
        sz.matmul(a, a)


def test_autocast_changes_nothing(device: str) -> None:
    import torch

    x = sz.tensor([[1 + 2.0**-20, 3], [5, 7]], sz.float32, device=device)
    kind = x.to_torch().device.type  # type: ignore[attr-defined]
    eye = sz.tensor([[1.0, 0], [0, 1]], sz.float32, device=device)
    rows = x.reshape(1, 2, 2)
    calls: list[Any] = [
        lambda: x @ eye, lambda: nn.linear(x, eye), lambda: sz.dot(x, eye),
        lambda: nn.conv1d(rows, eye.reshape(2, 2, 1)), lambda: sz.array_api.matmul(x, eye),
    ]  # fmt: skip
    for call in calls:
        wanted = call().tolist()
        for before in (repeating.plans.clear, lambda: None, lambda: None):
            before()
            with torch.autocast(kind, dtype=torch.bfloat16):
                assert call().tolist() == wanted
                assert torch.is_autocast_enabled(kind)


def test_no_gradient_is_recorded(device: str) -> None:
    x: Any = sz.tensor([[2.0, 0], [0, 2]], device=device)
    for _ in range(2):
        sz.matmul(x, x)
    x.to_torch().requires_grad_()
    assert not sz.matmul(x, x).to_torch().requires_grad  # type: ignore[attr-defined]


def test_symbols_of_the_array_api_are_its_functions(device: str) -> None:
    x, y = sz.tensor([1.0, 4], device=device), sz.tensor([2.0, 3], device=device)
    its: Any = sz.array_api.asarray(x, copy=True)
    assert its.is_array_api
    for _ in range(3):
        assert not (x + y).is_array_api
        assert (its + y).is_array_api
        assert (y + its).is_array_api
        assert not sz.add(x, y).is_array_api
    with sz.promotion("array_api"):
        for _ in range(3):
            sz.add(x, y)
            assert (x + y).is_array_api
