"""The cases that functions of one real number share: inside their domain, outside, at its ends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import cycle, islice
from random import Random

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted
from suanzi.conformance.cases._elementwise import Elementwise, Row, all_cases, from_rows, outcome
from suanzi.conformance.cases._elementwise_sizes import filled_length
from suanzi.conformance.model.case import Case, Refused
from suanzi.conformance.model.data import anything, special, tensor
from suanzi.conformance.model.numbers import FORMATS, Real, Value, decode, encode, real
from suanzi.conformance.truth.functions import FUNCTIONS, as_real, number
from suanzi.standard import interface

_PERIODIC = ("sin", "cos", "tan")


def functions_of(category: str) -> list[str]:
    """Return the functions of one real number in a category of the standard."""
    return [name for name in FUNCTIONS if interface(name).category == category]


def function_cases(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the cases of a function of one real number."""
    facts = Elementwise(
        op,
        ("x",),
        lambda dtype, row: as_real(FUNCTIONS[op](_float(row[0]))),
        defined=lambda dtype, row: _is_plain(op, _float(row[0])),
        ordinary=lambda dtype, count, seed, operand: _moderate(op, dtype, count, seed),
        random=lambda dtype, count, seed, operand: _of_every_size(op, dtype, count, seed),
        refused=lambda dtype: _far_outside(op, dtype),
    )
    yield from all_cases(facts, wanted)
    for dtype in facts.dtypes:
        if wanted.wants("special", dtype):
            yield from _delicate(facts, dtype, wanted)
            yield from _outside(facts, dtype, wanted)


def _is_plain(op: str, x: float) -> bool:
    """Tell whether a function has a number at x: what is outside, or a pole, is tried alone."""
    return FUNCTIONS[op].inside(x) and not _is_pole(op, x)


def _is_pole(op: str, x: float) -> bool:
    inside = math.isfinite(x) and FUNCTIONS[op].inside(x)
    return inside and as_real(FUNCTIONS[op](x)).is_infinite


def _float(x: Value) -> float:
    assert isinstance(x, Real)
    return number(x)


def _rounded(dtype: str, x: float) -> Real:
    return decode(FORMATS[dtype], encode(FORMATS[dtype], real(x)))


def _far_outside(op: str, dtype: str) -> Row | None:
    """Return a number that the function has no value of, where the clause has a status for it."""
    outside = _rounded(dtype, -20.0)
    if FUNCTIONS[op].inside(-20.0) or Status.INVALID_ARGUMENT not in interface(op).statuses:
        return None
    return (outside,)


def _range(op: str) -> tuple[float, float]:
    """Return where a function is of moderate size."""
    low, high = FUNCTIONS[op].domain
    return max(low, -4.0), min(high, 4.0)


def _moderate(op: str, dtype: str, count: int, seed: object) -> list[Value]:
    random = Random(f"{op} {dtype} {seed}")
    low, high = _range(op)
    return [_rounded(dtype, random.uniform(low, high)) for _ in range(count)]


def _of_every_size(op: str, dtype: str, count: int, seed: object) -> list[Value]:
    """Return any bits, any magnitudes, and numbers around the points where it is delicate."""
    random = Random(f"{op} of every size {dtype} {seed}")
    found = anything(dtype, count // 3, (op, seed))
    for i in range(count - count // 3):
        sign = random.choice((1, -1))
        # Powers of a fraction would be those of the machine's library.
        if i % 2:
            x = sign * math.ldexp(random.uniform(1, 2), random.randint(-30, 11))
        else:
            off = random.choice((1, -1)) * math.ldexp(random.uniform(1, 2), random.randint(-24, -2))
            x = sign * random.choice(FUNCTIONS[op].near or (1,)) * (1 + off)
        found.append(_rounded(dtype, x))
    return found


def _delicate(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    function, form = FUNCTIONS[facts.op], FORMATS[dtype]
    points = [*function.near, *(float(x) for x in function.special), *function.domain, 0.5, 2, 10]
    step = 6 if wanted.quick else 3
    sizes = {abs(p) for p in points if math.isfinite(p)}
    sizes |= {
        abs(p * (1 + side * 2.0**-k))
        for p in function.near
        for k in range(1, form.mantissa + 2, step)
        for side in (-1, 1)
    }
    yield from _at(facts, dtype, "delicate points and their neighbours", sizes, wanted)
    if facts.op in _PERIODIC:
        turns = [*range(1, 30, step - 2), 355, 710, 10**5, 10**9, 10**15]
        # The last is the double next to a multiple of a quarter turn.
        large = [1e5, 1e10, 1e22, 5.3e24, 2.0**100, 2.0**127, 2.0**1000, 1.5e300]
        large += [6381956970095103 * 2.0**797]
        yield from _at(facts, dtype, "quarter turns", {k * math.pi / 2 for k in turns}, wanted)
        yield from _at(facts, dtype, "many turns", set(large), wanted)


def _at(
    facts: Elementwise, dtype: str, title: str, sizes: set[float], wanted: Wanted
) -> Iterator[Case]:
    """Give a case of numbers of these sizes, with both signs, and of their neighbours."""
    form = FORMATS[dtype]
    near = {encode(form, real(size)) + step for size in sizes for step in (-1, 0, 1)}
    sign = 1 << (form.bits - 1)
    bits = sorted(b | s for b in near if 0 <= b <= form.largest for s in (0, sign))
    rows: list[Row] = [(decode(form, b),) for b in bits]
    kept = [row for row in rows if facts.defined(dtype, row)]
    if kept:
        yield from_rows(facts, "special", dtype, title, kept, wanted)


def _outside(facts: Elementwise, dtype: str, wanted: Wanted) -> Iterator[Case]:
    """Give numbers that the function has no value of, alone, and one among others."""
    function = FUNCTIONS[facts.op]
    ends = [end for end in function.domain if math.isfinite(end)]
    beside = [end + side * (abs(end) or 1) * off for end in ends for side in (-1, 1)
              for off in (2.0**-FORMATS[dtype].mantissa, 0.125, 1.0, 20.0)]  # fmt: skip
    some = [*special(dtype), *(_rounded(dtype, x) for x in beside)]
    poles = [x for x in some if _is_pole(facts.op, _float(x))]
    if poles:
        yield from_rows(facts, "special", dtype, "at a pole", [(x,) for x in poles], wanted)
    bad = [x for x in some if not function.inside(_float(x))]
    if not bad:
        return
    good = _moderate(facts.op, dtype, 5, "inside")
    good = list(islice(cycle(good), filled_length(6, wanted) - 1))
    bad = list(islice(cycle(bad), filled_length(len(bad), wanted)))
    for title, values in (
        ("outside the domain", bad),
        ("one outside the domain", [*good[:3], bad[-1], *good[3:]]),
    ):
        rows: list[Row] = [(x,) for x in values]
        # Where the clause has no status for it, the result is NaN.
        if Status.INVALID_ARGUMENT not in interface(facts.op).statuses:
            yield from_rows(facts, "special", dtype, title, rows, wanted)
            continue

        def expect(rows: list[Row] = rows) -> Refused:
            made = outcome(facts, dtype, (len(rows),), rows)
            return Refused(Status.INVALID_ARGUMENT, instead=(made,))

        arguments = {"x": tensor(dtype, values)}
        yield Case(facts.op, "special", dtype, title, arguments, expect)
