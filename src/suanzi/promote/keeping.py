"""The fix of a port: the cast after which a rule set gives the dtype that another one gives.

A fix of `fixes` keeps values; this one keeps what the program did where it comes from, its losses
included. Each offer was put to the engine and gave the dtype that is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from suanzi.dtypes import DType
from suanzi.promote.engine import Answer, Layer, answer
from suanzi.promote.fixes import Fix, cast_code, losses
from suanzi.promote.operands import Operand, Role
from suanzi.promote.rules import RuleSet

_FEW = 4
"""Kinds of operands up to which every choice of them is tried."""


def wanted_by(found: Answer, like: RuleSet) -> Answer:
    """Return what another rule set says about the operands of an answer."""
    return answer(found.operands, like, found.operator)


def same(found: Answer, wanted: Answer) -> bool:
    """Tell whether two rule sets compute in the same dtype, or both refuse."""
    return found.dtype is wanted.dtype


def fix_keeping(found: Answer, wanted: Answer) -> Fix | None:
    """Return the cast that makes `found` like `wanted`; None where it is, or nothing makes it."""
    target = wanted.dtype
    if target is None or found.dtype is target or wanted.layer is Layer.EXACT:
        return None
    if target not in found.rules.dtypes:
        return None
    for cast in _choices(found):
        operands = [_cast(o, target) if o in cast else o for o in found.operands]
        if answer(operands, found.rules, found.operator).dtype is target:
            return _words(found, wanted, cast, target)
    return None


def _choices(found: Answer) -> Iterator[tuple[Operand, ...]]:
    """Yield which operands to cast, what is cheapest and least in the way first."""
    kinds = list(dict.fromkeys(found.operands))
    sizes = range(1, len(kinds) + 1) if len(kinds) <= _FEW else (1, len(kinds))
    choices = [choice for size in sizes for choice in combinations(kinds, size)]
    # A number has to be made a tensor; a 0-d tensor costs nothing to cast, others their size.
    yield from sorted(
        choices,
        key=lambda choice: (
            sum(o.role is Role.NUMBER for o in choice),
            sum(o.role is Role.TENSOR for o in choice),
            len(choice),
        ),
    )


def _cast(o: Operand, target: DType) -> Operand:
    return Operand(o.role if o.dtype else Role.ZERO_DIM, target)


def _words(found: Answer, wanted: Answer, cast: tuple[Operand, ...], target: DType) -> Fix:
    tensors = [o for o in found.operands if o in cast and o.dtype is not None]
    parts = []
    if tensors:
        if len(tensors) == len(found.operands) > 1:
            who = "both operands" if len(tensors) == 2 else "all operands"
        else:
            names = " and ".join(str(o) for o in dict.fromkeys(tensors))
            who = f"the {names} operand{'s' * (len(tensors) > 1)}"
        parts.append(f"cast {who} to {target}")
    numbers = [o for o in cast if o.dtype is None]
    if numbers:
        names = " and ".join(str(o) for o in numbers)
        parts.append(f"give {names} as {'a tensor' * (len(numbers) == 1) or 'tensors'} of {target}")
    text = f"{' and '.join(parts)}: {target}, as in {wanted.rules.name}"
    lost = [one for one in losses(wanted) if one.source in {o.dtype for o in cast}]
    if lost:
        text += f"; {lost[0]} there, too"
    names_of = ["x"] if len(tensors) == 1 else [f"x{i + 1}" for i in range(len(tensors))]
    return Fix(text, "; ".join(cast_code(found.rules, name, target) for name in names_of))
