"""The transformer of examples/ against one of PyTorch's operators, logit by logit.

PyTorch is in this interpreter or in the one SUANZI_PYTHON_TORCH names.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz

PYTHON = os.environ.get("SUANZI_PYTHON_TORCH", sys.executable)
EXAMPLE = Path(__file__).parents[2] / "examples" / "transformer.py"
THEIRS = """
import json, math, sys
import numpy as np, torch
import torch.nn.functional as F

folder, dtype = sys.argv[1], getattr(torch, sys.argv[2])
size, tokens = json.load(open(folder + "/sizes.json")), torch.tensor(json.loads(sys.argv[3]))
w = {n: torch.tensor(x).to(dtype) for n, x in np.load(folder + "/weights.npz").items()}
rows, columns = len(tokens), size["columns"]
speeds = 10000.0 ** (-torch.arange(columns // 2, dtype=torch.float64) / (columns // 2))
angles = torch.arange(rows)[:, None] * speeds
cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)

def turned(x):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

def heads(x, name):
    return F.linear(x, w[name]).view(rows, -1, columns).transpose(0, 1)

def norm(x, name):
    return F.rms_norm(x, (size["hidden"],), w[name], 1e-5)

x = w["embedding"][tokens]
for i in range(size["layers"]):
    y = norm(x, f"{i}.attention.norm")
    q, k, v = (heads(y, f"{i}.attention.{n}") for n in "qkv")
    seen = F.scaled_dot_product_attention(
        turned(q)[None], turned(k)[None], v[None], is_causal=True, enable_gqa=True)[0]
    x = x + F.linear(seen.transpose(0, 1).reshape(rows, -1), w[f"{i}.attention.out"])
    y = norm(x, f"{i}.mlp.norm")
    both = F.silu(F.linear(y, w[f"{i}.mlp.gate"])) * F.linear(y, w[f"{i}.mlp.up"])
    x = x + F.linear(both, w[f"{i}.mlp.down"])
np.save(folder + "/logits.npy", F.linear(norm(x, "norm"), w["embedding"]).double().numpy())
"""
TOKENS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7]


def example() -> Any:
    spec = importlib.util.spec_from_file_location("example_transformer_live", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("PyTorch is not installed here; SUANZI_PYTHON_TORCH may name its interpreter")
    made: Path = tmp_path_factory.mktemp("transformer")
    module = example()
    small = module.Sizes(vocabulary=97, hidden=64, wide=100, layers=3, heads=4, columns=16)
    for dtype in (sz.bfloat16, sz.float32):
        module.make(made / f"{dtype}.safetensors", small, dtype)
    return made


@cache
def theirs(folder: Path, weights: str, dtype: str) -> Any:
    """Return PyTorch's logits, with the weights of one dtype and computed in another."""
    tensors, words = sz.safetensors.load(str(folder / f"{weights}.safetensors"))
    arrays = {name: np.asarray(sz.cast(x, sz.float64)) for name, x in tensors.items()}
    np.savez(folder / "weights.npz", **arrays)  # type: ignore[arg-type]
    (folder / "sizes.json").write_text(words["sizes"])
    subprocess.run([PYTHON, "-c", THEIRS, str(folder), dtype, str(TOKENS)], check=True)
    return np.load(folder / "logits.npy")


def ours(folder: Path, dtype: str, rules: str) -> Any:
    """Return the logits of a text that is read in two parts and then token by token."""
    module = example()
    with sz.promotion(rules):
        model = module.Transformer(folder / f"{dtype}.safetensors")
        cache = model.new_cache()
        parts = [TOKENS[:9], TOKENS[9:11], *([t] for t in TOKENS[11:])]
        found = [np.asarray(sz.cast(model.logits(p, cache), sz.float64)) for p in parts]
    return np.concatenate(found)


@pytest.mark.parametrize("rules", ["cann", "torch"])
def test_logits_are_pytorchs(folder: Path, rules: str) -> None:
    right = theirs(folder, "float32", "float64")
    np.testing.assert_allclose(ours(folder, "float32", rules), right, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("rules", ["cann", "torch"])
def test_bfloat16_is_no_further_from_the_truth_than_pytorchs(folder: Path, rules: str) -> None:
    right = theirs(folder, "bfloat16", "float64")
    error = np.sqrt(np.mean((ours(folder, "bfloat16", rules) - right) ** 2))
    their_error = np.sqrt(np.mean((theirs(folder, "bfloat16", "bfloat16") - right) ** 2))
    assert error < 1.1 * their_error
    assert error < 0.02 * np.abs(right).max()
