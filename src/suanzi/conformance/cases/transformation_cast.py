"""7.2.3.1: cast, of every dtype to every other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from random import Random

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._elementwise_sizes import size_cases
from suanzi.conformance.cases._operands import Elementwise
from suanzi.conformance.cases._values import (
    SCALE,
    Shape,
    by,
    distinct,
    quantised,
    strided,
    zero_point_of,
)
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import anything, special, tensor
from suanzi.conformance.model.numbers import (
    FORMATS,
    PARTS,
    Real,
    Value,
    convert,
    decode,
    limits,
    real,
    rounded,
    two,
)


@cases_of("cast")
def casts(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give every dtype in every other: one rounding, saturation, two's complement, as O8 says."""
    names = dtypes_of(op)
    for source, target in product(names, names):
        pair = f"{source}-{target}"
        if wanted.wants("plain", pair) and not wanted.quick:
            yield _cast(op, "plain", pair, "12 elements", distinct(source, 12))
        if wanted.wants("special", pair):
            every = _every(source)
            title = "every value" if every else "what breaks"
            yield _cast(op, "special", pair, title, every or special(source))
            edges = _edges(source, target)
            if edges:
                yield _cast(op, "special", pair, "ends and ties of the target", edges)
        if wanted.wants("random", pair):
            elements = anything(source, 20 if wanted.quick else 40, (wanted.seed, target))
            yield _cast(op, "random", pair, f"{len(elements)} elements", elements)


@cases_of("cast")
def casts_of_layouts(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give casts of tensors of any layout, of none, and without a type, which is float32."""
    names = dtypes_of(op)
    for i, source in enumerate(names):
        for target in sorted({"float32", names[(i + 7) % len(names)]}):
            yield from _layouts(op, wanted, f"{source}-{target}")
        if wanted.wants("plain", source):
            elements = distinct(source, 12)
            made = _cast(op, "plain", f"{source}-float32", "", elements)
            arguments = {"input": made.arguments["input"]}
            yield Case(op, "plain", source, "without type", arguments, made.expect)
        if wanted.wants("sizes", source):
            yield from size_cases(_converted(source), source, wanted)


def _converted(source: str) -> Elementwise:
    target = "int32" if source in ("float32", "float16") else "float32"
    return Elementwise(
        "cast",
        ("input",),
        lambda dtype, row: convert(row[0], target),
        result=lambda dtype: target,
        more={"type": target},
        label=f"to {target}",
    )


def _layouts(op: str, wanted: Wanted, pair: str) -> Iterator[Case]:
    source = pair.split("-")[0]
    if wanted.wants("strided", pair):
        for layout, some in strided(distinct(source, 24), (2, 3, 4)):
            yield _cast(op, "strided", pair, layout, some, (2, 3, 4), layout)
    if wanted.wants("empty", pair):
        for shape in ((), (0,), (2, 0, 3)):
            yield _cast(op, "empty", pair, by(shape), distinct(source, prod(shape)), shape)


@cases_of("cast")
def casts_of_quantised(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the real numbers that quantised ones stand for."""
    for source in (n for n in dtypes_of(op, True) if quantised(n) and not n.startswith("QT_CH")):
        for target in ("float32", "float64"):
            pair = f"{source}-{target}"
            if wanted.wants("plain", pair):
                yield _dequantised(op, pair)


def _dequantised(op: str, pair: str) -> Case:
    source, target = pair.split("-")
    stored, point = distinct(source, 12), zero_point_of(source)

    def expect() -> tuple[Output]:
        whole = [x for x in stored if isinstance(x, int)]
        truth = tuple(real((x - point) * Fraction(SCALE)) for x in whole)
        return (Output(target, (12,), truth),)

    data = replace(tensor(source, stored), scale=(SCALE,), zero_point=point)
    return Case(op, "plain", pair, "12 elements", {"input": data, "type": target}, expect)


def _every(dtype: str) -> list[Value]:
    """Return all values of a dtype that has no more than 256."""
    if dtype in FORMATS:
        form = FORMATS[dtype]
        return [decode(form, bits) for bits in range(256)] if form.bits == 8 else []
    if dtype in PARTS or dtype == "bool":
        return []
    low, high = limits(dtype)
    return list(range(low, high + 1)) if high - low < 256 else []


def _cast(
    op: str,
    group: str,
    pair: str,
    title: str,
    elements: Sequence[Value],
    shape: Shape | None = None,
    layout: str = "dense",
) -> Case:
    source, target = pair.split("-")
    dims = (len(elements),) if shape is None else shape

    def expect() -> tuple[Output]:
        # Rounded here: a cast to a narrow float must not go through float32.
        truth = tuple(convert(x, target) for x in elements)
        free = tuple(i for i, x in enumerate(elements) if _is_beyond(x, truth[i], target))
        return (Output(target, dims, truth, free=free),)

    data = tensor(source, elements, dims, layout)
    return Case(op, group, pair, title, {"input": data, "type": target}, expect)


def _is_beyond(x: Value, made: Value, target: str) -> bool:
    """Tell whether a number is out of the range of a dtype: what becomes of it, E45 leaves open."""
    if isinstance(x, tuple):
        parts = (made, made) if not isinstance(made, tuple) else made
        return _is_beyond(x[0], parts[0], PARTS.get(target, target)) or (
            target in PARTS and _is_beyond(x[1], parts[1], PARTS[target])
        )
    if target == "bool":
        return False
    part = PARTS.get(target, target)
    if part in FORMATS:
        first = made[0] if isinstance(made, tuple) else made
        finite = isinstance(x, int) or x.size is not None
        return finite and isinstance(first, Real) and first.size is None
    low, high = limits(target)
    if isinstance(x, Real):
        return x.size is None or not low <= math.trunc(x.value) <= high
    return not low <= x <= high


def _edges(source: str, target: str) -> list[Value]:
    """Return values of a dtype around where another ends, and where two of its numbers tie."""
    if source in PARTS:
        edges = _edges(PARTS[source], PARTS.get(target, target))
        parts = [x for x in edges if isinstance(x, Real)]
        return list(zip(parts, parts[::-1], strict=True))
    part = PARTS.get(target, target)
    exact = _ends(part) if part not in FORMATS else _ties(part)
    if source in FORMATS:
        form = FORMATS[source]
        near = {rounded(form, real(x * k)) for x in exact for k in (1, 1 + two(-form.mantissa))}
        finite = sorted((x for x in near if x.size is not None), key=_by_value)
        return list(finite)
    if source in ("bool", "uint1"):
        return []
    low, high = limits(source)
    whole = {int(x) + d for x in exact for d in (-1, 0, 1)}
    inside = sorted(x for x in whole if low <= x <= high)
    return list(inside)


def _by_value(x: Real) -> tuple[Fraction, bool]:
    return x.value, not x.negative  # of zeros, the negative one first


def _ends(target: str) -> list[Fraction]:
    if target == "bool":
        return [Fraction(x) for x in (0, 1, -1)]
    low, high = limits(target)
    near = (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(-1, 2), Fraction(-1))
    return [Fraction(end) + d for end in (low, high) for d in near]


@cache
def _ties(target: str) -> list[Fraction]:
    """Return halves between neighbours: small ones, large ones, and where the largest ends."""
    form = FORMATS[target]
    one, top = form.bias << form.mantissa, form.largest
    found = []
    random = Random(f"ties {target}")
    for bits in (0, 1, 2, one, one + 1, top - 1, *(random.randrange(top) for _ in range(16))):
        found.append((decode(form, bits).value + decode(form, bits + 1).value) / 2)
    step = decode(form, top).value - decode(form, top - 1).value
    found.append(decode(form, top).value + step / 2)
    whole = Fraction(2 ** (form.mantissa + 1))  # from here on, integers tie
    found += [whole + 1, whole + 3, 2 * whole + 2, 2 * whole + 6]
    return [sign * x for x in found for sign in (1, -1)]
