"""Operators that need whole axes: Fourier transforms, interpolation, decompositions of matrices.

Blocks are joined along those axes and cut along all others, so that each is computed by itself. A
tall matrix stays cut along its rows (TSQR): each block of rows has a QR; the triangles, one below
the other, have another, in groups, until one is left, which has the singular values of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import widened
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.ops.calling.scalars import axes_argument
from suanzi.promote import registry
from suanzi.promote.registry import Operator
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.elementwise import in_dtype
from suanzi.runtimes.cluster.exchange import as_blocks
from suanzi.runtimes.cluster.graph import Key, block_by_block, from_tasks, itself, new_name
from suanzi.runtimes.cluster.joining import joined_along
from suanzi.runtimes.cluster.moving import reblocked
from suanzi.runtimes.cluster.reductions import made_of_blocks
from suanzi.runtimes.cluster.tasks import Hole, call_on_blocks, large_like, result_of
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import way
from suanzi.tensors.tensor import Tensor


def stand_in_result(
    op: Operator, operands: Mapping[str, BlockTensor], others: Mapping[str, Any]
) -> Any:
    """Return what an operator makes of no such operands: of those with a first axis of size 0."""
    holes = {name: Hole(i) for i, name in enumerate(operands)}
    rank = max(x.ndim for x in operands.values())
    none = [
        _core.full((0, *(1,) * (rank - x.ndim), *x.shape), x.dtype, 0) for x in operands.values()
    ]
    return result_of(call_on_blocks(op.name, **holes, **others), none)


def refuse(op: Operator, operands: Mapping[str, BlockTensor], others: Mapping[str, Any]) -> Any:
    """Raise the operator's own error about operands that it was seen to refuse."""
    holes = {name: Hole(i) for i, name in enumerate(operands)}
    call = call_on_blocks(op.name, **holes, **others)
    return result_of(call, [large_like(x) for x in operands.values()])


def with_whole_axes(x: BlockTensor, axes: Sequence[int]) -> BlockTensor:
    """Return a tensor that is not cut along axes."""
    whole = {a % x.ndim for a in axes}
    return reblocked(x, tuple((sum(cut),) if a in whole else cut for a, cut in enumerate(x.blocks)))


# ---- Fourier transforms and interpolation --------------------------------------------------------

_TRANSFORMS = ("fft_c2c", "fft_r2c", "fft_c2r")


@way(*_TRANSFORMS, *(f"{name}_backward" for name in _TRANSFORMS))
def fourier(op: Operator, axes: Any, **arguments: Any) -> BlockTensor:
    """Return a Fourier transform along axes."""
    names: list[str] = [name for name in ("grad_out", "input") if name in arguments]
    operands: dict[str, BlockTensor] = {name: as_blocks(arguments[name]) for name in names}
    others = {name: x for name, x in arguments.items() if name not in operands}
    rank = operands[names[0]].ndim
    try:
        if any(x.ndim != rank for x in operands.values()):
            raise InvalidArgument("rank")
        some = axes_argument(op, "axes", -1 if axes is None else axes, rank, InvalidArgument)
        if not some:
            raise InvalidArgument("axes")
        back = [a - rank for a in some]
        made: Tensor = stand_in_result(op, operands, {**others, "axes": back})
    except (StatusError, TypeError):
        return refuse(op, operands, {**others, "axes": axes})  # type: ignore[no-any-return]
    return _each(op, operands, {**others, "axes": back}, back, made)


@way("interpolate")
def interpolate(op: Operator, input: BlockTensor, **others: Any) -> BlockTensor:
    """Return samples between the elements; batches and channels stay as they are cut."""
    operands = {"input": input}
    if input.ndim < 3:
        refuse(op, operands, others)
    first = _core.full((0, *input.shape[1:]), input.dtype, 0)
    made: Tensor = result_of(call_on_blocks(op.name, Hole(0), **others), [first])
    wanted = _core.view(_core.full((), made.dtype, 0), 0, (0, *input.shape[:1], *made.shape[1:]),
                        (0,) * (made.ndim + 1))  # fmt: skip
    return _each(op, operands, others, range(2, input.ndim), wanted)


def _each(
    op: Operator,
    operands: Mapping[str, BlockTensor],
    others: Mapping[str, Any],
    axes: Sequence[int],
    stand_in: Tensor,
) -> BlockTensor:
    """Return an operator of each block, of operands of one rank, which are not cut along axes."""
    rank = stand_in.ndim - 1
    whole = [with_whole_axes(x, axes) for x in operands.values()]
    inside = {a % rank for a in axes}
    first = whole[0]
    aligned = [
        reblocked(x, tuple(own if a in inside else cut for a, (own, cut) in
                           enumerate(zip(x.blocks, first.blocks, strict=True))))
        for x in whole
    ]  # fmt: skip
    cuts = tuple(
        (stand_in.shape[a + 1],) if a in inside else cut for a, cut in enumerate(first.blocks)
    )
    call = call_on_blocks(op.name, **{name: Hole(i) for i, name in enumerate(operands)}, **others)
    pairs = [(x, range(rank)) for x in aligned]
    return block_by_block(op.name, call, pairs, cuts, stand_in.dtype)


# ---- matrices ------------------------------------------------------------------------------------


@way("lu", "cholesky", "eig", "inverse")
def of_matrices(op: Operator, mat: BlockTensor, **others: Any) -> Any:
    """Return what an operator makes of each matrix of a batch."""
    return by_matrix(op, {"mat": mat}, others)


@way("solve")
def solutions(op: Operator, mat: Any, rhs: Any, **others: Any) -> Any:
    """Return the solutions of the equations of each matrix of a batch."""
    return by_matrix(op, {"mat": as_blocks(mat), "rhs": as_blocks(rhs)}, others)


def by_matrix(op: Operator, operands: Mapping[str, BlockTensor], others: Mapping[str, Any]) -> Any:
    """Return the results of an operator on matrices, which are the last two axes of its operands.

    One task has a block of the batch; a single matrix is a task's own.
    """
    line = [name for name, x in operands.items() if x.ndim == 1 and name == "rhs"]
    full = {name: x[:, None] if name in line else x for name, x in operands.items()}
    if any(x.ndim < 2 for x in full.values()):
        refuse(op, operands, others)
    try:
        made = stand_in_result(op, full, others)
    except StatusError:
        return refuse(op, operands, others)
    whole = [with_whole_axes(x, (-2, -1)) for x in full.values()]
    batch = grid.common([x.blocks[:-2] for x in whole])
    aligned = [
        reblocked(x, (*grid.operand_grid(batch, x.shape[:-2]), *x.blocks[-2:])) for x in whole
    ]
    given = [x for name, x in operands.items() if name in line]
    if given:  # a line stays a line for the operator
        aligned[-1] = with_whole_axes(given[0], (0,))
    call = call_on_blocks(op.name, **{name: Hole(i) for i, name in enumerate(operands)}, **others)
    several = isinstance(made, tuple)
    results = list(made) if several else [made]
    name = new_name(op.name)
    tasks: dict[Any, Any] = {}
    for place in grid.places(batch):
        keys = []
        for x in aligned:
            own = x.blocks[: x.ndim - 2] if x.ndim > 1 else ()
            at = place[len(place) - len(own) :]
            spot = tuple(0 if len(cut) == 1 else i for cut, i in zip(own, at, strict=True))
            keys.append((x.name, *spot, *(0,) * (x.ndim - len(own))))
        tasks[(f"{name}-all", *place)] = (call, *keys)
    found: list[BlockTensor | None] = []
    for number, result in enumerate(results):
        if result is None:
            found.append(None)
            continue
        rest = result.shape[1 + len(batch) :]
        if line:
            rest = rest[:-1]
        mine = new_name(op.name)
        take: Any = itemgetter(number) if several else itself
        own_tasks = {
            (mine, *place, *(0,) * len(rest)): (take, (f"{name}-all", *place))
            for place in grid.places(batch)
        }
        cuts = (*batch, *((n,) for n in rest))
        found.append(from_tasks(mine, tasks | own_tasks, cuts, result.dtype, aligned))
    return tuple(found) if several else found[0]


_GROUP = 8
"""How many triangles are put below each other by one task."""


def in_tall_blocks(x: BlockTensor, width: int) -> BlockTensor | None:
    """Return a matrix in several blocks of at least as many rows as a width; None if it has not."""
    if x.ndim != 2 or not 0 < width <= x.shape[0]:
        return None
    rows = [0]
    for n in x.blocks[0]:
        if rows[-1] >= width:
            rows.append(0)
        rows[-1] += n
    if rows[-1] < width and len(rows) > 1:
        rows[-2:] = [sum(rows[-2:])]
    return reblocked(x, (tuple(rows), (x.shape[1],))) if len(rows) > 1 else None


@way("qr")
def qr(op: Operator, mat: BlockTensor, mode: Any) -> Any:
    """Return Q, cut as the matrix is, and R."""
    tall = in_tall_blocks(mat, mat.shape[-1]) if mode in ("reduced", "r") and mat.ndim else None
    if tall is None:
        return by_matrix(op, {"mat": mat}, {"mode": mode})
    dtype = stand_in_result(op, {"mat": mat}, {"mode": mode})[1].dtype
    wide = in_dtype(tall, widened(dtype))
    if mode == "r":
        return None, in_dtype(triangle(wide), dtype)
    q, r = factors(wide)
    return in_dtype(q, dtype), in_dtype(r, dtype)


@way("svd")
def svd(op: Operator, mat: BlockTensor, format: Any) -> Any:
    """Return U, cut as the matrix is, S and V: those of the last triangle."""
    tall = in_tall_blocks(mat, mat.shape[-1]) if format is True and mat.ndim else None
    if tall is None:
        return by_matrix(op, {"mat": mat}, {"format": format})
    dtypes = [x.dtype for x in stand_in_result(op, {"mat": mat}, {"format": format})]
    q, r = factors(in_dtype(tall, widened(dtypes[0])))
    u, s, v = by_matrix(op, {"mat": r}, {"format": True})
    made = (registry.call("matmul", q, u), s, v)
    return tuple(in_dtype(x, dtype) for x, dtype in zip(made, dtypes, strict=True))


@way("lstsq")
def lstsq(op: Operator, mat: Any, rhs: Any, prec: Any) -> Any:
    """Return the least-squares solution from the triangular factor of `[mat, rhs]`."""
    matrix, sides = as_blocks(mat), as_blocks(rhs)
    others = {"prec": prec}
    columns = sides[:, None] if sides.ndim == 1 else sides
    fit = columns.ndim == matrix.ndim == 2 and columns.shape[0] == matrix.shape[0]
    tall = in_tall_blocks(matrix, matrix.shape[1] + columns.shape[1]) if fit else None
    if tall is None:
        return by_matrix(op, {"mat": matrix, "rhs": sides}, others)
    n = matrix.shape[1]
    dtype = stand_in_result(op, {"mat": matrix, "rhs": columns}, others).dtype
    wide = [in_dtype(x, widened(dtype)) for x in (tall, columns)]
    both = triangle(reblocked(joined_along(wide, 1), (tall.blocks[0], (n + columns.shape[1],))))
    solved = by_matrix(op, {"mat": both[:n, :n], "rhs": both[:n, n:]}, others)
    made = in_dtype(solved, dtype)
    return made[:, 0] if sides.ndim == 1 else made


def triangle(x: BlockTensor) -> BlockTensor:
    """Return R of a tall matrix."""
    n = x.shape[1]
    made = made_of_blocks(
        "qr", x, [0], _triangle, _joined_triangle, lambda _: itself, x.dtype, True
    )
    return BlockTensor(made.graph, made.name, ((n,), (n,)), x.dtype)


def _triangle(block: Tensor) -> Tensor:
    made: Tensor = registry.call("qr", block, "r")[1]
    return made


def _joined_triangle(parts: list[Tensor]) -> Tensor:
    return _triangle(registry.call("concat", parts, 0))


def factors(x: BlockTensor) -> tuple[BlockTensor, BlockTensor]:
    """Return Q, in the blocks of a tall matrix, and R."""
    n = x.shape[1]
    name = new_name("qr-part")
    tasks: dict[Key, Any] = {}
    levels: list[list[Key]] = [[]]
    for i in range(len(x.blocks[0])):
        levels[0].append((name, 0, i))
        tasks[levels[0][-1]] = (_qr, (x.name, i, 0))
    while len(levels[-1]) > 1:
        below = levels[-1]
        groups = [below[i : i + _GROUP] for i in range(0, len(below), _GROUP)]
        levels.append([])
        for i, group in enumerate(groups):
            levels[-1].append((name, len(levels) - 1, i))
            tasks[levels[-1][-1]] = (_qr_of, group)
    # From the last down, each one's columns are turned by the part of the one above it.
    turned: dict[Key, Any] = {levels[-1][0]: (name, "turned", len(levels) - 1, 0)}
    tasks[turned[levels[-1][0]]] = (itemgetter(0), levels[-1][0])
    for depth in range(len(levels) - 2, -1, -1):
        for i, key in enumerate(levels[depth]):
            above = turned[levels[depth + 1][i // _GROUP]]
            turned[key] = (name, "turned", depth, i)
            tasks[turned[key]] = (partial(_turned, i % _GROUP, n), key, above)
    q, r = new_name("qr"), new_name("qr")
    first = {(q, i, 0): (itself, turned[key]) for i, key in enumerate(levels[0])}
    last = {(r, 0, 0): (itemgetter(1), levels[-1][0])}
    return (
        from_tasks(q, tasks | first, x.blocks, x.dtype, [x]),
        from_tasks(r, tasks | last, grid.whole((n, n)), x.dtype, [x]),
    )


def _qr(block: Tensor) -> tuple[Tensor, Tensor]:
    made: tuple[Tensor, Tensor] = registry.call("qr", block)
    return made


def _qr_of(parts: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    return _qr(registry.call("concat", [r for _, r in parts], 0))


def _turned(place: int, n: int, part: tuple[Tensor, Tensor], above: Tensor) -> Tensor:
    made: Tensor = registry.call("matmul", part[0], above[place * n : (place + 1) * n])
    return made
