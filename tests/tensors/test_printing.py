"""How tensors print: golden texts, what is shown of large ones, and that numbers read back."""

from __future__ import annotations

import ast
import math
import re
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import suanzi as sz
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.tensors.numerals import shortest, texts

NARROW = {
    sz.float8_e4m3fn: ml_dtypes.float8_e4m3fn,
    sz.float8_e5m2: ml_dtypes.float8_e5m2,
    sz.bfloat16: ml_dtypes.bfloat16,
    sz.float16: np.float16,
}
SHAPED = {sz.float32: np.float32, sz.float64: np.float64, **NARROW}


def text(s: str) -> str:
    return s.strip("\n")


GOLDEN: list[tuple[Any, str]] = [
    (sz.tensor(2.5), "Tensor(2.5, dtype=float32)"),
    (sz.tensor(True), "Tensor(True, dtype=bool)"),
    (sz.tensor(-7, sz.int4), "Tensor(-7, dtype=int4)"),
    (sz.tensor(1e-7), "Tensor(1e-07, dtype=float32)"),
    (sz.tensor([True, False]), "Tensor([ True, False], dtype=bool)"),
    (sz.tensor([1, -20, 300]), "Tensor([  1, -20, 300], dtype=int64)"),
    (sz.tensor([2**64 - 1], sz.uint64), "Tensor([18446744073709551615], dtype=uint64)"),
    (sz.tensor([0.1, 1, 2.25]), "Tensor([ 0.1,    1, 2.25], dtype=float32)"),
    (sz.tensor([1 / 3], sz.float64), "Tensor([0.3333333333333333], dtype=float64)"),
    (sz.tensor([1 / 3]), "Tensor([0.33333334], dtype=float32)"),
    (sz.tensor([1 / 3], sz.float16), "Tensor([0.3333], dtype=float16)"),
    (sz.tensor([1 / 3], sz.bfloat16), "Tensor([0.334], dtype=bfloat16)"),
    (sz.tensor([1 / 3], sz.float8_e4m3fn), "Tensor([0.34], dtype=float8_e4m3fn)"),
    (sz.tensor([1 / 3], sz.float8_e5m2), "Tensor([0.3], dtype=float8_e5m2)"),
    (sz.tensor([65504, -0.5], sz.float16), "Tensor([65504,  -0.5], dtype=float16)"),
    (sz.tensor([448], sz.float8_e4m3fn), "Tensor([448], dtype=float8_e4m3fn)"),
    # One number that is too small, and every fraction is in scientific notation; 0 and 3 are not.
    (sz.tensor([1e-5, 0.5, 0, 3]), "Tensor([1e-05, 5e-01,     0,     3], dtype=float32)"),
    (sz.tensor([1e-4, 0.5]), "Tensor([0.0001,    0.5], dtype=float32)"),
    (sz.tensor([99999999.0, 0.5]), "Tensor([1e+08, 5e-01], dtype=float32)"),
    (sz.tensor([16777216.0, 0.5]), "Tensor([16777216,      0.5], dtype=float32)"),
    (sz.tensor([1e15]), "Tensor([1e+15], dtype=float32)"),
    (sz.tensor([1e10, 0.5], sz.float64), "Tensor([10000000000,         0.5], dtype=float64)"),
    (sz.tensor([1e16, 2.5, 7], sz.float64), "Tensor([  1e+16, 2.5e+00,       7], dtype=float64)"),
    (sz.tensor([1e-300, 2.5], sz.float64), "Tensor([  1e-300, 2.5e+000], dtype=float64)"),
    (sz.tensor([3.3895313892515355e38], sz.bfloat16), "Tensor([3.39e+38], dtype=bfloat16)"),
    (
        sz.tensor([math.inf, -math.inf, math.nan, -0.0, 1.5]),
        "Tensor([ inf, -inf,  nan,   -0,  1.5], dtype=float32)",
    ),
    (sz.tensor([math.nan]), "Tensor([nan], dtype=float32)"),
    (sz.tensor([1 + 2j, 0 - 0.5j]), "Tensor([  1+2j, 0-0.5j], dtype=complex64)"),
    (sz.tensor([1e-9 + 2.5j, 1]), "Tensor([1e-09+2.5e+00j,           1+0j], dtype=complex64)"),
    (sz.tensor(complex(math.nan, -math.inf)), "Tensor(nan-infj, dtype=complex64)"),
    (sz.tensor([1 / 3 + 0.1j], sz.complex32), "Tensor([0.3333+0.1j], dtype=complex32)"),
    (sz.zeros((0,)), "Tensor([], shape=(0,), dtype=float32)"),
    (sz.zeros((2, 0, 3), sz.int8), "Tensor([], shape=(2, 0, 3), dtype=int8)"),
    (sz.tensor("text"), "Tensor(b'text', dtype=char)"),
    (sz.tensor(b"it's \0\xff"), 'Tensor(b"it\'s \\x00\\xff", dtype=char)'),
    (sz.tensor("t")[0], "Tensor(b't', shape=(), dtype=char)"),
    (sz.tensor(""), "Tensor([], shape=(0,), dtype=char)"),
    (sz.tensor("abcd").reshape(2, 2), "Tensor([b'ab',\n        b'cd'], dtype=char)"),
    (
        sz.tensor([[1, 2.5], [-3, 4]], sz.bfloat16),
        text("""
Tensor([[  1, 2.5],
        [ -3,   4]], dtype=bfloat16)"""),
    ),
    (
        sz.tensor([[[1], [2]], [[3], [4]]]),
        text("""
Tensor([[[1],
         [2]],

        [[3],
         [4]]], dtype=int64)"""),
    ),
    (
        sz.tensor(np.arange(20) * 1000),
        text("""
Tensor([    0,  1000,  2000,  3000,  4000,  5000,  6000,  7000,  8000,  9000, 10000,
        11000, 12000, 13000, 14000, 15000, 16000, 17000, 18000, 19000], dtype=int64)"""),
    ),
    (
        sz.tensor(np.arange(2000).reshape(20, 100)),
        text("""
Tensor([[   0,    1,    2, ...,   97,   98,   99],
        [ 100,  101,  102, ...,  197,  198,  199],
        [ 200,  201,  202, ...,  297,  298,  299],
        ...,
        [1700, 1701, 1702, ..., 1797, 1798, 1799],
        [1800, 1801, 1802, ..., 1897, 1898, 1899],
        [1900, 1901, 1902, ..., 1997, 1998, 1999]], dtype=int64)"""),
    ),
    (
        sz.tensor(b"0123456789" * 12),
        text("""
Tensor(b'01234567890123456789012345678901234567890123456789012345678901234567890123456'
       b'7890123456789012345678901234567890123456789', dtype=char)"""),
    ),
    (
        sz.tensor(b"0123456789" * 200),
        "Tensor(b'012345678901234567890123'...b'678901234567890123456789', dtype=char)",
    ),
    (
        sz.create_quant_tensor((2,), 0.1, sz.QT_ASYM_UINT8, values=[0, 9], zero_point=3),
        "Tensor([-0.3,  0.6], dtype=QT_ASYM_UINT8, scale=0.1, zero_point=3)",
    ),
    (
        sz.create_sparse_tensor((4, 4), [[0, 1], [3, 2]], [1e-9, 0.25]),
        "SparseTensor({(0, 1): 1e-09, (3, 2): 2.5e-01}, shape=(4, 4), dtype=float32, layout=coo)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("x", "expected"), GOLDEN, ids=[e[:60] for _, e in GOLDEN])
def test_golden(x: Any, expected: str) -> None:
    assert repr(x) == expected
    assert str(x) == expected
    assert f"{x}" == expected


def test_views_print_as_what_they_show() -> None:
    x = sz.tensor(np.arange(6.0).reshape(2, 3))
    assert repr(sz.transpose(x)) == repr(sz.tensor(np.arange(6.0).reshape(2, 3).T))
    assert repr(x[:, ::-2]) == "Tensor([[2, 0],\n        [5, 3]], dtype=float64)"
    large = sz.tensor(np.arange(3000.0).reshape(30, 100))
    assert repr(sz.transpose(large)) == repr(sz.contiguous(sz.transpose(large)))


def test_more_than_three_axes_are_not_ever_further_apart() -> None:
    x = sz.zeros((2,) * 9)
    assert "\n\n\n" in repr(x)
    assert "\n\n\n\n" not in repr(x)


@pytest.mark.parametrize("shape", [(200,), (3, 60), (2, 2, 2, 40)], ids=str)
def test_no_line_is_too_long_nor_shorter_than_it_must(shape: tuple[int, ...]) -> None:
    x = sz.tensor(np.arange(math.prod(shape)).reshape(shape) + 100)
    for width in range(30, 120):
        with sz.printoptions(linewidth=width):
            lines = repr(x).splitlines()
        assert max(map(len, lines)) <= width
        # Another number, with a comma and the brackets, would not have found room.
        full = [line for line in lines if re.search(r"\d,$", line)]
        assert min(map(len, full)) + len(" 100") + len(shape) + 1 > width


class TestShortestDigits:
    @pytest.mark.parametrize("dt", [sz.float8_e4m3fn, sz.float8_e5m2, sz.bfloat16], ids=str)
    def test_no_fewer_digits_identify_a_number(self, dt: sz.DType) -> None:
        """Against fractions: the digits lie between the neighbours' middles, and no fewer do."""
        bits = np.arange(2 ** (dt.bits - 1), dtype=f"u{dt.itemsize}")
        every = [v for v in map(float, bits.view(NARROW[dt])) if math.isfinite(v)]
        step = 1 if dt.bits == 8 else 97
        for i in range(1, len(every) - 1, step):
            below, value, above = map(Fraction, every[i - 1 : i + 2])
            lower, upper = (below + value) / 2, (value + above) / 2
            digits, exponent = shortest(every[i], dt)
            unit = Fraction(10) ** (exponent - len(digits) + 1)
            assert lower < int(digits) * unit < upper
            if len(digits) == 1:
                continue
            fewer = unit * 10
            assert not lower < value // fewer * fewer < upper or value % fewer == 0
            assert not lower < (value // fewer + 1) * fewer < upper

    @pytest.mark.parametrize("dt", SHAPED, ids=str)
    def test_largest_and_smallest(self, dt: sz.DType) -> None:
        limits = sz.finfo(dt)
        for value in (limits.max, limits.smallest_normal, limits.smallest_subnormal):
            (written,) = texts([value], dt)
            assert sz.tensor(float(written), dt).item() == value


NUMBERS = st.one_of(
    st.floats(width=64),
    st.sampled_from([0.0, -0.0, 1e-4, 9.999e-5, 1e8, 99999996.0, 1e16, 9007199254740993.0, 0.1]),
)


def shown_numbers(x: sz.Tensor) -> list[str]:
    body = repr(x).removeprefix("Tensor(").rpartition("dtype=")[0]
    return re.sub(r"[\[\],\s]+", " ", body).split()


@settings(max_examples=100)
@given(st.lists(NUMBERS, min_size=1, max_size=30), st.sampled_from(list(SHAPED)))
def test_floats_read_back(values: list[float], dt: sz.DType) -> None:
    x = sz.tensor(values, dt)
    again = sz.tensor([float(number) for number in shown_numbers(x)], dt)
    assert x.numpy().tobytes() == again.numpy().tobytes() or any(map(math.isnan, x.tolist()))
    for one, other in zip(x.tolist(), again.tolist(), strict=True):
        assert one == other or (math.isnan(one) and math.isnan(other))


@settings(max_examples=100)
@given(
    st.lists(st.complex_numbers(), min_size=1, max_size=20),
    st.sampled_from([sz.complex32, sz.complex64, sz.complex128]),
)
def test_complex_numbers_read_back(values: list[complex], dt: sz.DType) -> None:
    x = sz.tensor(values, dt)
    again = sz.tensor([complex(number) for number in shown_numbers(x)], dt)
    for one, other in zip(x.tolist(), again.tolist(), strict=True):
        for a, b in ((one.real, other.real), (one.imag, other.imag)):
            assert (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)


@given(st.binary(min_size=1, max_size=300))
def test_text_reads_back(data: bytes) -> None:
    body = repr(sz.tensor(data)).removeprefix("Tensor(").rpartition("dtype=")[0]
    assert ast.literal_eval(f"({body.rstrip().removesuffix(',')})") == data


@given(
    st.sampled_from(DTYPES),
    hnp.array_shapes(min_dims=0, max_dims=6, min_side=0, max_side=5),
    st.integers(0, 2**32 - 1),
    st.fixed_dictionaries(
        {},
        optional={
            "precision": st.none() | st.integers(0, 40),
            "threshold": st.integers(0, 50),
            "edgeitems": st.integers(1, 4),
            "linewidth": st.integers(1, 120),
            "suppress": st.booleans(),
        },
    ),
)
def test_nothing_fails_to_print(
    dt: sz.DType, shape: tuple[int, ...], seed: int, options: dict[str, Any]
) -> None:
    """Any bits of any dtype in any shape, in text and in HTML, under any options."""
    x: Any = _core.empty(shape, dt)
    memory = np.frombuffer(x.storage.memory, np.uint8)
    memory[:] = np.random.default_rng(seed).integers(0, 256, memory.size)
    if dt.kind == "bool" or (dt.kind in ("int", "uint") and dt.bits < 8):
        memory[:] &= 1
    with sz.printoptions(**options):
        found = repr(x)
        assert found.startswith("Tensor(")
        assert found.endswith(f"dtype={dt})")
        assert found.count("[") == found.count("]") or dt is sz.char
        html = x._repr_html_()
        assert html.startswith("<div")
        width = options.get("linewidth", 88)
        if width >= 40 and not options.get("suppress") and dt.kind != "complex":
            assert max(map(len, found.splitlines())) <= width


class TestLarge:
    @pytest.mark.parametrize("dt", [sz.int8, sz.float16, sz.complex128, sz.char], ids=str)
    def test_only_the_edges_are_read(self, dt: sz.DType) -> None:
        """A view of 2**62 elements on one: reading them all would not end."""
        x: Any = _core.view(_core.full((1,), dt, 1), 0, (2**31, 2**31), (0, 0))
        assert len(repr(x)) < 2000
        assert len(x._repr_html_()) < 5000

    def test_what_is_left_out_does_not_count(self) -> None:
        values = np.ones(3000)
        values[1500] = 1e-30
        assert repr(sz.tensor(values)) == "Tensor([1, 1, 1, ..., 1, 1, 1], dtype=float64)"

    def test_many_axes(self) -> None:
        for shape in [(2,) * 20, (3,) * 12, (1,) * 60 + (10**4,)]:
            x: Any = _core.view(_core.full((1,), sz.int8, 1), 0, shape, [0] * len(shape))
            assert "..." in repr(x)
            assert len(repr(x)) < 60_000
            assert x._repr_html_().count("<table") == x._repr_html_().count("</table>")

    def test_a_short_axis_is_shown_in_full(self) -> None:
        x = sz.tensor(np.arange(4000).reshape(2, 2000))
        assert repr(x).count("\n") == 1
        x = sz.tensor(np.arange(12000).reshape(2000, 6))
        assert "[    0,     1,     2,     3,     4,     5]" in repr(x)


class TestDestroyed:
    def test_tensor(self) -> None:
        x = sz.tensor([1, 2])
        sz.destroy(x)
        assert repr(x) == str(x) == "Tensor(destroyed)"
        assert x._repr_html_() is None

    def test_view_of_a_destroyed_tensor(self) -> None:
        x = sz.tensor([1, 2, 3])
        view = x[1:]
        sz.destroy(x)
        assert repr(view) == "Tensor([2, 3], dtype=int64)"
        assert view._repr_html_() is not None

    def test_sparse(self) -> None:
        x = sz.to_sparse(sz.tensor([0, 1]))
        sz.destroy(x)
        y = sz.to_sparse(sz.tensor([0, 1]))
        sz.destroy(y.values)
        for one in (x, y):
            assert repr(one) == "SparseTensor(destroyed)"
            assert one._repr_html_() is None
