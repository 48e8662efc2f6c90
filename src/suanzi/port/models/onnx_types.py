"""ONNX's types: what a node of an opset takes, what comes out, and the Casts that make it right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from suanzi.base.dtypes import DType, dtype
from suanzi.promote.values import contains

_NAMES = {
    "FLOAT": "f32", "UINT8": "u8", "INT8": "i8", "UINT16": "u16", "INT16": "i16", "INT32": "i32",
    "INT64": "i64", "BOOL": "bool", "FLOAT16": "f16", "DOUBLE": "f64", "UINT32": "u32",
    "UINT64": "u64", "COMPLEX64": "c64", "COMPLEX128": "c128", "BFLOAT16": "bf16",
    "FLOAT8E4M3FN": "f8e4m3fn", "FLOAT8E5M2": "f8e5m2", "UINT4": "u4", "INT4": "i4",
}  # fmt: skip
"""Types of ONNX that suanzi has."""
TYPES: dict[str, DType] = {f"tensor({name.lower()})": dtype(x) for name, x in _NAMES.items()}
"""By the words of ONNX's type constraints."""
WORDS = {dt: word for word, dt in TYPES.items()}

Choose = Callable[[str, Sequence[DType]], "DType | None"]
"""The dtype that an operator's operands of several dtypes should get."""


@dataclass
class Wrong:
    """An error in a node, and the Cast that fixes it."""

    code: str
    variable: str
    given: tuple[DType, ...]
    text: str
    to: DType | None
    """What the inputs of the variable have to be cast to; None where nothing holds their values."""
    back: DType | None = None
    """What the outputs of the variable have to be cast to afterwards."""
    places: tuple[int, ...] = ()
    """Of the inputs that are of the variable."""
    given_out: tuple[int, ...] = ()
    """Of the outputs that are."""


@dataclass
class Typed:
    """The types of a node."""

    outputs: list[DType | None]
    wrong: list[Wrong] = field(default_factory=list)
    known: bool = True
    """Whether the operator is one of its opset."""


def type_node(node: Any, schema: Any, inputs: Sequence[DType | None], choose: Choose) -> Typed:
    """Return the output types of a node, and what is wrong with its inputs."""
    count = len(node.output)
    if schema is None:
        return Typed([None] * count, known=False)
    allowed = {t.type_param_str: list(t.allowed_type_strs) for t in schema.type_constraints}
    places: dict[str, list[int]] = {}
    for place, dt in enumerate(inputs):
        formal = _formal(schema.inputs, place)
        if dt is not None and formal is not None:
            many = "Variadic" in str(formal.option) and not formal.is_homogeneous
            key = f"{formal.type_str} {place}" if many else formal.type_str
            places.setdefault(key, []).append(place)
    bound: dict[str, DType] = {}
    wrong: list[Wrong] = []
    for variable, at in places.items():
        words = allowed.get(variable.partition(" ")[0], [variable.partition(" ")[0]])
        given = [dt for dt in (inputs[place] for place in at) if dt is not None]
        found = _check(node.op_type, variable, given, words, choose)
        if found is not None:
            found.places = tuple(at)
            wrong.append(found)
        bound[variable] = (found and found.to) or given[0]
    outputs: list[DType | None] = []
    for place in range(count):
        formal = _formal(schema.outputs, place)
        word = "" if formal is None else formal.type_str
        only = allowed.get(word, []) if len(allowed.get(word, [])) == 1 else [word]
        outputs.append(bound.get(word) or TYPES.get(word) or TYPES.get(only[0]))
    special = _SPECIAL.get(node.op_type)
    if special is not None and outputs:
        outputs[0] = special(node, inputs) or outputs[0]
    for one in wrong:
        kept = [_formal(schema.outputs, place) for place in range(count)]
        one.given_out = tuple(
            i for i, formal in enumerate(kept) if formal and formal.type_str == one.variable
        )
        if one.back is not None:
            outputs = [one.back if i in one.given_out else dt for i, dt in enumerate(outputs)]
    return Typed(outputs, wrong)


def _check(
    operator: str, variable: str, given: list[DType], words: list[str], choose: Choose
) -> Wrong | None:
    taken = [TYPES[word] for word in words if word in TYPES]
    several = tuple(dict.fromkeys(given))
    if len(several) > 1:
        chosen = choose(operator, several)
        if chosen not in taken:
            chosen = holding(taken, several)
        text = f"{variable} is {' and '.join(map(str, several))}: ONNX promotes nothing"
        return Wrong("SZ002", variable, several, text, chosen)
    if given[0] in taken:
        return None
    to = holding(taken, several)
    short = variable.partition(" ")[0]
    there = ", ".join(dt.name for dt in taken)
    text = f"{short} is {given[0]}, and in this opset {operator} takes {there or 'no tensor'}"
    return Wrong("SZ004", variable, several, text, to, given[0])


def holding(taken: Iterable[DType], given: Sequence[DType]) -> DType | None:
    """Return the smallest dtype that holds all values of the others; None where there is none."""
    found = [dt for dt in taken if dt.kind != "bool" and all(contains(dt, x) for x in given)]
    return min(found, key=lambda dt: (dt.bits, dt.kind != given[0].kind, dt.name), default=None)


def _formal(parameters: Any, place: int) -> Any:
    if place < len(parameters):
        return parameters[place]
    if parameters and "Variadic" in str(parameters[-1].option):
        return parameters[-1]
    return None


def attribute(node: Any, name: str) -> Any:
    """Return an attribute of a node; None if it is missing."""
    return next((one for one in node.attribute if one.name == name), None)


def of_code(code: int) -> DType | None:
    """Return the dtype of an element type of ONNX."""
    from onnx import TensorProto

    return TYPES.get(f"tensor({TensorProto.DataType.Name(code).lower()})") if code else None


def _said(name: str, default: str = "") -> Callable[[Any, Sequence[DType | None]], DType | None]:
    def find(node: Any, inputs: Sequence[DType | None]) -> DType | None:
        found = attribute(node, name)
        if found is not None:
            return of_code(found.i)
        return dtype(default) if default else None

    return find


def _valued(node: Any, inputs: Sequence[DType | None]) -> DType | None:
    found = attribute(node, "value")
    if found is not None:
        return of_code(found.t.data_type)
    if node.op_type == "ConstantOfShape":
        return dtype("f32")
    kinds = {"value_float": "f32", "value_floats": "f32", "value_int": "i64", "value_ints": "i64"}
    return next((dtype(kinds[one.name]) for one in node.attribute if one.name in kinds), None)


def _like(place: int) -> Callable[[Any, Sequence[DType | None]], DType | None]:
    return lambda node, inputs: inputs[place] if place < len(inputs) else None


def _quantized(node: Any, inputs: Sequence[DType | None]) -> DType | None:
    said = _said("output_dtype")(node, inputs)
    return said or (inputs[2] if len(inputs) > 2 and inputs[2] else dtype("u8"))


def _dequantized(node: Any, inputs: Sequence[DType | None]) -> DType | None:
    return _said("output_dtype")(node, inputs) or _like(1)(node, inputs)


_SPECIAL: dict[str, Callable[[Any, Sequence[DType | None]], DType | None]] = {
    "Cast": _said("to"), "CastLike": _like(1), "Constant": _valued, "ConstantOfShape": _valued,
    "RandomNormal": _said("dtype", "f32"), "RandomUniform": _said("dtype", "f32"),
    "RandomNormalLike": _said("dtype"), "RandomUniformLike": _said("dtype"),
    "EyeLike": _said("dtype"), "Bernoulli": _said("dtype"), "Multinomial": _said("dtype", "i32"),
    "QuantizeLinear": _quantized, "DequantizeLinear": _dequantized,
}  # fmt: skip
"""Operators whose result has a type that an attribute says."""
