"""7.2.17.7 to .9: solve, lstsq and inverse: residuals, singular matrices, minimum norms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers.matrices import (
    EPSILON,
    NARROW,
    OWN,
    Array,
    adjoint,
    assert_small,
    layouts,
    random,
    values,
    with_singular_values,
)

SINGULAR = [
    [[0.0]],
    [[1.0, 2], [2, 4]],
    [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]],  # E122: its last pivot is tiny, not zero
    [[1e-30, 1e-30], [1e-30, 1e-30]],
    [[1e20, 0, 1e20], [1, 1e-10, 1], [3, 0, 3]],
    [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]],
]


def check_solve(a: sz.Tensor, b: sz.Tensor, adjoined: bool) -> None:
    x = sz.solve(a, b, adjoined)
    mat, rhs, found = values(a), values(b), values(x)
    mat = adjoint(mat) if adjoined else mat
    one = b.ndim == 1
    rhs, found = (rhs[:, None], found[..., None]) if one else (rhs, found)
    assert x.dtype is a.dtype
    assert found.shape == np.broadcast_shapes((*mat.shape[:-2], *rhs.shape[-2:]), rhs.shape), (
        found.shape
    )
    # Backward stable: the residual is small relative to the matrix and the solution.
    size = np.abs(mat).sum(-1).max(initial=0) * np.abs(found).max(initial=0)
    limit = 8 * max(mat.shape[-1], 2) * EPSILON[a.dtype] * size
    assert_small(mat @ found - rhs, limit, f"solve, {adjoined}")


def well_conditioned(shape: tuple[int, ...], dtype: sz.DType, seed: int = 0) -> Array:
    return random(shape, dtype, seed) + 2 * np.sqrt(shape[-1]) * np.eye(shape[-1])


@pytest.mark.parametrize("dtype", [*OWN, sz.bfloat16], ids=str)
def test_layouts(dtype: sz.DType) -> None:
    for shape in [(5, 5), (20, 20), (2, 5, 5), (2, 20, 20)]:
        b = sz.cast(sz.tensor(random((shape[-1], 2), dtype, 1)), dtype)
        matrix = well_conditioned(shape, dtype)
        for (_, a), (_, sides) in zip(
            layouts(matrix, dtype), layouts(values(b), dtype), strict=True
        ):
            check_solve(a, sides, False)
            check_solve(a, sides, True)
            product = values(sz.inverse(a)) @ values(a)
            assert_small(product - np.eye(shape[-1]), 200 * EPSILON[dtype], "inverse")
            expected = values(sz.lstsq(sz.contiguous(a), sz.contiguous(sides)))
            assert_small(values(sz.lstsq(a, sides)) - expected, 100 * EPSILON[dtype], "lstsq")


@pytest.mark.parametrize("dtype", [*OWN, sz.float16, sz.bfloat16], ids=str)
@pytest.mark.parametrize("mat", SINGULAR, ids=str)
def test_singular_matrices_are_refused(dtype: sz.DType, mat: list[list[float]]) -> None:
    n = len(mat)
    a = sz.cast(sz.tensor(np.array(mat)), dtype)
    fine = sz.cast(sz.tensor(np.eye(n)), dtype)
    if dtype not in OWN and (mat[0][0] == 0.1 or not np.isfinite(values(a)).all()):
        return  # rounded to so few bits, it is not singular any more
    consistent = sz.cast(sz.tensor(values(a) @ np.ones(n)), dtype)
    for sides in (consistent, fine):
        for adjoined in (False, True):
            with pytest.raises(sz.InvalidArgument, match=r"solve \(7.2.17.7\): mat is singular"):
                sz.solve(a, sides, adjoined)
    with pytest.raises(sz.InvalidArgument, match="sz.lstsq"):
        sz.inverse(a)
    batch = sz.stack([fine, fine, a, fine], 0)
    for call in (lambda: sz.inverse(batch), lambda: sz.solve(batch, consistent, False)):
        with pytest.raises(sz.InvalidArgument, match=r"mat at \[2\] is singular.*about .*at least"):
            call()


@pytest.mark.parametrize("dtype", OWN, ids=str)
@pytest.mark.parametrize("n", [5, 40, 70])
def test_singular_matrices_of_any_size_are_refused(dtype: sz.DType, n: int) -> None:
    for seed in range(2):
        sizes = np.geomspace(1, 0.1, n)
        good = sz.cast(sz.tensor(with_singular_values(sizes, n, n, dtype, seed)), dtype)
        check_solve(good, sz.cast(sz.tensor(random((n, 2), dtype, seed)), dtype), False)
        numbers = np.random.default_rng(seed).integers(-4, 5, (n, n))
        numbers[:, -1] = numbers[:, 0] - 3 * numbers[:, 1]
        bad = sz.cast(sz.tensor(numbers), dtype)
        for singular in (bad, sz.transpose(bad)):
            with pytest.raises(sz.InvalidArgument, match="singular to the precision"):
                sz.inverse(singular)
            with pytest.raises(sz.InvalidArgument, match="singular to the precision"):
                sz.solve(singular, sz.cast(sz.tensor(np.ones(n)), dtype), False)
    # What is lost lies across the sums of neighbours: (1, 1, -1, -1) is mapped to nothing.
    hidden = np.eye(n)
    lost = np.array([1, 1, -1, -1]) / 2
    hidden[:4, :4] -= np.outer(lost, lost)
    for adjoined in (False, True):
        with pytest.raises(sz.InvalidArgument, match="singular to the precision"):
            sz.solve(
                sz.cast(sz.tensor(hidden), dtype), sz.cast(sz.tensor(np.ones(n)), dtype), adjoined
            )


@pytest.mark.parametrize("dtype", OWN, ids=str)
@pytest.mark.parametrize("n", [3, 6])
def test_two_rows_nearly_the_same_behind_others_are_found(dtype: sz.DType, n: int) -> None:
    """The inverse maps a vector of ones, and the first one, to nothing large."""
    array = np.eye(n)
    array[-2:, -2:] = [[1, 1], [1, 1 + EPSILON[dtype]]]
    mat, side = (sz.cast(sz.tensor(x), dtype) for x in (array, np.ones(n)))
    for adjoined in (False, True):
        with pytest.raises(sz.InvalidArgument, match="singular to the precision"):
            sz.solve(mat, side, adjoined)


@pytest.mark.parametrize("dtype", OWN, ids=str)
def test_badly_scaled_is_not_singular(dtype: sz.DType) -> None:
    """Rows and columns of very different size: each is as right as if they were alike."""
    power = 30 if EPSILON[dtype] > 1e-10 else 250
    n = 4
    core = well_conditioned((n, n), dtype)
    b = random((n, 2), dtype, 3)
    truth = np.linalg.solve(core, b)
    for r, c in [(power, 0), (0, power), (power, -power), (power, power)]:
        rows, cols = 2.0 ** (np.linspace(-r, r, n) // 1), 2.0 ** (np.linspace(c, -c, n) // 1)
        a = sz.cast(sz.tensor(core * rows[:, None] * cols), dtype)
        sides = sz.cast(sz.tensor(b * rows[:, None]), dtype)
        for more in (False, True):
            a, sides = (sz.stack([a, a], 0), sz.stack([sides, sides], 0)) if more else (a, sides)
            found = values(sz.solve(a, sides, False)) * cols[:, None]
            assert_small(found - truth, 200 * EPSILON[dtype], "scaled")
            turned = values(sz.solve(sz.transpose(a, (1, 0)), sides, True)) if not more else None
            if turned is not None and dtype.kind == "float":
                assert_small(turned * cols[:, None] - truth, 200 * EPSILON[dtype], "turned")
            inverse = values(sz.inverse(a)) * cols[:, None] * rows
            assert_small(inverse - np.linalg.inv(core), 200 * EPSILON[dtype], "inverse")
    diagonal = sz.cast(sz.tensor(np.diag([1.0, 2.0**-power])), dtype)
    assert values(sz.inverse(diagonal)).tolist() == [[1, 0], [0, 2.0**power]]


def test_the_ends_of_the_range() -> None:
    a = sz.tensor(np.eye(3) * 1.5e308 + np.ones((3, 3)) * 1e308 / 4)  # row sums overflow
    found = values(sz.inverse(a))
    assert_small(found @ (values(a) / 1e308) * 1e308 - np.eye(3), 1e-14, "huge")
    tiny = sz.tensor(np.diag([5e-324, 1.0]))
    with pytest.raises(sz.InvalidArgument, match="exceeds the range of float64"):
        sz.inverse(tiny)
    with pytest.raises(sz.InvalidArgument, match="exceeds the range of float64"):
        sz.solve(sz.tensor([[1e-200]], sz.float64), sz.tensor([1e200], sz.float64), False)


# ---- least squares ------------------------------------------------------------------------------


def test_the_machine_epsilon_is_that_of_the_dtype() -> None:
    """E123: what float32 takes for zero, float64 does not."""
    a = np.diag([1.0, 1e-10])
    b = np.array([1.0, 1.0])
    assert sz.lstsq(sz.tensor(a, sz.float32), sz.tensor(b, sz.float32)).tolist() == [1, 0]
    assert_small(values(sz.lstsq(sz.tensor(a), sz.tensor(b))) - [1, 1e10], 1e-4, "float64")
    for dtype in OWN:  # four times it is no zero
        small = sz.cast(sz.tensor(np.diag([1.0, 4 * EPSILON[dtype]])), dtype)
        found = values(sz.lstsq(small, sz.cast(sz.tensor(b), dtype)))
        assert_small(found - [1, 0.25 / EPSILON[dtype]], 1e-3 / EPSILON[dtype], "just above")
    c = np.diag([1.0, 2e-4])
    assert sz.lstsq(sz.tensor(c, sz.float16), sz.tensor(b, sz.float16)).tolist() == [1, 0]
    assert sz.lstsq(sz.tensor(c, sz.float16), sz.tensor(b, sz.float16), 1e-5).tolist()[1] > 4000


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_narrow_dtypes_are_rounded_once(dtype: sz.DType) -> None:
    compute = sz.complex64 if dtype.kind == "complex" else sz.float32
    a = sz.cast(sz.tensor(well_conditioned((5, 5), dtype)), dtype)
    b = sz.cast(sz.tensor(random((5, 2), dtype)), dtype)
    wide_a, wide_b = sz.cast(a, compute), sz.cast(b, compute)
    for found, wider in [
        (sz.solve(a, b, True), sz.solve(wide_a, wide_b, True)),
        (sz.inverse(a), sz.inverse(wide_a)),
        (sz.lstsq(a, b, 1e-3), sz.lstsq(wide_a, wide_b, 1e-3)),
    ]:
        np.testing.assert_array_equal(values(found), values(sz.cast(wider, dtype)))


def test_operands_are_promoted() -> None:
    a, b = sz.tensor([[2, 0], [0, 4]], sz.int32), sz.tensor([1, 1], sz.float16)
    assert sz.solve(a, b, False).dtype is sz.promote_types(sz.int32, sz.float16)
    assert sz.solve(a, sz.cast(b, sz.complex64), False).dtype is sz.complex64
    assert sz.lstsq(a, sz.cast(b, sz.int64)).dtype is sz.float32
    assert sz.inverse(a).tolist() == [[0.5, 0], [0, 0.25]]
    with sz.promotion("strict"), pytest.raises(sz.InvalidArgument):
        sz.solve(a, b, False)  # the clause lists no TYPE_MISMATCH
    with sz.promotion("numpy"):
        assert sz.solve(a, sz.tensor([1, 1], sz.int8), False).dtype is sz.float64
    # 2049 is 2048 in float16, before anything is computed.
    odd = sz.tensor([[2049]], sz.int32)
    assert sz.solve(odd, sz.tensor([2048], sz.float16), False).tolist() == [1]


@settings(max_examples=60)
@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.integers(0, 3),
    st.lists(st.integers(1, 3), max_size=2),
    st.sampled_from(OWN),
    st.integers(0, 50),
)
def test_least_squares_of_any_shape(
    m: int, n: int, k: int, batch: list[int], dtype: sz.DType, seed: int
) -> None:
    a = sz.cast(sz.tensor(random((*batch, m, n), dtype, seed)), dtype)
    b = sz.cast(sz.tensor(random((m, k), dtype, seed + 1)), dtype)
    found = sz.lstsq(a, b)
    assert found.shape == (*batch, n, k)
    # The residual is orthogonal to every column, and the solution to all that maps to zero.
    residual = values(a) @ values(found) - values(b)
    size = max(1.0, float(np.abs(values(found)).max(initial=0)))
    assert_small(adjoint(values(a)) @ residual, 3000 * EPSILON[dtype] * size, "normal equations")
