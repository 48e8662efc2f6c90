"""Other spellings of arguments that are accepted, and hints for calls that do not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suanzi.tensors.tensor import Tensor

KEEP = ("keep_dims", "keepdim", "keepdims")
"""The standard's two words for one thing, and NumPy's; all are accepted."""
Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def of(
    function: Callable[..., Any],
) -> Callable[[tuple[Any, ...], dict[str, Any]], Arguments] | None:
    """Return what translates other spellings of a function's arguments; None if there are none.

    >>> x = sz.tensor([[4.0, 2], [2, 5]])
    >>> sz.reduce(x, "SUM", 0, keepdims=True).shape, sz.argmax(x, 0, keepdims=True).shape
    ((1, 2), (1, 2))
    >>> sz.cholesky(x)
    Tensor([[2, 0],
            [1, 2]], dtype=float32)
    """
    names = function.__annotations__  # a signature of each operator would slow the import
    if function.__name__ == "cholesky":
        return _cholesky
    own = next((name for name in KEEP if name in names), None)
    if own is None:
        return None

    def renamed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        if own in kwargs:
            return args, kwargs
        return args, {own if name in KEEP else name: x for name, x in kwargs.items()}

    return renamed


def _cholesky(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """Let the triangle come last or not at all: the lower one, as NumPy has it."""
    given = dict(kwargs)
    named = dict(zip(("mat", "upper"), args[:2], strict=False))
    is_first = bool(args) and (hasattr(args[0], "shape") or isinstance(args[0], list | tuple))
    if is_first and len(args) <= 2 and not named.keys() & given.keys():
        given |= named
        args = ()
    if "upper" not in given and not args:
        given["upper"] = "L"
    return args, given


def hint(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return what to write for a call that lacks an argument: ``max(x)`` of one tensor."""
    if name not in ("max", "min") or not args or not isinstance(args[0], Tensor):
        return ""
    axis = kwargs.get("axis")
    named = "" if axis is None else f"axis={axis!r}"
    return (
        f". It compares two tensors; for the {name}imum along an axis use x.{name}({named}) or "
        f"sz.array_api.{name}(x{named and f', {named}'})."
    )
