"""7.2.3: elements that are moved, at the sizes at which kernels break."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod

from suanzi.conformance.cases import Wanted, cases_of, dtypes_of
from suanzi.conformance.cases._elementwise_sizes import size_cases
from suanzi.conformance.cases._moves import Move, Result
from suanzi.conformance.cases._operands import Elementwise
from suanzi.conformance.cases._sized_moves import Moves, moved, sized_cases
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.data import ordinary, tensor
from suanzi.conformance.model.numbers import Real, Value, convert, less, real, unary

# Each makes the moves of a matrix of r rows and c columns; the first is also tried with a million
# elements. An element is i, j; where it comes from is a number in row-major order.


def _same_order(r: int, c: int, out: Sequence[int], **arguments: object) -> Move:
    return moved(f"{r}x{c}", (r, c), out, range(r * c), **arguments)


def _transpose(r: int, c: int) -> list[Move]:
    turned = [i * c + j for j in range(c) for i in range(r)]
    found = [moved(f"{r}x{c}", (r, c), (c, r), turned, perm=[1, 0])]
    if r * c > 10_000:
        return found
    cube = [(i * 3 + k) * c + j for j in range(c) for i in range(r) for k in range(3)]
    found.append(moved(f"{r}x3x{c}", (r, 3, c), (c, r, 3), cube, perm=[1, 2, 0]))
    swapped = [(i * 2 + k) * r + j for k in range(2) for i in range(c) for j in range(r)]
    found.append(moved(f"{c}x2x{r}", (c, 2, r), (2, c, r), swapped, perm=[1, 0, 2]))
    return found


def _flip(r: int, c: int) -> Iterator[Move]:
    n = r * c
    columns = [i * c + c - 1 - j for i in range(r) for j in range(c)]
    yield moved(f"{r}x{c} columns", (r, c), (r, c), columns, axis=[1])
    rows = [(r - 1 - i) * c + j for i in range(r) for j in range(c)]
    yield moved(f"{r}x{c} rows", (r, c), (r, c), rows, axis=[0])
    yield moved(f"{n} elements", (n,), (n,), range(n - 1, -1, -1), axis=[0])


def _roll(r: int, c: int) -> Iterator[Move]:
    n = r * c
    both = [(i - 3) % r * c + (j + 7) % c for i in range(r) for j in range(c)]
    yield moved(f"{r}x{c} both axes", (r, c), (r, c), both, shifts=[3, -7], axis=[0, 1])
    flat = [(i - 1000) % n for i in range(n)]
    yield moved(f"{r}x{c} as one row", (r, c), (r, c), flat, shifts=[1000])


def _many_axes() -> list[Move]:
    """Return rolls of so many axes that an implementation takes a few at a time."""
    found = []
    for ndim in (4, 5, 8, 9, 12, 13):
        shape = tuple(2 + (d < 2) for d in range(ndim))
        steps = [prod(shape[d + 1 :]) for d in range(ndim)]
        places = [
            sum((i - 1) % n * s for i, n, s in zip(index, shape, steps, strict=True))
            for index in product(*map(range, shape))
        ]
        axes = list(range(ndim))
        found.append(moved(f"{ndim} axes", shape, shape, places, shifts=[1] * ndim, axis=axes))
    return found


def _slice(r: int, c: int) -> Iterator[Move]:
    for step in (1, 2, 5):
        wide = range(3, c - 1, step)
        places = [i * c + j for i in range(1, r - 1) for j in wide]
        given = {"begin": [1, 3], "size": [r - 2, c - 4], "step": [1, step]}
        out = (r - 2, len(wide))
        yield moved(f"{r}x{c} step {step}", (r, c), out, places, **given)


def _slice_backward(r: int, c: int) -> Iterator[Move]:
    for forward in _slice(r, c):
        assert isinstance(forward.result, Result)
        came = {p: i for i, p in enumerate(forward.result.places)}
        back = Result((r, c), tuple(came.get(p) for p in range(r * c)))
        tensors = {"grad_out": forward.result.shape, "input": (r, c)}
        yield Move(forward.title, tensors, back, forward.arguments)


def _crop(r: int, c: int) -> list[Move]:
    places = [i * c + j for i in range(2, r) for j in range(1, c - 2)]
    shape, offsets = [r - 2, c - 3], [2, 1]
    return [moved(f"{r}x{c}", (r, c), shape, places, shape=shape, offsets=offsets)]


def _expand(r: int, c: int) -> Iterator[Move]:
    columns = [i for i in range(r) for _ in range(c)]
    yield moved(f"{r}x1 to {r}x{c}", (r, 1), (r, c), columns, shape=[r, c])
    rows = [j for _ in range(r) for j in range(c)]
    yield moved(f"1x{c} to {r}x{c}", (1, c), (r, c), rows, shape=[r, c])


def _tile(r: int, c: int) -> list[Move]:
    half = r // 2
    places = [i % half * c + j for i in range(2 * half) for _ in range(2) for j in range(c)]
    return [moved(f"{half}x{c}", (half, c), (2 * half, 2 * c), places, repeats=[2, 2])]


def _pad(r: int, c: int) -> Iterator[Move]:
    out, widths = (r + 3, c + 8), [2, 1, 3, 5]
    inside = [
        i * c + j if 0 <= i < r and 0 <= j < c else None
        for i in range(-2, r + 1)
        for j in range(-3, c + 5)
    ]
    yield moved(f"{r}x{c} zeros", (r, c), out, inside, pad_width=widths, pad_mode="PAD_CONST")
    around = [i % r * c + j % c for i in range(-2, r + 1) for j in range(-3, c + 5)]
    yield moved(f"{r}x{c} itself", (r, c), out, around, pad_width=widths, pad_mode="PAD_PERIOD")


def _split(r: int, c: int) -> list[Move]:
    sizes = [1, c // 2, c - 1 - c // 2]
    starts = [0, 1, 1 + c // 2]
    parts = [
        Result((r, n), tuple(i * c + s + j for i in range(r) for j in range(n)))
        for s, n in zip(starts, sizes, strict=True)
    ]
    given = {"split_sizes": sizes, "nsplit": 3, "axis": 1}
    return [Move(f"{r}x{c}", {"input": (r, c)}, parts, given)]


def _unstack(r: int, c: int) -> list[Move]:
    n = r * c // 3
    parts = [Result((n,), tuple(range(k, 3 * n, 3))) for k in range(3)]
    return [Move(f"{n}x3", {"input": (n, 3)}, parts, {"num": 3, "axis": 1})]


def _concat(r: int, c: int) -> Iterator[Move]:
    first, second = c // 3, c - c // 3
    wide = [
        i * first + j if j < first else r * first + i * second + j - first
        for i in range(r)
        for j in range(c)
    ]
    tensors: dict[str, tuple[int, ...] | list[tuple[int, ...]]] = {
        "input_lists": [(r, first), (r, second)]
    }
    yield Move(f"{r}x{c} along 1", tensors, Result((r, c), tuple(wide)), {"axis": 1})
    long: dict[str, tuple[int, ...] | list[tuple[int, ...]]] = {"input_lists": [(3, c), (r - 3, c)]}
    yield Move(f"{r}x{c} along 0", long, Result((r, c), tuple(range(r * c))), {"axis": 0})


def _stack(r: int, c: int) -> list[Move]:
    half = r // 2
    places = [k * half * c + i for i in range(half * c) for k in range(2)]
    out = Result((half, c, 2), tuple(places))
    return [Move(f"2 of {half}x{c}", {"input_lists": [(half, c)] * 2}, out, {"axis": 2})]


def _meshgrid(r: int, c: int) -> list[Move]:
    rows = tuple(i for i in range(r) for _ in range(c))
    columns = tuple(r + j for _ in range(r) for j in range(c))
    grids = [Result((r, c), rows), Result((r, c), columns)]
    return [Move(f"{r}x{c}", {"input": [(r,), (c,)]}, grids)]


def _gather(r: int, c: int) -> list[Move]:
    at = [7 * i % r for i in range(r + 2)]
    places = [i * c + j for i in at for j in range(c)]
    index = tensor("int64", at, (r + 2,))
    found = [moved(f"rows of {r}x{c}", (r, c), (r + 2, c), places, index=index)]
    if r * c < 10_000:
        one = [(5 * i) % 4097 for i in range(4099)]
        index = tensor("int64", one, (4099,))
        found.append(moved("4099 of 4097", (4097,), (4099,), one, index=index))
    return found


def _scatter(r: int, c: int) -> list[Move]:
    at = [3 * i % r for i in range(r // 2)]
    places = list(range(r * c))
    for k, i in enumerate(at):
        places[i * c : (i + 1) * c] = range((r + k) * c, (r + k + 1) * c)
    given = {"index": tensor("int64", at, (len(at),)), "override": True}
    tensors = {"input": (r, c), "updates": (len(at), c)}
    return [Move(f"rows of {r}x{c}", tensors, Result((r, c), tuple(places)), given)]


def _masked_select(r: int, c: int) -> list[Move]:
    n = r * c
    mask = [int(i * i % 7 < 3) for i in range(n)] if n < 10_000 else ([1, 1, 0, 1, 0] * n)[:n]
    chosen = [i for i in range(n) if mask[i]]
    return [moved(f"{r}x{c}", (r, c), (len(chosen),), chosen, mask=tensor("bool", mask, (r, c)))]


_SIZED: dict[str, Moves] = {
    "reshape": lambda r, c: [_same_order(r, c, (c, r), dims=[c, r])],
    "expand_dims": lambda r, c: [_same_order(r, c, (r, 1, c), axis=1)],
    "flatten": lambda r, c: [_same_order(r, c, (r * c,), start_axis=0, stop_axis=1)],
    "squeeze": lambda r, c: [moved(f"{r}x1x{c}", (r, 1, c), (r, c), range(r * c), axis=[1])],
    "transpose": _transpose,
    "flip": _flip,
    "reverse": _flip,
    "roll": _roll,
    "slice": _slice,
    "slice_backward": _slice_backward,
    "crop": _crop,
    "expand": _expand,
    "tile": _tile,
    "pad": _pad,
    "split": _split,
    "unstack": _unstack,
    "concat": _concat,
    "stack": _stack,
    "meshgrid": _meshgrid,
    "gather": _gather,
    "scatter": _scatter,
    "masked_select": _masked_select,
}
_MORE: dict[str, Callable[[], Sequence[Move]]] = {"roll": _many_axes}


# ---- element by element --------------------------------------------------------------------------


def _where(dtype: str, count: int, seed: object, operand: int) -> list[Value]:
    return ordinary("bool" if operand == 0 else dtype, count, (seed, operand))


@cases_of("where", "sign", "clip", "cast")
def elements_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give elements that are chosen, bounded, converted."""
    for dtype in dtypes_of(op):
        if wanted.wants("sizes", dtype):
            yield from size_cases(_facts(op, dtype), dtype, wanted)


def _facts(op: str, dtype: str) -> Elementwise:
    if op == "where":
        return Elementwise(
            op,
            ("condition", "x", "y"),
            lambda dtype, row: row[1] if row[0] else row[2],
            dtype_of=lambda dtype, operand: dtype if operand else "bool",
            ordinary=_where,
        )
    if op == "sign":
        return Elementwise(
            op, ("input",), lambda dtype, row: unary("sign", dtype, row[0]), zero_sign=False
        )
    if op == "clip":
        low, high = (0, 1) if dtype in ("bool", "uint1") else (1, 5)
        return Elementwise(
            op,
            ("input",),
            lambda dtype, row: _clipped(row[0], low, high),
            more={"low": low, "high": high},
            zero_sign=False,
        )
    target = "int32" if dtype in ("float32", "float16") else "float32"
    return Elementwise(
        op,
        ("input",),
        lambda dtype, row: convert(row[0], target),
        result=lambda dtype: target,
        more={"type": target},
        label=f"to {target}",
    )


def _clipped(x: Value, low: int, high: int) -> Value:
    if isinstance(x, int):
        return min(max(x, low), high)
    assert isinstance(x, Real)
    if x.is_nan:
        return x
    return real(low) if less(x, real(low)) else real(high) if less(real(high), x) else x


# ---- elements that are moved ---------------------------------------------------------------------


@cases_of(*_SIZED)
def moves_of_sizes(op: str, wanted: Wanted) -> Iterator[Case]:
    """Give matrices past the edges of tiles, a million elements, and rolls of many axes."""
    return sized_cases(op, wanted, _SIZED[op], _MORE.get(op, tuple))
