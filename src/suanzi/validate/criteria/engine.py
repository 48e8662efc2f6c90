"""The engine: whether a criterion accepts an output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suanzi.base.dtypes import DTypeLike
from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument
from suanzi.validate.criteria.checks import Finding, Given, Inapplicable
from suanzi.validate.criteria.numbers import Reals, float_dtype, rounded
from suanzi.validate.criteria.reading import Criterion, criterion


@dataclass(frozen=True)
class Worst:
    """The element that comes closest to a refusal, or is furthest beyond."""

    index: tuple[int, ...]
    actual: float
    expected: float


@dataclass(frozen=True)
class Ruling:
    """What a criterion says of an output.

    True if it is accepted; `accepted` is None where the criterion cannot be applied, and `reason`
    says what it needs.
    """

    criterion: str
    accepted: bool | None
    reason: str
    worst: Worst | None = None
    findings: tuple[Finding, ...] = ()

    def __bool__(self) -> bool:
        return self.accepted is True

    def __str__(self) -> str:
        if self.accepted is None:
            return f"{self.criterion}: {self.reason}"
        return f"{self.criterion} {'accepts' if self.accepted else 'refuses'}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as data."""
        worst = self.worst
        return {
            "criterion": self.criterion,
            "accepted": self.accepted,
            "reason": self.reason,
            "worst": worst
            and {"index": list(worst.index), "actual": worst.actual, "expected": worst.expected},
        }


def accepts(
    name: str | Criterion,
    actual: Any,
    expected: Any,
    *,
    dtype: DTypeLike,
    op: str | None = None,
    n: int | None = None,
    magnitude: Any = None,
    eager: Any = None,
    inputs: Any = None,
) -> Ruling:
    """Return whether a criterion accepts an output.

    `actual` is what a kernel returned, `expected` the exact answer, both as arrays of numbers;
    `dtype` is that of the output. Some criteria need more: the operator (`op`), the length of the
    reduction (`n`), the sum of the magnitudes of the products (`magnitude`), the output of another
    implementation in the same dtype (`eager`), or the `inputs`. What is missing is named.

    >>> accepts("kernelbench", [0.0, 0.0], [0.005, 0.004], dtype="bf16").accepted
    True
    >>> print(accepts("flash-attention", [1.0], [1.0], dtype="bf16"))
    flash-attention: cannot be applied: needs eager's output for the same inputs (eager=)
    """
    rule = name if isinstance(name, Criterion) else criterion(name)
    dt = float_dtype(dtype, "accepts").name
    a, e = (_reals(x, what) for x, what in ((actual, "actual"), (expected, "expected")))
    if a.shape != e.shape:
        raise InvalidArgument(
            f"accepts: actual has the shape {a.shape} and expected {e.shape}; both must have "
            "the shape of the output."
        )
    if rule.reference == "rounded":
        e = rounded(e, dt)
    more = {"magnitude": magnitude, "eager": eager, "inputs": inputs}
    arrays = {key: None if x is None else _like(_reals(x, key), e, key) for key, x in more.items()}
    if n is not None and (not isinstance(n, int) or n < 1):
        raise InvalidArgument(f"accepts: n is {shown(n)}; the length of a reduction is 1 or more.")
    given = Given(a, e, dt, rule.level, n, **arrays)
    try:
        findings = tuple(check.apply(given) for check in rule.checks(op))
    except Inapplicable as why:
        return Ruling(rule.name, None, f"cannot be applied: {why}")
    return _ruling(rule, given, findings)


def _ruling(rule: Criterion, given: Given, findings: tuple[Finding, ...]) -> Ruling:
    failed = [f for f in findings if not f.passed]
    decisive = (failed or findings)[0]
    worst = None
    if decisive.index is not None:
        a, e = given.actual[decisive.index], given.expected[decisive.index]
        worst = Worst(decisive.index, float(a), float(e))
    reason = "; ".join(f.text for f in failed or findings)
    return Ruling(rule.name, not failed, reason, worst, findings)


def _reals(x: Any, what: str) -> Reals:
    try:
        found = np.asarray(x)
        if found.dtype.kind != "c":
            return found.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise InvalidArgument(f"accepts: {what} is {shown(x)}; give an array of real numbers.")


def _like(x: Reals, expected: Reals, what: str) -> Reals:
    """Return an optional array in the shape of the output."""
    if x.shape != expected.shape:
        raise InvalidArgument(
            f"accepts: {what} has the shape {x.shape}; it must have that of the output, "
            f"{expected.shape}."
        )
    return x
