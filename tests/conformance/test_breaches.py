"""A subject that breaks one clause of memory or seeds fails there, and suanzi itself does not."""

from __future__ import annotations

from functools import cache

import pytest

from conformance import breach_subjects
from helpers.kit import made
from suanzi.conformance.cases import Wanted
from suanzi.conformance.check import check
from suanzi.conformance.running.process import Backend, Local
from suanzi.conformance.running.run import run_case
from suanzi.conformance.subjects.suanzi_adapter import Adapter

BREACHES = {
    "WrapsByCopying": ("wrap_tensor", "shares-memory"),
    "CreatesBySharing": ("create_tensor", "has-its-own-memory"),
    "DuplicatesBySharing": ("duplicate", "has-its-own-memory"),
    "AlwaysCopies": ("contiguous", "shares-memory"),
    "IgnoresSeeds": ("rand_uniform", "a-seed-twice"),
    "HasOneSeed": ("rand_normal", "the-seed-0-twice"),
    "KeepsOtherOrders": ("reshape", "is-contiguous"),
    "ChangesInputs": ("add", "24-elements"),
    "ReadsAllBytes": ("create_tensor", "n_bytes-of-4-of-6-elements"),
    "LeavesTheRest": ("create_tensor", "4-of-6-elements"),
    "RefusesTooMuch": ("create_tensor", "4-MiB-for-6-elements"),
    "IgnoresOrders": ("create_tensor", "min2maj"),
    "ReadsInOrder": ("create_tensor", "min2maj"),
    "ForgetsZeros": ("reduce", "MEAN-of-rows,-sparse-COO"),
}
MAKERS = "create_tensor wrap_tensor zeros full empty rand_uniform rand_normal".split()


@cache
def outcomes(adapter: str, op: str, dtype: str = "float32") -> dict[str, tuple[str, str | None]]:
    group = "strided" if adapter in ("ForgetsZeros", "HasNoSparse") else "plain"
    wanted = Wanted(frozenset({group}), frozenset({dtype}), quick=dtype == "float32")
    subject = Local(Adapter() if adapter == "suanzi" else getattr(breach_subjects, adapter)())
    results = [run_case(subject, case) for case in made(op, wanted)]
    assert [r.id for r in results if r.bad and not r.breaks] == [], "of quality"
    return {r.id: (r.outcome, r.problem) for r in results}


@pytest.mark.parametrize("adapter", BREACHES)
def test_a_breach_is_found(adapter: str) -> None:
    op, title = BREACHES[adapter]
    right, wrong = outcomes("suanzi", op), outcomes(adapter, op)
    assert {outcome for outcome, _ in right.values()} == {"passed"}
    failed = [name for name, (outcome, _) in wrong.items() if outcome == "failed"]
    assert any(title in name for name in failed), wrong


def test_a_breach_is_found_in_another_process() -> None:
    backend = Backend("copies", "tests.conformance.breach_subjects:WrapsByCopying")
    run = check(backend, ops=["wrap_tensor"], dtypes=["float32"], groups=["plain"], jobs=1)
    assert any("shares-memory" in r.id for r in run.results if r.outcome == "failed")


@pytest.mark.parametrize("op", MAKERS)
def test_every_maker_is_asked_for_an_order(op: str) -> None:
    wrong = outcomes("IgnoresOrders", op)
    failed = {name for name, (outcome, _) in wrong.items() if outcome == "failed"}
    # A tensor that is wrapped has an order of its own.
    asked = {
        name for name in wrong if "min2maj" in name and ("bytes" in name or op != "wrap_tensor")
    }
    assert failed == asked != set()


@pytest.mark.parametrize("adapter", ["ReadsAllBytes", "LeavesTheRest", "IgnoresOrders"])
def test_quantised_tensors_have_bytes_and_orders_too(adapter: str) -> None:
    right, wrong = (outcomes(name, "create_quant_tensor", "QT_SYM_INT8")
                    for name in ("suanzi", adapter))  # fmt: skip
    assert {outcome for outcome, _ in right.values()} == {"passed"}
    assert any(outcome == "failed" for outcome, _ in wrong.values())


def test_who_has_no_words_for_bytes_and_orders_is_asked_nothing() -> None:
    found = outcomes("Speechless", "create_tensor")
    unsaid = {name for name, (outcome, _) in found.items() if outcome == "skipped"}
    assert {outcome for outcome, _ in found.values()} == {"passed", "skipped"}
    assert all("elements" in name or "min2maj" in name for name in unsaid)


def test_who_has_no_sparse_tensors_is_asked_nothing() -> None:
    found = outcomes("HasNoSparse", "reduce")
    skipped = {name for name, (outcome, _) in found.items() if outcome == "skipped"}
    assert skipped == {name for name in found if "sparse" in name} != set()
    assert {outcome for outcome, _ in found.values()} == {"passed", "skipped"}
