"""The engine of accuracy criteria, against examples computed by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi.validate.criteria import accepts, criterion, every, names
from suanzi.validate.criteria.numbers import TF32, rounded, ulp
from suanzi.validate.criteria.reading import FOLDER, read

HEAD = """
name = "mine"
title = "Mine"
version = "1"
summary = "Mine."
reference = "exact"
[source]
repository = "me/mine"
file = "test.py"
commit = "0"
read = "2026-11-17"
"""


def said(
    rule: str, actual: object, expected: object, dtype: str = "float32", **more: object
) -> object:
    return accepts(read(HEAD + rule, "here"), actual, expected, dtype=dtype, **more).accepted


# ---- the files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
def test_every_file_loads_and_says_where_it_is_from(name: str) -> None:
    found = criterion(name)
    assert found.name == name
    assert len(found.source.commit) in (7, 40)
    assert "/" in found.source.repository
    assert found.source.file
    assert found.source.read >= "2026-11"
    assert found.require
    assert found.summary.endswith(".")
    assert found.to_dict()["require"]


def test_every_criterion_of_the_issue_is_there() -> None:
    assert len(names()) == 21
    assert len(every()) == 24


@pytest.mark.parametrize("one", every(), ids=lambda one: one.name)
@pytest.mark.parametrize("op", ["softmax", "matmul", "exp"])
def test_the_exact_answer_is_accepted_and_nan_is_not(one: object, op: str) -> None:
    e = np.array([[0.5, -0.25], [1.0, 0.125]])
    more = {"op": op, "n": 64, "magnitude": np.abs(e), "eager": e * (1 + 2**-11), "inputs": e}
    right = accepts(one, e, e, dtype="float16", **more)
    assert right.accepted in (True, None), right
    if right.accepted is None:
        assert "cannot be applied" in right.reason
        return
    wrong = accepts(one, np.where(e == 1, np.nan, e), e, dtype="float16", **more)
    large = accepts(one, np.where(e == 1, -np.inf, e), e, dtype="float16", **more)
    # Where some elements may be anything, NaN is anything; with four elements, none may.
    assert wrong.accepted is False
    assert large.accepted is False


# ---- the checks ---------------------------------------------------------------------------------


def test_close() -> None:
    rule = '[[require]]\ncheck = "close"\nrtol = 0.25\natol = 0.5\n'
    assert said(rule, [3.5], [2.0]) is False  # 0.5 + 0.5 = 1 is allowed
    assert said(rule, [3.0], [2.0]) is True
    assert said(rule + 'relative_to = "actual"', [3.5], [2.0]) is False  # 0.5 + 0.875
    assert said(rule + 'relative_to = "actual"', [3.4], [2.1]) is True  # 1.3 of 1.35
    assert said(rule + "either = true", [3.0], [2.0]) is False  # neither 0.5 nor 0.5
    assert said(rule + "either = true", [2.5], [2.0]) is True
    assert said(rule + "times_n = true", [4.5], [2.0], n=4) is True  # 2 + 0.5
    assert said(rule + "times_n = true", [4.6], [2.0], n=4) is False
    assert said(rule + "times_n = true", [2.0], [2.0]) is None


def test_a_share_of_elements() -> None:
    rule = '[[require]]\ncheck = "close"\nrtol = 0\natol = 0.5\nshare = 0.75'
    assert said(rule, [1, 1, 1, 9], [1, 1, 1, 1]) is True
    assert said(rule, [1, 1, 9, 9], [1, 1, 1, 1]) is False


def test_nan_and_infinities() -> None:
    rule = '[[require]]\ncheck = "close"\nrtol = 0.5\natol = 0.5\n'
    inf, nan = math.inf, math.nan
    assert said(rule, [inf, -inf, nan], [inf, -inf, nan]) is True
    assert said(rule + "equal_nan = false", [nan], [nan]) is False
    assert said(rule, [inf], [-inf]) is False
    assert said(rule, [1.0], [inf]) is False
    assert said(rule, [nan], [1.0]) is False


def test_largest() -> None:
    rule = '[[require]]\ncheck = "largest"\nabsolute = 0.125\nulps = 32'
    # 64 ULP of bfloat16 at 1.0 are 0.5; 32 at 1000 are 128.
    assert said(rule, [1.125, 1000.0], [1.0, 1128.0], "bfloat16") is True
    assert said(rule, [1.13, 1.0], [1.0, 1.0], "float16") is False
    assert said(rule, [1.25], [1.0], "bfloat16") is True  # exactly 32 ULP
    assert said(rule, [1.2501], [1.0], "bfloat16") is False


def test_ulps() -> None:
    one = 2.0**-10  # of float16 at 1
    rule = '[[require]]\ncheck = "ulps"\nulps = 3\nper_n = 3'
    assert said(rule, [1 + 9 * one], [1.0], "float16", n=2) is True
    assert said(rule, [1 + 10 * one], [1.0], "float16", n=2) is False
    rule = '[[require]]\ncheck = "ulps"\nulps = 1\nper_input = 2'
    assert said(rule, [1 + 7 * one], [1.0], "float16", inputs=[-3.0]) is True
    assert said(rule, [1 + 8 * one], [1.0], "float16", inputs=[-3.0]) is False
    rule = '[[require]]\ncheck = "ulps"\nulps = 1\nleast = 0.5'
    assert said(rule, [0.0], [one / 2], "float16") is True
    assert said(rule, [0.0], [one], "float16") is False


def test_relative() -> None:
    rule = '[[require]]\ncheck = "relative"\nmean = 0.1\nlargest_times = 4\nepsilon = 1e-9'
    assert said(rule, [1.0, 1.0, 1.0, 1.39], [1.0] * 4) is True  # mean 0.0975, largest 0.39
    assert said(rule, [1.0, 1.0, 1.0, 1.41], [1.0] * 4) is False  # both are beyond
    assert said(rule, [1.09] * 4, [1.0] * 4) is True
    assert said(rule, [1.11] * 4, [1.0] * 4) is False


def test_cosine() -> None:
    rule = '[[require]]\ncheck = "cosine"\nleast = 0.99'
    assert said(rule, [2.0, 2.0], [1.0, 1.0]) is True  # the direction alone counts
    assert said(rule, [1.0, 0.8], [1.0, 1.0]) is True  # 1.8 / sqrt(1.64 * 2) = 0.9939
    assert said(rule, [1.0, 0.7], [1.0, 1.0]) is False  # 1.7 / sqrt(1.49 * 2) = 0.9848
    assert said(rule, [0.0, 0.0], [1.0, 1.0]) is False
    assert said(rule, [0.0, 0.0], [0.0, 0.0]) is True


def test_times_eager() -> None:
    rule = '[[require]]\ncheck = "times-eager"\nfactor = 2\nshift = 0.0'
    assert said(rule, [1.2], [1.0], eager=[1.1]) is True
    assert said(rule, [1.21], [1.0], eager=[1.1]) is False
    assert said(rule, [1.0], [1.0]) is None
    # 1 + 0.3 - 0.3 is 1 in float16, but 0.0101 + 0.3 - 0.3 loses its last bits. PyTorch adds a
    # number of Python in float32, so 0.3 itself is not rounded to float16.
    rule = '[[require]]\ncheck = "times-eager"\nfactor = 2\nshift = 0.3'
    e = 0.0101
    noise = float(np.float16(float(np.float16(float(np.float16(e)) + 0.3)) - 0.3))
    allowed = 2 * abs(noise - float(np.float16(e)))
    assert allowed > 0
    start = float(np.float16(e))
    for times, verdict in ((0.99, True), (1.3, False)):
        assert said(rule, [start + times * allowed], [start], "float16", eager=[start]) is verdict


def test_ratios() -> None:
    rule = """[[require]]
check = "ratios"
largest = {low = 4, high = 2}
mean = 2
rms = 2
epsilon = 0
small = 0.01
small_error = 1e-3
counts = 2
"""
    e, eager = [1.0, 1.0], [1.1, 1.1]
    assert said(rule.replace("{low = 4, high = 2}", "4"), [1.2, 1.2], e, eager=eager) is True
    assert said(rule.replace("{low = 4, high = 2}", "4"), [1.21, 1.21], e, eager=eager) is False
    # One of 1000 small values is wrong: it is counted, not measured.
    e, eager = [1.0, 1e-3, 1e-3], [1.1, 1e-3, 1e-3]
    plain = rule.replace("{low = 4, high = 2}", "4")
    assert said(plain, [1.1, 0.5, 0.5], e, eager=eager) is True
    assert said(plain, [1.1, 0.5, 0.5], e, eager=e) is False  # no error is not a measure
    e, eager = [1.0, 1e-3, 1e-3, 1e-3], [1.1, 1e-3, 1e-3, 0.5]
    assert said(plain, [1.1, 0.5, 0.5, 1e-3], e, eager=eager) is True
    assert said(plain, [1.1, 0.5, 0.5, 0.5], e, eager=eager) is False  # three for one
    text = HEAD.replace("[source]", 'levels = ["low", "high"]\n[source]') + rule
    assert read(text, "here").level == "low"


def test_dot() -> None:
    rule = """[[require]]
check = "dot"
factor = 2
variance = 1000
accumulate = {bfloat16 = "float32", float32 = "float32"}
"""
    # bfloat16: k = ceil(1000 / 2**8) = 4, u = 2**-8: 2 * 4 * 2**-8 * 3.0 is allowed.
    allowed = 2 * 4 * 2**-8 * 3.0
    more = {"n": 1000, "magnitude": [3.0]}
    assert said(rule, [1 + allowed], [1.0], "bfloat16", **more) is True
    assert said(rule, [1 + 1.01 * allowed], [1.0], "bfloat16", **more) is False
    for variance, passes in (("16", True), ("15.9", False)):  # each error is 8 u S; (8 u S)^2
        one = rule.replace("1000", variance)
        assert said(one, [1 + allowed], [1.0], "bfloat16", **more) is passes
    assert said(rule, [1.0], [1.0], "float16", **more) is None
    assert said(rule, [1.0], [1.0], "bfloat16", n=4) is None


def test_every_check_must_be_met() -> None:
    rule = '[[require]]\ncheck = "close"\nrtol = 1\natol = 1\n'
    rule += '[[require]]\ncheck = "cosine"\nleast = 0.9'
    assert said(rule, [0.0, 1.0], [1.0, 1.0]) is False
    assert said(rule, [1.0, 1.0], [1.0, 1.0]) is True


def test_rules_of_an_operator_come_first() -> None:
    rule = (
        '[[require]]\ncheck = "close"\nrtol = 0\natol = 1\n'
        '[[require]]\ncheck = "close"\nops = ["softmax"]\nrtol = 0\natol = 2\n'
    )
    assert said(rule, [2.0], [0.0]) is False
    assert said(rule, [2.0], [0.0], op="mean") is False
    assert said(rule, [2.0], [0.0], op="softmax") is True
    assert said(rule, [2.0], [0.0], op="nn:softmax") is True


def test_the_reference_is_rounded_where_the_criterion_says_so() -> None:
    rule = '[[require]]\ncheck = "close"\nrtol = 0\natol = 0'
    text = HEAD.replace('"exact"', '"rounded"')
    assert said(rule, [1.0], [1.001], "bfloat16") is False
    assert accepts(read(text + rule, "here"), [1.0], [1.001], dtype="bf16").accepted is True


# ---- published facts ----------------------------------------------------------------------------


def test_ruling_says_why_and_where() -> None:
    found = accepts("kernelbench", [[1.0, 2.0], [3.0, 4.5]], [[1, 2], [3, 4]], dtype="float32")
    assert not found
    assert found.worst is not None
    assert found.worst.index == (1, 1)
    assert str(found).startswith("kernelbench refuses: 1 of 4 elements violate error <= 0.0001")
    assert found.to_dict()["worst"] == {"index": [1, 1], "actual": 4.5, "expected": 4.0}
    assert accepts("cosine", [], [], dtype="f32").accepted is True


def test_what_is_missing_is_named() -> None:
    found = accepts("flash-attention", [1.0], [1.0], dtype="bf16")
    assert found.accepted is None
    assert "needs eager's output" in found.reason
    assert "needs the operator" in accepts("tosa", [1.0], [1.0], dtype="bf16").reason
    assert "no rule for softmax" in accepts("tosa", [1.0], [1.0], dtype="bf16", op="softmax").reason
    assert (
        "no number for bfloat16" in accepts("webnn", [1.0], [1.0], dtype="bf16", op="mean").reason
    )


def test_bad_input() -> None:
    with pytest.raises(sz.InvalidArgument, match="Did you mean 'kernelbench'"):
        accepts("kernelbench2", [1.0], [1.0], dtype="f32")
    with pytest.raises(sz.InvalidArgument, match="no level 'L3'; its levels: L0, L1, L2"):
        criterion("cann-commercial+L3")
    with pytest.raises(sz.InvalidArgument, match=r"shape \(2,\) and expected \(1,\)"):
        accepts("kernelbench", [1.0, 2.0], [1.0], dtype="f32")
    with pytest.raises(sz.InvalidArgument, match="dtype is int8"):
        accepts("kernelbench", [1.0], [1.0], dtype="i8")
    with pytest.raises(sz.InvalidArgument, match="actual is 'x'; give an array of real"):
        accepts("kernelbench", "x", [1.0], dtype="f32")
    with pytest.raises(sz.InvalidArgument, match="real numbers"):
        accepts("kernelbench", [1j], [1.0], dtype="f32")
    with pytest.raises(sz.InvalidArgument, match="n is 0; the length"):
        accepts("flaggems", [1.0], [1.0], dtype="f32", op="matmul", n=0)
    with pytest.raises(sz.InvalidArgument, match=r"eager has the shape \(2,\)"):
        accepts("flash-attention", [1.0], [1.0], dtype="f32", eager=[1.0, 2.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no name"),
        (HEAD, "at least one check"),
        (HEAD + "[[require]]\ncheck = 'clos'", "Did you mean 'close'"),
        (
            HEAD + "[[require]]\ncheck = 'close'\nrtol = 1\natol = 1\natoll = 2",
            "'atoll' is not a key",
        ),
        (HEAD + "[[require]]\ncheck = 'close'\nrtol = []\natol = 1", "rtol is"),
        (
            HEAD + "[[require]]\ncheck = 'close'\nrtol = '2^x'\natol = 1",
            "rtol is '2\\^x'; write 1e-3",
        ),
        (HEAD + "[[require]]\ncheck = 'close'\nrtol = {float32 = '1/0'}\natol = 1", "'1/0'; write"),
        (
            HEAD.replace("summary", "sumary") + "[[require]]\ncheck = 'cosine'\nleast = 1",
            "'summary'",
        ),
        ("name = ", "Invalid value"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    if not text:
        text = HEAD.replace('name = "mine"', "") + "[[require]]\ncheck = 'cosine'\nleast = 1"
    with pytest.raises(sz.InvalidArgument, match=message):
        read(text, "here")


def test_a_file_of_yours(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(HEAD + "[[require]]\ncheck = 'cosine'\nleast = 0.5")
    assert accepts(str(file), [1.0], [2.0], dtype="f32").accepted is True
    file.write_text(HEAD + "[[require]]\ncheck = 'close'\nrtol = 0\natol = 0")
    assert accepts(str(file), [1.0], [2.0], dtype="f32").accepted is False  # it is read again
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(sz.InvalidArgument, match="not UTF-8"):
        criterion(str(file))
    with pytest.raises(sz.InvalidArgument, match="not an accuracy standard"):
        criterion(str(tmp_path))
    assert Path(FOLDER, "ttk.toml").is_file()


# ---- rounding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", TF32])
def test_rounding_is_to_nearest_even(dtype: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal(2000) * 2.0 ** rng.integers(-30, 8, 2000)
    bits = {"bfloat16": 7, "float16": 10, "float8_e4m3fn": 3, "float8_e5m2": 2, TF32: 10}[dtype]
    least = {"bfloat16": -126, "float16": -14, "float8_e4m3fn": -6, "float8_e5m2": -14, TF32: -126}
    ties = (np.arange(64) + 0.5) * 2.0**-bits + 1
    x = np.concatenate([x, ties, -ties])
    for value, found in zip(x, rounded(x, dtype), strict=True):
        if not math.isfinite(found):
            continue
        exponent = max(math.frexp(value)[1] - 1, least[dtype])
        step = Fraction(2) ** (exponent - bits)
        assert Fraction(found) == round(Fraction(value) / step) * step
        assert Fraction(float(ulp(np.array([value]), dtype)[0])) == step


def test_rounding_agrees_with_ml_dtypes() -> None:
    x = np.random.default_rng(2).standard_normal(1000).astype(np.float32)
    assert (rounded(x, "bfloat16") == x.astype(ml_dtypes.bfloat16).astype(np.float64)).all()
    assert rounded([3.4e38, -3.4e38, math.inf, 1e-45], "bfloat16").tolist() == [
        math.inf, -math.inf, math.inf, 0.0,
    ]  # fmt: skip
    assert math.isnan(rounded([math.nan], "bfloat16")[0])
