"""Where two criteria differ: their rules by dtype, and errors that only one of them accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from suanzi.base.text import columns
from suanzi.validate.criteria.engine import accepts
from suanzi.validate.criteria.numbers import Reals, float_dtype, rounded, ulp
from suanzi.validate.criteria.reading import Criterion, criterion

DTYPES = ("float16", "bfloat16", "float32")
_COUNT = 1000


@dataclass(frozen=True)
class Example:
    """An output that one criterion accepts and the other refuses."""

    output: str
    accepted_by: str
    refused_by: str


@dataclass(frozen=True)
class Difference:
    """What two criteria require of a dtype."""

    dtype: str
    a: tuple[str, ...]
    b: tuple[str, ...]
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class Diff:
    """Two criteria, dtype by dtype."""

    a: str
    b: str
    op: str | None
    dtypes: tuple[Difference, ...]

    def __bool__(self) -> bool:
        return any(one.a != one.b for one in self.dtypes)

    def lines(self) -> list[tuple[str, str, str]]:
        """Return dtype, criterion and rule; then examples."""
        found: list[tuple[str, str, str]] = []
        for one in self.dtypes:
            if one.a == one.b:
                found.append((one.dtype, "both", one.a[0]))
                continue
            for name, rules in ((self.a, one.a), (self.b, one.b)):
                found += [(one.dtype, name, rule) for rule in rules]
            found += [
                (
                    one.dtype,
                    "example",
                    f"{e.output}: {e.accepted_by} accepts, {e.refused_by} does not",
                )
                for e in one.examples
            ]
        return found

    def __str__(self) -> str:
        return columns(self.lines())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as data."""
        return asdict(self)


def diff(a: str, b: str, *, op: str | None = None, dtypes: Sequence[str] = DTYPES) -> Diff:
    """Compare two criteria: what they require by dtype, with errors on which they disagree.

    >>> found = diff("cann-mixed", "ttk", dtypes=["bf16"])
    >>> print(found.dtypes[0].examples[0].output)
    a result of 0.01, which is written as 0
    """
    one, other = criterion(a), criterion(b)
    names = [float_dtype(given, "standards diff").name for given in dtypes]
    found = []
    for name in names:
        rules = (tuple(one.rules(name, op)), tuple(other.rules(name, op)))
        examples = tuple(_examples(one, other, name, op)) if rules[0] != rules[1] else ()
        found.append(Difference(name, *rules, examples))
    return Diff(one.name, other.name, op, tuple(found))


def _examples(a: Criterion, b: Criterion, dtype: str, op: str | None) -> Iterator[Example]:
    """Yield the first output that only the one accepts, and the first that only the other does."""
    wanted = [(a, b), (b, a)]
    for text, actual, expected in _outputs(dtype):
        said = {c.name: _accepted(c, actual, expected, dtype, op) for c in (a, b)}
        for yes, no in wanted:
            if said[yes.name] is True and said[no.name] is False:
                yield Example(text, yes.name, no.name)
                wanted.remove((yes, no))
                break


def _accepted(
    rule: Criterion, actual: Reals, expected: Reals, dtype: str, op: str | None
) -> bool | None:
    """Apply a criterion; eager is off by half an ULP, the products have the results' sizes."""
    eager = expected + ulp(expected, dtype) / 2
    return accepts(
        rule, actual, expected, dtype=dtype, op=op, n=1, eager=eager,
        magnitude=np.abs(expected), inputs=expected,
    ).accepted  # fmt: skip


def _outputs(dtype: str) -> Iterator[tuple[str, Reals, Reals]]:
    """Yield outputs with an error, in words; the mistakes of programs before mere inaccuracy."""
    for size in (1.0, 0.1, 0.01, 0.001, 0.0001):
        expected = np.full(_COUNT, float(size))
        yield f"a result of {size:g}, which is written as 0", 0 * expected, expected
    for size in (1.0, 0.01):
        expected = np.full(_COUNT, float(size))
        for count in (1, 5, 20):
            actual = expected.copy()
            actual[:count] = 0
            share = f"{100 * count / _COUNT:g} % of the results"
            yield f"{share} of {size:g} are written as 0, the others are right", actual, expected
    for size in (1.0, 100.0, 0.001):
        expected = rounded(np.full(_COUNT, float(size)), dtype)
        for times in 2.0 ** np.arange(1, 20):
            actual = expected + times * ulp(expected, dtype)
            off = float(actual[0] - expected[0])
            yield (
                f"results of {size:g} that are off by {times:g} ULP, or {off / size:.2g} of them",
                actual,
                expected,
            )
