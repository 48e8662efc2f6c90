"""7.2.16: the truth and the bounds of Fourier transforms: NumPy keeps them, no mistake does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.readings import first_reading
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.judge import judge
from suanzi.conformance.model.case import Case
from suanzi.conformance.subjects.suanzi_adapter import create, read
from suanzi.conformance.truth.arrays import Exact
from suanzi.conformance.truth.signal import transform

PLAIN = Wanted(frozenset({"plain"}), frozenset({"complex64", "float32"}))


def problem(case: Case, answer: Any) -> str | None:
    (wanted,) = first_reading(case)
    return judge(read(sz.tensor(np.asarray(answer, wanted.dtype))), wanted).problem


def numpys(case: Case, forward: bool | None = None, axes: Any = None) -> Any:
    """Return NumPy's transform, which computes complex64 in float64 or float32."""
    given = dict(case.arguments)
    x = create(given["input"]).numpy()
    along = given.get("axes", [-1]) if axes is None else axes
    n = np.prod([x.shape[a] for a in along])
    by = {"none": 1, "by_sqrt_n": np.sqrt(n), "by_n": n}[given.get("normalization", "none")]
    if given.get("forward", True) if forward is None else forward:
        return np.fft.fftn(x, axes=along) / by
    return np.fft.ifftn(x, axes=along) * n / by


@pytest.mark.parametrize("case", cases("fft_c2c", PLAIN), ids=lambda case: case.title)
def test_numpy_keeps_the_bound(case: Case) -> None:
    right = numpys(case)
    assert problem(case, right) is None
    assert problem(case, right * 1.001) is not None
    assert problem(case, right + 1e-4 * np.abs(right).max()) is not None
    assert problem(case, right * np.sqrt(2)) is not None
    lengths = [create(case.arguments["input"]).shape[a] for a in case.arguments.get("axes", [-1])]
    if max(lengths) > 2:
        other = numpys(case, forward=not case.arguments.get("forward", True))
        assert problem(case, other) is not None
        assert problem(case, np.conj(right)) is not None
    if "axes" in case.arguments:
        others = [1] if case.arguments["axes"] == [0] else [0]
        assert problem(case, numpys(case, axes=others)) is not None


def test_the_sum_itself() -> None:
    """Of the numbers 1, 2, 3, 4 it is 10, -2 + 2i, -2, -2 - 2i, to the last of its bits."""
    found = transform(Exact((4,), [1, 2, 3, 4], None, 0), [0], True)
    parts = [(float(p), float(q)) for p, q in found.fractions()]
    assert parts == [(10, 0), (-2, 2), (-2, 0), (-2, -2)]
    back = transform(found, [0], False)
    assert [float(p) for p, _ in back.fractions()] == [4, 8, 12, 16]
