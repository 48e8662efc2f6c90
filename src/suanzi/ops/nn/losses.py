"""Losses: of rows of classes, of pairs of numbers, and their gradients.

A gradient is that by the input, and by the target where it is a number for each element; classes
and weights are constants.
"""

from __future__ import annotations

from suanzi.ops.calling.declare import operator
from suanzi.ops.calling.scalars import flag_argument
from suanzi.ops.nn._losses import (
    Alignments,
    Gradients,
    Pairs,
    Rows,
    number_argument,
    positive_argument,
)
from suanzi.promote.registry import ARITHMETIC, FLOATS, REAL_FUNCTION, REGISTRY
from suanzi.tensors.tensor import Tensor, TensorLike

__all__ = [
    "bce",
    "bce_bwd",
    "bce_with_logits",
    "bce_with_logits_bwd",
    "cross_entropy",
    "cross_entropy_bwd",
    "ctc_loss",
    "ctc_loss_bwd",
    "huber_loss",
    "huber_loss_bwd",
    "kl_div",
    "kl_div_bwd",
    "l1_loss",
    "l1_loss_bwd",
    "mse_loss",
    "mse_loss_bwd",
    "nll_loss",
    "nll_loss_bwd",
    "smooth_l1_loss",
    "smooth_l1_loss_bwd",
]

Labels = TensorLike
"""Class numbers, which are not promoted with the other operands, or probabilities, which are."""
_MSE, _L1, _SMOOTH_L1, _HUBER, _KL, _KL_LOG, _BCE, _BCE_LOGITS = range(8)  # in native/kernels


# ---- rows of classes -----------------------------------------------------------------------------


@operator("9.1", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def cross_entropy(
    logits: TensorLike,
    target: Labels,
    weight: TensorLike | None = None,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
    axis: int = 1,
    empty_mean: float | None = None,
) -> Tensor:
    """Return -log(softmax(logits)) at the class of each row: its cross entropy with the target.

    `target` has class numbers, in the shape of logits without the axis of classes, or floats in
    the shape of logits: the probabilities of the classes. The loss of a class is multiplied by its
    `weight`. Rows of class `ignore_index` do not count. With `label_smoothing` s, the target is
    1 - s times itself plus s times a uniform distribution over the classes, each with its weight.

    "mean" divides the sum by the sum of the weights of the rows' classes, or by the number of rows
    where the target has probabilities; of no rows, or of ignored ones alone, it is NaN, or
    `empty_mean` if that is given. Logits of rank 1 are one row.

    >>> logits = sz.tensor([[0.0, 1.0], [2.0, 0.0], [0.5, 0.5]])
    >>> sz.nn.cross_entropy(logits, sz.tensor([1, 0, -100]))
    Tensor(0.22009484, dtype=float32)
    >>> sz.nn.cross_entropy(logits, sz.tensor([1, 0, -100]), reduction="none")
    Tensor([ 0.3132617, 0.12692802,          0], dtype=float32)
    """
    rows = Rows(REGISTRY["nn:cross_entropy"], logits, target, weight, ignore_index, axis)
    smoothing = number_argument(rows.op, "label_smoothing", label_smoothing, 0, 1)
    return rows.loss(smoothing, reduction, empty_mean)


@operator("9.2", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def cross_entropy_bwd(
    out_grad: TensorLike,
    logits: TensorLike,
    target: Labels,
    weight: TensorLike | None = None,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
    axis: int = 1,
) -> Tensor:
    """Return the gradient of `cross_entropy` by the logits; the target is a constant.

    >>> logits = sz.tensor([[0.0, 0.0]])
    >>> sz.nn.cross_entropy_bwd(sz.tensor(1.0), logits, sz.tensor([1]))
    Tensor([[ 0.5, -0.5]], dtype=float32)
    """
    op = REGISTRY["nn:cross_entropy_bwd"]
    rows = Rows(op, logits, target, weight, ignore_index, axis, out_grad)
    return rows.gradient(number_argument(op, "label_smoothing", label_smoothing, 0, 1), reduction)


@operator("9.3", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def nll_loss(
    x: TensorLike,
    target: Labels,
    weight: TensorLike | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    axis: int = 1,
    empty_mean: float | None = None,
) -> Tensor:
    """Return -x at the class of each row, where x has logarithms of probabilities.

    `target` has class numbers, in the shape of x without the axis of classes. Weights, ignored
    rows and reductions are those of `cross_entropy`.

    >>> x = sz.tensor([[-0.5, -1.0], [-0.25, -2.0]])
    >>> sz.nn.nll_loss(x, sz.tensor([0, 1]))
    Tensor(1.25, dtype=float32)
    """
    rows = Rows(REGISTRY["nn:nll_loss"], x, target, weight, ignore_index, axis)
    return rows.loss(0.0, reduction, empty_mean)


@operator("9.4", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def nll_loss_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    target: Labels,
    weight: TensorLike | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    axis: int = 1,
) -> Tensor:
    """Return the gradient of `nll_loss` by x.

    >>> sz.nn.nll_loss_bwd(sz.tensor(1.0), sz.tensor([[-0.5, -1.0]]), sz.tensor([1]))
    Tensor([[ 0, -1]], dtype=float32)
    """
    rows = Rows(REGISTRY["nn:nll_loss_bwd"], x, target, weight, ignore_index, axis, out_grad)
    return rows.gradient(0.0, reduction)


# ---- pairs ---------------------------------------------------------------------------------------


@operator("9.5", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def mse_loss(x: TensorLike, target: TensorLike, *, reduction: str = "mean") -> Tensor:
    """Return the mean of (x - target)**2, or their sum, or all of them with "none".

    x and target must have the same shape. The mean of no elements is NaN.

    >>> sz.nn.mse_loss(sz.tensor([1.0, 2.0, 4.0]), sz.tensor([1.0, 3.0, 2.0]), reduction="sum")
    Tensor(5, dtype=float32)
    """
    return Pairs("mse_loss", x, target).loss(_MSE, reduction)


@operator("9.6", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def mse_loss_bwd(
    out_grad: TensorLike, x: TensorLike, target: TensorLike, *, reduction: str = "mean"
) -> Gradients:
    """Return the gradients of `mse_loss` by x and by the target.

    >>> sz.nn.mse_loss_bwd(sz.tensor(1.0), sz.tensor([1.0, 2.0]), sz.tensor([1.0, 4.0]))[0]
    Tensor([ 0, -2], dtype=float32)
    """
    return Pairs("mse_loss_bwd", x, target, out_grad).gradients(_MSE, reduction)


@operator("9.7", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def l1_loss(x: TensorLike, target: TensorLike, *, reduction: str = "mean") -> Tensor:
    """Return the mean of abs(x - target), or their sum, or all of them with "none".

    >>> sz.nn.l1_loss(sz.tensor([1.0, 2.0]), sz.tensor([1.0, 4.0]))
    Tensor(1, dtype=float32)
    """
    return Pairs("l1_loss", x, target).loss(_L1, reduction)


@operator("9.8", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def l1_loss_bwd(
    out_grad: TensorLike, x: TensorLike, target: TensorLike, *, reduction: str = "mean"
) -> Gradients:
    """Return the gradients of `l1_loss` by x and by the target; 0 where they are equal.

    >>> sz.nn.l1_loss_bwd(sz.tensor(1.0), sz.tensor([1.0, 2.0]), sz.tensor([1.0, 4.0]))[0]
    Tensor([   0, -0.5], dtype=float32)
    """
    return Pairs("l1_loss_bwd", x, target, out_grad).gradients(_L1, reduction)


@operator("9.9", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def smooth_l1_loss(
    x: TensorLike, target: TensorLike, *, beta: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Return the mean of d**2 / (2 beta) where d = abs(x - target) < beta, else of d - beta / 2.

    >>> sz.nn.smooth_l1_loss(sz.tensor([0.5, 3.0]), sz.tensor([0.0, 0.0]), reduction="none")
    Tensor([0.125,   2.5], dtype=float32)
    """
    pairs = Pairs("smooth_l1_loss", x, target)
    return pairs.loss(_SMOOTH_L1, reduction, number_argument(pairs.op, "beta", beta, 0))


@operator("9.10", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def smooth_l1_loss_bwd(
    out_grad: TensorLike, x: TensorLike, target: TensorLike, *, beta: float = 1.0,
    reduction: str = "mean",
) -> Gradients:  # fmt: skip
    """Return the gradients of `smooth_l1_loss` by x and by the target.

    >>> sz.nn.smooth_l1_loss_bwd(sz.tensor(1.0), sz.tensor([0.5, 3.0]), sz.tensor([0.0, 0.0]))[0]
    Tensor([0.25,  0.5], dtype=float32)
    """
    pairs = Pairs("smooth_l1_loss_bwd", x, target, out_grad)
    return pairs.gradients(_SMOOTH_L1, reduction, number_argument(pairs.op, "beta", beta, 0))


@operator("9.11", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def huber_loss(
    x: TensorLike, target: TensorLike, *, delta: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Return the mean of d**2 / 2 where d = abs(x - target) <= delta, else delta (d - delta / 2).

    >>> sz.nn.huber_loss(sz.tensor([1.0, 3.0]), sz.tensor([0.0, 0.0]), delta=2, reduction="none")
    Tensor([0.5,   4], dtype=float32)
    """
    pairs = Pairs("huber_loss", x, target)
    return pairs.loss(_HUBER, reduction, positive_argument(pairs.op, "delta", delta))


@operator("9.12", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def huber_loss_bwd(
    out_grad: TensorLike, x: TensorLike, target: TensorLike, *, delta: float = 1.0,
    reduction: str = "mean",
) -> Gradients:  # fmt: skip
    """Return the gradients of `huber_loss` by x and by the target.

    >>> sz.nn.huber_loss_bwd(sz.tensor(1.0), sz.tensor([1.0, 3.0]), sz.tensor([0.0, 0.0]))[0]
    Tensor([0.5, 0.5], dtype=float32)
    """
    pairs = Pairs("huber_loss_bwd", x, target, out_grad)
    return pairs.gradients(_HUBER, reduction, positive_argument(pairs.op, "delta", delta))


@operator("9.13", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def kl_div(
    x: TensorLike, target: TensorLike, *, log_target: bool = False, reduction: str = "mean"
) -> Tensor:
    """Return the mean of target (log(target) - x): x has logarithms of probabilities.

    With `log_target`, the target has logarithms, too. "batchmean" divides the sum by the size of
    the first axis, which is the Kullback-Leibler divergence; "mean" by the number of elements.

    >>> x = sz.tensor([[0.5, 0.5]]).log()
    >>> sz.nn.kl_div(x, sz.tensor([[0.5, 0.5]]), reduction="batchmean")
    Tensor(0, dtype=float32)
    """
    pairs = Pairs("kl_div", x, target)
    kind = _KL_LOG if flag_argument(pairs.op, "log_target", log_target) else _KL
    return pairs.loss(kind, reduction)


@operator("9.14", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def kl_div_bwd(
    out_grad: TensorLike, x: TensorLike, target: TensorLike, *, log_target: bool = False,
    reduction: str = "mean",
) -> Gradients:  # fmt: skip
    """Return the gradients of `kl_div` by x and by the target.

    >>> sz.nn.kl_div_bwd(sz.tensor(1.0), sz.tensor([0.0]), sz.tensor([1.0]))
    (Tensor([-1], dtype=float32), Tensor([1], dtype=float32))
    """
    pairs = Pairs("kl_div_bwd", x, target, out_grad)
    kind = _KL_LOG if flag_argument(pairs.op, "log_target", log_target) else _KL
    return pairs.gradients(kind, reduction)


@operator("9.15", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def bce(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, *, reduction: str = "mean"
) -> Tensor:
    """Return the mean of -(target log(x) + (1 - target) log(1 - x)), the binary cross entropy.

    x has probabilities; outside 0 to 1 the loss is NaN. Logarithms below -100 count as -100, so
    that the loss is finite. `weight` is broadcast to the shape of x.

    >>> sz.nn.bce(sz.tensor([0.5, 0.0]), sz.tensor([1.0, 1.0]), reduction="none")
    Tensor([0.6931472,       100], dtype=float32)
    """
    return Pairs("bce", x, target, weight=weight).loss(_BCE, reduction)


@operator("9.16", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def bce_bwd(
    out_grad: TensorLike, x: TensorLike, target: TensorLike, weight: TensorLike | None = None, *,
    reduction: str = "mean",
) -> Gradients:  # fmt: skip
    """Return the gradients of `bce` by x and by the target.

    That by x is (x - target) / (x (1 - x)), with a divisor of at least 1e-12.

    >>> sz.nn.bce_bwd(sz.tensor(1.0), sz.tensor([0.5]), sz.tensor([1.0]))[0]
    Tensor([-2], dtype=float32)
    """
    return Pairs("bce_bwd", x, target, out_grad, weight).gradients(_BCE, reduction)


@operator("9.17", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def bce_with_logits(
    x: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    *,
    pos_weight: TensorLike | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean binary cross entropy of sigmoid(x), without overflow.

    That is (1 - target) x + (1 + (pos_weight - 1) target) log(1 + exp(-x)). `weight` and
    `pos_weight` are broadcast to the shape of x.

    >>> sz.nn.bce_with_logits(sz.tensor([0.0, 1000.0]), sz.tensor([1.0, 0.0]), reduction="none")
    Tensor([0.6931472,      1000], dtype=float32)
    """
    return Pairs("bce_with_logits", x, target, None, weight, pos_weight).loss(
        _BCE_LOGITS, reduction
    )


@operator("9.18", dtypes=FLOATS, promotes=ARITHMETIC, catalogue="nn")
def bce_with_logits_bwd(
    out_grad: TensorLike,
    x: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    *,
    pos_weight: TensorLike | None = None,
    reduction: str = "mean",
) -> Gradients:
    """Return the gradients of `bce_with_logits` by x and by the target.

    >>> sz.nn.bce_with_logits_bwd(sz.tensor(1.0), sz.tensor([0.0]), sz.tensor([1.0]))[0]
    Tensor([-0.5], dtype=float32)
    """
    pairs = Pairs("bce_with_logits_bwd", x, target, out_grad, weight, pos_weight)
    return pairs.gradients(_BCE_LOGITS, reduction)


# ---- alignments ----------------------------------------------------------------------------------


@operator("9.19", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def ctc_loss(
    log_probs: TensorLike,
    targets: Labels,
    input_lengths: Labels,
    target_lengths: Labels,
    *,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return -log of the probability of each label, summed over all its alignments.

    `log_probs` has logarithms of probabilities, (times, examples, classes), or without the axis of
    examples. `targets` has a row of classes for each example, or all of them one after the other.
    An alignment repeats classes and puts `blank` between; equal classes need one between. A label
    that is longer than its input has an infinite loss, or 0 with `zero_infinity`. "mean" divides
    each loss by the length of its label, at least 1, and takes the mean over examples. Computed in
    float64.

    >>> log_probs = sz.tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log()
    >>> sz.nn.ctc_loss(log_probs, [[1]], [2], [1])  # -log(3 / 4): 1-, -1 and 11
    Tensor(0.2876821, dtype=float32)
    """
    given = Alignments(
        "ctc_loss", log_probs, targets, input_lengths, target_lengths, blank, zero_infinity
    )
    return given.loss(reduction)


@operator("9.20", dtypes=FLOATS, promotes=REAL_FUNCTION, catalogue="nn")
def ctc_loss_bwd(
    out_grad: TensorLike,
    log_probs: TensorLike,
    targets: Labels,
    input_lengths: Labels,
    target_lengths: Labels,
    *,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the gradient of `ctc_loss` by log_probs: minus the posterior of each class.

    >>> log_probs = sz.tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log()
    >>> sz.nn.ctc_loss_bwd(sz.tensor(3.0), log_probs, [[1]], [2], [1])[0]
    Tensor([[-1, -2]], dtype=float32)
    """
    given = Alignments(
        "ctc_loss_bwd", log_probs, targets, input_lengths, target_lengths, blank, zero_infinity,
        out_grad,
    )  # fmt: skip
    return given.gradient(reduction)
