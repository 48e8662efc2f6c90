"""What an answer loses, and how to mend a loss or a refusal: the cast that makes it right."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from suanzi.dtypes import DType, document_name
from suanzi.promote.engine import Answer, Layer, answer
from suanzi.promote.operands import Operand, Role
from suanzi.promote.rules import RuleSet, kind_rank
from suanzi.promote.values import Loss, Real, loss, number_loss, show


@dataclass(frozen=True)
class Fix:
    """What to do, in words and in the framework's own code (empty where there is none)."""

    text: str
    code: str


def losses(found: Answer) -> tuple[Loss, ...]:
    """Return what each operand loses when it is converted to the answer's dtype."""
    if found.dtype is None or found.layer is Layer.EXACT:
        return ()
    lost = (_operand_loss(o, (found.dtype,)) for o in dict.fromkeys(found.operands))
    return tuple(one for one in lost if one is not None)


def mend(found: Answer) -> Fix | None:
    """Return the fix for a refusal or a loss; None where nothing needs one, or nothing helps."""
    lost = losses(found)
    if found.dtype is not None and not lost:
        return None
    exact, fix = _best_cast(found)
    if exact or found.dtype is None:
        return fix
    return _stay_small(lost[0])


def cast_code(rules: RuleSet, x: str, target: DType) -> str:
    """Return how a cast is written in the framework of a rule set.

    >>> from suanzi.dtypes import float64
    >>> from suanzi.promote.rules import rule_set
    >>> cast_code(rule_set("torch"), "x", float64), cast_code(rule_set("cann"), "x", float64)
    ('x.to(torch.float64)', 'aclnnCast(x, ACL_DOUBLE)')
    """
    return rules.cast.format(
        x=x,
        dtype=target.name,
        name=document_name(target, rules.names),
        acl=document_name(target, "acl"),
    )


def _operand_loss(o: Operand, path: tuple[DType, ...]) -> Loss | None:
    """Return what an operand loses on its way through the dtypes of `path`."""
    if o.value is not None:
        return next((x for step in path if (x := number_loss(o.value, step)) is not None), None)
    if o.dtype is None or o.dtype.kind in ("quantized", "char"):
        return None
    return next((x for step in path if (x := loss(o.dtype, step)) is not None), None)


Rank: TypeAlias = tuple[float, bool, int, int, int, bool, int]


def _best_cast(found: Answer) -> tuple[bool, Fix | None]:
    """Try every cast of one operand, and of all; return whether the best is exact, and the best."""
    tensors = [i for i, o in enumerate(found.operands) if o.dtype is not None]
    numbers = [i for i, o in enumerate(found.operands) if o.value is not None]
    everyone = [tensors] if len(tensors) > 1 else []
    best: tuple[Rank, Fix] | None = None
    for cast in chain(([i] for i in (*tensors, *numbers)), everyone):
        for target in found.rules.dtypes:
            tried = _try(found, cast, target)
            if tried is not None and (best is None or tried[0] < best[0]):
                best = tried
    # A fix that spoils fractions or the sign is none.
    if best is None or best[0][0] >= -1:
        return False, None
    return best[0][0] == -math.inf, best[1]


def _try(found: Answer, cast: list[int], target: DType) -> tuple[Rank, Fix] | None:
    if any(found.operands[i].dtype is target for i in cast):
        return None
    operands = [
        o if i not in cast else Operand(o.role if o.dtype else Role.ZERO_DIM, target)
        for i, o in enumerate(found.operands)
    ]
    result = answer(operands, found.rules, found.operator or None).dtype
    if result is None:
        return None
    lost = [
        one
        for i, o in enumerate(found.operands)
        if (one := _operand_loss(o, (target, result) if i in cast else (result,))) is not None
    ]
    # Least lost first; tensors before numbers; then the lowest kind, the narrowest result, the
    # fewest and plainest casts.
    rank = (
        -min((_magnitude(one.value) for one in lost), default=math.inf),
        found.operands[cast[0]].dtype is None,
        kind_rank(result.kind),
        result.bits,
        len(cast),
        target is not result,
        target.bits,
    )
    return rank, _fix(found, cast, target, result, lost)


def _magnitude(value: Real | complex) -> float:
    try:
        return abs(complex(value))
    except OverflowError:
        return sys.float_info.max


def _fix(found: Answer, cast: list[int], target: DType, result: DType, lost: list[Loss]) -> Fix:
    first = found.operands[cast[0]]
    who = f"the {first} operand"
    if len(cast) > 1:
        who = "both operands" if len(cast) == 2 else "all operands"
    text = f"cast {who} to {target}" if first.dtype else f"give {first} as a tensor of {target}"
    if result is not target:
        text += f", and the result is {result}"
    if lost:
        text += f", though {lost[0]}"
    names = ["x"] if len(cast) == 1 else [f"x{i + 1}" for i in range(len(cast))]
    code = "; ".join(cast_code(found.rules, name, target) for name in names)
    return Fix(text, code if first.dtype else "")


def _stay_small(lost: Loss) -> Fix | None:
    """Where no dtype holds it all, say up to where nothing is lost."""
    if lost.source is None or not isinstance(lost.value, int):
        return None
    return Fix(
        f"no cast helps: no dtype here holds every value; nothing is lost while {lost.source} "
        f"stays within ±{show(lost.value - 1)}",
        "",
    )
