"""7.2.17.1, .2, .12: large products of floats in tiles, at the levels that have them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.matrices import OWN, sample
from suanzi import _core

NARROW = [sz.float16, sz.bfloat16, sz.complex32]


def tiled_levels() -> list[str]:
    """Return the levels of this machine whose large products are ours."""
    before, found = _core.level(), []
    for level in _core.levels():
        _core.use_level(level)
        if _core.products_in_tiles():
            found.append(level)
    _core.use_level(before)
    return found


LEVELS = tiled_levels()
pytestmark = pytest.mark.skipif(
    not LEVELS or sz.get_provider() != "scipy", reason="BLAS multiplies large matrices here"
)


@pytest.fixture(autouse=True, params=LEVELS or ["none"])
def _level(request: pytest.FixtureRequest) -> None:
    _core.use_level(request.param)


def layouts(x: sz.Tensor) -> list[sz.Tensor]:
    """Return the same elements across, with gaps, backwards, and with rows far apart."""
    across = sz.contiguous(x.T).T
    gaps = sz.concat([sz.expand_dims(x, 2)] * 2, 2)[:, :, 0]
    backwards = sz.contiguous(x[::-1, ::-1])[::-1, ::-1]
    apart = sz.concat([x, x, x], 1)[:, : x.shape[1]]
    return [x, across, gaps, backwards, apart]


def bits(x: sz.Tensor) -> bytes:
    return sz.cast(x, sz.complex128 if x.dtype.kind == "complex" else sz.float64).numpy().tobytes()


def wide(x: sz.Tensor) -> Any:
    return sz.cast(x, sz.complex128).numpy()


SIZES = [(16, 16, 600), (28, 32, 257), (17, 33, 256), (29, 31, 255), (57, 130, 2), (200, 190, 1),
         (43, 65, 513), (400, 18, 300), (18, 400, 270)]  # fmt: skip


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dt", [*OWN, *NARROW], ids=str)
def test_every_size_is_within_its_bound(sizes: tuple[int, int, int], dt: sz.DType) -> None:
    m, n, k = sizes
    x, y = sample((m, k), dt), sample((k, n), dt, 1)
    left, right = wide(x), wide(y)
    unit = 2.0**-53 if dt.name in ("float64", "complex128") else 2.0**-24
    bound = (k + 4) * unit * (np.abs(left) @ np.abs(right))
    if dt in NARROW:
        bound += np.abs(left @ right) * sz.finfo(dt).eps + 2.0**-24
    for found in (x @ y, sz.linear(x, sz.contiguous(y.T)), x @ sz.contiguous(y.T).T):
        assert found.shape == (m, n)
        assert np.all(np.abs(wide(found) - left @ right) <= bound)


@pytest.mark.parametrize("dt", [*OWN, *NARROW], ids=str)
def test_layouts_parts_and_threads_change_no_bit(dt: sz.DType) -> None:
    x, y = sample((61, 523), dt), sample((523, 75), dt, 1)
    whole = x @ y
    expected = bits(whole)
    for left, right in product(layouts(x), layouts(y)):
        assert bits(left @ right) == expected
    for threads in (1, 2, 5, 16):
        sz.set_num_threads(threads)
        assert bits(x @ y) == expected
        assert bits(x[7:50] @ y[:, 3:70]) == bits(whole[7:50, 3:70])
        batch = sz.concat([sz.expand_dims(x, 0)] * 3, 0) @ sz.expand_dims(y, 0)
        several = sz.concat([sz.expand_dims(y, 0)] * 3, 0)
        for found in (*batch, *(x @ several)):
            assert bits(found) == expected


@pytest.mark.parametrize("dt", [*OWN, *NARROW], ids=str)
def test_a_right_operand_that_is_copied_for_all_rows_changes_no_bit(dt: sz.DType) -> None:
    """Few of the same rows are multiplied without such a copy; 1100 along k are several."""
    x, y = sample((200, 1100), dt), sample((1100, 333), dt, 1)
    bias = sample((333,), dt, 2)
    few = [x[i : i + 50] for i in range(0, 200, 50)]
    expected = bits(sz.concat([part @ y for part in few], 0))
    added = bits(sz.concat([sz.linear(part, y.T, bias) for part in few], 0))
    short, flat = sample((16, 130, 70), dt, 3), sample((70, 232), dt, 4)
    each = [one @ flat for one in short]
    several = sz.concat([sz.expand_dims(flat, 0)] * 16, 0)
    for threads in (1, 2, 16):
        sz.set_num_threads(threads)
        for right in layouts(y):
            assert bits(x @ right) == expected
        assert bits(sz.linear(x, sz.contiguous(y.T), bias)) == added
        assert bits(x @ y[:, 40:300]) == bits(sz.contiguous((x @ y)[:, 40:300]))
        assert [bits(one) for one in short @ several] == [bits(one) for one in each]


@pytest.mark.parametrize("dt", NARROW, ids=str)
def test_what_is_narrow_is_widened_exactly(dt: sz.DType) -> None:
    """Before the product or in it, subnormal numbers and all."""
    sums = sz.complex64 if dt.kind == "complex" else sz.float32
    x, y = sample((70, 300), dt), sample((300, 90), dt, 1)
    tiny = sz.cast(sz.tensor(np.full((70, 1), float(sz.finfo(dt).smallest_subnormal) * 3)), dt)
    x = sz.concat([x[:, 1:], tiny], 1)
    before = sz.cast(x, sums) @ sz.cast(y, sums)
    assert bits(sz.matmul(x, sz.cast(y, sums), dtype=sums)) == bits(before)
    assert bits(sz.matmul(sz.cast(x, sums), y, dtype=sums)) == bits(before)
    if dt is not sz.bfloat16 or "bfloat16" not in _core.products_by_instruction():
        assert bits(x @ y) == bits(sz.cast(before, dt))


@pytest.mark.parametrize("dt", [sz.float16, sz.float32, sz.float64], ids=str)
def test_what_is_not_finite_stays_in_its_row_and_column(dt: sz.DType) -> None:
    m, n, k = 45, 67, 300
    x, y = np.ones((m, k)), np.ones((k, n))
    x[17, 259], x[44, 0], y[299, 66], y[3, 20] = np.nan, np.inf, -np.inf, np.inf
    found = (sz.cast(sz.tensor(x), dt) @ sz.cast(sz.tensor(y), dt)).numpy().astype(float)
    with np.errstate(invalid="ignore"):
        sums = [[float(np.sum(x[i] * y[:, j])) for j in range(n)] for i in range(m)]
    assert np.array_equal(found, np.array(sums), equal_nan=True)


@pytest.mark.parametrize("dt", [sz.float16, sz.float32, sz.complex64], ids=str)
def test_linear_adds_its_bias_to_every_part(dt: sz.DType) -> None:
    rng = np.random.default_rng(5)
    x, w, b = (rng.integers(-3, 4, shape) for shape in ((90, 40), (333, 40), (333,)))
    for threads in (1, 7):
        sz.set_num_threads(threads)
        found = sz.linear(*(sz.cast(sz.tensor(one), dt) for one in (x, w, b)))
        assert np.array_equal(wide(found), x @ w.T + b)


@pytest.mark.parametrize("dt", [sz.float32, sz.float64], ids=str)
def test_few_rows_have_the_bits_of_many(dt: sz.DType) -> None:
    """They are the right operand where there are many weights."""
    x, w, b = (sample(shape, dt, i) for i, shape in enumerate(((300, 520), (1100, 520), (1100,))))
    whole = sz.linear(x, w, b)
    for count, threads in product((16, 33, 256, 257), (1, 3)):
        sz.set_num_threads(threads)
        assert bits(sz.linear(x[:count], w, b)) == bits(whole[:count])
        assert bits(sz.linear(x[-count:], w, b)) == bits(whole[-count:])
