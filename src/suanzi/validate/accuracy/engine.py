"""Measures functions of a subject: all arguments of narrow dtypes, a search in wide ones."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from suanzi.conformance.subjects.tallies import asymmetry, disorder
from suanzi.validate.accuracy import samples
from suanzi.validate.accuracy.errors import At, Tally, WrongReference, exact_values, judged, settle
from suanzi.validate.accuracy.functions import FUNCTIONS, Function
from suanzi.validate.accuracy.inputs import (
    WIDTHS,
    Bits,
    both_signs,
    every,
    neighbours,
    sample,
    values,
)
from suanzi.validate.accuracy.pairs import every_pair, near_pairs, sampled_pairs
from suanzi.validate.accuracy.samples import SAMPLED, Sampled
from suanzi.validate.accuracy.sweeper import NotMeasured, Sweeper

Array = NDArray[np.float64]
Measured = Function | Sampled
Coverage = Literal["all", "search", "pairs", "samples"]
Worst = list[tuple[float, At]]
PARTS = 256
"""Tasks of all float32 arguments of a function; a state and a shard are made of them."""
_CHUNK = 1 << 15
"""Arguments that are compared at once: they stay in the cache."""
_ROUNDS, _REFINED = 3, 6
"""How often the neighbours of the worst arguments are tried, and of how many."""


@dataclass(frozen=True)
class Task:
    """A function in a dtype: all of its arguments, a range of their magnitudes, or a search."""

    name: str
    dtype: str
    coverage: Coverage
    start: int = 0
    stop: int | None = None

    @property
    def function(self) -> Measured:
        """The function."""
        return FUNCTIONS[self.name] if self.name in FUNCTIONS else SAMPLED[self.name]

    @property
    def key(self) -> str:
        """What it is, in words: ``exp float32 all 0``."""
        return f"{self.name} {self.dtype} {self.coverage} {self.start}"


@dataclass
class Row:
    """What was measured of a function in a dtype."""

    name: str
    dtype: str
    coverage: Coverage
    tally: Tally = field(default_factory=Tally)
    missing: str = ""
    """Why it was not measured."""


def tasks(functions: Sequence[Measured], dtypes: Sequence[str], exhaustive: bool) -> Iterator[Task]:
    """Give the tasks; all arguments of float32 are several, of ranges of magnitudes."""
    for dtype in dtypes:
        width = WIDTHS[dtype]
        for f in functions:
            if isinstance(f, Sampled):
                yield Task(f.name, dtype, "samples")
            elif f.binary:
                yield Task(f.name, dtype, "all" if width == 8 else "pairs")
            elif width <= 16:
                yield Task(f.name, dtype, "all")
            elif width == 32 and exhaustive:
                size = (1 << 31) // PARTS
                for start in range(0, 1 << 31, size):
                    yield Task(f.name, dtype, "all", start, start + size)
            else:
                yield Task(f.name, dtype, "search")


def measure(
    make: Callable[[], Sweeper], todo: Iterable[Task], jobs: int, seed: int = 0
) -> Generator[tuple[Task, Tally | str], None, None]:
    """Give each task with what was found, as it is done; a function that fails once is left out."""
    own = threading.local()
    opened: list[Sweeper] = []
    failed: dict[tuple[str, str], str] = {}

    def one(task: Task) -> Tally | str:
        why = failed.get((task.name, task.dtype))
        if why is not None:
            return why
        if not hasattr(own, "sweeper"):
            own.sweeper = make()
            opened.append(own.sweeper)
        found = measured(own.sweeper, task, seed)
        if isinstance(found, str):
            failed[task.name, task.dtype] = found
        return found

    work = deque(todo)
    under_way: dict[Future[Tally | str], Task] = {}
    pool = ThreadPoolExecutor(jobs)
    try:
        while work or under_way:
            while work and len(under_way) < 2 * jobs:
                task = work.popleft()
                under_way[pool.submit(one, task)] = task
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                yield under_way.pop(future), future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for sweeper in opened:
            sweeper.close()


def rows_of(todo: Sequence[Task], found: Callable[[Task], Tally | str]) -> list[Row]:
    """Return rows, in the order of tasks."""
    rows: dict[tuple[str, str], Row] = {}
    for task in todo:
        row = rows.setdefault((task.name, task.dtype), Row(task.name, task.dtype, task.coverage))
        one = found(task)
        if isinstance(one, str):
            row.missing = row.missing or one
        else:
            row.tally.add(one)
    return list(rows.values())


def measured(sweeper: Sweeper, task: Task, seed: int) -> Tally | str:
    """Return what was found of a task; or why nothing was."""
    f = task.function
    try:
        if isinstance(f, Sampled):
            return _sampled(sweeper, f, task.dtype, seed)
        total = _counted(sweeper, f, task, seed)
        settle(f, task.dtype, total)
    except (NotMeasured, WrongReference) as reason:
        return str(reason)
    return total


def _counted(sweeper: Sweeper, f: Function, task: Task, seed: int) -> Tally:
    dtype = task.dtype
    if f.binary:
        blocks = every_pair(dtype) if task.coverage == "all" else sampled_pairs(f.name, dtype, seed)
        return _searched(sweeper, f, dtype, blocks, refine=task.coverage != "all")
    if task.coverage == "search":
        return _searched(sweeper, f, dtype, ((one,) for one in sample(dtype, seed)), refine=True)
    if task.stop is not None:
        found = sweeper.on_device(f, dtype, task.start, task.stop)
        if found is not None:
            return found
    total = Tally()
    for magnitudes in every(dtype, task.start, task.stop):
        total.add(_block(sweeper, f, dtype, magnitudes)[0])
    return total


def _searched(
    sweeper: Sweeper, f: Function, dtype: str, blocks: Iterable[tuple[Bits, ...]], refine: bool
) -> Tally:
    total = Tally()
    worst: Worst = []
    for bits in blocks:
        tally, found = _block(sweeper, f, dtype, *bits)
        total.add(tally)
        worst += found
    tried: set[At] = set()
    for _ in range(_ROUNDS if refine else 0):
        near = sorted(worst, reverse=True)[:_REFINED]
        new = [at for _, at in near if at not in tried]
        if not new:
            break
        tried.update(new)
        tally, found = _block(sweeper, f, dtype, *_around(f, new, dtype))
        # The neighbours of the worst would distort shares and means.
        if tally.worst > total.worst:
            total.worst, total.worst_at = tally.worst, tally.worst_at
            total.worst_found = tally.worst_found
        worst += found
    return total


def _around(f: Function, at: Sequence[At], dtype: str) -> tuple[Bits, ...]:
    if not f.binary:
        return (np.unique(np.concatenate([neighbours(x, dtype) for (x,) in at])),)
    each = [near_pairs((x, y), dtype) for x, y in at]
    return tuple(np.concatenate([pair[i] for pair in each]) for i in range(2))


def _block(sweeper: Sweeper, f: Function, dtype: str, *given: Bits) -> tuple[Tally, Worst]:
    """Return what was found, and the worst errors with arguments; magnitudes get both signs."""
    bits = given if f.binary else (both_signs(given[0], dtype),)
    raw = sweeper.results(f, dtype, *bits)
    total = Tally()
    worst: Worst = []
    for i in range(0, len(raw), _CHUNK):
        part = slice(i, i + _CHUNK)
        at = tuple(values(one[part], dtype) for one in bits)
        found = values(raw[part], dtype)
        if dtype == "float64":
            tally = judged(f, dtype, at, found, *exact_values(f, *at))
        else:
            tally = judged(f, dtype, at, found)
        total.add(tally)
        if tally.worst_at is not None:
            worst.append((tally.worst, tally.worst_at))
    if not f.binary:
        half = len(given[0])
        result = raw.view(np.float32) if dtype == "float32" else values(raw, dtype)
        with np.errstate(invalid="ignore"):
            total.order = disorder(f.order, result[:half], result[half:])
            total.asymmetric = asymmetry(np, f.symmetry, result[:half], result[half:])
    return total, worst


def _sampled(sweeper: Sweeper, f: Sampled, dtype: str, seed: int) -> Tally:
    total = Tally()
    for case in samples.cases(f, dtype, seed):
        found = sweeper.call(f.key, case.operands, dtype, case.given)
        total.add(samples.judged(f, dtype, case, found))
    return total
