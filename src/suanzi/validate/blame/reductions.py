"""Rules of operators that compute rows: reductions, softmaxes and losses, with gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from suanzi.truth import functions as f
from suanzi.truth import tracked as t
from suanzi.truth.nn import softmaxes
from suanzi.truth.tracked import Tracked, tracked
from suanzi.validate.blame.elements import rule
from suanzi.validate.blame.sampling import LONGEST, Call, Index, Part, Piece, Unjudged, name_of


def same_shape(
    call: Call, definition: Callable[..., Any], dim: Any, *names: str
) -> Iterator[Piece]:
    """Judge rows of a result that has the shape of its operands."""
    x = call[names[0]]
    axes = call.axes(dim, x.ndim)
    batch = call.batch(x, axes, call.out)
    given = {name: call.rows(call[name], axes, batch) for name in names}
    found = call.rows(call.out, axes, batch)
    part = call.row_part(call.out, axes, batch, found)
    yield Piece(definition, given, [part], within=call.within)


def _safe_softmax(self: Tracked) -> Tracked:
    empty = np.asarray(self.value == -np.inf).all(-1, keepdims=True)
    return t.where(empty, 0, softmaxes.softmax(t.where(empty, 0, self)))


_ALONG: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "_softmax": (lambda self: softmaxes.softmax(self), ("self",)),
    "_log_softmax": (lambda self: softmaxes.log_softmax(self), ("self",)),
    "_safe_softmax": (_safe_softmax, ("self",)),
    "_softmax_backward_data": (
        lambda grad_output, output: t.either(
            output * (grad_output - (grad_output * output).sum(-1, True)),
            grad_output * output - output * (grad_output * output).sum(-1, True),
        ),
        ("grad_output", "output"),
    ),
    "_log_softmax_backward_data": (
        lambda grad_output, output: grad_output - t.exp(output) * grad_output.sum(-1, True),
        ("grad_output", "output"),
    ),
    "cumsum": (
        lambda self: f.cumulative(self, 1) if isinstance(self, Tracked) else np.cumsum(self, 1),
        ("self",),
    ),
}


@rule(*_ALONG)
def along(call: Call) -> Iterator[Piece]:
    """A result for each element of a row."""
    definition, names = _ALONG[call.name]
    if call.get("dtype") is not None and call["self"].dtype != call.out.dtype:
        raise Unjudged("a dtype for the result")
    yield from same_shape(call, definition, call["dim"], *names)


# ---- reductions ----------------------------------------------------------------------------------


def mean_and_variance(x: Tracked, correction: float) -> tuple[Tracked, Tracked]:
    """The means of rows, and those of the squares of differences from them."""
    mean = x.mean(-1, True)
    d = x - mean
    return mean.sum(-1), (d * d).sum(-1) / max(x.shape[-1] - correction, 0)


def reduced_norm(x: Tracked, ord: float) -> Tracked:
    """The length of each row."""
    sizes = t.absolute(x)
    if ord == 2:
        return t.sqrt((x * x).sum(-1))
    if ord == math.inf:
        return sizes.max(-1)
    if ord == 1:
        return sizes.sum(-1)
    raise Unjudged(f"a norm of order {ord}")


def _summed(x: Any) -> Any:
    return x.sum(-1)


def _product(x: Any) -> Any:
    return f.product(x, -1) if isinstance(x, Tracked) else np.prod(x, -1)


def _truth(x: Any) -> Any:
    return np.asarray((x.value if isinstance(x, Tracked) else x) != 0, dtype=bool)


_REDUCED: dict[str, tuple[Callable[..., Any], bool]] = {
    "sum": (_summed, False),
    "mean": (lambda x: x.mean(-1), False),
    "prod": (_product, False),
    "amax": (lambda x: x.max(-1), True),
    "amin": (lambda x: -((-x).max(-1)), True),
    "max": (lambda x: x.max(-1), True),
    "min": (lambda x: -((-x).max(-1)), True),
    "argmax": (lambda x: x.max(-1), True),
    "argmin": (lambda x: -((-x).max(-1)), True),
    "any": (lambda x: _truth(x).any(-1), True),
    "all": (lambda x: _truth(x).all(-1), True),
    "logsumexp": (lambda x: softmaxes.logsumexp(x), False),
}


def one_for_each(call: Call, out: Any, axes: Sequence[int], batch: Index, ndim: int) -> Part:
    """Return the elements of a result that has one for each row, with or without the axes."""
    kept = out.ndim == ndim and ndim > 0
    at: list[Any] = list(batch)
    if kept:
        zero = np.zeros(len(batch[0]) if batch else 1, np.int64)
        given = iter(batch)
        at = [zero if a in axes else next(given) for a in range(ndim)]
    found = call.part(out, tuple(at))
    found.found = np.asarray(found.found).reshape(-1)
    return found


@rule(*_REDUCED)
def reduction(call: Call) -> Iterator[Piece]:
    """One element of each row."""
    if "other" in call.arguments:
        raise Unjudged("an overload of another meaning")
    x, (definition, exact) = call["self"], _REDUCED[call.name]
    axes = call.axes(call.get("dim"), x.ndim)
    batch = call.batch(x, axes)
    given = call.rows(x, axes, batch)
    if call.get("dtype") is not None and given.dtype.kind in "ib" and call.out.is_floating_point():
        given = given.astype(np.float64)
    if given.dtype.kind == "b" and call.name in ("sum", "prod"):
        given = given.astype(np.int64)
    if given.dtype.kind == "f" and not x.is_floating_point():
        given = given.astype(np.float64)
    results = [one_for_each(call, out, axes, batch, x.ndim) for out in call.results]
    if call.name in ("argmax", "argmin"):
        results = [_pointed(results[0], given, name_of(x.dtype))]
    elif len(results) == 2:  # values, and where they are
        results[1] = _pointed(results[1], given, name_of(x.dtype))
    if given.dtype.kind == "i" and call.name in ("amin", "min", "argmin"):
        yield Piece(lambda x: (x.min(-1),) * len(results), {"x": given}, results, True)
        return
    yield Piece(
        lambda x: (definition(x),) * len(results), {"x": given}, results, exact, call.within
    )


def _pointed(part: Part, rows: Any, dtype: str) -> Part:
    """Return the elements that indices point to: of equal ones, any may be pointed to."""
    where = np.asarray(part.found, np.int64).reshape(-1)
    inside = np.clip(where, 0, rows.shape[1] - 1)
    found = rows[np.arange(len(rows)), inside]
    if (where != inside).any():
        found = np.where(where == inside, found, np.nan)
    return Part(found, dtype, part.label)


@rule("var", "std", "var_mean", "std_mean")
def variance(call: Call) -> Iterator[Piece]:
    """The mean of squares of differences from the mean, and that."""
    x = call["self"]
    correction = call.arguments.get("correction")
    if "unbiased" in call.arguments:
        correction = int(bool(call["unbiased"]))
    correction = 1 if correction is None else correction
    axes = call.axes(call.get("dim"), x.ndim)
    batch = call.batch(x, axes)
    results = [one_for_each(call, out, axes, batch, x.ndim) for out in call.results]

    def definition(x: Tracked) -> tuple[Tracked, ...]:
        mean, var = mean_and_variance(x, float(correction))
        first = t.sqrt(var) if call.name.startswith("std") else var
        return (first, mean)[: len(results)]

    yield Piece(definition, {"x": call.rows(x, axes, batch)}, results, within=call.within)


@rule("linalg_vector_norm", "norm")
def vector_norm(call: Call) -> Iterator[Piece]:
    """The length of each row."""
    x = call["self"]
    order = float(call.get("ord", call.get("p", 2)))
    axes = call.axes(call.get("dim"), x.ndim)
    batch = call.batch(x, axes)
    part = one_for_each(call, call.out, axes, batch, x.ndim)
    given = call.rows(x, axes, batch)
    yield Piece(lambda x: reduced_norm(x, order), {"x": given}, [part], within=call.within)


@rule("topk", "sort")
def ordered(call: Call) -> Iterator[Piece]:
    """The elements of rows in order, and where they were."""
    x = call["self"]
    if not x.ndim:
        raise Unjudged("no axes")
    axes = call.axes(call.get("dim", -1), x.ndim)
    batch = call.batch(x, axes)
    rows = call.rows(x, axes, batch)
    values, indices = (call.rows(out, axes, batch) for out in call.results)
    down = bool(call.get("largest", call.name == "topk") if call.name == "topk"
                else call.get("descending", False))  # fmt: skip
    k = values.shape[1]
    if call.name == "topk" and not call.get("sorted", True):
        raise Unjudged("no order is required")
    if np.isnan(rows.astype(np.float64)).any():
        raise Unjudged("NaN has no order")

    def definition(x: Any) -> tuple[Any, Any]:
        plain = x.value if isinstance(x, Tracked) else x
        found = np.sort(plain, -1)
        found = (found[:, ::-1] if down else found)[:, :k]
        some = tracked(found) if isinstance(x, Tracked) else found
        return some, some

    inside = np.clip(indices, 0, rows.shape[1] - 1)
    parts = [call.row_part(call.results[0], axes, batch, values)]
    pointed = np.take_along_axis(rows, inside, 1)
    parts.append(call.row_part(call.results[0], axes, batch, pointed))
    yield Piece(definition, {"x": rows}, parts, True)


# ---- classes -------------------------------------------------------------------------------------


@rule("nll_loss_forward", "nll_loss2d_forward")
def nll_loss(call: Call) -> Iterator[Piece]:
    """-x at the class of each row, weighted; their mean (1) or sum (2)."""
    x, reduction = call["self"], int(call["reduction"])
    target = call.numbers(call["target"]).reshape(-1)
    if target.size > LONGEST:
        raise Unjudged(f"rows of more than {LONGEST} elements")
    if x.ndim == 1 or reduction == 0:
        raise Unjudged("a loss that is not reduced")
    ignored = target == int(call["ignore_index"])
    safe = np.where(ignored, 0, target)
    rest = [a for a in range(x.ndim) if a != 1]
    shape = tuple(x.shape[a] for a in rest)
    at = list(np.unravel_index(np.arange(target.size), shape))
    at.insert(1, safe)
    picked = call.take(x, tuple(at))
    weight = call.get("weight")
    weights = np.ones(safe.size) if weight is None else call.take(weight, (safe,))
    weights = np.where(ignored, 0.0, weights)
    if ignored.all():
        raise Unjudged("no class")

    def definition(picked: Tracked, weights: Tracked) -> tuple[Tracked, Tracked]:
        losses = t.where(ignored, 0, -(picked * weights))
        total = weights.sum()
        return (losses.sum() / total if reduction == 1 else losses.sum()), total

    parts = [call.part(call.results[0], ())]
    if reduction == 1:
        parts.append(call.part(call.results[1], ()))
    yield Piece(definition, {"picked": picked, "weights": weights}, parts, within=call.within)


@rule("nll_loss_backward", "nll_loss2d_backward")
def nll_loss_backward(call: Call) -> Iterator[Piece]:
    """-1 at the class of each row, weighted; by the weights of a mean."""
    reduction, x = int(call["reduction"]), call["self"]
    at = call.elements(call.out)
    if x.ndim == 1:
        raise Unjudged("one row")
    row = (at[0], *at[2:])
    target = call.take(call["target"], row)
    hit = (target == at[1]) & (target != int(call["ignore_index"]))
    weight = call.get("weight")
    weights = np.ones(len(at[0])) if weight is None else call.take(weight, (at[1],))
    g = call["grad_output"]
    given = call.take(g, row) if reduction == 0 else np.broadcast_to(call.numbers(g), hit.shape)
    total = call.numbers(call["total_weight"]) if reduction == 1 else np.ones(())

    def definition(g: Tracked, weights: Tracked, total: Tracked) -> Tracked:
        return t.where(hit, -(g * weights) / total, 0)

    arguments = {"g": given, "weights": weights, "total": total}
    yield Piece(definition, arguments, [call.part(call.out, at)], within=call.within)
