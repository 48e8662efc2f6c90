"""Many elements of few values are judged as the same elements one by one; and what leniency is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from suanzi.conformance.judging.judge import Judgement, judge, lenient, show
from suanzi.conformance.model.case import Output
from suanzi.conformance.model.data import ordinary, tensor
from suanzi.conformance.model.numbers import FORMATS, PARTS, real, two
from suanzi.conformance.model.picked import Picked
from suanzi.conformance.subjects.wire import ITEMSIZE, Data

DTYPES = ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "float64", "complex64"]
COUNT = 23


def both(dtype: str, changes: dict[int, bytes], **bounds: Any) -> tuple[Judgement, Judgement]:
    """Return the judgements on the same answer, with the truth picked and spelt out."""
    random = Random(dtype)
    base = tuple(ordinary(dtype, 5, 1))
    index = [random.randrange(5) for _ in range(COUNT)]
    raw = bytearray(tensor(dtype, [base[k] for k in index]).raw)
    item = ITEMSIZE[dtype]
    for i, mask in changes.items():
        at = slice(i * item, i * item + len(mask))
        raw[at] = bytes(a ^ b for a, b in zip(raw[at], mask, strict=True))
    found = Data(dtype, (COUNT,), bytes(raw))
    allowed = bounds.pop("allowed", None)
    each = None if allowed is None else (allowed,) * 5
    picked = Output(
        dtype, (COUNT,), Picked(base, index),
        allowed=None if each is None else Picked(each, index), **bounds,
    )  # fmt: skip
    plain = Output(
        dtype, (COUNT,), tuple(base[k] for k in index),
        allowed=None if allowed is None else (allowed,) * COUNT, **bounds,
    )  # fmt: skip
    ease = bounds.get("zero_sign", True)
    return judge(found, picked if ease else lenient(picked)), judge(
        found, plain if ease else lenient(plain)
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "bounds", [{}, {"ulp": 2}, {"allowed": Fraction(1, 100)}, {"zero_sign": False}]
)
@pytest.mark.parametrize(
    "changes",
    [{}, {0: b"\1"}, {COUNT - 1: b"\1"}, {5: b"\1", 6: b"\1", 7: b"\1", 8: b"\1", 20: b"\1"}],
    ids=["right", "first", "last", "several"],
)
def test_the_same_verdict_and_words(
    dtype: str, bounds: dict[str, Any], changes: dict[int, bytes]
) -> None:
    if not (dtype in FORMATS or dtype in PARTS) and "ulp" in bounds:
        pytest.skip("an integer has no units in the last place")
    picked, plain = both(dtype, changes, **dict(bounds))
    # How many are wrong, and the first; of the others, each wrong pair is told once.
    assert _start(picked) == _start(plain)
    assert changes or picked.problem is None


def _start(judged: Judgement) -> str | None:
    return judged.problem and judged.problem.split(";")[0].removesuffix(" ...")


def test_as_many_elements_as_are_wanted() -> None:
    wanted = Output("int8", (4,), Picked((1, 2), [0, 1, 0, 1]))
    assert judge(tensor("int8", [1, 2, 1, 2]), wanted) == Judgement(None)
    wrong = judge(tensor("int8", [1, 2, 1, 1]), wanted).problem
    assert wrong is not None
    assert "[3]" in wrong
    short = replace(wanted, truth=Picked((1, 2), [0, 1, 0]))
    assert judge(tensor("int8", [1, 2, 1, 2]), short).problem == "4 elements, not 3"


def leniently(found: float, truth: float, dtype: str = "float32", **bounds: Any) -> bool:
    wanted = Output(dtype, (1,), (real(truth),), **bounds)
    return judge(tensor(dtype, [found]), lenient(wanted)).problem is None


def test_half_of_the_digits_to_the_last_unit() -> None:
    # Of 24 bits of a significand 12 must be right: 2**12 / 2 units of 2**-23.
    edge = 2.0**-12
    assert leniently(1 + edge, 1.0)
    assert not leniently(1 + edge + 2.0**-23, 1.0)
    assert leniently(1 - edge, 1.0)
    assert not leniently(1 - edge - 2.0**-23, 1.0)
    # A wider bound of its own stays.
    assert not leniently(1 + 2.0**-10, 1.0, ulp=4)
    assert leniently(1 + 2.0**-10, 1.0, ulp=2.0**14)


def test_what_was_allowed_is_allowed_many_times() -> None:
    some = (Fraction(1, 1 << 20),)
    assert leniently(1 + 2.0**-8, 1.0, allowed=some)
    assert not leniently(1 + 2.0**-7, 1.0, allowed=some)


def test_leniency_knows_integers_signs_and_the_least_numbers() -> None:
    whole = Output("int8", (1,), (3,))
    assert lenient(whole) is whole
    assert leniently(-0.0, 0.0)
    assert leniently(0.0, float(two(-130)))
    assert leniently(float(two(-126)), 0.0)
    assert not leniently(float(two(-125)), 0.0)


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        (real(float("inf")), "inf"),
        (real(float("-inf")), "-inf"),
        (real(float("nan")), "nan"),
        (real(-0.0), "-0"),
        (real(Fraction(1 << 2000)), "2^2000"),
        (real(Fraction(-(1 << 2000))), "-2^2000"),
        ((real(0.5), real(-1.0)), "(0.5, -1)"),
        (7, "7"),
    ],
)
def test_values_in_few_characters(x: Any, shown: str) -> None:
    assert show(x) == shown
