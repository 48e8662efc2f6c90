"""sz.array_api on a device: every function has the CPU's answer, and stays on the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.promote.registry import NAMESPACES

pytest.importorskip("torch", reason="devices of PyTorch")
from tests.runtimes.torch.test_on_elements import same

from suanzi.runtimes.torch.tensor import TorchTensor
from suanzi.runtimes.torch.ways import WAYS

xp = sz.array_api

X = [[3.0, -1.5, 2.0, -0.0], [np.nan, 0.0, -7.25, 2.0], [1.0, np.inf, -np.inf, 2.0]]
Y = [[2.0, 1.0, 3.0], [1.0, 3.0, 0.5], [4.0, -1.0, 2.0]]
M = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 2.0]]

CALLS = {
    "moves": (X, ["bool", "int8", "uint16", "uint64", "float8_e5m2", "bfloat16", "float64",
                  "complex32"], [
        lambda x: xp.asarray(x, copy=True),
        lambda x: xp.astype(x, x.dtype),
        lambda x: xp.zeros_like(x, dtype=xp.float32),
        lambda x: xp.ones_like(x),
        lambda x: xp.full_like(x, 1),
        lambda x: xp.tril(x, k=1),
        lambda x: xp.triu(x, k=-1),
        lambda x: xp.meshgrid(x[0], x[:, 1]),
        lambda x: xp.meshgrid(x[0], x[:, 1], indexing="ij"),
        lambda x: xp.broadcast_to(x, (2, 3, 4)),
        lambda x: xp.broadcast_arrays(x, x[:1], x[0]),
        lambda x: xp.reshape(x, (2, -1)),
        lambda x: xp.reshape(x, (12,), copy=False),
        lambda x: xp.expand_dims(x, axis=(0, -1)),
        lambda x: xp.squeeze(x[:1], axis=0),
        lambda x: xp.moveaxis(x, 0, -1),
        lambda x: xp.permute_dims(x, (1, 0)),
        lambda x: xp.matrix_transpose(x),
        lambda x: xp.unstack(x, axis=1),
        lambda x: xp.concat([x, x[:1]]),
        lambda x: xp.concat([x, x[0]], axis=None),
        lambda x: xp.stack([x, x], axis=1),
        lambda x: xp.flip(x),
        lambda x: xp.flip(x, axis=-1),
        lambda x: xp.roll(x, 5),
        lambda x: xp.roll(x, (1, -1), axis=(0, 1)),
        lambda x: xp.fft.fftshift(x),
        lambda x: xp.fft.ifftshift(x, axes=1),
        lambda x: xp.tile(x, (2, 1, 2)),
        lambda x: xp.repeat(x, 2),
        lambda x: xp.repeat(x, xp.asarray([1, 0, 2], device=x.device), axis=0),
        lambda x: xp.take(x, xp.asarray([2, 0, -1], device=x.device), axis=1),
        lambda x: xp.take_along_axis(x, xp.asarray([[2, -1]], device=x.device), axis=1),
        lambda x: xp.nonzero(x),
        lambda x: xp.linalg.diagonal(x, offset=1),
        lambda x: xp.logical_not(x),
        lambda x: xp.count_nonzero(x, axis=0),
        lambda x: xp.all(x, axis=1, keepdims=True),
        lambda x: xp.any(x),
        lambda x: xp.from_dlpack(x),
    ]),
    "orders": (X, ["bool", "int8", "uint16", "uint64", "float8_e4m3fn", "bfloat16", "float64",
                   "complex32", "complex128"], [
        lambda x: xp.sort(x),
        lambda x: xp.sort(x, axis=0, descending=True),
        lambda x: xp.argsort(x, axis=0),
        lambda x: xp.argsort(x, descending=True),
        lambda x: xp.unique_all(x),
        lambda x: xp.unique_counts(x),
        lambda x: xp.unique_inverse(x),
        lambda x: xp.unique_values(x),
        lambda x: xp.isin(x, x[:2, :2]),
        lambda x: xp.isin(x, x[0], invert=True),
    ]),
    "reals": (X, ["int8", "uint16", "uint64", "float16", "bfloat16", "float32", "float64"], [
        lambda x: xp.max(x, axis=0),
        lambda x: xp.min(x, keepdims=True),
        lambda x: xp.argmax(x),
        lambda x: xp.argmax(x, axis=1, keepdims=True),
        lambda x: xp.argmin(x, axis=0),
        lambda x: xp.clip(x, 1, 2),
        lambda x: xp.clip(x, xp.asarray([0, 1, 2, 3], dtype=x.dtype, device=x.device), None),
        lambda x: xp.searchsorted(xp.sort(x[:, 1]), x),
        lambda x: xp.searchsorted(x[:, 1], x[0], side="right", sorter=xp.argsort(x[:, 1])),
        lambda x: xp.diff(x, n=2),
        lambda x: xp.diff(x, axis=0, prepend=x[:1], append=x[1:]),
        lambda x: xp.sum(x, axis=0),
        lambda x: xp.sum(x, axis=()),
        lambda x: xp.sum(x[:0], axis=0),
        lambda x: xp.prod(x[:, 2:], axis=1, keepdims=True),
        lambda x: xp.prod(x[:0]),
        lambda x: xp.mean(x, axis=(0, 1)),
        lambda x: xp.mean(x[:0], axis=0),
        lambda x: xp.cumulative_sum(x, axis=1, include_initial=True),
        lambda x: xp.cumulative_prod(x[:, 2:], axis=0),
        lambda x: xp.cumulative_prod(x[0], include_initial=True, dtype=xp.float64),
        lambda x: x.sum(),
    ]),
    "numbers": (Y, ["int16", "uint64", "float16", "float32", "float64", "complex64"], [
        lambda x: xp.positive(x),
        lambda x: xp.conj(x),
        lambda x: xp.real(x),
        lambda x: xp.imag(x),
        lambda x: xp.matmul(x, x),
        lambda x: xp.tensordot(x, x, axes=1),
        lambda x: xp.tensordot(x, x, axes=((0,), (1,))),
        lambda x: xp.vecdot(x, x, axis=-1),
        lambda x: xp.einsum("ij,kj->ik", x, x),
        lambda x: xp.linalg.outer(x[0], x[1]),
        lambda x: xp.linalg.cross(x, x[:1]),
        lambda x: xp.linalg.trace(x, offset=-1),
        lambda x: xp.linalg.matrix_power(x, 3),
    ]),
}  # fmt: skip

NEAR = [
    lambda x: xp.var(x, axis=0),
    lambda x: xp.std(x, correction=1, keepdims=True),
    lambda x: xp.linalg.cholesky(x),
    lambda x: xp.linalg.cholesky(x, upper=True),
    lambda x: xp.linalg.qr(x),
    lambda x: xp.linalg.svd(x)[1],
    lambda x: xp.linalg.svdvals(x[:, :2]),
    lambda x: xp.linalg.eigh(x)[0],
    lambda x: xp.linalg.eigvalsh(x),
    lambda x: xp.sort(xp.real(xp.linalg.eigvals(x))),
    lambda x: xp.sort(xp.real(xp.linalg.eig(x)[0])),
    lambda x: xp.linalg.det(x),
    lambda x: xp.linalg.slogdet(x),
    lambda x: xp.linalg.inv(x),
    lambda x: xp.linalg.solve(x, x[0]),
    lambda x: xp.linalg.pinv(x[:, :2]),
    lambda x: xp.linalg.matrix_rank(x),
    lambda x: xp.linalg.matrix_rank(x, rtol=xp.asarray(0.5, device=x.device)),
    lambda x: xp.linalg.matrix_power(x, -2),
    *(lambda x, o=o: xp.linalg.matrix_norm(x, ord=o) for o in ("fro", "nuc", 1, -2, np.inf)),
    *(lambda x, o=o: xp.linalg.vector_norm(x, axis=0, ord=o) for o in (0, 1, 2, 3.5, -np.inf)),
    lambda x: xp.fft.fft(x),
    lambda x: xp.fft.ifft(x, n=5, axis=0, norm="ortho"),
    lambda x: xp.fft.fftn(x),
    lambda x: xp.fft.ifftn(x, s=(2, 5), axes=(0, 1)),
    lambda x: xp.fft.rfft(xp.real(x)),
    lambda x: xp.fft.irfft(x),
    lambda x: xp.fft.rfftn(xp.real(x), norm="forward"),
    lambda x: xp.fft.irfftn(x, s=(3, 4), axes=(0, 1)),
    lambda x: xp.fft.hfft(x),
    lambda x: xp.fft.ihfft(xp.real(x)),
]


def _array(values: Any, dtype: str) -> sz.Tensor:
    dt = getattr(sz, dtype)
    given = np.array(values)
    if not dt.exponent_bits:
        given = np.nan_to_num(given, nan=9, posinf=5, neginf=1)
    made: sz.Tensor = xp.astype(xp.asarray(np.abs(given) if dt.kind == "uint" else given), dt)
    return made


def _pairs(wanted: Any, got: Any) -> list[tuple[Any, Any]]:
    if not isinstance(wanted, tuple):
        return [(wanted, got)]
    assert type(got) is type(wanted)
    assert len(got) == len(wanted)
    return list(zip(wanted, got, strict=True))


def _compared(call: Any, x: sz.Tensor, device: str, near: float | None = None) -> None:
    for wanted, got in _pairs(call(x), call(x.to_device(device))):
        assert isinstance(got, TorchTensor)
        assert got.is_array_api
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        if near is None:
            assert same(wanted, got.to_host()), (wanted, got)
        else:
            a, b = (v.astype(sz.complex128).numpy() for v in (wanted, got.to_host()))
            np.testing.assert_allclose(b, a, rtol=near, atol=near * 8)


@pytest.mark.parametrize("kind", CALLS)
def test_functions_have_the_cpus_bits(device: str, kind: str) -> None:
    values, names, calls = CALLS[kind]
    for name in names:
        x = _array(values, name)
        for call in calls:
            _compared(call, x, device)


def test_functions_of_matrices_and_transforms_are_near(device: str) -> None:
    for name, near in (("float16", 2e-2), ("float32", 3e-5), ("float64", 1e-12),
                       ("complex64", 3e-5)):  # fmt: skip
        for call in NEAR:
            _compared(call, _array(M, name), device, near)


def test_every_function_is_on_devices() -> None:
    made_without_tensors = {"arange", "empty", "eye", "fftfreq", "full", "linspace", "ones",
                            "rfftfreq", "zeros"}  # fmt: skip
    for key, op in NAMESPACES.items():
        assert key in WAYS or f"kernel {op.kernel}" in WAYS or op.name in made_without_tensors, key


def test_creation_on_a_device(device: str) -> None:
    for call in (
        lambda **on: xp.zeros((2, 3), dtype=xp.bfloat16, **on),
        lambda **on: xp.ones(3, **on),
        lambda **on: xp.full((2,), 7, **on),
        lambda **on: xp.full((2,), 2**64 - 1, dtype=xp.uint64, **on),
        lambda **on: xp.empty((0, 2), **on),
        lambda **on: xp.arange(1, 9, 3, **on),
        lambda **on: xp.linspace(0, 1, 5, **on),
        lambda **on: xp.eye(2, 3, k=1, dtype=xp.complex64, **on),
        lambda **on: xp.asarray([[1, 2], [3, 4]], dtype=xp.float16, **on),
        lambda **on: xp.asarray(np.arange(3), **on),
        lambda **on: xp.from_dlpack(np.arange(3.0), **on),
        lambda **on: xp.astype(xp.arange(3), xp.float64, **on),
        lambda **on: xp.zeros_like(xp.arange(3), **on),
        lambda **on: xp.fft.fftfreq(5, **on),
    ):
        wanted, got = call(), call(device=device)
        assert str(got.device) == device
        assert got.is_array_api
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        assert same(wanted, got.to_host())
        assert call(device="cpu").device == sz.Device("cpu")
    x = xp.asarray([[1, 2], [3, 4]], dtype=xp.int8, device=device)
    nested = xp.asarray([[x[0, 1], 7], [x[1, 0], x[1, 1]]], dtype=xp.float32)
    assert (nested.tolist(), str(nested.device)) == ([[2, 7], [3, 4]], device)
    x = xp.zeros((2,), device=device)
    assert xp.ones_like(x, device="cpu").device == sz.Device("cpu")
    assert xp.asarray(x, device="cpu").device == sz.Device("cpu")
    with pytest.raises(sz.InvalidArgument, match=r"asarray: copy is False, and a copy is needed"):
        xp.asarray([1, 2], device=device, copy=False)
    with pytest.raises(sz.InvalidArgument, match=r"zeros: no provider for npu"):
        xp.zeros((2,), device="npu")
    with pytest.raises(sz.TypeMismatch, match=r"full: PyTorch has no int4"):
        xp.full((2,), 1, dtype=xp.int4, device=device)


def test_symbols_are_the_namespaces_functions(device: str) -> None:
    x = xp.asarray([1, 2], dtype=xp.int8, device=device)
    y = sz.tensor([1, 3], sz.uint8, device=device)
    assert not y.is_array_api
    for got in (x + y, y + x, x**2, -x, x @ x, x[:1], x.T, abs(x), x == y, x.sum(), +x, x.copy()):
        assert got.is_array_api
    assert (x + y).dtype is sz.int16
    assert (x / y).dtype is sz.float32
    assert not y.sum().is_array_api
    assert not sz.add(x, x).is_array_api
    assert x.to_host().is_array_api
    assert x.to_host().to_device(device).is_array_api
    with sz.promotion("array_api"):
        assert (y + sz.tensor([1, 3], sz.int8, device=device)).dtype is sz.int16
    for _ in range(3):  # also from plans that were kept
        assert (x + x).is_array_api
        assert not (y + y).is_array_api


def test_devices_are_not_mixed(device: str) -> None:
    here, there = xp.asarray([1.0, 2.0]), xp.asarray([1.0, 2.0], device=device)
    for call in (
        lambda: xp.add(here, there), lambda: xp.concat([here, there]), lambda: here @ there,
        lambda: there + here, lambda: xp.linalg.solve(xp.eye(2, device=device), here),
        lambda: xp.take(there, xp.asarray([0])), lambda: xp.where(there > 0, there, here),
        lambda: xp.searchsorted(there, here),
    ):  # fmt: skip
        with pytest.raises(sz.InvalidArgument, match=r"must be on one device"):
            call()


def test_errors_of_elements_and_of_arguments(device: str) -> None:
    x = xp.asarray([[1.0, 2.0], [2.0, 4.0]], device=device)
    for call, words in (
        (lambda: xp.linalg.inv(x), "inv.*: x is singular"),
        (lambda: xp.linalg.cholesky(-x), "cholesky.*: x is not positive definite"),
        (lambda: xp.linalg.eigh(x / 0), "eigh.*: x contains infinities or NaN"),
        (lambda: xp.take_along_axis(x, xp.asarray([[2]], device=device)), "take_along_axis.*range"),
    ):
        call()
        with pytest.raises(sz.StatusError, match=words):
            sz.synchronize()
    with pytest.raises(sz.OutOfRange, match="sort: axis"):
        xp.sort(x, axis=5)
    with pytest.raises(sz.InvalidArgument, match="repeats contains -1"):
        xp.repeat(x[0], xp.asarray([1, -1], device=device))
    with pytest.raises(sz.InvalidArgument, match="copy is False"):
        xp.reshape(x.T, (4,), copy=False)


def test_what_the_namespace_has(device: str) -> None:
    info = xp.__array_namespace_info__()
    assert info.default_device() == sz.Device("cpu")
    assert sz.Device(device) in info.devices()
    assert info.dtypes(device=device)["float64"] is sz.float64
    assert xp.finfo(xp.ones(1, device=device)).dtype is sz.float32
    assert xp.can_cast(xp.ones(1, device=device), sz.float64)
    assert xp.result_type(xp.ones(1, device=device), sz.float64) is sz.float64
    assert xp.ones(1, device=device).__array_namespace__() is xp


def _without_specials(name: str) -> Any:
    """Return a function of PyTorch with NaN where a part is infinite or NaN, as libraries may."""
    torch = pytest.importorskip("torch")
    plain = getattr(torch, name)

    def function(z: Any) -> Any:
        finite = torch.isfinite(z) if z.is_complex() else torch.ones_like(z, dtype=torch.bool)
        return torch.where(finite, plain(z), float("nan"))

    return function


@pytest.mark.parametrize("lacking", ["", "tanh"])
def test_special_values_of_complex_functions(
    device: str, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that the array API states: PyTorch's own functions lack some."""
    if lacking:
        monkeypatch.setattr(f"torch.{lacking}", _without_specials(lacking))
    some = [0.0, -0.0, 1.0, -2.5, 0.5, np.inf, -np.inf, np.nan, 1e-20, 50.0]
    values = np.array([complex(0, 0)] * len(some) ** 2)
    values.real, values.imag = np.repeat(some, len(some)), np.tile(some, len(some))
    x = xp.asarray(values)
    for name in ("sign", "expm1", "log1p", "acos", "tanh", "tan"):
        for z in (x, xp.astype(x, xp.complex64)):
            if name == "acos":  # where the sign of infinity is not specified
                z = z[~(xp.isinf(xp.real(z)) & xp.isnan(xp.imag(z)))]
            function = getattr(xp, name)
            wanted, got = function(z).numpy(), function(z.to_device(device)).to_host().numpy()
            for part in ("real", "imag"):
                a, b = getattr(wanted, part), getattr(got, part)
                near = 1e-14 if a.dtype == np.float64 else 3e-7
                np.testing.assert_allclose(b, a, rtol=near, atol=near, err_msg=name)
                given = ~np.isnan(a)
                assert (np.signbit(a) == np.signbit(b))[given].all(), name
