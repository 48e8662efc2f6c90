"""7.2.4, arithmetic: exact for integers, correctly rounded for floats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from suanzi.conformance.cases import Wanted, cases_of
from suanzi.conformance.model import Case, Output
from suanzi.conformance.oracle import Value, binary
from suanzi.conformance.tensors import anything, ordinary, special, tensor
from suanzi.registry import REGISTRY


@cases_of("add", "sub")
def sums(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give sums and differences."""
    for dtype in (d.name for d in REGISTRY[op].dtypes):
        if wanted.wants("plain", dtype):
            xs, ys = ordinary(dtype, 12, "x"), ordinary(dtype, 12, "y")
            yield _case(op, "plain", dtype, "12 elements", xs, ys)
        if wanted.wants("random", dtype):
            xs, ys = (
                anything(dtype, 50, (wanted.seed, "x")),
                anything(dtype, 50, (wanted.seed, "y")),
            )
            yield _case(op, "random", dtype, "50 elements", xs, ys)
        if wanted.wants("special", dtype):
            few = special(dtype)
            pairs = list(product(few, few))
            yield _case(
                op, "special", dtype, "each with each", *map(list, zip(*pairs, strict=True))
            )


def _case(
    op: str, group: str, dtype: str, title: str, xs: Sequence[Value], ys: Sequence[Value]
) -> Case:
    def expect() -> tuple[Output]:
        truth = tuple(binary(op, dtype, x, y) for x, y in zip(xs, ys, strict=True))
        return (Output(dtype, (len(xs),), truth),)

    return Case(op, group, dtype, title, {"x": tensor(dtype, xs), "y": tensor(dtype, ys)}, expect)
