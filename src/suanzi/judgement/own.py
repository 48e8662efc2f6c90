"""Operators of your own, and results that are judged without a kernel: `assert_right`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import FORMATS
from suanzi.conformance.nn._calls import CALLS, CLASSES, Call, Operand
from suanzi.conformance.subjects.kernel_adapter import framework_of_tensor
from suanzi.conformance.subjects.kernel_tensors import FRAMEWORKS_BY_NAME
from suanzi.conformance.subjects.wire import Data
from suanzi.judgement.arguments import arithmetic_named, operator_key
from suanzi.judgement.cases import OWN_GRADIENTS, by_definition, shape_of
from suanzi.judgement.diagnosis import Result, diagnosed
from suanzi.judgement.engine import is_like
from suanzi.judgement.filling import numbers_of
from suanzi.status import InvalidArgument
from suanzi.truth import definitions
from suanzi.truth.define import truth_of
from suanzi.truth.standard import reason


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


def assert_right(
    op: str, inputs: Any, output: Any, *, accumulate: str | None = None, **params: Any
) -> None:
    """Raise AssertionError unless an output is right for its inputs; no tolerance is to be chosen.

    Inputs and output are tensors of any framework; several are given as tuples. The bound follows
    from the operator, the dtypes and the length.

    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0], np.float32)
    >>> sz.assert_right("softmax", x, np.exp(x) / np.exp(x).sum())
    >>> sz.assert_right("softmax", x, np.zeros(3, np.float32))
    Traceback (most recent call last):
        ...
    AssertionError: softmax is wrong: JD201 zeros: every element is 0 (3 of 3 elements wrong)
    """
    key = operator_key(op)
    if key not in definitions():
        raise InvalidArgument(f"assert_right: {op} has no truth over inputs: {reason(key)}.")
    given = [_data(x) for x in (inputs if isinstance(inputs, tuple | list) else (inputs,))]
    made = [_data(x) for x in (output if isinstance(output, tuple | list) else (output,))]
    names = list(_parameters(key))[: len(given)]
    arguments: dict[str, Any] = {**dict(zip(names, given, strict=True)), **params}
    known = {*_parameters(key)}
    strange = [name for name in params if name not in known]
    if strange:
        raise InvalidArgument(
            f"assert_right: {op} has no parameter {strange[0]!r}; it has {', '.join(known)}."
        )
    floats = [x.dtype for x in (*made, *given) if x.dtype in FORMATS]
    dtype = floats[0] if floats else made[0].dtype
    due = by_definition(key, dtype, arguments, arithmetic_named(accumulate)) or []
    case = Case(key, "plain", dtype, "given", arguments, lambda: ())
    for one, bound in zip(made, due, strict=False):
        if not is_like(one, bound):
            raise AssertionError(
                f"{op} is wrong: {one.dtype} of shape {one.shape}, not {bound.dtype} of "
                f"shape {bound.shape}"
            )
        found = numbers_of(one).astype(np.float64)
        if bound.wrong(found).any():
            raise AssertionError(f"{op} is wrong: {diagnosed(Result(case, bound, found, {}))}")


def _parameters(key: str) -> Sequence[str]:
    return list(inspect.signature(definitions()[key]).parameters)


def _data(x: Any) -> Data:
    found: Data = FRAMEWORKS_BY_NAME[framework_of_tensor(x)]().read(x)
    return found
