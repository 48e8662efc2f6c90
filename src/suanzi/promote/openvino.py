"""``openvino``: ConvertPromoteTypes-14, computed from kinds, bit widths, mantissa and exponent.

>>> from suanzi.dtypes import bfloat16, float16, int8, uint8, uint64
>>> unsafe = make(["unsafe"])
>>> unsafe.pair(int8, uint8).dtype, unsafe.pair(float16, bfloat16).dtype
(suanzi.int16, suanzi.float32)
>>> make([]).pair(int8, uint8)
Cell(dtype=None, reason='unsafe: int8 and uint8 widen to int16')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from suanzi.base.dtypes import DType, document_name, dtype, float32, float64, int64, uint64
from suanzi.base.dtypes import bool as bool_
from suanzi.base.status import InvalidArgument
from suanzi.promote.layers import Cell, Gate, kind_rank
from suanzi.promote.operands import NumberKind
from suanzi.promote.operators import OUTSIDE, OperatorClass
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import contains
from suanzi.promote.writing import RULES as WRITES
from suanzi.promote.zero_dim import ZeroDimRule

# The 18 of OpenVINO's 25 element types that the operation accepts.
DTYPES = tuple(
    map(
        dtype,
        "bool uint1 uint4 uint8 uint16 uint32 uint64 int4 int8 int16 int32 int64 float8_e4m3fn "
        "float8_e5m2 float16 bfloat16 float32 float64".split(),
    )
)
_SIGNED = tuple(d for d in DTYPES if d.kind == "int")
# By width; float16 before bfloat16, because that is what the document picks for the two float8.
_FLOATS = tuple(d for d in DTYPES if d.kind == "float")

# The operation takes tensors; its Python interface turns a number into a 0-d constant of these.
_NUMBERS: dict[NumberKind, DType] = {"bool": bool_, "int": int64, "float": float64}
# Its PyTorch frontend promotes with these attributes, and makes these constants of numbers.
_TORCH = ("unsafe", "scalar")
# Operators that fail for unequal dtypes, give the dtype of the first, or promote (2026.4.1).
_EQUAL = (
    "matmul", "dot", "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "scaled_dot_product_attention", "addmm", "baddbmm", "index_add",
    "index_copy", "masked_scatter",
)  # fmt: skip
_FIRST = ("scatter", "scatter_add")
_TORCH_NUMBERS: dict[NumberKind, DType] = _NUMBERS | {"float": float32}


# OpenVINO 2026.4.1: dimensioned dtypes with the 0-d dtypes that pass although the document refuses
# them: the check doubles the wrong width, and compares floats by width alone.
_PASSES = {
    "int4": "uint4 uint8", "int8": "uint8 uint16", "int16": "uint16 uint32",
    "int32": "uint32 uint64", "int64": "uint64", "float8_e4m3fn": "float8_e5m2",
    "float8_e5m2": "float8_e4m3fn", "float16": "bfloat16", "bfloat16": "float16",
}  # fmt: skip
_DRIFT: dict[tuple[OperatorClass, tuple[str, ...]], DType | None] = {
    (OperatorClass.ANY, (dim, f"0-d {zero}")): dtype(dim)
    for dim, zeros in _PASSES.items()
    for zero in zeros.split()
}
_DEVIATION = (
    f"2026.4.1 lets {len(_DRIFT)} pairs pass that lose range or precision, and that the document "
    "refuses: "
    + ", ".join(f"{dim} with a 0-d {zs.replace(' ', ' or ')}" for dim, zs in _PASSES.items())
)


class _ConvertPromoteTypes:
    """The operation with its three attributes."""

    def __init__(
        self,
        unsafe: bool,
        scalar: bool,
        u64_target: DType,
        numbers: Mapping[NumberKind, DType] = _NUMBERS,
    ) -> None:
        self.numbers = numbers
        self.unsafe = unsafe
        self.scalar = scalar
        self.u64_target = u64_target

    def pair(self, a: DType, b: DType) -> Cell:
        if kind_rank(a.kind) != kind_rank(b.kind):
            return self._mixed_kinds(*sorted((a, b), key=lambda d: kind_rank(d.kind)))
        if a.kind == "float":
            return self._floats(a, b)
        return self._integers(*sorted((a, b), key=lambda d: d.kind))

    def _mixed_kinds(self, low: DType, high: DType) -> Cell:
        if low is not bool_ and high.bits < 2 * low.bits and not self.unsafe:
            return Cell(
                None,
                f"unsafe: {high} has {high.bits} bits, fewer than twice the {low.bits} of {low}",
            )
        return Cell(high, f"{high} is of the higher kind")

    def _floats(self, a: DType, b: DType) -> Cell:
        mantissa = max(a.mantissa_bits, b.mantissa_bits)
        exponent = max(a.exponent_bits, b.exponent_bits)
        wide = next(
            f for f in _FLOATS if f.mantissa_bits >= mantissa and f.exponent_bits >= exponent
        )
        fits = f"the narrowest with {mantissa} mantissa and {exponent} exponent bits"
        return self._unless_widened(a, b, wide, fits)

    def _integers(self, signed: DType, unsigned: DType) -> Cell:
        """Join two integers; `signed` is the signed one where the signs differ."""
        if signed.kind == unsigned.kind:
            return Cell(max(signed, unsigned, key=lambda d: d.bits), "the wider of the two")
        if unsigned is uint64:
            if not self.unsafe:
                return Cell(None, f"unsafe: no integer holds both uint64 and {signed}")
            return Cell(self.u64_target, "u64_integer_promotion_target, for uint64 with a signed")
        bits = max(signed.bits, 2 * unsigned.bits)
        wide = next(d for d in _SIGNED if d.bits >= bits)
        return self._unless_widened(signed, unsigned, wide, "signed, twice as wide as the unsigned")

    def _unless_widened(self, a: DType, b: DType, wide: DType, why: str) -> Cell:
        if wide.bits > max(a.bits, b.bits) and not self.unsafe:
            return Cell(None, f"unsafe: {a} and {b} widen to {wide}")
        return Cell(wide, why)

    def zero_dim(self, dim: DType, zero: DType) -> Cell:
        """Join a dimensioned and a 0-d tensor, as pytorch_scalar_promotion says."""
        if not self.scalar or kind_rank(dim.kind) != kind_rank(zero.kind):
            return self.pair(dim, zero)
        if not self.unsafe and not contains(dim, zero):
            return Cell(None, f"unsafe: {dim} does not hold every 0-d {zero}")
        return Cell(dim, f"next to a 0-d {zero}, the tensor keeps {dim}")

    def zero_dim_rule(self) -> ZeroDimRule:
        return ZeroDimRule(
            "pytorch_scalar_promotion",
            "leaves a dimensioned tensor of its kind as it is",
            lambda rules, dim, zero: self.zero_dim(dim, zero),
        )

    def number(self, dt: DType, kind: NumberKind) -> Cell:
        constant = self.numbers.get(kind)
        if constant is None:
            return Cell(None, f"OpenVINO has no constant for a Python {kind}")
        return Cell(dt, "equal") if constant is dt else self.zero_dim(dt, constant)


def check_target(target: DType) -> DType:
    """Return a u64_integer_promotion_target; raise where the operation does not convert to it."""
    if target not in DTYPES:
        raise InvalidArgument(
            f"openvino_rules: u64_integer_promotion_target is {target}, which the operation does "
            f"not convert to; it is one of {', '.join(d.name for d in DTYPES)}."
        )
    return target


def make(attributes: Sequence[str] = ()) -> RuleSet | None:
    """Return the rules for ``unsafe``, ``scalar``, ``u64=TYPE`` or a frontend; None: unknown."""
    if list(attributes) == ["torch"]:
        return _of_the_pytorch_frontend()
    if list(attributes) == ["onnx"]:
        return _of_the_onnx_frontend()
    unsafe, scalar, target = "unsafe" in attributes, "scalar" in attributes, float32
    for attribute in attributes:
        key, _, value = attribute.partition("=")
        if key == "u64":
            target = check_target(dtype(value, document="openvino"))
        elif attribute not in ("unsafe", "scalar"):
            return None
    operation = _ConvertPromoteTypes(unsafe, scalar, target)
    chosen = ", ".join(
        (
            f"promote_unsafe={str(unsafe).lower()}",
            f"pytorch_scalar_promotion={str(scalar).lower()}",
            f"u64_integer_promotion_target={document_name(target, 'openvino')}",
        )
    )
    return RuleSet(
        name=openvino_name(unsafe, scalar, target),
        title="OpenVINO",
        version="ConvertPromoteTypes-14",
        source=f"specification of ConvertPromoteTypes-14, {chosen}",
        sources={"numbers": "seen in OpenVINO 2026.4.1: a number is a 0-d constant"},
        dtypes=DTYPES,
        pair=operation.pair,
        number=operation.number,
        alone=_NUMBERS,
        numbers_are_zero_dim=True,
        zero_dims={OperatorClass.ANY: operation.zero_dim_rule()} if scalar else {},
        names="openvino",
        cast='opset.convert({x}, "{name}")',
        deviations=(_DEVIATION,) if scalar and not unsafe else (),
        drift=_DRIFT if scalar and not unsafe else {},
    )


def _of_the_pytorch_frontend() -> RuleSet:
    """Return what becomes of a PyTorch program that is converted."""
    converted = make(_TORCH)
    assert converted is not None
    operation = _ConvertPromoteTypes(True, True, float32, _TORCH_NUMBERS)
    return replace(
        converted,
        name="openvino+torch",
        title="OpenVINO from PyTorch",
        version="2026.4.1",
        source=f"frontends/pytorch, align_eltwise_input_types; {converted.source}",
        sources={
            "numbers": "the PyTorch frontend: a float is a 0-d f32, an int a 0-d i64; in where it "
            "yields to a 0-d tensor (seen in 2026.4.1)",
            "in-place": "seen in 2026.4.1: x += y and x.mul_(y) of a converted program",
            "gate": "seen in 2026.4.1: scripted programs, converted for inputs of unequal dtypes",
        },
        writes=dict.fromkeys(("in-place", "in-place method"), WRITES["category"]),
        number=operation.number,
        gates={
            **dict.fromkeys(_EQUAL, Gate.parse("equal")),
            **dict.fromkeys(_FIRST, Gate.parse("first")),
            "lerp": Gate.parse("open"),
        },
        numbers_yield_in=frozenset({"where", "clip"}),
        alone=_TORCH_NUMBERS,
    )


def _of_the_onnx_frontend() -> RuleSet:
    """Return what becomes of an ONNX model: nothing is promoted, and unequal types do not load."""
    converted = make(())
    assert converted is not None
    return replace(
        converted,
        name="openvino+onnx",
        title="OpenVINO from ONNX",
        version="2026.4.1",
        source="frontends/onnx: models of one node with unequal types, read by 2026.4.1",
        sources={"gate": "models of one node with unequal types, read by 2026.4.1"},
        gates={
            OperatorClass.ANY: Gate.parse("equal"),
            "pow": Gate.parse("first"),
            **dict.fromkeys(OUTSIDE, Gate.parse("equal")),
        },
    )


def openvino_name(unsafe: bool, scalar: bool, target: DType) -> str:
    """Return the name of OpenVINO's rules for its attributes."""
    name = "openvino" + "+unsafe" * bool(unsafe) + "+scalar" * bool(scalar)
    return name if target is float32 else f"{name}+u64={document_name(target, 'openvino')}"
