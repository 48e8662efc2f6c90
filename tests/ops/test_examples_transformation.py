"""The worked examples of Appendix A.2.3, with the right result where the printed one is wrong."""

from __future__ import annotations

import numpy as np

import suanzi as sz


def shaped(*shape: int) -> sz.Tensor:
    return sz.tensor(np.arange(np.prod(shape)).reshape(shape))


def test_cast() -> None:
    found = sz.cast(sz.tensor([1.1, 2.2], sz.float32), sz.int32)
    assert found.tolist() == [1, 2]
    assert found.dtype is sz.int32


def test_reshape() -> None:
    x = shaped(2, 3, 4)
    assert sz.reshape(x, (6, 4)).tolist() == x.numpy().reshape(6, 4).tolist()


def test_expand_dims() -> None:
    x = shaped(2, 3, 4)
    assert sz.expand_dims(x, 0).shape == (1, 2, 3, 4)
    assert sz.expand_dims(x, 1).shape == (2, 1, 3, 4)


def test_squeeze() -> None:
    x = shaped(1, 2, 3, 1, 4, 1, 1)
    assert sz.squeeze(x, None).shape == (2, 3, 4)
    assert sz.squeeze(x).shape == (2, 3, 4)
    assert sz.squeeze(x, [3, 5]).shape == (1, 2, 3, 4, 1)


def test_transpose() -> None:
    x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    for perm in ([], None, [1, 0]):
        assert sz.transpose(x, perm).tolist() == [[1, 4], [2, 5], [3, 6]]


def test_split() -> None:
    x = shaped(4, 20)
    parts = sz.split(x, [2, 8, 4, 6], 4, 1)
    assert [part.shape for part in parts] == [(4, 2), (4, 8), (4, 4), (4, 6)]
    assert parts[1].tolist() == x.numpy()[:, 2:10].tolist()


def test_concat() -> None:
    parts = [sz.tensor([[1, 1, 1], [2, 2, 2]]), sz.tensor([[3, 3, 3], [4, 4, 4]])]
    assert sz.concat(parts, 0).tolist() == [[1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 4]]
    # Printed: [[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]], which keeps no row together.
    assert sz.concat(parts, 1).tolist() == [[1, 1, 1, 3, 3, 3], [2, 2, 2, 4, 4, 4]]


def test_stack() -> None:
    parts = [sz.tensor([1, 1, 1]), sz.tensor([2, 2, 2])]
    assert sz.stack(parts, 0).tolist() == [[1, 1, 1], [2, 2, 2]]
    assert sz.stack(parts, 1).tolist() == [[1, 2], [1, 2], [1, 2]]


def test_unstack() -> None:
    # Printed as a call of split.
    x = shaped(2, 4, 20)
    parts = sz.unstack(x, 1, 4)
    assert [part.shape for part in parts] == [(2, 20)] * 4
    assert parts[2].tolist() == x.numpy()[:, 2].tolist()


def test_slice() -> None:
    x = sz.tensor(np.arange(1, 17).reshape(4, 4))
    assert sz.slice(x, [0, 1], [2, 3], [1, 1]).tolist() == [[2, 3, 4], [6, 7, 8]]
    # Printed: [[2, 4], [10, 12]], which takes a size of 3 along the first axis.
    assert sz.slice(x, [0, 1], [2, 3], [2, 2]).tolist() == [[2, 4]]
    assert sz.slice(x, [0, 1], [3, 3], [2, 2]).tolist() == [[2, 4], [10, 12]]


def test_tile() -> None:
    found = sz.tile(sz.tensor([[1, 2], [3, 4]]), [2, 3])
    assert found.tolist() == [[1, 2, 1, 2, 1, 2], [3, 4, 3, 4, 3, 4]] * 2


def test_pad() -> None:
    x, width = sz.tensor([[1, 2, 3], [4, 5, 6]]), [[1, 1], [2, 2]]
    assert sz.pad(x, width, 0, sz.PadMode.PAD_CONST).tolist() == [
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 1, 2, 3, 0, 0],
        [0, 0, 4, 5, 6, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
    ]
    # Printed is a reflection, [[6, 5, 4, 5, 6, 5, 4], ...], which is no period.
    assert sz.pad(x, width, 0, sz.PadMode.PAD_PERIOD).tolist() == [
        [5, 6, 4, 5, 6, 4, 5],
        [2, 3, 1, 2, 3, 1, 2],
        [5, 6, 4, 5, 6, 4, 5],
        [2, 3, 1, 2, 3, 1, 2],
    ]
    assert sz.pad(x, width, 0, sz.PadMode.PAD_MIRROR).tolist() == [
        [2, 1, 1, 2, 3, 3, 2],
        [2, 1, 1, 2, 3, 3, 2],
        [5, 4, 4, 5, 6, 6, 5],
        [5, 4, 4, 5, 6, 6, 5],
    ]


def test_reverse() -> None:
    found = sz.reverse(shaped(4, 3, 2), [0, 2])
    assert found.tolist() == [
        [[19, 18], [21, 20], [23, 22]],
        [[13, 12], [15, 14], [17, 16]],
        [[7, 6], [9, 8], [11, 10]],
        [[1, 0], [3, 2], [5, 4]],
    ]


def test_roll() -> None:
    # Printed as a call of reverse.
    x = sz.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    assert sz.roll(x, [1], [0]).tolist() == [[7, 8, 9], [1, 2, 3], [4, 5, 6]]


def test_crop() -> None:
    x = sz.tensor([[0, 1, 2, 0, 0], [0, 3, 4, 0, 0], [0, 0, 0, 0, 0]])
    assert sz.crop(x, [2, 2], [0, 1]).tolist() == [[1, 2], [3, 4]]


def test_clip() -> None:
    # Printed: the result of crop.
    x = sz.tensor([[0, 1, -2], [0, -3, 4], [-5, 6, -7]])
    assert sz.clip(x, -1.0, 1.0).tolist() == [[0, 1, -1], [0, -1, 1], [-1, 1, -1]]


def test_gather() -> None:
    x = sz.tensor([[1, 2], [3, 4], [5, 6]])
    assert sz.gather(x, sz.tensor([1, 2])).tolist() == [[3, 4], [5, 6]]


def test_scatter() -> None:
    # Printed with the flags the other way round.
    x = sz.tensor([[1, 1], [2, 2], [3, 3]])
    updates, index = sz.tensor([[10, 10], [20, 20], [30, 30]]), sz.tensor([2, 1, 1])
    assert sz.scatter(x, index, updates, True).tolist() == [[1, 1], [30, 30], [10, 10]]
    assert sz.scatter(x, index, updates, False).tolist() == [[1, 1], [52, 52], [13, 13]]


def test_expand() -> None:
    assert sz.expand(sz.tensor([1, 2, 3]), [2, 3]).tolist() == [[1, 2, 3], [1, 2, 3]]


def test_flatten() -> None:
    # Printed with a bracket too many.
    x = sz.tensor(np.arange(24).reshape(1, 2, 3, 4) / 100, sz.float32)
    found = sz.flatten(x, 1, 2)
    assert found.shape == (1, 6, 4)
    assert found.tolist() == x.numpy().reshape(1, 6, 4).tolist()


def test_flip() -> None:
    assert sz.flip(sz.tensor([[1, 2], [3, 4]]), [1]).tolist() == [[2, 1], [4, 3]]


def test_sign() -> None:
    assert sz.sign(sz.tensor([[1, -2], [-3, 0]])).tolist() == [[1, -1], [-1, 0]]


def test_where() -> None:
    x, y = sz.tensor([0.9383, 0.1983, 3.2, 1.2]), sz.tensor([1.0, 1.0, 1.0, 1.0])
    found = sz.where(x > 1, x, y)
    assert found.tolist() == sz.tensor([1.0, 1.0, 3.2, 1.2]).tolist()


def test_meshgrid() -> None:
    first, second = sz.meshgrid([sz.tensor([1, 2]), sz.tensor([3, 4, 5])])
    assert first.tolist() == [[1, 1, 1], [2, 2, 2]]
    assert second.tolist() == [[3, 4, 5], [3, 4, 5]]


def test_masked_select() -> None:
    x, mask = sz.tensor([[1, 2], [3, 4]]), sz.tensor([[True, False], [False, True]])
    assert sz.masked_select(x, mask).tolist() == [1, 4]
