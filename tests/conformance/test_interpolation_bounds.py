"""7.2.18: the bounds of samples let coordinates be rounded, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.model.case import Case
from suanzi.conformance.subjects.wire import Data


def linear_cases(dtype: str) -> list[Case]:
    wanted = Wanted(groups=frozenset({"plain", "random", "strided"}), dtypes=frozenset({dtype}))
    return [c for c in cases("interpolate", wanted) if "linear" in str(c.arguments.get("mode"))]


def along(x: np.ndarray, axis: int, out: int, kind: type, at: Callable[..., object]) -> np.ndarray:
    """Sample one axis, in numbers of one kind throughout."""
    n, rows = x.shape[axis], []
    for i in range(out):
        place = np.clip(kind(at(kind, n, out, i)), kind(0), kind(n - 1))
        low = int(np.floor(place))
        weight = kind(place - kind(low))
        first, second = (np.take(x, k, axis) for k in (low, min(low + 1, n - 1)))
        rows.append((kind(1) - weight) * first + weight * second)
    return np.stack(rows, axis).astype(kind)


def half_pixels(kind: type, n: int, out: int, i: int) -> object:
    return (kind(i) + kind(0.5)) * (kind(n) / kind(out)) - kind(0.5)


def corners(kind: type, n: int, out: int, i: int) -> object:
    return kind(i) * (kind(n - 1) / kind(max(out - 1, 1)))


def passes(case: Case, kind: type, at: Callable[..., object], factor: float = 1) -> bool:
    data, wanted = case.arguments["input"], case.expect()
    assert isinstance(wanted, tuple)
    x = np.frombuffer(data.raw, kind).reshape(data.shape)
    for axis, out in enumerate(wanted[0].shape[2:], 2):
        x = along(x, axis, out, kind, at)
    made = Data(data.dtype, x.shape, (x * kind(factor)).astype(kind).tobytes())
    return verdict(case, Answer("SUCCESS", [made]), True).passed


@pytest.mark.parametrize(("dtype", "kind"), [("float32", np.float32), ("float64", np.float64)])
def test_coordinates_in_the_dtype_pass_and_other_ones_do_not(dtype: str, kind: type) -> None:
    found = linear_cases(dtype)
    assert len(found) > 15
    for case in found:
        assert passes(case, kind, half_pixels), case.id
        assert not passes(case, kind, half_pixels, 1.001), case.id
    wrong = [case for case in found if not passes(case, kind, corners)]
    assert len(wrong) > len(found) // 2
