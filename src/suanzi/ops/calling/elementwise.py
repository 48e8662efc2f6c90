"""A checked, promoted, broadcast call of an element-wise operator, or a StatusError that explains.

No other code does so. The native fast path handles plain, valid calls; everything else comes here.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from suanzi import _core
from suanzi.base.dtypes import DType, float32, iinfo, part
from suanzi.base.hints import shown
from suanzi.base.shapes import broadcast_shapes
from suanzi.base.status import DivisionByZero, InvalidArgument, OnDemand, StatusError, TypeMismatch
from suanzi.ops.calling.arguments import Number, dtype_error, object_error, operands_of, shape_error
from suanzi.ops.calling.scalars import Titled, title_of
from suanzi.promote.context import get_promotion
from suanzi.promote.engine import Answer, Layer, answer
from suanzi.promote.operands import operand, operand_of_code
from suanzi.promote.operators import Operator as Promoting
from suanzi.promote.questions import refusal
from suanzi.promote.registry import REGISTRY, Operator
from suanzi.promote.rules import RuleSet
from suanzi.tensors.tensor import Tensor

_ZERO_DIVISOR, _BAD_SHIFT, _NEGATIVE_EXPONENT = 1, 2, 4
# The comparisons in the order of the core, each with the one that says the same of y and x.
_MIRRORED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "greater": "less",
    "greater_equal": "less_equal",
    "less": "greater",
    "less_equal": "greater_equal",
}


def elementwise(op: Operator, arguments: Mapping[str, Any]) -> Tensor:
    """Compute an element-wise operator with one or two operands."""
    operands = operands_of(op, arguments)
    found = promote(op, operands)
    if found.layer is Layer.EXACT:
        check_shapes(op, operands)
        return compare_exactly(op, list(operands.values()))
    promoted = found.dtype
    assert promoted is not None
    check_dtype(op, operands, promoted)
    check_shapes(op, operands)
    return run(op, operands, promoted)


def run(op: Operator, operands: Mapping[str, Any], promoted: DType, *before: Tensor) -> Tensor:
    """Run the kernel on checked operands, which follow those that are not promoted."""
    plain = [plain_operand(op, name, x, promoted) for name, x in operands.items()]
    output, trouble = _core.run_operator(op.kernel or op.name, [*before, *plain], promoted)
    if trouble:
        complain(op, operands, trouble)
    return output


def promoted_dtype(op: Operator, operands: Mapping[str, Any]) -> DType:
    """Return the dtype that operands promote to, if the operator computes in it."""
    promoted = promote(op, operands).dtype
    assert promoted is not None  # a refusal was raised
    check_dtype(op, operands, promoted)
    return promoted


def promote(op: Operator, operands: Mapping[str, Any]) -> Answer:
    """Return what its rule set, or that in force, says, or raise the error of a refusal."""
    rules = get_promotion() if op.rules is None else op.rules
    key = (op.key, *[_remembered_as(x, rules) for x in operands.values()])
    remembered = None not in key
    found: Answer | None = rules.answers.get(key) if remembered else None
    if found is None:
        kind = op.operator_class
        found = answer(operands.values(), rules, Promoting(op.key, kind) if kind else None)
        if remembered:
            rules.answers[key] = found
    if found.dtype is None:
        if any(not isinstance(x, Tensor) for x in operands.values()):
            # What is remembered is their kind, and the message shows the numbers of this call.
            found = replace(found, operands=tuple(operand(x) for x in operands.values()))
        raise refusal_error(op, found)
    if found.rules.on_loss != "ignore":
        from suanzi.ops.calling.losing import tell_losses

        tell_losses(op, operands, found)
    return found


def refusal_error(op: Operator, found: Answer) -> StatusError:
    """Return the error for operands that the rule set in force refuses.

    It is TypeMismatch, or under `strict` what the clause lists: concat has no status for dtypes.
    """
    return _refusal_class(op, found.rules)(OnDemand(lambda: refusal(found, op.title)))


def _refusal_class(op: Operator, rules: RuleSet) -> type[StatusError]:
    return object_error(op) if rules.clause_statuses else TypeMismatch


def _refuse(rules: RuleSet, name: str, codes: list[int]) -> NoReturn:
    """Raise for tensors that the native table knows to be refused; its message is found anew."""
    op = REGISTRY[name]

    def write() -> str:
        operands = [operand_of_code(code) for code in codes]
        return refusal(answer(operands, rules, name), op.title)

    raise _refusal_class(op, rules)(OnDemand(write))


_core.use_operator_refusal(_refuse)
Shape = tuple[int, ...]
SHAPE_CHECKS: dict[str, Callable[[Operator, Shape, Shape], object]] = {}
"""What raises for two shapes that do not go together, where they are not broadcast."""


def _refuse_shapes(name: str, *shapes: Shape) -> NoReturn:
    """Raise for shapes that the core found not to go together; what is wrong is found anew."""
    op = REGISTRY[name]

    def write() -> str:
        try:
            if name in SHAPE_CHECKS:
                SHAPE_CHECKS[name](op, *shapes)
            else:
                names = inspect.signature(op.function).parameters
                common_shape(op, dict(zip(names, shapes, strict=True)))
        except StatusError as error:
            return str(error)
        raise AssertionError(f"{op.title} takes {shapes}")

    raise shape_error(op)(OnDemand(write))


_core.use_shape_refusal(_refuse_shapes)


def _remembered_as(x: Tensor | Number, rules: RuleSet) -> object:
    """Return what the answer depends on; None for a number whose value matters."""
    if isinstance(x, Tensor):
        return x.dtype, x.ndim == 0
    kind = type(x)
    return None if rules.join is not None or (kind is int and rules.overflow == "refuse") else kind


def check_dtype(op: Operator, operands: Mapping[str, Any], promoted: DType) -> None:
    """Raise TypeMismatch unless the operator computes in a dtype."""
    if promoted in op.dtypes:
        return
    came = {k: x.dtype if isinstance(x, Tensor) else x for k, x in operands.items()}

    def write() -> str:
        parts = [
            f"{k} is {x if isinstance(x, DType) else f'the number {x}'}" for k, x in came.items()
        ]
        together = f", which gives {promoted}" if len(came) > 1 else ""
        message = f"{op.title}: {', '.join(parts)}{together}; it takes {op.dtypes_in_words()}."
        if promoted.kind != "char":  # text converts to nothing
            suggested = f"sz.cast({next(iter(came))}, sz.{_suggest(op, promoted)})"
            message += f" Cast first, for example with {suggested}."
        return message

    raise dtype_error(op)(OnDemand(write))


def _suggest(op: Operator, came: DType) -> DType:
    """Return the dtype of the operator that is nearest to the one received."""
    from suanzi.promote.values import contains

    if came.kind == "quantized":
        return float32 if float32 in op.dtypes else max(op.dtypes, key=lambda d: d.bits)
    fitting = [d for d in op.dtypes if contains(d, came)]
    if fitting:  # rather a common dtype than the very narrowest
        return min(fitting, key=lambda d: (d.bits < (16 if d.kind == "float" else 8), d.bits))
    # Nothing holds it all: the real part of a complex, else what loses least.
    real = part(came)
    return real if real in op.dtypes else max(op.dtypes, key=lambda d: d.bits)


def check_shapes(op: Titled, operands: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the common shape, or raise the shape error of the clause."""
    return common_shape(op, {k: x.shape for k, x in operands.items() if isinstance(x, Tensor)})


def common_shape(op: Titled, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that operands are repeated to, or raise the shape error of the clause."""
    found = broadcast_shapes(list(shapes.values()))
    if found is None:
        came = " and ".join(f"{name} has shape {shape}" for name, shape in shapes.items())
        raise shape_error(op)(
            f"{title_of(op)}: {came}; counted from the last axis, sizes must be equal or 1. "
            "Reshape one of them, or give it axes of size 1."
        )
    return found


def plain_operand(op: Titled, name: str, x: Tensor | Number, promoted: DType) -> Any:
    """Return an operand as the core takes it: an int beyond 64 bits is rounded here, or refused."""
    if not isinstance(x, int) or -(2**63) <= x < 2**64:
        return x
    if promoted.kind == "bool":
        return True
    if not promoted.exponent_bits:
        raise InvalidArgument(
            f"{title_of(op)}: {name} is {shown(x)}, beyond 64 bits, and it computes in {promoted}. "
            "Use a float, or a tensor of floats."
        )
    from suanzi.promote.values import convert

    return float(convert(x, part(promoted)))  # type: ignore[arg-type]


def compare_exactly(op: Operator, operands: Sequence[Tensor | Number]) -> Tensor:
    """Compare two real operands by value, whatever their dtypes."""
    x, y = operands
    name = op.name
    if not isinstance(x, Tensor):
        x, y, name = y, x, _MIRRORED[name]
    assert isinstance(x, Tensor)
    if isinstance(y, int) and not -(2**63) <= y < 2**64:
        name, y = _comparison_with_huge(name, x, y)
    return _core.run_exact_compare(list(_MIRRORED).index(name), [x, y])


def _comparison_with_huge(name: str, x: Tensor, y: int) -> tuple[str, float]:
    """Return a comparison with a float that says the same as one with an int beyond 64 bits."""
    if x.dtype.kind != "float":
        return name, math.inf if y > 0 else -math.inf  # beyond every integer of a tensor
    below = _float_at_most(y)
    if below == y:
        return name, below
    # y lies between two floats: nothing equals it, and "above it" means "above the lower one".
    if name in ("equal", "not_equal"):
        return name, math.nan
    return ("greater" if name.startswith("greater") else "less_equal"), below


def _float_at_most(y: int) -> float:
    """Return the largest float that is not above an integer."""
    try:
        nearest = float(y)
    except OverflowError:
        return sys.float_info.max if y > 0 else -math.inf
    return nearest if nearest <= y else math.nextafter(nearest, -math.inf)


def complain(op: Operator, operands: Mapping[str, Any], trouble: int) -> NoReturn:
    """Raise for what a kernel met: a zero divisor, a bad shift or an exponent below 0."""
    name = list(operands)[-1]
    if trouble & _ZERO_DIVISOR:
        raise DivisionByZero(
            f"{op.title}: {name} contains a zero, and integers have no result for it; divide "
            "floats, or replace the zeros with sz.where first."
        )
    if trouble & _NEGATIVE_EXPONENT:
        raise InvalidArgument(
            f"{op.title}: {name} contains a number below 0, and integers have no power of it; "
            "cast to floating-point first."
        )
    assert trouble & _BAD_SHIFT
    if op.rules is not None:  # which have answers for long shifts
        raise InvalidArgument(f"{op.title}: {name} contains a shift below 0; shift the other way.")
    x = next(iter(operands.values()))
    width = iinfo(x.dtype).bits if isinstance(x, Tensor) else 64
    raise InvalidArgument(
        f"{op.title}: {name} contains a shift below 0 or not below the width of the dtype, {width}."
    )
