"""7.2.17.3 to .10: the checks of factors and solutions: right ones pass, mistakes are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case
from suanzi.conformance.subjects.suanzi_adapter import create, read

Array = np.ndarray[Any, Any]
DTYPES = ["float32", "complex64", "float64"]
Change = Callable[[list[Array]], list[Array]]


def found(op: str, dtype: str, title: str, group: str = "plain") -> Case:
    wanted = Wanted(frozenset({group}), frozenset({dtype}))
    return next(case for case in cases(op, wanted) if case.title == title)


def problem(case: Case, arrays: list[Any]) -> str | None:
    outputs = [None if a is None else read(sz.tensor(np.ascontiguousarray(a))) for a in arrays]
    return verdict(case, Answer("SUCCESS", outputs), statuses=True).problem


def arguments(case: Case) -> dict[str, Any]:
    return {name: create(x) if hasattr(x, "raw") else x for name, x in case.arguments.items()}


def right(case: Case) -> list[Array]:
    """Return suanzi's own answer."""
    answer = getattr(sz, case.op)(**arguments(case))
    many = answer if isinstance(answer, tuple) else (answer,)
    return [x.numpy().copy() for x in many]


def scaled(which: int, factor: float) -> Change:
    return lambda some: [a * a.dtype.type(factor) if i == which else a for i, a in enumerate(some)]


def changed(which: int, place: tuple[int, ...], by: float) -> Change:
    def change(some: list[Array]) -> list[Array]:
        made = [a.copy() for a in some]
        made[which][place] += by
        return made

    return change


WRONG: dict[str, tuple[str, list[Change]]] = {
    "lu": ("6x6", [
        scaled(0, 1.001),
        changed(0, (4, 2), 1e-3),
        changed(1, (0,), 1),
        lambda s: [s[0], s[1] + 1],
        lambda s: [s[0], np.arange(6)],
        lambda s: [s[0].T, s[1]],
        lambda s: [s[0], s[1].astype(np.float32)],
        lambda s: [np.where(np.eye(6), np.nan, s[0]), s[1]],
    ]),
    "cholesky": ("6x6 L", [
        scaled(0, 1.001),
        scaled(0, -1),
        lambda s: [s[0].conj().T],
        changed(0, (4, 2), 1e-3),
        changed(0, (2, 4), 1e-30),
    ]),
    "qr": ("6x6", [
        scaled(0, 1.001),
        scaled(1, 1.001),
        scaled(0, -1),
        lambda s: [s[0] * 2, s[1] / 2],
        lambda s: [s[0].conj().T, s[1]],
        changed(1, (3, 1), 1e-30),
        lambda s: [np.eye(6, dtype=s[0].dtype), s[0] @ s[1]],
    ]),
    "svd": ("6x6", [
        scaled(1, 1.001),
        scaled(0, -1),
        scaled(1, -1),
        lambda s: [s[0], s[1], s[2].conj().T],
        lambda s: [s[0][:, ::-1], s[1][::-1, ::-1], s[2][:, ::-1]],
        lambda s: [-s[0], -s[1], s[2]],
        lambda s: [s[0] * 2, s[1] / 2, s[2]],
        changed(1, (0, 1), 1e-30),
    ]),
    "eig": ("4x4", [
        scaled(0, 1.001),
        lambda s: [s[0], s[1] * 0],
        lambda s: [s[0][::-1], s[1]],
        lambda s: [s[0], s[1].T],
        lambda s: [np.full_like(s[0], s[0][0]), np.repeat(s[1][:, :1], 4, axis=1)],
        lambda s: [s[0].real, s[1].real],
    ]),
    "inverse": ("6x6", [
        scaled(0, 1.001),
        lambda s: [s[0].T],
        lambda s: [np.linalg.inv(s[0])],
        changed(0, (0, 5), 1e-3),
    ]),
    "solve": ("3x3 by 3x2", [
        scaled(0, 1.001),
        lambda s: [s[0][:, ::-1]],
        lambda s: [s[0][::-1]],
        lambda s: [s[0][:, 0]],
        changed(0, (0, 1), 1e-3),
    ]),
    "lstsq": ("4x2 by 4x2", [
        scaled(0, 1.001),
        lambda s: [s[0][:, ::-1]],
        changed(0, (0, 1), 1e-3),
    ]),
    "norm": ("2 of 3x4 axes 0", [scaled(0, 1.001), lambda s: [s[0] ** 2], lambda s: [s[0] + 1]]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", WRONG)
def test_mistakes_are_told(op: str, dtype: str) -> None:
    title, mistakes = WRONG[op]
    case = found(op, dtype, title)
    answer = right(case)
    assert problem(case, answer) is None
    for i, mistake in enumerate(mistakes):
        assert problem(case, mistake(answer)) is not None, (op, i)


def test_what_is_free_is_free() -> None:
    """Signs of columns, and the order of eigenvalues."""
    for dtype in DTYPES:
        case = found("qr", dtype, "6x6")
        q, r = right(case)
        assert problem(case, [-q, -r]) is None
        case = found("svd", dtype, "6x6")
        u, s, v = right(case)
        assert problem(case, [-u, s, -v]) is None
        case = found("eig", dtype, "4x4")
        w, v = right(case)
        assert problem(case, [w[::-1], -v[:, ::-1]]) is None


def test_numpys_factors_are_right() -> None:
    for dtype in DTYPES:
        case = found("qr", dtype, "6x6")
        a = arguments(case)["mat"].numpy()
        assert problem(case, list(np.linalg.qr(a))) is None
        u, s, vh = np.linalg.svd(a)
        assert problem(found("svd", dtype, "6x6"), [u, np.diag(s), vh.conj().T]) is None
        case = found("solve", dtype, "3x3 by 3x2 adjoint")
        given = arguments(case)
        x = np.linalg.solve(given["mat"].numpy().conj().T, given["rhs"].numpy())
        assert problem(case, [x]) is None


def test_a_matrix_that_is_taken_for_its_transpose_is_told() -> None:
    case = found("solve", "complex64", "3x3 by 3x2 adjoint")
    given = arguments(case)
    mat, rhs = given["mat"].numpy(), given["rhs"].numpy()
    assert problem(case, [np.linalg.solve(mat.conj().T, rhs)]) is None
    assert problem(case, [np.linalg.solve(mat, rhs)]) is None  # as the text has it, E121
    assert problem(case, [np.linalg.solve(mat.T, rhs)]) is not None


def test_garbage_for_what_has_no_solution_is_told() -> None:
    case = found("solve", "float32", "singular, one to nine", "special")
    garbage = read(sz.tensor(np.ones((3, 1), np.float32)))
    for statuses in (True, False):
        assert verdict(case, Answer("SUCCESS", [garbage]), statuses).problem is not None
    assert verdict(case, Answer(None), statuses=False).problem is None
    assert verdict(case, Answer("INVALID_ARGUMENT"), statuses=True).problem is None
    assert verdict(case, Answer("INTERNAL_ERROR"), statuses=True).problem is not None


@pytest.mark.parametrize("op", WRONG)
@pytest.mark.parametrize("size", [np.finfo(np.float64).max, 5e-324, 0.0, np.nan, np.inf])
def test_garbage_of_any_size_is_told(op: str, size: float) -> None:
    """And the check itself does not break."""
    case = found(op, "float64", WRONG[op][0])
    answer = [a if a.dtype.kind == "i" else np.full_like(a, size) for a in right(case)]
    told = problem(case, answer)
    assert told is not None
    assert len(told) < 400
