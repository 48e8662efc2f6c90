"""Rules of connectionist temporal classification: the sum over all paths to a target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from suanzi.truth import tracked as t
from suanzi.truth.tracked import Tracked, tracked
from suanzi.validate.blame.elements import rule
from suanzi.validate.blame.sampling import Array, Call, Piece, Unjudged

_LONGEST = 1 << 15
"""States of all steps up to which paths are followed."""
_FEW = 64
"""Steps up to which two targets are judged, not one."""


class _Target:
    """One target of a batch, with blanks between its classes."""

    def __init__(self, call: Call, lengths: Array, sizes: Array, which: int) -> None:
        blank, targets = int(call.get("blank", 0)), call["targets"]
        self.which, self.steps, size = which, int(lengths[which]), int(sizes[which])
        if targets.ndim == 1:
            first = int(sizes[:which].sum())
            classes = call.numbers(targets[first : first + size])
        else:
            classes = call.numbers(targets[which, :size])
        self.states = np.full(2 * size + 1, blank, np.int64)
        self.states[1::2] = classes
        other = np.concatenate([[False, False], self.states[2:] != self.states[:-2]])
        self.skips = other[: self.states.size] & (self.states != blank)
        """Which states may follow that two before."""
        if self.steps * self.states.size > _LONGEST or not self.steps:
            raise Unjudged("no steps or too many")

    def begin(self, row: Tracked, last: bool = False) -> Tracked:
        """Return the first step of paths, or the last one of those that end."""
        n, ends = self.states.size, np.zeros(self.states.size, bool)
        ends[n - 2 if last and n > 1 else 0 :] = True
        if not last:
            ends[2:] = False
        return t.where(ends, row, -np.inf)

    def follow(self, before: Tracked, row: Tracked, back: bool = False) -> Tracked:
        """Return the next step, or going back the one before."""
        moved = [before]
        for by in (1, 2):
            allowed = np.arange(self.states.size) >= by
            allowed = allowed & self.skips if by == 2 else allowed
            if back:
                allowed = np.roll(allowed, -by)
                allowed[-by:] = False
            index = np.roll(np.arange(self.states.size), -by if back else by)
            moved.append(t.where(allowed, before[index], -np.inf))
        return _log_sum(moved) + row


def _log_sum(terms: list[Tracked]) -> Tracked:
    """The logarithm of the sum of exponentials."""
    values = np.stack([x.plain for x in terms])
    most = values.max(0)
    none = most == -np.inf
    safe = np.where(none, 0.0, most)
    total: Any = tracked(np.zeros(none.shape))
    for x, value in zip(terms, values, strict=True):
        gone = value == -np.inf
        total = total + t.where(gone, 0, t.exp(t.where(gone, 0, x) - safe))
    return t.where(none, -np.inf, t.log(t.where(none, 1, total)) + safe)


def _lengths(call: Call, name: str) -> Array:
    given = call[name]
    found = call.numbers(given) if call.is_tensor(given) else np.array(given, np.int64)
    return np.asarray(found, np.int64).reshape(-1)


def _targets(call: Call) -> list[_Target]:
    x = call["log_probs"]
    if x.ndim != 3:
        raise Unjudged("no batch")
    lengths, sizes = _lengths(call, "input_lengths"), _lengths(call, "target_lengths")
    return [
        _Target(call, lengths, sizes, int(b))
        for b in call.along(x.shape[1], 2 if x.shape[0] <= _FEW else 1)
    ]


@rule("_ctc_loss")
def ctc_loss(call: Call) -> Iterator[Piece]:
    """-log of the sum of the probabilities of all paths to a target."""
    call.padded = (1,)  # what was saved for the gradient, with the logarithm of 0
    for target in _targets(call):
        rows = call.numbers(call["log_probs"][: target.steps, target.which])[:, target.states]

        def definition(rows: Tracked, target: _Target = target) -> Tracked:
            state = target.begin(rows[0])
            for i in range(1, target.steps):
                state = target.follow(state, rows[i])
            return -_log_sum([state[i : i + 1] for i in range(max(0, len(target.states) - 2),
                                                              len(target.states))])  # fmt: skip

        part = call.part(call.results[0], (np.array([target.which]),))
        yield Piece(definition, {"rows": rows}, [part], within=call.within)


@rule("_ctc_loss_backward")
def ctc_loss_backward(call: Call) -> Iterator[Piece]:
    """exp(x) - exp(paths through a class + loss - x), by what the forward operator saved."""
    x, out = call["log_probs"], call.out
    for target in _targets(call):
        n, steps = target.which, target.steps
        classes = np.union1d(call.along(x.shape[2], 6), target.states[:3])
        loss = call.numbers(call["neg_log_likelihood"][n])
        if not np.isfinite(loss):
            raise Unjudged("a target without paths")
        times = call.along(steps, 16)
        arguments = {
            "rows": call.numbers(x[:steps, n])[:, target.states],
            "x": call.numbers(x[:steps, n])[times][:, classes],
            "alpha": call.numbers(call["log_alpha"][n, :steps, : target.states.size])[times],
            "loss": loss, "g": call.numbers(call["grad"][n]),
        }  # fmt: skip

        def definition(
            rows: Tracked, x: Tracked, alpha: Tracked, loss: Tracked, g: Tracked,
            target: _Target = target, classes: Array = classes, times: Array = times,
        ) -> Tracked:  # fmt: skip
            states = {target.steps - 1: target.begin(rows[target.steps - 1], True)}
            for i in range(target.steps - 2, -1, -1):
                states[i] = target.follow(states[i + 1], rows[i], True)
            made = []
            for k, i in enumerate(times):
                both = alpha[k] + states[int(i)]
                sums = []
                for c in classes:
                    mine = np.flatnonzero(target.states == c)
                    sums.append(_log_sum([both[s : s + 1] for s in mine]) if mine.size
                                else tracked(np.full(1, -np.inf)))  # fmt: skip
                through = t.concatenate(sums)
                gone = np.asarray(through.value == -np.inf, bool)
                weight = t.exp(t.where(gone, 0, through) + loss - x[k])
                made.append((t.exp(x[k]) - t.where(gone, 0, weight)) * g)
            return t.concatenate([one.reshape(1, -1) for one in made])

        at = np.broadcast_arrays(times[:, None], np.array([[n]]), classes[None])
        part = call.part(out, tuple(at))
        yield Piece(definition, arguments, [part], within=call.within)
        later = np.arange(steps, x.shape[0])[:4]
        if later.size:
            at = np.broadcast_arrays(later[:, None], np.array([[n]]), classes[None])
            part = call.part(out, tuple(at))
            yield Piece(lambda z: z, {"z": np.zeros(part.found.shape)}, [part], True)
