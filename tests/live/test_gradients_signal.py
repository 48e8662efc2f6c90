"""7.2.16: the transforms and their gradients against PyTorch's, where it is installed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import suanzi as sz

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

NORMS = {
    "none": ("backward", "forward"),
    "by_sqrt_n": ("ortho", "ortho"),
    "by_n": ("forward", "backward"),
}
CASES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    *(((n,), (0,)) for n in range(1, 10)), ((3, 4), (1,)), ((3, 4), (0, 1)), ((3, 5), (1, 0)),
    ((2, 1, 6), (2, 1)), ((2, 3, 4), (0, 2, 1)), ((4, 2, 2), (-1, 0)),
]  # fmt: skip
CHOICES = list(itertools.product(CASES, NORMS, (True, False)))


def numbers(shape: Any, kind: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    made = rng.normal(size=tuple(shape))
    return made + 1j * rng.normal(size=tuple(shape)) if kind == "complex" else made


def check(x: Any, theirs: Any, ours: Any, backward: Any) -> None:
    """Compare a function and its gradient."""
    leaf = torch.tensor(x, requires_grad=True)
    result = theirs(leaf)
    found = ours(sz.tensor(x))
    assert found.shape == tuple(result.shape)
    assert np.allclose(
        found.numpy(), result.detach().resolve_conj().numpy(), rtol=1e-12, atol=1e-13
    )
    g = numbers(result.shape, "complex" if result.is_complex() else "real", 1)
    result.backward(torch.tensor(g))
    gradient = backward(sz.tensor(g))
    assert gradient.dtype is sz.tensor(x).dtype
    assert np.allclose(gradient.numpy(), leaf.grad.resolve_conj().numpy(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("case", "mode", "forward"), CHOICES)
def test_transforms(case: Any, mode: str, forward: bool) -> None:
    shape, axes = case
    norm = NORMS[mode][not forward]
    more: dict[str, Any] = {"axes": axes, "normalization": mode, "forward": forward}
    fft = torch.fft
    x, real = numbers(shape, "complex", 0), numbers(shape, "real", 0)
    whole = fft.fftn if forward else fft.ifftn
    check(
        x,
        lambda t: whole(t, dim=axes, norm=norm),
        lambda t: sz.fft_c2c(t, **more),
        lambda g: sz.fft_c2c_backward(g, **more),
    )
    check(
        real,
        lambda t: whole(t, dim=axes, norm=norm),
        lambda t: sz.fft_r2c(t, **more, onesided=False),
        lambda g: sz.fft_r2c_backward(g, sz.tensor(real), **more),
    )
    half = fft.rfftn if forward else fft.ihfftn
    check(
        real,
        lambda t: half(t, dim=axes, norm=norm),
        lambda t: sz.fft_r2c(t, **more),
        lambda g: sz.fft_r2c_backward(g, sz.tensor(real), **more),
    )
    back = fft.hfftn if forward else fft.irfftn
    n = shape[axes[-1]]
    for length in {max(2 * n - 2, 1), 2 * n - 1}:
        sizes = [*(shape[a] for a in axes[:-1]), length]
        check(
            x,
            lambda t, sizes=sizes: back(t, s=sizes, dim=axes, norm=norm),
            lambda t, length=length: sz.fft_c2r(t, length, **more),
            lambda g: sz.fft_c2r_backward(g, **more),
        )
