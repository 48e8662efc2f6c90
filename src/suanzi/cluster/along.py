"""What needs whole axes: Fourier transforms, interpolation, and matrices with all they are made of.

Blocks are put together along those axes and cut along all others, so that each is computed on its
own. A call on stand-ins without elements gives shapes and dtypes, and raises the errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from suanzi import _core
from suanzi.cluster import grid
from suanzi.cluster.exchange import as_blocks
from suanzi.cluster.graph import block_by_block, from_tasks, new_name
from suanzi.cluster.reblocking import reblocked
from suanzi.cluster.stand_ins import large_like, result_of
from suanzi.cluster.tasks import Hole, call_on_blocks
from suanzi.cluster.tensor import BlockTensor
from suanzi.cluster.ways import way
from suanzi.registry import Operator
from suanzi.status import InvalidArgument, StatusError
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
        some = [-1] if axes is None else list(axes) if hasattr(axes, "__iter__") else [axes]
        if not some or any(not -rank <= a < rank for a in some):
            raise InvalidArgument("axes")
        back = [a if a < 0 else a - rank for a in some]
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
        take: Any = itemgetter(number) if several else _itself
        own_tasks = {
            (mine, *place, *(0,) * len(rest)): (take, (f"{name}-all", *place))
            for place in grid.places(batch)
        }
        cuts = (*batch, *((n,) for n in rest))
        found.append(from_tasks(mine, tasks | own_tasks, cuts, result.dtype, aligned))
    return tuple(found) if several else found[0]


def _itself(x: Tensor) -> Tensor:
    return x
