"""7.2.14.4: properties of the largest elements where their order is not defined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suanzi.conformance.judging.checks import check
from suanzi.conformance.judging.judge import judge
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.lines import lines


@check
def best_in_any_order(
    arguments: Mapping[str, Any], outputs: Sequence[Any], facts: Mapping[str, Any]
) -> str | None:
    """Elements and their indices, as `facts` has them along an axis, in any order.

    They are put in the order of their indices, and then must be right to the bit.
    """
    if len(outputs) != 2:
        return f"{len(outputs)} outputs, not 2"
    right: Sequence[Output] = facts["outputs"]
    found = [x for x in outputs if isinstance(x, Data)]
    for name, data, wanted in zip(("output", "indices"), found, right, strict=False):
        if (data.dtype, data.shape) != (wanted.dtype, wanted.shape):
            return (
                f"{name}: {data.dtype} {list(data.shape)}, not {wanted.dtype} {list(wanted.shape)}"
            )
    if len(found) != 2:
        return "an output is not a tensor"
    elements, places = values(found[0]), values(found[1])
    order = _by_index(places, right[1], facts["axis"])
    for name, data, some, wanted in (
        ("output", found[0], elements, right[0]),
        ("indices", found[1], places, right[1]),
    ):
        sorted_ = tensor(data.dtype, [some[i] for i in order], data.shape)
        same = _by_index(right[1].truth, wanted, facts["axis"])
        truth = tuple(wanted.truth[i] for i in same)
        problem = judge(sorted_, Output(wanted.dtype, wanted.shape, truth)).problem
        if problem is not None:
            return f"{name}, by index: {problem}"
    return None


def _by_index(places: Sequence[Any], like: Output, axis: int) -> list[int]:
    """Return where elements go so that the indices rise along an axis."""
    found = [0] * len(places)
    for line in lines(like.shape, [axis]):
        for at, source in zip(line, sorted(line, key=lambda i: places[i]), strict=True):
            found[at] = source
    return found
