"""Losses: of rows of classes, of pairs of numbers, and their gradients."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.truth.define import truth_of
from suanzi.truth.nn.softmaxes import near
from suanzi.truth.tracked import (
    Tracked,
    absolute,
    concatenate,
    either,
    exp,
    log,
    log1p,
    maximum,
    minimum,
    sigmoid,
    tracked,
    where,
)

# ---- rows of classes -----------------------------------------------------------------------------


@truth_of("nn:cross_entropy")
def cross_entropy(
    logits: Tracked,
    target: Any,
    weight: Tracked | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
    axis: int = 1,
    empty_mean: float | None = None,
) -> Tracked:
    """-log(softmax(logits)) times the target's distribution, summed over classes."""
    x = _classes_last(logits, axis)
    logs = _log_softmax(x)
    if isinstance(target, Tracked):
        shares = _shares(_classes_last(target, axis), weight, label_smoothing, x.shape[-1])
        return _reduced(-(logs * shares).sum(-1), reduction)
    losses, counts = _picked(logs, target, weight, ignore_index)
    if label_smoothing:
        weights = tracked(1) if weight is None else weight
        evenly = -(logs * weights).sum(-1) * (tracked(label_smoothing) / x.shape[-1])
        losses = losses * (1 - label_smoothing) + evenly
        losses = where(target == ignore_index, 0, losses)
    if reduction == "mean" and (target == ignore_index).all():
        return tracked(np.nan if empty_mean is None else empty_mean)
    return _reduced(losses, reduction, counts.sum())


@truth_of("nn:cross_entropy_bwd")
def cross_entropy_bwd(
    out_grad: Tracked,
    logits: Tracked,
    target: Any,
    weight: Tracked | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
    axis: int = 1,
) -> Any:
    """softmax times what the target's shares sum to, less these shares."""
    x = _classes_last(logits, axis)
    is_class = not isinstance(target, Tracked)
    if is_class:
        safe = np.where(target == ignore_index, 0, target)
        given = tracked(np.eye(x.shape[-1])[safe])
        # A weight is that of the row's class for its label, and of each class for the smooth part.
        picked = _weights(weight, safe)[..., None]
        shares = given * picked * (1 - label_smoothing)
        each = tracked(1) if weight is None else weight
        if label_smoothing:  # or a NaN of another class would spread
            shares = shares + each * (tracked(label_smoothing) / x.shape[-1])
        shares = where((target == ignore_index)[..., None], 0, shares)
        count = where(target == ignore_index, 0, _weights(weight, safe)).sum()
    else:
        given = _classes_last(target, axis)
        shares = _shares(given, weight, label_smoothing, x.shape[-1])
        count = tracked(max(shares.size[..., 0].size, 0))
    g = out_grad / count if reduction == "mean" else out_grad
    g = g.reshape(*g.shape, 1)
    x = near(x)
    e = exp(x - x.max(-1, keepdims=True))
    found = (e / e.sum(-1, keepdims=True) * shares.sum(-1, keepdims=True) - shares) * g
    if is_class:
        found = where((target == ignore_index)[..., None], 0, found)
    return _classes_at(found, axis)


@truth_of("nn:nll_loss")
def nll_loss(
    x: Tracked,
    target: NDArray[Any],
    weight: Tracked | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    axis: int = 1,
    empty_mean: float | None = None,
) -> Tracked:
    """-x at the class of each row."""
    losses, counts = _picked(_classes_last(x, axis), target, weight, ignore_index)
    if reduction == "mean" and (target == ignore_index).all():
        return tracked(np.nan if empty_mean is None else empty_mean)
    return _reduced(losses, reduction, counts.sum())


@truth_of("nn:nll_loss_bwd")
def nll_loss_bwd(
    out_grad: Tracked,
    x: Tracked,
    target: NDArray[Any],
    weight: Tracked | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    axis: int = 1,
) -> Tracked:
    """-1 at the class of each row."""
    classes = _classes_last(x, axis).shape[-1]
    safe = np.where(target == ignore_index, 0, target)
    counts = where(target == ignore_index, 0, _weights(weight, safe))
    g = out_grad / counts.sum() if reduction == "mean" else out_grad
    picked = np.eye(classes, dtype=bool)[safe] & (target != ignore_index)[..., None]
    found = -(_weights(weight, safe) * g)
    return _classes_at(where(picked, found[..., None], 0), axis)


def _classes_last(x: Tracked, axis: int) -> Tracked:
    axis = 0 if x.ndim == 1 else axis % x.ndim
    return x.transpose(*(a for a in range(x.ndim) if a != axis), axis)


def _classes_at(x: Tracked, axis: int) -> Tracked:
    axis = 0 if x.ndim == 1 else axis % x.ndim
    order = list(range(x.ndim - 1))
    order.insert(axis, x.ndim - 1)
    return x.transpose(*order)


def _log_softmax(x: Tracked) -> Tracked:
    most = x.max(-1, keepdims=True)
    return x - most - log(exp(near(x) - most).sum(-1, keepdims=True))


def _shares(given: Tracked, weight: Tracked | None, smoothing: float, classes: int) -> Tracked:
    """What each class counts in a row: its smoothed probability times its weight."""
    if smoothing:
        given = given * (1 - smoothing) + tracked(smoothing) / classes
    return given if weight is None else given * weight


def _weights(weight: Tracked | None, classes: NDArray[Any]) -> Tracked:
    return tracked(np.ones(classes.shape)) if weight is None else weight[classes]


def _picked(
    x: Tracked, target: NDArray[Any], weight: Tracked | None, ignore: int
) -> tuple[Tracked, Tracked]:
    """The losses of rows at their classes, and what they count in a mean."""
    safe = np.where(target == ignore, 0, target)[..., None]
    if not x.shape[-1]:
        return tracked(np.zeros(target.shape)), tracked(np.zeros(target.shape))
    at = Tracked(
        np.take_along_axis(x.value, safe, -1)[..., 0], np.take_along_axis(x.error, safe, -1)[..., 0]
    )
    counts = where(target == ignore, 0, _weights(weight, safe[..., 0]))
    return where(target == ignore, 0, -at * counts), counts


def _reduced(losses: Tracked, reduction: str, count: Any = None) -> Tracked:
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    return losses.sum() / (losses.value.size if count is None else count)


# ---- pairs ---------------------------------------------------------------------------------------


def _mean(losses: Tracked, reduction: str) -> Tracked:
    if reduction == "batchmean":
        return losses.sum() / losses.shape[0]
    return _reduced(losses, reduction)


def _gradients(g: Tracked, by_x: Tracked, by_target: Tracked, reduction: str) -> Any:
    count = {"mean": by_x.value.size, "batchmean": by_x.shape[0] if by_x.ndim else 0}
    g = g / count[reduction] if reduction in count else g
    return by_x * g, by_target * g


def _below(x: Tracked, limit: float, or_equal: bool = False) -> NDArray[np.bool_]:
    return np.asarray(x.value <= limit if or_equal else x.value < limit, dtype=bool)


def _sign(x: Tracked) -> Tracked:
    known = np.asarray(x.value == x.value, dtype=bool)
    sign = where(np.asarray(x.value > 0, dtype=bool), 1, where(_below(x, 0), -1, 0))
    return where(known, sign, x)


@truth_of("nn:mse_loss")
def mse_loss(x: Tracked, target: Tracked, reduction: str = "mean") -> Tracked:
    """(x - target)**2."""
    d = x - target
    return _mean(d * d, reduction)


@truth_of("nn:mse_loss_bwd")
def mse_loss_bwd(out_grad: Tracked, x: Tracked, target: Tracked, reduction: str = "mean") -> Any:
    """2 (x - target), and its negative."""
    d = (x - target) * 2
    return _gradients(out_grad, d, -d, reduction)


@truth_of("nn:l1_loss")
def l1_loss(x: Tracked, target: Tracked, reduction: str = "mean") -> Tracked:
    """abs(x - target)."""
    return _mean(absolute(x - target), reduction)


@truth_of("nn:l1_loss_bwd")
def l1_loss_bwd(out_grad: Tracked, x: Tracked, target: Tracked, reduction: str = "mean") -> Any:
    """The sign of x - target, and its negative."""
    sign = _sign(x - target)
    return _gradients(out_grad, sign, -sign, reduction)


@truth_of("nn:smooth_l1_loss")
def smooth_l1_loss(
    x: Tracked, target: Tracked, beta: float = 1.0, reduction: str = "mean"
) -> Tracked:
    """d**2 / (2 beta) below beta, else d - beta / 2."""
    d = absolute(x - target)
    near = d * d / (2 * beta) if beta else d
    return _mean(where(_below(d, beta), near, d - beta / 2), reduction)


@truth_of("nn:smooth_l1_loss_bwd")
def smooth_l1_loss_bwd(
    out_grad: Tracked, x: Tracked, target: Tracked, beta: float = 1.0, reduction: str = "mean"
) -> Any:
    """d / beta below beta, else its sign."""
    d = x - target
    near = d / beta if beta else d
    by_x = where(_below(absolute(d), beta), near, _sign(d))
    return _gradients(out_grad, by_x, -by_x, reduction)


@truth_of("nn:huber_loss")
def huber_loss(x: Tracked, target: Tracked, delta: float = 1.0, reduction: str = "mean") -> Tracked:
    """d**2 / 2 up to delta, else delta (d - delta / 2)."""
    d = absolute(x - target)
    far = (d - delta / 2) * delta
    return _mean(where(_below(d, delta, or_equal=True), d * d / 2, far), reduction)


@truth_of("nn:huber_loss_bwd")
def huber_loss_bwd(
    out_grad: Tracked, x: Tracked, target: Tracked, delta: float = 1.0, reduction: str = "mean"
) -> Any:
    """d up to delta, else delta times its sign."""
    d = x - target
    by_x = where(_below(absolute(d), delta, or_equal=True), d, _sign(d) * delta)
    return _gradients(out_grad, by_x, -by_x, reduction)


@truth_of("nn:kl_div")
def kl_div(
    x: Tracked, target: Tracked, log_target: bool = False, reduction: str = "mean"
) -> Tracked:
    """target (log(target) - x), where 0 log(0) is 0."""
    if log_target:
        return _mean(exp(target) * (target - x), reduction)
    zero = np.asarray(target.value == 0, dtype=bool)
    return _mean(where(zero, -(x * target), target * (log(target) - x)), reduction)


@truth_of("nn:kl_div_bwd")
def kl_div_bwd(
    out_grad: Tracked, x: Tracked, target: Tracked, log_target: bool = False,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """-target, and log(target) - x + 1."""
    if log_target:
        e = exp(target)
        return _gradients(out_grad, -e, e * (target - x + 1), reduction)
    return _gradients(out_grad, -target, log(target) - x + 1, reduction)


def _bounded_log(x: Tracked) -> Tracked:
    return maximum(x, -100)


@truth_of("nn:bce")
def bce(
    x: Tracked, target: Tracked, weight: Tracked | None = None, reduction: str = "mean"
) -> Tracked:
    """-(target log(x) + (1 - target) log(1 - x)), with logarithms of at least -100."""
    losses = (target - 1) * _bounded_log(log1p(-x)) - target * _bounded_log(log(x))
    return _mean(losses if weight is None else losses * weight, reduction)


@truth_of("nn:bce_bwd")
def bce_bwd(
    out_grad: Tracked, x: Tracked, target: Tracked, weight: Tracked | None = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """(x - target) / (x (1 - x)), with a divisor of at least 1e-12, and log(1 - x) - log(x)."""
    by_x = (x - target) / maximum((1 - x) * x, 1e-12)
    by_target = _bounded_log(log1p(-x)) - _bounded_log(log(x))
    if weight is not None:
        by_x, by_target = by_x * weight, by_target * weight
    return _gradients(out_grad, by_x, by_target, reduction)


def _softplus_of_negative(x: Tracked) -> Tracked:
    """log(1 + exp(-x))."""
    return log1p(exp(-absolute(x))) - minimum(x, 0)


@truth_of("nn:bce_with_logits")
def bce_with_logits(
    x: Tracked,
    target: Tracked,
    weight: Tracked | None = None,
    pos_weight: Tracked | None = None,
    reduction: str = "mean",
) -> Tracked:
    """(1 - target) x + (1 + (pos_weight - 1) target) log(1 + exp(-x))."""
    factor = tracked(1) if pos_weight is None else (pos_weight - 1) * target + 1
    losses = (1 - target) * x + factor * _softplus_of_negative(x)
    return _mean(losses if weight is None else losses * weight, reduction)


@truth_of("nn:bce_with_logits_bwd")
def bce_with_logits_bwd(
    out_grad: Tracked,
    x: Tracked,
    target: Tracked,
    weight: Tracked | None = None,
    pos_weight: Tracked | None = None,
    reduction: str = "mean",
) -> Any:
    """(1 - target) - (1 + (pos_weight - 1) target) sigmoid(-x), and the target's."""
    factor = tracked(1) if pos_weight is None else (pos_weight - 1) * target + 1
    ones = target if pos_weight is None else pos_weight * target
    by_x = either((1 - target) - factor * sigmoid(-x), factor * sigmoid(x) - ones)
    by_target = -x
    if pos_weight is not None:
        by_target = (pos_weight - 1) * _softplus_of_negative(x) - x
    if weight is not None:
        by_x, by_target = by_x * weight, by_target * weight
    return _gradients(out_grad, by_x, by_target, reduction)


# ---- alignments ----------------------------------------------------------------------------------


@truth_of("nn:ctc_loss")
def ctc_loss(
    log_probs: Tracked,
    targets: NDArray[Any],
    input_lengths: NDArray[Any],
    target_lengths: NDArray[Any],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tracked:
    """-log of the sum over all alignments, by the forward recursion."""
    losses = []
    for logs, label in _examples(log_probs, targets, input_lengths, target_lengths):
        rows, whole = _paths(logs, label, blank), len(label)
        loss = tracked(0 if not whole else np.inf)
        if rows:
            ends = rows[-1][-2:] if whole else rows[-1]
            loss = -_log_sum(ends.reshape(1, -1), 1).reshape()
        is_infinite = zero_infinity and float(loss.value) == np.inf
        loss = tracked(0) if is_infinite else loss
        losses.append((loss / max(whole, 1) if reduction == "mean" else loss).reshape(1))
    if log_probs.ndim == 2 and reduction == "none":
        return losses[0].reshape()
    return _reduced(concatenate(losses), reduction)


@truth_of("nn:ctc_loss_bwd")
def ctc_loss_bwd(
    out_grad: Tracked,
    log_probs: Tracked,
    targets: NDArray[Any],
    input_lengths: NDArray[Any],
    target_lengths: NDArray[Any],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tracked:
    """Minus the posterior of each class at each time, times the gradient of the loss."""
    examples = _examples(log_probs, targets, input_lengths, target_lengths)
    times, classes, columns = log_probs.shape[0], log_probs.shape[-1], []
    for n, (logs, label) in enumerate(examples):
        g = out_grad.reshape(-1)[n if reduction == "none" else 0]
        g = g / (max(len(label), 1) * len(examples)) if reduction == "mean" else g
        ahead = _paths(logs, label, blank)
        back = _paths(logs[::-1], label[::-1], blank)[::-1]
        column = tracked(np.zeros((times, classes)))
        if ahead:
            ends = ahead[-1][-2:] if label else ahead[-1]
            loss = -_log_sum(ends.reshape(1, -1), 1).reshape()
            spelled = _spelled(label, blank)
            both = _rows(ahead) + _rows(back)[:, ::-1]  # each has the class of its time
            found = -(_by_class(exp(both - logs[:, spelled] + loss), spelled, classes) * g)
            if not (zero_infinity and float(loss.value) == np.inf):
                column = concatenate([found, column[len(ahead) :]])
        columns.append(column.reshape(times, 1, classes))
    return concatenate(columns, 1).reshape(*log_probs.shape)


def _examples(
    log_probs: Tracked, targets: Any, input_lengths: Any, target_lengths: Any
) -> list[tuple[Tracked, list[int]]]:
    """The logarithms of each example, (times, classes), and its label."""
    lengths, found = [int(n) for n in np.ravel(target_lengths)], []
    given = np.asarray(targets)
    starts = np.cumsum([0, *lengths])
    for n, (length, time) in enumerate(zip(lengths, np.ravel(input_lengths), strict=True)):
        row = given[n][:length] if given.ndim == 2 else given[starts[n] : starts[n] + length]
        logs = log_probs if log_probs.ndim == 2 else log_probs[:, n]
        found.append((logs[: int(time)], [int(c) for c in row]))
    return found


def _rows(parts: list[Tracked]) -> Tracked:
    return concatenate([part.reshape(1, -1) for part in parts])


def _by_class(x: Tracked, spelled: list[int], classes: int) -> Tracked:
    """The sums over the positions of each class; classes with as many positions go together."""
    at = [np.flatnonzero(np.array(spelled) == c) for c in range(classes)]
    order, parts = np.argsort([len(found) for found in at], kind="stable"), []
    for _, some in groupby(order, key=lambda c: len(at[c])):
        parts.append(x[:, np.array([at[c] for c in some], np.intp)].sum(-1))
    return concatenate(parts, 1)[:, np.argsort(order)]


def _spelled(label: list[int], blank: int) -> list[int]:
    """A label with blanks before, between and after its classes."""
    return [blank, *(c for number in label for c in (number, blank))]


def _paths(logs: Tracked, label: list[int], blank: int) -> list[Tracked]:
    """For each time the logarithms of what all paths to a position add up to."""
    if not logs.shape[0]:
        return []
    spelled = _spelled(label, blank)
    count = len(spelled)
    none = tracked(np.full(count, -np.inf))
    may_skip = [s >= 2 and s % 2 == 1 and spelled[s] != spelled[s - 2] for s in range(count)]
    rows = [where(np.arange(count) < 2, logs[0][spelled], none)]
    for t in range(1, logs.shape[0]):
        before = rows[-1]
        one = concatenate([none[:1], before[: count - 1]])
        two = concatenate([none[:2], before])[:count]
        stacked = [before, one, where(np.array(may_skip), two, none)]
        each = concatenate([x.reshape(count, 1) for x in stacked], 1)
        rows.append(_log_sum(each, 1) + logs[t][spelled])
    return rows


def _log_sum(x: Tracked, axis: int) -> Tracked:
    """log(sum(exp(x))) along an axis; of -inf alone it is -inf."""
    most = x.max(axis, keepdims=True)
    shift = where(np.asarray(most.value == -np.inf, dtype=bool), 0, most)
    return log(exp(x - shift).sum(axis)) + shift.reshape(*x.max(axis).shape)
