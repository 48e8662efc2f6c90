"""The worked examples of Appendix A.2.14 and A.2.15, with right results for wrong ones."""

from __future__ import annotations

import pytest

import suanzi as sz

INPUT = [[[5, 8, 9, 5], [0, 0, 1, 7], [6, 9, 2, 4]], [[5, 2, 4, 5], [4, 7, 7, 9], [1, 7, 0, 6]]]


def test_a_2_14_1_argmax() -> None:
    x = sz.tensor(INPUT)
    assert sz.argmax(x, 2, keepdim=True).tolist() == [[[2], [3], [1]], [[0], [3], [1]]]
    expected = [[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]]
    assert sz.argmax(x, 0, keepdim=True).tolist() == [expected]
    assert sz.argmax(x, 0).tolist() == expected


def test_a_2_14_2_argmin() -> None:
    x = sz.tensor(INPUT)
    assert sz.argmin(x, 2).tolist() == [[0, 0, 2], [1, 0, 2]]
    assert sz.argmin(x, 0).tolist() == [[0, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 0]]


def test_a_2_14_3_argsort() -> None:
    values, places = sz.argsort(sz.tensor(INPUT), 2, False)
    assert values.tolist() == [
        [[5, 5, 8, 9], [0, 0, 1, 7], [2, 4, 6, 9]],
        [[2, 4, 5, 5], [4, 7, 7, 9], [0, 1, 6, 7]],
    ]
    assert places.tolist() == [
        [[0, 3, 1, 2], [0, 1, 2, 3], [2, 3, 0, 1]],
        [[1, 2, 0, 3], [0, 1, 2, 3], [2, 0, 3, 1]],
    ]


def test_a_2_14_3_argsort_bwd() -> None:
    gradient, places = sz.tensor([[1, 2], [3, 4]]), sz.tensor([[0, 1], [1, 0]])
    assert sz.argsort_bwd(gradient, places).tolist() == [[1, 2], [4, 3]]
    assert sz.argsort_bwd(gradient, places, 0).tolist() == [[1, 4], [3, 2]]


def test_a_2_14_4_topk() -> None:
    values, places = sz.topk(sz.tensor(INPUT), 2)
    assert values.tolist() == [[[9, 8], [7, 1], [9, 6]], [[5, 5], [9, 7], [7, 6]]]
    assert places.tolist() == [[[2, 1], [3, 2], [1, 0]], [[0, 3], [3, 1], [1, 3]]]
    with pytest.raises(sz.InvalidArgument):
        sz.topk(sz.tensor(INPUT), 0)


def test_a_2_14_5_nonzero() -> None:
    x = sz.tensor([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    assert sz.nonzero(x, as_tuple=False).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert [i.tolist() for i in sz.nonzero(x, as_tuple=True)] == [[0, 1, 2], [0, 1, 2]]


def test_a_2_15_1_complex() -> None:
    made = sz.complex(sz.tensor([2.25, 3.25]), sz.tensor([4.75, 5.75]))
    assert made.tolist() == [2.25 + 4.75j, 3.25 + 5.75j]


def test_a_2_15_2_to_4() -> None:
    x = sz.tensor([-2.25 + 4.75j, 3.25 + 5.75j])
    assert sz.conj(x).tolist() == [-2.25 - 4.75j, 3.25 - 5.75j]
    assert sz.imag(x).tolist() == [4.75, 5.75]
    assert sz.real(x).tolist() == [-2.25, 3.25]
