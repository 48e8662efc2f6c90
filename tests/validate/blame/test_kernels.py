"""Kernels of others stand for PyTorch's, and blame samples with them."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from tests.validate.blame.test_planted import run


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed")
def test_kernels_that_stand_for_those_of_pytorch() -> None:
    found = run("kernels.py")
    assert found["launches"] == ["right", ["add"], {}, {}]
    assert found["an index that is none"] == ["right", ["mul"], {}, {}]
    assert found["flat statistics"] == ["right", ["native_layer_norm"], {}, {}]
    assert found["fails"] == ["not judged", [], {}, {"ValueError while judging": 1}]


def test_a_call_is_judged_on_this_machine_where_sampling_fails() -> None:
    torch = pytest.importorskip("torch")
    from suanzi.validate.blame.sampling import Call

    x = torch.ones(3)
    rng = np.random.default_rng(0)
    call = Call(torch, "add", {"self": x, "other": [x, None], "alpha": 1}, [x], rng, {"self": x})
    here = call.on_host()
    assert here.name == "add"
    assert here["alpha"] == 1
    assert torch.equal(here["other"][0], x)
    assert here["other"][1] is None
    assert torch.equal(here.out, x)
    assert torch.equal(here.after["self"], x)
