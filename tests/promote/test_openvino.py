"""Every example of the ConvertPromoteTypes-14 document, in both modes, and its rules at large."""

from __future__ import annotations

from itertools import product

import pytest

import suanzi as sz

# The document's own notation: S(...) is a 0-d tensor. The two float8 are misprinted there.
SAFE = ["i8 f32 -> f32", "i32 u8 -> i32", "f16 f32 -> f32"]
UNSAFE = [
    "f16 i64 -> f16",
    "f64 u64 -> f64",
    "i8 u8 -> i16",
    "f16 bf16 -> f32",
    "f8m4e3 f8m5e3 -> f16",
    "u64 i8 -> f32",
    "i16 u32 -> i64",
    "i16 u64 -> f32",
]
SCALAR = ["S(i64) u8 -> u8", "S(f16) i8 -> f16"]


def ask(text: str, **attributes: object) -> tuple[sz.DType | None, sz.DType]:
    question, answer = text.split(" -> ")
    operands = [
        sz.ZeroDim(word[2:-1]) if word.startswith("S(") else sz.dtype(word)
        for word in question.split()
    ]
    rules = sz.openvino_rules(**attributes)  # type: ignore[arg-type]
    return sz.explain(*operands, rules=rules).dtype, sz.dtype(answer)


@pytest.mark.parametrize("example", SAFE)
def test_safe_examples_hold_in_both_modes(example: str) -> None:
    for unsafe in (False, True):
        found, expected = ask(example, promote_unsafe=unsafe)
        assert found is expected


@pytest.mark.parametrize("example", UNSAFE)
def test_unsafe_examples_are_refused_by_default(example: str) -> None:
    found, expected = ask(example, promote_unsafe=True)
    assert found is expected
    refused, _ = ask(example)
    assert refused is None


@pytest.mark.parametrize("example", SCALAR)
def test_scalar_examples(example: str) -> None:
    found, expected = ask(example, promote_unsafe=True, pytorch_scalar_promotion=True)
    assert found is expected
    safe, _ = ask(example, pytorch_scalar_promotion=True)
    # "Rules of safe promotion apply": i64 does not fit u8, i8 fits f16.
    assert safe is (None if expected is sz.uint8 else expected)


def test_the_target_of_uint64_with_a_signed_integer() -> None:
    for signed in "i4 i8 i16 i32 i64".split():
        for target in ("f32", "f64", "i64", "boolean"):
            found, expected = ask(
                f"u64 {signed} -> {target}",
                promote_unsafe=True,
                u64_integer_promotion_target=target,
            )
            assert found is expected
        assert ask(f"u64 {signed} -> f32", u64_integer_promotion_target="i64")[0] is None


def test_a_target_the_operation_cannot_convert_to() -> None:
    with pytest.raises(sz.InvalidArgument, match="does not convert to"):
        sz.openvino_rules(u64_integer_promotion_target=sz.complex64)
    with pytest.raises(sz.InvalidArgument, match="is not a dtype"):
        sz.openvino_rules(u64_integer_promotion_target="nonsense")


def test_shapes_matter_in_scalar_mode_only() -> None:
    dtypes = sz.rule_set("openvino").dtypes
    plain, scalar = sz.rule_set("openvino+unsafe"), sz.rule_set("openvino+unsafe+scalar")
    for a, b in product(dtypes, repeat=2):
        flat = sz.explain(a, b, rules=plain).dtype
        assert sz.explain(a, sz.ZeroDim(b), rules=plain).dtype is flat
        assert sz.explain(sz.ZeroDim(a), sz.ZeroDim(b), rules=scalar).dtype is flat
        assert sz.explain(a, b, rules=scalar).dtype is flat
        same_kind = _priority(a) == _priority(b)
        assert sz.explain(a, sz.ZeroDim(b), rules=scalar).dtype is (a if same_kind else flat)


def _priority(dt: sz.DType) -> int:
    return {"bool": 0, "int": 1, "uint": 1, "float": 2}[dt.kind]


def test_safe_mode_is_unsafe_mode_with_refusals() -> None:
    dtypes = sz.rule_set("openvino").dtypes
    assert len(dtypes) == 18
    safe, unsafe = sz.rule_set("openvino"), sz.rule_set("openvino+unsafe")
    refused = 0
    for a, b in product(dtypes, repeat=2):
        answer = sz.explain(a, b, rules=safe).dtype
        assert answer in (None, sz.explain(a, b, rules=unsafe).dtype)
        refused += answer is None
    assert refused == 102


def test_deviations_are_listed() -> None:
    rules = sz.openvino_rules(pytorch_scalar_promotion=True)
    assert "13 pairs" in rules.deviations[0]
    assert len(rules.drift) == 13
    assert not sz.rule_set("openvino").deviations


def test_names() -> None:
    rules = sz.openvino_rules(
        promote_unsafe=True, pytorch_scalar_promotion=True, u64_integer_promotion_target=sz.int64
    )
    assert rules.name == "openvino+unsafe+scalar+u64=i64"
    assert sz.rule_set("openvino+unsafe+scalar+u64=i64") is rules
    assert sz.rule_set("openvino+scalar+u64=i64+unsafe") is rules
    assert sz.openvino_rules() is sz.rule_set("openvino")
    assert "openvino+unsafe" not in sz.rule_sets()
    with pytest.raises(sz.InvalidArgument, match="is not a rule set"):
        sz.rule_set("openvino+fast")


SEEN = """
bfloat16 2 bfloat16 bfloat16
bfloat16 0.5 float32 bfloat16
float16 2 float16 float16
float16 0.5 float32 float16
float64 2 float64 float64
float64 0.5 float64 float64
int64 2 int64 int64
int64 0.5 float32 float32
int32 2 int64 int32
int32 0.5 float32 float32
"""
"""A 0-d tensor and a number: what mul and add, and what where gives in a converted program."""


@pytest.mark.parametrize("line", SEEN.split("\n")[1:-1])
def test_numbers_beside_0d_tensors_in_converted_programs(line: str) -> None:
    """Seen in OpenVINO 2026.4.1: in where and clip a number yields to a 0-d tensor."""
    name, number, product, chosen = line.split()
    zero, value = sz.ZeroDim(name), float(number) if "." in number else int(number)
    for op in ("mul", "add"):
        assert sz.result_type(zero, value, rules="openvino+torch", op=op).name == product
    for op in ("where", "clip"):
        assert sz.result_type(zero, value, rules="openvino+torch", op=op).name == chosen
    assert sz.result_type(sz.dtype(name), value, rules="openvino+torch", op="where").name == chosen
