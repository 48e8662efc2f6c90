"""DifferenceWarning: where an operator and NumPy's function of the same name differ.

``sz.*`` has the standard's meaning. The first call of an operator that NumPy would answer otherwise
warns, unless suanzi itself makes it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from suanzi import _core


class DifferenceWarning(UserWarning):
    """An operator follows the standard where NumPy's function of the same name differs."""


def difference_warnings(on: bool = True) -> None:
    """Turn the warnings of calls that NumPy would answer otherwise on or off, in all threads.

    They are on, and each operator warns once: ``sz.cumsum(x, -1)`` and ``sz.transpose(x, perm)``
    with axes that change places in a circle. Turned on again, each warns once more.

    >>> sz.difference_warnings(False)
    >>> sz.transpose(sz.zeros((2, 3, 4)), (1, 2, 0)).shape
    (4, 2, 3)
    """
    _due.clear()
    if on:
        _due.update(_MESSAGES)
    _core.warn_of_cycles("transpose" in _due)


def _cumsum(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether axis -1 was given, for more axes than one."""
    axis = args[1] if len(args) > 1 else kwargs.get("axis")
    x = args[0] if args else kwargs.get("input")
    return type(axis) is int and axis == -1 and getattr(x, "ndim", 0) > 1


def _transpose(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether axes change places in a circle, so that the inverse order is another."""
    perm: Any = args[1] if len(args) > 1 else kwargs.get("perm")
    if type(perm) not in (tuple, list) or not all(type(n) is int for n in perm):
        return False  # the operator says what is wrong with it
    axes = [n % len(perm) for n in perm]
    return sorted(axes) == list(range(len(axes))) and any(axes[n] != i for i, n in enumerate(axes))


_MESSAGES = {
    "cumsum": (
        "cumsum (7.2.13.2): axis=-1 flattens the input, as in the standard. For the last axis use "
        "x.cumsum(-1)."
    ),
    "transpose": (
        "transpose (7.2.3.5): axis i of the input becomes axis perm[i] of the result, as in the "
        "standard. For NumPy's order use x.transpose(perm)."
    ),
}
_DIFFERS: dict[str, Callable[[tuple[Any, ...], dict[str, Any]], bool]] = {
    "cumsum": _cumsum,
    "transpose": _transpose,
}
_due = set(_MESSAGES)


def may_differ(name: str) -> bool:
    """Return whether calls of an operator must be checked."""
    return name in _DIFFERS


def warn(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Warn of a call that NumPy would answer otherwise, once; called by what the user called."""
    if name not in _due or not _DIFFERS[name](args, kwargs):
        return
    caller = sys._getframe(2).f_globals.get("__name__", "")
    if str(caller).partition(".")[0] == "suanzi":
        return
    _due.discard(name)
    _core.warn_of_cycles("transpose" in _due)
    more = "This is said once; sz.difference_warnings(False) turns it off."
    warnings.warn(f"{_MESSAGES[name]} {more}", DifferenceWarning, stacklevel=3)
