"""Kernels that lose the device, crash or are late: the rest of the cases is judged all the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import suanzi as sz
from suanzi.conformance.subjects.kernel_adapter import Adapter
from suanzi.validate.judge import Verdict
from suanzi.validate.judge.arguments import request
from suanzi.validate.judge.cases import by_definition, spread, trial_of, trials
from suanzi.validate.judge.child import judge_in_child, kernel_backend
from suanzi.validate.judge.verdict import CaseResult

KERNELS = '''
import time
import numpy as np

_lost = False
_called = False

def _softmax(x):
    with np.errstate(all="ignore"):
        y = x.astype(np.float32)
        e = np.exp(y - y.max(-1, keepdims=True, initial=-np.inf))
        return (e / e.sum(-1, keepdims=True)).astype(x.dtype)

def poisons(x):
    """Loses the device at one length; from then on, nothing works."""
    global _lost
    _lost = _lost or x.shape[-1] == 33
    if _lost:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    return _softmax(x)

def compiles(x):
    global _called
    if not _called:
        time.sleep(2.5)
    _called = True
    return _softmax(x)

def late(x):
    time.sleep(60)
'''
LENGTHS = [(2, 7), (2, 33)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lost") / "kernels.py"
    path.write_text(KERNELS)
    return path


def judged(file: Path, name: str, timeout: float = 30.0) -> Verdict:
    wanted = request("softmax", dtypes="float32,bfloat16", shapes=LENGTHS)
    return judge_in_child(kernel_backend(f"{file}::{name}"), name, wanted, timeout=timeout)


def test_a_lost_device_is_the_finding_of_one_case(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suanzi.validate.judge.engine._STUCK", 1)
    verdict = judged(file, "poisons")
    lost = [c for c in verdict.cases if c.finding]
    assert [("2x33" in c.id, c.finding and c.finding.code) for c in lost] == [(True, "JD004")] * 2
    # The process is another one, and works, before a case of this length and after it.
    assert all(c.outcome == "right" for c in verdict.cases if "2x33" not in c.id)
    assert {c.id.split("/")[2] for c in verdict.cases if c.outcome == "right"} == {
        "float32", "bfloat16"
    }  # fmt: skip
    assert "float32: no more cases after 1 that ended the process" in str(verdict)


def test_a_lost_device_ends_the_judgement_of_a_kernel_in_this_process() -> None:
    space: dict[str, object] = {}
    exec(KERNELS, space)
    verdict = sz.judge(space["poisons"], "softmax", dtypes="float32", shapes=LENGTHS)  # type: ignore[arg-type]
    assert [f.code for f in verdict.findings] == ["JD004"]
    assert sum(one.outcome == "wrong" for one in verdict.cases) == 1
    assert verdict.cases[-1].outcome == "wrong"
    assert "starts another one" in verdict.notes[0].words


def test_a_device_that_computes_no_more_is_noticed_without_its_words() -> None:
    def fails(x: np.ndarray) -> np.ndarray:
        raise RuntimeError("something that no list has")

    adapter = Adapter(fails, framework="numpy")
    adapter.framework.synchronize = lambda: 1 / 0
    with pytest.raises(Exception, match="JD004: RuntimeError: something that no list has"):
        adapter.call("softmax", {"x": np.ones(3, np.float32)})


def test_a_call_that_compiles_has_more_time(file: Path) -> None:
    verdict = judged(file, "compiles", timeout=2)
    assert verdict, f"{verdict}"


def test_a_late_kernel_is_not_judged_and_not_wrong(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suanzi.validate.judge.engine._STUCK", 1)
    verdict = judged(file, "late", timeout=0.1)
    assert not verdict
    assert verdict.answer == "not judged"
    assert [c.outcome for c in verdict.cases] == ["no answer"]
    assert "late is not judged as nn:softmax: 0 of 0 cases" in str(verdict)
    assert verdict.findings[0].words == "no answer within 0.4 seconds; --timeout allows more"
    assert verdict.to_dict()["answer"] == "not judged"
    assert verdict.script


def test_a_wrong_kernel_that_is_late_is_wrong() -> None:
    cases = tuple(CaseResult("a/b/float32/c", o) for o in ("wrong", "no answer", "right"))
    assert Verdict("k", "softmax", "numpy", "cpu", "float32", cases).answer == "wrong"
    assert Verdict("k", "softmax", "numpy", "cpu", "float32", cases[1:]).answer == "not judged"
    assert Verdict("k", "softmax", "numpy", "cpu", "float32", cases[2:]).answer == "right"


def test_cases_under_a_limit_of_time_are_of_all_kinds() -> None:
    every = list(trials(request("linear")))
    some = [trial.case for trial in spread(every)[:12]]
    assert {case.dtype for case in some} == {"float32", "float16", "bfloat16"}
    assert len({(case.group, case.title) for case in some if case.dtype == "float32"}) == 4
    assert {case.group for case in some} >= {"plain", "sizes"}
    assert sorted(id(t) for t in spread(every)) == sorted(map(id, every))


# ---- gradients that are no numbers ---------------------------------------------------------------


@pytest.mark.parametrize("op", ["relu_squared", "relu", "hardtanh", "relu6", "hardswish"])
def test_zero_times_a_gradient_that_is_no_number_may_be_either(op: str) -> None:
    low = {"hardtanh": -1.0, "hardswish": -3.0}.get(op, 0.0)
    x = np.array([-4.0, 0.5, -4.0, 0.5], np.float32)
    g = np.array([np.nan, np.nan, np.inf, 2.0], np.float32)
    slope = getattr(sz.truth, f"{op}_bwd")(np.ones(4, np.float32), x)
    with np.errstate(invalid="ignore"):
        product = slope * g
    chosen = np.where(x <= low, 0, product).astype(np.float32)
    for made in (chosen, product):
        sz.assert_right(f"{op}_bwd", (g, x), made)
    for wrong in ([0, 0, 0, chosen[3]], [0, np.nan, 1, chosen[3]], [0, np.nan, 0, np.nan]):
        with pytest.raises(AssertionError):
            sz.assert_right(f"{op}_bwd", (g, x), np.array(wrong, np.float32))


def test_a_mask_is_only_where_the_gradient_is_no_number() -> None:
    from suanzi.conformance.nn._calls import Call, Operand

    call = Call("4 by 7", {"out_grad": Operand((4, 7)), "x": Operand((4, 7))})
    for data, masks in (("ordinary", False), ("special values", True)):
        case = trial_of("nn:relu_bwd", "float32", call, data).case
        (bound,) = by_definition("nn:relu_bwd", "float32", case.arguments) or []
        assert (bound.nan is not None) == bound.free.any() == masks
        assert bound.nan is None or 0 < bound.nan.sum() < 4


def test_a_gradient_at_an_input_that_is_no_number_may_be_any_branch() -> None:
    x = np.array([np.nan, np.inf, -np.inf, 1.0], np.float32)
    g = np.array([3.0, 2.0, 2.0, 2.0], np.float32)
    for first in (np.nan, 0.0, 3.0, 0.03):
        sz.assert_right("relu_bwd", (g, x), np.array([first, 2, 0, 2], np.float32))
    slope = float(sz.truth.silu_bwd(np.ones(1, np.float32), np.ones(1, np.float32))[0])
    for at in ([2.0, 0.0], [np.nan, np.nan]):
        sz.assert_right("silu_bwd", (g, x), np.array([np.nan, *at, 2 * slope], np.float32))
    with pytest.raises(AssertionError):
        sz.assert_right("silu_bwd", (g, x), np.array([np.nan, 0, 0, 2 * slope], np.float32))
    # An element of minus infinity, as masks of attention have, gets 0.
    x = np.array([-np.inf, 0.0, 0.0], np.float32)
    sz.assert_right("softmax_bwd", (g[1:], x), np.array([0, 0, 0], np.float32))
    with pytest.raises(AssertionError):
        sz.assert_right("softmax_bwd", (g[1:], x), np.array([np.nan, 0, 0], np.float32))
