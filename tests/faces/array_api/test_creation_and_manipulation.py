"""Creation and manipulation against NumPy, whose functions of the same meaning share no code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz

xp = sz.array_api


def equal(found: sz.Tensor, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert np.array_equal(found.numpy(), wanted)


@pytest.mark.parametrize(
    "args",
    [(5,), (2, 9, 3), (9, 2, -3), (2, 9, -1), (0,), (-3, 4), (0.5, 3), (0, 1, 0.25), (3, 0, -0.5),
     (2**62, 2**62 + 6, 3), (0, 0), (5, 5, -1)],
)  # fmt: skip
def test_arange(args: tuple[Any, ...]) -> None:
    found = xp.arange(*args)
    equal(found, np.arange(*args).astype(found.dtype.name))


def test_arange_of_what_does_not_fit() -> None:
    with pytest.raises(sz.InvalidArgument, match=r"goes from 0 to 299, and int8 holds"):
        xp.arange(300, dtype=xp.int8)
    with pytest.raises(sz.InvalidArgument, match="step not 0"):
        xp.arange(0, 3, 0)
    equal(xp.arange(8, dtype=xp.int4), np.arange(8))


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 5, 50])
def test_linspace(num: int, endpoint: bool) -> None:
    for a, b in ((0, 1), (3, -2), (-1e30, 1e30), (1 + 2j, 3 - 1j)):
        dt = "complex128" if isinstance(a, complex) else "float64"
        found = xp.linspace(a, b, num, dtype=dt, endpoint=endpoint)
        wanted = np.linspace(a, b, num, endpoint=endpoint)
        assert found.shape == (num,)
        assert np.allclose(found.numpy(), wanted, rtol=1e-15, atol=1e-15 * max(abs(a), abs(b)))
        if num > 1:
            assert found[0].item() == a
            assert not endpoint or found[-1].item() == b
    assert np.isfinite(xp.linspace(-1.7e308, 1.7e308, 5, dtype=xp.float64).numpy()).all()


def test_eye_and_triangles() -> None:
    for k in (-4, -1, 0, 1, 2, 5):
        equal(xp.eye(3, 4, k=k), np.eye(3, 4, k=k))
        x = np.arange(24).reshape(2, 3, 4)
        equal(xp.tril(xp.asarray(x), k=k), np.tril(x, k))
        equal(xp.triu(xp.asarray(x), k=k), np.triu(x, k))
    equal(xp.eye(0), np.eye(0))
    equal(xp.tril(xp.zeros((2, 0, 3))), np.zeros((2, 0, 3)))


def test_meshgrid() -> None:
    lines = [np.arange(2), np.arange(3) * 10, np.arange(4)]
    for indexing in ("xy", "ij"):
        for count in (1, 2, 3):
            found = xp.meshgrid(*map(xp.asarray, lines[:count]), indexing=indexing)
            for one, wanted in zip(
                found, np.meshgrid(*lines[:count], indexing=indexing), strict=True
            ):
                equal(one, wanted)
    assert xp.meshgrid() == ()


def test_asarray_shares_and_copies() -> None:
    mine = np.arange(4, dtype=np.float32)
    shared, copied = xp.asarray(mine), xp.asarray(mine, copy=True)
    mine[0] = 7
    assert shared[0].item() == 7
    assert copied[0].item() == 0
    assert xp.asarray(shared) is shared
    assert xp.asarray(shared, copy=True) is not shared
    with pytest.raises(sz.InvalidArgument, match="a copy is needed from float32 to int8"):
        xp.asarray(shared, dtype=xp.int8, copy=False)
    with pytest.raises(sz.InvalidArgument, match="a copy is needed"):
        xp.asarray([1, 2], copy=False)
    strange = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    assert xp.sum(xp.asarray(strange)).item() == 3


def test_asarray_of_lists_with_arrays() -> None:
    found = xp.asarray([xp.asarray(1), 2, xp.asarray(3)])
    assert found.tolist() == [1, 2, 3]
    assert xp.asarray([xp.ones(2), xp.zeros(2)], dtype=xp.int4).tolist() == [[1, 1], [0, 0]]
    with pytest.raises(sz.TypeMismatch):
        xp.asarray(["a"])


def test_from_dlpack() -> None:
    mine = np.arange(3)
    assert xp.from_dlpack(mine, device="cpu").tolist() == [0, 1, 2]
    copied = xp.from_dlpack(mine, copy=True)
    mine[0] = 5
    assert copied[0].item() == 0


X = np.arange(24, dtype=np.float64).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("function", "numpys"),
    [
        (lambda x: xp.permute_dims(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
        (lambda x: xp.permute_dims(x, (-1, 0, 1)), lambda x: x.transpose(-1, 0, 1)),
        (lambda x: xp.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
        (lambda x: xp.moveaxis(x, (0, 2), (1, 0)), lambda x: np.moveaxis(x, (0, 2), (1, 0))),
        (lambda x: xp.expand_dims(x, axis=(0, -1)), lambda x: np.expand_dims(x, (0, -1))),
        (lambda x: xp.expand_dims(x, axis=-2), lambda x: np.expand_dims(x, -2)),
        (lambda x: xp.flip(x), lambda x: np.flip(x)),
        (lambda x: xp.flip(x, axis=(0, -1)), lambda x: np.flip(x, (0, -1))),
        (lambda x: xp.roll(x, 5), lambda x: np.roll(x, 5)),
        (lambda x: xp.roll(x, (1, -2), axis=(0, 2)), lambda x: np.roll(x, (1, -2), (0, 2))),
        (lambda x: xp.roll(x, 1, axis=(0, 0)), lambda x: np.roll(x, 1, (0, 0))),
        (lambda x: xp.tile(x, (2, 1, 1, 3)), lambda x: np.tile(x, (2, 1, 1, 3))),
        (lambda x: xp.tile(x, (2,)), lambda x: np.tile(x, (2,))),
        (lambda x: xp.tile(x, (2, 0)), lambda x: np.tile(x, (2, 0))),
        (lambda x: xp.reshape(x, (-1, 6)), lambda x: x.reshape(-1, 6)),
        (lambda x: xp.reshape(x.mT, (12, 2)), lambda x: x.swapaxes(1, 2).reshape(12, 2)),
        (lambda x: xp.concat([x, x[:1]]), lambda x: np.concatenate([x, x[:1]])),
        (lambda x: xp.concat([x, x[0]], axis=None), lambda x: np.concatenate([x, x[0]], None)),
        (lambda x: xp.stack([x, x], axis=-1), lambda x: np.stack([x, x], -1)),
        (lambda x: xp.broadcast_to(x, (5, 2, 3, 4)), lambda x: np.broadcast_to(x, (5, 2, 3, 4))),
        (lambda x: xp.unstack(x, axis=1)[2], lambda x: x[:, 2]),
        (lambda x: xp.squeeze(x[:, :1, None], axis=(1, -2)), lambda x: x[:, 0]),
        (lambda x: xp.take(x, xp.asarray([2, 0, -1]), axis=1), lambda x: x.take([2, 0, -1], 1)),
        (lambda x: xp.clip(x, 3, 9.5), lambda x: x.clip(3, 9.5)),
        (lambda x: xp.clip(x, x[0], None), lambda x: x.clip(x[0], None)),
    ],
)
def test_manipulation(function: Any, numpys: Any) -> None:
    equal(function(xp.asarray(X)), numpys(X))
    equal(function(xp.asarray(X[:, ::-1])), numpys(X[:, ::-1]))


def test_a_view_is_one_and_a_copy_is_none() -> None:
    x = xp.arange(6)
    assert xp.reshape(x, (2, 3)).storage == x.storage
    assert xp.reshape(x, (2, 3), copy=True).storage != x.storage
    with pytest.raises(sz.InvalidArgument, match="copy is False"):
        xp.reshape(xp.reshape(x, (2, 3)).mT, (6,), copy=False)


def test_refusals_name_the_function_and_the_fix() -> None:
    x = xp.ones((2, 3))
    for call, error, text in (
        (lambda: xp.squeeze(x, axis=0), sz.InvalidArgument, "only axes of size 1 can be removed"),
        (lambda: xp.concat([x, xp.ones(2)]), sz.DimensionsMismatch, r"arrays\[1\] has shape"),
        (lambda: xp.stack([x, x.mT]), sz.DimensionsMismatch, "must be equal"),
        (lambda: xp.permute_dims(x, (0,)), sz.InvalidArgument, "each of the 2 axes"),
        (lambda: xp.broadcast_to(x, (3, 2)), sz.DimensionsMismatch, "cannot be broadcast to"),
        (lambda: xp.broadcast_shapes((2,), (3,)), sz.DimensionsMismatch, "cannot be broadcast"),
        (lambda: xp.reshape(x, (4,)), sz.DimensionsMismatch, "6 elements"),
        (lambda: xp.concat([]), sz.InvalidArgument, "a list or tuple of arrays"),
        (lambda: xp.take(x, xp.asarray([0])), sz.InvalidArgument, "say which one"),
        (lambda: xp.add("a", x), sz.TypeMismatch, r"add \(array API 2025\.12\): x1 is a str"),
        (lambda: xp.astype(xp.full(1, 1j), xp.float32), sz.TypeMismatch, "no imaginary part"),
        (lambda: xp.full(2, 300, dtype=xp.int8), sz.InvalidArgument, "outside the range of int8"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            call()


def test_broadcast_shapes() -> None:
    assert xp.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert xp.broadcast_shapes((None, 1), (3,)) == (None, 3)
    assert xp.broadcast_shapes((None,), (4,)) == (4,)
    assert xp.broadcast_shapes() == ()
