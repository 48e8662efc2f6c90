"""How a function of the standard's form calls its operator, and turns errors into statuses."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from operator import index
from typing import Any, Final, TypeAlias

from suanzi.base.device import settle
from suanzi.base.hints import shown
from suanzi.base.status import AllocFailed, InternalError, InvalidArgument, Status, StatusError
from suanzi.faces.interface.structures import DataType, Shape
from suanzi.ops.calling import domains
from suanzi.promote import registry
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.standard import Interface, record
from suanzi.tensors.sparse.tensor import SparseTensor

Answer: TypeAlias = tuple[Any, ...]
"""The status, then the outputs in the standard's order; None each if the call failed."""


class _Required:
    """The value of a required parameter that was not given."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()

_last: ContextVar[StatusError | None] = ContextVar("suanzi.interface.last_error", default=None)


def last_error() -> StatusError | None:
    """Return the error behind the status of the last call in this thread or task.

    Its text explains the status; after a success, it is None.

    >>> from suanzi import interface
    >>> interface.op_reshape(input=None, dims=(2,))
    (<Status.UNINITIALIZED_OBJECT: 3>, None)
    >>> print(interface.last_error())
    reshape (7.2.3.2): input is None; it takes a Tensor.
    """
    return _last.get()


def call(key: str, /, **given: Any) -> Answer:
    """Call an operator; no error that a status can report is raised."""
    facts = record(key)
    op = REGISTRY[key]
    assert facts is not None
    return answered(op.title, len(facts.outputs), lambda: _result(op, facts, given))


def answered(title: str, count: int, make: Callable[[], Any]) -> Answer:
    """Return the status of a call, then its outputs, and keep the error behind the status."""
    problem: StatusError | None = None
    try:
        result = make()
        settle(result)
    except StatusError as error:
        problem = error
    except MemoryError as error:
        problem = AllocFailed(f"{title}: not enough memory: {error}.")
    except Exception as error:
        import traceback

        problem = InternalError(f"{title}: {type(error).__name__}: {error}.")
        problem.__notes__ = [traceback.format_exc()]  # add_note, which Python 3.10 has not
    _last.set(_without_frames(problem))
    if problem is not None:
        return (problem.status, *[None] * count)
    if count == 0:
        return (Status.SUCCESS,)
    # One of several outputs alone: the others belong to operands that were not given.
    alone = count == 1 or not isinstance(result, tuple | list)
    return (Status.SUCCESS, result) if alone else (Status.SUCCESS, *result)


def _without_frames(error: StatusError | None) -> StatusError | None:
    """Return an error that keeps no tensors alive, as a traceback does."""
    if error is not None:
        error.__cause__ = error.__context__ = error.__traceback__ = None
    return error


def _result(op: Operator, facts: Interface, given: dict[str, Any]) -> Any:
    missing = [name for name, value in given.items() if value is REQUIRED]
    if missing:
        raise InvalidArgument(f"{op.title}: {' and '.join(missing)} must be given.")
    takes = _parameters(op.key)
    arguments: dict[str, Any] = {}
    for parameter in facts.parameters:
        name, value = parameter.name, given[parameter.name]
        if parameter.length_of is not None:
            _check_length(op, name, value, parameter.length_of, given[parameter.length_of])
        if name not in takes:
            continue
        if isinstance(value, Shape):
            if "layout" in takes:
                arguments["layout"] = value.layout
            value = value.dims
        arguments[name] = value.dtype if isinstance(value, DataType) else value
    if op.domain is None or not domains.matter(default=True):
        return registry.call(op.key, **arguments)
    if not isinstance(arguments["x"], SparseTensor) and hasattr(
        type(arguments["x"]), "__suanzi_operator__"
    ):
        # Computed elsewhere, perhaps later: the choice goes with the call.
        with domains.domain_errors():
            return registry.call(op.key, **arguments)
    result = registry.call(op.key, **arguments)
    domains.check(op, arguments["x"], result)
    return result


@cache
def _parameters(key: str) -> frozenset[str]:
    return frozenset(inspect.signature(REGISTRY[key].function).parameters)


def _integer(x: Any) -> int | None:
    """Return an integer, or None if it is none, as an array of them is, which has __index__ too."""
    try:
        return index(x)
    except (TypeError, StatusError):
        return None


def _check_length(op: Operator, name: str, length: Any, of: str, array: Any) -> None:
    """Raise InvalidArgument if the length of an array is given, and is another."""
    if length is None:
        return
    try:
        found = 0 if array is None else len(array) if _integer(array) is None else 1
    except TypeError:
        return  # not an array: the operator reports it
    if isinstance(length, bool) or _integer(length) != found:
        raise InvalidArgument(
            f"{op.title}: {name} is {shown(length)}, and {of} has {found} elements; leave {name} "
            "out, or give their number."
        )
