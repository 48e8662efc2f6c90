"""In which arithmetic a kernel computes, and from which length on it shows.

A kernel that is outside the bound of the default accumulation may be inside that of sums in 16
bits. The narrower of them that explains every wrong result of a dtype is named, if longer sums are
further off and errors have both signs; powers of two between the lengths that were judged show
from where on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import NARROW
from suanzi.conformance.subjects.wire import Data
from suanzi.truth import definitions
from suanzi.truth.bounds import Bound
from suanzi.validate.judge.bounds import spacing_at
from suanzi.validate.judge.cases import Trial, chosen
from suanzi.validate.judge.diagnosis import MANY, SUMS, Hypothesis, Result, numbers
from suanzi.validate.judge.findings import Finding
from suanzi.validate.judge.verdict import CaseResult

_LIKELY = 0.55
"""The largest share of its bound that a sum in float16 uses: in bfloat16, errors are 8 times as
large, and beyond it."""
_MOST = 24
"""So many wrong results are explained, small ones and large ones."""


def inferred(
    results: Sequence[CaseResult],
    judged: Callable[[Trial], CaseResult],
    params: Mapping[str, Any],
) -> list[CaseResult]:
    """Return results with one finding for those that a lower arithmetic explains."""
    found = list(results)
    groups: dict[tuple[str, str], list[int]] = {}
    for i, r in enumerate(results):
        if r.case is not None and r.case.op in definitions():
            groups.setdefault((r.case.op, r.case.dtype), []).append(i)
    for places in groups.values():
        wrong = [i for i in places if results[i].outcome == "wrong"]
        finding = _of_group([results[i] for i in places], judged, params) if wrong else None
        for i in wrong if finding is not None else ():
            found[i] = replace(found[i], finding=finding)
        lower = sum(f.code == "JD401" for i in wrong if (f := results[i].finding) is not None)
        if finding is None and sum(_is_another(results[i]) for i in wrong) > lower:
            for i in wrong:
                found[i] = _without_arithmetic(found[i])
    return found


def _is_another(r: CaseResult) -> bool:
    """Tell whether a result has many errors that are none of rounding: another formula."""
    if r.finding is None or r.finding.code != "JD404" or "constant" in r.id:
        return False
    return any(b.wrong(m).sum() >= MANY for b, m in _pairs(r))


def _pairs(r: CaseResult) -> list[tuple[Bound, NDArray[np.float64]]]:
    """Return each bound with its result; nothing if outputs were missing."""
    return list(zip(r.expected, r.made, strict=True)) if r.made else []


def _without_arithmetic(r: CaseResult) -> CaseResult:
    """Return a result whose errors were taken for those of a lower arithmetic, as wrong numbers."""
    if r.finding is None or r.finding.code != "JD401" or r.case is None:
        return r
    first = next(((b, m) for b, m in _pairs(r) if b.wrong(m).any()), None)
    return r if first is None else replace(r, finding=numbers(Result(r.case, *first, {})))


def _of_group(
    some: Sequence[CaseResult], judged: Callable[[Trial], CaseResult], params: Mapping[str, Any]
) -> Finding | None:
    """Explain all wrong results of one dtype, if one arithmetic does."""
    wrong = sorted((r for r in some if r.outcome == "wrong"), key=lambda r: r.elements)
    if not wrong or not all(r.made for r in wrong):
        return None
    first = min(length_of(r.case) for r in wrong if r.case)
    before = [length_of(r.case) for r in some if r.case and r.outcome == "right"]
    shorter = [n for n in before if n < first]
    sums = bool(shorter) or (wrong[0].case is not None and wrong[0].case.dtype in NARROW)
    picked = [*wrong[: _MOST // 2], *wrong[_MOST // 2 :][-_MOST // 2 :]]
    for one in SUMS if sums and _grows(wrong) else ():
        if _mixed(one, picked) and _explains(one, picked):
            start = _from(wrong, max(shorter, default=0), first, judged, params)
            return Finding("JD401", _said(one, start, wrong), wrong[0].id)
    return None


def _said(one: Hypothesis, start: int, wrong: Sequence[CaseResult]) -> str:
    times = max((r.share or 0.0) for r in wrong)
    return (
        f"behaves like {one.words}, from n = {start} on: up to {times:.3g} times the bound of the "
        f'default accumulation. If that is meant, declare accumulate="{one.sums}"'
    )


def _grows(wrong: Sequence[CaseResult]) -> bool:
    """Tell whether longer sums are further off, as roundings make them."""
    middle: dict[int, float] = {}
    for r in wrong:
        for bound, made in _pairs(r)[:1]:
            with np.errstate(all="ignore"):
                off = np.abs(made - bound.value) / np.abs(bound.value)
            some = off[np.isfinite(off)]
            n = length_of(r.case)
            middle[n] = max(middle.get(n, 0.0), float(np.median(some)) if some.size else 0.0)
    return bool(middle) and middle[max(middle)] >= middle[min(middle)]


def length_of(case: Case | None) -> int:
    """Return the length of the last axis of a call's first operand."""
    given = case.arguments.items() if case else ()
    shapes = [x.shape for n, x in given if isinstance(x, Data) and n != "out_grad"]
    return shapes[0][-1] if shapes and shapes[0] else 1


def _mixed(one: Hypothesis, wrong: Sequence[CaseResult]) -> bool:
    """Tell whether errors have both signs, as those of roundings have; of few, nothing is known.

    Sums that are long for their dtype stop growing: those are too small, all of them.
    """
    signs, unit = [np.zeros(0)], 2.0**-8 if one.sums == "bfloat16" else 2.0**-11
    for r in wrong:
        if length_of(r.case) * unit > 0.5:
            continue
        for bound, made in _pairs(r):
            with np.errstate(all="ignore"):
                off = np.where(bound.wrong(made), (made - bound.value) * np.sign(bound.value), 0.0)
            rows = np.nan_to_num(off).sum(-1) if off.ndim > 1 else np.nan_to_num(off)
            signs.append(np.sign(rows[rows != 0]).reshape(-1))
    every = np.concatenate(signs)
    return every.size < 5 or min((every > 0).mean(), (every < 0).mean()) > 0.1


def _explains(one: Hypothesis, wrong: Sequence[CaseResult]) -> bool:
    """Tell whether an arithmetic allows all results, and at least one of them not to be zeros."""
    tells = False
    for r in wrong:
        assert r.case is not None
        allowed = one.bounds(r.case)
        fitting = [b for b in allowed if any(b.shape == m.shape for m in r.made)]
        if len(fitting) < len(r.made):
            return False
        pairs = list(zip(fitting[: len(r.made)], r.made, strict=True))
        if not all(b.accepts(m) for b, m in pairs):
            return False
        if one.sums == "float16" and any(_excess(b, m) > _LIKELY for b, m in pairs):
            return False
        tells = tells or any(not b.accepts(np.zeros(b.shape)) for b, _ in pairs if b.value.size)
    return tells


def _excess(bound: Bound, made: NDArray[np.float64]) -> float:
    """Return the largest error as a share of its bound, both without the last rounding."""
    last = spacing_at(bound.dtype, np.abs(bound.value)) / 2
    with np.errstate(all="ignore"):
        share = (bound.errors(made) - last) / (bound.error - last)
    return float(share[np.isfinite(share)].max(initial=0.0))


def _from(
    wrong: Sequence[CaseResult], right: int, first: int, judged: Callable[[Trial], CaseResult],
    params: Mapping[str, Any],
) -> int:  # fmt: skip
    """Return the length from which on a kernel is wrong: powers of two in between are tried."""
    shown = min(wrong, key=lambda r: (length_of(r.case), r.elements)).case
    assert shown is not None
    for n in _powers(right, first):
        if any(judged(trial).outcome == "wrong" for trial in _trials(shown, n, params)):
            return n
    return first


def _powers(low: int, high: int) -> Iterator[int]:
    n = 1
    while n < high:
        if n > low:
            yield n
        n *= 2


def _trials(shown: Case, n: int, params: Mapping[str, Any]) -> Iterator[Trial]:
    """Give calls of the same kind with another length."""
    given = (x for m, x in shown.arguments.items() if isinstance(x, Data) and m != "out_grad")
    shape = next(given).shape
    for trial in chosen(shown.op, (shown.dtype,), [(*shape[:-1], n)], None, params):
        if {*trial.case.arguments} == {*shown.arguments}:
            yield trial
