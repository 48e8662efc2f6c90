"""Layers: products with weights, tables of rows, and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from suanzi.truth.conversion import converted
from suanzi.truth.define import truth_of
from suanzi.truth.tracked import Tracked, concatenate, tracked, where


@truth_of("nn:linear")
def linear(x: Tracked, weight: Tracked, bias: Tracked | None = None, dtype: Any = None) -> Tracked:
    """x W^T + b; `dtype` is an option of the standard's operator of this name."""
    if dtype is not None:
        x, weight = tracked(converted(x, dtype)), tracked(converted(weight, dtype))
        bias = None if bias is None else tracked(converted(bias, dtype))
    y = (x.reshape(*x.shape[:-1], 1, x.shape[-1]) * weight).sum(-1)
    return y if bias is None else y + bias


@truth_of("nn:linear_bwd")
def linear_bwd(
    out_grad: Tracked, x: Tracked, weight: Tracked, bias: Tracked | None = None
) -> tuple[Tracked, ...]:
    """The gradients of x W^T + b."""
    rows = out_grad.reshape(-1, weight.shape[0])
    inputs = x.reshape(rows.shape[0], weight.shape[1])
    made = ((rows @ weight).reshape(*x.shape), rows.transpose(1, 0) @ inputs)
    return made if bias is None else (*made, rows.sum(0))


@truth_of("nn:embedding")
def embedding(weight: Tracked, indices: Any, padding_idx: int | None = None) -> Tracked:
    """The rows of a table."""
    return weight[np.asarray(indices)]


@truth_of("nn:embedding_bwd")
def embedding_bwd(
    out_grad: Tracked, weight: Tracked, indices: Any, padding_idx: int | None = None
) -> Tracked:
    """The sums of the gradients of each row."""
    places = np.asarray(indices).ravel()
    rows = out_grad.reshape(places.size, weight.shape[1])
    padding = None if padding_idx is None else padding_idx % weight.shape[0]
    found = [
        rows[np.flatnonzero((places == row) & (row != padding))].sum(0, keepdims=True)
        for row in range(weight.shape[0])
    ]
    return concatenate(found) if found else weight * 0


@truth_of("nn:one_hot")
def one_hot(indices: Any, num_classes: int = -1, dtype: Any = None) -> Any:
    """1 where a class is the index."""
    places = np.asarray(getattr(indices, "value", indices)).astype(np.int64)
    count = num_classes if num_classes >= 0 else int(places.max()) + 1
    if places.size and not 0 <= int(places.min()) <= int(places.max()) < count:
        raise ValueError(f"an index is outside of 0 to {count - 1}")
    name = str(getattr(dtype, "name", dtype) or "int64").lower()
    found = places[..., None] == np.arange(count)
    return found.astype(name) if name.startswith(("int", "uint", "bool")) else tracked(found)


@truth_of("nn:dropout")
def dropout(x: Tracked, p: float = 0.5, mask: Any = None, seed: int | None = None) -> Tracked:
    """x / (1 - p) where the mask is true."""
    if mask is None:
        raise ValueError("without a mask the result is random")
    return where(np.asarray(mask), x / (1 - tracked(p)), 0)


@truth_of("nn:dropout_bwd")
def dropout_bwd(
    out_grad: Tracked, x: Tracked, p: float = 0.5, mask: Any = None, seed: int | None = None
) -> Tracked:
    """The gradient, dropped alike."""
    return dropout(out_grad, p, mask)
