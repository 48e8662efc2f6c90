"""Which operators support sparse tensors, and the functions that compute them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suanzi.base.status import AllocFailed, TypeMismatch, UninitializedObject
from suanzi.ops.query import shape_tensor
from suanzi.ops.reduction_exact import without_accumulate
from suanzi.ops.sparse import elementwise, reduction, shapes
from suanzi.ops.sparse import products as product
from suanzi.ops.sparse.elementwise import signature_of
from suanzi.promote.registry import NAMESPACES, REGISTRY, Operator
from suanzi.standard import interface
from suanzi.tensors.sparse.making import DTYPES
from suanzi.tensors.sparse.tensor import SparseTensor, copy, declare_forms, destroy

Form = Callable[..., Any]
"""It takes the operator, and its arguments by their names in the standard."""


FORMS: dict[str, Form] = {
    "negative": elementwise.unary,
    "allclose": elementwise.allclose,
    "transpose": shapes.transpose,
    "reshape": shapes.reshape,
    "expand_dims": shapes.expand_dims,
    "squeeze": shapes.squeeze,
    "flatten": shapes.flatten,
    "reduce": reduction.reduce,
    "matmul": product.matmul,
    "duplicate": lambda op, input: copy(input),
    "destroy": lambda op, input: destroy(input),
    "rank": lambda op, input: input.ndim,
    "size": lambda op, input: input.size,
    "shape": lambda op, input: shape_tensor(op, input.shape),
}
"""The sparse form of every operator that has one, by key; `form_of` adds element-wise ones."""

_BY_PLACE = (elementwise.unary, elementwise.binary, elementwise.allclose)
"""Forms that pass their arguments on by position; others take them by name."""

_OF_SEVERAL = {"allclose": 2, "matmul": 2}
"""How many arguments, the first ones, can be sparse, where it is not one."""


def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute an operator of which an argument is sparse."""
    op = operator_named(name)
    form = form_of(op)
    if op.key in REGISTRY or op.key in NAMESPACES:  # arguments in the order of the declaration
        args, kwargs = _ordered(op, args, kwargs)
    every = [*args, *kwargs.values()]
    if any(hasattr(type(x), "__suanzi_operator__") and not _is_sparse(x) for x in every):
        return NotImplemented
    for x in every:
        if _is_sparse(x) and x._places is None:
            raise UninitializedObject(f"{op.title}: a sparse tensor was destroyed.")
    count = _OF_SEVERAL.get(name, 1)
    misplaced = form is not None and (
        any(map(_is_sparse, every[count:])) or (count == 1 and not _is_sparse(every[0]))
    )
    if form is None or misplaced or any(map(_holds_sparse, every)):
        raise TypeMismatch(
            f"{op.title}: sparse tensors are not supported{' for this argument' * misplaced}. "
            "Convert them to dense ones first, with to_dense()."
        )
    try:
        return form(op, *args, **kwargs)
    except AllocFailed as error:
        problem = str(error)
        raise AllocFailed(
            problem if problem.startswith(op.title) else f"{op.title}: {problem}"
        ) from None
    except MemoryError as error:
        raise AllocFailed(f"{op.title}: not enough memory for the result: {error}.") from None


def form_of(op: Operator) -> Form | None:
    """Return the sparse form of an operator; that of an element-wise one follows from its record.

    Not when this file is imported: to read the records takes long, and `import suanzi` would wait.
    """
    if op.key not in FORMS:
        count = elementwise.operand_count(op)
        if not count:
            return None
        FORMS[op.key] = elementwise.unary if count == 1 else elementwise.binary
        _OF_SEVERAL[op.key] = count
    return FORMS[op.key]


def _ordered(op: Operator, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return positional arguments, or all by name, as the form of an operator takes them."""
    if not kwargs and len(args) == 2 and FORMS.get(op.key) is elementwise.binary:
        return args, kwargs
    try:
        given = signature_of(op.function).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{op.title}: {error}") from None
    without_accumulate(
        op, given.arguments, "sparse tensors", "Convert them to dense ones first, with to_dense()."
    )
    if FORMS.get(op.key) in _BY_PLACE:
        return given.args, given.kwargs
    return (), given.arguments


def _is_sparse(x: Any) -> bool:
    return isinstance(x, SparseTensor)


def _holds_sparse(x: Any) -> bool:
    return isinstance(x, list | tuple) and any(map(_is_sparse, x))


def operator_named(name: str) -> Operator:
    """Return the declared operator of a name, or one with the clause of the standard."""
    known = REGISTRY.get(name) or NAMESPACES.get(name)
    if known:
        return known
    clause = "-" if name == "negative" else interface(name).clause
    return Operator(name, clause, call, DTYPES, None, None)


declare_forms(call)
