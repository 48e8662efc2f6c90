"""7.2.6: logic under other rule sets; the conformance kit has the rest."""

from __future__ import annotations

import pytest

import suanzi as sz
from helpers.checking import check, pack, samples
from suanzi.conformance.model.numbers import COMPLEX, REALS, SUBBYTE, truth

BINARY = ["logical_and", "logical_or", "logical_xor"]
DTYPES = ["bool", *SUBBYTE, *REALS, *COMPLEX]


@pytest.mark.parametrize("name", DTYPES)
def test_a_bool_and_any_dtype(name: str) -> None:
    xs = samples(name, 10)
    rules = "mindspore" if name in ("uint16", "uint32", "uint64") else "cann"
    if name in SUBBYTE or name.startswith("float8"):
        rules = "lossless"
    with sz.promotion(rules):
        for flag in (True, False):
            got = sz.logical_xor(pack(name, xs), sz.tensor([flag]))
            check(got, "bool", [truth(x) != flag for x in xs])
            check(sz.logical_xor(flag, pack(name, xs)), "bool", [truth(x) != flag for x in xs])


def test_operands_without_a_common_dtype_are_each_true_or_false() -> None:
    with sz.promotion("lossless"):
        x, y = sz.tensor([2**63, 0], sz.uint64), sz.tensor([-1, -1], sz.int64)
        check(sz.logical_and(x, y), "bool", [1, 0])
        check(sz.logical_or(x, y), "bool", [1, 1])


def test_a_truth_value_is_a_tensor_without_axes() -> None:
    check(sz.logical_not(True), "bool", [0], ())  # type: ignore[arg-type]
