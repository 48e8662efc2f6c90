"""Element-wise operators on sparse tensors.

The operators themselves compute the values, so that every dtype and every rule set works as for
dense tensors. The result can be sparse only if the operator gives zero for zeros.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import suanzi.ops  # noqa: F401  (declares the operators)
from suanzi import _core
from suanzi.base.hints import shown
from suanzi.base.layout import LayoutType
from suanzi.base.numpy import Array, np
from suanzi.base.status import TypeMismatch
from suanzi.ops.calling.arguments import Number, as_operand, real_values
from suanzi.ops.calling.elementwise import common_shape
from suanzi.promote.registry import FUNCTIONS, Operator
from suanzi.tensors.parts import readable
from suanzi.tensors.sparse import elements, merging, structure
from suanzi.tensors.sparse.making import DTYPES, from_dense
from suanzi.tensors.sparse.tensor import SparseTensor
from suanzi.tensors.tensor import Tensor

# With a dense tensor, the result of these is sparse, whichever operand is sparse ...
_ZERO_WINS = ("mul", "logical_and", "bitwise_and")
# ... and of these if the first operand is.
_ZERO_FIRST = (
    "div", "floordiv", "true_divide", "mod", "bitwise_left_shift", "bitwise_right_shift",
)  # fmt: skip


@cache
def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of an operator's function, cached because it is slow to find."""
    return inspect.signature(function)


@cache
def operand_count(op: Operator) -> int:
    """Return how many operands an element-wise operator has; 0 if it has no sparse form."""
    if op.rules is not None:  # a function of the array API, which has no record
        count = len(signature_of(op.function).parameters) if op.kernel else 0
        return count if count <= 2 else 0
    facts = op.record
    if facts is None or facts.form != "elementwise":
        return 0
    count = len(facts.operands)
    # clip_backward takes bounds, too.
    return count if count == 1 or len(signature_of(op.function).parameters) == count == 2 else 0


def dense_function(op: Operator) -> Callable[..., Tensor]:
    """Return the operator for dense tensors."""
    return operator.neg if op.key == "negative" else FUNCTIONS[op.key]


def _meaning(op: Operator) -> str:
    """Return the operator of the standard whose zeros are those of an operator."""
    return op.key if op.rules is None else str(op.kernel).removeprefix("extended:")


def stand_in(x: SparseTensor | Tensor, bits: int = 0) -> Tensor:
    """Return one element, zero or not, that promotes as a tensor does."""
    made = _core.empty((1,) * x.ndim, x.dtype)
    elements.raw(made)[:] = bits
    return made


def _check_zero(op: Operator, result: Tensor, of: str) -> None:
    """Raise unless a result is zero by value."""
    if elements.has_bits(result).any() and elements.is_nonzero(result).any():
        raise TypeMismatch(
            f"{op.title}: the result {of} is {readable(result).reshape(-1)[0]}, so it would not "
            "be sparse. Convert the operand to a dense tensor first, with to_dense()."
        )


# ---- one operand ---------------------------------------------------------------------------------


def unary(op: Operator, x: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    """Compute an operator of one operand, which must make zero of zero."""
    extras = [extra for extra in (*args, *kwargs.values()) if not isinstance(extra, type)]
    if any(getattr(extra, "ndim", 0) for extra in extras):
        raise TypeMismatch(
            f"{op.title}: with a sparse tensor, other arguments must be numbers or 0-d tensors. "
            "Convert it to a dense tensor first, with to_dense()."
        )
    if kwargs.get("layout") is not None:
        raise TypeMismatch(
            f"{op.title}: layout is {shown(kwargs['layout'])}, an order of axes in memory, which a "
            "sparse tensor does not have. Omit it, or call to_dense() first."
        )
    function = dense_function(op)
    at_zero = function(stand_in(x), *args, **kwargs)
    if at_zero.dtype not in DTYPES:
        raise TypeMismatch(
            f"{op.title}: the result would be {at_zero.dtype}; a sparse tensor holds numbers. "
            "Convert the operand to a dense tensor first, with to_dense()."
        )
    _check_zero(op, at_zero, "for zero")
    x = x.coalesce()
    if x.ndim == 0:
        return from_dense(function(x.to_dense(), *args, **kwargs))
    return x.with_values(function(x.values, *args, **kwargs))


# ---- two operands --------------------------------------------------------------------------------


def binary(op: Operator, *args: Any, **kwargs: Any) -> SparseTensor | Tensor:
    """Compute an operator of two operands."""
    names = signature_of(op.function)
    if kwargs or len(args) != 2:
        given = names.bind(*args, **kwargs)
        given.apply_defaults()
        arguments = given.arguments
    else:
        arguments = dict(zip(names.parameters, args, strict=True))
    operands = {
        name: x if isinstance(x, SparseTensor) else real_values(op, name, as_operand(op, name, x))
        for name, x in arguments.items()
    }
    (first, x), (second, y) = operands.items()
    function = dense_function(op)
    if isinstance(x, SparseTensor) and isinstance(y, SparseTensor):
        _check_zero(op, function(stand_in(x), stand_in(y)), "for two zeros")
        if x.shape != y.shape:
            common_shape(op, {first: x.shape, second: y.shape})
        return _of_two(op, function, x, y)
    sparse_first = isinstance(x, SparseTensor)
    sparse, other = (x, y) if sparse_first else (y, x)
    assert isinstance(sparse, SparseTensor)
    assert not isinstance(other, SparseTensor)

    def ordered(a: Any, b: Any) -> Tensor:
        return function(a, b) if sparse_first else function(b, a)

    if not isinstance(other, Tensor):
        return _with_number(op, ordered, sparse, other)
    ordered(stand_in(sparse, 1), stand_in(other, 1))  # dtypes are refused before shapes
    common_shape(op, {k: v.shape for k, v in operands.items() if not isinstance(v, Number)})
    if _meaning(op) in _ZERO_WINS or (_meaning(op) in _ZERO_FIRST and sparse_first):
        return _with_dense(op, ordered, sparse, other)
    return ordered(sparse.to_dense(), other)


def _with_number(
    op: Operator, ordered: Callable[..., Tensor], x: SparseTensor, number: Number
) -> SparseTensor:
    _check_zero(op, ordered(stand_in(x), number), f"for zero and {number}")
    if x.ndim == 0:
        return from_dense(ordered(x.to_dense(), number))
    x = x.coalesce()
    return _stored(x.with_values(ordered(x.values, number)))


def _stored(x: SparseTensor, kept: Array | None = None) -> SparseTensor:
    """Return the entries that have a bit set, or those to be kept."""
    kept = elements.has_bits(x.values) if kept is None else kept
    if kept.all():
        return x
    places = np.flatnonzero(kept)
    values = elements.take(x.values, places)
    if x.kind is LayoutType.COO:
        coordinates = structure.picked(x.coordinates, places)
        return SparseTensor(x.shape, LayoutType.COO, (coordinates,), values, x.is_coalesced)
    pointers, columns = x._alive()
    before = np.concatenate([[0], np.cumsum(kept)])
    return SparseTensor(
        x.shape, LayoutType.CSR, (before[pointers], columns[places]), values, x.is_coalesced
    )


def _broadcast(x: SparseTensor, shape: tuple[int, ...]) -> SparseTensor:
    """Return a tensor repeated to a shape, coalesced."""
    if x.shape == shape:
        return x.coalesce()
    coordinates, origin = structure.repeated(x.coordinates, x.shape, shape)
    values = elements.take(x.values, origin)
    made = SparseTensor(shape, LayoutType.COO, (coordinates,), values).coalesce()
    return made.to_csr() if x.kind is LayoutType.CSR and len(shape) == 2 else made


# ---- with a dense tensor -------------------------------------------------------------------------


def _with_dense(
    op: Operator, ordered: Callable[..., Tensor], x: SparseTensor, dense: Tensor
) -> SparseTensor:
    """Compute what is zero where the sparse operand is, save where the dense one is not finite."""
    if x.ndim == 0:
        return from_dense(ordered(x.to_dense(), dense))
    at_zero = ordered(stand_in(x), dense)
    shape = common_shape(op, {"x": x.shape, "y": dense.shape})
    x = _broadcast(x, shape)
    there = dense if dense.ndim == 0 else _gather(dense, x)
    result = _stored(x.with_values(ordered(x.values, there)))
    others = elements.is_nonzero(at_zero)
    if not others.any():
        return result
    at_zero = elements.row_major(at_zero)
    filled = _broadcast(_stored(_every(at_zero), others), shape)
    missing = _not_in(filled, x)
    if not missing.any():
        return result
    return _merged(result, _stored(filled, missing))


def _every(x: Tensor) -> SparseTensor:
    """Return a dense tensor with every element stored."""
    coordinates = structure.coordinates_of(x.shape, np.arange(x.size, dtype=np.int64))
    values = _core.view(x, x.offset, (x.size,), (1,))
    return SparseTensor(x.shape, LayoutType.COO, (coordinates,), values, True)


def _gather(dense: Tensor, x: SparseTensor) -> Tensor:
    """Return the elements that a dense tensor, repeated to the shape, has where x stores some."""
    dense = elements.row_major(dense)
    places = np.zeros(x.nnz, np.int64)
    if dense.ndim:
        for size, axis in zip(dense.shape, x.coordinates[-dense.ndim :], strict=True):
            places *= size
            if size != 1:
                places += axis
    return elements.take(dense, places)


def _not_in(x: SparseTensor, other: SparseTensor) -> Array:
    """Return which entries of a coalesced tensor another one of its shape does not store."""
    here, there = structure.keys_of(x.shape, x.coordinates, other.coordinates)
    return ~np.isin(here, there)


def _merged(x: SparseTensor, y: SparseTensor) -> SparseTensor:
    """Return the entries of two tensors that have none in common; the layout is x's."""
    coordinates = np.concatenate([x.coordinates, y.coordinates], axis=1)
    values = elements.joined(x.values, y.values)
    made = SparseTensor(x.shape, LayoutType.COO, (coordinates,), values).coalesce()
    return made.to_csr() if x.kind is LayoutType.CSR else made


# ---- with another sparse tensor ------------------------------------------------------------------


def _of_two(
    op: Operator, function: Callable[..., Tensor], x: SparseTensor, y: SparseTensor
) -> SparseTensor:
    """Compute an operator of two sparse tensors wherever one of them stores an element."""
    if x.ndim == 0 and y.ndim == 0:
        return from_dense(function(x.to_dense(), y.to_dense()))
    if x.ndim == 0:
        return _with_dense(op, lambda a, b: function(b, a), y, x.to_dense())
    if y.ndim == 0:
        return _with_dense(op, function, x, y.to_dense())
    if x.shape == y.shape:
        x, y = x.coalesce(), y.coalesce()
    else:
        shape = common_shape(op, {"x": x.shape, "y": y.shape})
        x, y = _broadcast(x, shape), _broadcast(y, shape)
    if _meaning(op) in _ZERO_WINS and not _makes_nan_of_zeros(op, function, x, y):
        made, there = merging.common(x, y)
        return _stored(made.with_values(function(made.values, there)))
    made, there, sides = merging.united(x, y)
    result = made.with_values(function(made.values, there))
    kept = elements.has_bits(result.values)
    if _meaning(op) == "mul":
        # A negative number times a zero that is not stored is -0.0, which is not worth an entry.
        kept &= (sides == merging.IN_BOTH) | elements.is_nonzero(result.values)
    return _stored(result, kept)


def _makes_nan_of_zeros(
    op: Operator, function: Callable[..., Tensor], x: SparseTensor, y: SparseTensor
) -> bool:
    """Return whether an element of one times a zero that the other does not store is NaN."""
    if _meaning(op) != "mul" or not any(one.dtype.kind in ("float", "complex") for one in (x, y)):
        return False
    of_x = function(x.values, elements.zeros(1, y.dtype))
    of_y = function(elements.zeros(1, x.dtype), y.values)
    return any(
        bool(elements.has_bits(made).any() and elements.is_nonzero(made).any())
        for made in (of_x, of_y)
    )


def allclose(op: Operator, *args: Any, **kwargs: Any) -> Tensor:
    """Compare two tensors, of which at least one is sparse."""
    given = signature_of(op.function).bind(*args, **kwargs)
    for name in ("x", "y"):
        one = given.arguments[name]
        if isinstance(one, SparseTensor):
            given.arguments[name] = one.to_dense()
    return dense_function(op)(*given.args, **given.kwargs)
