"""The standard as data: its interfaces, ``spec/standard.toml``, and the worked examples of its
Appendix A, ``spec/examples.toml``; each is read when it is first asked.

>>> interface("7.2.4.1").name, interface("add").statuses
('add', (<Status.SUCCESS: 0>, <Status.TYPE_MISMATCH: 1>))
>>> len(interfaces()), sum(i.minimal for i in interfaces().values())
(151, 77)
>>> next(e.arguments for e in examples() if e.name == "zeros")
mappingproxy({'dtype': 'FLOAT32', 'device': 'CPU', 'shape': (2, 3)})
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from types import MappingProxyType
from typing import Any

from suanzi._hints import nearest
from suanzi.status import InvalidArgument, Status


@dataclass(frozen=True)
class Parameter:
    """A parameter of an interface."""

    name: str
    default: str | None
    """As the standard prints it; empty if it promises one and prints none, None if required."""
    added: bool = False
    """Whether the standard forgot it, and it is ours."""
    derived: bool = False
    """Whether it follows from another, as the length of an array does: Python may leave it out."""
    length_of: str | None = None
    """The parameter, an array, that it is the length of."""

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is None


@dataclass(frozen=True)
class Interface:
    """One interface of the standard."""

    clause: str
    table: int
    name: str
    c_name: str
    printed: tuple[str, ...]
    """Other spellings of the name that the standard prints."""
    category: str
    backward_of: str | None
    parameters: tuple[Parameter, ...]
    outputs: tuple[str, ...]
    dtypes: str
    statuses: tuple[Status, ...]
    minimal: bool


@cache
def interfaces() -> MappingProxyType[str, Interface]:
    """Return every interface of the standard, by name, in its order."""
    entries = _read("standard.toml")["interface"]
    return MappingProxyType({entry["name"]: _interface(entry) for entry in entries})


def _read(name: str) -> dict[str, Any]:
    import tomllib

    with open(os.path.join(os.path.dirname(__file__), "spec", name), "rb") as text:
        return tomllib.load(text)


def _interface(entry: dict[str, object]) -> Interface:
    facts = dict(entry)
    own = facts.pop("parameters")
    ours = facts.pop("added", [])
    assert isinstance(own, list)
    assert isinstance(ours, list)
    parameters = [
        _parameter(p, added) for group, added in ((own, False), (ours, True)) for p in group
    ]
    return Interface(
        parameters=tuple(parameters),
        printed=tuple(facts.pop("printed", ())),  # type: ignore[arg-type]
        backward_of=facts.pop("backward_of", None),  # type: ignore[arg-type]
        outputs=tuple(facts.pop("outputs")),  # type: ignore[arg-type]
        statuses=tuple(Status[s] for s in facts.pop("statuses")),  # type: ignore[attr-defined]
        **facts,  # type: ignore[arg-type]
    )


def _parameter(entry: dict[str, Any], added: bool) -> Parameter:
    derived = entry.get("derived", False)
    array = derived if isinstance(derived, str) else None
    return Parameter(entry["name"], entry.get("default"), added, bool(derived), array)


def interface(key: str) -> Interface:
    """Return an interface by name, by C name or by clause."""
    found = interfaces().get(key) or next(
        (i for i in interfaces().values() if key in (i.clause, i.c_name, *i.printed)), None
    )
    if found is None:
        raise InvalidArgument(
            f"{key!r} is not an interface of the standard.{nearest(key, interfaces())}"
        )
    return found


@dataclass(frozen=True)
class ExampleTensor:
    """A tensor of an example."""

    dtype: str
    """As the standard spells it, as in FLOAT32."""
    shape: tuple[int, ...]
    values: Any = None
    """Numbers, nested by axes; None if they may be any. If quantised, the integers stored."""
    min2maj: tuple[int, ...] | None = None
    """The layout, if it is not row-major."""
    layout: str | None = None
    """The kind of layout, if it is not dense: kCOO."""
    scale: tuple[float, ...] | None = None
    zero_point: int | None = None
    low: float | None = None
    high: float | None = None
    """The least and the largest value there can be."""
    allowed: tuple[float, ...] | None = None
    """The only values there can be."""


@dataclass(frozen=True)
class Example:
    """A worked example: a call, and what it must give."""

    name: str
    number: str | None
    """In Appendix A; None if it is ours."""
    arguments: Mapping[str, Any]
    """By the standard's names: numbers, strings, tuples, None, and `ExampleTensor`."""
    outputs: Mapping[str, Any]
    status: Status = Status.SUCCESS
    digits: int | None = None
    """The decimals in which outputs agree; None if they are equal."""
    check: str | None = None
    """What holds where values may be others; the head of ``spec/examples.toml`` has the words."""
    errata: tuple[str, ...] = ()
    printed: str | None = None
    """What is printed instead, in short."""

    @property
    def ours(self) -> bool:
        """Whether the standard does not have it."""
        return self.number is None

    @property
    def tolerance(self) -> float:
        """How far outputs may be from their values: half a unit of the last digit."""
        return 0.0 if self.digits is None else 0.5 * 10.0**-self.digits


@cache
def examples() -> tuple[Example, ...]:
    """Return the worked examples, misprints mended, in the standard's order.

    Each interface has one at least: one of ours where the standard has none.

    >>> example = next(e for e in examples() if e.name == "min")
    >>> example.number, example.printed, example.errata
    ('A.2.4.10', '[1, 3, 4]', ('E76',))
    >>> example.outputs["z"]  # doctest: +ELLIPSIS
    ExampleTensor(dtype='INT32', shape=(3,), values=(1, 3, 2), ...)
    """
    return tuple(_example(entry) for entry in _read("examples.toml")["example"])


def _example(entry: dict[str, Any]) -> Example:
    facts = dict(entry)
    own = facts.pop("ours", False)
    if own == ("number" in facts):
        raise ValueError(f"{facts} is either ours or has a number.")
    arguments, outputs = facts.pop("arguments"), facts.pop("outputs", {})
    return Example(
        number=facts.pop("number", None),
        arguments=MappingProxyType({name: _value(v) for name, v in arguments.items()}),
        outputs=MappingProxyType({name: _value(v) for name, v in outputs.items()}),
        status=Status[facts.pop("status", "SUCCESS")],
        errata=tuple(facts.pop("errata", ())),
        **facts,
    )


def _value(value: Any) -> Any:
    """Return what a value of the file stands for: a tensor, nothing, or itself, for good."""
    if isinstance(value, dict):
        return _tensor(value)
    if isinstance(value, list):
        return tuple(_value(v) for v in value)
    return None if value == "NULL" else value


def _tensor(entry: dict[str, Any]) -> ExampleTensor:
    facts = {name: _value(v) for name, v in entry.items()}
    values = facts.pop("values", None)
    if values == "0..":
        values = _counting(facts["shape"], count())
    elif values is not None:
        values = _numbers(values)
        facts["shape"] = _sizes(values)
    return ExampleTensor(values=values, **facts)


def _counting(shape: tuple[int, ...], numbers: Iterator[int]) -> Any:
    if not shape:
        return next(numbers)
    return tuple(_counting(shape[1:], numbers) for _ in range(shape[0]))


def _numbers(values: Any) -> Any:
    if isinstance(values, tuple):
        return tuple(_numbers(v) for v in values)
    return complex(values) if isinstance(values, str) else values


def _sizes(values: Any) -> tuple[int, ...]:
    if not isinstance(values, tuple):
        return ()
    return (len(values), *_sizes(values[0])) if values else (0,)
