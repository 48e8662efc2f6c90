"""Moderate numbers: each dtype of 6.2 has them exactly, and no result overflows or vanishes.

So what these cases require is in the text: nothing here depends on overflow, on rounding beyond one
operation, or on subnormal numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._operands import Elementwise, call
from suanzi.conformance.cases._values import Shape, by
from suanzi.conformance.cases.arithmetic import exact_product
from suanzi.conformance.cases.linear_algebra_products import NAMES, product_case, title_of
from suanzi.conformance.cases.linear_algebra_products_backward import NAMES as GRADIENTS
from suanzi.conformance.cases.linear_algebra_products_backward import gradient_shapes
from suanzi.conformance.cases.reduction import reduce_case
from suanzi.conformance.cases.reduction_cumsum import cumulative_case
from suanzi.conformance.cases.transformation import clip_case, clip_gradient
from suanzi.conformance.model.basis import STANDARD_DTYPES
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.numbers import (
    FORMATS,
    PARTS,
    UNSIGNED,
    Real,
    Value,
    convert,
    limits,
    real,
)
from suanzi.conformance.model.operators import exact_binary

_TITLE = "moderate"


def moderate(dtype: str, count: int, signed: bool = True) -> list[Value]:
    """Return numbers up to 100, no two next to each other equal; of floats with a fraction.

    >>> moderate("uint8", 4), moderate("bool", 4)
    ([3, 40, 77, 13], [1, 0, 1, 1])
    """
    if dtype == "bool":
        return [int(i % 3 != 1) for i in range(count)]
    whole = [3 + 37 * i % 101 for i in range(count)]
    if dtype in UNSIGNED:
        return list(whole)
    signs = [-1 if signed and i % 3 == 1 else 1 for i in range(count)]
    if dtype in PARTS:
        return [(real(s * (x + Fraction(1, 4))), real(Fraction(x % 7) + Fraction(1, 2)))
                for s, x in zip(signs, whole, strict=True)]  # fmt: skip
    if dtype in FORMATS:
        return [real(s * (x + Fraction(3, 4))) for s, x in zip(signs, whole, strict=True)]
    return [s * x for s, x in zip(signs, whole, strict=True)]


def _standard(op: str) -> list[str]:
    return [dtype for dtype in dtypes_of(op) if dtype in STANDARD_DTYPES]


# ---- casts ---------------------------------------------------------------------------------------


@cases_of("cast")
def casts(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give every dtype in every other: what is cut off is a fraction, or an imaginary part."""
    names = _standard(op)
    for source, target in product(names, names):
        pair = f"{source}-{target}"
        if not wanted.wants("plain", pair):
            continue
        chief = "float32" in (source, target) and "int32" in (source, target)
        for shape in ((17,), (2, 3, 4), (2, 3, 2, 4)) if chief else ((17,),):
            some = moderate(source, prod(shape), signed=target not in UNSIGNED)

            def expect(
                some: Sequence[Value] = some, to: str = target, shape: Shape = shape
            ) -> tuple[Output]:
                return (Output(to, shape, tuple(convert(x, to) for x in some)),)

            given = {"input": tensor(source, some, shape), "type": target}
            title = _TITLE if len(shape) == 1 else f"{_TITLE}, {by(shape)}"
            yield Case(op, "plain", pair, title, given, expect)


# ---- integers ------------------------------------------------------------------------------------

_LARGE: dict[str, tuple[int, ...]] = {
    "int32": (2**29 + 1, -(2**29) - 7, 2**28 + 3, 2**29 + 9),
    "uint32": (2**30 + 1, 2**29 + 7, 2**30 + 3, 2**28 + 9),
    "int64": (2**61 + 1, -(2**61) - 7, 2**60 + 3, 2**59 + 9),
    "uint64": (2**62 + 1, 2**61 + 7, 2**62 + 3, 2**58 + 9),
}
"""Numbers that a float of the same size rounds, and whose sums fit."""


@cases_of("add", "sub", "mul", "max", "min", "floordiv", "mod")
def large_integers(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give integers that no float has exactly, and differences that are not negative."""
    facts = Elementwise(op, ("x", "y"), lambda dtype, row: exact_binary(op, dtype, *row))
    if op == "mul":
        facts = Elementwise(op, ("x", "y"), lambda dtype, row: exact_product(dtype, *row))
    for dtype in _standard(op):
        if not wanted.wants("plain", dtype) or dtype == "bool":
            continue
        if op == "sub" and dtype in UNSIGNED:
            y = moderate(dtype, 23)
            x = [a + 1 + i for i, a in enumerate(y) if isinstance(a, int)]
            yield call(facts, "plain", dtype, "differences from 1 to 23", [x, y], [(23,)] * 2)
        if dtype in _LARGE:
            some = sorted(_LARGE[dtype], reverse=True)
            others = [3, 5, 7, 2] if op in ("floordiv", "mod") else list(some[::-1])
            if op == "mul":
                some, others = [abs(x) >> 1 | 1 for x in some], [1, 2, 1, 2]
            if op == "sub":
                others = [2**20 + 1, 2**19 + 3, 5, 2**20 + 7]
            title = "large without overflow"
            yield call(facts, "plain", dtype, title, [some, others], [(4,)] * 2)


@cases_of("reduce", "cumsum")
def large_sums(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give sums of integers that a float would round."""
    for dtype, some in _LARGE.items():
        if wanted.wants("plain", dtype):
            xs: list[Value] = [*(x >> 3 for x in some)] * 2
            title = "large without overflow"
            if op == "reduce":
                yield reduce_case("plain", dtype, title, "SUM", xs, (2, 4), [1])
            else:
                yield cumulative_case(op, "plain", dtype, title, xs, (8,), 0)


_SHAPES: dict[str, list[tuple[Shape, ...]]] = {
    "matmul": [((3, 4), (4, 5)), ((4,), (4,)), ((2, 3, 4), (2, 4, 2))],
    "dot": [((7,), (7,)), ((3, 4), (4, 2))],
    "dot_bwd1": [gradient_shapes("dot_bwd1", (3,), 4, 2, 1)],
    "dot_bwd2": [gradient_shapes("dot_bwd2", (3,), 4, 2, 1)],
}
_FACTORS = {"int32": 4099, "uint32": 4099, "int64": 2**28 + 3, "uint64": 2**28 + 3}
"""Factors whose products a float of the same size rounds; a few of them do not overflow."""


@cases_of(*_SHAPES)
def integer_products(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give sums of products of integers that fit, and of larger ones that no float has exactly."""
    names = NAMES.get(op) or GRADIENTS[op]
    for dtype in _standard(op):
        if not wanted.wants("plain", dtype) or dtype in FORMATS or dtype in PARTS:
            continue
        low = 0 if limits(dtype)[0] == 0 else -2
        for shapes in _SHAPES[op]:
            given = {}
            for k, (name, shape) in enumerate(zip(names, shapes, strict=True)):
                some: list[Value] = [
                    low + (5 * i + i // 3 + k) % (4 - low) for i in range(prod(shape))
                ]
                given[name] = tensor(dtype, some, shape)
            title = f"{title_of(names, shapes)}, {_TITLE}"
            yield product_case(op, "plain", dtype, title, given)
        if dtype in _FACTORS:
            given = {}
            for k, (name, shape) in enumerate(zip(names, _SHAPES[op][0], strict=True)):
                some = [_FACTORS[dtype] - i - 2 * k for i in range(prod(shape))]
                given[name] = tensor(dtype, some, shape)
            yield product_case(op, "plain", dtype, "large without overflow", given)


@cases_of("bitwise_left_shift")
def shifts(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give shifts after which every integer fits."""
    facts = Elementwise(op, ("x", "shift"), lambda dtype, row: row[0] << row[1])  # type: ignore[operator]
    for dtype in _standard(op):
        if wanted.wants("plain", dtype) and dtype != "bool":
            columns: list[list[Value]] = [[3, 5, 1, 7, 2, 6], [1, 2, 3, 1, 2, 0]]
            yield call(facts, "plain", dtype, _TITLE, columns, [(6,)] * 2)


def _number(dtype: str, x: int) -> Value:
    return real(x) if dtype in FORMATS else x


# ---- long sums -----------------------------------------------------------------------------------


def balanced(dtype: str, count: int, seed: object = 0) -> list[Value]:
    """Return ones of either sign and a few zeros, whose sum is 3 and never rounded in any order.

    >>> sum(x.value for x in balanced("float16", 4097))
    Fraction(3, 1)
    """
    plus = (count - 1) // 2
    some = [1] * plus + [-1] * (plus - 3) + [0] * (count - 2 * plus + 3)
    Random(f"balanced {count} {seed}").shuffle(some)
    if dtype in PARTS:
        return [(real(x), real(-x)) for x in some]
    return [real(x) for x in some]


@cases_of("reduce", "dot", "matmul")
def exact_sums(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give long sums without a rounding error, of which no term may be missing."""
    for dtype in _standard(op):
        if not wanted.wants("plain", dtype) or dtype not in (*FORMATS, *PARTS):
            continue
        if op == "reduce":
            count, title = 4097, "of 4097 without rounding"
            rows = [x for i in range(2) for x in balanced(dtype, count, i)]
            yield reduce_case("plain", dtype, title, "SUM", rows, (2, count), [1])
            across = [rows[i * count + j] for j in range(count) for i in range(2)]
            yield reduce_case("plain", dtype, f"{title} in columns", "SUM", across, (count, 2), [0])
            continue
        # All products together, without their signs, are not larger than what float16 counts to.
        count = 2047 if dtype == "float16" else 4097
        one = balanced(dtype, count)
        shapes = ((count,), (count,)) if op == "dot" else ((1, count), (count, 1))
        other: list[Value] = [convert(real(1), dtype)] * count
        given = {n: tensor(dtype, x, s)
                 for n, x, s in zip(NAMES[op], (one, other), shapes, strict=True)}  # fmt: skip
        yield product_case(op, "plain", dtype, f"sums of {count} without rounding", given)


# ---- elements ------------------------------------------------------------------------------------


@cases_of("conj", "real", "imag")
def parts(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give numbers of every dtype; real ones are their own conjugates."""
    for dtype in _standard(op):
        if not wanted.wants("plain", dtype):
            continue
        some = moderate(dtype, 13)

        def expect(some: Sequence[Value] = some, dtype: str = dtype) -> tuple[Output]:
            kind = dtype if op == "conj" else PARTS.get(dtype, dtype)
            return (Output(kind, (13,), tuple(_part(op, x) for x in some), zero_sign=False),)

        yield Case(op, "plain", dtype, _TITLE, {"input": tensor(dtype, some)}, expect)


def _part(op: str, x: Value) -> Value:
    if not isinstance(x, tuple):
        return x if op != "imag" else real(0) if isinstance(x, Real) else 0
    return (x[0], -x[1]) if op == "conj" else x[op == "imag"]


@cases_of("clip", "clip_backward")
def clipped(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give numbers of which bounds leave some as they are."""
    for dtype in _standard(op):
        inner = PARTS.get(dtype, dtype)
        if wanted.wants("plain", dtype) and inner != "bool":
            low, high = _number(inner, 10), _number(inner, 60)
            some, start = moderate(inner, 21), (op, "plain", dtype, _TITLE)
            if op == "clip":
                yield clip_case(*start, some, (3, 7), low, high)
            else:
                grad = moderate(dtype, 28)[7:]
                yield clip_gradient(*start, (3, 7), some, low, high, gradients=grad)
