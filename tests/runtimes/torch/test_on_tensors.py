"""Tensors on a device: made, moved, printed, indexed, shared; nothing moves by itself."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.helpers.devices import DEVICE, KIND

import suanzi as sz
from suanzi.faces import array_api as xp

torch = pytest.importorskip("torch", reason="devices of PyTorch")

TorchTensor = pytest.importorskip("suanzi.torch").TorchTensor
TORCH = pytest.importorskip("suanzi.runtimes.torch.dtypes").TORCH
from_torch = pytest.importorskip("suanzi.torch").from_torch


@pytest.mark.parametrize("dt", TORCH, ids=str)
def test_every_dtype_goes_there_and_back(device: str, dt: sz.DType) -> None:
    here = sz.cast(sz.tensor([[0.0, 1, 2], [3, 4, 5]]), dt)
    there: Any = here.to_device(device)
    assert isinstance(there, TorchTensor)
    assert (there.dtype, there.shape, there.device) == (dt, (2, 3), sz.Device(device))
    assert there.to_host().tolist() == here.tolist() == there.tolist()
    turned: Any = here.T.to_device(device)
    assert turned.to_host().layout == here.T.layout
    assert turned.tolist() == here.T.tolist()
    assert sz.zeros((2, 2), dt, device=device).to_host().tolist() == sz.zeros((2, 2), dt).tolist()


def test_dtypes_that_pytorch_lacks_are_refused(device: str) -> None:
    for dt in (sz.int4, sz.uint1, sz.char):
        with pytest.raises(sz.TypeMismatch, match=f"PyTorch has no {dt}"):
            sz.zeros((2,), dt, device=device)
    with pytest.raises(
        sz.TypeMismatch, match=rf"not supported on {DEVICE}: PyTorch has no int4.*to_host"
    ):
        sz.cast(sz.zeros((2,), device=device), sz.int4)


def test_creation_and_moves(device: str) -> None:
    made = sz.full(shape=(2, 3), value=2.5, dtype=sz.bfloat16, device=device)
    assert made.tolist() == [[2.5] * 3] * 2
    assert sz.linspace(0, 1, 5, device=device).tolist() == [0, 0.25, 0.5, 0.75, 1]
    same = sz.rand_normal((8,), seed=7, device=device)
    assert same.tolist() == sz.rand_normal((8,), seed=7).tolist()
    assert made.to_device(device) is made
    assert made.to("cpu").device == sz.Device("cpu")
    assert sz.tensor([1, 2]).to(device).device == sz.Device(device)
    assert sz.tensor(made, sz.float64, device=device).dtype is sz.float64
    with pytest.raises(sz.InvalidArgument, match=f"there is no device {DEVICE}:9"):
        sz.zeros((2,), device=f"{DEVICE}:9")


def test_nothing_moves_by_itself(device: str) -> None:
    there, here = sz.zeros((2,), device=device), sz.zeros((2,))
    both = f"{DEVICE} and cpu|cpu and {DEVICE}"
    for call in (lambda: there + here, lambda: here + there, lambda: sz.concat([there, here], 0)):
        with pytest.raises(sz.InvalidArgument, match=both) as caught:
            call()
        assert "to_host()" in str(caught.value)
    with pytest.raises(sz.InvalidArgument, match=r"on cpu.*to_host"):
        sz.add(there, np.zeros(2, np.float32))
    with pytest.raises(sz.InvalidArgument, match="value on cpu"):
        there[0:2] = here
    with pytest.raises(sz.InvalidArgument, match="a key on cpu"):
        there[sz.tensor([0])]
    assert (there + np.float32(1.5)).tolist() == [1.5, 1.5]  # a number is no tensor


def test_memory_is_shared_with_pytorch_and_dlpack(device: str) -> None:
    plain = torch.arange(6, dtype=torch.bfloat16, device=KIND).reshape(2, 3)
    x = from_torch(plain)
    plain[0, 0] = 7
    assert x.tolist()[0][0] == 7
    assert x.device == sz.Device(device)
    assert x.to_torch() is plain or x.to_torch().data_ptr() == plain.data_ptr()
    assert torch.from_dlpack(x).data_ptr() == plain.data_ptr()
    assert x.T.to_torch().data_ptr() == plain.data_ptr()
    x[1] = 9
    assert plain[1].tolist() == [9, 9, 9]
    copied = sz.tensor(plain, device=device)
    plain[0, 0] = 8
    assert copied.tolist()[0][0] == 7
    assert sz.from_dlpack(x).tolist() == plain.tolist()
    with pytest.raises(sz.TypeMismatch, match=r"no dtype for a tensor of torch\.float8_e4m3fnuz"):
        from_torch(torch.zeros(2, dtype=torch.float8_e4m3fnuz))


def test_printing_fetches_what_is_shown(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from suanzi.runtimes.torch import tensor as module

    fetched: list[int] = []
    real = module.fetched

    def counted(x: Any) -> Any:
        fetched.append(x.numel())
        return real(x)

    monkeypatch.setattr(module, "fetched", counted)
    text = repr(sz.zeros((1000, 1000), sz.float8_e5m2, device=device))
    assert "..." in text
    assert text.endswith(f"dtype=float8_e5m2, device='{DEVICE}')")
    assert fetched == [36]
    assert repr(sz.zeros((0, 3), device=device)) == (
        f"TorchTensor([], shape=(0, 3), dtype=float32, device='{DEVICE}')"
    )


def test_subscripts_are_the_cpus(device: str) -> None:
    here = sz.range(0, 59, 1, sz.uint16).reshape(3, 4, 5)
    there: Any = here.to_device(device)
    keys: list[Any] = [
        0, -1, (1, 2), (1, 2, 3), slice(None, None, -1), (slice(0, 3, 2), slice(3, None, -2)),
        (Ellipsis, 0), (None, 1, Ellipsis, None), (slice(5, 1), 0), [2, 0], (slice(None), [1, 3]),
    ]  # fmt: skip
    for key in keys:
        assert there[key].tolist() == here[key].tolist(), key
    mask, index = sz.greater(here, 30), sz.tensor([[2, -1], [0, 1]])
    assert there[mask.to_device(device)].tolist() == here[mask].tolist()
    assert there[index.to_device(device)].tolist() == here[index].tolist()
    for bad in (3, (0, 0, 9), (0, 0, 0, 0), "x", 1.5):
        with pytest.raises((sz.StatusError, TypeError, IndexError)) as wanted:
            here[bad]
        with pytest.raises(type(wanted.value)):
            there[bad]
    for key, value in ((0, 7), ((slice(None), 1), 2.0), ((0, slice(0, 4, 2)), here[0, 0])):
        given = value.to_device(device) if isinstance(value, sz.Tensor) else value
        there[key], here[key] = given, value
        assert there.tolist() == here.tolist()
    there[mask.to_device(device)] = 1
    here[mask] = 1
    assert there.tolist() == here.tolist()
    with pytest.raises(sz.InvalidArgument, match="share memory"):
        sz.expand(there[:1], (3, 4, 5))[0] = 1


def test_methods_symbols_and_the_array_api(device: str) -> None:
    here = sz.tensor([[1.5, -2, 3], [4, 0.25, -6]], sz.bfloat16)
    there: Any = here.to_device(device)
    for name in (
        "sum",
        "prod",
        "mean",
        "max",
        "min",
        "var",
        "std",
        "argmax",
        "argmin",
        "any",
        "all",
    ):
        for axis in (None, 0, -1):
            got, wanted = getattr(there, name)(axis=axis), getattr(here, name)(axis=axis)
            assert (got.dtype, got.tolist()) == (wanted.dtype, wanted.tolist()), name
    assert there.cumsum(1).tolist() == here.cumsum(1).tolist()
    assert (2 - there / 3 + there**2).tolist() == (2 - here / 3 + here**2).tolist()
    assert (there @ there.T).tolist() == (here @ here.T).tolist()
    assert ((there > 0) & (there < 4)).tolist() == ((here > 0) & (here < 4)).tolist()
    assert (-there).tolist() == (-here).tolist()
    assert abs(there).tolist() == abs(here).tolist()
    for function in (xp.sort, xp.argsort, xp.exp, xp.square, xp.matrix_transpose):
        assert function(there).tolist() == function(here).tolist()
    assert there.__array_namespace__() is xp
    assert len(there) == 2
    assert float(there[0, 0]) == 1.5
    assert int(there[1, 0]) == 4
    assert bool(there[0, 0])
    assert [row.tolist() for row in there] == here.tolist()
    assert there.flatten().shape == (6,)
    assert there.mT.shape == (3, 2)
    assert there.to_host().numpy().shape == np.asarray(there).shape == (2, 3)


def test_destroyed_and_empty(device: str) -> None:
    x: Any = sz.zeros((2,), device=device)
    sz.destroy(x)
    assert repr(x) == "TorchTensor(destroyed)"
    with pytest.raises(sz.UninitializedObject, match="x was destroyed"):
        sz.exp(x)
    none = sz.zeros((0, 4), device=device)
    assert sz.reduce(none, "SUM", axis=0).tolist() == [0] * 4
    assert (none + 1).shape == (0, 4)
    assert sz.fft_c2c(sz.cast(none, sz.complex64)).shape == (0, 4)
    assert math.isnan((sz.zeros((), device=device) / 0).item())  # type: ignore[arg-type]


def test_operators_that_are_missing_say_so(device: str) -> None:
    x = sz.zeros((2, 2), device=device)
    with pytest.raises(sz.TypeMismatch, match=f"not supported on {DEVICE}: PyTorch has no exact"):
        sz.reduce(x, accumulate="exact")
    with pytest.raises(
        sz.TypeMismatch, match=rf"reduce \(7.2.13.1\): not supported on {DEVICE}: .*to_host\(\)"
    ):
        sz.reduce(x, sz.ReduceFunction(sz.add))


def test_a_tensor_of_pytorch_is_not_taken_for_one_of_suanzi(device: str) -> None:
    x = sz.zeros((2,), device=device)
    with pytest.raises(sz.InvalidArgument, match=r"y is a tensor of PyTorch; .*from_torch\(y\)"):
        sz.add(x, torch.ones(2))


def test_rule_sets_that_come_and_go_do_not_share_answers(device: str) -> None:
    x, y = sz.tensor([1], sz.int32, device=device), sz.tensor([1.0], sz.bfloat16, device=device)
    for _ in range(3):
        for name in ("torch", "triton"):
            rules = replace(sz.rule_set(name), title=f"my {name}")
            with sz.promotion(rules):
                assert (x + y).dtype is sz.promote_types(sz.int32, sz.bfloat16, rules=rules)


def test_a_gpu_of_the_parent_is_refused_in_a_forked_child(monkeypatch: pytest.MonkeyPatch) -> None:
    forks = pytest.importorskip("suanzi.runtimes.torch.fork_guard")
    monkeypatch.setattr(forks._State, "forked", True)
    with pytest.raises(sz.InvalidArgument, match="spawn"):
        forks.check(torch.device("cuda:0"))
    forks.check(torch.device("cpu"))
