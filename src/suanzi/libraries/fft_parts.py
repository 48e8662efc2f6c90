"""7.2.16: transforms along one axis by SciPy's public functions, in parts the shape decides.

SciPy's own threads split the rows by how many threads there are. Rows that fill the lanes of a
vector are computed together and the rest one by one, which on ARM, where products and sums are
fused, rounds differently; so its threads change results. Here each call has one thread and a dense
part of the array, which depends on the shape alone, and so do the bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.libraries import room
from suanzi.status import AllocFailed

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    Array = np.ndarray[Any, Any]
    Part = tuple[slice, slice, slice]

# Bytes of a part: with its copy, it stays in the cache of a core.
_PART = 1 << 19
# Rows that lanes are filled with: as many as float32 has in 128 bits, which is what SciPy is built
# for, on any machine.
_LANES = 4
# Bytes between elements: at multiples of these, they drive one another out of the cache.
_CROWDED = 1 << 10
# Elements from which on parts, and so threads, are worth it.
_SHARED = 1 << 16

# SciPy's words for dividing by nothing, the root of n, and n: forwards, backwards.
_NORMS = (("backward", "forward"), ("ortho", "ortho"), ("forward", "backward"))


def c2c(array: Array, axis: int, forward: bool, scale: int) -> None:
    """Replace the complex numbers of a dense array by their transform.

    >>> import numpy as np
    >>> x = np.array([[1, 2j, 3, 4]])
    >>> c2c(x, 1, True, 0)
    >>> x.tolist()
    [[(8+2j), 4j, -2j, (-4-4j)]]
    """
    _along(("fft", "ifft"), array, array, axis, forward, scale)


def r2c(source: Array, target: Array, axis: int, forward: bool, scale: int) -> None:
    """Write the spectrum of real numbers, or half of it, if there is no room for more."""
    whole = source.shape[axis] > 2 and source.shape == target.shape
    names = ("fft", "ifft") if whole else ("rfft", "ihfft")
    _along(names, source, target, axis, forward, scale)


def c2r(source: Array, target: Array, axis: int, forward: bool, scale: int) -> None:
    """Write the real numbers to which half of a spectrum belongs."""
    _along(("hfft", "irfft"), source, target, axis, forward, scale, target.shape[axis])


def _along(
    names: tuple[str, str],
    source: Array,
    target: Array,
    axis: int,
    forward: bool,
    scale: int,
    length: int | None = None,
) -> None:
    import numpy as np

    fft = room.load("scipy.fft")
    function, norm = getattr(fft, names[not forward]), _NORMS[scale][not forward]
    in_place = source is target

    def one(piece: Array, there: Array, axis: int) -> None:
        try:
            made = function(piece, length, axis, norm, in_place, 1)
        except RuntimeError as error:  # from 1.18 on, it starts its threads even if it uses none
            raise AllocFailed(f"SciPy gets no thread: {error}. Raise the limit.") from None
        if not (in_place and np.may_share_memory(made, there)):
            there[...] = made

    if max(source.size, target.size) < _SHARED:
        return one(source, target, axis)
    before, after = prod(target.shape[:axis]), prod(target.shape[axis + 1 :])
    inputs, outputs = source.reshape(before, -1, after), target.reshape(before, -1, after)

    def work(part: Part) -> None:
        piece, there = inputs[part], outputs[part]
        if after > 1 and piece.strides[1] % _CROWDED == 0:
            piece = piece.copy()
        one(piece, there, 1)

    share(work, _parts(before, after, max(source.nbytes, target.nbytes) // (before * after)))
    return None


def _parts(before: int, after: int, row: int) -> list[Part]:
    """Return the parts of before x n x after elements, where n elements take `row` bytes.

    >>> _parts(1, 1, 800)
    [(slice(0, 1, None), slice(None, None, None), slice(0, 1, None))]
    >>> [(outer.stop, inner.stop) for outer, _, inner in _parts(2, 20, 1 << 16)]
    [(1, 8), (1, 16), (1, 20), (2, 8), (2, 16), (2, 20)]
    """
    whole = slice(None)
    if after == 1 or after * row <= _PART:
        return [(some, whole, slice(0, after)) for some in cut(before, after * row)]
    columns = cut(after, row)
    return [(slice(i, i + 1), whole, some) for i in range(before) for some in columns]


def cut(count: int, size: int) -> list[slice]:
    """Return equal slices of so many things of so many bytes: lanes full, if there are so many."""
    step = max(_PART // max(size, 1) // _LANES, 1) * _LANES if count >= _LANES else 1
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]


_BEGINNING = 1 << 20
"""What a thread of Python's takes besides its stack, with room to spare."""


def share(work: Callable[[Any], None], parts: Sequence[Any]) -> None:
    """Do the work for each of the parts on as many threads as there may be.

    >>> done = []
    >>> share(done.append, range(5))
    >>> sorted(done)
    [0, 1, 2, 3, 4]
    """
    threads = min(_core.get_num_threads(), os.cpu_count() or 1, len(parts))
    # Python waits for ever for a thread that had a stack and no memory to begin with.
    if not _core.has_room((threads - 1) * (room.stack_size() + _BEGINNING)):
        threads = 1
    rest = iter(parts)

    def run() -> None:
        for part in rest:
            work(part)

    jobs = []
    with suppress(RuntimeError):  # there are no new threads while the interpreter ends
        for _ in range(threads - 1):
            jobs.append(_pool(_core.get_num_threads()).submit(run))
    try:
        run()
    finally:
        for job in jobs:
            if not job.cancel():
                job.result()


@lru_cache(maxsize=1)
def _pool(threads: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads - 1, "suanzi-fft")


# A child has the executor of its parent, but not the threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
