"""Rule sets in one namespace: which exist, what they answer and why, and how they differ.

>>> sz.rules.promote_types(sz.int32, sz.float16, rules="numpy")
suanzi.float64
>>> len(sz.rules.diff("torch", "cann").of_shape("tensor, tensor"))
13
"""

from suanzi.promote.context import get_promotion, promotion, set_promotion
from suanzi.promote.library import openvino_rules, register_rules, rule_set, rule_sets
from suanzi.promote.losing import LossWarning
from suanzi.promote.operands import Number, ZeroDim
from suanzi.promote.operators import OperatorClass
from suanzi.promote.questions import (
    diff,
    explain,
    explain_all,
    laws,
    promote_types,
    result_type,
    table,
)
from suanzi.promote.rules import RuleSet

__all__ = [
    "LossWarning", "Number", "OperatorClass", "RuleSet", "ZeroDim", "diff", "explain",
    "explain_all", "get_promotion", "laws", "openvino_rules", "promote_types", "promotion",
    "register_rules", "result_type", "rule_set", "rule_sets", "set_promotion", "table",
]  # fmt: skip
