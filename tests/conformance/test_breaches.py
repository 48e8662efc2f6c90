"""A subject that breaks one clause of memory or seeds fails there, and suanzi itself does not."""

from __future__ import annotations

import pytest

from suanzi.conformance.check import check
from suanzi.conformance.running.process import Backend

BREACHES = {
    "WrapsByCopying": ("wrap_tensor", "shares-memory"),
    "CreatesBySharing": ("create_tensor", "has-its-own-memory"),
    "DuplicatesBySharing": ("duplicate", "has-its-own-memory"),
    "AlwaysCopies": ("contiguous", "shares-memory"),
    "IgnoresSeeds": ("rand_uniform", "a-seed-twice"),
    "HasOneSeed": ("rand_normal", "the-seed-0-twice"),
    "KeepsOtherOrders": ("reshape", "is-contiguous"),
    "ChangesInputs": ("add", "24-elements"),
}


def outcomes(adapter: str, op: str) -> dict[str, tuple[str, str | None]]:
    backend = Backend(adapter, f"tests.conformance.breach_subjects:{adapter}")
    if adapter == "suanzi":
        backend = Backend("suanzi", "suanzi_adapter:Adapter")
    run = check(backend, ops=[op], dtypes=["float32"], groups=["plain"], jobs=1)
    return {r.id: (r.outcome, r.problem) for r in run.results}


@pytest.mark.parametrize("adapter", BREACHES)
def test_a_breach_is_found(adapter: str) -> None:
    op, title = BREACHES[adapter]
    right, wrong = outcomes("suanzi", op), outcomes(adapter, op)
    assert {outcome for outcome, _ in right.values()} == {"passed"}
    failed = [name for name, (outcome, _) in wrong.items() if outcome == "failed"]
    assert any(title in name for name in failed), wrong
