"""Properties of outputs that are not unique: factors of a matrix, random numbers.

A check gets the arguments of the case, the outputs as data in the interface's order, and the facts
that the case states; it returns what is wrong in words, or None.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from suanzi.conformance.model.numbers import FORMATS, NARROW, PARTS

Checker = Callable[[Mapping[str, Any], Sequence[Any], Mapping[str, Any]], "str | None"]

CHECKS: dict[str, Checker] = {}
"""Every check by name."""


_LENIENT: ContextVar[bool] = ContextVar("lenient", default=False)


@contextmanager
def leniently() -> Iterator[None]:
    """Let checks allow errors up to half of the digits: larger ones are wrong, not inaccurate."""
    token = _LENIENT.set(True)
    try:
        yield
    finally:
        _LENIENT.reset(token)


def is_lenient() -> bool:
    """Tell whether checks are lenient."""
    return _LENIENT.get()


def slack(dtype: str) -> int:
    """Return by which factor the bound of an error grows in a lenient check.

    A larger one would take a result of a lower precision. Those of narrow dtypes allow for
    arithmetic in the dtype itself, which is as lenient as can be.

    >>> slack("float32"), slack("bfloat16"), slack("complex64")
    (8, 1, 8)
    """
    part = PARTS.get(dtype, dtype)
    return 8 if part in FORMATS and part not in NARROW else 1


def check(function: Checker) -> Checker:
    """Declare a check, by the name of its function, which is unique."""
    assert function.__name__ not in CHECKS, function.__name__
    CHECKS[function.__name__] = function
    return function


def find(name: str) -> Checker:
    """Return a check by its name, from any file of this folder."""
    _load()
    return CHECKS[name]


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
