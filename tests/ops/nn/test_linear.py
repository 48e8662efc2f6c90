"""nn 4.1: the linear layer: against float64, gradients, threads, and which calls are refused."""

from __future__ import annotations

from typing import Any

import pytest

import suanzi as sz
from helpers.functions import threads
from helpers.normal import exact, made
from suanzi import _core

UNIT = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}


@pytest.mark.parametrize("dtype", UNIT)
@pytest.mark.parametrize("sizes", [(1, 300, 40), (33, 64, 17), (2, 5, 70, 90)], ids=str)
def test_products_and_gradients(dtype: str, sizes: tuple[int, ...]) -> None:
    *rows, inputs, outputs = sizes
    x, weight = made(dtype, *rows, inputs), made(dtype, outputs, inputs)
    bias, above = made(dtype, outputs), made(dtype, *rows, outputs, seed=1)
    a, w, b, g = (exact(t) for t in (x, weight, bias, above))
    flat, lines = g.reshape(-1, outputs), a.reshape(-1, inputs)

    def near(found: sz.Tensor, wanted: Any, size: Any) -> None:
        summing = min(max(UNIT[dtype], 2.0**-53), 2.0**-24)  # narrow dtypes add up in float32
        least = 2.0**-25 if dtype == "float16" else 0  # half of its smallest number
        bound = UNIT[dtype] * abs(wanted) + 64 * summing * size + least
        assert found.shape == wanted.shape
        assert (abs(exact(found) - wanted) <= bound).all()

    near(sz.nn.linear(x, weight, bias), a @ w.T + b, abs(a) @ abs(w.T) + abs(b))
    x_grad, weight_grad, bias_grad = sz.nn.linear_bwd(above, x, weight, bias)
    near(x_grad, g @ w, abs(g) @ abs(w))
    near(weight_grad, flat.T @ lines, abs(flat.T) @ abs(lines))
    near(bias_grad, flat.sum(0), abs(flat).sum(0))
    with threads(3):
        again = sz.nn.linear_bwd(above, x, weight)
    assert len(again) == 2
    assert (exact(again[0]) == exact(x_grad)).all()
    assert (exact(again[1]) == exact(weight_grad)).all()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("inputs", "outputs"), [(300, 65), (1031, 16), (2050, 33)])
def test_few_rows_are_right_and_as_among_many(dtype: str, inputs: int, outputs: int) -> None:
    x, weight, bias = made(dtype, 40, inputs), made(dtype, outputs, inputs), made(dtype, outputs)
    whole = exact(sz.nn.linear(x, weight, bias))
    a, w, b = (exact(t) for t in (x, weight, bias))
    wanted, size = a @ w.T + b, abs(a) @ abs(w.T) + abs(b)
    bound = UNIT[dtype] * abs(wanted) + 64 * 2.0**-24 * size
    for rows in range(1, 18):
        found = exact(sz.nn.linear(x[:rows], weight, bias))
        assert (abs(found - wanted[:rows]) <= bound[:rows]).all(), rows
        # BLAS, where there are no tiles, chooses by the number of rows.
        if rows * inputs * outputs > 2**15 and rows > 1 and _core.products_in_tiles():
            assert (found == whole[:rows]).all(), rows


@pytest.mark.parametrize("rows", [1, 40])
def test_small_weights_count(rows: int) -> None:
    """A matrix unit takes them for 0, and so does not multiply them."""
    x, weight = exact(made("bfloat16", rows, 1100)), exact(made("bfloat16", 70, 1100))
    weight[69] = 0
    weight[69, 1000], x[:, 1000] = 1e-39, 2.0**100
    narrow = (sz.cast(sz.tensor(x), "bfloat16"), sz.cast(sz.tensor(weight), "bfloat16"))
    found = exact(sz.nn.linear(*narrow))
    assert (found[:, 69] == exact(narrow[1])[69, 1000] * 2.0**100).all()
    with threads(3):
        assert (exact(sz.nn.linear(*narrow)) == found).all()


def test_a_row_of_bfloat16_is_that_of_float32_rounded() -> None:
    x, weight = made("bfloat16", 1, 5000), made("bfloat16", 71, 5000)
    wide = sz.nn.linear(sz.cast(x, sz.float32), sz.cast(weight, sz.float32))
    assert (exact(sz.nn.linear(x, weight)) == exact(sz.cast(wide, sz.bfloat16))).all()


def test_calls_that_are_not_plain() -> None:
    x, weight = made("float32", 2, 3), made("float32", 4, 3)
    wanted = exact(sz.nn.linear(x, weight))
    assert (exact(sz.nn.linear(x=x, weight=weight, bias=None)) == wanted).all()
    mixed = sz.nn.linear(x, sz.cast(weight, sz.bfloat16))
    assert mixed.dtype == sz.float32
    assert sz.nn.linear(sz.tensor([[1, 2]]), sz.tensor([[3, 4]])).dtype.kind == "float"


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: sz.nn.linear(x, x[:, :1]), sz.DimensionsMismatch, r"nn.linear \(4.1\): x has"),
        (lambda x: sz.nn.linear(x, x[0]), sz.DimensionsMismatch, "two axes"),
        (lambda x: sz.nn.linear(x, x, x[0, :1]), sz.DimensionsMismatch, "bias has shape"),
        (lambda x: sz.nn.linear(x * 1j, x * 1j), sz.TypeMismatch, "complex"),
        (lambda x: sz.nn.linear_bwd(x[:1], x, x), sz.DimensionsMismatch, "out_grad has shape"),
    ],
)
def test_errors(call: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call(made("float32", 2, 3))
