"""The worked examples of Appendix A.2.1 and A.2.2, mended where they are wrong."""

from __future__ import annotations

import math

import numpy as np

import suanzi as sz

DATA = [[1, 2, 3], [4, 5, 6]]


def test_a_2_1_1_create_tensor() -> None:
    data = np.array(DATA, np.float32)
    for values in (data, data.tobytes(), memoryview(data)):
        x = sz.create_tensor([2, 3], values, dtype=sz.float32, device="cpu", n_bytes=6 * 4)
        assert x.tolist() == DATA


def test_a_2_1_2_wrap_tensor() -> None:
    data = sz.tensor(DATA, sz.float32)
    x = sz.wrap_tensor(dtype=sz.float32, device="cpu", shape=[2, 3], values=data)
    assert x.tolist() == DATA
    assert x.storage == data.storage


def test_a_2_1_3_zeros() -> None:
    assert sz.zeros([2, 3], sz.float32, "cpu").tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_2_1_4_full() -> None:
    assert sz.full(sz.float32, "cpu", [2, 3], 1.0).tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


def test_a_2_1_5_empty() -> None:
    """Its contents are arbitrary."""
    x = sz.empty([2, 3], sz.float32, "cpu")
    assert (x.shape, x.dtype) == ((2, 3), sz.float32)


def test_a_2_1_6_contiguous() -> None:
    assert sz.contiguous(sz.tensor([1, 2, 3])).tolist() == [1, 2, 3]


def test_a_2_1_7_rand_uniform() -> None:
    """Printed with another shape than was asked for."""
    x = sz.rand_uniform([2, 3], sz.float32, "cpu", 0.0, 2.0, 0)
    assert x.shape == (2, 3)
    assert ((x.numpy() >= 0) & (x.numpy() < 2)).all()


def test_a_2_1_8_rand_normal() -> None:
    """Printed with another shape than was asked for."""
    x = sz.rand_normal([2, 3], sz.float32, "cpu", 1.0, 1.0, 0)
    assert x.shape == (2, 3)
    assert (abs(x.numpy() - 1) < 10).all()


def test_a_2_1_9_rand_bernoulli() -> None:
    x = sz.rand_bernoulli(sz.tensor([0.1, 0.8, 0.1]))
    assert (x.shape, x.dtype) == ((3,), sz.float32)
    assert set(x.tolist()) <= {0, 1}


def test_a_2_1_10_multinomial() -> None:
    """The weights are no probabilities; the result is indices, whatever the table says."""
    weights = sz.tensor([[0.56911194, 0.66988271, 0.99126470, 0.31639785]])
    x = sz.multinomial(weights, 5, True)
    assert (x.shape, x.dtype) == ((1, 5), sz.int64)
    assert set(x.tolist()[0]) <= {0, 1, 2, 3}


def test_a_2_1_11_randperm() -> None:
    """Printed with numbers that are no permutation."""
    x = sz.randperm(4, sz.float32, "cpu")
    assert sorted(x.tolist()) == [0, 1, 2, 3]


def test_a_2_1_12_range() -> None:
    assert sz.range(5, 3, -0.5, sz.float32, "cpu").tolist() == [5, 4.5, 4, 3.5, 3]


def test_a_2_1_13_linspace() -> None:
    """Printed as a call of op_range."""
    assert sz.linspace(0, 10, 5, sz.float32, "cpu").tolist() == [0.0, 2.5, 5.0, 7.5, 10.0]


def test_a_2_1_16_duplicate() -> None:
    assert sz.duplicate(sz.tensor([1, 2, 3])).tolist() == [1, 2, 3]


def test_a_2_1_17_diag() -> None:
    assert sz.diag(sz.tensor([1, 2, 3])).tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 3]]


def test_a_2_1_18_destroy() -> None:
    sz.destroy(sz.tensor([1]))


def test_a_2_2_1_shape() -> None:
    assert sz.shape(sz.tensor(DATA)).tolist() == [2, 3]


def test_a_2_2_2_is_finite() -> None:
    """Printed is the opposite."""
    x = sz.tensor([[1, 2, math.inf], [4, math.nan, 6]])
    assert sz.is_finite(x).tolist() == [[True, True, False], [True, False, True]]


def test_a_2_2_3_is_inf() -> None:
    """Printed under A.2.2.4, as a call of op_has_inf."""
    x = sz.tensor([[1, 2, math.inf], [4, 5, 6]])
    assert sz.is_inf(x).tolist() == [[False, False, True], [False, False, False]]


def test_a_2_2_4_is_nan() -> None:
    """Printed under A.2.2.3, as a call of op_has_nan."""
    x = sz.tensor([[1, 2, math.nan], [4, 5, 6]])
    assert sz.is_nan(x).tolist() == [[False, False, True], [False, False, False]]


def test_a_2_2_5_size_and_a_2_2_6_rank() -> None:
    assert sz.size(sz.tensor([4, 5, 6])) == 3
    assert sz.rank(sz.tensor([4, 5, 6])) == 1


def test_a_2_2_7_is_contiguous() -> None:
    assert sz.is_contiguous(sz.tensor(DATA)) is True
