"""Several calls in one case, where one is not enough.

The steps of a case are lists: `make` a tensor, `call` an interface, `write` into memory, `read`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from suanzi.conformance.cases import Wanted
from suanzi.conformance.cases._values import Shape, distinct
from suanzi.conformance.model.case import Case, Expected, Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.subjects.wire import Ref

_FROM = (3, 5)
_BECAUSE = "a tensor in another order is copied to the default order, and is then contiguous"


def contiguous_cases(
    op: str, wanted: Wanted, shape: Shape, arguments: dict[str, Any]
) -> Iterator[Case]:
    """Give a tensor by columns, and ask whether what an interface makes of it is contiguous."""
    for dtype in ("float32", "int32"):
        if not wanted.wants("plain", dtype):
            continue
        values = distinct(dtype, prod(_FROM))
        steps: list[list[Any]] = [
            ["make", "x", tensor(dtype, values, _FROM, "columns")],
            ["call", op, {"input": Ref("x"), **arguments}, ["y"]],
            ["call", "is_contiguous", {"input": Ref("y")}, ["answer"]],
            ["read", "y"],
            ["read", "answer"],
        ]
        expected: Expected = (Output(dtype, shape, tuple(values)), True)
        title = "is contiguous, of a tensor by columns"
        yield Case(
            op, "plain", dtype, title, {}, lambda e=expected: e,  # type: ignore[misc]
            basis="normative", because=_BECAUSE, steps=steps,
        )  # fmt: skip
