"""How each operator runs on blocks: one table, from its name to a function.

Such a function, a way, gets the operator and its arguments by their names in the standard, defaults
included, and returns a new tensor of blocks. An operator without a way raises an error that
suggests a fix: nothing is gathered without being requested.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from suanzi.base.shapes import bounded
from suanzi.base.status import TypeMismatch
from suanzi.ops.calling.arguments import tensor_argument
from suanzi.ops.reduction_exact import without_accumulate
from suanzi.promote.registry import FUNCTIONS, NAMESPACES, REGISTRY, Operator
from suanzi.standard.catalogues import STANDARD

if TYPE_CHECKING:
    from suanzi.runtimes.cluster.tensor import BlockTensor
    from suanzi.tensors.tensor import Tensor

Way = Callable[..., Any]
W = TypeVar("W", bound=Way)

_MOST = 2**20
"""What no operator takes as many integers as."""

WAYS: dict[str, Way] = {}
"""The way of every operator that runs on blocks, by name."""
TAKES_QUANTIZED: set[str] = set()
"""Copying operators whose way handles quantised blocks itself, or refuses them."""


class Methods:
    """What the methods of a tensor of blocks call; modules above the tensor set each of them."""

    subscript: Callable[[BlockTensor, Any], BlockTensor]
    int_repr: Callable[[BlockTensor], BlockTensor]
    reblock: Callable[[BlockTensor, Any], BlockTensor]
    to_dask: Callable[[BlockTensor], Any]
    text: Callable[[BlockTensor], str]
    elementwise: Way
    in_blocks: Callable[[Tensor], BlockTensor]
    symbol: Callable[..., BlockTensor]
    """It runs a function of elements that is no operator, such as ``operator.neg``."""
    with_quantized: Callable[[Operator, Way, Mapping[str, Any]], Any]
    """It runs an operator on arguments some of which are quantised."""


METHODS = Methods()


def way(*names: str, takes_quantized: bool = False) -> Callable[[W], W]:
    """Declare how operators run on blocks."""

    def declare(function: W) -> W:
        WAYS.update(dict.fromkeys(names, function))
        if takes_quantized:
            TAKES_QUANTIZED.update(names)
        return function

    return declare


def run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Run an operator on blocks."""
    if name in NAMESPACES:
        return METHODS.symbol(FUNCTIONS[name], *args, **kwargs)
    if name not in REGISTRY:  # quantize and dequantize, which the standard does not have
        return WAYS[name](*args, **kwargs)
    op = REGISTRY[name]
    if name not in WAYS and op.catalogue != STANDARD and op.form == "elementwise":
        WAYS[name] = METHODS.elementwise
    if name not in WAYS:
        raise TypeMismatch(
            f"{op.title}: not available for tensors of blocks. Gather its arguments first, "
            "with x.to_host(), if they fit this machine's memory."
        )
    try:
        bound = _signature(name).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{op.title}: {error}") from None
    bound.apply_defaults()
    for parameter, x in bound.arguments.items():
        if isinstance(x, Iterator):  # which can be read once, and is read here and by each task
            bound.arguments[parameter] = tuple(bounded(x, _MOST))
        kind = str(bound.signature.parameters[parameter].annotation)
        if not isinstance(x, list | tuple) or not kind.startswith("TensorLike"):
            continue
        if any(hasattr(one, "__dask_graph__") for one in x):
            raise TypeMismatch(
                f"{op.title}: a tensor of blocks is in a list, {parameter}; give the tensor, or "
                "one of sz.stack(list)."
            )
    for parameter in _own(name):
        if not hasattr(x := bound.arguments[parameter], "__dask_graph__"):
            bound.arguments[parameter] = METHODS.in_blocks(tensor_argument(op, parameter, x))
    without_accumulate(
        op,
        bound.arguments,
        "tensors of blocks",
        "Gather them first, with x.to_host(), if they fit this machine's memory.",
    )
    if any(map(_is_quantised, bound.arguments.values())):
        return METHODS.with_quantized(op, WAYS[name], bound.arguments)
    return WAYS[name](op, **bound.arguments)


def _is_quantised(x: Any) -> bool:
    if isinstance(x, list | tuple):
        return any(map(_is_quantised, x))
    return getattr(getattr(x, "dtype", None), "kind", None) == "quantized"


def as_called(name: str, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return positional arguments, without trailing defaults, and keyword-only ones.

    The native fast path of an operator takes them so: it knows no names.
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
def _own(name: str) -> list[str]:
    """Return the parameters that a way gets as tensors of blocks, whatever was given."""
    given = inspect.signature(WAYS[name]).parameters.values()
    return [one.name for one in given if one.annotation == "BlockTensor"]


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(REGISTRY[name].function)
