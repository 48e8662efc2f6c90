"""No option of an operator is ignored: its truth takes it, or the judge refuses it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.judged import OPERATORS, REFUSED
from suanzi.base.status import InvalidArgument
from suanzi.conformance.cases import Wanted, cases
from suanzi.promote.registry import function
from suanzi.truth import definitions, plain_truths
from suanzi.validate.judge.arguments import operator_key
from suanzi.validate.judge.given import _PLAIN, EXPECTED

NO_NUMBERS = {"device": "where a result is", "layout": "how it lies in memory"}
"""Options that change no number, and that a result of another framework does not have."""
OWN = {"accumulate": "the arithmetic, which `assert_right` and `judge` take themselves"}
OF_PROPERTIES = {("qr", "mode"), ("svd", "format"), ("solve", "adjoint")}
"""What the kit's properties take: test_a_form_of_factors, test_a_system_of_the_adjoint."""
JUDGED = [key for key in OPERATORS if key not in REFUSED]
X = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)
RNG = np.random.default_rng(5)


class Read(Mapping[str, Any]):
    """Arguments that know which of them were asked for."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given, self.names = given, set[str]()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return self.given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


def _taken(key: str) -> set[str]:
    """Return the parameters that the truth of an operator takes; there is one of `linear`."""
    key = operator_key(key)
    if key in _PLAIN:
        return {*inspect.signature(plain_truths()[key]).parameters}
    if key not in EXPECTED:
        return {*inspect.signature(definitions()[key]).parameters}
    of = Wanted(groups=frozenset({"plain"}), dtypes=frozenset({"float32", "complex64"}))
    names: set[str] = set()
    for case in cases(key, of):
        read = Read(case.arguments)
        try:
            EXPECTED[key](read)
        except (ValueError, KeyError):
            continue
        names |= read.names
        if len(names) > 5:
            break
    return names | {name for op, name in OF_PROPERTIES if op == key}


@pytest.mark.parametrize("key", JUDGED)
def test_a_truth_takes_every_option(key: str) -> None:
    due = {*inspect.signature(function(key)).parameters} - {*NO_NUMBERS} - {*OWN}
    assert not due - _taken(key), key


@pytest.mark.parametrize("key", [key for key in JUDGED if key not in EXPECTED])
def test_a_truth_takes_no_other_option(key: str) -> None:
    same = [one for one in OPERATORS if operator_key(one) == operator_key(key)]
    own = {name for one in same for name in inspect.signature(function(one)).parameters}
    assert not _taken(key) - own, key


def _check(op: str, given: tuple[Any, ...], **options: Any) -> None:
    """See a right answer pass, and the answer without an option refused."""
    operands = [sz.tensor(x) if isinstance(x, np.ndarray) else x for x in given]
    right = function(op)(*operands, **options)
    sz.assert_right(op, given, right, **options)
    with pytest.raises(AssertionError):
        sz.assert_right(op, given, function(op)(*operands), **options)
    with pytest.raises(AssertionError):
        sz.assert_right(op, given, right)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("op", ["cumsum", "matmul", "dot", "linear"])
def test_operands_in_the_dtype_asked_for(op: str, dtype: str) -> None:
    x = np.float32(RNG.normal(size=(3, 4)) * 3)
    y = x if op == "linear" else x.T.copy()
    given = (x,) if op == "cumsum" else (x, y)
    _check(op, given, dtype=dtype)
    if op == "linear":
        return
    whole = np.arange(-6, 6, dtype=np.int8).reshape(3, 4) * 9
    _check(op, (whole,) if op == "cumsum" else (whole, whole.T.copy()), dtype=dtype)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("op", ["cumsum", "matmul", "dot"])
def test_integers_wrap_in_the_dtype_asked_for(op: str, dtype: str) -> None:
    x = np.arange(12, dtype=np.int8).reshape(3, 4) * 10
    _check(op, (x,) if op == "cumsum" else (x, x.T.copy()), dtype=dtype)
    floats = (X,) if op == "cumsum" else (X, X.T.copy())
    with pytest.raises(InvalidArgument, match=f"not converted to {dtype}"):
        sz.assert_right(op, floats, X, dtype=dtype)


def test_operands_are_rounded_before_they_are_summed() -> None:
    x = np.array([2049.0, 2049.0, 2049.0], np.float32)
    sz.assert_right("cumsum", x, sz.cumsum(sz.tensor(x), dtype="float16"), dtype="float16")
    assert sz.truth.cumsum(x, dtype="float16").dtype == np.float16
    assert sz.truth.cumsum(x, dtype="float16")[-1] == 6144
    assert sz.truth.matmul(np.int8([[100]]), np.int8([[3]]), dtype="int32").tolist() == [[300]]
    assert sz.truth.matmul(np.int8([[100]]), np.int8([[3]]), dtype="float16").tolist() == [[300]]


@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_indices_in_the_dtype_asked_for(op: str) -> None:
    _check(op, (X,), dtype="int32")
    with pytest.raises(InvalidArgument, match="int64 or int32"):
        sz.assert_right(op, X, X, dtype="float32")


POOLS = [
    *((f"nn:max_pool{rank}d", {"kernel_size": 3, "stride": 2, "padding": 1}) for rank in (1, 2, 3)),
    *((f"nn:adaptive_max_pool{rank}d", {"output_size": 3}) for rank in (1, 2, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "params"), POOLS)
def test_indices_of_pools(op: str, params: dict[str, Any]) -> None:
    x = np.float32(RNG.integers(-2, 3, (2, 2, *(5,) * int(op[-2]))))  # several are the largest
    made, where = function(op)(sz.tensor(x), return_indices=True, **params)
    sz.assert_right(op, x, (made, where), return_indices=True, **params)
    sz.assert_right(op, x, made, **params)
    other = where.numpy().copy()
    other.flat[-1] -= 1
    for wrong in (made, (made, other), (made, made), (made, where.numpy().astype(np.int32))):
        with pytest.raises(AssertionError, match=op.partition(":")[2]):
            sz.assert_right(op, x, wrong, return_indices=True, **params)
    with pytest.raises(AssertionError, match="2 outputs, not 1"):
        sz.assert_right(op, x, (made, where), **params)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_casts_that_saturate(dtype: str) -> None:
    x = np.array([1e39, -1e39, np.inf, -np.inf, np.nan, 1.5], np.float64)
    _check("cast", (x, dtype), saturate=True)
    with np.errstate(all="ignore"):
        assert np.isfinite(sz.truth.cast(x, dtype, saturate=True)[:4]).all()


@pytest.mark.parametrize(
    ("op", "option", "forms"),
    [("svd", "format", [True, False]), ("qr", "mode", ["reduced", "complete", "r"])],
)
def test_a_form_of_factors(op: str, option: str, forms: list[Any]) -> None:
    mat = X.T.copy()
    for asked in forms:
        for made in forms:
            factors = function(op)(sz.tensor(mat), made)
            if asked == made:
                sz.assert_right(op, mat, factors, **{option: asked})
                continue
            with pytest.raises(AssertionError, match=op):
                sz.assert_right(op, mat, factors, **{option: asked})


def test_a_system_of_the_adjoint() -> None:
    mat, rhs = np.float32([[4, 1], [2, 3]]), np.float32([[1, 2], [3, 4]])
    for asked in (True, False):
        sz.assert_right("solve", (mat, rhs, asked), sz.solve(mat, rhs, asked))
        with pytest.raises(AssertionError, match="solve"):
            sz.assert_right("solve", (mat, rhs, asked), sz.solve(mat, rhs, not asked))


def test_the_judge_takes_the_options() -> None:
    verdict = sz.judge(
        lambda x: sz.cumsum(x, dtype="float16"), "cumsum", dtypes="float32", framework="suanzi",
        params={"dtype": "float16", "axis": -1}, shapes=[(40,), (3, 5)],
    )  # fmt: skip
    assert verdict, verdict
    wrong = sz.judge(
        lambda x: sz.cumsum(x), "cumsum", dtypes="float32", framework="suanzi",
        params={"dtype": "float16", "axis": -1}, shapes=[(40,), (3, 5)],
    )  # fmt: skip
    assert wrong.answer == "wrong"
    with pytest.raises(InvalidArgument, match="has no parameter 'largest'"):
        sz.judge(sz.nn.adaptive_avg_pool2d, "adaptive_avg_pool2d", params={"largest": True})
