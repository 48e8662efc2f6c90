"""7.2.17.1, .2, .12, .13: products and their gradients, as sums of products.

A formula names the axes of each operand by letters; the letters that the result lacks are summed.
An answer may differ from the exact sum by what any order of summation in the accumulating dtype can
differ, and one rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from suanzi.conformance.model import numbers as oracle
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import raw_bits, values
from suanzi.conformance.model.numbers import Real, Value
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.arrays import Exact, Shape, einsum, exact, plus
from suanzi.conformance.truth.sums import half_unit, machine_epsilon, rough_sum, unit_roundoff

_LETTERS = "abcdefgh"
"""Of batches and of leading axes."""


@dataclass(frozen=True)
class Operand:
    """A tensor in a product."""

    name: str
    labels: str
    conjugate: bool = False
    shape: Shape | None = None
    """Without the axes of size 1 that have no letter, where there are such."""


@dataclass(frozen=True)
class Formula:
    """Operands, the axes of what comes out, and its shape where some of size 1 are put back."""

    operands: tuple[Operand, ...]
    out: str
    shape: Shape
    bias: str | None = None


def formula(op: str, given: Mapping[str, Shape]) -> Formula:
    """Return the formula of a product for operands of these shapes."""
    if op == "matmul":
        return _matmul(given["mat1"], given["mat2"])
    if op.startswith("dot"):
        return _dot(op, given["vec1"], given["vec2"])
    first = next(iter(given.values()))
    lead = _LETTERS[: len(first) - 1]
    x, y, weight = Operand("x", lead + "i"), Operand("y", lead + "j"), Operand("weight", "oij")
    g = Operand("out_grad", lead + "o")
    bias = "bias" if "bias" in given else None
    made = {
        "linear": ((x, Operand("weight", "oi")), lead + "o"),
        "linear_bwd_in": ((g, Operand("weight", "oi", True)), lead + "i"),
        "linear_bwd_weight": ((g, Operand("input", lead + "i", True)), "oi"),
        "bilinear": ((x, weight, y), lead + "o"),
        "bilinear_bwd_in1": ((g, _conj(weight), _conj(y)), lead + "i"),
        "bilinear_bwd_in2": ((g, _conj(weight), _conj(x)), lead + "j"),
        "bilinear_bwd_weight": ((g, _conj(x), _conj(y)), "oij"),
    }
    operands, out = made[op]
    sizes = {k: n for o in operands for k, n in zip(o.labels, given[o.name], strict=True)}
    return Formula(operands, out, tuple(sizes[k] for k in out), bias)


def _conj(x: Operand) -> Operand:
    return Operand(x.name, x.labels, True)


def _matmul(a: Shape, b: Shape) -> Formula:
    batch_a, batch_b = a[:-2], b[:-2]
    rank = max(len(batch_a), len(batch_b))
    wide = [(1,) * (rank - len(s)) + s for s in (batch_a, batch_b)]
    batch = tuple(max(p, q) if p and q else 0 for p, q in zip(*wide, strict=True))
    row, column = "m" * (len(a) > 1), "n" * (len(b) > 1)

    def operand(name: str, shape: Shape, own: Shape, matrix: str) -> Operand:
        # An axis that is stretched has no letter: it is the same for all.
        kept = [i for i in range(len(own)) if own[i] == batch[rank - len(own) + i]]
        labels = "".join(_LETTERS[rank - len(own) + i] for i in kept)
        return Operand(name, labels + matrix, shape=tuple(own[i] for i in kept) + shape[len(own) :])

    operands = (operand("mat1", a, batch_a, row + "k"), operand("mat2", b, batch_b, "k" + column))
    sizes = a[-2:-1] * bool(row) + b[-1:] * bool(column)
    return Formula(operands, _LETTERS[:rank] + row + column, batch + sizes)


def _dot(op: str, a: Shape, b: Shape) -> Formula:
    first, second = _LETTERS[: max(len(a) - 1, 0)] + "k" * bool(a), ""
    if b:
        outer = "pqrstuv"[: max(len(b) - 2, 0)]
        second = outer + "k" + "n" * (len(b) > 1)
    out = "".join(k for k in first + second if k != "k")
    if not a or not b:
        out = first + second
    x, y, g = Operand("vec1", first), Operand("vec2", second), Operand("out_grad", out)
    sizes = dict(zip(first + second, a + b, strict=True))
    operands, result = {
        "dot": ((x, y), out),
        "dot_bwd1": ((g, _conj(y)), first),
        "dot_bwd2": ((_conj(x), g), second),
    }[op]
    return Formula(operands, result, tuple(sizes[k] for k in result))


# ---- values -------------------------------------------------------------------------------------


def product_output(op: str, given: Mapping[str, Data], dtype: str) -> Output:
    """Return what a product must be, and how far it may be off, for operands of one dtype."""
    how = formula(op, {name: x.shape for name, x in given.items()})
    if not all(_is_finite(x) for x in given.values()):
        return _with_special_values(how, given, dtype)
    arrays = {name: exact(x) for name, x in given.items()}
    total, reach = _sums(how, arrays, -1), _sums(how, arrays, 1)
    if dtype not in oracle.FORMATS and dtype not in oracle.PARTS:
        whole = tuple(oracle.wrap(dtype, x) for x in total.re)
        return Output(dtype, how.shape, whole)
    truth: list[Value] = [
        (oracle.real(p), oracle.real(q)) if dtype in oracle.PARTS else oracle.real(p)
        for p, q in total.fractions()
    ]
    terms, stages = _terms(how, arrays), len(how.operands) - 2 + (how.bias is not None)
    allowed, rough = [], []
    roundings = (2 * terms if dtype in oracle.PARTS else terms) + 2 + stages
    limit = total.unit * oracle.two(oracle.FORMATS[oracle.PARTS.get(dtype, dtype)].mantissa + 1)
    # All three grow in proportion to the magnitudes: fractions are slow, so that is said once.
    fixed, none = accumulation_error(dtype, terms, Fraction(0)), Fraction(0)
    rate = (
        accumulation_error(dtype, terms, Fraction(1))
        - fixed
        + stage_error(dtype, stages, Fraction(1))
    )
    rough_rate = rough_sum(dtype, roundings, Fraction(1))
    for most, size in zip(reach.largest_part(), total.largest_part(), strict=True):
        # Up to the limit every product and every partial sum is exact.
        error = none if most <= limit else fixed + rate * most
        allowed.append(error + half_unit(dtype, size + error))
        rough.append(rough_rate * most if error else none)
    return Output(
        dtype, how.shape, tuple(truth), allowed=tuple(allowed), rough=tuple(rough), zero_sign=False
    )


def accumulation_error(dtype: str, terms: int, magnitudes: Fraction) -> Fraction:
    """Return what a sum of so many products can be off in any order, before its last rounding.

    Each term is rounded at most once as a product and once in each sum it goes into; a part of a
    complex number has twice as many. Narrow dtypes are summed in float32.
    """
    roundings = (2 * terms if dtype in oracle.PARTS else terms) + 2
    form = oracle.compute_format(oracle.PARTS.get(dtype, dtype))
    smallest = oracle.two(1 - form.bias - form.mantissa)
    return roundings * (unit_roundoff(dtype) * magnitudes + smallest / 2)


def stage_error(dtype: str, stages: int, magnitudes: Fraction) -> Fraction:
    """Return what is off where each of several stages is rounded to a narrow dtype.

    A bias may be added to a product that is rounded already, and of three operands two may be
    multiplied first: no clause says that it is one operation.
    """
    part = oracle.PARTS.get(dtype, dtype)
    return stages * machine_epsilon(part) / 2 * magnitudes if part in oracle.NARROW else Fraction(0)


def _terms(how: Formula, arrays: Mapping[str, Exact]) -> int:
    sizes = {
        k: n
        for o in how.operands
        for k, n in zip(o.labels, _squeezed(o, arrays).shape, strict=True)
    }
    summed = math.prod(n for k, n in sizes.items() if k not in how.out)
    return summed + len(how.operands) - 2 + (how.bias is not None)


def _squeezed(operand: Operand, arrays: Mapping[str, Exact]) -> Exact:
    """Return an operand without the axes of size 1 that have no letter."""
    x = arrays[operand.name]
    return x if operand.shape is None else x.reshape(operand.shape)


def _sums(how: Formula, arrays: Mapping[str, Exact], sign: int) -> Exact:
    """Return the sums of a formula, or with the sign 1 those of magnitudes."""
    some = []
    for operand in how.operands:
        x = _squeezed(operand, arrays)
        x = x.conj() if operand.conjugate else x
        some.append((operand.labels, x if sign < 0 else x.magnitudes()))

    def two_of(left: tuple[str, Exact], right: tuple[int, tuple[str, Exact]]) -> tuple[str, Exact]:
        at, (labels, x) = right
        later = how.out + "".join(o.labels for o in how.operands[at + 1 :])
        kept = "".join(dict.fromkeys(k for k in left[0] + labels if k in later))
        out = how.out if at == len(some) - 1 else kept
        return out, einsum(left[0], labels, out, left[1], x, sign)

    found = reduce(two_of, enumerate(some[1:], 1), some[0])[1].reshape(how.shape)
    if how.bias is None:
        return found
    bias = arrays[how.bias]
    bias = bias if sign < 0 else bias.magnitudes()
    times = math.prod(how.shape[:-1])
    im = None if bias.im is None else bias.im * times
    return plus(found, Exact(how.shape, bias.re * times, im, bias.exponent))


# ---- NaN and infinities -------------------------------------------------------------------------


def _is_finite(x: Data) -> bool:
    part = oracle.PARTS.get(x.dtype, x.dtype)
    if part not in oracle.FORMATS:
        return True
    form = oracle.FORMATS[part]
    return all(b & ((1 << (form.bits - 1)) - 1) <= form.largest for b in raw_bits(x))


def _with_special_values(how: Formula, given: Mapping[str, Data], dtype: str) -> Output:
    """Return a product of operands with NaN or infinities.

    What is finite must be exact in every order of summation. Complex numbers may have NaN alone:
    products with infinities have no one answer.
    """
    assert how.bias is None
    shapes = [(o.labels, given[o.name].shape) for o in how.operands]
    sizes = {k: n for labels, shape in shapes for k, n in zip(labels, shape, strict=True)}
    inner = [k for k in sizes if k not in how.out]

    def term(place: Mapping[str, int]) -> Value:
        return reduce(_times, [_at(given[o.name], o, sizes, place) for o in how.operands])

    truth = [
        _sum_of([term(place | more) for more in _assignments(inner, sizes)], dtype)
        for place in _assignments(how.out, sizes)
    ]
    return Output(dtype, how.shape, tuple(truth), zero_sign=False)


def _assignments(letters: str | list[str], sizes: Mapping[str, int]) -> list[dict[str, int]]:
    found: list[dict[str, int]] = [{}]
    for k in letters:
        found = [{**one, k: i} for one in found for i in range(sizes[k])]
    return found


def _at(data: Data, operand: Operand, sizes: Mapping[str, int], place: Mapping[str, int]) -> Value:
    index = 0
    for k in operand.labels:
        index = index * sizes[k] + place[k]
    found = values(data)[index]
    if operand.conjugate and isinstance(found, tuple):
        return found[0], -found[1]
    return found


def _times(a: Value, b: Value) -> Value:
    if isinstance(a, tuple) and isinstance(b, tuple):
        if any(p.is_nan for p in (*a, *b)):
            return oracle.NAN, oracle.NAN
        pairs = [oracle.mul(p, q) for p in a for q in b]
        return oracle.sub(pairs[0], pairs[3]), oracle.add(pairs[1], pairs[2])
    assert isinstance(a, Real)
    assert isinstance(b, Real)
    return oracle.mul(a, b)


def _sum_of(terms: list[Value], dtype: str) -> Value:
    if dtype in oracle.PARTS:
        pairs = [t for t in terms if isinstance(t, tuple)]
        return (reduce(oracle.add, (t[0] for t in pairs), oracle.ZERO),
                reduce(oracle.add, (t[1] for t in pairs), oracle.ZERO))  # fmt: skip
    return reduce(oracle.add, (t for t in terms if isinstance(t, Real)), oracle.ZERO)
