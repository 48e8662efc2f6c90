"""Operators of your own, with a definition and calls that they are judged by."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from suanzi.base.status import InvalidArgument
from suanzi.conformance.nn._calls import CALLS, CLASSES, Call, Operand
from suanzi.truth.define import truth_of
from suanzi.validate.judge.cases import OWN_GRADIENTS, shape_of


def register(
    name: str,
    *,
    truth: Callable[..., Any],
    inputs: Sequence[Mapping[str, Any]],
    classes: Sequence[str] = ("ordinary", "whole numbers", "many magnitudes", "special values"),
    backward: Callable[..., Any] | None = None,
) -> None:
    """Register an operator: its exact definition, and calls that it is judged by.

    `truth` is a function over the numbers of `suanzi.truth.tracked`, which know their errors. Each
    of `inputs` maps the operands to shapes, as tuples, or to (shape, low, high); everything else is
    a parameter. `backward` defines the gradients, as ``backward(out_grad, *operands, ...)``, which
    returns those of the operands in their order.

    >>> def scaled(x, factor=2.0):
    ...     return x * factor
    >>> sz.judge.register("scaled", truth=scaled, inputs=[{"x": (3, 5)}])
    >>> bool(sz.judge(lambda x: 2 * x, "scaled", dtypes="float32"))
    True
    """
    key = f"own:{name}"
    if not name.isidentifier():
        raise InvalidArgument(f"judge.register: name is {name!r}; it must be an identifier.")
    unknown = [one for one in classes if one not in CLASSES]
    if unknown:
        raise InvalidArgument(
            f"judge.register: {unknown[0]!r} is not a data class; there are {', '.join(CLASSES)}."
        )
    calls = [Call(_title(given), {n: _operand(x) for n, x in given.items()}) for given in inputs]
    if not calls:
        raise InvalidArgument("judge.register: inputs is empty; give one call at least.")
    truth_of(key)(truth)
    CALLS[key] = calls, tuple(classes)
    if backward is None:
        return
    truth_of(f"{key}_bwd")(backward)
    names = [n for n in inspect.signature(truth).parameters
             if isinstance(calls[0].arguments.get(n), Operand)]  # fmt: skip
    OWN_GRADIENTS[key] = tuple(names)
    pulled = []
    for call in calls:
        if (shape := shape_of(key, call)) is None:
            raise InvalidArgument(f"judge.register: truth does not take the inputs {call.title}.")
        pulled.append(replace(call, arguments={"out_grad": Operand(shape), **call.arguments}))
    finite = tuple(one for one in classes if one != "special values")
    CALLS[f"{key}_bwd"] = pulled, finite or ("ordinary",)


def _operand(x: Any) -> Any:
    whole = isinstance(x, tuple) and all(isinstance(n, int) for n in x)
    if whole:
        return Operand(x)
    if isinstance(x, tuple) and len(x) == 3 and isinstance(x[0], tuple):
        return Operand(x[0], float(x[1]), float(x[2]))
    return x


def _title(given: Mapping[str, Any]) -> str:
    parts = []
    for name, x in given.items():
        found = _operand(x)
        words = "x".join(map(str, found.shape)) if isinstance(found, Operand) else str(x)
        parts.append(f"{name} {words or 'no axes'}")
    return " ".join(parts)
