"""All rules, by the names of PyTorch's operators, and what has none for a reason."""

from __future__ import annotations

from collections.abc import Iterator

import suanzi.validate.blame.ctc
import suanzi.validate.blame.data_movement
import suanzi.validate.blame.distances
import suanzi.validate.blame.indexed
import suanzi.validate.blame.layers
import suanzi.validate.blame.lists
import suanzi.validate.blame.norms
import suanzi.validate.blame.products
import suanzi.validate.blame.reductions
import suanzi.validate.blame.steps
import suanzi.validate.blame.windows  # noqa: F401  they declare them
from suanzi.validate.blame.elements import RULES
from suanzi.validate.blame.judging import Judged, judge
from suanzi.validate.blame.sampling import Call, Piece
from suanzi.validate.blame.tensors import tensors_of

__all__ = ["ALLOCATIONS", "RULES", "VIEWS", "WRITES", "judge_call", "pieces"]

ALLOCATIONS = ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty",
               "new_empty_strided", "resize", "set")  # fmt: skip
"""What makes memory whose values mean nothing yet."""
VIEWS = ("_unsafe_view", "_reshape_alias", "as_strided", "lift_fresh", "lift", "detach")
"""What returns the elements it is given, and whose schema does not say so."""
WRITES = {
    "native_batch_norm": ("running_mean", "running_var"),
    "cudnn_batch_norm": ("running_mean", "running_var"),
    "miopen_batch_norm": ("running_mean", "running_var"),
}
"""Arguments that operators write to and whose schemas do not say so."""


def pieces(call: Call) -> Iterator[Piece]:
    """Give the parts of a call that are computed again."""
    yield from RULES[call.name](call)


def judge_call(call: Call, memory: int) -> tuple[Call, list[Judged]]:
    """Judge a call, on this machine where the kernels fail that samples are taken with.

    `memory` is the largest size of what is copied for that. Returns the call that was judged.
    """
    try:
        return call, [judge(piece) for piece in pieces(call)]
    except (RuntimeError, ValueError, IndexError, ArithmeticError):
        some = tensors_of(call.torch, (*call.arguments.values(), *call.results))
        if sum(x.numel() * x.element_size() for x in some) > memory:
            raise
    call = call.on_host()
    return call, [judge(piece) for piece in pieces(call)]
