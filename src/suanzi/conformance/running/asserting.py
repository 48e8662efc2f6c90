"""The part of a script in Python that asserts what is due of the outputs of a call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill, indent
from typing import Any

from suanzi.conformance.judging.due import Number, Range, Way

BETWEEN = """\
def between(found, least, most):
    for i, (x, a, b) in enumerate(zip(found, least, most, strict=True)):
        right = x != x if a != a else a <= x <= b
        if x == a == b == 0:
            right = copysign(1, a) <= copysign(1, x) <= copysign(1, b)
        assert right, f"[{i}] {x}, not {a}" + ("" if repr(a) == repr(b) else f" to {b}")
"""
FLAT = """\
def flat(x):
    x = x.tolist() if hasattr(x, "tolist") else x
    if isinstance(x, (list, tuple)):
        return [number for one in x for number in flat(one)]
    return [x.real, x.imag] if isinstance(x, complex) else [x if isinstance(x, int) else float(x)]
"""


@dataclass(frozen=True)
class Form:
    """How a script asks an output `x`: expressions."""

    dtype: str
    """The name of its dtype."""
    numbers: str
    """Its elements."""
    order: str = "x.min2maj"
    """Its axes as they lie in memory."""


def outputs_asserted(ways: Sequence[Way], form: Form) -> str:
    """Return lines that assert that `outputs` is what one of the ways has."""
    some = [way for way in ways if not way.statuses]
    if len(some) == 1:
        return _one_way(some[0], form)
    lines = []
    for i, way in enumerate(some):
        body = indent(_one_way(way, form), "    ")
        lines.append(f"def reading_{i}():\n{body}\n")
    names = ", ".join(f"reading_{i}" for i in range(len(some)))
    lines += [
        "wrong = []",
        f"for reading in ({names}):",
        "    try:",
        "        reading()",
        "    except AssertionError as error:",
        "        wrong.append(str(error))",
        f"assert len(wrong) < {len(some)}, wrong  # any of them passes",
    ]
    return "\n".join(lines)


def _one_way(way: Way, form: Form) -> str:
    lines = [f"assert len(outputs) == {len(way.outputs)}, outputs"]
    for i, right in enumerate(way.outputs):
        lines += _output(f"outputs[{i}]", right, form)
    return "\n".join(lines)


def _output(name: str, right: Any, form: Form) -> list[str]:
    if right is None:
        return [f"print({name})  # `suanzi check` checks its properties"]
    if isinstance(right, list) and any(isinstance(one, Range) for one in right):
        lines = [f"assert len({name}) == {len(right)}, {name}"]
        for i, one in enumerate(right):
            lines += _output(f"{name}[{i}]", one, form)
        return lines
    if isinstance(right, list):
        return [f"assert list({name}) == {right!r}, {name}"]
    if not isinstance(right, Range):
        return [f"assert {name} == {right!r}, {name}"]
    lines = [
        f"x = {name}",
        f"assert {form.dtype} == {right.dtype!r}, {form.dtype}",
        f"assert list(x.shape) == {list(right.shape)}, list(x.shape)",
    ]
    if right.min2maj is not None:
        lines.append(f"assert {form.order} == {right.min2maj}, {form.order}")
    if not right.least:
        return lines
    if list(map(repr, right.least)) == list(map(repr, right.most)):
        return [*lines, _list("due", right.least), f"between({form.numbers}, due, due)"]
    lines += [_list("least", right.least), _list("most", right.most)]
    return [*lines, f"between({form.numbers}, least, most)"]


def _list(name: str, some: Sequence[Number]) -> str:
    text = f"{name} = [{', '.join(map(literal, some))}]"
    return fill(text, 96, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def literal(x: Number) -> str:
    """Return a number as Python reads it, with inf and nan from math.

    >>> literal(-0.0), literal(float("-inf")), literal(3)
    ('-0.0', '-inf', '3')
    """
    return "nan" if isinstance(x, float) and math.isnan(x) else repr(x)
