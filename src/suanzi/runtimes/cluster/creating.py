"""7.2.1, 7.2.2 on blocks: each is made by the task that needs it, and nothing is shipped.

Random numbers follow from the seed and the index of an element in the whole tensor, so they do not
depend on the blocks, and a lost block is drawn again as it was. The seed 0 stands for one from the
system's entropy, drawn where the call is made.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, int64
from suanzi.base.status import InvalidArgument
from suanzi.ops.creation_random import fill_uniform
from suanzi.ops.creation_wanted import limits
from suanzi.ops.query import shape_tensor
from suanzi.promote.registry import Operator
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.exchange import from_tensor
from suanzi.runtimes.cluster.graph import each_block, from_tasks, new_name
from suanzi.runtimes.cluster.grid import Blocks
from suanzi.runtimes.cluster.moving import reblocked
from suanzi.runtimes.cluster.tasks import (
    Hole,
    call_on_blocks,
    empty_like,
    large_like,
    result_of,
    small_like,
)
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import way
from suanzi.tensors.tensor import Tensor


def full(
    shape: tuple[int, ...], dtype: DType, value: Any = 0, min2maj: object = None
) -> BlockTensor:
    """Return blocks whose elements are all one number; in memory, each is row-major."""
    return full_in(grid.cut(shape, None, dtype), dtype, value)


def full_in(cuts: Blocks, dtype: DType, value: Any) -> BlockTensor:
    """Return blocks of a grid whose elements are all one number."""

    def task(place: tuple[int, ...]) -> Any:
        return _core.full, grid.block_shape(cuts, place), dtype, value

    return each_block("full", cuts, dtype, task)


def steps(
    shape: tuple[int, ...], dtype: DType, start: Any, limit: Any, step: Any, min2maj: object = None
) -> BlockTensor:
    """Return the numbers of :func:`suanzi.range`."""
    doubled = bool(dtype.exponent_bits) and math.isinf(limit - start)
    first, by = (start / 2, step / 2) if doubled else (start, step)
    pieces = [(0, shape[0], first, by, 0)]
    return _sequence("range", shape, dtype, pieces, doubled)


def spaced(
    shape: tuple[int, ...], dtype: DType, start: Any, stop: Any, num: int, min2maj: object = None
) -> BlockTensor:
    """Return the numbers of :func:`suanzi.linspace`, each counted from the end it is nearer to."""
    difference = stop - start
    doubled = not (math.isfinite(difference.real) and math.isfinite(difference.imag))
    begin, end = (start / 2, stop / 2) if doubled else (start, stop)
    gaps, middle = num - 1, (num + 1) // 2
    step = (end - begin) / max(gaps, 1)
    exactly = complex(-0.0, -0.0)
    pieces = [
        (0, middle, begin, step, 0),
        (middle, num, end, step, gaps),
        (0, min(num, 1), begin, exactly, 0),
        (max(gaps, 1), num, end, exactly, gaps),
    ]
    return _sequence("linspace", shape, dtype, pieces, doubled)


Piece = tuple[int, int, Any, Any, int]
"""From which index to which, and the start, the step and the shift of the numbers there."""


def _sequence(
    op: str, shape: tuple[int, ...], dtype: DType, pieces: list[Piece], doubled: bool
) -> BlockTensor:
    cuts = grid.cut(shape, None, dtype)
    begin, sizes = grid.starts(cuts[0]), cuts[0]

    def task(at: tuple[int, ...]) -> Any:
        return (partial(_numbers, begin[at[0]], sizes[at[0]], dtype, pieces, doubled),)

    return each_block(op, cuts, dtype, task)


def _numbers(at: int, count: int, dtype: DType, pieces: list[Piece], doubled: bool) -> Tensor:
    """Return the numbers of a sequence from an index on."""
    made = _core.empty((count,), dtype)
    for begin, end, start, step, shift in pieces:
        low, high = max(begin - at, 0), min(end - at, count)
        if low < high:
            _core.fill_sequence(made, low, high, start, step, shift - at, doubled)
    return made


def diagonal(op: Operator, input: BlockTensor) -> BlockTensor:
    """Return the matrix with a tensor on its diagonal, whose other blocks are zeros."""
    call = call_on_blocks(op.name, Hole(0))
    result_of(call, [empty_like(input) if input.ndim == 1 else large_like(input)])
    cuts = input.blocks * 2

    def task(at: tuple[int, ...]) -> Any:
        if at[0] == at[1]:
            return call, (input.name, at[0])
        return _core.full, grid.block_shape(cuts, at), input.dtype, 0

    return each_block(op.name, cuts, input.dtype, task, [input])


Fill = Callable[[Tensor, int], None]
"""What fills a new tensor with the numbers from an index on."""


def uniform(
    shape: tuple[int, ...], dtype: DType, min: Any, max: Any, seed: int, min2maj: object = None
) -> BlockTensor:
    """Return the numbers of :func:`suanzi.rand_uniform`."""
    fill = partial(fill_uniform, _seed(seed), dtype, min, max)
    return _drawn("rand_uniform", shape, dtype, fill)


def normal(
    shape: tuple[int, ...], dtype: DType, mean: Any, std: float, seed: int, min2maj: object = None
) -> BlockTensor:
    """Return the numbers of :func:`suanzi.rand_normal`."""
    each = std / math.sqrt(2) if dtype.kind == "complex" else std
    fill = partial(_fill_normal, _seed(seed), mean, each, limits(dtype).max)
    return _drawn("rand_normal", shape, dtype, fill)


def _fill_normal(
    seed: int, mean: Any, deviation: float, end: float, made: Tensor, first: int
) -> None:
    _core.random_normal(made, seed, mean, deviation, end, first)


def permutation(
    shape: tuple[int, ...], dtype: DType, len: int, seed: int, min2maj: object = None
) -> BlockTensor:
    """Return the numbers of :func:`suanzi.randperm`; one task shuffles them, and blocks are cut."""
    name = new_name("randperm")
    call = call_on_blocks("randperm", len, dtype, seed=_seed(seed))
    whole = from_tasks(name, {(name, 0): (call,)}, grid.whole(shape), dtype)
    return reblocked(whole, grid.cut(shape, None, dtype))


def _seed(seed: int) -> int:
    return seed or (int.from_bytes(os.urandom(8), "little") >> 1 | 1)


def _drawn(op: str, shape: tuple[int, ...], dtype: DType, fill: Fill) -> BlockTensor:
    cuts = grid.cut(shape, None, dtype)
    name = new_name(op)
    tasks = {}
    for place, where in grid.parts(cuts):
        begin, sizes = [axis.start for axis in where], grid.block_shape(cuts, place)
        tasks[(name, *place)] = (partial(_block, shape, begin, sizes, dtype, fill),)
    return from_tasks(name, tasks, cuts, dtype)


def _block(
    shape: tuple[int, ...], begin: list[int], sizes: tuple[int, ...], dtype: DType, fill: Fill
) -> Tensor:
    """Return a block of random numbers."""
    made = _core.empty(sizes, dtype)
    done = 0
    for first, count in runs(shape, begin, sizes):
        fill(_core.view(made, done, (count,), (1,)), first)
        done += count
    return made


def runs(
    shape: tuple[int, ...], begin: list[int], sizes: tuple[int, ...]
) -> Iterator[tuple[int, int]]:
    """Yield the elements of a block as runs of the whole tensor: where each begins, how many.

    >>> list(runs((4, 6), [1, 2], (2, 3))), list(runs((4, 6), [1, 0], (2, 6)))
    ([(8, 3), (14, 3)], [(6, 12)])
    """
    if 0 in sizes:
        return
    axis = len(shape) - 1
    while axis > 0 and sizes[axis] == shape[axis]:
        axis -= 1
    strides = [math.prod(shape[a + 1 :]) for a in range(len(shape))]
    count = math.prod(sizes[max(axis, 0) :])
    outer = (range(b, b + n) for b, n in zip(begin[:axis], sizes[:axis], strict=False))
    last = begin[axis] * strides[axis] if shape else 0
    for index in product(*outer):
        yield sum(i * s for i, s in zip(index, strides, strict=False)) + last, count


@way("rand_bernoulli")
def bernoulli(op: Operator, input: BlockTensor, seed: Any) -> BlockTensor:
    """Return 1 by the chance that each element is, else 0."""
    result_of(call_on_blocks(op.name, Hole(0), seed), [small_like(input)])
    number = _seed(int(seed))
    name = new_name(op.name)
    tasks: dict[Any, Any] = {}
    for place, where in grid.parts(input.blocks):
        begin = [axis.start for axis in where]
        function = partial(_chances, op.title, number, input.shape, begin)
        tasks[(name, *place)] = (function, (input.name, *place))
    return from_tasks(name, tasks, input.blocks, input.dtype, [input])


def _chances(
    title: str, seed: int, shape: tuple[int, ...], begin: list[int], chances: Tensor
) -> Tensor:
    chances = chances if _core.is_row_major(chances) else _core.row_major_copy(chances)
    made = _core.empty(chances.shape, chances.dtype)
    done = 0
    for first, count in runs(shape, begin, chances.shape):
        part = _core.view(made, done, (count,), (1,))
        given = _core.view(chances, chances.offset + done, (count,), (1,))
        if not _core.random_bernoulli(part, given, seed, first):
            raise InvalidArgument(
                f"{title}: input contains values that are not probabilities; each must be from 0 "
                "to 1."
            )
        done += count
    return made


@way("multinomial")
def multinomial(
    op: Operator, input: BlockTensor, num_samples: Any, replacement: Any, seed: Any
) -> BlockTensor:
    """Return indices by weights, which one task gets: a draw needs the sum of all of a row."""
    result_of(call_on_blocks(op.name, Hole(0), num_samples, True, seed), [small_like(input)])
    call = call_on_blocks(op.name, Hole(0), num_samples, replacement, _seed(int(seed)))
    whole = reblocked(input, grid.whole(input.shape))
    name = new_name(op.name)
    cuts = grid.whole((*input.shape[:-1], int(num_samples)))
    task = (call, (whole.name, *(0,) * whole.ndim))
    return from_tasks(name, {(name, *(0,) * whole.ndim): task}, cuts, int64, [whole])


@way("shape")
def shape(op: Operator, input: BlockTensor) -> BlockTensor:
    """Return the shape, as a tensor of one block."""
    return from_tensor(shape_tensor(op, input.shape), -1)


@way("size")
def size(op: Operator, input: BlockTensor) -> int:
    """Return the number of elements."""
    return input.size


@way("rank")
def rank(op: Operator, input: BlockTensor) -> int:
    """Return the number of axes."""
    return input.ndim


@way("is_contiguous")
def is_contiguous(op: Operator, input: BlockTensor) -> bool:
    """Tell that elements are in row-major order, which is what blocks stand for."""
    return True


@way("contiguous", "duplicate", takes_quantized=True)
def duplicate(op: Operator, input: BlockTensor) -> BlockTensor:
    """Return the tensor itself: its blocks never change."""
    return input
