"""Arguments that are integers, axes and shapes, or a StatusError that explains."""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import Any

from suanzi.base.hints import shown
from suanzi.base.shapes import MAX_NDIM, bounded
from suanzi.base.status import (
    InvalidArgument,
    OnDemand,
    StatusError,
    TypeMismatch,
    UninitializedObject,
)
from suanzi.promote.registry import Operator
from suanzi.tensors.parts import is_destroyed
from suanzi.tensors.tensor import Tensor

_BEYOND = 2**63
Titled = Operator | str
"""Whose argument is read: an operator's, or by its name that of a function of the array API."""


def title_of(op: Titled) -> str:
    """Return how errors name an operator or a function."""
    return op if isinstance(op, str) else op.title


def _wrong_type(op: Titled) -> type[StatusError]:
    """Return the error for an argument of a wrong type; clauses list INVALID_ARGUMENT."""
    is_operator = isinstance(op, Operator) and op.rules is None
    return InvalidArgument if is_operator else TypeMismatch


def check_alive(op: Titled, name: str, x: Any) -> None:
    """Raise if an argument is a tensor that was destroyed."""
    if isinstance(x, Tensor) and is_destroyed(x):
        raise UninitializedObject(f"{title_of(op)}: {name} is a tensor that was destroyed.")


def is_several(op: Titled, name: str, x: Any) -> bool:
    """Return whether an argument is several values, and not one, if only in an array of rank 0."""
    check_alive(op, name, x)
    return hasattr(x, "__iter__") and getattr(x, "ndim", 1) != 0


def flag_argument(op: Titled, name: str, x: Any, numpys: bool = False) -> bool:
    """Return an argument that is True or False; NumPy's, or a tensor of one, where it may be.

    A function of the array API takes whatever is true or false.
    """
    if isinstance(x, bool):
        return x
    check_alive(op, name, x)
    if isinstance(op, str):
        with suppress(Exception):  # of an array of several, and whatever an object may raise
            return bool(x)
    elif numpys and getattr(x, "ndim", None) == 0 and str(x.dtype) == "bool":
        return bool(x)
    raise _wrong_type(op)(f"{title_of(op)}: {name} is {shown(x)}; it must be True or False.")


def integer_argument(op: Titled, name: str, x: Any, least: int | None = None) -> int:
    """Return an argument as a Python int, of `least` or more."""
    if type(x) is not int:
        check_alive(op, name, x)
        try:
            if isinstance(x, bool) or str(getattr(x, "dtype", "")) == "bool":
                raise TypeError
            x = operator.index(x)
        except TypeError:  # also from an array of several elements
            raise _wrong_type(op)(
                f"{title_of(op)}: {name} is {shown(x)}; it must be an integer."
            ) from None
    if least is not None and x < least:
        raise InvalidArgument(f"{title_of(op)}: {name} is {shown(x)}; it must be at least {least}.")
    return x  # type: ignore[no-any-return]


def axis_argument(
    op: Titled, name: str, axis: Any, ndim: int, error: type[StatusError] = InvalidArgument
) -> int:
    """Return an axis counted from the first; a negative one counts from the end."""
    number = integer_argument(op, name, axis)
    if not -ndim <= number < ndim:
        raise error(
            OnDemand(
                lambda: (
                    f"{title_of(op)}: {name} is {shown(number)}; for {ndim} axes it must be from "
                    f"{-ndim} to {ndim - 1}."
                    if ndim
                    else f"{title_of(op)}: {name} is {shown(number)}, but the tensor has no axes."
                )
            )
        )
    return number % ndim


def shape_argument(op: Titled, name: str, shape: Any) -> tuple[int, ...]:
    """Return a shape: a sequence of nonnegative integers."""
    if type(shape) is tuple and len(shape) <= MAX_NDIM:
        for n in shape:
            if type(n) is not int or not 0 <= n < _BEYOND:
                break
        else:
            return shape
    check_alive(op, name, shape)
    try:
        if isinstance(shape, bytes):  # which are integers, too
            raise TypeError
        found = tuple(integer_argument(op, name, n) for n in bounded(shape, MAX_NDIM))
    except TypeError:
        found = (-1,)
    if any(not 0 <= n < _BEYOND for n in found) or len(found) > MAX_NDIM:
        raise InvalidArgument(
            f"{title_of(op)}: {name} is {shown(shape)}; it must be a sequence of at most "
            f"{MAX_NDIM} integers of at least 0."
        )
    return found


def integers_argument(
    op: Titled, name: str, values: Any, count: int | None = None, most: int = 2**20
) -> tuple[int, ...]:
    """Return a sequence of integers, of which there must be `count`, or `most` at most."""
    check_alive(op, name, values)
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise _wrong_type(op)(
            f"{title_of(op)}: {name} is {shown(values)}; it must be a list of integers."
        )
    if not is_several(op, name, values):
        values = (values,)
    limit = most if count is None else count
    if hasattr(values, "__len__") and len(values) > limit:
        length = str(len(values))  # known without reading them
    else:
        found = tuple(integer_argument(op, name, n) for n in bounded(values, limit))
        if len(found) == limit if count is not None else len(found) <= limit:
            return found
        length = str(len(found)) if len(found) <= limit else f"more than {limit}"
    allowed = (
        f"there are at most {most}"
        if count is None
        else (f"it must have {count}, one for each axis of the input")
    )
    raise InvalidArgument(f"{title_of(op)}: {name} has {length} integers; {allowed}.")


def one_or_several(op: Titled, name: str, values: Any) -> tuple[int, ...]:
    """Return integers, given as one or as several."""
    if is_several(op, name, values):
        return integers_argument(op, name, values)
    return (integer_argument(op, name, values),)


def axes_argument(
    op: Titled, name: str, axes: Any, ndim: int, error: type[StatusError]
) -> tuple[int, ...]:
    """Return axes, given as one integer or several, counted from the first; none twice."""
    only = axes[0] if isinstance(axes, tuple) and len(axes) == 1 else axes
    if type(only) is int:  # as most are
        return (axis_argument(op, name, only, ndim, error),)
    given = integers_argument(op, name, axes) if is_several(op, name, axes) else (axes,)
    found = tuple(axis_argument(op, name, axis, ndim, error) for axis in given)
    if len(set(found)) < len(found):
        raise InvalidArgument(f"{title_of(op)}: {name} is {shown(axes)}; an axis is given twice.")
    return found
