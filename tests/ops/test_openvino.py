"""convert_promote_types: both tensors converted; the examples of the document; refusals."""

from __future__ import annotations

import numpy as np
import pytest

import suanzi as sz
from helpers.exact import FLOATS, INTEGERS, bits_of, cast, is_nan, tensor_of
from suanzi import _core

DTYPES = ["bool", *INTEGERS, *FLOATS]


@pytest.mark.parametrize(
    ("a", "b", "target"),
    [
        ("int8", "float32", "float32"),
        ("int32", "uint8", "int32"),
        ("float16", "float32", "float32"),
        ("bool", "uint1", "uint1"),
        ("bool", "float8_e5m2", "float8_e5m2"),
        ("int8", "int64", "int64"),
    ],
)
def test_safe_promotions(a: str, b: str, target: str) -> None:
    for first, second in ((a, b), (b, a)):
        x, y = sz.tensor([1, 0], sz.dtype(first)), sz.tensor([[1]], sz.dtype(second))
        p, q = sz.convert_promote_types(x, y)
        assert p.dtype is q.dtype is sz.dtype(target)
        assert (p.shape, q.shape) == ((2,), (1, 1))  # promotion does not broadcast
        assert p.tolist() == [1, 0]
        assert q.tolist() == [[1]]


UNSAFE = [
    ("float16", "int64", "float16"),
    ("float64", "uint64", "float64"),
    ("int8", "uint8", "int16"),
    ("float16", "bfloat16", "float32"),
    ("float8_e4m3fn", "float8_e5m2", "float16"),
    ("uint64", "int8", "float32"),
    ("int16", "uint32", "int64"),
    ("int16", "uint64", "float32"),
]


@pytest.mark.parametrize(("a", "b", "target"), UNSAFE)
def test_unsafe_promotions(a: str, b: str, target: str) -> None:
    x, y = sz.tensor([1, 2, 3], sz.dtype(a)), sz.tensor([4, 5], sz.dtype(b))
    with pytest.raises(sz.TypeMismatch, match="convert_promote_types") as caught:
        sz.convert_promote_types(x, y)
    assert caught.value.status is sz.Status.TYPE_MISMATCH
    assert a in str(caught.value)
    assert b in str(caught.value)
    for first, second in ((x, y), (y, x)):
        p, q = sz.convert_promote_types(first, second, promote_unsafe=True)
        assert p.dtype is q.dtype is sz.dtype(target)
        assert p.tolist() == first.tolist()
        assert q.tolist() == second.tolist()


def test_scalars_follow_dimensioned_tensors_of_their_kind() -> None:
    scalar, row = sz.tensor(300, sz.int64), sz.tensor([1, 2], sz.uint8)
    p, q = sz.convert_promote_types(scalar, row, promote_unsafe=True, pytorch_scalar_promotion=True)
    assert p.dtype is q.dtype is sz.uint8
    assert p.shape == ()
    assert p.item() == 300 % 256  # an integer wraps
    with pytest.raises(sz.TypeMismatch, match="unsafe"):
        sz.convert_promote_types(scalar, row, pytorch_scalar_promotion=True)
    # Of another kind the general rules hold, whatever the shapes.
    half, byte = sz.tensor(0.5, sz.float16), sz.tensor([1], sz.int8)
    p, q = sz.convert_promote_types(half, byte, pytorch_scalar_promotion=True)
    assert p.dtype is q.dtype is sz.float16
    # Two scalars, or two dimensioned tensors, are as without the attribute.
    p, q = sz.convert_promote_types(scalar, sz.tensor(1, sz.uint8), pytorch_scalar_promotion=True)
    assert p.dtype is sz.int64
    # Without the attribute a shape means nothing.
    p, q = sz.convert_promote_types(scalar, row)
    assert p.dtype is q.dtype is sz.int64


@pytest.mark.parametrize("target", ["int64", "float64", "bfloat16", "uint64", "bool"])
def test_the_target_of_uint64_with_a_signed_integer(target: str) -> None:
    x, y = sz.tensor([2**64 - 1, 5], sz.uint64), sz.tensor([-1, 0], sz.int16)
    p, q = sz.convert_promote_types(x, y, promote_unsafe=True, u64_integer_promotion_target=target)
    assert p.dtype is q.dtype is sz.dtype(target)
    for given, name, found in ((x, "uint64", p), (y, "int16", q)):
        assert bits_of(found) == [v for b in bits_of(given) for v in cast(b, name, target)]
    with pytest.raises(sz.InvalidArgument, match="u64_integer_promotion_target"):
        sz.convert_promote_types(
            x, y, promote_unsafe=True, u64_integer_promotion_target=sz.complex64
        )


@pytest.mark.parametrize("a", DTYPES)
def test_every_pair_is_converted_to_what_the_rule_set_says(a: str) -> None:
    rules = sz.openvino_rules(promote_unsafe=True)
    bits = [0, 1] if a in ("bool", "uint1") else [0, 1, 3, 7]
    for b in DTYPES:
        target = sz.explain(sz.dtype(a), sz.dtype(b), rules=rules).dtype
        assert target is not None
        p, q = sz.convert_promote_types(
            tensor_of(bits, a), tensor_of([1, 0], b), promote_unsafe=True
        )
        assert p.dtype is q.dtype is target
        for given, name, found in ((bits, a, p), ([1, 0], b, q)):
            expected = [v for x in given for v in cast(x, name, str(target))]
            for got, want in zip(bits_of(found), expected, strict=True):
                assert is_nan(got, str(target)) if want is None else got == want


def test_the_results_are_new_and_the_rule_set_in_force_does_not_matter() -> None:
    x = sz.tensor([1.0, 2.0])
    with sz.promotion("strict"):
        p, q = sz.convert_promote_types(x, x)
        assert sz.convert_promote_types(x, sz.tensor([1], sz.int8))[1].dtype is sz.float32
    assert p.tolist() == q.tolist() == x.tolist()
    assert p.storage != x.storage


def test_what_it_does_not_take() -> None:
    x = sz.tensor([1.0])
    for wrong in (1, [1.0], np.ones(2)):
        with pytest.raises(sz.TypeMismatch, match="x is a .*; it takes a Tensor"):
            sz.convert_promote_types(wrong, x)  # type: ignore[arg-type]
    with pytest.raises(sz.TypeMismatch, match="complex64"):
        sz.convert_promote_types(x, sz.tensor([1j]), promote_unsafe=True)
    with pytest.raises(sz.UninitializedObject, match="x is None"):
        sz.convert_promote_types(None, x)  # type: ignore[arg-type]
    gone = sz.tensor([1.0])
    _core.destroy(gone)
    with pytest.raises(sz.UninitializedObject, match="y is a tensor that was destroyed"):
        sz.convert_promote_types(x, gone)
