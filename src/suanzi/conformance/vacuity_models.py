"""Wrong answers that people's kernels give: a constant, a shift, an unwritten tail, another row.

The cases of other catalogues than the standard require accuracy, so these must be refused strictly,
and so must the right answer with the digits of one precision lower.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.numbers import FORMATS, Real, Value, exponent_of, real, two
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

DIGITS = {"float64": 24, "float32": 11, "float16": 8, "bfloat16": 4, "float8_e4m3fn": 3,
          "float8_e5m2": 2}  # fmt: skip
"""The bits of the significand one precision lower."""
LOWER = "one precision lower"
_TAIL = 4
"""Which part of a tensor, from its end, is left unwritten: a quarter, and one element at least."""


def model_answers(right: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Give wrong outputs made from the right ones, by name.

    >>> found = dict(model_answers([tensor("float32", [1.0, 2.0, 3.0])]))
    >>> list(found)[:3]
    ['the mean', 'a constant', 'the transposed answer']
    """
    changes: tuple[tuple[str, Callable[[Data], Data]], ...] = (
        ("the mean", _mean),
        ("a constant", _constant),
        ("the transposed answer", _transposed),
        ("a shift by one", _shifted),
        ("an unwritten tail", _unwritten),
        ("another row", _another_row),
        (LOWER, _lower),
    )
    for name, change in changes:
        yield name, [change(x) if _is_full(x) else x for x in right]


def _is_full(x: Any) -> bool:
    return isinstance(x, Data) and x.size > 0


def _made(x: Data, some: Sequence[Value]) -> Data:
    return replace(x, raw=tensor(x.dtype, list(some), x.shape).raw, repeats=None)


def _finite(x: Data) -> list[Fraction]:
    return [
        v.value for v in values(x) if isinstance(v, Real) and v.size is not None and not v.is_nan
    ]


def _mean(x: Data) -> Data:
    found = _finite(x)
    if x.dtype not in FORMATS or not found:
        return x
    return _made(x, [real(sum(found, Fraction(0)) / len(found))] * x.size)


def _constant(x: Data) -> Data:
    return _made(x, [values(x)[0]] * x.size)


def _units(x: Data) -> list[bytes]:
    size = ITEMSIZE[x.dtype]
    return [x.raw[i : i + size] for i in range(0, len(x.raw), size)]


def _placed(x: Data, units: Sequence[bytes]) -> Data:
    return replace(x, raw=b"".join(units), repeats=None)


def _transposed(x: Data) -> Data:
    """Return the elements as they lie with the last two axes exchanged."""
    if len(x.shape) < 2:
        return x
    rows, columns = x.shape[-2:]
    units, plane = _units(x), rows * columns
    return _placed(x, [units[p * plane + i % rows * columns + i // rows]
                       for p in range(len(units) // plane) for i in range(plane)])  # fmt: skip


def _shifted(x: Data) -> Data:
    units = _units(x)
    return _placed(x, [units[-1], *units[:-1]])


def _unwritten(x: Data) -> Data:
    size = ITEMSIZE[x.dtype]
    tail = max(x.size // _TAIL, 1) * size
    return replace(x, raw=x.raw[:-tail] + bytes(tail), repeats=None)


def _another_row(x: Data) -> Data:
    """Return each row in place of the next one."""
    if len(x.shape) < 2:
        return x
    units, row = _units(x), x.shape[-1]
    return _placed(x, units[-row:] + units[:-row])


def _lower(x: Data) -> Data:
    if x.dtype not in DIGITS:
        return x
    return _made(x, [_shorter(v, DIGITS[x.dtype]) for v in values(x)])


def _shorter(x: Value, bits: int) -> Value:
    if not isinstance(x, Real) or x.is_nan or not x.size:
        return x
    step = two(exponent_of(*x.size.as_integer_ratio()) - bits + 1)
    return Real(x.negative, math.floor(x.size / step) * step)  # as a kernel that cuts digits off
