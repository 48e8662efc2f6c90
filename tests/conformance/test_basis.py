"""The basis of every case: normative cases name clauses, interpretations have alternatives."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest

from helpers.kit import assert_reason
from helpers.kit import named as one
from suanzi.conformance.cases import QUICK_DTYPES, Wanted, cases, dtypes_of
from suanzi.conformance.model.basis import BASES, MEANING, REQUIRED, STANDARD_DTYPES, why
from suanzi.conformance.model.case import GROUPS, Case, Either, Output
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.gaps import CALLS, OPEN, SIGNATURES
from suanzi.conformance.model.numbers import FORMATS, NAN, Real, decode, encode, real, two
from suanzi.conformance.model.results import Result
from suanzi.conformance.reports.readings import followed, settle
from suanzi.conformance.running import run
from suanzi.conformance.running.process import Local, Unanswered
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.conformance.subjects.wire import Data
from suanzi.standard import interfaces
from suanzi.standard.errata import errata

FLOORS = {
    "normative": 1500,
    "interpretation": 550,
    "tentative": 200,
    "quality": 1200,
    "extension": 650,
}
"""How many cases there are at least: fewer, and something was lost."""

TENTATIVE = {erratum.id: erratum.tentative for erratum in errata()}
NO_CASES = {"E36", "E38", "E141"}
"""Tentative errata of which the kit has no case: quantisation of floats."""


@cache
def quick(op: str, some: frozenset[str] = QUICK_DTYPES) -> list[Case]:
    """Return the cases of a quick run; large ones of two dtypes, since their truth takes long."""
    few = Wanted(frozenset({"sizes"}), some & {"any", "int32", "float32"}, quick=True)
    return cases(op, Wanted(frozenset(GROUPS) - few.groups, some, quick=True)) + cases(op, few)


@cache
def statuses() -> dict[str, list[Case]]:
    """Return the cases that are refused or special, of all interfaces."""
    few = Wanted(frozenset({"status", "special"}), quick=True)
    return {op: cases(op, few) for op in interfaces()}


def test_every_case_has_a_basis_that_names_a_clause_or_an_erratum() -> None:
    """A third of the dtypes, others for the next interface; test_embedded.py asks it of more."""
    found: Counter[str] = Counter()
    for turn, op in enumerate(interfaces()):
        own = ["any", *(d for d in dtypes_of(op, quantised_too=True) if d in QUICK_DTYPES)]
        some = quick(op, frozenset(own[turn % min(3, len(own)) :: 3]))
        for case in some:
            found[case.why.basis] += 1
            assert_reason(case)
        if op not in SIGNATURES and not any(case.why.basis in REQUIRED for case in some):
            required = [case for case in quick(op) if case.why.basis in REQUIRED]
            assert required, f"nothing is required of {op}"
    assert set(found) <= set(BASES) == set(MEANING)
    assert {name: n for name, n in FLOORS.items() if found[name] < n} == {}, found


@pytest.mark.parametrize("op", interfaces())
def test_readings_name_an_erratum_with_several_answers(op: str) -> None:
    """Statuses and what is cheap: the truth of all cases would take minutes."""
    known = {e.id: e for e in errata()}
    for case in statuses()[op]:
        if case.skip is not None:
            continue
        expected = case.expect()
        if isinstance(expected, Either):
            assert len(expected.readings) >= 2, case.id
            assert expected.erratum in known, case.id
            assert len(known[expected.erratum].readings) >= 2, (case.id, expected.erratum)
            assert why(case, expected).basis != "normative", case.id


def test_every_gap_that_matters_is_listed_tentative_or_settled() -> None:
    for erratum in errata():
        if erratum.results and {"gap", "contradiction"} & set(erratum.kinds):
            assert erratum.readings or erratum.tentative or erratum.settled, erratum.id
        assert len(erratum.readings) != 1, erratum.id


def test_tentative_errata_are_those_of_the_rules() -> None:
    named = {*OPEN, *SIGNATURES.values(), *(erratum for erratum, _, _ in CALLS)}
    assert named == {name for name, words in TENTATIVE.items() if words} - NO_CASES


def test_every_open_refusal_is_a_case() -> None:
    there = {f"{c.op}/{c.title}" for some in statuses().values() for c in some
             if c.group == "status"}  # fmt: skip
    listed = [call for calls in OPEN.values() for call in calls.split(", ")]
    assert [call for call in listed if call not in there] == []
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize(
    ("case_id", "basis"),
    [
        ("add/plain/float32/24-elements", "normative"),
        ("add/plain/bfloat16/24-elements", "extension"),
        ("add/broadcast/float32/3by1-with-1by4", "normative"),
        ("pow/broadcast/float32/3by1-with-1by4", "extension"),
        ("add/broadcast/float32/a-scalar-with-5", "quality"),
        ("add/strided/float32/x-by-columns", "normative"),
        ("add/strided/float32/x-behind-other-elements", "interpretation"),
        ("add/strided/float32/x-with-gaps", "extension"),
        ("add/strided/float32/sparse-COO-and-COO", "interpretation"),
        ("div/plain/int32/24-elements", "interpretation"),
        ("div/plain/float32/24-elements", "normative"),
        ("fft_c2c/plain/complex64/2x3x4-axes-2,1-by_sqrt_n-backwards", "interpretation"),
        ("log/special/float32/one-outside-the-domain", "interpretation"),
        ("shape/plain/complex64/2x3x1x2x1", "interpretation"),
        ("create_tensor/plain/float32/4-of-6-elements", "normative"),
        ("add/empty/float32/0", "quality"),
        ("add/special/float32/NaN-and-infinities-with-each", "quality"),
        ("add/special/int8/each-with-each", "quality"),
        ("less/special/int8/each-with-each", "normative"),
        ("is_nan/special/float32/each", "interpretation"),
        ("add/status/any/TYPE_MISMATCH", "interpretation"),
        ("abs/status/any/TYPE_MISMATCH", "interpretation"),
        ("reduce_bwd/status/any/TYPE_MISMATCH", "normative"),
        ("inverse/status/any/TYPE_MISMATCH", "interpretation"),
        ("cast/status/any/TYPE_MISMATCH", "extension"),
        ("sin/status/any/TYPE_MISMATCH", "interpretation"),
        ("flip/status/any/INVALID_ARGUMENT-an-axis-twice", "tentative"),
        ("reduce_bwd/status/any/INVALID_ARGUMENT", "tentative"),
        ("clip_backward/plain/int32/between", "tentative"),
        ("fft_c2c_backward/strided/complex64/2x3x4-axes-0,2-columns", "tentative"),
        ("reshape/strided/float32/columns-2x3x4-to-4x6", "interpretation"),
        ("div/status/any/INVALID_ARGUMENT", "interpretation"),
        ("add/plain/complex64/24-elements", "interpretation"),
        ("add/status/any/UNINITIALIZED_OBJECT-x", "quality"),
        ("reshape/status/any/UNINITIALIZED_OBJECT-input", "normative"),
        ("add/promotion/int8-float16/cann-tensors", "extension"),
        ("transpose/plain/float32/2x3-perm-1-0", "normative"),
        ("transpose/plain/float32/2x3x4-perm--2--1--3", "extension"),
        ("complex/plain/float32/7", "normative"),
        ("complex/plain/float16/7", "extension"),
        ("eig/plain/float16/1x1", "extension"),
        ("argmax/plain/int8/3x5x4-of-equal-ones-along-1", "quality"),
        ("cast/plain/int8-uint16/12-elements", "quality"),
        ("cast/plain/int8-int16/12-elements", "normative"),
        ("exp/example/float32/A.2.12.1-1", "interpretation"),
    ],
)
def test_what_follows(case_id: str, basis: str) -> None:
    found = one(case_id).why
    assert found.basis == basis, found


@pytest.mark.parametrize("op", ["complex", "fft_r2c", "fft_c2r_backward", "eig", "abs", "cast"])
def test_results_beyond_the_standard_are_extensions(op: str) -> None:
    """What follows without the truth is what follows with it."""
    for case in quick(op):
        if case.skip is None and case.group in ("plain", "random"):
            expected = case.expect()
            outputs = expected if isinstance(expected, tuple) else ()
            dtypes = {x.dtype for x in outputs if isinstance(x, Output)}
            if not dtypes <= STANDARD_DTYPES:
                assert case.why.basis == "extension", (case.id, dtypes)


class Changed(Adapter):
    """Floats that are changed before they are read."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.change = change
        self.inputs: list[Any] = []

    def create(self, data: Data) -> Any:
        self.inputs.append(super().create(data))
        return self.inputs[-1]

    def read(self, x: Any) -> Data:
        data = super().read(x)
        if any(x is one for one in self.inputs):  # else it would seem that the call changed them
            return data
        if data.dtype not in FORMATS or data.scale is not None:
            return data
        made = tensor(data.dtype, [self.change(data.dtype, v) for v in values(data)], data.shape)
        return replace(data, raw=made.raw)


def a_little(dtype: str, x: Real) -> Real:
    """A hundred units too much, no subnormal numbers, and no negative zero."""
    form = FORMATS[dtype]
    if x.is_nan or x.size is None or x.size < two(1 - form.bias):
        return x if x.is_nan or x.size is None else real(0)
    bits = encode(form, Real(False, x.size)) + 100
    found = decode(form, min(bits, form.largest))
    return Real(x.negative, found.size)


def much(dtype: str, x: Real) -> Real:
    return x if x.is_nan or x.size is None else Real(x.negative, x.size * 5 / 4)


@pytest.mark.parametrize("op", ["add", "exp", "matmul", "reduce", "qr", "norm"])
def test_what_is_inaccurate_breaks_no_level_and_what_is_wrong_does(op: str) -> None:
    some = [
        c for c in quick(op)
        if c.dtype == "float32" and c.group in ("plain", "special", "empty", "random")
    ][:60]  # fmt: skip
    rough = [run_case(Local(Changed(a_little)), c) for c in some]
    assert any(r.bad for r in rough)
    assert [(r.id, r.problem) for r in rough if r.breaks] == []
    assert all(r.broken == "quality" for r in rough if r.bad and not r.extension)
    wrong = [run_case(Local(Changed(much)), c) for c in some]
    assert any(r.breaks for r in wrong)


@pytest.mark.parametrize("op", ["concat", "duplicate", "gather", "wrap_tensor"])
def test_what_is_moved_is_what_it_was(op: str) -> None:
    some = [c for c in quick(op) if c.dtype == "float32" and c.group == "plain"]
    rough = [run_case(Local(Changed(a_little)), c) for c in some]
    assert any(r.breaks for r in rough)
    assert "quality" not in {r.broken for r in rough if r.bad}


def reading(name: str, i: int = 0, throughout: bool = True, outcome: Any = "passed") -> Result:
    return Result(
        f"round/plain/float32/{i}", "round", "plain", "float32", outcome, basis="interpretation",
        reading=f"E86: {name}", throughout=throughout,
    )  # fmt: skip


def test_one_reading_throughout() -> None:
    some = [reading("even", 0), reading("even", 1), reading("away", 2), reading("even | away", 3)]
    (found,) = followed(some)
    assert (found.readings, found.undecided) == ({"even": 2, "away": 1}, 1)
    assert not found.consistent
    settled = settle(some)
    assert [r.outcome for r in settled] == ["passed", "passed", "failed", "passed"]
    assert settled[2].breaks
    assert "even" in str(settled[2].problem)
    # Where the choice is free in each place, a mix is told, and no failure.
    free = [replace(r, throughout=False) for r in some]
    assert settle(free) == free
    assert settle(some[:2]) == some[:2]
    assert settle([some[0], some[3]]) == [some[0], some[3]]


def test_a_normative_run_looks_at_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    # That its result is no number can be told of the second case only when its truth is known.
    truths = {"a number": real(1), "none": NAN}
    made = [
        Case("exp", "plain", "float32", title, {"x": tensor("float32", [real(0)])},
             partial(lambda truth: (Output("float32", (1,), (truth,)),), truth))
        for title, truth in truths.items()
    ]  # fmt: skip
    monkeypatch.setattr(run, "cases", lambda op, wanted: list(made))
    monkeypatch.setattr(run, "_ask", lambda subject, case: Unanswered("unsupported", "nobody"))
    for normative, count in ((True, 1), (False, 2)):
        job = run.Job("exp", Wanted(normative=normative))
        first, *others = results = list(run.results_of(None, job))  # type: ignore[arg-type]
        assert len(results) == count
        # A process that starts anew goes on behind what there is.
        assert [r.id for r in run.results_of(None, job, [first])] == [r.id for r in others]  # type: ignore[arg-type]
