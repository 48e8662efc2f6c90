"""7.2.17.1, .2, .12, .13: matmul, dot, linear and bilinear of large matrices, in any layout."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.matrices import sample
from suanzi import _core
from suanzi.promote.registry import INTEGERS

LARGE = [((70, 45), (45, 33)), ((3, 40, 41), (41, 42)), ((300, 20), (20, 600)), ((17, 300), (300,)),
         ((300,), (300, 17)), ((9, 33, 40), (9, 40, 35)), ((1, 5000), (5000, 1)),
         ((33, 17), (17, 1041)), ((1041, 17), (17, 33))]  # fmt: skip


def wrapped(value: int, dt: sz.DType) -> int:
    """Return an integer modulo 2^bits, in the range of a dtype."""
    value %= 2**dt.bits
    return value - 2**dt.bits if dt.kind == "int" and value >= 2 ** (dt.bits - 1) else value


@pytest.mark.parametrize("shapes", LARGE, ids=str)
@pytest.mark.parametrize(
    "dt", [sz.float16, sz.float32, sz.float64, sz.complex64, sz.complex128, *INTEGERS], ids=str
)
def test_large_products_against_numpy(shapes: Any, dt: sz.DType) -> None:
    """Products beyond the sizes that one way computes; NumPy has integers modulo 2^n."""
    x, y = (sample(shape, dt, i) for i, shape in enumerate(shapes))
    found = sz.matmul(x, y)
    assert found.dtype is dt
    if dt.kind in ("int", "uint"):
        assert np.array_equal(found.numpy(), x.numpy() @ y.numpy())
        return
    kind = np.complex128 if dt.kind == "complex" else np.float64
    left, right = x.numpy().astype(kind), y.numpy().astype(kind)
    wide = sz.finfo(sz.float64 if dt.name in ("float64", "complex128") else sz.float32).eps
    bound = 4 * x.shape[-1] * wide * (np.abs(left) @ np.abs(right))
    if dt is sz.float16:
        bound += np.abs(left @ right) * 2.0**-11 + 2.0**-25
    assert np.all(np.abs(found.numpy().astype(kind) - left @ right) <= bound)


def layouts(x: sz.Tensor) -> list[sz.Tensor]:
    """Return the same elements in several layouts: across, with gaps, backwards, repeated."""
    array = x.numpy()
    across = sz.tensor(np.ascontiguousarray(array.T)).T
    gaps = sz.tensor(np.repeat(array, 3, axis=-1))[..., ::3]
    backwards = sz.tensor(np.ascontiguousarray(array[..., ::-1]))[..., ::-1]
    rows = sz.tensor(np.repeat(array, 2, axis=0))[::2]
    return [x, across, gaps, backwards, rows]


def whole(shape: tuple[int, ...], dt: sz.DType, seed: int) -> sz.Tensor:
    """Return integers, also of floats: their sums are exact in any order."""
    if dt.kind in ("int", "uint"):
        return sample(shape, dt, seed)
    rng = np.random.default_rng(seed)
    array: Any = rng.integers(-4, 5, shape).astype(float)
    return sz.cast(sz.tensor(array + 1j * array[::-1] if dt.kind == "complex" else array), dt)


@pytest.mark.parametrize("dt", [sz.int8, sz.int64, sz.uint16, sz.float16, sz.float32, sz.float64,
                                sz.complex64], ids=str)  # fmt: skip
@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((40, 50), (50, 60)), ((7, 90), (90,)),
                                    ((90,), (90, 7)), ((2, 3, 4), (4, 5))], ids=str)  # fmt: skip
def test_every_layout_gives_the_same(shapes: Any, dt: sz.DType) -> None:
    x, y = (whole(shape, dt, i) for i, shape in enumerate(shapes))
    expected = x.numpy() @ y.numpy()
    for left, right in product(layouts(x), layouts(y)):
        assert np.array_equal((left @ right).numpy(), expected)


@pytest.mark.parametrize("dt", [sz.float16, sz.float32, sz.float64, sz.complex64], ids=str)
def test_columns_and_rows_whose_strides_are_both_one(dt: sz.DType) -> None:
    """A column transposed is a row with a stride of 1 either way; BLAS takes one of the two."""
    column, other = whole((200, 1), dt, 0), whole((300, 1), dt, 1)
    assert other.T.strides == (1, 1)
    expected = column.numpy() * other.numpy().T
    batch = column.reshape(1, 200, 1)
    for found in (column @ other.T, sz.linear(column, other), (batch @ other.T)[0]):
        assert np.array_equal(found.numpy(), expected)


@pytest.mark.parametrize("dt", [sz.float32, sz.float64, sz.complex64, sz.int8], ids=str)
def test_rows_that_overlap(dt: sz.DType) -> None:
    """Windows of a signal are a matrix whose rows lie closer than they are long."""
    x, other = whole((500,), dt, 0), whole((50, 60), dt, 1)
    for step in (1, 3):
        windows = _core.view(x, 0, (40, 50), (step, 1))
        expected = windows.numpy() @ other.numpy()
        assert np.array_equal((windows @ other).numpy(), expected)
        assert np.array_equal((other.T @ windows.T).numpy(), expected.T)


@pytest.mark.parametrize("dt", [sz.float32, sz.int16], ids=str)
def test_single_rows_that_lie_apart(dt: sz.DType) -> None:
    """All are rows of one matrix, as far apart as the batches are."""
    x, y = whole((6, 4, 3), dt, 0)[:, :1], whole((3, 5), dt, 1)
    for left in (x, x[:, 0]):
        assert np.array_equal((left @ y).numpy(), left.numpy() @ y.numpy())


@pytest.mark.parametrize("k", [65536, 65537, 200000])
def test_long_vectors_of_integers(k: int) -> None:
    """They are added up in parts."""
    x, y = np.arange(k) % 1013 - 500, np.arange(k) % 911 - 400
    for dt in (sz.int16, sz.int64, sz.float64):
        found = sz.dot(sz.cast(sz.tensor(x), dt), sz.cast(sz.tensor(y), dt)).item()
        exact_sum = int((x * y).sum())
        assert found == (exact_sum if dt.bits == 64 else wrapped(exact_sum, dt))


def test_repeated_operands() -> None:
    """Views that repeat elements have strides of 0."""
    x = sz.expand(sz.tensor([[1.0, 2.0, 3.0]]), (70, 3))
    y = sz.expand(sz.tensor([[1.0], [2.0], [3.0]]), (3, 80))
    assert np.array_equal((x @ y).numpy(), np.full((70, 80), 14, np.float32))
    batch = sz.expand(sz.tensor([[1, 2], [3, 4]]), (5, 2, 2))
    assert np.array_equal((batch @ batch).numpy(), batch.numpy() @ batch.numpy())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (sz.int8, sz.float16),
        (sz.int32, sz.float16),
        (sz.float16, sz.float32),
        (sz.bfloat16, sz.float32),
        (sz.int64, sz.bfloat16),
        (sz.float32, sz.complex64),
        (sz.float64, sz.complex64),
        (sz.int16, sz.int8),
        (sz.bool, sz.int8),
        (sz.float32, sz.float64),
        (sz.float32, sz.complex32),
    ],
    ids=str,
)
@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((40, 50), (50, 30)), ((30,), (30, 9)),
                                    ((9, 30), (30,))], ids=str)  # fmt: skip
@pytest.mark.parametrize("rules", ["cann", "numpy", "torch"])
def test_each_operand_is_rounded_to_the_promoted_dtype(
    rules: str, shapes: Any, first: sz.DType, second: sz.DType
) -> None:
    """The bits are those of casts before the product, which takes the same way."""
    rng = np.random.default_rng(4)
    x, y = (
        sz.cast(sz.tensor(rng.uniform(-3000, 3000, shape)), dt)
        for shape, dt in zip(shapes, (first, second), strict=True)
    )
    with sz.promotion(rules):
        try:
            promoted = sz.result_type(x, y, op="matmul")
        except sz.TypeMismatch:
            with pytest.raises(sz.TypeMismatch):
                sz.matmul(x, y)
            return
        found = sz.matmul(x, y)
    before = sz.matmul(sz.cast(x, promoted), sz.cast(y, promoted))
    assert found.dtype is promoted
    assert found.numpy().tobytes() == before.numpy().tobytes()
    asked = sz.matmul(x, y, dtype=sz.complex128)
    casts = sz.matmul(sz.cast(x, sz.complex128), sz.cast(y, sz.complex128))
    assert np.allclose(asked.numpy(), casts.numpy(), rtol=1e-12)


def test_the_dtype_asked_for() -> None:
    x = sz.tensor(np.full((2, 300), -128, np.int8))
    assert sz.matmul(x, x.T).tolist() == [[0, 0], [0, 0]]  # 300 * 2^14 modulo 2^8
    for dt in (sz.int32, sz.int64, sz.uint32, sz.float32, sz.complex64):
        wide = sz.matmul(x, x.T, dtype=dt)
        assert wide.dtype is dt
        assert wide.tolist() == [[300 * 128 * 128] * 2] * 2
        assert sz.dot(x[0], x[1], dtype=dt).item() == 300 * 128 * 128
        assert sz.linear(x, x, dtype=dt).tolist() == wide.tolist()
    assert sz.matmul(x, x.T, dtype="int16").tolist() == [[wrapped(300 << 14, sz.int16)] * 2] * 2
    most = sz.tensor(np.full((2, 70), -32768, np.int16))  # pairs of products reach 2^31
    assert (
        sz.matmul(most, most.T, dtype=sz.int32).tolist() == [[wrapped(70 << 30, sz.int32)] * 2] * 2
    )
    half = sz.tensor([[2049.0]], sz.float32)  # rounded to float16 first, as asked
    assert sz.matmul(half, half, dtype=sz.bfloat16).item() == 2048.0**2
    mixed = sz.matmul(sz.tensor([[True]]), sz.tensor([[2.5]]), dtype=sz.float64)
    assert mixed.item() == 2.5
    assert sz.dot(sz.tensor([100, 2], sz.int8), 3, dtype=sz.int32).tolist() == [300, 6]


def test_float16_is_summed_in_float32() -> None:
    """4096 ones in float16 would stop at 2048; beyond its range there is infinity."""
    ones = sz.cast(sz.tensor(np.ones((1, 4096))), sz.float16)
    assert sz.matmul(ones, ones.T).item() == 4096
    small = sz.cast(sz.tensor(np.full((40, 4096), 2**-6 + 2**-16)), sz.float16)
    assert sz.matmul(small, small.T).numpy()[0, 0] == np.float16(
        4096 * float(small.numpy()[0, 0]) ** 2
    )
    large = sz.tensor([[60000.0, 60000.0]], sz.float16)
    assert sz.matmul(large, sz.tensor([[1.0], [1.0]], sz.float16)).item() == float("inf")
    # Beyond the range on the way, within it at the end.
    back = sz.tensor([[60000.0, 60000.0, -60000.0]], sz.float16)
    assert sz.matmul(back, sz.tensor([[1.0], [1.0], [1.0]], sz.float16)).item() == 60000


def test_dot_with_a_number() -> None:
    x = sz.tensor([1, 2], sz.int8)
    assert sz.dot(x, 2.5).tolist() == [2.5, 5]
    assert sz.dot(3, x).dtype is sz.int8
    assert sz.dot(2, 3).item() == 6


def test_the_bias_is_added_before_the_rounding() -> None:
    """2048 + 1 is rounded to 2048 in float16; 2048 + 1 + 1 is not."""
    x, weight = sz.tensor([[2048.0, 1.0]], sz.float16), sz.tensor([[1.0, 1.0]] * 2, sz.float16)
    assert sz.linear(x, weight, sz.tensor([1.0, 0.0], sz.float16)).tolist() == [[2050, 2048]]
    assert sz.linear(x[0], weight, sz.tensor([1.0, 0.0], sz.float16)).tolist() == [2050, 2048]
    mixed = sz.linear(x, weight, sz.tensor([0.5, 0.25], sz.float32))
    assert (mixed.dtype, mixed.tolist()) == (sz.float32, [[2049.5, 2049.25]])


@pytest.mark.parametrize(
    "dt", [sz.float16, sz.float32, sz.float64, sz.complex64, sz.int32], ids=str
)
@pytest.mark.parametrize("rows", [1, 5, 40])
def test_the_bias_of_more_outputs_than_one_part_has(rows: int, dt: sz.DType) -> None:
    rng = np.random.default_rng(rows)
    x, weight = rng.integers(-4, 5, (rows, 3)), rng.integers(-4, 5, (1300, 3))
    bias = np.arange(1300)
    found = sz.linear(*(sz.cast(sz.tensor(one), dt) for one in (x, weight, bias)), dtype=dt)
    assert np.array_equal(found.numpy(), (x[:, None] * weight).sum(axis=2) + bias)


def test_bilinear_rounds_each_operand_to_the_promoted_dtype() -> None:
    """2049 is 2048 in float16, which cann promotes an integer and a float16 to."""
    whole, half = sz.tensor([[2049]], sz.int32), sz.tensor([[1.0]], sz.float16)
    weight = sz.tensor([[[1.0]]], sz.float16)
    with sz.promotion("cann"):
        assert sz.bilinear(whole, half, weight, half[0] * 2).item() == 2050
        assert sz.bilinear(half, whole, weight, half[0] * 2).item() == 2050
        assert sz.bilinear(half, half, whole.reshape(1, 1, 1), half[0] * 2).item() == 2050
        assert sz.bilinear(half, half, weight, whole[0]).item() == 2048


def test_bilinear_in_blocks() -> None:
    """More rows than one block has."""
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((3000, 2)), rng.standard_normal((3000, 100))
    weight = rng.standard_normal((10, 2, 100))
    found = sz.bilinear(sz.tensor(x), sz.tensor(y), sz.tensor(weight))
    assert np.allclose(found.numpy(), np.einsum("ni,oij,nj->no", x, weight, y), atol=1e-10)


def test_integers_become_floats_in_linear_and_bilinear() -> None:
    x, weight = sz.tensor([[1, 2]]), sz.tensor([[3, 4]])
    assert sz.linear(x, weight).dtype is sz.float32
    assert sz.bilinear(x, x, sz.expand_dims(weight, 1).reshape(1, 1, 2)[:, [0, 0]]).dtype is (
        sz.float32
    )
    with sz.promotion("numpy"):
        assert sz.linear(x, weight).dtype is sz.float64
    with sz.promotion("strict"), pytest.raises(sz.TypeMismatch):
        sz.linear(x, weight)


def test_quantised_operands_are_what_they_stand_for() -> None:
    x = sz.create_quant_tensor((1, 2), 0.5, sz.QT_SYM_INT8, values=[[3, -4]])
    assert sz.matmul(x, sz.tensor([[1.0], [1.0]])).tolist() == [[-0.5]]
    assert sz.dot(x, x.T).tolist() == [[6.25]]
    assert sz.result_type(x, x, op="linear") is sz.float32  # which the fast path then knows
    assert sz.linear(x, x).tolist() == [[6.25]]


@pytest.mark.parametrize("dtype", [sz.float16, sz.float32, sz.float64, sz.complex128], ids=str)
@pytest.mark.parametrize(("m", "n"), [(2, 2), (17, 24), (24, 17)])
def test_long_sums_of_few_elements_end(dtype: sz.DType, m: int, n: int) -> None:
    """Parts of 16 were halved for ever where they were worth sharing."""
    k = 2**20 if m == 2 else 70_000
    x = sz.full(shape=(m, k), value=1 / 1024, dtype=dtype)
    y = sz.full(shape=(k, n), value=1 / 4, dtype=dtype)
    found = sz.cast(sz.matmul(x, y), sz.complex128).numpy()
    assert (found == sz.cast(sz.tensor(k / 4096), dtype).item()).all()
