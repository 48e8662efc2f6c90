"""What calls do to one another, for every interface: its valid call, made often.

An output must outlive later calls: it is a tensor until `destroy` ends it (7.2.1.18). Threads, and
the memory that calls keep, are quality: no clause mentions them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.cases.statuses import VALID
from suanzi.conformance.model.basis import Basis
from suanzi.conformance.model.case import Case
from suanzi.conformance.subjects.wire import ITEMSIZE, Data
from suanzi.standard import record
from suanzi.standard.catalogues import STANDARD

_LIVES = "an output is a tensor until it is destroyed (7.2.1.18): no later call changes it"
_NO_THREADS = "no clause mentions threads"
_NO_MEMORY = "no clause limits the memory that calls keep"
_MANY = 1 << 12
"""Elements of an element-wise call from two threads, so that the two meet."""

_ENDS = frozenset({"destroy"})


@cases_of(*(op for op in VALID if op not in _ENDS))
def between_calls(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give the cases of one interface."""
    yield from cases_between(op, VALID[op](), wanted)


def cases_between(op: str, first: dict[str, Any], wanted: Wanted) -> Iterator[Case]:
    """Give the cases of an operator, given a valid call."""
    dtype = _dtype(first)
    if not wanted.wants("calls", dtype):
        return
    second = {name: _other(value) for name, value in first.items()}

    def case(title: str, basis: Basis, because: str, *step: Any) -> Case:
        return Case(op, "calls", dtype, title, first, tuple, basis=basis, because=because,
                    steps=[list(step)])  # fmt: skip

    yield case("an output outlives later calls", "normative", _LIVES, "live", op, first, second)
    if wanted.quick:
        return
    facts = record(op)
    long = facts is not None and facts.form == "elementwise" and facts.catalogue == STANDARD
    both = [{n: _tiled(v) for n, v in some.items()} for some in (first, second)] if long else None
    if op != "empty":  # whose elements are whatever was there before
        some = both or (first, second)
        yield case("two threads at once", "quality", _NO_THREADS, "threads", op, *some)
    yield case("memory of 1000 calls", "quality", _NO_MEMORY, "memory", op, first)


def _dtype(arguments: dict[str, Any]) -> str:
    """Return the dtype of the first tensor, or of new ones."""
    found = [x.dtype for x in arguments.values() if isinstance(x, Data)]
    return found[0] if found else "float32"


def _other(value: Any) -> Any:
    """Return an argument with other elements: in reverse order, and floats half as large."""
    if isinstance(value, list | tuple):
        return type(value)(map(_other, value))
    if not isinstance(value, Data):
        return value
    size = ITEMSIZE[value.dtype]
    units = [value.raw[i : i + size] for i in range(0, len(value.raw), size)]
    if value.dtype == "float32":
        units = [struct.pack("<f", struct.unpack("<f", unit)[0] / 2) for unit in units]
    return Data(value.dtype, value.shape, b"".join(reversed(units)))


def _tiled(value: Any) -> Any:
    """Return a tensor of many elements, those of another again and again."""
    if not isinstance(value, Data):
        return value
    size = ITEMSIZE[value.dtype]
    whole = value.raw * (_MANY // max(value.size, 1) + 1)
    return Data(value.dtype, (_MANY,), whole[: _MANY * size])
