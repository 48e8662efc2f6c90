"""Tensors whose axes lie in memory in any order, as 6.4 allows: calls of other cases laid out anew.

No result depends on the order, so that a case keeps what it expects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from random import Random
from typing import Any

from suanzi.conformance.cases import Maker, Wanted, derived, dtypes_of
from suanzi.conformance.model.basis import STANDARD_DTYPES
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.unusual import tensors
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.registry import REGISTRY

Order = tuple[int, ...]

_FIVE = (3, 2, 4, 1, 0)
"""The order that 6.4 itself has as an example."""


def orders(rank: int) -> list[Order]:
    """Return every order of so many axes but the row-major one, the fastest first; of five one.

    >>> orders(2), len(orders(4))
    ([(0, 1)], 23)
    """
    if rank == len(_FIVE):
        return [_FIVE]
    rows = tuple(range(rank))[::-1]
    return [order for order in permutations(range(rank)) if order != rows]


@derived
def ordered_cases(op: str, wanted: Wanted, makers: Sequence[Maker]) -> Iterator[Case]:
    """Give plain cases of three and four axes in every order of axes, matrices by columns.

    One dtype has all orders, or one of each rank in a quick run; the others have one.
    """
    taken = dtypes_of(op) if op in REGISTRY else []
    chief = next((d for d in ("float32", "int32", *taken) if d in taken), "any")
    if "strided" not in wanted.groups or (wanted.quick and not wanted.wants("strided", chief)):
        return
    # The same cases whatever else is wanted: a quick run has a part of those of a full one.
    source = replace(wanted, groups=frozenset({"plain"}), quick=False)
    source = replace(source, dtypes=frozenset({chief})) if wanted.quick else source
    made = [case for maker in makers for case in maker(op, source)]
    plain = [c for c in made if _is_plain(c) and c in source and wanted.wants("strided", c.dtype)]
    if not plain or plain[0].interface.form in ("query", "creation"):
        return
    for dtype in dict.fromkeys(case.dtype for case in plain):
        is_chief = dtype in (chief, f"int32-{chief}")
        random = Random(f"orders {op} {dtype}")
        own = [case for case in plain if case.dtype == dtype]
        for rank in (2, 3, 4, 5) if is_chief else (random.choice((3, 4)),):
            if rank == 2 and own[0].interface.form != "matrix":
                continue
            some = [case for case in own if _rank(case) == rank]
            if not some or (wanted.quick and not is_chief):
                continue
            base = max(some, key=_telling)
            every = orders(rank)
            for order in every if is_chief and not wanted.quick else [random.choice(every)]:
                yield _laid_out(base, order)


def _is_plain(case: Case) -> bool:
    """Tell whether all tensors of a case are ordinary ones by rows."""
    given = [x for _, x in tensors(case.arguments)]
    return (
        case.group == "plain"
        and case.skip is None
        and not case.steps
        and bool(given)
        and STANDARD_DTYPES.issuperset(case.dtype.split("-"))
        and all(x.layout == "dense" and x.sparse is None and x.scale is None for x in given)
    )


def _rank(case: Case) -> int:
    return max(len(x.shape) for _, x in tensors(case.arguments))


def _telling(case: Case) -> tuple[bool, int, int]:
    """Return how well a case shows an order: one axis is named, others are longer than 1.

    A sum of all elements is the same in every order.
    """
    given = [x for _, x in tensors(case.arguments)]
    axis = case.arguments.get("axis", 0 if "axis" not in _names(case) else None)
    one = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    named = isinstance(one, int) and one >= 0
    return named, sum(n > 1 for x in given for n in x.shape), -sum(x.size for x in given)


def _names(case: Case) -> list[str]:
    return [parameter.name for parameter in case.interface.parameters]


def _laid_out(case: Case, order: Order) -> Case:
    """Return a case with its tensors in an order of axes; of two tensors each has its own."""
    count = 0

    def one(x: Any) -> Any:
        nonlocal count
        if isinstance(x, list):
            return [one(y) for y in x]
        if not isinstance(x, Data) or len(x.shape) < 2:
            return x
        some = orders(len(x.shape))
        at = some.index(order) if order in some else 0
        count += 1
        return replace(x, min2maj=some[(at + 5 * (count - 1)) % len(some)])

    given = {name: one(x) for name, x in case.arguments.items()}
    title = f"{case.title}, axes in memory {' '.join(map(str, order))}"
    return replace(case, group="strided", title=title, arguments=given)
