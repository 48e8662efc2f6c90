"""What calls do to one another: outputs that live on, two threads, the memory of many calls.

Each function makes the same call often and returns what is wrong, in words, or None. This file
is read by the interpreter of a subject, like wire.py.
"""

from __future__ import annotations

import ctypes
import gc
import os
import threading
import time
from collections.abc import Callable
from typing import Any

Call = Callable[[], Any]
"""Makes a call and returns its outputs, or None if it does not succeed."""

LATER = 8
"""Calls during which an output stays: more than a library has buffers to take turns with."""
IN_EACH_THREAD = 40
DRAWS = 8
"""Calls that show whether results are random: of few classes, two are often the same."""
CALLS = 1000
WARM_UP = 100
ROUNDS = 3
LEAK = 1024
"""Bytes a call by which memory grows in every round, if it leaks."""
_SECONDS = 2.0
"""How long one round may take; a slow library makes fewer calls."""


def live(first: Call, second: Call, read: Callable[[Any], Any]) -> str | None:
    """Keep an output during later calls, with other elements, and read it again."""
    output = first()
    before = read(output)
    later = [second() for _ in range(LATER)]
    after = read(output)
    if before != after:
        return f"a later call changed this output: one of the next {len(later)} overwrote it"
    return None


def threads(first: Call, second: Call) -> str | None:
    """Call from two threads at once; each must get what it gets alone."""
    alone = [first(), second()]
    if any(alone != [first(), second()] for _ in range(DRAWS)):
        return None  # random numbers: that nothing crashes is all that can be seen
    wrong: list[str] = []
    start = threading.Barrier(2)

    def work(call: Call, right: Any) -> None:
        start.wait()
        for i in range(IN_EACH_THREAD):
            try:
                if call() != right:
                    wrong.append(f"call {i + 1} of {IN_EACH_THREAD} has another result than alone")
                    return
            except Exception as error:
                wrong.append(f"call {i + 1} of {IN_EACH_THREAD}: {type(error).__name__}: {error}")
                return

    both = [threading.Thread(target=work, args=pair) for pair in zip((first, second), alone)]  # noqa: B905
    for one in both:
        one.start()
    for one in both:
        one.join()
    return f"two threads that call at once disturb each other: {wrong[0]}" if wrong else None


def memory(call: Call) -> str | None:
    """Call 1,000 times and compare the memory in use; what grows in each of three rounds leaks.

    Caches that fill up, pools and fragments grow at first and then no more.
    """
    for _ in range(WARM_UP):
        call()
    # What exists before the calls is not searched for garbage each time.
    was_frozen = gc.get_freeze_count()
    gc.collect()
    gc.freeze()
    try:
        least, made = _leak(call)
    finally:
        if not was_frozen:
            gc.unfreeze()
    if least is None:
        return None
    return (
        f"{made:,} calls take {least:,} bytes that they do not give back, {least // made:,} a call"
    )


def _leak(call: Call) -> tuple[int | None, int]:
    """Return the least growth in bytes of some rounds, None if one had none, and their calls."""
    least: int | None = None
    made = 0
    for _ in range(ROUNDS):
        grown, made = _round(call)
        if grown < LEAK * made:
            return None, made
        least = grown if least is None else min(least, grown)
    return least, made


def _round(call: Call) -> tuple[int, int]:
    """Return by how many bytes memory has grown, and after how many calls."""
    gc.collect()
    before, made, until = _used(), 0, time.monotonic() + _SECONDS
    while made < CALLS and (made < WARM_UP or time.monotonic() < until):
        call()
        made += 1
    gc.collect()
    return max(b - a for a, b in zip(before, _used())), made  # noqa: B905


class _Counts(ctypes.Structure):
    """The struct mallinfo2 of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks "
        "keepcost".split()
    )


def _used() -> tuple[int, int]:
    """Return the bytes that malloc has lent, where it can be asked, and those of the process."""
    lent = 0
    function = getattr(ctypes.CDLL(None), "mallinfo2", None) if os.name == "posix" else None
    if function is not None:
        function.restype = _Counts
        counts = function()
        lent = counts.uordblks + counts.hblkhd
    return lent, _resident()


def _resident() -> int:
    """Return the bytes of physical memory; where the system does not say, the most so far."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
