"""The gated delta rule against the functions of Transformers' Qwen3-Next.

Transformers is in this interpreter or in the one SUANZI_PYTHON_TORCH names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import suanzi as sz

PYTHON = os.environ.get("SUANZI_PYTHON_TORCH", sys.executable)
THEIRS = """
import sys
import numpy as np, torch
from transformers.models.qwen3_next import modeling_qwen3_next as models

given = {n: torch.from_numpy(x) for n, x in np.load(sys.argv[1]).items()}
for name in ("q", "k"):  # as the model does: functions before 5.23 take as many heads as `v` has
    given[name] = given[name].repeat_interleave(2, dim=2)
rows, state = [given[n] for n in ("q", "k", "v", "g", "beta")], given["state"]
found = {}
for kind in ("recurrent", "chunk"):
    function = getattr(models, f"torch_{kind}_gated_delta_rule")
    for norm in (False, True):
        y, last = function(*rows, initial_state=state, output_final_state=True,
                           use_qk_l2norm_in_kernel=norm)
        found |= {f"{kind} {norm} y": y.numpy(), f"{kind} {norm} state": last.numpy()}
np.savez(sys.argv[2], **found)
"""


def test_it_is_that_of_transformers(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    shapes = {
        "q": (2, 70, 2, 16),
        "k": (2, 70, 2, 16),
        "v": (2, 70, 4, 24),
        "state": (2, 4, 16, 24),
    }
    given = {n: random.standard_normal(shape, np.float32) for n, shape in shapes.items()}
    given["k"] /= 8
    given["g"], given["beta"] = -random.random((2, 70, 4)), random.random((2, 70, 4))
    given = {n: x.astype(np.float32) for n, x in given.items()}
    np.savez(tmp_path / "given.npz", **given)
    run = subprocess.run(
        [PYTHON, "-c", THEIRS, tmp_path / "given.npz", tmp_path / "found.npz"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "ModuleNotFoundError" in run.stderr:
        pytest.skip("Transformers with Qwen3-Next is not installed for SUANZI_PYTHON_TORCH")
    assert not run.returncode, run.stderr
    theirs = np.load(tmp_path / "found.npz")
    for norm in (False, True):
        q, k, v, g, beta, state = (
            sz.tensor(given[n]) for n in ("q", "k", "v", "g", "beta", "state")
        )
        made = sz.nn.gated_delta_rule(
            q, k, v, g, beta, state, use_qk_l2norm=norm, return_state=True
        )
        for kind in ("recurrent", "chunk"):
            for what, x in zip(("y", "state"), made, strict=True):
                due = theirs[f"{kind} {norm} {what}"]
                np.testing.assert_allclose(np.asarray(x), due, rtol=1e-5, atol=1e-5)
