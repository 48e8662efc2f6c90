"""The files of known deviations that come with the kit: each says something true of some cases."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path

import pytest

from suanzi.conformance.cases import QUICK_DTYPES, Wanted, cases
from suanzi.conformance.model.case import GROUPS
from suanzi.conformance.model.members import members
from suanzi.conformance.reports import deviations
from suanzi.conformance.reports.deviations import Deviation, packaged
from suanzi.standard import interfaces
from suanzi.standard.errata import errata

FILES = sorted((Path(deviations.__file__).parent / "deviations").glob("*.toml"))
EVERY = [(file.stem, one) for file in FILES for one in packaged(file.stem)]
SOURCE = re.compile(r"\(((?:E\d+|\d+(?:\.\d+)+)(?:, (?:E\d+|\d+(?:\.\d+)+))*)\)\.$")
"""What a reason ends with: the errata or the clauses that decide."""


def test_there_are_some() -> None:
    assert {"numpy", "torch", "suanzi"} <= {file.stem for file in FILES}
    assert len(EVERY) > 80


@pytest.mark.parametrize(("subject", "one"), EVERY, ids=lambda x: str(x)[:60])
def test_a_reason_is_a_sentence_with_its_source(subject: str, one: Deviation) -> None:
    assert one.problem is not None
    assert subject == "suanzi" or one.version is not None
    assert one.reason[0].isupper() or one.reason[0] == "`"
    assert "\n" not in one.reason
    found = SOURCE.search(one.reason)
    assert found, one.reason
    known = {erratum.id for erratum in errata()}
    clauses = {facts.clause for facts in interfaces().values()}
    other = "nn" if subject.endswith("-nn") else ""
    clauses |= {facts.clause for facts in interfaces(other).values()} if other else set()
    for source in found[1].split(", "):
        assert not other or source in clauses, source
        if source.startswith("E"):
            assert source in known
        elif source.startswith("7.2."):
            assert any(c == source or c.startswith(f"{source}.") for c in clauses), source


@pytest.mark.parametrize("subject", [file.stem for file in FILES])
def test_no_two_are_the_same(subject: str) -> None:
    entries = packaged(subject)
    assert len({one.reason for one in entries}) == len(entries)
    patterns = [(d.case, d.op, d.group, d.dtype, d.problem) for d in entries]
    assert len(set(patterns)) == len(patterns)


EXPENSIVE = ("promotion", "sizes")
MARKS = set("*?[")
Facts = tuple[str, str, str, str]
MADE: defaultdict[tuple[str, str, str], set[Facts]] = defaultdict(set)
"""The cases of an interface, a group and a rule set that some pattern was compared with."""


@cache
def made(op: str, group: str, rules: str, quick: bool, dtypes: frozenset[str] | None) -> set[Facts]:
    wanted = Wanted(frozenset({group}), dtypes=dtypes, rules=rules, quick=quick)
    found = {(case.id, case.op, case.group, case.dtype) for case in cases(op, wanted)}
    MADE[op, group, rules].update(found)
    return found


def dtypes_of(one: Deviation) -> frozenset[str] | None:
    """Return the only dtypes that a pattern can name, if its words say so."""
    parts = one.case.split("/") if isinstance(one.case, str) else []
    dtype = one.dtype if isinstance(one.dtype, str) else parts[2] if len(parts) == 4 else "*"
    return None if MARKS & {*dtype} else frozenset(dtype.split("-"))


def groups_of(one: Deviation, op: str) -> Iterator[tuple[bool, bool, str]]:
    """Give the groups that a pattern can name: whether it only might, whether it is expensive."""
    patterns = [one.case] if isinstance(one.case, str) else one.case or ["*"]
    named: dict[str, bool] = {}
    for pattern in patterns:
        head, group = [*pattern.split("/"), "*"][:2]
        if MARKS & {*head} or (head == op and MARKS & {*group}):
            named = dict.fromkeys(GROUPS, True) | named
        if group in GROUPS and fnmatchcase(op, head):
            named[group] = False
    for group, might in named.items():
        if any(map(partial(fnmatchcase, group), several(one.group))):
            yield might, group in EXPENSIVE, group


def several(patterns: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (patterns or "*",) if isinstance(patterns, str | None) else patterns


def is_met(one: Deviation, rules: str) -> bool:
    """Tell whether a pattern names a case; what it names and is quickly made comes first."""
    ops = [op for op in (*interfaces(), *members("nn")) if one.may_name(op)]
    groups = sorted((*facts, op) for op in ops for facts in groups_of(one, op))
    wanted = [(op, group, rules if group == "promotion" else "cann") for *_, group, op in groups]
    only = dtypes_of(one)
    return any(one.names(*facts) for where in wanted for facts in MADE[where]) or any(
        one.names(*facts)
        for quick in ((True, False) if only is None or only <= QUICK_DTYPES else (False,))
        for where in wanted
        for facts in made(*where, quick, None if quick else only)
    )


def test_every_pattern_stands_for_some_case() -> None:
    """All in one test, since the cases of every interface are made for it."""
    for subject, one in EVERY:
        rules = "cann" if subject == "suanzi" else subject.partition("-")[0]
        # Where several are listed, each of them has something to say.
        names = [n for n in ("case", "op", "dtype", "group") if isinstance(getattr(one, n), tuple)]
        each = [replace(one, **{n: pattern}) for n in names for pattern in getattr(one, n)]
        for single in each or [one]:
            assert is_met(single, rules), single
