"""What an answer loses, and the fix of a loss or a refusal: the cast that makes it right.

`fix_for` keeps values. `fix_keeping` keeps what the program did in the framework it comes from,
losses included: the cast after which a rule set gives the dtype that another one gives.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, TypeAlias

from suanzi.base.dtypes import DType, document_name
from suanzi.base.status import InvalidArgument
from suanzi.promote.engine import Answer, Layer, answer
from suanzi.promote.layers import kind_rank
from suanzi.promote.operands import Operand, Role
from suanzi.promote.operators import OUTSIDE
from suanzi.promote.results import results, row_and_column
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import Loss, Real, loss, number_loss, show


@dataclass(frozen=True)
class Fix:
    """What to do, in words and in the framework's own code (empty where there is none)."""

    text: str
    code: str
    operands: tuple[int, ...] = field(default=(), repr=False, compare=False)
    """Which operands are cast in the code, by position, where there are several to choose from."""


def losses(found: Answer) -> tuple[Loss, ...]:
    """Return what each operand loses when it is converted to the answer's dtype."""
    if found.dtype is None or found.layer in (Layer.EXACT, Layer.RESULT):
        return ()
    lost = (_operand_loss(o, (found.dtype,)) for o in dict.fromkeys(found.operands))
    return tuple(one for one in lost if one is not None)


def unknown_losses(found: Answer) -> bool:
    """Tell whether an operand's values are not known: any number of a type, a quantised tensor."""
    if found.dtype is None or found.layer is Layer.EXACT:
        return False
    if found.layer is Layer.RESULT:
        return True  # a sum, an index: not a converted operand
    for o in found.operands:
        if o.role is Role.NUMBER and o.value is None and o.kind != "bool":
            return True
        if o.dtype is not None and o.dtype.kind == "quantized" and o.dtype is not found.dtype:
            return found.rules.join is None
    return False


def fix_for(found: Answer) -> Fix | None:
    """Return the fix for a refusal or a loss; None where nothing needs one, or nothing helps."""
    lost = losses(found)
    if found.dtype is not None and not lost:
        return None
    if any(o.dtype is not None and o.dtype.kind in ("char", "quantized") for o in found.operands):
        return None
    best = min(_casts(found), key=lambda option: option.rank, default=None)
    # A cast helps if it loses later than the answer does, and not fractions or the sign.
    now = -min((magnitude(one.value) for one in lost), default=1.0)
    if best is not None and best.rank[0] < now:
        return _fix(found, best)
    return _stay_small(lost) if lost else None


def cast_code(rules: RuleSet, x: str, target: DType) -> str:
    """Return how a cast is written in the framework of a rule set.

    >>> from suanzi.dtypes import float64
    >>> from suanzi.promote.library import rule_set
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
    """Return what an operand loses first on its way through the dtypes of `path`."""
    if o.value is not None:
        return next((x for step in path if (x := number_loss(o.value, step)) is not None), None)
    if o.dtype is None or o.dtype.kind in ("quantized", "char"):
        return None
    # A later step can lose smaller values than an earlier one: int64 by float64 to float32.
    lost = [x for step in path if (x := loss(o.dtype, step)) is not None]
    return min(lost, key=lambda one: magnitude(one.value), default=None)


# Least lost first; then tensors before numbers, what loses before what does not, the lowest kind,
# the narrowest result, the fewest and plainest casts.
Rank: TypeAlias = tuple[float, bool, bool, int, int, int, bool, int]


@dataclass(frozen=True, slots=True)
class _Option:
    """A cast that the rule set answers; only the best one is put into words."""

    rank: Rank
    cast: list[Operand]
    target: DType
    result: DType
    lost: list[Loss]


def _casts(found: Answer) -> Iterator[_Option]:
    """Yield the casts of one kind of operand, or of all, that the rule set then answers."""
    tensors = list(dict.fromkeys(o for o in found.operands if o.dtype is not None))
    numbers = [o for o in dict.fromkeys(found.operands) if o.value is not None] if tensors else []
    losing = {one.source for one in losses(found)}
    sizes = [o.dtype.bits for o in tensors if o.dtype is not None]
    # Nobody casts to four bits unless four bits are already there.
    targets = [d for d in found.rules.dtypes if d.bits >= min([8, *sizes])]
    targets = [d for d in targets if d not in found.rules.casts]
    if not any(_is_complex(o) for o in found.operands):
        targets = [d for d in targets if d.kind != "complex"]  # exact, and of no use to anybody
    where = scope(found)
    for group in [*([o] for o in (*tensors, *numbers)), tensors]:
        for target in targets:
            tried = _try(found, where, group, target, losing)
            if tried is not None:
                yield tried


def _is_complex(o: Operand) -> bool:
    return isinstance(o.value, complex) if o.dtype is None else o.dtype.kind == "complex"


def _try(
    found: Answer,
    where: tuple[Any, ...],
    group: list[Operand],
    target: DType,
    losing: set[DType | None],
) -> _Option | None:
    """Cast the operands of a group to `target`, and ask the rule set again."""
    cast = [o for o in group if o.dtype is not target]
    if not cast:
        return None
    operands = [
        Operand(o.role if o.dtype else Role.ZERO_DIM, target) if o in cast else o
        for o in found.operands
    ]
    result = _result(found, where, tuple(operands))
    if result is None:
        return None
    lost = [
        one
        for o in dict.fromkeys(found.operands)
        if (one := _operand_loss(o, (target, result) if o in cast else (result,))) is not None
    ]
    rank = (
        -min((magnitude(one.value) for one in lost), default=math.inf),
        cast[0].dtype is None,
        not any(o.dtype in losing for o in cast),
        kind_rank(result.kind),
        result.bits,
        len(cast),
        target is not result,
        target.bits,
    )
    return _Option(rank, cast, target, result, lost)


# A table of refusals asks the same few questions again and again.
_results: dict[tuple[Any, ...], DType | None] = {}


def _result(found: Answer, where: tuple[Any, ...], operands: tuple[Operand, ...]) -> DType | None:
    key = *where, operands
    if key not in _results:
        if len(_results) > 8192:
            _results.clear()
        try:
            _results[key] = answer(operands, found.rules, found.operator).dtype
        except InvalidArgument:  # what the operator does with these is not known
            _results[key] = None
    return _results[key]


def scope(found: Answer) -> tuple[Any, ...]:
    """Return what an answer depends on besides the operands; operators may have it in common."""
    rules, op = found.rules, found.operator
    own = op.name in OUTSIDE or op.name in rules.scopes()
    return rules, op.operator_class, op.name if own else ""


def magnitude(value: Real | complex) -> float:
    """Return the absolute value, infinite where a float cannot hold it."""
    try:
        return abs(complex(value))
    except OverflowError:
        return sys.float_info.max


def _fix(found: Answer, option: _Option) -> Fix:
    cast, target, result, lost = option.cast, option.target, option.result, option.lost
    first = cast[0]
    times = sum(o in cast for o in found.operands)
    who = f"the {first} operand{'s' * (times > 1)}"
    if len(cast) > 1:
        who = "both operands" if len(found.operands) == 2 else "all operands"
        if len(set(found.operands)) > len(cast):
            who = "the " + " and ".join(str(o) for o in cast) + " operands"
    text = f"cast {who} to {target}" if first.dtype else f"give {first} as a tensor of {target}"
    if result is not target:
        text += f", and the result is {result}"
    if lost:
        text += f", though {lost[0]}"
    names = ["x"] if times == 1 else [f"x{i + 1}" for i in range(times)]
    code = "; ".join(cast_code(found.rules, name, target) for name in names)
    return Fix(text, code if first.dtype else "")


def _stay_small(lost: tuple[Loss, ...]) -> Fix | None:
    """Where no cast is exact, say up to where nothing is lost."""
    bounds = []
    for one in lost:
        if one.source is None or not isinstance(one.value, int):
            return None
        sign = "" if one.source.kind == "uint" else "±"
        bounds.append(f"{one.source} stays within {sign}{show(abs(one.value) - 1)}")
    return Fix(
        "no cast makes it exact: no dtype here holds every value; nothing is lost while "
        + " and ".join(bounds),
        "",
    )


_FEW = 4
"""Kinds of operands up to which every choice of them is tried."""


def wanted_by(found: Answer, like: RuleSet) -> Answer:
    """Return what another rule set says about the operands of an answer."""
    return answer(found.operands, like, found.operator)


def same(found: Answer, wanted: Answer) -> bool:
    """Tell whether two rule sets compute in the same dtype, or both refuse."""
    return found.dtype is wanted.dtype


def fix_keeping(found: Answer, wanted: Answer, written: RuleSet | None = None) -> Fix | None:
    """Return the cast that makes `found` like `wanted`; None where it is, or nothing makes it.

    The code is that of the framework of `written`, by default of `found`.
    """
    target = wanted.dtype
    if target is None or found.dtype is target or wanted.layer is Layer.EXACT:
        return None
    if found.layer is Layer.RESULT:
        return _fix_of_result(found, wanted, written or found.rules)
    if target not in found.rules.dtypes or target in found.rules.casts:
        return None
    for cast in _choices(found):
        operands = [
            Operand(o.role if o.dtype else Role.ZERO_DIM, target) if o in cast else o
            for o in found.operands
        ]
        if answer(operands, found.rules, found.operator).dtype is target:
            return _words(found, wanted, cast, target, written or found.rules)
    return None


def _fix_of_result(found: Answer, wanted: Answer, written: RuleSet) -> Fix | None:
    """Return the cast that keeps what an operator gave that does not promote.

    Where the operand is narrower, the operand: the result is wrong by then.
    """
    target = wanted.dtype
    assert target is not None
    tensors = [o for o in found.operands if o.dtype is not None]
    table = results(found.rules.name)
    if target not in found.rules.dtypes or table is None or not tensors:
        return None
    cast = [replace(o, dtype=target) if o in tensors else o for o in found.operands]
    asked = row_and_column(found.operator.name, tuple(cast))
    if asked is not None and table.of(*asked) is target:
        text = f"cast the operand to {target} first: {target}, as in {wanted.rules.name}"
        return Fix(text, cast_code(written, "x", target))
    text = f"cast the result to {target}, as in {wanted.rules.name}"
    return Fix(text, cast_code(written, "x", target))


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


def _words(
    found: Answer, wanted: Answer, cast: tuple[Operand, ...], target: DType, written: RuleSet
) -> Fix:
    places = [i for i, o in enumerate(found.operands) if o in cast and o.dtype is not None]
    tensors = [found.operands[i] for i in places]
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
    code = "; ".join(cast_code(written, name, target) for name in names_of)
    return Fix(text, code, tuple(places))
