"""The classes of operators that rule sets distinguish, and which operator is of which class."""

from __future__ import annotations

from enum import IntEnum

from suanzi._hints import nearest
from suanzi.status import InvalidArgument


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


# By clause, in the standard's order. An operator that takes one operand is listed too: its class
# says what happens to an integer.
_OPERATORS: dict[OperatorClass, str] = {
    OperatorClass.ARITHMETIC: """
        clip add sub mul muladd div floordiv mod max min abs trace
        matmul dot linear bilinear""",
    OperatorClass.TRUE_DIVISION: "true_divide reciprocal",
    OperatorClass.COMPARISON: """
        equal not_equal greater greater_equal less less_equal allclose""",
    OperatorClass.LOGICAL: "logical_and logical_or logical_not logical_xor",
    OperatorClass.BITWISE: """
        bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift""",
    OperatorClass.REAL_FUNCTION: """
        pow sqrt rsqrt square floor ceil trunc round rint
        sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
        exp expm1 log log1p log10 log2
        lu cholesky qr svd solve lstsq inverse eig norm interpolate""",
    OperatorClass.JOINING: "concat stack where",
}

_SYMBOLS = {
    "+": "add", "-": "sub", "*": "mul", "/": "true_divide", "//": "floordiv", "%": "mod",
    "**": "pow", "@": "matmul", "==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal",
    ">": "greater", ">=": "greater_equal", "&": "bitwise_and", "|": "bitwise_or",
    "^": "bitwise_xor", "~": "bitwise_not", "<<": "bitwise_left_shift",
    ">>": "bitwise_right_shift",
}  # fmt: skip

OPERATORS: dict[str, OperatorClass] = {
    name: operator_class for operator_class, names in _OPERATORS.items() for name in names.split()
}
"""The class of every operator that promotes."""

_CLASSES = {operator_class.title: operator_class for operator_class in OperatorClass}


def operator_class(op: str | OperatorClass | None) -> OperatorClass:
    """Return the class of an operator, given by name, by Python symbol or by class.

    >>> operator_class("add"), operator_class("=="), operator_class("true division")
    (<OperatorClass.ARITHMETIC: 1>, <OperatorClass.COMPARISON: 3>, <OperatorClass.TRUE_DIVISION: 2>)
    """
    if op is None:
        return OperatorClass.ANY
    if isinstance(op, OperatorClass):
        return op
    key = _SYMBOLS.get(op, op).lower().replace("-", " ")
    for known in (OPERATORS, _CLASSES):
        for spelling in (key, key.removeprefix("op_"), key.replace("_", " ")):
            if spelling in known:
                return known[spelling]
    raise InvalidArgument(
        f"op: {op!r} is not an operator that promotes, nor a class of them "
        f"({', '.join(list(_CLASSES)[1:])}).{nearest(op, [*OPERATORS, *_CLASSES])}"
    )


def operator_name(op: str | OperatorClass | None) -> str:
    """Return how an operator is printed: its name, its class in words, or nothing.

    >>> operator_name("=="), operator_name(OperatorClass.REAL_FUNCTION), operator_name(None)
    ('equal', 'real function', '')
    """
    if op is None or op is OperatorClass.ANY:
        return ""
    return op.title if isinstance(op, OperatorClass) else _SYMBOLS.get(op, op).removeprefix("op_")
