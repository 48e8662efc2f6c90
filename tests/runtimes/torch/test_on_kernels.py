"""Kernels of Triton give the CPU's bits; in Triton's interpreter where there is no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.helpers.devices import HAS_KERNELS, WHY_NOT

import suanzi as sz
import suanzi.faces.array_api as xp
from suanzi import _core

pytest.importorskip("torch", reason="devices of PyTorch")
pytest.importorskip("triton", reason="kernels of Triton")
if not HAS_KERNELS:
    pytest.skip(WHY_NOT, allow_module_level=True)


from tests.runtimes.torch.test_on_elements import same, values

from suanzi.runtimes.torch import repeating
from suanzi.runtimes.torch.dtypes import TORCH

pytestmark = pytest.mark.filterwarnings("error:.*its kernel failed")
REALS = [dt for dt in TORCH if dt.kind != "complex"]
NUMBERS = [dt for dt in REALS if dt.kind != "bool"]
OPERATORS = [
    sz.add, sz.sub, sz.mul, sz.div, sz.true_divide, sz.floordiv, sz.mod, sz.max, sz.min, sz.less,
    sz.equal, sz.greater_equal, sz.logical_and, sz.logical_xor, xp.copysign, xp.floor_divide,
]  # fmt: skip


def on(device: str, *args: Any) -> list[Any]:
    return [x.to_device(device) if isinstance(x, sz.Tensor) else x for x in args]


PLANS: list[list[object]] = []
"""The list of the plans that a test makes."""


@pytest.fixture(autouse=True)
def _counted(planned: list[object]) -> Iterator[None]:
    PLANS.append(planned)
    yield
    PLANS.clear()  # the core would find them at the end


def check(device: str, function: Any, *args: Any, kernel: bool = True) -> None:
    """Compare a call with the CPU's, twice: the second is made by the plan that was kept."""
    wanted, there, before = function(*args), on(device, *args), len(PLANS[0])
    repeating.plans.clear()
    for _ in range(2):
        got = function(*there)
        assert got.dtype is wanted.dtype
        assert got.shape == wanted.shape
        assert same(wanted, got.to_host()), (function, [getattr(x, "dtype", x) for x in args])
    assert not kernel or len(PLANS[0]) > before


def some(dt: sz.DType, seed: int, *shape: int) -> sz.Tensor:
    rng = np.random.default_rng([dt.code, dt.bits, seed])
    made = _core.empty(shape, dt)
    made.storage.memory[: made.nbytes] = rng.bytes(made.nbytes)
    if dt.kind == "bool":
        return sz.tensor(rng.integers(0, 2, shape).astype(bool))
    return made


@pytest.mark.parametrize("function", OPERATORS, ids=lambda f: f.__name__)
def test_pairs_of_dtypes(device: str, function: Any) -> None:
    """Operands of two dtypes are each rounded once to the promoted one."""
    rng = np.random.default_rng(list(function.__name__.encode()))
    for rules in ("cann", "torch", "numpy"):
        with sz.promotion(rules):
            for _ in range(5):
                a, b = (NUMBERS[i] for i in rng.integers(0, len(NUMBERS), 2))
                x, y = values(a, False, 60), values(b, True, 60)
                n = min(x.size, y.size)
                x, y = x[:n], y[:n]
                if b.kind in ("int", "uint"):
                    y = sz.where(sz.equal(y, 0), sz.tensor(1, b), y)
                try:
                    function(x, y)
                except sz.StatusError:
                    continue
                check(device, function, x, y, kernel=False)


def test_casts_of_all_dtypes(device: str) -> None:
    for i, source in enumerate(REALS):
        x = values(source, False, 60)
        if source.bits >= 32:
            near = [65519.99999999, 65520, 464, 464.000001, 2.0**-25 * (1 + 2**-40), 2.0**63,
                    2.0**31 - 1, 2.0**24 + 1, 1e-45]  # fmt: skip
            x = sz.concat([x, sz.cast(sz.tensor(np.array(near)), source)], 0)
        for target in REALS if source.bits >= 32 else REALS[i % 2 :: 2]:
            if target is not source:
                check(device, sz.cast, x, target)


@pytest.mark.parametrize("dt", [sz.float32, sz.int8], ids=str)
def test_shapes_and_strides(device: str, dt: sz.DType) -> None:
    x, y = some(dt, 1, 2, 40, 50), some(dt, 2, 2, 40, 50)
    row, column = some(dt, 3, 50), some(dt, 4, 40, 1)
    for a, b in (
        (x, row), (x, column), (column, row), (x, some(dt, 5)), (x, y[:, ::40, :1]),
        (x[:, :, 1:], y[:, :, :-1]), (x[0, ::3], y[1, ::3]), (x.T, y.T),
        (x[0, :, :40], y[0, :, :40].T),
        (some(dt, 6, 2, 400), row[:1]), (x[:, :0], y[:, :0]), (some(dt, 7), some(dt, 8)),
        (x.transpose(1, 0, 2)[:30], y.transpose(1, 0, 2)[10:]),
    ):  # fmt: skip
        check(device, sz.add, a, b)
    deep = some(dt, 9, 2, 3, 2, 3, 2, 3, 2, 3)
    check(device, sz.add, deep, deep[:1, :, :1, :, :1, :, :1, :], kernel=False)


def test_rows_that_fill_no_block(device: str) -> None:
    x = some(sz.int8, 1, 9_003)
    check(device, sz.add, x, some(sz.float16, 2, 9_003))
    check(device, sz.add, x[1:], x[:-1])
    check(device, sz.mul, some(sz.float32, 3, 3, 1500)[:, 7:], some(sz.float32, 4, 3, 1))


def test_numbers_where_clip_and_muladd(device: str) -> None:
    for dt in (sz.float16, sz.int32, sz.uint8, sz.float8_e5m2):
        x, y = some(dt, 1, 40, 30), some(dt, 2, 30)
        check(device, sz.mul, x, 2.5 if dt.kind == "float" else 3)
        check(device, sz.muladd, x, y, 1)
        check(device, sz.clip, x, 1, 9.5 if dt.kind == "float" else 200)
        check(device, sz.clip, x, None, y)
        check(device, sz.where, some(sz.bool, 3, 40, 1), x, y)
        check(device, lambda v: -v, x)
    check(device, sz.where, some(sz.bool, 3, 9), some(sz.int8, 1, 9), some(sz.bfloat16, 2, 9))


def test_bits_shifts_and_roundings(device: str) -> None:
    for dt in (sz.int8, sz.uint16, sz.int64, sz.uint64):
        x, y = some(dt, 1, 300), some(dt, 2, 300)
        for function in (sz.bitwise_and, sz.bitwise_or, sz.bitwise_xor):
            check(device, function, x, y)
        check(device, sz.bitwise_not, x)
        amount = sz.mod(y, sz.tensor(100, dt))
        check(device, xp.bitwise_left_shift, x, amount)
        check(device, xp.bitwise_right_shift, x, amount)
        check(device, xp.pow, x, sz.mod(y, sz.tensor(7, dt)))
    for dt in (sz.float16, sz.float32, sz.float64):
        x = values(dt, False, 400)
        for mode in sz.RoundMode:
            check(device, sz.rint, x, mode)
        for function in (xp.trunc, xp.round, xp.sign, xp.isnan, xp.isfinite, xp.signbit):
            check(device, function, x)


@pytest.mark.parametrize("dt", [sz.float16, sz.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["exp", "log", "log2", "log10", "sin", "cos"])
def test_functions_of_16_bits_have_the_cpus_bits_for_every_input(
    device: str, dt: sz.DType, name: str
) -> None:
    x = _core.empty((1 << 16,), dt)
    x.storage.memory[: x.nbytes] = np.arange(1 << 16, dtype=np.uint16).tobytes()
    check(device, getattr(sz, name), x)


def test_a_plan_is_kept_for_other_elements_and_no_other_rules(device: str) -> None:
    x, y = on(device, sz.tensor([1, 2], sz.int32), sz.tensor([2.5, 3], sz.float16))
    with sz.promotion("cann"):
        first = sz.add(x, y)
        kept = len(repeating.plans)
        again: Any = sz.add(*on(device, sz.tensor([5, 6], sz.int32), sz.tensor([1, 2], sz.float16)))
        assert len(repeating.plans) == kept
        assert again.tolist() == [6, 8]
        assert again.dtype is first.dtype
        assert again.device == first.device
    with sz.promotion("numpy"):
        assert sz.add(x, y).dtype is sz.float64
    x.destroy()
    with pytest.raises(sz.UninitializedObject, match="x was destroyed"):
        sz.add(x, y)


def test_a_plan_made_for_a_tensor_given_twice_serves_two(device: str) -> None:
    x, y = on(device, sz.tensor([1, 2], sz.int16), sz.tensor([10, 20], sz.int16))
    for function, wanted in ((sz.sub, [-9, -18]), (sz.add, [11, 22])):
        function(x, x)
        for _ in range(2):
            assert function(x, y).tolist() == wanted
    for one in (x, y):
        assert sz.muladd(one, one, x).tolist() == [one[0].item() ** 2 + 1, one[1].item() ** 2 + 2]
    assert sz.muladd(x, y, x).tolist() == [11, 42]


def test_errors_that_depend_on_elements(device: str) -> None:
    x, y = on(device, sz.tensor([7, 8, 9], sz.int8), sz.tensor([2, 0, 3], sz.int8))
    sz.synchronize()
    for _ in range(2):
        made: Any = sz.floordiv(x, y)
        with pytest.raises(sz.DivisionByZero, match=r"^floordiv .*y contains a zero"):
            sz.synchronize()
        assert made.tolist()[::2] == [3, 3]
    xp.pow(x, on(device, sz.tensor([1, 1, -1], sz.int8))[0])
    with pytest.raises(sz.InvalidArgument, match="contains a number below 0"):
        sz.synchronize()
    sz.floordiv(x, x)
    sz.synchronize()
