"""ctc_loss: sums over alignments of a label, by the forward and backward recursions in float64."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import torch

from suanzi.base.status import DimensionsMismatch, InvalidArgument, OutOfRange
from suanzi.runtimes.torch import deferred_errors
from suanzi.runtimes.torch.models import composed
from suanzi.runtimes.torch.ways import Call

Lanes: TypeAlias = torch.Tensor


def _integers(x: Any, device: torch.device) -> Lanes:
    made = x if isinstance(x, torch.Tensor) else torch.tensor(x, device=device)
    return made.view(torch.int64) if made.dtype is torch.uint64 else made.long()


class _Alignments:
    """Logarithms (times, examples, classes), and labels with a blank around each class."""

    def __init__(
        self, call: Call, log_probs: Lanes, targets: Any, input_lengths: Any, target_lengths: Any,
        blank: int,
    ) -> None:  # fmt: skip
        one = log_probs.dim() == 2
        self.logs = (log_probs[:, None] if one else log_probs).to(torch.float64)
        times, examples, classes = self.logs.shape
        self.blank, device = int(blank), log_probs.device
        labels = _integers(targets, device)
        inputs = _integers(input_lengths, device).reshape(examples)
        lengths = _integers(target_lengths, device).reshape(examples)
        longest = labels.numel() if labels.dim() < 2 or one else labels.shape[1]
        self.inputs = self._checked(call, "input_lengths", inputs, times)
        self.lengths = self._checked(call, "target_lengths", lengths, longest)
        column = torch.arange(longest, device=device)
        inside = column < self.lengths[:, None]
        if labels.dim() == 1 and not one:  # one after the other
            whole, title = labels.numel(), call.op.title
            deferred_errors.add(self.lengths.sum() != whole, lambda: DimensionsMismatch(
                f"{title}: targets has {whole} classes; it must have as many as target_lengths add "
                "up to, or rank 2."
            ))  # fmt: skip
            start = torch.cumsum(self.lengths, 0) - self.lengths
            at = torch.where(inside, start[:, None] + column, 0).clamp(max=max(longest - 1, 0))
            labels = labels[at] if longest else labels.reshape(examples, 0)
        labels = labels.reshape(examples, longest)
        bad = inside & ((labels < 0) | (labels >= classes))
        title = call.op.title
        deferred_errors.add(bad.any(), lambda: OutOfRange(
            f"{title}: targets contains a class out of range; valid classes are 0 to {classes - 1}."
        ))  # fmt: skip
        labels = torch.where(inside & ~bad, labels, self.blank)
        self.spelled = torch.full((examples, 2 * longest + 1), self.blank, device=device)
        self.spelled[:, 1::2] = labels
        self.skips = torch.zeros_like(self.spelled, dtype=torch.bool)
        self.skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]

    def _checked(self, call: Call, name: str, x: Lanes, most: int) -> Lanes:
        title, bad = call.op.title, (x < 0) | (x > most)
        deferred_errors.add(bad.any(), lambda: InvalidArgument(
            f"{title}: {name} contains a length out of range; it must be from 0 to {most}."
        ))  # fmt: skip
        return torch.where(bad, 0, x)

    def at(self, time: int) -> Lanes:
        """Return the logarithms of the spelled classes at a time."""
        return torch.gather(self.logs[time], -1, self.spelled)

    def ahead(self) -> list[Lanes]:
        """Return for each time the logarithms of what all paths to a position add up to."""
        found: list[Lanes] = []
        first = torch.arange(self.spelled.shape[1], device=self.logs.device) < 2
        for time in range(len(self.logs)):
            here = self.at(time)
            if not found:
                found.append(torch.where(first, here, -math.inf))
                continue
            before = found[-1]
            one = torch.nn.functional.pad(before, (1, 0), value=-math.inf)[:, :-1]
            two = torch.nn.functional.pad(before, (2, 0), value=-math.inf)[:, :-2]
            two = torch.where(self.skips, two, -math.inf)
            found.append(_log_sum(torch.stack((before, one, two))) + here)
        return found

    def losses(self, ahead: list[Lanes]) -> Lanes:
        """Return -log of the probability of each label."""
        none = torch.where(self.lengths == 0, 0.0, math.inf).to(torch.float64)
        if not ahead:
            return none
        rows = torch.stack(ahead)  # (times, examples, positions)
        last = (self.inputs - 1).clamp(min=0)
        at = rows[last, torch.arange(len(last), device=last.device)]
        end = (2 * self.lengths)[:, None]
        both = torch.gather(at, 1, torch.cat((end, (end - 1).clamp(min=0)), 1))
        both[:, 1] = torch.where(self.lengths > 0, both[:, 1], -math.inf)
        return torch.where(self.inputs > 0, -_log_sum(both.T), none)


def _log_sum(x: Lanes) -> Lanes:
    """Return log(sum(exp(x))) along the first axis; of -inf alone it is -inf."""
    top = x.amax(0)
    shift = torch.where(top == -math.inf, 0.0, top)
    return torch.log(torch.exp(x - shift).sum(0)) + shift


@composed("nn:ctc_loss")
def ctc_loss(
    call: Call, log_probs: Lanes, targets: Any, input_lengths: Any, target_lengths: Any,
    blank: int, reduction: str, zero_infinity: bool,
) -> Lanes:  # fmt: skip
    """Return -log of the sum over all alignments."""
    given = _Alignments(call, log_probs, targets, input_lengths, target_lengths, blank)
    losses = given.losses(given.ahead())
    if zero_infinity:
        losses = torch.where(losses == math.inf, 0.0, losses)
    if reduction == "none":
        return losses[0] if log_probs.dim() == 2 else losses
    if reduction == "sum":
        return losses.sum()
    return (losses / given.lengths.clamp(min=1)).mean()


@composed("nn:ctc_loss_bwd")
def ctc_loss_bwd(
    call: Call, out_grad: Lanes, log_probs: Lanes, targets: Any, input_lengths: Any,
    target_lengths: Any, blank: int, reduction: str, zero_infinity: bool,
) -> Lanes:  # fmt: skip
    """Return minus the posterior of each class at each time, times the gradient of the loss."""
    given = _Alignments(call, log_probs, targets, input_lengths, target_lengths, blank)
    ahead = given.ahead()
    losses = given.losses(ahead)
    g = out_grad.to(torch.float64).reshape(-1).expand(len(losses))
    if reduction == "mean":
        g = g / (given.lengths.clamp(min=1) * len(losses))
    made = torch.zeros_like(given.logs)
    place = torch.arange(given.spelled.shape[1], device=made.device)
    end = 2 * given.lengths[:, None]
    ends = (place == end) | ((place == end - 1) & (given.lengths[:, None] > 0))
    skips = torch.nn.functional.pad(given.skips, (0, 2))[:, 2:]
    back = torch.full_like(given.spelled, -math.inf, dtype=torch.float64)
    for time in reversed(range(len(ahead))):
        one = torch.nn.functional.pad(back, (0, 1), value=-math.inf)[:, 1:]
        two = torch.nn.functional.pad(back, (0, 2), value=-math.inf)[:, 2:]
        two = torch.where(skips, two, -math.inf)
        here = _log_sum(torch.stack((back, one, two))) + given.at(time)
        starts = torch.where(ends, given.at(time), -math.inf)
        last = given.inputs[:, None] - 1
        back = torch.where(last == time, starts, torch.where(last > time, here, -math.inf))
        each = torch.exp(ahead[time] + back - given.at(time) + losses[:, None])
        share = torch.where(last >= time, -each * g[:, None], 0.0)
        made[time] = _by_class(share, given.spelled, made.shape[-1])
    unknown = (losses == math.inf)[None, :, None]
    if zero_infinity:
        made = torch.where(unknown, 0.0, made)
    return made.reshape(log_probs.shape)


def _by_class(share: Lanes, spelled: Lanes, classes: int) -> Lanes:
    """Return the sums of shares of each class, in an order that does not change."""
    at = spelled + torch.arange(len(spelled), device=spelled.device)[:, None] * classes
    made = share.new_zeros(len(spelled) * classes)
    made.index_put_((at.reshape(-1),), share.reshape(-1), accumulate=True)
    return made.reshape(len(spelled), classes)
