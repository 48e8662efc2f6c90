"""AdamW: formulas, levels, threads, layouts, rounding once, PyTorch's optimizer and errors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact, turned
from suanzi import _core

Array = np.ndarray[Any, Any]
BOUND = {"float64": 1e-14, "float32": 4e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
adamw = sz.nn.adamw


def operands(dtype: str, *shape: int) -> list[sz.Tensor]:
    """Return a parameter, its gradient, its moments, and a largest second one."""
    random = np.random.default_rng(len(shape))
    values = [random.standard_normal(shape) for _ in range(5)]
    values[3:] = [np.abs(x) for x in values[3:]]
    return [sz.cast(sz.tensor(x), dtype) for x in values]


def formula(given: list[Array], step: int, lr: float, betas: tuple[float, float], eps: float,
            decay: float) -> list[Array]:  # fmt: skip
    p, g, m, v = given[:4]
    a = betas[0] * m + (1 - betas[0]) * g
    s = betas[1] * v + (1 - betas[1]) * g * g
    most = np.maximum(given[4], s) if len(given) > 4 else s
    root = np.sqrt(most / -np.expm1(step * np.log(betas[1])))
    made = p * (1 - lr * decay) - lr / (1 - betas[0] ** step) * a / (root + eps)
    return [made, a, s, *([most] if len(given) > 4 else [])]


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("count", [4, 5])
@pytest.mark.parametrize("dtype", BOUND)
def test_values_threads_and_layouts(name: str, count: int, dtype: str) -> None:
    given = operands(dtype, 37, 301)[:count]
    wanted = formula([exact(x) for x in given], 4, 0.125, (0.9, 0.999), 1e-3, 0.5)
    how: dict[str, Any] = {"lr": 0.125, "eps": 1e-3, "weight_decay": 0.5}

    def call(x: list[sz.Tensor]) -> tuple[sz.Tensor, ...]:
        return adamw(*x[:4], 4, max_exp_avg_sq=x[4] if count > 4 else None, **how)

    with at_level(name), threads(1):
        found = call(given)
    for y, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(exact(y), want, rtol=BOUND[dtype], atol=BOUND[dtype])
    with at_level(name), threads(3):
        again = call([turned(x) for x in given])
    row = call([x[5] for x in given])
    for y, other, one in zip(found, again, row, strict=True):
        assert (exact(y) == exact(other)).all()
        assert (exact(y[5]) == exact(one)).all()  # whatever else is in the tensor


def test_large_tensors_are_written_past_the_caches() -> None:
    given = operands("float32", 3_000_001)
    with threads(5):  # of which each may fill less of the last cache than of few
        whole = adamw(*given[:4], 2, max_exp_avg_sq=given[4])
    part = adamw(*(x[-1000:] for x in given[:4]), 2, max_exp_avg_sq=given[4][-1000:])
    for y, some in zip(whole, part, strict=True):
        assert (exact(y[-1000:]) == exact(some)).all()


def test_16_bits_are_rounded_once() -> None:
    """Of bfloat16 the moments move by less than a unit in the last place of their operands."""
    given = operands("bfloat16", 5000)
    wide = adamw(*(sz.cast(x, "float32") for x in given[:4]), 7, lr=0.25)
    for y, want in zip(adamw(*given[:4], 7, lr=0.25), wide, strict=True):
        assert (exact(y) == exact(sz.cast(want, "bfloat16"))).all()


@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.25, 0.5), (0.0, 0.0), (0.5, 0.99)])
def test_first_steps_are_corrected(betas: tuple[float, float]) -> None:
    """From moments of 0, the first step is lr in the direction of the gradient."""
    g, zero = sz.tensor([3.0, -0.5, 1e-3]), sz.zeros((3,), "float32")
    found = adamw(zero, g, zero, zero, 1, 0.25, *betas, eps=0, weight_decay=0)[0]
    np.testing.assert_allclose(exact(found), [-0.25, 0.25, -0.25], rtol=3e-7)
    up = adamw(zero, g, zero, zero, 1, 0.25, *betas, eps=0, weight_decay=0, maximize=True)[0]
    assert (exact(up) == -exact(found)).all()


def test_corrections_keep_their_digits() -> None:
    """1 - beta2**step as a difference has five right digits here."""
    one, zero, beta = sz.tensor([1.0], sz.float64), sz.tensor([0.0], sz.float64), 1 - 2.0**-40
    found = exact(adamw(zero, one, zero, zero, 7, 1.0, 0.0, beta, 0, 0)[0])
    ratio = (1 - Fraction(beta) ** 7) / (1 - Fraction(beta))
    np.testing.assert_allclose(found, [-np.sqrt(float(ratio))], rtol=1e-15)


def test_nothing_is_changed_in_place() -> None:
    given = operands("float32", 40)
    before = [exact(x).copy() for x in given]
    adamw(*given[:4], 1, max_exp_avg_sq=given[4])
    assert all((exact(x) == y).all() for x, y in zip(given, before, strict=True))


def test_like_the_optimizer_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    given = operands("float32", 501)
    most = np.zeros(501)
    for amsgrad in (False, True):
        one = torch.nn.Parameter(torch.tensor(exact(given[0]), dtype=torch.float32))
        optimizer = torch.optim.AdamW([one], 0.01, (0.8, 0.99), 1e-8, 0.1, amsgrad=amsgrad)
        zero = sz.zeros((501,), "float32")
        state = (given[0], zero, zero, sz.cast(sz.tensor(most), "float32"))
        for step in range(1, 6):
            g = given[1] * float(step)
            one.grad = torch.tensor(exact(g), dtype=torch.float32)
            optimizer.step()
            state = adamw(
                state[0], g, *state[1:3], step, 0.01, 0.8, 0.99, 1e-8, 0.1,
                max_exp_avg_sq=state[3] if amsgrad else None,
            )  # fmt: skip
            assert len(state) == 3 + amsgrad
            state = (*state, zero)[:4]
        wanted = one.detach().numpy()
        np.testing.assert_allclose(exact(state[0]), wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ({"step": 0}, sz.InvalidArgument, "step"),
        ({"step": 1.5}, sz.InvalidArgument, "step"),
        ({"lr": -1.0}, sz.InvalidArgument, "lr is -1.0; it must be at least 0"),
        ({"lr": float("inf")}, sz.InvalidArgument, "lr is inf; it must be finite"),
        ({"beta1": 1.0}, sz.InvalidArgument, "beta1 is 1.0; it must be at least 0 and below 1"),
        ({"beta2": -0.1}, sz.InvalidArgument, "beta2"),
        ({"eps": -1e-8}, sz.InvalidArgument, "eps"),
        ({"weight_decay": -0.5}, sz.InvalidArgument, "weight_decay"),
        ({"maximize": 3}, sz.InvalidArgument, "maximize"),
        ({"grad": sz.tensor([1.0])}, sz.DimensionsMismatch, r"grad has shape \(1,\) and param"),
        ({"max_exp_avg_sq": sz.tensor(1.0)}, sz.DimensionsMismatch, "max_exp_avg_sq"),
        ({"exp_avg": sz.tensor([1j, 2j])}, sz.TypeMismatch, "complex"),
    ],
)
def test_errors(how: dict[str, Any], error: type[Exception], says: str) -> None:
    x = sz.tensor([1.0, 2.0])
    given: dict[str, Any] = dict.fromkeys(("param", "grad", "exp_avg", "exp_avg_sq"), x)
    with pytest.raises(error, match=says):
        adamw(**{**given, "step": 1, **how})
