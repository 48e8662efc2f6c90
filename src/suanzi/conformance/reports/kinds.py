"""Failures by kind: a fault in ten dtypes is one fault, not a thousand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suanzi.base.dtypes import DTYPES
from suanzi.conformance.model.results import Result

_ELEMENTS = re.compile(r"(?P<where>.*?)\d+ of \d+ elements: (?P<first>[^;]*)", re.DOTALL)
_PAIR = re.compile(
    r"(?P<found>\([^()]*\)|\S+), not (?P<due>\([^()]*\)|\S+)(?P<sign> \(the sign.*\))?"
)
_NUMBER = re.compile(r"[-+]?(0x[0-9a-f]+|\d[\d.]*(e[-+]?\d+)?)", re.IGNORECASE)
_NAMES = "|".join(sorted((re.escape(d.name) for d in DTYPES), key=len, reverse=True))
_DTYPE = re.compile(rf"\b({_NAMES})\b")
_LONGEST = 160


@dataclass(frozen=True)
class Kind:
    """Cases of one interface that fail in the same way."""

    results: tuple[Result, ...]

    @property
    def first(self) -> Result:
        """The case that is shown."""
        return self.results[0]

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes of its cases."""
        return tuple(dict.fromkeys(r.dtype for r in self.results))

    def others(self, most: int = 4) -> str:
        """Return how many more cases there are after the first, and their dtypes.

        >>> made = [Result(d, "add", "plain", d, "failed") for d in ("int8", "int16", "int16")]
        >>> Kind(tuple(made)).others()
        '2 more, in int8, int16'
        """
        more = len(self.results) - 1
        if not more:
            return ""
        shown = ", ".join(self.dtypes[:most])
        rest = f" and {len(self.dtypes) - most} more" if len(self.dtypes) > most else ""
        return f"{more} more, in {shown}{rest}"


def kinds(results: Iterable[Result]) -> list[Kind]:
    """Return failures by kind, the worst first: violated requirements, crashes first; then others.

    >>> made = [Result(d, "add", "plain", d, "failed", f"z: dtype {d}, not bool")
    ...         for d in ("int8", "int16")]
    >>> [(len(kind.results), kind.first.id) for kind in kinds(made)]
    [(2, 'int8')]
    """
    found: dict[tuple[str, ...], list[Result]] = {}
    for result in results:
        key = (result.op, result.outcome, result.broken or "", kind_of(result.problem or ""))
        found.setdefault(key, []).append(result)
    return sorted((Kind(tuple(some)) for some in found.values()), key=_worst)


def _worst(kind: Kind) -> tuple[int, int, int]:
    order = {"crashed": 0, "hung": 1}
    harm = 0 if kind.first.breaks else 1 if not kind.first.extension else 2
    return harm, order.get(kind.first.outcome, 2), -len(kind.results)


def kind_of(problem: str) -> str:
    """Return a problem without what varies between cases: numbers, dtypes, operands.

    >>> kind_of("z: 2 of 24 elements: [3] less(1, nan): 1, not 0; [4] less(nan, 1): 1, not 0")
    'z: a number, not 0'
    >>> kind_of("y: 1 of 2 elements: [0] sqrt(-1): nan, not -0.5")
    'y: nan, not a number'
    >>> kind_of("y: dtype float32, not float64") == kind_of("y: dtype int8, not int16")
    True
    """
    found = _ELEMENTS.match(problem)
    if found is not None:
        pairs = list(_PAIR.finditer(found["first"]))
        if pairs:
            last = pairs[-1]
            what = last["sign"] or f"{_sort(last['found'])}, not {_sort(last['due'])}"
            return f"{found['where']}{what.strip(' ()')}"
    return _NUMBER.sub("#", _DTYPE.sub("...", problem))[:_LONGEST]


def _sort(x: str) -> str:
    return x if x in ("nan", "inf", "-inf", "0", "-0") else "a number"


def spread(found: Sequence[Kind], most: int) -> list[Kind]:
    """Return some kinds, of as many interfaces as possible, in their order."""
    times: dict[str, int] = {}
    ranked = []
    for i, kind in enumerate(found):
        times[kind.first.op] = times.get(kind.first.op, -1) + 1
        ranked.append((times[kind.first.op], i))
    return [found[i] for i in sorted(i for _, i in sorted(ranked)[:most])]
