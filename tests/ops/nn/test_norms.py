"""Norms: accuracy at the edges of vectors and parts, threads, batches, layouts and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, same_bits, threads
from suanzi import _core
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
MANTISSA = {"float16": (10, -24), "bfloat16": (7, -133), "float32": (23, -149)}
WORST = {"float16": 0.51, "bfloat16": 0.51, "float32": 3.0}
SIZES = [1, 15, 16, 17, 63, 65, 255, 4095, 4097, 9000]
DTYPES = ["bfloat16", "float32", "float64"]


def made(dtype: str, *shape: int, centre: float = 0.0, seed: int = 0) -> sz.Tensor:
    x = np.random.default_rng([seed, *shape]).standard_normal(shape) + centre
    return sz.cast(sz.tensor(x), dtype)


def exact(x: sz.Tensor) -> Array:
    return np.asarray(sz.cast(x, sz.float64)).astype(np.longdouble)


def worst_ulp(got: sz.Tensor, want: Array) -> float:
    """Return the largest error in units of the last place of the exact answer."""
    digits, least = MANTISSA[got.dtype.name]
    place = np.ldexp(np.longdouble(1), np.maximum(np.frexp(want)[1] - 1 - digits, least))
    return float(np.max(np.abs(exact(got) - want) / place, initial=0))


def standard(x: Array, axes: Any = -1, eps: float = 1e-5, centred: bool = True) -> Array:
    d = x - x.mean(axes, keepdims=True) if centred else x
    return np.asarray(d / np.sqrt((d * d).mean(axes, keepdims=True) + np.longdouble(eps)))


@pytest.mark.parametrize("dtype", MANTISSA)
@pytest.mark.parametrize("name", _core.levels())
def test_accuracy(name: str, dtype: str) -> None:
    """Within half a place of 16-bit floats, about two of float32; far from zero, too."""
    with at_level(name):
        for n in SIZES:
            for centre in (0.0, 50.0):
                x, w = made(dtype, 3, n, centre=centre), made(dtype, n, seed=1)
                given, by = exact(x), exact(w)
                found = {
                    "layer": worst_ulp(sz.nn.layer_norm(x, n, w), standard(given) * by),
                    "rms": worst_ulp(
                        sz.nn.rms_norm(x, n, w, offset=2.0),
                        standard(given, centred=False) * (by + 2),
                    ),
                    "length": worst_ulp(
                        sz.nn.normalize(x), given / np.sqrt((given * given).sum(1, keepdims=True))
                    ),
                }
                if n == 1:
                    del found["layer"]  # 0, of which no place is known
                assert max(found.values()) <= WORST[dtype], (n, centre, found)


def test_constant_rows_are_zero() -> None:
    """The mean of equal numbers is that number: nothing is left, and no square of it."""
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        for n in SIZES:
            x = sz.cast(sz.full("float64", "cpu", (2, n), 0.1), dtype)
            assert np.all(exact(sz.nn.layer_norm(x, n, eps=1e-30)) == 0)


def test_squares_beyond_float32() -> None:
    """Squares that overflow or vanish in float32 are those of float64."""
    for scale in (1e30, 1e-30):
        x = made("float32", 3, 100) * sz.tensor(scale, sz.float32)
        given = exact(x)
        for got, want in (
            (sz.nn.rms_norm(x, 100, eps=0), standard(given, eps=0, centred=False)),
            (sz.nn.normalize(x, eps=0), given / np.sqrt((given * given).sum(1, keepdims=True))),
        ):
            assert worst_ulp(got, want) <= 2.2
        assert abs(float(sz.nn.cosine_similarity(x, x, eps=0)[0]) - 1) < 1e-6


def test_groups_and_batches() -> None:
    """Groups, instances and batches are layers of other axes; tested with the formula."""
    for dtype, most in (("bfloat16", 2e-2), ("float32", 1e-5), ("float64", 1e-13)):
        for shape in ((3, 6, 37), (2, 4, 5, 9), (33, 6)):
            x, w, b = (
                made(dtype, *s, seed=i) for i, s in enumerate((shape, shape[1:2], shape[1:2]))
            )
            given, ones = exact(x), (shape[1], *[1] * (len(shape) - 2))
            by, plus = exact(w).reshape(ones), exact(b).reshape(ones)
            grouped = standard(given.reshape(shape[0], 2, -1)).reshape(shape)
            axes = tuple(a for a in range(len(shape)) if a != 1)
            y, mean, var = sz.nn.batch_norm(x, None, None, w, b, True, unbiased=False)
            for got, want in (
                (sz.nn.group_norm(x, 2, w, b), grouped * by + plus),
                (y, standard(given, axes) * by + plus),
                (mean, given.mean(axes)),
                (var, given.var(axes)),
                (sz.nn.batch_norm(x, mean, var, w), exact_inference(given, mean, var) * by),
            ):
                assert np.max(np.abs(exact(got) - want)) <= most * max(1, np.max(np.abs(want)))


def exact_inference(x: Array, mean: sz.Tensor, var: sz.Tensor) -> Array:
    ones = (x.shape[1], *[1] * (x.ndim - 2))
    root = np.sqrt(exact(var) + np.longdouble(1e-5))
    return np.asarray((x - exact(mean).reshape(ones)) / root.reshape(ones))


def test_running_statistics() -> None:
    """The batch's share is `momentum`; the running variance is divided by n - 1."""
    x = sz.tensor([[1.0], [3.0], [5.0]])
    old = sz.tensor([10.0]), sz.tensor([20.0])
    _, mean, var = sz.nn.batch_norm(x, *old, training=True, momentum=0.25)
    assert (mean.tolist(), var.tolist()) == ([8.25], [16.0])
    assert [t.tolist() for t in old] == [[10.0], [20.0]]
    _, mean, var = sz.nn.batch_norm(x, training=True, unbiased=False)
    assert np.allclose([mean.item(), var.item()], [3, 8 / 3])


GRADIENTS: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[tuple[int, ...]]]] = {
    "layer_norm": (
        lambda x, w, b: sz.nn.layer_norm(x, (3, 20), w, b),
        lambda g, x, w, b: sz.nn.layer_norm_bwd(g, x, (3, 20), w, b),
        [(4, 3, 20), (3, 20), (3, 20)],
    ),
    "rms_norm": (
        lambda x, w: sz.nn.rms_norm(x, 70, w, offset=1.0),
        lambda g, x, w: sz.nn.rms_norm_bwd(g, x, 70, w, offset=1.0),
        [(3, 70), (70,)],
    ),
    "group_norm": (
        lambda x, w, b: sz.nn.group_norm(x, 2, w, b),
        lambda g, x, w, b: sz.nn.group_norm_bwd(g, x, 2, w, b),
        [(2, 4, 19), (4,), (4,)],
    ),
    "instance_norm": (sz.nn.instance_norm, sz.nn.instance_norm_bwd, [(2, 3, 17), (3,), (3,)]),
    "batch_norm": (
        lambda x, w, b: sz.nn.batch_norm(x, None, None, w, b, True)[0],
        lambda g, x, w, b: sz.nn.batch_norm_bwd(g, x, None, None, w, b, True),
        [(4, 3, 5), (3,), (3,)],
    ),
    "normalize": (sz.nn.normalize, sz.nn.normalize_bwd, [(3, 33)]),
    "normalize, p = 1": (
        lambda x: sz.nn.normalize(x, 1.0, 0),
        lambda g, x: sz.nn.normalize_bwd(g, x, 1.0, 0),
        [(5, 3)],
    ),
    "normalize, p = 3": (
        lambda x: sz.nn.normalize(x, 3.0),
        lambda g, x: sz.nn.normalize_bwd(g, x, 3.0),
        [(2, 7)],
    ),
    "cosine_similarity": (
        sz.nn.cosine_similarity,
        sz.nn.cosine_similarity_bwd,
        [(1, 18), (3, 18)],
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_differences(name: str) -> None:
    """The gradients are those of differences of the forward operator in float64."""
    forward, backward, shapes = GRADIENTS[name]
    operands = [made("float64", *shape, seed=i) for i, shape in enumerate(shapes)]
    g = made("float64", *forward(*operands).shape, seed=9)
    found = backward(g, *operands)
    step = 1e-6
    for i, got in enumerate(found if isinstance(found, tuple) else (found,)):
        x = np.asarray(operands[i]).copy()
        for at in np.random.default_rng(i).integers(x.size, size=12):
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved.flat[at] += sign * step
                y = forward(*operands[:i], sz.tensor(moved), *operands[i + 1 :])
                ends.append(float((np.asarray(y) * np.asarray(g)).sum()))
            slope = (ends[0] - ends[1]) / (2 * step)
            assert abs(np.asarray(got).flat[at] - slope) < 1e-7 * max(1, abs(slope))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_narrow_dtypes(name: str, dtype: str) -> None:
    """They are those of float64, rounded."""
    _, backward, shapes = GRADIENTS[name]
    forward = GRADIENTS[name][0]
    operands = [made(dtype, *shape, seed=i) for i, shape in enumerate(shapes)]
    g = made(dtype, *forward(*operands).shape, seed=9)
    found = backward(g, *operands)
    wanted = backward(*(sz.cast(x, sz.float64) for x in (g, *operands)))
    unit = 2.0 ** -MANTISSA[dtype][0]
    for got, want in zip(
        found if isinstance(found, tuple) else (found,),
        wanted if isinstance(wanted, tuple) else (wanted,),
        strict=True,
    ):
        assert got.dtype.name == dtype
        scale = np.max(np.abs(exact(want)))
        assert np.max(np.abs(exact(got) - exact(want))) <= 4 * unit * scale


BY_ROW: dict[str, Callable[[sz.Tensor], Any]] = {
    "layer_norm": lambda x: sz.nn.layer_norm(x, x.shape[-1]),
    "rms_norm": lambda x: sz.nn.rms_norm(x, x.shape[-1]),
    "group_norm": lambda x: sz.nn.group_norm(x, 1),
    "normalize": sz.nn.normalize,
    "cosine_similarity": lambda x: sz.nn.cosine_similarity(x, x[:, ::-1]),
    "layer_norm_bwd": lambda x: sz.nn.layer_norm_bwd(x, x, x.shape[-1]),
    "normalize_bwd": lambda x: sz.nn.normalize_bwd(x, x),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BY_ROW)
def test_same_bits_in_any_batch(name: str, dtype: str) -> None:
    """A row gives the same bits alone, among others, on more threads, and when they share it."""
    call = BY_ROW[name]
    for rows, n in ((40, 700), (2, 70_001)):
        x = made(dtype, rows, n)
        with threads(1):
            together = np.asarray(call(x))
            for i in range(0, rows, 13):
                assert same_bits(np.asarray(call(x[i : i + 1])), together[i : i + 1])
        for count in (2, 3, 7):
            with threads(count):
                assert same_bits(np.asarray(call(x)), together)
                assert same_bits(np.asarray(call(x[1:2])), together[1:2])


@pytest.mark.parametrize("name", [n for n in GRADIENTS if "norm" in n])
def test_same_bits_on_any_threads(name: str) -> None:
    """The gradients of weights are sums over 500 rows; float64 shows every rounding."""
    forward, backward, shapes = GRADIENTS[name]
    wide = [(500, *shapes[0][1:]), *shapes[1:]]
    operands = [made("float64", *s, seed=i) for i, s in enumerate(wide)]
    g = made("float64", *forward(*operands).shape, seed=9)
    found = []
    for count in (1, 2, 5):
        with threads(count):
            now = backward(g, *operands)
            found.append(now if isinstance(now, tuple) else (now,))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert same_bits(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_in_any_layout(dtype: str) -> None:
    x, w = made(dtype, 12, 33), made(dtype, 66, seed=1)[::2]
    turned = permuted(_core.row_major_copy(permuted(x, (1, 0))), (1, 0))
    dense = _core.row_major_copy(w)
    for f in (
        lambda t, w: sz.nn.layer_norm(t, 33, w, w),
        lambda t, w: sz.nn.rms_norm(t, 33, w),
        lambda t, w: sz.nn.batch_norm(t, None, None, w, w, True)[0],
        lambda t, w: sz.nn.normalize(t, axis=1),
        lambda t, w: sz.nn.layer_norm_bwd(t, t, 33, w)[1],
    ):
        assert same_bits(np.asarray(f(turned, w)), np.asarray(f(x, dense)))
    assert same_bits(
        np.asarray(sz.nn.normalize(turned, axis=0)).T,
        np.asarray(sz.nn.normalize(_core.row_major_copy(permuted(x, (1, 0))), axis=1)),
    )


def test_a_row_does_not_reach_another() -> None:
    x = made("bfloat16", 20, 40)
    y = np.asarray(sz.cast(x, sz.float64)).copy()
    y[3, 3], y[5, 5] = np.nan, np.inf
    spoilt = sz.cast(sz.tensor(y), sz.bfloat16)
    for name, call in BY_ROW.items():
        got, want = np.asarray(call(spoilt)), np.asarray(call(x))
        others = [i for i in range(20) if i not in (3, 5)]
        assert same_bits(got[others].copy(), want[others].copy()), name
        assert np.isnan(got[3].astype(np.float64)).any(), name


X = sz.zeros((2, 6, 4), sz.float32)
W = sz.zeros((5,), sz.float32)
ERRORS = [
    (
        lambda: sz.nn.layer_norm(X, 5),
        "DimensionsMismatch",
        "normalized_shape is 5, and x has shape",
    ),
    (lambda: sz.nn.layer_norm(X, ()), "DimensionsMismatch", "at least one"),
    (lambda: sz.nn.layer_norm(X, 4, W), "DimensionsMismatch", r"weight has shape \(5,\)"),
    (lambda: sz.nn.layer_norm(X, 4, eps=-1), "InvalidArgument", "eps is -1; it must be at least 0"),
    (lambda: sz.nn.rms_norm(X, 4, eps=float("nan")), "InvalidArgument", "eps is nan"),
    (lambda: sz.nn.rms_norm(X, 4, offset="1"), "InvalidArgument", "offset is '1'"),
    (lambda: sz.nn.layer_norm_bwd(W, X, 4), "DimensionsMismatch", r"out_grad has shape \(5,\)"),
    (lambda: sz.nn.group_norm(X, 4), "InvalidArgument", "num_groups is 4, and x has 6 channels"),
    (lambda: sz.nn.group_norm(W, 1), "DimensionsMismatch", "x has rank 1"),
    (lambda: sz.nn.batch_norm(X), "InvalidArgument", "running_mean is None"),
    (lambda: sz.nn.batch_norm(X[:1, :, :1], training=True), "InvalidArgument", "1 elements for"),
    (lambda: sz.nn.normalize(X, -1), "InvalidArgument", "p is -1; it must be at least 0"),
    (lambda: sz.nn.normalize(W), "InvalidArgument", "axis is 1; it must be -1 to 0"),
    (lambda: sz.nn.cosine_similarity(X, W), "DimensionsMismatch", "x1"),
    (lambda: sz.nn.layer_norm(sz.tensor([1j]), 1), "TypeMismatch", "complex"),
]


@pytest.mark.parametrize(("call", "error", "words"), ERRORS)
def test_errors(call: Any, error: str, words: str) -> None:
    with pytest.raises(getattr(sz, error), match=words):
        call()


def test_group_norm_needs_a_number_of_groups() -> None:
    x = sz.tensor([[1.0, 3.0]])
    for call in (lambda: sz.nn.group_norm(x, None), lambda: sz.nn.group_norm_bwd(x, x, None)):  # type: ignore[arg-type]
        with pytest.raises(sz.InvalidArgument, match="num_groups is None; it must be an integer"):
            call()
