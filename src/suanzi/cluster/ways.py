"""How each operator runs on blocks: one table, from its name to the way.

A way is a function that gets the operator and its arguments by the names the standard gives them,
defaults among them, and returns a new tensor of blocks. What has no way is an error that says how
to go on: nothing is gathered unasked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from suanzi.registry import REGISTRY
from suanzi.status import TypeMismatch

Way = Callable[..., Any]
W = TypeVar("W", bound=Way)

WAYS: dict[str, Way] = {}
"""The way of every operator that runs on blocks, by name; also of methods, such as ``x[key]``."""


def way(*names: str) -> Callable[[W], W]:
    """Declare how operators run on blocks."""

    def declare(function: W) -> W:
        WAYS.update(dict.fromkeys(names, function))
        return function

    return declare


def run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run an operator on blocks."""
    if name not in REGISTRY:  # quantize and dequantize, which are not the standard's
        return WAYS[name](*args, **kwargs)
    op = REGISTRY[name]
    if name not in WAYS:
        raise TypeMismatch(
            f"{op.title}: it does not run on the blocks of a cluster. Gather its arguments first, "
            "with x.to_host(), if they fit this machine's memory."
        )
    try:
        bound = _signature(name).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{op.title}: {error}") from None
    bound.apply_defaults()
    if any(map(_is_quantised, bound.arguments.values())):
        return WAYS["quantised operands"](op, WAYS[name], bound.arguments)
    return WAYS[name](op, **bound.arguments)


def _is_quantised(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_is_quantised, x))
    return getattr(getattr(x, "dtype", None), "kind", None) == "quantized"


def as_called(name: str, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments by place, as far as they go, without defaults at the end.

    So an operator's native fast path takes them, which knows no names.
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    last = 0
    for parameter in _signature(name).parameters.values():
        x = arguments[parameter.name]
        if parameter.kind is parameter.KEYWORD_ONLY:
            if x is not parameter.default:
                kwargs[parameter.name] = x
            continue
        args.append(x)
        if x is not parameter.default:
            last = len(args)
    return args[:last], kwargs


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(REGISTRY[name].function)
