"""How a tensor of blocks prints: only the elements that are shown are gathered."""

from __future__ import annotations

from itertools import product
from typing import Any

from dask.base import compute

from suanzi.runtimes.cluster.computing import with_clear_errors
from suanzi.runtimes.cluster.moving import joined
from suanzi.runtimes.cluster.tasks import large_like
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.runtimes.cluster.ways import METHODS
from suanzi.tensors.print_options import in_force
from suanzi.tensors.printing import Shown, described, quantization, shown_of


def printed(x: BlockTensor) -> str:
    """Return the text of a tensor, its elements as those of one on this machine."""
    options = in_force()
    axes = shown_of(x.shape, options)
    runs = [_runs(axis) for axis in axes]
    pieces = [x[part] if part else x for part in product(*runs)]
    found: Any = with_clear_errors(x.graph, lambda: compute(*pieces))
    cut = " x ".join(map(str, x.numblocks)) or "1"
    facts = [f"dtype={x.dtype}", *quantization(large_like(x)), f"blocks={cut}"]
    if x.size == 0:
        facts.insert(0, f"shape={x.shape}")
    sample = joined(list(found), tuple(map(len, runs)))
    return described("BlockTensor(", axes, sample, facts, options)


METHODS.text = printed


def _runs(axis: Shown) -> list[slice]:
    """Return the indices of an axis that are printed as slices: all, or those at both ends."""
    gap = axis.index(None) if None in axis else len(axis)
    first = slice(0, gap)
    rest = [i for i in axis[gap:] if i is not None]
    return [first, slice(rest[0], rest[-1] + 1)] if rest else [first]
