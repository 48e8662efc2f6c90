"""Single cases of the kit, without making all those of an interface."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache

from suanzi.base.dtypes import dtype
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.case import Case
from suanzi.standard import interfaces
from suanzi.standard.errata import errata


@lru_cache(128)
def some(op: str, group: str, dtype: str) -> list[Case]:
    """Return the cases of one interface, group and dtype; a dtype may be two, with a hyphen."""
    dtypes = None if dtype == "any" else frozenset(dtype.split("-"))
    return [c for c in cases(op, Wanted(frozenset({group}), dtypes)) if c.dtype == dtype]


@lru_cache(64)
def made(op: str, wanted: Wanted) -> list[Case]:
    """Return the cases of an interface, made once for the parameters of a test, and their truth."""
    return [replace(case, expect=cache(case.expect)) for case in cases(op, wanted)]


def named(case_id: str) -> Case:
    """Return a case by its id."""
    op, group, dtype, _ = case_id.split("/", 3)
    return next(case for case in some(op, group, dtype) if case.id == case_id)


def one_of_each_kind(op: str, names: Iterable[str]) -> list[str]:
    """Return a dtype of each kind that has loops of its own, another one for the next interface.

    A name may be several dtypes, with hyphens, or the word any.
    """
    kinds: dict[object, list[str]] = {}
    for name in names:
        kinds.setdefault(tuple(map(_kind, name.split("-"))), []).append(name)
    turn = list(interfaces()).index(op)
    return [some[turn % len(some)] for some in kinds.values()]


def _kind(name: str) -> object:
    if name == "any":
        return name
    dt = dtype(name)
    return dt.kind.removeprefix("u"), dt.kind == "float" and dt.bits < 32


@cache
def _sources() -> tuple[set[str], dict[str, object]]:
    clauses = {facts.clause for facts in interfaces().values()} | {"5.4", "6.4"}
    return clauses, {erratum.id: erratum.tentative for erratum in errata()}


def assert_reason(case: Case) -> None:
    """Assert that a case names the clause, the example or the erratum that it follows from."""
    reason, (clauses, tentative) = case.why, _sources()
    assert reason.sentence, case.id
    assert reason.clause, case.id
    if reason.basis == "normative":
        assert reason.clause in clauses, (case.id, reason)
    if reason.basis == "interpretation" and not reason.clause.startswith("A."):
        assert re.fullmatch(r"E\d+", reason.clause), (case.id, reason)
    if reason.basis == "tentative":
        assert tentative[reason.clause], (case.id, reason)
