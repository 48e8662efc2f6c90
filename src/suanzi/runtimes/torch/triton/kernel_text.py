"""The text of an element-wise kernel: loads, conversions, one expression, a store.

A kernel is written for the dtypes and the pattern of strides of a call. It loads operands in their
own dtypes, rounds each once to the promoted dtype, computes, and rounds the result once.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import triton
import triton.language as tl

from suanzi.base import dtypes
from suanzi.base.dtypes import DType, finfo, iinfo
from suanzi.runtimes.torch.triton import (
    activation_math,
    arithmetic,
    conversions,
    exponentials,
    half_precision,
    single_precision,
)

NARROW = {dtypes.float16: "tl.float16", dtypes.bfloat16: "tl.bfloat16"}
FLOAT8 = {dtypes.float8_e5m2: (2, 15, 0x7C, 0x7C), dtypes.float8_e4m3fn: (3, 7, 0x7E, 0x7F)}
"""Mantissa bits, bias, the largest bits before overflow, and those of overflow."""
TL: dict[DType, str] = {
    dtypes.bool: "tl.int1", dtypes.float32: "tl.float32", dtypes.float64: "tl.float64", **NARROW,
    **{dt: f"tl.{dt.name}" for dt in dtypes.DTYPES if dt.kind in ("int", "uint") and dt.bits >= 8},
}  # fmt: skip
KNOWN = {*TL, *FLOAT8}
"""The dtypes that kernels compute with."""


@dataclass(frozen=True)
class Operand:
    """An operand of a kernel: its dtype in memory, and the one it is promoted to."""

    source: DType
    target: DType
    is_number: bool = False
    """A parameter of the kernel, of the lane of the target."""


@dataclass(frozen=True)
class Body:
    """What a kernel computes."""

    operands: tuple[Operand, ...]
    expression: str
    """Of the lanes a0, a1, a2."""
    lane: DType
    """The dtype of the expression."""
    result: DType
    trouble: str = ""
    """An expression of the lanes that sets the flag."""
    saturates: bool = False
    largest: bool = False
    """Whether overflow of a float8 without infinity is its largest number."""
    table: int = 0
    """By how many ULP of float32 from ties results are those of a table, by the bits of the only
    operand; 0 if there is none."""
    far: str = ""
    """An expression of the lanes whose results are the table's in any case."""
    looks_up: bool = False
    """Whether all results are the table's, which has them in their dtype."""


@dataclass(frozen=True)
class Pattern:
    """How elements are found: how many axes there are, and which strides are 0 or 1."""

    form: str
    """``line``: one axis of strides 0 and 1. ``flat``: divisions for each. ``tile``: in two."""
    axes: int
    strides: tuple[tuple[int, ...], ...]
    """Of each operand, from the slowest axis: 0, 1, or 2 for a parameter."""
    wide: bool
    """Whether indices have 64 bits."""
    split: bool = False
    """Whether full blocks are apart: their loads are vectors, whatever the number of elements."""


def lane_of(dt: DType) -> DType:
    """Return the dtype that elements are computed in."""
    return dtypes.float32 if dt.kind == "float" and dt.bits < 32 else dt


def holds(target: DType, source: DType) -> bool:
    """Return whether a float dtype has all numbers of another dtype."""
    if source.kind == "float":
        return (
            source.mantissa_bits <= target.mantissa_bits
            and source.exponent_bits <= target.exponent_bits
        )
    size = 1 if source.kind == "bool" else source.bits - (source.kind == "int")
    return size <= target.mantissa_bits + 1 and size < (1 << (target.exponent_bits - 1)) - 1


def loaded(x: str, dt: DType) -> str:
    """Return elements of memory as lanes."""
    if dt is dtypes.float16:
        return f"{x}.to(tl.float32)"
    if dt is dtypes.bfloat16:
        return f"from_bf16({x})"
    if dt in FLOAT8:
        return f"from_{dt.name.removeprefix('float8_')}({x})"
    return x


def rounded(x: str, lane: DType, dt: DType, saturates: bool = False, largest: bool = False) -> str:
    """Return lanes rounded to a dtype, as memory has it."""
    if dt.kind == "bool":
        return x if lane.kind == "bool" else f"({x} != 0)"
    if dt.kind != "float":
        return _whole(x, lane, dt)
    if lane.kind == "bool":
        x, lane = f"{x}.to(tl.int32)", dtypes.int8
    if dt.bits >= 32:
        return x if lane is dt else f"{x}.to({TL[dt]})"
    x = _in_float32(x, lane)
    if saturates:
        end = float(finfo(dt).max)
        x = f"limited({x}, {-end!r}, {end!r})"
    if dt is dtypes.float16:
        return f"{x}.to(tl.float16)"
    if dt is dtypes.bfloat16:
        return f"to_bf16({x})"
    mantissa, bias, last, over = FLOAT8[dt]
    over = last if largest and not dt.has_infinity else over
    return f"to_float8({x}, {mantissa}, {bias}, {last}, {over})"


def _in_float32(x: str, lane: DType) -> str:
    """Return lanes as float32; what it has not is rounded to odd."""
    if lane is dtypes.float64:
        return f"odd32({x})"
    if lane.kind == "float":
        return x
    if lane.bits < 32:
        return f"{x}.to(tl.float32)"
    if lane.bits < 64:
        return f"odd32({x}.to(tl.float64))"
    return f"odd32(sticky64{'_unsigned' if lane.kind == 'uint' else ''}({x}))"


def _whole(x: str, lane: DType, dt: DType) -> str:
    """Return lanes as integers: integers wrap, floats end at the limits."""
    if lane.kind != "float":
        return x if lane is dt else f"{x}.to({TL[dt]})"
    if dt.bits == 64:
        return f"to_{dt.name}({x}.to(tl.float64))"
    limits = iinfo(dt)
    wide = x if dt.bits < 32 else f"{x}.to(tl.float64)"
    return f"to_small_integer({wide}, {float(limits.min)!r}, {float(limits.max)!r}).to({TL[dt]})"


def promoted(x: str, source: DType, target: DType, largest: bool = False) -> str:
    """Return elements of memory as lanes of another dtype, rounded once to it."""
    lane = loaded(x, source)
    if source is target:
        return lane
    if target.kind == "float" and target.bits < 32 and holds(target, source):
        if source.kind == "float":
            return lane
        return f"{lane}.to(tl.int32).to(tl.float32)" if source.kind == "bool" else (
            f"{lane}.to(tl.float32)")  # fmt: skip
    return loaded(rounded(lane, lane_of(source), target, largest=largest), target)


# ---- the text ------------------------------------------------------------------------------------


def parameters(body: Body, pattern: Pattern) -> list[str]:
    """Return the names of the parameters, in order."""
    names = [f"p{j}" for j in range(len(body.operands))] + ["out"]
    names += ["flag"] if body.trouble else []
    names += ["table"] if body.table else []
    names += [f"s{d}" for d in range(pattern.axes)]
    for j, strides in enumerate(pattern.strides):
        names += [f"t{j}_{d}" for d, stride in enumerate(strides) if stride == 2]
    return names


def _offset(j: int, strides: Sequence[int], indices: Sequence[str]) -> str:
    parts = [
        index if stride == 1 else f"{index} * t{j}_{d}"
        for d, (stride, index) in enumerate(zip(strides, indices, strict=True))
        if stride
    ]
    return " + ".join(parts)


def _line(pattern: Pattern) -> tuple[list[str], list[str], str]:
    wide = ".to(tl.int64)" if pattern.wide else ""
    lines = [f"i = tl.program_id(0){wide} * BLOCK + tl.arange(0, BLOCK)"]
    return lines + ([] if pattern.split else ["inside = i < s0"]), ["i"], "i"


def _flat(pattern: Pattern) -> tuple[list[str], list[str], str]:
    wide = "tl.uint64" if pattern.wide else "tl.uint32"
    total = " * ".join(f"s{d}.to({wide})" for d in range(pattern.axes))
    lines = [
        f"i = tl.program_id(0).to({wide}) * BLOCK + tl.arange(0, BLOCK).to({wide})",
        f"inside = i < {total}",
        "rest = i",
    ]
    indices = [f"i{d}" for d in range(pattern.axes)]
    for d in reversed(range(1, pattern.axes)):
        lines += [f"i{d} = rest % s{d}.to({wide})", f"rest = rest // s{d}.to({wide})"]
    lines += ["i0 = rest"]
    return lines, indices, "i"


def _tile(pattern: Pattern) -> tuple[list[str], list[str], str]:
    wide = ".to(tl.int64)" if pattern.wide else ""
    last, before = pattern.axes - 1, pattern.axes - 2
    lines = [
        f"pid = tl.program_id(0){wide}",
        f"across = tl.cdiv(s{last}, COLUMNS)",
        f"down = tl.cdiv(s{before}, ROWS)",
        "c = (pid % across) * COLUMNS + tl.arange(0, COLUMNS)",
        "q = pid // across",
        "r = (q % down) * ROWS + tl.arange(0, ROWS)",
        "q = q // down",
        f"i{last} = c[None, :]",
        f"i{before} = r[:, None]",
        f"inside = (i{before} < s{before}) & (i{last} < s{last})",
        f"at = (q * s{before} + i{before}) * s{last} + i{last}",
    ]
    for d in reversed(range(1, before)):
        lines += [f"i{d} = q % s{d}", f"q = q // s{d}"]
    lines += ["i0 = q"] if before else []
    return lines, [f"i{d}" for d in range(pattern.axes)], "at"


def written(body: Body, pattern: Pattern) -> str:
    """Return the text of a kernel."""
    made = {"line": _line, "flat": _flat, "tile": _tile}[pattern.form](pattern)
    lines, indices, at = made
    inner: list[str] = []
    reads_signs = any(f"{name}(" in body.expression for name in ("has_sign", "with_sign"))
    for j, (operand, strides) in enumerate(zip(body.operands, pattern.strides, strict=True)):
        inner += _operand(j, operand, _offset(j, strides, indices), body)
        if reads_signs and not operand.is_number and operand.source.kind == "float":
            inner += [f"a{j} = signed_as(a{j}, x{j})"]
    if body.trouble:
        inner += [
            f"bad = ({body.trouble}) & inside",
            "tl.store(flag + tl.zeros_like(bad.to(tl.int32)), bad.to(tl.uint8), bad)",
        ]
    stored = rounded("value", body.lane, body.result, body.saturates, body.largest)
    if body.looks_up:
        stored = f"tl.load(table + {_index(body)})"
    else:
        inner += [f"value = {body.expression}"]
    if body.table and not body.looks_up:
        # Lanes take the table's numbers before they are rounded, two at a time; 16 bits are always
        # an index, also of lanes outside.
        inner += [
            f"near = near_tie(value, {body.result.mantissa_bits}, {body.result.exponent_bits}, "
            f"{body.table})",
            *([f"near = near | ({body.far})"] if body.far else []),
            f"value = tl.load(table + {_index(body)}, near, value)",
        ]
    inner += [f"tl.store(out + {at}, {stored}, inside)"]
    if pattern.split:
        every = ["inside = tl.full([BLOCK], 1, tl.int1)", *inner]
        lines += ["if (tl.program_id(0) + 1) * BLOCK <= s0:", *("    " + one for one in every)]
        lines += ["else:", *("    " + one for one in ["inside = i < s0", *inner])]
    else:
        lines += inner
    sizes = {"tile": ["ROWS", "COLUMNS"]}.get(pattern.form, ["BLOCK"])
    given = parameters(body, pattern) + [f"{name}: tl.constexpr" for name in sizes]
    return "\n    ".join([f"def kernel({', '.join(given)}):", *lines]) + "\n"


def _index(body: Body) -> str:
    """Return the position of the result in a table: the bits of the operand."""
    is_same = body.operands[0].source is body.result
    index = "x0" if is_same else rounded("a0", body.lane, body.result)
    return f"{index}.to(tl.uint16, bitcast=True).to(tl.int32)"


def _operand(j: int, operand: Operand, offset: str, body: Body) -> list[str]:
    target = operand.target
    if operand.is_number:
        lane = lane_of(target)
        number = f"p{j} != 0" if lane.kind == "bool" else f"p{j}.to({TL[lane]})"
        return [f"a{j} = tl.broadcast_to({number}, inside.shape)"]
    # A table remains in the cache where what is read once leaves it first.
    once = ', eviction_policy="evict_first"' if body.looks_up else ""
    load = f"tl.load(p{j} + {offset}, inside{once})"
    if not offset:
        load = f"tl.broadcast_to(tl.load(p{j}), inside.shape)"
    return [f"x{j} = {load}", f"a{j} = {promoted(f'x{j}', operand.source, target, body.largest)}"]


@cache
def kernel_of(text: str) -> Any:
    """Return the kernel of a text, compiled or interpreted as Triton is set up."""
    name = f"<suanzi kernel {len(_texts)}>"
    _texts.append(text)
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    namespace: dict[str, Any] = {"tl": tl, "libdevice": vars(arithmetic)["libdevice"]}
    for module in (
        conversions,
        arithmetic,
        exponentials,
        activation_math,
        half_precision,
        single_precision,
    ):
        namespace |= {k: v for k, v in vars(module).items() if hasattr(v, "fn")}
    namespace["__name__"] = __name__
    exec(compile(text, name, "exec"), namespace)
    return triton.jit(namespace["kernel"])


_texts: list[str] = []
