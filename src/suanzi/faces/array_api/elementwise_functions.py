"""Element-wise functions of the array API standard.

Most are a kernel, the dtypes that it computes in and a class of promotion: a row each.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, iinfo
from suanzi.base.status import TypeMismatch
from suanzi.faces.array_api.arguments import array_argument
from suanzi.faces.array_api.declare import (
    EVERY,
    FLOATING,
    FUNCTIONS,
    NUMBERS,
    REALS,
    WHOLE,
    elementwise,
    function,
)
from suanzi.ops.calling.arguments import as_operand, operands_of
from suanzi.ops.calling.elementwise import check_dtype, check_shapes, plain_operand
from suanzi.ops.logical import truths_combined
from suanzi.promote.operators import OperatorClass
from suanzi.promote.registry import (
    ARITHMETIC,
    BITWISE,
    BOOL,
    COMPARISON,
    FLOATS,
    LOGICAL,
    REAL_FUNCTION,
    TRUE_DIVISION,
)
from suanzi.tensors.parts import converted, zeros
from suanzi.tensors.parts import copy as copied
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan",
    "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round",
    "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]  # fmt: skip

ANY = OperatorClass.ANY
BITS = (*BOOL, *WHOLE)
ORDERED = (*BOOL, *REALS)
Dtypes = tuple[DType, ...]
Unary = Callable[[Tensor], Tensor]
Binary = Callable[[TensorLike, TensorLike], Tensor]


def _unary(name: str, dtypes: Dtypes, promotes: OperatorClass, doc: str, **kwargs: Any) -> Unary:
    """Declare a function of one operand; see :func:`_declared`."""

    def made(x: Tensor, /) -> Tensor:
        raise NotImplementedError

    return _declared(made, name, dtypes, promotes, doc, **kwargs)


def _binary(name: str, dtypes: Dtypes, promotes: OperatorClass, doc: str, **kwargs: Any) -> Binary:
    """Declare a function of two operands; see :func:`_declared`."""

    def made(x1: TensorLike, x2: TensorLike, /) -> Tensor:
        raise NotImplementedError

    return _declared(made, name, dtypes, promotes, doc, **kwargs)


def _declared(
    made: Callable[..., Tensor], name: str, dtypes: Dtypes, promotes: OperatorClass, doc: str,
    *, kernel: str = "", ulp: float = 0.5, symbol: str = "", operator: str = "",
) -> Callable[..., Tensor]:  # fmt: skip
    """Declare a function; its kernel has its name unless given. `operator` is kernel and symbol."""
    made.__name__ = made.__qualname__ = name
    made.__doc__ = doc
    kernel, symbol = kernel or operator or f"extended:{name}", symbol or operator
    return elementwise(kernel, dtypes=dtypes, promotes=promotes, ulp=ulp, symbol=symbol)(made)


# ---- arithmetic ----------------------------------------------------------------------------------

abs = _unary(
    "abs", NUMBERS, ARITHMETIC, operator="abs", ulp=1,
    doc="Return the magnitude of each element; that of a complex tensor is real.",
)  # fmt: skip
add = _binary(
    "add", NUMBERS, ARITHMETIC, operator="add",
    doc="""Return x1 + x2, element by element.

    >>> xp.add(xp.asarray([1, 2], dtype=xp.int8), xp.asarray([0.5, 0.5], dtype=xp.bfloat16))
    Tensor([1.5, 2.5], dtype=bfloat16)
    """,
)  # fmt: skip
copysign = _binary(
    "copysign", FLOATS, REAL_FUNCTION, "Return the magnitude of x1 with the sign of x2, also of -0."
)
divide = _binary(
    "divide", FLOATING, TRUE_DIVISION, kernel="div", symbol="true_divide",
    doc="Return x1 / x2 in floating-point: float64 for integers of 64 bits, else float32.",
)  # fmt: skip
floor_divide = _binary(
    "floor_divide", REALS, ARITHMETIC, kernel="extended:floordiv", symbol="floordiv",
    doc="""Return the floor of x1 / x2; an integer zero divisor is an error.

    Of a finite number and infinity it is a zero, whatever their signs are.
    """,
)  # fmt: skip
maximum = _binary(
    "maximum", REALS, ARITHMETIC, "Return the larger of x1 and x2; NaN wins.", kernel="max"
)
minimum = _binary(
    "minimum", REALS, ARITHMETIC, "Return the smaller of x1 and x2; NaN wins.", kernel="min"
)
multiply = _binary("multiply", NUMBERS, ARITHMETIC, "Return x1 * x2.", operator="mul")
negative = _unary(
    "negative", NUMBERS, ARITHMETIC, operator="negative",
    doc="Return -x; unsigned integers wrap.",
)  # fmt: skip
nextafter = _binary(
    "nextafter", FLOATS, REAL_FUNCTION,
    """Return the next representable number after x1 in the direction of x2.

    >>> xp.nextafter(xp.asarray([1.0], dtype=xp.bfloat16), 2.0).item()
    1.0078125
    """,
)  # fmt: skip
reciprocal = _unary(
    "reciprocal", FLOATING, TRUE_DIVISION, "Return 1 / x in floating-point.", kernel="reciprocal"
)
remainder = _binary(
    "remainder", REALS, ARITHMETIC, operator="mod",
    doc="Return the remainder of x1 / x2 with the sign of x2; an integer zero divisor is an error.",
)  # fmt: skip
sign = _unary("sign", NUMBERS, ARITHMETIC, "Return -1, 0 or 1; of complex x, x / abs(x).")
subtract = _binary("subtract", NUMBERS, ARITHMETIC, "Return x1 - x2.", operator="sub")

# ---- bits ----------------------------------------------------------------------------------------

bitwise_and = _binary("bitwise_and", BITS, BITWISE, "Return x1 & x2.", operator="bitwise_and")
bitwise_or = _binary("bitwise_or", BITS, BITWISE, "Return x1 | x2.", operator="bitwise_or")
bitwise_xor = _binary("bitwise_xor", BITS, BITWISE, "Return x1 ^ x2.", operator="bitwise_xor")
bitwise_invert = _unary(
    "bitwise_invert", BITS, BITWISE, "Return x with every bit inverted.", operator="bitwise_not",
)  # fmt: skip
bitwise_left_shift = _binary(
    "bitwise_left_shift", WHOLE, BITWISE, symbol="bitwise_left_shift",
    doc="Return x1 * 2**x2; a shift of the width of the dtype or more leaves 0.",
)  # fmt: skip
bitwise_right_shift = _binary(
    "bitwise_right_shift", WHOLE, BITWISE, symbol="bitwise_right_shift",
    doc="Return the floor of x1 / 2**x2; a shift of the width or more leaves 0, or -1 below zero.",
)  # fmt: skip

# ---- comparison ----------------------------------------------------------------------------------

equal = _binary("equal", EVERY, COMPARISON, "Return whether x1 == x2.", operator="equal")
not_equal = _binary(
    "not_equal", EVERY, COMPARISON, "Return whether x1 != x2.", operator="not_equal",
)  # fmt: skip
greater = _binary("greater", ORDERED, COMPARISON, "Return whether x1 > x2.", operator="greater")
greater_equal = _binary(
    "greater_equal", ORDERED, COMPARISON, "Return whether x1 >= x2.", operator="greater_equal",
)  # fmt: skip
less = _binary("less", ORDERED, COMPARISON, "Return whether x1 < x2.", operator="less")
less_equal = _binary(
    "less_equal", ORDERED, COMPARISON, "Return whether x1 <= x2.", operator="less_equal",
)  # fmt: skip
isfinite = _unary(
    "isfinite", EVERY, ANY, "Return whether x is neither infinite nor NaN.", kernel="is_finite"
)
isinf = _unary(
    "isinf", EVERY, ANY, "Return whether x, or a part of complex x, is infinite.", kernel="is_inf"
)
isnan = _unary(
    "isnan", EVERY, ANY, "Return whether x, or a part of complex x, is NaN.", kernel="is_nan"
)
signbit = _unary("signbit", FLOATS, ANY, "Return whether the sign bit is set, also of -0 and NaN.")

# ---- exponentials, logarithms, powers and roots --------------------------------------------------

exp = _unary("exp", FLOATING, REAL_FUNCTION, "Return e to the power x.", ulp=1)
expm1 = _unary("expm1", FLOATING, REAL_FUNCTION, "Return exp(x) - 1, accurate near zero.", ulp=1)
log = _unary(
    "log", FLOATING, REAL_FUNCTION, ulp=1,
    doc="""Return the natural logarithm of x; for complex numbers, the principal value.

    >>> xp.log(xp.asarray([-1 + 0j], dtype=xp.complex128)).item()
    3.141592653589793j
    """,
)  # fmt: skip
log1p = _unary("log1p", FLOATING, REAL_FUNCTION, "Return log(1 + x), accurate near zero.", ulp=1)
log2 = _unary("log2", FLOATING, REAL_FUNCTION, "Return the logarithm of x to base 2.", ulp=1)
log10 = _unary("log10", FLOATING, REAL_FUNCTION, "Return the logarithm of x to base 10.", ulp=1)
logaddexp = _binary(
    "logaddexp", FLOATS, REAL_FUNCTION, ulp=4,
    doc="""Return log(exp(x1) + exp(x2)) without intermediate overflow.

    >>> xp.logaddexp(xp.asarray([1000.0, -xp.inf]), xp.asarray([1000.0, 2.0]))
    Tensor([1000.6932,         2], dtype=float32)
    """,
)  # fmt: skip
pow = _binary(
    "pow", NUMBERS, ARITHMETIC, ulp=3, symbol="pow",
    doc="""Return x1 to the power x2, element by element.

    Integers stay integers, modulo 2^n; an exponent below 0 is an error there.

    >>> xp.pow(xp.asarray([2, 3, -3], dtype=xp.int8), 3)
    Tensor([  8,  27, -27], dtype=int8)
    >>> xp.pow(xp.asarray([1 + 2j]), 2)
    Tensor([-3+4j], dtype=complex64)
    """,
)  # fmt: skip
sqrt = _unary("sqrt", FLOATING, REAL_FUNCTION, "Return the square root of x.", ulp=1)
square = _unary("square", NUMBERS, ARITHMETIC, "Return x * x; integers wrap.")

# ---- rounding: integers are whole already --------------------------------------------------------

ceil = _unary("ceil", REALS, ARITHMETIC, "Return the smallest whole number not below x.")
floor = _unary("floor", REALS, ARITHMETIC, "Return the largest whole number not above x.")
round = _unary(
    "round", NUMBERS, ARITHMETIC,
    "Return the nearest whole number, ties to even; complex parts are rounded separately.",
)  # fmt: skip
trunc = _unary("trunc", REALS, ARITHMETIC, "Return x without its fraction.")

# ---- trigonometric and hyperbolic functions ------------------------------------------------------

acos = _unary("acos", FLOATING, REAL_FUNCTION, "Return the arc cosine of x.", ulp=2)
acosh = _unary("acosh", FLOATING, REAL_FUNCTION, "Return the inverse hyperbolic cosine.", ulp=2)
asin = _unary("asin", FLOATING, REAL_FUNCTION, "Return the arc sine of x.", ulp=2)
asinh = _unary("asinh", FLOATING, REAL_FUNCTION, "Return the inverse hyperbolic sine.", ulp=2)
atan = _unary("atan", FLOATING, REAL_FUNCTION, "Return the arc tangent of x.", ulp=2)
atan2 = _binary(
    "atan2", FLOATS, REAL_FUNCTION, ulp=2.5,
    doc="""Return the angle of the point (x2, x1) from the positive first axis, between -pi and pi.

    >>> xp.atan2(xp.asarray([1.0, -0.0]), xp.asarray([1.0, -1.0]))
    Tensor([ 0.7853982, -3.1415927], dtype=float32)
    """,
)  # fmt: skip
atanh = _unary("atanh", FLOATING, REAL_FUNCTION, "Return the inverse hyperbolic tangent.", ulp=2)
cos = _unary("cos", FLOATING, REAL_FUNCTION, "Return the cosine of x.", ulp=2)
cosh = _unary("cosh", FLOATING, REAL_FUNCTION, "Return the hyperbolic cosine of x.", ulp=2)
hypot = _binary(
    "hypot", FLOATS, REAL_FUNCTION, ulp=1,
    doc="Return sqrt(x1 * x1 + x2 * x2) without intermediate overflow or underflow.",
)  # fmt: skip
sin = _unary("sin", FLOATING, REAL_FUNCTION, "Return the sine of x.", ulp=2)
sinh = _unary("sinh", FLOATING, REAL_FUNCTION, "Return the hyperbolic sine of x.", ulp=2)
tan = _unary("tan", FLOATING, REAL_FUNCTION, "Return the tangent of x.", ulp=2)
tanh = _unary("tanh", FLOATING, REAL_FUNCTION, "Return the hyperbolic tangent of x.", ulp=2)

# ---- logic: an operand is false where it is zero -------------------------------------------------


@elementwise("logical_and", dtypes=EVERY, promotes=LOGICAL, own_body=True)
def logical_and(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether both are true, element by element."""
    return _combined("logical_and", x1, x2)


@elementwise("logical_or", dtypes=EVERY, promotes=LOGICAL, own_body=True)
def logical_or(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether at least one is true, element by element."""
    return _combined("logical_or", x1, x2)


@elementwise("logical_xor", dtypes=EVERY, promotes=LOGICAL, own_body=True)
def logical_xor(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Return whether exactly one is true, element by element."""
    return _combined("logical_xor", x1, x2)


@function
def logical_not(x: Tensor, /) -> Tensor:
    """Return whether x is false, element by element."""
    return logical_xor(x, True)


def _combined(name: str, x1: TensorLike, x2: TensorLike) -> Tensor:
    """Combine truths: no common dtype is needed, each operand is true or false by itself."""
    op = FUNCTIONS[name]
    operands = operands_of(op, {"x1": x1, "x2": x2})
    for key, x in operands.items():
        if isinstance(x, Tensor):
            check_dtype(op, {key: x}, x.dtype)
    check_shapes(op, operands)
    return truths_combined(name, operands)


# ---- bounds, parts and conjugates ----------------------------------------------------------------

_BOUNDS = {
    dt: (iinfo(dt).min, iinfo(dt).max) if dt in WHOLE else (-(2**63), 2**63 - 1) for dt in REALS
}
"""Which integers bound a dtype as they are."""


@function
def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """Return elements no smaller than `min` and no larger than `max`, in the dtype of x.

    Where `min` is above `max`, they are `max`. A bound is a number or an array.

    >>> xp.clip(xp.asarray([-2, 0, 9], dtype=xp.int8), 0, 5)
    Tensor([0, 0, 5], dtype=int8)
    """
    if type(x) is Tensor and _is_plain(x.dtype, min) and _is_plain(x.dtype, max):
        return _core.run_operator("extended:clip", [x, min, max], x.dtype)[0]
    x = array_argument("clip", "x", x)
    check_dtype(FUNCTIONS["maximum"], {"x": x}, x.dtype)
    lowest = None if min is None else _bound(x, "min", min)
    highest = None if max is None else _bound(x, "max", max)
    if lowest is None and highest is None:
        return copied(x)
    if lowest is None or highest is None:
        kernel, bound = ("max", lowest) if highest is None else ("min", highest)
        return _core.run_operator(kernel, [x, bound], x.dtype)[0]
    check_shapes("clip", {"x": x, "min": lowest, "max": highest})
    return _core.run_operator("extended:clip", [x, lowest, highest], x.dtype)[0]


def _is_plain(dt: DType, bound: Any) -> bool:
    """Return whether a bound is a number that the core takes as it is."""
    if type(bound) is float:
        return dt.kind == "float" and dt in _BOUNDS
    if type(bound) is not int or dt not in _BOUNDS:
        return False
    low, high = _BOUNDS[dt]
    return low <= bound <= high


def _bound(x: Tensor, name: str, given: Any) -> Any:
    """Return a bound in the dtype of x."""
    bound = as_operand("clip", name, given)
    dt = x.dtype
    if isinstance(bound, Tensor):
        check_shapes("clip", {"x": x, name: bound})
        return bound if bound.dtype is dt else converted(array_argument("clip", name, bound), dt)
    if isinstance(bound, complex) or (isinstance(bound, float) and dt in WHOLE):
        raise TypeMismatch(f"clip: {name} is {bound}, and x is {dt}; give an integer.")
    if dt in WHOLE:  # one that lies outside bounds nothing, or all
        return builtins.min(builtins.max(int(bound), iinfo(dt).min), iinfo(dt).max)
    return plain_operand("clip", name, bound, dt)


@function
def conj(x: Tensor, /) -> Tensor:
    """Return the complex conjugate; a real tensor is returned unchanged."""
    x = array_argument("conj", "x", x)
    return _core.conjugate(x) if x.dtype.kind == "complex" else x


@function
def imag(x: Tensor, /) -> Tensor:
    """Return the imaginary part: a view; for a real tensor, new zeros."""
    x = array_argument("imag", "x", x)
    return _core.part_view(x, True) if x.dtype.kind == "complex" else zeros(x.shape, x.dtype)


@function
def positive(x: Tensor, /) -> Tensor:
    """Return a copy of x, which must be numeric."""
    x = array_argument("positive", "x", x)
    if x.dtype.kind == "bool":
        raise TypeMismatch("positive: x is bool; it takes numbers.")
    return copied(x)


@function
def real(x: Tensor, /) -> Tensor:
    """Return the real part: a view; a real tensor is returned unchanged."""
    x = array_argument("real", "x", x)
    return _core.part_view(x, False) if x.dtype.kind == "complex" else x
