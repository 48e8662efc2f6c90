"""Rules of operators that move elements: nothing may be off, but where gradients are summed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from suanzi.blaming.elements import rule
from suanzi.blaming.sampling import LONGEST, TERMS, Array, Call, Index, Piece, Unjudged


def _same(x: Any) -> Any:
    return x


def _moved(call: Call, x: Any, at: Index, source: Index) -> Iterator[Piece]:
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
    yield from _moved(call, x, at, tuple(i % n for i, n in zip(own, x.shape, strict=True)))


@rule("flip")
def flip(call: Call) -> Iterator[Piece]:
    """The elements of axes the other way round."""
    x, at = call["self"], call.elements(call.out)
    axes = call.axes(call["dims"], x.ndim)
    source = [x.shape[a] - 1 - i if a in axes else i for a, i in enumerate(at)]
    yield from _moved(call, x, at, tuple(source))


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
        yield from _moved(call, x, out, tuple(map(np.asarray, source)))
        return
    for shift, dim in zip(shifts, dims, strict=True):
        at[dim] = (at[dim] - shift) % x.shape[dim]
    yield from _moved(call, x, out, tuple(at))


def _placed(
    call: Call, x: Any, at: Index, source: list[Array], inside: Array, value: float = 0.0
) -> Iterator[Piece]:
    """Judge elements that were placed among those of one value."""
    if x.numel():
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


@rule("select_backward")
def select_backward(call: Call) -> Iterator[Piece]:
    """A gradient at one position of an axis."""
    at, dim = call.elements(call.out), int(call["dim"]) % call.out.ndim
    index = int(call["index"]) % call.out.shape[dim]
    source = [i for a, i in enumerate(at) if a != dim]
    if not source:
        raise Unjudged("no axes")
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


def _wrapped(i: Array, n: int) -> Array:
    found: Array = np.where(i < 0, i + n, i)
    return found


@rule("embedding")
def embedding(call: Call) -> Iterator[Piece]:
    """The rows of a table."""
    at = call.elements(call.out)
    row = call.take(call["indices"], at[:-1])
    yield from _moved(call, call["weight"], at, (row, at[-1]))


@rule("index_select")
def index_select(call: Call) -> Iterator[Piece]:
    """Some positions of an axis."""
    x, at, dim = call["self"], list(call.elements(call.out)), int(call["dim"])
    if not x.ndim:
        raise Unjudged("no axes")
    out = tuple(at)
    at[dim] = call.take(call["index"].reshape(-1), (at[dim],))
    yield from _moved(call, x, out, tuple(at))


@rule("gather")
def gather(call: Call) -> Iterator[Piece]:
    """Elements of an axis by an index for each."""
    x, at, dim = call["self"], list(call.elements(call.out)), int(call["dim"])
    if not x.ndim:
        raise Unjudged("no axes")
    out = tuple(at)
    at[dim] = call.take(call["index"], out)
    yield from _moved(call, x, out, tuple(at))


@rule("index")
def index(call: Call) -> Iterator[Piece]:
    """x[i, :, j]: positions of some axes by tensors, which are broadcast together."""
    x, given = call["self"], list(call["indices"])
    at = call.elements(call.out)
    listed: list[Any] = []
    for i in given:
        if i is None:
            listed.append(None)
        elif i.dtype in (call.torch.bool, call.torch.uint8):
            listed += list(call.torch.nonzero(i, as_tuple=True))
        else:
            listed.append(i)
    listed += [None] * (x.ndim - len(listed))
    axes = [a for a, i in enumerate(listed) if i is not None]
    shape = np.broadcast_shapes(*(tuple(listed[a].shape) for a in axes))
    together = axes == list(range(axes[0], axes[-1] + 1))
    first = axes[0] if together else 0
    inner = at[first : first + len(shape)]
    rest = iter((*at[:first], *at[first + len(shape) :]))
    source = []
    for a, i in enumerate(listed):
        if i is None:
            source.append(next(rest))
        else:
            aligned = inner[len(shape) - i.ndim :] if i.ndim else ()
            some = call.take(i, aligned) if i.ndim else np.broadcast_to(call.numbers(i), len(at[0]))
            source.append(_wrapped(some, x.shape[a]))
    yield from _moved(call, x, at, tuple(source))


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
