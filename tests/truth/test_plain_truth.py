"""Truths on NumPy arrays alone, against the core, which shares no code with them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi import truth
from suanzi.base.status import InvalidArgument
from suanzi.standard import interfaces
from suanzi.truth import definitions, plain_truths
from suanzi.truth.standard import WITHOUT

random = np.random.default_rng(3)
SPECTRUM = random.normal(size=(2, 3, 4, 2)).astype(np.float32).view(np.complex64)[..., 0]


def near(made: Any, core: Any, units: float = 40.0) -> None:
    right = np.asarray(made)
    found = core.numpy()
    assert right.dtype == found.dtype
    assert right.shape == found.shape
    eps = float(np.finfo(right.real.dtype).eps)
    assert np.abs(right - found).max() <= units * eps * max(1.0, float(np.abs(right).max()))


@pytest.mark.parametrize("axes", [None, [1, 0]])
@pytest.mark.parametrize(
    ("normalization", "forward"), [("none", True), ("by_n", False), ("by_sqrt_n", True)]
)
def test_transforms(axes: Any, normalization: str, forward: bool) -> None:
    given = {"axes": axes, "normalization": normalization, "forward": forward}
    x, flat = SPECTRUM, SPECTRUM.real.copy()
    near(truth.fft_c2c(x, **given), sz.fft_c2c(sz.tensor(x), **given))
    near(truth.fft_c2c_backward(x, **given), sz.fft_c2c_backward(sz.tensor(x), **given))
    for onesided in (True, False):
        made = truth.fft_r2c(flat, **given, onesided=onesided)
        near(made, sz.fft_r2c(sz.tensor(flat), **given, onesided=onesided))
        g = (made * 1j + 1).astype(np.complex64)
        back = sz.fft_r2c_backward(sz.tensor(g), sz.tensor(flat), **given)
        near(truth.fft_r2c_backward(g, flat, **given), back)
    last = 2 * (x.shape[-1 if axes is None else axes[-1]] - 1)
    for size in (last, last + 1):
        real = truth.fft_c2r(x, size, **given)
        near(real, sz.fft_c2r(sz.tensor(x), size, **given))
        near(truth.fft_c2r_backward(real, **given), sz.fft_c2r_backward(sz.tensor(real), **given))


def test_a_transform_is_rounded_correctly() -> None:
    x = random.normal(size=64)
    made = truth.fft_c2c(x.astype(np.complex64))
    wide = truth.fft_c2c(x.astype(np.complex64).astype(np.complex128))
    assert (made == wide.astype(np.complex64)).mean() > 0.99
    assert np.abs(wide - np.fft.fft(x.astype(np.complex64).astype(np.complex128))).max() < 1e-13


def test_systems_of_equations() -> None:
    a = random.normal(size=(2, 4, 4)).astype(np.float32)
    b = random.normal(size=(2, 4, 3)).astype(np.float32)
    near(truth.inverse(a), sz.inverse(sz.tensor(a)), 1000)
    for adjoint in (True, False):
        near(truth.solve(a, b, adjoint), sz.solve(sz.tensor(a), sz.tensor(b), adjoint), 1000)
    one = b[0, :, 0].copy()
    near(truth.solve(a[0], one, False), sz.solve(sz.tensor(a[0]), sz.tensor(one), False), 1000)
    for shape in ((6, 3), (3, 6)):
        m = random.normal(size=shape)
        r = random.normal(size=(shape[0], 2))
        near(truth.lstsq(m, r), sz.lstsq(sz.tensor(m), sz.tensor(r)), 1000)
    z = (a[0] + 1j * a[1]).astype(np.complex64)
    for m in (
        a[0] @ a[0].T + np.eye(4, dtype=np.float32),
        z @ z.conj().T + np.eye(4, dtype=z.dtype),
    ):
        for upper in "UL":
            near(truth.cholesky(upper, m), sz.cholesky(upper, sz.tensor(m)), 100)


def test_creation_and_parts() -> None:
    assert truth.range(5, 3, -0.5).tolist() == [5, 4.5, 4, 3.5, 3]
    assert truth.range(0, 1, 0.1).shape == tuple(sz.range(0, 1, 0.1).shape)
    assert truth.range(1, 7, 3, "int8").tolist() == [1, 4, 7]
    assert truth.linspace(0, 1, 4)[1] == np.float32(1 / 3)
    assert truth.full("bfloat16", value=1 + 2.0**-8, shape=(2,)).dtype == ml_dtypes.bfloat16
    assert truth.full("bfloat16", value=1 + 2.0**-8).astype(float) == 1  # to even
    assert truth.zeros((2, 3), "int8").dtype == np.int8
    x = SPECTRUM
    assert truth.shape(x).tolist() == [2, 3, 4]
    assert (int(truth.size(x)), int(truth.rank(x))) == (24, 3)
    assert (truth.complex(truth.real(x), truth.imag(x)) == x).all()
    assert (truth.conj(x) == x.conj()).all()
    with pytest.raises(InvalidArgument, match="step is 0"):
        truth.range(0, 1, 0)
    with pytest.raises(InvalidArgument, match="missing a required argument"):
        truth.inverse()


def test_every_operator_of_the_standard_has_a_truth_or_a_reason() -> None:
    without = {name for name in interfaces() if not hasattr(truth, name)}
    assert without == set(WITHOUT)
    assert not set(definitions()) & set(plain_truths())
    assert {"svd", "fft_c2c", "solve", "pad"} - without == {"fft_c2c", "solve", "pad"}
    assert "fft_c2c" in dir(truth)
    with pytest.raises(InvalidArgument, match="not how far a kernel may be off"):
        truth.bound("fft_c2c", SPECTRUM)
