"""What must hold of outputs that can be more than one thing: factors of a matrix, random numbers.

A check gets the arguments of the case, the outputs as data in the interface's order, and the facts
that the case states; it returns what is wrong in words, or None.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

Checker = Callable[[Mapping[str, Any], Sequence[Any], Mapping[str, Any]], "str | None"]

CHECKS: dict[str, Checker] = {}
"""Every check by name."""


def check(function: Checker) -> Checker:
    """Make a function a check, by its own name, which no other has."""
    assert function.__name__ not in CHECKS, function.__name__
    CHECKS[function.__name__] = function
    return function


def find(name: str) -> Checker:
    """Return a check by its name, from any file beside this one."""
    _load()
    return CHECKS[name]


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
