"""7.2.3.2 to .6, .9, .10, .13, .15, .19 to .21, .24: against NumPy; what shares memory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suanzi as sz
from helpers.moves import destroyed, laid_out, raw, refused, same, tensors


def shapes_of(size: int, most: int = 4) -> Iterator[tuple[int, ...]]:
    """Give the shapes of so many elements, with axes of size 1 among them."""
    if most == 0:
        if size == 1:
            yield ()
        return
    if size == 1:
        yield ()
    for n in range(1, size + 1):
        if size % n == 0:
            for rest in shapes_of(size // n, most - 1):
                yield (n, *rest)


def is_view(x: sz.Tensor, y: sz.Tensor) -> bool:
    """Tell whether two tensors share memory, by their storage and by what a write shows."""
    shared = x.storage == y.storage
    if y.size and not y.storage.read_only:
        before = raw(x).copy()
        raw(y)[...] ^= 255
        assert np.array_equal(raw(x), before) != shared
        raw(y)[...] ^= 255
    return shared


# ---- reshape: view or copy ----------------------------------------------------------------------


def rule(shape: Sequence[int], min2maj: Sequence[int], new: Sequence[int]) -> list[int] | None:
    """Return the min2maj of the view that 7.2.3.2 allows, axes of size 1 aside; None for a copy.

    Runs of min2maj that fall by one are blocks; each new axis must lie in one of them.
    """
    kept = [a for a in range(len(shape)) if shape[a] != 1]
    order = [kept.index(a) for a in min2maj if shape[a] != 1]
    runs: list[list[int]] = []
    for axis in order:
        if runs and runs[-1][-1] == axis + 1:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    # Blocks in the order of the axes, each with its number of elements.
    blocks = sorted(runs, key=lambda run: run[-1])
    wanted = [a for a in range(len(new)) if new[a] != 1]
    inside: dict[int, list[int]] = {}
    at = 0
    for block in blocks:
        size = math.prod(shape[kept[a]] for a in block)
        axes = []
        while size > 1:
            if at == len(wanted) or size % new[wanted[at]]:
                return None
            size //= new[wanted[at]]
            axes.append(at)
            at += 1
        inside[block[-1]] = axes
    return [axis for run in runs for axis in reversed(inside[run[-1]])]


def test_the_printed_example() -> None:
    x = laid_out((2, 3, 4, 5, 6), sz.int16, (3, 2, 4, 1, 0))
    assert x.layout.min2maj == (3, 2, 4, 1, 0)
    three = sz.reshape(x, (6, 20, 6))
    assert three.layout.min2maj == (1, 2, 0)
    assert is_view(x, three)
    four = sz.reshape(x, (6, 20, 2, 3))
    assert four.layout.min2maj == (1, 3, 2, 0)
    assert is_view(x, four)
    assert is_view(x, sz.reshape(four, x.shape))
    assert rule(x.shape, (3, 2, 4, 1, 0), (6, 20, 2, 3)) == [1, 3, 2, 0]
    copied = sz.reshape(x, (6, 120))
    assert copied.layout.min2maj == (1, 0)
    assert not is_view(x, copied)
    same(copied, raw(x).reshape(6, 120, 2))


@pytest.mark.parametrize("shape", [(2, 3, 2), (4, 3), (2, 2, 3, 1), (1, 6, 2), (12,), (2, 1, 2, 3)])
def test_view_or_copy_by_the_rule(shape: tuple[int, ...]) -> None:
    news = [*set(shapes_of(math.prod(shape)))]
    views = copies = 0
    for order in itertools.permutations(range(len(shape))):
        x = laid_out(shape, sz.int16, order, seed=3)
        for new in news:
            y = sz.reshape(x, new)
            same(y, raw(x).reshape(*new, 2))
            wanted = rule(shape, order, new)
            kept = [a for a in range(len(new)) if new[a] != 1]
            if wanted is None:
                assert x.storage != y.storage, (order, new)
                assert y.layout.min2maj == tuple(range(len(new) - 1, -1, -1))
                copies += 1
            else:
                assert x.storage == y.storage, (order, new)
                found = y.layout.min2maj
                assert found is not None
                assert [kept.index(a) for a in found if new[a] != 1] == wanted, (order, new)
                views += 1
    assert views
    assert copies or len(shape) == 1


def brute_force_view(x: sz.Tensor, new: Sequence[int]) -> bool:
    """Tell whether strides exist for another shape, by looking where each element is."""
    places = np.full(1, x.offset)
    for n, s in zip(x.shape, x.strides, strict=True):
        places = (places[:, None] + np.arange(n) * s).reshape(-1)
    grid = places.reshape(new)
    strides = []
    for axis, n in enumerate(new):
        steps = np.diff(grid, axis=axis)
        if n > 1 and steps.size and not (steps == steps.flat[0]).all():
            return False
        strides.append(steps.flat[0] if n > 1 else 0)
    return True


@given(st.data())
def test_reshape(data: st.DataObject) -> None:
    x = data.draw(tensors(max_side=4, min_side=1))
    new = data.draw(st.sampled_from([*shapes_of(x.size)]))
    form = data.draw(st.sampled_from([tuple, list, np.array]))
    y = sz.reshape(x, form(new)) if new else sz.reshape(x, new)
    same(y, raw(x).reshape(*new, x.dtype.itemsize))
    assert is_view(x, y) == brute_force_view(x, new)
    if not is_view(x, y):
        assert y.layout.min2maj == tuple(range(len(new) - 1, -1, -1))
    same(sz.reshape(y, x.shape), raw(x))


def test_reshape_of_nothing() -> None:
    for shape, new in (((0,), (3, 0)), ((2, 0, 3), (0,)), ((0, 5), (0, 2**62, 2**62))):
        x = laid_out(shape, sz.int8)
        assert sz.reshape(x, new).shape == new
    refused(sz.DimensionsMismatch, "reshape", sz.tensor([[]]), (1,))


def test_method_reshape() -> None:
    x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    for dims in ((3, 2), ((3, 2),), ([3, 2],), (-1, 2), (np.array([3, -1]),), (sz.tensor([3, 2]),)):
        assert x.reshape(*dims).tolist() == [[1, 2], [3, 4], [5, 6]]
    for dims in ((6,), (-1,), (np.int64(6),), ((-1,),), (sz.tensor([6]),)):
        assert x.reshape(*dims).tolist() == [1, 2, 3, 4, 5, 6]
    assert sz.tensor(1).reshape().shape == ()
    assert x.reshape(n for n in (3, -1)).shape == (3, 2)
    endless = sz.expand(sz.tensor([1]), (2**40,))
    for bad in (
        (-1, -1),
        (None, -1),
        ("a", -1),
        (2.0, -1),
        None,
        "ab",
        b"ab",
        endless,
        (True, 6),
        (-2, -3),
    ):
        with pytest.raises(sz.InvalidArgument, match=r"^reshape \(7.2.3.2\).*\.$"):
            x.reshape(bad)
    for unlike in ((4, -1), (0, -1), (7,), ()):
        with pytest.raises(sz.DimensionsMismatch, match=r"^reshape \(7.2.3.2\).*\.$"):
            x.reshape(unlike)


# ---- the others, which are always views ---------------------------------------------------------


def test_views_of_read_only_memory() -> None:
    array = np.arange(6).reshape(2, 3)
    array.flags.writeable = False
    x = sz.from_dlpack(array)
    for y in (
        x.T,
        sz.reshape(x, (6,)),
        sz.flip(x, 0),
        sz.expand(x, (4, 2, 3)),
        x[1],
        *sz.unstack(x),
    ):
        assert y.storage.read_only
        with pytest.raises(sz.InvalidArgument, match="read-only"):
            y[...] = 1


# ---- slice_backward -----------------------------------------------------------------------------


def test_slice_backward_refuses() -> None:
    x, g = sz.tensor([[1.0, 2.0], [3.0, 4.0]]), sz.tensor([[1.0]])
    good: dict[str, Any] = {"input": x, "begin": (0, 1), "size": (1, 1), "step": (1, 1)}
    assert sz.slice_backward(g, **good).tolist() == [[0, 1], [0, 0]]
    for name in good:
        refused(sz.InvalidArgument, "slice_backward", g, **(good | {name: None}), match=name)
    refused(sz.InvalidArgument, "slice_backward", g)
    refused(sz.UninitializedObject, "slice_backward", None, **good)
    refused(sz.UninitializedObject, "slice_backward", g, **(good | {"input": destroyed()}))
    refused(sz.OutOfRange, "slice_backward", g, **(good | {"begin": (0, 2)}))
    refused(sz.OutOfRange, "slice_backward", g, **(good | {"step": (1, 3)}))
    refused(sz.InvalidArgument, "slice_backward", g, **(good | {"step": (1, 0)}))
    refused(sz.InvalidArgument, "slice_backward", g, **(good | {"size": (2, 1)}))
    refused(sz.InvalidArgument, "slice_backward", sz.tensor([[1]]), **good)
    one = sz.expand(sz.tensor([1.0]), (2**40, 2**10))
    big = good | {"input": one}
    refused(sz.AllocFailed, "slice_backward", g, **big)
