"""The published table of fourteen outputs is what running them gives."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from suanzi.truth.tracked import tracked

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "benchmarks"))

import judge_criteria  # noqa: E402

sys.path.remove(str(ROOT / "benchmarks"))  # to Dask, its sparse.py would be the package sparse

QUICK = {"mean", "attention"}
"""The operators whose outputs take a second; `python benchmarks/judge_criteria.py` runs all."""
PUBLISHED = json.loads(judge_criteria.FILE.read_text("utf-8"))


def test_the_published_table_is_what_running_gives() -> None:
    cases = judge_criteria.outputs()
    listed = [{"name": c.name, "right": c.right} for c in cases]
    assert PUBLISHED["outputs"] == listed
    chosen = [i for i, c in enumerate(cases) if c.problem.op in QUICK]
    assert len(chosen) == 2
    rows = judge_criteria.table([cases[i] for i in chosen])
    published = {row["name"]: [row["said"][i] for i in chosen] for row in PUBLISHED["rows"]}
    assert {row["name"]: row["said"] for row in rows} == published


def test_suanzi_makes_no_mistake_and_every_other_standard_does() -> None:
    counts = {row["name"]: (row["mistakes"], row["of"]) for row in PUBLISHED["rows"]}
    assert counts.pop("suanzi") == (0, 14)
    assert [name for name, (mistakes, _) in counts.items() if not mistakes] == ["tosa"]
    assert counts["tosa"] == (0, 4)  # it has no rule for the others


def test_the_bound_refuses_tf32_and_accepts_any_order() -> None:
    (output,) = [c for c in judge_criteria.outputs() if "TF32" in c.name]
    problem = output.problem
    x, w = (a.astype(np.float32) for a in problem.inputs)
    rows = slice(0, 4)
    with judge_criteria.arithmetic("float32", exact=False):
        y = judge_criteria._product(tracked(x[rows]), tracked(w))
    one_by_one = np.zeros((4, w.shape[1]), np.float32)
    for k in range(x.shape[1]):
        one_by_one += x[rows, k : k + 1] * w[k : k + 1]
    backwards = x[rows, ::-1] @ w[::-1]
    for right in (one_by_one, backwards, x[rows] @ w):
        assert (np.abs(right - y.value) <= y.error).all()
    assert not (np.abs(output.y[rows] - y.value) <= y.error).all()


def test_the_outputs_are_what_their_names_say() -> None:
    cases = {c.name: c for c in judge_criteria.outputs()}
    zeros = cases["mean of 4096, bfloat16: zeros"]
    assert not zeros.y.any()
    unwritten = cases["rms_norm 512 x 1000, bfloat16: the last 9 columns are 0"].y
    assert (unwritten == 0).all(0).nonzero()[0].tolist() == list(range(991, 1000))
    attention = cases["attention 256, bfloat16: two rows miss their diagonal"]
    off = (attention.y != attention.problem.right).any(1).nonzero()[0]
    assert off.tolist() == [191, 255]
    assert judge_criteria.text(PUBLISHED).count("\n") == 40


@pytest.mark.parametrize("op", [*sorted(QUICK), "rms_norm", "gelu"])
def test_right_outputs_are_within_the_bound(op: str) -> None:
    problem = next(p for p in judge_criteria.problems().values() if p.op == op)
    value, allowed = problem.bound
    assert (np.abs(problem.right - value) <= allowed).all()
    assert np.allclose(value, problem.exact, rtol=1e-12, atol=1e-13)
