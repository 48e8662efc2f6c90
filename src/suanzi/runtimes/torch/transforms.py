"""7.2.16, 7.2.18: Fourier transforms and interpolation."""

from __future__ import annotations

import math
from typing import Any

import torch

from suanzi.base import dtypes
from suanzi.base.dtypes import DType
from suanzi.runtimes.torch.casts import cast
from suanzi.runtimes.torch.ways import Call, way


def _axes(axes: Any) -> list[int]:
    return [-1] if axes is None else [axes] if isinstance(axes, int) else list(axes)


def _norm(normalization: Any, forward: bool) -> str:
    name = str(getattr(normalization, "name", normalization))
    if name == "by_sqrt_n":
        return "ortho"
    return "forward" if (name == "by_n") == bool(forward) else "backward"


def _wide(call: Call, name: str, x: torch.Tensor, kind: str = "") -> torch.Tensor:
    """Return the input in a dtype that transforms have, real or complex."""
    came = call.dtypes[name]
    wide: DType = dtypes.widened(came)
    if came.kind not in ("float", "complex"):
        wide = dtypes.widened(dtypes.part(call.result.dtype))
    if kind == "complex":
        wide = dtypes.complex_of(wide)
    return cast(x, came, wide)


@way("fft_c2c")
def fft_c2c(call: Call, input: torch.Tensor, axes: Any, normalization: Any, forward: bool) -> Any:
    """Return a complex transform."""
    function = torch.fft.fftn if forward else torch.fft.ifftn
    x = _wide(call, "input", input, "complex")
    return function(x, dim=_axes(axes), norm=_norm(normalization, forward))


@way("fft_r2c")
def fft_r2c(
    call: Call, input: torch.Tensor, axes: Any, normalization: Any, forward: bool, onesided: bool
) -> Any:
    """Return a transform of real numbers."""
    x, norm = _wide(call, "input", input), _norm(normalization, forward)
    if onesided:
        return (torch.fft.rfftn if forward else torch.fft.ihfftn)(x, dim=_axes(axes), norm=norm)
    return (torch.fft.fftn if forward else torch.fft.ifftn)(x, dim=_axes(axes), norm=norm)


@way("fft_c2r")
def fft_c2r(
    call: Call, input: torch.Tensor, last_dim_size: int, axes: Any, normalization: Any,
    forward: bool,
) -> Any:  # fmt: skip
    """Return a transform to real numbers."""
    x, along = _wide(call, "input", input), _axes(axes)
    sizes = [x.shape[a] for a in along[:-1]] + [int(last_dim_size)]
    function = torch.fft.hfftn if forward else torch.fft.irfftn
    return function(x, sizes, along, norm=_norm(normalization, forward))


def _gradient(function: Any, x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    with torch.enable_grad():
        at = x.detach().requires_grad_()
        return torch.autograd.grad(function(at), at, grad)[0]


@way("fft_c2c_backward")
def fft_c2c_backward(
    call: Call, grad_out: torch.Tensor, axes: Any, normalization: Any, forward: bool
) -> Any:
    """Return the gradient of a complex transform."""
    grad = _wide(call, "grad_out", grad_out, "complex")
    function = torch.fft.fftn if forward else torch.fft.ifftn
    norm = _norm(normalization, forward)
    return _gradient(
        lambda x: function(x, dim=_axes(axes), norm=norm), torch.zeros_like(grad), grad
    )


@way("fft_r2c_backward")
def fft_r2c_backward(
    call: Call, grad_out: torch.Tensor, input: torch.Tensor, axes: Any, normalization: Any,
    forward: bool,
) -> Any:  # fmt: skip
    """Return the gradient of a transform of real numbers."""
    grad, x = _wide(call, "grad_out", grad_out, "complex"), _wide(call, "input", input)
    along, norm = _axes(axes), _norm(normalization, forward)
    whole = grad.shape[along[-1]] == x.shape[along[-1]]
    names = ("fftn", "ifftn") if whole else ("rfftn", "ihfftn")
    function = getattr(torch.fft, names[0] if forward else names[1])
    return _gradient(lambda v: function(v, dim=along, norm=norm), x, grad)


@way("fft_c2r_backward")
def fft_c2r_backward(
    call: Call, grad_out: torch.Tensor, axes: Any, normalization: Any, forward: bool
) -> Any:
    """Return the gradient of a transform to real numbers."""
    grad = _wide(call, "grad_out", grad_out)
    along, norm = _axes(axes), _norm(normalization, forward)
    shape = list(grad.shape)
    shape[along[-1]] = shape[along[-1]] // 2 + 1
    x = torch.zeros(shape, dtype=grad.dtype.to_complex(), device=grad.device)
    function = torch.fft.hfftn if forward else torch.fft.irfftn
    sizes = [grad.shape[a] for a in along]
    return _gradient(lambda v: function(v, sizes, along, norm=norm), x, grad)


@way("interpolate")
def interpolate(call: Call, input: torch.Tensor, size: Any, scale_factor: Any, mode: str) -> Any:
    """Return an input enlarged or reduced behind its first two axes."""
    x = _wide(call, "input", input)
    wanted = _sizes(tuple(input.shape), size, scale_factor)
    corners = False if "linear" in mode or "cubic" in mode else None
    if size:
        return torch.nn.functional.interpolate(x, wanted, None, mode, corners)
    factors = (
        scale_factor if isinstance(scale_factor, list | tuple) else [scale_factor] * len(wanted)
    )
    return torch.nn.functional.interpolate(
        x, None, [float(f) for f in factors], mode, corners, recompute_scale_factor=True
    )


def _sizes(shape: tuple[int, ...], size: Any, scale_factor: Any) -> list[int]:
    inner = shape[2:]
    if size:
        return [int(size)] * len(inner) if isinstance(size, int) else [int(n) for n in size]
    factors = (
        scale_factor if isinstance(scale_factor, list | tuple) else [scale_factor] * len(inner)
    )
    return [math.floor(n * f) for n, f in zip(inner, factors, strict=True)]
