"""Two runs compared, as data: which calls belong together, and what a difference comes from."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from suanzi.base.status import InvalidArgument
from suanzi.front.cli import main
from suanzi.validate.blame.comparing import blamed, compare, comparison_lines, distance, matched
from suanzi.validate.blame.operators import conversion
from suanzi.validate.blame.runs import FORMAT, Run, read_run


def tensor(value: float = 1.0, dtype: str = "float32", shape: Any = (2,)) -> dict[str, Any]:
    odd = 0 if math.isfinite(value) else 1
    safe = value if not odd else 0.0
    return {"dtype": dtype, "shape": list(shape), "hash": str(value), "rms": abs(safe),
            "max": abs(safe), "odd": odd, "values": [str(value) if odd else value]}  # fmt: skip


def call(op: str, given: float = 1.0, made: float = 1.0, kind: str | None = "right",
         layer: str = "Net.a", number: int = 1, shape: Any = (2,)) -> dict[str, Any]:  # fmt: skip
    judged = None if kind is None else {"share": 0.5, "kind": kind, "words": ""}
    return {"call": number, "op": op, "random": False, "layer": layer, "file": "p.py", "line": 3,
            "function": "f", "backward": False, "step": 1, "inputs": [tensor(given)],
            "outputs": [tensor(made, shape=shape)], "devices": ["cpu"],
            "judged": judged}  # fmt: skip


def run(*calls: dict[str, Any]) -> Run:
    numbered = [{**one, "call": i + 1} for i, one in enumerate(calls)]
    return Run({"framework": "torch 0", "samples": 1}, numbered)


def test_calls_are_aligned() -> None:
    theirs = [call("mm"), call("relu"), call("add"), call("mm", layer="Net.b")]
    ours = [call("mm"), call("add"), call("exp"), call("mm", layer="Net.b")]
    pairs, missing, extra = matched(theirs, ours)
    assert [a["op"] for a, _ in pairs] == ["mm", "add", "mm"]
    assert all(a["op"] == b["op"] for a, b in pairs)
    assert [one["op"] for one in missing] == ["relu"]
    assert [one["op"] for one in extra] == ["exp"]


def test_another_operator_of_the_same_shape_stands_for_one() -> None:
    pairs, missing, extra = matched([call("flash")], [call("efficient")])
    assert len(pairs) == 1
    assert not missing
    assert not extra
    pairs, *_ = matched([call("flash")], [call("efficient", shape=(3,))])
    assert not pairs


def test_the_name_of_the_model_does_not_matter() -> None:
    pairs, *_ = matched([call("mm", layer="Net.a")], [call("mm", layer="Other.a")])
    assert len(pairs) == 1


@pytest.mark.parametrize(
    ("one", "other", "far"),
    [
        (tensor(1.0), tensor(1.0), 0.0),
        (tensor(1.0), tensor(1.5), 0.5 / 1.5),
        (tensor(1.0), tensor(math.nan), math.inf),
        (tensor(1.0), tensor(1.0, shape=(3,)), math.inf),
        (tensor(1.0), {**tensor(1.0), "hash": "x"}, 2.0**-24),
    ],
)
def test_distances(one: Any, other: Any, far: float) -> None:
    assert distance(one, other) == pytest.approx(far)


def test_rounding_explains_nothing() -> None:
    a, b = run(call("mm", made=1.0)), run(call("mm", made=1.0 + 2.0**-23))
    data = compare(a, b)
    assert data["answer"] == "rounding"
    assert "differ as by rounding, first in mm" in "\n".join(comparison_lines(data))
    assert compare(a, a)["answer"] == "the same"


@pytest.mark.parametrize(("here", "there"), [("wrong", "right"), ("right", "wrong")])
def test_a_wrong_call_explains_what_follows(here: str, there: str) -> None:
    theirs = run(call("exp"), call("mm", made=1.0, kind=there), call("add", 1.0, 1.0))
    ours = run(call("exp"), call("mm", made=1.1, kind=here), call("add", 1.1, 3.0))
    data = compare(theirs, ours)
    assert data["explained_by"]["operator"] == "mm"
    assert blamed(data)
    assert data["first_different"]["operator"] == "mm"


def test_a_call_that_adds_to_the_difference_explains_it() -> None:
    theirs = run(call("exp"), call("mm", 1.0, 1.0), call("add", 1.0, 1.0))
    ours = run(call("exp"), call("mm", 1.0, 1.1), call("add", 1.1, 1.2))
    data = compare(theirs, ours)
    assert data["explained_by"]["operator"] == "mm"
    assert not blamed(data)
    words = "\n".join(comparison_lines(data))
    assert "its inputs are the same, its results 0.091 apart" in words


def test_files_that_are_no_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.sz"
    head = json.dumps({"format": FORMAT, "framework": "torch 0", "samples": 1})
    whole = gzip.compress(f"{head}\n{json.dumps(call('mm'))}\n".encode())
    path.write_bytes(whole)
    assert [one["op"] for one in read_run(path).calls] == ["mm"]
    for content, words in (
        (whole[:-12], "is not complete"),
        (b"hello", "cannot be read"),
        (gzip.compress(b"{}"), "has no run of the format"),
        (gzip.compress(b"hello"), "has no run of the format"),
    ):
        path.write_bytes(content)
        with pytest.raises(InvalidArgument, match=words):
            read_run(path)
    program = tmp_path / "program.py"
    program.write_text("")
    assert main(["blame", str(program), "--against", str(tmp_path / "none.sz")]) == 2
    assert "none.sz' cannot be read: No such file" in capsys.readouterr().err
    words = ["--record", str(path), "--framework", "jax"]
    assert main(["blame", str(program), *words]) == 2
    assert "record is for programs of PyTorch, not of jax" in capsys.readouterr().err


def test_conversions_are_said() -> None:
    assert conversion("add", ["bfloat16", "float32"], "float32") == (
        "bfloat16 and float32 give float32"
    )
    assert conversion("mul", ["int32", "float32"], "float32").startswith("int32 becomes float32")
    assert conversion("mul", ["int8", "float32"], "float32") == ""
    assert conversion("div", ["int64"], "float32").startswith("int64 becomes float32")
    assert conversion("embedding", ["float16", "float32"], "float32") == ""


def test_a_file_whose_lines_are_damaged_is_refused(tmp_path: Path) -> None:
    path, head = tmp_path / "run.sz", {"format": FORMAT, "samples": 1, "framework": "torch 0"}
    layer, end = {"module": "Net.a", "step": 1, "outputs": [tensor()]}, {"end": True, "dropped": 0}

    def written(*records: Any) -> Path:
        path.write_bytes(gzip.compress(b"\n".join(json.dumps(r).encode() for r in records)))
        return path

    right = [head, call("mm"), layer, end]
    assert len(read_run(written(*right)).calls) == 1
    for k, change in (
        (0, {"samples": -1}), (0, {"samples": 10**12}), (0, {"samples": None}),
        (1, {"outputs": 3}), (1, {"layer": None}), (1, {"step": "x"}), (1, {"devices": [3]}),
        (1, {"inputs": [{"shape": 1}]}), (1, {"judged": {}}), (1, {"judged": 7}),
        (1, {"outputs": [{**tensor(), "values": ["abc"]}]}),
        (1, {"outputs": [{**tensor(), "rms": None}]}),
        (2, {"outputs": [None]}), (3, {"dropped": "x"}),
    ):  # fmt: skip
        bad = [{**one, **change} if i == k else one for i, one in enumerate(right)]
        with pytest.raises(InvalidArgument, match=f"is damaged: its line {k + 1} is"):
            read_run(written(*bad))
    with pytest.raises(InvalidArgument, match="is damaged: its line 2 is"):
        read_run(written(head, [1]))
    path.write_bytes(gzip.compress(b"[" * 100_000))
    with pytest.raises(InvalidArgument, match="has no run of the format"):
        read_run(path)
