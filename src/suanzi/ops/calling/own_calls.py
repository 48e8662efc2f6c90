"""The calls of a program written in suanzi: what notes them while `suanzi.record` is active."""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any

from suanzi.base.dtypes import DType
from suanzi.promote.operands import Operand, Role, operand
from suanzi.promote.registry import Operator
from suanzi.recording.calls import Call, Taken, Where
from suanzi.recording.recorders.recording import is_symbol_in_place
from suanzi.tensors.tensor import Tensor

_HOME = str(Path(__file__).parents[2])
_VARIANTS = 8
"""How many calls are distinguished that differ only in where their operands came from."""


class Recorder:
    """The different calls so far, with how often each was made and the extremes of its numbers."""

    def __init__(self) -> None:
        self.found: dict[Any, list[Any]] = {}
        self.variants: dict[Any, list[Any]] = {}
        self.made_by: dict[int, tuple[weakref.ref[Tensor], int]] = {}
        self.inside = False

    def run(
        self, op: Operator, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """Make a call and note it; what it calls itself is a part of it."""
        if self.inside:
            return function(*args, **kwargs)
        self.inside = True
        try:
            result = function(*args, **kwargs)
        finally:
            self.inside = False
        self.note(op, args, kwargs, result)
        return result

    def note(self, op: Operator, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Note one call that gave a tensor."""
        first = result[0] if isinstance(result, list | tuple) and result else result
        if not isinstance(first, Tensor):
            return
        given = _signature(op).bind(*args, **kwargs).arguments
        dtype = given.pop("dtype", None)
        arguments = tuple(self.taken(x) for x in given.values())
        frame = _frame()
        target, way = args[0] if args else None, None
        if frame is not None and isinstance(target, Tensor) and is_symbol_in_place(frame):
            way = "in-place" if first.dtype is target.dtype else None
        plain = tuple(_without_value(x) for x in arguments)
        says = isinstance(dtype, DType)
        key = op.name, plain, first.dtype, first.ndim == 0, _where(frame), way, says
        kinds = tuple(_without_origin(x) for x in arguments)
        alike = self.variants.setdefault((op.name, kinds, *key[2:]), [])
        if key not in self.found and len(alike) == _VARIANTS:
            # In a loop, x = x + y would be a new call each time.
            key = alike[-1]
        elif key not in self.found:
            alike.append(key)
            named = (("dtype", None),) if says else ()
            self.found[key] = [len(self.found), arguments, named, 0]
        seen = self.found[key]
        seen[1] = tuple(_widened(a, b) for a, b in zip(seen[1], arguments, strict=True))
        seen[3] += 1
        made = result if isinstance(result, list | tuple) else (result,)
        # What is written into x is x from then on.
        for one in made if way is None else (*made, target):
            if isinstance(one, Tensor):
                self.made_by[id(one)] = weakref.ref(one, partial(self.forget, id(one))), seen[0]

    def forget(self, place: int, _: object) -> None:
        """Forget where a tensor came from that is gone: another may get its address."""
        self.made_by.pop(place, None)

    def taken(self, x: Any) -> Taken | tuple[Taken, ...] | None:
        """Return an argument as it is recorded."""
        if isinstance(x, Tensor):
            role = Role.TENSOR if x.ndim else Role.ZERO_DIM
            ref, number = self.made_by.get(id(x), (None, None))
            return Taken(Operand(role, x.dtype), number if ref is not None else None)
        if isinstance(x, list | tuple):
            found = [self.taken(one) for one in x if isinstance(one, Tensor)]
            return tuple(one for one in found if isinstance(one, Taken)) or None
        if isinstance(x, bool | int | float | complex):
            some = None if isinstance(x, complex) else x
            return Taken(Operand(Role.NUMBER, kind=operand(x).kind), None, some, some)
        return None

    def calls(self) -> tuple[Call, ...]:
        """Return what was noted, in the order in which it was first called."""
        return tuple(
            Call(number, name, arguments, named, result, zero_dim, way, where, False, count)
            for (name, _, result, zero_dim, where, way, _), (number, arguments, named, count)
            in self.found.items()
        )  # fmt: skip


@cache
def _signature(op: Operator) -> inspect.Signature:
    return inspect.signature(op.function)


def _without_value(x: Any) -> Any:
    """Return what of an argument makes another call of it."""
    if isinstance(x, Taken):
        return x.operand, x.made_by
    return tuple(_without_value(one) for one in x) if isinstance(x, tuple) else x


def _without_origin(x: Any) -> Any:
    """Return the operand, or the operands, that an argument is."""
    if isinstance(x, Taken):
        return x.operand
    return tuple(_without_origin(one) for one in x) if isinstance(x, tuple) else x


def _widened(a: Any, b: Any) -> Any:
    """Return an argument with the extremes of two calls."""
    if not isinstance(a, Taken) or not isinstance(b, Taken):
        return a
    if a.least is None or b.least is None or a.greatest is None or b.greatest is None:
        return a
    return Taken(a.operand, a.made_by, min(a.least, b.least), max(a.greatest, b.greatest))


def _frame() -> FrameType | None:
    """Return the innermost frame outside of suanzi."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_HOME):
        frame = frame.f_back
    return frame


def _where(frame: FrameType | None) -> Where | None:
    """Return the line at which a frame is."""
    if frame is None:
        return None
    code = frame.f_code
    return Where(
        code.co_filename, frame.f_lineno, code.co_name, str(frame.f_globals.get("__name__", ""))
    )
