"""The classes of operators that rule sets distinguish; each operator's declaration says its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import NamedTuple, TypeAlias, TypeVar

from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument


class OperatorClass(IntEnum):
    """How an operator uses the promoted dtype; the numbers are those of the native rule table."""

    ANY = 0
    """No operator named: the table and the rule set's own gate."""
    ARITHMETIC = 1
    TRUE_DIVISION = 2
    """Integers become floating-point."""
    COMPARISON = 3
    """The result is bool; operands are compared in the promoted dtype."""
    BITWISE = 4
    """Integers and bool only."""
    LOGICAL = 5
    """The result is bool."""
    REAL_FUNCTION = 6
    """Integers become floating-point."""
    JOINING = 7
    """concat, stack, where: elements side by side in one tensor."""

    @property
    def title(self) -> str:
        """The name as it is printed and typed: ``true division``."""
        return self.name.lower().replace("_", " ")


SYMBOLS = {
    "+": "add", "-": "sub", "*": "mul", "/": "true_divide", "//": "floordiv", "%": "mod",
    "**": "pow", "@": "matmul", "==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal",
    ">": "greater", ">=": "greater_equal", "&": "bitwise_and", "|": "bitwise_or",
    "^": "bitwise_xor", "~": "bitwise_not", "<<": "bitwise_left_shift",
    ">>": "bitwise_right_shift",
}  # fmt: skip

OPERATORS: dict[str, OperatorClass] = {}
"""The class of every operator that promotes, by name; their declarations fill it.

It includes operators of one operand: the class says what happens to an integer."""

AS_TYPED: dict[str, OperatorClass] = {}
"""The same, by name and by Python's symbol."""


OPERANDS: dict[str, tuple[int, ...]] = {}
"""Which arguments of each are promoted, by position; empty for all tensors of a list."""


def declare_class(
    name: str, operator_class: OperatorClass, operands: tuple[int, ...] = (0, 1)
) -> None:
    """Declare the class of an operator, and which of its arguments are promoted."""
    OPERATORS[name], OPERANDS[name] = operator_class, operands
    for word in (name, *(symbol for symbol, of in SYMBOLS.items() if of == name)):
        AS_TYPED[word] = operator_class


def typed(names: Collection[str]) -> list[str]:
    """Return operators as they may be typed: by name and by Python's symbol.

    >>> typed({"equal"})
    ['equal', '==']
    """
    symbols = [symbol for symbol, of in SYMBOLS.items() if of in names]
    return [*sorted(names), *symbols]


OUTSIDE: dict[str, tuple[int, ...]] = {
    "conv1d": (0, 1, 2), "conv2d": (0, 1, 2), "conv3d": (0, 1, 2),
    "conv_transpose1d": (0, 1, 2), "conv_transpose2d": (0, 1, 2), "conv_transpose3d": (0, 1, 2),
    "scaled_dot_product_attention": (0, 1, 2), "addmm": (0, 1, 2), "baddbmm": (0, 1, 2),
    "lerp": (0, 1, 2), "scatter": (0, 3), "scatter_add": (0, 3), "index_add": (0, 3),
    "index_copy": (0, 3), "index_put": (0, 2), "masked_scatter": (0, 2),
}  # fmt: skip
"""Operators of models, by PyTorch's names, and which of their arguments are tensors that meet.

Frameworks have rules of their own for them, mostly that the dtypes must be equal; a rule set that
has none for one of them does not answer for unequal dtypes."""

_CLASSES = {operator_class.title: operator_class for operator_class in OperatorClass}


def is_tabulated(name: str) -> bool:
    """Tell whether the dtype that an operator gives is found in the tables of results alone."""
    from suanzi.promote.results import names  # it reads files, and few ask

    return bool(name) and name not in OPERATORS and name not in OUTSIDE and name in names()


class Operator(NamedTuple):
    """An operator as rule sets see it: its name, empty if only a class was named, and its class."""

    name: str
    operator_class: OperatorClass

    @property
    def title(self) -> str:
        """How it is printed: the name, or the class in words, or nothing."""
        if self.name:
            return self.name
        return self.operator_class.title if self.operator_class else ""


def operator(op: str | OperatorClass | Operator | None) -> Operator:
    """Return the operator that `op` means: a name, a Python symbol, a class, or none at all.

    >>> operator("op_add"), operator("==").name, operator("true division").title
    (Operator(name='add', operator_class=<OperatorClass.ARITHMETIC: 1>), 'equal', 'true division')
    """
    if isinstance(op, Operator):
        return op
    if op is None or isinstance(op, OperatorClass):
        return Operator("", op or OperatorClass.ANY)
    if isinstance(op, str):
        name = SYMBOLS.get(op, op).strip().lower().removeprefix("op_")
        if name in OPERATORS:
            return Operator(name, OPERATORS[name])
        if name in OUTSIDE:
            return Operator(name, OperatorClass.ARITHMETIC)
        words = name.replace("_", " ").replace("-", " ")
        if words in _CLASSES:
            return Operator("", _CLASSES[words])
        if is_tabulated(name):
            return Operator(name, OperatorClass.ANY)
    raise InvalidArgument(
        f"op: {op!r} is not an operator that promotes, nor a class of them "
        f"({', '.join(list(_CLASSES)[1:])}).{nearest(str(op), [*OPERATORS, *OUTSIDE, *_CLASSES])}"
    )


Scope: TypeAlias = "OperatorClass | str"
"""What a rule can be limited to: a class of operators, or one operator by name."""

T = TypeVar("T")


def in_scope(rules: Mapping[Scope, T], op: Operator) -> T | None:
    """Return the rule for an operator: its own, else its class's, else that for any operator."""
    for key in (op.name, op.operator_class, OperatorClass.ANY):
        if key in rules:
            return rules[key]
    return None
