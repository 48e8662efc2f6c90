"""The conformance kit holds tensors of blocks against the standard."""

from __future__ import annotations

from typing import Any

import pytest

import suanzi as sz
from suanzi.conformance.check import check
from suanzi.conformance.running.backends import backend

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")


def test_what_is_supported_passes_and_what_is_not_says_so() -> None:
    asked: dict[str, Any] = {"dtypes": ["float32"], "quick": True, "jobs": 1}
    run = check("suanzi", device="cluster", ops=["add", "topk"], **asked)
    outcomes = {r.outcome for r in run.results}
    assert outcomes <= {"passed", "unsupported", "skipped"}, [r.id for r in run.results if r.bad]
    assert sum(r.outcome == "passed" for r in run.results) > 50
    words = {r.problem for r in run.results if r.outcome == "unsupported"}
    assert any("a cluster has no tensors that" in str(w) for w in words)


@pytest.mark.parametrize("title", ["torch", "suanzi"])
def test_devices_that_are_not_known(title: str) -> None:
    device = "npu" if title == "suanzi" else "cluster"
    with pytest.raises(sz.InvalidArgument, match="--device is of suanzi, and one of cpu, cluster"):
        backend(title, device=device)
