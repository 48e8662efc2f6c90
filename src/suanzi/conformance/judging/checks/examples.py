"""Properties of outputs that may have other values: statuses, examples."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from suanzi.conformance.judging.checks import check
from suanzi.conformance.model.data import out_of_order, values
from suanzi.conformance.model.numbers import FORMATS, INTEGERS, PARTS, Real, Value, decode, limits
from suanzi.conformance.subjects.wire import Data

Facts = Mapping[str, Any]
Matrix = list[list[complex]]


def form(found: Any, facts: Facts) -> str | None:
    """Return what is wrong with the dtype, the shape and the order of axes of an output."""
    if not isinstance(found, Data):
        return f"{found!r} is not a tensor"
    if found.dtype != facts["dtype"]:
        return f"dtype {found.dtype}, not {facts['dtype']}"
    if found.shape != tuple(facts["shape"]):
        return f"shape {list(found.shape)}, not {list(facts['shape'])}"
    return out_of_order(found, facts["min2maj"]) if "min2maj" in facts else None


@check
def succeeds(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Every output was returned."""
    missing = [i for i, output in enumerate(outputs) if output is None]
    return f"output {missing[0]} is missing" if missing else None


@check
def taken(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Every output was returned, with an element for each one of the operands."""
    shapes = {x.shape for x in arguments.values() if isinstance(x, Data)}
    for found in outputs:
        if len(shapes) == 1 and isinstance(found, Data) and found.shape not in shapes:
            return f"shape {list(found.shape)}, not {list(*shapes)}"
    return succeeds(arguments, outputs, facts)


_OF_NUMBERS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "max": max, "min": min,
}  # fmt: skip
_NEAR = 8
"""Results may be off by this part of the largest number: the dtype of the result is not known."""


@check
def promoted(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """The numbers of operands of two dtypes, in a result of whichever dtype."""
    compute = _OF_NUMBERS.get(facts["op"])
    given = [arguments.get("x"), arguments.get("y"), outputs[0]]
    problem = succeeds(arguments, outputs, facts)
    if problem is not None or compute is None or not all(isinstance(x, Data) for x in given):
        return problem
    if len({x.shape for x in given}) > 1:
        return None if given[0].shape != given[1].shape else f"shape {list(given[2].shape)}"
    for i, row in enumerate(zip(*map(_fractions, given), strict=True)):
        x, y, found = row
        if x is None or y is None or found is None:
            continue
        right = compute(x, y)
        off = max(abs(x), abs(y), abs(right)) / _NEAR
        if _fits(right, given[2].dtype) and abs(found - right) > off:
            return f"[{i}] {float(found)!r} is not {facts['op']}({float(x)!r}, {float(y)!r})"
    return None


def _fractions(data: Data) -> list[Fraction | None]:
    """Return real numbers; None for all others."""
    return [
        None if isinstance(x, tuple) or (isinstance(x, Real) and (x.is_nan or x.size is None))
        else Fraction(x.value if isinstance(x, Real) else x)
        for x in values(data)
    ]  # fmt: skip


def _fits(x: Fraction, dtype: str) -> bool:
    if dtype in FORMATS:
        return abs(x) <= decode(FORMATS[dtype], FORMATS[dtype].largest).value
    low, high = (0, 1) if dtype == "bool" else limits(dtype) if dtype in INTEGERS else (1, 0)
    return low <= x <= high


@check
def has_shape(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """A dtype and a shape, whatever the elements."""
    return form(outputs[0], facts)


@check
def on_device(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """A tensor on a device, of a backend that says where its tensors are."""
    (found,) = outputs
    if not isinstance(found, Data):
        return f"{found!r:.40} is not a tensor"
    name, _, number = facts["device"].partition(":")
    right = f"{name}:{number or 0}"
    return f"device {found.device}, not {right}" if found.device not in (None, right) else None


@check
def in_range(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Every element is in a closed range, as no NaN is."""
    problem = form(outputs[0], facts)
    if problem is not None:
        return problem
    wrong = [x for x in numbers(outputs[0]) if not facts["low"] <= x.real <= facts["high"]]
    return f"{wrong[0].real} is not between {facts['low']} and {facts['high']}" if wrong else None


@check
def one_of(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Every element is one of a few."""
    problem = form(outputs[0], facts)
    if problem is not None:
        return problem
    wrong = [x for x in numbers(outputs[0]) if x not in facts["allowed"]]
    return f"{wrong[0].real} is not one of {list(facts['allowed'])}" if wrong else None


@check
def a_permutation(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """The elements are those, in any order."""
    problem = form(outputs[0], facts)
    if problem is not None:
        return problem
    found = sorted(x.real for x in numbers(outputs[0]))
    return None if found == facts["values"] else f"{found}, not {facts['values']} in any order"


@check
def example_eigen(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """mat v = v w, columns of any length but 0, and the eigenvalues in any order.

    Eigenvalues that are real may be of a real dtype, E125.
    """
    real = {**facts, "dtypes": [PARTS.get(d, d) for d in facts["dtypes"]]}
    problem = _forms(arguments, outputs, facts) and _forms(arguments, outputs, real)
    if problem is not None:
        return problem
    a, w, v = matrix(arguments["mat"]), numbers(outputs[0]), matrix(outputs[1])
    off, order = facts["off"], lambda z: (z.real, z.imag)
    right = sorted(facts["w"], key=order)
    if not _near([sorted(w, key=order)], [right], off):
        return f"eigenvalues {w}, not {right}"
    lengths = [math.sqrt(sum(abs(row[j]) ** 2 for row in v)) for j in range(len(w))]
    if not all(lengths):
        return f"the columns of v have the lengths {lengths}"
    scaled = [[x * w[j] for j, x in enumerate(row)] for row in v]
    return None if _near(_product(a, v), scaled, off) else f"mat v is not v w: {v}"


@check
def example_qr(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Q R = mat, and Q and R are those of the example up to signs."""
    problem = _forms(arguments, outputs, facts)
    if problem is not None:
        return problem
    q, r = matrix(outputs[0]), matrix(outputs[1])
    for name, found in (("Q", q), ("R", r)):
        if not _near(_sizes(found), _sizes(facts[name]), facts["off"]):
            return f"{name} is {found}, not {facts[name]} up to signs"
    if not _near(_product(q, r), matrix(arguments["mat"]), facts["off"]):
        return f"Q R is not mat: {q} {r}"
    return None


@check
def example_svd(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    """U S V^H = mat, S is that of the example, and U and V are up to signs."""
    problem = _forms(arguments, outputs, facts)
    if problem is not None:
        return problem
    u, s, v = (matrix(output) for output in outputs)
    if not _near(s, facts["S"], facts["off"]):
        return f"S is {s}, not {facts['S']}"
    for name, found in (("U", u), ("V", v)):
        if not _near(_sizes(found), _sizes(facts[name]), facts["off"]):
            return f"{name} is {found}, not {facts[name]} up to signs"
    adjoint = [[v[i][j].conjugate() for i in range(len(v))] for j in range(len(v[0]))]
    whole = _product(_product(u, s), adjoint)
    return None if _near(whole, matrix(arguments["mat"]), facts["off"]) else "U S V^H is not mat"


def numbers(data: Data) -> list[complex]:
    """Return the elements as Python has numbers."""
    return [_number(x) for x in values(data)]


def matrix(data: Data) -> Matrix:
    """Return the rows of a matrix."""
    columns = data.shape[1]
    flat = numbers(data)
    return [flat[i : i + columns] for i in range(0, len(flat), columns)]


def _number(x: Value) -> complex:
    if isinstance(x, tuple):
        return complex(_number(x[0]).real, _number(x[1]).real)
    if not isinstance(x, Real):
        return complex(x)
    size = math.nan if x.is_nan else math.inf if x.size is None else float(x.size)
    return complex(-size if x.negative else size)


def _forms(arguments: Facts, outputs: Sequence[Any], facts: Facts) -> str | None:
    for output, dtype in zip(outputs, facts["dtypes"], strict=True):
        if not isinstance(output, Data) or output.dtype != dtype:
            return f"dtype {getattr(output, 'dtype', output)}, not {dtype}"
    n = arguments["mat"].shape[0]
    for output, ndim in zip(outputs, facts["ndim"], strict=True):
        if output.shape != (n,) * ndim:
            return f"shape {list(output.shape)}, not {[n] * ndim}"
    return None


def _product(a: Matrix, b: Matrix) -> Matrix:
    return [[sum(x * b[k][j] for k, x in enumerate(row)) for j in range(len(b[0]))] for row in a]


def _sizes(a: Matrix) -> Matrix:
    return [[complex(abs(x)) for x in row] for row in a]


def _near(
    found: Sequence[Sequence[complex]], right: Sequence[Sequence[complex]], off: float
) -> bool:
    if [len(row) for row in found] != [len(row) for row in right]:
        return False
    pairs = zip(found, right, strict=True)
    return all(abs(x - y) <= off for a, b in pairs for x, y in zip(a, b, strict=True))
