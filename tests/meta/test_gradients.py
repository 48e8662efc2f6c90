"""The helper that judges gradients finds right ones right and wrong ones wrong."""

from __future__ import annotations

import numpy as np

from helpers.gradients import central_differences

X = np.array([[0.5, -1.25, 2.0], [1.0, 0.25, -0.75]])
Z = X + 1j * X[::-1]


def test_real_functions() -> None:
    g = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 1.0]])
    found = central_differences(np.sin, X, g)
    assert np.allclose(found, g * np.cos(X), rtol=1e-8)
    assert not np.allclose(found, g * np.sin(X), rtol=1e-2)


def test_complex_functions_have_the_conjugate() -> None:
    g = np.array([[1.0, 2.0j, -1.0], [0.5, 3.0 - 1j, 1.0]])
    found = central_differences(np.square, Z, g)
    assert np.allclose(found, g * np.conj(2 * Z), rtol=1e-8)
    assert not np.allclose(found, g * 2 * Z, rtol=1e-2)


def test_between_real_and_complex() -> None:
    g = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 1.0]])
    assert np.allclose(central_differences(np.real, Z, g), g)
    assert np.allclose(central_differences(np.imag, Z, g), 1j * g)
    h = g * (1 - 2j)
    found = central_differences(lambda x: x * (2 + 1j), X, h)
    assert found.dtype == np.float64
    assert np.allclose(found, np.real(h * (2 - 1j)))
