"""Results that are judged without a kernel: `assert_right`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suanzi.base.dtypes import DType
from suanzi.base.dtypes import dtype as dtype_named
from suanzi.base.hints import nearest, shown
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case, Check
from suanzi.conformance.subjects.kernel_adapter import framework_of_tensor
from suanzi.conformance.subjects.kernel_tensors import FRAMEWORKS_BY_NAME
from suanzi.conformance.subjects.wire import Broken, Data
from suanzi.promote.registry import function
from suanzi.truth import definitions
from suanzi.truth.bounds import Bound
from suanzi.truth.standard import reason
from suanzi.validate.judge.arguments import arithmetic_named, operator_key, parameters_of
from suanzi.validate.judge.bounds import numbers_as
from suanzi.validate.judge.diagnosis import Result, diagnosed
from suanzi.validate.judge.given import EXPECTED, Arguments, Due, due_of, has_truth, undecided

_UNTAKEN = (ValueError, IndexError, KeyError, TypeError, ArithmeticError, AssertionError,
            AttributeError, StatusError)  # fmt: skip
"""What a definition raises of a call that the operator does not have."""


def assert_right(
    op: str, inputs: Any, output: Any, *, accumulate: str | None = None, **params: Any
) -> None:
    """Raise AssertionError unless an output is right for its inputs; no tolerance is to be chosen.

    Inputs and output are tensors of any framework; several are given as tuples. The number of
    outputs, their dtypes and their shapes must be right, too. The bound follows from the operator,
    the dtypes and the length. What has no truth, as a random result, raises InvalidArgument.

    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 2.0], np.float32)
    >>> sz.assert_right("softmax", x, np.exp(x) / np.exp(x).sum())
    >>> sz.assert_right("softmax", x, np.zeros(3, np.float32))
    Traceback (most recent call last):
        ...
    AssertionError: softmax is wrong: JD201 zeros: every element is 0 (3 of 3 elements wrong)
    >>> sz.assert_right("softmax", x, ())
    Traceback (most recent call last):
        ...
    AssertionError: softmax is wrong: 0 outputs, not 1
    """
    key = operator_key(op)
    if not has_truth(key):
        raise InvalidArgument(f"assert_right: {op} has no truth over inputs: {reason(key)}.")
    arguments = _arguments(op, key, inputs, params)
    dues = _due(op, key, arguments, arithmetic_named(accumulate))
    made = _outputs(op, output)
    wrong = [_wrong(key, arguments, made, due) for due in dues]
    if all(wrong):
        raise AssertionError(f"{op} is wrong: {wrong[0]}")


# ---- arguments -----------------------------------------------------------------------------------


def _arguments(op: str, key: str, inputs: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments by name: inputs in the operator's order, then what has a name."""
    known = _parameters(key)
    given = list(inputs) if isinstance(inputs, tuple | list) else [inputs]
    for name in params:
        if name not in known:
            raise InvalidArgument(
                f"assert_right: {op} has no parameter {name!r}; it has {', '.join(known)}."
                + nearest(name, known)
            )
    if len(given) > len(known):
        raise InvalidArgument(
            f"assert_right: {len(given)} inputs for {op}, which has {len(known)} parameters: "
            f"{', '.join(known)}."
        )
    found = dict(zip(known, given, strict=False))  # the parameters that follow have defaults
    if twice := [name for name in params if name in found]:
        raise InvalidArgument(
            f"assert_right: {op} got {twice[0]!r} twice: among the inputs, and by its name."
        )
    every = found | dict(params)
    # A number has the dtype of the tensors next to it; alone, it is a tensor itself.
    alone = key in definitions() and not any(
        _is_tensor(one)
        for x in every.values()
        for one in (x if isinstance(x, list | tuple) else [x])
    )
    return {name: _argument(op, name, x, alone and name == known[0]) for name, x in every.items()}


def _parameters(key: str) -> list[str]:
    """Return the parameters of an operator in the order of its function in Python."""
    if key in definitions() and key not in EXPECTED:
        return parameters_of(key)
    return list(inspect.signature(function(key)).parameters)


def _argument(op: str, name: str, x: Any, is_first: bool) -> Any:
    """Return tensors as data, lists of them as lists, and everything else as it is."""
    if isinstance(x, list | tuple) and any(_is_tensor(one) for one in x):
        return [_argument(op, name, one, False) for one in x]
    if name in ("dtype", "type") and x is not None:
        return dtype_named(x)
    if not _is_tensor(x) and not (is_first and isinstance(x, bool | int | float | complex)):
        return x
    try:
        found: Data = FRAMEWORKS_BY_NAME[framework_of_tensor(x)]().read(x)
    except Broken as error:
        raise InvalidArgument(f"assert_right: {op}: {name}: {_said(error)}.") from None
    if found.dtype.startswith("QT") or found.dtype == "char":
        raise InvalidArgument(
            f"assert_right: {op} has no truth of {name}, which is {found.dtype}; give numbers."
        )
    return found


def _is_tensor(x: Any) -> bool:
    if isinstance(x, np.ndarray | np.generic):
        return True
    if hasattr(x, "__dlpack__") or hasattr(x, "__array__"):
        return not isinstance(x, type)
    return framework_of_tensor(x) != "numpy" and hasattr(x, "shape")  # a dtype has none


def _said(error: Exception) -> str:
    return str(error).partition(": ")[2].replace("the result has", "it has") or str(error)


def _due(op: str, key: str, arguments: Mapping[str, Any], accumulate: str | None) -> Sequence[Due]:
    """Return what may be due; what nothing is required of raises, for everything would pass."""
    missing = [] if key not in definitions() else [
        p.name for p in inspect.signature(definitions()[key]).parameters.values()
        if p.default is p.empty and p.name not in arguments and p.kind is not p.VAR_KEYWORD
    ]  # fmt: skip
    if missing:
        raise InvalidArgument(
            f"assert_right: {op} needs {missing[0]!r}, which was not given; it has "
            f"{', '.join(_parameters(key))}."
        )
    try:
        found = _last_due(key, arguments, accumulate)
    except _UNTAKEN as error:
        given = ", ".join(f"{n}={_shown(x)}" for n, x in arguments.items())
        why = str(error) or type(error).__name__
        raise InvalidArgument(
            f"assert_right: {op} has no truth for {given}: {why.rstrip('.')}."
        ) from error
    for due in found:
        if (which := undecided(due)) is not None:
            raise InvalidArgument(
                f"assert_right: nothing is required of output {which} of {op} for these inputs "
                "(NaN, or numbers whose results leave the range): give inputs that have a result."
            )
    return found


_MOST_KEPT = 2**16
_kept: tuple[Any, Sequence[Due]] = None, []
"""The last call whose truth was computed, and what is due of it: several outputs may be judged."""


def _last_due(key: str, arguments: Arguments, accumulate: str | None) -> Sequence[Due]:
    """Return what is due of a call; of the last one, if it was small, as it was computed then."""
    global _kept
    call = (key, accumulate, _identity(dict(arguments)))
    last, found = _kept
    if last != call:
        found = due_of(key, arguments, accumulate)
        size = sum(len(x.raw) for x in arguments.values() if isinstance(x, Data))
        _kept = (call, found) if 0 < size <= _MOST_KEPT else (None, [])
    return found


def _identity(x: Any) -> Any:
    """Return what equals that of the same argument alone: True is no 1 here, and -0.0 no 0.0."""
    if isinstance(x, dict):
        return [(name, _identity(one)) for name, one in x.items()]
    if isinstance(x, list | tuple):
        return type(x), [_identity(one) for one in x]
    if isinstance(x, Data | DType):
        return x
    known = x is None or type(x) in (bool, int, float, complex, str)
    return (type(x), repr(x)) if known else object()


def _shown(x: Any) -> str:
    return f"{x.dtype} of shape {x.shape}" if isinstance(x, Data) else shown(x)


# ---- outputs -------------------------------------------------------------------------------------


def _outputs(op: str, output: Any) -> list[Any]:
    """Return the outputs as data; a list of tensors is as many of them."""
    given = list(output) if isinstance(output, tuple | list) else [output]
    if len(given) == 1 and isinstance(given[0], tuple | list):
        given = list(given[0])
    found: list[Any] = []
    for i, x in enumerate(given):
        if x is None and op.rpartition(":")[2] == "qr":  # without Q
            found.append(None)
            continue
        if not _is_tensor(x) and not isinstance(x, bool | int | float | complex):
            raise AssertionError(f"{op} is wrong: output {i} is a {type(x).__name__}, not a tensor")
        try:
            found.append(FRAMEWORKS_BY_NAME[framework_of_tensor(x)]().read(x))
        except Broken as error:
            raise AssertionError(f"{op} is wrong: output {i}: {_said(error)}") from None
    return found


def _wrong(key: str, arguments: Mapping[str, Any], made: Sequence[Any], due: Due) -> str | None:
    """Return what is wrong with outputs, in words; None if nothing is."""
    case = Case(key, "plain", _dtype(due, arguments), "given", arguments, lambda: ())
    if isinstance(due, Check):
        return verdict(case, Answer("SUCCESS", made), False, due).problem
    if len(made) != len(due):
        return f"{len(made)} outputs, not {len(due)}"
    for i, (one, bound) in enumerate(zip(made, due, strict=True)):
        which = f"output {i}: " if len(due) > 1 else ""
        if (one.dtype, tuple(one.shape)) != (bound.dtype, bound.shape):
            return (
                f"{which}{one.dtype} of shape {tuple(one.shape)}, not {bound.dtype} of shape "
                f"{bound.shape}"
            )
        found = numbers_as(one)
        if bound.wrong(found).any():
            return f"{which}{diagnosed(Result(case, bound, found, {}))}"
    return None


def _dtype(due: Due, arguments: Mapping[str, Any]) -> str:
    bounds: Sequence[Bound] = [] if isinstance(due, Check) else due
    tensors = [x.dtype for x in arguments.values() if isinstance(x, Data)]
    return next((b.dtype for b in bounds), tensors[0] if tensors else "float32")
