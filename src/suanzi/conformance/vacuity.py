"""Wrong answers that a case must notice: a required case that accepts one of them is vacuous.

A wrong answer is noticed if the lenient check refuses it, so that a level is not reached. Wrong
answers are computed from the right ones, and from calls that differ a little from that of the case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

from suanzi.conformance.judging.verdict import Answer, Verdict, verdict
from suanzi.conformance.model.basis import REQUIRED, why
from suanzi.conformance.model.case import Case, Check, Either, Expected, Output
from suanzi.conformance.model.data import numbers, tensor, values
from suanzi.conformance.model.numbers import (
    FORMATS,
    NARROW,
    PARTS,
    Real,
    Value,
    convert,
    decode,
    exponent_of,
    two,
    wrap,
)
from suanzi.conformance.running.process import Asked, Local
from suanzi.conformance.subjects.wire import ITEMSIZE, Data
from suanzi.conformance.vacuity_models import LOWER as LOWER_DIGITS
from suanzi.conformance.vacuity_models import model_answers
from suanzi.standard import interfaces
from suanzi.standard.catalogues import STANDARD

Outputs = list[Any]

LOWER = {"float64": 24, "float32": 11, "float16": 4}
"""The bits of the significand one precision lower: of float32, of float16 and of float8_e4m3fn.

Half of the digits of float16 are 5 bits: bfloat16, which has 8, is inaccurate and not wrong.
"""
_LOWER_OPERANDS = {
    "float64": "float32", "float32": "float16", "complex128": "complex64", "complex64": "complex32",
}  # fmt: skip
"""For factors of matrices, whose bound in float16 is some percent: no lower one is meaningful."""
VIA = {"int64": 53, "uint64": 53, "int32": 24, "uint32": 24}
"""The bits that integers keep in a float of the same size."""
_ROWS = 8
"""The residual of a larger matrix may be as large as that of one in a lower precision."""
MOST_NEIGHBOURS = 3


def accepts(case: Case, outputs: Sequence[Any], expected: Expected | None = None) -> bool:
    """Tell whether a level accepts these outputs of a case: they are right, or inaccurate at most.

    >>> from suanzi.conformance.cases import cases
    >>> plain = next(c for c in cases("add") if c.id == "add/plain/float32/24-elements")
    >>> accepts(plain, right_answer(plain)), accepts(plain, dict(wrong_answers(plain))["zeros"])
    (True, False)
    """
    found = _judged(case, outputs, expected)
    return found.passed or found.inaccurate


def unnoticed(case: Case, backend: Asked | None = None) -> list[str]:
    """Return the names of the wrong answers that a case accepts.

    A wrong answer counts where an element differs from the right one in the upper half of its
    digits: signs of zeros, subnormal numbers and other digits are quality. So zeros do not count
    for a result of zeros, nor an element left out of a sum of ten thousand times its size. Where
    several answers are right, or a bound follows from the condition of a matrix, what passes the
    strict check is right.
    """
    expected, right = case.expect(), right_answer(case, backend)
    case = replace(case, expect=lambda: expected)
    unique, missed = _is_unique(expected), []
    for name, outputs in wrong_answers(case, backend):
        found = _judged(case, outputs, expected)
        if name == LOWER_DIGITS:
            if found.passed and outputs != right:
                missed.append(name)
            continue
        if (unique if found.passed else found.inaccurate) and differ(outputs, right):
            missed.append(name)
    return missed


def _is_unique(expected: Expected) -> bool:
    """Tell whether there is one right answer, which a lenient check knows better than any other."""
    return isinstance(expected, tuple) and not any(
        isinstance(x, Check) or (isinstance(x, Output) and x.rough is x.allowed is not None)
        for x in expected
    )


def _is_narrow_sum(expected: Expected) -> bool:
    """Tell whether a result is a sum in float16, whose own arithmetic may lose as many digits."""
    return isinstance(expected, tuple) and any(
        isinstance(x, Output) and x.dtype in NARROW and x.rough is not None for x in expected
    )


def differ(a: Any, b: Any) -> bool:
    """Tell whether two outputs differ in more than the lower half of their digits.

    >>> one, near, far = (tensor("float32", [x]) for x in (1.0, 1.0001, 1.001))
    >>> differ(one, near), differ(one, far)
    (False, True)
    """
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) != len(b) or any(map(differ, a, b))
    if not isinstance(a, Data) or not isinstance(b, Data):
        return type(a) is not type(b) or bool(a != b)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return True
    form = FORMATS.get(PARTS.get(a.dtype, a.dtype))
    if form is None or a.raw == b.raw:
        return a.raw != b.raw
    share, least = two(-((form.mantissa + 1) // 2)), two(1 - form.bias)
    return any(_far(x, y, share, least) for x, y in zip(_numbers(a), _numbers(b), strict=True))


def _numbers(data: Data) -> list[tuple[Real, ...]]:
    return [x if isinstance(x, tuple) else (x,) for x in values(data)]  # type: ignore[misc]


def _far(x: tuple[Real, ...], y: tuple[Real, ...], share: Fraction, least: Fraction) -> bool:
    if any(p.is_nan or p.size is None for p in (*x, *y)):
        return any(p.is_nan != q.is_nan or p.size != q.size for p, q in zip(x, y, strict=True))
    largest = max(abs(p.value) for p in (*x, *y))
    return any(abs(p.value - q.value) > max(share * largest, least)
               for p, q in zip(x, y, strict=True))  # fmt: skip


def has_values(expected: Expected) -> bool:
    """Tell whether an expectation has values to compare, in one interpretation at least."""
    if isinstance(expected, Either):
        return any(has_values(one) for one in expected.readings.values())
    if isinstance(expected, Check):
        return True
    return isinstance(expected, tuple) and any(_has_elements(one) for one in expected)


def is_required(case: Case, expected: Expected) -> bool:
    """Tell whether levels depend on a case, or will once a tentative one is decided."""
    return case.skip is None and why(case, expected).basis in {*REQUIRED, "tentative"}


def right_answer(case: Case, backend: Asked | None = None) -> Outputs:
    """Return the outputs of suanzi, or of another backend; none if it refuses the call."""
    answer = (backend or _suanzi()).ask(case)
    good = isinstance(answer, Answer) and answer.status == "SUCCESS"
    return list(answer.outputs) if isinstance(answer, Answer) and good else []


def wrong_answers(case: Case, backend: Asked | None = None) -> Iterator[tuple[str, Outputs]]:
    """Give wrong outputs of a case by name: zeros, an operand, a neighbouring operation, ...

    Some may be right for the operands of a case, as zeros are for a difference of equals.
    """
    right = right_answer(case, backend)
    if not right:
        return
    expected = case.expect()
    unique = _is_unique(expected)
    given = [(name, x) for name, x in case.arguments.items() if isinstance(x, Data)]
    for name, change in (
        ("zeros", _zeros),
        ("the last element dropped", _dropped),
        ("the last element repeated", _repeated),
        ("a lower precision", _lower),
    ):
        if change is _lower and (
            not unique or _is_narrow_sum(expected) or case.interface.catalogue != STANDARD
        ):
            continue
        yield name, [_each(x, change) for x in right]
    if case.interface.catalogue != STANDARD:
        yield from model_answers(right)
    for name, x in given:
        if any(isinstance(y, Data) and _can_stand_for(x, y) for y in right):
            yield f"the operand {name}", [_each(y, partial(_as, x)) for y in right]
    for name, other in _other_calls(case, given):
        if found := right_answer(other, backend):
            yield name, found
    if not unique and _is_small(given):
        found = right_answer(_in_lower(case), backend)
        if found:
            yield "a lower precision", list(map(_converted, found, right))


# ---- outputs -------------------------------------------------------------------------------------


def _each(x: Any, change: Callable[[Data], Data]) -> Any:
    """Return an output with every tensor changed; a plain value becomes another."""
    if isinstance(x, Data):
        return change(x) if x.size else x
    if isinstance(x, list | tuple):
        return [_each(one, change) for one in x]
    if isinstance(x, bool):
        return not x
    return 0 if isinstance(x, int) else x


def _zeros(x: Data) -> Data:
    return replace(x, raw=bytes(len(x.raw)), repeats=None)


def _dropped(x: Data) -> Data:
    size = ITEMSIZE[x.dtype]
    return replace(x, raw=x.raw[:-size] + bytes(size), repeats=None)


def _repeated(x: Data) -> Data:
    """Return a tensor whose last element is one before it that differs, if there is one."""
    size = ITEMSIZE[x.dtype]
    last = x.raw[-size:]
    for at in range(len(x.raw) - 2 * size, -1, -size):
        if (other := x.raw[at : at + size]) != last:
            return replace(x, raw=x.raw[:-size] + other, repeats=None)
    return x


def _lower(x: Data) -> Data:
    """Return a tensor with the digits of a lower precision."""
    part = PARTS.get(x.dtype, x.dtype)
    if part in VIA:
        made: list[Value] = [wrap(part, _digits(v, VIA[part])) for v in values(x)]  # type: ignore[arg-type]
    elif part in LOWER:
        made = [
            tuple(_shorter(p, part) for p in v) if isinstance(v, tuple) else _shorter(v, part)  # type: ignore[misc, arg-type]
            for v in values(x)
        ]
    else:
        return x
    return replace(x, raw=tensor(x.dtype, made, x.shape).raw, repeats=None)


def _digits(x: int, bits: int) -> int:
    over = max(abs(x).bit_length() - bits, 0)
    return round(x / (1 << over)) << over if over > 0 else x


def _shorter(x: Real, part: str) -> Real:
    if x.is_nan or x.size is None or not x.size:
        return x
    step = two(exponent_of(*x.size.as_integer_ratio()) - LOWER[part] + 1)
    made = Real(x.negative, round(x.size / step) * step)
    largest = decode(FORMATS[part], FORMATS[part].largest)
    return x if abs(made.value) > largest.value else made


def _in_lower(case: Case) -> Case:
    """Return the same call with operands of a lower precision."""
    given = {}
    for name, x in case.arguments.items():
        if isinstance(x, Data) and x.dtype in _LOWER_OPERANDS:
            x = _converted(x, replace(x, dtype=_LOWER_OPERANDS[x.dtype]))
        given[name] = x
    return replace(case, arguments=given)


def _is_small(given: Sequence[tuple[str, Data]]) -> bool:
    return all(n <= _ROWS for _, x in given for n in x.shape)


def _converted(x: Any, like: Any) -> Any:
    """Return an output of a lower precision in the dtype of another."""
    if isinstance(x, list | tuple):
        return list(map(_converted, x, like))
    if not isinstance(x, Data) or x.dtype == like.dtype:
        return x
    made = [convert(v, like.dtype) for v in values(x)]
    return replace(x, dtype=like.dtype, raw=tensor(like.dtype, made, x.shape).raw, repeats=None)


def _can_stand_for(x: Data, y: Data) -> bool:
    return 0 < x.size == y.size and x.dtype in ITEMSIZE and x.scale is None


def _as(x: Data, y: Data) -> Data:
    """Return the elements of an operand in the dtype and the shape of an output."""
    if not _can_stand_for(x, y) or y.scale is not None:
        return _zeros(y)
    made: Data = _converted(x, y)
    return replace(made, shape=y.shape, layout="dense")


# ---- calls ---------------------------------------------------------------------------------------


def _other_calls(case: Case, given: Sequence[tuple[str, Data]]) -> Iterator[tuple[str, Case]]:
    if case.steps:
        return
    for op in neighbours(case.op):
        yield f"{op} instead", replace(case, op=op)
    rank = max((len(x.shape) for _, x in given), default=0)
    axis = case.arguments.get("axis")
    if rank > 1 and isinstance(axis, int) and not isinstance(axis, bool):
        yield "another axis", _with(case, axis=(axis + 1) % rank)
    elif rank > 1 and isinstance(axis, list | tuple) and len(axis) == 1:
        yield "another axis", _with(case, axis=[(axis[0] + 1) % rank])
    if any(x.min2maj is not None or x.layout == "columns" for _, x in given):
        yield "memory read by rows", _with(case, **{name: _by_rows(x) for name, x in given})
    if case.interface.form != "elementwise":
        for name, x in given[:2]:
            if x.size > 1 and x.scale is None and x.sparse is None:
                yield f"an element of {name} left out", _with(case, **{name: _without_largest(x)})
                yield f"an element of {name} repeated", _with(case, **{name: _repeated(x)})


def _without_largest(x: Data) -> Data:
    """Return a tensor with zero for its largest element, which shows most in a sum."""
    size = ITEMSIZE[x.dtype]
    at = size * max(range(x.size), key=_sizes(x).__getitem__)
    return replace(x, raw=x.raw[:at] + bytes(size) + x.raw[at + size :], repeats=None)


def _sizes(x: Data) -> list[float]:
    """Return the magnitudes of the elements; of complex ones the larger part."""
    flat = [0.0 if math.isnan(v) else abs(float(v)) for v in numbers(x)]
    return list(map(max, flat[::2], flat[1::2])) if x.dtype in PARTS else flat


def _by_rows(x: Data) -> Data:
    """Return a tensor as it is for who takes the order of its axes for the row-major one."""
    order = tuple(range(len(x.shape))) if x.layout == "columns" else x.min2maj
    if order is None:
        return x
    steps = [math.prod(x.shape[axis + 1 :]) for axis in range(len(x.shape))]
    places = [0]
    for axis in reversed(order):
        places = [p + i * steps[axis] for p in places for i in range(x.shape[axis])]
    size = ITEMSIZE[x.dtype]
    raw = b"".join(x.raw[p * size : (p + 1) * size] for p in places)
    return replace(x, raw=raw, layout="dense", min2maj=None, repeats=None)


def _with(case: Case, **arguments: Any) -> Case:
    return replace(case, arguments={**case.arguments, **arguments})


@cache
def neighbours(op: str) -> tuple[str, ...]:
    """Return interfaces of the same category and parameters, the nearest in the catalogue first.

    >>> neighbours("max")
    ('min', 'mod', 'true_divide')
    """
    facts = interfaces()
    if op not in facts:
        return ()
    own = facts[op]
    names, home = [p.name for p in own.parameters], list(facts).index(op)
    others = [
        (abs(i - home), -i, name)
        for i, (name, other) in enumerate(facts.items())
        if name != op
        and other.category == own.category
        and other.form not in ("query", "creation")
        and [p.name for p in other.parameters] == names
        and len(other.outputs) == len(own.outputs)
    ]
    return tuple(name for *_, name in sorted(others)[:MOST_NEIGHBOURS])


@cache
def _suanzi() -> Local:
    from suanzi.conformance.subjects.suanzi_adapter import Adapter

    return Local(Adapter())


# ---- judging -------------------------------------------------------------------------------------


def _judged(case: Case, outputs: Sequence[Any], expected: Expected | None) -> Verdict:
    return verdict(case, Answer("SUCCESS", outputs), True, expected)


def _has_elements(x: Any) -> bool:
    if isinstance(x, Output):
        return math.prod(x.shape) > 0
    if isinstance(x, list | tuple):
        return any(map(_has_elements, x))
    return x is not None
