"""Sequences without end, and generators, where an operator takes integers or numbers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, repeat
from typing import Any

import pytest

import suanzi as sz

X = sz.tensor([[1, 2], [3, 4]])
HUGE = sz.expand(sz.tensor([1]), (2**40,))
TAKES: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda s: sz.reshape(X, s),
    "the method reshape": lambda s: X.reshape(s),
    "transpose": lambda s: sz.transpose(X, s),
    "tile": lambda s: sz.tile(X, s),
    "pad": lambda s: sz.pad(X, s),
    "slice": lambda s: sz.slice(X, s, (1, 1), (1, 1)),
    "crop": lambda s: sz.crop(X, s),
    "expand": lambda s: sz.expand(X, s),
    "flip": lambda s: sz.flip(X, s),
    "squeeze": lambda s: sz.squeeze(X, s),
    "split": lambda s: sz.split(X, s),
    "roll": lambda s: sz.roll(X, s),
    "zeros": sz.zeros,
    "full": lambda s: sz.full(shape=s),
    "create_tensor": lambda s: sz.create_tensor(s, b"1"),
    "create_sparse_tensor": lambda s: sz.create_sparse_tensor(s, [[0]], [1]),
    "create_quant_tensor": lambda s: sz.create_quant_tensor((2,), s),
    "layout": lambda s: sz.zeros((2, 2), layout=s),
    "trace_backward": lambda s: sz.trace_backward(sz.tensor(1.0), s),
    "sparse reshape": lambda s: sz.to_sparse(X).reshape(s),
    "sparse transpose": lambda s: sz.to_sparse(X).transpose(s),
    "sparse reduce": lambda s: sz.to_sparse(X).reduce("SUM", s),
}


@pytest.mark.parametrize("name", TAKES)
@pytest.mark.parametrize("endless", [count(1), repeat(1), repeat((1, 1)), HUGE], ids=str)
def test_endless_sequences_are_refused(name: str, endless: Any) -> None:
    with pytest.raises(sz.InvalidArgument, match=r"\.$"):
        TAKES[name](endless)


def test_generators_are_sequences_like_any_other() -> None:
    def generator(*items: Any) -> Any:
        yield from items

    assert sz.reshape(X, generator(4)).tolist() == [1, 2, 3, 4]
    assert sz.tile(X, generator(1, 2)).shape == (2, 4)
    padded = [[0, 0], [1, 2], [3, 4], [0, 0]]
    assert sz.pad(X, generator(1, 1, 0, 0)).tolist() == padded
    assert sz.pad(X, generator((1, 1), (0, 0))).tolist() == padded
    assert sz.pad(X, generator(generator(1, 1), generator(0, 0))).tolist() == padded
    assert [part.shape for part in sz.split(X, generator(1, 1))] == [(1, 2), (1, 2)]
    assert sz.zeros(generator(2, 3)).shape == (2, 3)
