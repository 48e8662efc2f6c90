"""7.2.17.3 to .11: every status: what is refused, in whose name, and that nothing is left."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.moves import destroyed, refused
from helpers.numpys import MOST_AXES
from suanzi.ops.libraries import lapack

GOOD = sz.tensor([[2.0, 1], [1, 3]])
SIDES = sz.tensor([1.0, 2])
# A call that succeeds, by name.
CALLS: dict[str, dict[str, Any]] = {
    "lu": {"mat": GOOD},
    "cholesky": {"upper": "U", "mat": GOOD},
    "qr": {"mat": GOOD, "mode": "reduced"},
    "svd": {"mat": GOOD, "format": True},
    "solve": {"mat": GOOD, "rhs": SIDES, "adjoint": False},
    "lstsq": {"mat": GOOD, "rhs": SIDES, "prec": 1e-3},
    "inverse": {"mat": GOOD},
    "eig": {"mat": GOOD},
    "norm": {"input": GOOD, "normtype": "1", "axis": (0,), "keep_dims": False},
}
MATRICES = [name for name in CALLS if "mat" in CALLS[name]]
SQUARE = ["cholesky", "solve", "inverse", "eig"]


def refuse(error: type[sz.StatusError], name: str, match: str = "", **changed: Any) -> None:
    refused(error, name, match=match, **(CALLS[name] | changed))


@pytest.mark.parametrize("name", MATRICES)
def test_ranks_below_two(name: str) -> None:
    for bad in (sz.tensor([1.0, 2]), sz.tensor(1.0)):
        refuse(sz.InvalidArgument, name, f"mat has shape {bad.shape}", mat=bad)
    refuse(sz.InvalidArgument, name, "mat has shape ()", mat=2.0)


@pytest.mark.parametrize("name", SQUARE)
def test_matrices_that_are_not_square(name: str) -> None:
    for shape in [(2, 3), (0, 2), (4, 2, 3)]:
        refuse(sz.InvalidArgument, name, "square", mat=sz.zeros(shape))


def test_right_hand_sides() -> None:
    for name in ("solve", "lstsq"):
        refuse(sz.InvalidArgument, name, "rank 0", rhs=1.0)
        refuse(sz.InvalidArgument, name, "2 rows", rhs=sz.zeros((3,)))
        refuse(sz.InvalidArgument, name, "2 rows", rhs=sz.zeros((3, 2)))
        many, sides = sz.zeros((3, 2, 2)), sz.zeros((2, 2, 1))
        refuse(sz.InvalidArgument, name, "equal or 1", mat=many, rhs=sides)


def test_prec() -> None:
    for bad in (-1e-9, math.nan, math.inf, True, "1e-3", [1e-3], 10**400, 1j, sz.tensor([0.1])):
        refuse(sz.InvalidArgument, "lstsq", "prec is ", prec=bad)
    refuse(sz.UninitializedObject, "lstsq", "prec", prec=destroyed())
    for good in (None, 0, 0.5, 1, np.float32(0.25), sz.tensor(0.1), 10**300):
        sz.lstsq(GOOD, SIDES, good)


def test_norm_types() -> None:
    refuse(sz.UninitializedObject, "norm", "normtype is None", normtype=None)
    bad: list[Any] = [
        *("", "0", "-1", "nan", "infinity", "Inf", "+inf", "1_0", " 2", "2 ", "0x2", "l2", "FRO"),
        *("1e", "1e999", "²", "٢", b"2", 0, -2, -0.0, math.nan, True, np.bool_(True), 2j, [2]),
        *((), object(), 10**400, "fro2", "nuc"),
    ]
    for normtype in bad:
        refuse(sz.InvalidArgument, "norm", "normtype is ", normtype=normtype)
    refuse(sz.InvalidArgument, "norm", "two axes", normtype="fro")
    refuse(sz.InvalidArgument, "norm", "two axes", normtype="fro", axis=())
    for normtype in ("2", "3", "0.5", 2):
        refuse(sz.InvalidArgument, "norm", "matrices have", normtype=normtype, axis=(0, 1))


def test_axes() -> None:
    refuse(sz.InvalidArgument, "norm", "twice", axis=(0, -2))
    cube = sz.zeros((2, 2, 2))
    refuse(sz.InvalidArgument, "norm", "3 axes", input=cube, axis=(0, 1, 2))
    refuse(sz.InvalidArgument, "norm", "no axes", input=1.0, axis=0)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("n", [2, 3, 20])
def test_what_is_not_finite_is_refused(name: str, bad: float, n: int) -> None:
    """In any place of any matrix of a batch, small or large, real or complex."""
    rng = np.random.default_rng(n)
    for dtype in (sz.float32, sz.complex128, sz.float16):
        a = rng.standard_normal((n, n)) / n
        a = a @ a.T + 2 * np.eye(n)
        sides = sz.cast(sz.tensor(np.ones(n)), dtype)
        more = {"rhs": sides} if name in ("solve", "lstsq") else {}
        for i, j in ((0, 0), (0, n - 1), (n - 1, n - 1)):
            spoilt = a.copy()
            spoilt[i, j] = bad
            one = sz.cast(sz.tensor(spoilt), dtype)
            refuse(sz.InvalidArgument, name, "mat contains NaN or an inf", mat=one, **more)
            batch = sz.cast(sz.tensor(np.stack([a, a, spoilt]).reshape(3, 1, n, n)), dtype)
            refuse(sz.InvalidArgument, name, "mat at [2, 0] contains NaN", mat=batch, **more)
    if name in ("solve", "lstsq"):
        spoilt = np.ones((2, n, 1))
        spoilt[1, 0] = bad
        fine = sz.tensor(np.stack([a, a]))
        refuse(sz.InvalidArgument, name, "rhs at [1] contains NaN", mat=fine, rhs=sz.tensor(spoilt))


@pytest.mark.parametrize("upper", ["U", "L"])
@pytest.mark.parametrize("n", [3, 20])
def test_cholesky_names_the_minor(upper: str, n: int) -> None:
    mat = np.eye(n)
    mat[1, 1] = -1
    fine = np.eye(n)
    for dtype in (sz.float32, sz.complex64, sz.bfloat16):
        one = sz.cast(sz.tensor(mat), dtype)
        refuse(sz.InvalidArgument, "cholesky", "mat is not positive definite", upper=upper, mat=one)
        refuse(sz.InvalidArgument, "cholesky", "minor of order 2", upper=upper, mat=one)
        batch = sz.cast(sz.tensor(np.stack([fine, mat])), dtype)
        match = "mat at [1] is not positive definite: its leading minor of order 2"
        refuse(sz.InvalidArgument, "cholesky", match, upper=upper, mat=batch)
    refuse(sz.InvalidArgument, "cholesky", "order 1", upper=upper, mat=sz.zeros((n, n)))
    # Positive semidefinite is not enough.
    refuse(sz.InvalidArgument, "cholesky", "order 2", mat=sz.tensor([[1.0, 1], [1, 1]]))


@pytest.mark.parametrize("reason", range(2, 11))
def test_every_reason_of_the_core_has_its_words(
    reason: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LAPACK's iterations fail so seldom that the failure is made up."""

    def refusing(*args: Any) -> Any:
        raise lapack.Refused(reason, 1, 2.0)

    words = {
        2: "32-bit integers",
        3: "mat at [1] contains NaN",
        4: "rhs at [1] contains NaN",
        5: "mat at [1] is singular to the precision of float32",
        6: "mat at [1] is not positive definite: its leading minor of order 2",
        7: "the iteration for mat at [1] did not converge",
        8: "exceeds the range of float32",
        9: "refused its argument 2",
        10: "could not be loaded",
    }
    monkeypatch.setattr(sz._core, "solve", refusing)
    monkeypatch.setattr(sz._core, "svd", refusing)
    kind = {2: sz.AllocFailed, 9: sz.InternalError, 10: sz.InternalError}.get(reason)
    kind = kind or sz.InvalidArgument
    many, sides = sz.zeros((2, 2, 2), sz.int32), sz.zeros((2, 2, 1), sz.int32)
    refuse(kind, "solve", words[reason], mat=many, rhs=sides)  # integers have no fast path
    if reason != 4:
        refuse(kind, "svd", words[reason], mat=many)


@pytest.mark.parametrize("count", [1, 2])
def test_as_many_axes_as_there_are(count: int) -> None:
    """NumPy's generalised functions have no room for axes of their own beside 64."""
    one, side = sz.tensor([[4.0, 1], [2, 3]]), sz.tensor([[1.0], [2]])
    many, few = (sz.expand(one, (count, *axes, 2, 2)) for axes in ((1,) * (MOST_AXES - 3), ()))
    for call in (
        sz.lu, sz.eig, sz.inverse, sz.qr, sz.svd, lambda x: sz.qr(x, "complete"),
        lambda x: sz.qr(x, "r")[1:], lambda x: sz.svd(x, False), lambda x: sz.cholesky("U", x),
        lambda x: sz.solve(x, side, False), lambda x: sz.lstsq(x, side),
        lambda x: sz.lstsq(x, side, 0.0), lambda x: sz.lstsq(x, side[:, 0], 2.0),
        lambda x: sz.lstsq(one, x, 0.0),
    ):  # fmt: skip
        found, expected = (y if isinstance(y, tuple) else (y,) for y in (call(many), call(few)))
        for x, y in zip(found, expected, strict=True):
            assert (x.dtype, x.shape) == (y.dtype, (count, *[1] * (MOST_AXES - 3), *y.shape[1:]))
            np.testing.assert_array_equal(x.numpy().reshape(y.shape), y.numpy())


@pytest.mark.parametrize("order", [3, 40])
@pytest.mark.parametrize("name", ["solve", "lstsq"])
def test_the_batch_index_of_what_is_refused(name: str, order: int) -> None:
    """Batches are broadcast: the index is that of the operand, not of the result."""
    more = {"adjoint": False} if name == "solve" else {}
    mat, rhs = np.stack([np.eye(order)] * 3), np.ones((2, 1, order, 1))
    rhs[1, 0, 0] = np.nan
    refused(sz.InvalidArgument, name, mat, rhs, **more, match="rhs at [1, 0] contains NaN")
    mat[2, 0, 0] = np.inf
    refused(sz.InvalidArgument, name, mat, rhs[:1], **more, match="mat at [2] contains NaN")


def test_the_first_matrix_of_a_batch_is_named() -> None:
    """Threads share a batch, and the second half has one that is refused at once."""
    mat = np.stack([np.eye(40)] * 600)
    mat[[290, 300, 450]] = 0
    for _ in range(5):
        refused(sz.InvalidArgument, "inverse", mat, match="mat at [290] is singular")
