"""Arguments to a checked, promoted, broadcast call, or a StatusError that explains.

This is the only code that does so. The native short cut does the same for what is plain and right;
everything else comes here.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn

from suanzi import _core
from suanzi._hints import shown, way_to_the_host
from suanzi.dtypes import DType, float32, float64, iinfo
from suanzi.promote.context import get_promotion
from suanzi.promote.engine import Answer, Layer, answer
from suanzi.promote.questions import refusal
from suanzi.promote.rules import RuleSet
from suanzi.registry import Operator
from suanzi.standard import interface, interfaces
from suanzi.status import (
    DimensionsMismatch,
    DivisionByZero,
    InvalidArgument,
    Status,
    StatusError,
    TypeMismatch,
    UninitializedObject,
    WrongObject,
)
from suanzi.tensors.exchange import MAX_NDIM
from suanzi.tensors.tensor import Tensor, is_destroyed, tensor

_ZERO_DIVISOR, _BAD_SHIFT = 1, 2
_COMPARISONS = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")

Number = bool | int | float | complex


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
    assert op.kernel is not None
    plain = [plain_operand(op, name, x, promoted) for name, x in operands.items()]
    output, trouble = _core.run_operator(op.kernel, plain, promoted)
    if trouble:
        complain(op, operands, trouble)
    result: Tensor = output
    return result


def operands_of(op: Operator, arguments: Mapping[str, Any]) -> dict[str, Tensor | Number]:
    """Return the arguments as tensors and plain Python numbers, at least one of them a tensor."""
    operands = {
        name: real_values(op, name, as_operand(op, name, x)) for name, x in arguments.items()
    }
    if not any(isinstance(x, Tensor) for x in operands.values()):
        first = next(iter(operands))
        operands[first] = number_tensor(op, first, operands[first])
    return operands


def as_operand(op: Operator, name: str, x: Any) -> Tensor | Number:
    """Return an argument as a tensor or a plain Python number."""
    if x is None:
        raise UninitializedObject(f"{op.title}: {name} is None; it takes a Tensor.")
    if isinstance(x, Tensor):
        check_alive(op, name, x)
        return x
    if not hasattr(x, "dtype"):
        kinds: tuple[Callable[[Any], Number], ...] = (bool, int, float, complex)
        for kind in kinds:
            if isinstance(x, kind):  # type: ignore[arg-type]
                return kind(x)
    elif hasattr(x, "__array_interface__") or hasattr(x, "__dlpack__"):
        try:
            return tensor(x)
        except (TypeMismatch, InvalidArgument, BufferError) as error:
            raise object_error(op)(
                f"{op.title}: {name} is a {type(x).__name__} of {x.dtype} that cannot be read: "
                f"{str(error).removeprefix('tensor: ').rstrip('.')}. Convert it first."
            ) from error
    way = way_to_the_host(x) or f"Make a tensor of it with sz.tensor({name})."
    raise object_error(op)(
        f"{op.title}: {name} is a {type(x).__name__}; it takes a Tensor, a Python number or a "
        f"NumPy array. {way}"
    )


def real_values(op: Operator, name: str, x: Tensor | Number) -> Tensor | Number:
    """Return what a quantised tensor stands for, in floating-point; all else stays as it is."""
    if not isinstance(x, Tensor) or x.dtype.kind != "quantized":
        return x
    if x.zero_point is None:
        raise without_scale(op.title, name, x)
    # Exact in float64: 17 bits times the 24 of a float32 scale.
    exactly = get_promotion().join is not None
    made: Tensor = _core.dequantize(x, float64 if exactly else float32, False)
    return made


def real_argument(op: Operator, name: str, x: Any) -> Tensor:
    """Return an argument as a tensor; a quantised one as what it stands for."""
    found = real_values(op, name, tensor_argument(op, name, x))
    assert isinstance(found, Tensor)
    return found


def without_scale(title: str, name: str, x: Tensor) -> InvalidArgument:
    """Return the error for a quantised tensor that was made without a scale."""
    return InvalidArgument(
        f"{title}: {name} is {x.dtype} without a scale, so that its integers stand for nothing. "
        "Make it with sz.create_quant_tensor or sz.quantize."
    )


def number_tensor(op: Operator, name: str, x: Any) -> Tensor:
    """Return a number as a tensor, in the dtype the rule set gives it."""
    try:
        return tensor(x)
    except InvalidArgument as error:
        problem = str(error).removeprefix("tensor: ")
        raise InvalidArgument(f"{op.title}: {name}: {problem}") from None


def tensor_argument(op: Operator, name: str, x: Any) -> Tensor:
    """Return an argument as a tensor."""
    value = as_operand(op, name, x)
    return value if isinstance(value, Tensor) else number_tensor(op, name, value)


def list_argument(op: Operator, name: str, input: Any) -> list[Tensor]:
    """Return a list or tuple of tensors, of which there must be one at least."""
    if input is None:
        raise UninitializedObject(f"{op.title}: {name} is None; it takes a list of tensors.")
    if not isinstance(input, list | tuple):
        # A tensor is a sequence of its rows, and that is hardly ever what was meant.
        raise InvalidArgument(
            f"{op.title}: {name} is a {type(input).__name__}; it must be a list of tensors."
        )
    if not input:
        raise InvalidArgument(f"{op.title}: {name} is empty; it must have one tensor at least.")
    return [tensor_argument(op, f"{name}[{i}]", x) for i, x in enumerate(input)]


def check_alive(op: Operator, name: str, x: Any) -> None:
    """Raise if an argument is a tensor that was destroyed."""
    if isinstance(x, Tensor) and is_destroyed(x):
        raise UninitializedObject(f"{op.title}: {name} is a tensor that was destroyed.")


def is_several(op: Operator, name: str, x: Any) -> bool:
    """Tell whether an argument is several values, and not one, if only in an array of rank 0."""
    check_alive(op, name, x)
    return hasattr(x, "__iter__") and getattr(x, "ndim", 1) != 0


def integer_argument(op: Operator, name: str, x: Any) -> int:
    """Return an argument as a Python int."""
    check_alive(op, name, x)
    try:
        if not isinstance(x, bool) and str(getattr(x, "dtype", "")) != "bool":
            return operator.index(x)
    except TypeError:  # also from an array of several elements
        pass
    raise InvalidArgument(f"{op.title}: {name} is {shown(x)}; it must be an integer.")


def axis_argument(
    op: Operator, name: str, axis: Any, ndim: int, error: type[StatusError] = InvalidArgument
) -> int:
    """Return an axis counted from the first; a negative one counts from the end."""
    number = integer_argument(op, name, axis)
    if not -ndim <= number < ndim:
        raise error(
            f"{op.title}: {name} is {shown(number)}; for {ndim} axes it is from {-ndim} to "
            f"{ndim - 1}."
            if ndim
            else f"{op.title}: {name} is {shown(number)}, and the tensor has no axes."
        )
    return number % ndim


def shape_argument(op: Operator, name: str, shape: Any) -> tuple[int, ...]:
    """Return a shape: a sequence of integers from 0 up."""
    check_alive(op, name, shape)
    try:
        if isinstance(shape, bytes):  # which are integers, too
            raise TypeError
        # No more than tells that it is too much: some sequences are endless.
        found = tuple(integer_argument(op, name, n) for n in islice(shape, MAX_NDIM + 1))
    except TypeError:
        found = (-1,)
    if any(not 0 <= n < 2**63 for n in found) or len(found) > MAX_NDIM:
        raise InvalidArgument(
            f"{op.title}: {name} is {shown(shape)}; it must be a sequence of at most {MAX_NDIM} "
            "integers from 0 up."
        )
    return found


def integers_argument(
    op: Operator, name: str, values: Any, count: int | None = None, most: int = 2**20
) -> tuple[int, ...]:
    """Return a sequence of integers, of which there must be `count`, or `most` at most."""
    check_alive(op, name, values)
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InvalidArgument(
            f"{op.title}: {name} is {shown(values)}; it must be a list of integers."
        )
    if not is_several(op, name, values):
        values = (values,)
    limit = most if count is None else count
    if hasattr(values, "__len__") and len(values) > limit:
        length = str(len(values))  # known without reading them
    else:
        # No more than tells that it is too much: some sequences are endless.
        found = tuple(integer_argument(op, name, n) for n in islice(values, limit + 1))
        if len(found) == limit if count is not None else len(found) <= limit:
            return found
        length = str(len(found)) if len(found) <= limit else f"more than {limit}"
    allowed = (
        f"there are at most {most}"
        if count is None
        else (f"it must have {count}, one for each axis of the input")
    )
    raise InvalidArgument(f"{op.title}: {name} has {length} integers; {allowed}.")


def axes_argument(
    op: Operator, name: str, axes: Any, ndim: int, error: type[StatusError]
) -> tuple[int, ...]:
    """Return axes, given as one integer or several, counted from the first; none twice."""
    given = integers_argument(op, name, axes) if is_several(op, name, axes) else (axes,)
    found = tuple(axis_argument(op, name, axis, ndim, error) for axis in given)
    if len(set(found)) < len(found):
        raise InvalidArgument(f"{op.title}: {name} is {shown(axes)}; an axis is there twice.")
    return found


def _remembered_as(x: Tensor | Number, rules: RuleSet) -> object:
    """Return what the answer depends on; None for a number that has a say by its value."""
    if isinstance(x, Tensor):
        return x.dtype, x.ndim == 0
    kind = type(x)
    return None if rules.join is not None or (kind is int and rules.overflow == "refuse") else kind


def promote(op: Operator, operands: Mapping[str, Any]) -> Answer:
    """Return what the rule set in force says, or raise TypeMismatch."""
    rules = get_promotion()
    key = (op.name, *[_remembered_as(x, rules) for x in operands.values()])
    remembered = None not in key
    found: Answer | None = rules.answers.get(key) if remembered else None
    if found is None:
        found = answer(operands.values(), rules, op.name if op.operator_class else None)
        if found.dtype is None:
            raise TypeMismatch(refusal(found, op.title))
        if remembered:
            rules.answers[key] = found
    return found


def check_dtype(op: Operator, operands: Mapping[str, Any], promoted: DType) -> None:
    """Raise TypeMismatch unless the operator computes in a dtype."""
    if promoted in op.dtypes:
        return
    came = ", ".join(
        f"{name} is {x.dtype if isinstance(x, Tensor) else f'the number {x}'}"
        for name, x in operands.items()
    )
    together = f", which gives {promoted}" if len(operands) > 1 else ""
    message = f"{op.title}: {came}{together}; it takes {op.dtypes_in_words()}."
    if promoted.kind != "char":  # text converts to nothing
        suggested = f"sz.cast({next(iter(operands))}, sz.{_suggest(op, promoted)})"
        message += f" Cast first, for example with {suggested}."
    raise dtype_error(op)(message)


def _suggest(op: Operator, came: DType) -> DType:
    """Return the dtype of the operator that is nearest to what came."""
    from suanzi.dtypes import part
    from suanzi.promote.values import contains

    if came.kind == "quantized":
        return float32 if float32 in op.dtypes else max(op.dtypes, key=lambda d: d.bits)
    fitting = [d for d in op.dtypes if contains(d, came)]
    if fitting:  # rather a common dtype than the very narrowest
        return min(fitting, key=lambda d: (d.bits < (16 if d.kind == "float" else 8), d.bits))
    # Nothing holds it all: the real part of a complex, else what loses least.
    real = part(came)
    return real if real in op.dtypes else max(op.dtypes, key=lambda d: d.bits)


def check_shapes(op: Operator, operands: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the common shape, or raise the shape error of the clause."""
    return common_shape(op, {k: x.shape for k, x in operands.items() if isinstance(x, Tensor)})


def common_shape(op: Operator, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that operands are repeated to, or raise the shape error of the clause."""
    found = broadcast_shapes(list(shapes.values()))
    if found is None:
        came = " and ".join(f"{name} has shape {shape}" for name, shape in shapes.items())
        raise shape_error(op)(
            f"{op.title}: {came}; counted from the last axis, sizes must be equal or 1. Reshape "
            "one of them, or give it axes of size 1."
        )
    return found


def dtype_error(op: Operator) -> type[StatusError]:
    """Return the error for a dtype it does not take: what the clause lists, if it fits."""
    facts = interfaces().get(op.name)  # what is ours alone is not there
    listed = facts.statuses if facts is not None else ()
    if Status.INVALID_ARGUMENT in listed and Status.TYPE_MISMATCH not in listed:
        return InvalidArgument
    return TypeMismatch


def object_error(op: Operator) -> type[StatusError]:
    """Return the error for what is no tensor: a TypeError with the status the clause lists."""
    return TypeMismatch if dtype_error(op) is TypeMismatch else WrongObject


def shape_error(op: Operator) -> type[StatusError]:
    """Return the error for shapes that do not go together: what the clause lists, if it fits."""
    listed = interface(op.name).statuses
    if Status.INVALID_ARGUMENT in listed and Status.DIMENSIONS_MISMATCH not in listed:
        return InvalidArgument
    return DimensionsMismatch


def broadcast_shapes(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """Return the shape that shapes are repeated to, or None if they do not go together.

    >>> broadcast_shapes([(2, 1), (3,)]), broadcast_shapes([(2,), (3,)])
    ((2, 3), None)
    """
    ndim = max((len(shape) for shape in shapes), default=0)
    result = []
    for axis in range(-ndim, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(sizes) > 1:
            return None
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def plain_operand(op: Operator, name: str, x: Tensor | Number, promoted: DType) -> Any:
    """Return an operand as the core takes it: an int beyond 64 bits is rounded here, or refused."""
    if not isinstance(x, int) or -(2**63) <= x < 2**64:
        return x
    if promoted.kind == "bool":
        return True
    if not promoted.exponent_bits:
        raise InvalidArgument(
            f"{op.title}: {name} is {shown(x)}, beyond 64 bits, and it computes in {promoted}. Use "
            "a float, or a tensor of floats."
        )
    from suanzi.dtypes import part
    from suanzi.promote.values import convert

    return float(convert(x, part(promoted)))  # type: ignore[arg-type]


_MIRRORED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "greater": "less",
    "greater_equal": "less_equal",
    "less": "greater",
    "less_equal": "greater_equal",
}


def compare_exactly(op: Operator, operands: Sequence[Tensor | Number]) -> Tensor:
    """Compare two real operands by value, whatever their dtypes."""
    x, y = operands
    name = op.name
    if not isinstance(x, Tensor):
        x, y, name = y, x, _MIRRORED[name]
    assert isinstance(x, Tensor)
    if isinstance(y, int) and not -(2**63) <= y < 2**64:
        name, y = _comparison_with_huge(name, x, y)
    found: Tensor = _core.run_exact_compare(_COMPARISONS.index(name), [x, y])
    return found


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
    """Raise for what a kernel met: a zero divisor or a bad shift."""
    name = list(operands)[-1]
    if trouble & _ZERO_DIVISOR:
        raise DivisionByZero(
            f"{op.title}: {name} holds a zero, and integers have no result for it; divide floats, "
            f"or replace the zeros with sz.where first."
        )
    assert trouble & _BAD_SHIFT
    x = next(iter(operands.values()))
    width = iinfo(x.dtype).bits if isinstance(x, Tensor) else 64
    raise InvalidArgument(
        f"{op.title}: {name} holds a shift below 0 or of at least the width of the dtype, {width}."
    )
