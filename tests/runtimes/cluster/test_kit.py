"""The conformance kit holds tensors of blocks against the standard."""

from __future__ import annotations

from typing import Any

import pytest

import suanzi as sz
from suanzi.conformance.cases import cases
from suanzi.conformance.check import check
from suanzi.conformance.running.backends import backend
from suanzi.conformance.running.reproduction import command
from suanzi.faces import interface

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")

from suanzi.runtimes.cluster import blocks


def test_what_is_supported_passes_and_what_is_not_says_so() -> None:
    asked: dict[str, Any] = {"dtypes": ["float32"], "quick": True, "jobs": 1}
    run = check("suanzi", device="cluster", ops=["add", "topk"], **asked)
    outcomes = {r.outcome for r in run.results}
    assert outcomes <= {"passed", "unsupported", "skipped"}, [r.id for r in run.results if r.bad]
    assert sum(r.outcome == "passed" for r in run.results) > 50
    words = {r.problem for r in run.results if r.outcome == "unsupported"}
    assert any("a cluster has no tensors that" in str(w) for w in words)


def test_the_standards_form_on_blocks() -> None:
    """What is outside a domain is told where blocks are computed, what is no tensor at once."""
    with blocks(2):
        x = sz.tensor([[4.0, 9.0], [1.0, -1.0]], device="cluster")
    here = x.to_host()
    status, root = interface.op_sqrt(x)
    assert status is sz.Status.SUCCESS
    with pytest.raises(sz.InvalidArgument, match=r"x contains -1, outside the domain x >= 0"):
        root.to_host()
    with sz.domain_errors(False):
        assert interface.op_sqrt(x)[1].to_host().tolist()[0] == [2.0, 3.0]
    for call in (interface.op_matmul, interface.op_linear):
        assert call(x, "no tensor")[0] is call(here, "no tensor")[0]
        assert call("no tensor", x)[0] is call("no tensor", here)[0]


def test_one_case_is_asked_for_again_by_a_command_that_runs() -> None:
    on_blocks = backend("suanzi", device="cluster")
    case = cases("square")[0]
    assert command(case, on_blocks) == f"suanzi check --device cluster --case {case.id}"


@pytest.mark.parametrize(("title", "device"), [("suanzi", "npu"), ("numpy", "cluster")])
def test_devices_that_are_not_known(title: str, device: str) -> None:
    with pytest.raises(sz.InvalidArgument, match="--device is for suanzi: cpu, cluster"):
        backend(title, device=device)
