"""7.2.17.7 to .9: solve, lstsq and inverse: residuals, singular matrices, minimum norms."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers.matrices import (
    EPSILON,
    EVERY,
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


@pytest.mark.parametrize("dtype", EVERY, ids=str)
@pytest.mark.parametrize("adjoined", [False, True])
def test_solutions_solve(dtype: sz.DType, adjoined: bool) -> None:
    for shape, sides in [
        ((20, 20), (20, 1)),
        ((33, 33), (33, 5)),
        ((2, 3, 4, 4), (2, 3, 4, 2)),
        ((3, 18, 18), (2, 1, 18, 2)),
        ((18, 18), (3, 18, 2)),
    ]:
        a = sz.cast(sz.tensor(well_conditioned(shape, dtype)), dtype)
        b = sz.cast(sz.tensor(random(sides, dtype, 1)), dtype)
        check_solve(a, b, adjoined)


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


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_inverses(dtype: sz.DType) -> None:
    for shape in [(7, 7), (24, 24), (2, 3, 4, 4), (2, 18, 18)]:
        a = sz.cast(sz.tensor(well_conditioned(shape, dtype)), dtype)
        found = sz.inverse(a)
        assert (found.dtype, found.shape) == (dtype, shape)
        limit = 60 * shape[-1] * EPSILON[dtype]
        assert_small(values(found) @ values(a) - np.eye(shape[-1]), limit, "left")
        assert_small(values(a) @ values(found) - np.eye(shape[-1]), limit, "right")


def hilbert(n: int) -> Array:
    return np.array([[1 / (i + j + 1) for j in range(n)] for i in range(n)])


def test_an_ill_conditioned_matrix_is_solved() -> None:
    """Hilbert's 8 by 8 matrix, of condition 3e10: its inverse is known, in integers."""
    n = 8
    exact = np.array(mpmath.inverse(mpmath.matrix(
        [[mpmath.mpf(1) / (i + j + 1) for j in range(n)] for i in range(n)]
    )).tolist(), float).reshape(n, n)  # fmt: skip
    for a in (sz.tensor(hilbert(n)), sz.tensor(np.stack([hilbert(n)] * 3))):
        found = values(sz.inverse(a))
        assert np.abs(found / exact - 1).max() < 1e-5
        b = sz.tensor(np.ones(n))
        check_solve(a, b, False)
    # As far as one can go: up to a condition of 1 / epsilon.
    for dtype in OWN:
        s = (30 * EPSILON[dtype]) ** (np.arange(6) / 5)
        a = sz.cast(sz.tensor(with_singular_values(s, 6, 6, dtype)), dtype)
        check_solve(a, sz.cast(sz.tensor(random((6,), dtype)), dtype), False)


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


def test_near_singular_small_matrices_in_batches_are_found() -> None:
    """Every pattern of integers of rank 2, beside regular ones, is noticed whatever the rhs."""
    rng = np.random.default_rng(5)
    regular = rng.standard_normal((20, 4, 4)) + 4 * np.eye(4)
    for dtype in (sz.float64, sz.float32):
        for _ in range(40):
            low = rng.integers(-9, 10, (4, 3)) @ rng.integers(-9, 10, (3, 4))
            batch = regular.copy()
            batch[7] = low
            a = sz.cast(sz.tensor(batch), dtype)
            b = sz.cast(sz.tensor(batch @ np.ones(4)), dtype)
            with pytest.raises(sz.InvalidArgument, match=r"mat at \[7\] is singular"):
                sz.solve(a, sz.expand_dims(b, 2), False)


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


def test_small_ones_do_not_depend_on_the_threads() -> None:
    a = sz.tensor(well_conditioned((3000, 3, 3), sz.float32))
    b = sz.tensor(random((3000, 3, 2), sz.float32))
    before = sz.get_num_threads()
    found = []
    try:
        for count in (1, 3):
            sz.set_num_threads(count)
            found.append([values(x).tolist() for x in (sz.solve(a, b, True), sz.inverse(a))])
    finally:
        sz.set_num_threads(before)
    assert found[0] == found[1]
    spoilt = values(a)
    spoilt[[1234, 2345], :] = 1  # the first of them is named, whichever was found first
    with pytest.raises(sz.InvalidArgument, match=r"mat at \[1234\] is singular"):
        sz.inverse(sz.tensor(spoilt))


# ---- least squares ------------------------------------------------------------------------------


def truth_of(a: Array, b: Array, cut: float) -> Array:
    """Return the shortest least-squares solution by the definition."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    keep = s >= cut * s[0] if len(s) else s > 0
    u, s, vh = u[:, keep & (s > 0)], s[keep & (s > 0)], vh[keep & (s > 0)]
    found: Array = adjoint(vh) @ ((adjoint(u) @ b) / s[:, None])
    return found


@pytest.mark.parametrize("dtype", [*EVERY], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (4, 4), (30, 18), (18, 30), (25, 25)])
def test_least_squares(dtype: sz.DType, shape: tuple[int, int]) -> None:
    m, n = shape
    k = min(m, n)
    b = random((m, 2), dtype, 9)
    good = with_singular_values(np.linspace(2, 1, k), m, n, dtype)
    low = with_singular_values(np.r_[np.linspace(2, 1, (k + 1) // 2)], m, n, dtype)
    for cut, a in ((None, good), (0.05, low), (0.05, good)):
        x = sz.cast(sz.tensor(a), dtype)
        y = sz.cast(sz.tensor(b), dtype)
        found = sz.lstsq(x, y, cut)
        assert (found.dtype, found.shape) == (dtype, (n, 2))
        if EPSILON[dtype] > 0.01:  # a singular value of such rounding is no longer small
            continue
        expected = truth_of(values(x), values(y), EPSILON[dtype] if cut is None else cut)
        assert_small(values(found) - expected, 60 * n * EPSILON[dtype], "lstsq")
        one = sz.lstsq(x, y[:, 0], cut)
        assert one.shape == (n,)
        assert_small(values(one) - expected[:, 0], 60 * n * EPSILON[dtype], "lstsq of one")


@pytest.mark.parametrize("dtype", OWN, ids=str)
def test_the_cut_decides_what_is_zero(dtype: sz.DType) -> None:
    for m, n in ((6, 4), (4, 6), (24, 20), (20, 24)):
        k = min(m, n)
        s = np.geomspace(1, 1e-3, k)
        a = with_singular_values(s, m, n, dtype)
        b = random((m, 1), dtype, 4)
        x, y = sz.cast(sz.tensor(a), dtype), sz.cast(sz.tensor(b), dtype)
        many = sz.stack([x, x], 0)
        for cut in (0, 1e-5, 2e-3, 0.02, 0.3, 0.999, 1.5):
            expected = truth_of(values(x), values(y), cut)
            limit = 3e6 * EPSILON[dtype]  # the condition, squared
            assert_small(values(sz.lstsq(x, y, cut)) - expected, limit, f"{m, n, cut}")
            assert_small(values(sz.lstsq(many, y, cut))[1] - expected, limit, f"many {cut}")
        assert (values(sz.lstsq(x, y, 1.5)) == 0).all()


def test_the_machine_epsilon_is_that_of_the_dtype() -> None:
    """E123: what float32 takes for zero, float64 does not."""
    a = np.diag([1.0, 1e-10])
    b = np.array([1.0, 1.0])
    assert sz.lstsq(sz.tensor(a, sz.float32), sz.tensor(b, sz.float32)).tolist() == [1, 0]
    assert_small(values(sz.lstsq(sz.tensor(a), sz.tensor(b))) - [1, 1e10], 1e-4, "float64")
    c = np.diag([1.0, 2e-4])
    assert sz.lstsq(sz.tensor(c, sz.float16), sz.tensor(b, sz.float16)).tolist() == [1, 0]
    assert sz.lstsq(sz.tensor(c, sz.float16), sz.tensor(b, sz.float16), 1e-5).tolist()[1] > 4000


def test_a_zero_matrix_gives_zero() -> None:
    for shape in [(3, 3), (20, 5), (5, 20), (2, 3, 3)]:
        zero = sz.zeros(shape, sz.float64)
        found = sz.lstsq(zero, sz.tensor(np.ones(shape[-2])))
        assert (values(found) == 0).all()


@pytest.mark.parametrize("dtype", [sz.float32, sz.complex32], ids=str)
def test_without_elements(dtype: sz.DType) -> None:
    def zeros(*shape: int) -> sz.Tensor:
        return sz.zeros(shape, dtype)

    def shape(x: sz.Tensor) -> tuple[int, ...]:
        assert x.dtype is dtype
        assert (values(x) == 0).all()
        return x.shape

    assert shape(sz.inverse(zeros(0, 0))) == (0, 0)
    assert shape(sz.inverse(zeros(0, 3, 3))) == (0, 3, 3)
    assert shape(sz.inverse(zeros(2, 0, 0))) == (2, 0, 0)
    assert shape(sz.solve(zeros(0, 0), zeros(0), False)) == (0,)
    assert shape(sz.solve(zeros(0, 0), zeros(0, 3), True)) == (0, 3)
    assert shape(sz.solve(zeros(0, 2, 2), zeros(2, 3), False)) == (0, 2, 3)
    assert shape(sz.solve(zeros(2, 0, 0), zeros(1, 0, 3), False)) == (2, 0, 3)
    identity = sz.cast(sz.tensor(np.eye(2)), dtype)
    assert shape(sz.solve(identity, zeros(2, 0), False)) == (2, 0)
    with pytest.raises(sz.InvalidArgument, match="singular"):  # though nothing is asked of it
        sz.solve(zeros(2, 2), zeros(2, 0), False)
    assert shape(sz.lstsq(zeros(0, 3), zeros(0, 2))) == (3, 2)
    assert shape(sz.lstsq(zeros(3, 0), zeros(3, 2))) == (0, 2)
    assert shape(sz.lstsq(zeros(3, 2), zeros(3, 0))) == (2, 0)
    assert shape(sz.lstsq(zeros(0, 3, 2), zeros(3))) == (0, 2)
    assert shape(sz.lstsq(zeros(4, 0, 2), zeros(0))) == (4, 2)


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
