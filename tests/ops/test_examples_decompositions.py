"""The worked examples of Appendix A.2.17.7 to A.2.17.11, corrected where the errata say so."""

from __future__ import annotations

import numpy as np
import pytest

import suanzi as sz

MAT = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]
RHS = [1.0, 2.0, 3.0]


def test_a_2_17_7_solve() -> None:
    """E122: the printed matrix is singular, and its solution one of many with the wrong sign."""
    with pytest.raises(sz.InvalidArgument, match="singular"):
        sz.solve(sz.tensor(MAT), sz.tensor(RHS), False)
    mended = sz.tensor([*MAT[:2], [7.0, 8.0, 10.0]])
    found = sz.solve(mended, sz.tensor(RHS), False)
    np.testing.assert_allclose(found.tolist(), [-1 / 3, 2 / 3, 0], atol=1e-5)
    # E121: adjoint=True is the one with the adjoint.
    turned = sz.solve(mended, sz.tensor(RHS), True)
    np.testing.assert_allclose(turned.tolist(), [1, 0, 0], atol=1e-5)


def test_a_2_17_8_lstsq() -> None:
    """E123: x alone."""
    mat, rhs = sz.tensor(MAT, sz.float64), sz.tensor(RHS, sz.float64)
    printed = [-0.05555556, 0.11111111, 0.27777778]
    np.testing.assert_allclose(sz.lstsq(mat, rhs, 1e-10).tolist(), printed, atol=1e-8)


def test_a_2_17_9_inverse() -> None:
    """E124: with the signs that an inverse has."""
    found = sz.inverse(sz.tensor([[1, 2], [2, 1]]))
    np.testing.assert_allclose(found.tolist(), [[-1 / 3, 2 / 3], [2 / 3, -1 / 3]], rtol=1e-6)


def test_a_2_17_10_eig() -> None:
    """E125: up to the order, and vectors of length 1."""
    w, v = sz.eig(sz.tensor([[1, 2], [2, 1]]))
    columns = dict(zip(np.round(w.numpy().real).tolist(), v.numpy().T, strict=True))
    assert set(columns) == {-1, 3}
    for value, printed in ((-1, [-1, 1]), (3, [1, 1])):
        cosine = abs(np.vdot(columns[value], np.array(printed) / np.sqrt(2)))
        np.testing.assert_allclose(cosine, 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("normtype", "axis", "keep_dims", "printed"),
    [
        ("2", [], False, 9.53939),
        ("1", [], False, 21.0),
        ("1", [0], False, [5, 7, 9]),
        ("1", [1], False, [6, 15]),
        ("1", [1], True, [[6], [15]]),
    ],
)
def test_a_2_17_11_norm(normtype: str, axis: list[int], keep_dims: bool, printed: object) -> None:
    found = sz.norm(sz.tensor([[1, 2, 3], [4, 5, 6]]), normtype, axis, len(axis), keep_dims)
    np.testing.assert_allclose(found.tolist(), printed, rtol=1e-6)


def test_the_matrix_norms_of_e126() -> None:
    x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    assert sz.norm(x).item() == 6
    assert sz.norm(x, "inf", (0, 1)).item() == 15
    assert sz.norm(x, "1", (0, 1)).item() == 9
    np.testing.assert_allclose(sz.norm(x, "fro", (0, 1)).item(), 9.53939, rtol=1e-6)


def test_the_matrix_of_e118() -> None:
    x = sz.tensor([[4.0, 2], [2, 3]])
    lower = sz.cholesky("L", x)
    np.testing.assert_allclose(lower.tolist(), [[2, 0], [1, 2**0.5]], rtol=1e-6)
    assert sz.cholesky("U", x).tolist() == sz.transpose(lower).tolist()
