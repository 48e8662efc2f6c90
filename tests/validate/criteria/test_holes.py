"""What criteria let through: the published examples, the comparison, and the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import suanzi as sz
from suanzi.front.cli import main
from suanzi.validate.criteria import accepts, criterion, diff, every, holes
from suanzi.validate.criteria.formulas import DATA, MISTAKES, OPERATORS, Arithmetic, Case
from suanzi.validate.criteria.holes import Holes, ruling


def since(found: Holes, output: str, data: str) -> int | None:
    (hole,) = [h for h in found.accepted if (h.output, h.data) == (output, data)]
    return hole.since


def test_zeros_pass_as_a_softmax_from_about_98_on() -> None:
    # 99 % of exp(u) / (n (e - 1)) are below exp(0.99) / (n (e - 1)), and 2^-6 (1 + ...) is allowed.
    limit = np.exp(0.99) / (np.e - 1) * (1 - 2**-6) * 2**6
    assert 98 < limit < 99
    found = holes("ttk", "softmax", "bf16", sizes=(33, 128, 512))
    at = since(found, "zeros", "uniform")
    assert at is not None
    assert abs(at - limit) < 4
    assert not found.refused
    assert since(found, "1/n everywhere", "normal") is not None


def test_flaggems_accepts_zeros_as_a_mean_where_the_length_is_passed() -> None:
    case = Case("mean", "bfloat16", 4096, "normal")
    zeros = np.zeros_like(case.exact)
    more = {"dtype": "bf16", "op": "mean", "n": 4096}
    assert accepts("flaggems+reduce_dim", zeros, case.exact, **more).accepted is True
    assert accepts("flaggems", zeros, case.exact, **more).accepted is False


def test_a_right_float32_product_is_refused() -> None:
    case = Case("matmul", "float32", 4096, "normal")
    product = case.right["computed in float32"]
    for name, accepted in (("assert-close", False), ("cann-experimental", False), ("ttk", True)):
        assert ruling(criterion(name), case, product).accepted is accepted
    found = holes("assert-close", "matmul", "f32", sizes=(33, 256))
    assert [(h.output, h.data) for h in found.refused] == [("computed in float32", "normal")]


def test_no_hole() -> None:
    found = holes("assert-close", "softmax", "bf16", sizes=(7, 128))
    assert not [h for h in found.accepted if h.output == "zeros"]
    found = holes("robust-kbench", "gelu", "bf16", sizes=(7,))
    assert not found
    assert "no wrong output" in str(found)


def test_sizes_in_words() -> None:
    found = holes("flash-attention", "attention", "bf16", sizes=(7,))
    assert not found.reason
    assert "cannot be applied" in holes("webnn", "softmax", "bf16", sizes=(7,)).reason
    found = holes("gpu-mode", "rms_norm", "bf16", sizes=(128, 1000))
    text = {h.output: h.text for h in found.accepted if h.data == "normal"}
    assert text["the last 38 columns unwritten"].startswith("passes from n = ")
    assert int(text["the last 38 columns unwritten"].split()[4]) > 600  # 38 / n < 5 %


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_mistakes_are_wrong_and_right_outputs_are_right(op: str, dtype: str) -> None:
    case = Case(op, dtype, 256, "normal")
    unit = {"bfloat16": 2.0**-8, "float32": 2.0**-24}[dtype]
    assert (
        np.abs(case.right["the exact answer, rounded"] - case.exact).max()
        <= unit * np.abs(case.exact).max()
    )
    made = {name: case.mistake(name) for name in MISTAKES}
    assert made["zeros"] is not None
    assert made["shifted by one"] is not None
    assert (made["inputs rounded to TF32"] is not None) == (dtype == "float32")
    assert (made["tanh instead of erf"] is not None) == (op == "gelu" and dtype == "float32")
    for name, y in made.items():
        if y is not None:
            assert np.abs(y - case.exact).max() > 0, name
    if dtype == "float32":
        lower = np.abs(made["computed one precision lower"] - case.exact).max()
        assert lower > 2.0**-16 * np.abs(case.exact).max()


def test_formulas() -> None:
    r = Arithmetic()
    x = np.array([[1.0, 2.0, 4.0]])
    e = np.exp(x)
    assert np.allclose(OPERATORS["softmax"].formula(r, x), e / e.sum(), rtol=1e-15)
    assert OPERATORS["mean"].formula(r, x).tolist() == [[7 / 3]]
    assert np.allclose(OPERATORS["rms_norm"].formula(r, x), x / np.sqrt(7 + 1e-6), rtol=1e-15)
    off = x - 7 / 3
    scale = np.sqrt((off**2).mean() + 1e-6)
    assert np.allclose(OPERATORS["layer_norm"].formula(r, x), off / scale, rtol=1e-14)
    assert abs(OPERATORS["gelu"].formula(r, x)[0, 0] - 0.8413447460685429) < 1e-15
    assert OPERATORS["matmul"].formula(r, x, x.T).tolist() == [[21.0]]
    q, k, v = np.ones((1, 4)), np.ones((2, 4)), np.array([[1.0], [3.0]])
    assert OPERATORS["attention"].formula(r, q, k, v).tolist() == [[2.0]]
    ones = np.ones((1, 4096))
    # A sum in bfloat16 stops at 256; 32 lanes of 128 do not.
    assert Arithmetic("bfloat16").sum(ones)[0] == 4096
    assert Arithmetic("bfloat16").sum(np.ones((1, 32 * 512)))[0] == 32 * 256
    assert DATA == ("uniform", "normal")


def test_the_ruling_of_a_case_brings_what_is_needed() -> None:
    case = Case("matmul", "float16", 64, "uniform")
    for one in every():
        assert ruling(one, case, case.exact).accepted is not None


def test_diff() -> None:
    found = diff("cann-mixed", "ttk")
    assert found
    text = str(found)
    assert "bfloat16  ttk         error <= 2^-6 + 2^-6 |expected| for 99 % of the elements" in text
    assert "a result of 0.01, which is written as 0: ttk accepts, cann-mixed does not" in text
    assert not diff("assert-close", "opinfo")
    assert diff("assert-close", "opinfo", op="matmul")
    for one in found.dtypes:
        assert {e.accepted_by for e in one.examples} <= {"ttk", "cann-mixed"}


# ---- the command line ---------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["standards", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    assert "cann-commercial+L2  " in out
    status, out, _ = run(capsys, "--json")
    assert {one["name"] for one in json.loads(out)} >= {"ttk", "flaggems+reduce_dim", "webnn"}


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "show", "webnn", "--op", "softmax")
    assert status == 0
    assert "float32        error <= (3 + 3 n) ULP" in out
    assert json.loads(run(capsys, "show", "ttk", "--json")[1])["source"]["commit"]
    status, _, err = run(capsys, "show", "kernelbanch")
    assert status == 2
    assert "Did you mean 'kernelbench'?" in err


def test_diff_command(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "diff", "cann-mixed", "ttk", "--dtype", "bf16")
    assert status == 1
    assert "example" in out
    assert run(capsys, "diff", "ttk", "ttk")[0] == 0
    assert json.loads(run(capsys, "diff", "ttk", "onnx", "--json")[1])["dtypes"][0]["examples"]
    assert run(capsys, "diff", "ttk", "onnx", "--dtype", ",")[0] == 2


def test_holes_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def quick(name: str, op: str, dtype: str) -> Holes:
        return holes(name, op, dtype, sizes=(7, 512))

    monkeypatch.setattr("suanzi.validate.criteria.holes", quick)
    status, out, _ = run(capsys, "holes", "ttk", "--op", "softmax", "--dtype", "bf16")
    assert status == 1
    assert "accepts  zeros, uniform data" in out
    status, out, _ = run(capsys, "holes", "webnn", "--op", "rms_norm", "--json")
    assert status == 0
    assert "cannot be applied" in json.loads(out)["reason"]
    status, _, err = run(capsys, "holes", "ttk", "--op", "sofmax")
    assert status == 2
    assert "Did you mean 'softmax'?" in err
    with pytest.raises(sz.InvalidArgument, match="dtype is int32"):
        holes("ttk", "softmax", "i32")
