"""The first hour: what people type who know NumPy, PyTorch or JAX, and what they get."""

from __future__ import annotations

import builtins
import inspect
import json
import os
import re
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.standard_operators import REGISTRY

X = sz.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])

# Names that NumPy, PyTorch and JAX users type.
TYPED = """
    absolute all amax amin angle any append arange arccos arccosh arcsin arcsinh arctan arctan2
    arctanh argwhere array array_equal array_split asarray ascontiguousarray astype atan2 average
    baddbmm bernoulli bitwise_invert bmm broadcast_to cat cbrt chunk clamp clone column_stack
    concatenate conjugate copy copysign count_nonzero cross cumprod deg2rad det detach diagonal
    digitize divide dropout dstack einsum eigh embedding empty_like eq exp2 eye fabs fft fft2 fftn
    fix flatnonzero fliplr flipud float_power floor_divide fmax fmin fmod from_numpy full_like ge
    gelu gt hstack hypot identity ifft index_select inner inv irfft isclose isfinite isin isinf
    isnan kron kthvalue layer_norm le leaky_relu left_shift lerp linalg logaddexp log_softmax
    logsumexp lt masked_fill matrix_power matrix_rank maximum mean median minimum mm moveaxis
    msort multiply mv nan nan_to_num narrow ndim ne neg negative newaxis normalize numel one_hot
    ones ones_like outer permute pi pinv positive power prod ptp rad2deg rand randint randn ravel
    relu remainder repeat rfft right_shift rms_norm rot90 searchsorted sigmoid silu sinc slogdet
    softmax softplus sort std subtract sum swapaxes take tensordot top_k tril triu unbind unique
    unsqueeze var vdot vecdot vector_norm view vstack zeros_like rsqrt_ select_n logistic swish
    device_put convert_element_type iota dot_general hard_tanh cumulative_sum permute_dims
    matrix_transpose cholesky_ stack_ erf conv2d max_pool2d batch_norm histogram no_grad
""".split()
MISSING = ["histogram"]
"""Those that suanzi has nothing for; the answer says so."""
NONSENSE = "rsqrt_ cholesky_ stack_".split()
"""Misspelt; the answer has the right name."""


def answer(name: str) -> str:
    with pytest.raises(AttributeError) as caught:
        getattr(sz, name)
    return str(caught.value)


def test_the_table_is_long_enough() -> None:
    assert len(set(TYPED)) == len(TYPED) >= 150


@pytest.mark.parametrize("name", TYPED)
def test_a_name_is_answered_with_what_exists_and_runs(name: str) -> None:
    said = answer(name)
    assert said.startswith(f"suanzi has no '{name}'. ")
    if name in NONSENSE:
        assert f"Did you mean '{name[:-1]}'?" in said
    elif name in MISSING:
        assert "suanzi has no operator for it" in said
    else:
        assert re.match(r".* Use .*(sz\.|x\b)", said), said
        for called in re.findall(r"sz((?:\.\w+)+)", said):
            found: Any = sz
            for part in called[1:].split("."):
                found = getattr(found, part)  # exists; what is written is run in test_other_names
        for method in re.findall(r"\bx\.(\w+)", said):
            assert hasattr(sz.Tensor, method), said


def test_hints_know_every_namespace() -> None:
    assert "sz.array_api.var(x" in answer("var")
    assert "Use sz.array_api.linalg." in answer("linalg")
    assert "Use sz.array_api.linalg.det(x)." in answer("det")
    assert "sz.interface.op_add(" in answer("op_add")
    assert "min=0, max=1" in answer("rand")


@pytest.fixture
def warned() -> Iterator[list[warnings.WarningMessage]]:
    sz.difference_warnings()
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            yield found
    finally:
        sz.difference_warnings(False)


class TestWarts:
    def test_1_cumsum_warns_once_where_axis_is_given_as_minus_one(
        self, warned: list[warnings.WarningMessage]
    ) -> None:
        sz.cumsum(X), sz.cumsum(X, 0), sz.cumsum(X[0], -1), X.cumsum(-1), X.cumsum()
        sz.interface.op_cumsum(input=X, axis=-1)
        assert warned == []
        assert sz.cumsum(X, -1).shape == (9,)
        sz.cumsum(X, axis=-1)
        (one,) = warned
        assert one.category is sz.DifferenceWarning
        assert one.filename == __file__
        assert "x.cumsum(-1)" in str(one.message)
        assert "axis=-1 (the default) flattens" in first_line(sz.cumsum)

    def test_1_transpose_warns_once_where_axes_go_round(
        self, warned: list[warnings.WarningMessage]
    ) -> None:
        x = sz.zeros((2, 3, 4))
        sz.transpose(x), sz.transpose(x, (0, 2, 1)), sz.transpose(x, (2, -2, 0)), sz.transpose(X)
        (
            x.transpose(1, 2, 0),
            x.permute(1, 2, 0),
            x[:, :, None],
            sz.array_api.permute_dims(x, (1, 2, 0)),
        )
        sz.interface.op_transpose(input=x, perm=(1, 2, 0))
        with pytest.raises(sz.InvalidArgument):
            sz.transpose(x, (1, 1, 0))
        assert warned == []
        assert sz.transpose(x, (1, 2, 0)).shape == (4, 2, 3)
        sz.transpose(x, perm=(1, 2, 0)), sz.transpose(x, [-2, -1, 0])
        (one,) = warned
        assert one.category is sz.DifferenceWarning
        assert one.filename == __file__
        assert "NumPy's perm is the inverse" in first_line(sz.transpose)

    def test_1_the_switch(self, warned: list[warnings.WarningMessage]) -> None:
        sz.difference_warnings(False)
        sz.cumsum(X, -1), sz.transpose(sz.zeros((2, 3, 4)), (1, 2, 0))
        assert warned == []
        sz.difference_warnings(True)
        sz.cumsum(X, axis=-1), sz.transpose(sz.zeros((2, 3, 4)), perm=[2, 0, 1])
        assert len(warned) == 2

    def test_4_max_of_one_tensor(self) -> None:
        for name in ("max", "min"):
            function = getattr(sz, name)
            with pytest.raises(
                TypeError, match=rf"use x\.{name}\(\) or sz\.array_api\.{name}\(x\)"
            ):
                function(X)
            said = rf"use x\.{name}\(axis=1\) or sz\.array_api\.{name}\(x, axis=1\)"
            with pytest.raises(TypeError, match=said):
                function(X, axis=1)
        with pytest.raises(TypeError, match=r"missing a required argument: 'y'$"):
            sz.add(X)  # type: ignore[call-arg]

    @pytest.mark.parametrize("word", ["keep_dims", "keepdim", "keepdims"])
    def test_5_every_spelling_of_keepdims(self, word: str) -> None:
        more: Any = {word: True}
        for name in "sum prod mean max min any all var std argmax argmin".split():
            assert getattr(X, name)(1, **more).shape == (3, 1)
        assert sz.reduce(X, "SUM", 1, **more).shape == sz.norm(X, 2, 1, **more).shape == (3, 1)
        assert sz.argmax(X, 1, **more).shape == sz.argmin(X, 1, **more).shape == (3, 1)
        with pytest.raises(TypeError, match="keepdimz"):
            X.sum(keepdimz=True)  # type: ignore[call-arg]

    def test_6_keywords_with_defaults(self) -> None:
        assert sz.full(shape=(2,), value=1).tolist() == [1, 1]
        assert sz.full(shape=2, value=1, dtype=sz.int8).dtype is sz.int8
        lower, upper = np.linalg.cholesky(X.numpy()), np.linalg.cholesky(X.numpy()).T
        for found, due in (
            (sz.cholesky("L", X), lower), (sz.cholesky("U", X), upper), (sz.cholesky(X), lower),
            (sz.cholesky(mat=X), lower), (sz.cholesky(X, "U"), upper),
            (sz.cholesky(mat=X, upper="U"), upper),
        ):  # fmt: skip
            np.testing.assert_allclose(found.numpy(), due, rtol=1e-6)
        with pytest.raises(sz.InvalidArgument, match='upper is 5; it must be "U" or "L"'):
            sz.cholesky(5, X)  # type: ignore[arg-type]

    def test_7_one_integer_is_a_shape(self) -> None:
        assert (
            sz.reshape(X, (-1,)).shape
            == sz.reshape(X, [-1]).shape
            == sz.reshape(X, -1).shape
            == (9,)
        )
        assert sz.reshape(X, 9).shape == (9,)
        assert sz.zeros(2).shape == sz.empty(2).shape == sz.rand_normal(2).shape == (2,)
        with pytest.raises(sz.InvalidArgument, match="at least 0"):
            sz.reshape(X, (3, -1))  # the standard computes no size from the others

    def test_8_the_range_of_rand_uniform_is_said_first(self) -> None:
        assert "by default over the dtype's whole range" in first_line(sz.rand_uniform)
        assert float(abs(sz.rand_uniform((100,), seed=7)).max()) > 1e37
        assert 0 <= float(sz.rand_uniform(100, min=0, max=1, seed=7).min()) < 1

    def test_9_rules_have_a_namespace_and_a_star_shadows_nothing(self) -> None:
        for name in sz.rules.__all__:
            assert getattr(sz.rules, name) is getattr(sz, name)
        names: dict[str, Any] = {}
        exec("from suanzi import *", names)
        names.pop("__builtins__")
        assert not [name for name in names if hasattr(builtins, name)]
        assert set(REGISTRY) - set(names) <= set(dir(builtins))
        assert set(REGISTRY) <= set(dir(sz))


def first_line(function: Any) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


PROGRAM = """
import suanzi as sz
import suanzi.standard

x = sz.tensor([[1.0, 2.0], [3.0, 4.0]])
y: sz.Tensor = sz.add(x, 1)
reduced: sz.Tensor = x.sum(0, keepdims=True) + x.sum(0, keepdim=True)
z: sz.Tensor = sz.array_api.sum(x, axis=0) + sz.array_api.linalg.det(x) + sz.array_api.fft.fft(x)
status = sz.interface.op_add(x=x, y=y)[0]
changes = sz.rules.diff("torch", "cann").of_shape("tensor, tensor")
names: list[str] = list(sz.rules.rule_sets())
sz.port.judge
sz.conformance.Data
sz.mindspore
sz.safetensors
sz.npy
dtype: sz.DType = sz.promote_types(sz.int8, sz.float16)
flag: sz.DType = sz.bool
biggest: sz.Tensor = sz.max(x, y)
"""
MISSPELT = [
    "sz.ad(x, 1)", "sz.array_api.summ(x)", "sz.array_api.linalg.dett(x)", "sz.interface.op_ad(x)",
    "sz.rules.dif('torch', 'cann')", "sz.port.juge", "sz.conformance.Dta", "x.summ()",
    "x.sum(keepdimz=True)", "sz.rulez", "sz.float23",
]  # fmt: skip


@pytest.mark.parametrize(
    "checker", ["mypy --strict --follow-imports=silent --config-file= --cache-dir=.", "pyright"]
)
def test_types_know_every_namespace_and_find_misspelt_names(checker: str, tmp_path: Path) -> None:
    command = [shutil.which(checker.split()[0]) or "", *checker.split()[1:], "program.py"]
    if not command[0]:
        pytest.skip(f"{checker.split()[0]} is not installed")
    program, home = tmp_path / "program.py", str(Path(sz.__file__).parents[1])
    program.write_text("\n".join([PROGRAM, "# misspelt", *MISSPELT, ""]))
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [home]}))
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "MYPYPATH": home}
    )
    lines = {int(n) for n in re.findall(r"program\.py:(\d+):.* error:", run.stdout)}
    lines |= {int(n) for n in re.findall(r"program\.py:(\d+):\d+ - error:", run.stdout)}
    if not lines and "program.py" not in run.stdout:
        pytest.skip(f"it does not run here: {(run.stderr or run.stdout)[-200:]}")
    first = program.read_text().splitlines().index("# misspelt") + 2
    assert lines == set(range(first, first + len(MISSPELT))), run.stdout + run.stderr
