"""The results for the few values of a large tensor, by comparing bytes, not numbers."""

from __future__ import annotations

from suanzi.conformance.model.data import units_of
from suanzi.conformance.model.expected import Cycle, Picked, joined
from suanzi.conformance.model.numbers import Value

ENOUGH = 4096
"""How many different results are measured; a backend with more of them is wrong."""
_ROW = 251

Answers = dict[tuple[int, bytes], tuple[int, int]]
"""How often a value, by its number, had a result, and where first."""


def is_right(raw: bytes, dtype: str, truth: Picked[Value]) -> bool:
    """Tell whether all elements are the truth, rounded once.

    >>> is_right(b"\\1\\2\\1", "int8", Picked((1, 2), Cycle(2, 3)))
    True
    """
    return raw == joined(units_of(dtype, truth.base), truth.which)


def answers_of(raw: bytes, size: int, truth: Picked[Value]) -> Answers:
    """Return the results for each of the few values.

    >>> found = answers_of(b"\\1\\2\\1\\2\\1\\3", 1, Picked((1, 2), Cycle(2, 6)))
    >>> found[0, b"\\1"], found[1, b"\\2"], found[1, b"\\3"]
    ((3, 0), (2, 1), (1, 5))
    """
    step = truth.which.period if isinstance(truth.which, Cycle) else _ROW
    rows: dict[tuple[bytes, object], list[int]] = {}
    for at in range(0, len(truth), step):
        # Where the truth repeats, that of every row is the same.
        which = None if isinstance(truth.which, Cycle) else tuple(truth.which[at : at + step])
        rows.setdefault((raw[at * size : (at + step) * size], which), []).append(at)
    found: Answers = {}
    for (row, _), places in rows.items():
        for i, k in enumerate(truth.which[places[0] : places[0] + step]):
            pair = k, row[i * size : (i + 1) * size]
            often, first = found.get(pair, (0, places[0] + i))
            found[pair] = often + len(places), min(first, places[0] + i)
        if len(found) > ENOUGH:
            break
    return found
