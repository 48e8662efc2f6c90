"""Views that repeat one element more often than any memory holds, or than bytes can be counted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.base.status import AllocFailed, OutOfRange
from suanzi.tensors import exchange

MOST = 2**63 - 1
# Of these, the bytes of f64, f32 and f16 are a few, counted modulo 2**64.
WRAPPING = {"f64": 2**61 + 8, "f32": 2**62 + 8, "f16": MOST}


def repeated(dtype: str, *shape: int) -> sz.Tensor:
    return sz.expand(sz.tensor([1], sz.dtype(dtype)), shape)


def refused(call: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    before = _core.pool_info()["storages"]
    with pytest.raises(AllocFailed):
        call(*args, **kwargs)
    assert _core.pool_info()["storages"] <= before


@pytest.mark.parametrize("dtype", WRAPPING)
@pytest.mark.parametrize("k", [1, 100])
def test_topk_has_no_memory_to_sort_them(dtype: str, k: int) -> None:
    refused(sz.topk, repeated(dtype, WRAPPING[dtype]), k)
    refused(sz.topk, repeated(dtype, WRAPPING[dtype]), k, largest=False)


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "i8", "i64", "bool", "c64"])
@pytest.mark.parametrize("size", [MOST, MOST - 16383, 2**62])
def test_what_needs_memory_for_each(dtype: str, size: int) -> None:
    x = repeated(dtype, size)
    refused(sz.nonzero, x)
    refused(sz.masked_select, x, repeated("bool", size))
    if dtype != "bool":
        refused(sz.cumsum, x)
    refused(sz.conj if dtype == "c64" else sz.imag, x)
    if dtype not in ("bool", "c64"):
        refused(sz.argsort, x)
        assert sz.argmax(x).numpy() == sz.argmin(x).numpy() == 0


def test_what_numpy_computes_is_asked_for_first() -> None:
    """A system that overcommits would grant it, and end the process when it is used."""
    for size in (2**38, 2**40, 2**59):
        line, matrix = repeated("f32", size), repeated("f64", 2, size)
        refused(sz.multinomial, line)
        refused(sz.multinomial, matrix, 3, False)
        refused(sz.rand_bernoulli, line)
        refused(sz.rand_bernoulli, repeated("f8e4m3", size))
        refused(sz.allclose, line, line)
        refused(sz.allclose, sz.tensor(1.0), line)
        refused(sz.allclose, repeated("f32", size, 1), repeated("f32", 1, size))
        refused(sz.randperm, size, sz.int64)
        for decompose in (sz.lu, sz.qr, sz.eig, sz.inverse):
            refused(decompose, repeated("f32", size, 1, 1))
        refused(sz.svd, repeated("f32", size, 1, 1))
        refused(sz.cholesky, "L", repeated("f32", size, 1, 1))
        refused(sz.lstsq, repeated("f32", size, 1, 1), sz.tensor([[1.0]]), 1e-6)
        refused(sz.solve, repeated("f32", size, 1, 1), sz.tensor([[1.0]]), False)
        refused(sz.fft_c2c, repeated("c64", size, 4))
        refused(sz.fft_r2c, repeated("f16", size, 4))


def test_what_is_available_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "available_memory", lambda: 2**29)
    exchange.check_room(2**29, "this")
    with pytest.raises(AllocFailed, match="536870913 bytes of this"):
        exchange.check_room(2**29 + 1, "this")
    monkeypatch.undo()
    assert 2**20 < exchange.available_memory() < 2**50


# ---- reductions: what is repeated is combined with itself ---------------------------------------

MANY = 2**40 + 3
LINE = (3, -1, 0, 7)


def lines(dtype: str, values: tuple[Any, ...] = LINE) -> sz.Tensor:
    return sz.expand(sz.tensor([list(values)], sz.dtype(dtype)), (MANY, len(values)))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("SUM", [n * MANY for n in LINE]),
        ("PROD", [pow(n, MANY, 2**64) for n in LINE]),
        ("BXOR", LINE),  # of an odd number of them
        ("BAND", LINE),
        ("BOR", LINE),
        ("MAX", LINE),
        ("MIN", LINE),
    ],
)
def test_integers(mode: str, expected: list[int]) -> None:
    found = sz.reduce(lines("i64"), mode, 0).numpy().tolist()
    assert [n % 2**64 for n in found] == [n % 2**64 for n in expected]


def test_floats() -> None:
    x = lines("f32", (0.1, -3.0, 0.0))
    each = [float(np.float32(v)) for v in (0.1, -3.0, 0.0)]
    assert sz.reduce(x, "SUM", 0).numpy() == pytest.approx([v * MANY for v in each], rel=1e-6)
    assert sz.reduce(x, "MEAN").numpy() == pytest.approx(sum(each) / 3, rel=1e-6)
    assert sz.norm(x, 1, axis=0).numpy() == pytest.approx([abs(v) * MANY for v in each], rel=1e-6)
    assert sz.norm(x, 2).numpy() == pytest.approx(np.sqrt(9.01 * MANY), rel=1e-6)
    assert sz.norm(repeated("f32", MOST), "inf").numpy() == 1
    assert sz.reduce(x, "MAX").numpy() == np.float32(0.1)
    assert np.isnan(sz.reduce(lines("f16", (1.0, np.nan)), "SUM").numpy())
    wide = sz.expand(sz.tensor([[1.0] * 40], sz.float64), (MANY, 40))
    assert sz.reduce(wide, "SUM", 0, True).numpy().tolist() == [[MANY] * 40]


def test_of_bools_and_along_either_axis() -> None:
    x = sz.expand(sz.tensor([[True], [False]]), (2, MANY))
    assert sz.reduce(x, "LXOR", 1).numpy().tolist() == [True, False]
    assert sz.reduce(x, "LOR").numpy()
    assert not sz.reduce(x, "LAND").numpy()
    assert sz.array_api.count_nonzero(x, axis=1).numpy().tolist() == [MANY, 0]
    assert sz.array_api.count_nonzero(x).numpy() == MANY
    refused(sz.reduce, x, "LOR", 0)


@pytest.mark.parametrize("dtype", ["i8", "f16", "c128", "u64"])
def test_the_most_there_can_be(dtype: str) -> None:
    x = repeated(dtype, MOST)
    assert sz.reduce(x, "PROD").numpy() == 1
    assert np.isclose(complex(sz.reduce(x, "MEAN").numpy()), 1)


def test_what_a_repeated_mask_picks() -> None:
    """Nothing is found at once, and what has no memory is refused at once."""
    x = repeated("f32", MANY)
    assert sz.masked_select(x, sz.tensor([False])).shape == (0,)
    assert sz.masked_select(x, sz.expand(sz.tensor([False]), (MANY,))).shape == (0,)
    refused(sz.masked_select, x, sz.tensor([True]))
    refused(sz.masked_select, x, sz.expand(sz.tensor([True]), (MANY,)))
    wide = sz.expand(sz.tensor([[1.0], [0.0]]), (2, MANY))
    refused(sz.masked_select, wide, sz.tensor([[False], [True]]))
    refused(x.__getitem__, sz.expand(sz.tensor([True]), (MANY,)))
    assert x[sz.expand(sz.tensor([False]), (MANY,))].shape == (0,)
    refused(sz.nonzero, wide)
    refused(sz.nonzero, repeated("i8", 2**20, 2**20))  # along both axes
    with pytest.raises(OutOfRange):
        sz.nonzero(lines("i8", (0, 0)))
    assert [one.shape for one in sz.array_api.nonzero(lines("f16", (0.0, -0.0)))] == [(0,), (0,)]


def test_parts_of_a_reduction() -> None:
    made = sz.empty((_core.partial_size(0, False, sz.int64),), sz.uint8)
    _core.reduce_partly(lines("i64"), 0, False, [0, 1], made)
    total = sz.empty((), sz.int64)
    _core.finish_partly(made, 0, False, sz.int64, 4 * MANY, total)
    assert total.numpy() == 9 * MANY


@pytest.mark.parametrize("dtype", ["f32", "f64", "bf16", "i8", "c128"])
def test_products(dtype: str) -> None:
    x = repeated(dtype, MOST)
    refused(sz.dot, x, x)
    refused(sz.matmul, x, x)
    refused(sz.matmul, repeated(dtype, 2**40, 1), repeated(dtype, 1, 2**22))


def test_sums_of_products_that_are_all_the_same() -> None:
    """There is memory for what comes out, and days would be needed to sum it."""
    x, y = repeated("f32", MANY, 3), repeated("f32", MANY, 2)
    for call in (
        lambda: sz.linear_bwd_weight(x, y),
        lambda: sz.matmul(sz.transpose(x, (1, 0)), y),
        lambda: sz.dot(repeated("i32", 4, MANY), repeated("i32", 2, MANY, 5)),
        lambda: sz.linear(repeated("bf16", 4, MANY), repeated("bf16", 2, MANY)),
        lambda: sz.dot_bwd2(x, y, sz.zeros((2, 3))),
        lambda: sz.bilinear_bwd_weight(x, y, y),
        lambda: sz.bilinear_bwd_weight(*[repeated("f64", 2, 2**32, 3)] * 3),
    ):
        with pytest.raises(AllocFailed, match="repeats? the elements"):
            call()
    few = 2**20
    assert sz.matmul(repeated("f32", 1, few), repeated("f32", few, 1)).tolist() == [[few]]


def test_products_without_elements() -> None:
    many = repeated("f32", 0, 2**40, 2**40, 1, 1)
    assert sz.matmul(many, sz.tensor([[1.0]])).shape == (0, 2**40, 2**40, 1, 1)
    assert sz.matmul(sz.tensor([[1.0]]), many).shape == (0, 2**40, 2**40, 1, 1)


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_interpolation(mode: str) -> None:
    x = repeated("f32", 1, 1, 2**62, 1)
    assert (sz.interpolate(x, [3, 2], mode=mode).numpy() == 1).all()


def test_numpy_has_no_such_arrays() -> None:
    refused(repeated("f32", MOST).numpy)


def test_strides_of_one_element_may_be_anything() -> None:
    """DLPack counts them in elements; in bytes they would not fit."""
    torch = pytest.importorskip("torch")
    for stride in (2**62, MOST):
        x = sz.from_dlpack(torch.ones(3, dtype=torch.float64).as_strided((1, 3), (stride, 1)))
        assert sz.reduce(x).numpy() == 3
        assert sz.matmul(x, sz.tensor([1.0, 2, 3], sz.float64)).numpy().tolist() == [6]
        assert sz.argmax(x).numpy().tolist() == [0]
        assert sz.topk(x, 1)[1].numpy().tolist() == [[0]]
        assert sz.cumsum(x, 1).numpy().tolist() == [[1, 2, 3]]


DESTROYED = """
import suanzi as sz
from suanzi.ops.libraries import providers
a, b = sz.tensor([[1.0] * 64] * 64), sz.tensor([[1.0] * 64] * 64)
load = providers.load
def destroying():
    sz.destroy(a)
    return load()
providers.load = destroying
try:
    sz.matmul(a, b)
except sz.UninitializedObject:
    print("refused")
print(float(sz.matmul(b, b)[0, 0].numpy()))
"""


def test_an_operand_destroyed_while_blas_is_loaded() -> None:
    ran = subprocess.run([sys.executable, "-c", DESTROYED], capture_output=True, text=True)
    assert ran.stdout.split() == ["refused", "64.0"], ran.stderr


def test_sizes_that_numpy_has_no_arrays_of_beside_a_zero() -> None:
    empty = _core.view(sz.tensor(1.0), 0, (0, 2**62, 2**62), (0, 0, 0))
    with pytest.raises(sz.AllocFailed, match="NumPy has no arrays"):
        empty.numpy()
