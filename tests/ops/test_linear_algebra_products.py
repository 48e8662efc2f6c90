"""7.2.17.1, .2, .12, .13: matmul, dot, linear and bilinear against sums written out."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from suanzi import _core
from suanzi.registry import COMPLEX, FLOATS, INTEGERS

NARROW = ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "complex32")
LARGE = [((70, 45), (45, 33)), ((3, 40, 41), (41, 42)), ((300, 20), (20, 600)), ((17, 300), (300,)),
         ((300,), (300, 17)), ((9, 33, 40), (9, 40, 35)), ((1, 5000), (5000, 1)),
         ((33, 17), (17, 1041)), ((1041, 17), (17, 33))]  # fmt: skip


def exact(x: Any) -> Any:
    """Return elements as an array of Python's numbers, which do not wrap."""
    return np.array(np.asarray(x.tolist(), dtype=object).ravel().tolist() or [], object).reshape(
        x.shape
    )


def entry(x: Any, y: Any) -> Any:
    """Return the sum of products, one after the other, in Python's numbers."""
    return sum((a * b for a, b in zip(x, y, strict=True)), 0)


def written_out(x: Any, y: Any) -> Any:
    """Return a product of arrays of Python's numbers, entry by entry."""
    left = x if x.ndim > 1 else x[None]
    right = y if y.ndim > 1 else y[:, None]
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(left, batch + left.shape[-2:])
    right = np.broadcast_to(right, batch + right.shape[-2:])
    out = np.empty((*batch, left.shape[-2], right.shape[-1]), object)
    for *place, i, j in product(*map(range, out.shape)):
        at = tuple(place)
        out[(*at, i, j)] = entry(left[at][i], right[at][:, j])
    if y.ndim == 1:
        out = out[..., 0]
    return out[..., 0] if x.ndim == 1 and y.ndim == 1 else out[..., 0, :] if x.ndim == 1 else out


def wrapped(value: int, dt: sz.DType) -> int:
    """Return an integer modulo 2^bits, in the range of a dtype."""
    value %= 2**dt.bits
    return value - 2**dt.bits if dt.kind == "int" and value >= 2 ** (dt.bits - 1) else value


def sample(shape: tuple[int, ...], dt: sz.DType, seed: int = 0) -> sz.Tensor:
    """Return numbers that a dtype holds: integers of its whole range, or small floats."""
    rng = np.random.default_rng([seed, *shape])
    if dt.kind in ("int", "uint"):
        limits = sz.iinfo(dt)
        array = rng.integers(limits.min, limits.max, shape, np.dtype(dt.name), endpoint=True)
        return sz.tensor(array)
    array = rng.uniform(-2, 2, shape)
    if dt.kind == "complex":
        array = array + 1j * rng.uniform(-2, 2, shape)
    return sz.cast(sz.tensor(np.asarray(array)), dt)


def check(found: sz.Tensor, x: sz.Tensor, y: sz.Tensor, dt: sz.DType) -> None:
    """Compare a product with the sums written out: integers exactly, floats within their bound."""
    left, right = exact(x), exact(y)
    expected = written_out(left, right)
    assert found.dtype is dt
    assert found.shape == np.shape(expected)
    k = x.shape[-1]
    got = exact(found).ravel() if found.ndim else np.array([found.item()], object)
    want = np.asarray(expected, object).ravel()
    if dt.kind in ("int", "uint"):
        assert [wrapped(v, dt) for v in want] == got.tolist()
        return
    magnitudes = np.asarray(written_out(np.abs(left), np.abs(right)), object).ravel()
    summed = sz.finfo(sz.float64 if dt.name in ("float64", "complex128") else sz.float32).eps
    for one, other, scale in zip(got, want, magnitudes, strict=True):
        bound = 4 * max(k, 1) * summed * float(scale)
        if dt.name in NARROW:  # rounded once more
            bound += sz.finfo(dt).eps / 2 * 1.5 * abs(other) + sz.finfo(dt).smallest_subnormal
        assert abs(one - other) <= bound, (one, other, bound)


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


@pytest.mark.parametrize("dt", [sz.int8, sz.int32, sz.int64, sz.uint16], ids=str)
@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((40, 50), (50, 60)), ((7, 90), (90,)),
                                    ((90,), (90, 7)), ((2, 3, 4), (4, 5))], ids=str)  # fmt: skip
def test_every_layout_gives_the_same_integers(shapes: Any, dt: sz.DType) -> None:
    x, y = (sample(shape, dt, i) for i, shape in enumerate(shapes))
    expected = x.numpy() @ y.numpy()
    for left, right in product(layouts(x), layouts(y)):
        assert np.array_equal((left @ right).numpy(), expected)


@pytest.mark.parametrize("dt", [sz.float16, sz.float32, sz.float64, sz.complex64], ids=str)
@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((40, 50), (50, 60)), ((7, 90), (90,)),
                                    ((90,), (90, 7)), ((2, 3, 4), (4, 5))], ids=str)  # fmt: skip
def test_every_layout_of_floats(shapes: Any, dt: sz.DType) -> None:
    """Whole numbers, whose sums are exact in any order."""
    rng = np.random.default_rng(3)
    parts = [rng.integers(-4, 5, shape).astype(float) for shape in shapes]
    if dt.kind == "complex":
        parts = [part + 1j * rng.integers(-4, 5, part.shape) for part in parts]
    x, y = (sz.cast(sz.tensor(part), dt) for part in parts)
    for left, right in product(layouts(x), layouts(y)):
        found = (left @ right).numpy()
        assert np.array_equal(found.astype(parts[0].dtype), parts[0] @ parts[1])


@pytest.mark.parametrize("dt", [sz.float16, sz.float32, sz.float64, sz.complex64], ids=str)
def test_columns_and_rows_whose_strides_are_both_one(dt: sz.DType) -> None:
    """A column transposed is a row with a stride of 1 either way; BLAS takes one of the two."""
    column, other = sample((200, 1), dt), sample((300, 1), dt, 1)
    assert other.T.strides == (1, 1)
    dense = sz.tensor(other.tolist(), dt).reshape(1, 300)
    expected = (column @ dense).numpy().tobytes()
    check(column @ other.T, column, dense, dt)
    batch = column.reshape(1, 200, 1)
    for found in (column @ other.T, sz.linear(column, other), (batch @ other.T)[0]):
        assert found.shape == (200, 300)
        assert found.numpy().tobytes() == expected


@pytest.mark.parametrize("dt", [sz.float32, sz.float64, sz.complex64, sz.int8], ids=str)
def test_rows_that_overlap(dt: sz.DType) -> None:
    """Windows of a signal are a matrix whose rows lie closer than they are long."""
    x, other = sample((500,), dt), sample((50, 60), dt, 1)
    for step in (1, 3):
        windows = _core.view(x, 0, (40, 50), (step, 1))
        dense = _core.row_major_copy(windows)
        check(windows @ other, dense, other, dt)
        check(other.T @ windows.T, _core.row_major_copy(other.T), _core.row_major_copy(dense.T), dt)


@pytest.mark.parametrize("dt", [sz.float32, sz.int16], ids=str)
def test_single_rows_that_lie_apart(dt: sz.DType) -> None:
    """All are rows of one matrix, as far apart as the batches are."""
    x, y = sample((6, 4, 3), dt)[:, :1], sample((3, 5), dt, 1)
    check(x @ y, _core.row_major_copy(x), y, dt)
    check(x[:, 0] @ y, _core.row_major_copy(x[:, 0]), y, dt)


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


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 3), max_size=2),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.tuples(st.integers(0, 6), st.integers(0, 40), st.integers(0, 6)),
    st.sampled_from(INTEGERS),
    st.sampled_from(INTEGERS),
    st.data(),
)
def test_integers_of_any_shape_and_dtype(
    batch: list[int], drops: list[bool], sizes: Any, first: sz.DType, second: sz.DType, data: Any
) -> None:
    m, k, n = sizes
    left = [1 if drop else size for size, drop in zip(batch, drops, strict=False)] + [m, k]
    right = [1 if drop else size for size, drop in zip(batch, drops[2:], strict=False)] + [k, n]
    x, y = sample(tuple(left), first, 1), sample(tuple(right), second, 2)
    if data.draw(st.booleans()):
        x = x[..., ::-1]
    with sz.promotion("numpy"):
        promoted = sz.result_type(x, y, op="matmul")
        found = sz.matmul(x, y)
    if promoted.kind in ("int", "uint"):  # int64 and uint64 have none in common
        check(found, sz.cast(x, promoted), sz.cast(y, promoted), promoted)


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


@pytest.mark.parametrize("dt", [sz.int8, sz.uint8, sz.int16, sz.uint16], ids=str)
def test_the_largest_magnitudes(dt: sz.DType) -> None:
    """Sums beyond every intermediate width, at both ends of the range."""
    for value in (sz.iinfo(dt).min, sz.iinfo(dt).max):
        x = sz.tensor(np.full((33, 1001), value, np.dtype(dt.name)))
        exactly = 1001 * value * value
        for wide in (sz.int32, sz.uint32, sz.int64, sz.uint64):
            found = sz.matmul(x, x.T, dtype=wide)
            assert set(found.numpy().ravel().tolist()) == {wrapped(exactly, wide)}
        assert set(sz.matmul(x, x.T).numpy().ravel().tolist()) == {wrapped(exactly, dt)}


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


@pytest.mark.parametrize("shape", [(3, 4), (50, 60)], ids=str)
@pytest.mark.parametrize("dt", [sz.float16, sz.float32, sz.float64], ids=str)
def test_special_values(shape: tuple[int, int], dt: sz.DType) -> None:
    x = np.zeros(shape)
    x[0, 0], x[1, 1] = np.inf, np.nan
    ones = np.ones((shape[1], 5))
    ones[0, 1] = 0
    found = sz.matmul(sz.cast(sz.tensor(x), dt), sz.cast(sz.tensor(ones), dt)).numpy()
    real = found.real.astype(float)
    assert np.isinf(real[0, 0])
    assert np.isnan(real[0, 1])  # infinity times zero
    assert np.all(np.isnan(real[1]))
    assert np.all(real[2] == 0)


def test_dot_with_a_number() -> None:
    x = sz.tensor([1, 2], sz.int8)
    assert sz.dot(x, 2.5).tolist() == [2.5, 5]
    assert sz.dot(3, x).dtype is sz.int8
    assert sz.dot(2, 3).item() == 6


@pytest.mark.parametrize("dt", [*FLOATS, *COMPLEX], ids=str)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 3), (0, 3), (50, 3)], ids=str)
@pytest.mark.parametrize("outputs", [1, 2, 70])
def test_linear(outputs: int, shape: tuple[int, ...], dt: sz.DType) -> None:
    x, weight = sample(shape, dt, 1), sample((outputs, 3), dt, 2)
    if dt.name == "float8_e4m3fn":
        x = sz.cast(x / 4, dt)
    bias = sample((outputs,), dt, 3)
    check(sz.linear(x, weight), x, sz.transpose(weight), dt)
    # The bias is one more input, which is 1: so it is added before the one rounding.
    ones = sz.cast(sz.tensor(np.ones((*shape[:-1], 1))), dt)
    longer = sz.concat([x, ones], -1)
    wider = sz.concat([weight, sz.expand_dims(bias, 1)], 1)
    check(sz.linear(x, weight, bias), longer, sz.transpose(wider), dt)


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
