"""Operators on a device against the CPU's: large and small, valid and not, and their statuses."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.devices import DEVICE

import suanzi as sz
from suanzi.conformance.check import check
from suanzi.faces import interface
from suanzi.ops import nn
from suanzi.promote.registry import REGISTRY

torch = pytest.importorskip("torch", reason="devices of PyTorch")
pending = pytest.importorskip("suanzi.runtimes.torch.deferred_errors")

RNG = np.random.default_rng(3)


def both(function: Any, *args: Any, device: str, ulps: float = 4, **kwargs: Any) -> None:
    """Assert that a function gives the same on a device as on the CPU, to a few ULP of float32."""
    there = [x.to_device(device) if isinstance(x, sz.Tensor) else x for x in args]
    wanted, got = function(*args, **kwargs), function(*there, **kwargs)
    pairs = zip(wanted, got, strict=True) if isinstance(wanted, tuple | list) else [(wanted, got)]
    for a, b in pairs:
        assert (b.dtype, b.shape) == (a.dtype, a.shape)
        x, y = (sz.cast(v, sz.float64).numpy() for v in (a, b.to_host()))
        scale = np.maximum(np.abs(x), np.abs(x).max(initial=0) * 2.0**-4)
        assert (np.abs(x - y) <= ulps * 2.0**-23 * scale).all(), function


@pytest.mark.parametrize("rows", [3, 300])  # the second is beyond what is tried on the CPU first
def test_operators_of_any_size(device: str, rows: int) -> None:
    x = sz.tensor(RNG.standard_normal((rows, 64)).astype(np.float32))
    y = sz.tensor(RNG.standard_normal((64, 48)).astype(np.float32))
    for mode in ("SUM", "MEAN", "MAX", "MIN"):
        for axis in (None, 0, 1, (0, 1)):
            both(sz.reduce, x, mode, axis, device=device)
    both(sz.cumsum, x, 1, device=device)
    both(sz.argsort, x, 1, device=device)
    both(sz.topk, x, 5, device=device)
    both(sz.argmax, x, 0, device=device)
    both(sz.matmul, x, y, device=device, ulps=64)
    both(sz.linear, x, y.T, device=device, ulps=64)
    both(sz.norm, x, "2", device=device)
    both(sz.transpose, x, device=device, ulps=0)
    both(sz.pad, x, (1, 2, 3, 4), 9, device=device, ulps=0)
    both(sz.pad, x, (1, 2, 3, 4), 0, "PAD_MIRROR", device=device, ulps=0)
    both(sz.roll, x, 5, device=device, ulps=0)
    both(sz.split, x, [16, 48], axis=1, device=device, ulps=0)
    both(sz.slice, x, (1, 2), (2, 40), (1, 3), device=device, ulps=0)
    both(sz.gather, x, sz.tensor([2, 0, 2]), device=device, ulps=0)
    both(sz.scatter, x, sz.tensor([1, 0, 1]), x[:3], device=device, ulps=0)
    both(sz.scatter, x, sz.tensor([1, 0, 1]), x[:3], False, device=device)
    both(sz.masked_select, x, sz.greater(x, 0), device=device, ulps=0)
    both(nn.softmax, x, device=device, ulps=8)
    both(nn.layer_norm, x, 64, device=device, ulps=16)
    both(nn.rms_norm, x, 64, device=device, ulps=16)
    both(nn.gelu, x, device=device, ulps=16)


def test_integers_are_multiplied_exactly_where_there_is_no_kernel(device: str) -> None:
    """CUDA multiplies no matrices of integers: parts of them are multiplied as float64."""
    from suanzi.runtimes.torch.matrices import product

    for dtype in (torch.int8, torch.int32, torch.int64):
        ends = torch.iinfo(dtype)
        x, y = (torch.randint(ends.min, ends.max, (7, 7), dtype=dtype) for _ in range(2))
        assert torch.equal(product(x, y, parts=True), torch.matmul(x, y))


def test_sums_of_products_of_integers_by_letters_where_there_is_no_kernel(device: str) -> None:
    from suanzi.runtimes.torch.namespace_numbers import einsum_of_integers

    a, b, c = (torch.randint(-(2**62), 2**62, shape) for shape in ((3, 4), (4, 5), (2, 3, 5)))
    for subscripts, operands in (
        ("ij,jk->ik", (a, b)), ("ij,jk", (a, b)), ("ij,jk->", (a, b)), ("ij,ij->ji", (a, a)),
        ("ii->i", (a[:, :3],)), ("...ik,jk,ij -> ...", (c, b, a)), ("...ik,jk,ij", (c, b, a)),
        ("ij,kj,kl->il", (a, a, a)), ("i...,i...->...", (a, a)),
    ):  # fmt: skip
        wanted = torch.einsum(subscripts, *operands)
        assert torch.equal(einsum_of_integers(subscripts, list(operands)), wanted), subscripts


@pytest.mark.parametrize("before", [True, False, (True, False)])
def test_a_setting_of_cublas_is_changed_for_a_product_alone(before: Any) -> None:
    from suanzi.runtimes.torch.matrices import _narrow

    seen, chosen = [], torch.backends.cuda.matmul
    name = "allow_bf16_reduced_precision_reduction"
    x = torch.ones(2, 2, dtype=torch.bfloat16)
    original = torch._C._get_cublas_allow_bf16_reduced_precision_reduction()
    try:
        try:
            setattr(chosen, name, before)
        except RuntimeError:
            pytest.skip("this version has one setting")
        wanted = torch._C._get_cublas_allow_bf16_reduced_precision_reduction()
        _narrow(lambda *_: (seen.append(getattr(chosen, name)), x)[1], x, x)
        with pytest.raises(ZeroDivisionError):
            _narrow(lambda *_: 1 / 0, x, x)  # type: ignore[arg-type, return-value]
        assert torch._C._get_cublas_allow_bf16_reduced_precision_reduction() == wanted
        assert seen == [False]
    finally:
        setattr(chosen, name, original)


def test_errors_are_the_cpus(device: str) -> None:
    x: Any = sz.zeros((300, 64), device=device)
    here = sz.zeros((300, 64))
    for name, *args in (("reduce", "SUM", 5), ("reshape", (7, 7)), ("matmul", None), ("topk", 99),
                        ("transpose", (0, 0)), ("bitwise_and", 1)):  # fmt: skip
        function = getattr(sz, name)
        given = [x if a is None else a for a in args]
        with pytest.raises(sz.StatusError) as got:
            function(x, *given)
        with pytest.raises(sz.StatusError) as wanted:
            function(here, *[here if a is None else a for a in args])
        assert (type(got.value), str(got.value)) == (type(wanted.value), str(wanted.value))


def test_what_depends_on_elements_is_reported_where_something_waits(device: str) -> None:
    x = sz.tensor([4, 9], sz.int32, device=device)
    zero = sz.zeros((2,), sz.int32, device=device)
    made = x // zero  # nothing waits for the flag
    with pytest.raises(sz.DivisionByZero, match=r"floordiv \(7.2.4.6\): y contains a zero"):
        sz.synchronize()
    sz.synchronize()  # an error is raised once
    assert made.shape == (2,)
    for call, words in (
        (
            lambda: sz.gather(x, sz.tensor([5], device=device)),
            "index contains a number out of range",
        ),
        (lambda: x[sz.tensor([2], device=device)], "out of range for an axis of size 2"),
        (lambda: sz.bitwise_left_shift(x, sz.tensor([40], device=device)), "from 0 to 31"),
        (lambda: sz.inverse(sz.zeros((2, 2), device=device)), "singular"),
    ):
        found = call()
        with pytest.raises(sz.StatusError, match=words):
            found.to_host()
    with sz.domain_errors():
        sz.log(sz.tensor([-1.0], device=device))
        with pytest.raises(sz.InvalidArgument, match="outside the domain x >= 0"):
            sz.synchronize()
    for _ in range(pending.LIMIT - 1):
        x // zero
    with pytest.raises(sz.DivisionByZero):  # a full list of flags is read
        x // zero
    pending.forget()


def test_the_standards_form_waits(device: str) -> None:
    x = sz.tensor([4, -9], sz.int32, device=device)
    assert interface.op_div(x, sz.zeros((2,), sz.int32, device=device)) == (
        sz.Status.INVALID_ARGUMENT, None)  # fmt: skip
    assert interface.op_sqrt(sz.cast(x, sz.float32))[0] is sz.Status.INVALID_ARGUMENT
    status, made = interface.op_add(x, x)
    assert status is sz.Status.SUCCESS
    assert made.tolist() == [8, -18]


def test_without_memory_everything_goes_on(device: str) -> None:
    with pytest.raises(sz.AllocFailed, match=f"not enough memory on {DEVICE}"):
        sz.zeros((2**46,), device=device)
    x = sz.expand(sz.zeros((1,), device=device), (2**46,))
    with pytest.raises(sz.AllocFailed, match=r"add \(7.2.4.1\): not enough memory"):
        sz.add(x, 1)
    gc.collect()
    assert sz.zeros((2,), device=device).tolist() == [0, 0]


def test_the_kit_passes(device: str) -> None:
    asked: dict[str, Any] = {"quick": True, "jobs": 1, "dtypes": ["float32", "int32"]}
    run = check("suanzi", device=device, ops=["floordiv"], **asked)
    bad = [(r.id, r.problem) for r in run.results if r.bad]
    assert not bad
    assert sum(r.outcome == "passed" for r in run.results) > 50


def test_the_page_lists_what_is_missing() -> None:
    """Creation without tensors goes by way of the host, and is not missing."""
    page = (Path(__file__).parents[3] / "docs/en/guides/devices.md").read_text("utf-8")
    listed = re.findall(r"^- `(.*)`$", page.partition("## What is missing")[2], re.M)
    made = {key for key, op in REGISTRY.items() if op.form == "creation"} - {
        "create_quant_tensor", "create_sparse_tensor"}  # fmt: skip
    ways = pytest.importorskip("suanzi.torch").WAYS
    missing = [
        key.replace("nn:", "nn.") for key, op in REGISTRY.items()
        if key not in ways and f"kernel {op.kernel}" not in ways and key not in made
    ]  # fmt: skip
    assert listed == sorted(missing)
