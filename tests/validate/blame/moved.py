"""Operators that move, scatter and combine elements, under blame: right, and with faults.

Prints one JSON object.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import torch
from planted import Plant, after, with_argument
from torch.nn import functional as F

import suanzi as sz

Tensor = torch.Tensor
Case = tuple[str, Callable[[Tensor], Any], Callable[..., Any]]
I = torch.tensor([[0, 3, 3, 5, 1], [2, 2, 2, 0, 6], [1, 4, 0, 3, 3], [6, 6, 5, 5, 0]])  # noqa: E741
ROWS = torch.tensor([3, 0, 3, 1, -1])


def source(x: Tensor, *shape: int) -> Tensor:
    """Return other numbers of the dtype of x."""
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).cos().reshape(shape).to(x.dtype)


def reverse(y: Tensor) -> Tensor:
    """Return elements in the other order."""
    return y.flip(0)


def last(y: Tensor) -> Tensor:
    """Spoil the element that is the largest."""
    y = y.clone()
    flat = y.view(-1)
    flat[flat.abs().argmax()] *= 1.25
    return y


def backward(call: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Any]:
    """Return the gradients of a call, of numbers that differ."""

    def run(x: Tensor) -> None:
        x = x.clone().requires_grad_()
        y = call(x)
        y.backward(source(y, *y.shape))

    return run


def once(func: Any, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Write where values should be added."""
    if func._schema.name.endswith("index_put"):
        return func(x, *args[:2])
    return x.scatter(*args)


def no_sum(func: Any, g: Tensor, x: Tensor, pads: Any) -> Tensor:
    """Leave out the gradients of copies."""
    made = func(g, x, pads)
    made.view(-1)[::2] *= 0.5
    return made


CASES: dict[str, Case] = {
    # name: operator, the call, a fault
    "scatter": ("scatter", lambda x: x.scatter(1, I, source(x, 4, 5)),
        with_argument(2, lambda i: (i + 1) % 7)),
    "scatter: number": ("scatter", lambda x: x.scatter(1, I, 0.3), after(last)),
    "scatter: add": ("scatter", lambda x: x.scatter(1, I, source(x, 4, 5), reduce="add"),
        after(last)),
    "scatter: in place": ("scatter_", lambda x: x.clone().scatter_(0, I % 4, source(x, 4, 5)),
        lambda func, x, d, i, s: x.copy_(x.scatter(d, i, s * 0))),
    "scatter_add": ("scatter_add", lambda x: x.scatter_add(1, I, source(x, 4, 5)), once),
    "scatter_reduce: sum": ("scatter_reduce",
        lambda x: x.scatter_reduce(1, I, source(x, 4, 5), "sum", include_self=False), after(last)),
    "scatter_reduce: mean": ("scatter_reduce",
        lambda x: x.scatter_reduce(1, I, source(x, 4, 5), "mean"),
        lambda func, *args, **kw: func(*args[:4], "sum")),
    "scatter_reduce: prod": ("scatter_reduce",
        lambda x: x.scatter_reduce(1, I, source(x, 4, 5), "prod"), after(last)),
    "scatter_reduce: amax": ("scatter_reduce",
        lambda x: x.scatter_reduce(1, I, source(x, 4, 5), "amax", include_self=False),
        lambda func, *args, **kw: func(*args, include_self=True)),
    "scatter_reduce: amin": ("scatter_reduce",
        lambda x: x.scatter_reduce(1, I, source(x, 4, 5), "amin"),
        lambda func, *args, **kw: func(*args[:4], "amax")),
    "index_add": ("index_add", lambda x: x.index_add(0, ROWS % 4, source(x, 5, 7), alpha=2),
        lambda func, *args, **kw: func(*args)),
    "index_copy": ("index_copy", lambda x: x.index_copy(0, ROWS % 4, source(x, 5, 7)), after(last)),
    "index_fill": ("index_fill", lambda x: x.index_fill(1, ROWS % 4, 9.0),
        with_argument(1, lambda d: 0)),
    "index_put": ("index_put", lambda x: x.index_put((ROWS, ROWS), source(x, 5)), after(last)),
    "index_put: in place": ("index_put_", lambda x: written(x), lambda func, x, i, v, *a: x),
    "index_put: accumulate": ("index_put",
        lambda x: x.index_put((ROWS,), source(x, 5, 7), accumulate=True), once),
    "index_put: apart": ("index_put",
        lambda x: x.reshape(2, 2, 7).index_put((torch.tensor([[0], [1]]), torch.tensor([1, 1, 0])),
        source(x, 2, 3, 7), accumulate=True), once),
    "index_put: behind": ("index_put",
        lambda x: torch.ops.aten.index_put(x, [None, ROWS], source(x, 4, 5)), after(reverse)),
    "index: gradient": ("index_put", backward(lambda x: x[ROWS]), after(last)),
    "gather: gradient": ("scatter_add", backward(lambda x: x.gather(1, I)), after(last)),
    "masked_select": ("masked_select", lambda x: x.masked_select(x > 0), after(reverse)),
    "masked_select: fewer": ("masked_select", lambda x: x.masked_select(x > 0),
        after(lambda y: y[:-1])),
    "masked_select: broadcast": ("masked_select", lambda x: x.masked_select(x[0] > 0),
        after(reverse)),
    "masked_scatter": ("masked_scatter", lambda x: x.masked_scatter(x > 0, source(x, 28)),
        lambda func, x, m, s: func(x, m, s.roll(1))),
    "masked_scatter: gradient": ("masked_scatter_backward",
        backward(lambda x: source(x, 4, 7).masked_scatter(x > 0, x)), after(reverse)),
    "nonzero": ("nonzero", lambda x: (x > 0).nonzero(), after(reverse)),
    "take": ("take", lambda x: x.take(ROWS * 5), after(reverse)),
    "diag_embed": ("diag_embed", lambda x: x.diag_embed(1), after(lambda y: y.transpose(-1, -2))),
    "diagonal_backward": ("diagonal_backward", backward(lambda x: x.diagonal(1)), after(last)),
    "select: gradient of a number": ("select_backward", backward(lambda x: x[1, 2]),
        after(lambda y: y.roll(1, -1))),
    "unsafe index": ("_unsafe_index", lambda x: torch.ops.aten._unsafe_index(x, [ROWS]),
        after(reverse)),
}  # fmt: skip
for _kind, _other in (("reflect", "replicate"), ("replicate", "reflect")):
    _name = {"reflect": "reflection_pad", "replicate": "replication_pad"}[_kind]
    for _n, _shape in ((1, (4, 7)), (2, (1, 4, 7)), (3, (1, 2, 2, 7))):
        _pads = (2, 3, 1, 1, 1, 1)[: 2 * _n]

        def _padded(x: Tensor, kind: str = _kind, pads: Any = _pads, shape: Any = _shape) -> Tensor:
            return F.pad(x.reshape(shape), pads, kind)

        def _fault(func: Any, x: Tensor, pads: Any, kind: str = _other) -> Tensor:
            return F.pad(x, tuple(pads), kind)

        CASES[f"{_name}{_n}d"] = (f"{_name}{_n}d", _padded, _fault)
        CASES[f"{_name}{_n}d: gradient"] = (f"{_name}{_n}d_backward", backward(_padded), no_sum)


def written(x: Tensor) -> Tensor:
    """Write rows."""
    y = x.clone()
    y[ROWS] = source(x, 5, 7)
    return y


def run(case: Case, dtype: torch.dtype, is_wrong: bool) -> Any:
    """Return the answer, which operators are wrong, and what is not judged."""
    operator, call, fault = case
    torch.manual_seed(0)
    x = torch.randn(4, 7).to(dtype)
    with Plant(operator if is_wrong else "", fault), sz.blame(overhead=None) as report:
        try:
            call(x)
        except (NotImplementedError, RuntimeError) as error:
            if "not implemented" not in str(error):
                raise
            return None
    wrong = sorted({site.operator for site in report.findings if site.kind == "wrong"})
    judged = [site.operator for site in report.sites if site.judged]
    skipped = {**report.counted("no truth"), **report.unjudged()}
    small = [site.words for site in report.findings if site.kind != "wrong"]
    return [wrong, operator.removesuffix("_") in judged, skipped, small]


def main(cases: dict[str, Case]) -> None:
    """Print what is found of all cases with PyTorch's kernels, and with faults."""
    torch.set_num_threads(1)
    found: dict[str, Any] = {}
    for name, case in cases.items():
        dtypes = (torch.float32, torch.bfloat16, torch.float16)
        found[name] = {
            "operator": case[0].removesuffix("_"),
            "right": {str(d): run(case, d, False) for d in dtypes},
            "wrong": run(case, torch.float32, True),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(CASES)
