"""The operands of losses, checked and promoted together, and what is computed of them."""

from __future__ import annotations

import math
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import float64, int64
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange, TypeMismatch
from suanzi.ops.calling.arguments import real_argument
from suanzi.ops.calling.scalars import flag_argument, integer_argument
from suanzi.ops.nn._arguments import (
    axis_argument,
    broadcast,
    dense,
    float_operands,
    one_of,
    real_parameter,
)
from suanzi.promote.registry import INTEGERS, REGISTRY, Operator
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import converted, permuted, reshaped
from suanzi.tensors.tensor import Tensor

Gradients = tuple[Tensor, Tensor]
_REDUCTIONS = ("none", "sum", "mean")


class Rows:
    """The operands of a loss of rows of classes, checked, with the classes along the last axis."""

    def __init__(
        self, op: Operator, x: Any, target: Any, weight: Any, ignore: Any, axis: Any,
        out_grad: Any = None,
    ) -> None:  # fmt: skip
        self.op = op
        self.is_log = op.name.startswith("nll")
        name = "x" if self.is_log else "logits"
        labels = real_argument(op, "target", target)
        floats = {"out_grad": out_grad, name: x, "weight": weight}
        if labels.dtype.kind == "float" and not self.is_log:
            floats["target"] = labels
        found = float_operands(op, floats)
        given, self.weight = found[name], found.get("weight")
        labels = found.get("target", labels)
        self.ignore = integer_argument(op, "ignore_index", ignore)
        if not -(2**63) <= self.ignore < 2**63:
            raise InvalidArgument(
                f"{op.title}: ignore_index is {shown(ignore)}; it must be an int64, as classes are."
            )
        if not given.ndim:
            raise DimensionsMismatch(
                f"{op.title}: {name} has rank 0; it must have an axis of classes."
            )
        number = integer_argument(op, "axis", axis)
        axis = 0 if given.ndim == 1 and number == 1 else axis_argument(op, axis, given.ndim)
        self.order = [*(a for a in range(given.ndim) if a != axis), axis]
        classes = given.shape[axis]
        self.shape = tuple(given.shape[a] for a in self.order[:-1])
        rows = math.prod(self.shape)
        if self.weight is not None and self.weight.shape != (classes,):
            raise DimensionsMismatch(
                f"{op.title}: weight has shape {self.weight.shape}; it must be ({classes},), one "
                "number for each class."
            )
        if "target" in found:
            _same_shape(op, "target", labels, given.shape, name)
            self.target = dense(reshaped(permuted(labels, self.order), (rows, classes)))
        else:
            self.target = self._classes(labels, classes, name)
        self.x = dense(reshaped(permuted(given, self.order), (rows, classes)))
        self.weight = None if self.weight is None else dense(self.weight)
        self.out_grad = found.get("out_grad")

    def _classes(self, labels: Tensor, classes: int, name: str) -> Tensor:
        op = self.op
        if labels.dtype not in INTEGERS:
            floats = "" if self.is_log else f", or floats in the shape of {name}"
            raise TypeMismatch(
                f"{op.title}: target is {labels.dtype}; it must have integers, the numbers of "
                f"classes{floats}. Cast it with sz.cast(target, sz.int64)."
            )
        if labels.shape != self.shape:
            raise DimensionsMismatch(
                f"{op.title}: target has shape {labels.shape}; it must be {self.shape}, the shape "
                f"of {name} without its axis of classes."
            )
        found = dense(converted(labels, int64))
        bad = _core.nn_bad_class(found, classes, self.ignore)
        if bad >= 0:
            number = int(reshaped(found, (found.size,))[bad])
            raise OutOfRange(
                f"{op.title}: target contains the class {number}; valid classes are 0 to "
                f"{classes - 1}, and {self.ignore} for rows to ignore."
            )
        return reshaped(found, (found.size,))

    def loss(self, smoothing: float, reduction: Any, empty_mean: Any) -> Tensor:
        kind = _reduction(self.op, reduction)
        empty = math.nan
        if empty_mean is not None:
            empty = real_parameter(self.op, "empty_mean", empty_mean)
        made: Tensor = _core.nn_row_loss(
            self.x, self.target, self.weight, self.is_log, self.ignore, smoothing, kind, empty
        )
        return made if kind else reshaped(made, self.shape)

    def gradient(self, smoothing: float, reduction: Any) -> Tensor:
        kind = _reduction(self.op, reduction)
        assert self.out_grad is not None
        grad = _gradient(self.op, self.out_grad, () if kind else self.shape)
        made: Tensor = _core.nn_row_loss_bwd(
            grad, self.x, self.target, self.weight, self.is_log, self.ignore, smoothing, kind
        )
        # The axes of the input again.
        whole = reshaped(made, (*self.shape, made.shape[-1]))
        return permuted(whole, [self.order.index(a) for a in range(len(self.order))])


class Pairs:
    """The operands of a loss of pairs, promoted together, dense, and of one shape."""

    def __init__(
        self, name: str, x: Any, target: Any, out_grad: Any = None, weight: Any = None,
        positive: Any = None,
    ) -> None:  # fmt: skip
        self.op = op = REGISTRY[f"nn:{name}"]
        given = {
            "out_grad": out_grad, "x": x, "target": target, "weight": weight,
            "pos_weight": positive,
        }  # fmt: skip
        found = float_operands(op, given)
        self.x, self.target = found["x"], found["target"]
        shape = self.x.shape
        _same_shape(op, "target", self.target, shape, "x")
        self.weight = _broadcast(op, "weight", found.get("weight"), shape)
        self.positive = _broadcast(op, "pos_weight", found.get("pos_weight"), shape)
        self.out_grad = found.get("out_grad")

    def _divisor(self, reduction: Any) -> float | None:
        """Return what the sum is divided by; None: there is none."""
        op, shape = self.op, self.x.shape
        kind = _reduction(op, reduction)
        if kind == 3 and not shape:
            raise DimensionsMismatch(
                f'{op.title}: reduction is "batchmean" and x has rank 0; it must have an axis of '
                "examples."
            )
        return (None, 1.0, float(self.x.size), float(shape[0]) if shape else 0.0)[kind]

    def loss(self, kind: int, reduction: Any, parameter: float = 0.0) -> Tensor:
        divisor = self._divisor(reduction)
        return _core.nn_pair_loss(
            kind, dense(self.x), dense(self.target), self.weight, self.positive, parameter,
            divisor is not None, divisor or 0.0,
        )  # fmt: skip

    def gradients(self, kind: int, reduction: Any, parameter: float = 0.0) -> Gradients:
        divisor = self._divisor(reduction)
        assert self.out_grad is not None
        grad = _gradient(self.op, self.out_grad, self.x.shape if divisor is None else ())
        return _core.nn_pair_loss_bwd(
            kind, grad, dense(self.x), dense(self.target), self.weight, self.positive, parameter,
            1.0 if divisor is None else divisor,
        )  # fmt: skip


# ---- arguments -----------------------------------------------------------------------------------


def _same_shape(op: Operator, name: str, x: Tensor, shape: tuple[int, ...], of: str) -> None:
    if x.shape != shape:
        raise DimensionsMismatch(
            f"{op.title}: {name} has shape {x.shape} and {of} {shape}; they must be the same. "
            "Reshape one of them, or expand it with sz.expand."
        )


def _broadcast(op: Operator, name: str, x: Tensor | None, shape: tuple[int, ...]) -> Tensor | None:
    return None if x is None else dense(broadcast(op, name, x, shape))


def _gradient(op: Operator, grad: Tensor, shape: tuple[int, ...]) -> Tensor:
    if grad.shape != shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {grad.shape}; it must be {shape}, the shape of the "
            "loss for this reduction."
        )
    return dense(grad)


def _reduction(op: Operator, reduction: Any) -> int:
    """Return 0 for "none", 1 for "sum", 2 for "mean"; 3 for "batchmean" of kl_div."""
    more = ("batchmean",) if op.name.startswith("kl_div") else ()
    return one_of(op, "reduction", reduction, (*_REDUCTIONS, *more))


def number_argument(op: Operator, name: str, x: Any, least: float, most: float = math.inf) -> float:
    """Return an argument as a finite float from `least` to `most`."""
    number = real_parameter(op, name, x)
    if not (least <= number <= most and number < math.inf):
        allowed = f"from {least} to {most}" if most < math.inf else f"of at least {least}, finite"
        raise InvalidArgument(f"{op.title}: {name} is {shown(x)}; it must be a number {allowed}.")
    return number


def positive_argument(op: Operator, name: str, x: Any) -> float:
    number = number_argument(op, name, x, 0)
    if number == 0:
        raise InvalidArgument(f"{op.title}: {name} is {shown(x)}; it must be above 0.")
    return number


# ---- alignments ----------------------------------------------------------------------------------


class Alignments:
    """The operands of ctc_loss: logarithms (times, examples, classes), and labels with lengths."""

    def __init__(
        self, name: str, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any,
        blank: Any, zero_infinity: Any, out_grad: Any = None,
    ) -> None:  # fmt: skip
        self.op = op = REGISTRY[f"nn:{name}"]
        found = float_operands(op, {"out_grad": out_grad, "log_probs": log_probs})
        given, self.out_grad = found["log_probs"], found.get("out_grad")
        if given.ndim not in (2, 3):
            raise DimensionsMismatch(
                f"{op.title}: log_probs has rank {given.ndim}; it must be 3, (times, examples, "
                "classes), or 2 of one example."
            )
        self.shape, self.one = given.shape, given.ndim == 2
        times, classes = given.shape[0], given.shape[-1]
        examples = 1 if self.one else given.shape[1]
        self.logs = reshaped(dense(given), (times, examples, classes))
        self.blank = integer_argument(op, "blank", blank)
        if not 0 <= self.blank < classes:
            raise InvalidArgument(
                f"{op.title}: blank is {shown(self.blank)}; it must be a class, 0 to {classes - 1}."
            )
        self.zero_infinity = flag_argument(op, "zero_infinity", zero_infinity)
        self.inputs = self._lengths("input_lengths", input_lengths, examples, times)
        labels = self._integers("targets", targets)
        self.lengths = self._lengths("target_lengths", target_lengths, examples, labels.size)
        self.labels = self._labels(labels, examples, classes)

    def _integers(self, name: str, x: Any) -> Tensor:
        found = real_argument(self.op, name, tensor(list(x)) if isinstance(x, list | tuple) else x)
        if found.dtype not in INTEGERS and found.size:
            raise TypeMismatch(
                f"{self.op.title}: {name} is {found.dtype}; it must have integers. Cast it with "
                f"sz.cast({name}, sz.int64)."
            )
        return dense(converted(found, int64))

    def _lengths(self, name: str, x: Any, examples: int, most: int) -> Tensor:
        found = self._integers(name, x)
        if found.size != examples:
            raise DimensionsMismatch(
                f"{self.op.title}: {name} has {found.size} integers; it must have {examples}, one "
                "for each example."
            )
        found = reshaped(found, (examples,))
        for length in found.tolist():
            if not 0 <= length <= most:
                raise InvalidArgument(
                    f"{self.op.title}: {name} contains {length}; it must be from 0 to {most}."
                )
        return found

    def _labels(self, labels: Tensor, examples: int, classes: int) -> Tensor:
        """Return labels as (examples, longest)."""
        op, lengths = self.op, self.lengths.tolist()
        longest = max(lengths, default=0)
        if labels.ndim == 1 and not self.one:  # one after the other
            if labels.size != sum(lengths):
                raise DimensionsMismatch(
                    f"{op.title}: targets has {labels.size} classes; it must have {sum(lengths)}, "
                    "the sum of target_lengths, or rank 2."
                )
            flat, rows = iter(labels.tolist()), []
            for length in lengths:
                row = [next(flat) for _ in range(length)]
                rows.append(row + [self.blank] * (longest - length))
            labels = dense(converted(reshaped(tensor(rows), (examples, longest)), int64))
        else:
            labels = reshaped(labels, (1, labels.size)) if self.one else labels
        if labels.ndim != 2 or labels.shape[0] != examples or labels.shape[1] < longest:
            raise DimensionsMismatch(
                f"{op.title}: targets has shape {labels.shape}; it must have a row of at least "
                f"{longest} classes for each of {examples} examples."
            )
        for row, length in zip(labels.tolist(), lengths, strict=True):
            for number in row[:length]:
                if not 0 <= number < classes:
                    raise OutOfRange(
                        f"{op.title}: targets contains the class {number}; valid classes are 0 to "
                        f"{classes - 1}."
                    )
        return labels

    def _counts(self, kind: int) -> list[float]:
        """Return what the loss of each example is multiplied by."""
        examples = self.lengths.size
        if kind != 2:
            return [1.0] * examples
        return [1.0 / max(n, 1) / examples for n in self.lengths.tolist()]

    def loss(self, reduction: Any) -> Tensor:
        """Return the losses, their sum, or the mean of the losses by the lengths of the labels."""
        kind = _reduction(self.op, reduction)
        found = _core.nn_ctc_loss(self.logs, self.labels, self.inputs, self.lengths, self.blank)
        # Python's numbers: the rule set in force would promote tensors, some to float32.
        losses = [0.0 if self.zero_infinity and x == math.inf else x for x in found.tolist()]
        if kind:
            nothing = 0.0 if kind == 1 else math.nan
            each = zip(losses, self._counts(kind), strict=True)
            found = tensor(sum(x * n for x, n in each) if losses else nothing, float64)
        elif self.zero_infinity:
            found = reshaped(tensor(losses, float64), found.shape)
        shape = () if kind or self.one else found.shape
        return converted(reshaped(found, shape), self.logs.dtype)

    def gradient(self, reduction: Any) -> Tensor:
        """Return the gradient by log_probs."""
        kind = _reduction(self.op, reduction)
        assert self.out_grad is not None
        examples = self.lengths.size
        grad = _gradient(self.op, self.out_grad, () if kind or self.one else (examples,))
        grads = reshaped(converted(grad, float64), () if kind else (examples,))
        if kind:
            one: Any = grads.item()
            each = [one * n for n in self._counts(kind)]
            grads = reshaped(tensor(each, float64), (examples,))
        made = _core.nn_ctc_loss_bwd(
            grads, self.logs, self.labels, self.inputs, self.lengths, self.blank,
            self.zero_infinity,
        )  # fmt: skip
        return reshaped(made, self.shape)
