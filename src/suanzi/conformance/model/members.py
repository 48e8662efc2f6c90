"""The operators that a run is about: those of the standard, or of another catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from suanzi.base.dtypes import DTYPES
from suanzi.base.status import InvalidArgument
from suanzi.conformance.model.basis import STANDARD_DTYPES
from suanzi.standard import Interface, interfaces, record
from suanzi.standard.catalogues import STANDARD, catalogue


@cache
def members(of: str = STANDARD) -> Mapping[str, Interface]:
    """Return the operators of a catalogue by key, in its order.

    >>> next(iter(members())), "nn:softmax" in members("nn")
    ('create_tensor', True)
    """
    return {facts.key: facts for facts in interfaces(of).values()}


def facts_of(op: str) -> Interface | None:
    """Return the record of an operator by key; None if this version does not have it."""
    try:
        return record(op)
    except InvalidArgument:  # of a catalogue that is not installed here
        return None


def catalogue_of(settings: Mapping[str, Any], ops: Iterable[str]) -> str:
    """Return the catalogue that a run is about: the one it names, or that of all its operators.

    >>> catalogue_of({}, ["nn:softmax"]), catalogue_of({}, ["add", "nn:softmax"])
    ('nn', 'standard')
    """
    if named := settings.get("catalogue"):
        return str(named)
    of = {op.rpartition(":")[0] for op in ops}
    return of.pop() or STANDARD if len(of) == 1 else STANDARD


def title_of(of: str) -> str:
    """Return how a sentence names a catalogue."""
    return "the standard" if of == STANDARD else f"the catalogue {of}"


def long_title_of(of: str) -> str:
    """Return the title of a catalogue, with its number if it is the standard."""
    if of == STANDARD:
        return "T/AI 131.1-2025"
    try:
        return catalogue(of).title
    except InvalidArgument:
        return f"the catalogue {of}"


def dtypes_asked(op: str, dtypes: Iterable[str]) -> set[str]:
    """Return the dtypes that an operator's records have: of the standard those of clause 6.2.

    >>> sorted(dtypes_asked("add", ["float32", "bfloat16"])), dtypes_asked("nn:softmax", ["any"])
    (['float32'], set())
    """
    return set(dtypes) & (_ALL if ":" in op else STANDARD_DTYPES)


_ALL = frozenset(d.name for d in DTYPES)
