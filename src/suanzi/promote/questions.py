"""The questions one can ask: promote_types, result_type, explain, table, laws, diff.

What answers them is loaded by the first question that needs it, so that importing suanzi costs
little, and two dtypes, or a dtype and a number, are answered by the native table alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from suanzi import _core
from suanzi.base.dtypes import DType, DTypeLike, dtype
from suanzi.base.status import InvalidArgument, OnDemand, TypeMismatch
from suanzi.promote.context import rules_in_force
from suanzi.promote.library import rule_set, rule_sets
from suanzi.promote.operands import ZeroDim, operand_of_code
from suanzi.promote.operators import AS_TYPED, OperatorClass, operator
from suanzi.promote.rules import RuleSet

if TYPE_CHECKING:
    from suanzi.promote.diff import Diff
    from suanzi.promote.engine import Answer
    from suanzi.promote.explain import Explanation, Explanations
    from suanzi.promote.table import Laws, Table

_core.use_operators(AS_TYPED)
_core.use_zero_dim(ZeroDim)


@_core.accelerate
def promote_types(a: DTypeLike, b: DTypeLike, *, rules: str | RuleSet | None = None) -> DType:
    """Return the dtype that two tensors of dtypes `a` and `b` are computed in.

    `rules` is a rule set or its name; without it, the rule set in force. A refusal raises
    TypeMismatch.

    >>> import suanzi as sz
    >>> sz.promote_types(sz.int32, sz.bfloat16)
    suanzi.bfloat16
    >>> sz.promote_types("i32", "f16", rules="numpy")
    suanzi.float64
    """
    x, y = dtype(a), dtype(b)
    if x is not a or y is not b:
        return promote_types(x, y, rules=rules)  # the native table may know
    return _dtype_of(_answer("promote_types", (x, y), rules, None))


@_core.accelerate
def result_type(
    *operands: Any, rules: str | RuleSet | None = None, op: str | OperatorClass | None = None
) -> DType:
    """Return the dtype in which an operator computes with these operands, taken all at once.

    An operand is a dtype (a dimensioned tensor of it), ``ZeroDim(dtype)``, a tensor, a Python
    number, or ``Number(type)`` for any number of a type. `op` is an operator (``"add"``, ``"=="``)
    or a class of operators (``"comparison"``): rule sets can gate them differently. Comparison and
    logic give bool whatever the dtype they compute in; where they compare value by value and
    convert nothing (int64 with uint64 under `lossless`), the answer is bool itself.

    >>> import suanzi as sz
    >>> sz.result_type(sz.int8, 2.5)
    suanzi.float32
    >>> sz.result_type(sz.int8, sz.ZeroDim(sz.int64), rules="torch")
    suanzi.int8
    >>> sz.result_type(sz.int32, op="exp")
    suanzi.float32
    """
    return _dtype_of(_answer("result_type", operands, rules, op))


def explain(
    *operands: Any,
    rules: str | RuleSet | None = None,
    op: str | OperatorClass | None = None,
    like: str | RuleSet | None = None,
) -> Explanation:
    """Explain a promotion: the dtype, which layer and cell of which source, the loss, the fix.

    The operands are those of `result_type`; a refusal is explained, not raised. The fix is the cast
    that loses no values, or least; with `like`, the rule set that a program comes from, it is first
    of all the cast that keeps the dtype of there.

    >>> import suanzi as sz
    >>> sz.explain(sz.int32, sz.bfloat16, rules="torch")
    int32, bfloat16 -> bfloat16
      rules    torch, PyTorch
      why      table: row i32, column bf16
      source   PyTorch (2.13.0): torch.promote_types, every pair tested
      lost     int32 in bfloat16: 257 becomes 256
      rounded  operands, before computing: 257 + -256 gives 0; operands in float32 would give 1
      fix      cast the int32 operand to float64
               x.to(torch.float64)
    >>> sz.explain(sz.bfloat16, sz.ZeroDim("f32"), rules="cann", op="mul", like="torch").fix.code
    'aclnnCast(x, ACL_BF16)'
    """
    from suanzi.promote.explain import Explanation

    found = _answer("explain", operands, rules, op)
    return Explanation(found, None if like is None else rule_set(like))


def explain_all(
    *operands: Any,
    rules: str | Iterable[str | RuleSet] = "all",
    op: str | OperatorClass | None = None,
) -> Explanations:
    """Put one question to several rule sets, or to all of them.

    `rules` is a list of rule sets, their names joined by commas, or ``"all"``.

    >>> import suanzi as sz
    >>> sz.explain_all(sz.int32, sz.float16, rules=["cann", "numpy", "jax"])
    int32, float16
      rules  dtype    lost                                  why
      cann   float16  2049 becomes 2048, 65520 becomes inf  table: row s32, column f16
      numpy  float64  nothing                               table: row i32, column f16
      jax    float16  2049 becomes 2048, 65520 becomes inf  table: row i4, column f2
    """
    from suanzi.promote.explain import Explanations

    if isinstance(rules, str):
        rules = rules_for(op) if rules == "all" else [name.strip() for name in rules.split(",")]
    asked = [rule_set(one) for one in rules]
    if not asked:
        raise InvalidArgument("explain_all: no rule set given; give at least one.")
    return Explanations(tuple(explain(*operands, rules=one, op=op) for one in asked))


def rules_for(op: str | OperatorClass | None = None) -> tuple[RuleSet, ...]:
    """Return the rule sets that have rules for an operator: for most operators, all of them.

    >>> [rules.name for rules in rules_for("index_add")][:2]
    ['paddle', 'torch']
    """
    asked = operator(op)
    return tuple(rules for rules in map(rule_set, rule_sets()) if rules.knows(asked))


def table(rules: str | RuleSet | None = None, *, op: str | OperatorClass | None = None) -> Table:
    """Return the tables of a rule set; `op` applies the gate of an operator or of a class of them.

    >>> import suanzi as sz
    >>> t = sz.table("cann")
    >>> t.tensor_rows()[1][:6]
    ['f32', 'f32', 'f32', 'f64', 'f32', 'f32']
    """
    from suanzi.promote.table import observe

    return observe(rules_in_force(rules), op)


def laws(rules: str | RuleSet | None = None, *, op: str | OperatorClass | None = None) -> Laws:
    """Return which laws the tensor-tensor table of a rule set satisfies, with counter-examples.

    >>> import suanzi as sz
    >>> found = sz.laws("cann")
    >>> len(found.not_associative), str(found.not_associative[0])
    (4, '(float16, bfloat16), complex32 -> complex64; float16, (bfloat16, complex32) -> complex32')
    >>> sz.laws("paddle_table").join_semilattice
    True
    """
    from suanzi.promote.table import check

    return check(table(rules, op=op))


def diff(
    a: str | RuleSet,
    b: str | RuleSet,
    /,
    *,
    op: str | OperatorClass | None = None,
    dtypes: Iterable[DTypeLike] | None = None,
) -> Diff:
    """Return every pair of common dtypes on which two rule sets disagree.

    Tensors with tensors, with 0-d tensors and with Python numbers, and 0-d tensors with both;
    `dtypes` are those that matter to you, all by default.

    >>> import suanzi as sz
    >>> found = sz.diff("cann", "torch")
    >>> found.summary()[0]
    ('tensor, tensor', '136', '1', '12')
    >>> found.of_shape("tensor, tensor")[0].row()
    ('float32', 'uint16', 'refused', 'float32')
    >>> [one.row() for one in sz.diff("torch", "cann", dtypes=["bf16", "f32", "i64"])]
    [('bfloat16', '0-d float32', 'bfloat16', 'float32')]
    """
    from suanzi.promote.diff import compare

    asked = None if dtypes is None else tuple(dict.fromkeys(dtype(one) for one in dtypes))
    if asked is not None and not asked:
        raise InvalidArgument("diff: dtypes is empty; give at least one, or leave it out for all.")
    return compare(rule_set(a), rule_set(b), op, asked)


def _answer(
    who: str, operands: tuple[Any, ...], rules: str | RuleSet | None, op: str | OperatorClass | None
) -> Answer:
    from suanzi.promote.engine import answer

    if not operands:
        raise InvalidArgument(f"{who}: no operand given; give at least one.")
    asked = rules_in_force(rules)
    # The native table keeps no refusals of operators that have rules of their own.
    key = op, operands
    known = len(operands) <= 2 and (op is None or isinstance(op, str | OperatorClass))
    known = known and all(type(x) is DType or type(x) is ZeroDim for x in operands)
    found: Answer | None = asked.answers.get(key) if known else None
    if found is None:
        found = answer(operands, asked, op)
        if known and found.dtype is None:
            asked.answers[key] = found
    return found


def _dtype_of(found: Answer) -> DType:
    if found.dtype is not None:
        return found.dtype
    raise refused(found)


def refused(found: Answer, who: str = "") -> TypeMismatch:
    """Return the error for a refusal; its message is written when it is read."""
    return TypeMismatch(OnDemand(lambda: refusal(found, who)))


def _refuse(rules: RuleSet, op: Any, codes: list[int]) -> NoReturn:
    """Raise for dtypes that the native table knows to be refused; its message is found anew."""

    def write() -> str:
        from suanzi.promote.engine import answer

        return refusal(answer([operand_of_code(code) for code in codes], rules, op))

    raise TypeMismatch(OnDemand(write))


_core.use_refusal(_refuse)


# The sentence is expensive, because the fix is searched for; a refusal that comes back is not, nor
# is that of another operator to which the rule set applies the same rules.
_refusals: dict[tuple[Any, ...], str] = {}
_advice: dict[tuple[Any, ...], str] = {}


def refusal(found: Answer, who: str = "") -> str:
    """Return what was refused, by whom, why, and how to fix it, in one or two sentences."""
    key = who, found.rules, found.operator, found.operands
    if key not in _refusals:
        if len(_refusals) > 4096:
            _refusals.clear()
        _refusals[key] = _write_refusal(found, who or found.operator.title)
    return _refusals[key]


def _write_refusal(found: Answer, who: str) -> str:
    names = " and ".join(str(o) for o in found.operands)
    verb = "have no common dtype" if len(found.operands) > 1 else "is refused"
    return (
        f"{who}{': ' * bool(who)}{names} {verb} under {found.rules.name} ({found.rules.title}): "
        f"{found.reason}.{_advice_for(found)}"
    )


def _advice_for(found: Answer) -> str:
    """Return the sentence that says how to fix a refusal; empty where nothing helps."""
    from suanzi.promote.fixes import fix_for, scope

    key = *scope(found), found.operands
    if key not in _advice:
        if len(_advice) > 4096:
            _advice.clear()
        fix = fix_for(found)
        _advice[key] = f" {fix.text[0].upper()}{fix.text[1:]}." if fix else ""
    return _advice[key]
