"""Asks OpenVINO's ConvertPromoteTypes-14, for every choice of its attributes."""

import itertools

from common import NUMBERS, cells, emit, fail_if_missing

fail_if_missing("openvino")

import openvino as ov  # noqa: E402
from openvino import Type, opset14  # noqa: E402

TYPES = {
    "bool": Type.boolean, "uint1": Type.u1, "uint4": Type.u4, "uint8": Type.u8,
    "uint16": Type.u16, "uint32": Type.u32, "uint64": Type.u64, "int4": Type.i4, "int8": Type.i8,
    "int16": Type.i16, "int32": Type.i32, "int64": Type.i64, "float8_e4m3fn": Type.f8e4m3,
    "float8_e5m2": Type.f8e5m2, "float16": Type.f16, "bfloat16": Type.bf16, "float32": Type.f32,
    "float64": Type.f64,
}  # fmt: skip
NAMES = {kind.to_string(): name for name, kind in TYPES.items()}


def operand(text):
    if text.startswith("py:"):
        return NUMBERS[text[3:]]
    name, shape = (text[3:], []) if text.startswith("0d:") else (text, [2])
    return opset14.parameter(shape, TYPES[name])


def ask(left, right, **attributes):
    try:
        node = opset14.convert_promote_types(operand(left), operand(right), **attributes)
        return "answer", NAMES[node.output(0).get_element_type().to_string()]
    except Exception as error:
        return "refused", str(error).strip().splitlines()[-1]


answers = []
for unsafe, scalar, target in itertools.product((False, True), (False, True), ("f32", "i64")):
    rules = "openvino" + "+unsafe" * unsafe + "+scalar" * scalar
    rules += "" if target == "f32" else "+u64=" + target
    for op, operands in cells(list(TYPES)):
        if op is None:
            found = ask(
                *operands,
                promote_unsafe=unsafe,
                pytorch_scalar_promotion=scalar,
                u64_integer_promotion_target=target,
            )
            answers.append([rules, op, operands, *found])
emit("openvino", ov.__version__, answers)
