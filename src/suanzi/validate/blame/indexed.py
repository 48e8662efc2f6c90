"""Rules of operators that write where indices say: scatter, index_put and the like.

A sum of what meets in one element is defined as repeated addition to it, so that each addition may
round to the dtype of the result. Of values that are written to one element, any may remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from suanzi.truth import functions as f
from suanzi.truth.tracked import Tracked
from suanzi.validate.blame.data_movement import listed, moved_to, wrapped
from suanzi.validate.blame.elements import rule
from suanzi.validate.blame.sampling import (
    LONGEST,
    TERMS,
    Array,
    Call,
    Index,
    Part,
    Piece,
    Unjudged,
    is_float,
    name_of,
)  # fmt: skip

_REDUCTIONS = {
    None: "set", "": "set", "add": "sum", "sum": "sum", "multiply": "prod", "prod": "prod",
    "mean": "mean", "amax": "amax", "amin": "amin",
}  # fmt: skip
_MASKED = 1 << 22
"""Elements of a mask up to which what it selects is counted."""


class _Hits:
    """Some elements of a result, and which positions of a source are written to each."""

    def __init__(self, at: Index, hits: Sequence[Array]) -> None:
        self.at = at
        self.counts = np.array([len(h) for h in hits], np.int64)
        self.of = np.repeat(np.arange(len(hits)), self.counts)
        self.where = np.concatenate([*hits, np.zeros(0, np.int64)]).astype(np.int64)
        most = max(1, int(self.counts.max(initial=0)))
        self.present = np.arange(most) < self.counts[:, None]

    def filled(self, values: Array, neutral: Any) -> Array:
        """Return values, one for each hit, in rows; what has none is neutral."""
        found = np.full(self.present.shape, neutral, values.dtype)
        found[self.present] = values
        return found


def _count(length: int) -> int:
    if length > LONGEST:
        raise Unjudged(f"lines of more than {LONGEST} indices")
    return max(8, min(128, 8 * TERMS // max(length, 1)))


def _joined(first: Index, second: Sequence[Array]) -> Index:
    return tuple(np.concatenate(pair) for pair in zip(first, second, strict=True))


def _by_key(keys: Array, wanted: Array) -> list[Array]:
    """Return where each of some keys is among all."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    left, right = (np.searchsorted(ranked, wanted, side) for side in ("left", "right"))
    if int((right - left).sum()) > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    return [order[a:b] for a, b in zip(left, right, strict=True)]


def _judged(
    call: Call, hits: _Hits, values: Array, kind: str, include: bool = True, alpha: Any = 1
) -> Iterator[Piece]:
    """Judge elements by what they were, the values that met in each, and how they are combined."""
    if kind not in _REDUCTIONS.values():
        raise Unjudged(f"a reduction of another kind: {kind}")
    out, some = call.out, hits.counts > 0
    before = call.take(call["self"], hits.at)
    part = call.part(out, hits.at)
    dtype = name_of(out.dtype)
    if dtype == "bool" and kind != "set":
        raise Unjudged("sums of bool")
    if is_float(dtype):
        before, values = before.astype(np.float64), values.astype(np.float64)
    if kind == "set":
        rows = hits.filled(values, 0)
        found = np.asarray(part.found)[:, None]
        same = (rows == found) | ((rows != rows) & (found != found))
        pick = np.argmax(same & hits.present, 1)
        expected = np.where(some, rows[np.arange(len(rows)), pick], before)
        yield Piece(lambda x: x, {"x": expected}, [part], True)
        return
    lowest = -np.inf if is_float(dtype) else np.iinfo(np.int64).min + 1
    neutral = {"sum": 0, "mean": 0, "prod": 1, "amax": lowest, "amin": -lowest}[kind]
    rows = hits.filled(values, neutral)
    first = before if include else np.where(some, neutral, before)
    counts = np.maximum(hits.counts + include, 1)
    if kind == "mean" and not is_float(dtype):
        raise Unjudged("means of integers")
    if kind == "prod" and is_float(dtype):
        safe = _is_in_range(call, first, rows)
        first = np.where(safe, first, np.asarray(part.found, np.float64))
        rows = np.where(safe[:, None], rows, 1.0)
    arguments = {"first": first, "rows": rows}
    definition = _combined(kind, counts, alpha)
    exact = kind in ("amax", "amin")
    within = dtype if dtype in ("float16", "bfloat16") else call.within
    yield Piece(definition, arguments, [part], exact, within)


def _is_in_range(call: Call, first: Array, rows: Array) -> Array:
    """Tell which products stay in the range of the result, in whatever order they are made."""
    kind, sizes = call.torch.finfo(call.out.dtype), np.abs(np.c_[first, rows])
    usual = (sizes > 0) & np.isfinite(sizes)
    powers = np.log2(np.where(usual, sizes, 1.0))
    up, down = np.maximum(powers, 0).sum(-1), np.minimum(powers, 0).sum(-1)
    found: Array = (up < np.log2(kind.max)) & (down > np.log2(kind.tiny))
    return found


def _combined(kind: str, counts: Array, alpha: Any) -> Callable[..., Any]:
    def definition(first: Any, rows: Any) -> Any:
        is_tracked = isinstance(rows, Tracked)
        if kind in ("sum", "mean"):
            total = first + (rows * alpha if alpha != 1 else rows).sum(-1)
            return total / counts if kind == "mean" else total
        if kind == "prod":
            return first * (f.product(rows, -1) if is_tracked else rows.prod(-1))
        a, b = (first, rows) if kind == "amax" else (-first, -rows)
        most = np.maximum(a.value, b.max(-1).value) if is_tracked else np.maximum(a, b.max(-1))
        return most if kind == "amax" else -most

    return definition


# ---- an index for each element -------------------------------------------------------------------


@rule("scatter", "scatter_add", "scatter_reduce")
def scatter(call: Call) -> Iterator[Piece]:
    """self[index[i]] = src[i] along an axis, or the sum, product or mean of what meets."""
    index, out, dim = call["index"], call.out, int(call["dim"])
    if not out.ndim or index.ndim != out.ndim:
        raise Unjudged("no axes")
    dim %= out.ndim
    length = index.shape[dim]
    count = _count(length)
    at = call.elements(out, count)
    if index.numel():
        written = list(call.elements(index, count))
        written[dim] = call.take(index, tuple(written))
        at = _joined(at, written)
    reach = [np.arange(len(at[0]))[:, None] * 0 + at[a][:, None] for a in range(out.ndim)]
    inside = np.ones(len(at[0]), bool)
    for a in range(out.ndim):
        if a != dim:
            inside &= at[a] < index.shape[a]
            reach[a] = np.minimum(reach[a], max(index.shape[a] - 1, 0))
    reach[dim] = np.arange(length)[None]
    hit = np.zeros((len(at[0]), length), bool)
    if index.numel():
        lines = call.take(index, tuple(np.broadcast_arrays(*reach)))
        hit = (lines == at[dim][:, None]) & inside[:, None]
    hits = _Hits(at, [np.flatnonzero(row) for row in hit])
    src = call.get("src", call.get("value"))
    if call.is_tensor(src):
        place = [hits.where if a == dim else at[a][hits.of] for a in range(out.ndim)]
        values = call.take(src, tuple(place))
    else:
        values = np.full(len(hits.where), src)
    kind = "sum" if call.name == "scatter_add" else _kind(call)
    yield from _judged(call, hits, values, kind, bool(call.get("include_self", True)))


def _kind(call: Call) -> str:
    given = call.get("reduce")
    return _REDUCTIONS.get(given, str(given))


@rule("index_add", "index_copy", "index_fill", "index_reduce")
def index_add(call: Call) -> Iterator[Piece]:
    """self[:, index[i]] += alpha source[:, i], or another combination."""
    out, dim = call.out, int(call["dim"])
    if not out.ndim:
        raise Unjudged("no axes")
    dim %= out.ndim
    index = call.numbers(call["index"]).reshape(-1)
    count = _count(len(index))
    index = wrapped(index, out.shape[dim])
    at = call.elements(out, count)
    if len(index):
        written = list(call.elements(out, count))
        written[dim] = index[call.rng.integers(0, len(index), len(written[0]))]
        at = _joined(at, written)
    hits = _Hits(at, _by_key(index, at[dim]))
    source = call.get("source", call.get("value"))
    if call.is_tensor(source) and source.ndim:
        place = [hits.where if a == dim else at[a][hits.of] for a in range(out.ndim)]
        values = call.take(source, tuple(place))
    else:
        value = call.numbers(source) if call.is_tensor(source) else source
        values = np.full(len(hits.where), value)
    kind = {"index_add": "sum", "index_reduce": _kind(call)}.get(call.name, "set")
    include = bool(call.get("include_self", True))
    yield from _judged(call, hits, values, kind, include, call.get("alpha", 1))


@rule("index_put", "_index_put_impl", "_unsafe_index_put")
def index_put(call: Call) -> Iterator[Piece]:
    """self[i, :, j] = values, or += values."""
    out, given = call.out, listed(call, call["self"], list(call["indices"]))
    axes, shape, first = given.axes, given.shape, given.first
    size = int(np.prod(shape, dtype=np.int64))
    count = _count(size)
    sizes = tuple(out.shape[a] for a in axes)
    own = [wrapped(np.broadcast_to(call.numbers(given.by[a]), shape).ravel(), out.shape[a])
           for a in axes]  # fmt: skip
    keys = np.ravel_multi_index(tuple(own), sizes) if size else np.zeros(0, np.int64)
    at = call.elements(out, count)
    if size:
        written, which = list(call.elements(out, count)), call.rng.integers(0, size, count)
        which = np.resize(which, len(written[0]))
        for a, i in zip(axes, own, strict=True):
            written[a] = i[which]
        at = _joined(at, written)
    wanted = np.ravel_multi_index(tuple(at[a] for a in axes), sizes)
    hits = _Hits(at, _by_key(keys, np.asarray(wanted)))
    inner = list(np.unravel_index(hits.where, shape)) if shape else []
    rest = [at[a][hits.of] for a in range(out.ndim) if a not in axes]
    place = [*rest[:first], *inner, *rest[first:]]
    values = call.take(call["values"], tuple(map(np.asarray, place)))
    values = np.broadcast_to(values, hits.where.shape)
    yield from _judged(call, hits, values, "sum" if call.get("accumulate", False) else "set")


# ---- masks ---------------------------------------------------------------------------------------


def _mask(call: Call, shape: Sequence[int]) -> Any:
    """Return a mask, broadcast to a shape, in row-major order."""
    if int(np.prod(shape, dtype=np.int64)) > _MASKED:
        raise Unjudged(f"masks of more than {_MASKED} elements")
    return call["mask"].expand(*shape).reshape(-1)


def _at(flat: Array, shape: Sequence[int]) -> Index:
    return tuple(map(np.asarray, np.unravel_index(flat, tuple(shape)))) if len(shape) else ()


@rule("masked_select")
def masked_select(call: Call) -> Iterator[Piece]:
    """The elements where a mask is true, in row-major order."""
    x = call["self"]
    shape = np.broadcast_shapes(tuple(x.shape), tuple(call["mask"].shape))
    chosen = np.flatnonzero(call.numbers(_mask(call, shape)))
    yield _counted(call.out.numel(), len(chosen))
    if len(chosen) == call.out.numel():
        at = call.elements(call.out)
        yield from moved_to(call, x, at, _at(chosen[at[0]], shape))


def _counted(found: int, expected: int) -> Piece:
    part = Part(np.array([found]), "int64", lambda k: "the number of elements")
    return Piece(lambda x: x, {"x": np.array([expected])}, [part], True)


@rule("masked_scatter")
def masked_scatter(call: Call) -> Iterator[Piece]:
    """The elements of a source, one after the other, where a mask is true."""
    out, source = call.out, call["source"]
    mask = call.numbers(_mask(call, tuple(out.shape))).astype(bool)
    rank = np.cumsum(mask) - 1
    flat = np.union1d(call.flat(out, 128), np.flatnonzero(mask)[call.along(int(mask.sum()), 128)])
    at = _at(flat, out.shape)
    expected = call.take(call["self"], at)
    expected = np.array(np.broadcast_to(expected, flat.shape))
    taken = mask[flat]
    expected[taken] = call.take(source.reshape(-1), (rank[flat[taken]],))
    yield Piece(lambda x: x, {"x": expected}, [call.part(out, at)], True)


@rule("masked_scatter_backward")
def masked_scatter_backward(call: Call) -> Iterator[Piece]:
    """The gradients where a mask is true, and 0."""
    g, out = call["grad_output"], call.out
    chosen = np.flatnonzero(call.numbers(_mask(call, tuple(g.shape))))
    flat = call.flat(out, 256)
    inside = flat < len(chosen)
    expected = np.zeros(len(flat))
    expected[inside] = call.take(g, _at(chosen[flat[inside]], g.shape))
    yield Piece(lambda x: x, {"x": expected}, [call.part(out, _at(flat, out.shape))], True)


@rule("nonzero")
def nonzero(call: Call) -> Iterator[Piece]:
    """The indices of elements that are not 0, in row-major order."""
    x = call["self"]
    if x.numel() > LONGEST:
        raise Unjudged(f"lines of more than {LONGEST} indices")
    expected = np.argwhere(call.numbers(x))
    yield _counted(call.out.shape[0], len(expected))
    if call.out.shape == expected.shape and expected.size:
        at = call.elements(call.out)
        yield Piece(lambda x: x, {"x": expected[at]}, [call.part(call.out, at)], True)


@rule("take")
def take(call: Call) -> Iterator[Piece]:
    """Elements by their positions in row-major order."""
    x, at = call["self"], call.elements(call.out)
    flat = wrapped(call.take(call["index"], at), x.numel())
    yield from moved_to(call, x, at, _at(flat, x.shape))
