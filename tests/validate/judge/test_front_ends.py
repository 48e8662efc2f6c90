"""The ways to ask the judge: the command, pytest, results alone, operators of one's own."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument
from suanzi.front.cli import main
from suanzi.validate.judge.findings import CODES

KERNELS = """
import os
import numpy as np

def good(x):
    with np.errstate(all="ignore"):
        y = x.astype(np.float32)
        e = np.exp(y - y.max(-1, keepdims=True, initial=-np.inf))
        return (e / e.sum(-1, keepdims=True)).astype(x.dtype)

def bad(x):
    return np.zeros_like(x)

def crash(x):
    os.abort()

def hang(x):
    while True:
        pass
"""
ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)")
    (tmp_path / "raises.py").write_text("1 / 0")
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "suanzi", "judge", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_the_command_says_right_and_wrong(folder: Path) -> None:
    shape = ["--op", "softmax", "--dtype", "f32", "--shape", "3x40"]
    good = run(folder, "kernels.py::good", *shape)
    assert (good.returncode, "is right" in good.stdout) == (0, True), good.stderr
    bad = run(
        folder, "kernels.py::bad", *shape, "--json", "--script", "show.py", "--html", "it.html"
    )
    found = json.loads(bad.stdout)
    assert bad.returncode == 1
    assert found["findings"][0]["code"] == "JD201"
    assert not found["right"]
    page = (folder / "it.html").read_text("utf-8")
    assert "<title>kernels.py::bad as nn:softmax: wrong</title>" in page
    assert "JD201" in page
    assert page.count("<script") == 1
    assert "http" not in page.replace("http-equiv", "")
    script = (folder / "show.py").read_text()
    shown = subprocess.run([sys.executable, "show.py"], cwd=folder, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert "JD201" in script


@pytest.mark.parametrize(("name", "code"), [("crash", "JD002"), ("hang", "JD003")])
def test_what_ends_or_hangs_is_a_finding(folder: Path, name: str, code: str) -> None:
    words = ["--op", "softmax", "--dtype", "f32", "--shape", "2x3", "--timeout", "0.5"]
    found = run(folder, f"kernels.py::{name}", *words)
    assert found.returncode == 1
    assert code in found.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kernels.py::good", "--op", "softmx"], "Did you mean 'softmax'?"),
        (["kernels.py::nope", "--op", "softmax"], "has no nope; it has bad, crash, good, hang"),
        (["nothing.py::good", "--op", "softmax"], "does not exist"),
        (["kernels.py", "--op", "softmax"], "is not FILE::NAME"),
        (["leaves.py::f", "--op", "softmax"], "ends the interpreter when it is imported"),
        (["raises.py::f", "--op", "softmax"], "ZeroDivisionError"),
        (["kernels.py::good", "--op", "softmax", "--dtype", "int8"], "not a dtype of real"),
        (["kernels.py::good", "--op", "softmax", "--standard", "tkk"], "Did you mean 'ttk'?"),
        (["kernels.py::good", "--op", "softmax", "--shape", "3xx"], "3xx"),
        (["--op", "softmax"], "give a kernel"),
    ],
)  # fmt: skip
def test_a_wrong_call_says_what_is_expected(
    folder: Path, words: list[str], said: str,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    status = main(["judge", *words])
    assert status == 2
    assert said in capsys.readouterr().err


def test_a_program_is_a_kernel(folder: Path) -> None:
    (folder / "prog.py").write_text(
        "import sys, numpy as np\nfrom kernels import good\n"
        "np.save(sys.argv[2], good(np.load(sys.argv[1])))\n"
    )
    words = ["--op", "softmax", "--dtype", "f32", "--shape", "2x5"]
    found = run(folder, "--command", f"{sys.executable} prog.py {{inputs}} {{output}}", *words)
    assert found.returncode == 0, found.stdout + found.stderr


def test_each_case_is_a_test_of_pytest(folder: Path) -> None:
    (folder / "test_k.py").write_text(
        "import suanzi as sz\nfrom kernels import good, bad\n"
        "pytest_plugins = ['suanzi.judge_plugin']\n"
        "@sz.judged('softmax', dtypes='float32', shapes=[(2, 9)])\n"
        "def test_good():\n    return good\n"
        "@sz.judged('softmax', dtypes='float32', shapes=[(2, 9)])\n"
        "def test_bad():\n    return bad\n"
        "def test_fixture(judge):\n"
        "    assert judge(good, 'softmax', dtypes='float32', shapes=[(2, 9)])\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_k.py"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    tail = found.stdout.splitlines()[-1]
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", tail)}
    assert counts["failed"] >= 4, found.stdout
    assert counts["passed"] >= 5
    assert "JD201" in found.stdout


@pytest.mark.parametrize("shape", [(1, 2), (2, 40), (4, 512), (1, 1000)])
def test_a_softmax_that_overflows_is_wrong_in_any_shape(shape: tuple[int, int]) -> None:
    """Its answers are nearly one-hot, and would pass without their tail: they refuse it."""

    def overflows(x: Any) -> Any:
        return np.exp(x) / np.exp(x).sum(-1, keepdims=True)

    with np.errstate(all="ignore"):
        found = sz.judge(overflows, "softmax", dtypes="float32", shapes=[shape])
    assert not found
    assert "WRONG as nn:softmax: 1 of" in str(found)


def test_a_case_that_accepts_a_wrong_answer_does_not_count() -> None:
    def last_missing(x: Any) -> Any:  # right wherever the last element is 0
        y = np.maximum(x, 0)
        y[..., -1] = 0
        return y

    found = sz.judge(last_missing, "relu", dtypes="float32", shapes=[(1, 3)])
    right = [c for c in found.cases if c.outcome == "right"]
    weak = [c for c in found.cases if c.outcome == "cannot fail"]
    assert weak, found
    assert f"not counted: {len(weak)} case" in str(found)
    assert not [c for c in right if c in weak]


def test_no_elements_are_judged_once_for_each_dtype() -> None:
    found = sz.judge(lambda x: x * 1, "softmax", dtypes="float32")
    empty = [c.id for c in found.cases if c.id.split("/")[1] == "empty"]
    assert empty
    assert not [one for one in empty if "," in one]


def test_optional_tensors_are_those_that_the_kernel_names() -> None:
    """A sink without a mask must not become the mask of a kernel that has no sink."""
    attention = sz.nn.scaled_dot_product_attention

    def by_name(q: Any, k: Any, v: Any, *, scale: Any = None, mask: Any = None) -> Any:
        return attention(q, k, v, mask, scale=scale)

    def renamed(q: Any, k: Any, v: Any, m: Any = None) -> Any:
        return attention(q, k, v, m)

    counts = []
    for kernel in (attention, by_name, renamed, lambda q, k, v: attention(q, k, v)):
        found = sz.judge(
            kernel, "scaled_dot_product_attention", dtypes="float32", framework="suanzi"
        )
        assert found, found
        counts.append(len(found.cases))
    assert counts[0] > counts[1] > counts[2] > counts[3]

    def forgets_the_sink(q: Any, k: Any, v: Any, mask: Any = None, sink: Any = None) -> Any:
        return attention(q, k, v, mask)

    assert not sz.judge(
        forgets_the_sink, "scaled_dot_product_attention", dtypes="float32",
        framework="suanzi",
    )  # fmt: skip


class Norm:
    """As a module of PyTorch: it is called with anything, and passes it to `forward`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def forward(self, x: Any, weight: Any, eps: float = 1e-6) -> Any:
        y = x.astype(np.float32)
        y = y / np.sqrt((y * y).mean(-1, keepdims=True) + np.float32(eps))
        return (y * weight.astype(np.float32)).astype(x.dtype)


def test_kernels_behind_wrappers_get_what_they_take() -> None:
    norm = Norm()

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return norm.forward(*args, **kwargs)

    given: dict[str, Any] = {"params": {"eps": 1e-6}, "dtypes": "float32", "framework": "numpy"}
    with np.errstate(all="ignore"):
        for kernel in (norm, wrapper):
            found = sz.judge(kernel, "rms_norm", **given)
            assert found, found
        assert not sz.judge(wrapper, "rms_norm", **{**given, "params": {"eps": 1e-2}})


def test_another_formula_is_not_a_lower_precision() -> None:
    def by_tanh(x: Any) -> Any:
        y = x.astype(np.float32)
        inner = np.float32(math.sqrt(2 / math.pi)) * (y + np.float32(0.044715) * y**3)
        return (y * (1 + np.tanh(inner)) / 2).astype(x.dtype)

    with np.errstate(all="ignore"):
        found = sz.judge(by_tanh, "gelu", dtypes="float32")
    assert [one.code for one in found.findings] == ["JD404"], found


def test_a_result_alone_is_judged() -> None:
    x = np.linspace(-3, 3, 600, dtype=np.float32).reshape(3, 200)
    e = np.exp(x - x.max(-1, keepdims=True))
    right = e / e.sum(-1, keepdims=True)
    sz.assert_right("softmax", x, right)
    sz.assert_right("softmax", sz.tensor(x), sz.tensor(right))
    for wrong in (right.astype(np.float16).astype(np.float32), np.roll(right, 1, -1), 0 * right):
        with pytest.raises(AssertionError, match="softmax is wrong: JD"):
            sz.assert_right("softmax", x, wrong)
    with pytest.raises(AssertionError, match="float64 of shape"):
        sz.assert_right("softmax", x, right.astype(np.float64)[:2])
    with pytest.raises(InvalidArgument, match="has no parameter 'dim'"):
        sz.assert_right("softmax", x, right, dim=-1)


def test_operators_of_ones_own() -> None:
    def squared(x: Any) -> Any:
        return x * x

    sz.judge.register("squared", truth=squared, inputs=[{"x": (4, 6)}])
    assert sz.judge(lambda x: x * x, "squared", dtypes="float32")
    assert not sz.judge(lambda x: x + x, "squared", dtypes="float32")
    with pytest.raises(InvalidArgument, match="identifier"):
        sz.judge.register("a b", truth=squared, inputs=[{"x": (4,)}])
    with pytest.raises(InvalidArgument, match="data class"):
        sz.judge.register("b", truth=squared, inputs=[{"x": (4,)}], classes=["odd"])
    with pytest.raises(InvalidArgument, match="must be callable"):
        sz.judge(3, "softmax")  # type: ignore[arg-type]


def test_the_standards_operators_are_judged_by_the_kits_cases() -> None:
    with np.errstate(all="ignore"):
        assert sz.judge(lambda x, y: x + y, "add", dtypes="float32")
        assert not sz.judge(lambda x, y: x - y, "add", dtypes="float32")
        assert sz.judge(lambda x: np.exp(x), "exp", dtypes="float32")
        assert not sz.judge(lambda x: np.exp(x * np.float32(1.0001)), "exp", dtypes="float32")


def test_every_code_is_on_the_page_of_findings() -> None:
    text = (ROOT / "docs" / "en" / "reference" / "judge-findings.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (JD\d+) \| ([^|]+) \|", text, re.M))
    assert rows == dict(CODES)
