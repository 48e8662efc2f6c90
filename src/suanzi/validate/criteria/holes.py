"""What a criterion lets through, and what it refuses though it is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from suanzi.base.dtypes import DTypeLike
from suanzi.base.lang import said, say
from suanzi.base.text import columns
from suanzi.validate.criteria.engine import Ruling, accepts
from suanzi.validate.criteria.formulas import DATA, MISTAKES, Case, operator
from suanzi.validate.criteria.numbers import float_dtype
from suanzi.validate.criteria.reading import Criterion, criterion

SIZES = (7, 33, 128, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class Hole:
    """An output that gets the wrong answer at some sizes."""

    output: str
    data: str
    sizes: tuple[int, ...]
    """The tried sizes at which the answer is wrong."""
    since: int | None
    """The size from which on it is wrong, if it is wrong at all larger ones that were tried."""
    until: int | None
    text: str


@dataclass(frozen=True)
class Holes:
    """The wrong outputs that a criterion accepts, and the right ones that it refuses."""

    criterion: str
    op: str
    dtype: str
    tried: tuple[int, ...]
    accepted: tuple[Hole, ...] = ()
    refused: tuple[Hole, ...] = ()
    reason: str = ""
    """Why the criterion cannot be applied; empty if it can."""

    def __bool__(self) -> bool:
        return bool(self.accepted or self.refused)

    def lines(self) -> list[tuple[str, str, str]]:
        """Return kind, output with its data, and sizes."""
        return [
            (kind, f"{hole.output}, {hole.data} data", hole.text)
            for kind, holes in (("accepts", self.accepted), ("refuses", self.refused))
            for hole in holes
        ]

    @property
    def title(self) -> str:
        """What was tried, and the answer if it has no lines."""
        head = f"{self.criterion}, {self.op} {say('in')} {self.dtype}"
        if self.reason:
            return f"{head}: {say(self.reason)}"
        if not self:
            kinds = f"no wrong output of {len(MISTAKES)} kinds passes, no right one fails"
            return f"{head}: {say(kinds)}"
        return head

    def __str__(self) -> str:
        lines = columns(said(self.lines()), indent=2)
        return f"{self.title}\n{lines}" if self else self.title

    def to_dict(self) -> dict[str, Any]:
        """Return everything as data."""
        return asdict(self)


def ruling(rule: Criterion, case: Case, output: Any) -> Ruling:
    """Return what a criterion says of an output of a case."""
    more = case.optional(rule.needs(case.op))
    return accepts(rule, output, case.exact, dtype=case.dtype, op=case.op, **more)


def holes(
    name: str | Criterion,
    op: str,
    dtype: DTypeLike = "bfloat16",
    *,
    sizes: Sequence[int] = SIZES,
) -> Holes:
    """Return what a criterion lets through for an operator, and from which size on.

    Wrong outputs (zeros, unwritten columns, a neighbour's row, ...) and right ones are computed
    from random data, uniform and normal, at several lengths of the reduction.

    >>> found = holes("ttk", "softmax", sizes=(64, 128, 256))
    >>> [h.text for h in found.accepted if (h.output, h.data) == ("zeros", "uniform")]
    ['passes from n = 100 on']
    """
    rule = name if isinstance(name, Criterion) else criterion(name)
    dt = float_dtype(dtype, "standards holes").name
    operator(op)  # or it is refused here
    tried = tuple(sizes)
    first = ruling(rule, small := Case(op, dt, tried[0], DATA[0]), small.exact)
    if first.accepted is None:
        return Holes(rule.name, op, dt, tried, reason=first.reason)
    found: dict[bool, list[Hole]] = {True: [], False: []}
    for data in DATA:
        cases = {n: Case(op, dt, n, data) for n in tried}
        for bad, outputs in ((True, tuple(MISTAKES)), (False, tuple(small.right))):
            for output in outputs:
                answers = {n: _mistaken(rule, case, output, bad) for n, case in cases.items()}
                known = {n: answer for n, answer in answers.items() if answer is not None}
                if any(known.values()):
                    again = _again(rule, cases[tried[0]], output, bad)
                    found[bad].append(_hole(output, data, known, bad, again))
    return Holes(rule.name, op, dt, tried, tuple(found[True]), tuple(found[False]))


def _mistaken(rule: Criterion, case: Case, output: str, bad: bool) -> bool | None:
    """Return whether a criterion gives the wrong answer; None where an output is not wrong."""
    y = case.mistake(output) if bad else case.right[output]
    return None if y is None else bool(ruling(rule, case, y)) == bad


def _again(rule: Criterion, like: Case, output: str, bad: bool) -> Callable[[int], bool]:
    return lambda n: bool(_mistaken(rule, replace(like, n=n), output, bad))


def _hole(
    output: str, data: str, answers: dict[int, bool], bad: bool, again: Callable[[int], bool]
) -> Hole:
    """Return a hole with its sizes in words; where it begins or ends is found by bisection."""
    verb = "passes" if bad else "is refused"
    tried = list(answers)
    sizes = tuple(n for n in tried if answers[n])
    first = tried.index(sizes[0])
    if len(sizes) == len(tried):
        text = f"{verb} at every size where it is {'wrong' if bad else 'right'}: n = "
        text += f"{tried[0]:,} to {tried[-1]:,}" if len(tried) > 1 else f"{tried[0]:,}"
        return Hole(output, data, sizes, tried[0], None, text)
    if all(answers[n] for n in tried[first:]):
        since = _bisected(tried[first - 1], tried[first], again)
        return Hole(output, data, sizes, since, None, f"{verb} from n = {since:,} on")
    if all(answers[n] for n in tried[: len(sizes)]):
        last = tried[len(sizes) - 1]
        until = _bisected(last, tried[len(sizes)], lambda n: not again(n)) - 1
        return Hole(output, data, sizes, None, until, f"{verb} up to n = {until:,}")
    text = f"{verb} at n = {', '.join(f'{n:,}' for n in sizes)}"
    return Hole(output, data, sizes, None, None, text)


def _bisected(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the smallest n at which something holds that holds at high and not at low."""
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
