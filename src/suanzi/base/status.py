"""Status codes: Table 1 of the standard, and the exception that carries each.

A Python function raises; the exception knows its status, and is also the built-in exception a
Python user would have caught:

>>> issubclass(TypeMismatch, TypeError)
True
>>> TypeMismatch("int8 and str").status
<Status.TYPE_MISMATCH: 1>
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, ClassVar

__all__ = [
    "AllocFailed", "AxisArgument", "DimensionsMismatch", "DivisionByZero", "InternalError",
    "InvalidArgument", "OutOfRange", "Status", "StatusError", "TypeMismatch",
    "UninitializedObject", "WrongObject",
]  # fmt: skip


class Status(IntEnum):
    """Table 1 in its printed order; AXIS_ARGUMENT, which two clauses use, follows."""

    SUCCESS = 0
    TYPE_MISMATCH = 1
    DIMENSIONS_MISMATCH = 2
    UNINITIALIZED_OBJECT = 3
    INVALID_ARGUMENT = 4
    ALLOC_FAILED = 5
    OUT_OF_RANGE = 6
    INTERNAL_ERROR = 7
    AXIS_ARGUMENT = 8


class OnDemand:
    """A message that is written when it is read: who catches an error seldom reads it.

    >>> error = TypeMismatch(OnDemand(lambda: "int8 and str"))
    >>> str(error), repr(error), error.args
    ('int8 and str', "TypeMismatch('int8 and str')", ('int8 and str',))
    """

    __slots__ = ("_write",)

    def __init__(self, write: Callable[[], str]) -> None:
        self._write = write

    def __str__(self) -> str:
        return self._write()

    def __repr__(self) -> str:
        return repr(self._write())

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (self._write(),)


_plain_args: Any = BaseException.__dict__["args"]


class StatusError(Exception):
    """The base of every error suanzi raises on purpose."""

    status: ClassVar[Status]

    def _written(self) -> tuple[Any, ...]:
        return tuple(str(x) if type(x) is OnDemand else x for x in _plain_args.__get__(self))

    args = property(_written, _plain_args.__set__)


class TypeMismatch(StatusError, TypeError):
    """Dtypes that cannot be combined, or that an operator does not support."""

    status = Status.TYPE_MISMATCH


class DimensionsMismatch(StatusError, ValueError):
    """Shapes that do not match."""

    status = Status.DIMENSIONS_MISMATCH


class UninitializedObject(StatusError, ValueError):
    """A missing or destroyed object."""

    status = Status.UNINITIALIZED_OBJECT


class InvalidArgument(StatusError, ValueError):
    """A value that is not allowed."""

    status = Status.INVALID_ARGUMENT


class DivisionByZero(InvalidArgument, ZeroDivisionError):
    """An integer divided by zero."""


class WrongObject(InvalidArgument, TypeError):
    """What is no tensor, or of a dtype that does not fit, where no status for types is listed."""


class AllocFailed(StatusError, MemoryError):
    """Memory ran out."""

    status = Status.ALLOC_FAILED


class OutOfRange(StatusError, IndexError):
    """An index or an axis outside its range."""

    status = Status.OUT_OF_RANGE


class InternalError(StatusError, RuntimeError):
    """A failure of suanzi itself."""

    status = Status.INTERNAL_ERROR


class AxisArgument(StatusError, ValueError, IndexError):
    """A bad axis, where the clause has a status of its own for it."""

    status = Status.AXIS_ARGUMENT


for _error in vars().copy().values():
    if isinstance(_error, type) and issubclass(_error, StatusError):
        _error.__module__ = "suanzi.status"  # where users import it: tracebacks and pickles say so
