"""Text logs of calls: torch's operator_inp_logs, and PaddleAPITest's, one call in a line.

    Operator: aten.mul.Tensor
    cnt: 12, ((T([64, 12, 128], f16), T([], f32)), {})

    paddle.add(Tensor([2, 3],"float16"), Tensor([],"float32"), )
    paddle.concat(tuple(Tensor([2],"float32"),Tensor([1],"float32"),), axis=0, )

They have neither results nor lines of a program: results follow from the framework's rules, and
findings name lines of the log.
"""

from __future__ import annotations

import ast
import re
from os import PathLike
from typing import Any

from suanzi.base.status import InvalidArgument
from suanzi.port.operators import plain_name
from suanzi.promote.operands import Operand, Role
from suanzi.recording.calls import Call, Calls, Taken, Where, known_dtype

_OPERATOR = re.compile(r"Operator: (?:\w+[.:]+)?(\w+?)(_?)(?:\.\w+)?$")
_CALL = re.compile(r"cnt: (\d+), (\(.*\))$")
_KINDS = {bool: "bool", int: "int", float: "float", complex: "complex"}
_NUMBERS = {"inf": float("inf"), "nan": float("nan")}


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a log."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise InvalidArgument(f"{str(path)!r} cannot be read: {why}.") from None


def from_log(text: str, file: str = "<log>") -> Calls:
    """Return the calls of the text of a log.

    >>> (call,) = from_log('''Operator: aten.mul_.Tensor
    ... cnt: 2, ((T([4], f16), 2.5), {})''').calls
    >>> call.operator, call.way, call.count, str(call.arguments[0].operand)
    ('mul', 'in-place method', 2, 'float16')
    """
    calls: list[Call] = []
    operator: str | None = None
    way: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line:
            continue
        head, call = _OPERATOR.match(line), _CALL.match(line)
        if head is not None:
            operator, way = head[1], "in-place method" if head[2] else None
            continue
        try:
            if call is None or operator is None:
                raise ValueError
            given = ast.parse(call[2], mode="eval").body
            arguments, named = _arguments(given)
            count = int(call[1])
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            raise InvalidArgument(
                f"{file!r}: line {number} is not one of an operator log, 'Operator: NAME' or "
                "'cnt: 3, ((T([2], f16), 1), {})'."
            ) from None
        out = any(name == "out" for name, _ in named)
        calls.append(
            Call(
                len(calls), operator, arguments, named, way="out" if out else way,
                where=Where(file, number), count=count, backward="backward" in operator,
            )
        )  # fmt: skip
    return Calls("torch", "", tuple(calls), results=False)


_Argument = Taken | tuple[Taken, ...] | None


def _arguments(given: ast.expr) -> tuple[tuple[_Argument, ...], tuple[tuple[str, _Argument], ...]]:
    if not isinstance(given, ast.Tuple) or len(given.elts) != 2:
        raise ValueError
    places, words = given.elts
    if not isinstance(places, ast.Tuple) or not isinstance(words, ast.Dict):
        raise ValueError
    named = []
    for key, value in zip(words.keys, words.values, strict=True):
        if not isinstance(key, ast.Constant):
            raise ValueError
        if not (isinstance(value, ast.Constant) and value.value is None):
            named.append((str(key.value), _argument(value)))
    return tuple(_argument(one) for one in places.elts), tuple(named)


def _argument(node: ast.expr) -> _Argument:
    many = _many(node)
    if many is not None:
        found = [_argument(one) for one in many]
        return tuple(x for x in found if isinstance(x, Taken) and x.operand.dtype) or None
    return _tensor(node) if isinstance(node, ast.Call) else _python_number(node)


def _python_number(node: ast.expr) -> Taken | None:
    """Return a Python number as it is recorded; None for what is none."""
    value = _number(node)
    if value is None:
        return None
    kind: Any = _KINDS[type(value)]
    some = None if isinstance(value, complex) else value
    return Taken(Operand(Role.NUMBER, kind=kind), None, some, some)


def _tensor(node: ast.Call) -> Taken | None:
    """Read ``T([2, 3], f16, stride=(1, 2))`` or ``Tensor([2, 3],"float16")``; None for others."""
    word = node.func.id if isinstance(node.func, ast.Name) else ""
    if word not in ("T", "Tensor") or len(node.args) < 2:
        return None
    shape, name = node.args[:2]
    text = name.id if isinstance(name, ast.Name) else getattr(name, "value", None)
    if not isinstance(shape, ast.List) or not isinstance(text, str):
        if word == "T":
            raise ValueError
        return None
    dt = known_dtype("bool" if text == "b8" else text)
    return None if dt is None else Taken(Operand(Role.TENSOR if shape.elts else Role.ZERO_DIM, dt))


def _number(node: ast.expr) -> bool | int | float | complex | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = _number(node.operand)
        return None if found is None else -found
    if isinstance(node, ast.Name):
        return _NUMBERS.get(node.id)
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, bool | int | float | complex) else None


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


def _many(node: ast.expr) -> list[ast.expr] | None:
    """Return the parts of ``list[a,b,]``, ``tuple(a,b,)`` and plain sequences."""
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tuple":
        return node.args
    return None
