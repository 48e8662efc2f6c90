"""tools/fuzz.py --device: a short run, what it would find, and what it found once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz

pytest.importorskip("torch", reason="devices of PyTorch")
from fuzzing import devices
from fuzzing.judging import Finding, verdict
from fuzzing.making import Call
from suanzi.conformance.subjects.wire import Data
from suanzi.runtimes.torch import repeating
from suanzi.runtimes.torch.kernels import KERNELS

ROOT = Path(__file__).parents[3]


def test_a_short_run_finds_nothing() -> None:
    words = ("--calls", "60", "--seed", "1")
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "fuzz.py", "--quiet", "--device", "torch:cpu", *words],
        capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert " gives" in done.stdout


def test_a_wrong_kernel_is_found(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = Data("float32", (2,), np.array([4, 9], "f4").tobytes())
    call = Call("sqrt", "python", "cann", {"x": x}, device=device)
    devices.use(device)
    assert verdict(call) == "gives"
    monkeypatch.setattr("suanzi.runtimes.torch.running.usable", lambda kind: False)
    repeating.plans.clear()
    monkeypatch.setitem(KERNELS, "sqrt", lambda loop, x: x / 2)
    found = verdict(call)
    assert isinstance(found, Finding)
    assert found.said.startswith("other elements")


def test_roots_next_to_powers_of_two_are_rounded_once(device: str) -> None:
    x = sz.tensor(np.array([1 - 2.0**-53, 1 + 2.0**-52, 2.0, 0.25 - 2.0**-55, 3e-320, 1.7e308]))
    assert sz.sqrt(x.to_device(device)).tolist() == sz.sqrt(x).tolist()


def test_what_the_fuzzer_found(device: str) -> None:
    def both(call: Any, *operands: sz.Tensor) -> None:
        wanted, got = call(*operands), call(*(x.to_device(device) for x in operands))
        a, b = (np.asarray(v.to_host() if hasattr(v, "to_host") else v) for v in (wanted, got))
        np.testing.assert_allclose(b, a, rtol=1e-6)

    xp, x = sz.array_api, sz.tensor([[2.0, -1.0], [0.5, 3.0]])
    both(lambda v: sz.nn.bce(v, v, reduction="none"), x)  # NaN outside 0 to 1
    both(lambda v: sz.nn.bce_with_logits(v, v, pos_weight=2.0), x)
    both(lambda c, v: xp.where(c, v, v + 1), sz.tensor([[0.0, 2.0]]), x)
    both(lambda v, axis: xp.flip(v, axis=axis), x, sz.tensor(1))
    both(lambda v: sz.inverse(v), sz.tensor([[True, True], [False, True]]))
    both(lambda v: xp.searchsorted(v, v, sorter=xp.argsort(v)), sz.tensor([3.0]))
    both(lambda v: xp.linalg.eigvalsh(v), sz.tensor([[1.0, np.nan], [0.0, 2.0]]))
    bad = sz.tensor([[np.nan, 1.0], [0.0, 1.0]]).to_device(device)
    for function in (sz.lu, sz.inverse, sz.eig):
        function(bad)
        with pytest.raises(sz.InvalidArgument, match="contains infinities or NaN"):
            sz.synchronize()
    empty: Any = sz.zeros((1, 0), device=device)
    with pytest.raises(sz.InvalidArgument, match="index contains a number out of range"):
        sz.scatter(empty, sz.tensor([3], device=device), empty, True)


@pytest.mark.parametrize(
    ("call", "operands"),
    [
        (lambda x: sz.nn.avg_pool2d(x, 2, stride=np.array(2)), [np.ones((1, 1, 4, 4))]),
        (lambda x, k: sz.array_api.triu(x, k=k), [np.ones((3, 3)), np.array(1)]),
        (lambda x, axis: sz.array_api.any(x, axis=axis),
         [np.ones((2, 3, 1)), np.array([[0], [1]])]),
        (lambda x: sz.array_api.expand_dims(x, axis={}), [np.ones(3)]),
        (lambda x: sz.array_api.moveaxis(x, iter([0]), iter([1])), [np.ones((2, 3))]),
        (lambda x: sz.nn.unfold(x, iter([2, 2])), [np.ones((1, 1, 3, 3))]),
        (lambda x, axes: sz.array_api.fft.ifftshift(x, axes=axes),
         [np.ones(3), np.ones((0, 3), int)]),
        (lambda x, flag: sz.array_api.sort(x, descending=flag), [np.ones(3), np.ones(0, "u1")]),
        (lambda x, flag: sz.array_api.sort(x, stable=flag), [np.ones(3), np.ones(2, "u1")]),
        (lambda x: sz.dot_bwd2(1.5, x, x), [np.array([1, 2], "i4")]),
        (lambda x: sz.not_equal(x, 10**400), [np.array([1j, np.inf])]),
        (lambda x: sz.nn.leaky_relu(x, np.array(0.5)), [np.array([-1.0, 2.0])]),
        (lambda x: sz.nn.leaky_relu(x, -(2**63) - 1), [np.array([-1.0, 2.0])]),
        (lambda x, t: sz.nn.cross_entropy(x, t, label_smoothing=0.5, empty_mean=np.array(7)),
         [np.ones((0, 0)), np.ones(0, "i1")]),
        (lambda x: sz.svd(sz.cast(x, sz.bfloat16))[1], [np.full((2, 2), 3e38)]),
        (lambda x: sz.array_api.logical_or(2**31, x), [np.array([0, 1], "u2")]),
        (lambda axis: sz.flip(True, axis=axis), [np.ones(0, int)]),
        (lambda x: sz.nn.group_norm(x, None), [np.ones((1, 4))]),
        (lambda x: sz.dot(x, 2**31), [np.array(3.0)]),
        (lambda x: sz.nn.dynamic_quantize(x, block_size=np.array(2))[0], [np.array([1.0, 2.0])]),
        (lambda x, t: sz.nn.nll_loss_bwd(1.0, x, t, ignore_index=0),
         [np.ones((1, 0)), np.array([4])]),
        (lambda x: sz.nn.one_hot(x), [np.array([-3, -2], "i2")]),
        (lambda x: sz.nn.one_hot(x), [np.array([2**64 - 1], "u8")]),
        (lambda x: sz.nn.one_hot(x), [np.array([2**63 - 1], "i8")]),
        (lambda x, v: sz.array_api.full_like(x, fill_value=v),
         [np.ones(2, "u2"), np.array(3, "u2")]),
        (lambda x: sz.array_api.concat(iter([x, x])), [np.ones(2)]),
        (lambda m, v: sz.solve(m, v, True), [np.full((1, 1, 1), 2.0), np.ones(1)]),
        (lambda m, v: sz.solve(m, v, False), [np.full((1, 1, 1), 2.0), np.ones((1, 1))]),
        (lambda x, w, sizes: sz.nn.grouped_matmul_bwd(x, x, w, sizes)[0],
         [np.ones((4, 0)), np.ones((1, 0, 0)), np.array([7])]),
        (lambda x: sz.inverse(sz.cast(x, sz.float16)), [np.eye(2) * 2.0**-20]),
        (sz.nn.hardsigmoid, [np.array([0.0, 1.0, -4.0, 7.0])]),
        (sz.nn.hardswish, [np.array([0.0, 1.0, -4.0, 7.0, np.inf, -np.inf, np.nan])]),
        (lambda x, axes: sz.array_api.tensordot(x, x, axes=axes), [np.array(3), np.array([0])]),
    ],
)  # fmt: skip
def test_arguments_that_the_fuzzer_gave(device: str, call: Any, operands: list[Any]) -> None:
    """Integers in arrays and iterators, flags of several elements, numbers beyond the range."""

    def outcome(*given: Any) -> Any:
        try:
            made = call(*given)
            sz.synchronize()
        except sz.StatusError as error:
            return error.status
        assert not isinstance(made, tuple)
        return made.tolist()

    tensors = [sz.tensor(x) for x in operands]
    wanted = outcome(*tensors)
    assert repr(outcome(*(x.to_device(device) for x in tensors))) == repr(wanted)


def test_integers_wrap_in_the_dtype_of_the_rule_set(device: str) -> None:
    big = sz.tensor(np.array([2**40 + 7, 3]))
    with sz.promotion("jax_x32"):
        for call in (sz.dot_bwd1, sz.dot_bwd2):
            factor = big[0]
            wanted = call(factor, big, big)
            assert wanted.tolist() == [49, 21]
            there = call(*(v.to_device(device) for v in (factor, big, big)))
            assert (there.tolist(), there.dtype) == (wanted.tolist(), wanted.dtype)


def test_rule_sets_do_not_convert_what_is_asked(device: str) -> None:
    x = sz.tensor([1e158, 1.0, float("nan")])
    with sz.promotion("jax_x32"):
        for ask in (sz.is_inf, sz.is_finite, sz.is_nan):
            assert ask(x.to_device(device)).tolist() == ask(x).tolist()


def test_scales_that_are_numbers(device: str) -> None:
    x, weight = sz.tensor(np.array([[1, -2]], "i1")), sz.tensor(np.array([[3, 4], [5, 6]], "i1"))
    wanted = sz.nn.scaled_linear(x, weight, 0.5, 2.0)
    found = sz.nn.scaled_linear(x.to_device(device), weight.to_device(device), 0.5, 2.0)
    assert found.tolist() == wanted.tolist()


def test_what_was_destroyed_is_missed_again(device: str) -> None:
    """A call that was kept looks at tensors whose elements it does not read, too."""
    x, mask = sz.tensor([1.0, 2.0], device=device), sz.tensor([True, False], device=device)
    for _ in range(3):
        sz.nn.dropout_bwd(x, x, 0.5, mask)
    gone = sz.tensor([1.0, 2.0], device=device)
    for _ in range(3):
        sz.nn.dropout_bwd(x, gone, 0.5, mask)
    sz.destroy(gone)
    for _ in range(2):
        with pytest.raises(sz.UninitializedObject, match="x was destroyed"):
            sz.nn.dropout_bwd(x, gone, 0.5, mask)


def test_cholesky_reads_one_triangle(device: str) -> None:
    x = sz.tensor([[4.0, float("nan")], [2.0, 5.0]], device=device)
    assert sz.cholesky("L", x).tolist() == [[2, 0], [1, 2]]
    assert sz.array_api.linalg.cholesky(x).tolist() == [[2, 0], [1, 2]]
    sz.synchronize()


@pytest.mark.parametrize("imag", [7.0, float("inf"), float("nan")])
def test_cholesky_reads_no_imaginary_part_of_the_diagonal(device: str, imag: float) -> None:
    given = np.array([[4, 2], [2, 5]], np.complex64)
    given.imag[0, 0] = imag
    x = sz.tensor(given, device=device)
    assert sz.cholesky("L", x).tolist() == [[2, 0], [1, 2]]
    assert sz.array_api.linalg.cholesky(x).tolist() == [[2, 0], [1, 2]]


def test_eigenvalues_of_large_numbers(device: str) -> None:
    """PyTorch's LAPACK fails to converge, and may write beyond its results."""
    x = np.array([[0, 1.5, 2.5], [-0.25, 1.7e308, 1e300], [1e-308, 2, 1e308]])
    values, _ = sz.eig(sz.tensor(x).to_device(device))
    found = sorted(abs(np.asarray(values.to_host())) / 1e308)
    np.testing.assert_allclose(found, [0, 1, 1.7], atol=1e-12)


@pytest.mark.parametrize("dtype", [sz.float32, sz.complex64])
def test_equations_whose_products_overflow_on_the_way(device: str, dtype: sz.DType) -> None:
    """The answers are within the range of float32, and the CPU gives them."""
    x = sz.tensor([[1e30, 1e28], [0.0, 1e-12]], dtype)
    y = sz.tensor([[0.0], [1e9]], dtype)
    there, right = x.to_device(device), y.to_device(device)
    xp = sz.array_api.linalg
    found = [sz.solve(there, right, adjoint=False), xp.solve(there, right)]
    found += [sz.inverse(there), xp.inv(there)]
    sz.synchronize()
    wanted = [sz.solve(x, y, adjoint=False), xp.solve(x, y), sz.inverse(x), xp.inv(x)]
    for got, own in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(got.to_host()), np.asarray(own), rtol=1e-5)


def test_writing_against_the_order(device: str) -> None:
    x = sz.tensor(np.arange(6).reshape(2, 3))
    there: Any = x.to_device(device)
    for y in (x, there):
        y[:, ::-1] = sz.tensor([10, 11, 12], device=y.device)
        y[::-1, ::-2] = 7
    assert there.tolist() == x.tolist()


def test_an_unknown_value_of_the_switch(device: str) -> None:
    program = (
        "import suanzi as sz\nfrom suanzi.runtimes.torch.provider import register\nregister()\n"
    )
    program += "x = sz.zeros((2,), device='torch:cpu')\nx + x\n"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env=os.environ | {"SUANZI_TRITON": "yes", "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert "SUANZI_TRITON is 'yes'; it must be 0" in done.stderr
