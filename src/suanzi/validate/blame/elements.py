"""Rules of operators that compute each element from the elements at the same indices."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from suanzi.truth import functions as f
from suanzi.truth import tracked as t
from suanzi.truth.nn import activations as nn
from suanzi.truth.rounding import rounded
from suanzi.truth.standard import COMPARISONS, floordiv, mod, plain_value, sign
from suanzi.truth.tracked import Tracked, tracked
from suanzi.validate.blame.sampling import Call, Piece, Rule, is_float, name_of

RULES: dict[str, Rule] = {}
"""How calls are judged, by the names of PyTorch's operators."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Declare the rule of operators."""

    def declare(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return declare


def elementwise(definition: Callable[..., Any], exact: bool = False) -> Rule:
    """Return the rule of a definition whose parameters are those of the operator's schema."""
    names = list(inspect.signature(definition).parameters)

    def judge(call: Call) -> Iterator[Piece]:
        given = [x for x in map(call.get, names) if call.is_tensor(x)]
        at = call.elements(call.out, by=given[0] if given else None)
        arguments, numbers = operands(call, names, at)
        part = call.part(call.out, at)
        yield Piece(definition, arguments, [part], exact, call.within, numbers)

    return judge


def operands(call: Call, names: list[str], at: Any) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the elements of some arguments, and those that are numbers for tensors."""
    dtype = name_of(call.out.dtype)
    found: dict[str, Any] = {}
    numbers: dict[str, float] = {}
    floats = [name_of(x.dtype) for x in map(call.get, names)
              if call.is_tensor(x) and x.is_floating_point()]  # fmt: skip
    common = dtype if is_float(dtype) else floats[0] if floats else ""
    for name in names:
        x = call.arguments.get(name)
        if x is None:
            continue
        if call.is_tensor(x):
            if x.ndim == 0 and call.out.ndim and x.dtype != call.out.dtype and is_float(common):
                numbers[name] = float(x)  # as a number: it does not widen the others
                continue
            some = call.take(x, at)
            found[name] = some
            if some.dtype.kind == "i" and is_float(common):
                found[name] = rounded(some.astype(np.float64), common)
        elif isinstance(x, float) and is_float(common):
            numbers[name] = x
        else:
            found[name] = x
    return found, numbers


def _declare(exact: bool, **definitions: Callable[..., Any]) -> None:
    for name, definition in definitions.items():
        RULES[name] = elementwise(definition, exact)


# ---- arithmetic ----------------------------------------------------------------------------------


def _pow(self: Any, exponent: Any) -> Any:
    if not isinstance(self, Tracked) and not isinstance(exponent, Tracked):
        return np.power(self, exponent)
    return f.power(self, exponent)


def _div(self: Any, other: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return tracked(_float(self)) / _float(other)
    if rounding_mode == "floor":
        return floordiv(self, other)
    if isinstance(self, Tracked) or isinstance(other, Tracked):
        quotient = tracked(self) / other
        near = np.abs(quotient.value - np.rint(quotient.value)) <= quotient.error
        return Tracked(np.trunc(quotient.value), np.where(near, 1.0, 0.0))
    whole = np.abs(self) // np.abs(other)
    return np.where((self < 0) != (other < 0), -whole, whole)


def _float(x: Any) -> Any:
    return x.astype(np.float64) if isinstance(x, np.ndarray) else x


def _lerp(self: Tracked, end: Tracked, weight: Any) -> Tracked:
    w = tracked(weight)
    near = self + w * (end - self)
    return t.either(near, end - (end - self) * (1 - w))


def _fmod(self: Any, other: Any) -> Any:
    if not isinstance(self, Tracked) and not isinstance(other, Tracked):
        return np.fmod(self, other)
    with np.errstate(all="ignore"):
        return tracked(np.fmod(plain_value(tracked(self)), plain_value(tracked(other))))


def _sign_of(self: Any) -> Any:
    return sign(self)


_declare(
    False,
    add=lambda self, other, alpha=1: self + other * alpha,
    sub=lambda self, other, alpha=1: self - other * alpha,
    rsub=lambda self, other, alpha=1: other - self * alpha,
    mul=lambda self, other: self * other,
    div=_div,
    true_divide=_div,
    floor_divide=lambda self, other: floordiv(self, other),
    remainder=lambda self, other: mod(self, other),
    fmod=_fmod,
    pow=_pow,
    square=lambda self: self * self,
    reciprocal=lambda self: 1 / tracked(_float(self)),
    sqrt=lambda self: t.sqrt(_float(self)),
    rsqrt=lambda self: 1 / t.sqrt(_float(self)),
    lerp=_lerp,
    addcmul=lambda self, tensor1, tensor2, value=1: self + tensor1 * tensor2 * value,
    addcdiv=lambda self, tensor1, tensor2, value=1: t.either(
        self + tensor1 / tensor2 * value, self + tensor1 * value / tensor2
    ),
)

for _name, _function in {
    "exp": t.exp, "log": t.log, "log1p": t.log1p, "tanh": t.tanh, "erf": t.erf, "erfc": t.erfc,
    "sigmoid": t.sigmoid, "sin": f.sin, "cos": f.cos, "tan": f.tan, "asin": f.asin, "acos": f.acos,
    "atan": f.atan, "sinh": f.sinh, "cosh": f.cosh, "asinh": f.asinh, "acosh": f.acosh,
    "atanh": f.atanh, "expm1": f.expm1, "log2": f.log2, "log10": f.log10,
}.items():  # fmt: skip
    RULES[_name] = elementwise(lambda self, _function=_function: _function(_float(self)))


# ---- what chooses or keeps elements --------------------------------------------------------------


def _maximum(self: Any, other: Any) -> Any:
    if isinstance(self, Tracked) or isinstance(other, Tracked):
        return t.maximum(self, other)
    return np.maximum(self, other)


def _minimum(self: Any, other: Any) -> Any:
    if isinstance(self, Tracked) or isinstance(other, Tracked):
        return t.minimum(self, other)
    return np.minimum(self, other)


def _clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    found = self if min is None else _maximum(self, min)
    return found if max is None else _minimum(found, max)


def _where(condition: Any, self: Any, other: Any) -> Any:
    if isinstance(self, Tracked) or isinstance(other, Tracked):
        return t.where(condition, self, other)
    return np.where(condition, self, other)


def _abs(self: Any) -> Any:
    return t.absolute(self) if isinstance(self, Tracked) else np.abs(self)


def _kept(self: Any) -> Any:
    return self


def _bitwise(name: str) -> Callable[..., Any]:
    function = getattr(np, f"bitwise_{name}")
    return lambda self, other: function(self, other)


def _logical(name: str) -> Callable[..., Any]:
    function = getattr(np, f"logical_{name}")
    return lambda self, other: function(plain_value(self) != 0, plain_value(other) != 0)


def _compared(name: str) -> Callable[..., Any]:
    function = COMPARISONS[name]
    return lambda self, other: np.asarray(function(plain_value(self), plain_value(other))).astype(
        bool
    )


_declare(
    True,
    neg=lambda self: -self,
    abs=_abs,
    sgn=_sign_of,
    sign=_sign_of,
    maximum=_maximum,
    minimum=_minimum,
    clamp=_clamp,
    clamp_min=lambda self, min: _clamp(self, min),
    clamp_max=lambda self, max: _clamp(self, None, max),
    relu=lambda self: _maximum(self, 0),
    hardtanh=lambda self, min_val=-1.0, max_val=1.0: _clamp(self, min_val, max_val),
    threshold=lambda self, threshold, value: t.where(_over(self, threshold), self, value),
    where=_where,
    masked_fill=lambda self, mask, value: _where(mask, value, self),
    clone=_kept,
    _to_copy=_kept,
    contiguous=_kept,
    copy=lambda self, src: src,
    fill=lambda self, value: value,
    zero=lambda self: 0,
    zeros_like=lambda self: 0,
    ones_like=lambda self: 1,
    full_like=lambda self, fill_value: fill_value,
    new_full=lambda fill_value: fill_value,
    new_zeros=lambda: 0,
    new_ones=lambda: 1,
    zeros=lambda: 0,
    ones=lambda: 1,
    full=lambda fill_value: fill_value,
    scalar_tensor=lambda s: s,
    isnan=lambda self: np.isnan(plain_value(self).astype(np.float64)),
    isinf=lambda self: np.isinf(plain_value(self).astype(np.float64)),
    isfinite=lambda self: np.isfinite(plain_value(self).astype(np.float64)),
    logical_not=lambda self: plain_value(self) == 0,
    bitwise_not=lambda self: np.invert(self),
    bitwise_and=_bitwise("and"),
    bitwise_or=_bitwise("or"),
    bitwise_xor=_bitwise("xor"),
    logical_and=_logical("and"),
    logical_or=_logical("or"),
    logical_xor=_logical("xor"),
    eq=_compared("equal"),
    ne=_compared("not_equal"),
    gt=_compared("greater"),
    ge=_compared("greater_equal"),
    lt=_compared("less"),
    le=_compared("less_equal"),
    floor=lambda self: f.whole(self, np.floor) if isinstance(self, Tracked) else self,
    ceil=lambda self: f.whole(self, np.ceil) if isinstance(self, Tracked) else self,
    trunc=lambda self: f.whole(self, np.trunc) if isinstance(self, Tracked) else self,
    round=lambda self: f.whole(self, np.rint) if isinstance(self, Tracked) else self,
)


def _over(x: Tracked, limit: Any) -> Any:
    """Where x is above a limit, or NaN."""
    with np.errstate(all="ignore"):
        return np.asarray(~(x.plain <= plain_value(tracked(limit)).astype(float)))


# ---- activations ---------------------------------------------------------------------------------

_declare(
    False,
    gelu=lambda self, approximate="none": nn.gelu(self, approximate),
    silu=lambda self: nn.silu(self),
    mish=lambda self: nn.mish(self),
    elu=lambda self, alpha=1, scale=1, input_scale=1: t.where(
        _over(self, 0), self * scale,
        nn._expm1(t.minimum(self, 0) * input_scale) * (tracked(alpha) * scale),
    ),
    leaky_relu=lambda self, negative_slope=0.01: nn.leaky_relu(self, negative_slope),
    hardswish=lambda self: nn.hardswish(self),
    hardsigmoid=lambda self: nn.hardsigmoid(self),
    softplus=lambda self, beta=1.0, threshold=20.0: nn.softplus(self, beta, threshold),
    log_sigmoid_forward=lambda self: nn.log_sigmoid(self),
    gelu_backward=lambda grad_output, self, approximate="none": nn.gelu_bwd(
        grad_output, self, approximate
    ),
    silu_backward=lambda grad_output, self: nn.silu_bwd(grad_output, self),
    mish_backward=lambda grad_output, self: nn.mish_bwd(grad_output, self),
    # Of the result, not of what it was computed from.
    sigmoid_backward=lambda grad_output, output: grad_output * ((1 - output) * output),
    tanh_backward=lambda grad_output, output: grad_output * (1 - output * output),
    leaky_relu_backward=lambda grad_output, self, negative_slope=0.01: nn.leaky_relu_bwd(
        grad_output, self, negative_slope
    ),
    hardswish_backward=lambda grad_output, self: nn.hardswish_bwd(grad_output, self),
    hardsigmoid_backward=lambda grad_output, self: nn.hardsigmoid_bwd(grad_output, self),
    softplus_backward=lambda grad_output, self, beta=1.0, threshold=20.0: nn.softplus_bwd(
        grad_output, self, beta, threshold
    ),
    log_sigmoid_backward=lambda grad_output, self: nn.log_sigmoid_bwd(grad_output, self),
    native_dropout_backward=lambda grad_output, mask, scale: t.where(mask, grad_output * scale, 0),
)  # fmt: skip
_declare(
    True,
    threshold_backward=lambda grad_output, self, threshold: t.where(
        _over(self, threshold), grad_output, 0
    ),
    hardtanh_backward=lambda grad_output, self, min_val, max_val: t.where(
        _over(self, min_val) & ~_over(self, max_val) & (self.value != max_val), grad_output, 0
    ),
)


@rule("elu_backward")
def elu_backward(call: Call) -> Iterator[Piece]:
    """The gradient of elu, by its result or by its input."""

    def definition(
        grad_output: Tracked, alpha: Any, scale: Any, input_scale: Any, is_result: bool,
        self_or_result: Tracked,
    ) -> Tracked:  # fmt: skip
        x, both = self_or_result, tracked(alpha) * scale
        below = t.minimum(x, 0)
        slope = (below + both) * input_scale if is_result else (
            t.exp(below * input_scale) * (both * input_scale)
        )  # fmt: skip
        return t.where(_over(x, 0), grad_output * scale, grad_output * slope)

    yield from elementwise(definition)(call)


@rule("native_dropout")
def native_dropout(call: Call) -> Iterator[Piece]:
    """x / (1 - p) where the mask that the operator returns is true."""
    mask = call.results[1]
    p = float(call["p"])
    at = call.elements(call.out)
    x, kept = call.take(call["input"], at), call.take(mask, at)

    def definition(x: Tracked, kept: Any) -> Tracked:
        return t.where(kept, x / (1 - tracked(p)) if p < 1 else x * 0, 0)

    arguments = {"x": x, "kept": kept}
    yield Piece(definition, arguments, [call.part(call.out, at)], False, call.within)


@rule("arange")
def arange(call: Call) -> Iterator[Piece]:
    """start + i step."""
    start, step = call.get("start", 0), call.get("step", 1)
    (at,) = call.elements(call.out)
    floats = is_float(name_of(call.out.dtype))

    def definition(i: Any) -> Any:
        return tracked(start) + tracked(i) * step if floats else start + i * step

    i = at.astype(np.float64) if floats else at
    yield Piece(definition, {"i": i}, [call.part(call.out, (at,))], False, call.within)


@rule("tril", "triu")
def triangle(call: Call) -> Iterator[Piece]:
    """The elements on one side of a diagonal, and 0."""
    at = call.elements(call.out)
    offset = at[-1] - at[-2] - int(call.get("diagonal", 0))
    kept = offset <= 0 if call.name == "tril" else offset >= 0
    x = call.take(call["self"], at)
    yield Piece(
        lambda x, kept: _where(kept, x, 0), {"x": x, "kept": kept}, [call.part(call.out, at)], True
    )


# ---- losses whose results are elements -----------------------------------------------------------


def reduced(call: Call, loss: Callable[..., Tracked], *names: str) -> Iterator[Piece]:
    """Judge a loss of pairs: each one, their mean (1) or their sum (2)."""
    from suanzi.validate.blame.sampling import LONGEST, Unjudged

    reduction = int(call.get("reduction", 1))
    if not reduction:
        yield from elementwise(loss)(call)
        return
    given = [call[name] for name in names]
    if given[0].numel() > LONGEST:
        raise Unjudged(f"rows of more than {LONGEST} elements")
    arrays = {n: call.numbers(x) for n, x in zip(names, given, strict=True)}
    more = {n: call[n] for n in inspect.signature(loss).parameters if n not in names}

    def definition(**all: Any) -> Tracked:
        each = loss(**all)
        return each.mean() if reduction == 1 else each.sum()

    yield Piece(definition, {**arrays, **more}, [call.part(call.out, ())], False, call.within)


def _squared(self: Tracked, target: Tracked) -> Tracked:
    d = self - target
    return d * d


def _smooth(self: Tracked, target: Tracked, beta: float = 1.0) -> Tracked:
    d = t.absolute(self - target)
    near = d * d / (2 * beta) if beta else d
    return t.where(~_over(d, beta) & (d.value != beta), near, d - beta / 2)


@rule("mse_loss")
def mse_loss(call: Call) -> Iterator[Piece]:
    """(x - y)**2."""
    yield from reduced(call, _squared, "self", "target")


@rule("smooth_l1_loss")
def smooth_l1_loss(call: Call) -> Iterator[Piece]:
    """(x - y)**2 / (2 beta) near 0, |x - y| - beta / 2 elsewhere."""
    yield from reduced(call, _smooth, "self", "target")


@rule("smooth_l1_loss_backward")
def smooth_l1_loss_backward(call: Call) -> Iterator[Piece]:
    """(x - y) / beta near 0, its sign elsewhere; by the number of elements of a mean."""
    count = call["self"].numel() if int(call["reduction"]) == 1 else 1
    beta = float(call["beta"])

    def definition(grad_output: Tracked, self: Tracked, target: Tracked) -> Tracked:
        d = self - target
        size = t.absolute(d)
        signs = tracked(np.sign(plain_value(d).astype(np.float64)))
        near = ~_over(size, beta) & (size.value != beta)
        slope = t.where(near, d / beta, signs) if beta else signs
        return slope * (tracked(1) / count) * grad_output

    yield from elementwise(definition)(call)


@rule("mse_loss_backward")
def mse_loss_backward(call: Call) -> Iterator[Piece]:
    """2 (x - y), by the number of elements where it is of a mean."""
    count = call["self"].numel() if int(call["reduction"]) == 1 else 1

    def definition(grad_output: Tracked, self: Tracked, target: Tracked) -> Tracked:
        factor = tracked(2) / count
        return factor * (self - target) * grad_output

    yield from elementwise(definition)(call)
