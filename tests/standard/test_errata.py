"""The errata: the data are sound, and what they say of the operators is what these do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import Status, StatusError
from suanzi.faces import interface
from suanzi.standard import interfaces
from suanzi.standard.errata import KINDS, errata, errata_of

T = sz.tensor
NAN, INF = math.nan, math.inf

# The clauses of the standard outside 7.2.
GENERAL = {
    *(f"3.{n}" for n in range(1, 11)),
    *(f"5.{n}" for n in range(1, 8)), "5.2.1", "5.2.2", "5.2.3", "5.2.4",
    *(f"6.{n}" for n in range(1, 7)),
    "7.1", "7.2", "7.3", "A.1",
}  # fmt: skip


def test_each_id_appears_once_and_none_is_missing() -> None:
    assert [erratum.id for erratum in errata()] == [f"E{n:02}" for n in range(1, 149)]


def test_every_clause_exists() -> None:
    every = interfaces().values()
    known = GENERAL | {one.clause for one in every} | {one.category_clause for one in every}
    for erratum in errata():
        assert set(erratum.clauses) <= known, erratum.id
        assert len(set(erratum.clauses)) == len(erratum.clauses), erratum.id


@pytest.mark.parametrize("erratum", errata(), ids=lambda erratum: erratum.id)
def test_an_erratum_says_what_is_printed_and_what_is_done(erratum: Any) -> None:
    assert erratum.kinds
    assert set(erratum.kinds) <= set(KINDS)
    for said in (erratum.printed, erratum.here):
        assert said.endswith("."), "a sentence"
        assert len(said) < 500, "short"
    for name in re.findall(r"`([A-Z]+_[A-Z_]+)`", erratum.here):
        assert name in Status.__members__ or hasattr(sz, name), name


def test_errata_of_an_interface_do_not_include_those_of_its_category() -> None:
    assert [e.id for e in errata_of("op_transpose")] == ["E47", "E48"]
    assert [e.id for e in errata_of("7.2.4.1")] == []
    add = interfaces()["add"]
    assert [e.id for e in errata() if e.touches(add)] == ["E09", "E10", "E11", "E146"]
    with pytest.raises(sz.InvalidArgument, match="not an interface"):
        errata_of("transpos")


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives: the elements or attribute, or the name of its status."""
    try:
        made = call()
    except StatusError as error:
        return error.status.name
    if isinstance(made, list | tuple):
        return [one.tolist() if isinstance(one, sz.Tensor) else one for one in made]
    return made.tolist() if isinstance(made, sz.Tensor) else made


def cast(values: list[Any], a: sz.DType, b: sz.DType, **options: bool) -> Any:
    return sz.cast(T(values, a), b, **options)


def under(rules: str, call: Callable[[], Any]) -> Any:
    with sz.promotion(rules):
        return call()


BAD, TYPE, DIMS, RANGE, AXIS = (
    "INVALID_ARGUMENT", "TYPE_MISMATCH", "DIMENSIONS_MISMATCH", "OUT_OF_RANGE", "AXIS_ARGUMENT",
)  # fmt: skip
THREE_ROWS, UPDATES = [[1, 1], [2, 2], [3, 3]], [[10, 10], [20, 20], [30, 30]]
COLUMNS = sz.create_tensor((2, 3), [[0, 1, 2], [3, 4, 5]], sz.float32, layout=(0, 1))

CLAIMS: list[tuple[str, Callable[[], Any], Any]] = [
    ("E07", lambda: sz.flatten(T([[1]]), 0, 5), AXIS),
    ("E07", lambda: sz.flip(T([1]), 3), AXIS),
    ("E09", lambda: sz.add(T([1, 2]), T([1, 2, 3])), DIMS),
    ("E09", lambda: sz.div(T([1, 2]), T([1, 2, 3])), BAD),
    ("E09", lambda: sz.less(T([1, 2]), T([1, 2, 3])), DIMS),
    ("E10", lambda: sz.add(T([1], sz.int32), T([0.5], sz.float16)).dtype, sz.float16),
    ("E10", lambda: under("strict", lambda: sz.add(T([1], sz.int32), T([0.5]))), TYPE),
    ("E11", lambda: sz.greater(T([1j]), T([1j])), TYPE),
    ("E11", lambda: sz.floordiv(T([1j]), T([1j])), TYPE),
    ("E12", lambda: sz.zeros((1,)).dtype, sz.float32),
    ("E14", lambda: sz.concat([T([[1]]), T([[2]])], -1), [[1, 2]]),
    ("E14", lambda: sz.concat([T([[1]])], -3), RANGE),
    ("E18", lambda: sz.add(None, T([1])), "UNINITIALIZED_OBJECT"),  # type: ignore[arg-type]
    ("E20", lambda: sz.reshape(COLUMNS, (3, 2)), [[0, 1], [2, 3], [4, 5]]),
    ("E22", lambda: sz.reshape(T([1, 2, 3]), (2, 2)), DIMS),
    ("E22", lambda: sz.reshape(T([1, 2, 3, 4]), (2, -1)), BAD),
    ("E22", lambda: sz.reshape(T([[1, 2, 3]]), (-1,)), [1, 2, 3]),
    ("E23", lambda: sz.create_tensor((2,), np.zeros(3, np.float32)), DIMS),
    ("E23", lambda: sz.create_tensor((2,), np.zeros(2)), TYPE),
    ("E23", lambda: sz.create_tensor((2,), b"\1", sz.uint8), [1, 0]),
    ("E24", lambda: sz.wrap_tensor((20,), values=bytearray(4)), BAD),
    ("E25", lambda: sz.full(), 0.0),
    ("E29", lambda: sz.rand_uniform((2,), min=3, max=1), BAD),
    ("E29", lambda: sz.rand_normal((2,), sz.int32), BAD),
    ("E31", lambda: sz.multinomial(T([[1.0, 2, 3, 4]]), 5).shape, [1, 5]),
    ("E31", lambda: sz.multinomial(T([1.0, 0.0]), 2, False), BAD),
    ("E32", lambda: sz.randperm(0), BAD),
    ("E33", lambda: sz.size(sz.range(0, 0.3, 0.1)), 4),
    ("E33", lambda: sz.range(0, 3, -1), BAD),
    ("E34", lambda: sz.linspace(2, 5, 1), [2.0]),
    ("E34", lambda: sz.linspace(0, 1, 3, sz.int32), BAD),
    ("E35", lambda: sz.create_sparse_tensor((2, 3), [[1, 3], [2, 4]], [1, 2]), BAD),
    ("E39", lambda: sz.create_quant_tensor((2,), 1.0, sz.QT_SYM_INT8, zero_point=3).zero_point, 0),
    ("E40", lambda: sz.diag(T([[1]])), BAD),
    ("E41", lambda: sz.is_finite(T([[1, 2, INF], [4, NAN, 6]])),
     [[True, True, False], [True, False, True]]),
    ("E42", lambda: interface.op_has_nan(T([NAN]))[1].item(), True),
    ("E43", lambda: sz.shape(T(1)), []),
    ("E45", lambda: cast([1.7, -1.7, NAN, 1e9], sz.float32, sz.int8), [1, -1, 0, 127]),
    ("E45", lambda: cast([300], sz.int32, sz.int8), [44]),
    ("E45", lambda: cast([1e9], sz.float32, sz.float16, saturate=True), [65504.0]),
    ("E46", lambda: sz.expand_dims(T([1]), 2), RANGE),
    ("E46", lambda: sz.squeeze(T([[1, 2]]), (1,)), [[1, 2]]),
    ("E47", lambda: sz.transpose(sz.zeros((2, 3, 4)), (1, 2, 0)).shape, [4, 2, 3]),
    ("E48", lambda: sz.transpose(T([[1]]), (0, 0)), BAD),
    ("E49", lambda: sz.split(T([1, 2, 3]), (1, 1), 2), BAD),
    ("E50", lambda: sz.concat([T([[1], [2]]), T([[3], [4]])], 1), [[1, 3], [2, 4]]),
    ("E51", lambda: sz.stack([T([1])], 2), RANGE),
    ("E52", lambda: sz.unstack(T([1, 2]), num=3), BAD),
    ("E53", lambda: sz.slice(T([1, 2, 3, 4, 5]), (1,), (4,), (2,)), [2, 4]),
    ("E54", lambda: sz.slice(T([1, 2]), (0,), (2,), (0,)), BAD),
    ("E54", lambda: sz.slice(T([1, 2]), (0,), (2,), (5,)), RANGE),
    ("E55", lambda: sz.slice_backward(T([1.0])), BAD),
    ("E56", lambda: sz.pad(T([1, 2, 3]), (2, 2), pad_mode="PAD_PERIOD"), [2, 3, 1, 2, 3, 1, 2]),
    ("E57", lambda: sz.pad(T([1]), (-1, 0)), BAD),
    ("E58", lambda: sz.roll(T([[1, 2], [3, 4]]), (1,)), [[4, 1], [2, 3]]),
    ("E59", lambda: sz.clip(T([0, 5]), 3, 1), [1, 1]),
    ("E60", lambda: sz.clip_backward(T([1.0] * 3), -1, 1, T([-2.0, -1, 0])), [0.0, 1.0, 1.0]),
    ("E61", lambda: sz.gather(T([1]), T([1])), BAD),
    ("E62", lambda: sz.scatter(T(THREE_ROWS), T([2, 1, 1]), T(UPDATES)),
     [[1, 1], [30, 30], [10, 10]]),
    ("E62", lambda: sz.scatter(T(THREE_ROWS), T([2, 1, 1]), T(UPDATES), override=False),
     [[1, 1], [52, 52], [13, 13]]),
    ("E64", lambda: sz.expand(T([1, 2]), (3,)), BAD),
    ("E65", lambda: sz.flatten(T([[1]]), 1, 0), AXIS),
    ("E66", lambda: sz.reverse(T([1]), (3,)), RANGE),
    ("E67", lambda: sz.sign(T([True])), BAD),
    ("E70", lambda: sz.masked_select(T([[1, 2], [3, 4]]), T([True, False])), [1, 3]),
    ("E72", lambda: sz.div(T([-7]), 2), [-3]),
    ("E73", lambda: sz.floordiv(T([1]), 0), BAD),
    ("E74", lambda: sz.true_divide(T([1]), T([2])).dtype, sz.float32),
    ("E75", lambda: sz.mod(T([-7]), 3), [2]),
    ("E76", lambda: sz.min(T([2, 3, 4]), T([1, 5, 2])), [1, 3, 2]),
    ("E77", lambda: sz.abs(sz.cast(T([3 + 4j]), sz.complex32)).dtype, sz.float16),
    ("E77", lambda: sz.abs(T([True])), TYPE),
    ("E78", lambda: sz.reciprocal(T([-1, 2, -4, 0])), [-1.0, 0.5, -0.25, INF]),
    ("E79", lambda: sz.trace(T([1])), BAD),
    ("E81", lambda: sz.allclose(T([1.0]), T([1.0])), [True]),
    ("E83", lambda: sz.bitwise_right_shift(T([-8], sz.int8)), [-4]),
    ("E83", lambda: sz.bitwise_left_shift(T([1], sz.int8), 8), BAD),
    ("E84", lambda: sz.pow(T([1, 2, 3]), T([[3]])), [[1.0, 8.0, 27.0]]),
    ("E86", lambda: sz.rint(T([0.5, -1.5, 2.8]), "TONEAREST"), [0.0, -2.0, 3.0]),
    ("E87", lambda: under("strict", lambda: sz.exp(T([1]))), TYPE),
    ("E88", lambda: sz.tanh(T([0.0])), [0.0]),
    ("E90", lambda: interface.op_sqrt(T([-1.0]))[0].name, BAD),
    ("E90", lambda: interface.op_asin(T([2.0]))[0].name, "SUCCESS"),
    ("E90", lambda: interface.op_log(T([0.0]))[1], [-INF]),
    ("E137", lambda: sz.rand_bernoulli(T([2.0])), BAD),
    ("E137", lambda: sz.tile(T([1]), (1, 2)), BAD),
    ("E91", lambda: sz.reduce(T([[1, 2], [3, 4]])), 10),
    ("E91", lambda: sz.reduce(T([[1, 2], [3, 4]]), axis=(0, 0)), BAD),
    ("E92", lambda: sz.reduce(T([True, True]), "SUM").dtype, sz.int64),
    ("E92", lambda: sz.reduce(T([1, 2]), "MEAN").dtype, sz.float32),
    ("E92", lambda: sz.reduce(T([1.0]), "BAND"), TYPE),
    ("E93", lambda: sz.reduce_bwd(T(1.0), T([1.0, 3, 3]), "MAX"), [0.0, 0.5, 0.5]),
    ("E93", lambda: sz.reduce_bwd(T(1.0), T([0.0, 2, 3]), "PROD"), [6.0, 0, 0]),
    ("E93", lambda: sz.reduce_bwd(T(1.0), T([0.0, 2, 3]), "LAND"), BAD),
    ("E94", lambda: sz.cumsum(T([[1, 2], [3, 4]])), [1, 3, 6, 10]),
    ("E94", lambda: sz.cumsum(T([[1, 2], [3, 4]]), -2), RANGE),
    ("E95", lambda: sz.cumsum(T([1, 2]), dtype=sz.float64).dtype, sz.float64),
    ("E96", lambda: sz.cumsum_bwd(T([1.0, 1.0]), 5), BAD),
    ("E97", lambda: sz.argmax(T([[5, 2, 5]]), keepdim=True), [[0]]),
    ("E98", lambda: sz.argmin(T([[5, 2, 2]])), [1]),
    ("E99", lambda: sz.argsort(T([1.0, NAN, 3, 3]))[1], [1, 2, 3, 0]),
    ("E100", lambda: sz.argsort_bwd(T([[1.0, 2], [3, 4]]), T([[0, 1], [1, 0]])),
     [[1.0, 2], [4, 3]]),
    ("E101", lambda: sz.topk(T([1, 2, 3]), 0), BAD),
    ("E101", lambda: sz.topk(T([3, 1, 2]), 2, largest=False)[0], [1, 2]),
    ("E102", lambda: sz.nonzero(T([[1, 0], [0, 1]])), [[0, 1], [0, 1]]),
    ("E103", lambda: sz.nonzero(T([0, 0])), RANGE),
    ("E103", lambda: sz.nonzero(T(1)), BAD),
    ("E104", lambda: sz.complex(T([1.0], sz.float16), T([2.0], sz.float16)).dtype, sz.complex32),
    ("E104", lambda: sz.complex(T([1.0], sz.bfloat16), T([2.0], sz.bfloat16)), TYPE),
    ("E104", lambda: sz.imag(T([1, 2], sz.int8)), [0, 0]),
    ("E107", lambda: sz.fft_c2c(T([[4 + 0j, 0], [4, 0]]), normalization="by_n"),
     [[2 + 0j, 2 + 0j]] * 2),
    ("E108", lambda: sz.fft_r2c(sz.zeros((2, 5))).shape, [2, 3]),
    ("E109", lambda: sz.fft_c2c(T([1 + 0j]), axes=(0, 0)), BAD),
    ("E113", lambda: sz.fft_c2r(T([1 + 0j, 1]), last_dim_size=7), BAD),
    ("E114", lambda: sz.matmul(T([[1, 2]]), T([1, 2, 3])), DIMS),
    ("E115", lambda: sz.dot(T([1, 2]), T([1, 2, 3])), BAD),
    ("E117", lambda: sz.lu(T([[1.0, 2], [3, 4], [5, 6]]))[1], [2, 2]),
    ("E118", lambda: sz.cholesky("L", T([[1.0, 2], [2, 1]])), BAD),
    ("E119", lambda: sz.qr(T([[1.0, 2], [3, 4]]), "r")[0], None),
    ("E120", lambda: [m.shape for m in sz.svd(sz.zeros((4, 3)))], [(4, 3), (3, 3), (3, 3)]),
    ("E121",
     lambda: [round(v, 4) for v in sz.solve(T([[1.0, 2], [3, 4]]), T([1.0, 1]), True).tolist()],
     [-0.5, 0.5]),
    ("E122", lambda: sz.solve(T([[1.0, 2], [2, 4]]), T([1.0, 1]), False), BAD),
    ("E124", lambda: sz.inverse(T([[1.0, 2], [2, 4]])), BAD),
    ("E125", lambda: sz.eig(T([[1.0, 2], [2, 1]]))[0].dtype, sz.complex64),
    ("E126", lambda: sz.norm(T([[1.0, 2, 3], [4, 5, 6]])), 6.0),
    ("E126", lambda: sz.norm(T([[1.0, 2, 3], [4, 5, 6]]), "inf", (0, 1)), 15.0),
    ("E127", lambda: sz.norm(T([3, 4]), "2"), 5.0),
    ("E128", lambda: sz.linear(T([[1.0, 2]]), T([1.0, 2])), DIMS),
    ("E131", lambda: sz.interpolate(sz.zeros((1, 1, 2))), BAD),
    ("E132", lambda: sz.interpolate(sz.zeros((1, 2, 2)), size=(4, 4), mode="bilinear"), DIMS),
    ("E133", lambda: sz.interpolate(T([[[1.0, 2]]]), size=(4,), mode="linear"),
     [[[1.0, 1.25, 1.75, 2.0]]]),
    ("E134", lambda: sz.interpolate(sz.zeros((1, 1, 3)), scale_factor=(1.5,)).shape, [1, 1, 4]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "expected"), [claim[1:] for claim in CLAIMS], ids=[claim[0] for claim in CLAIMS]
)
def test_what_an_erratum_claims_is_what_happens(call: Callable[[], Any], expected: Any) -> None:
    assert outcome(call) == expected
