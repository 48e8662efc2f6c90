"""Rules of sums of products: matrices, convolutions and attention, with their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from suanzi.truth import tracked as t
from suanzi.truth.nn import softmaxes
from suanzi.truth.rounding import ROUNDED, unit_of
from suanzi.truth.tracked import Tracked
from suanzi.validate.blame import transforms
from suanzi.validate.blame.elements import rule
from suanzi.validate.blame.sampling import (
    LONGEST,
    TERMS,
    Array,
    Call,
    Part,
    Piece,
    Unjudged,
    name_of,
)


def arithmetic_of(call: Call, convolution: bool = False) -> str:
    """Return the arithmetic that the program allows products of float32 to be computed in."""
    torch = call.torch
    if call.out.dtype != torch.float32:
        return call.within
    if call.out.device.type == "cuda":
        backend = torch.backends.cudnn if convolution else torch.backends.cuda.matmul
        return "tfloat32" if backend.allow_tf32 else "float32"
    chosen = torch.get_float32_matmul_precision()
    return {"high": "tfloat32", "medium": "bfloat16"}.get(chosen, "float32")


# ---- matrices ------------------------------------------------------------------------------------


def _affine(
    a: Tracked, b: Tracked, c: Tracked | None = None, alpha: float = 1, beta: float = 1
) -> Tracked:
    """The product of matrices, by alpha, and beta times another one."""
    y = a @ b
    y = y if alpha == 1 else y * alpha
    if c is None or beta == 0:
        return y
    return y + (c if beta == 1 else c * beta)


def _product(call: Call, a: Any, b: Any, c: Any = None) -> Iterator[Piece]:
    """Judge some rows and columns of a product, of some matrices of a batch."""
    length = a.shape[-1]
    if length > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    if not call.out.numel():
        raise Unjudged("empty tensors")
    batched = a.ndim == 3
    n, m, p = (a.shape[0] if batched else 1), a.shape[-2], b.shape[-1]
    which = call.along(n, 3)
    each = max(4, min(64, TERMS // max(length * len(which), 1)))
    side = max(2, math.isqrt(each))
    rows, columns = call.along(m, side), call.along(p, side)
    if m <= len(rows):  # a row alone has more columns
        columns = call.along(p, max(2, each // max(m, 1)))
    elif p <= len(columns):
        rows = call.along(m, max(2, each // max(p, 1)))
    if call.out.ndim == a.ndim:
        rows, columns, which = _with_largest(call, rows, columns, which)

    def pick(x: Any, first: Array | None, second: Array | None) -> Array:
        if batched and x.ndim == 3:
            x = x[call.index(which if x.shape[0] > 1 else which * 0, x)]
        x = x if first is None else x.index_select(-2, call.index(first, x))
        x = x if second is None else x.index_select(-1, call.index(second, x))
        return call.numbers(x)

    arguments: dict[str, Any] = {"a": pick(a, rows, None), "b": pick(b, None, columns)}
    if c is not None:
        at = np.meshgrid(*([which] if batched else []), rows, columns, indexing="ij")
        arguments["c"] = call.take(c, tuple(at))
        arguments["alpha"], arguments["beta"] = call.get("alpha", 1), call.get("beta", 1)
    found = pick(call.out, rows, columns)

    def label(k: int) -> str:
        at = np.unravel_index(k, found.shape)
        place = [rows[at[-2]], columns[at[-1]]]
        return f"[{', '.join(str(int(i)) for i in ([which[at[0]]] if batched else []) + place)}]"

    part = Part(found, name_of(call.out.dtype), label)
    yield Piece(_affine, arguments, [part], within=arithmetic_of(call))


def _with_largest(call: Call, rows: Array, columns: Array, which: Array) -> tuple[Array, ...]:
    """Add the row and the column of the largest element, or of one that is no number."""
    some = call._remarkable(call.out)[:1]
    if not some:
        return rows, columns, which
    at = np.unravel_index(some[0], tuple(call.out.shape))
    rows, columns = np.union1d(rows, at[-2]), np.union1d(columns, at[-1])
    return rows, columns, np.union1d(which, at[0]) if len(at) == 3 else which


@rule("mm", "bmm")
def matmul(call: Call) -> Iterator[Piece]:
    """A product of matrices."""
    yield from _product(call, call["self"], call["mat2"])


@rule("addmm", "baddbmm", "_addmm_activation")
def addmm(call: Call) -> Iterator[Piece]:
    """A product of matrices and another matrix."""
    if call.name == "_addmm_activation":
        raise Unjudged("a product with an activation")
    a, b = ("batch1", "batch2") if call.name == "baddbmm" else ("mat1", "mat2")
    yield from _product(call, call[a], call[b], call["self"])


@rule("mv", "dot", "vdot", "addmv")
def vectors(call: Call) -> Iterator[Piece]:
    """Products of a matrix and a vector, or of two vectors."""
    if call.name == "addmv":
        a, b, c = call["mat"], call["vec"], call["self"]
    else:
        a, b, c = call["self"], call.get("vec", call.get("tensor", call.get("other"))), None
    rows = call.along(a.shape[0], 16) if a.ndim == 2 else np.zeros(1, np.int64)
    if b.shape[0] > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    left = call.numbers(a[call.index(rows, a)] if a.ndim == 2 else a[None])
    arguments: dict[str, Any] = {"a": left, "b": call.numbers(b)[:, None]}
    if c is not None:
        arguments["c"] = call.take(c, (rows,))[:, None]
        arguments["alpha"], arguments["beta"] = call.get("alpha", 1), call.get("beta", 1)
    part = call.part(call.out, (rows,) if a.ndim == 2 else ())
    part.found = np.asarray(part.found).reshape(-1, 1)
    yield Piece(_affine, arguments, [part], within=arithmetic_of(call))


# ---- convolutions --------------------------------------------------------------------------------


def _dots(x: Tracked, w: Tracked, bias: Tracked | None = None) -> Tracked:
    """The sum of products along the last axis."""
    y = (x * w).sum(-1)
    return y if bias is None else y + bias


def _each(x: Any, n: int) -> list[int]:
    values = [int(v) for v in x] if isinstance(x, list | tuple) else [int(x)]
    return values * n if len(values) == 1 else values


class _Shape:
    """What the rules of a convolution and of its gradients share."""

    def __init__(self, call: Call, x: Any, weight: Any) -> None:
        self.n = weight.ndim - 2
        if x.ndim != self.n + 2:
            raise Unjudged("a convolution without a batch")
        self.stride, self.padding, self.dilation = (
            _each(call[k], self.n) for k in ("stride", "padding", "dilation")
        )
        self.groups = int(call["groups"])
        self.kernel = list(weight.shape[2:])
        self.transposed = bool(call.get("transposed", False))
        if not x.numel() or not weight.numel():
            raise Unjudged("empty tensors")

    def taps(self, at: Sequence[Array], sizes: Sequence[int]) -> tuple[list[Array], Array]:
        """Return where the taps of some positions read, (positions, taps) by axis, and if inside.

        They are the positions of x that a convolution reads for positions of its result.
        """
        grids = np.meshgrid(*(np.arange(k) for k in self.kernel), indexing="ij")
        places, inside = [], np.ones((len(at[0]), grids[0].size), bool)
        for a in range(self.n):
            tap = grids[a].ravel() * self.dilation[a]
            where = at[a][:, None] * self.stride[a] - self.padding[a] + tap
            inside &= (where >= 0) & (where < sizes[a])
            places.append(np.clip(where, 0, sizes[a] - 1))
        return places, inside

    def sources(self, at: Sequence[Array], sizes: Sequence[int]) -> tuple[list[Array], Array]:
        """Return which positions of a result read some positions of x, for each tap, and if any."""
        grids = np.meshgrid(*(np.arange(k) for k in self.kernel), indexing="ij")
        places, inside = [], np.ones((len(at[0]), grids[0].size), bool)
        for a in range(self.n):
            tap = grids[a].ravel() * self.dilation[a]
            first = at[a][:, None] + self.padding[a] - tap
            where = first // self.stride[a]
            inside &= (first % self.stride[a] == 0) & (where >= 0) & (where < sizes[a])
            places.append(np.clip(where, 0, sizes[a] - 1))
        return places, inside


def _gathered(
    call: Call, x: Any, n: Array, channels: Array, places: Sequence[Array], inside: Array
) -> Array:
    """Return what is read, (positions, channels times taps); 0 outside."""
    at = (
        n[:, None, None], channels[:, :, None], *(p[:, None, :] for p in places),
    )  # fmt: skip
    whole = np.broadcast_arrays(*at)
    found = call.take(x, tuple(whole))
    return np.where(inside[:, None, :], found, 0.0).reshape(len(n), -1)


def _some(call: Call, out: Any, terms: int) -> tuple[Array, ...]:
    if terms > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    return call.elements(out, max(6, min(64, TERMS // max(terms, 1))))


def _forward(call: Call, s: _Shape, x: Any, weight: Any, bias: Any, out: Any, within: str) -> Piece:
    """Judge a convolution: the sum over channels and taps of weights times what taps read."""
    each = weight.shape[1]
    at = _some(call, out, each * math.prod(s.kernel))
    group = at[1] // (weight.shape[0] // s.groups)
    channels = group[:, None] * each + np.arange(each)
    places, inside = s.taps(at[2:], x.shape[2:])
    seen = _gathered(call, x, at[0], channels, places, inside)
    taps = call.numbers(weight[call.index(at[1], weight)]).reshape(len(at[0]), -1)
    arguments = {"x": seen, "w": taps, "bias": None if bias is None else call.take(bias, at[1:2])}
    return Piece(_dots, arguments, [call.part(out, at)], within=within, between=_stored(out, bias))


def _stored(out: Any, bias: Any) -> Callable[..., Tracked] | None:
    """Return a convolution that is stored in its dtype before the bias is added, as cuDNN's is."""
    dtype = name_of(out.dtype)
    if bias is None or dtype not in ("float16", "bfloat16"):
        return None
    return lambda x, w, bias: stored(_dots(x, w), dtype) + bias


def _backward(
    call: Call, s: _Shape, x: Any, weight: Any, bias: Any, out: Any, within: str
) -> Piece:
    """Judge a transposed convolution: what each element gives to positions that would read it.

    x has the channels of the weight's first axis.
    """
    outputs, each = weight.shape[1], weight.shape[0] // s.groups
    at = _some(call, out, each * math.prod(s.kernel))
    group = at[1] // outputs
    channels = group[:, None] * each + np.arange(each)
    places, inside = s.sources(at[2:], x.shape[2:])
    seen = _gathered(call, x, at[0], channels, places, inside)
    index = tuple(np.broadcast_arrays(channels, (at[1] % outputs)[:, None]))
    taps = call.numbers(weight[tuple(call.index(i, weight) for i in index)])
    arguments = {"x": seen, "w": taps.reshape(len(at[0]), -1),
                 "bias": None if bias is None else call.take(bias, at[1:2])}  # fmt: skip
    return Piece(_dots, arguments, [call.part(out, at)], within=within, between=_stored(out, bias))


@rule("convolution", "cudnn_convolution", "_convolution", "mkldnn_convolution")
def convolution(call: Call) -> Iterator[Piece]:
    """A convolution or a transposed one, with its bias."""
    x, weight = call.get("input", call.get("self")), call["weight"]
    s = _Shape(call, x, weight)
    judge = _backward if s.transposed else _forward
    within = arithmetic_of(call, True)
    yield judge(call, s, x, weight, call.get("bias"), call.out, within)


@rule("convolution_backward")
def convolution_backward(call: Call) -> Iterator[Piece]:
    """The gradients of x, weight and bias."""
    g, x, weight = call["grad_output"], call["input"], call["weight"]
    s = _Shape(call, x, weight)
    mask, results = call["output_mask"], call.results
    within = arithmetic_of(call, True)
    if mask[0] and results[0] is not None:
        judge = _forward if s.transposed else _backward
        yield judge(call, s, g, weight, None, results[0], within)
    if mask[1] and results[1] is not None:
        yield _of_weight(call, s, g, x, weight, results[1], within)
    if mask[2] and results[2] is not None:
        length = g.numel() // max(g.shape[1], 1)
        if length <= LONGEST:
            some = call.along(g.shape[1], max(2, min(8, TERMS // max(length, 1))))
            rows = call.numbers(g.transpose(0, 1)[call.index(some, g)]).reshape(len(some), -1)
            part = call.part(results[2], (some,))
            yield Piece(lambda g: g.sum(-1), {"g": rows}, [part], within=call.within)


def _of_weight(call: Call, s: _Shape, g: Any, x: Any, weight: Any, out: Any, within: str) -> Piece:
    """Judge the gradient of the weight: sums over the batch and all positions.

    float32 kernels of stride 1 may transform tiles, as cuDNN's do, and are further off.
    """
    # Of a transposed convolution, x and the gradient change places.
    seen, by = (g, x) if s.transposed else (x, g)
    length = by.shape[0] * math.prod(by.shape[2:])
    if length > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    at = call.elements(out, max(4, min(32, TERMS // max(length, 1))))
    group = at[0] // (out.shape[0] // s.groups)
    channel = group * out.shape[1] + at[1]
    n = np.arange(by.shape[0])
    products, sizes = [], []
    for k in range(len(at[0])):
        reads, valid = [], []
        for a in range(s.n):
            where = np.arange(by.shape[2 + a]) * s.stride[a] - s.padding[a]
            where = where + at[2 + a][k] * s.dilation[a]
            valid.append((where >= 0) & (where < seen.shape[2 + a]))
            reads.append(np.clip(where, 0, seen.shape[2 + a] - 1))
        grid = np.ix_(n, *reads)
        index = (grid[0], np.full((1,) * (s.n + 1), channel[k]), *grid[1:])
        given = call.take(seen, tuple(np.broadcast_arrays(*index)))
        mask = np.logical_and.reduce(np.broadcast_arrays(*_behind(valid)))
        own = call.numbers(by[:, int(at[0][k])])
        products.append((np.where(mask, given, 0.0).ravel(), own.ravel()))
        plane = call.numbers(seen[:, int(channel[k])])
        sizes.append(transforms.norms(plane) @ transforms.norms(own))
    arguments = {"x": np.stack([a for a, _ in products]), "w": np.stack([b for _, b in products]),
                 "size": np.array(sizes)}  # fmt: skip
    tiles = max(s.kernel) > 1 and {*s.stride, *s.dilation} == {1}
    return Piece(
        lambda x, w, size: _dots(x, w), arguments, [call.part(out, at)], within=within,
        between=transforms.dots if tiles and name_of(out.dtype) == "float32" else None,
        between_is=transforms.WORDS,
    )  # fmt: skip


def _behind(valid: Sequence[Array]) -> list[Array]:
    """Return masks of axes so that they broadcast behind the axis of the batch."""
    n = len(valid)
    shaped = []
    for a, one in enumerate(valid):
        shape = [1] * (n + 1)
        shape[a + 1] = one.size
        shaped.append(one.reshape(shape))
    return shaped


# ---- attention -----------------------------------------------------------------------------------

_ATTENTION = (
    "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention",
    "_scaled_dot_product_fused_attention_overrideable",
)  # fmt: skip


def stored(x: Tracked, dtype: str) -> Tracked:
    """A number that a kernel may store in the dtype of its operands on the way."""
    if dtype not in ROUNDED or ROUNDED[dtype].bits >= 24:
        return x
    return Tracked(x.value, t.rounded_to(x, unit_of(dtype)).error + ROUNDED[dtype].least)


def _mask(call: Call, b: Array, h: Array, rows: Array, keys: int) -> tuple[Array | None, Array]:
    """Return what is added to scores, and which keys are seen, (heads, rows, keys)."""
    allowed = np.ones((len(b), len(rows), keys), bool)
    if call.get("is_causal", False):
        allowed &= np.arange(keys) <= rows[None, :, None]
    mask = call.get("attn_mask", call.get("attn_bias"))
    if mask is None:
        return None, allowed
    shape = np.broadcast_arrays(
        b[:, None, None], h[:, None, None], rows[None, :, None], np.arange(keys)[None, None]
    )
    some = call.take(mask, tuple(shape))
    return (None, allowed & some) if some.dtype == bool else (some, allowed)


def _heads(call: Call, q: Any, k: Any) -> tuple[Array, Array, Array]:
    which = call.along(q.shape[0] * q.shape[1], 2)
    b, h = which // q.shape[1], which % q.shape[1]
    return b, h, h // max(q.shape[1] // max(k.shape[1], 1), 1)


def _scores(q: Tracked, k: Tracked, scale: float, mask: Any, allowed: Any) -> Tracked:
    s = (q @ k.transpose(0, 2, 1)) * scale
    s = s if mask is None else s + mask
    return t.where(allowed, s, -np.inf)


@rule(*_ATTENTION)
def attention(call: Call) -> Iterator[Piece]:
    """softmax(scale q k^T) v over the keys that take part, for some queries."""
    call.padded = (1,)
    if call.get("dropout_p", 0.0):
        raise Unjudged("dropout inside")
    q, k, v = call["query"], call["key"], call["value"]
    if q.ndim != 4 or not call.out.numel():
        raise Unjudged("attention without heads")
    scale = call.get("scale")
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    keys, dtype = k.shape[2], name_of(q.dtype)
    b, h, shared = _heads(call, q, k)
    cost = keys * max(q.shape[-1], v.shape[-1]) * len(b)
    if cost > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    rows = call.along(q.shape[2], max(2, min(8, 2 * TERMS // cost)))
    i = [call.index(one, q) for one in (b, h, shared)]
    mask, allowed = _mask(call, b, h, rows, keys)
    arguments = {
        "q": call.numbers(q[i[0], i[1]][:, call.index(rows, q)]),
        "k": call.numbers(k[i[0], i[2]]), "v": call.numbers(v[i[0], i[2]]), "mask": mask,
    }  # fmt: skip

    def definition(q: Tracked, k: Tracked, v: Tracked, mask: Any) -> Tracked:
        s = softmaxes.near(_scores(q, k, scale, mask, allowed))
        top = s.max(-1, True)
        empty = np.asarray(top.value == -np.inf, bool)
        e = t.exp(s - t.where(empty, 0, top))
        total = e.sum(-1, True)
        # Kernels multiply with weights in the dtype of v, before or after the division.
        y = stored(e, dtype) @ v / total
        return t.where(empty, 0, t.either(y, stored(e / total, dtype) @ v))

    grid = np.broadcast_arrays(b[:, None, None], h[:, None, None], rows[None, :, None],
                               np.arange(v.shape[-1])[None, None])  # fmt: skip
    part = call.part(call.out, tuple(grid))
    yield Piece(definition, arguments, [part], within=call.within)


@rule(*(f"{name}_backward" for name in _ATTENTION))
def attention_backward(call: Call) -> Iterator[Piece]:
    """The gradients of q for some queries, and of k and v for some keys."""
    if call.get("dropout_p", 0.0):
        raise Unjudged("dropout inside")
    q, k, v, out, lse = (call[n] for n in ("query", "key", "value", "out", "logsumexp"))
    g = call.get("grad_out", call.get("grad_out_"))
    lse = lse[..., 0] if lse.ndim == 4 else lse  # as cuDNN has it
    if g is None or q.ndim != 4 or lse.ndim != 3 or q.shape[1] % max(k.shape[1], 1):
        raise Unjudged("attention without heads")
    scale = call.get("scale")
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    queries, keys, dtype = q.shape[2], k.shape[2], name_of(q.dtype)
    lse = lse[..., :queries]  # kernels pad it
    # All heads of q that share one of k and v: its gradients are sums over them.
    group = q.shape[1] // k.shape[1]
    which = np.repeat(call.along(k.shape[0] * k.shape[1], 2), group)
    b, shared = which // k.shape[1], which % k.shape[1]
    h = shared * group + np.arange(len(which)) % group
    own, of_shared = (tuple(call.index(one, q) for one in (b, x)) for x in (h, shared))
    cost = max(queries, keys) * q.shape[-1] * len(b)
    if cost > LONGEST:
        raise Unjudged(f"sums of more than {LONGEST} terms")
    count = max(2, min(8, TERMS // cost))
    rows, columns = call.along(queries, count), call.along(keys, count)

    def pick(x: Any, some: Array | None) -> Array:
        x = x[of_shared if x is k or x is v else own]
        return call.numbers(x if some is None else x[:, call.index(some, x)])

    def slopes(
        q: Tracked, k: Tracked, v: Tracked, g: Tracked, out: Tracked, lse: Tracked, mask: Any,
        allowed: Any,
    ) -> tuple[Tracked, Tracked]:  # fmt: skip
        """The weights, and the gradients of scores."""
        most = lse.reshape(*lse.shape, 1)
        s = softmaxes.near(_scores(q, k, scale, mask, allowed), most.plain)
        w = t.where(allowed, t.exp(s - most), 0)
        mean = (g * out).sum(-1, True)
        return w, w * (g @ v.transpose(0, 2, 1) - mean)

    def given(some_rows: Array | None, some_keys: Array | None) -> tuple[dict[str, Any], Array]:
        at = np.arange(queries) if some_rows is None else some_rows
        mask, allowed = _mask(call, b, h, at, keys)
        if some_keys is not None:
            mask, allowed = None if mask is None else mask[..., some_keys], allowed[..., some_keys]
        return {"q": pick(q, some_rows), "k": pick(k, some_keys), "v": pick(v, some_keys),
                "g": pick(g, some_rows), "out": pick(out, some_rows), "lse": pick(lse, some_rows),
                "mask": mask}, allowed  # fmt: skip

    of_rows, seen = given(rows, None)

    def of_q(k: Tracked, **more: Any) -> Tracked:
        _, ds = slopes(k=k, allowed=seen, **more)
        return stored(ds, dtype) @ k * scale

    of_keys, seen_keys = given(None, columns)

    def of_k_v(q: Tracked, g: Tracked, **more: Any) -> tuple[Tracked, Tracked]:
        w, ds = slopes(q=q, g=g, allowed=seen_keys, **more)
        return together(stored(ds, dtype).transpose(0, 2, 1) @ q * scale), together(
            stored(w, dtype).transpose(0, 2, 1) @ g
        )

    def together(x: Tracked) -> Tracked:
        """The sum over the heads that share one of k and v."""
        return x.reshape(-1, group, *x.shape[1:]).sum(1) if group > 1 else x

    def part(x: Any, heads: Array, some: Array, at: Array) -> Part:
        grid = np.broadcast_arrays(at[:, None, None], heads[:, None, None], some[None, :, None],
                                   np.arange(x.shape[-1])[None, None])  # fmt: skip
        return call.part(x, tuple(grid))

    yield Piece(of_q, of_rows, [part(call.results[0], h, rows, b)], within=call.within)
    both = [part(x, shared[::group], columns, b[::group]) for x in call.results[1:3]]
    yield Piece(of_k_v, of_keys, both, within=call.within)
