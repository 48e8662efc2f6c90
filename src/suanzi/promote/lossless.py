"""``lossless``: the smallest dtype that holds every value of every operand, or a refusal.

Paddle's document names three principles of promotion: nothing is cut off, nothing overflows, no
precision is lost. No framework keeps them; this rule set does.

>>> from suanzi.dtypes import bfloat16, float16, int8, int16, int32, int64, float64
>>> smallest([int32, bfloat16]), smallest([int16, float16]), smallest([int64, float64])
(suanzi.float64, suanzi.float32, None)
>>> smallest([int8], [300])
suanzi.int16
"""

from __future__ import annotations

from collections.abc import Sequence

from suanzi.base.dtypes import DTYPES, DType, complex128, float32, float64
from suanzi.base.dtypes import bool as bool_
from suanzi.promote.layers import NUMERIC_KINDS, Cell, PythonNumber, default_alone, kind_rank
from suanzi.promote.operands import Operand, Role
from suanzi.promote.operators import OperatorClass
from suanzi.promote.rules import RuleSet
from suanzi.promote.values import contains, number_loss, show

NUMERIC = tuple(d for d in DTYPES if d.kind in NUMERIC_KINDS)


def smallest(dtypes: Sequence[DType], values: Sequence[PythonNumber] = ()) -> DType | None:
    """Return the smallest dtype that holds every value of `dtypes`, and `values`; None: none does.

    It is of a kind at least as high as every operand's: an integer never becomes a bool, and 2.0
    with int8 is a float, though int8 can represent 2.
    """
    ranks = [kind_rank(d.kind) for d in dtypes] + [kind_rank(type(v).__name__) for v in values]
    fitting = (
        d
        for d in NUMERIC
        if kind_rank(d.kind) >= max(ranks, default=0)
        and all(contains(d, operand) for operand in dtypes)
        and all(number_loss(value, d) is None for value in values)
    )

    def rank(d: DType) -> tuple[int, int, int]:
        # Of one size the lower kind (int8 before float8), then more precision (float16 before
        # bfloat16), which is also how OpenVINO breaks its tie. Numbers alone stay what they are:
        # 2**63 is a uint64, though bfloat16 is smaller.
        size, kind = d.bits, kind_rank(d.kind)
        return (size, kind, -d.mantissa_bits) if dtypes else (kind, size, -d.mantissa_bits)

    return min(fitting, key=rank, default=None)


# What a Python number of unknown value may be; no dtype holds every int.
_ANY_NUMBER = {"bool": bool_, "float": float64, "complex": complex128}
_ALONE = default_alone(float64) | {"complex": complex128}


def _join(operands: Sequence[Operand]) -> Cell:
    dtypes = [o.dtype for o in operands if o.dtype is not None]
    values = [o.value for o in operands if o.value is not None]
    for kind in (o.kind for o in operands if o.role is Role.NUMBER and o.value is None):
        if kind not in _ANY_NUMBER:
            return Cell(None, "no dtype holds every Python int; where its value is known, one may")
        dtypes.append(_ANY_NUMBER[kind])
    if not dtypes:
        # Numbers alone are not squeezed: 1 is an int64, 2.5 a float64, if that holds them.
        kinds = [o.kind for o in operands if o.kind is not None]
        alone = _ALONE[max(kinds, key=kind_rank)]
        if all(number_loss(value, alone) is None for value in values):
            dtypes.append(alone)
    names = " and ".join([*(f"every {d}" for d in dict.fromkeys(dtypes)), *map(show, values)])
    found = smallest(dtypes, values)
    if found is None:
        return Cell(None, f"no dtype holds {names}")
    return Cell(found, f"the smallest dtype that holds {names}")


def _float_for(dt: DType) -> DType | None:
    return next((f for f in (float32, float64) if contains(f, dt)), None)


def make(attributes: Sequence[str] = ()) -> RuleSet | None:
    """Return the rule set, which has no attributes."""
    if attributes:
        return None
    return RuleSet(
        name="lossless",
        title="suanzi lossless",
        version="1",
        source="the three principles of the Paddle document, by exact computation",
        sources={"numbers": "the value of the number, by exact computation"},
        dtypes=NUMERIC,
        pair=lambda a, b: _join([Operand(Role.TENSOR, a), Operand(Role.TENSOR, b)]),
        number=lambda dt, kind: _join([Operand(Role.TENSOR, dt), Operand(Role.NUMBER, kind=kind)]),
        join=_join,
        alone=_ALONE,
        floats={OperatorClass.REAL_FUNCTION: _float_for, OperatorClass.TRUE_DIVISION: _float_for},
        exact_comparison="always",
        notes=(
            "Comparison and logic need no common dtype: real values are compared exactly.",
            "In real functions integers become float32, or float64 where only that holds them.",
        ),
    )
