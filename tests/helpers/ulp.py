"""Results of functions judged as the kit judges them: in units of the last place (ULP)."""

from __future__ import annotations

from collections.abc import Iterable

import suanzi as sz
from suanzi.conformance.judging.judge import judge
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
    worst = 0.0
    for argument, value, truth in zip(arguments, found, truths, strict=True):
        wanted = Output(dtype.name, (1,), (as_real(truth),), ulp=limit)
        judged = judge(tensor(dtype.name, [float(value)]), wanted)
        off = judged.ulp or 0.0
        if judged.problem is not None:
            raise AssertionError(
                f"{what} of {argument!r} in {dtype}: {judged.problem}; {off:.3f} ULP off, and "
                f"at most {limit} are allowed."
            )
        worst = max(worst, off)
    return worst
