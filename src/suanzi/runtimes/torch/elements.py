"""Operators that take elements one by one: operands promoted, computed wide, rounded once."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from suanzi import _core
from suanzi.base import dtypes
from suanzi.base.dtypes import DType, iinfo
from suanzi.base.status import InvalidArgument
from suanzi.ops.calling import domains
from suanzi.ops.rounding import RoundMode
from suanzi.runtimes.torch import complexes  # noqa: F401 - which declares kernels of complex numbers
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.dtypes import SUANZI, TORCH, carried, carrier, lane, resolved
from suanzi.runtimes.torch.kernels import COMPARISONS, KERNELS, Loop, maximum, minimum, shifted
from suanzi.runtimes.torch.tensor import placed
from suanzi.runtimes.torch.ways import WAYS, Call, way


def elementwise(call: Call, **arguments: Any) -> torch.Tensor:
    """Run the kernel of an operator on its operands, promoted."""
    op, promoted = call.op, call.promoted
    assert op.kernel is not None
    loop = Loop(call, promoted)
    if call.compares_exactly:
        return _compared(call, arguments)
    if op.kernel in _ROUNDS_ONCE and promoted in _NARROW:
        given = [_promoted(call, name, x, promoted) for name, x in arguments.items()]
        return _ROUNDS_ONCE[op.kernel](*given)
    lanes = [operand(call, name, x, promoted) for name, x in arguments.items()]
    if op.name in _READ_SIGNS:
        last = list(arguments)[-1]
        lanes[-1] = _signed(call, last, arguments[last], lanes[-1])
    made = KERNELS[op.kernel](loop, *lanes)
    if op.domain is not None and domains.matter():
        outside = torch.isnan(made) & ~torch.isnan(lanes[0])
        loop.report(
            outside, InvalidArgument,
            f"x contains a number outside the domain {op.domain}. Clip it first, for example with "
            "sz.clip, or allow NaN with sz.domain_errors(False).",
        )  # fmt: skip
    return rounded(made, promoted, call.result.dtype)


_NARROW = (dtypes.float16, dtypes.bfloat16)
_ROUNDS_ONCE = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, **COMPARISONS,
}  # fmt: skip
"""What PyTorch computes of 16-bit floats in float32, and rounds once, without a copy in float32."""


_READ_SIGNS = ("copysign", "signbit")
"""What reads the sign of its last operand, also that of a NaN."""


def _signed(call: Call, name: str, x: Any, lane: torch.Tensor) -> torch.Tensor:
    """Return lanes with the signs that elements have: CUDA's conversions lose that of a NaN."""
    if not isinstance(x, torch.Tensor) or call.dtypes[name].kind != "float":
        return lane
    memory = carried(x)
    signs = memory < 0 if memory.dtype.is_signed else (memory & 0x80) != 0
    return torch.copysign(lane, torch.where(signs, -1.0, 1.0).to(lane.dtype))


def _promoted(call: Call, name: str, x: Any, dt: DType) -> torch.Tensor:
    if isinstance(x, torch.Tensor):
        return cast(x, call.dtypes[name], dt)
    return number(x, dt, call.place).to(TORCH[dt])


def rounded(made: torch.Tensor, promoted: DType, target: DType) -> torch.Tensor:
    """Return lanes in the dtype of the result: that of the operands, its part, or bool."""
    if made.dtype is TORCH[target]:
        return made
    return cast(made, SUANZI[made.dtype], target)


def operand(call: Call, name: str, x: Any, promoted: DType) -> torch.Tensor:
    """Return an operand as lanes of the promoted dtype."""
    if not isinstance(x, torch.Tensor):
        return number(x, promoted, call.place)
    return lanes(cast(x, call.dtypes[name], promoted), promoted)


def lanes(x: torch.Tensor, dt: DType) -> torch.Tensor:
    """Return elements in the dtype that they are computed in."""
    if dt is dtypes.uint64:
        return x.view(torch.int64)
    wanted = lane(dt)
    if x.dtype is torch.complex32 and wanted is torch.complex64:
        return cast(x, dtypes.complex32, dtypes.complex64)
    return x if x.dtype is wanted else x.to(wanted)


def number(x: Any, dt: DType, place: torch.device) -> torch.Tensor:
    """Return a number as one lane: rounded once to the dtype, as the CPU does."""
    if isinstance(x, np.generic | np.ndarray):
        x = x.item()
    return _number(type(x).__name__, repr(x), dt, place)


@lru_cache(maxsize=1024)
def _number(kind: str, text: str, dt: DType, place: torch.device) -> torch.Tensor:
    whole = int(text) if kind == "int" else 0
    if kind == "bool":
        made = _core.full((), dtypes.bool, text == "True")
    elif kind == "int" and -(2**63) <= whole < 2**64:
        made = _core.full((), dtypes.int64 if whole < 2**63 else dtypes.uint64, whole)
    elif kind == "complex":
        made = _core.full((), dtypes.complex128, complex(text))
    else:
        made = _core.full((), dtypes.float64, _as_float(whole) if whole else float(text))
    return lanes(placed(_core.cast(made, dt, False), place), dt)


def _as_float(whole: int) -> float:
    try:
        return float(whole)
    except OverflowError:
        return -math.inf if whole < 0 else math.inf


def _compared(call: Call, arguments: dict[str, Any]) -> torch.Tensor:
    """Compare two operands by value: an integer's part that float64 has, then what is left."""
    assert call.op.kernel is not None
    compare = COMPARISONS[call.op.kernel]
    (xh, xl), (yh, yl) = (_in_two(call, name, x) for name, x in arguments.items())
    same = xh == yh
    return torch.where(same, compare(xl, yl), compare(xh, yh))


def _in_two(call: Call, name: str, x: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a multiple of 2048 and what is left, towards zero: ordered one after the other."""
    if not isinstance(x, torch.Tensor):
        if isinstance(x, int) and not -(2**63) <= x < 2**64:
            raise call.missing(f"{name} is an integer beyond 64 bits")
        dt = (
            dtypes.float64
            if isinstance(x, float)
            else dtypes.uint64
            if x >= 2**63
            else dtypes.int64
        )
        x = placed(_core.full((), dt, x), call.place)
    else:
        dt = SUANZI[x.dtype]
    if dt.kind in ("float", "bool") or dt.bits < 64:
        wide = x.to(torch.float64)
        high = torch.trunc(wide / 2048) * 2048
        return high, torch.where(torch.isfinite(wide), torch.fmod(wide, 2048), 0.0)
    bits = x.view(torch.int64)
    if dt is dtypes.int64:
        high = torch.div(bits, 2048, rounding_mode="trunc")
    else:
        high = (bits >> 11) & (2**53 - 1)
    return high.to(torch.float64) * 2048, (bits - high * 2048).to(torch.float64)


for _name in KERNELS:
    WAYS[f"kernel {_name}"] = elementwise


@way("where", "array_api:where")
def where_way(call: Call, condition: Any = None, x: Any = None, y: Any = None, **other: Any) -> Any:
    """Return elements of two operands, in the promoted dtype: no lane is computed."""
    if other:  # the array API's names
        x, y = other["x1"], other["x2"]
        call.dtypes.setdefault("x", call.dtypes["x1"])
        call.dtypes.setdefault("y", call.dtypes["x2"])
    dt = call.promoted
    parts = []
    for name, value in (("x", x), ("y", y)):
        if isinstance(value, torch.Tensor):
            parts.append(carried(cast(value, call.dtypes[name], dt)))
        else:
            parts.append(carried(rounded(number(value, dt, call.place), dt, dt)))
    if not isinstance(condition, torch.Tensor):
        condition = torch.tensor(bool(condition), device=call.place)
    elif condition.dtype is not torch.bool:
        condition = cast(condition, call.dtypes["condition"], dtypes.bool)
    first, second = parts
    made = torch.where(condition, first, second)
    return made if made.dtype is TORCH[dt] else made.view(TORCH[dt])


# ---- with bodies of their own --------------------------------------------------------------------


@way("cast")
def cast_way(call: Call, input: torch.Tensor, type: Any, saturate: bool, layout: Any) -> Any:
    """Return a copy in another dtype."""
    if layout is not None:
        raise call.missing("PyTorch's tensors are copied in row-major order")
    made = cast(input, call.dtypes["input"], call.result.dtype, saturate)
    return input.clone() if made is input else made


@way("logical_not")
def logical_not(call: Call, x: torch.Tensor) -> Any:
    """Return whether x is zero."""
    return lanes(cast(x, call.dtypes["x"], call.promoted), call.promoted) == 0


@way("rint")
def rint(call: Call, x: torch.Tensor, mode: Any) -> Any:
    """Return x rounded in a mode."""
    name = mode.value if isinstance(mode, RoundMode) else RoundMode[str(mode).upper()].value
    made = lanes(cast(x, call.dtypes["x"], call.promoted), call.promoted)
    return rounded(getattr(torch, name)(made), call.promoted, call.result.dtype)


@way("clip")
def clip(call: Call, input: torch.Tensor, low: Any, high: Any) -> Any:
    """Return the input limited to a range: `high` wins where the bounds cross."""
    dt = call.dtypes["input"]
    loop, made = Loop(call, dt), lanes(input, dt)
    for name, limit, best in (("low", low, maximum), ("high", high, minimum)):
        if limit is not None:
            made = best(loop, made, _bound(call, name, limit, dt))
    return input.clone() if made is input else rounded(made, dt, dt)


def _bound(call: Call, name: str, limit: Any, dt: DType) -> torch.Tensor:
    if isinstance(limit, torch.Tensor):
        return lanes(limit, dt)
    if dt.kind in ("int", "uint"):
        limit = limit.item() if hasattr(limit, "item") else limit
        limit = int(min(max(limit, iinfo(dt).min), iinfo(dt).max))
    return number(limit, dt, call.place)


@way("clip_backward")
def clip_backward(
    call: Call, grad_out: torch.Tensor, low: Any, high: Any, input: torch.Tensor
) -> Any:
    """Return the gradient where the input is within the bounds."""
    dt = call.dtypes["input"]
    x, loop = lanes(input, dt), Loop(call, dt)
    inside = torch.ones_like(x, dtype=torch.bool)
    for name, limit, test in (("low", low, "greater_equal"), ("high", high, "less_equal")):
        if limit is None:
            continue
        bound = _bound(call, name, limit, dt)
        within = KERNELS[test](loop, x, bound)
        if not isinstance(limit, torch.Tensor) and loop.is_whole:
            end = min(max(limit, iinfo(dt).min), iinfo(dt).max)
            if (limit > end) if name == "low" else (limit < end):
                within = torch.zeros_like(within)
        inside = inside & within
    moved = carried(grad_out)
    made = torch.where(inside, moved, torch.zeros_like(moved))
    return made.view(grad_out.dtype) if carrier(grad_out.dtype) is not grad_out.dtype else made


@way("bitwise_left_shift", "bitwise_right_shift")
def shift(call: Call, x: Any, shift: Any) -> Any:
    """Return bits moved by amounts that must be within the width."""
    dt = call.result.dtype
    loop = Loop(call, dt)
    value = lanes(x, dt) if isinstance(x, torch.Tensor) else number(x, dt, call.place)
    if isinstance(shift, torch.Tensor):
        came = call.dtypes["shift"]
        amount = cast(shift, came, dtypes.int64)
        bad = (amount < 0) | (amount >= (2**63 - 1 if dt is dtypes.bool else dt.bits))
        wanted = "at least 0 and below 2**63" if dt is dtypes.bool else f"from 0 to {dt.bits - 1}"
        loop.report(bad, InvalidArgument, f"shift contains a number that is not {wanted} for {dt}.")
        amount = torch.where(bad, 0, amount)
    else:
        amount = number(shift, dtypes.int64, call.place)
    if dt is dtypes.bool:
        return value & (amount == 0)
    made = shifted(loop, call.op.name == "bitwise_left_shift", value, amount.to(value.dtype))
    return rounded(made, dt, dt)


@way("complex")
def make_complex(call: Call, real: Any, imag: Any) -> Any:
    """Return complex numbers of their parts."""
    part = dtypes.part(call.result.dtype)
    both = [
        x if isinstance(x, torch.Tensor) else number(x, part, call.place).to(TORCH[part])
        for x in (real, imag)
    ]
    both = list(torch.broadcast_tensors(*both))
    return torch.view_as_complex(torch.stack(both, -1))


@way("conj")
def conj(call: Call, input: torch.Tensor) -> Any:
    """Return conjugates."""
    return (
        torch.conj_physical(input)
        if input.dtype is not torch.complex32 and input.is_complex()
        else _conj_half(input)
        if input.is_complex()
        else input
    )


def _conj_half(x: torch.Tensor) -> torch.Tensor:
    parts = torch.view_as_real(x)
    return torch.view_as_complex(torch.stack((parts[..., 0], -parts[..., 1]), -1))


@way("real")
def real(call: Call, input: torch.Tensor) -> Any:
    """Return real parts: a view."""
    return torch.view_as_real(resolved(input))[..., 0] if input.is_complex() else input


@way("imag")
def imag(call: Call, input: torch.Tensor) -> Any:
    """Return imaginary parts: a view; zeros of a real tensor."""
    if input.is_complex():
        return torch.view_as_real(resolved(input))[..., 1]
    return torch.zeros_like(input)


@way("allclose")
def allclose(call: Call, x: Any, y: Any, rtol: Any, atol: Any, equal_nan: Any) -> Any:
    """Return whether all elements are close, in one bool: distances in float64."""
    given = {"x": x, "y": y}
    if not call.compares_exactly:
        given = {name: _in_promoted(call, name, v) for name, v in given.items()}
    a, b = given.values()
    if call.promoted.kind == "complex" and not call.compares_exactly:
        a, b = (v.to(torch.complex128) for v in (a, b))
        distance, size, alike = (a - b).abs(), b.abs(), a == b
        finite, empty = torch.isfinite(b), (a != a) & (b != b)
    else:
        (ah, al), (bh, bl) = (_in_two(call, n, v) for n, v in given.items())
        distance, size = ((ah - bh) + (al - bl)).abs(), (bh + bl).abs()
        alike, finite, empty = (ah == bh) & (al == bl), torch.isfinite(bh), (ah != ah) & (bh != bh)
    close = ((distance <= float(atol) + float(rtol) * size) & finite) | alike
    return (close | empty if equal_nan else close).all().reshape(1)


def _in_promoted(call: Call, name: str, x: Any) -> torch.Tensor:
    dt = call.promoted
    if isinstance(x, torch.Tensor):
        made = cast(x, call.dtypes[name], dt)
    else:
        made = rounded(number(x, dt, call.place), dt, dt)
    if made.dtype is torch.complex32:
        made = cast(made, dtypes.complex32, dtypes.complex64)
    return made
