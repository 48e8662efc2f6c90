"""Text logs of calls, as those of torch's operator_inp_logs: operators, dtypes, shapes, counts.

    Operator: aten.mul.Tensor
    cnt: 12, ((T([64, 12, 128], f16), T([], f32)), {})

They have neither results nor lines of a program: results follow from PyTorch's rules, and findings
name lines of the log.
"""

from __future__ import annotations

import ast
import re
from os import PathLike
from typing import Any

from suanzi.dtypes import DType, dtype
from suanzi.port.calls import Call, Calls, Taken, Where
from suanzi.promote.operands import Operand, Role
from suanzi.status import InvalidArgument, StatusError

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


def _arguments(
    given: ast.expr,
) -> tuple[tuple[_Argument, ...], tuple[tuple[str, _Argument], ...]]:
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
    if isinstance(node, ast.List | ast.Tuple):
        found = [_argument(one) for one in node.elts]
        tensors = [x for x in found if isinstance(x, Taken) and x.operand.dtype is not None]
        return tuple(tensors) or None
    if isinstance(node, ast.Call):
        return _tensor(node)
    return number_of(node)


def number_of(node: ast.expr) -> Taken | None:
    """Return a Python number as it is recorded; None for what is none."""
    value = _number(node)
    if value is None:
        return None
    kind: Any = _KINDS[type(value)]
    some = None if isinstance(value, complex) else value
    return Taken(Operand(Role.NUMBER, kind=kind), None, some, some)


def _tensor(node: ast.Call) -> Taken | None:
    """Read ``T([2, 3], f16, stride=(1, 2))``; another name is not a dense tensor."""
    if not isinstance(node.func, ast.Name) or node.func.id != "T" or len(node.args) < 2:
        return None
    shape, name = node.args[:2]
    if not isinstance(shape, ast.List) or not isinstance(name, ast.Name):
        raise ValueError
    dt = _dtype(name.id)
    if dt is None:
        return None
    return Taken(Operand(Role.TENSOR if shape.elts else Role.ZERO_DIM, dt))


def _number(node: ast.expr) -> bool | int | float | complex | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        found = _number(node.operand)
        return None if found is None else -found
    if isinstance(node, ast.Name):
        return _NUMBERS.get(node.id)
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, bool | int | float | complex) else None


def _dtype(name: str) -> DType | None:
    try:
        return dtype("bool" if name == "b8" else name)
    except StatusError:
        return None
