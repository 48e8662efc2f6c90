"""Autocast: the lists of frameworks as data, and calls under autocast judged by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from suanzi.port import autocast
from suanzi.port.judged import Judged
from suanzi.port.passes import judge_calls
from suanzi.recording.calls import from_records

FILES = sorted(path.stem for path in Path(autocast.__file__).parent.glob("autocasts/*.txt"))
CUDA = {"autocast": ["cuda", "bfloat16"]}
CPU = {"autocast": ["cpu", "bfloat16"]}


def arg(text: str) -> dict[str, Any]:
    """Read ``f16`` or ``f16@3``, made by call 3."""
    name, _, made = text.partition("@")
    return {"dtype": sz.dtype(name).name} | ({"from": int(made)} if made else {})


def judged(rules: str, *calls: tuple[Any, ...], level: str = "") -> Judged:
    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "2.13.0"}
    records = [
        {"call": i, "op": op, "arguments": [arg(x) for x in arguments], "result": sz.dtype(dt).name,
         "where": ["m.py", i + 1, "f", "m"], **(more[0] if more else {})}
        for i, (op, arguments, dt, *more) in enumerate(calls)
    ]  # fmt: skip
    end = {"end": True, "raised": None, "counts": {}, "numbers": {}}
    found = replace(from_records([head, *records, end]), level=level)
    return judge_calls(found, sz.rule_set("torch"), sz.rule_set(rules))


@pytest.mark.parametrize("name", FILES)
def test_lists_carry_their_source(name: str) -> None:
    lists = autocast.read(name)
    assert lists.title
    assert lists.version
    assert lists.source
    assert lists.policies


def test_what_lists_say() -> None:
    lower = {name for name in FILES if autocast.read(name).policy("linear") == "lower"}
    assert lower == set(FILES)
    assert autocast.read("torch_cuda").policy("softmax") == "float32"
    assert autocast.read("torch_cpu").policy("softmax") == "others"
    assert autocast.read("paddle_O1").policy("bmm") == "others"
    assert autocast.read("paddle_O1").policy("relu") is None
    assert autocast.read("paddle_O1").names["linear"] == "linear_v2"
    # Its products of matrices; PyTorch's multiplies by element, which is not listed.
    assert autocast.read("paddle_O1").own["mul"] == "lower"
    assert autocast.read("paddle_O1").policy("mul") is None
    assert autocast.read("paddle_O2").policy("scatter") == "lower"
    assert autocast.read("mindspore_O2").policy("layer_norm") == "float32"
    assert autocast.read("mindspore_O3").policy("layer_norm") == "lower"


@pytest.mark.parametrize(
    ("rules", "level", "call", "code"),
    [
        ("torch_npu", "", ("linear", ["f32", "f32"], "bf16", CUDA), None),
        ("torch_npu", "", ("rms_norm", ["bf16"], "f32", CUDA), "SZ003"),
        ("torch_npu", "", ("softmax", ["bf16"], "f32", CUDA), None),
        ("torch_npu", "", ("softmax", ["bf16"], "bf16", CPU), "SZ005"),
        ("paddle", "", ("bmm", ["f32", "f32"], "bf16", CUDA), "SZ005"),
        ("paddle", "", ("bmm", ["bf16", "bf16"], "bf16", CUDA), None),
        ("paddle", "", ("log1p", ["bf16"], "f32", CUDA), "SZ003"),
        ("paddle", "", ("exp", ["bf16"], "f32", CUDA), None),
        ("paddle", "", ("mul", ["f32", "f32"], "f32", CPU), None),
        ("paddle", "O2", ("exp", ["bf16"], "f32", CUDA), "SZ003"),
        ("mindspore", "", ("linear", ["f32", "f32"], "bf16", CUDA), None),
        ("mindspore", "O1", ("linear", ["f32", "f32"], "bf16", CUDA), "SZ005"),
        ("mindspore", "O3", ("softmax", ["f32"], "f32", CUDA), "SZ003"),
        ("torch", "", ("softmax", ["bf16"], "bf16", CPU), "SZ005"),
        ("jax", "", ("linear", ["f32", "f32"], "bf16", CUDA), None),
    ],
)  # fmt: skip
def test_calls_are_judged(rules: str, level: str, call: Any, code: str | None) -> None:
    found = judged(rules, call, level=level)
    assert [one.code for one in found.findings] == ([] if code is None else [code])
    assert found.judged == 1
    assert not found.unexplained


def test_a_finding_says_who_casts() -> None:
    (found,) = judged("paddle", ("bmm", ["f32", "f32"], "bf16", CUDA)).findings
    assert found.lines() == [
        "float32 under autocast, bfloat16 in PyTorch on CUDA: Paddle O1 does not cast, PyTorch on "
        "CUDA casts to the lower precision",
        'fix: give custom_white_list={"bmm"} of paddle.amp.auto_cast',
    ]
    assert found.verdict.question == "bmm(float32, float32) under autocast"
    (found,) = judged("torch_npu", ("rms_norm", ["bf16"], "f32", CUDA)).findings
    assert "257 becomes 256" in found.verdict.text
    assert found.verdict.fix is not None
    assert found.verdict.fix.code == "x.to(torch.float32)"


def test_what_follows() -> None:
    """A float32 product where the program has bfloat16, added to bfloat16."""
    found = judged(
        "paddle",
        ("bmm", ["f32", "f32"], "bf16", CUDA),
        ("log1p", ["bf16@0"], "f32", CUDA),
        ("linear", ["bf16@0", "f32"], "bf16", CUDA),
        ("relu", ["bf16@0"], "bf16", CUDA),
    )
    (root,) = found.findings  # log1p gets float32 there, so that nothing is lost
    assert [call.operator for call in root.followers] == ["relu"]


def test_without_autocast_nothing_is_cast() -> None:
    assert not judged("paddle", ("bmm", ["f32", "f32"], "f32")).findings


def test_what_lists_do_not_explain_is_not_judged() -> None:
    for call in (
        ("linear", ["f32", "f32"], "f32", CUDA),
        ("linear", ["f64", "f64"], "f64", CUDA),
        ("kron", ["f32", "f32"], "bf16", CUDA),
        ("float", ["bf16"], "f32", CUDA),
        ("transpose", ["f32"], "f32", CUDA),
    ):
        for level in ("O1", "O2"):
            assert not judged("paddle", call, level=level).findings


def test_it_is_recorded() -> None:
    torch = pytest.importorskip("torch")
    x = torch.ones(2, 2)
    with sz.port.trace("paddle") as report:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.bmm(x[None], x[None])
        z = torch.bmm(x[None], x[None])
    assert (y.dtype, z.dtype) == (torch.bfloat16, torch.float32)
    calls = [one for one in report.calls.calls if one.operator == "bmm"]
    assert [one.autocast for one in calls] == [("cpu", sz.bfloat16), None]
    assert [one.code for one in report.findings] == ["SZ005"]


def test_levels_are_checked() -> None:
    autocast.check_level("O2", ["paddle", "mindspore", "jax", "torch_npu"])
    with pytest.raises(sz.InvalidArgument, match="paddle has no level 'O3'; it has O1, O2"):
        autocast.check_level("O3", ["paddle"])
