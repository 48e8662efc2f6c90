"""Untrusted data as typed values: `decode` checks JSON or TOML, `schema_of` writes its JSON Schema.

The types are dataclasses and TypedDicts, of strings, numbers, flags, None, literals, lists, tuples,
dicts and unions; `Annotated` with `Numbers` bounds a number. A key that is not known is ignored, so
that data of a newer version can be read, unless it is refused with `closed`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from suanzi.base.hints import nearest, shown

T = TypeVar("T")
_Reader = Callable[[Any, str], Any]
_NAMES: dict[Any, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null",
    list: "array", tuple: "array", dict: "object",
}  # fmt: skip
PRIVATE = "private"
"""In the metadata of a field of a dataclass that is neither read nor described."""


@dataclass(frozen=True)
class Numbers:
    """Which numbers are allowed, and which words that JSON has no numbers for."""

    least: int | None = None
    words: tuple[str, ...] = ()


class Malformed(ValueError):
    """Data of another type than it should have; the message says where."""


def decode(cls: type[T], data: Any, at: str = "", *, closed: bool = False) -> T:
    """Return data as a type, or raise Malformed with the first part that has another type.

    >>> decode(dict[str, list[int]], {"a": [1, "x"]}, "sizes")
    Traceback (most recent call last):
        ...
    suanzi.base.decode.Malformed: sizes.a[1] is 'x', not integer
    """
    hint: Any = cls
    if closed and isinstance(data, Mapping):
        known = tuple(_entries(hint))
        for name in data:
            if name not in known:
                near = nearest(str(name), known)
                raise Malformed(f"{name!r} is not a key here; use {', '.join(known)}.{near}")
    found: T = _reader(hint)(data, at)
    return found


def _wrong(data: Any, at: str, *allowed: str) -> Malformed:
    return Malformed(f"{at or 'it'} is {shown(data)}, not {' or '.join(allowed)}")


def _below(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


@cache
def _reader(hint: Any) -> _Reader:
    """Return what reads data of a type."""
    kind, inside = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda data, _: data
    if kind is Annotated:
        return _bounded(_reader(inside[0]), inside[1])
    if kind is Literal:
        return _literal(inside)
    if kind in (Union, UnionType):
        return _union(inside)
    if kind in (list, tuple):
        return _sequence(kind, _reader(inside[0]))
    if kind is dict:
        return _table(_reader(inside[1]))
    if is_typeddict(hint) or is_dataclass(hint):
        return _record(hint)
    return _plain(hint)


def _plain(kind: type) -> _Reader:
    def read(data: Any, at: str) -> Any:
        if kind is float and type(data) is int and data.bit_length() < 1000:
            return float(data)
        if type(data) is not kind:
            raise _wrong(data, at, _NAMES[kind])
        return data

    return read


def _bounded(read_any: _Reader, numbers: Numbers) -> _Reader:
    def read(data: Any, at: str) -> Any:
        if isinstance(data, str) and data in numbers.words:
            return float(data)
        found = read_any(data, at)
        if numbers.least is not None and not found >= numbers.least:
            raise _wrong(data, at, f"{numbers.least} or more")
        return found

    return read


def _literal(words: tuple[Any, ...]) -> _Reader:
    def read(data: Any, at: str) -> Any:
        if not any(type(word) is type(data) and word == data for word in words):
            raise _wrong(data, at, f"one of {', '.join(map(repr, words))}")
        return data

    return read


def _union(hints: tuple[Any, ...]) -> _Reader:
    others = [hint for hint in hints if hint is not NoneType]
    readers = [_reader(hint) for hint in others]

    def read(data: Any, at: str) -> Any:
        if data is None and NoneType in hints:
            return None
        if len(readers) == 1:
            return readers[0](data, at)
        for one in readers:
            try:
                return one(data, at)
            except Malformed as error:
                if not str(error).startswith(f"{at or 'it'} is "):
                    raise  # the type is right, and something inside is not
        raise _wrong(data, at, *(_NAMES.get(get_origin(h) or h, "object") for h in others))

    return read


def _sequence(kind: type, read_one: _Reader) -> _Reader:
    def read(data: Any, at: str) -> Any:
        if type(data) is not list:
            raise _wrong(data, at, "array")
        return kind(read_one(x, f"{at}[{i}]") for i, x in enumerate(data))

    return read


def _table(read_one: _Reader) -> _Reader:
    def read(data: Any, at: str) -> Any:
        if type(data) is not dict:
            raise _wrong(data, at, "object")
        return {name: read_one(x, _below(at, name)) for name, x in data.items()}

    return read


@cache
def _entries(cls: Any) -> dict[str, tuple[Any, bool]]:
    """Return the keys of a record: the type of each, and whether it must be given."""
    hints = get_type_hints(cls, include_extras=True)
    if is_typeddict(cls):
        return {name: (hint, name in cls.__required_keys__) for name, hint in hints.items()}
    return {
        f.name: (hints[f.name], f.default is MISSING and f.default_factory is MISSING)
        for f in fields(cls)
        if not f.metadata.get(PRIVATE)
    }


def _record(cls: Any) -> _Reader:
    entries = {name: (_reader(hint), needed) for name, (hint, needed) in _entries(cls).items()}
    needs = [name for name, (_, needed) in entries.items() if needed]
    is_open = is_typeddict(cls)

    def read(data: Any, at: str) -> Any:
        if type(data) is not dict:
            raise _wrong(data, at, "object")
        for name in needs:
            if name not in data:
                raise Malformed(f"{at or 'it'} has no {name}")
        found = dict(data) if is_open else {}
        for name, x in data.items():
            if name in entries:
                found[name] = entries[name][0](x, _below(at, name))
        return found if is_open else cls(**found)

    return read


def schema_of(hint: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type; docstrings behind its keys become descriptions.

    >>> schema_of(list[str] | None)
    {'anyOf': [{'type': 'array', 'items': {'type': 'string'}}, {'type': 'null'}]}
    """
    kind, inside = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if kind is Annotated:
        found = schema_of(inside[0])
        if inside[1].least is not None:
            found["minimum"] = inside[1].least
        return {"anyOf": [found, {"enum": list(inside[1].words)}]} if inside[1].words else found
    if kind is Literal:
        return {"enum": list(inside)}
    if kind in (Union, UnionType):
        return {"anyOf": [schema_of(one) for one in inside]}
    if kind in (list, tuple):
        return {"type": "array", "items": schema_of(inside[0])}
    if kind is dict:
        return {"type": "object", "additionalProperties": schema_of(inside[1])}
    if is_typeddict(hint) or is_dataclass(hint):
        entries, said = _entries(hint), _descriptions(hint)
        closed = {} if is_typeddict(hint) else {"additionalProperties": False}
        return {
            "type": "object",
            "required": [name for name, (_, needed) in entries.items() if needed],
            **closed,
            "properties": {
                name: ({"description": said[name]} if name in said else {}) | schema_of(one)
                for name, (one, _) in entries.items()
            },
        }
    return {"type": _NAMES[hint]}


def _descriptions(cls: Any) -> dict[str, str]:
    """Return the docstring behind each key of a class, in one line."""
    found: dict[str, str] = {}
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(node, ast.ClassDef)
    for one, after in pairwise(node.body):
        said = after.value if isinstance(after, ast.Expr) else None
        if isinstance(one, ast.AnnAssign) and isinstance(said, ast.Constant):
            found[ast.unparse(one.target)] = " ".join(str(said.value).split())
    return found
