"""What the report says of calls, and between what the elements of a right answer lie, by hand.

Written for changes of the judge that all other tests had let pass.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from suanzi.conformance.judging import calls
from suanzi.conformance.judging.due import range_of
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import tensor
from suanzi.conformance.model.expected import Output
from suanzi.conformance.model.numbers import Real, real
from suanzi.conformance.subjects.wire import Ref


def test_long_steps_are_cut_where_they_are_too_long() -> None:
    steps = [["call", "duplicate", {"input": Ref("x" * 100)}, ["y"]]] * 9
    case = Case("duplicate", "steps", "any", "many", {}, lambda: (), steps=steps)
    said = calls.call_of(case)
    assert (len(said), said[-4:]) == (300, "x...")


def test_parts_of_complex_numbers_are_written_in_their_order() -> None:
    assert calls.written((real(1.5), real(-2.0)), "complex64") == "(1.5, -2)"
    x = tensor("float32", [1.0, 2.0, 3.0])
    assert calls._first(x, 2, 1) == ["2", "3"]


def both(wanted: Output) -> tuple[tuple[float, ...], tuple[float, ...]]:
    found = range_of(wanted)
    assert found is not None
    return tuple(found.least), tuple(found.most)


def test_integers_and_how_far_they_may_be_off() -> None:
    assert both(Output("int32", (2,), (3, real(-4.0)))) == ((3, -4), (3, -4))
    allowed = (Fraction(3, 2), Fraction(1, 2))
    assert both(Output("int32", (2,), (3, 7), allowed=allowed)) == ((2, 7), (4, 7))


def test_what_is_long_is_not_written_down() -> None:
    assert both(Output("int8", (4000,), (1,) * 4000)) == ((1,) * 4000, (1,) * 4000)
    assert range_of(Output("int8", (4001,), (1,) * 4001)) is None


def test_floats_and_how_far_they_may_be_off() -> None:
    step = 2.0**-23
    one = (real(1.0), real(-1.0))
    assert both(Output("float32", (2,), one, ulp=2)) == (
        (1 - 2 * step, -1 - 2 * step),
        (1 + 2 * step, -1 + 2 * step),
    )
    # A bound that no float is lies outside of it on either side.
    third = Output("float32", (1,), (real(1.0),), allowed=(Fraction(1, 3),))
    (low,), (high,) = both(third)
    assert Fraction(low) <= Fraction(2, 3) < Fraction(math.nextafter(low, 2))
    assert Fraction(high) >= Fraction(4, 3) > Fraction(math.nextafter(high, 0))


def test_nan_infinities_and_what_overflows() -> None:
    nan, up, down = real(math.nan), real(math.inf), real(-math.inf)
    least, most = both(Output("float32", (3,), (nan, up, down), ulp=1))
    assert math.isnan(least[0])
    assert math.isnan(most[0])
    assert least[1:] == most[1:] == (math.inf, -math.inf)
    largest = (2 - 2.0**-23) * 2.0**127
    least, most = both(Output("float32", (2,), (real(largest), real(-largest)), ulp=1))
    assert (most[0], least[1]) == (math.inf, -math.inf)
    assert least[0] == -most[1] == largest - 2.0**104


def test_an_infinite_part_widens_nothing_for_the_other() -> None:
    for odd in (real(math.inf), real(math.nan)):
        small = Output("complex64", (1,), ((odd, real(2.0**-40)),), ulp=1)
        (_, low), (_, high) = both(small)
        assert (low, high) == (2.0**-40 - 2.0**-63, 2.0**-40 + 2.0**-63)


def test_signs_of_zeros_and_of_numbers_that_are_rounded() -> None:
    zero = Output("float32", (1,), (real(-0.0),))
    (low,), (high,) = both(zero)
    assert [math.copysign(1, x) for x in (low, high)] == [-1, -1]
    (low,), (high,) = both(Output("float32", (1,), (real(0.0),), zero_sign=False))
    assert [math.copysign(1, x) for x in (low, high)] == [-1, 1]
    tenth = Real(True, Fraction(1, 10))
    assert both(Output("float16", (1,), (tenth,))) == ((-0.0999755859375,),) * 2


@pytest.mark.parametrize("name", ["scale", "sparse"])
def test_what_a_range_does_not_say(name: str) -> None:
    given = {"scale": (1.0,)} if name == "scale" else {"sparse": "COO"}
    assert range_of(Output("int8", (1,), (1,), **given)) is None  # type: ignore[arg-type]
