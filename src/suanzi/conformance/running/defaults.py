"""The arguments of a call with the standard's defaults, for backends that take every argument."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from suanzi.faces import interface
from suanzi.standard import interfaces
from suanzi.standard.catalogues import STANDARD


@cache
def defaults(op: str) -> Mapping[str, Any]:
    """Return the default of each optional parameter of an interface.

    >>> defaults("topk")
    {'axis': -1, 'largest': True, 'sorted': True}
    """
    of, _, name = op.rpartition(":")
    home = getattr(interface, of) if of else interface
    function = getattr(home, interfaces(of or STANDARD)[name].c_name)
    found = inspect.signature(function).parameters.values()
    return {
        p.name: list(p.default) if isinstance(p.default, tuple) else p.default
        for p in found
        if not repr(p.default).endswith("REQUIRED")
    }


def completed(op: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with the defaults of those that it leaves out."""
    return {**defaults(op), **arguments}


def completed_steps(steps: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the steps of a case with the defaults of each call."""
    return [
        [word, name, *(completed(name, x) if _is_call(word, x) else x for x in more)]
        for word, name, *more in steps
    ]


def _is_call(word: str, x: Any) -> bool:
    """Tell whether a part of a step is the arguments of its call."""
    return word in ("call", "live", "threads", "memory") and isinstance(x, Mapping)
