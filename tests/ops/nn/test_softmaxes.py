"""Softmaxes: accuracy at the edges of vectors and parts, threads, batches, layouts and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, same_bits, threads
from suanzi import _core
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
MANTISSA = {
    "float16": (10, -24),
    "bfloat16": (7, -133),
    "float32": (23, -149),
    "float64": (52, -1074),
}
WORST = {"float16": 0.51, "bfloat16": 0.51, "float32": 2.6, "float64": 4.0}
SIZES = [1, 15, 16, 17, 63, 65, 255, 4095, 4097, 9000]


def made(dtype: str, *shape: int, scale: float = 4.0, seed: int = 0) -> sz.Tensor:
    x = np.random.default_rng([seed, *shape]).standard_normal(shape) * scale
    return sz.cast(sz.tensor(x), dtype)


def exact(x: sz.Tensor) -> Array:
    return np.asarray(sz.cast(x, sz.float64)).astype(np.longdouble)


def worst_ulp(got: sz.Tensor, want: Array) -> float:
    """Return the largest error in units of the last place of the exact answer."""
    digits, least = MANTISSA[got.dtype.name]
    place = np.ldexp(np.longdouble(1), np.maximum(np.frexp(want)[1] - 1 - digits, least))
    return float(np.max(np.abs(exact(got) - want) / place, initial=0))


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x: Array) -> Array:
    """Return it with all digits where one element is larger than all others, too."""
    above = np.sort(x - x.max(-1, keepdims=True), -1)
    return x - x.max(-1, keepdims=True) - np.log1p(np.exp(above[:, :-1]).sum(-1, keepdims=True))


@pytest.mark.parametrize("dtype", MANTISSA)
@pytest.mark.parametrize("name", _core.levels())
def test_accuracy(name: str, dtype: str) -> None:
    """Within half a place of 16-bit floats, and about two of float32, at every level."""
    with at_level(name):
        for n in SIZES:
            x = made(dtype, 3, n)
            given = exact(x)
            found = [worst_ulp(sz.nn.softmax(x), softmax(given))]
            found += [worst_ulp(sz.nn.log_softmax(x), log_softmax(given))]
            total = np.log(np.exp(given - 1).sum(-1)) + 1
            found += [worst_ulp(sz.nn.logsumexp(x), total) if n > 1 else 0.0]
            assert max(found) <= WORST[dtype], (n, found)


@pytest.mark.parametrize("dtype", MANTISSA)
def test_log_softmax_of_a_certain_row(dtype: str) -> None:
    """Where one element has nearly all of the sum, its logarithm has all digits."""
    for above in (3.0, 6.0, 8.0, 10.0):
        x = np.random.default_rng(1).uniform(-1, 1, (4, 40))
        x[:, 7] += above + 3
        given = sz.cast(sz.tensor(x), dtype)
        assert worst_ulp(sz.nn.log_softmax(given), log_softmax(exact(given))) <= WORST[dtype]


@pytest.mark.parametrize("dtype", MANTISSA)
def test_gradients(dtype: str) -> None:
    unit = 2.0 ** -MANTISSA[dtype][0]
    for shape, axis in (((3, 5), 1), ((4, 65, 3), 1), ((17, 20), 0), ((2, 4097), 1)):
        x, g = made(dtype, *shape), made(dtype, *shape, scale=1.0, seed=1)
        y, grad = softmax(exact(x), axis), exact(g)
        shape_kept = tuple(n for a, n in enumerate(shape) if a != axis)
        one = made(dtype, *shape_kept, seed=2)
        for got, want in (
            (sz.nn.softmax_bwd(g, x, axis), y * (grad - (grad * y).sum(axis, keepdims=True))),
            (sz.nn.log_softmax_bwd(g, x, axis), grad - y * grad.sum(axis, keepdims=True)),
            (sz.nn.logsumexp_bwd(one, x, axis), y * np.expand_dims(exact(one), axis)),
        ):
            assert np.max(np.abs(exact(got) - want)) <= 2 * unit * np.max(np.abs(want))


CALLS = {
    "softmax": sz.nn.softmax,
    "log_softmax": sz.nn.log_softmax,
    "logsumexp": sz.nn.logsumexp,
    "softmax_bwd": lambda x: sz.nn.softmax_bwd(x, x),
    "log_softmax_bwd": lambda x: sz.nn.log_softmax_bwd(x, x),
}


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_same_bits_in_any_batch(name: str, dtype: str) -> None:
    """A row gives the same bits alone, among others, on more threads, and when they share it."""
    call = CALLS[name]
    for rows, n in ((40, 700), (2, 70_001)):
        x = made(dtype, rows, n)
        with threads(1):
            alone = [call(x[i : i + 1]) for i in range(rows)]
            together = call(x)
        for i in range(rows):
            assert same_bits(np.asarray(alone[i]), np.asarray(together[i : i + 1]))
        for count in (2, 3, 7):
            with threads(count):
                assert same_bits(np.asarray(call(x)), np.asarray(together))
                assert same_bits(np.asarray(call(x[1:2])), np.asarray(alone[1]))


@pytest.mark.parametrize("dtype", MANTISSA)
@pytest.mark.parametrize("shape", [(20, 33), (70, 3), (5, 300), (1, 9)])
def test_layouts(shape: tuple[int, int], dtype: str) -> None:
    """Columns are as accurate as rows; steps and reversed rows are those of a dense copy."""
    x, g = made(dtype, *shape), made(dtype, *shape, seed=1)
    columns = _core.row_major_copy(permuted(x, (1, 0)))
    grads = _core.row_major_copy(permuted(g, (1, 0)))
    for f, truth in ((sz.nn.softmax, softmax), (sz.nn.log_softmax, log_softmax)):
        found = f(columns, 0)
        # float64 adds up without its errors there.
        assert worst_ulp(found, truth(exact(x)).T) <= WORST[dtype] + 16 * (dtype == "float64")
        assert same_bits(np.asarray(f(permuted(columns, (1, 0)))), np.asarray(found).T)
        for part in (x[::-1, ::-1], x[:, ::2]):
            assert same_bits(np.asarray(f(part)), np.asarray(f(_core.row_major_copy(part))))
    back = np.asarray(sz.nn.softmax_bwd(g, x))
    assert same_bits(np.asarray(sz.nn.softmax_bwd(grads, columns, 0)).T, back)
    assert same_bits(np.asarray(sz.nn.softmax_bwd(permuted(grads, (1, 0)), x)), back)
    assert same_bits(np.asarray(sz.nn.logsumexp(columns, 0)), np.asarray(sz.nn.logsumexp(x)))


@pytest.mark.parametrize("dtype", MANTISSA)
def test_columns_in_any_batch(dtype: str) -> None:
    """A column has the same bits next to others, in another batch and on more threads."""
    x = made(dtype, 3, 40, 600)
    for f in (sz.nn.softmax, sz.nn.log_softmax):
        with threads(1):
            whole = np.asarray(f(x, 1))
            assert same_bits(np.asarray(f(x[1:2], 1)), whole[1:2])
            assert same_bits(np.asarray(f(x[:, :, 31:78], 1)), whole[:, :, 31:78].copy())
        with threads(3):
            assert same_bits(np.asarray(f(x, 1)), whole)


@pytest.mark.parametrize("dtype", MANTISSA)
def test_a_row_does_not_reach_another(dtype: str) -> None:
    for axis in (0, 1):
        plain = made(dtype, 40, 40)
        x = np.asarray(sz.cast(plain, sz.float64)).copy()
        x[3, 3], x[5, 5], x[7, 7] = np.nan, np.inf, -np.inf
        spoilt = sz.cast(sz.tensor(x), dtype)
        for f in (sz.nn.softmax, sz.nn.log_softmax):
            got, want = (np.moveaxis(np.asarray(f(t, axis)), axis, 1) for t in (spoilt, plain))
            others = [i for i in range(40) if i not in (3, 5, 7)]
            assert same_bits(np.ascontiguousarray(got[others]), np.ascontiguousarray(want[others]))
            assert np.isnan(got[[3, 5]].astype(np.float64)).all()
            assert np.isfinite(np.delete(got[7].astype(np.float64), 7)).all()


def test_special_rows() -> None:
    inf = np.inf
    x = sz.tensor([[-inf, -inf], [inf, 1], [-inf, 1], [np.nan, inf]], sz.float32)
    assert np.isnan(np.asarray(sz.nn.softmax(x))[[0, 1, 3]]).all()
    assert sz.nn.softmax(x)[2].tolist() == [0, 1]
    assert sz.nn.log_softmax(x)[2].tolist() == [-inf, 0]
    assert str(sz.nn.logsumexp(x).tolist()) == "[-inf, inf, 1.0, nan]"
    assert sz.nn.logsumexp(sz.zeros((2, 0), sz.float32)).tolist() == [-inf, -inf]
    assert sz.nn.softmax(sz.zeros((3, 0), sz.float32)).shape == (3, 0)
    large = sz.tensor([3e38, -3e38], sz.float32)
    assert sz.nn.softmax(large).tolist() == [1, 0]


ERRORS = [
    (lambda x: sz.nn.softmax(x, 2), "InvalidArgument", "axis is 2; it must be -2 to 1"),
    (lambda x: sz.nn.softmax(x, 0.5), "InvalidArgument", "axis is 0.5; it must be an integer"),
    (lambda x: sz.nn.softmax(sz.tensor(1.0)), "InvalidArgument", "x has no axes"),
    (lambda x: sz.nn.softmax(sz.tensor([1j])), "TypeMismatch", "complex"),
    (lambda x: sz.nn.logsumexp(x, keep_dims=1), "InvalidArgument", "keep_dims is 1"),
    (lambda x: sz.nn.softmax_bwd(x[:1], x), "DimensionsMismatch", r"out_grad has shape \(1, 3\)"),
    (lambda x: sz.nn.logsumexp_bwd(x, x), "DimensionsMismatch", r"it must be \(2,\)"),
]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Any, error: str, words: str) -> None:
    with pytest.raises(getattr(sz, error), match=words):
        call(sz.zeros((2, 3), sz.float32))


def test_float8_and_integers() -> None:
    x = sz.cast(sz.tensor([[0.0, 1.0, 2.0]]), sz.float8_e5m2)
    assert sz.nn.softmax(x).dtype is sz.float8_e5m2
    wide = sz.nn.softmax(sz.cast(x, sz.float32))
    assert sz.nn.softmax(x).tolist() == sz.cast(wide, sz.float8_e5m2).tolist()
    assert sz.nn.softmax(sz.tensor([1, 1], sz.int32)).tolist() == [0.5, 0.5]
