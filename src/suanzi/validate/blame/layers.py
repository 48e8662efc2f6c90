"""Rules of smaller layers and losses: prelu, weight norm, gated units, grouped products."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from suanzi.truth import functions as f
from suanzi.truth import tracked as t
from suanzi.truth.tracked import Tracked, tracked
from suanzi.validate.blame.elements import RULES, elementwise, operands, reduced, rule
from suanzi.validate.blame.sampling import LONGEST, TERMS, Array, Call, Piece, Unjudged, name_of


def _above(x: Tracked, limit: float = 0.0) -> Array:
    return np.asarray(x.value > limit, bool)


# ---- elements ------------------------------------------------------------------------------------

RULES["_prelu_kernel"] = elementwise(
    lambda self, weight: t.where(_above(self), self, self * weight)
)
RULES["exp2"] = elementwise(lambda self: t.exp(tracked(self) * np.log(2.0)))
RULES["hypot"] = elementwise(lambda self, other: t.sqrt(self * self + other * other))
RULES["frac"] = elementwise(lambda self: self - f.whole(self, np.trunc))
RULES["hardshrink"] = elementwise(
    lambda self, lambd=0.5: t.where(np.asarray(np.abs(self.value) <= lambd, bool), 0, self), True
)
RULES["softshrink"] = elementwise(
    lambda self, lambd=0.5: t.where(
        _above(self, lambd), self - lambd, t.where(_above(-self, lambd), self + lambd, 0)
    )
)
RULES["copysign"] = elementwise(
    lambda self, other: t.absolute(self) * tracked(np.copysign(1.0, _plain(other))), True
)


def _plain(x: Any) -> Any:
    return x.plain if isinstance(x, Tracked) else x


@rule("nan_to_num")
def nan_to_num(call: Call) -> Iterator[Piece]:
    """Numbers for NaN and infinities."""
    at, kind = call.elements(call.out), call.torch.finfo(call.out.dtype)
    x = call.take(call["self"], at).astype(np.float64)
    for where, name, default in ((np.isnan(x), "nan", 0.0), (x == np.inf, "posinf", kind.max),
                                 (x == -np.inf, "neginf", kind.min)):  # fmt: skip
        x = np.where(where, float(call.get(name, default)), x)
    yield Piece(lambda x: x, {"x": x}, [call.part(call.out, at)], True)


@rule("_prelu_kernel_backward")
def prelu_backward(call: Call) -> Iterator[Piece]:
    """The gradients of x, and of the weight for each element."""
    at = call.elements(call.out)
    given, _ = operands(call, ["grad_output", "self", "weight"], at)

    def definition(grad_output: Tracked, self: Tracked, weight: Tracked) -> tuple[Tracked, Tracked]:
        up = _above(self)
        return (t.where(up, grad_output, grad_output * weight),
                t.where(up, 0, grad_output * self))  # fmt: skip

    parts = [call.part(x, at) for x in call.results[:2]]
    yield Piece(definition, given, parts, within=call.within)


@rule("glu")
def glu(call: Call) -> Iterator[Piece]:
    """The first half times the sigmoid of the second."""
    x, at = call["self"], call.elements(call.out)
    dim = int(call.get("dim", -1)) % x.ndim
    second = [i + call.out.shape[dim] * (a == dim) for a, i in enumerate(at)]
    given = {"a": call.take(x, at), "b": call.take(x, tuple(second))}
    yield Piece(lambda a, b: a * t.sigmoid(b), given, [call.part(call.out, at)],
                within=call.within)  # fmt: skip


@rule("glu_backward")
def glu_backward(call: Call) -> Iterator[Piece]:
    """The gradients of both halves."""
    x, at = call["self"], call.elements(call.out)
    dim = int(call["dim"]) % x.ndim
    half = x.shape[dim] // 2
    first, second = list(at), list(at)
    first[dim] = at[dim] % half
    second[dim] = first[dim] + half
    is_first = at[dim] < half
    given = {"g": call.take(call["grad_output"], tuple(first)),
             "a": call.take(x, tuple(first)), "b": call.take(x, tuple(second))}  # fmt: skip

    def definition(g: Tracked, a: Tracked, b: Tracked) -> Tracked:
        s = t.sigmoid(b)
        return t.where(is_first, s * g, (1 - s) * s * g * a)

    yield Piece(definition, given, [call.part(call.out, at)], within=call.within)


# ---- losses --------------------------------------------------------------------------------------


def _huber(self: Tracked, target: Tracked, delta: float = 1.0) -> Tracked:
    d = t.absolute(self - target)
    return t.where(np.asarray(d.value <= delta, bool), d * d * 0.5, (d - delta / 2) * delta)


@rule("huber_loss")
def huber_loss(call: Call) -> Iterator[Piece]:
    """(x - y)**2 / 2 near 0, delta (|x - y| - delta / 2) elsewhere."""
    yield from reduced(call, _huber, "self", "target")


@rule("binary_cross_entropy")
def binary_cross_entropy(call: Call) -> Iterator[Piece]:
    """-(y log x + (1 - y) log(1 - x)), with logarithms of at least -100."""
    names = [n for n in ("self", "target", "weight") if call.get(n) is not None]

    def loss(self: Tracked, target: Tracked, weight: Tracked | None = None) -> Tracked:
        logs = t.maximum(t.log(self), -100), t.maximum(t.log1p(-self), -100)
        found = (target - 1) * logs[1] - target * logs[0]
        return found if weight is None else found * weight

    def unweighted(self: Tracked, target: Tracked) -> Tracked:
        return loss(self, target)

    yield from reduced(call, loss if "weight" in names else unweighted, *names)


@rule("binary_cross_entropy_backward")
def binary_cross_entropy_backward(call: Call) -> Iterator[Piece]:
    """g (x - y) / max((1 - x) x, 1e-12), by the number of elements of a mean."""
    count = call["self"].numel() if int(call.get("reduction", 1)) == 1 else 1

    def definition(
        grad_output: Tracked, self: Tracked, target: Tracked, weight: Tracked | None = None
    ) -> Tracked:
        found = grad_output * (self - target) / t.maximum((1 - self) * self, 1e-12)
        found = found if weight is None else found * weight
        return found / count

    yield from elementwise(definition)(call)


# ---- weight norm ---------------------------------------------------------------------------------


def _by_rows(call: Call, v: Any) -> tuple[Callable[[Any], Array], Callable[[Any], Array], Any]:
    """Return how to read what is like v, how what has one number for each norm, and the results."""
    dim = int(call.get("dim", 0)) % max(v.ndim, 1)
    axes = [a for a in range(v.ndim) if a != dim]
    batch = call.batch(v, axes)

    def rows(x: Any) -> Array:
        return call.rows(x, axes, batch)

    def column(x: Any) -> Array:
        found: Array = call.numbers(x.reshape(-1))[batch[0]][:, None]
        return found

    first, second = call.results[:2]
    part = call.part(second.reshape(-1), batch)
    part.found = np.asarray(part.found).reshape(-1, 1)
    return rows, column, [call.row_part(first, axes, batch, rows(first)), part]


@rule("_weight_norm_interface")
def weight_norm(call: Call) -> Iterator[Piece]:
    """g v / |v|, with the norm over all axes but one, and that."""
    rows, column, results = _by_rows(call, call["v"])
    arguments = {"v": rows(call["v"]), "g": column(call["g"])}

    def definition(v: Tracked, g: Tracked) -> tuple[Tracked, Tracked]:
        norm = t.sqrt((v * v).sum(-1, True))
        return v * (g / norm), norm

    yield Piece(definition, arguments, results, within=call.within)


@rule("_weight_norm_interface_backward")
def weight_norm_backward(call: Call) -> Iterator[Piece]:
    """The gradients of v and g, by the norms that were saved."""
    rows, column, results = _by_rows(call, call["saved_v"])
    arguments = {"w": rows(call["grad_w"]), "v": rows(call["saved_v"]),
                 "g": column(call["saved_g"]), "norm": column(call["saved_norms"])}  # fmt: skip

    def definition(w: Tracked, v: Tracked, g: Tracked, norm: Tracked) -> tuple[Tracked, Tracked]:
        pulled = (w * v).sum(-1, True)
        of_v = (g / norm) * (w - v * (pulled / (norm * norm)))
        return of_v, pulled / norm

    yield Piece(definition, arguments, results, within=call.within)


# ---- groups --------------------------------------------------------------------------------------


@rule("_grouped_mm")
def grouped_mm(call: Call) -> Iterator[Piece]:
    """Products of matrices, whose groups of rows, columns or terms end at `offs`."""
    a, b, out = call["self"], call["mat2"], call.out
    if call.get("bias") is not None:
        raise Unjudged("a product with a bias")
    offs = call.get("offs")
    ends = None if offs is None else call.numbers(offs).reshape(-1)
    length = a.shape[-1]
    if length > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    at = call.elements(out, max(8, min(64, TERMS // max(length, 1))))
    row, column, inside = at[-2], at[-1], np.ones((len(at[0]), length), bool)
    if ends is None or (a.ndim == 2 and b.ndim == 2):
        group = at[0]
    else:
        group = np.searchsorted(ends, row if a.ndim == 2 else column, side="right")
        kept = group < len(ends)  # what is beyond the last group means nothing
        at = tuple(i[kept] for i in at)
        row, column, group, inside = row[kept], column[kept], group[kept], inside[kept]
    terms = np.arange(length)[None]
    if a.ndim == 2 and b.ndim == 2 and ends is not None:
        begins = np.concatenate([[0], ends])[group]
        inside = (terms >= begins[:, None]) & (terms < ends[group][:, None])
    if not len(row):
        raise Unjudged("empty tensors")

    def taken(x: Any, *index: Array) -> Array:
        index = (group[:, None], *index) if x.ndim == 3 else index
        return np.where(inside, call.take(x, tuple(np.broadcast_arrays(*index))), 0.0)

    arguments = {"a": taken(a, row[:, None], terms), "b": taken(b, terms, column[:, None])}
    dtype = name_of(out.dtype)
    within = "float64" if dtype == "float64" else "float32"
    part = call.part(out, at)
    yield Piece(lambda a, b: (a * b).sum(-1), arguments, [part], within=within)
