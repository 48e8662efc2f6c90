"""Errors that depend on the elements: a flag on the device for each call that may have one.

Nothing waits for it. `check` reads all flags at once, where something waits anyway: in the
standard's form, in `sz.synchronize`, and where elements are fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock

import torch

from suanzi.base.status import OutOfRange, StatusError

Raise = Callable[[], StatusError]
LIMIT = 256
"""How many flags are kept before they are read."""

_flags: dict[torch.device, list[tuple[torch.Tensor, Raise]]] = {}
_cleared: dict[torch.device, Iterator[torch.Tensor]] = {}
_lock = Lock()


def slot(device: torch.device, error: Raise) -> torch.Tensor:
    """Return a flag that is not set, one uint8 for a kernel to store 1 to, and note its error."""
    with _lock:
        flag = next(_cleared.get(device, iter(())), None)
        if flag is None:
            # Copied from the host, which waits: kernels of any stream may store to them.
            many = torch.zeros(LIMIT, dtype=torch.uint8).to(device)
            _cleared[device] = iter(many.unbind())
            flag = next(_cleared[device])
    add(flag, error)
    return flag


def add(flag: torch.Tensor, error: Raise) -> None:
    """Note a flag, a bool of no axes, and the error of the call if it is set."""
    with _lock:
        waiting = _flags.setdefault(flag.device, [])
        waiting.append((flag, error))
        full = len(waiting) >= LIMIT
    if full:
        check(flag.device)


def check(device: torch.device | None = None) -> None:
    """Wait for the flags of a device, or of all, and raise the first error that they show."""
    with _lock:
        taken = [_flags.pop(one) for one in list(_flags) if device in (None, one)]
    for waiting in taken:
        found = torch.stack([flag.to(torch.bool) for flag, _ in waiting]).tolist()
        for is_set, (_, error) in zip(found, waiting, strict=True):
            if is_set:
                raise error()


def forget() -> None:
    """Forget all flags: those of a process that was forked belong to its parent."""
    _flags.clear()
    _cleared.clear()


def out_of_range(
    n: int, title: str = "x[key]: an index", least: int | None = None
) -> Callable[[], OutOfRange]:
    """Return what makes the error of an index along an axis."""
    low = -n if least is None else least
    words = f"{title} is out of range for an axis of size {n} (valid: {low} to {n - 1})."
    return lambda: OutOfRange(words)
