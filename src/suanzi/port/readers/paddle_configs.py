"""Text logs of calls of Paddle, as PaddleAPITest has them: one call in a line, as Python writes it.

    paddle.add(Tensor([2, 3],"float16"), Tensor([],"float32"), )
    paddle.concat(tuple(Tensor([2],"float32"),Tensor([1],"float32"),), axis=0, )

They have neither results nor lines of a program: results follow from Paddle's rules, and findings
name lines of the log.
"""

from __future__ import annotations

import ast

from suanzi.dtypes import dtype
from suanzi.port.calls import Call, Calls, Taken, Where
from suanzi.port.operators import plain_name
from suanzi.port.readers.operator_logs import number_of
from suanzi.promote.operands import Operand, Role
from suanzi.status import InvalidArgument, StatusError

_Argument = Taken | tuple[Taken, ...] | None
MARK = "paddle."
"""What every line begins with."""


def from_configs(text: str, file: str = "<log>") -> Calls:
    """Return the calls of the text of a log; lines that cannot be read are counted.

    >>> (call,) = from_configs('paddle.Tensor.__mul__(Tensor([4],"float16"), 2.5, )').calls
    >>> call.operator, [str(x.operand) for x in call.arguments]
    ('mul', ['float16', 'a Python float'])
    """
    calls: list[Call] = []
    missed = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if not line.strip().startswith(MARK):
            raise InvalidArgument(
                f"{file!r}: line {number} is not a call of Paddle, such as "
                "'paddle.add(Tensor([2],\"float16\"), 1, )'."
            )
        try:
            node = ast.parse(line.strip(), mode="eval").body
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                raise ValueError
            name, way = plain_name(node.func.attr)
            arguments = tuple(_argument(one) for one in node.args)
            named = tuple((one.arg, _argument(one.value)) for one in node.keywords if one.arg)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            missed += 1
            continue
        calls.append(
            Call(len(calls), name, *_by_place(arguments, named), way=way, where=Where(file, number))
        )
    return Calls("paddle", "", tuple(calls), missed=missed, results=False)


def _by_place(
    arguments: tuple[_Argument, ...], named: tuple[tuple[str, _Argument], ...]
) -> tuple[tuple[_Argument, ...], tuple[tuple[str, _Argument], ...]]:
    """Return x and y by their places, where they are given by name and nothing is before them."""
    words = dict(named)
    for place, word in enumerate(("x", "y")):
        if len(arguments) == place and word in words:
            arguments = (*arguments, words.pop(word))
    return arguments, tuple(words.items())


def _argument(node: ast.expr) -> _Argument:
    many = _many(node)
    if many is not None:
        found = [_argument(one) for one in many]
        return tuple(x for x in found if isinstance(x, Taken) and x.operand.dtype) or None
    if isinstance(node, ast.Call):
        return _tensor(node)
    return number_of(node)


def _many(node: ast.expr) -> list[ast.expr] | None:
    """Return the parts of ``list[a,b,]``, ``tuple(a,b,)`` and plain sequences."""
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tuple":
        return node.args
    return None


def _tensor(node: ast.Call) -> Taken | None:
    if not isinstance(node.func, ast.Name) or node.func.id != "Tensor" or len(node.args) < 2:
        return None
    shape, name = node.args[:2]
    if not isinstance(shape, ast.List) or not isinstance(name, ast.Constant):
        return None
    try:
        dt = dtype(str(name.value))
    except StatusError:
        return None
    return Taken(Operand(Role.TENSOR if shape.elts else Role.ZERO_DIM, dt))
