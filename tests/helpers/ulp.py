"""Results of functions judged as the kit judges them: in units of the last place (ULP)."""

from __future__ import annotations

from collections.abc import Iterable

import suanzi as sz
from suanzi.conformance.judging.judge import Judgement, judge
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import tensor
from suanzi.conformance.truth.functions import Truth, as_real


def assert_within(
    limit: float,
    arguments: Iterable[object],
    found: Iterable[float],
    truths: Iterable[Truth],
    dtype: sz.DType,
    what: str = "",
) -> float:
    """Raise AssertionError if a result is more than `limit` ULP off; return the largest error."""
    rows = list(zip(arguments, found, truths, strict=True))

    def judged(some: list[tuple[object, float, Truth]]) -> Judgement:
        wanted = tuple(as_real(truth) for _, _, truth in some)
        values = [float(value) for _, value, _ in some]
        return judge(tensor(dtype.name, values), Output(dtype.name, (len(some),), wanted, limit))

    every = judged(rows)
    if every.problem is not None:
        one, argument = next(
            (one, row[0]) for row in rows if (one := judged([row])).problem is not None
        )
        raise AssertionError(
            f"{what} of {argument!r} in {dtype}: {one.problem}; {one.ulp or 0.0:.3f} ULP off, and "
            f"at most {limit} are allowed."
        )
    return every.ulp or 0.0
