"""Rules of operators that move elements: nothing may be off, but where gradients are summed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from suanzi.validate.blame.elements import rule
from suanzi.validate.blame.sampling import (
    LONGEST,
    TERMS,
    Array,
    Call,
    Index,
    Piece,
    Unjudged,
    name_of,
)


def _same(x: Any) -> Any:
    return x


def moved_to(call: Call, x: Any, at: Index, source: Index) -> Iterator[Piece]:
    """Judge elements that were moved: those of a result, by where they were in x."""
    some = call.take(x, source)
    yield Piece(_same, {"x": some}, [call.part(call.out, at)], True)


@rule("cat", "stack")
def joined(call: Call) -> Iterator[Piece]:
    """Tensors one after the other along an axis."""
    tensors = [x for x in call["tensors"] if call.name == "stack" or x.numel() or x.ndim > 1]
    dim = int(call.get("dim", 0)) % call.out.ndim
    at = call.elements(call.out)
    if call.name == "stack":
        of, inside = at[dim], None
    else:
        ends = np.cumsum([x.shape[dim] for x in tensors])
        of = np.searchsorted(ends, at[dim], side="right")
        inside = at[dim] - np.concatenate([[0], ends])[of]
    found: Array | None = None
    for k in np.unique(of):
        mine = of == k
        index = [i[mine] for i in at]
        if inside is None:
            index.pop(dim)
        else:
            index[dim] = inside[mine]
        some = call.take(tensors[int(k)], tuple(index))
        if found is None:
            kinds = {bool(x.is_floating_point()) for x in tensors}
            found = np.zeros(len(of), np.float64 if True in kinds else some.dtype)
        found[mine] = some
    if found is None:
        raise Unjudged("empty tensors")
    yield Piece(_same, {"x": found}, [call.part(call.out, at)], True)


@rule("repeat")
def repeat(call: Call) -> Iterator[Piece]:
    """A tensor several times along each axis."""
    x, at = call["self"], call.elements(call.out)
    own = at[call.out.ndim - x.ndim :]
    yield from moved_to(call, x, at, tuple(i % n for i, n in zip(own, x.shape, strict=True)))


@rule("flip")
def flip(call: Call) -> Iterator[Piece]:
    """The elements of axes the other way round."""
    x, at = call["self"], call.elements(call.out)
    axes = call.axes(call["dims"], x.ndim)
    source = [x.shape[a] - 1 - i if a in axes else i for a, i in enumerate(at)]
    yield from moved_to(call, x, at, tuple(source))


@rule("roll")
def roll(call: Call) -> Iterator[Piece]:
    """Elements moved along axes; what leaves at the end comes in at the start."""
    x, at = call["self"], list(call.elements(call.out))
    shifts = call["shifts"]
    shifts = list(shifts) if isinstance(shifts, list | tuple) else [shifts]
    dims = call.get("dims", [])
    out = tuple(at)
    if not dims:
        flat = np.ravel_multi_index(out, tuple(x.shape))
        source = np.unravel_index((flat - shifts[0]) % x.numel(), tuple(x.shape))
        yield from moved_to(call, x, out, tuple(map(np.asarray, source)))
        return
    for shift, dim in zip(shifts, dims, strict=True):
        at[dim] = (at[dim] - shift) % x.shape[dim]
    yield from moved_to(call, x, out, tuple(at))


def _placed(
    call: Call, x: Any, at: Index, source: list[Array], inside: Array, value: float = 0.0
) -> Iterator[Piece]:
    """Judge elements that were placed among those of one value."""
    if not x.ndim:
        found = np.where(inside, call.numbers(x), value)
    elif x.numel():
        safe = [np.clip(i, 0, n - 1) for i, n in zip(source, x.shape, strict=True)]
        found = np.where(inside, call.take(x, tuple(safe)), value)
    else:
        found = np.full(len(inside), value)
    yield Piece(_same, {"x": found}, [call.part(call.out, at)], True)


@rule("constant_pad_nd")
def pad(call: Call) -> Iterator[Piece]:
    """A tensor with a border of one value."""
    x, at, widths = call["self"], call.elements(call.out), list(call["pad"])
    source, inside = list(at), np.ones(len(at[0]), bool)
    for k in range(len(widths) // 2):
        a = x.ndim - 1 - k
        source[a] = at[a] - int(widths[2 * k])
        inside &= (source[a] >= 0) & (source[a] < x.shape[a])
    yield from _placed(call, x, at, source, inside, float(call.get("value", 0)))


def _padding(call: Call, size: int, before: int, after: int) -> Array:
    """Return which position of an axis each position of the padded one is a copy of."""
    i = np.arange(-before, size + after)
    if call.name.startswith("replication"):
        return np.clip(i, 0, size - 1)
    i = np.abs(i)
    found: Array = np.where(i >= size, 2 * (size - 1) - i, i)
    return found


_PADS = [f"{kind}_pad{n}d" for kind in ("reflection", "replication") for n in (1, 2, 3)]


def _copies(call: Call, x: Any) -> list[Array | None]:
    """Return, for each axis, where its positions come from; None for one that is not padded."""
    widths = [int(w) for w in call["padding"]]
    sources: list[Array | None] = [None] * x.ndim
    for k in range(len(widths) // 2):
        a = x.ndim - 1 - k
        sources[a] = _padding(call, int(x.shape[a]), widths[2 * k], widths[2 * k + 1])
    return sources


@rule(*_PADS)
def border(call: Call) -> Iterator[Piece]:
    """A tensor with a border of its own elements."""
    x, at = call["self"], call.elements(call.out)
    sources = _copies(call, x)
    place = [i if s is None else s[i] for i, s in zip(at, sources, strict=True)]
    yield from moved_to(call, x, at, tuple(place))


@rule(*(f"{name}_backward" for name in _PADS))
def border_backward(call: Call) -> Iterator[Piece]:
    """The sum of the gradients of all copies of an element."""
    g, out = call["grad_output"], call.out
    sources = _copies(call, call["self"])
    at = call.elements(out, 64)
    lists: list[list[Array]] = []
    for k in range(len(at[0])):
        each = [np.array([i[k]]) if s is None else np.flatnonzero(s == i[k])
                for i, s in zip(at, sources, strict=True)]  # fmt: skip
        lists.append([grid.ravel() for grid in np.meshgrid(*each, indexing="ij")])
    if not lists:
        raise Unjudged("empty tensors")
    joined = tuple(np.concatenate([one[a] for one in lists]) for a in range(out.ndim))
    values, rows = call.take(g, joined), np.zeros((len(lists), max(len(o[0]) for o in lists)))
    start = 0
    for k, one in enumerate(lists):
        rows[k, : len(one[0])] = values[start : start + len(one[0])]
        start += len(one[0])
    dtype = name_of(out.dtype)
    within = dtype if dtype in ("float16", "bfloat16") else call.within
    yield Piece(lambda g: g.sum(-1), {"g": rows}, [call.part(out, at)], within=within)


@rule("diag_embed")
def diag_embed(call: Call) -> Iterator[Piece]:
    """The elements of an axis on a diagonal of two others, and 0."""
    x, at = call["self"], call.elements(call.out)
    offset = int(call.get("offset", 0))
    a, b = (int(call.get(k, d)) % call.out.ndim for k, d in (("dim1", -2), ("dim2", -1)))
    row, column = at[a], at[b]
    rest = [i for k, i in enumerate(at) if k not in (a, b)]
    along = np.minimum(row, column)
    yield from _placed(call, x, at, [*rest, along], column - row == offset)


@rule("diagonal_backward")
def diagonal_backward(call: Call) -> Iterator[Piece]:
    """A gradient on a diagonal of two axes."""
    at, offset = call.elements(call.out), int(call["offset"])
    a, b = (int(call[k]) % call.out.ndim for k in ("dim1", "dim2"))
    rest = [i for k, i in enumerate(at) if k not in (a, b)]
    along = np.minimum(at[a], at[b])
    yield from _placed(call, call["grad_output"], at, [*rest, along], at[b] - at[a] == offset)


@rule("select_backward")
def select_backward(call: Call) -> Iterator[Piece]:
    """A gradient at one position of an axis."""
    at, dim = call.elements(call.out), int(call["dim"]) % call.out.ndim
    index = int(call["index"]) % call.out.shape[dim]
    source = [i for a, i in enumerate(at) if a != dim]
    yield from _placed(call, call["grad_output"], at, source, at[dim] == index)


@rule("slice_backward")
def slice_backward(call: Call) -> Iterator[Piece]:
    """A gradient at some positions of an axis."""
    at, dim = call.elements(call.out), int(call["dim"]) % call.out.ndim
    n = call.out.shape[dim]
    start, stop, step = slice(int(call["start"]), int(call["end"]), int(call["step"])).indices(n)
    source, offset = list(at), at[dim] - start
    source[dim] = offset // step
    inside = (offset >= 0) & (at[dim] < stop) & (offset % step == 0)
    yield from _placed(call, call["grad_output"], at, source, inside)


# ---- by indices ----------------------------------------------------------------------------------


def wrapped(i: Array, n: int) -> Array:
    """Return indices of which some may count from the end."""
    found: Array = np.where(i < 0, i + n, i)
    return found


@rule("embedding")
def embedding(call: Call) -> Iterator[Piece]:
    """The rows of a table."""
    at = call.elements(call.out)
    row = call.take(call["indices"], at[:-1])
    yield from moved_to(call, call["weight"], at, (row, at[-1]))


@rule("index_select")
def index_select(call: Call) -> Iterator[Piece]:
    """Some positions of an axis."""
    x, at, dim = call["self"], list(call.elements(call.out)), int(call["dim"])
    if not x.ndim:
        raise Unjudged("no axes")
    out = tuple(at)
    at[dim] = call.take(call["index"].reshape(-1), (at[dim],))
    yield from moved_to(call, x, out, tuple(at))


@rule("gather")
def gather(call: Call) -> Iterator[Piece]:
    """Elements of an axis by an index for each."""
    x, at, dim = call["self"], list(call.elements(call.out)), int(call["dim"])
    if not x.ndim:
        raise Unjudged("no axes")
    out = tuple(at)
    at[dim] = call.take(call["index"], out)
    yield from moved_to(call, x, out, tuple(at))


class Listed(NamedTuple):
    """The indices of ``x[i, :, j]``."""

    by: list[Any]
    """For each axis of x a tensor of indices, or None."""
    axes: list[int]
    """Those which have one."""
    shape: tuple[int, ...]
    """What they broadcast to."""
    first: int
    """The axis of the result where that is."""


def listed(call: Call, x: Any, given: list[Any]) -> Listed:
    """Return the indices of each axis; a mask is those of what it selects."""
    by: list[Any] = []
    for i in given:
        if i is None:
            by.append(None)
        elif i.dtype in (call.torch.bool, call.torch.uint8):
            by += list(call.torch.nonzero(i, as_tuple=True))
        else:
            by.append(i)
    by += [None] * (x.ndim - len(by))
    axes = [a for a, i in enumerate(by) if i is not None]
    if not axes:
        raise Unjudged("no indices")
    shape = np.broadcast_shapes(*(tuple(by[a].shape) for a in axes))
    together = axes == list(range(axes[0], axes[-1] + 1))
    return Listed(by, axes, shape, axes[0] if together else 0)


@rule("index", "_unsafe_index")
def index(call: Call) -> Iterator[Piece]:
    """x[i, :, j]: positions of some axes by tensors, which are broadcast together."""
    x, at = call["self"], call.elements(call.out)
    given = listed(call, x, list(call["indices"]))
    shape, first = given.shape, given.first
    inner = at[first : first + len(shape)]
    rest = iter((*at[:first], *at[first + len(shape) :]))
    source = []
    for a, i in enumerate(given.by):
        if i is None:
            source.append(next(rest))
        else:
            aligned = inner[len(shape) - i.ndim :] if i.ndim else ()
            some = call.take(i, aligned) if i.ndim else np.broadcast_to(call.numbers(i), len(at[0]))
            source.append(wrapped(some, x.shape[a]))
    yield from moved_to(call, x, at, tuple(source))


@rule("embedding_dense_backward")
def embedding_backward(call: Call) -> Iterator[Piece]:
    """The sum of the gradients of each row."""
    if call.get("scale_grad_by_freq", False):
        raise Unjudged("gradients by frequency")
    g, out = call["grad_output"], call.out
    places = call.numbers(call["indices"]).reshape(-1)
    if places.size > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    used = np.unique(places)
    chosen = used[call.along(len(used), 8)] if used.size else used
    rows = np.unique(np.concatenate([chosen, call.along(out.shape[0], 4)]))
    columns = call.along(out.shape[1], 16)
    padding = int(call.get("padding_idx", -1))
    flat = g.reshape(-1, out.shape[1])
    where = [np.flatnonzero((places == r) & (r != padding)) for r in rows]
    most = max(1, *(w.size for w in where))
    if most * len(rows) * len(columns) > 8 * TERMS:
        columns = call.along(out.shape[1], max(2, 8 * TERMS // (most * len(rows))))
    terms = np.zeros((len(rows), most, len(columns)))
    for k, w in enumerate(where):
        grid = np.broadcast_arrays(w[:, None], columns[None])
        if w.size:
            terms[k, : w.size] = call.take(flat, tuple(grid))
    at = tuple(np.broadcast_arrays(rows[:, None], columns[None]))
    yield Piece(lambda g: g.sum(1), {"g": terms}, [call.part(out, at)], within=call.within)
