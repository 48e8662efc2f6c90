"""What a function returns for a number outside its domain.

A square root, an inverse hyperbolic function or a logarithm of such a number is NaN, as in IEEE
754. The clauses of these functions list a status for it, which the standard's own form
(:mod:`suanzi.interface`) returns. `domain_errors` chooses one of the two for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from suanzi import _core
from suanzi.base.blocks import Blocks
from suanzi.base.dtypes import float32
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling.arguments import real_argument
from suanzi.promote.registry import Operator
from suanzi.tensors.sparse.tensor import SparseTensor
from suanzi.tensors.tensor import Tensor

CHOSEN: ContextVar[bool | None] = ContextVar("suanzi.domain_errors", default=None)
_blocks = Blocks(CHOSEN, "domain_errors", "its choice")


@contextmanager
def domain_errors(raised: bool = True) -> Iterator[None]:
    """Make a number outside a function's domain an error for a ``with`` block, or NaN.

    It applies in this thread or task, to the Python functions and to the standard's form alike. A
    generator that yields inside the block shares the context of its caller: the choice applies
    there until the generator continues and leaves the block. Leave the block before you yield.
    Where blocks end in another order than they began, which only that can cause, there is a
    RuntimeWarning, and what was chosen before the outer one holds again.

    >>> with sz.domain_errors():
    ...     sz.log(sz.tensor([1.0, -2.0]))
    Traceback (most recent call last):
        ...
    suanzi.status.InvalidArgument: log (7.2.12.3): x contains -2, outside the domain x >= 0. Clip \
it first, for example with sz.clip, or allow NaN with sz.domain_errors(False).
    """
    _core.check_domains()
    block = _blocks.enter(raised)
    try:
        yield
    finally:
        _blocks.leave(block)


def matter(default: bool = False) -> bool:
    """Return whether a number outside a domain is an error here; `default` if nobody chose."""
    decided = CHOSEN.get()
    return default if decided is None else decided


def chosen() -> bool | None:
    """Return what was chosen here; None if nobody did."""
    return CHOSEN.get()


def check(op: Operator, x: Any, result: Tensor | SparseTensor) -> None:
    """Raise InvalidArgument if a result is NaN where the operand was a number."""
    if isinstance(x, SparseTensor):  # a zero, which it does not store, is in every such domain
        x, kernel = x.values, op.kernel
        assert kernel is not None
        result = _core.run_operator(kernel, [x], result.dtype)[0]
    made = _core.run_operator("is_nan", [result], result.dtype)[0].numpy()
    if not made.any():
        return
    operand = real_argument(op, "x", x)
    if not result.dtype.has_infinity:
        assert op.kernel is not None
        # There a pole is NaN, too; in float32 it is not.
        wide = _core.run_operator(op.kernel, [operand], float32)[0]
        made = _core.run_operator("is_nan", [wide], float32)[0].numpy()
    if operand.dtype.kind == "float":
        made = made & ~_core.run_operator("is_nan", [operand], operand.dtype)[0].numpy()
    if made.any():
        first: Any = operand.reshape(-1)[int(made.argmax())].item()
        raise InvalidArgument(
            f"{op.title}: x contains {first:g}, outside the domain {op.domain}. Clip it first, for "
            "example with sz.clip, or allow NaN with sz.domain_errors(False)."
        )
