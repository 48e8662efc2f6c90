"""Rules of norms, over the last axes and by channel, with their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from suanzi.truth import tracked as t
from suanzi.truth.nn.norms import standardised
from suanzi.truth.tracked import Tracked
from suanzi.validate.blame.elements import rule
from suanzi.validate.blame.reductions import mean_and_variance, one_for_each
from suanzi.validate.blame.sampling import LONGEST, TERMS, Call, Part, Piece, Unjudged, name_of

# ---- layer norm ----------------------------------------------------------------------------------


def _flat(call: Call, x: Any) -> Any:
    return None if x is None else call.numbers(x).reshape(1, -1)


def _by_row(out: Any, x: Any, axes: list[int]) -> Any:
    """Return the statistics of rows by the indices of rows; kernels of others have them flat."""
    shape = [1 if a in axes else int(n) for a, n in enumerate(x.shape)]
    is_flat = out.ndim == 1 < x.ndim - len(axes) and out.numel() == math.prod(shape)
    return out.reshape(shape) if is_flat else out


@rule("native_layer_norm")
def layer_norm(call: Call) -> Iterator[Piece]:
    """(x - mean) / sqrt(variance + eps), times a weight and plus a bias."""
    x, eps = call["input"], float(call["eps"])
    axes = list(range(x.ndim - len(call["normalized_shape"]), x.ndim))
    batch = call.batch(x, axes, call.out)
    arguments = {
        "x": call.rows(x, axes, batch), "weight": _flat(call, call.get("weight")),
        "bias": _flat(call, call.get("bias")),
    }  # fmt: skip
    parts = [call.row_part(call.out, axes, batch, call.rows(call.out, axes, batch))]
    saved = [_by_row(out, x, axes) for out in call.results[1:3] if out.numel() > 0]
    parts += [one_for_each(call, out, axes, batch, x.ndim) for out in saved]

    def definition(x: Tracked, weight: Any, bias: Any) -> tuple[Tracked, ...]:
        y = standardised(x, [-1], eps)
        y = y if weight is None else y * weight
        y = y if bias is None else y + bias
        mean, var = mean_and_variance(x, 0)
        return (y, mean, 1 / t.sqrt(var + eps))[: len(parts)]

    yield Piece(definition, arguments, parts, within=call.within)


@rule("_fused_rms_norm")
def rms_norm(call: Call) -> Iterator[Piece]:
    """x / sqrt(mean of squares + eps), times a weight."""
    x = call["input"]
    eps = call.get("eps")
    eps = float(call.torch.finfo(x.dtype).eps) if eps is None else float(eps)
    axes = list(range(x.ndim - len(call["normalized_shape"]), x.ndim))
    batch = call.batch(x, axes, call.out)
    arguments = {"x": call.rows(x, axes, batch), "weight": _flat(call, call.get("weight"))}
    part = call.row_part(call.out, axes, batch, call.rows(call.out, axes, batch))

    def definition(x: Tracked, weight: Any) -> Tracked:
        y = x / t.sqrt((x * x).mean(-1, True) + eps)
        return y if weight is None else y * weight

    yield Piece(definition, arguments, [part], within=call.within)


def _pulled(g: Tracked, y: Tracked, rstd: Tracked) -> Tracked:
    """The gradient of what is normalised: rstd (g - mean(g) - y mean(g y))."""
    return rstd * (g - g.mean(-1, True) - y * (g * y).mean(-1, True))


_MULTIPLIED_OUT = "the kernel multiplies differences from the mean out, which cancel if it is large"


def _multiplied_out(g: Tracked, x: Tracked, mean: Tracked, rstd: Tracked) -> Tracked:
    """The same as a g + b x + c: where the mean is large, b x and c cancel.

    What b is off by is in both, and comes to that times x - mean; what their roundings are does not
    cancel.
    """
    of_x, of_1 = (g * x).mean(-1, True), g.mean(-1, True)
    b = (of_1 * mean - of_x) * rstd * rstd * rstd
    exact = Tracked(b.value, np.zeros(b.shape))
    made = g * rstd + exact * x + (-(exact * mean) - of_1 * rstd)
    return Tracked(made.value, made.error + b.error * (x - mean).size)


def _apart(g: Tracked, x: Tracked, mean: Tracked, rstd: Tracked) -> Tracked:
    """The gradient of a weight, sum(g (x - mean) rstd), multiplied out."""
    return (g * x * rstd).sum(-1) - (g * mean * rstd).sum(-1)


@rule("native_layer_norm_backward")
def layer_norm_backward(call: Call) -> Iterator[Piece]:
    """The gradients of layer norm, by the mean and the deviation that it saved."""
    x, g = call["input"], call["grad_out"]
    first = x.ndim - len(call["normalized_shape"])
    axes = list(range(first, x.ndim))
    mask = call["output_mask"]
    if mask[0] and call.results[0] is not None:
        batch = call.batch(x, axes, call.results[0])
        arguments = {
            "g": call.rows(g, axes, batch), "x": call.rows(x, axes, batch),
            "weight": _flat(call, call.get("weight")),
        }  # fmt: skip
        for name in ("mean", "rstd"):
            saved = one_for_each(call, _by_row(call[name], x, axes), axes, batch, x.ndim)
            arguments[name] = saved.found.reshape(-1, 1)

        def definition(g: Tracked, x: Tracked, weight: Any, mean: Any, rstd: Any) -> Tracked:
            return _pulled(g if weight is None else g * weight, (x - mean) * rstd, rstd)

        def between(g: Tracked, x: Tracked, weight: Any, mean: Any, rstd: Any) -> Tracked:
            return _multiplied_out(g if weight is None else g * weight, x, mean, rstd)

        out = call.results[0]
        part = call.row_part(out, axes, batch, call.rows(out, axes, batch))
        yield Piece(definition, arguments, [part], within=call.within, between=between,
                    between_is=_MULTIPLIED_OUT)  # fmt: skip
    yield from _of_weights(call, x, g, first)


def _of_weights(call: Call, x: Any, g: Any, first: int) -> Iterator[Piece]:
    """Judge the gradients of weight and bias: sums over all rows, of some columns."""
    rest = list(range(first))
    wanted = [(i, call.results[i]) for i in (1, 2) if i < len(call.results)]
    wanted = [(i, out) for i, out in wanted if call["output_mask"][i] and out is not None]
    wanted = [(i, out) for i, out in wanted if out.numel()]
    if not wanted:
        return
    batch = call.batch(x, rest, None)
    count = math.prod(x.shape[:first])
    arguments = {
        "g": call.rows(g, rest, batch), "x": call.rows(x, rest, batch),
        "mean": call.numbers(call["mean"]).reshape(1, count),
        "rstd": call.numbers(call["rstd"]).reshape(1, count),
    }  # fmt: skip

    def definition(g: Tracked, x: Tracked, mean: Tracked, rstd: Tracked) -> tuple[Tracked, ...]:
        both = {1: (g * ((x - mean) * rstd)).sum(-1), 2: g.sum(-1)}
        return tuple(both[i] for i, _ in wanted)

    def between(g: Tracked, x: Tracked, mean: Tracked, rstd: Tracked) -> tuple[Tracked, ...]:
        both = {1: _apart(g, x, mean, rstd), 2: g.sum(-1)}
        return tuple(both[i] for i, _ in wanted)

    parts = [call.part(out, batch) for _, out in wanted]
    yield Piece(definition, arguments, parts, within=call.within, between=between,
                between_is=_MULTIPLIED_OUT)  # fmt: skip


# ---- norms by channel ----------------------------------------------------------------------------


def _count(call: Call, length: int) -> int:
    if length > LONGEST:
        raise Unjudged(f"rows of more than {LONGEST} elements")
    return max(2, min(8, TERMS // max(length, 1)))


def _groups(call: Call, x: Any, n: int, channels: int, size: int, groups: int) -> Any:
    return x.reshape(n, groups, channels // groups, size)


@rule("native_group_norm")
def group_norm(call: Call) -> Iterator[Piece]:
    """(x - mean) / sqrt(variance + eps) over groups of channels, weighted by channel."""
    n, channels, size, groups = (int(call[k]) for k in ("N", "C", "HxW", "group"))
    eps, x = float(call["eps"]), call["input"]
    if not x.numel():
        raise Unjudged("empty tensors")
    each = channels // groups
    which = call.along(n * groups, _count(call, each * size))
    at = which // groups, which % groups
    index = tuple(call.index(i, x) for i in at)
    rows = call.numbers(_groups(call, x, n, channels, size, groups)[index])
    made = call.numbers(_groups(call, call.out, n, channels, size, groups)[index])

    def of(weight: Any) -> Any:
        if weight is None:
            return None
        return call.numbers(weight.reshape(groups, each)[index[1]])[:, :, None]

    def label(k: int) -> str:
        row, inner = divmod(k, each * size)
        return f"[{at[0][row]}, {at[1][row] * each + inner // size}, ...]"

    def definition(x: Tracked, weight: Any, bias: Any) -> tuple[Tracked, ...]:
        flat = x.reshape(x.shape[0], -1)
        y = standardised(flat, [-1], eps).reshape(*x.shape)
        y = y if weight is None else y * weight
        y = y if bias is None else y + bias
        mean, var = mean_and_variance(flat, 0)
        return y, mean, 1 / t.sqrt(var + eps)

    arguments = {"x": rows, "weight": of(call.get("weight")), "bias": of(call.get("bias"))}
    parts = [Part(made, name_of(call.out.dtype), label)]
    parts += [call.part(out.reshape(n, groups), at) for out in call.results[1:3]]
    yield Piece(definition, arguments, parts, within=call.within)


@rule("native_group_norm_backward")
def group_norm_backward(call: Call) -> Iterator[Piece]:
    """The gradients of group norm, by the mean and the deviation that it saved."""
    n, channels, size, groups = (int(call[k]) for k in ("N", "C", "HxW", "group"))
    x, g, mask, each = call["input"], call["grad_out"], call["output_mask"], channels // groups
    which = call.along(n * groups, _count(call, each * size))
    at = which // groups, which % groups
    index = tuple(call.index(i, x) for i in at)

    def rows(x: Any) -> Any:
        return call.numbers(_groups(call, x, n, channels, size, groups)[index])

    def label(k: int) -> str:
        row, inner = divmod(k, each * size)
        return f"[{at[0][row]}, {at[1][row] * each + inner // size}, ...]"

    if mask[0] and call.results[0] is not None:
        weight = call.get("weight")
        arguments = {
            "g": rows(g), "x": rows(x),
            "weight": None if weight is None
            else call.numbers(weight.reshape(groups, each)[index[1]])[:, :, None],
            "mean": call.take(call["mean"].reshape(n, groups), at)[:, None],
            "rstd": call.take(call["rstd"].reshape(n, groups), at)[:, None],
        }  # fmt: skip

        def definition(g: Tracked, x: Tracked, weight: Any, mean: Any, rstd: Any) -> Tracked:
            shape = x.shape
            g = g if weight is None else g * weight
            y = (x.reshape(shape[0], -1) - mean) * rstd
            return _pulled(g.reshape(shape[0], -1), y, rstd).reshape(*shape)

        def between(g: Tracked, x: Tracked, weight: Any, mean: Any, rstd: Any) -> Tracked:
            flat = (g if weight is None else g * weight).reshape(g.shape[0], -1)
            made = _multiplied_out(flat, x.reshape(g.shape[0], -1), mean, rstd)
            return made.reshape(*g.shape)

        part = Part(rows(call.results[0]), name_of(call.results[0].dtype), label)
        yield Piece(definition, arguments, [part], within=call.within, between=between,
                    between_is=_MULTIPLIED_OUT)  # fmt: skip
    wanted = [(i, call.results[i]) for i in (1, 2) if mask[i] and call.results[i] is not None]
    if not wanted:
        return
    some = call.along(channels, _count(call, n * size))
    at_channel = call.index(some, x)

    def by_channel(x: Any) -> Any:
        found = call.numbers(x.reshape(n, channels, size)[:, at_channel])
        return found.transpose(1, 0, 2).reshape(len(some), n * size)

    def saved(x: Any) -> Any:
        of = call.numbers(x.reshape(n, groups))[:, some // each].T
        return np.repeat(of, size, 1)

    weights = {"g": by_channel(g), "x": by_channel(x), "mean": saved(call["mean"]),
               "rstd": saved(call["rstd"])}  # fmt: skip

    def sums(g: Tracked, x: Tracked, mean: Tracked, rstd: Tracked) -> tuple[Tracked, ...]:
        both = {1: (g * ((x - mean) * rstd)).sum(-1), 2: g.sum(-1)}
        return tuple(both[i] for i, _ in wanted)

    def multiplied_out(g: Tracked, x: Tracked, mean: Tracked, rstd: Tracked) -> tuple[Tracked, ...]:
        both = {1: _apart(g, x, mean, rstd), 2: g.sum(-1)}
        return tuple(both[i] for i, _ in wanted)

    parts = [call.part(out, (some,)) for _, out in wanted]
    yield Piece(sums, weights, parts, within=call.within, between=multiplied_out,
                between_is=_MULTIPLIED_OUT)  # fmt: skip


def _channels(call: Call, x: Any, some: Any) -> Any:
    """Return some channels of a tensor, (channels, elements)."""
    turned = x.transpose(0, 1)[call.index(some, x)]
    return call.numbers(turned).reshape(len(some), -1)


def _channel_label(some: Any, length: int) -> Callable[[int], str]:
    return lambda k: f"channel {some[k // max(length, 1)]}"


@rule("native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit", "miopen_batch_norm",
      "_native_batch_norm_legit_no_training", "_batch_norm_with_update")  # fmt: skip
def batch_norm(call: Call) -> Iterator[Piece]:
    """(x - mean) / sqrt(variance + eps) by channel, by running or by the batch's statistics."""
    x = call["input"]
    eps = float(call.get("eps", call.get("epsilon", 1e-5)))
    momentum = float(call.get("momentum", call.get("exponential_average_factor", 0.1)))
    training = bool(call.get("training", call.get("train", False)))
    training = training or call.name == "_batch_norm_with_update"
    training = training and not call.name.endswith("no_training")
    length = x.numel() // max(x.shape[1], 1)
    some = call.along(x.shape[1], _count(call, length))
    running = [call.get("running_mean"), call.get("running_var")]

    def vector(x: Any) -> Any:
        return None if x is None else call.take(x, (some,))[:, None]

    arguments = {
        "x": _channels(call, x, some), "weight": vector(call.get("weight")),
        "bias": vector(call.get("bias")), "old_mean": vector(running[0]),
        "old_var": vector(running[1]),
    }  # fmt: skip
    made = _channels(call, call.out, some)
    parts = [Part(made, name_of(call.out.dtype), _channel_label(some, length))]
    saved = [out for out in call.results[1:3] if training and out.numel() == x.shape[1]]
    parts += [call.part(out, (some,)) for out in saved]
    names = [n for n in ("running_mean", "running_var") if training and n in call.after]
    parts += [call.part(call.after[n], (some,)) for n in names]

    def definition(
        x: Tracked, weight: Any, bias: Any, old_mean: Any, old_var: Any, momentum: float
    ) -> tuple[Tracked, ...]:
        if training:
            mean, var = (one.reshape(-1, 1) for one in mean_and_variance(x, 0))
        else:
            mean, var = old_mean, old_var
        root = t.sqrt(var + eps)
        y = (x - mean) / root
        y = y if weight is None else y * weight
        y = y if bias is None else y + bias
        if not training:  # a kernel may fold all into one product and one sum
            factor = 1 / root if weight is None else weight / root
            folded = x * factor + ((0 if bias is None else bias) - mean * factor)
            return (t.either(y, folded),)
        n = x.shape[-1]
        news = {}
        if names:
            news["running_mean"] = old_mean * (1 - momentum) + mean * momentum
            unbiased = var * n / max(n - 1, 1)
            news["running_var"] = old_var * (1 - momentum) + unbiased * momentum
        stats = [mean.reshape(-1), (1 / root).reshape(-1)][: len(saved)]
        return (y, *stats, *(news[k].reshape(-1) for k in names))

    numbers = {"momentum": momentum}
    yield Piece(definition, arguments, parts, within=call.within, numbers=numbers)


@rule("native_batch_norm_backward", "cudnn_batch_norm_backward", "batch_norm_backward")
def batch_norm_backward(call: Call) -> Iterator[Piece]:
    """The gradients of batch norm, by the statistics that it saved or by running ones."""
    x, g = call["input"], call.get("grad_out", call.get("grad_output"))
    training = bool(call.get("train", call.get("update", True)))
    eps = float(call.get("eps", call.get("epsilon", 1e-5)))
    mask = call.get("output_mask", [True, True, True])
    length = x.numel() // max(x.shape[1], 1)
    some = call.along(x.shape[1], _count(call, length))

    def vector(*names: str) -> Any:
        x = next((call[n] for n in names if call.get(n) is not None), None)
        return None if x is None or not x.numel() else call.take(x, (some,))[:, None]

    mean = vector("save_mean") if training else vector("running_mean")
    rstd = vector("save_invstd", "save_var") if training else None
    arguments = {
        "g": _channels(call, g, some), "x": _channels(call, x, some), "weight": vector("weight"),
        "mean": mean, "rstd": rstd, "var": vector("running_var"),
    }  # fmt: skip
    if mean is None:
        raise Unjudged("statistics that were not saved")
    wanted = [i for i in range(3) if mask[i] and call.results[i] is not None]

    def definition(
        g: Tracked, x: Tracked, weight: Any, mean: Any, rstd: Any, var: Any
    ) -> tuple[Tracked, ...]:
        rstd = rstd if rstd is not None else 1 / t.sqrt(var + eps)
        y = (x - mean) * rstd
        by = g if weight is None else g * weight
        x_grad = _pulled(by, y, rstd) if training else by * rstd
        # The weight may also be multiplied with at the end.
        late = _pulled(g, y, rstd) if training else g * rstd
        x_grad = x_grad if weight is None else t.either(x_grad, late * weight)
        made = (x_grad, (g * y).sum(-1), g.sum(-1))
        return tuple(made[i] for i in wanted)

    parts = []
    for i in wanted:
        out = call.results[i]
        if i:
            parts.append(call.part(out, (some,)))
        else:
            label = _channel_label(some, length)
            parts.append(Part(_channels(call, out, some), name_of(out.dtype), label))
    yield Piece(definition, arguments, parts, within=call.within)
