"""7.2.4 to 7.2.12: the cases are complete, of unrounded truths, with bounds that can be kept."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from random import Random

import pytest

from suanzi.base.status import Status
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.cases._elementwise import stretched
from suanzi.conformance.cases.arithmetic import exact_product, exact_quotient
from suanzi.conformance.judging.judge import judge
from suanzi.conformance.model.case import Case, Either, Output, Refused
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.numbers import FORMATS, PARTS, Real, Value, add, mul, real, rounded
from suanzi.conformance.truth.bounds import bound
from suanzi.conformance.truth.functions import FUNCTIONS, as_real, magnitude, mp, number
from suanzi.promote.registry import REGISTRY
from suanzi.standard import interfaces

CLAUSES = tuple(f"7.2.{n}." for n in range(4, 13))
OPS = [name for name, facts in interfaces().items() if facts.clause.startswith(CLAUSES)]
OURS = frozenset({"plain", "broadcast", "strided", "empty", "special", "random"})
BINARY = [op for op in OPS if {"x", "y"} <= {p.name for p in interfaces()[op].parameters}]


def made(op: str, *groups: str) -> list[Case]:
    return cases(op, Wanted(frozenset(groups) or OURS))


@pytest.mark.parametrize("op", OPS)
def test_every_dtype_is_in_every_group(op: str) -> None:
    found = defaultdict(set)
    names = frozenset(dtype.name for dtype in REGISTRY[op].dtypes)
    for case in cases(op, Wanted(OURS, quick=True, quick_dtypes=names)):
        found[case.dtype].add(case.group)
    groups = set(OURS if op in (*BINARY, "pow") else OURS - {"broadcast"})
    for dtype in REGISTRY[op].dtypes:
        assert groups <= found[dtype.name], (dtype, groups - found[dtype.name])


@pytest.mark.parametrize("op", ["add", "muladd", "exp", "allclose", "trace", "bitwise_left_shift"])
def test_quick_is_a_small_part(op: str) -> None:
    quick = cases(op, Wanted(OURS, quick=True))
    assert 10 < len(quick) < len(made(op)) / 2
    assert {case.id for case in quick} <= {case.id for case in made(op)}


@pytest.mark.parametrize("op", ["add", "muladd", "log", "div"])
def test_values_of_a_quick_run_come_again_until_shapes_are_equal(op: str) -> None:
    """So that what compiles for every shape has one program for all of them."""
    groups = frozenset({"special", "random"})
    many = 0
    for case in cases(op, Wanted(groups, quick=True)):
        lengths = {data.size for data in case.arguments.values()}
        if "zero" in case.title and "subnormals" not in case.title:
            continue  # a divisor of zero, which the whole call is refused for
        assert lengths == {251}, case.id
        right = case.expect()
        if isinstance(right, tuple):
            (wanted,) = right
            assert isinstance(wanted, Output)
            rows = list(zip(*map(values, case.arguments.values()), strict=True))
            known = dict(zip(map(str, rows), map(str, wanted.truth), strict=True))
            assert [known[str(row)] for row in rows] == list(map(str, wanted.truth))
            assert wanted.shape == (251,)
            many += 1
    assert many > 5


def test_one_number_outside_the_domain_stays_one_in_a_quick_run() -> None:
    wanted = Wanted(frozenset({"special"}), frozenset({"float32"}), quick=True)
    (case,) = (case for case in cases("log", wanted) if case.title == "one outside the domain")
    outside = [x for x in values(case.arguments["x"]) if _real(x).is_nan or _real(x).negative]
    assert len(outside) == 1


@pytest.mark.parametrize("op", ["add", "mul", "div", "reciprocal", "square", "sqrt", "exp"])
def test_truths_are_not_rounded(op: str) -> None:
    for case in made(op, "plain"):
        if case.dtype in FORMATS:
            (wanted,) = case.expect()  # type: ignore[misc]
            assert isinstance(wanted, Output)
            form = FORMATS[case.dtype]
            between = [x for x in wanted.truth if rounded(form, _real(x)).size != _real(x).size]
            assert between, case.id


def _real(x: Value) -> Real:
    assert isinstance(x, Real)
    return x


# ---- bounds --------------------------------------------------------------------------------------


def test_suanzi_claims_no_less_than_the_kit_asks() -> None:
    for op in OPS:
        claimed = REGISTRY[op].ulp
        if claimed is not None and op != "muladd":
            for dtype in ("float32", "float64"):
                asked = bound(op, dtype)
                assert claimed <= (asked or 0.5) or op == "abs", (op, claimed, asked)


def test_bounds_are_small() -> None:
    for op in FUNCTIONS:
        for dtype in FORMATS:
            asked = bound(op, dtype)
            assert asked is None or 1 <= asked <= (5 if dtype in ("float32", "float64") else 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "float8_e5m2"])
@pytest.mark.parametrize("fused", [False, True])
def test_muladd_may_be_fused_or_not(dtype: str, fused: bool) -> None:
    form, through = FORMATS[dtype], FORMATS["float32" if dtype != "float64" else dtype]
    for case in made("muladd", "special", "random"):
        if case.dtype != dtype:
            continue
        found: list[Value] = []
        for row in zip(*(values(case.arguments[name]) for name in ("x", "y", "a")), strict=True):
            x, y, a = (_real(v) for v in row)
            product = mul(x, y) if fused else rounded(form, mul(x, y))
            found.append(rounded(form, rounded(through, add(product, a))))
        (wanted,) = case.expect()  # type: ignore[misc]
        assert judge(tensor(dtype, found), wanted).problem is None, case.id


def test_muladd_of_too_few_bits_is_found() -> None:
    for case in made("muladd", "plain"):
        if case.dtype == "float32" and case.title == "24 elements":
            (wanted,) = case.expect()  # type: ignore[misc]
            coarse = [rounded(FORMATS["bfloat16"], x) for x in wanted.truth]
            assert judge(tensor("float32", coarse), wanted).problem is not None


# ---- truths --------------------------------------------------------------------------------------


def test_complex_products_and_quotients_against_pythons() -> None:
    random = Random(1)
    for _ in range(50):
        a, b = (complex(random.uniform(-4, 4), random.uniform(-4, 4)) for _ in range(2))
        x, y = ((real(z.real), real(z.imag)) for z in (a, b))
        for exact, near in (
            (exact_product("complex128", x, y), a * b),
            (exact_quotient(x, y), a / b),
        ):
            assert isinstance(exact, tuple)
            assert complex(*(float(p.value) for p in exact)) == pytest.approx(near, rel=1e-14)


def test_all_digits_of_a_true_value_are_kept() -> None:
    assert as_real(mp.mpf(1) / 3).value * 3 == pytest.approx(1, abs=1e-50)
    assert as_real(mp.mpf(2) ** 700).value == 2**700
    assert as_real(-(mp.mpf(2) ** -700)).value == Fraction(-1, 2**700)
    assert as_real(-0.0).negative
    assert as_real(float("nan")).is_nan
    assert number(-real(float("inf"))) == float("-inf")
    assert as_real(magnitude(3.0, -4.0)).value == 5


def test_shapes_are_stretched_as_numpy_does() -> None:
    import numpy as np

    for shapes in (((3, 1), (1, 4)), ((4,), (2, 3, 4)), ((), (2, 0)), ((2, 1, 3), (4, 1))):
        arrays = [np.arange(int(np.prod(s))).reshape(s) for s in shapes]
        shape, rows = stretched([a.reshape(-1).tolist() for a in arrays], shapes)
        both = np.broadcast_arrays(*arrays)
        assert shape == both[0].shape
        assert rows == list(zip(*(a.reshape(-1).tolist() for a in both), strict=True))


# ---- what must be refused ------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["sqrt", "rsqrt", "acosh", "atanh", "log", "log1p", "log10", "log2"])
def test_outside_the_domain_is_a_status_or_nan(op: str) -> None:
    found = [case for case in made(op, "special") if "outside" in case.title]
    assert len(found) == 2 * len(FORMATS)
    for case in found:
        wanted = case.expect()
        assert isinstance(wanted, Either)
        refused, instead = wanted.readings.values()
        assert isinstance(refused, Refused)
        assert refused.status is Status.INVALID_ARGUMENT
        assert isinstance(instead, tuple)
        nans = [_real(x).is_nan for x in instead[0].truth]
        assert all(nans) if case.title == "outside the domain" else nans.count(True) == 1


def test_other_functions_have_no_status_for_it() -> None:
    for op in ("asin", "acos"):
        for case in made(op, "special"):
            assert not isinstance(case.expect(), Refused)


@pytest.mark.parametrize("op", ["div", "floordiv", "mod"])
def test_integers_divided_by_zero_are_refused(op: str) -> None:
    for case in made(op):
        zero = case.dtype not in FORMATS and case.dtype not in PARTS
        zero = zero and 0 in values(case.arguments["y"]) and case.arguments["x"].size > 0
        assert isinstance(case.expect(), Refused) is zero, case.id
