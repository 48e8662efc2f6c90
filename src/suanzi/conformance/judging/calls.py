"""A case's call in one line, and the operands of one element of its result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from suanzi.conformance.judging.judge import show
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import values
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, Value, encode, real
from suanzi.conformance.subjects.wire import ITEMSIZE, Bytes, Data, Ref, Shaped

_FIRST = 5
"""How many elements of a tensor a call shows."""
_LONGEST = 300


def call_of(case: Case) -> str:
    """Return the call of a case, with the first elements of its tensors.

    >>> given = {"shape": [-1], "dtype": "int8"}
    >>> call_of(Case("zeros", "status", "any", "negative", given, lambda: ()))
    "zeros(shape=[-1], dtype='int8')"
    """
    if case.steps:
        text = "; ".join(map(_step, case.steps))
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    text = _call(case.op, case.arguments)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]}...)"


def _call(op: str, arguments: Mapping[str, Any]) -> str:
    return f"{op}({', '.join(f'{name}={_written(x)}' for name, x in arguments.items())})"


def _step(step: Sequence[Any]) -> str:
    """Return one of several steps in a few words.

    >>> _step(["call", "duplicate", {"input": Ref("x")}, ["y"]])
    'y = duplicate(input=x)'
    """
    word, name, *more = step
    if word == "make":
        return f"{name} = {_written(*more)}"
    if word == "write":
        return f"{_written(*more)} is written to {name}"
    if word == "read":
        return f"{name} is read"
    if word in _OBSERVED:
        return f"{_call(name, more[0])}, {_OBSERVED[word]}"
    given, results = more
    call = _call(name, given)
    return f"{', '.join(results)} = {call}" if results else call


_OBSERVED = {
    "live": "then calls with other elements",
    "threads": "from two threads",
    "memory": "1,000 times",
}
"""How a call is made that is observed, by the word of the step."""


def operands_of(case: Case, shape: Sequence[int]) -> Callable[[int], str] | None:
    """Return a function that shows the call of one element, by its index in an output of a shape.

    None where an element does not come from single elements of the operands.

    >>> from suanzi.conformance.model.data import tensor
    >>> given = {"x": tensor("float32", [1.5, -0.1]), "y": tensor("float32", [2.0], ())}
    >>> operands_of(Case("less", "plain", "float32", "two", given, lambda: ()), (2,))(1)
    'less(-0.1, 2)'
    """
    if case.interface.form != "elementwise":
        return None
    found = [(name, x) for name, x in case.arguments.items() if isinstance(x, Data)]
    if not found or not all(_stretches(x.shape, shape) for _, x in found):
        return None

    def shown(i: int) -> str:
        words = []
        for name, x in case.arguments.items():
            if isinstance(x, Data):
                words += _first(x, 1, _at(i, shape, x.shape))
            else:
                words.append(f"{name}={_written(x)}")
        return f"{case.op}({', '.join(words)})"

    return shown


def written(x: Value, dtype: str) -> str:
    """Return an element in the fewest digits that its dtype reads as the same.

    >>> written(real(0.100000001490116), "float32"), written(real(-0.0), "float16")
    ('0.1', '-0')
    """
    if isinstance(x, tuple):
        part = PARTS.get(dtype, dtype)
        return f"({written(x[0], part)}, {written(x[1], part)})"
    if not isinstance(x, Real) or x.is_nan or x.size is None:
        return show(x)
    form, size = FORMATS.get(dtype, FORMATS["float64"]), float(x.size)
    bits = encode(form, Real(False, x.size))
    digits = next(
        (n for n in range(1, 17) if encode(form, real(float(f"{size:.{n}g}"))) == bits), 17
    )
    return f"{'-' if x.negative else ''}{size:.{digits}g}"


def _written(x: Any) -> str:
    if isinstance(x, Data):
        return _tensor(x)
    if isinstance(x, Bytes):
        return f"{x.size} bytes"
    if isinstance(x, Ref):
        return x.name
    if isinstance(x, Shaped):
        return f"{list(x.dims)} min2maj {list(x.min2maj)}"
    if isinstance(x, list | tuple):
        return f"[{', '.join(map(_written, x))}]"
    return repr(x)


def _tensor(x: Data) -> str:
    """Return a tensor in few words: its dtype, its shape, its first elements."""
    said = f"{x.dtype}{list(x.shape)}"
    said += "" if x.layout == "dense" else f" {x.layout}"
    said += "" if x.min2maj is None else f" min2maj {list(x.min2maj)}"
    said += "" if x.sparse is None else f" {x.sparse}"
    said += "" if x.scale is None else f" scale {list(x.scale)}"
    if not x.size or x.layout == "destroyed":
        return said
    first = _first(x, _FIRST)
    return f"{said} of {', '.join(first)}{', ...' if x.size > _FIRST else ''}"


def _first(x: Data, count: int, start: int = 0) -> list[str]:
    """Return some elements of a tensor, which may have a million."""
    size = ITEMSIZE[x.dtype]
    raw = x.raw[start * size : (start + count) * size]
    return [written(v, x.dtype) for v in values(Data(x.dtype, (len(raw) // size,), raw))]


def _stretches(inner: Sequence[int], outer: Sequence[int]) -> bool:
    """Tell whether a shape is stretched to another, as in broadcasting."""
    if len(inner) > len(outer):
        return False
    behind = outer[len(outer) - len(inner) :]
    return all(n in (1, wanted) for n, wanted in zip(inner, behind, strict=True))


def _at(i: int, outer: Sequence[int], inner: Sequence[int]) -> int:
    """Return which element of a tensor that was stretched belongs to one of the output."""
    found, step = 0, 1
    for n, wanted in zip(reversed(inner), reversed(outer), strict=False):
        i, at = divmod(i, wanted)
        found += step * (at if n != 1 else 0)
        step *= n
    assert found < max(math.prod(inner), 1)
    return found
