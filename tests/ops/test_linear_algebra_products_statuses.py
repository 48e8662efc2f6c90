"""7.2.17.1, .2, .12, .13: every status of products and gradients; nothing is made on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.registry import REGISTRY
from suanzi.status import WrongObject

NAMES = """matmul dot dot_bwd1 dot_bwd2 linear linear_bwd_in linear_bwd_weight bilinear
    bilinear_bwd_in1 bilinear_bwd_in2 bilinear_bwd_weight""".split()

SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "matmul": {"mat1": (2, 3), "mat2": (3, 4)},
    "dot": {"vec1": (2, 3), "vec2": (3, 4)},
    "dot_bwd1": {"out_grad": (2, 4), "vec1": (2, 3), "vec2": (3, 4)},
    "dot_bwd2": {"out_grad": (2, 4), "vec1": (2, 3), "vec2": (3, 4)},
    "linear": {"x": (2, 3), "weight": (4, 3), "bias": (4,)},
    "linear_bwd_in": {"out_grad": (2, 4), "weight": (4, 3)},
    "linear_bwd_weight": {"out_grad": (2, 4), "input": (2, 3)},
    "bilinear": {"x": (2, 3), "y": (2, 5), "weight": (4, 3, 5), "bias": (4,)},
    "bilinear_bwd_in1": {"out_grad": (2, 4), "y": (2, 5), "weight": (4, 3, 5)},
    "bilinear_bwd_in2": {"out_grad": (2, 4), "x": (2, 3), "weight": (4, 3, 5)},
    "bilinear_bwd_weight": {"out_grad": (2, 4), "x": (2, 3), "y": (2, 5)},
}
ARGUMENTS = [(name, argument) for name, shapes in SHAPES.items() for argument in shapes]
SHAPE_ERROR = dict.fromkeys(NAMES, sz.DimensionsMismatch) | dict.fromkeys(
    ("dot", "dot_bwd1", "dot_bwd2"), sz.InvalidArgument
)
Shapes = list[tuple[int, ...]]
WRONG: dict[tuple[str, str], Shapes] = {
    ("matmul", "mat1"): [(2, 4), (3, 2), (4,), (2, 2, 7)],
    ("matmul", "mat2"): [(4, 3), (2,), (5, 2, 4)],
    ("dot", "vec1"): [(2, 4), (4,), (5, 0)],
    ("dot", "vec2"): [(4, 3), (2,), (2, 7, 3)],
    ("dot_bwd1", "out_grad"): [(2, 5), (4, 2), (2,), (), (1, 2, 4)],
    ("dot_bwd1", "vec1"): [(2, 4), (3, 3), (3,), ()],
    ("dot_bwd1", "vec2"): [(4, 3), (3, 5), (3,), ()],
    ("dot_bwd2", "out_grad"): [(2, 5), (4, 2), (2,), (), (1, 2, 4)],
    ("dot_bwd2", "vec1"): [(2, 4), (3, 3), (3,), ()],
    ("dot_bwd2", "vec2"): [(4, 3), (3, 5), (3,), ()],
    ("linear", "x"): [(2, 4), (4,), (3, 2), ()],
    ("linear", "weight"): [(3,), (4, 4), (1, 4, 3), (7, 3), ()],
    ("linear", "bias"): [(1,), (4, 1), (5,), (2, 4), ()],
    ("linear_bwd_in", "out_grad"): [(2, 3), (3,), ()],
    ("linear_bwd_in", "weight"): [(4,), (3, 4), (1, 4, 3), ()],
    ("linear_bwd_weight", "out_grad"): [(3, 4), (4,), (2, 2, 4), ()],
    ("linear_bwd_weight", "input"): [(3, 3), (3,), (1, 2, 3), ()],
    ("bilinear", "x"): [(2, 4), (3, 3), (3,), (1, 2, 3), ()],
    ("bilinear", "y"): [(2, 3), (3, 5), (5,), ()],
    ("bilinear", "weight"): [(4, 3), (4, 5, 3), (1, 4, 3, 5), (5, 3, 5), ()],
    ("bilinear", "bias"): [(3,), (4, 1), ()],
    ("bilinear_bwd_in1", "out_grad"): [(2, 3), (3, 4), (4,), ()],
    ("bilinear_bwd_in1", "y"): [(2, 3), (3, 5), (5,), ()],
    ("bilinear_bwd_in1", "weight"): [(4, 3), (5, 3, 5), (4, 3, 4), ()],
    ("bilinear_bwd_in2", "out_grad"): [(2, 3), (3, 4), (4,), ()],
    ("bilinear_bwd_in2", "x"): [(2, 5), (3, 3), (3,), ()],
    ("bilinear_bwd_in2", "weight"): [(4, 3), (5, 3, 5), (4, 2, 5), ()],
    ("bilinear_bwd_weight", "out_grad"): [(3, 4), (4,), ()],
    ("bilinear_bwd_weight", "x"): [(3, 3), (3,), ()],
    ("bilinear_bwd_weight", "y"): [(3, 5), (1, 2, 5), ()],
}


def good(name: str) -> dict[str, Any]:
    return {argument: sz.zeros(shape=shape) for argument, shape in SHAPES[name].items()}


def refused(error: type[sz.StatusError], name: str, arguments: dict[str, Any], **more: Any) -> str:
    """Call, and return the message; nothing may be left behind."""
    before = _core.pool_info()["storages"]
    with pytest.raises(error) as caught:
        getattr(sz, name)(**arguments, **more)
    message = str(caught.value)
    assert type(caught.value) is error, message
    assert message.startswith(f"{REGISTRY[name].title}: "), message
    assert message.endswith("."), message
    del caught
    assert _core.pool_info()["storages"] <= before
    return message


def test_bool_becomes_floating_point_in_linear() -> None:
    found = sz.linear(sz.tensor([[True, False]]), sz.tensor([[True, True]]))
    assert (found.dtype, found.tolist()) == (sz.float32, [[1]])


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_shapes(name: str, argument: str) -> None:
    for shape in WRONG[name, argument]:
        wrong = good(name) | {argument: sz.zeros(shape=shape)}
        refused(SHAPE_ERROR[name], name, wrong)


def test_batches_that_do_not_go_together() -> None:
    message = refused(
        sz.DimensionsMismatch,
        "matmul",
        {"mat1": sz.zeros(shape=(2, 3, 4)), "mat2": sz.zeros(shape=(3, 4, 5))},
    )
    assert "(2,)" in message
    assert "(3,)" in message


@pytest.mark.parametrize("name", ["matmul", "dot", "linear"])
def test_the_dtype_asked_for(name: str) -> None:
    wrong = sz.TypeMismatch if name == "linear" else sz.InvalidArgument
    arguments = good(name)
    refused(wrong, name, arguments, dtype=sz.int32)
    for dt in (sz.bool, sz.char, sz.QT_SYM_INT8, sz.int4, 5, object()):
        refused(wrong, name, arguments, dtype=dt)
    refused(sz.InvalidArgument, name, arguments, dtype="nonsense")
    complexes = {key: sz.cast(x, sz.complex64) for key, x in arguments.items()}
    message = refused(wrong, name, complexes, dtype=sz.float64)
    assert "complex64" in message
    assert "float64" in message
    text = _core.empty((1,), sz.char)
    first = next(iter(arguments))
    refused(wrong, name, arguments | {first: text}, dtype=sz.float32)


def test_numbers_and_the_dtype_asked_for() -> None:
    refused(sz.InvalidArgument, "dot", {"vec1": sz.tensor([1]), "vec2": 2.5}, dtype=sz.int32)
    refused(sz.InvalidArgument, "dot", {"vec1": sz.tensor([1]), "vec2": 2j}, dtype=sz.float32)
    refused(sz.InvalidArgument, "dot", {"vec1": sz.tensor([1]), "vec2": 2**70})


def test_dtypes_without_a_common_one() -> None:
    x, y = sz.zeros(dtype=sz.int8, shape=(2, 2)), sz.zeros(dtype=sz.uint16, shape=(2, 2))
    for name, keys in (("matmul", ("mat1", "mat2")), ("dot", ("vec1", "vec2"))):
        refused(sz.TypeMismatch, name, dict(zip(keys, (x, y), strict=True)))
    assert sz.matmul(x, y, dtype=sz.int32).dtype is sz.int32
    with sz.promotion("strict"):
        refused(WrongObject, "matmul", {"mat1": x, "mat2": sz.cast(y, sz.int16)})
        refused(sz.TypeMismatch, "linear", {"x": x, "weight": x})
        assert sz.linear(x, x, dtype=sz.float32).dtype is sz.float32


def test_too_many_axes() -> None:
    x, y = sz.zeros(shape=(1,) * 40), sz.zeros(shape=(1,) * 30)
    refused(sz.InvalidArgument, "dot", {"vec1": x, "vec2": y})
    assert sz.matmul(sz.zeros(shape=(1,) * 64), sz.zeros(shape=(1,) * 64)).ndim == 64


def test_sparse_operands() -> None:
    x = sz.to_sparse(sz.tensor([[1.0, 0.0], [0.0, 2.0]]))
    dense = sz.tensor([[3.0, 4.0], [5.0, 6.0]])
    assert sz.matmul(x, dense).tolist() == (x @ dense).tolist() == [[3, 4], [10, 12]]
    assert (dense @ x).tolist() == [[3, 8], [5, 12]]
    wide = sz.matmul(x, dense, dtype=sz.float64)
    assert (wide.dtype, wide.tolist()) == (sz.float64, [[3, 4], [10, 12]])
    for name in ("dot", "linear"):
        arguments = dict(zip(SHAPES[name], (x, dense), strict=False))
        assert "to_dense()" in refused(sz.TypeMismatch, name, arguments)


def test_python_symbol() -> None:
    x = sz.tensor([[1, 2], [3, 4]])
    assert (x @ x).tolist() == [[7, 10], [15, 22]]
    assert (x @ np.array([1, 2])).tolist() == [5, 11]
    assert (np.array([[1, 0], [0, 1]]) @ x).tolist() == x.tolist()
    y = x
    y @= x
    assert y.tolist() == [[7, 10], [15, 22]]
    with pytest.raises(TypeError):
        x @ "text"
    with pytest.raises(TypeError):
        x @ [[1, 2], [3, 4]]
    with pytest.raises(sz.DimensionsMismatch):
        x @ 2
