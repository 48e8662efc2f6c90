"""What a call of PyTorch is that only moves elements: the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suanzi.port.replay.kept import Value
from suanzi.port.replay.meaning import MEANINGS, Do, Unknown, put

__all__ = ["MEANINGS"]


def _numbers(rest: Sequence[Any]) -> list[int]:
    return list(rest[0]) if len(rest) == 1 and isinstance(rest[0], list | tuple) else list(rest)


@put("view", "reshape", "_unsafe_view", "unflatten")
def _view(do: Do, x: Value, *rest: Any, shape: Any = None, size: Any = None) -> Value:
    sizes = shape or size or _numbers(rest)
    if any(not isinstance(n, int) for n in sizes):
        raise Unknown("view as another dtype")
    return x.like(x.array.reshape(sizes))


@put("view_as", "reshape_as")
def _view_as(do: Do, x: Value, other: Value) -> Value:
    return x.like(x.array.reshape(other.shape))


@put("flatten")
def _flatten(do: Do, x: Value, start_dim: int = 0, end_dim: int = -1) -> Value:
    n = max(len(x.shape), 1)
    first, last = start_dim % n, end_dim % n
    return x.like(x.array.reshape((*x.shape[:first], -1, *x.shape[last + 1 :])))


@put("transpose", "swapaxes", "swapdims")
def _transpose(do: Do, x: Value, dim0: int, dim1: int) -> Value:
    return x.like(np.swapaxes(x.array, dim0, dim1)) if x.array.ndim else x


@put("permute")
def _permute(do: Do, x: Value, *rest: Any, dims: Any = None) -> Value:
    return x.like(np.transpose(x.array, dims or _numbers(rest)))


@put("t", "T")
def _t(do: Do, x: Value) -> Value:
    return x.like(x.array.T)


@put("mT")
def _matrix_t(do: Do, x: Value) -> Value:
    return x.like(np.swapaxes(x.array, -1, -2))


@put("unsqueeze")
def _unsqueeze(do: Do, x: Value, dim: int) -> Value:
    return x.like(np.expand_dims(x.array, dim))


@put("squeeze")
def _squeeze(do: Do, x: Value, dim: Any = None) -> Value:
    if dim is None:
        return x.like(np.squeeze(x.array))
    axes = tuple(d for d in ([dim] if isinstance(dim, int) else dim) if x.shape[d] == 1)
    return x.like(np.squeeze(x.array, axes))


@put("expand", "broadcast_to")
def _expand(do: Do, x: Value, *rest: Any, size: Any = None, implicit: bool = False) -> Value:
    sizes = list(size or _numbers(rest))
    before = len(sizes) - x.array.ndim
    sizes = [x.shape[i - before] if n == -1 else n for i, n in enumerate(sizes)]
    return x.like(np.broadcast_to(x.array, sizes))


@put("expand_as")
def _expand_as(do: Do, x: Value, other: Value) -> Value:
    return x.like(np.broadcast_to(x.array, other.shape))


@put("contiguous", "clone", "detach", "alias", "requires_grad_", "cpu", "lift_fresh", "data")
def _same(do: Do, x: Value, *_: Any, **__: Any) -> Value:
    return x


@put("cat", "concat", "concatenate")
def _cat(do: Do, tensors: Sequence[Value], dim: int = 0) -> Any:
    tensors = [x for x in tensors if x.shape != (0,)]
    if len({x.dtype for x in tensors}) == 1:
        return tensors[0].like(np.concatenate([x.array for x in tensors], dim))
    return do("concat", input_lists=tensors, axis=dim)


@put("stack")
def _stack(do: Do, tensors: Sequence[Value], dim: int = 0) -> Any:
    if len({x.dtype for x in tensors}) == 1:
        return tensors[0].like(np.stack([x.array for x in tensors], dim))
    return do("stack", input_lists=list(tensors), axis=dim)


@put("split", "split_with_sizes")
def _split(do: Do, x: Value, sizes: Any, dim: int = 0) -> list[Value]:
    length = x.shape[dim]
    if isinstance(sizes, int):
        ends = list(range(sizes, length, sizes))
    else:
        ends = [int(end) for end in np.cumsum(sizes)[:-1]]
    return [x.like(one) for one in np.split(x.array, ends, dim)]


@put("chunk")
def _chunk(do: Do, x: Value, chunks: int, dim: int = 0) -> list[Value]:
    return _split(do, x, max(-(-x.shape[dim] // chunks), 1), dim)  # type: ignore[no-any-return]


@put("unbind")
def _unbind(do: Do, x: Value, dim: int = 0) -> list[Value]:
    return [x.like(one) for one in np.moveaxis(x.array, dim, 0)]


@put("select")
def _select(do: Do, x: Value, dim: int, index: int) -> Value:
    return x.like(np.take(x.array, index, dim))


@put("narrow")
def _narrow(do: Do, x: Value, dim: int, start: int, length: int) -> Value:
    return x.like(np.moveaxis(np.moveaxis(x.array, dim, 0)[start : start + length], 0, dim))


@put("slice")
def _slice(
    do: Do, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    return x.like(np.moveaxis(np.moveaxis(x.array, dim, 0)[start:end:step], 0, dim))


@put("getitem", "index")
def _getitem(do: Do, x: Value, index: Any) -> Value:
    def one(i: Any) -> Any:
        if isinstance(i, Value):
            return i.array
        return tuple(one(k) for k in i) if isinstance(i, list | tuple) else i

    found = one(index)
    return x.like(np.asarray(x.array[found]))


@put("repeat")
def _repeat(do: Do, x: Value, *rest: Any) -> Value:
    return x.like(np.tile(x.array, _numbers(rest)))


@put("flip")
def _flip(do: Do, x: Value, *rest: Any) -> Value:
    return x.like(np.flip(x.array, tuple(_numbers(rest))))


@put("index_select")
def _index_select(do: Do, x: Value, dim: int, index: Value) -> Value:
    return x.like(np.take(x.array, index.array, dim))


@put("gather")
def _gather(do: Do, x: Value, dim: int, index: Value) -> Value:
    return x.like(np.take_along_axis(x.array, index.array, dim))


@put("tril")
def _tril(do: Do, x: Value, diagonal: int = 0) -> Value:
    return x.like(np.tril(x.array, diagonal))


@put("triu")
def _triu(do: Do, x: Value, diagonal: int = 0) -> Value:
    return x.like(np.triu(x.array, diagonal))
