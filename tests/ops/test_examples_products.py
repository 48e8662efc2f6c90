"""The worked examples of Appendix A.2.17.12 and A.2.17.13, with what is wrong there put right."""

from __future__ import annotations

import numpy as np

import suanzi as sz


def test_linear() -> None:
    """A.2.17.12: the weight is printed with rank 1."""
    x = sz.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = sz.linear(x, sz.tensor([[1.0, 2.0, 3.0]]), sz.tensor([0.1]))
    assert y.shape == (2, 1)
    assert np.array_equal(y.numpy(), np.array([[14.1], [32.1]], np.float32))


def test_bilinear() -> None:
    """A.2.17.13: the printed numbers are right to four digits."""
    x = sz.tensor([[0.8277, 0.7097, 0.3228], [0.5277, 0.1352, 0.5379]])
    y = sz.tensor([[0.7230, 0.1641, 0.0972, 0.8643], [0.1888, 0.2875, 0.2289, 0.9244]])
    weight = sz.tensor(
        [
            [
                [0.2222, 0.6071, 0.0856, 0.0199],
                [0.1799, 0.3981, 0.1620, 0.8210],
                [0.5154, 0.8984, 0.9911, 0.6962],
            ],
            [
                [0.2050, 0.4599, 0.3099, 0.0036],
                [0.9957, 0.2217, 0.5122, 0.8350],
                [0.1328, 0.0032, 0.2324, 0.3096],
            ],
            [
                [0.1380, 0.1614, 0.3526, 0.8682],
                [0.1394, 0.3380, 0.3199, 0.3564],
                [0.2648, 0.9249, 0.8641, 0.0150],
            ],
        ]
    )
    z = sz.bilinear(x, y, weight, sz.tensor([0.7517, 0.0115, 0.8519]))
    printed = np.array([[2.0348, 1.4333, 2.0994], [1.6731, 0.4918, 1.7111]])
    computed = np.array([[2.0349, 1.4332, 2.0995], [1.6732, 0.4917, 1.7112]])
    assert np.all(np.abs(z.numpy() - printed) <= 5e-4)
    assert np.all(np.abs(z.numpy() - computed) <= 1e-4)
