"""nn 12.2: the gated delta rule: formulas, levels, threads, cuts, layouts, gradients and errors."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact, made, turned
from suanzi import _core

Array = np.ndarray[Any, Any]
BOUND = {"float64": 1e-13, "float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
rule: Any = sz.nn.gated_delta_rule
rule_bwd: Any = sz.nn.gated_delta_rule_bwd
NAMES = ("q", "k", "v", "g", "beta", "initial_state")
# batch, time, key heads, value heads, dk, dv
SIZES = [(2, 5, 2, 4, 8, 3), (1, 70, 1, 2, 17, 37), (1, 1, 2, 6, 16, 32), (3, 33, 1, 1, 1, 1),
         (1, 3, 1, 1, 33, 130), (2, 4, 3, 3, 2, 64)]  # fmt: skip


def ones(shape: tuple[int, ...], dtype: str = "float32") -> sz.Tensor:
    return sz.full(dtype, "cpu", shape, 1)


def operands(dtype: str, sizes: tuple[int, ...]) -> dict[str, sz.Tensor]:
    """Return q, k, v, g, beta and a state; the decays and betas are as models have them."""
    batch, time, keys, heads, depth, width = sizes
    random = np.random.default_rng([9, *sizes])
    gates = random.random((2, batch, time, heads))
    kept = "float64" if dtype == "float64" else "float32"
    return {
        "q": made(dtype, batch, time, keys, depth),
        "k": made(dtype, batch, time, keys, depth, seed=1),
        "v": made(dtype, batch, time, heads, width, seed=2),
        "g": sz.cast(sz.tensor(-2 * gates[0]), kept),
        "beta": sz.cast(sz.tensor(gates[1]), dtype),
        "initial_state": made(kept, batch, heads, depth, width, seed=3),
    }


def formula(given: dict[str, Array], norm: bool) -> tuple[Array, Array]:
    """Return results and the last state by explicit matrices: S = a (I - b k k^T) S + b k v^T."""
    q, k, v, g, beta, first = (given[name] for name in NAMES)
    if norm:
        q, k = (x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6) for x in (q, k))
    batch, time, heads = v.shape[:3]
    depth, group = k.shape[3], heads // k.shape[2]
    y, last = np.zeros(v.shape), np.array(first)
    for n in range(batch):
        for h in range(heads):
            for t in range(time):
                key, a, b = k[n, t, h // group], np.exp(g[n, t, h]), beta[n, t, h]
                forget = a * (np.eye(depth) - b * np.outer(key, key))
                last[n, h] = forget @ last[n, h] + b * np.outer(key, v[n, t, h])
                y[n, t, h] = q[n, t, h // group] @ last[n, h] / math.sqrt(depth)
    return y, last


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", BOUND)
def test_values_and_threads(name: str, sizes: tuple[int, ...], dtype: str) -> None:
    given = operands(dtype, sizes)
    y_due, state_due = formula({n: exact(x) for n, x in given.items()}, norm=True)
    how: dict[str, Any] = {"use_qk_l2norm": True, "return_state": True}
    with at_level(name), threads(1):
        y, state = rule(**given, **how)
    assert (y.dtype, state.dtype) == (given["v"].dtype, given["g"].dtype)
    np.testing.assert_allclose(exact(y), y_due, rtol=BOUND[dtype], atol=BOUND[dtype])
    bound = BOUND["float64" if dtype == "float64" else "float32"]
    np.testing.assert_allclose(exact(state), state_due, rtol=bound, atol=bound)
    with at_level(name), threads(3):
        again, last = rule(**{n: turned(x) for n, x in given.items()}, **how)
    assert (exact(again) == exact(y)).all()
    assert (exact(last) == exact(state)).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_bits_do_not_depend_on_batch_heads_columns_or_cuts(dtype: str) -> None:
    given = operands(dtype, (3, 75, 2, 4, 20, 70))
    whole, last = rule(**given, return_state=True, use_qk_l2norm=True)
    one = {n: x[1:2] for n, x in given.items()}
    assert (exact(rule(**one, use_qk_l2norm=True)) == exact(whole)[1:2]).all()
    one = {n: x[:, :, 1:] if n in "qk" else x[:, :, 2:] for n, x in given.items()}
    one |= {"initial_state": given["initial_state"][:, 2:]}
    assert (exact(rule(**one, use_qk_l2norm=True)) == exact(whole)[:, :, 2:]).all()
    few = {**given, "v": given["v"][..., 5:9], "initial_state": given["initial_state"][..., 5:9]}
    assert (exact(rule(**few, use_qk_l2norm=True)) == exact(whole)[..., 5:9]).all()
    state, parts = given["initial_state"], []
    for cut in (slice(0, 1), slice(1, 3), slice(3, 40), slice(40, 75)):
        some = {n: x[:, cut] for n, x in given.items() if n != "initial_state"}
        y, state = rule(**some, initial_state=state, return_state=True, use_qk_l2norm=True)
        parts.append(exact(y))
    assert (np.concatenate(parts, 1) == exact(whole)).all()
    assert (exact(state) == exact(last)).all()


def test_the_state_begins_with_zeros_and_decays_in_float32() -> None:
    given = operands("bfloat16", (1, 4, 1, 2, 5, 6))
    zeros = sz.zeros((1, 2, 5, 6))
    without = {n: x for n, x in given.items() if n != "initial_state"}
    assert (exact(rule(**without)) == exact(rule(**without, initial_state=zeros))).all()
    # A decay of one part in a thousand is lost in bfloat16, and by a state kept in it.
    one, small = ones((1, 1, 1, 1), "bfloat16"), sz.full("float32", "cpu", (1, 1, 1), -1e-3)
    none = sz.zeros((1, 1, 1), "bfloat16")
    _, state = rule(one, one, one, small, none, ones((1, 1, 1, 1)), return_state=True)
    assert state.item() == pytest.approx(math.exp(-1e-3), rel=1e-7)


def exactly(given: dict[str, Array], above: Array, late: Array, norm: bool) -> Any:
    """Return what the gradients are of, sum(above y) + sum(late S), in mpmath."""
    q, k, v, g, beta, state = (given[name] for name in NAMES)
    batch, time, heads, width = v.shape
    depth, group = k.shape[3], heads // k.shape[2]
    total = mpmath.mpf(0)
    for n, h in np.ndindex(batch, heads):
        s = [[mpmath.mpf(x) for x in row] for row in state[n, h]]
        for t in range(time):
            rows = [[mpmath.mpf(x) for x in one[n, t, h // group]] for one in (q, k)]
            if norm:
                rows = [[x / mpmath.sqrt(sum(c * c for c in row) + mpmath.mpf("1e-6"))
                         for x in row] for row in rows]  # fmt: skip
            a, b = mpmath.exp(g[n, t, h]), mpmath.mpf(beta[n, t, h])
            for j in range(width):
                said = sum(a * s[i][j] * rows[1][i] for i in range(depth))
                u = b * (mpmath.mpf(v[n, t, h, j]) - said)
                for i in range(depth):
                    s[i][j] = a * s[i][j] + rows[1][i] * u
                y = sum(s[i][j] * rows[0][i] for i in range(depth)) / mpmath.sqrt(depth)
                total += above[n, t, h, j] * y
        total += sum(late[n, h, i, j] * s[i][j] for i, j in np.ndindex(depth, width))
    return total


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("sizes", [(1, 3, 1, 2, 2, 1), (1, 1, 2, 2, 1, 2)], ids=str)  # fmt: skip
def test_gradients_are_slopes(sizes: tuple[int, ...], norm: bool) -> None:
    """Each gradient is a slope of the formula, to 10 digits."""
    given = operands("float64", sizes)
    above = made("float64", *given["v"].shape, seed=8)
    late = made("float64", *given["initial_state"].shape, seed=9)
    grads = rule_bwd(above, **given, final_state_grad=late, use_qk_l2norm=norm)
    with mpmath.workdps(50):
        values = {n: np.vectorize(mpmath.mpf, otypes=[object])(exact(x)) for n, x in given.items()}
        step = mpmath.mpf(10) ** -20
        for name, grad in zip(NAMES, grads, strict=True):
            assert grad.shape == given[name].shape
            for at in np.ndindex(grad.shape):
                moved = []
                for sign in (1, -1):
                    some = np.array(values[name])
                    some[at] += sign * step
                    moved.append(exactly({**values, name: some}, exact(above), exact(late), norm))
                due = float((moved[0] - moved[1]) / (2 * step))
                assert exact(grad)[at] == pytest.approx(due, rel=1e-10, abs=1e-10), (name, at)


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("sizes", [(2, 70, 1, 2, 19, 40), (1, 17, 2, 2, 16, 3), (1, 5, 1, 3, 33, 9),
                                   (2, 300, 1, 1, 4, 2)], ids=str)  # fmt: skip
def test_gradients_along_a_direction(name: str, sizes: tuple[int, ...], dtype: str) -> None:
    """The formula grows along a random direction of all operands as the gradients say."""
    given = operands(dtype, sizes)
    values = {n: exact(x) for n, x in given.items()}
    ways = {n: exact(made("float64", *x.shape, seed=7)) for n, x in given.items()}
    above = made(dtype, *given["v"].shape, seed=8)
    late = made(str(given["g"].dtype), *given["initial_state"].shape, seed=9)

    def result(step: float) -> float:
        y, last = formula({n: v + step * ways[n] for n, v in values.items()}, norm=True)
        return float((y * exact(above)).sum() + (last * exact(late)).sum())

    with at_level(name):
        grads = rule_bwd(above, **given, final_state_grad=late, use_qk_l2norm=True)
    h = 1e-6
    due = (result(h) - result(-h)) / (2 * h)
    parts = [exact(g) * ways[n] for n, g in zip(NAMES, grads, strict=True)]
    size = math.sqrt(sum((p * p).sum() for p in parts))
    bound = {"float64": 1e-7, "float32": 3e-5, "bfloat16": 2e-2}[dtype]
    assert abs(sum(p.sum() for p in parts) - due) <= bound * size


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gradients_of_threads_and_layouts(dtype: str) -> None:
    given = operands(dtype, (2, 61, 2, 6, 20, 40))
    above = made(dtype, *given["v"].shape, seed=5)
    with threads(1):
        once = rule_bwd(above, **given, use_qk_l2norm=True)
    with threads(3):
        some = {n: turned(x) for n, x in given.items()}
        again = rule_bwd(turned(above), **some, use_qk_l2norm=True)
    kept = sz.float32
    assert [x.dtype for x in once] == [above.dtype] * 3 + [kept, above.dtype, kept]
    for a, b in zip(once, again, strict=True):
        assert (exact(a) == exact(b)).all()
    assert len(rule_bwd(above, *(given[n] for n in NAMES[:5]))) == 5


def test_views_of_one_tensor_are_not_copied() -> None:
    """What models split from one projection has rows that are dense, and strides that are not."""
    both = made("float32", 1, 6, 2, 24)
    q, k, v = both[..., :8], both[..., 8:16], both[..., 16:]
    g, beta = sz.zeros((1, 6, 2)), sz.full("float32", "cpu", (1, 6, 2), 0.5)
    dense = [_core.row_major_copy(x) for x in (q, k, v)]
    assert (exact(rule(q, k, v, g, beta)) == exact(rule(*dense, g, beta))).all()


def test_promotion_and_zero_sizes() -> None:
    given = operands("bfloat16", (1, 3, 1, 2, 4, 5))
    assert rule(**{**given, "k": sz.cast(given["k"], "float32")}).dtype is sz.float32
    assert rule(**{**given, "g": sz.cast(given["g"], "float64")}).dtype is sz.bfloat16
    whole = sz.cast(given["q"], "int64")
    with sz.promotion("torch"):
        assert rule(**{**given, "q": whole}).dtype is sz.bfloat16
    state = given["initial_state"]
    none = {n: x[:, :0] for n, x in given.items() if n != "initial_state"}
    y, last = rule(**none, initial_state=state, return_state=True)
    assert y.shape == (1, 0, 2, 5)
    assert (exact(last) == exact(state)).all()
    _, last = rule(**none, return_state=True)
    assert (exact(last) == 0).all()
    *_, by_state = rule_bwd(none["v"], **none, initial_state=state, final_state_grad=state)
    assert (exact(by_state) == exact(state)).all()
    flat = {n: x[..., :0] if n in "qk" else x for n, x in given.items() if n != "initial_state"}
    assert (exact(rule(**flat)) == 0).all()
    by_q, by_k, by_v, by_g, by_beta = rule_bwd(given["v"], **flat)
    assert by_q.shape == by_k.shape == (1, 3, 1, 0)
    assert all((exact(x) == 0).all() for x in (by_v, by_g, by_beta))


def test_a_large_state_of_no_steps() -> None:
    """Its gradient is copied within memory, although no chunk of time needs any."""
    depth = 2**17
    rows, values, gates = sz.zeros((1, 0, 1, depth)), sz.zeros((1, 0, 1, 1)), sz.zeros((1, 0, 1))
    state = made("float32", 1, 1, depth, 1)
    given = (values, rows, rows, values, gates, gates)
    *_, by_state = rule_bwd(*given, initial_state=state, final_state_grad=state)
    assert (exact(by_state) == exact(state)).all()


@pytest.mark.parametrize("large", [1e25, 1e37])
def test_rows_whose_squares_overflow_are_normalised(large: float) -> None:
    given = operands("float32", (1, 5, 1, 2, 17, 6))
    many = {n: x * large if n in "qk" else x for n, x in given.items()}
    y_due, _ = formula({n: exact(x) for n, x in many.items()}, norm=True)
    y = rule(**many, use_qk_l2norm=True)
    np.testing.assert_allclose(exact(y), y_due, rtol=2e-5, atol=2e-5)
    above = made("float32", *y.shape, seed=4)
    due = rule_bwd(above, **given, use_qk_l2norm=True)
    found = rule_bwd(above, **many, use_qk_l2norm=True)
    for name, a, b in zip(NAMES, found, due, strict=True):
        factor = large if name in "qk" else 1
        np.testing.assert_allclose(factor * exact(a), exact(b), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"k": (3, 2, 4)}, sz.DimensionsMismatch, "sz.transpose"),
        ({"q": (1, 3, 2, 5)}, sz.DimensionsMismatch, r"q has shape .* \(1, 3, 2, 4\), that of k"),
        ({"v": (1, 3, 5, 6)}, sz.DimensionsMismatch, "heads a multiple of the 2 key heads"),
        ({"v": (1, 2, 4, 6)}, sz.DimensionsMismatch, r"must be \(1, 3, heads, dv\)"),
        ({"g": (1, 3, 2)}, sz.DimensionsMismatch, "g has shape"),
        ({"beta": (1, 3, 4, 1)}, sz.DimensionsMismatch, "beta has shape"),
        ({"initial_state": (1, 4, 6, 4)}, sz.DimensionsMismatch, r"\(1, 4, 4, 6\), \(batch, heads"),
    ],
    ids=lambda x: str(next(iter(x))) if isinstance(x, dict) else None,
)
def test_shapes_that_do_not_fit(
    change: dict[str, tuple[int, ...]], error: type[Exception], says: str
) -> None:
    given = operands("float32", (1, 3, 2, 4, 4, 6))
    with pytest.raises(error, match=says):
        rule(**{**given, **{n: ones(shape) for n, shape in change.items()}})


def test_other_errors() -> None:
    given = operands("float32", (1, 3, 2, 4, 4, 6))
    for how, says in (({"scale": "x"}, "scale"), ({"use_qk_l2norm": 2.5}, "use_qk_l2norm"),
                      ({"return_state": "yes"}, "return_state")):  # fmt: skip
        with pytest.raises(sz.InvalidArgument, match=says):
            rule(**given, **how)
    for name in NAMES:
        with pytest.raises(sz.TypeMismatch, match="complex"):
            rule(**{**given, name: given[name] * 1j})
    with pytest.raises(sz.DimensionsMismatch, match="out_grad has shape"):
        rule_bwd(given["q"], **given)
    with pytest.raises(sz.DimensionsMismatch, match="final_state_grad has shape"):
        rule_bwd(given["v"], **given, final_state_grad=given["v"])


@pytest.mark.parametrize("name", _core.levels())
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_infinite_betas_of_few_columns(name: str, dtype: str) -> None:
    """The columns that a panel has beyond those of the state take no part in gradients."""
    for width in (1, 33):
        x, kept = ones((1, 1, 1, 1), dtype), "float64" if dtype == "float64" else "float32"
        values, g = ones((1, 1, 1, width), dtype), sz.zeros((1, 1, 1), dtype=kept)
        with at_level(name):
            grads = rule_bwd(values, x, x, values, g, sz.full(dtype, "cpu", (1, 1, 1), math.inf))
        assert exact(grads[0]).tolist() == [[[[math.inf]]]]  # of q: the state
        assert exact(grads[4]).tolist() == [[[width]]]  # of beta: v k
