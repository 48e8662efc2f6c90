"""What acceptance criteria of others say of the same results, next to the judge's own verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from suanzi.base.status import InvalidArgument
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import FORMATS
from suanzi.conformance.subjects.wire import Data
from suanzi.standard import record
from suanzi.truth import definitions
from suanzi.truth.bounds import Array, Bound
from suanzi.validate.criteria import Criterion, Ruling, accepts, criterion, every
from suanzi.validate.judge.bounds import by_definition
from suanzi.validate.judge.filling import dtype_of, numbers_of


def criteria_named(names: Sequence[str] | str) -> tuple[Criterion, ...]:
    """Return criteria by name; several can be joined by commas, and `all` are all.

    >>> [one.name for one in criteria_named("ttk,assert-close")]
    ['ttk', 'assert-close']
    """
    if isinstance(names, str):
        names = names.split(",")
    found: dict[str, Criterion] = {}
    for name in names:
        if not isinstance(name, str):
            raise InvalidArgument(
                f"judge: standards has a {type(name).__name__}; give names, as 'ttk'."
            )
        some = every() if name.strip() == "all" else (criterion(name),)
        found |= {one.name: one for one in some}
    return tuple(found.values())


def rulings(
    criteria: Sequence[Criterion], case: Case, results: Sequence[Array], expected: Sequence[Bound]
) -> dict[str, Ruling]:
    """Return what each criterion says of the results of a case; the first refusal counts.

    Without results of the right shape and dtype there is nothing that it could be applied to.
    """
    return {one.name: _ruling(one, case, results, expected) for one in criteria}


def _ruling(
    one: Criterion, case: Case, results: Sequence[Array], expected: Sequence[Bound]
) -> Ruling:
    if not results:
        return Ruling(one.name, None, "cannot be applied: there is no result to compare")
    said = []
    for i, (found, bound) in enumerate(zip(results, expected, strict=True)):
        more: dict[str, Any] = {
            name: _MORE[name](case, bound, i) for name in one.needs(case.op) if name in _MORE
        }
        given = np.where(bound.free, found, bound.value)  # nothing is required of some
        said.append(accepts(one, found, given, dtype=bound.dtype, op=case.op, **more))
    return next((r for r in said if r.accepted is not True), said[0])


# ---- what some criteria need besides the result --------------------------------------------------


def _length(case: Case, bound: Bound, which: int) -> int | None:
    """Return the number of terms that an element is the sum of; None if it is not known."""
    facts = None if case.op.startswith("own:") else record(case.op)
    tensors = {n: x for n, x in case.arguments.items() if isinstance(x, Data)}
    first = next(iter(tensors.values()), None)
    if facts is None or first is None or not first.shape:
        return None
    if facts.form == "elementwise":
        return 1
    weight = tensors.get("weight")
    if facts.form == "matrix":
        terms = first.shape[-1] if weight is None else math.prod(weight.shape[1:])
        return max(terms, 1)
    axis = case.arguments.get("axis", -1)
    axes = axis if isinstance(axis, list | tuple) else [axis]
    if not all(isinstance(a, int) and -len(first.shape) <= a < len(first.shape) for a in axes):
        return None
    return max(math.prod(first.shape[a] for a in axes), 1)


def _magnitude(case: Case, bound: Bound, which: int) -> Array | None:
    """Return the sums of the products' magnitudes: the definition, of absolute values."""
    if case.op not in definitions():
        return None
    arguments = {name: _absolute(x) for name, x in case.arguments.items()}
    found = by_definition(case.op, case.dtype, arguments)
    return None if found is None else found[which].value


def _absolute(x: Any) -> Any:
    if not isinstance(x, Data) or x.dtype not in FORMATS:
        return x
    raw = np.abs(np.frombuffer(x.raw, dtype_of(x.dtype))).tobytes()
    return Data(x.dtype, x.shape, raw)


def _inputs(case: Case, bound: Bound, which: int) -> Array | None:
    """Return the input that each element was computed from."""
    same = [x for x in case.arguments.values() if isinstance(x, Data) and x.shape == bound.shape]
    return numbers_of(same[0]) if len(same) == 1 else None


_MORE = {"n": _length, "magnitude": _magnitude, "inputs": _inputs}


# ---- all cases together --------------------------------------------------------------------------


@dataclass(frozen=True)
class Tally:
    """What a criterion says of all cases that were judged."""

    name: str
    cases: int
    """The cases that it could be applied to."""
    accepted: int
    accepted_wrong: int
    """Accepted, though the result is wrong."""
    refused_right: int
    """Refused, though the result is right."""
    not_applied: int
    reason: str
    """Why it was not applied, where it was not."""

    def __str__(self) -> str:
        if not self.cases:
            return f"{self.name}: {self.reason or 'no case was judged'}"
        words = f"{self.name}: accepts {self.accepted} of {self.cases} cases"
        if self.accepted_wrong:
            words += f", among them {_those(self.accepted_wrong)} wrong"
        if self.refused_right:
            words += f"; refuses {_those(self.refused_right)} right"
        if self.not_applied:
            words += f"; {self.not_applied} more: {self.reason}"
        return words

    def to_dict(self) -> dict[str, Any]:
        """Return everything as data."""
        return asdict(self)


def _those(count: int) -> str:
    return f"{count} that {'is' if count == 1 else 'are'}"


def tallies(cases: Sequence[tuple[bool, Mapping[str, Ruling]]]) -> tuple[Tally, ...]:
    """Return the sum of rulings by criterion; each case comes with whether its result is right."""
    found = []
    for name in dict.fromkeys(name for _, said in cases for name in said):
        some = [(right, said[name]) for right, said in cases if name in said]
        applied = [(right, r.accepted) for right, r in some if r.accepted is not None]
        found.append(
            Tally(
                name,
                cases=len(applied),
                accepted=sum(bool(a) for _, a in applied),
                accepted_wrong=sum(bool(a) and not right for right, a in applied),
                refused_right=sum(not a and right for right, a in applied),
                not_applied=len(some) - len(applied),
                reason=next((r.reason for _, r in some if r.accepted is None), ""),
            )
        )
    return tuple(found)
