"""The programs in examples/ run, and show what they say they show."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "examples"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested_here() -> None:
    here = Path(__file__).read_text()
    assert all(f'load("{file.stem}")' in here for file in FOLDER.glob("*.py"))


def test_a_port_gone_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    load("port_gone_wrong").main()
    shown = capsys.readouterr().out
    wrong, right = shown.split("2. Why?")[0], shown.split("4. Fixed")[1]
    assert "257" not in wrong.split("same:")[1]
    assert "257 becomes 256" in shown
    assert "257" in right
    assert "TypeMismatch: mul (7.2.4.3)" in shown


def test_rules_compared(capsys: pytest.CaptureFixture[str]) -> None:
    load("rules_compared").main()
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("  lossless   float64") for line in lines)
    assert any(line.startswith("  strict     refused") for line in lines)
    assert any("inf" in line for line in lines)  # 70,000 in float16


def test_bf16_model(capsys: pytest.CaptureFixture[str]) -> None:
    example = load("bf16_model")
    import suanzi as sz

    losses, right = example.train(sz.bfloat16, steps=60)
    assert losses[-1] < 0.8 * losses[0]
    assert right > 0.6
    exact, _ = example.train(sz.float32, steps=60)
    assert abs(losses[-1] - exact[-1]) < 0.1


def test_transformer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    example = load("transformer")
    file = tmp_path / "model.safetensors"
    example.make(file, example.Sizes(vocabulary=64, hidden=32, wide=48, layers=2, heads=4))
    example.main(str(file))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["cann", "torch"]
    assert len({line.split(":")[1].split("...")[0] for line in lines}) == 1  # the same tokens
    model = example.Transformer(file)
    tokens = [*range(16), *model.continued(list(range(16)), 8)]
    whole = model.logits(tokens, model.new_cache())  # without a cache of earlier tokens
    cache = model.new_cache()
    parts = [model.logits(tokens[:20], cache), *(model.logits([t], cache) for t in tokens[20:])]
    last = float(abs(parts[-1][-1] - whole[-1]).max().item())
    assert last < 0.1


def test_train_two_layers() -> None:
    example = load("train_two_layers")
    import suanzi as sz

    for dtype in (sz.float32, sz.bfloat16):
        losses, right = example.train(dtype, steps=80)
        assert losses[-1] < losses[40] < losses[0]
        assert losses[-1] < 0.45 * losses[0]
        assert right > 0.8


def test_low_precision(capsys: pytest.CaptureFixture[str]) -> None:
    example = load("low_precision")
    example.main()
    shown = capsys.readouterr().out
    assert re.search(r"bfloat16 +256 +1000\n", shown)
    assert "1024 elements: naive 4, sz.nn.softmax 1" in shown
    assert "JD402 off by a factor: every element is 4 times the answer" in shown


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="needs make and cc")
def test_a_vendors_library_reaches_a_level(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the quick cases; with SUANZI_ALL_CASES=1, all that the level requires."""
    everything = bool(os.environ.get("SUANZI_ALL_CASES"))
    load("vendor_fixed").main(everything=everything)
    before, after, whole = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r".*'mul': [1-9]\d*, 'sub': [1-9]\d*, 'min': [1-9]\d*\}", before)
    assert after.endswith("{'mul': 0, 'sub': 0, 'min': 0}")
    answer = "reached" if everything else "not tested in full"
    assert f"77 of 77 interfaces: {answer}. Conforms for bool, int32, float32" in whole
