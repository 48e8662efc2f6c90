"""What each element-wise kernel computes, by the kind of the dtype: an expression of its lanes.

``same`` is the dtype of the lanes, ``wide`` float64. An operator or a kind that is missing here is
computed by PyTorch.
"""

from __future__ import annotations

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.runtimes.torch.triton.conversions import INTERPRETED
from suanzi.runtimes.torch.triton.half_precision import FAR
from suanzi.runtimes.torch.triton.kernel_text import NARROW, TL, lane_of

_ANY = {
    "add": "a0 + a1", "sub": "a0 - a1", "mul": "a0 * a1", "muladd": "(a0 * a1) + a2",
    "square": "a0 * a0",
}  # fmt: skip
_COMPARED = {
    "equal": "a0 == a1", "not_equal": "a0 != a1", "greater": "a0 > a1", "less": "a0 < a1",
    "greater_equal": "a0 >= a1", "less_equal": "a0 <= a1",
}  # fmt: skip
_TRUTHS = {
    "logical_and": "(a0 != 0) & (a1 != 0)", "logical_or": "(a0 != 0) | (a1 != 0)",
    "logical_xor": "(a0 != 0) ^ (a1 != 0)",
}  # fmt: skip
_FLOAT = {
    **_ANY,
    "div": "divided(a0, a1)", "floordiv": "float_floor_quotient(a0, a1)",
    "extended:floordiv": "float_floor_quotient_of_infinity(a0, a1)",
    "mod": "float_remainder(a0, a1)", "max": "larger(a0, a1)", "min": "smaller(a0, a1)",
    "abs": "tl.abs(a0)", "negative": "flipped(a0)", "sign": "sign(a0)",
    "reciprocal": "divided(tl.zeros_like(a0) + 1.0, a0)",
    "floor": "tl.floor(a0)", "ceil": "tl.ceil(a0)", "trunc": "cut(a0)", "round": "nearest(a0)",
    "sqrt": "root(a0)", "copysign": "with_sign(a0, a1)",
}  # fmt: skip
_FLOAT_TRUTHS = {
    **_COMPARED, **_TRUTHS,
    "is_nan": "a0 != a0", "is_inf": "tl.abs(a0) == float('inf')",
    "is_finite": "tl.abs(a0) < float('inf')", "signbit": "has_sign(a0)",
    "logical_not": "a0 == 0",
}  # fmt: skip
_WHOLE = {
    **_ANY,
    "div": "quotient(a0, a1)", "floordiv": "floor_quotient(a0, a1)", "mod": "remainder(a0, a1)",
    "max": "tl.where(a0 > a1, a0, a1)", "min": "tl.where(a0 > a1, a1, a0)",
    "bitwise_and": "a0 & a1", "bitwise_or": "a0 | a1", "bitwise_xor": "a0 ^ a1",
    "floor": "a0", "ceil": "a0", "trunc": "a0", "round": "a0",
    "negative": "0 - a0",
}  # fmt: skip
_WHOLE_TRUTHS = {
    **_COMPARED, **_TRUTHS, "is_nan": "a0 != a0", "is_inf": "a0 != a0", "is_finite": "a0 == a0",
    "logical_not": "a0 == 0",
}  # fmt: skip
_BOOL = {
    "equal": "a0 == a1", "not_equal": "a0 != a1", "logical_and": "a0 & a1",
    "logical_or": "a0 | a1", "logical_xor": "a0 ^ a1", "bitwise_and": "a0 & a1",
    "bitwise_or": "a0 | a1", "bitwise_xor": "a0 ^ a1", "bitwise_not": "a0 == 0",
    "logical_not": "a0 == 0",
}  # fmt: skip
_FUNCTIONS = (
    "exp expm1 log log10 log2 sin cos asin acos atan tanh asinh acosh tan sinh cosh atanh log1p "
    "pow atan2 hypot"
).split()
_PAIRED = ("pow", "atan2", "hypot")
_INTERPRETED = ("exp", "log", "log2", "sin", "cos")
"""The functions that Triton's interpreter has."""
_DIVIDES = ("div", "floordiv", "mod")


def is_function(kernel: str) -> bool:
    """Return whether a kernel computes a function whose results libraries round differently."""
    return kernel.removeprefix("extended:") in (*_FUNCTIONS, "rsqrt")


def has_table(kernel: str, dt: DType) -> bool:
    """Return whether a function is computed in float32, and a table has the results near ties."""
    name = kernel.removeprefix("extended:")
    return dt in NARROW and is_function(name) and name not in _PAIRED


def far(kernel: str, dt: DType) -> str:
    """Return which lanes have the table's result in any case, as an expression; empty if none."""
    return FAR.get(kernel.removeprefix("extended:"), "") if has_table(kernel, dt) else ""


def expression(kernel: str, dt: DType) -> tuple[str, DType] | None:
    """Return what a kernel computes of lanes of a dtype, and the dtype of that; None if nothing."""
    name = kernel.removeprefix("extended:")
    if (name in _FUNCTIONS and dt.kind == "float") or name == "rsqrt":
        return _function(name, dt)
    if dt.kind == "float":
        found, truth = _FLOAT.get(kernel) or _FLOAT.get(name), _FLOAT_TRUTHS.get(name)
    elif dt.kind == "bool":
        found, truth = None, _BOOL.get(name)
    elif dt.kind in ("int", "uint"):
        found, truth = _whole(kernel, name, dt), _WHOLE_TRUTHS.get(name)
    else:
        return None
    if truth is not None:
        return truth, dtypes.bool
    return None if found is None else (found, lane_of(dt))


def _whole(kernel: str, name: str, dt: DType) -> str | None:
    own, signed = TL[dt], dt.kind == "int"
    if name == "abs":
        return "tl.where(a0 < 0, 0 - a0, a0)" if signed else "a0"
    if name == "sign":
        return f"(a0 > 0).to({own}) - (a0 < 0).to({own})" if signed else f"(a0 != 0).to({own})"
    if name == "bitwise_not":
        return "~a0" if signed else f"a0 ^ {(1 << dt.bits) - 1}"
    if name == "pow":
        return f"power(a0, a1, {dt.bits})"
    if name in ("bitwise_left_shift", "bitwise_right_shift"):
        return f"shifted_{name.split('_')[1]}(a0, a1, {dt.bits})"
    return _WHOLE.get(name)


def _function(name: str, dt: DType) -> tuple[str, DType] | None:
    """Return a function; where no table helps, 16 bits and fewer are computed in float64."""
    if name in FAR and has_table(name, dt):
        return f"narrow_{name}(a0)", dtypes.float32
    if name == "pow" and dt is dtypes.float32:
        return "power_single(a0, a1)", dt
    if dt.kind != "float" or (INTERPRETED.value and name not in (*_INTERPRETED, "rsqrt")):
        return None
    wide = not has_table(name, dt) and dt.bits < 32
    given = [f"a{j}.to(tl.float64)" if wide else f"a{j}" for j in range(2)]
    lane = dtypes.float64 if wide else lane_of(dt)
    if name == "rsqrt":
        return f"divided(tl.zeros_like({given[0]}) + 1.0, root({given[0]}))", lane
    if name == "atanh" and dt is not dtypes.float64:
        return "atanh_of_log1p(a0)", lane
    count = 2 if name in _PAIRED else 1
    library = "tl" if INTERPRETED.value else "libdevice"
    return f"{library}.{name}({', '.join(given[:count])})", lane


def trouble(kernel: str, dt: DType) -> str:
    """Return which lanes have no result, as an expression; empty if all have one."""
    name = kernel.removeprefix("extended:")
    if name in _DIVIDES and dt.kind in ("int", "uint"):
        return "a1 == 0"
    if name in ("pow", "bitwise_left_shift", "bitwise_right_shift") and dt.kind == "int":
        return "a1 < 0"
    return ""
