"""Measures functions of a subject: all arguments of narrow dtypes, a search in wide ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from suanzi.accuracy.errors import Tally, exact_values, judged, settle
from suanzi.accuracy.functions import Function
from suanzi.accuracy.inputs import WIDTHS, Bits, both_signs, every, neighbours, sample, values
from suanzi.accuracy.sweeper import NotMeasured, Sweeper

Array = NDArray[np.float64]
Coverage = Literal["all", "search"]
_CHUNK = 1 << 16
"""Arguments that are compared at once: they stay in the cache."""
_ROUNDS, _REFINED = 3, 6
"""How often the neighbours of the worst arguments are tried, and of how many."""


@dataclass(frozen=True)
class Task:
    """A function in a dtype: all of its arguments, a range of their magnitudes, or a search."""

    function: Function
    dtype: str
    coverage: Coverage
    start: int = 0
    stop: int | None = None


@dataclass
class Row:
    """What was measured of a function in a dtype."""

    function: Function
    dtype: str
    coverage: Coverage
    tally: Tally = field(default_factory=Tally)
    missing: str = ""
    """Why it was not measured."""


def tasks(
    functions: Sequence[Function], dtypes: Sequence[str], exhaustive: bool, parts: int
) -> Iterator[Task]:
    """Give the tasks; all arguments of float32 are several, of ranges of magnitudes."""
    for dtype in dtypes:
        width = WIDTHS[dtype]
        for f in functions:
            if width <= 16:
                yield Task(f, dtype, "all")
            elif width == 32 and exhaustive:
                size = -((-1 << 31) // parts)
                for start in range(0, 1 << 31, size):
                    yield Task(f, dtype, "all", start, start + size)
            else:
                yield Task(f, dtype, "search")


def measure(
    make: Callable[[], Sweeper],
    todo: Iterable[Task],
    jobs: int,
    seed: int = 0,
    done: Callable[[Task], None] = lambda task: None,
) -> list[Row]:
    """Measure, with as many processes of the subject as there are jobs."""
    own = threading.local()
    opened: list[Sweeper] = []

    def one(task: Task) -> tuple[Task, Tally | str]:
        if not hasattr(own, "sweeper"):
            own.sweeper = make()
            opened.append(own.sweeper)
        try:
            found: Tally | str = _measured(own.sweeper, task, seed)
        except NotMeasured as reason:
            found = str(reason)
        done(task)
        return task, found

    rows: dict[tuple[str, str], Row] = {}
    pool = ThreadPoolExecutor(jobs)
    try:
        for task, found in pool.map(one, todo):
            f = task.function
            row = rows.setdefault((f.name, task.dtype), Row(f, task.dtype, task.coverage))
            if isinstance(found, str):
                row.missing = row.missing or found
            else:
                row.tally.add(found)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for sweeper in opened:
            sweeper.close()
    for row in rows.values():
        if not row.missing:
            settle(row.function, row.dtype, row.tally)
    return list(rows.values())


def _measured(sweeper: Sweeper, task: Task, seed: int) -> Tally:
    f, dtype = task.function, task.dtype
    if task.coverage == "all":
        total = Tally()
        for magnitudes in every(dtype, task.start, task.stop):
            total.add(_block(sweeper, f, dtype, magnitudes)[0])
        return total
    total, worst = Tally(), []
    for magnitudes in sample(dtype, seed):
        tally, found = _block(sweeper, f, dtype, magnitudes)
        total.add(tally)
        worst += found
    tried: set[float] = set()
    for _ in range(_ROUNDS):
        near = sorted(worst, reverse=True)[:_REFINED]
        new = [x for _, x in near if x not in tried]
        if not new:
            break
        tried.update(new)
        bits = np.sort(np.concatenate([neighbours(x, dtype) for x in new]))
        tally, found = _block(sweeper, f, dtype, bits)
        # The neighbours of the worst would distort shares and means.
        if tally.worst > total.worst:
            total.worst, total.worst_at = tally.worst, tally.worst_at
            total.worst_found = tally.worst_found
        worst += found
    return total


def _block(
    sweeper: Sweeper, f: Function, dtype: str, magnitudes: Bits
) -> tuple[Tally, list[tuple[float, float]]]:
    """Return what was found of magnitudes with both signs, and the worst errors with arguments."""
    bits = both_signs(magnitudes, dtype)
    found = sweeper.results(f, dtype, bits)
    x = values(bits, dtype)
    total, worst = Tally(), []
    for i in range(0, len(x), _CHUNK):
        part = slice(i, i + _CHUNK)
        if dtype == "float64":
            tally = judged(f, dtype, x[part], found[part], *exact_values(f, x[part]))
        else:
            tally = judged(f, dtype, x[part], found[part])
        total.add(tally)
        if tally.worst_at is not None:
            worst.append((tally.worst, tally.worst_at))
    half = len(magnitudes)
    total.order = _disorder(f, found[:half], found[half:])
    total.asymmetric = _asymmetry(f, found[:half], found[half:])
    return total, worst


def _disorder(f: Function, above: Array, below: Array) -> int:
    """Count neighbours in the wrong order; both halves are ordered by magnitude."""
    if not f.order:
        return 0
    with np.errstate(all="ignore"):
        up = np.diff(above) if f.order != "falls" else -np.diff(above)
        down = -np.diff(below) if f.order == "rises" else np.diff(below)
        return int((up < 0).sum()) + int((down < 0).sum())


def _asymmetry(f: Function, above: Array, below: Array) -> int:
    if not f.symmetry:
        return 0
    other = -below if f.symmetry == "odd" else below
    same = (above == other) & (np.signbit(above) == np.signbit(other))
    same |= np.isnan(above) & np.isnan(other)
    return int((~same).sum())
