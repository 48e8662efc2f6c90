"""The way to pocketfft: tried out once, and replaced by SciPy's public functions if it changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.libraries import pocketfft


class Wrong(pocketfft.Public):
    """Forgets the scale."""

    def r2c(self, a: Any, axes: Any, forward: bool, scale: int, out: Any, threads: int, /) -> None:
        super().r2c(a, axes, forward, 0, out, threads)


class Other:
    """Takes other arguments."""

    def c2c(self, a: Any) -> Any:
        return a


def test_only_the_right_one_is_taken() -> None:
    assert pocketfft.is_right(pocketfft.Public())
    assert not pocketfft.is_right(Wrong())
    with pytest.raises(TypeError):
        pocketfft.is_right(Other())  # type: ignore[arg-type]
    assert pocketfft.is_right(pocketfft.library())


@pytest.fixture
def _without_the_module(monkeypatch: pytest.MonkeyPatch) -> Any:
    import scipy.fft._pocketfft as package

    monkeypatch.setattr(package, "pypocketfft", Other(), raising=False)
    pocketfft.library.cache_clear()
    yield
    monkeypatch.undo()
    pocketfft.library.cache_clear()


@pytest.mark.usefixtures("_without_the_module")
@pytest.mark.parametrize("dtype", [sz.complex32, sz.complex64, sz.complex128], ids=str)
def test_a_scipy_that_changed(dtype: sz.DType) -> None:
    assert isinstance(pocketfft.library(), pocketfft.Public)
    rng = np.random.default_rng(7)
    shape, eps = (3, 4, 5), 1e-2 if dtype is sz.complex32 else 1e-5
    z = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    x = sz.cast(sz.tensor(z), dtype)
    real = sz.real(x)
    for mode, scale in (("none", 1), ("by_sqrt_n", 20**0.5), ("by_n", 20)):
        ahead = np.fft.fftn(z, axes=(2, 1)) / scale
        back = np.fft.ifftn(z, axes=(2, 1)) * 20 / scale
        assert np.allclose(sz.fft_c2c(x, (2, 1), mode).numpy(), ahead, atol=eps * 40)
        assert np.allclose(sz.fft_c2c(x, (2, 1), mode, False).numpy(), back, atol=eps * 40)
        half = np.fft.fftn(z.real, axes=(1, 2))[:, :, :3] / scale
        assert np.allclose(sz.fft_r2c(real, (1, 2), mode).numpy(), half, atol=eps * 40)
        y = sz.fft_c2r(sz.fft_r2c(real), 5, None, mode, False)
        by = {"none": 5, "by_sqrt_n": 5**0.5, "by_n": 1}[mode]
        assert np.allclose(y.numpy(), z.real * by, atol=eps * 40)
