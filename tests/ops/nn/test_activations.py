"""Activations: accuracy, special values, every 16-bit number, levels, threads, layouts, errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import suanzi as sz
from helpers.functions import at_level, threads
from helpers.normal import exact
from suanzi import _core
from suanzi.base.status import DimensionsMismatch, InvalidArgument, TypeMismatch
from suanzi.tensors.parts import permuted

Array = np.ndarray[Any, Any]
INF, NAN = math.inf, math.nan


def logistic(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def tanh_argument(x: Any) -> Any:
    return 2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3)


def selu(x: Any) -> Any:
    scale, alpha = mp.mpf("1.05070098735548049342"), mp.mpf("1.67326324235437728482")
    return scale * (x if x > 0 else alpha * mp.expm1(x))


# Every smooth activation as mpmath has it: name, parameters, formula.
EXACT: dict[str, tuple[dict[str, Any], Callable[[Any], Any]]] = {
    "silu": ({}, lambda x: x * logistic(x)),
    "sigmoid": ({}, logistic),
    "quick_gelu": ({}, lambda x: x * logistic(mp.mpf(1.702) * x)),
    "gelu": ({}, lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2),
    "gelu tanh": ({"approximate": "tanh"}, lambda x: x * logistic(tanh_argument(x))),
    "mish": ({}, lambda x: x * mp.tanh(mp.log1p(mp.exp(x)))),
    "erf": ({}, mp.erf),
    "erfc": ({}, mp.erfc),
    "log_sigmoid": ({}, lambda x: -mp.log1p(mp.exp(-x))),
    "softplus": ({}, lambda x: x if x > 20 else mp.log1p(mp.exp(x))),
    "softplus 0.3": ({"beta": 0.3}, lambda x: mp.log1p(mp.exp(mp.mpf(0.3) * x)) / mp.mpf(0.3)),
    "elu": ({"alpha": 0.7}, lambda x: x if x > 0 else mp.mpf(0.7) * mp.expm1(x)),
    "celu": ({"alpha": 0.7}, lambda x: x if x > 0 else mp.mpf(0.7) * mp.expm1(x / mp.mpf(0.7))),
    "selu": ({}, selu),
    "softsign": ({}, lambda x: x / (1 + abs(x))),
    "hardswish": ({}, lambda x: x * min(max(x + 3, 0), 6) / 6),
    "hardsigmoid": ({}, lambda x: min(max(x + 3, 0), 6) / mp.mpf(6)),
}  # fmt: skip
# The same in float64 of NumPy, for many numbers; good to a few units of float64.
FLOAT64: dict[str, Callable[[Array], Array]] = {
    "silu": lambda x: x * np.exp(-np.logaddexp(0, -x)),
    "sigmoid": lambda x: np.exp(-np.logaddexp(0, -x)),
    "gelu": lambda x: x * np.frompyfunc(math.erfc, 1, 1)(-x / math.sqrt(2)).astype(float) / 2,
    "erf": lambda x: np.frompyfunc(math.erf, 1, 1)(x).astype(float),
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "log_sigmoid": lambda x: -np.logaddexp(0, -x),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "relu": lambda x: np.maximum(x, 0),
    "hardtanh": lambda x: np.clip(x, -1, 1),
}
UNARY = sorted(
    {name.split()[0] for name in EXACT}
    | {"relu", "relu6", "relu_squared", "leaky_relu", "hardtanh"}
)


def function(title: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(sz.nn, title.split()[0])
    return found


def same(x: sz.Tensor, y: sz.Tensor) -> bool:
    """Return whether two tensors have the same bits; float64 has them all."""
    return exact(x).tobytes() == exact(y).tobytes()


@cache
def samples(dtype: str) -> Array:
    random = np.random.default_rng(5)
    parts = (
        random.uniform(-4, 4, 60), random.standard_normal(40),
        np.exp(random.uniform(-20, 2, 30)) * random.choice([-1, 1], 30),
        random.uniform(-9, 25, 40), np.linspace(-3.25, 3.25, 14),
    )  # fmt: skip
    return np.concatenate(parts).astype(dtype)


@cache
def truth(title: str, dtype: str) -> list[Any]:
    with mp.workprec(160):
        return [EXACT[title][1](mp.mpf(float(x))) for x in samples(dtype)]


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize(("dtype", "bound"), [("float32", 2.2), ("float64", 3)])
@pytest.mark.parametrize("title", EXACT)
def test_within_few_units_of_the_last_place(
    title: str, dtype: str, bound: float, level: str
) -> None:
    x = samples(dtype)
    with at_level(level):
        found = np.asarray(function(title)(sz.tensor(x), **EXACT[title][0]))
    with mp.workprec(160):
        for at, got, true in zip(x, found, truth(title, dtype), strict=True):
            unit = np.spacing(np.asarray(max(abs(float(true)), np.finfo(dtype).tiny), dtype))
            assert abs(mp.mpf(float(got)) - true) <= bound * float(unit), (at, got, true)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", FLOAT64)
def test_every_16_bit_number_is_rounded_once(name: str, dtype: str) -> None:
    bits = np.arange(65536, dtype=np.uint32)
    half = dtype == "float16"
    wide = bits.astype(np.uint16).view(np.float16) if half else (bits << 16).view(np.float32)
    x = sz.cast(sz.tensor(wide), dtype)
    values = exact(x)
    kept = np.isfinite(values)
    with np.errstate(all="ignore"):
        true = FLOAT64[name](values[kept])
    found = exact(function(name)(x))[kept]
    digits, least = {"float16": (11, -24), "bfloat16": (8, -133)}[dtype]
    exponent = np.frexp(np.where(true == 0, 1, true))[1] - digits
    unit = np.ldexp(1.0, np.maximum(exponent, least))
    largest = 65504.0 if dtype == "float16" else 3.3895e38
    inside = np.abs(true) <= largest
    assert (np.abs(found - true)[inside] <= 0.51 * unit[inside]).all()
    # A few of them are computed, and many looked up: the bits are the same.
    assert same(function(name)(x[1000:1010]), function(name)(x)[1000:1010])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("title", "parameters", "expected"),
    [  # at -inf, -0.0, inf
        ("relu", {}, (0, 0, INF)), ("relu6", {}, (0, 0, 6)), ("relu_squared", {}, (0, 0, INF)),
        ("leaky_relu", {}, (-INF, 0, INF)), ("elu", {}, (-1, 0, INF)), ("celu", {}, (-1, 0, INF)),
        ("gelu", {}, (0, 0, INF)), ("gelu", {"approximate": "tanh"}, (0, 0, INF)),
        ("quick_gelu", {}, (0, 0, INF)), ("silu", {}, (0, 0, INF)), ("mish", {}, (0, 0, INF)),
        ("sigmoid", {}, (0, 0.5, 1)), ("erf", {}, (-1, 0, 1)), ("erfc", {}, (2, 1, 0)),
        ("softsign", {}, (-1, 0, 1)), ("hardswish", {}, (0, 0, INF)),
        ("hardsigmoid", {}, (0, 0.5, 1)), ("hardtanh", {}, (-1, 0, 1)),
        ("softplus", {"threshold": INF}, (0, None, INF)), ("softplus", {}, (0, None, INF)),
        ("log_sigmoid", {}, (-INF, None, 0)),
    ],
)  # fmt: skip
def test_limits_and_nan(title: str, parameters: dict[str, Any], expected: Any, dtype: str) -> None:
    for level in _core.levels():
        with at_level(level):
            x = sz.cast(sz.tensor([-INF, -0.0, INF, NAN]), dtype)
            found = exact(function(title)(x, **parameters))
        assert math.isnan(found[3])
        for got, want in zip(found, expected, strict=False):
            assert want is None or got == want


@pytest.mark.parametrize(
    ("title", "at", "expected"),
    [
        ("relu", 0, 0), ("relu6", 0, 0), ("relu6", 6, 0), ("leaky_relu", 0, 0.01), ("elu", 0, 1),
        ("hardtanh", 1, 0), ("hardtanh", -1, 0), ("hardswish", -3, 0), ("hardswish", 3, 1),
        ("hardsigmoid", 3, 0), ("silu", 0, 0.5), ("silu", -INF, 0), ("silu", INF, 1),
        ("gelu", -INF, 0), ("gelu", INF, 1), ("mish", -INF, 0), ("mish", INF, 1),
        ("quick_gelu", -INF, 0), ("quick_gelu", INF, 1), ("softplus", -INF, 0),
        ("softplus", 21, 1), ("sigmoid", -INF, 0), ("erf", INF, 0), ("softsign", INF, 0),
    ],
)  # fmt: skip
def test_gradients_at_corners(title: str, at: float, expected: float) -> None:
    found = getattr(sz.nn, f"{title}_bwd")(sz.tensor([1.0, 1.0]), sz.tensor([at, NAN]))
    assert np.asarray(found)[0] == np.float32(expected)
    assert math.isnan(np.asarray(found)[1])


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("title", EXACT)
def test_gradients_are_derivatives(title: str, level: str) -> None:
    parameters, formula = EXACT[title]
    x = np.array([-7.3, -2.6, -1.25, -0.4, 0.3, 1.7, 2.9, 6.1])
    scale = sz.tensor(np.full(8, 1.5))
    with at_level(level):
        found = exact(getattr(sz.nn, f"{title.split()[0]}_bwd")(scale, sz.tensor(x), **parameters))
    with mp.workdps(40):
        for got, at in zip(found, x, strict=True):
            true = mp.mpf(1.5) * mp.diff(formula, mp.mpf(float(at)))
            assert abs(got - true) <= 1e-14 + 1e-15 * abs(true), at


PAIRS = ("swiglu", "geglu")


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_gates_and_their_gradients(dtype: str) -> None:
    random = np.random.default_rng(1)
    g, a, b = (sz.cast(sz.tensor(random.standard_normal(97)), dtype) for _ in range(3))
    bound = {"bfloat16": 2**-8, "float32": 1e-6, "float64": 1e-14}[dtype]

    def close(found: sz.Tensor, true: Array) -> None:
        assert np.abs(exact(found) - true).max() <= bound * max(1, np.abs(true).max())

    x, y, u = exact(g), exact(a), exact(b)
    p = 1 / (1 + np.exp(-y))
    close(sz.nn.swiglu(a, b), y * p * u)
    a_grad, b_grad = sz.nn.swiglu_bwd(g, a, b)
    close(a_grad, x * u * p * (1 + y * (1 - p)))
    close(b_grad, x * y * p)
    erf = np.array([math.erf(v / math.sqrt(2)) for v in y])
    close(sz.nn.geglu(a, b), y * (1 + erf) / 2 * u)
    density = np.exp(-y * y / 2) / math.sqrt(2 * math.pi)
    a_grad, b_grad = sz.nn.geglu_bwd(g, a, b)
    close(a_grad, x * u * ((1 + erf) / 2 + y * density))
    close(b_grad, x * y * (1 + erf) / 2)
    assert same(sz.nn.geglu(a, b, "tanh"), sz.nn.geglu(a, b, approximate="tanh"))
    assert not same(sz.nn.geglu(a, b, "tanh"), sz.nn.geglu(a, b))


@pytest.mark.parametrize("level", _core.levels())
def test_gelu_next_to_the_edges_of_its_tables(level: str) -> None:
    """Every sixteenth, which pieces meet at, alone and among others that take another way."""
    edges = np.repeat(np.arange(1, 300, dtype=np.float32) / 16, 9).view(np.int32)
    edges += np.tile(np.arange(-4, 5, dtype=np.int32), 299)
    x = np.concatenate([edges.view(np.float32), -edges.view(np.float32), np.float32([0.0, 1e-30])])
    x = x[x > -12.5]  # beyond, results are subnormal
    wide = x.astype(np.float64)
    tail = np.frompyfunc(math.erfc, 1, 1)(-wide / math.sqrt(2)).astype(float) / 2
    slope = tail + wide * np.exp(-wide * wide / 2) / math.sqrt(2 * math.pi)
    given = sz.tensor(x)
    with at_level(level):
        y, g = exact(sz.nn.gelu(given)), exact(sz.nn.gelu_bwd(sz.tensor(np.ones_like(x)), given))
        alone = np.concatenate([exact(sz.nn.gelu(given[i : i + 1])) for i in range(len(x))])
    assert (np.abs(y - wide * tail) <= 2 * np.spacing(np.abs(wide * tail).astype(np.float32))).all()
    assert (np.abs(g - slope) <= 2.0**-22).all()
    assert (alone == y).all()


@pytest.mark.parametrize("level", _core.levels())
def test_several_inputs_of_bfloat16_are_those_of_float32_rounded(level: str) -> None:
    random = np.random.default_rng(7)
    bits = random.integers(0, 65536, (3, 5003), dtype=np.uint32) << 16
    bits[:, ::3] = (random.standard_normal((3, 1668)) * 3).astype(np.float32).view(np.uint32)
    wide = [sz.tensor((row & np.uint32(0xFFFF0000)).view(np.float32)) for row in bits]
    narrow = [sz.cast(x, sz.bfloat16) for x in wide]

    def kinds(made: Any) -> list[bytes]:
        found = made if isinstance(made, tuple) else (made,)
        return [np.nan_to_num(exact(sz.cast(x, sz.bfloat16)), nan=1e300).tobytes() for x in found]

    with at_level(level):
        for name in ("silu_bwd", "gelu_bwd", "swiglu", "swiglu_bwd", "geglu", "geglu_bwd"):
            f, count = getattr(sz.nn, name), 3 if name.endswith("glu_bwd") else 2
            assert kinds(f(*narrow[:count])) == kinds(f(*wide[:count])), name


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_glu_halves_an_axis(axis: int) -> None:
    x = np.random.default_rng(2).standard_normal((4, 6))
    a, b = np.split(x, 2, axis)
    p = 1 / (1 + np.exp(-b))
    assert np.allclose(exact(sz.nn.glu(sz.tensor(x), axis)), a * p, rtol=1e-14)
    g = np.ones_like(a)
    expected = np.concatenate([p, a * p * (1 - p)], axis)
    assert np.allclose(exact(sz.nn.glu_bwd(sz.tensor(g), sz.tensor(x), axis)), expected, rtol=1e-13)


@pytest.mark.parametrize("shape", [(3, 4, 2), (4,), (2, 4)])
def test_prelu_by_channels(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(3)
    x, g, w = random.standard_normal(shape), random.standard_normal(shape), random.random(4)
    along = w.reshape([4 if a == min(1, len(shape) - 1) else 1 for a in range(len(shape))])
    assert np.array_equal(
        exact(sz.nn.prelu(sz.tensor(x), sz.tensor(w))), np.where(x > 0, x, x * along)
    )
    x_grad, w_grad = sz.nn.prelu_bwd(sz.tensor(g), sz.tensor(x), sz.tensor(w))
    assert np.array_equal(exact(x_grad), np.where(x > 0, g, g * along))
    others = tuple(a for a in range(len(shape)) if a != min(1, len(shape) - 1))
    assert np.allclose(exact(w_grad), np.where(x > 0, 0, g * x).sum(others), rtol=1e-13)
    _, total = sz.nn.prelu_bwd(sz.tensor(g), sz.tensor(x), sz.tensor(w[:1]))
    assert np.allclose(exact(total), [np.where(x > 0, 0, g * x).sum()], rtol=1e-13)


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_any_part_gives_the_same_bits(level: str, dtype: str) -> None:
    x = sz.cast(sz.tensor(np.random.default_rng(4).standard_normal(70_000) * 3), dtype)
    with at_level(level):
        for name in ("silu", "gelu", "leaky_relu", "softplus", "hardswish"):
            with threads(1):
                whole = function(name)(x)
                gradient = getattr(sz.nn, f"{name}_bwd")(x, x)
            with threads(2):
                assert same(function(name)(x), whole)
                assert same(getattr(sz.nn, f"{name}_bwd")(x, x), gradient)
            for begin, end in ((0, 1), (3, 20), (511, 1025), (2047, 4100), (69_990, 70_000)):
                part = x[begin:end]
                assert same(function(name)(part), whole[begin:end])
                assert same(getattr(sz.nn, f"{name}_bwd")(part, part), gradient[begin:end])


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float16", "bfloat16", "float32", "float64"])
def test_layouts(dtype: str) -> None:
    x = sz.cast(sz.tensor(np.random.default_rng(6).standard_normal((70, 90))), dtype)
    row = sz.expand(x[:1], (70, 90))
    for name in UNARY:
        whole = exact(function(name)(x))
        assert np.array_equal(exact(function(name)(permuted(x, (1, 0)))), whole.T)
        assert np.array_equal(exact(function(name)(x[::-2, ::3])), whole[::-2, ::3])
        assert np.array_equal(exact(function(name)(row)), np.broadcast_to(whole[:1], (70, 90)))
    for name in PAIRS:
        f, turned = getattr(sz.nn, name), permuted(x, (1, 0))[:70, :70]
        plain = sz.cast(sz.tensor(np.ascontiguousarray(exact(turned))), dtype)
        assert same(f(x[:, :70], turned), f(x[:, :70], plain))


def test_names_of_parameters_and_integers() -> None:
    x = sz.tensor([-2.0, 0.5, 3.0])
    assert same(sz.nn.gelu(x, "tanh"), sz.nn.gelu(x, approximate="tanh"))
    assert same(sz.nn.leaky_relu(x, 0.5), sz.nn.leaky_relu(x, negative_slope=0.5))
    assert same(sz.nn.silu(sz.tensor([-2, 3])), sz.nn.silu(sz.cast(sz.tensor([-2, 3]), sz.float32)))
    assert sz.nn.relu(sz.zeros((2, 0))).shape == (2, 0)
    mixed = sz.nn.swiglu(sz.cast(x, sz.bfloat16), x)
    assert mixed.dtype == sz.float32


@pytest.mark.parametrize(
    ("call", "status", "message"),
    [
        (lambda x: sz.nn.gelu(x, "erf"), InvalidArgument, '"none"'),
        (lambda x: sz.nn.hardtanh(x, 2, 1), InvalidArgument, "min_val must not be above"),
        (lambda x: sz.nn.softplus(x, 0.0), InvalidArgument, "beta is 0.0"),
        (lambda x: sz.nn.celu(x, 0.0), InvalidArgument, "alpha is 0.0"),
        (lambda x: sz.nn.elu(x, 1j), InvalidArgument, "alpha is 1j; it must be a real number"),
        (lambda x: sz.nn.relu(sz.tensor([1j])), TypeMismatch, "relu"),
        (lambda x: sz.nn.silu_bwd(x, x[:1]), DimensionsMismatch, "out_grad has shape (3,)"),
        (lambda x: sz.nn.swiglu(x, x[:1]), DimensionsMismatch, "they must be equal"),
        (lambda x: sz.nn.glu(x), DimensionsMismatch, "size along axis 0 is 3"),
        (lambda x: sz.nn.glu(x, 1), InvalidArgument, "axis is 1"),
        (lambda x: sz.nn.prelu(x, x[:2]), DimensionsMismatch, "or 3: one for each along axis 0"),
    ],
)  # fmt: skip
def test_errors_name_the_argument_and_what_is_allowed(
    call: Callable[[sz.Tensor], Any], status: type[Exception], message: str
) -> None:
    with pytest.raises(status, match="nn") as raised:
        call(sz.tensor([1.0, 2.0, 3.0]))
    assert message in str(raised.value)


@pytest.mark.parametrize("title", ["erf", "softsign", "silu", "gelu", "mish", "hardswish", "relu6"])
def test_the_sign_of_zero(title: str) -> None:
    """What an odd function, or a product with x, makes of -0 is -0; what clips at 0 may be 0."""
    for level in _core.levels():
        with at_level(level):
            for dtype in (sz.float16, sz.bfloat16, sz.float32, sz.float64):
                below, above = getattr(sz.nn, title)(sz.tensor([-0.0, 0.0] * 9, dtype)).numpy()[:2]
                assert float(below) == float(above) == 0
                assert not np.signbit(above)
                assert np.signbit(below) or title in ("relu6", "hardswish")
