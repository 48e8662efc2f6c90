"""Sparse operands: 5.6 leaves it open which interfaces take them; who takes them has it right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted
from suanzi.conformance.cases._operands import Elementwise, Row, call
from suanzi.conformance.cases._readings import either
from suanzi.conformance.cases._values import Shape, zero
from suanzi.conformance.model.case import Case, Expected, Output, Refused
from suanzi.conformance.model.numbers import Real, Value
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

_REFUSED = Refused(Status.TYPE_MISMATCH, others=(Status.INVALID_ARGUMENT,))
_KINDS = (("COO",), ("CSR",))
_PAIRS = (("COO", "COO"), ("COO", None), (None, "CSR"))
_SHAPE = (3, 4)
_DTYPES = ("float32", "int32", "bool", "complex64")


def sparse_cases(facts: Elementwise, wanted: Wanted) -> Iterator[Case]:
    """Give sparse operands of an element-wise interface, most of their elements zero."""
    dtype = next((name for name in _DTYPES if name in facts.dtypes), None)
    if dtype is None or len(facts.operands) > 2 or not wanted.wants("strided", dtype):
        return
    columns = _with_zeros(facts, dtype)
    shapes: list[Shape] = [_SHAPE] * len(columns)
    for kinds in (_KINDS if len(columns) == 1 else _PAIRS)[: 2 if wanted.quick else None]:
        title = f"sparse {' and '.join(kind or 'dense' for kind in kinds)}"
        case = call(facts, "strided", dtype, title, columns, shapes)
        yield made_sparse(case, dict(zip(facts.operands, kinds, strict=True)))


def made_sparse(case: Case, kinds: dict[str, str | None], title: str | None = None) -> Case:
    """Return a case some of whose tensors are sparse, of these kinds by name."""

    def expect() -> Expected:
        expected = case.expect()
        assert isinstance(expected, tuple)
        return either("E135", tuple(map(_any_layout, expected)), _REFUSED)

    given = {name: _sparse(value, kinds.get(name)) for name, value in case.arguments.items()}
    return replace(case, arguments=given, expect=expect, title=title or case.title)


def thinned(data: Data) -> Data:
    """Return a tensor with two of three elements zero."""
    size = ITEMSIZE[data.dtype]
    parts = (data.raw[i : i + size] for i in range(0, len(data.raw), size))
    raw = b"".join(part if i % 3 == 0 else bytes(size) for i, part in enumerate(parts))
    return Data(data.dtype, data.shape, raw)


def _sparse(value: Any, kind: str | None) -> Any:
    return replace(value, sparse=kind) if isinstance(value, Data) else value


def _any_layout(right: Any) -> Any:
    """Return an output that may be sparse or dense; of a sparse one, zeros have no sign."""
    if isinstance(right, list):
        return [_any_layout(one) for one in right]
    if not isinstance(right, Output):
        return right
    return replace(right, sparse="any", zero_sign=False)


def _with_zeros(facts: Elementwise, dtype: str) -> list[list[Value]]:
    """Return ordinary operands, two of three of them zero where that has a result."""
    count = len(facts.operands)
    columns = [facts.ordinary(dtype, prod(_SHAPE), "sparse", i) for i in range(count)]
    kinds = [facts.dtype_of(dtype, i) for i in range(count)]
    refused = facts.refused(dtype)
    rows = []
    for k, row in enumerate(zip(*columns, strict=True)):
        zeros = tuple(
            x if (k + i) % 3 == 0 or _refused_zero(refused, i) else zero(kinds[i])
            for i, x in enumerate(row)
        )
        fine = facts.defined(dtype, zeros) and _is_number(facts.truth(dtype, zeros))
        rows.append(zeros if fine else row)
    return [[row[i] for row in rows] for i in range(count)]


def _refused_zero(refused: Row | None, i: int) -> bool:
    if refused is None:
        return False
    x = refused[i]
    return x.is_zero if isinstance(x, Real) else x == 0


def _is_number(x: Value) -> bool:
    parts: Sequence[Any] = x if isinstance(x, tuple) else (x,)
    return all(not isinstance(p, Real) or not (p.is_nan or p.size is None) for p in parts)
