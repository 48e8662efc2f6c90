"""A subject that reads every disputed place otherwise is right, too; one that mixes is told."""

from __future__ import annotations

import pytest

from conformance.letter_subjects import DOMAINS, InFloats, Mixed, Other
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.model.results import Result
from suanzi.conformance.reports.readings import followed, settle
from suanzi.conformance.running.process import Local
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.standard.errata import errata

FEW = Wanted(
    frozenset({"plain", "broadcast", "special", "status", "example"}),
    frozenset({"any", "bool", "int32", "float32", "complex64", "float32-int32", "int8"}),
    quick=True,
)
DISPUTED = [
    "round", "rint", "div", "mod", "add", "less", "muladd", *DOMAINS, "allclose", "sign", "reduce",
    "rand_normal", "multinomial", "shape", "gather", "scatter", "topk", "fft_c2c", "fft_r2c",
    "fft_c2r", "fft_c2c_backward", "solve", "svd", "eig", "lu", "cast", "flip", "squeeze", "norm",
]  # fmt: skip


def answers(subject: Adapter, op: str, wanted: Wanted = FEW) -> list[Result]:
    local = Local(subject)
    return settle([run_case(local, case) for case in cases(op, wanted)])


@pytest.mark.parametrize("op", DISPUTED)
def test_the_other_reading_breaks_nothing(op: str) -> None:
    found = answers(Other(), op)
    assert len(found) > 4
    assert [(r.id, r.problem) for r in found if r.breaks] == []


def test_integers_may_divide_into_floats() -> None:
    found = answers(InFloats(), "div")
    assert not any(r.breaks for r in found)
    assert {one.erratum: list(one.readings) for one in followed(found)}["E72"] == [
        "in floating-point"
    ]


def test_the_two_differ_in_every_reading() -> None:
    """Else nothing would be proven by the other subject."""
    names: dict[str, set[str]] = {}
    for op in ("round", "div", "mod", "log", "add", "topk", "scatter", "solve", "svd", "allclose"):
        for subject in (Other(), Adapter()):
            for one in followed(answers(subject, op)):
                names.setdefault(one.erratum, set()).update(one.readings)
    for erratum in ("E09", "E62", "E72", "E75", "E86", "E90", "E101", "E120", "E121", "E139"):
        assert len(names[erratum]) > 1, erratum


def test_who_has_other_interfaces_for_sparse_tensors_is_right() -> None:
    laid = Wanted(frozenset({"strided"}), frozenset({"float32"}), quick=True)
    for op in ("add", "abs", "matmul", "reduce", "transpose", "shape"):
        for subject, name in ((Other(), "refused"), (Adapter(), "one interface")):
            found = [r for r in answers(subject, op, laid) if "sparse" in r.id]
            assert found
            assert all(f"E135: {name}" in str(r.reading) for r in found), op


def test_a_mix_of_readings_is_told() -> None:
    wanted = Wanted(frozenset({"special"}), frozenset({"float32", "float64"}))
    assert not any(r.bad for r in answers(Adapter(), "round", wanted))
    told = [r for r in answers(Mixed(), "round", wanted) if r.bad]
    assert told
    assert all("throughout" in (r.problem or "") for r in told)


def test_every_reading_of_a_case_is_one_of_its_erratum() -> None:
    known = {one.id: one.readings for one in errata()}
    used = [one for one in known.values() if one]
    assert len(used) > 20
    assert all(len(one) > 1 for one in used)
    assert all(len(set(one)) == len(one) for one in used)
