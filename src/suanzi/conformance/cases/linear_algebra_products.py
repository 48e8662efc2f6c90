"""7.2.17.1, .2, .12, .13: matmul, dot, linear and bilinear against sums written out.

Integers are exact modulo 2^n; floats may differ by what any order of summation can differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._sparse import made_sparse, thinned
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import sample, tensor
from suanzi.conformance.model.numbers import (
    FORMATS,
    INFINITY,
    NAN,
    NARROW,
    PARTS,
    ZERO,
    Real,
    Value,
    decode,
    limits,
    real,
)
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.linear_algebra_products import product_output

Shape = tuple[int, ...]
Shapes = tuple[Shape, ...]

NAMES = {
    "matmul": ("mat1", "mat2"),
    "dot": ("vec1", "vec2"),
    "linear": ("x", "weight", "bias"),
    "bilinear": ("x", "y", "weight", "bias"),
}
_PLAIN: dict[str, list[Shapes]] = {
    "matmul": [
        ((5,), (5,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((4, 4), (4, 4)),
        ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)),
        ((2, 3, 4), (2, 4, 5)), ((2, 2, 2, 3), (2, 2, 3, 2)), ((1, 1), (1, 1)), ((5, 1), (1, 4)),
        ((17, 19), (19, 13)), ((1, 9), (9, 1)),
    ],
    "dot": [
        ((5,), (5,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 3, 4), (4,)),
        ((2, 3, 4), (3, 4, 2)), ((4,), (2, 4, 3)), ((3, 4), (2, 2, 4, 3)), ((2, 3), (2, 3, 4)),
        ((1, 1), (1, 1)), ((2, 50), (50, 3)),
    ],
    "linear": [
        ((3,), (4, 3)), ((2, 3), (4, 3)), ((2, 3), (4, 3), (4,)), ((2, 2, 3), (4, 3)),
        ((2, 2, 3), (4, 3), (4,)), ((3,), (4, 3), (4,)), ((1, 1), (1, 1), (1,)),
        ((2, 4, 40), (3, 40), (3,)),
    ],
    "bilinear": [
        ((3,), (4,), (5, 3, 4)), ((2, 3), (2, 4), (5, 3, 4)), ((2, 3), (2, 4), (5, 3, 4), (5,)),
        ((2, 2, 2), (2, 2, 3), (4, 2, 3), (4,)), ((1, 1), (1, 1), (1, 1, 1), (1,)),
        ((2, 9), (2, 8), (2, 9, 8)),
    ],
}  # fmt: skip
_BROADCAST: dict[str, list[Shapes]] = {
    "matmul": [
        ((3, 1, 2, 3), (4, 3, 2)), ((1, 2, 3), (4, 3, 2)), ((4, 2, 3), (1, 3, 2)),
        ((1, 2, 1, 2, 2), (3, 2, 3)), ((3, 1, 4), (2, 1, 4, 2)), ((1, 3, 1, 2), (2, 1, 3, 2, 3)),
    ],
    "dot": [((), (2, 3)), ((2, 3), ()), ((), (4,)), ((), ())],
    "linear": [((2, 1, 3), (4, 3), (4,)), ((2, 2, 2, 3), (1, 3), (1,))],
    "bilinear": [((2, 1, 3), (2, 1, 2), (4, 3, 2), (4,))],
}  # fmt: skip
_EMPTY: dict[str, list[Shapes]] = {
    "matmul": [
        ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((2, 3), (3, 0)), ((0,), (0,)), ((0, 2, 3), (3, 1)),
        ((2, 0, 3), (2, 3, 2)), ((3, 0), (0,)), ((1, 2, 3), (0, 3, 2)),
    ],
    "dot": [((0,), (0,)), ((2, 0), (3, 0, 4)), ((0, 2), (2, 3)), ((), (0, 2)), ((2, 0), (0,))],
    "linear": [((0, 3), (2, 3)), ((3, 0), (2, 0)), ((3, 0), (2, 0), (2,)), ((2, 3), (0, 3))],
    "bilinear": [
        ((0, 3), (0, 2), (4, 3, 2)), ((2, 0), (2, 3), (4, 0, 3), (4,)),
        ((2, 3), (2, 2), (0, 3, 2)),
    ],
}  # fmt: skip
_LONG: dict[str, Shapes] = {
    "matmul": ((2, 600), (600, 2)),
    "dot": ((600,), (600,)),
    "linear": ((2, 600), (2, 600), (2,)),
    "bilinear": ((1, 24), (1, 25), (2, 24, 25), (2,)),
}
_STRIDED: dict[str, Shapes] = {
    "matmul": ((2, 3, 4), (2, 4, 5)),
    "dot": ((2, 3, 4), (3, 4, 2)),
    "linear": ((2, 2, 3), (4, 3), (4,)),
    "bilinear": ((2, 2, 2), (2, 2, 3), (4, 2, 3), (4,)),
}
_SIZED: dict[str, list[Shapes]] = {
    "matmul": [
        ((1, 65), (65, 1)), ((65, 3), (3, 129)), ((5, 129), (129, 7)), ((9, 8), (8, 17)),
        ((16, 33), (33, 16)), ((33, 5), (5, 15)), ((2, 9, 17), (2, 17, 9)), ((257,), (257, 3)),
        ((3, 1025), (1025,)), ((63, 2), (2, 65)), ((31, 32), (32, 31)),
    ],
    "dot": [((7,), (7,)), ((65,), (65,)), ((257,), (257,)), ((4097,), (4097,))],
    "linear": [((65, 9), (17, 9), (17,)), ((3, 129), (5, 129), (5,)), ((33, 2), (65, 2))],
    "bilinear": [((9, 17), (9, 5), (3, 17, 5), (3,)), ((2, 33), (2, 3), (5, 33, 3))],
}  # fmt: skip
_LARGE: dict[str, Shapes] = {
    "matmul": ((65, 33), (33, 129)),
    "dot": ((65, 33), (33, 65)),
    "linear": ((65, 33), (129, 33), (129,)),
    "bilinear": ((17, 33), (17, 9), (33, 33, 9), (33,)),
}


@dataclass(frozen=True)
class OfMatrices:
    """What the cases of a product of matrices, or of a gradient of one, need to know of it."""

    names: tuple[str, ...]
    """Of its tensors."""
    groups: Mapping[str, Sequence[Shapes]]
    """The shapes of the operands by group."""
    long: Shapes
    """Shapes whose sums have 600 terms."""
    strided: Shapes
    sizes: Sequence[Shapes]
    """Past the edges of tiles; all of them in one dtype, a sample in the others."""
    special: Callable[[str, str], Iterator[Case]]
    """Gives the cases of special values for an interface and a dtype."""
    large: Shapes | None = None
    gradient: bool = False


def product_cases(op: str, facts: OfMatrices, wanted: Wanted) -> Iterator[Case]:
    """Give the cases of every group and dtype."""
    for dtype in dtypes_of(op):
        for group, some in facts.groups.items():
            if wanted.wants(group, dtype):
                step = 2 if wanted.quick and (facts.gradient or len(some) > 4) else 1
                for shapes in some[::step]:
                    yield small(op, group, dtype, facts.names, shapes)
        if wanted.wants("plain", dtype) and not (wanted.quick and dtype in PARTS):
            yield long_sums(op, dtype, facts.names, facts.long)
        if wanted.wants("strided", dtype):
            yield from strided(op, dtype, facts.names, facts.strided, wanted.quick)
            if (op, dtype) == ("matmul", "float32"):
                yield from _of_sparse(op, dtype)
        if wanted.wants("random", dtype):
            yield random_case(op, dtype, facts.names, facts.strided, wanted.seed)
        if wanted.wants("special", dtype):
            yield from facts.special(op, dtype)
        if wanted.wants("sizes", dtype):
            some = facts.sizes
            if dtype != "float32" or wanted.quick:
                count = 1 if wanted.quick or facts.gradient else 2
                some = Random(f"sizes {op} {dtype}").sample(some, count)
            if facts.large is not None and dtype in ("float32", "int32") and not wanted.quick:
                some = [*some, facts.large]
            for shapes in some:
                yield small(op, "sizes", dtype, facts.names, shapes)


@cases_of(*NAMES)
def products(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give products of every rank."""
    groups = {"plain": _PLAIN[op], "broadcast": _BROADCAST[op], "empty": _EMPTY[op]}
    facts = OfMatrices(
        NAMES[op], groups, _LONG[op], _STRIDED[op], _SIZED[op], special_values, _LARGE[op]
    )
    return product_cases(op, facts, wanted)


def product_case(op: str, group: str, dtype: str, title: str, given: Mapping[str, Data]) -> Case:
    """Return a case of a product, whose truth is a sum of products."""

    def expect() -> tuple[Output]:
        return (product_output(op, given, dtype),)

    return Case(op, group, dtype, title, given, expect)


def title_of(names: Sequence[str], shapes: Shapes) -> str:
    """Return shapes in words."""
    words = ["x".join(map(str, s)) if s else "a number" for s in shapes]
    more = " and bias" if "bias" in names[: len(shapes)] else ""
    return " by ".join(words[: len(words) - bool(more)]) + more


def _exponents(dtype: str) -> tuple[int, int]:
    """Return the ends of sizes whose products a dtype holds."""
    return (-3, -1) if dtype == "float8_e4m3fn" else (-3, 0)


def small(op: str, group: str, dtype: str, names: Sequence[str], shapes: Shapes) -> Case:
    """Return a product of operands of these shapes."""
    given = {
        name: sample(dtype, shape, (op, group, name), _exponents(dtype))
        for name, shape in zip(names, shapes, strict=False)
    }
    return product_case(op, group, dtype, title_of(names, shapes), given)


def _of_sparse(op: str, dtype: str) -> Iterator[Case]:
    """Give matrices that are sparse, on either side and on both."""
    whole = small(op, "strided", dtype, NAMES[op], ((3, 4), (4, 5)))
    given = {name: thinned(x) for name, x in whole.arguments.items()}
    first, second = NAMES[op]
    for kinds in (("COO", "COO"), ("CSR", None), (None, "COO")):
        title = f"sparse {' by '.join(kind or 'dense' for kind in kinds)}"
        case = product_case(op, "strided", dtype, title, given)
        yield made_sparse(case, {first: kinds[0], second: kinds[1]})


def long_sums(op: str, dtype: str, names: Sequence[str], shapes: Shapes) -> Case:
    """Return sums so long that a narrow accumulator, or one term too few, is seen.

    All is positive, so that nothing cancels.
    """
    exponents = (-4, -2) if dtype.startswith("float8") else (-1, 0)
    given = {
        name: sample(dtype, shape, (op, "long", name), exponents, positive=True)
        for name, shape in zip(names, shapes, strict=True)
    }
    return product_case(op, "plain", dtype, "sums of 600", given)


def strided(
    op: str, dtype: str, names: Sequence[str], shapes: Shapes, quick: bool
) -> Iterator[Case]:
    """Give operands that lie in memory in every way, one after the other and all at once."""
    kinds = ("columns", "gaps", "reversed", "offset")
    choices = [(name, layout) for layout, name in product(kinds, names)]
    choices += [("all", layout) for layout in kinds]
    for which, layout in choices[-4:] if quick else choices:
        given = {
            name: sample(dtype, shape, (op, "strided", name), _exponents(dtype),
                         layout=layout if which in (name, "all") else "dense")
            for name, shape in zip(names, shapes, strict=True)
        }  # fmt: skip
        yield product_case(op, "strided", dtype, f"{which} {layout}", given)


def random_case(op: str, dtype: str, names: Sequence[str], shapes: Shapes, seed: int) -> Case:
    """Return a product of numbers of many magnitudes."""
    reach = 2 if dtype.startswith("float8") else 3 if PARTS.get(dtype, dtype) == "float16" else 8
    given = {
        name: sample(dtype, shape, (op, "random", name, seed), (-reach, reach - 2))
        for name, shape in zip(names, shapes, strict=True)
    }
    return product_case(op, "random", dtype, "many magnitudes", given)


# ---- special values -----------------------------------------------------------------------------


def special_values(op: str, dtype: str) -> Iterator[Case]:
    """Give what a product does with NaN, infinities and the ends of the range."""
    names = NAMES[op][:2]
    if dtype not in FORMATS and dtype not in PARTS:
        yield _whole_extremes(op, dtype)
        return
    if op == "bilinear":
        yield from special_ones(op, dtype, NAMES[op][:3], _PLAIN[op][1])
        return
    turned = op == "linear"

    def two_of(title: str, first: list[list[Value]], second: list[list[Value]]) -> Case:
        right = [list(r) for r in zip(*second, strict=True)] if turned else second
        given = {
            name: tensor(dtype, [x for row in rows for x in row], (len(rows), len(rows[0])))
            for name, rows in zip(names, (first, right), strict=True)
        }
        return product_case(op, "special", dtype, title, given)

    def number(x: Real) -> Value:
        return (x, ZERO) if dtype in PARTS else x

    one, zero, nan = number(real(1)), number(ZERO), number(NAN)
    minus = number(real(-1))
    yield two_of("NaN spoils its row", [[one, nan, one], [one, one, zero]], [[one], [zero], [one]])
    yield two_of("zero by NaN", [[zero, one], [one, zero]], [[nan, one], [one, zero]])
    form = FORMATS[PARTS.get(dtype, dtype)]
    largest, smallest = decode(form, form.largest), decode(form, 1)
    least = number(decode(form, 3))
    yield two_of("subnormal", [[number(smallest), zero], [least, number(-smallest)]],
                 [[one, minus], [one, zero]])  # fmt: skip
    big = number(largest)
    yield two_of("largest", [[big, zero], [zero, number(-largest)]], [[one, zero], [zero, one]])
    if dtype in PARTS:
        return
    if form.infinity:
        infinite, opposite = number(INFINITY), number(-INFINITY)
        yield two_of(
            "infinities",
            [[infinite, one, one], [infinite, opposite, one], [opposite, infinite, zero],
             [one, one, one]],
            [[one, minus, zero], [one, one, one], [one, one, one]],
        )  # fmt: skip
        yield two_of("beyond the range", [[big, big]], [[one], [one]])
    if dtype in NARROW and dtype != "bfloat16":
        # Past the range on the way and within it at the end, as float32 has it.
        yield two_of("beyond the range and back", [[big, big, number(-largest)]], [[one]] * 3)


def special_ones(op: str, dtype: str, names: Sequence[str], shapes: Shapes) -> Iterator[Case]:
    """Give ones, but for a first element that is NaN, subnormal or large."""
    form = FORMATS[PARTS.get(dtype, dtype)]
    large = decode(form, form.largest - (4 << form.mantissa))
    for title, x in (("NaN", NAN), ("subnormal", decode(form, 1)), ("large", large)):
        given = {}
        for name, shape in zip(names, shapes, strict=True):
            ones = [real(1)] * math.prod(shape)
            some = [x, *ones[1:]] if name == names[0] else ones
            made: list[Value] = [(y, ZERO) for y in some] if dtype in PARTS else list(some)
            given[name] = tensor(dtype, made, shape)
        yield product_case(op, "special", dtype, f"{title} in {names[0]}", given)


def _whole_extremes(op: str, dtype: str) -> Case:
    low, high = limits(dtype)
    some = [low, high, low + 1, high - 1, 1, 0, low, high, 2]
    names = NAMES[op]
    given = {names[0]: tensor(dtype, some * 3, (3, 9)), names[1]: tensor(dtype, some, (9, 1))}
    return product_case(op, "special", dtype, "ends of the range", given)
