"""What a call would give: the CPU's own operator is asked, with stand-ins for the tensors.

A stand-in has the dtype and the shape of its tensor and one element of memory, so that the CPU's
operator checks arguments, promotes dtypes and words errors for every device. Where computing with
them would take long, their axes are shortened alike: sizes that are equal stay equal.
"""

from __future__ import annotations

import inspect
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, int64
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import StatusError
from suanzi.ops.calling.domains import domain_errors
from suanzi.promote import registry
from suanzi.promote.registry import NAMESPACES, REGISTRY, Operator
from suanzi.runtimes.torch.ways import Result
from suanzi.tensors.tensor import Tensor

_ENOUGH = 4096
"""So many elements are computed on the CPU at once, to see what comes of them."""
_INDICES = ("index", "indices", "sorter", "target", "targets")
"""Operands whose elements are indices: 0 is always one."""

_MATRICES = {
    f"array_api:{name}"
    for name in ("cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matrix_power",
                 "pinv", "slogdet", "solve")
}  # fmt: skip
"""Functions of matrices that not every matrix has a result of."""

NEGATIVE = Operator("negative", "-", operator.neg, (), "negative", None)


def operator_named(key: str) -> Operator:
    """Return an operator of the registry or of the array API's namespace, or that of ``-x``."""
    return REGISTRY.get(key) or NAMESPACES.get(key) or NEGATIVE


@cache
def signature(key: str) -> inspect.Signature:
    """Return the parameters of an operator."""
    op = operator_named(key)
    if op is NEGATIVE:
        return inspect.Signature([inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)])
    return inspect.signature(op.function)


@cache
def parameters(key: str) -> tuple[str, ...]:
    """Return the names of the parameters of an operator that can be given by position."""
    known = signature(key).parameters.values()
    one = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in known) if all(p.kind in one for p in known) else ()


@cache
def attributes(key: str) -> Mapping[str, Callable[[Any], Any]]:
    """Return what makes numbers or a flag of an argument, by the parameters that are some."""
    made: dict[str, Callable[[Any], Any]] = {}
    for name, p in signature(key).parameters.items():
        words = str(p.annotation).removesuffix(" | None")
        if words == "bool":
            made[name] = _flag
        elif words == "float":
            made[name] = _real
        elif words == "int":
            made[name] = _integer
        elif _INTEGERS.match(words):
            made[name] = _integers
    return made


_INTEGERS = re.compile(r"(int|Axes|Sizes|Shape|Each|Padding|Sequence\[int|tuple\[int)\b")


def _flag(x: Any) -> Any:
    try:
        return x if x is None else bool(x)
    except (StatusError, ValueError):  # of several elements, where nothing reads it
        return x


def _real(x: Any) -> Any:
    """Return an argument as a float, of a number, an array or a tensor without axes."""
    return x if x is None or isinstance(x, str) else float(x)


def _integer(x: Any) -> Any:
    """Return what the CPU's operator took for an integer, as one."""
    try:
        return operator.index(x)
    except TypeError:
        return x


def _integers(x: Any) -> Any:
    """Return integers, one or several, of an array, a tensor or any container of them."""
    if isinstance(x, str) or not hasattr(x, "__iter__") or getattr(x, "ndim", 1) == 0:
        return _integer(x)
    return tuple(one if isinstance(one, str) else _of_several(one) for one in x)


def _of_several(x: Any) -> Any:
    found = _integer(x)  # also of a row that has one element
    return found if isinstance(found, int) else _integers(x)


class Shape:
    """The dtype and shape of a tensor on a device, until a stand-in is made for it."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: DType, shape: tuple[int, ...]) -> None:
        self.dtype = dtype
        self.shape = shape


def asked(op: Operator, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any], bool]:
    """Return what the CPU's operator gives for stand-ins, these, and whether shapes are exact.

    It raises what the operator raises for such arguments.
    """
    given = [x.shape for x in _shapes(arguments)]
    if op.kernel is not None:
        if broadcast_shapes(given) is not None:
            few = {k: _short(x, lambda shape: tuple(min(n, 1) for n in shape))
                   for k, x in arguments.items()}  # fmt: skip
            return *_called(op, few), False
    elif sum(map(math.prod, given)) > _ENOUGH and op.form != "view":
        sizes = sorted({n for shape in given for n in shape if n > 8})
        alike = {n: 9 + i for i, n in enumerate(sizes)}
        try:
            return *_called(op, {k: _relabelled(x, alike) for k, x in arguments.items()}), False
        except StatusError:
            pass  # the operator may depend on sizes in another way: it is asked again below
    return *_called(op, dict(arguments)), True


def _shapes(arguments: Mapping[str, Any]) -> Iterator[Shape]:
    for x in arguments.values():
        for one in x if isinstance(x, list | tuple) else (x,):
            if isinstance(one, Shape):
                yield one


def _short(x: Any, by: Any) -> Any:
    if isinstance(x, Shape):
        return Shape(x.dtype, by(x.shape))
    if isinstance(x, list | tuple) and any(isinstance(one, Shape) for one in x):
        return [_short(one, by) for one in x]
    return x


def _relabelled(x: Any, alike: Mapping[int, int]) -> Any:
    """Return an argument with other sizes in shapes, and in numbers that are sizes."""
    if isinstance(x, Shape):
        return Shape(x.dtype, tuple(alike.get(n, n) for n in x.shape))
    if isinstance(x, list | tuple):
        return type(x)(_relabelled(one, alike) for one in x)
    return alike.get(x, x) if type(x) is int else x


def _called(op: Operator, arguments: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return what an operator gives for stand-ins, no number outside a domain, and them."""
    filled = {name: _stand_in(op, name, x) for name, x in arguments.items()}
    if op.name == "argsort_bwd":
        filled["indices"] = _sorted_indices(filled["indices"], arguments["axis"])
    if op.name.startswith("ctc_loss"):
        filled["target_lengths"] = _lengths(filled["target_lengths"], filled["targets"])
    if "group_sizes" in filled:
        filled["group_sizes"] = _groups(filled["group_sizes"], filled["x"])
    with domain_errors(False):
        if op is NEGATIVE:
            return -filled["x"], filled
        bound = inspect.BoundArguments(signature(op.key), filled)
        return registry.function(op.key)(*bound.args, **bound.kwargs), filled


def _stand_in(op: Operator, name: str, x: Any) -> Any:
    if isinstance(x, list | tuple) and any(isinstance(one, Shape) for one in x):
        return type(x)(_stand_in(op, name, one) for one in x)
    if not isinstance(x, Shape):
        return x
    if (op.form == "matrix" or op.key in _MATRICES) and len(x.shape) >= 2:
        return _identities(x)
    is_index = name in _INDICES and x.dtype.kind in ("int", "uint")
    one = _core.full((), x.dtype, 0 if is_index else 1)
    return _core.view(one, 0, x.shape, (0,) * len(x.shape))


def _identities(x: Shape) -> Tensor:
    """Return matrices that every decomposition has a result for."""
    rows, columns = x.shape[-2:]
    matrix = _core.full((rows, columns), x.dtype, 0)
    if min(rows, columns):
        _core.copy_into(
            _core.view(matrix, 0, (min(rows, columns),), (columns + 1,)), _core.full((), x.dtype, 1)
        )
    return _core.view(matrix, 0, x.shape, (*(0,) * (len(x.shape) - 2), columns, 1))


def _sorted_indices(x: Any, axis: Any) -> Any:
    """Return indices of elements that are in order along an axis."""
    if not isinstance(x, Tensor) or type(axis) is not int or not -x.ndim <= axis < x.ndim:
        return x
    line = registry.call("cast", registry.call("range", 0, x.shape[axis], 1, int64), x.dtype)
    return _core.view(line, 0, x.shape, tuple(int(i == axis % x.ndim) for i in range(x.ndim)))


def _lengths(lengths: Any, targets: Any) -> Any:
    """Return lengths of labels that are one after the other: the first has them all."""
    if not isinstance(lengths, Tensor) or not isinstance(targets, Tensor) or targets.ndim != 1:
        return lengths
    if lengths.dtype.kind not in ("int", "uint"):
        return lengths
    return _first_has(lengths, targets.size)


def _first_has(lengths: Tensor, count: int) -> Tensor:
    made = _core.full((lengths.size,), int64, 0)
    if lengths.size:
        made[0] = count
    return made


def _groups(sizes: Any, x: Any) -> Any:
    """Return numbers of rows of groups: the first has them all."""
    if isinstance(sizes, list | tuple):
        sizes = _core.full((len(sizes),), int64, 0)
    if not isinstance(sizes, Tensor) or sizes.ndim != 1 or not isinstance(x, Tensor) or not x.ndim:
        return sizes
    return _first_has(sizes, x.shape[0]) if sizes.dtype.kind in ("int", "uint") else sizes


def results_of(made: Any) -> tuple[Result, ...]:
    """Return the dtypes and shapes of outputs."""
    parts = made if isinstance(made, list | tuple) else (made,)
    return tuple(Result(x.dtype, x.shape) for x in parts if isinstance(x, Tensor))
