"""7.2.17 on blocks: tall matrices, cut along their rows, without one task that has all of them.

Each block of rows has a QR of its own; the triangles, one below the other, have another, and so on
in groups until one is left (TSQR). What is solved or decomposed further is that last triangle,
which has the singular values of the whole.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import Any

from suanzi import registry
from suanzi.cluster import grid
from suanzi.cluster.along import by_matrix, stand_in_result
from suanzi.cluster.combining import made_of_blocks
from suanzi.cluster.elementwise import on_elements
from suanzi.cluster.exchange import as_blocks
from suanzi.cluster.graph import Key, from_tasks, new_name
from suanzi.cluster.joining import joined_along
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.dtypes import DType
from suanzi.libraries.lapack import computing_dtype
from suanzi.registry import Operator
from suanzi.tensors.tensor import Tensor

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
    wide = _in_dtype(tall, computing_dtype(dtype))
    if mode == "r":
        return None, _in_dtype(triangle(wide), dtype)
    q, r = factors(wide)
    return _in_dtype(q, dtype), _in_dtype(r, dtype)


@way("svd")
def svd(op: Operator, mat: BlockTensor, format: Any) -> Any:
    """Return U, cut as the matrix is, S and V: those of the last triangle."""
    tall = in_tall_blocks(mat, mat.shape[-1]) if format is True and mat.ndim else None
    if tall is None:
        return by_matrix(op, {"mat": mat}, {"format": format})
    dtypes = [x.dtype for x in stand_in_result(op, {"mat": mat}, {"format": format})]
    q, r = factors(_in_dtype(tall, computing_dtype(dtypes[0])))
    u, s, v = by_matrix(op, {"mat": r}, {"format": True})
    made = (registry.call("matmul", q, u), s, v)
    return tuple(_in_dtype(x, dtype) for x, dtype in zip(made, dtypes, strict=True))


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
    wide = [_in_dtype(x, computing_dtype(dtype)) for x in (tall, columns)]
    both = triangle(reblocked(joined_along(wide, 1), (tall.blocks[0], (n + columns.shape[1],))))
    solved = by_matrix(op, {"mat": both[:n, :n], "rhs": both[:n, n:]}, others)
    made = _in_dtype(solved, dtype)
    return made[:, 0] if sides.ndim == 1 else made


def _in_dtype(x: BlockTensor, dtype: DType) -> BlockTensor:
    return x if x.dtype is dtype else on_elements("cast", "cast", x, dtype)


def triangle(x: BlockTensor) -> BlockTensor:
    """Return R of a tall matrix."""
    n = x.shape[1]
    made = made_of_blocks("qr", x, [0], _triangle, _joined_triangle, _as_it_is, x.dtype, True)
    return BlockTensor(made.graph, made.name, ((n,), (n,)), x.dtype)


def _triangle(block: Tensor) -> Tensor:
    made: Tensor = registry.call("qr", block, "r")[1]
    return made


def _joined_triangle(parts: list[Tensor]) -> Tensor:
    return _triangle(registry.call("concat", parts, 0))


def _as_it_is(shape: object) -> Any:
    return partial(_itself)


def _itself(x: Tensor) -> Tensor:
    return x


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
    first = {(q, i, 0): (_itself, turned[key]) for i, key in enumerate(levels[0])}
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
