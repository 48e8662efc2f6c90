"""The verdicts of others' acceptance criteria next to the judge's: `--standard`, `standards=`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument
from suanzi.validate.judge.verdict import Verdict


def zeros(x: Any) -> Any:
    return np.zeros_like(x)


def linear(x: Any, weight: Any) -> Any:
    return x @ weight.T


def judged(kernel: Any, op: str, names: Any, **more: Any) -> Verdict:
    with np.errstate(all="ignore"):
        return sz.judge(kernel, op, standards=names, **more)


def test_ttk_accepts_zeros_as_a_softmax() -> None:
    verdict = judged(zeros, "softmax", "ttk", dtypes="bfloat16", shapes=[(2, 1000)])
    assert not verdict
    (said,) = verdict.standards
    wrong = [c for c in verdict.cases if c.outcome == "wrong" and c.standards["ttk"]]
    assert said.accepted_wrong == len(wrong) >= 3
    assert (said.name, said.refused_right) == ("ttk", 0)
    words = f"ttk: accepts {said.accepted} of {said.cases} cases, among them {len(wrong)} that are"
    assert words in str(verdict)


def test_assert_close_refuses_a_right_product() -> None:
    verdict = judged(linear, "linear", ("assert-close",), dtypes="float32", shapes=[(8, 4096)])
    assert verdict
    (said,) = verdict.standards
    right = [c for c in verdict.cases if c.outcome == "right" and not c.standards["assert-close"]]
    assert said.refused_right == len(right) >= 1
    assert f"refuses {len(right)} that " in str(verdict)


def test_the_json_has_the_sums_and_each_case() -> None:
    verdict = judged(zeros, "softmax", "ttk,tosa", dtypes="float32", shapes=[(2, 500)])
    found = json.loads(verdict.to_json())
    assert set(found["standards"]) == {"ttk", "tosa"}
    assert found["standards"]["tosa"]["cases"] == 0
    assert "has no rule for softmax" in found["standards"]["tosa"]["reason"]
    each = [c["standards"]["ttk"]["accepted"] for c in found["cases"] if c["outcome"] == "wrong"]
    assert each.count(True) == found["standards"]["ttk"]["accepted_wrong"]
    assert each.count(False) == found["standards"]["ttk"]["cases"] - each.count(True)


def test_a_kernel_without_results_is_not_shown_to_them() -> None:
    def raises(x: Any) -> Any:
        raise ValueError("no")

    verdict = judged(raises, "softmax", "ttk", dtypes="float32", shapes=[(2, 5)])
    (said,) = verdict.standards
    assert said.cases == 0
    assert said.not_applied > 0
    assert "there is no result to compare" in str(said)


def test_what_the_criteria_need_is_computed() -> None:
    """Lengths, sums of magnitudes and inputs: TOSA and WebNN accept a careful kernel."""
    verdict = judged(linear, "linear", "tosa,flaggems+reduce_dim", dtypes="float32")
    tosa, flaggems = verdict.standards
    assert (tosa.refused_right, tosa.not_applied) == (0, 0)
    assert flaggems.not_applied == 0
    # exp and tanh are judged by their inputs.
    verdict = judged(np.tanh, "tanh", "tosa", dtypes="float32", framework="numpy")
    assert verdict.standards[0].accepted >= 5


def test_names() -> None:
    found = judged(zeros, "softmax", "all", dtypes="float32", shapes=[(2, 5)]).standards
    assert len(found) == len({one.name for one in found}) >= 20
    with pytest.raises(InvalidArgument, match="Did you mean 'assert-close'"):
        judged(zeros, "softmax", ["asert-close"])
    with pytest.raises(InvalidArgument, match="give names"):
        judged(zeros, "softmax", [3])
